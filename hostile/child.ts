// A child process of hostile/run.ts: judges inputs one after the other and tells each verdict at once, so that what ends the process
// is the input behind the last one told.

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
  /** The longest hold of the run that had the shortest one: a busy machine holds threads, too, and other ones each time. */
  readonly longestMs: number
  /** That of the first run. */
  readonly firstMs: number
  readonly grownBytes: number
  readonly complaint: string | null
}

/** An input that holds the thread for longer is judged again, so many times. */
const HELD_MS = 50
const RETAKES = 4

/** A thread that is held for so long is given up. */
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
