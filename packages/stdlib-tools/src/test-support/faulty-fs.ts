// A file system whose nth call fails, for tests that let each call of an operation fail in turn. It wraps `node:fs`:
//
//   vi.mock('node:fs', async (original) => makeFaultyFs(await original()))
//
// In a process of its own (`*.process.test.ts`), for modules that were loaded before keep the real one.

import type * as Fs from 'node:fs'

export interface Fault {
  /** Which call fails, from 1; Infinity counts only. */
  readonly at: number
  readonly code: string
  /** A call that writes takes half of the bytes, and the next one fails: a disk that fills up in the middle. */
  readonly short?: boolean
}

const state: { fault: Fault | null; calls: string[]; isFull: boolean } = { fault: null, calls: [], isFull: false }

/** Runs `work`; gives its result, the names of the calls it made, and the one that failed. */
export async function withFault<T>(
  fault: Fault,
  work: () => T | Promise<T>,
): Promise<{ readonly result: T; readonly calls: readonly string[]; readonly failed: string | null }> {
  state.fault = fault
  state.calls = []
  state.isFull = false
  try {
    const result = await work()
    return { result, calls: state.calls, failed: state.calls[fault.at - 1] ?? null }
  } finally {
    state.fault = null
  }
}

export function makeFaultyFs(real: typeof Fs): typeof Fs {
  const entries = Object.entries(real).map(([name, value]) => {
    // A descriptor is closed even when closing says otherwise, and a file that cannot be removed stays: nothing to be done about.
    if (typeof value !== 'function' || !name.endsWith('Sync') || name === 'closeSync' || name === 'rmSync') return [name, value]
    const call = value as (...args: readonly unknown[]) => unknown
    return [
      name,
      (...args: readonly unknown[]) => {
        const { fault } = state
        if (fault === null) return call(...args)
        state.calls.push(name)
        const isDue = state.calls.length === fault.at
        if (state.isFull && name === 'writeSync') throw makeFailure(fault.code, name)
        if (!isDue) return call(...args)
        if (fault.short !== true) throw makeFailure(fault.code, name)
        const [fd, bytes] = args
        if (name !== 'writeSync' || !(bytes instanceof Uint8Array)) return call(...args)
        state.isFull = true
        return real.writeSync(fd as number, bytes, 0, bytes.length >> 1)
      },
    ]
  })
  const made = Object.fromEntries(entries) as typeof Fs
  return { ...made, default: made } as typeof Fs
}

function makeFailure(code: string, call: string): Error {
  return Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
}
