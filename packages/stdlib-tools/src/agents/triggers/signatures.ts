// Who sent a webhook: signatures over the bytes that came, in each variant that services use. Pure: the caller gives the time, and the
// secret as it is stored. Refused are: a missing or duplicate header, an empty secret, a timestamp that
// is no number. Every signature is HMAC with SHA-256 and is compared in constant time.

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'

/** Variants by name; `canonical` signs method and path too: requests of administrators, and pushes between agents. */
export const SIGNATURE_VARIANTS = ['github', 'notion', 'linear', 'slack', 'stripe', 'standard', 'canonical'] as const
export type SignatureVariant = (typeof SIGNATURE_VARIANTS)[number]

export interface SignedRequest {
  /** Names in any case. A list is a header that came more than once. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** The bytes as they came, before anything was decoded. */
  readonly body: Uint8Array
  /** Both of `canonical` only. The path is as it was asked for, with its query. */
  readonly method?: string
  readonly path?: string
}

export interface VerificationOptions {
  readonly nowMs: number
  /** How far a signed timestamp may lie from now; each variant has its own default. */
  readonly toleranceSeconds?: number
}

/** The reason of a rejection for `audit.signature_verify`. */
export interface Verification {
  readonly ok: boolean
  /** Why not; empty when it is verified. */
  readonly reason: string
  readonly signedAtMs: number | null
  /** null for variants without a timestamp. */
  readonly windowSeconds: number | null
}

class Rejection extends Error {}

function reject(reason: string): never {
  throw new Rejection(reason)
}

/** What a variant works with; it notes when the request was signed as soon as it knows. */
class Evidence {
  readonly request: SignedRequest
  readonly secret: Uint8Array
  readonly secretText: string
  readonly nowMs: number
  private readonly toleranceSeconds: number | null
  private readonly headers = new Map<string, string | null>()
  signedAtMs: number | null = null
  windowSeconds: number | null = null

  constructor(request: SignedRequest, secret: string, options: VerificationOptions) {
    this.request = request
    this.secretText = secret
    this.secret = utf8ToBytes(secret)
    this.nowMs = options.nowMs
    this.toleranceSeconds = options.toleranceSeconds ?? null
    for (const [name, value] of Object.entries(request.headers)) {
      if (value === undefined) continue
      const key = name.toLowerCase()
      const isDoubled = this.headers.has(key) || (typeof value !== 'string' && value.length !== 1)
      this.headers.set(key, isDoubled ? null : typeof value === 'string' ? value : value[0]!)
    }
  }

  readHeader(name: string): string {
    const value = this.headers.get(name.toLowerCase())
    if (value === null) reject(`invalid header \`${name}\`: it is there more than once`)
    const text = value?.trim() ?? ''
    return text === '' ? reject(`missing required header \`${name}\``) : text
  }

  /** Seconds since 1970 as the text has them. */
  readSeconds(name: string, text: string): number {
    if (!/^\d{1,12}$/.test(text)) reject(`invalid header \`${name}\`: expected a timestamp in seconds`)
    return Number(text)
  }

  checkWindow(signedAtMs: number, defaultSeconds: number): void {
    const seconds = this.toleranceSeconds ?? defaultSeconds
    this.signedAtMs = signedAtMs
    this.windowSeconds = seconds
    if (Math.abs(this.nowMs - signedAtMs) <= seconds * 1000) return
    reject(
      `timestamp ${formatTime(signedAtMs)} is outside the allowed verification window of ${seconds}s around ${formatTime(this.nowMs)}`,
    )
  }

  sign(...parts: readonly (string | Uint8Array)[]): Uint8Array {
    return this.signWith(this.secret, ...parts)
  }

  signWith(key: Uint8Array, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
    if (key.length === 0) reject('the signing secret is empty')
    return hmac(sha256, key, concatBytes(...parts.map((part) => (typeof part === 'string' ? utf8ToBytes(part) : part))))
  }
}

function formatTime(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? String(ms) : time.toISOString()
}

