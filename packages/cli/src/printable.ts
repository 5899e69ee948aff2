// Output of the command itself: the one place where text from outside (names and descriptions of servers, errors,
// file names, lines of scripts) loses its terminal control characters. The output of scripts does not pass here; it is printed unchanged.

import { renderDiagnostic, SourceFile } from '@bridle/parser'
import type { Diagnostic } from '@bridle/parser'

/**
 * Replaces each control character by one visible character, so that columns stay and nothing is hidden. Line breaks and tabs are
 * kept. Bidirectional control characters are replaced too, since they change how a line appears.
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

/** The same for single-line text, such as a name in a table. */
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

/** The Unicode pictures of control characters, if there are any. */
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

/** One JSON document on standard output. Control characters that JSON leaves unescaped are escaped here. */
export function tellJson(value: unknown, replacer?: (key: string, value: unknown) => unknown): void {
  const text = JSON.stringify(value, replacer, 2)
  process.stdout.write(`${text.replaceAll(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)}\n`)
}

const cleaned = new WeakMap<SourceFile, SourceFile>()

/** A finding as an excerpt, in colour if the terminal supports it. `shown` replaces the name of its file. */
export function renderFinding(
  diagnostic: Diagnostic,
  file: SourceFile,
  { label, shown = file.name }: { readonly label?: string; readonly shown?: string } = {},
): string {
  const color = process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined
  const name = toOneLine(shown)
  let clean = cleaned.get(file)
  if (clean?.name !== name) cleaned.set(file, (clean = new SourceFile(name, toPrintable(file.text))))
  // A replacement has the same length, so columns stay correct.
  const makePrintable = (raw: string): string => toPrintable(raw.replaceAll(file.name, shown))
  const harmless: Diagnostic = {
    ...diagnostic,
    message: makePrintable(diagnostic.message),
    hint: diagnostic.hint === null ? null : makePrintable(diagnostic.hint),
    related: diagnostic.related.map((one) => ({ ...one, message: makePrintable(one.message) })),
  }
  return renderDiagnostic(harmless, clean, { color, withCode: true, ...(label === undefined ? {} : { label }) })
}
