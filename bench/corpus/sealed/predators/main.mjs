// Fish and sharks on a torus: a grid of structs or nil, each cell moved once a turn.

class Animal {
  constructor(isFish, age) {
    this.isFish = isFish
    this.age = age
    this.energy = isFish ? 0 : 6
    this.moved = false
  }

  breeds() {
    return this.age >= (this.isFish ? 4 : 9)
  }
}

class Sea {
  constructor(width, height) {
    this.seed = 4711
    this.rows = []
    for (let y = 0; y < height; y++) {
      const row = []
      for (let x = 0; x < width; x++) {
        const dice = this.random(20)
        row.push(dice < 6 ? new Animal(true, dice % 4) : dice === 6 ? new Animal(false, dice % 9) : null)
      }
      this.rows.push(row)
    }
  }

  random(limit) {
    this.seed = (this.seed * 16807) % 2147483647
    return this.seed % limit
  }

  around(y, x) {
    const height = this.rows.length
    const width = this.rows[0].length
    return [
      [(y + height - 1) % height, x],
      [(y + 1) % height, x],
      [y, (x + width - 1) % width],
      [y, (x + 1) % width],
    ]
  }

  choose(places) {
    return places.length === 0 ? null : places[this.random(places.length)]
  }

  turn() {
    const { rows } = this
    for (const row of rows) for (const animal of row) if (animal !== null) animal.moved = false
    for (let y = 0; y < rows.length; y++) {
      for (let x = 0; x < rows[y].length; x++) {
        const animal = rows[y][x]
        if (animal !== null && !animal.moved) this.move(animal, y, x)
      }
    }
  }

  move(animal, y, x) {
    const { rows } = this
    const places = this.around(y, x)
    let prey = null
    if (!animal.isFish) prey = this.choose(places.filter(([py, px]) => rows[py][px]?.isFish === true))
    const free = prey ?? this.choose(places.filter(([py, px]) => rows[py][px] === null))
    animal.age++
    animal.energy += prey === null ? -1 : 3
    animal.moved = true
    if (!animal.isFish && animal.energy <= 0) {
      rows[y][x] = null
    } else if (free !== null) {
      rows[y][x] = null
      if (animal.breeds()) {
        rows[y][x] = new Animal(animal.isFish, 0)
        rows[y][x].moved = true
        animal.age = 0
      }
      rows[free[0]][free[1]] = animal
    }
  }

  count() {
    let fish = 0
    let sharks = 0
    for (const row of this.rows) {
      for (const animal of row) {
        if (animal === null) continue
        if (animal.isFish) fish++
        else sharks++
      }
    }
    return { fish, sharks }
  }
}

export function run(n) {
  const sea = new Sea(24, 18)
  const history = []
  for (let i = 0; i < n; i++) {
    sea.turn()
    history.push(sea.count())
  }
  const last = history.at(-1)
  const most = Math.max(...history.map((each) => each.fish))
  const sum = history.reduce((total, each) => (total * 31 + each.fish * 5 + each.sharks) % 1000003, 0)
  return `predators ${last.fish} ${last.sharks} ${most} ${sum}`
}
