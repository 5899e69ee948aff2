// Flow control: which dispatch goes on when, over all dispatches of this process. A rule has one gate for each binding and key. Places that are
// held are in the shared state of the log, so that a dispatch which is recovered has its place still.

import type { EnterArgs, EventLog, GateAnswer, Gates } from '@bridle/stdlib-tools/node'

type Plain = GateAnswer['batch']

interface Waiting {
  readonly dispatch: string
  readonly rank: number
  readonly resolve: (answer: GateAnswer) => void
}

interface Gate {
  /** Dispatches that hold a place. */
  readonly holders: Set<string>
  readonly waiting: Waiting[]
  /** When dispatches were let through, oldest first. */
  times: number[]
}

interface Batch {
  readonly events: Plain[]
  readonly close: () => void
}

/** The shared table that says which places a dispatch holds. */
const PLACES = 'trigger_places'

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
    this.keepPlace(dispatch, `${rule}\n${name}`, false)
    this.keepHolders(rule, name, gate)
    const next = takeFirst(gate.waiting)
    if (next === null) return
    this.hold(rule, name, gate, next.dispatch)
    next.resolve(pass([{ kind: 'concurrency_acquired', payload: { holders: gate.holders.size } }]))
  }

  /** Gives back all places of a dispatch that is over and did not do so itself, also those that it took in another process. */
  release(dispatch: string): void {
    for (const key of this.readPlaces(dispatch)) {
      const [rule = '', ...name] = key.split('\n')
      this.leave({ gate: name.join('\n'), rule, dispatch })
    }
  }

  private readPlaces(dispatch: string): readonly string[] {
    return (this.log.get(PLACES, dispatch).value ?? []) as readonly string[]
  }

  private keepPlace(dispatch: string, key: string, isHeld: boolean): void {
    const { value, version } = this.log.get(PLACES, dispatch)
    const others = ((value ?? []) as readonly string[]).filter((each) => each !== key)
    if (isHeld || version > 0) this.log.put(PLACES, dispatch, isHeld ? [...others, key] : others, version)
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

  /** When a window let dispatches through before this process began. */
  private readTimes(rule: string, name: string): number[] {
    const kinds: { readonly [rule: string]: string } = { rate_limit: 'rate_limit_allowed', throttle: 'throttle_acquired' }
    const kind = kinds[rule]
    if (kind === undefined) return []
    const topic = `trigger.${rule}.${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}`
    return this.log.read({ topic, kind, last: 1000 }).map(({ occurredAtMs }) => occurredAtMs)
  }

  private hold(rule: string, name: string, gate: Gate, dispatch: string): void {
    gate.holders.add(dispatch)
    this.keepPlace(dispatch, `${rule}\n${name}`, true)
    this.keepHolders(rule, name, gate)
  }

  private keepHolders(rule: string, name: string, { holders }: Gate): void {
    const key = `${rule}\n${name}`
    const { version } = this.log.get('trigger_gates', key)
    this.log.put('trigger_gates', key, [...holders], version)
  }

  /** The first event leads: it goes on with all that came within its time. */
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
    // The place of whoever waits is taken now, so that they go on in the order in which they came.
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
    this.hold(rule, name, gate, dispatch)
    return pass([{ kind: 'singleton_acquired', payload: {} }])
  }

  private takeSlot(
    { gate: name, rule, limits, dispatch, rank }: EnterArgs,
    signal: AbortSignal,
  ): GateAnswer | Promise<GateAnswer> {
    const gate = this.open(rule, name)
    if (gate.holders.has(dispatch) || gate.holders.size < Number(limits['max'])) {
      this.hold(rule, name, gate, dispatch)
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

/** The one of the lowest rank that came first. */
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
