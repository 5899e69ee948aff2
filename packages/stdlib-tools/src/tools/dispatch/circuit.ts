// Circuit breakers: named counters of failures. Open after `threshold` failures in a row, half open again once the
// reset time has passed since it opened.

import { HarnDict, builtin, display, family, toMillis } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'

interface Breaker {
  threshold: number
  resetMs: number
  failures: number
  /** Machine time at which it opened; null while closed. */
  openedAt: number | null
}

const circuitState = family<{ breakers: Map<string, Breaker> }>('circuits', () => ({ breakers: new Map() }))

const CIRCUIT = ['circuit'] as const

function readName(value: Value): string {
  return value === null ? 'default' : display(value)
}

function findBreaker(ctx: Context, name: Value): Breaker | undefined {
  return ctx.state(circuitState).breakers.get(readName(name))
}

function readState(ctx: Context, circuit: Breaker | undefined): 'closed' | 'open' | 'half_open' {
  if (circuit === undefined || circuit.openedAt === null) return 'closed'
  return ctx.now - circuit.openedAt >= circuit.resetMs ? 'half_open' : 'open'
}

function create(ctx: Context, name: Value, threshold: Value, resetMs: Value): Result {
  ctx.state(circuitState).breakers.set(readName(name), {
    threshold: toMillis(threshold) ?? 5,
    resetMs: toMillis(resetMs) ?? 30_000,
    failures: 0,
    openedAt: null,
  })
  return readName(name)
}

/** True exactly when this failure opens a closed circuit. A circuit that is open keeps its time, also when the trial fails. */
function recordFailure(ctx: Context, name: Value): Result {
  const circuit = findBreaker(ctx, name)
  if (circuit === undefined) return false
  circuit.failures++
  if (circuit.failures < circuit.threshold || circuit.openedAt !== null) return false
  circuit.openedAt = ctx.now
  return true
}

function close(ctx: Context, name: Value): Result {
  const circuit = findBreaker(ctx, name)
  if (circuit !== undefined) {
    circuit.failures = 0
    circuit.openedAt = null
  }
  return null
}

interface BreakerSettings {
  readonly threshold: number
  readonly resetMs: number
}

/** `{threshold, reset_ms}` of a tool; null when it has no breaker. */
function readSettings(value: Value | undefined): BreakerSettings | null {
  if (!(value instanceof HarnDict)) return null
  return { threshold: toMillis(value.get('threshold')) ?? 5, resetMs: toMillis(value.get('reset_ms')) ?? 30_000 }
}

/** Null when a call may continue; else the milliseconds until the breaker lets one try again. */
export function admitByCircuit(ctx: Context, name: string, value: Value | undefined): number | null {
  const settings = readSettings(value)
  const circuit = settings === null ? undefined : findBreaker(ctx, name)
  if (circuit === undefined || readState(ctx, circuit) !== 'open') return null
  return Math.max(0, circuit.openedAt! + circuit.resetMs - ctx.now)
}

export function reportToCircuit(ctx: Context, name: string, value: Value | undefined, succeeded: boolean): void {
  const settings = readSettings(value)
  if (settings === null) return
  if (succeeded) close(ctx, name)
  else {
    if (findBreaker(ctx, name) === undefined) create(ctx, name, settings.threshold, settings.resetMs)
    recordFailure(ctx, name)
    // Unlike the builtin, a tool whose trial failed rests again for the whole reset time.
    const circuit = findBreaker(ctx, name)!
    if (readState(ctx, circuit) === 'half_open') circuit.openedAt = ctx.now
  }
}

export const circuitFamily: BuiltinFamily = {
  name: 'circuit',
  builtins: [
    builtin(
      'circuit_breaker(name?: string, threshold?: int, reset_ms?: int) -> string',
      { doc: 'Makes a breaker (afresh) and gives its name.', effects: CIRCUIT },
      create,
    ),
    builtin('circuit_check(name: string) -> string', { doc: '`closed`, `open` or `half_open`.', effects: CIRCUIT }, (ctx, name) =>
      readState(ctx, findBreaker(ctx, name!)),
    ),
    builtin(
      'circuit_record_failure(name: string) -> bool',
      { doc: 'Counts a failure; true when it opens the breaker.', effects: CIRCUIT },
      recordFailure,
    ),
    builtin(
      'circuit_record_success(name: string) -> nil',
      { doc: 'Closes the breaker and forgets failures.', effects: CIRCUIT },
      close,
    ),
    builtin('circuit_reset(name: string) -> nil', { doc: 'Closes the breaker and forgets failures.', effects: CIRCUIT }, close),
  ],
}
