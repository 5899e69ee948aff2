// A hanging cloth of points and springs: structs by index, relaxed in many passes.

class Point {
  constructor(x, y, pinned) {
    this.x = x
    this.y = y
    this.beforeX = x
    this.beforeY = y
    this.pinned = pinned
  }
}

class Cloth {
  constructor(columns, rows) {
    this.points = []
    this.springs = []
    this.torn = 0
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        this.points.push(new Point(column, row, row === 0 && column % 4 === 0))
        const at = row * columns + column
        if (column > 0) this.springs.push({ a: this.points[at - 1], b: this.points[at], length: 1, intact: true })
        if (row > 0) this.springs.push({ a: this.points[at - columns], b: this.points[at], length: 1, intact: true })
      }
    }
  }

  swing(wind) {
    for (const point of this.points) {
      if (point.pinned) continue
      const { x, y } = point
      point.x = x + (x - point.beforeX) * 0.98 + wind
      point.y = y + (y - point.beforeY) * 0.98 + 0.02
      point.beforeX = x
      point.beforeY = y
    }
  }

  relax(spring) {
    const { a, b } = spring
    const dx = b.x - a.x
    const dy = b.y - a.y
    const distance = Math.sqrt(dx * dx + dy * dy)
    if (distance > spring.length * 1.6) {
      spring.intact = false
      this.torn++
      return
    }
    const push = ((distance - spring.length) / distance) * 0.5
    if (!a.pinned) {
      a.x += dx * push
      a.y += dy * push
    }
    if (!b.pinned) {
      b.x -= dx * push
      b.y -= dy * push
    }
  }

  settle(time) {
    this.swing(Math.sin(time) * 0.01)
    for (let pass = 0; pass < 4; pass++) for (const spring of this.springs) if (spring.intact) this.relax(spring)
  }
}

export function run(n) {
  const cloth = new Cloth(14, 10)
  for (let step = 0; step < n; step++) cloth.settle(step * 0.1)
  let lowest = 0
  let sum = 0
  for (const point of cloth.points) {
    lowest = Math.max(lowest, point.y)
    sum += point.x * 3 + point.y
  }
  return `cloth ${cloth.springs.length} ${Math.floor(lowest * 10000)} ${Math.floor(sum * 1000)} ${cloth.torn}`
}
