// Keeps secrets out of traces. A value is secret when the tool's schema says so, when its name looks like one, or when the host
// says so; a text that was secret once is taken out wherever it turns up again, also in the middle of another text.

import type { TraceJson } from './event.js'

export const REDACTED = '[redacted]'

const SECRET_NAME =
  /pass(word|wd|phrase)|secret|token|api[_-]?key|private[_-]?key|authorization|credential|cookie|(^|[_-])(pwd|auth)([_-]|$)/i

/** Counters and limits whose names have a secret word in them. */
const HARMLESS_NAME =
  /^(max_|num_|n_)|(_count|_limit|_budget)$|^(input|output|total|prompt|completion)_?tokens$|tokens_used|^tokens$/i

/** Shorter texts are words, and taking them out of others would garble the trace. */
const MIN_SECRET = 6

export interface RedactOptions {
  /** Texts that never may appear, such as keys the host holds. */
  readonly secrets?: readonly string[]
  /** Further names of arguments and fields that hold secrets. */
  readonly names?: readonly string[]
  /** The last word on a value; what it returns is traced in its place. */
  readonly custom?: (value: TraceJson, path: readonly string[]) => TraceJson
}

export class Redactor {
  private readonly known = new Set<string>()
  private readonly names: ReadonlySet<string>
  private readonly custom: RedactOptions['custom']

  constructor(options: RedactOptions = {}) {
    this.names = new Set(options.names)
    this.custom = options.custom
    for (const secret of options.secrets ?? []) this.remember(secret)
  }

  /** Without secrets. `secret` are names that the tool's schema marks. */
  clean(value: TraceJson, secret: readonly string[] = [], path: readonly string[] = []): TraceJson {
    this.learn(value, secret)
    return this.walk(value, secret, path)
  }

  isSecretName(name: string): boolean {
    return this.names.has(name) || (SECRET_NAME.test(name) && !HARMLESS_NAME.test(name))
  }

  /** Everything below a secret name is secret. Learnt before anything is written, so that order does not matter. */
  private learn(value: TraceJson, secret: readonly string[]): void {
    if (Array.isArray(value)) for (const item of value) this.learn(item as TraceJson, secret)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        if (secret.includes(name) || this.isSecretName(name)) this.rememberAll(item as TraceJson)
        else this.learn(item as TraceJson, secret)
      }
    }
  }

  rememberAll(value: TraceJson): void {
    if (typeof value === 'string') {
      this.remember(value)
      // The scheme of an Authorization header is no secret, and what follows it is used alone as well.
      const [, bare] = /^(?:Bearer|Basic|Token)\s+(.+)$/i.exec(value) ?? []
      if (bare !== undefined) this.remember(bare)
    } else if (typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) this.rememberAll(item as TraceJson)
  }

  private remember(text: string): void {
    if (text.length >= MIN_SECRET) this.known.add(text)
  }

  private walk(value: TraceJson, secret: readonly string[], path: readonly string[]): TraceJson {
    if (typeof value === 'string') return this.finish(this.text(value), path)
    if (Array.isArray(value))
      return this.finish(
        value.map((item, at) => this.walk(item as TraceJson, secret, [...path, String(at)])),
        path,
      )
    if (typeof value !== 'object' || value === null) return this.finish(value, path)
    const out = Object.create(null) as { [key: string]: TraceJson }
    for (const [name, item] of Object.entries(value)) {
      const hidden = item !== null && (secret.includes(name) || this.isSecretName(name))
      out[this.text(name)] = hidden ? REDACTED : this.walk(item as TraceJson, secret, [...path, name])
    }
    return this.finish(out, path)
  }

  private finish(value: TraceJson, path: readonly string[]): TraceJson {
    return this.custom === undefined ? value : this.custom(value, path)
  }

  text(text: string): string {
    let cleaned = text
    for (const secret of this.known) if (cleaned.includes(secret)) cleaned = cleaned.replaceAll(secret, REDACTED)
    return cleaned
  }
}
