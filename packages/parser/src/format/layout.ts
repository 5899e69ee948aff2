// What the printing functions share: the options, and the text that a tree was made from, if there is one. A tree without its
// text (one that a program has built) is printed by the same rules; only what the text alone knows is missing: where lines were
// broken, how literals were written, comments.
//
// Comments belong to gaps: the places between two neighbouring parts of a construct that is written one part a line. A gap is
// asked for by its offsets, so that a construct may be printed twice and keeps its comments. A comment in no gap (say, before
// the value of a `let`) is left over and goes above the statement it is in: `unplaced` finds these.

import { type Comment, lex } from '../lexer.js'
import type { SourceFile, Span } from '../source.js'

export interface FormatOptions {
  /** Bytes of a line before sequences and operators are broken; 100 when left out. */
  readonly lineWidth?: number
  /** Bytes of a bar of dashes over a section; 80 when left out. */
  readonly separatorWidth?: number
}

export class Layout {
  readonly lineWidth: number
  readonly separatorWidth: number
  /** null when the tree has no text. */
  readonly source: SourceFile | null
  private readonly comments: readonly Comment[]
  private readonly placed = new Set<Comment>()
  private readonly leftOver = new Map<string, readonly Comment[]>()

  constructor(source: SourceFile | null, options: FormatOptions = {}) {
    this.source = source
    this.comments = source === null ? [] : lex(source.text).comments
    this.lineWidth = options.lineWidth ?? 100
    this.separatorWidth = options.separatorWidth ?? 80
  }

  /** Line of an offset, from 1; 0 without a text, so that nothing is ever on a later line. */
  line(offset: number): number {
    return this.source === null ? 0 : this.source.lineAt(offset)
  }

  /** The text of a span; null without a text. */
  text(span: Span): string | null {
    return this.source === null ? null : this.source.text.slice(span.start, span.end)
  }

  /** The comments between two offsets, which are thereby placed. */
  gap(from: number, to: number): readonly Comment[] {
    const found = this.between(from, to)
    for (const comment of found) this.placed.add(comment)
    return found
  }

  /** Whether any comment begins within the span. */
  hasComments(span: Span): boolean {
    return this.between(span.start, span.end).length > 0
  }

  /**
   * Comments of a span that no gap has claimed; they are placed by this. To be called after the span was printed; when it is
   * printed again, the answer stays.
   */
  takeUnplaced(span: Span): readonly Comment[] {
    const inside = this.between(span.start, span.end)
    if (inside.length === 0) return inside
    const key = `${span.start}:${span.end}`
    const known = this.leftOver.get(key)
    if (known !== undefined) return known
    const found = inside.filter((comment) => !this.placed.has(comment))
    for (const comment of found) this.placed.add(comment)
    this.leftOver.set(key, found)
    return found
  }

  private between(from: number, to: number): readonly Comment[] {
    const { comments } = this
    if (comments.length === 0) return comments
    const first = this.firstFrom(from)
    let end = first
    while (end < comments.length && comments[end]!.end <= to) end += 1
    return comments.slice(first, end)
  }

  /** Offset behind the next `closer` from `offset` on, blanks and comments skipped; `offset` itself when there is none. */
  behind(offset: number, closer: string): number {
    if (this.source === null) return offset
    const { text } = this.source
    for (let at = offset; at < text.length; at += 1) {
      const comment = text[at] === '/' ? this.comments[this.firstFrom(at)] : undefined
      if (comment?.start === at) at = comment.end - 1
      else if (text[at] === closer) return at + 1
      else if (!/[\s,\\]/.test(text[at]!)) return offset
    }
    return offset
  }

  /** Index of the first comment that begins at `offset` or later. */
  private firstFrom(offset: number): number {
    const { comments } = this
    let low = 0
    let high = comments.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (comments[middle]!.start < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function pad(depth: number): string {
  return '  '.repeat(depth)
}

/** Length in UTF-8, which is what widths are measured in. */
export function byteLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    // A surrogate pair is four bytes and two units; each of its halves is counted as two.
    if (code > 0x7f) length += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return length
}
