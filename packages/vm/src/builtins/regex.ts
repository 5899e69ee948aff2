// Regular expression builtins (reference 03a §12). Argument order differs between them; that is the language's.

import { builtin, family } from './builtin.js'
import type { Context, Control, Result } from './builtin.js'
import { MAX_TEXT, textArg } from './core-values.js'
import { compileRegex, expandReplacement, parseReplacement, searchRegex } from './regex-engine.js'
import { RegexSyntaxError } from './regex-syntax.js'
import { inPieces } from './pieces.js'
import type { Budget, Pieces, Work } from './pieces.js'
import type { BuiltinFamily } from './registry.js'
import { DONE, FOUND, PAUSED } from '../regex/search.js'
import type { Regex, Search } from '../regex/search.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import type { Value } from '../values/value.js'

/** Patterns that this machine has paid for lately. */
const patternState = family('regex', (): { readonly known: Map<string, boolean> } => ({ known: new Map() }))
const KNOWN_PATTERNS = 32
const COMPILE_UNITS = 300
const UNITS_AN_INSTRUCTION = 16

/** Finding where a match begins and ends and cutting it out, beside looking at its characters. */
const UNITS_A_MATCH = 10
const UNITS_A_RECORD = 30

/** Characters that one search may go through for a unit, as a power of two; what a program costs besides is paid on the way. */
const SEARCHED_BITS = 3

/** Pays for compiling a pattern; answers the fault that a bad pattern or flag raises, null for none. */
function payPattern(ctx: Context, pattern: string, letters: string): Control | null {
  for (const letter of letters) {
    if (!'imsx'.includes(letter)) return ctx.throw(`Invalid regex: unsupported regex flag '${letter}', expected one of i/m/s/x`)
  }
  ctx.charge(pattern.length)
  try {
    const regex = compileRegex(pattern, letters)
    // Compiled patterns are shared by all machines; what a machine pays must not depend on the others.
    const { known } = ctx.state(patternState)
    const key = letters === '' ? pattern : `${letters}/${pattern}`
    if (!known.has(key)) {
      ctx.charge(COMPILE_UNITS + UNITS_AN_INSTRUCTION * regex.size)
      if (known.size >= KNOWN_PATTERNS) known.delete(known.keys().next().value!)
      known.set(key, true)
    }
    return null
  } catch (error) {
    if (error instanceof RegexSyntaxError) return ctx.throw(`Invalid regex: ${error.message}`)
    throw error
  }
}

/** What is made of the matches of a search, one after the other. */
interface Gathering {
  readonly search: Search
  /** Units and heap for each match. */
  readonly units: number
  readonly heap: number
  /** Takes the match that the search stands at; a control ends the work. Answers heap units beside. */
  take(ctx: Context): number | Control
  finish(): Result
}

/** Does the gathering in pieces. What a piece overdraws is paid by those behind it. */
class Gather implements Work {
  private readonly gathering: Gathering
  private debt = 0

  constructor(gathering: Gathering) {
    this.gathering = gathering
  }

  step(ctx: Context, budget: Budget): Result | undefined {
    const { search, units, heap } = this.gathering
    if (this.debt >= budget.left) {
      this.debt -= budget.left
      budget.left = 0
      return undefined
    }
    const most = budget.left - this.debt
    search.spent = 0
    search.allowed = most
    let found: number = PAUSED
    while (search.spent < most) {
      found = search.advance()
      if (found !== FOUND) break
      search.spent += units
      const more = this.gathering.take(ctx)
      if (typeof more !== 'number') return more
      budget.heap += heap + more
    }
    const left = most - search.spent
    this.debt = Math.max(0, -left)
    budget.left = Math.max(0, left)
    return found === DONE ? this.gathering.finish() : undefined
  }
}

/** Begins a gathering over a text; `more` is what else the builtin was given. */
type Begin = (regex: Regex, text: string, more: string) => Gathering

function gathering(kind: string, begin: Begin): Pieces {
  return inPieces(
    kind,
    ([pattern, letters, text, more]) =>
      new Gather(begin(compileRegex(pattern as string, letters as string), text as string, more as string)),
  )
}

/** Runs a gathering for the arguments of a builtin, or answers with the fault that a bad pattern or flag raises. */
function gather(ctx: Context, pieces: Pieces, given: { pattern: Value; letters: string; input: Value; more?: string }): Result {
  const pattern = display(given.pattern)
  const fault = payPattern(ctx, pattern, given.letters)
  if (fault !== null) return fault
  const text = display(given.input)
  ctx.charge(text.length >> SEARCHED_BITS)
  return pieces.run(ctx, pattern, given.letters, text, given.more ?? '')
}

const matching = gathering('regex.match', (regex, text) => {
  const search = searchRegex(regex, text, false)
  const found: Value[] = []
  return {
    search,
    units: UNITS_A_MATCH,
    heap: 32,
    take: () => {
      found.push(text.slice(search.start, search.end))
      return 0
    },
    finish: () => (found.length === 0 ? null : new HarnList(found)),
  }
})

const replacing = gathering('regex.replace', (regex, text, replacement) => {
  const template = parseReplacement(replacement, regex)
  const search = searchRegex(
    regex,
    text,
    template.some((part) => typeof part === 'number'),
  )
  let out = ''
  let from = 0
  return {
    search,
    units: UNITS_A_MATCH,
    heap: 16,
    take: (ctx) => {
      const piece = expandReplacement(template, search)
      out += text.slice(from, search.start) + piece
      if (out.length > MAX_TEXT) return ctx.runtime('regex_replace: the result is too long')
      from = search.end
      return piece.length
    },
    finish: () => out + text.slice(from),
  }
})

const capturing = gathering('regex.captures', (regex, text) => {
  const search = searchRegex(regex, text, true)
  const { groupNames } = regex
  const found: Value[] = []
  return {
    search,
    units: UNITS_A_RECORD,
    heap: 256,
    take: () => {
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
      return 0
    },
    finish: () => new HarnList(found),
  }
})

const splitting = gathering('regex.split', (regex, text) => {
  const search = searchRegex(regex, text, false)
  const pieces: Value[] = []
  let from = 0
  return {
    search,
    units: UNITS_A_MATCH,
    heap: 32,
    take: () => {
      pieces.push(text.slice(from, search.start))
      from = search.end
      return 0
    },
    finish: () => {
      pieces.push(text.slice(from))
      return new HarnList(pieces)
    },
  }
})

const matchAll = (ctx: Context, pattern: Value, input: Value, flags: Value): Result =>
  ctx.argc < 2 ? null : gather(ctx, matching, { pattern, letters: textArg(ctx, 2, flags), input })

const replaceAll = (ctx: Context, pattern: Value, replacement: Value, input: Value): Result =>
  ctx.argc < 3 ? null : gather(ctx, replacing, { pattern, letters: '', input, more: display(replacement) })

const captures = (ctx: Context, pattern: Value, input: Value): Result =>
  ctx.argc < 2 ? new HarnList([]) : gather(ctx, capturing, { pattern, letters: '', input })

const splitBy = (ctx: Context, input: Value, pattern: Value, flags: Value): Result =>
  ctx.argc < 2 ? null : gather(ctx, splitting, { pattern, letters: textArg(ctx, 2, flags), input })

export const regexFamily: BuiltinFamily = {
  name: 'regex',
  frames: [matching.frame, replacing.frame, capturing.frame, splitting.frame],
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