/** Without telling by the time it takes where two digests differ. */
function isSameDigest(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (let at = 0; at < left.length; at++) difference |= left[at]! ^ (right[at % Math.max(1, right.length)] ?? 0)
  return difference === 0
}

/** The bytes of 64 hexadecimal digits; null for other texts. */
function readHex(text: string): Uint8Array | null {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) return null
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16))
}

/** The bytes of a text in base64 with its padding; null for other texts. */
function readBase64(text: string): Uint8Array | null {
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  const decoded = atob(text)
  const bytes = Uint8Array.from(decoded, (unit) => unit.charCodeAt(0))
  // Bits behind the last byte that are not zero: two texts would mean one signature.
  return btoa(decoded) === text ? bytes : null
}

/** `sha256=` and hexadecimal digits, over the body. */
function verifyBodyDigest(evidence: Evidence, header: string): void {
  const given = evidence.readHeader(header)
  const prefix = 'sha256='
  const digest = given.startsWith(prefix) ? readHex(given.slice(prefix.length)) : null
  if (digest === null) reject(`invalid header \`${header}\`: expected ${prefix} and 64 hexadecimal digits`)
  if (!isSameDigest(evidence.sign(evidence.request.body), digest)) reject('signature did not match the raw request body')
}

/** The timestamp is in the body and is checked first, so that no signature is computed for a replayed body. */
function verifyLinear(evidence: Evidence): void {
  const given = evidence.readHeader('Linear-Signature')
  const digest = readHex(given) ?? reject('invalid header `Linear-Signature`: expected 64 hexadecimal digits')
  evidence.checkWindow(readLinearTime(evidence.request.body), 75)
  if (!isSameDigest(evidence.sign(evidence.request.body), digest)) reject('signature did not match the raw request body')
}

function readLinearTime(body: Uint8Array): number {
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    reject('the body is no JSON, so it has no webhookTimestamp')
  }
  const given = (parsed as { readonly webhookTimestamp?: unknown } | null)?.webhookTimestamp
  const time = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given
  return typeof time === 'number' && Number.isFinite(time) ? time : reject('the body has no webhookTimestamp in milliseconds')
}

function verifySlack(evidence: Evidence): void {
  const stamp = 'X-Slack-Request-Timestamp'
  const header = 'X-Slack-Signature'
  const given = evidence.readHeader(header)
  const time = evidence.readHeader(stamp)
  evidence.checkWindow(evidence.readSeconds(stamp, time) * 1000, 300)
  const digest = given.startsWith('v0=') ? readHex(given.slice(3)) : null
  if (digest === null) reject(`invalid header \`${header}\`: expected v0= and 64 hexadecimal digits`)
  if (!isSameDigest(evidence.sign(`v0:${time}:`, evidence.request.body), digest)) reject('slack signature mismatch')
}

function verifyStripe(evidence: Evidence): void {
  const header = 'Stripe-Signature'
  const pairs = evidence
    .readHeader(header)
    .split(',')
    .map((pair) => splitPair(pair))
  const times = pairs.filter(([name]) => name === 't')
  if (times.length !== 1) reject(`invalid header \`${header}\`: expected one t=`)
  const time = times[0]![1]
  evidence.checkWindow(evidence.readSeconds(header, time) * 1000, 300)
  const digests = pairs.filter(([name]) => name === 'v1').map(([, value]) => readHex(value))
  if (digests.length === 0) reject(`invalid header \`${header}\`: expected at least one v1=`)
  const own = evidence.sign(`${time}.`, evidence.request.body)
  if (!digests.some((digest) => digest !== null && isSameDigest(own, digest)))
    reject('no stripe signature matched the raw request body')
}

