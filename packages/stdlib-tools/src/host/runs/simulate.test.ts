// Runs that outlive their process: recovered after a crash in front of every entry of their journal, and the simulation that does this
// for users, with scripts that are wrong so that we know it can find something.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../library/time/host-clock.js'
import { seededRandom } from '../providers/basics.js'
import { MemoryFs, MemoryStore } from '../providers/memory.js'
import { createRuntime } from '../runtime.js'
import { defineTool } from '../../tools/host-tools/define.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { simulate, simulationCases } from './simulate.js'
import type { JudgedRun, SimulateOptions } from './simulate.js'
import { memoryRunStore } from './store.js'
import type { RunStore } from './store.js'

const ORDER = `
import { price, reserve, charge } from "host/shop"
fn worth(article) { return price({article: article}) }
let prices = parallel each ["tea", "milk", "bread"] { article -> worth(article) }
println("prices " + to_string(prices))
let total = prices.reduce(0, { sum, each -> sum + each })
sleep(50ms)
reserve({cents: total})
let numbers = iter([1, 2, 3]).map({ n -> n * 2 })
println(random_int(1, 6) <= 6)
let receipt = charge({cents: total})
defer { println("left") }
println("charged " + to_string(receipt))
return {total: total, receipt: receipt, doubled: numbers.to_list()}
`

/** A shop whose till remembers what it was asked, as the outside world does. */
function shop(recovery: 'once' | 'idempotent') {
  const charged = new Map<string, number>()
  const tools = [
    defineTool({
      name: 'shop.price',
      sideEffect: 'read_only',
      execute: async (args) => (await Promise.resolve(), (args as { article: string }).article.length * 10),
    }),
    defineTool({ name: 'shop.reserve', recovery: 'idempotent', execute: async () => Promise.resolve(null) }),
    defineTool({
      name: 'shop.charge',
      recovery,
      execute: async (args, { idempotencyKey }) => {
        await Promise.resolve()
        const key = recovery === 'idempotent' ? idempotencyKey : `${idempotencyKey}#${charged.size}`
        charged.set(key, (args as { cents: number }).cents)
        return charged.size
      },
    }),
  ]
  return { tools, charged }
}

const EVERY = { pointsPerSeed: 1000 }

test('a crash or a full disk at any entry changes nothing, where tools can be asked twice', async () => {
  const charges: number[] = []
  const options: SimulateOptions = {
    seeds: 2,
    ...EVERY,
    runtime: () => ({ tools: shop('idempotent').tools }),
    oracles: {
      'one charge': ({ calls }) => {
        const made = calls.filter(({ name }) => name === 'tool.call shop.charge')
        charges.push(made.length)
        return made.length === 1 ? null : `${made.length} charges`
      },
    },
  }
  const { runs, failures } = await simulate(ORDER, options)
  expect(failures).toEqual([])
  // Every entry of the journal, with both faults, for each seed.
  expect(runs).toBeGreaterThan(2 * 2 * 15)
  expect(charges).toHaveLength(runs)
})

test('a `once` tool is never called twice: the script gets unknown_outcome', async () => {
  const source = `
    import { charge } from "host/shop"
    import { wait } from "host/shop"
    let r = try { charge({cents: 5}) } catch (e) { e.code }
    wait()
    return r
  `
  const tills: ReturnType<typeof shop>[] = []
  const makeRuntimeOptions = () => {
    const till = shop('once')
    tills.push(till)
    return {
      tools: [...till.tools, defineTool({ name: 'shop.wait', sideEffect: 'read_only', execute: async () => Promise.resolve(1) })],
    }
  }
  const { failures } = await simulate(source, { seeds: 3, ...EVERY, runtime: makeRuntimeOptions })
  // Wherever the end is another one, it is because of that and nothing else.
  expect(failures.length).toBeGreaterThan(0)
  for (const failure of failures) {
    expect(failure.oracle).toBe('same_end')
    expect(failure.message).toContain('"value":"unknown_outcome"')
  }
  for (const till of tills) expect(till.charged.size).toBeLessThanOrEqual(1)
  // The host knows better: it looks it up.
  const known = await simulate(source, { seeds: 3, ...EVERY, runtime: makeRuntimeOptions, onUnknownOutcome: () => ({ done: 1 }) })
  expect(known.failures).toEqual([])
})

