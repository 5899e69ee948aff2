// The driver on engines that keep no journal of ours: entries of theirs are read again by number. The process is killed in front of each entry and
// behind each, and the run continues in another one until it ends.

import { expect, test } from 'vitest'
import { RunLeft } from '../machine-driver.js'
import { createRuntime } from '../runtime.js'
import { defineTool, pending } from '../../tools/host-tools/define.js'
import { decodeSettled, encodeAnswer, encodeSettled } from './answers.js'
import { DurableDriver } from './driver.js'
import type { AskedCall, DurableHost, Settled } from './host.js'
import { answerUnknown } from './pieces.js'
import { judgeCall } from './worker.js'

interface Handle {
  promise: Promise<string>
  behind: ((began: string) => Promise<string>) | null
}

class Killed extends RunLeft {}

/** Entries by number, as Restate and DBOS keep them; `left` more are taken before the process dies. */
class Engine {
  readonly entries: string[] = []
  left = Infinity
  attempts = 0
}

class EngineHost implements DurableHost<Handle> {
  private next = 0
  private readonly attempt: string
  private readonly engine: Engine

  constructor(engine: Engine) {
    this.engine = engine
    this.attempt = `attempt ${engine.attempts++}`
  }

  private time = 1000

  now(): number {
    return this.time
  }

  /** The process dies behind the work and in front of its entry. */
  private entry(work: () => Promise<string> | string): Promise<string> {
    const at = this.next++
    const { engine } = this
    const known = engine.entries[at]
    if (known !== undefined) return Promise.resolve(known)
    if (engine.left <= 0) return Promise.reject(new Killed())
    const made = (async () => {
      const value = await work()
      if (engine.left-- <= 1) throw new Killed()
      engine.entries[at] = value
      return value
    })()
    made.catch(() => {})
    return made
  }

  call({ effect, mode }: AskedCall, work: (isRepeated?: boolean) => Promise<Settled>): Handle {
    const perform = async (isRepeated?: boolean): Promise<string> => encodeSettled(await work(isRepeated))
    if (mode === 'read' || effect.kind !== 'tool.call') return { promise: this.entry(perform), behind: null }
    return {
      promise: this.entry(() => this.attempt),
      behind: (began) => {
        const isRepeated = began !== this.attempt
        return this.entry(() => (isRepeated && mode === 'once' ? encodeSettled({ kind: 'unknown' }) : perform(isRepeated)))
      },
    }
  }

  timer(atMs: number): Handle {
    return { promise: this.entry(() => String(atMs)), behind: null }
  }

  promise(token: string): Handle {
    const promise =
      token === 'approval' ? this.entry(() => JSON.stringify(encodeAnswer({ ok: 'yes' }))) : new Promise<never>(() => {})
    return { promise, behind: null }
  }

  async first(waiting: readonly Handle[]): Promise<{ readonly at: number; readonly value: Settled | string | null }> {
    for (;;) {
      const choose = (): Promise<string> => Promise.race(waiting.map(({ promise }, at) => promise.then(() => String(at))))
      const at = Number(await this.entry(choose))
      const handle = waiting[at]!
      const text = await handle.promise
      if (handle.behind !== null) {
        handle.promise = handle.behind(text)
        handle.behind = null
        continue
      }
      if (/^\d+$/.test(text)) {
        this.time = Math.max(this.time, Number(text))
        return { at, value: null }
      }
      return { at, value: text.startsWith('"') ? (JSON.parse(text) as string) : decodeSettled(text) }
    }
  }
}

const SCRIPT = `
import { step, charge, outer, approve } from "host/w"
var log = []
for i in range(0, 3) { log = log.push(step({n: i})) }
let first = try { charge({n: 10}) } catch (e) { e.code }
sleep(50ms)
let answer = approve({})
let nested = try { outer({n: 20}) } catch (e) { e.code }
let both = parallel each [1, 2] { n -> step({n: n + 100}) }
return [log, first, answer, nested, both]`

function openWorld(made: Map<string, number>) {
  const note = (name: string, n: number): number => {
    made.set(`${name} ${n}`, (made.get(`${name} ${n}`) ?? 0) + 1)
    return n
  }
  const readNumber = (given: unknown): number => (given as { readonly n: number }).n
  return createRuntime({
    tools: [
      defineTool({ name: 'w.step', recovery: 'idempotent', execute: async (given) => note('step', readNumber(given)) }),
      defineTool({ name: 'w.charge', recovery: 'once', execute: async (given) => note('charge', readNumber(given)) }),
      defineTool({
        name: 'w.outer',
        recovery: 'idempotent',
        execute: (given, { tools }) => tools.call('w.charge', { n: readNumber(given) }),
      }),
      defineTool({ name: 'w.approve', recovery: 'idempotent', execute: () => pending('approval') }),
    ],
  })
}

/** Null when the process was killed. */
async function drive(engine: Engine, made: Map<string, number>): Promise<unknown> {
  const runtime = openWorld(made)
  const module = runtime.compile(SCRIPT)
  const { head } = runtime.prepareRun(module, { now: 1000, runId: 'r' })
  const opened = runtime.openPiece({ module, head, snapshot: null, lines: [] }, { decide: () => 'fail' })
  if (opened.kind !== 'open') throw new Error(opened.kind)
  const unknown = (id: number, effect: Parameters<typeof answerUnknown>[2]) => answerUnknown('r', id, effect, () => 'fail')
  const run = opened.begin(
    (options, pack) =>
      new DurableDriver(options, new EngineHost(engine), { pack, judge: (effect) => judgeCall(effect, runtime), unknown }),
  )
  try {
    const result = await run.result
    return result.status === 'done' ? result.value : result
  } catch (cause) {
    if (cause instanceof Killed) return null
    throw cause
  }
}

const WHOLE = [[0, 1, 2], 10, 'yes', 20, [101, 102]]

test('an undisturbed run', async () => {
  const made = new Map<string, number>()
  expect(await drive(new Engine(), made)).toEqual(WHOLE)
  expect([...made.values()].every((times) => times === 1)).toBe(true)
})

test(
  'killed at every entry: what must be made once is made once or nobody knows, and the rest is there',
  { timeout: 120_000 },
  async () => {
    const whole = new Engine()
    await drive(whole, new Map())
    const { length } = whole.entries
    expect(length).toBeGreaterThan(25)
    for (let at = 1; at <= length; at++) {
      const engine = new Engine()
      const made = new Map<string, number>()
      engine.left = at
      expect(await drive(engine, made)).toBeNull()
      engine.left = Infinity
      const [log, first, answer, nested, both] = (await drive(engine, made)) as unknown[]
      expect([log, answer, both]).toEqual([WHOLE[0], WHOLE[2], WHOLE[4]])
      for (const [n, told] of [
        [10, first],
        [20, nested],
      ] as const) {
        expect(made.get(`charge ${n}`) ?? 0, `charge ${n}, killed at ${at}`).toBeLessThanOrEqual(1)
        expect([n, 'unknown_outcome']).toContain(told)
      }
    }
  },
)
