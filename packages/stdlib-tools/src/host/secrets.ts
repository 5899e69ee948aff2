// Secrets that a host lends to runs: by name, never by value. A script names one (`auth: {secret: "NAME"}`), a provider puts the value in
// at the moment of sending, and only towards the origins that the host bound it to. What comes back is searched for the values, so that
// a service that repeats a key does not reveal it to the script, the journal or the trace.

import { parseUrl } from '@bridle/compiler/grants'
import type { EffectOutcome, Plain } from '@bridle/vm'

/** A text is for the model services that know its name as that of a key; `origins` says where else it may be sent. */
export type Secret = string | { readonly value: string; readonly origins?: readonly string[] }

export interface Secrets {
  readonly [name: string]: Secret
}

export class SecretError extends Error {
  override readonly name = 'SecretError'
}

/** Shorter values would be found everywhere. */
const LEAST_SEARCHED = 6

export class SecretKeeper {
  private readonly secrets: Secrets
  private readonly values: readonly (readonly [name: string, value: string, bytes: Uint8Array])[]

  constructor(secrets: Secrets = {}) {
    this.secrets = secrets
    for (const [name, secret] of Object.entries(secrets)) {
      for (const origin of typeof secret === 'string' ? [] : (secret.origins ?? []))
        if (readOrigin(origin) === null)
          throw new SecretError(`secret ${name}: ${JSON.stringify(origin)} is no origin such as https://api.example.com`)
    }
    const encoder = new TextEncoder()
    this.values = Object.keys(secrets)
      .flatMap((name) => [this.value(name)!, ...listWithinBase64(this.value(name)!)].map((text) => [name, text] as const))
      .map(([name, text]) => [name, text, encoder.encode(text)] as const)
      .filter(([, value]) => value.length >= LEAST_SEARCHED)
      // A value may be a part of another one.
      .sort(([, a], [, b]) => b.length - a.length)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.secrets, name)
  }

  value(name: string): string | null {
    if (!this.has(name)) return null
    const secret = this.secrets[name]!
    return typeof secret === 'string' ? secret : secret.value
  }

  all(): readonly string[] {
    return Object.keys(this.secrets).map((name) => this.value(name)!)
  }

  /** Whether the host said that the secret may go there. */
  isBound(name: string, url: URL): boolean {
    const secret = this.has(name) ? this.secrets[name]! : ''
    return typeof secret !== 'string' && (secret.origins ?? []).some((origin) => readOrigin(origin) === url.origin)
  }

  /** The value for a request to `url`; the text says why there is none. */
  valueFor(name: string, url: URL): { readonly value: string } | string {
    if (!this.has(name)) return `this host has no secret ${JSON.stringify(name)}`
    if (!this.isBound(name, url)) return `the host did not bind the secret ${JSON.stringify(name)} to ${url.origin}`
    return { value: this.value(name)! }
  }

  /** The headers of a request by `{secret, prefix, user}`; the text says which secret may not go along, and why. */
  headersFor(refs: { readonly [header: string]: Plain }, url: URL): { readonly [header: string]: string } | string {
    const headers: { [header: string]: string } = {}
    for (const [header, ref] of Object.entries(refs)) {
      const { secret, prefix, user } = (ref ?? {}) as { readonly [name: string]: Plain }
      const found = this.valueFor(String(secret), url)
      if (typeof found === 'string') return found
      headers[header] =
        typeof user === 'string'
          ? `Basic ${encodeBase64(`${user}:${typeof prefix === 'string' ? prefix : ''}${found.value}`)}`
          : `${typeof prefix === 'string' ? prefix : ''}${found.value}`
    }
    return headers
  }

  /** The outcome with every value of a secret replaced by its name. */
  hide(outcome: EffectOutcome): EffectOutcome {
    if (this.values.length === 0) return outcome
    if (outcome.ok) return { ok: true, value: this.hideData(outcome.value) }
    const { error } = outcome
    return {
      ok: false,
      error: {
        ...error,
        message: this.hideText(error.message),
        ...(error.value === undefined ? {} : { value: this.hideData(error.value) }),
      },
    }
  }

  private hideData(value: Plain): Plain {
    if (typeof value === 'string') return this.hideText(value)
    if (value instanceof Uint8Array) return this.hideBytes(value)
    if (Array.isArray(value)) return (value as readonly Plain[]).map((item) => this.hideData(item))
    if (typeof value !== 'object' || value === null || !isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value as { readonly [key: string]: Plain }).map(([key, item]) => [this.hideText(key), this.hideData(item)]),
    )
  }

  private hideText(text: string): string {
    let out = text
    for (const [name, value] of this.values) if (out.includes(value)) out = out.replaceAll(value, formatMark(name))
    return out
  }

  private hideBytes(bytes: Uint8Array): Uint8Array {
    let out = bytes
    for (const [name, , value] of this.values) out = replaceBytes(out, value, new TextEncoder().encode(formatMark(name)))
    return out
  }
}

const encodeBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))

/** How a text looks within longer texts in base64, as passwords are in `Basic`: it begins at one of three places of a group. */
function listWithinBase64(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value)
  return [0, 1, 2].flatMap((before) => {
    const encoded = btoa('\0'.repeat(before) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    const sure = encoded.slice([0, 2, 3][before], Math.floor(((before + bytes.length) * 4) / 3))
    return sure.length < 2 * LEAST_SEARCHED ? [] : [sure]
  })
}

const formatMark = (name: string): string => `[secret ${name}]`

/** A marked float is data of its own class. */
function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** The origin of an http address; null for anything else. */
export function readOrigin(text: string): string | null {
  const url = parseUrl(text)
  return url === null || !/^https?:$/.test(url.protocol) ? null : url.origin
}

function replaceBytes(bytes: Uint8Array, wanted: Uint8Array, by: Uint8Array): Uint8Array {
  const found: number[] = []
  for (let at = bytes.indexOf(wanted[0]!); at >= 0;) {
    let same = 1
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++
    if (same === wanted.length) found.push(at)
    at = bytes.indexOf(wanted[0]!, same === wanted.length ? at + same : at + 1)
  }
  if (found.length === 0) return bytes
  const out = new Uint8Array(bytes.length + found.length * (by.length - wanted.length))
  let [from, to] = [0, 0]
  for (const at of found) {
    out.set(bytes.subarray(from, at), to)
    to += at - from
    out.set(by, to)
    to += by.length
    from = at + wanted.length
  }
  out.set(bytes.subarray(from), to)
  return out
}
