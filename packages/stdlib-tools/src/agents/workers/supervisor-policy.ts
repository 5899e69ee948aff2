// Restart policies of supervised children: how they are written, whether another start is due, and after what delay.

import { HarnDict, HarnFloat, display, parseMillis, typeName, toUtf8 } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'

export type RestartMode = 'never' | 'on_failure' | 'always'

export interface RestartPolicy {
  readonly mode: RestartMode
  /** Null: no cap. */
  readonly maxRestarts: number | null
  readonly windowMs: number
  readonly backoffMs: number
  readonly maxBackoffMs: number
  readonly factor: number
  readonly jitterMs: number
  readonly circuitOpenMs: number | null
}

function readNumber(value: Value | undefined, fallback: number): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  return value instanceof HarnFloat ? value.v : fallback
}

function isMode(text: string): text is RestartMode {
  return text === 'never' || text === 'on_failure' || text === 'always'
}

/** The policy, or what is wrong with it. */
export function readRestart(value: Value): RestartPolicy | string {
  if (value !== null && typeof value !== 'string' && !(value instanceof HarnDict)) {
    return `restart policy must be a string or dict, got ${typeName(value)}`
  }
  const dict = value instanceof HarnDict ? value : new HarnDict()
  const mode = display((value instanceof HarnDict ? dict.get('mode') : value) ?? 'on_failure')
  if (!isMode(mode)) return `unknown restart mode '${mode}'`
  return {
    mode,
    maxRestarts: parseMillis(dict.get('max_restarts') ?? dict.get('max')),
    windowMs: parseMillis(dict.get('window_ms') ?? dict.get('window')) ?? 60_000,
    backoffMs: parseMillis(dict.get('backoff_ms') ?? dict.get('backoff')) ?? 0,
    maxBackoffMs: parseMillis(dict.get('max_backoff_ms')) ?? 30_000,
    factor: readNumber(dict.get('factor'), 2),
    jitterMs: parseMillis(dict.get('jitter_ms')) ?? 0,
    circuitOpenMs: parseMillis(dict.get('circuit_open_ms')),
  }
}

/** Whether the cap on restarts is reached. `failures` are the recorded ones inside the window. */
export function isExhausted(policy: RestartPolicy, failed: boolean, failures: number, restartCount: number): boolean {
  if (policy.maxRestarts === null) return false
  return failed && policy.windowMs > 0 ? failures > policy.maxRestarts : restartCount >= policy.maxRestarts
}

/** Milliseconds until the start after `restartCount` earlier ones. Jitter comes from the child's name, so replays agree. */
export function restartDelay(policy: RestartPolicy, restartCount: number, seed: string): number {
  const delay = Math.min(Math.round(policy.backoffMs * policy.factor ** restartCount), policy.maxBackoffMs)
  if (policy.jitterMs <= 0) return delay
  const [a, b, c] = sha256(toUtf8(`${seed}:${restartCount}`))
  return delay + (((a! << 16) | (b! << 8) | c!) % (policy.jitterMs + 1))
}
