// Repairs for sources that do not parse. Proposals of the rules near an error are tried: a repair is kept if the parser gets further
// with it, so that no repair makes a source worse.

import type { Diagnostic } from '../diagnostics/diagnostic.js'
import type { Span } from '../source.js'
import { type Code, type Edit, readCode } from './code.js'
import { RULES } from './rules.js'
import { HABITS, type HabitName } from './table.js'

/** Maximum number of characters that are parsed again for the repairs of one source. */
const MOST_CHARACTERS = 2_000_000

/** Maximum number of errors, and of repairs that are tried for each. */
const MOST_ERRORS = 8
const MOST_TRIES = 6

/** Lexical errors hide syntax errors. */
const TOKEN_ERRORS: ReadonlySet<string> = new Set(['P003', 'P004', 'P005'])

const LIMIT_ERRORS: ReadonlySet<string> = new Set(['P013', 'P016'])

/** Distance in characters between an error and a habit without a repair that may cause it. */
const NEAR = 24

/** Whether a hint only says what the grammar allows here, and not what was meant. */
function isOfPlace(hint: string | null): boolean {
  return hint === null || hint.startsWith('also possible here') || hint.startsWith('add a closing')
}

export type ParseText = (text: string) => readonly Diagnostic[]

/** The errors of `text`, with helpful repairs and the Harn equivalent as their hint. `parse`: returns the errors of another source. */
export function withRepairs(text: string, errors: readonly Diagnostic[], parse: ParseText): readonly Diagnostic[] {
  // Too deep, or too large: no habit is the cause.
  if (errors.some(({ code }) => LIMIT_ERRORS.has(code))) return errors
  const code = readCode(text)
  let left = Math.floor(MOST_CHARACTERS / (text.length + 1))
  return errors.map((error, index) => {
    if (error.fix !== null || index >= MOST_ERRORS) return error
    const proposals = propose(code, error)
    const own = isOfPlace(error.hint) ? null : error.hint
    for (const { habit, edits } of proposals.filter((each) => each.edits.length > 0).slice(0, MOST_TRIES)) {
      if (left-- <= 0) return error
      if (!helps(text, errors, error, edits, parse)) continue
      return { ...error, hint: HABITS[habit].harn, fix: { title: titleOf(edits), edits } }
    }
    // A habit without a repair is at least named, if the error is about it.
    const known = proposals.find(({ edits, distance }) => edits.length === 0 && distance <= NEAR)
    return known === undefined || own !== null ? error : { ...error, hint: HABITS[known.habit].harn }
  })
}

export interface WordRepair {
  readonly habit: HabitName
  readonly fix: NonNullable<Diagnostic['fix']>
}

/** The repair of a word of another language in a source that parses anyway; null when no result would parse. */
export function repairWord(text: string, span: Span, parse: ParseText): WordRepair | null {
  const code = readCode(text)
  const at = code.tokens.findIndex(({ start, end }) => start <= span.start && span.start < end)
  for (const { habit, find } of RULES) {
    const edits = at < 0 ? null : find(code, at)
    if (edits === null || edits.length === 0 || parse(applyEdits(text, edits)).length > 0) continue
    return { habit, fix: { title: titleOf(edits), edits } }
  }
  return null
}

interface Proposal {
  readonly habit: HabitName
  readonly edits: readonly Edit[]
  readonly distance: number
}

/** Proposals of the rules for the lines of an error, the nearest first. */
function propose(code: Code, { span, related }: Diagnostic): readonly Proposal[] {
  const found: Proposal[] = []
  for (const start of new Set([span.start, ...related.map((each) => each.span.start)])) {
    const [from, to] = code.linesAround(start)
    for (let at = from; at < to; at += 1) {
      const distance = Math.abs(code.at(at).start - start)
      for (const { habit, find } of RULES) {
        const edits = find(code, at)
        if (edits !== null) found.push({ habit, edits, distance })
      }
    }
  }
  return found.toSorted((one, other) => one.distance - other.distance)
}

/** Whether the first error from the repair on comes later, and there is none before it. */
function helps(
  text: string,
  errors: readonly Diagnostic[],
  error: Diagnostic,
  edits: readonly Edit[],
  parse: ParseText,
): boolean {
  const after = applyEdits(text, edits)
  const found = parse(after)
  if (found.length === 0) return true
  const start = Math.min(...edits.map(({ span }) => span.start))
  const isToken = TOKEN_ERRORS.has(error.code)
  if (isToken && !found.some(({ code }) => TOKEN_ERRORS.has(code))) return true
  const before = countBefore(
    errors.filter((each) => each !== error),
    start,
  )
  if (!isToken && countBefore(found, start) > before) return false
  const next = found.find(({ span }) => span.start >= start)
  return next === undefined || after.length - next.span.start < text.length - error.span.start
}

function countBefore(errors: readonly Diagnostic[], offset: number): number {
  return errors.filter(({ span }) => span.start < offset).length
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = text
  for (const { span, text: inserted } of edits.toSorted((one, other) => other.span.start - one.span.start)) {
    result = result.slice(0, span.start) + inserted + result.slice(span.end)
  }
  return result
}

function titleOf(edits: readonly Edit[]): string {
  const [only, more] = edits
  const text = only === undefined || more !== undefined || only.text.includes('\n') ? '' : only.text.trim()
  return text === '' ? 'write it as Harn does' : `write \`${text}\``
}
