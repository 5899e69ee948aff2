// Regular expression builtins (reference 03a §12). Argument order differs between them; that is the language's.

import { builtin, family } from './builtin.js'
import type { Context, Control, Result } from './builtin.js'
import { MAX_TEXT, textArg } from './core-values.js'
import { compileRegex, expandReplacement, parseReplacement, searchRegex } from './regex-engine.js'
import { RegexSyntaxError } from './regex-syntax.js'
import type { BuiltinFamily } from './registry.js'
import { Regex } from '../regex/search.js'
import type { Search } from '../regex/search.js'
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
    const key = letters === '' ? text : `${letters}/${text}`
    if (!known.has(key)) {
      ctx.charge(COMPILE_UNITS + UNITS_AN_INSTRUCTION * regex.size)
      if (known.size >= KNOWN_PATTERNS) known.delete(known.keys().next().value!)
      known.set(key, true)
    }
    return regex
  } catch (error) {
    if (error instanceof RegexSyntaxError) return ctx.throw(`Invalid regex: ${error.message}`)
    throw error
  }
}

/**
 * A search that is paid for: two characters are a unit, and what is made of a match takes `units` and `heap` more. Together they are
 * one operation.
 */
class PaidSearch {
  readonly search: Search
  private readonly ctx: Context
  private readonly units: number
  private readonly heap: number
  private spent: number

  constructor(ctx: Context, search: Search, units: number, heap: number) {
    this.search = search
    this.ctx = ctx
    this.units = units
    this.heap = heap
    this.spent = search.text.length >> 1
    ctx.charge(this.spent)
  }

  next(): boolean {
    if (!this.search.next()) return false
    this.spent = visit(this.spent, this.units)
    this.ctx.charge(0, this.heap)
    return true
  }
}

const matchAll = (ctx: Context, pattern: Value, input: Value, flags: Value): Result => {
  if (ctx.argc < 2) return null
  const regex = compiled(ctx, pattern, textArg(ctx, 2, flags))
  if (!(regex instanceof Regex)) return regex
  const text = display(input)
  const found: Value[] = []
  const search = searchRegex(regex, text, false)
  const paid = new PaidSearch(ctx, search, UNITS_A_MATCH, 32)
  while (paid.next()) found.push(text.slice(search.start, search.end))
  return found.length === 0 ? null : new HarnList(found)
}

const replaceAll = (ctx: Context, pattern: Value, replacement: Value, input: Value): Result => {
  if (ctx.argc < 3) return null
  const regex = compiled(ctx, pattern, '')
  if (!(regex instanceof Regex)) return regex
  const text = display(input)
  const template = parseReplacement(display(replacement), regex)
  const search = searchRegex(
    regex,
    text,
    template.some((part) => typeof part === 'number'),
  )
  const paid = new PaidSearch(ctx, search, UNITS_A_MATCH, 16)
  let out = ''
  let from = 0
  while (paid.next()) {
    const piece = expandReplacement(template, search)
    ctx.charge(0, piece.length)
    out += text.slice(from, search.start) + piece
    if (out.length > MAX_TEXT) return ctx.runtime('regex_replace: the result is too long')
    from = search.end
  }
  return out + text.slice(from)
}

const captures = (ctx: Context, pattern: Value, input: Value): Result => {
  if (ctx.argc < 2) return new HarnList([])
  const regex = compiled(ctx, pattern, '')
  if (!(regex instanceof Regex)) return regex
  const text = display(input)
  const found: Value[] = []
  const search = searchRegex(regex, text, true)
  const paid = new PaidSearch(ctx, search, UNITS_A_RECORD, 256)
  const { groupNames } = regex
  while (paid.next()) {
    const fields = new Map<string, Value>()
    const groups: Value[] = []
    for (let number = 1; number <= groupNames.length; number++) groups.push(search.group(number))
    fields.set('match', text.slice(search.start, search.end))
    fields.set('groups', new HarnList(groups))
    for (let at = 0; at < groups.length; at++) {
      const name = groupNames[at]!
      const value = groups[at]!
      if (name !== null && value !== null) fields.set(name, value)
    }
    found.push(HarnDict.named(fields))
  }
  return new HarnList(found)
}

const splitBy = (ctx: Context, input: Value, pattern: Value, flags: Value): Result => {
  if (ctx.argc < 2) return null
  const regex = compiled(ctx, pattern, textArg(ctx, 2, flags))
  if (!(regex instanceof Regex)) return regex
  const text = display(input)
  const pieces: Value[] = []
  let from = 0
  const search = searchRegex(regex, text, false)
  const paid = new PaidSearch(ctx, search, UNITS_A_MATCH, 32)
  while (paid.next()) {
    pieces.push(text.slice(from, search.start))
    from = search.end
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
