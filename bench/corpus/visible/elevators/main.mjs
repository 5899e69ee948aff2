// Elevators serve calls: structs with methods that give the changed receiver back.

class Elevator {
  constructor(id) {
    this.id = id
    this.floor = 0
    this.direction = 0
    this.riders = []
    this.travelled = 0
    this.served = 0
  }

  isIdle() {
    return this.direction === 0
  }

  distanceTo(floor) {
    return Math.abs(this.floor - floor)
  }

  sendTo(floor) {
    this.direction = Math.sign(floor - this.floor)
  }

  board(passenger) {
    this.riders.push(passenger)
    this.direction = passenger.to > this.floor ? 1 : -1
  }

  unload() {
    const staying = this.riders.filter((rider) => rider.to !== this.floor)
    this.served += this.riders.length - staying.length
    this.riders = staying
    if (staying.length === 0) this.direction = 0
  }

  step(top) {
    if (this.direction !== 0) {
      this.floor += this.direction
      this.travelled++
    }
    if ((this.floor <= 0 && this.direction < 0) || (this.floor >= top && this.direction > 0)) this.direction = -this.direction
  }
}

class Building {
  constructor(elevators, floors) {
    this.floors = floors
    this.elevators = Array.from({ length: elevators }, (_, id) => new Elevator(id))
    this.waiting = []
    this.waited = 0
    this.seed = 7
  }

  random(limit) {
    this.seed = (this.seed * 16807) % 2147483647
    return this.seed % limit
  }

  tick(time) {
    const calls = this.random(3)
    for (let call = 0; call < calls; call++) {
      const from = this.random(this.floors)
      const to = this.random(this.floors)
      if (from !== to) this.waiting.push({ from, to, since: time })
    }
    for (const elevator of this.elevators) {
      elevator.unload()
      const still = []
      for (const passenger of this.waiting) {
        if (passenger.from === elevator.floor && elevator.riders.length < 6) {
          elevator.board(passenger)
          this.waited += time - passenger.since
        } else {
          still.push(passenger)
        }
      }
      this.waiting = still
    }
    this.dispatch()
    for (const elevator of this.elevators) elevator.step(this.floors - 1)
  }

  dispatch() {
    for (const passenger of this.waiting) {
      let best = null
      for (const candidate of this.elevators) {
        if (candidate.isIdle() && (best === null || candidate.distanceTo(passenger.from) < best.distanceTo(passenger.from)))
          best = candidate
      }
      if (best === null) break
      best.sendTo(passenger.from)
    }
  }

  summary() {
    const served = this.elevators.reduce((sum, each) => sum + each.served, 0)
    const travelled = this.elevators.reduce((sum, each) => sum + each.travelled, 0)
    return `${served} ${travelled} ${this.waited} ${this.waiting.length}`
  }
}

export function run(n) {
  const building = new Building(4, 20)
  for (let tick = 0; tick < n; tick++) building.tick(tick)
  return `elevators ${building.summary()}`
}
