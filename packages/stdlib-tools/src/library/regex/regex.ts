// Regular expression builtins. Argument order differs between them; that is the language's.

import {
  Control,
  HarnDict,
  HarnList,
  MAX_TEXT,
  makeBlankSlots,
  builtinTaking,
  display,
  family,
  definePieces,
  detachPart,
  makeLiteralShape,
  readTextArg,
} from '@bridle/vm/families'
import type { Budget, BuiltinFamily, Context, Cost, Pieces, Result, Value, Work } from '@bridle/vm/families'
import {
  COMPILE_UNITS,
  SEARCHED_BITS,
  UNITS_AN_INSTRUCTION,
  compileRegex,
  expandReplacement,
  parseReplacement,
  findSameText,
  searchRegex,
} from './engine.js'
import type { Replacement } from './engine.js'
import { RegexSyntaxError } from './syntax.js'
import { DONE, FOUND, PAUSED } from './machines/search.js'
import type { Regex, Search } from './machines/search.js'

/** Patterns that this machine has paid for lately. */
const patternState = family('regex', (): { readonly known: Map<string, boolean> } => ({ known: new Map() }))
const KNOWN_PATTERNS = 32

/** Finding where a match begins and ends and cutting it out, beside looking at its characters. */
const A_MATCH: Cost = { units: 10, heap: 32 }
const A_REPLACEMENT: Cost = { units: 10, heap: 16 }
const A_RECORD: Cost = { units: 30, heap: 256 }

/** The compiled pattern, paid for; or the fault that a bad pattern or flag raises. */
function compilePattern(ctx: Context, pattern: string, letters: string): Regex | Control {
  if (letters !== '') {
    for (const letter of letters) {
      if (!'imsx'.includes(letter)) return ctx.throw(`Invalid regex: unsupported regex flag '${letter}', expected one of i/m/s/x`)
    }
  }
  ctx.charge(pattern.length)
  try {
    const regex = compileRegex(pattern, letters)
    // Compiled patterns are shared by all machines; what a machine pays must not depend on the others.
    const { known } = ctx.state(patternState)
    if (!known.has(regex.key)) {
      ctx.charge(COMPILE_UNITS + UNITS_AN_INSTRUCTION * regex.size)
      if (known.size >= KNOWN_PATTERNS) known.delete(known.keys().next().value!)
      known.set(regex.key, true)
    }
    return regex
  } catch (error) {
    if (error instanceof RegexSyntaxError) return ctx.throw(`Invalid regex: ${error.message}`)
    throw error
  }
}

/** What is made of the matches of a search, one after the other. */
abstract class Gathering implements Work {
  protected readonly search: Search
  protected readonly text: string
  /** Of a match. */
  private readonly units: number
  private readonly heap: number
  /** What a piece overdrew is paid by those behind it. */
  private debt = 0

  constructor(search: Search, { units, heap }: Cost) {
    this.search = search
    this.text = search.text
    this.units = units
    this.heap = heap
  }

  /** Takes the match that the search stands at; a control ends the work. Answers heap units beside. */
  protected abstract take(ctx: Context): number | Control

  protected abstract finish(): Result

  step(ctx: Context, budget: Budget): Result | undefined {
    const { search, debt, units, heap } = this
    if (debt >= budget.left) {
      this.debt = debt - budget.left
      budget.left = 0
      return undefined
    }
    const most = budget.left - debt
    search.spent = 0
    search.allowed = most
    let found: number = PAUSED
    let held = 0
    while (search.spent < most) {
      found = search.advance()
      if (found !== FOUND) break
      search.spent += units
      const more = this.take(ctx)
      if (typeof more !== 'number') return more
      held += heap + more
    }
    const left = most - search.spent
    this.debt = left < 0 ? -left : 0
    budget.left = left < 0 ? 0 : left
    budget.heap += held
    if (found !== DONE) return undefined
    const result = this.finish()
    search.finish()
    return result
  }
}

/** Begins a gathering over a text; `more` is what else the builtin was given. */
type Begin = (regex: Regex, text: string, more: string) => Gathering

function defineGathering(kind: string, begin: Begin): Pieces {
  return definePieces(kind, (args) =>
    begin(compileRegex(args[0] as string, args[1] as string), args[2] as string, args[3] as string),
  )
}

/** Runs a gathering for the arguments of a builtin, or answers with the fault that a bad pattern or flag raises. */
function gather(ctx: Context, pieces: Pieces, pattern: Value, letters: string, input: Value, more: string): Result {
  const source = display(pattern)
  const regex = compilePattern(ctx, source, letters)
  if (regex instanceof Control) return regex
  const text = display(input)
  ctx.charge(text.length >> SEARCHED_BITS)
  return pieces.run(ctx, source, letters, text, more)
}

/** The texts of all matches; nil without one. */
class Matching extends Gathering {
  private found: Value[] | null = null

  constructor(regex: Regex, text: string) {
    super(searchRegex(regex, text, false), A_MATCH)
  }

  protected take(): number {
    const { start, end } = this.search
    const match = detachPart(this.text.slice(start, end), this.text.length)
    if (this.found === null) this.found = [match]
    else this.found.push(match)
    return 0
  }

  protected finish(): Result {
    return this.found === null ? null : new HarnList(this.found)
  }
}

