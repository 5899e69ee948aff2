// `json_extract`: JSON out of prose, as language models write it.

import { HarnDict, builtinTaking, display, parseJson } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'

const FENCE = '```'

/**
 * What stands in the first closed fence. The rest of the opening line (a language name) is skipped; without a line end
 * behind it the content begins at once.
 */
function findFenced(text: string): string | null {
  const open = text.indexOf(FENCE)
  if (open < 0) return null
  const lineEnd = text.indexOf('\n', open)
  const start = lineEnd < 0 ? open + FENCE.length : lineEnd + 1
  const end = text.indexOf(FENCE, start)
  return end < 0 ? null : text.slice(start, end).trim()
}

/** The first balanced piece between two brackets. Brackets in strings do not count. */
export function findBalanced(text: string, open: string, close: string): string | null {
  const start = text.indexOf(open)
  let depth = 0
  let inString = false
  for (let at = start; at >= 0 && at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === open) depth++
    else if (char === close && --depth === 0) return text.slice(start, at + 1)
  }
  return null
}

/** The part of a text that most likely is JSON. */
export function findJson(text: string): string {
  return findFenced(text) ?? findBalanced(text, '{', '}') ?? findBalanced(text, '[', ']') ?? text.trim()
}

function extract(ctx: Context, text: string, key: Value): Result {
  ctx.charge(text.length >> 5, 2 * text.length)
  const parsed = parseJson(findJson(text))
  if (!parsed.ok) return ctx.throw(`json_extract: failed to parse JSON: ${parsed.message}`)
  if (key === null) return parsed.value
  const name = display(key)
  if (!(parsed.value instanceof HarnDict)) return ctx.throw('json_extract: parsed value is not a dict, cannot extract key')
  const found = parsed.value.get(name)
  return found === undefined ? ctx.throw(`json_extract: key '${name}' not found`) : found
}

export const extractFunction: BuiltinDef = builtinTaking(
  'json_extract(text: string, key?: string) -> any',
  { fromOutside: true, doc: 'The JSON in a prose text, or one member of it.' },
  { fewer: '{f} requires at least 1 argument: text', text: { text: null } },
  extract,
)
