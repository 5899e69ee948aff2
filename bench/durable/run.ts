// `npm run bench:durable`: what durable runs cost on this machine, beside what they should and what the prototype had. `--runs N` sets how many runs are
// parked (100,000 when absent; what the goal says of 10^6 is scaled), `--engine node|wasm`, `--only NAME`, `--json`. A busy machine flushes several
// times slower: the first line says how long a flush takes now, and the load.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { DurableWorker, createRuntime, defineTool, pending } from '@bridle/stdlib-tools'
import type { Change, DurableStore, EndedRun, StoreWorker } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { GOALS } from './goals.js'
import type { GoalName } from './goals.js'

const { values: flags } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    engine: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const parkedRuns = Number(flags.runs)
const engine = flags.engine as 'node' | 'wasm' | undefined
const folder = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
const measured: { name: GoalName; value: number }[] = []

function say(name: GoalName, value: number): void {
  measured.push({ name, value })
  if (flags.json) return
  const { what, goal, prototype, isAtLeast = false } = GOALS[name]
  const isMet = goal === null || (isAtLeast ? value >= goal : value <= goal)
  const shown = goal === null ? '' : `${isAtLeast ? '≥' : '≤'} ${goal}`
  process.stdout.write(
    `${what.padEnd(64)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${shown.padStart(10)} ${String(prototype ?? '–').padStart(10)} ${isMet ? '' : '  missed'}\n`,
  )
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function measureFlush(): number {
  const file = openSync(join(folder, 'flush'), 'w')
  const times: number[] = []
  for (let round = 0; round < 200; round++) {
    const from = performance.now()
    writeSync(file, 'x'.repeat(4096))
    fsyncSync(file)
    times.push(performance.now() - from)
  }
  closeSync(file)
  return percentile(times, 0.5)
}

const tools = [
  defineTool({ name: 'w.write', recovery: 'idempotent', execute: async () => 1 }),
  defineTool({ name: 'w.read', sideEffect: 'read_only', execute: async () => 1 }),
  defineTool({ name: 'w.ask', recovery: 'idempotent', execute: () => pending('answer') }),
]
const runtime = createRuntime({ tools })
const writing = (count: number) =>
  runtime.compile(`import { write } from "host/w"\nfor _ in range(0, ${count}) { write({}) }\nreturn 1`, {
    file: `write${count}.harn`,
  })
const asking = runtime.compile('import { ask } from "host/w"\nreturn ask({})', { file: 'ask.harn' })

let files = 0
async function open() {
  const path = join(folder, `${files++}.db`)
  return { path, store: await openDurableStore(path, engine === undefined ? {} : { engine }) }
}

/** Resolves when so many runs have ended, with when each did. */
function countEnds(count: number): { readonly onEnd: (ended: EndedRun) => void; readonly all: Promise<Map<string, number>> } {
  const ends = new Map<string, number>()
  let done: (ends: Map<string, number>) => void = () => {}
  const all = new Promise<Map<string, number>>((resolve) => (done = resolve))
  return {
    all,
    onEnd({ runId, status, error }) {
      if (status !== 'done') throw new Error(`${runId} ended as ${status}: ${error}`)
      ends.set(runId, performance.now())
      if (ends.size === count) done(ends)
    },
  }
}

function prepare(module: ReturnType<typeof writing>, runId: string, tenant = '') {
  return { ...runtime.prepareRun(module, { runId, now: Date.now() }), tenant, isArchived: false }
}

const benches: { readonly [name: string]: () => Promise<void> } = {
  async alone() {
    const { store } = await open()
    const flushMs = measureFlush()
    const ends = countEnds(1)
    const worker = new DurableWorker({ store, runtime, onEnd: ends.onEnd })
    await store.submit([prepare(writing(400), 'alone')], Date.now())
    const from = performance.now()
    worker.start()
    await ends.all
    const each = (performance.now() - from) / 400
    await worker.stop()
    await store.close()
    say('alone', each - flushMs)
  },

  async effects() {
    const { store } = await open()
    const ends = countEnds(1000)
    const worker = new DurableWorker({ store, runtime, onEnd: ends.onEnd })
    const module = writing(10)
    await store.submit(
      Array.from({ length: 1000 }, (_, n) => prepare(module, `r${n}`)),
      Date.now(),
    )
    const cpu = process.cpuUsage()
    const from = performance.now()
    worker.start()
    await ends.all
    const seconds = (performance.now() - from) / 1000
    const { user, system } = process.cpuUsage(cpu)
    await worker.stop()
    await store.close()
    say('effects', 10_000 / seconds)
    say('effects_cpu', (user + system) / 10_000)
  },

  async reads() {
    const { store } = await open()
    const ends = countEnds(1)
    let commits = 0
    const counting: DurableStore = {
      ...store,
      async join(facts, now): Promise<StoreWorker> {
        const worker = await store.join(facts, now)
        return {
          take: (query) => worker.take(query),
          commit(changes) {
            if (changes.length > 0) commits++
            return worker.commit(changes)
          },
          heartbeat: (at) => worker.heartbeat(at),
          signals: () => worker.signals(),
          hasChanged: () => worker.hasChanged(),
          leave: () => worker.leave(),
        }
      },
    }
    const worker = new DurableWorker({ store: counting, runtime, onEnd: ends.onEnd })
    worker.start()
    const source = 'import { read, write } from "host/w"\nfor _ in range(0, 100) { read({}) }\nwrite({})\nreturn 1'
    await worker.submit(runtime.compile(source), { runId: 'reads' })
    await ends.all
    await worker.stop()
    await store.close()
    say('reads', commits)
  },

  async parked() {
    const { path, store } = await open()
    await park(store, parkedRuns)
    const scale = 1_000_000 / parkedRuns
    say('disk', (statSync(path).size / 2 ** 20) * scale)
    const waiters = new Map<string, () => void>()
    const worker = new DurableWorker({ store, runtime, onEnd: ({ runId }) => waiters.get(runId)?.() })
    worker.start()
    await worker.idle()
    const times: number[] = []
    for (let round = 0; round < 300; round++) {
      const runId = `p${Math.floor(Math.random() * parkedRuns)}`
      const ended = new Promise<void>((resolve) => waiters.set(runId, resolve))
      const from = performance.now()
      if ((await worker.signal(runId, 'answer', { ok: 1 })) !== 'kept') continue
      await ended
      times.push(performance.now() - from)
    }
    say('wake_p50', percentile(times, 0.5))
    say('wake_p95', percentile(times, 0.95))
    await worker.idle()
    const cpu = process.cpuUsage()
    const from = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 5000))
    const { user, system } = process.cpuUsage(cpu)
    say('idle', (user + system) / 10 / (performance.now() - from))
    say('resident', process.memoryUsage().rss / 2 ** 20)
    await worker.stop()
    await store.close()
  },

  async takeover() {
    const { store } = await open()
    const count = 10_000
    for (let at = 0; at < count; at += 1000)
      await store.submit(
        Array.from({ length: 1000 }, (_, n) => prepare(asking, `t${at + n}`)),
        Date.now(),
      )
    // Its lease is over when the other one comes.
    const now = Date.now()
    const dead = await store.join({ name: 'dead', leaseMs: 1, tools: null }, now)
    for (let taken = 0; taken < count;) taken += (await dead.take({ now, most: 1000, busy: [] })).runs.length
    let parked = 0
    let done: () => void = () => {}
    const all = new Promise<void>((resolve) => (done = resolve))
    const worker = new DurableWorker({ store, runtime, capacity: 2000, onParked: () => ++parked === count && done() })
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const from = performance.now()
    worker.start()
    await all
    delay.disable()
    say('takeover_block', delay.max / 1e6)
    say('takeover', performance.now() - from)
    await worker.stop()
    await store.close()
  },

  async fair() {
    const { store } = await open()
    const ends = countEnds(2020)
    const module = writing(10)
    const worker = new DurableWorker({ store, runtime, onEnd: ends.onEnd })
    await store.submit(
      Array.from({ length: 2000 }, (_, n) => prepare(module, `big${n}`, 'big')),
      Date.now(),
    )
    worker.start()
    const from = performance.now()
    await store.submit(
      Array.from({ length: 20 }, (_, n) => prepare(module, `small${n}`, 'small')),
      Date.now(),
    )
    const at = await ends.all
    await worker.stop()
    await store.close()
    const small = [...at].flatMap(([runId, end]) => (runId.startsWith('small') ? [end - from] : []))
    say('fair', Math.max(...small))
  },
}

