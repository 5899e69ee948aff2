// Watches a thread from another one: how long it was blocked without a break, and how much the process grew. The watched thread beats every
// millisecond while it is free; the time between two beats is a block. Time in which the system gave the processor to others is
// subtracted if the system reports it (Linux). The other thread reports what the blocked one cannot: that it is still blocked, and the memory
// meanwhile.

import { readFileSync } from 'node:fs'
import { Worker, isMainThread } from 'node:worker_threads'

/** Cells of the shared memory, in doubles; times are `performance.timeOrigin + now()`, which all threads share. */
const BEAT = 0
const PEAK = 1
const HANG_TOLD = 2

export interface Watched<T> {
  readonly value: T
  /** The longest time for which the thread was blocked, in milliseconds. */
  readonly longestMs: number
  /** Peak growth of the resident memory of the process, in bytes. */
  readonly grownBytes: number
}

export interface WatchdogOptions {
  /** A thread that is blocked for longer is reported meanwhile: the other thread writes a line to standard error. */
  readonly hangMs?: number
  /** End the process then, by SIGKILL: nothing else ends a thread that never yields. */
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
    // The beat at which this watch starts its clock.
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

/** Milliseconds for which this thread was ready to run without a processor; 0 if unknown, as in threads of Node. */
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
