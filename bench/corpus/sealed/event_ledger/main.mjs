// A ledger of an agent's costs: events are applied to accounts, budgets are kept, and a summary is made by day and model.

const AGENTS = ['planner', 'coder', 'reviewer', 'guest']
const MODELS = ['small', 'mid', 'large']
const PRICES = { small: 1, mid: 4, large: 15 }

function makeEvents(count) {
  let seed = 909
  const lines = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const agent = AGENTS[seed % 4]
    const kind = seed % 13 === 0 ? 'topup' : seed % 17 === 0 ? 'refund' : 'call'
    lines.push(
      `{"day": ${Math.trunc(i / 40)}, "agent": "${agent}", "kind": "${kind}", "model": "${MODELS[seed % 3]}", "tokens": ${seed % 4000}}`,
    )
  }
  return lines.map((line) => JSON.parse(line))
}

class Ledger {
  constructor(names, budget) {
    this.accounts = new Map(names.map((name) => [name, { name, left: budget, calls: 0 }]))
    this.entries = new Map()
    this.refused = 0
    this.alerts = []
  }

  apply(event) {
    const account = this.accounts.get(event.agent)
    if (account === undefined) {
      this.refused++
      return
    }
    const cost = Math.trunc((event.tokens * PRICES[event.model]) / 100) + 1
    const half = Math.trunc(cost / 2)
    switch (event.kind) {
      case 'call':
        this.charge(account, event, cost)
        break
      case 'topup':
        account.left += 500
        break
      case 'refund':
        account.left += half
        this.record(event, 0 - half)
        break
      default:
        throw new Error(`no kind ${event.kind}`)
    }
  }

  charge(account, event, cost) {
    if (cost > account.left) {
      this.refused++
      this.alerts.push(`${event.agent} needs ${cost - account.left} more on day ${event.day}`)
      return
    }
    account.left -= cost
    account.calls++
    this.record(event, cost)
  }

  record(event, cost) {
    const key = `${String(event.day).padStart(3, '0')}/${event.model}`
    let entry = this.entries.get(key)
    if (entry === undefined) {
      entry = { cost: 0, calls: 0, agents: [] }
      this.entries.set(key, entry)
    }
    entry.cost += cost
    entry.calls++
    if (!entry.agents.includes(event.agent)) entry.agents.push(event.agent)
  }

  summary() {
    return [...this.entries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { cost, calls, agents }]) => ({ key, cost, calls, agents: agents.length }))
      .sort((a, b) => b.cost - a.cost)
  }
}

export function run(n) {
  const ledger = new Ledger(['planner', 'coder', 'reviewer'], 40000)
  for (const event of makeEvents(n)) ledger.apply(event)
  const rows = ledger.summary()
  const sum = rows.reduce((total, row) => (total * 31 + row.cost * 3 + row.calls) % 1000003, 0)
  const balances = [...ledger.accounts.values()].map((account) => account.left)
  const total = balances.reduce((a, b) => a + b, 0)
  return `event_ledger ${rows.length} ${sum} ${ledger.refused} ${total} ${Math.min(...balances)} ${ledger.alerts.length} ${rows[0].key}`
}