test('a failure comes back with what it says', async () => {
  const source = 'import { tick } from "host/tools"\nlet a = tick()\nsleep(5ms)\nreturn a'
  const makeRuntimeOptions = () => {
    let ticks = 0
    return { tools: [defineTool({ name: 'tick', execute: async () => Promise.resolve(++ticks) })] }
  }
  const { failures } = await simulate(source, { seeds: [3], ...EVERY, faults: ['crash'], runtime: makeRuntimeOptions })
  const [first] = failures
  expect(first).toMatchObject({ seed: 3, oracle: 'same_end', fault: { kind: 'crash' } })
  const again = await simulate(source, { ...first!.reproduce, runtime: makeRuntimeOptions })
  expect(again).toEqual({ runs: 2, failures: [first] })
})

test('oracles of the caller, asserts of the script, races that the seed decides', async () => {
  const source = 'import { slow } from "host/tools"\nreturn parallel_race([1, 2, 3], { n -> slow({n: n}) })'
  const runtime = {
    tools: [
      defineTool({
        name: 'slow',
        sideEffect: 'read_only' as const,
        execute: async (args) => Promise.resolve((args as { n: number }).n),
      }),
    ],
  }
  const winners = new Set<unknown>()
  const { failures } = await simulate(source, {
    seeds: 20,
    faults: [],
    runtime,
    oracles: {
      winner: ({ value }) => void winners.add(value),
      never: ({ value }) => (value === 2 ? 'two won' : null),
    },
  })
  expect(winners.size).toBeGreaterThan(1)
  expect(failures).toContainEqual(expect.objectContaining({ oracle: 'never', message: 'two won', fault: null }))
  // An assert of the script is an oracle as well, when it holds in the undisturbed run only.
  const counted = await simulate(
    'import { slow } from "host/tools"\nlet a = slow({n: 1})\nassert(now_ms() < 1700000001000)\nreturn a',
    {
      seeds: 1,
      ...EVERY,
      runtime: { ...runtime, grants: ['*'] },
    },
  )
  expect(counted.failures.map(({ oracle }) => oracle)).toContain('same_end')
})

test('files and records of the run, output and exit codes survive', async () => {
  const source = `
    write_file("a.txt", "one")
    println(read_file("a.txt"))
    println("before")
    sleep(10ms)
    println("after")
    exit(3)
  `
  const { failures } = await simulate(source, {
    seeds: 2,
    ...EVERY,
    runtime: () => ({ providers: [new MemoryFs(), new MemoryStore(), makeExits()], grants: ['*'] }),
    onUnknownOutcome: () => 'retry',
  })
  expect(failures).toEqual([])
})

function makeExits() {
  return {
    kinds: ['process.set'] as const,
    perform: (
      effect: { readonly args: { readonly [key: string]: unknown } },
      call: { readonly exit: (code: number) => void },
    ) => {
      call.exit(Number(effect.args['code']))
      return { ok: true as const, value: null }
    },
  }
}

test('two workers: the second gets nothing while the first lives, and everything after; the first goes no further', async () => {
  const store = memoryRunStore()
  const clock = new VirtualClock(1000)
  let answer: (value: unknown) => void = () => {}
  const wait = defineTool({ name: 'wait', sideEffect: 'read_only', execute: () => new Promise((resolve) => (answer = resolve)) })
  const makeRuntime = (owner: string) =>
    createRuntime({ tools: [wait], clock, random: seededRandom(1), runs: { store, owner, leaseMs: 100 } })
  const [first, second] = [makeRuntime('first'), makeRuntime('second')]
  const source = 'import { wait } from "host/tools"\nlet answer = wait()\nprintln(answer)\nreturn answer'
  const run = first.start(first.compile(source), { runId: 'r' })
  await new Promise((resolve) => setImmediate(resolve))
  const answerFirst = answer
  expect(second.recover()).toEqual([])
  expect(() => second.start(second.compile('return 1'), { runId: 'r' })).toThrow('the store has a run r already')
  clock.advance(200)
  expect(first.recover()).toEqual([])
  const [taken] = second.recover()
  expect(taken).toMatchObject({ kind: 'resumed', runId: 'r' })
  answerFirst('stale')
  await expect(run.result).rejects.toMatchObject({ code: 'journal_lease_lost' })
  await new Promise((resolve) => setImmediate(resolve))
  answer('fresh')
  if (taken?.kind === 'resumed')
    expect(await taken.run.result).toMatchObject({ status: 'done', value: 'fresh', output: 'fresh\n' })
  expect(store.list()).toEqual([{ runId: 'r', owner: null, expiresAt: 0, ended: 'done' }])
  expect(second.recover()).toEqual([])
})

