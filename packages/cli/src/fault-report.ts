// The report of an uncaught error: its message, the position in the innermost function with the source line,
// and one note for each caller.

import { HarnDict, display } from '@bridle/vm'
import type { Fault } from '@bridle/vm'
import { isErrorCode } from './error-codes.js'
import { makeJsonError } from './failure-document.js'
import type { JsonError } from './failure-document.js'
import { measureIdentifier, renderExcerpt } from './source-excerpt.js'

export interface SourceLookup {
  /** The displayed name of a file, by its name in the trace. */
  readonly show: (file: string) => string
  /** Its source, null when it is not available. */
  readonly text: (file: string) => string | null
}

export function renderFault(fault: Fault, sources: SourceLookup): string {
  const { text: shown, notes } = describeFault(fault)
  const lines = [`error: ${shown}`]
  // Skip code without a file, such as that of the command itself.
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

/** A failed tool is a large dict; a person needs the reason, and the code to look up. */
function describeFault(fault: Fault): { readonly text: string; readonly notes: readonly string[] } {
  const code = findFaultCode(fault)
  // For `thrown` and `runtime_error` only the message is known.
  const notes = code in UNCODED ? [] : [`code: ${code}, explained by \`bridle explain ${code}\``]
  const error = readToolError(fault) ?? readUnanswered(fault)
  if (error === null) return { text: fault.text, notes }
  return { text: `Error [${code}]: ${display(error.get('message') ?? null)}`, notes: [...describePins(error), ...notes] }
}

/** Of an uncaught error, with the position in the innermost function that a file has. */
export function makeFaultError(fault: Fault, sources: SourceLookup): JsonError {
  const place = fault.trace?.find(({ file }) => !file.startsWith('native:'))
  return makeJsonError(
    findFaultCode(fault),
    fault.text,
    place === undefined ? {} : { file: sources.show(place.file), line: place.line, column: place.column },
  )
}

const UNCODED = { thrown: true, runtime_error: true }

/** A question that cannot be answered: its message says what to do, and the rest of the dict is for scripts. */
function readUnanswered({ kind, value }: Fault): HarnDict | null {
  return kind === 'thrown' && value instanceof HarnDict && value.get('name') === 'HumanUnavailableError' ? value : null
}

function readToolError({ kind, value }: Fault): HarnDict | null {
  return kind === 'thrown' && value instanceof HarnDict && value.get('name') === 'ToolError' ? value : null
}

/** A code that `bridle explain` knows: of a failed tool, a category, or whether the script or the machine raised the error. */
export function findFaultCode(fault: Fault): string {
  const { kind, value, category } = fault
  if (kind === 'categorized') return isErrorCode(category) ? category : 'tool_error'
  if (kind !== 'thrown') return 'runtime_error'
  for (const field of ['code', 'category']) {
    const name = value instanceof HarnDict && (field !== 'code' || readToolError(fault) !== null) ? value.get(field) : null
    if (typeof name === 'string' && isErrorCode(name)) return name
  }
  return 'thrown'
}

/** For a tool that differs from the lock file: both hashes, and what to do. */
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
