// Keeps secrets out of traces. A value is secret when the host lends it (`secrets`, `--secret`), when the tool's schema marks it, or when
// the host says so. In a run with an unclassified environment a heuristic applies: a value whose name and form are those of a key. A text that was secret once is taken out wherever it turns up again, also in the middle of another text.

import type { TraceJson } from './event.js'

export const REDACTED = '[redacted]'

// `PWD` is the folder of a shell; in lower case, or behind another word, it is a password.
const FOLDER_VARIABLE = 'PWD'

const SECRET_NAME =
  /pass(word|wd|phrase)|secret|token|api[_-]?key|private[_-]?key|authorization|credential|cookie|(^|[_-])(pwd|auth)([_-]|$)/i

/** Counters and limits whose names have a secret word in them. */
const HARMLESS_NAME =
  /^(max_|num_|n_)|(_count|_limit|_budget)$|^(input|output|total|prompt|completion)_?tokens$|tokens_used|^tokens$/i

/** Shorter texts are words, and taking them out of others would garble the trace. */
const MIN_SECRET = 6

/** Texts without any of this have no secret written out in them; most are done with here. */
const MAY_HOLD = /[=@]|%3d|bearer|basic|"\s*:/i

/** Credentials in a URL: `https://user:password@host`, or a token in their place. */
const USER_OF_URL = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/?#"'<>]+)@/gi
/**
 * `name=value` of queries, forms, settings and options; `"name": "value"` of JSON. Names begin where a word does, so that a long word
 * is looked through once.
 */
const NAMED = /(?:([?&])|(?<![\w.-]))(-{0,2}[A-Za-z_][\w.-]*)(=)(\[redacted\]|"[^"]*"|'[^']*'|[^\s&;,"'<>)}\]]+)/g
/** The same in an address that is part of another one. */
const NAMED_ENCODED = /(?:(%3F|%26)|(?<![\w.-]))([A-Za-z_][\w.-]*)(%3D)((?:(?!%26)[^\s&;,"'<>)}])+)/gi
const NAMED_IN_JSON = /("([\w.-]+)"\s*:\s*)"((?:[^"\\]|\\.)*)"/g
const SCHEME = /\b(Bearer|Basic)\s+([\w.~+/=-]{6,})/gi
/** Signatures of pre-authorised URLs. */
const SIGNED_QUERY = /^(sig|signature|x-amz-signature|x-goog-signature)$/i
/** An option of a program whose value is the next argument. */
const OPTION = /^--?([A-Za-z][\w-]*)$/

const NO_PATH: readonly string[] = []

