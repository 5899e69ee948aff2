// Divergence of a replay: position, what is recorded, what the run does now.

import type { Divergence, RecordedCall } from '@bridle/stdlib-tools'
import type { ScriptPlace } from '@bridle/vm'
import type { SourceLookup } from './fault-report.js'
import { measureIdentifier, renderExcerpt } from './source-excerpt.js'

/** `isEdited`: recorded outcomes were replaced on purpose. */
export function renderDivergence(
  { code, message, expected, actual, place }: Divergence,
  sources: SourceLookup,
  isEdited = false,
): string {
  const lines = [`error: ${code}: ${message}`, renderPlace(place, sources).trimEnd()].filter((line) => line !== '')
  if (expected !== null || actual !== null) lines.push(`  recorded: ${formatCall(expected)}`, `       now: ${formatCall(actual)}`)
  if (isEdited) lines.push('  = note: answers were edited; from here the run goes its own way')
  return `${lines.join('\n')}\n`
}

export function renderPlace(place: ScriptPlace | null, sources: SourceLookup): string {
  if (place === null) return ''
  const { file, line, column } = place
  const text = sources.text(file)?.split(/\r?\n/)[line - 1] ?? null
  const width = text === null ? 0 : measureIdentifier(text, column)
  return `${renderExcerpt({ file: sources.show(file), line, column, text, width }).lines.join('\n')}\n`
}

export function formatCall(call: RecordedCall | null): string {
  return call === null ? 'nothing' : `call ${call.id}, ${call.name} ${call.args}`
}
