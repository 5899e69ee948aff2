// Does a script survive what happens to processes? `simulate` runs it again and again in a made-up world: virtual time, random bytes and
// an order of answers that follow from a seed, and a store of runs that fails, or whose process dies, at a chosen entry of the journal.
// After each failure another runtime recovers the run, as a host would, until it ends; then the oracles say whether that was right. No
// time passes and nothing but the given tools and providers is touched. A failure names the seed and the entry that bring it back.

import { listenForAbort } from '../../library/abort.js'
import { toPlain } from '@bridle/vm'
import { VirtualClock, awaitNextTurn } from '../../library/time/host-clock.js'
import { decodeJournal } from '../journal.js'
import type { JournalEntry } from '../journal.js'
import { seededRandom } from '../providers/basics.js'
import type { RandomSource } from '../providers/basics.js'
import { describeCause } from '../../tools/executors/provider.js'
import { makeCall, listCalls } from '../replay.js'
import type { ListedCall } from '../replay.js'
import type { Run, RunResult } from '../run.js'
import { createRuntime } from '../runtime.js'
import type { RecoverOptions, RuntimeOptions } from '../runtime-options.js'
import type { Runtime } from '../runtime.js'
import { ToolError, isToolError } from '../../tools/host-tools/errors.js'
import { memoryRunStore } from './store.js'
import type { RunStore } from './store.js'
import { mayRepeat } from './worker.js'

/**
 * `crash`: the process dies in front of an entry of the journal, and another one takes the run over. `store`: the entry cannot be
 * written, and the same host recovers the run later.
 */
export type SimulatedFault = 'crash' | 'store'

/** What tools and providers of one simulated run may want to know. */
export interface SimulatedWorld {
  readonly seed: number
  readonly clock: VirtualClock
  readonly random: RandomSource
}

export interface SimulateOptions {
  /** So many, from 0, or these; 16 when absent. */
  readonly seeds?: number | readonly number[]
  readonly faults?: readonly SimulatedFault[]
  /** Entries of the journal (from 1) to fail at; as many as `pointsPerSeed`, chosen by the seed, when absent. */
  readonly points?: readonly number[]
  /** All entries when there are no more than this; 24 when absent. */
  readonly pointsPerSeed?: number
  /** Tools, providers, grants … . A function is called for each run, so that stateful tools start fresh. */
  readonly runtime?: RuntimeOptions | ((world: SimulatedWorld) => RuntimeOptions)
  readonly input?: unknown
  readonly file?: string
  readonly onUnknownOutcome?: RecoverOptions['onUnknownOutcome']
  /** By name: what is wrong with a run, or nothing. */
  readonly oracles?: { readonly [name: string]: (seen: SimulatedRun) => string | null | undefined | void }
  /** False for scripts that may end in different ways: a run that was disturbed is not compared with the one that was not. */
  readonly sameEnd?: boolean
  /** Receives each run after it was judged. */
  readonly onRun?: (judged: JudgedRun) => void
  /** Ends the simulation: the run that continues is cancelled and not judged, and what was found before is the result. */
  readonly signal?: AbortSignal
}

export interface JudgedRun {
  readonly seed: number
  readonly fault: SimulatedRun['fault']
  /** What is wrong with this run. */
  readonly failures: readonly SimulationFailure[]
  /** Of all its lives; `encodeEntry` makes the lines of a recording of it. */
  readonly journal: readonly JournalEntry[]
}

export interface SimulatedRun {
  readonly seed: number
  /** What happened to it; null for the undisturbed run. */
  readonly fault: { readonly kind: SimulatedFault; readonly at: number } | null
  readonly status: RunResult['status']
  /** Of a run that ended well, else null. */
  readonly value: unknown
  /** Of one that did not, else null. */
  readonly error: string | null
  readonly output: string
  /** In order; `times` says how often a call was begun. */
  readonly calls: readonly (ListedCall & { readonly times: number })[]
  /** How many runtimes worked on it. */
  readonly lives: number
}

export interface SimulationFailure {
  readonly seed: number
  readonly fault: SimulatedRun['fault']
  /** The entry of the journal that the fault was in front of, in words; null without a fault, and behind the last entry. */
  readonly entry: string | null
  /** `ends`, `same_end`, `once`, `replays`, or the name of an oracle of the caller. */
  readonly oracle: string
  readonly message: string
  /** Options that bring it back, beside those of the caller. */
  readonly reproduce: {
    readonly seeds: readonly number[]
    readonly faults?: readonly SimulatedFault[]
    readonly points?: readonly number[]
  }
}

