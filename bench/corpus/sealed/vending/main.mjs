// A vending machine as a state machine: states and events are enums, transitions a match, and a log is replayed.

const PRICES = { tea: 35, soup: 50, juice: 65 }

function makeEvents(count) {
  let seed = 606
  const events = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const kind = seed % 6
    if (kind < 3) events.push({ kind: 'coin', value: [5, 10, 20, 50][seed % 4] })
    else if (kind === 3) events.push({ kind: 'button', name: ['tea', 'soup', 'juice'][seed % 3] })
    else if (kind === 4) events.push({ kind: 'button', name: 'cancel' })
    else events.push({ kind: 'refill', count: seed % 5 })
  }
  return events
}

class Machine {
  constructor() {
    this.state = { kind: 'Idle' }
    this.credit = 0
    this.stock = { tea: 5, soup: 5, juice: 5 }
    this.sold = 0
    this.income = 0
    this.shown = ''
  }

  buy(drink) {
    const price = PRICES[drink]
    if (this.stock[drink] === 0) {
      this.shown = `no ${drink}`
    } else if (this.credit < price) {
      this.shown = `${price - this.credit} more`
    } else {
      this.stock[drink]--
      this.sold++
      this.income += price
      this.state = { kind: 'Vending', drink, change: giveChange(this.credit - price) }
      this.credit = 0
    }
  }

  step(event) {
    if (this.state.kind === 'Vending') {
      this.shown = `${this.state.drink} and ${this.state.change.join('+')}`
      this.state = { kind: 'Idle' }
    } else {
      this.shown = ''
    }
    if (event.kind === 'coin') {
      this.credit += event.value
      if (this.state.kind === 'Collecting') this.state.coins.push(event.value)
      else this.state = { kind: 'Collecting', coins: [event.value] }
    } else if (event.kind === 'refill') {
      for (const key of Object.keys(this.stock)) this.stock[key] = Math.min(9, this.stock[key] + event.count)
    } else if (event.name !== 'cancel') {
      this.buy(event.name)
    } else if (this.state.kind === 'Collecting') {
      this.shown = `back: ${this.state.coins.join('+')}`
      this.credit = 0
      this.state = { kind: 'Idle' }
    }
  }

  describe() {
    const { juice, soup, tea } = this.stock
    return `${this.sold} ${this.income} ${this.credit} juice${juice}soup${soup}tea${tea} ${this.state.kind}`
  }
}

function giveChange(amount) {
  let left = amount
  const coins = []
  for (const value of [50, 20, 10, 5]) {
    while (left >= value) {
      coins.push(value)
      left -= value
    }
  }
  return coins
}

export function run(n) {
  const events = makeEvents(n)
  const machine = new Machine()
  let trail = 0
  for (const event of events) {
    machine.step(event)
    trail = (trail * 31 + machine.credit + machine.shown.length) % 1000003
  }
  const again = new Machine()
  for (const event of events) again.step(event)
  return `vending ${machine.describe()} ${trail} ${JSON.stringify(again) === JSON.stringify(machine)}`
}