/** So many runs that wait for an answer, each with the snapshot of one that really waits. */
async function park(store: DurableStore, count: number): Promise<void> {
  const helper = await openDurableStore(':memory:')
  const worker = new DurableWorker({ store: helper, runtime })
  worker.start()
  await helper.submit([prepare(asking, 'p')], Date.now())
  await worker.idle()
  const snapshot = (await helper.read('p'))!.snapshot!
  await worker.stop()
  await helper.close()
  const own = await store.join({ name: 'parker', leaseMs: 3_600_000, tools: null }, Date.now())
  for (let at = 0; at < count; at += 1000) {
    const most = Math.min(1000, count - at)
    await store.submit(
      Array.from({ length: most }, (_, n) => prepare(asking, `p${at + n}`)),
      Date.now(),
    )
    const { runs } = await own.take({ now: Date.now(), most, busy: [] })
    await own.commit(
      runs.map(({ runId }): Change => ({ do: 'park', runId, snapshot, tokens: '[[1,"answer"]]', used: [], wakeAt: null })),
    )
  }
  await own.leave()
}

try {
  const flushMs = measureFlush()
  const [load] = loadavg()
  if (!flags.json)
    process.stdout.write(
      `Node ${process.versions.node}, ${engine ?? 'default engine'}, ${availableParallelism()} cores, load ${load!.toFixed(1)}, a flush takes ${flushMs.toFixed(2)} ms\n${''.padEnd(64)}   measured       goal  prototype\n`,
    )
  for (const [name, bench] of Object.entries(benches)) if (flags.only === undefined || flags.only === name) await bench()
  if (flags.json) process.stdout.write(`${JSON.stringify({ node: process.versions.node, load, flush_ms: flushMs, measured })}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
