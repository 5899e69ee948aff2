// Regular expression builtins (reference 03a §12). Argument order differs between them; that is the language's.

import { builtin, family } from './builtin.js'
import type { Context, Control, Result } from './builtin.js'
import { MAX_TEXT, textArg } from './core-values.js'
import { compileRegex, expandReplacement, matchesOf } from './regex-engine.js'
import type { Regex, RegexMatch } from './regex-engine.js'
import { RegexSyntaxError } from './regex-syntax.js'
import type { BuiltinFamily } from './registry.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { visit } from '../values/meter.js'
import type { Value } from '../values/value.js'

/** Patterns that this machine has paid for lately. */
const patternState = family('regex', (): { readonly known: Map<string, boolean> } => ({ known: new Map() }))
const KNOWN_PATTERNS = 32
const COMPILE_UNITS = 300
const UNITS_AN_INSTRUCTION = 16

/** Finding where a match begins and ends and cutting it out, beside looking at its characters. */
const UNITS_A_MATCH = 10
const UNITS_A_RECORD = 30

/** The compiled pattern, or the fault that a bad pattern or flag raises. */
function compiled(ctx: Context, pattern: Value, letters: string): Regex | Control {
  for (const letter of letters) {
    if (!'imsx'.includes(letter)) return ctx.throw(`Invalid regex: unsupported regex flag '${letter}', expected one of i/m/s/x`)
  }
  const text = display(pattern)
  ctx.charge(text.length)
  try {
    const regex = compileRegex(text, letters)
    // Compiled patterns are shared by all machines; what a machine pays must not depend on the others.
    const { known } = ctx.state(patternState)
    const key = `${letters}/${text}`
    if (!known.has(key)) {
      ctx.charge(COMPILE_UNITS + UNITS_AN_INSTRUCTION * regex.engine.programSize())
      if (known.size >= KNOWN_PATTERNS) known.delete(known.keys().next().value!)
      known.set(key, true)
    }
    return regex
  } catch (error) {
    if (error instanceof RegexSyntaxError) return ctx.throw(`Invalid regex: ${error.message}`)
    throw error
  }
}

function isRegex(value: Regex | Control): value is Regex {
  return 'engine' in value
}

/**
 * The matches of a search, paid for: two characters are a unit, and what is made of a match takes `units` and `heap` more. Together
 * they are one operation.
 */
function* paidMatches(ctx: Context, regex: Regex, text: string, units: number, heap: number): Generator<RegexMatch, void, void> {
  ctx.charge(text.length >> 1, text.length)
  let spent = text.length >> 1
  for (const match of matchesOf(regex, text)) {
    spent = visit(spent, units)
    ctx.charge(0, heap)
    yield match
  }
}

const matchAll = (ctx: Context, pattern: Value, input: Value, flags: Value): Result => {
  if (ctx.argc < 2) return null
  const regex = compiled(ctx, pattern, textArg(ctx, 2, flags))
  if (!isRegex(regex)) return regex
  const text = display(input)
  const found: Value[] = []
  for (const match of paidMatches(ctx, regex, text, UNITS_A_MATCH, 32)) {
    found.push(match.groups[0]!)
  }
  return found.length === 0 ? null : new HarnList(found)
}

const replaceAll = (ctx: Context, pattern: Value, replacement: Value, input: Value): Result => {
  if (ctx.argc < 3) return null
  const regex = compiled(ctx, pattern, '')
  if (!isRegex(regex)) return regex
  const text = display(input)
  const template = display(replacement)
  let out = ''
  let from = 0
  for (const match of paidMatches(ctx, regex, text, UNITS_A_MATCH, 16)) {
    const piece = expandReplacement(template, regex, match)
    ctx.charge(0, piece.length)
    out += text.slice(from, match.start) + piece
    if (out.length > MAX_TEXT) return ctx.runtime('regex_replace: the result is too long')
    from = match.end
  }
  return out + text.slice(from)
}

const captures = (ctx: Context, pattern: Value, input: Value): Result => {
  if (ctx.argc < 2) return new HarnList([])
  const regex = compiled(ctx, pattern, '')
  if (!isRegex(regex)) return regex
  const text = display(input)
  const found: Value[] = []
  for (const match of paidMatches(ctx, regex, text, UNITS_A_RECORD, 256)) {
    const fields = new Map<string, Value>()
    fields.set('match', match.groups[0]!)
    fields.set('groups', new HarnList(match.groups.slice(1)))
    for (const [at, name] of regex.groupNames.entries()) {
      const value = match.groups[at + 1]
      if (name !== null && value != null) fields.set(name, value)
    }
    found.push(HarnDict.named(fields))
  }
  return new HarnList(found)
}

const splitBy = (ctx: Context, input: Value, pattern: Value, flags: Value): Result => {
  if (ctx.argc < 2) return null
  const regex = compiled(ctx, pattern, textArg(ctx, 2, flags))
  if (!isRegex(regex)) return regex
  const text = display(input)
  const pieces: Value[] = []
  let from = 0
  for (const match of paidMatches(ctx, regex, text, UNITS_A_MATCH, 32)) {
    pieces.push(text.slice(from, match.start))
    from = match.end
  }
  pieces.push(text.slice(from))
  return new HarnList(pieces)
}

export const regexFamily: BuiltinFamily = {
  name: 'regex',
  builtins: [
    builtin(
      'regex_match(pattern: string, text: string, flags?: string) -> list | nil',
      { doc: 'All full matches of `pattern` in `text`, nil without one. Flags are letters of `imsx`.', borrows: true },
      matchAll,
    ),
    builtin(
      'regex_replace(pattern: string, replacement: string, text: string) -> string',
      { doc: 'Replaces every match; `$1`, `$name`, `${name}` insert groups, `$$` a dollar sign.', borrows: true },
      replaceAll,
    ),
    builtin(
      'regex_replace_all(pattern: string, replacement: string, text: string) -> string',
      { doc: 'Replaces every match, as `regex_replace` does.', borrows: true },
      replaceAll,
    ),
    builtin(
      'regex_captures(pattern: string, text: string) -> list',
      { doc: 'One dict for each match: `match`, `groups` and the named groups.', borrows: true },
      captures,
    ),
    builtin(
      'regex_split(text: string, pattern: string, flags?: string) -> list',
      { doc: 'The pieces of `text` between the matches of `pattern`.', borrows: true },
      splitBy,
    ),
  ],
}