export interface Simulation {
  /** How many runs were made. */
  readonly runs: number
  readonly failures: readonly SimulationFailure[]
}

const START_MS = 1_700_000_000_000
const MOST_LIVES = 20

/** A violated oracle is a result. Raises CompileError, RangeError without a seed, and what the given functions throw. */
export async function simulate(source: string, options: SimulateOptions = {}): Promise<Simulation> {
  const { seeds = DEFAULT_SEEDS, faults = ['crash', 'store'], pointsPerSeed = 24 } = options
  const chosenSeeds = listSeeds(seeds)
  const failures: SimulationFailure[] = []
  let runs = 0
  const isOver = (): boolean => options.signal?.aborted === true
  /** null when the simulation was ended in the middle of it. */
  const judgeRun = async (seed: number, fault: SimulatedRun['fault'], calm: Attempt | null): Promise<Attempt | null> => {
    // Runs that wait for nothing would leave the host no turn for its own work, such as ending this.
    await awaitNextTurn()
    const attempt = isOver() ? null : await liveThrough(source, options, seed, fault)
    if (attempt === null || isOver()) return null
    runs++
    const entry = fault === null ? null : describeEntry(calm?.entries ?? [], fault.at)
    const reproduce = { seeds: [seed], ...(fault === null ? { faults: [] } : { faults: [fault.kind], points: [fault.at] }) }
    const found = [...listComplaints(attempt, calm?.seen ?? null, options)].map(([oracle, message]) => ({
      seed,
      fault,
      entry,
      oracle,
      message,
      reproduce,
    }))
    failures.push(...found)
    options.onRun?.({ seed, fault, failures: found, journal: attempt.entries })
    return attempt
  }
  for (const seed of chosenSeeds) {
    const calm = await judgeRun(seed, null, null)
    if (calm === null) break
    if (calm.seen === null) continue
    const points = options.points ?? chooseEntries(calm.entries.length, pointsPerSeed, seed)
    for (const kind of faults) for (const at of points) await judgeRun(seed, { kind, at }, calm)
  }
  return { runs, failures }
}

/** What entry `at` (from 1) of a journal says. */
function describeEntry(entries: readonly JournalEntry[], at: number): string | null {
  const entry = entries[at - 1]
  if (entry === undefined) return null
  const formatCall = (id: number): string => `call ${id}, ${listCalls(entries).find((call) => call.id === id)?.name ?? 'unknown'}`
  switch (entry.type) {
    case 'run':
    case 'start':
    case 'restore':
      return 'the beginning of the run'
    case 'effect':
      return formatCall(entry.id)
    case 'answer':
      return `the answer of ${formatCall(entry.id)}`
    case 'resume':
      return entry.id === null ? 'a timer' : `the answer of ${formatCall(entry.id)}`
    case 'nested':
    case 'nested_end':
      return `the call of a tool by ${formatCall(entry.id)}`
    case 'token':
      return `the token of ${formatCall(entry.id)}`
    case 'cancel':
      return 'the cancellation of the run'
    case 'end':
      return 'the end of the run'
  }
}

/** Each seed as its own case, for any test runner: `for (const { name, run } of simulationCases(…)) test(name, run)`. */
export function simulationCases(
  source: string,
  options: SimulateOptions = {},
): readonly { readonly name: string; readonly run: () => Promise<void> }[] {
  const { seeds = DEFAULT_SEEDS } = options
  return listSeeds(seeds).map((seed) => ({
    name: `seed ${seed}`,
    async run() {
      const { failures } = await simulate(source, { ...options, seeds: [seed] })
      if (failures.length === 0) return
      const [{ fault, entry, oracle, message, reproduce }] = failures as [SimulationFailure]
      const place = fault === null ? '' : `, ${fault.kind} in front of entry ${fault.at} (${entry ?? 'behind the end'})`
      const more = failures.length === 1 ? '' : `\nand ${failures.length - 1} more`
      throw new Error(`${oracle}: seed ${seed}${place}: ${message}\nagain with ${JSON.stringify(reproduce)}${more}`)
    },
  }))
}

const DEFAULT_SEEDS = 16

/** Raises RangeError when there is none. */
function listSeeds(seeds: number | readonly number[]): readonly number[] {
  const chosenSeeds = typeof seeds === 'number' ? Array.from({ length: Math.max(0, seeds) }, (_, at) => at) : seeds
  if (chosenSeeds.length === 0) throw new RangeError('simulate: there must be a seed; without one nothing would be run')
  return chosenSeeds
}

