// Values of literals: limits of numbers, units of durations, escapes, and dedent of triple-quoted strings.
// Pure string functions; the lexer finds the end of a literal.

const INT_MAX = 2n ** 63n - 1n

/**
 * An integer in the machine's form: a number while exact, a bigint up to 64 bits. Larger decimal digits are a float, returned
 * as `{ float }`.
 */
export function readInt(digits: string): number | bigint | { readonly float: number } {
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return value
  const exact = BigInt(digits)
  if (exact > INT_MAX) return { float: value }
  return normalInt(exact)
}

const UNIT_MS: Readonly<Record<string, bigint>> = {
  ms: 1n,
  s: 1_000n,
  m: 60_000n,
  h: 3_600_000n,
  d: 86_400_000n,
  w: 604_800_000n,
}

/** `text` is digits and a unit; the result is milliseconds, exact at any size. */
export function readDuration(text: string): number | bigint {
  const unit = /^\d*([a-z]+)$/.exec(text)?.[1] ?? 'ms'
  return normalInt(BigInt(text.slice(0, text.length - unit.length)) * (UNIT_MS[unit] ?? 1n))
}

function normalInt(value: bigint): number | bigint {
  const small = Number(value)
  return Number.isSafeInteger(small) ? small : value
}

/** A float in plain decimal notation, as literals are written: never an exponent. Always shows a point. */
export function writeFloat(value: number): string {
  const text = plainDecimal(value)
  return text.includes('.') ? text : `${text}.0`
}

/** Shortest digits that read back as `value`, without an exponent. */
export function plainDecimal(value: number): string {
  const short = String(value)
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(short)
  if (match === null) return short
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match
  const digits = whole + fraction
  const point = whole.length + Number(exponentText)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\', '"': '"', $: '$' }

/** Escapes of a `"…"` string. Only `\n \t \\ \" \$` mean something; any other backslash stays, with the next character. */
export function unescape(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\([\s\S])/g, (whole, letter: string) => ESCAPES[letter] ?? whole)
}

/** The source between the quotes of a `"…"` literal with value `value`. */
export function escape(value: string): string {
  return value
    .replace(/[\\"\n\t]/g, (letter) => (letter === '\n' ? '\\n' : letter === '\t' ? '\\t' : `\\${letter}`))
    .replace(/\$(?=\{)/g, '\\$')
}

/** Content of a `"""…"""` without interpolation, after the line break that may follow the opening quotes was dropped. */
export function dedent(text: string): string {
  const lines = text.split('\n')
  const width = commonIndent(lines)
  if (width === null) return text
  const kept = width === 0 ? lines : lines.map((line) => (isBlank(line) ? '' : line.slice(width)))
  return dropFinalBreak(kept.join('\n'))
}

/**
 * Content of a `"""…"""` with interpolation: the string pieces between the expressions. Each piece is dedented separately, so a piece
 * that ends in a line break and indentation before an expression loses that line break. Scripts depend on this. The last piece follows the
 * last expression.
 */
export function dedentPieces(pieces: readonly string[]): string[] {
  const width = commonIndent(pieces.join('').split('\n')) ?? 0
  if (width === 0) {
    return pieces.map((piece, at) => (at === pieces.length - 1 && isBlank(piece) ? '' : piece))
  }
  return pieces.map((piece) => {
    const lines = piece.split('\n').map((line) => (isBlank(line) ? '' : dropIndent(line, width)))
    return dropFinalBreak(lines.join('\n'))
  })
}

/** Smallest indentation of a line that is not blank; null when all lines are blank. */
export function commonIndent(lines: readonly string[]): number | null {
  let smallest: number | null = null
  for (const line of lines) {
    if (isBlank(line)) continue
    const indent = measureIndent(line)
    if (smallest === null || indent < smallest) smallest = indent
  }
  return smallest
}

function measureIndent(line: string): number {
  let at = 0
  while (line[at] === ' ' || line[at] === '\t') at += 1
  return at
}

function dropIndent(line: string, width: number): string {
  return line.slice(Math.min(width, measureIndent(line)))
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function dropFinalBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

/** Text of a doc comment without its markers: `/// text` lines, or one block. */
export function docText(comment: string): string {
  if (comment.startsWith('///')) return comment.slice(3).replace(/^ /, '').trimEnd()
  const lines = comment
    .slice(3, -2)
    .split('\n')
    .map((line, at) => (at === 0 ? line.trim() : line.replace(/^\s*\*? ?/, '').trimEnd()))
  while (lines.length > 0 && lines[0] === '') lines.shift()
  while (lines.length > 0 && lines.at(-1) === '') lines.pop()
  return lines.join('\n')
}
