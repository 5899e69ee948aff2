// Words, numbers, strings and signs of a source that does not parse. Strings and comments of other languages are single tokens too, so that
// their content is not mistaken for code. Nothing is refused.

export type ScannedKind = 'word' | 'number' | 'string' | 'triple' | 'single' | 'backquoted' | 'hash' | 'sign' | 'break'

export interface Scanned {
  readonly kind: ScannedKind
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Signs of several characters, the longest first. */
const SIGNS = [
  ...[
    '===',
    '!==',
    '...',
    '..=',
    '**=',
    '??=',
    '||=',
    '&&=',
    '=>',
    '->',
    '==',
    '!=',
    '<=',
    '>=',
    '&&',
    '||',
    '??',
    '?.',
    '::',
    ':=',
  ],
  ...['++', '--', '+=', '-=', '*=', '/=', '%=', '**', '..', '|>', '<>', '~='],
] as const

const WORD = /[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*/uy
const NUMBER = /\d[\d_]*(?:\.\d+)?(?:ms|[smhdw](?![\p{Alphabetic}\p{N}_]))?/uy

export function scan(text: string): readonly Scanned[] {
  const tokens: Scanned[] = []
  const push = (kind: ScannedKind, start: number, end: number): number => {
    tokens.push({ kind, start, end, text: text.slice(start, end) })
    return end
  }
  for (let at = text.startsWith('#!') ? lineEnd(text, 0) : 0; at < text.length;) {
    const char = text[at]!
    if (char === '\n') at = push('break', at, at + 1)
    else if (/\s|\\/.test(char)) at += 1
    else if (text.startsWith('//', at)) at = lineEnd(text, at)
    else if (text.startsWith('/*', at)) at = commentEnd(text, at)
    else if (char === '#' && (at === 0 || /\s/.test(text[at - 1]!))) at = push('hash', at, lineEnd(text, at))
    else if (text.startsWith('"""', at)) at = push('triple', at, tripleEnd(text, at, '"""'))
    else if (text.startsWith("'''", at)) at = push('single', at, tripleEnd(text, at, "'''"))
    else if (char === '"') at = push('string', at, stringEnd(text, at, '"') ?? lineEnd(text, at))
    else if (char === "'") at = scanQuoted(text, at, push)
    else if (char === '`') at = push('backquoted', at, templateEnd(text, at))
    else at = scanPlain(text, at, push)
  }
  return tokens
}

type Push = (kind: ScannedKind, start: number, end: number) => number

function scanQuoted(text: string, at: number, push: Push): number {
  const end = stringEnd(text, at, "'")
  return end === null ? push('sign', at, at + 1) : push('single', at, end)
}

function scanPlain(text: string, at: number, push: Push): number {
  for (const [kind, pattern] of [
    ['word', WORD],
    ['number', NUMBER],
  ] as const) {
    pattern.lastIndex = at
    if (pattern.test(text)) return push(kind, at, pattern.lastIndex)
  }
  const sign = SIGNS.find((each) => text.startsWith(each, at))
  return push('sign', at, at + (sign?.length ?? 1))
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function commentEnd(text: string, start: number): number {
  const end = text.indexOf('*/', start + 2)
  return end < 0 ? text.length : end + 2
}

function tripleEnd(text: string, start: number, quotes: string): number {
  const end = text.indexOf(quotes, start + 3)
  return end < 0 ? text.length : end + 3
}

/** After the closing quote on the same line; null when there is none. */
function stringEnd(text: string, start: number, quote: string): number | null {
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at + 1
    else if (quote === '"' && text.startsWith('${', at)) at = bracesEnd(text, at + 2) - 1
  }
  return null
}

function templateEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '`') return at + 1
    else if (text.startsWith('${', at)) at = bracesEnd(text, at + 2) - 1
  }
  return text.length
}

/** Limit for finding the closing brace: without one, each string would be searched to the end of the source. */
const LONGEST_INTERPOLATION = 4_000

/** After the brace that ends an interpolation. */
function bracesEnd(text: string, from: number): number {
  let depth = 1
  const last = Math.min(text.length, from + LONGEST_INTERPOLATION)
  for (let at = from; at < last; at += 1) {
    if (text[at] === '{') depth += 1
    else if (text[at] === '}' && --depth === 0) return at + 1
  }
  return last
}
