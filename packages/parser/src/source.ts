// Source text and positions in it. Offsets are UTF-16 code units; lines and columns count from 1, columns in code points,
// as the language reports them.

/** Half-open range of UTF-16 offsets into one SourceFile. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Position {
  readonly line: number
  readonly column: number
}

/** One source text with its line table. `name` is what diagnostics print, normally a path. */
export class SourceFile {
  readonly name: string
  private read: string | null
  private readonly given: string | (() => string)
  private lineStarts: readonly number[] | null = null
  /** Offsets of the characters that take two code units, ascending. */
  private wide: readonly number[] | null = null

  /** A function provides the text on first use. */
  constructor(name: string, text: string | (() => string)) {
    this.name = name
    this.given = text
    this.read = typeof text === 'string' ? text : null
  }

  get text(): string {
    return (this.read ??= typeof this.given === 'string' ? this.given : this.given())
  }

  private starts(): readonly number[] {
    if (this.lineStarts === null) {
      const starts = [0]
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1)
      this.lineStarts = starts
    }
    return this.lineStarts
  }

  /** Line number (from 1) that contains `offset`. */
  lineAt(offset: number): number {
    return Math.max(1, countBelow(this.starts(), offset + 1))
  }

  position(offset: number): Position {
    const line = this.lineAt(offset)
    const start = this.starts()[line - 1]!
    const end = Math.min(offset, this.text.length)
    this.wide ??= wideCharacters(this.text)
    const wide = this.wide.length === 0 ? 0 : countBelow(this.wide, end - 1) - countBelow(this.wide, start)
    return { line, column: Math.max(0, end - start - wide) + 1 }
  }

  /** A line without its line break; '' past the end. */
  lineText(line: number): string {
    const starts = this.starts()
    const start = starts[line - 1]
    if (start === undefined) return ''
    const next = starts[line]
    const text = this.text.slice(start, next === undefined ? this.text.length : next - 1)
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
}

/** Number of the ascending numbers that are below `bound`. */
function countBelow(numbers: readonly number[], bound: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

function wideCharacters(text: string): number[] {
  const offsets: number[] = []
  for (const { index } of text.matchAll(/[\u{10000}-\u{10FFFF}]/gu)) offsets.push(index)
  return offsets
}
