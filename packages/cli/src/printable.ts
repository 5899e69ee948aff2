// What the command itself writes to its streams: here is the one edge where text from outside (names and descriptions of servers, errors,
// file names, lines of scripts) loses what a terminal would obey. What a script prints does not pass here; it stays as it was printed.

import { renderDiagnostic, SourceFile } from '@bridle/parser'
import type { Diagnostic } from '@bridle/parser'

/**
 * Text without control characters: each becomes one visible sign, so that columns stay and nothing is hidden. Line breaks and tabs are
 * kept. Marks that turn the direction of writing are taken too, since they show a line otherwise than it is.
 */
export function toPrintable(text: string): string {
  let shown = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isHarmless(code) || (code === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED)) continue
    shown += text.slice(from, at) + chooseSign(code)
    from = at + 1
  }
  return from === 0 ? text : shown + text.slice(from)
}

/** The same for what has to stay on its line, such as a name in a table. */
export function toOneLine(text: string): string {
  return toPrintable(text).replaceAll('\r', chooseSign(CARRIAGE_RETURN)).replaceAll('\n', chooseSign(LINE_FEED))
}

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const DELETE = 0x7f

function isHarmless(code: number): boolean {
  if (code < 0x20) return code === TAB || code === LINE_FEED
  if (code < DELETE) return true
  return code > 0x9f && !isDirection(code)
}

function isDirection(code: number): boolean {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x200e || code === 0x200f
}

/** The pictures of control characters of Unicode, where there are any. */
function chooseSign(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === DELETE ? '\u2421' : '\ufffd'
}

/** Writes to standard output. */
export function tell(text: string): void {
  process.stdout.write(toPrintable(text))
}

/** Writes to standard error. */
export function complain(text: string): void {
  process.stderr.write(toPrintable(text))
}

/** One JSON document on standard output. JSON leaves some control characters as they are; here they are escaped. */
export function tellJson(value: unknown, replacer?: (key: string, value: unknown) => unknown): void {
  const text = JSON.stringify(value, replacer, 2)
  process.stdout.write(`${text.replaceAll(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)}\n`)
}

const cleaned = new WeakMap<SourceFile, SourceFile>()

/** A finding as an excerpt, in colour where the terminal has it. `shown` is what its file is called instead of its own name. */
export function renderFinding(
  diagnostic: Diagnostic,
  file: SourceFile,
  { label, shown = file.name }: { readonly label?: string; readonly shown?: string } = {},
): string {
  const color = process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined
  const name = toOneLine(shown)
  let clean = cleaned.get(file)
  if (clean?.name !== name) cleaned.set(file, (clean = new SourceFile(name, toPrintable(file.text))))
  // Signs are as long as what they stand for: places stay right.
  const makePrintable = (raw: string): string => toPrintable(raw.replaceAll(file.name, shown))
  const harmless: Diagnostic = {
    ...diagnostic,
    message: makePrintable(diagnostic.message),
    hint: diagnostic.hint === null ? null : makePrintable(diagnostic.hint),
    related: diagnostic.related.map((one) => ({ ...one, message: makePrintable(one.message) })),
  }
  return renderDiagnostic(harmless, clean, { color, withCode: true, ...(label === undefined ? {} : { label }) })
}
