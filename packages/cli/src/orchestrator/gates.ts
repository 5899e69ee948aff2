// Flow control: when each dispatch may continue, over all dispatches of this process. A rule has one gate for each binding and key. Held
// slots are in the shared state of the log, so that a recovered dispatch still has its slot.

import type { EnterArgs, EventLog, GateAnswer, Gates } from '@bridle/stdlib-tools/node'

type Plain = GateAnswer['batch']

interface Waiting {
  readonly dispatch: string
  readonly rank: number
  readonly resolve: (answer: GateAnswer) => void
}

interface Gate {
  /** Dispatches that hold a slot. */
  readonly holders: Set<string>
  readonly waiting: Waiting[]
  /** When dispatches were admitted, oldest first. */
  times: number[]
}

interface Batch {
  readonly events: Plain[]
  readonly close: () => void
}

export class FlowGates implements Gates {
  private readonly log: EventLog
  private readonly gates = new Map<string, Gate>()
  private readonly batches = new Map<string, Batch>()
  private readonly newest = new Map<string, string>()
  private readonly now: () => number

  constructor(log: EventLog, now: () => number = Date.now) {
    this.log = log
    this.now = now
  }

  async enter(args: EnterArgs, signal: AbortSignal): Promise<GateAnswer> {
    switch (args.rule) {
      case 'batch':
        return this.gather(args)
      case 'debounce':
        return this.debounce(args)
      case 'rate_limit':
        return this.limitRate(args)
      case 'throttle':
        return this.throttle(args)
      case 'singleton':
        return this.enterAlone(args)
      case 'concurrency':
        return this.takeSlot(args, signal)
      default:
        return pass([])
    }
  }

  leave({ gate: name, rule, dispatch }: { readonly gate: string; readonly rule: string; readonly dispatch: string }): void {
    const gate = this.open(rule, name)
    gate.holders.delete(dispatch)
    this.keepHolders(rule, name, gate)
    const next = takeFirst(gate.waiting)
    if (next === null) return
    gate.holders.add(next.dispatch)
    this.keepHolders(rule, name, gate)
    next.resolve(pass([{ kind: 'concurrency_acquired', payload: { holders: gate.holders.size } }]))
  }

  /** Slots of dispatches that ended, in any process. */
  drop(isOver: (dispatch: string) => boolean): void {
    for (const [key, gate] of this.gates)
      for (const dispatch of gate.holders)
        if (isOver(dispatch)) {
          const [rule = '', ...name] = key.split('\n')
          this.leave({ gate: name.join('\n'), rule, dispatch })
        }
  }

  private open(rule: string, name: string): Gate {
    const key = `${rule}\n${name}`
    const known = this.gates.get(key)
    if (known !== undefined) return known
    const kept = this.log.get('trigger_gates', key).value as readonly string[] | null
    const gate: Gate = { holders: new Set(kept ?? []), waiting: [], times: this.readTimes(rule, name) }
    this.gates.set(key, gate)
    return gate
  }

  /** When a window admitted dispatches before this process started. */
  private readTimes(rule: string, name: string): number[] {
    const kinds: { readonly [rule: string]: string } = { rate_limit: 'rate_limit_allowed', throttle: 'throttle_acquired' }
    const kind = kinds[rule]
    if (kind === undefined) return []
    const topic = `trigger.${rule}.${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}`
    return this.log.read({ topic, kind, last: 1000 }).map(({ occurredAtMs }) => occurredAtMs)
  }

  private keepHolders(rule: string, name: string, { holders }: Gate): void {
    const key = `${rule}\n${name}`
    const { version } = this.log.get('trigger_gates', key)
    this.log.put('trigger_gates', key, [...holders], version)
  }

  /** The first event leads: it continues with all that arrived within its time. */
  private gather({ gate: name, limits, event }: EnterArgs): GateAnswer | Promise<GateAnswer> {
    const size = Number(limits['size'])
    const known = this.batches.get(name)
    if (known !== undefined) {
      known.events.push(event)
      const { length } = known.events
      if (length >= size) known.close()
      return stop([{ kind: 'batch_enqueued', payload: { size: length } }])
    }
    return new Promise((resolve) => {
      const events: Plain[] = [event]
      const close = (): void => {
        clearTimeout(timer)
        if (this.batches.get(name)?.events !== events) return
        this.batches.delete(name)
        resolve({
          ...pass([
            { kind: 'batch_enqueued', payload: { size: 1 } },
            { kind: 'batch_dispatched', payload: { size: events.length } },
          ]),
          batch: events,
        })
      }
      const timer = setTimeout(close, Number(limits['timeout_ms']))
      this.batches.set(name, { events, close })
      if (size <= 1) close()
    })
  }