/** Around the first `=`; the rest of the text is the value. */
function splitPair(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

function verifyStandard(evidence: Evidence): void {
  const id = evidence.readHeader('webhook-id')
  const time = evidence.readHeader('webhook-timestamp')
  const given = evidence.readHeader('webhook-signature')
  evidence.checkWindow(evidence.readSeconds('webhook-timestamp', time) * 1000, 300)
  const { secretText } = evidence
  const key = readBase64(secretText.startsWith('whsec_') ? secretText.slice('whsec_'.length) : secretText)
  if (key === null) reject('the signing secret is no base64 text, with or without whsec_ in front')
  const own = evidence.signWith(key, `${id}.${time}.`, evidence.request.body)
  const digests = given
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => readBase64(each.slice(3)))
  if (!digests.some((digest) => digest !== null && isSameDigest(own, digest)))
    reject('no standard-webhooks signature matched the raw request body')
}

function verifyCanonical(evidence: Evidence): void {
  const header = 'Authorization'
  const given = evidence.readHeader(header)
  const scheme = 'HMAC-SHA256 '
  if (!given.startsWith(scheme)) reject(`invalid header \`${header}\`: expected HMAC-SHA256 timestamp=…,signature=…`)
  const pairs = given
    .slice(scheme.length)
    .split(',')
    .map((pair) => splitPair(pair))
  const readPart = (wanted: string): string => {
    const found = pairs.filter(([name]) => name === wanted)
    return found.length === 1 ? found[0]![1] : reject(`invalid header \`${header}\`: expected one ${wanted}=`)
  }
  const time = readPart('timestamp')
  const digest = readBase64(readPart('signature')) ?? reject(`invalid header \`${header}\`: the signature is no base64 text`)
  evidence.checkWindow(evidence.readSeconds(header, time) * 1000, 300)
  const { method, path, body } = evidence.request
  if (method === undefined || path === undefined) reject('a canonical signature needs the method and the path of the request')
  const own = evidence.sign(`${method.toUpperCase()}\n${path}\n${time}\n${bytesToHex(sha256(body))}`)
  if (!isSameDigest(own, digest)) reject('signature did not match the canonical request')
}

const VERIFIERS: { readonly [variant in SignatureVariant]: (evidence: Evidence) => void } = {
  github: (evidence) => verifyBodyDigest(evidence, 'X-Hub-Signature-256'),
  notion: (evidence) => verifyBodyDigest(evidence, 'X-Notion-Signature'),
  linear: verifyLinear,
  slack: verifySlack,
  stripe: verifyStripe,
  standard: verifyStandard,
  canonical: verifyCanonical,
}

/** Whether the holder of the secret signed the request as it came, and not too long ago. */
export function verifySignature(
  variant: SignatureVariant,
  request: SignedRequest,
  secret: string,
  options: VerificationOptions,
): Verification {
  const evidence = new Evidence(request, secret, options)
  try {
    if (secret === '') reject('the signing secret is empty')
    VERIFIERS[variant](evidence)
  } catch (cause) {
    if (!(cause instanceof Rejection)) throw cause
    const { signedAtMs, windowSeconds } = evidence
    return { ok: false, reason: cause.message, signedAtMs, windowSeconds }
  }
  const { signedAtMs, windowSeconds } = evidence
  return { ok: true, reason: '', signedAtMs, windowSeconds }
}

/** What makes two deliveries of a service one; a digest of the body where the service names none. `body` is the parsed one, or null. */
export function readDeliveryKey(variant: SignatureVariant, request: SignedRequest, body: unknown): string {
  const named = findDeliveryName(variant, request, body)
  return named ?? `sha256:${bytesToHex(sha256(request.body))}`
}

function findDeliveryName(variant: SignatureVariant, { headers }: SignedRequest, body: unknown): string | null {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as { readonly [name: string]: unknown }
  const readField = (name: string): string | null => readText(fields[name])
  const readHeader = (wanted: string): string | null => {
    const found = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1]
    return readText(typeof found === 'string' ? found : found?.[0])
  }
  switch (variant) {
    case 'standard':
      return readHeader('webhook-id')
    case 'github':
      return readHeader('x-github-delivery')
    case 'linear':
      return readHeader('linear-delivery') ?? readField('webhookId')
    case 'stripe':
      return readField('id')
    case 'slack':
      return readField('event_id')
    case 'notion':
    case 'canonical':
      return null
  }
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
