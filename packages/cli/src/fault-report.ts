// The report of an uncaught error: its text, the place in the innermost function with the source line,
// and one note for each caller.

import { HarnDict, display } from '@bridle/vm'
import type { Fault } from '@bridle/vm'
import { measureIdentifier, renderExcerpt } from './source-excerpt.js'

export interface SourceLookup {
  /** How a file is shown, given the name that the trace has. */
  readonly show: (file: string) => string
  /** Its text, null when it cannot be had. */
  readonly text: (file: string) => string | null
}

export function renderFault(fault: Fault, sources: SourceLookup): string {
  const { text: shown, notes } = describeFault(fault)
  const lines = [`error: ${shown}`]
  // Code that no file has, such as that of the command itself, is no place to look at.
  const [innermost, ...callers] = (fault.trace ?? []).filter(({ file }) => !file.startsWith('native:'))
  if (innermost === undefined) return `${[...lines, ...notes.map((note) => `  = ${note}`)].join('\n')}\n`
  const { file, line, column } = innermost
  const text = sources.text(file)?.split(/\r?\n/)[line - 1] ?? null
  const width = text === null ? 0 : measureIdentifier(text, column)
  const { lines: excerpt, pad } = renderExcerpt({ file: sources.show(file), line, column, text, width })
  lines.push(...excerpt)
  for (const [at, caller] of callers.entries()) {
    const name = at === callers.length - 1 ? 'pipeline' : caller.function
    lines.push(`${pad}= note: called from ${name} at ${sources.show(caller.file)}:${caller.line}`)
  }
  for (const note of notes) lines.push(`${pad}= ${note}`)
  return `${lines.join('\n')}\n`
}

/** A failed tool is a dict with much in it; a person wants to know why, and under which code to look it up. */
function describeFault(fault: Fault): { readonly text: string; readonly notes: readonly string[] } {
  const error = fault.kind === 'thrown' && fault.value instanceof HarnDict ? fault.value : null
  if (error?.get('name') !== 'ToolError') return { text: fault.text, notes: [] }
  const readField = (name: string): string => display(error.get(name) ?? null)
  return { text: `Error [${readField('code')}]: ${readField('message')}`, notes: describePins(error) }
}

/** For a tool that is not as the lock file has it: both hashes, and what to do. */
function describePins(error: HarnDict): readonly string[] {
  const details = error.get('details')
  const pinned = details instanceof HarnDict ? details.get('pinned') : undefined
  if (!(details instanceof HarnDict) || pinned === undefined) return []
  if (pinned === null) return ['help: `bridle tools lock` writes down the tools as they are now']
  return [
    `note: locked as ${display(pinned)}`,
    `note: it is now ${display(details.get('found') ?? null)}`,
    'help: `bridle tools diff` says what changed; `bridle tools lock` writes down the tools as they are now',
  ]
}