interface Attempt {
  readonly seen: SimulatedRun | null
  readonly entries: readonly JournalEntry[]
  /** Why the run did not come to an end. */
  readonly stuck: string | null
  readonly runtime: Runtime
  /** Numbers of calls that the caller had made again. */
  readonly retried: ReadonlySet<number>
}

/** One run with all its lives. */
async function liveThrough(
  source: string,
  options: SimulateOptions,
  seed: number,
  fault: SimulatedRun['fault'],
): Promise<Attempt> {
  const clock = new VirtualClock(START_MS + seed)
  const random = seededRandom(seed)
  const given = typeof options.runtime === 'function' ? options.runtime({ seed, clock, random }) : (options.runtime ?? {})
  const place = memoryRunStore()
  let writesLeft = fault === null ? Infinity : fault.at - 1
  const retried = new Set<number>()
  const makeRuntime = (owner: string): Runtime => {
    const store =
      fault === null
        ? place
        : withFaults(
            place,
            fault.kind,
            () => writesLeft-- > 0,
            () => (writesLeft = Infinity),
          )
    return createRuntime({ clock, random, ...given, runs: { store, owner, leaseMs: 1000 } })
  }
  let runtime = makeRuntime('worker-1')
  const latency = makeLatency(seed)
  const start = (life: number): Run =>
    runtime.start(runtime.compile(source, options.file === undefined ? {} : { file: options.file }), {
      input: options.input ?? null,
      runId: `simulated-${life}`,
      latency,
    })
  const awaitEnd = (run: Run): Promise<End | Error> => awaitRunEnd(run, options.signal)
  const startAndAwaitEnd = async (life: number): Promise<End | Error> => {
    try {
      return await awaitEnd(start(life))
    } catch (cause) {
      // The caller was informed that it is not stored.
      if (isToolError(cause) && cause.code === 'store_unavailable') return cause
      throw cause
    }
  }
  let runId = 'simulated-1'
  let end = await startAndAwaitEnd(1)
  let lives = 1
  let stuck: string | null = null
  while (end instanceof Error && options.signal?.aborted !== true) {
    if (++lives > MOST_LIVES) {
      stuck = `still not at its end after ${MOST_LIVES} lives: ${end.message}`
      break
    }
    clock.advance(5000)
    if (fault?.kind === 'crash') runtime = makeRuntime(`worker-${lives}`)
    const [found] = runtime.recover({
      latency,
      onUnknownOutcome: (call) => {
        const decision = options.onUnknownOutcome?.(call) ?? 'fail'
        if (decision === 'retry') retried.add(call.id)
        return decision
      },
    })
    if (found === undefined || (found.kind === 'failed' && found.reason === 'the run never began')) {
      // Nothing of it was stored, so nothing has happened: the caller starts it again.
      runId = `simulated-${lives}`
      end = await startAndAwaitEnd(lives)
    } else if (found.kind === 'resumed') {
      end = await awaitEnd(found.run)
    } else if (found.kind === 'ended') {
      // Everything was done but for the last entry; what it was shows in a replay.
      end =
        replayToEnd(runtime, decodeJournal(place.read(runId).join('\n'))) ??
        new Error('a run that had ended does not end in its replay')
    } else if (found.kind === 'unavailable') {
      throw found.error
    } else {
      stuck = `it could not be recovered: ${found.kind === 'held' ? `it was held for the call of ${found.call.name}` : found.reason}`
      break
    }
  }
  const entries = decodeJournal(place.read(runId).join('\n'))
  if (end instanceof Error) return { seen: null, entries, stuck: stuck ?? end.message, runtime, retried }
  const times = new Map<number, number>()
  for (const entry of entries) if (entry.type === 'effect') times.set(entry.id, (times.get(entry.id) ?? 0) + 1)
  const calls = new Map(listCalls(entries).map((call) => [call.id, { ...call, times: times.get(call.id) ?? 0 }]))
  const seen: SimulatedRun = { seed, fault, ...end, calls: [...calls.values()], lives }
  return { seen, entries, stuck: null, runtime, retried }
}

type End = Pick<SimulatedRun, 'status' | 'value' | 'error' | 'output'>

function makeEnd(result: RunResult): End {
  const { status, output } = result
  const value = result.status === 'done' ? result.value : result.status === 'exit' ? result.code : null
  const error = result.status === 'failed' ? result.error.message : result.status === 'limit' ? result.message : null
  return { status, value, error: result.status === 'cancelled' ? result.reason : error, output }
}