/** Whether the value of a variable may be a key or a password: no folder, number, switch, plain address or words. */
export function looksLikeKey(value: string): boolean {
  if (/\s/.test(value) || value.length < 8) return false
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return /^[^/]*\/\/[^/?#]*@/.test(value)
  if (/^[./~]/.test(value)) return false
  return value.length >= 20 || (/\d/.test(value) && /\D/.test(value)) || (/[a-z]/.test(value) && /[A-Z]/.test(value))
}

/** `pwd` is a password or the folder of a shell. */
const isFolder = (name: string, value: TraceJson): boolean =>
  /^pwd$/i.test(name) && typeof value === 'string' && value.startsWith('/')
const MAX_JUDGED = 4096

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
  /** Verdicts on names that were met: a run meets few, again and again. */
  private readonly judged = new Map<string, boolean>()

  constructor(options: RedactOptions = {}) {
    this.names = new Set(options.names)
    this.custom = options.custom
    for (const secret of options.secrets ?? []) this.remember(secret)
  }

  /** Without secrets. `secret` are names that the tool's schema marks. */
  clean(value: TraceJson, secret: readonly string[] = []): TraceJson {
    this.learn(value, secret)
    return this.walk(value, secret, NO_PATH)
  }

  isSecretName(name: string): boolean {
    const before = this.judged.get(name)
    if (before !== undefined) return before
    const verdict = this.names.has(name) || (name !== FOLDER_VARIABLE && SECRET_NAME.test(name) && !HARMLESS_NAME.test(name))
    if (this.judged.size < MAX_JUDGED) this.judged.set(name, verdict)
    return verdict
  }

  /** Everything below a secret name is secret. Learnt before anything is written, so that order does not matter. */
  private learn(value: TraceJson, secret: readonly string[]): void {
    if (typeof value === 'string') this.hideWritten(value, (found) => (this.remember(found), REDACTED))
    else if (Array.isArray(value)) {
      value.forEach((item: TraceJson, at) => {
        const [, option] = typeof item === 'string' ? (OPTION.exec(item) ?? []) : []
        if (option !== undefined && this.isSecretName(option)) this.rememberAll((value[at + 1] ?? null) as TraceJson)
        this.learn(item, secret)
      })
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        if (secret.includes(name) || (this.isSecretName(name) && !isFolder(name, item as TraceJson)))
          this.rememberAll(item as TraceJson)
        else this.learn(item as TraceJson, secret)
      }
    }
  }

  rememberAll(value: TraceJson): void {
    if (typeof value === 'string') {
      this.remember(value)
      // The scheme of an Authorization header is no secret, and what follows it is used alone as well.
      const [, bare] = /^(?:Bearer|Basic|Token)\s+(\S.*)$/i.exec(value) ?? []
      if (bare !== undefined) this.remember(bare)
    } else if (typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) this.rememberAll(item as TraceJson)
  }

  /** The text with `hide` of every secret that is written out in it. */
  private hideWritten(text: string, hide: (secret: string) => string): string {
    if (!MAY_HOLD.test(text)) return text
    const hideFound = (found: string): string => {
      const quote = /^["']/.exec(found)?.[0] ?? ''
      const bare = quote === '' ? found : found.slice(1, -1)
      if (bare === '' || bare === REDACTED) return found
      const plain = decodeOrKeep(bare)
      if (plain !== bare) hide(plain)
      return `${quote}${hide(bare)}${quote}`
    }
    const hideNamed = (whole: string, before: string | undefined, name: string, equals: string, value: string): string =>
      this.isSecretName(name.replace(/^-+/, '')) || (before !== undefined && SIGNED_QUERY.test(name))
        ? `${before ?? ''}${name}${equals}${hideFound(value)}`
        : whole
    return text
      .replace(USER_OF_URL, (_whole, start: string, user: string) => {
        const at = user.indexOf(':')
        return at < 0 ? `${start}${hideFound(user)}@` : `${start}${user.slice(0, at + 1)}${hideFound(user.slice(at + 1))}@`
      })
      .replace(NAMED_ENCODED, hideNamed)
      .replace(NAMED, hideNamed)
      .replace(NAMED_IN_JSON, (whole, start: string, name: string, value: string) =>
        this.isSecretName(name) ? `${start}"${hideFound(value)}"` : whole,
      )
      .replace(SCHEME, (_whole, scheme: string, value: string) => `${scheme} ${hideFound(value)}`)
  }

  private remember(text: string): void {
    if (text.length >= MIN_SECRET) this.known.add(text)
  }

  /** The value itself where nothing in it is secret. */
  private walk(value: TraceJson, secret: readonly string[], path: readonly string[]): TraceJson {
    if (typeof value === 'string') return this.finish(this.text(value), path)
    if (typeof value !== 'object' || value === null) return this.finish(value, path)
    if (Array.isArray(value)) {
      const items = value as readonly TraceJson[]
      let changed: TraceJson[] | null = null
      for (let at = 0; at < items.length; at++) {
        const item = this.walk(items[at]!, secret, this.extendPath(path, String(at)))
        if (item === items[at]) continue
        changed ??= [...items]
        changed[at] = item
      }
      return this.finish(changed ?? value, path)
    }
    const record = value as { readonly [key: string]: TraceJson }
    const out = Object.create(null) as { [key: string]: TraceJson }
    let changed = false
    for (const name of Object.keys(record)) {
      const item = record[name]!
      const hidden = item !== null && (secret.includes(name) || (this.isSecretName(name) && !isFolder(name, item)))
      const shown = hidden ? REDACTED : this.walk(item, secret, this.extendPath(path, name))
      const key = this.text(name)
      changed ||= shown !== item || key !== name
      out[key] = shown
    }
    return this.finish(changed ? out : value, path)
  }

  /** Only hosts that check every value receive its position. */
  private extendPath(path: readonly string[], name: string): readonly string[] {
    return this.custom === undefined ? NO_PATH : [...path, name]
  }

  private finish(value: TraceJson, path: readonly string[]): TraceJson {
    return this.custom === undefined ? value : this.custom(value, path)
  }

  text(text: string): string {
    let cleaned = this.hideWritten(text, () => REDACTED)
    for (const secret of this.known) if (cleaned.includes(secret)) cleaned = cleaned.replaceAll(secret, REDACTED)
    return cleaned
  }
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