  private debounce({ gate: name, limits, dispatch }: EnterArgs): Promise<GateAnswer> {
    this.newest.set(name, dispatch)
    const seen = { kind: 'debounce_seen', payload: {} }
    return new Promise((resolve) => {
      setTimeout(() => {
        if (this.newest.get(name) !== dispatch) return resolve(stop([seen]))
        this.newest.delete(name)
        resolve(pass([seen, { kind: 'debounce_selected', payload: {} }]))
      }, Number(limits['period_ms']))
    })
  }

  private limitRate({ gate: name, limits, rule }: EnterArgs): GateAnswer {
    const gate = this.open(rule, name)
    const now = this.now()
    gate.times = gate.times.filter((at) => at > now - Number(limits['period_ms']))
    if (gate.times.length >= Number(limits['max'])) return stop([{ kind: 'rate_limit_blocked', payload: {} }])
    gate.times.push(now)
    return pass([{ kind: 'rate_limit_allowed', payload: {} }])
  }

  private async throttle({ gate: name, limits, rule }: EnterArgs): Promise<GateAnswer> {
    const gate = this.open(rule, name)
    const period = Number(limits['period_ms'])
    const max = Number(limits['max'])
    const now = this.now()
    gate.times = gate.times.filter((at) => at > now - period)
    // Waiting dispatches take their slots now, so that they continue in the order of arrival.
    const before = gate.times.at(-max)
    const at = gate.times.length < max || before === undefined ? now : before + period
    gate.times.push(at)
    if (at <= now) return pass([{ kind: 'throttle_acquired', payload: {} }])
    await new Promise((resolve) => setTimeout(resolve, at - now))
    return pass([
      { kind: 'throttle_wait', payload: { wait_ms: at - now } },
      { kind: 'throttle_acquired', payload: {} },
    ])
  }

  private enterAlone({ gate: name, rule, dispatch }: EnterArgs): GateAnswer {
    const gate = this.open(rule, name)
    if (gate.holders.size > 0 && !gate.holders.has(dispatch)) return stop([{ kind: 'singleton_skipped', payload: {} }])
    gate.holders.add(dispatch)
    this.keepHolders(rule, name, gate)
    return pass([{ kind: 'singleton_acquired', payload: {} }])
  }

  private takeSlot(
    { gate: name, rule, limits, dispatch, rank }: EnterArgs,
    signal: AbortSignal,
  ): GateAnswer | Promise<GateAnswer> {
    const gate = this.open(rule, name)
    if (gate.holders.has(dispatch) || gate.holders.size < Number(limits['max'])) {
      gate.holders.add(dispatch)
      this.keepHolders(rule, name, gate)
      return pass([{ kind: 'concurrency_acquired', payload: { holders: gate.holders.size } }])
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { dispatch, rank, resolve }
      gate.waiting.push(waiting)
      signal.addEventListener(
        'abort',
        () => {
          const at = gate.waiting.indexOf(waiting)
          if (at >= 0) gate.waiting.splice(at, 1)
          reject(new Error('the dispatch ended while it waited for its turn'))
        },
        { once: true },
      )
    })
  }
}

/** The oldest one of the lowest rank. */
function takeFirst(waiting: Waiting[]): Waiting | null {
  let best = -1
  for (const [at, { rank }] of waiting.entries()) if (best < 0 || rank < waiting[best]!.rank) best = at
  return best < 0 ? null : waiting.splice(best, 1)[0]!
}

type Records = readonly { readonly kind: string; readonly payload: { readonly [name: string]: number } }[]

function pass(records: Records): GateAnswer {
  return { goes_on: true, batch: null, records: records as unknown as Plain }
}

function stop(records: Records): GateAnswer {
  return { goes_on: false, batch: null, records: records as unknown as Plain }
}