test('a run that cannot be read just now is not given up, and does not take those along that can', async () => {
  const place = memoryRunStore()
  let isBroken = true
  const store: RunStore = {
    ...place,
    read(runId) {
      if (isBroken && runId === 'r') throw new ToolError('store_unavailable', 'no disk')
      return place.read(runId)
    },
  }
  const clock = new VirtualClock(1000)
  const wait = defineTool({ name: 'wait', sideEffect: 'read_only', execute: () => new Promise(() => {}) })
  const makeRuntime = (owner: string, of: RunStore) =>
    createRuntime({ tools: [wait], clock, runs: { store: of, owner, leaseMs: 100 } })
  const first = makeRuntime('first', place)
  const module = first.compile('import { wait } from "host/tools"\nreturn wait()')
  for (const runId of ['q', 'r']) first.start(module, { runId })
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(200)
  const second = makeRuntime('second', store)
  expect(second.recover()).toMatchObject([
    { kind: 'resumed', runId: 'q' },
    { kind: 'unavailable', runId: 'r', error: { code: 'store_unavailable', message: 'no disk' } },
  ])
  expect(place.list()).toMatchObject([
    { runId: 'q', ended: null },
    { runId: 'r', ended: null },
  ])
  isBroken = false
  clock.advance(200)
  expect(second.recover()).toMatchObject([{ kind: 'resumed', runId: 'r' }])
})

test('a run that cannot be recovered is reported once', () => {
  const store = memoryRunStore()
  const makeRuntimeOptions = createRuntime({ runs: { store, leaseMs: 1 }, clock: new VirtualClock(50) })
  store.append(store.claim('broken', { owner: 'x', now: 0, leaseMs: 1 })!, 'not json')
  store.claim('empty', { owner: 'x', now: 0, leaseMs: 1 })
  expect(makeRuntimeOptions.recover()).toEqual([
    { kind: 'failed', runId: 'broken', reason: 'the run never began' },
    { kind: 'failed', runId: 'empty', reason: 'the run never began' },
  ])
  expect(makeRuntimeOptions.recover()).toEqual([])
  expect(() => createRuntime().recover()).toThrow('this runtime keeps no runs')
})

test('without a seed nothing would be run, which is refused', async () => {
  await expect(simulate('return 1', { seeds: 0 })).rejects.toThrow(RangeError)
  await expect(simulate('return 1', { seeds: [] })).rejects.toThrow('there must be a seed')
})

const TICKS = 'import { tick } from "host/tools"\nlet a = tick()\nsleep(5ms)\nreturn a'

function makeTicking() {
  let ticks = 0
  return { tools: [defineTool({ name: 'tick', execute: async () => Promise.resolve(++ticks) })] }
}

test('onRun gets each run with its journal and its failure; a signal ends the simulation with the failures so far', async () => {
  const judged: JudgedRun[] = []
  const whole = await simulate(TICKS, { seeds: 2, runtime: makeTicking, onRun: (run) => judged.push(run) })
  expect(judged).toHaveLength(whole.runs)
  expect(judged.flatMap(({ failures }) => failures)).toEqual(whole.failures)
  for (const { journal } of judged) expect(journal.at(-1)).toMatchObject({ type: 'end' })
  expect(whole.failures[0]).toMatchObject({ fault: { kind: 'crash', at: 4 }, entry: 'the answer of call 1, tool.call tick' })

  const stop = new AbortController()
  const part = await simulate(TICKS, {
    seeds: 2,
    runtime: makeTicking,
    signal: stop.signal,
    onRun: ({ failures }) => {
      if (failures.length > 0) stop.abort()
    },
  })
  expect(part.failures).toEqual([whole.failures[0]])
  expect(part.runs).toBeLessThan(whole.runs)
  expect(await simulate(TICKS, { runtime: makeTicking, signal: stop.signal })).toEqual({ runs: 0, failures: [] })
})

test('a signal ends an endless run, which is not judged', async () => {
  const stop = new AbortController()
  const forever = defineTool({
    name: 'tick',
    sideEffect: 'read_only',
    execute: () => new Promise(() => setImmediate(() => stop.abort())),
  })
  expect(await simulate(TICKS, { runtime: { tools: [forever] }, signal: stop.signal })).toEqual({ runs: 0, failures: [] })
})

test('each seed is a case of its own', async () => {
  const [first, second, ...none] = simulationCases(TICKS, { seeds: 2, runtime: makeTicking, faults: ['crash'] })
  expect([first?.name, second?.name, none]).toEqual(['seed 0', 'seed 1', []])
  await expect(second!.run()).rejects.toThrow(
    /^same_end: seed 1, crash in front of entry 4 \(the answer of call 1, tool\.call tick\): undisturbed[^]*again with \{"seeds":\[1\],"faults":\["crash"\],"points":\[4\]\}/,
  )
  for (const { run } of simulationCases('return 1', { seeds: [7] })) await run()
})
