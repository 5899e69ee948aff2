// Keys that answer a run from outside: a run and one of its tokens, signed, so that the holder of a key can answer that token and nothing else, and
// keys cannot be forged. A key is a capability: it may be part of a URL or a mail.

import { bytesToHex, toUtf8 } from '@bridle/vm/families'
import { hmacDigesting, isSameText } from '../../library/crypto/hashes.js'

/** Secrets by name. New keys are signed with the current one; keys of the others are good as long as they are listed. */
export interface KeyRing {
  readonly current: string
  readonly secrets: { readonly [name: string]: string | Uint8Array }
}

export interface KeyTarget {
  readonly runId: string
  readonly token: string
}

/** Answers to an event come under this and its name, results of calls under the call's id. */
export const EVENT_TOKEN = 'event:'
export const CALL_TOKEN = 'call:'
/** Signals come under this, their name, `#` and their number: the store counts them. */
export const SIGNAL_TOKEN = 'signal:'
/** Ends of runs that a run has started come under this and their id. */
export const RUN_TOKEN = 'run:'

/** Events that the run emits itself, of a type (or any, without one) behind a number. These have no outside answers. */
const EMITTED_TOKEN = 'emitted:'

export interface EmittedToken {
  readonly type: string | null
  readonly after: number
}

export function makeEmittedToken({ type, after }: EmittedToken): string {
  return `${EMITTED_TOKEN}${after}:${type ?? ''}`
}

export function readEmittedToken(token: string): EmittedToken | null {
  if (!token.startsWith(EMITTED_TOKEN)) return null
  const at = token.indexOf(':', EMITTED_TOKEN.length)
  const type = token.slice(at + 1)
  return { type: type === '' ? null : type, after: Number(token.slice(EMITTED_TOKEN.length, at)) }
}

/** Whether its time limit also ends the possibility to answer: late answers are dropped. */
export function isAnsweredOnce(token: string): boolean {
  return token.startsWith(EVENT_TOKEN) || token.startsWith(CALL_TOKEN)
}

/** Whether a token is answered once in the whole run; others are the host's own, which may use one again. */
export function isKeyToken(token: string): boolean {
  return [EVENT_TOKEN, CALL_TOKEN, SIGNAL_TOKEN, RUN_TOKEN, EMITTED_TOKEN].some((prefix) => token.startsWith(prefix))
}

/** The answer of a key's holder. */
export type Resolution =
  | { readonly ok: unknown }
  | { readonly error: string; readonly code?: string }
  | 'cancelled'
  | 'timeout'
  | 'revoked'

/** `unknown`: the key is not ours, or its run has ended. */
export type Resolved = 'accepted' | 'already_resolved' | 'unknown'

/** How the call or the event fails that a resolution without a result ends. */
export function describeResolution(
  token: string,
  resolution: Exclude<Resolution, { readonly ok: unknown }>,
): { readonly error: string; readonly code: string } {
  if (typeof resolution === 'object') return { error: resolution.error, code: resolution.code ?? 'execution_failed' }
  const isEvent = token.startsWith(EVENT_TOKEN)
  switch (resolution) {
    case 'cancelled':
      return { error: 'it was cancelled from outside', code: isEvent ? 'durable_effect_event_cancelled' : 'cancelled' }
    case 'timeout':
      return { error: 'nobody answered in time', code: isEvent ? 'durable_effect_event_timeout' : 'timeout' }
    case 'revoked':
      return { error: 'its key was revoked', code: 'await_event_unknown_or_revoked' }
  }
}

const VERSION = 'bk1'
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const LEAST_SECRET = 16

/** Raises for a ring that would sign with nothing. */
export function checkKeyRing(ring: KeyRing): KeyRing {
  if (!Object.hasOwn(ring.secrets, ring.current)) throw new Error(`the key ring has no secret ${JSON.stringify(ring.current)}`)
  for (const [name, secret] of Object.entries(ring.secrets)) {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a secret: use letters, digits, - and _`)
    if (secret.length < LEAST_SECRET)
      throw new Error(`the secret ${JSON.stringify(name)} of the key ring is shorter than ${LEAST_SECRET} characters`)
  }
  return ring
}

export function mintKey(ring: KeyRing, { runId, token }: KeyTarget): string {
  const facts = `${VERSION}.${ring.current}.${bytesToHex(toUtf8(JSON.stringify([runId, token])))}`
  return `${facts}.${sign(ring.secrets[ring.current]!, facts)}`
}

/** Null for what no secret of the ring has signed. */
export function readKey(ring: KeyRing, key: string): KeyTarget | null {
  const parts = key.split('.')
  const [version, name = '', facts = '', signature = ''] = parts
  if (parts.length !== 4 || version !== VERSION || !Object.hasOwn(ring.secrets, name)) return null
  return isSameText(signature, sign(ring.secrets[name]!, `${VERSION}.${name}.${facts}`)) ? readFacts(facts) : null
}

/** The content of a key, unverified; null if it is not a key. */
export function readUnverified(key: string): string | null {
  return readFacts(key.split('.')[2] ?? '')?.token ?? null
}

function readFacts(facts: string): KeyTarget | null {
  try {
    const bytes = Uint8Array.from(facts.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    const [runId, token] = JSON.parse(new TextDecoder().decode(bytes)) as readonly unknown[]
    return typeof runId === 'string' && typeof token === 'string' ? { runId, token } : null
  } catch {
    return null
  }
}

function sign(secret: string | Uint8Array, facts: string): string {
  const digest = hmacDigesting(typeof secret === 'string' ? toUtf8(secret) : secret)
  digest.update(toUtf8(facts))
  return bytesToHex(digest.digest())
}
