// Where time comes from. The machine has no clock: the driver passes the time when it enters it, and waits for it when a
// task sleeps. Both go through this interface, so that tests run on virtual time and never wait.

import { listenForAbort } from '../abort.js'

export interface Clock {
  /** Milliseconds since 1970; never falls. */
  now(): number
  /** Resolves when `now()` has reached `dueMs` or the signal aborts; never rejects. */
  until(dueMs: number, signal: AbortSignal): Promise<void>
  /** True when waiting costs nothing: the driver then lets answers that are under way arrive before it lets time pass. */
  readonly virtual: boolean
}

/** setTimeout takes a signed 32-bit delay, 24.8 days, and fires at once for a longer one. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A time limit as setTimeout can wait for it. */
export function clampTimer(ms: number): number {
  return Math.min(Math.max(0, ms), LONGEST_TIMER_MS)
}

export function systemClock(): Clock {
  let latest = 0
  const now = (): number => (latest = Math.max(latest, Date.now()))
  return {
    now,
    virtual: false,
    async until(dueMs, signal) {
      // A timer may fire a little early, and longer waits are made of several, so the clock decides.
      while (!signal.aborted) {
        const leftMs = dueMs - now()
        if (leftMs <= 0) return
        await delay(clampTimer(Math.ceil(leftMs)), signal)
      }
    },
  }
}

/** Time that stands still until someone waits for it. `advance` is for hosts that move it by hand. */
export class VirtualClock implements Clock {
  readonly virtual = true
  private current: number

  constructor(startMs = 0) {
    this.current = startMs
  }

  now(): number {
    return this.current
  }

  advance(ms: number): void {
    this.current += ms
  }

  until(dueMs: number): Promise<void> {
    this.current = Math.max(this.current, dueMs)
    return Promise.resolve()
  }
}

/** Resolves after the time or on abort; leaves no timer and no listener behind. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const finish = (): void => {
      clearTimeout(timer)
      ignore()
      resolve()
    }
    const timer = setTimeout(finish, ms)
    const ignore = listenForAbort(signal, finish)
  })
}

/** Gives the thread back once: pending I/O, timers and promises get their turn. */
export function awaitNextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
}
