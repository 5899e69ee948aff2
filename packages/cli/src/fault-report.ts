// The report of an uncaught error (reference 01 §15.5): its text, the place in the innermost function with the source line,
// and one note for each caller.

import type { Fault } from '@bridle/vm'
import { identifierWidth, renderExcerpt } from './source-excerpt.js'

export interface SourceLookup {
  /** How a file is shown, given the name that the trace has. */
  readonly show: (file: string) => string
  /** Its text, null when it cannot be had. */
  readonly text: (file: string) => string | null
}

export function renderFault(fault: Fault, sources: SourceLookup): string {
  const lines = [`error: ${fault.text}`]
  // Code that no file has, such as that of the command itself, is no place to look at.
  const [innermost, ...callers] = (fault.trace ?? []).filter(({ file }) => !file.startsWith('native:'))
  if (innermost === undefined) return `${lines[0]}\n`
  const { file, line, column } = innermost
  const text = sources.text(file)?.split(/\r?\n/)[line - 1] ?? null
  const width = text === null ? 0 : identifierWidth(text, column)
  const { lines: excerpt, pad } = renderExcerpt({ file: sources.show(file), line, column, text, width })
  lines.push(...excerpt)
  for (const [at, caller] of callers.entries()) {
    const name = at === callers.length - 1 ? 'pipeline' : caller.function
    lines.push(`${pad}= note: called from ${name} at ${sources.show(caller.file)}:${caller.line}`)
  }
  return `${lines.join('\n')}\n`
}
