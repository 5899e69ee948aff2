// A child process of hostile/run.ts: judges inputs one after the other and reports each verdict at once, so that the input
// after the last report is the one that ended the process.

import { Generator } from './generate.js'
import { hostileRuntime, judge } from './judge.js'
import { Watchdog } from './watchdog.js'

export interface Task {
  readonly seed: number
  readonly from: number
  readonly to: number
  /** Only builtins whose name contains it. */
  readonly filter: string
}

export interface Report {
  readonly index: number
  readonly name: string
  readonly status: string
  /** The longest block of the thread, in the run where it was shortest: a busy machine blocks threads too, at different times. */
  readonly longestMs: number
  /** That of the first run. */
  readonly firstMs: number
  readonly grownBytes: number
  readonly complaint: string | null
}

/** An input that blocks the thread for longer is judged again, this many times. */
const HELD_MS = 50
const RETAKES = 4

/** A thread that is blocked for this long is killed. */
const HANG_MS = 20_000

const { seed, from, to, filter } = JSON.parse(process.argv[2] ?? '{}') as Task
const runtime = hostileRuntime()
const generator = new Generator(seed, runtime.registry, filter)
const watchdog = new Watchdog({ hangMs: HANG_MS, endAfterHang: true })
let escaped: unknown = null
process.on('unhandledRejection', (cause) => (escaped = cause))
process.on('uncaughtException', (cause) => (escaped = cause))

for (let index = from; index < to; index++) {
  const { input, complaint, ...figures } = await judge(generator.input(index), runtime, watchdog)
  let longestMs = figures.longestMs
  for (let retake = 0; retake < RETAKES && longestMs > HELD_MS; retake++)
    longestMs = Math.min(longestMs, (await judge(input, runtime, watchdog)).longestMs)
  const outside =
    escaped === null ? null : `thrown outside of the run: ${escaped instanceof Error ? escaped.stack : String(escaped)}`
  escaped = null
  process.send!({
    index,
    name: input.name,
    ...figures,
    longestMs,
    firstMs: figures.longestMs,
    complaint: complaint ?? outside,
  } satisfies Report)
}
await watchdog.end()
process.disconnect()
