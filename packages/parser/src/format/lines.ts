// The two layouts of several items: one a line (statements, arms, fields), and a sequence with commas,
// which is broken to one a line if it does not fit.

import type { Comment } from '../lexer.js'
import type { Span } from '../source.js'
import { commentLines, splitTrailing } from './comments.js'
import { byteLength, type Layout, pad } from './layout.js'

export interface Item {
  readonly span: Span
  /** The printed item: its first line without indentation, its last without a line break. */
  readonly render: () => string
}

/**
 * Each item on lines of its own at `depth`, with the comments between `from` and `to`: those after an item stay on its line,
 * all others have separate lines. Whole lines; '' for nothing.
 */
export function itemLines(layout: Layout, items: readonly Item[], from: number, to: number, depth: number): string {
  let text = ''
  let leading = layout.gap(from, items[0]?.span.start ?? to)
  for (const [at, { span, render }] of items.entries()) {
    const body = render()
    const between = layout.gap(span.end, items[at + 1]?.span.start ?? to)
    const split = splitTrailing(layout, between, span.end)
    text += commentLines(layout, leading, depth) + commentLines(layout, layout.takeUnplaced(span), depth)
    text += `${pad(depth)}${body}${split.trailing}\n`
    leading = split.leading
  }
  return text + commentLines(layout, leading, depth)
}

/** `{`, the comments `above`, the items, `}`. A comment that ends the line of the brace stays there. */
export function layOutBraced(
  layout: Layout,
  items: readonly Item[],
  from: number,
  to: number,
  depth: number,
  above: readonly Comment[] = [],
): string {
  const first = items[0]?.span.start ?? to
  const split = splitTrailing(layout, layout.gap(from, first), from)
  // A comment before a statement on the brace's line belongs to the statement.
  const staysBehindBrace = split.trailing !== '' && layout.line(first) > layout.line(from)
  const start = staysBehindBrace ? (split.leading[0]?.start ?? first) : from
  const lines = commentLines(layout, above, depth + 1) + itemLines(layout, items, start, to, depth + 1)
  return `{${staysBehindBrace ? split.trailing : ''}\n${lines}${pad(depth)}}`
}

export interface Sequence {
  readonly open: string
  readonly close: string
  readonly items: readonly Item[]
  /** Offsets after the opening bracket and after the closing one. */
  readonly from: number
  readonly to: number
  /** Bytes before the first item that count for the width. */
  readonly prefix: number
  /** Depth of the line with the closing bracket when the sequence is broken. Items are printed for `depth + 1`. */
  readonly depth: number
}

/** Items with commas: on one line, or one a line with a trailing comma if that is too long or an item has several lines. */
export function sequence(layout: Layout, parts: Sequence): string {
  const { items, depth, from, to } = parts
  const texts = items.map((item) => item.render())
  const leftOver = items.map((item) => layout.takeUnplaced(item.span))
  const gaps = items.map((item, at) => layout.gap(at === 0 ? from : items[at - 1]!.span.end, item.span.start))
  const last = items.length === 0 ? [] : layout.gap(items.at(-1)!.span.end, to)
  const joined = texts.join(', ')
  const hasComments = last.length > 0 || [...gaps, ...leftOver].some((comments) => comments.length > 0)
  const fits = !joined.includes('\n') && parts.prefix + byteLength(joined) + 1 <= layout.lineWidth
  if (items.length === 0 || (!hasComments && fits)) return `${parts.open}${joined}${parts.close}`

  const opening = splitTrailing(layout, gaps[0]!, from)
  const staysBehindBracket = layout.line(items[0]!.span.start) > layout.line(from)
  let text = `${parts.open}${staysBehindBracket ? opening.trailing : ''}\n`
  let leading = staysBehindBracket ? opening.leading : gaps[0]!
  for (const [at, item] of items.entries()) {
    const split = splitTrailing(layout, gaps[at + 1] ?? last, item.span.end)
    text += commentLines(layout, [...leading, ...leftOver[at]!], depth + 1)
    text += `${pad(depth + 1)}${texts[at]!},${split.trailing}\n`
    leading = split.leading
  }
  return `${text}${commentLines(layout, leading, depth + 1)}${pad(depth)}${parts.close}`
}
