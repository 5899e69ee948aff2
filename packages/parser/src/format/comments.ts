// Prints comments: plain ones unchanged, documentation as `/** … */`, and section bars in one width.

import type { Comment } from '../lexer.js'
import { docText } from '../literals.js'
import { byteLength, type Layout, pad } from './layout.js'

/** Comments on lines of their own, each with the indentation of `depth`; '' for none. Blank lines between them vanish. */
export function commentLines(layout: Layout, comments: readonly Comment[], depth: number): string {
  return commentParagraphs(layout, comments, depth)
    .map((paragraph) => paragraph.text)
    .join('')
}

interface Paragraph {
  /** Whole lines. */
  readonly text: string
  /** Offsets of the first and behind the last comment. */
  readonly start: number
  readonly end: number
  readonly doc: boolean
}

/** One entry for each plain comment, and for each run of documentation on neighbouring lines. */
export function commentParagraphs(layout: Layout, comments: readonly Comment[], depth: number): Paragraph[] {
  const found: Paragraph[] = []
  for (let at = 0; at < comments.length;) {
    const run = [comments[at]!]
    while (run[0]!.doc && comments[at + run.length]?.doc === true) {
      const next = comments[at + run.length]!
      if (layout.line(next.start) > layout.line(run.at(-1)!.end) + 1) break
      run.push(next)
    }
    at += run.length
    const texts = run.map((comment) => layout.text(comment) ?? '')
    const words = run[0]!.doc ? texts.map(docText).join('\n') : null
    const text =
      words !== null && fitsBlock(words) ? docBlock(words, depth, layout.lineWidth) : texts.map(reindent).join(`\n${pad(depth)}`)
    found.push({ text: `${pad(depth)}${text}\n`, start: run[0]!.start, end: run.at(-1)!.end, doc: run[0]!.doc })
  }
  return found
}

/** Whether a string can be put into a block comment: comments nest, so it may contain neither mark. */
export function fitsBlock(text: string): boolean {
  return !/\/\*|\*\//.test(text)
}

/** A `/** … *\/` block; the first line without indentation. */
export function docBlock(text: string, depth: number, width: number): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  while (lines[0] === '') lines.shift()
  while (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) return '/** */'
  const single = `/** ${lines[0]!} */`
  if (lines.length === 1 && byteLength(single) + 2 * depth <= width) return single
  return ['/**', ...lines.map((line) => `${pad(depth)} *${line === '' ? '' : ` ${line}`}`), `${pad(depth)} */`].join('\n')
}

/** Documentation as a block, or as lines if a block cannot contain it. */
export function documentation(text: string, depth: number, width: number): string {
  if (fitsBlock(text)) return docBlock(text, depth, width)
  return text
    .split('\n')
    .map((line) => `/// ${line}`.trimEnd())
    .join(`\n${pad(depth)}`)
}

/** Comments are kept unchanged, except for trailing blanks of a line comment. */
function reindent(text: string): string {
  return text.startsWith('//') ? text.trimEnd() : text
}

/** Whether a comment begins on the line of the offset. */
export function isOnLine(layout: Layout, comment: Comment, offset: number): boolean {
  return layout.line(comment.start) === layout.line(offset)
}

/** Splits the comments of a gap into those that end the line of `before` and those above what follows. */
export function splitTrailing(
  layout: Layout,
  comments: readonly Comment[],
  before: number,
): { readonly trailing: string; readonly leading: readonly Comment[] } {
  let count = 0
  let line = layout.line(before)
  while (count < comments.length && layout.line(comments[count]!.start) === line) {
    line = layout.line(comments[count]!.end)
    count += 1
  }
  const trailing = comments.slice(0, count).map((comment) => ` ${reindent(layout.text(comment) ?? '')}`)
  return { trailing: trailing.join(''), leading: comments.slice(count) }
}

// ---- sections ------------------------------------------------------------------------------------------------------

/** Fewest dashes of a bar. */
const BAR_DASHES = 4

export function isBar(text: string): boolean {
  return /^\/\/\s*-{4,}\s*$/.test(text)
}

/** The title in `// ---- Title ----`, or null. */
export function barTitle(text: string): string | null {
  if (!text.startsWith('//')) return null
  const line = text.slice(2).trim()
  let start = 0
  let end = line.length
  while (line[start] === '-') start += 1
  while (end > start && line[end - 1] === '-') end -= 1
  const title = line.slice(start, end).trim()
  return start >= BAR_DASHES && line.length - end >= BAR_DASHES && title !== '' ? title : null
}

export function bar(width: number): string {
  return `// ${'-'.repeat(Math.max(4, width - 3))}`
}
