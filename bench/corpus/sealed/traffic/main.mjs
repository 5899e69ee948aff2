// Cars on rings of lanes keep their distance, change lanes and are counted at a gate.

class Road {
  constructor(lanes, length, count) {
    this.lanes = lanes
    this.length = length
    this.cells = Array.from({ length: lanes }, () => Array(length).fill(-1))
    this.cars = []
    this.changes = 0
    this.seed = 12345
    for (let id = 0; id < count; id++) {
      const lane = id % lanes
      const at = (id * 4) % length
      this.cells[lane][at] = id
      this.cars.push({ id, lane, at, speed: 0, limit: 3 + (id % 3) })
    }
  }

  random(limit) {
    this.seed = (this.seed * 16807) % 2147483647
    return this.seed % limit
  }

  gap(lane, at, far) {
    for (let distance = 1; distance <= far; distance++)
      if (this.cells[lane][(at + distance) % this.length] >= 0) return distance - 1
    return far
  }

  changeLane(car) {
    if (this.gap(car.lane, car.at, car.speed + 1) > car.speed) return
    for (const other of [car.lane - 1, car.lane + 1]) {
      if (
        other >= 0 &&
        other < this.lanes &&
        this.cells[other][car.at] < 0 &&
        this.gap(other, car.at, car.speed + 2) > car.speed
      ) {
        this.cells[car.lane][car.at] = -1
        this.cells[other][car.at] = car.id
        car.lane = other
        this.changes++
        return
      }
    }
  }

  step() {
    let passed = 0
    for (const car of this.cars) this.changeLane(car)
    for (const car of this.cars) {
      let speed = Math.min(car.speed + 1, car.limit)
      speed = Math.min(speed, this.gap(car.lane, car.at, speed))
      if (speed > 0 && this.random(10) === 0) speed--
      const next = (car.at + speed) % this.length
      if (next < car.at) passed++
      this.cells[car.lane][car.at] = -1
      this.cells[car.lane][next] = car.id
      car.at = next
      car.speed = speed
    }
    return passed
  }
}

export function run(n) {
  const road = new Road(3, 200, 45)
  let passed = 0
  for (let step = 0; step < n; step++) passed += road.step()
  const speed = road.cars.reduce((sum, car) => sum + car.speed, 0)
  const sum = road.cars.reduce((total, car) => (total * 31 + car.at * 3 + car.lane) % 1000003, 1)
  return `traffic ${passed} ${speed} ${road.changes} ${sum}`
}
