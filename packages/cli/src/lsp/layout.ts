// Formatting as edits: of the whole file, of a range, and while typing.

import { format, isSameProgram, parse, SourceFile, tokenize } from '@bridle/parser'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import type { FormattingOptions, Range, TextEdit } from 'vscode-languageserver/node'
import { toPath } from './document.js'
import type { OpenDocument } from './document.js'

/** The formatted file; null when it does not parse, or nothing changes. */
function formatText({ text, settings: { fmt } }: OpenDocument): string | null {
  const source = new SourceFile(toPath(text.uri), text.getText())
  const result = format(source, {
    ...(fmt.line_width === undefined ? {} : { lineWidth: fmt.line_width }),
    ...(fmt.separator_width === undefined ? {} : { separatorWidth: fmt.separator_width }),
  })
  if (result.kind === 'failed' || result.text === source.text) return null
  return isSameText(source.text, result.text) ? result.text : null
}

function isSameText(one: string, other: string): boolean {
  const before = parse(new SourceFile('before', one)).program
  const after = parse(new SourceFile('after', other)).program
  return before !== null && after !== null && isSameProgram(before, after)
}

/** One edit that replaces the text by its formatted form; none when nothing changes or it does not parse. */
export function formatDocument(document: OpenDocument): TextEdit[] {
  const made = formatText(document)
  const { text } = document
  return made === null
    ? []
    : [{ range: { start: text.positionAt(0), end: text.positionAt(text.getText().length) }, newText: made }]
}

/** Formats the lines of a range, as formatting the whole file would. */
export function formatRange(document: OpenDocument, range: Range): TextEdit[] {
  const made = formatText(document)
  if (made === null) return []
  const { text } = document
  // A range that ends at the beginning of a line does not include that line.
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line - 1 : range.end.line
  const touched = makeLineEdits(text, made).filter(({ range: { start, end } }) => {
    const isInsertion = start.line === end.line
    return start.line <= last && (isInsertion ? start.line >= range.start.line : end.line > range.start.line)
  })
  return touched.length > 0 && isSameText(text.getText(), applyEdits(text, touched)) ? touched : []
}

/** Edits from the end to the beginning, so that none moves another. */
export function applyEdits(text: TextDocument, edits: readonly TextEdit[]): string {
  let made = text.getText()
  const byPosition = edits.toSorted((one, other) => text.offsetAt(other.range.start) - text.offsetAt(one.range.start))
  for (const { range, newText } of byPosition)
    made = made.slice(0, text.offsetAt(range.start)) + newText + made.slice(text.offsetAt(range.end))
  return made
}

/** Beyond this many lines the difference is one edit: the time is the product of the lengths. */
const MOST_COMPARED = 4_000_000

/** Whole lines that differ. */
export function makeLineEdits(text: TextDocument, made: string): TextEdit[] {
  const before = splitLines(text.getText())
  const after = splitLines(made)
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const old = before.slice(head, before.length - tail)
  const next = after.slice(head, after.length - tail)
  const toEdit = (from: number, to: number, lines: readonly string[]): TextEdit => ({
    range: { start: { line: head + from, character: 0 }, end: toLineStart(text, before, head + to) },
    newText: lines.join(''),
  })
  if (old.length === 0 && next.length === 0) return []
  if (old.length * next.length > MOST_COMPARED) return [toEdit(0, old.length, next)]
  const lengths = commonLengths(old, next)
  const edits: TextEdit[] = []
  let [at, to] = [0, 0]
  while (at < old.length || to < next.length) {
    if (at < old.length && to < next.length && old[at] === next[to]) {
      at++
      to++
      continue
    }
    const [from, first] = [at, to]
    while ((at < old.length || to < next.length) && old[at] !== next[to]) {
      const drops = to >= next.length || (at < old.length && lengths[at + 1]![to]! >= lengths[at]![to + 1]!)
      if (drops) at++
      else to++
    }
    edits.push(toEdit(from, at, next.slice(first, to)))
  }
  return edits
}

/** Lines with their line breaks; the last may have none. */
const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.split(/(?<=\n)/))

/** Start offset of a line; after the last line, the end of the text. */
function toLineStart(text: TextDocument, lines: readonly string[], line: number): Range['start'] {
  return line < lines.length ? { line, character: 0 } : text.positionAt(text.getText().length)
}

/** Number of equal lines of two texts, starting at a line of each. */
function commonLengths(one: readonly string[], other: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: one.length + 1 }, () => new Uint32Array(other.length + 1))
  for (let at = one.length - 1; at >= 0; at--) {
    for (let to = other.length - 1; to >= 0; to--)
      rows[at]![to] = one[at] === other[to] ? rows[at + 1]![to + 1]! + 1 : Math.max(rows[at + 1]![to]!, rows[at]![to + 1]!)
  }
  return rows
}

/** After `}`: formats the block that it closes. After a line break: indents the new line. */
export function formatTyped(
  document: OpenDocument,
  position: Range['start'],
  typed: string,
  { tabSize, insertSpaces }: FormattingOptions,
): TextEdit[] {
  const { text } = document
  const source = text.getText()
  const offset = text.offsetAt(position)
  if (typed !== '\n') {
    const open = findOpening(source, offset)
    if (open === null) return []
    const edits = document.parsed.program === null ? [] : formatRange(document, { start: text.positionAt(open), end: position })
    return edits.length > 0
      ? edits
      : indentLine(text, position.line, findDepth(source, open), insertSpaces ? ' '.repeat(tabSize) : '\t')
  }
  const rest = /^[ \t]*/.exec(source.slice(offset))![0]
  const isClosing = /^[\])}]/.test(source.slice(offset + rest.length))
  const depth = Math.max(0, findDepth(source, offset) - (isClosing ? 1 : 0))
  return indentLine(text, position.line, depth, insertSpaces ? ' '.repeat(tabSize) : '\t')
}

function indentLine(text: TextDocument, line: number, depth: number, unit: string): TextEdit[] {
  const start = text.offsetAt({ line, character: 0 })
  const present = /^[ \t]*/.exec(text.getText().slice(start))![0]
  const wanted = unit.repeat(depth)
  if (present === wanted) return []
  return [{ range: { start: { line, character: 0 }, end: { line, character: present.length } }, newText: wanted }]
}

interface Bracket {
  readonly at: number
  readonly line: number
}

/** The block that the bracket before an offset closes. */
function listOpenBrackets(source: string, offset: number): readonly Bracket[] {
  const open: Bracket[] = []
  let line = 0
  let seen = 0
  for (const { kind, span } of tokenize(source)) {
    if (span.start >= offset) break
    for (; seen < span.start; seen++) if (source.charCodeAt(seen) === 10) line++
    if (kind !== 'operator') continue
    const char = source[span.start]!
    if (char === '(' || char === '[' || char === '{') open.push({ at: span.start, line })
    else if (char === ')' || char === ']' || char === '}') open.pop()
  }
  return open
}

function findDepth(source: string, offset: number): number {
  return new Set(listOpenBrackets(source, offset).map(({ line }) => line)).size
}

/** What the bracket in front of an offset closes. */
function findOpening(source: string, offset: number): number | null {
  if (!/[\])}]/.test(source[offset - 1] ?? '')) return null
  return listOpenBrackets(source, offset - 1).at(-1)?.at ?? null
}
