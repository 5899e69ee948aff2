// Arguments of a tool call as a model gives them: an object, or a text that should be the JSON of one. Unreadable arguments are reported to
// the model under the key `__parse_error` in place of arguments, and a call with that key never runs: guessing
// `{}` would carry out a call that the model did not make.

import { HarnDict, display, parseJson, typeName } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

const PARSE_ERROR = '__parse_error'

/** The arguments of a call; a dict that says what is wrong when they cannot be read. */
export function readCallArguments(given: Value | undefined): HarnDict {
  if (given instanceof HarnDict) return given
  // Services send nothing, null or an empty text for a tool without parameters.
  if (given === undefined || given === null || (typeof given === 'string' && given.trim() === '')) return new HarnDict()
  if (typeof given !== 'string') return makeUnreadable(`they are a ${typeName(given)}`)
  const read = parseJson(given)
  if (!read.ok)
    return makeUnreadable(`they are not JSON (${read.message.replace(/^JSON parse error: /, '')}): ${quoteStart(given)}`)
  return read.value instanceof HarnDict ? read.value : makeUnreadable(`they are a ${typeName(read.value)}`)
}

const SHOWN_CHARACTERS = 300

function quoteStart(text: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS))
  return text.length > SHOWN_CHARACTERS ? `${shown} and ${text.length - SHOWN_CHARACTERS} characters more` : shown
}

function makeUnreadable(found: string): HarnDict {
  const text = `The arguments of this tool call must be one JSON object; ${found}. Send the call again with valid arguments.`
  return HarnDict.of({ [PARSE_ERROR]: text })
}

/** What is wrong with arguments that could not be read; null for readable ones. */
export function readParseError(args: Value): string | null {
  const problem = args instanceof HarnDict ? (args.get(PARSE_ERROR) ?? null) : null
  return problem === null ? null : display(problem)
}
