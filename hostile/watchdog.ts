// Watches a thread from another one: how long it was held at a stretch, and how much the process grew. The watched thread beats every
// millisecond that it is free; what lies between two beats is a hold. Time in which the system gave the processor to others is taken
// off where the system says it (Linux). The other thread sees what the held one cannot report: that it is still held, and the memory
// meanwhile.

import { readFileSync } from 'node:fs'
import { Worker, isMainThread } from 'node:worker_threads'

/** Cells of the shared memory, in doubles; times are of `performance.timeOrigin + now()`, which threads have in common. */
const BEAT = 0
const PEAK = 1
const HANG_TOLD = 2

export interface Watched<T> {
  readonly value: T
  /** The longest time for which the thread was held, milliseconds. */
  readonly longestMs: number
  /** What the resident memory of the process grew by, at its peak, bytes. */
  readonly grownBytes: number
}

export interface WatchdogOptions {
  /** The thread that is held for longer is reported while it still is: the line goes to standard error from the other thread. */
  readonly hangMs?: number
  /** End the process then, by SIGKILL: nothing else ends a thread that never lets go. */
  readonly endAfterHang?: boolean
}

export class Watchdog {
  private readonly cells = new Float64Array(new SharedArrayBuffer(3 * 8))
  private readonly label = new Uint8Array(new SharedArrayBuffer(256))
  private readonly worker: Worker
  private readonly timer: NodeJS.Timeout
  private beatAt = now()
  private waitedAt = readProcessorWait()
  private longest = 0

  constructor({ hangMs = Number.POSITIVE_INFINITY, endAfterHang = false }: WatchdogOptions = {}) {
    this.cells[BEAT] = this.beatAt
    this.worker = new Worker(WATCHER, {
      eval: true,
      workerData: { cells: this.cells, label: this.label, hangMs, endAfterHang, beat: BEAT, peak: PEAK, told: HANG_TOLD },
    })
    this.worker.unref()
    this.timer = setInterval(() => this.beat(), 1)
    this.timer.unref()
  }

  /** Runs `work`; `label` names it in reports of the other thread. */
  async watch<T>(label: string, work: () => Promise<T>): Promise<Watched<T>> {
    this.label.fill(0)
    this.label.set(new TextEncoder().encode(label).subarray(0, this.label.length - 1))
    // A beat behind which the clock of this watch begins.
    await new Promise((resolve) => setImmediate(resolve))
    this.beat()
    this.longest = 0
    const before = process.memoryUsage.rss()
    this.cells[PEAK] = before
    const value = await work()
    this.beat()
    const peak = Math.max(this.cells[PEAK], process.memoryUsage.rss())
    return { value, longestMs: this.longest, grownBytes: peak - before }
  }

  async end(): Promise<void> {
    clearInterval(this.timer)
    await this.worker.terminate()
  }

  private beat(): void {
    const at = now()
    const waitedNow = readProcessorWait()
    this.longest = Math.max(this.longest, at - this.beatAt - (waitedNow - this.waitedAt))
    this.beatAt = at
    this.waitedAt = waitedNow
    this.cells[BEAT] = at
    this.cells[HANG_TOLD] = 0
  }
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

/** Milliseconds for which this thread was ready to run and did not get a processor; 0 where nothing says it, as in threads of Node. */
function readProcessorWait(): number {
  if (!isMainThread) return 0
  try {
    const [, delay = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')
    return Number(delay) / 1e6
  } catch {
    return 0
  }
}

const WATCHER = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { cells, label, hangMs, endAfterHang, beat, peak, told } = workerData
setInterval(() => {
  cells[peak] = Math.max(cells[peak], process.memoryUsage.rss())
  const held = performance.timeOrigin + performance.now() - cells[beat]
  if (held < hangMs || cells[told] === 1) return
  cells[told] = 1
  const name = Buffer.from(label.slice(0, label.indexOf(0))).toString()
  try { writeSync(2, 'watchdog: ' + name + ': the thread is held for ' + Math.round(held) + ' ms\\n') } catch {}
  if (endAfterHang) process.kill(process.pid, 'SIGKILL')
}, 5)
`
