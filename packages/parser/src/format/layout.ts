// State shared by the printing functions: the options, and the source of the tree, if any. A tree without source
// (built by a program) is printed by the same rules, without the facts that only source has: line breaks,
// spelling of literals, comments.
//
// Comments belong to gaps: the ranges between two parts of a construct that is printed one part a line. A gap is
// identified by its offsets, so a construct can be printed twice and keeps its comments. A comment in no gap (for example before
// the value of a `let`) is left over and goes above its statement: `unplaced` finds these.

import { type Comment, lex } from '../lexer.js'
import type { SourceFile, Span } from '../source.js'

export interface FormatOptions {
  /** Line width in bytes, beyond which sequences and operators are broken; default 100. */
  readonly lineWidth?: number
  /** Width of a section bar in bytes; default 80. */
  readonly separatorWidth?: number
}

export class Layout {
  readonly lineWidth: number
  readonly separatorWidth: number
  /** null when the tree has no source. */
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

  /** Line of an offset, from 1; 0 without source, so that no part is on a later line. */
  line(offset: number): number {
    return this.source === null ? 0 : this.source.lineAt(offset)
  }

  /** The source of a span; null without source. */
  text(span: Span): string | null {
    return this.source === null ? null : this.source.text.slice(span.start, span.end)
  }

  /** The comments between two offsets; this marks them as placed. */
  gap(from: number, to: number): readonly Comment[] {
    const found = this.between(from, to)
    for (const comment of found) this.placed.add(comment)
    return found
  }

  /** Whether a comment starts within the span. */
  hasComments(span: Span): boolean {
    return this.between(span.start, span.end).length > 0
  }

  /**
   * Comments of a span that are in no gap; this marks them as placed. Call it after the span was printed; printing again gives the
   * same result.
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

  /** Offset after the next `closer` from `offset` on, blanks and comments skipped; `offset` itself when there is none. */
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

  /** Index of the first comment that starts at `offset` or later. */
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

/** Length in UTF-8, the unit of widths. */
export function byteLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    // A surrogate pair is four bytes and two units; each of its halves is counted as two.
    if (code > 0x7f) length += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return length
}
