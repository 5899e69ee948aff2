// Matches wildcards, for path grants, `.gitignore`, protected files, filters and rules of tools alike. Patterns and strings
// are untrusted, so nothing here backtracks. Patterns with stars only are searched piece by piece, each after the
// previous one; all others keep the set of reachable positions in the pattern. The time is at most the
// length of the string times that of the pattern. No pattern becomes a JavaScript regular expression.

/** Meaning of the characters of a pattern. */
export interface WildcardRules {
  /** Characters that `*` and `?` do not match; null when they match every character. */
  readonly separator: string | null
  /** Whether `?` matches one character. */
  readonly one?: boolean
  /** Whether `**` also matches separators, and `**` with a separator after it any number of folders. */
  readonly deep?: 'text' | 'folders'
  /** Whether `[a-z]` and `[!x]` match one character of a set; an unclosed bracket is a literal. */
  readonly sets?: boolean
  /** Whether the pattern may start after any separator of the string. */
  readonly anywhere?: boolean
  /** Product of the lengths of pattern and string above which nothing matches. No limit when absent. */
  readonly most?: number
}

/** Pairs [first, last] of code points. */
type Ranges = readonly (readonly [number, number])[]

type Token =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'set'; readonly ranges: Ranges; readonly negated: boolean }
  | { readonly kind: 'one' }
  /** Any text without a separator. */
  | { readonly kind: 'run' }
  /** Any text. */
  | { readonly kind: 'deep' }
  /** Nothing, or any string up to a separator: the next token may start here, or after the following token `inside`. */
  | { readonly kind: 'folders' }
  | { readonly kind: 'inside' }

/** Components of a pattern with `**` times those of a path. */
const MOST_STEPS = 1_000_000

/** A matcher of whole strings. */
export function compileWildcards(pattern: string, rules: WildcardRules): (text: string) => boolean {
  const tokens = tokenize(pattern, rules)
  const separator = rules.separator === null ? -1 : rules.separator.codePointAt(0)!
  if (separator < 0 && tokens.every(({ kind }) => kind === 'char' || kind === 'run')) return (text) => matchStars(pattern, text)
  const { most = Infinity } = rules
  return (text) => tokens.length * text.length <= most && matchTokens(tokens, separator, text)
}

/** Whether the whole string matches a pattern in which only `*` is special. */
export function matchStars(pattern: string, text: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0]!
  const last = pieces.at(-1)!
  if (pieces.length === 1) return pattern === text
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  // The leftmost match of a piece leaves the most for the following ones.
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index]!
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/**
 * Whether the first components of a path match the pattern: `*` matches any part of one component, `**` any number of
 * components. Everything below a matching path matches too.
 */
export function matchComponents(pattern: readonly string[], path: readonly string[]): boolean {
  // A match that takes longer than any real path is refused: a grant that cannot be judged allows nothing.
  if (pattern.includes('**') && pattern.length * path.length > MOST_STEPS) return false
  let wanted = 0
  let at = 0
  // The position of the last `**`, and how far it extends; only the last one needs to be tried again.
  let deep = -1
  let reach = 0
  while (wanted < pattern.length) {
    const part = pattern[wanted]!
    if (part === '**') {
      deep = wanted++
      reach = at
    } else if (at < path.length && matchStars(part, path[at]!)) {
      wanted++
      at++
    } else if (deep >= 0 && reach < path.length) {
      wanted = deep + 1
      at = ++reach
    } else return false
  }
  return true
}

function tokenize(pattern: string, rules: WildcardRules): readonly Token[] {
  const { separator, one = false, deep, sets = false, anywhere = false } = rules
  const tokens: Token[] = []
  // Two equal tokens in a row mean the same as one.
  const add = (token: Token): void => {
    const last = tokens.at(-1)?.kind
    if (token.kind === 'run' && (last === 'run' || last === 'deep')) return
    if (token.kind === 'deep' && last === 'deep') return
    if (token.kind === 'folders' && last === 'inside') return
    tokens.push(token)
    if (token.kind === 'folders') tokens.push({ kind: 'inside' })
  }
  if (anywhere) add({ kind: 'folders' })
  for (let at = 0; at < pattern.length;) {
    const code = pattern.codePointAt(at)!
    const char = String.fromCodePoint(code)
    if (char === '*' && deep !== undefined && pattern[at + 1] === '*') {
      const folders = deep === 'folders' && separator !== null && pattern[at + 2] === separator
      add({ kind: folders ? 'folders' : 'deep' })
      at += folders ? 3 : 2
    } else if (char === '*') {
      add({ kind: 'run' })
      at++
    } else if (char === '?' && one) {
      add({ kind: 'one' })
      at++
    } else {
      const set = char === '[' && sets ? setAt(pattern, at) : null
      add(set === null ? { kind: 'char', code } : set.token)
      at = set === null ? at + char.length : set.end
    }
  }
  return tokens
}

/** The set of a bracket; null when it is not closed. */
function setAt(pattern: string, at: number): { readonly token: Token; readonly end: number } | null {
  const negated = pattern[at + 1] === '!' || pattern[at + 1] === '^'
  const start = at + (negated ? 2 : 1)
  // A bracket at the start is a member of the set.
  const close = pattern.indexOf(']', start + 1)
  if (close < 0) return null
  const codes = Array.from(pattern.slice(start, close), (char) => char.codePointAt(0)!)
  const ranges: (readonly [number, number])[] = []
  for (let index = 0; index < codes.length; index++) {
    const from = codes[index]!
    const isRange = codes[index + 1] === 0x2d && index + 2 < codes.length
    const to = isRange ? codes[index + 2]! : from
    if (to >= from) ranges.push([from, to])
    if (isRange) index += 2
  }
  return { token: { kind: 'set', ranges, negated }, end: close + 1 }
}

function matchTokens(tokens: readonly Token[], separator: number, text: string): boolean {
  const size = tokens.length
  // Active positions, each once: `marks` has the step at which a position was last added.
  const marks = new Int32Array(size + 1)
  let alive: number[] = []
  let next: number[] = []
  let step = 1
  /** A position, and the following ones that need no character. */
  const enter = (into: number[], from: number): void => {
    for (let at = from; marks[at] !== step;) {
      marks[at] = step
      const kind = tokens[at]?.kind
      if (kind === 'folders') {
        stay(into, at + 1)
        at += 2
        continue
      }
      into.push(at)
      if (kind !== 'run' && kind !== 'deep') return
      at++
    }
  }
  const stay = (into: number[], at: number): void => {
    if (marks[at] === step) return
    marks[at] = step
    into.push(at)
  }
  enter(alive, 0)
  for (const char of text) {
    const code = char.codePointAt(0)!
    step++
    next.length = 0
    for (const at of alive) {
      const token = tokens[at]
      if (token === undefined) continue
      switch (token.kind) {
        case 'char':
          if (token.code === code) enter(next, at + 1)
          break
        case 'one':
          if (code !== separator) enter(next, at + 1)
          break
        case 'set':
          if (code !== separator && token.ranges.some(([from, to]) => code >= from && code <= to) !== token.negated)
            enter(next, at + 1)
          break
        case 'run':
          if (code !== separator) enter(next, at)
          break
        case 'deep':
          enter(next, at)
          break
        case 'inside':
          stay(next, at)
          if (code === separator) enter(next, at + 1)
      }
    }
    ;[alive, next] = [next, alive]
    if (alive.length === 0) return false
  }
  return alive.includes(size)
}