/** The text with every match replaced. */
class Replacing extends Gathering {
  private readonly template: Replacement
  /** What each match is replaced by where that is the same text for all. */
  private readonly same: string | null
  private out = ''
  private from = 0

  constructor(regex: Regex, text: string, replacement: string) {
    const template = parseReplacement(replacement, regex)
    const same = findSameText(template)
    super(searchRegex(regex, text, same === null), A_REPLACEMENT)
    this.template = template
    this.same = same
  }

  protected take(ctx: Context): number | Control {
    const { search, same } = this
    const piece = same ?? expandReplacement(this.template, search)
    this.out += this.text.slice(this.from, search.start) + piece
    if (this.out.length > MAX_TEXT) return ctx.runtime('regex_replace: the result is too long')
    this.from = search.end
    return piece.length
  }

  protected finish(): Result {
    return this.from === 0 ? this.out + this.text : this.out + this.text.slice(this.from)
  }
}

/** A dict for each match. */
class Capturing extends Gathering {
  private readonly found: Value[] = []

  constructor(regex: Regex, text: string) {
    super(searchRegex(regex, text, true), A_RECORD)
  }

  protected take(): number {
    const { search, text } = this
    const { groupNames } = search.regex
    const groups: Value[] = makeBlankSlots(groupNames.length)
    for (let at = 0; at < groups.length; at++) groups[at] = search.readGroup(at + 1)
    const record = makeRecord(detachPart(text.slice(search.start, search.end), text.length), new HarnList(groups))
    for (let at = 0; at < groups.length; at++) {
      const name = groupNames[at]!
      const value = groups[at]!
      if (name !== null && value !== null) record.set(name, value)
    }
    this.found.push(record)
    return 0
  }

  protected finish(): Result {
    return new HarnList(this.found)
  }
}

const RECORD = makeLiteralShape(['match', 'groups'])!

/** One record of many: with no more room than it takes. */
function makeRecord(match: Value, groups: Value): HarnDict {
  const slots = makeBlankSlots(2)
  slots[0] = match
  slots[1] = groups
  return new HarnDict(null, RECORD, slots)
}

/** What lies between the matches. */
class Splitting extends Gathering {
  private readonly pieces: Value[] = []
  private from = 0

  constructor(regex: Regex, text: string) {
    super(searchRegex(regex, text, false), A_MATCH)
  }

  protected take(): number {
    this.pieces.push(detachPart(this.text.slice(this.from, this.search.start), this.text.length))
    this.from = this.search.end
    return 0
  }

  protected finish(): Result {
    this.pieces.push(detachPart(this.text.slice(this.from), this.text.length))
    return new HarnList(this.pieces)
  }
}

const matching = defineGathering('regex.match', (regex, text) => new Matching(regex, text))
const replacing = defineGathering('regex.replace', (regex, text, replacement) => new Replacing(regex, text, replacement))
const capturing = defineGathering('regex.captures', (regex, text) => new Capturing(regex, text))
const splitting = defineGathering('regex.split', (regex, text) => new Splitting(regex, text))

const matchAll = (ctx: Context, pattern: Value, input: Value, flags: Value): Result =>
  gather(ctx, matching, pattern, readTextArg(ctx, 2, flags), input, '')

const replaceAll = (ctx: Context, pattern: Value, replacement: Value, input: Value): Result =>
  gather(ctx, replacing, pattern, '', input, display(replacement))

const captureGroups = (ctx: Context, pattern: Value, input: Value): Result => gather(ctx, capturing, pattern, '', input, '')

const splitBy = (ctx: Context, input: Value, pattern: Value, flags: Value): Result =>
  gather(ctx, splitting, pattern, readTextArg(ctx, 2, flags), input, '')

const NIL_OF_FEWER = { fewerGive: () => null } as const

export const regexFamily: BuiltinFamily = {
  name: 'regex',
  frames: [matching.frame, replacing.frame, capturing.frame, splitting.frame],
  builtins: [
    builtinTaking(
      'regex_match(pattern: string, text: string, flags?: string) -> list | nil as string | nil',
      { doc: 'All full matches of `pattern` in `text`, nil without one. Flags are letters of `imsx`.', borrows: true },
      NIL_OF_FEWER,
      matchAll,
    ),
    builtinTaking(
      'regex_replace(pattern: string, replacement: string, text: string) -> string',
      { doc: 'Replaces every match; `$1`, `$name`, `${name}` insert groups, `$$` a dollar sign.', borrows: true },
      NIL_OF_FEWER,
      replaceAll,
    ),
    builtinTaking(
      'regex_replace_all(pattern: string, replacement: string, text: string) -> string',
      { doc: 'Replaces every match, as `regex_replace` does.', borrows: true },
      NIL_OF_FEWER,
      replaceAll,
    ),
    builtinTaking(
      'regex_captures(pattern: string, text: string) -> list',
      { doc: 'One dict for each match: `match`, `groups` and the named groups.', borrows: true },
      { fewerGive: () => new HarnList([]) },
      captureGroups,
    ),
    builtinTaking(
      'regex_split(text: string, pattern: string, flags?: string) -> list',
      { doc: 'The pieces of `text` between the matches of `pattern`.', borrows: true },
      NIL_OF_FEWER,
      splitBy,
    ),
  ],
}