async function awaitRunEnd(run: Run, signal: AbortSignal | undefined): Promise<End | Error> {
  const ignore = listenForAbort(signal, () => run.cancel('the simulation was ended'))
  try {
    return makeEnd(await run.result)
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause))
  } finally {
    ignore()
  }
}

/** How the run of a journal that other lives have continued ends in a replay; null when it does not. */
function replayToEnd(runtime: Runtime, entries: readonly JournalEntry[]): End | null {
  const again = runtime.replay(runtime.moduleOfRecording(entries), entries, { isOpen: true })
  if (again.kind !== 'ended') return null
  const { end, output } = again
  switch (end.kind) {
    case 'done':
      return { status: 'done', value: toPlain(end.value), error: null, output }
    case 'failed':
      return { status: 'failed', value: null, error: end.fault.text, output }
    case 'limit':
      return { status: 'limit', value: null, error: end.message, output }
    case 'exit':
      return { status: 'exit', value: end.code, error: null, output }
    case 'cancelled':
      return { status: 'cancelled', value: null, error: end.reason, output }
  }
}

/** A store that cannot write once `mayWrite` says no: for good in this life of a process that crashed, once for one whose disk was full. */
function withFaults(store: RunStore, kind: SimulatedFault, mayWrite: () => boolean, recovered: () => void): RunStore {
  let isDead = false
  const requireAlive = (): void => {
    if (isDead) throw new ToolError('store_unavailable', 'the process has died')
  }
  return {
    ...store,
    append(lease, line) {
      requireAlive()
      if (!mayWrite()) {
        recovered()
        isDead = kind === 'crash'
        throw new ToolError('store_unavailable', kind === 'crash' ? 'the process dies' : 'no space is left')
      }
      store.append(lease, line)
    },
    renew(...lease) {
      requireAlive()
      return store.renew(...lease)
    },
    release(...lease) {
      requireAlive()
      store.release(...lease)
    },
  }
}

/** Lets each answer wait a few turns, so that the order in which answers arrive follows from the seed. */
function makeLatency(seed: number): (id: number) => Promise<void> {
  return async (id) => {
    const [turns = 0] = seededRandom(seed * 7919 + id)(1)
    for (let turn = 0; turn < turns % 6; turn++) await awaitNextTurn()
  }
}

function chooseEntries(entries: number, most: number, seed: number): readonly number[] {
  const all = Array.from({ length: entries }, (_, at) => at + 1)
  if (entries <= most) return all
  const random = seededRandom(seed)
  const keyed = all.map((at) => ({ at, key: random(2).reduce((sum, byte) => sum * 256 + byte, 0) }))
  const picked = keyed.sort((a, b) => a.key - b.key).slice(0, most)
  return picked.map(({ at }) => at).sort((a, b) => a - b)
}

function* listComplaints(
  { seen, stuck, entries, runtime, retried }: Attempt,
  undisturbed: SimulatedRun | null,
  { oracles = {}, sameEnd = true }: SimulateOptions,
): Generator<readonly [oracle: string, message: string]> {
  if (seen === null) {
    yield ['ends', stuck ?? 'the run did not end']
    return
  }
  if (sameEnd && undisturbed !== null) {
    const [a, b] = [undisturbed, seen].map(({ status, value, error, output }) => JSON.stringify({ status, value, error, output }))
    if (a !== b) yield ['same_end', `undisturbed ${a}, now ${b}`]
  }
  const twice = entries.find((entry) => {
    if (entry.type !== 'effect' || retried.has(entry.id)) return false
    const call = seen.calls.find(({ id }) => id === entry.id)
    return (
      call !== undefined &&
      call.times > 1 &&
      !mayRepeat({ kind: entry.kind, args: entry.args } as Parameters<typeof mayRepeat>[0], runtime.host)
    )
  })
  if (twice?.type === 'effect')
    yield ['once', `${makeCall(twice.id, { kind: twice.kind, args: twice.args }).name} was begun more than once`]
  const again = replayToEnd(runtime, entries)
  const { status, value, error, output } = seen
  if (again === null || JSON.stringify(again) !== JSON.stringify({ status, value, error, output }))
    yield ['replays', 'a replay of the journal ends in another way']
  for (const [name, oracle] of Object.entries(oracles)) {
    let message: ReturnType<typeof oracle>
    try {
      message = oracle(seen)
    } catch (cause) {
      message = describeCause(cause)
    }
    if (typeof message === 'string') yield [name, message]
  }
}
