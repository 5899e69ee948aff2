// Compiled patterns and what is made of their matches. Matching is linear in the text (regex/), so that no pattern of a script can
// hang a run. Compiled patterns are remembered across machines: they are a pure function of pattern and flags.

import { RE2JS, RE2JSException } from 're2js'
import { RegexSyntaxError, translateRegex } from './syntax.js'
import { Regex, Search } from './machines/search.js'

/** Compiled patterns kept in each cache, and how many of them keep the tables of their machines (some MB at most); the oldest go first. */
const CACHE_SIZE = 128
const WARM_SIZE = 16
const plain = new Map<string, Regex>()
/** Those with flags, by these and the pattern. */
const flagged = new Map<string, Regex>()
const warm = new Set<Regex>()
let warmest: Regex | null = null

/** What was asked for last, and is asked for again by a loop. */
let lastPattern = ''
let lastFlags = ''
let last: Regex | null = null

/** Units of compiling a pattern, and more of each instruction. */
export const COMPILE_UNITS = 300
export const UNITS_AN_INSTRUCTION = 16
/** Characters that one search may go through for a unit, as a power of two; what a program costs besides is paid on the way. */
export const SEARCHED_BITS = 3

/** Characters of a pattern. Compiling cannot be interrupted, and its time grows with the square of some patterns. */
const MOST_PATTERN = 1 << 15

/** Throws RegexSyntaxError, also for a pattern of more than MOST_PATTERN characters. `flags` must be letters of `imsx`. */
export function compileRegex(pattern: string, flags = ''): Regex {
  if (last !== null && pattern === lastPattern && flags === lastFlags) return last
  const cache = flags === '' ? plain : flagged
  const key = flags === '' ? pattern : `${flags}/${pattern}`
  let regex = cache.get(key)
  if (regex === undefined) {
    regex = compile(pattern, flags, key)
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!)
    cache.set(key, regex)
  }
  lastPattern = pattern
  lastFlags = flags
  last = regex
  return regex
}

function compile(pattern: string, flags: string, key: string): Regex {
  if (pattern.length > MOST_PATTERN)
    throw new RegexSyntaxError(`the pattern has ${pattern.length} characters, more than ${MOST_PATTERN}`)
  const translated = translateRegex(pattern, flags)
  let engine: RE2JS
  try {
    engine = RE2JS.compile(translated.source)
  } catch (error) {
    if (error instanceof RE2JSException) throw new RegexSyntaxError(`regex parse error:\n    ${pattern}\nerror: ${error.message}`)
    if (error instanceof RangeError) throw new RegexSyntaxError('regex parse error: pattern is nested too deeply')
    throw error
  }
  return new Regex(engine, translated.groupNames, undefined, key)
}

/** Whether the pattern occurs anywhere in the text. */
export function testRegex(regex: Regex, text: string): boolean {
  const search = searchRegex(regex, text, false)
  const found = search.exists()
  search.finish()
  return found
}

/** The matches of a pattern; the caller must finish it after the last one. `groups` says whether groups are needed. */
export function searchRegex(regex: Regex, text: string, groups: boolean): Search {
  if (regex !== warmest) {
    warmest = regex
    warm.delete(regex)
    warm.add(regex)
    if (warm.size > WARM_SIZE) {
      const coldest = warm.values().next().value!
      warm.delete(coldest)
      coldest.forget()
    }
  }
  return Search.begin(regex, text, groups)
}

/** A replacement taken apart: texts, and numbers of groups. */
export type Replacement = readonly (string | number)[]

/** Understands `$1`, `$name`, `${name}` and `$$`; the name after a bare `$` is as long as it can be. Unknown groups are empty. */
export function parseReplacement(replacement: string, regex: Regex): Replacement {
  if (!replacement.includes('$')) return [replacement]
  const parts: (string | number)[] = []
  let text = ''
  let from = 0
  const mark = /\$(?:\$|\{|([0-9A-Za-z_]+))/g
  let close = 0
  for (let match = mark.exec(replacement); match !== null; match = mark.exec(replacement)) {
    const isBraced = match[0] === '${'
    if (isBraced && close >= 0 && close <= match.index) close = replacement.indexOf('}', match.index)
    // A brace that nothing closes is text.
    if (isBraced && close < 0) continue
    text += replacement.slice(from, match.index)
    from = isBraced ? close + 1 : match.index + match[0].length
    mark.lastIndex = from
    const name = isBraced ? replacement.slice(match.index + 2, close) : match[1]
    if (name === undefined) {
      text += '$'
      continue
    }
    const number = /^[0-9]+$/.test(name) ? Number(name) : regex.groupNames.indexOf(name) + 1
    if ((number === 0 && !/^0+$/.test(name)) || number > regex.groupNames.length) continue
    if (text !== '') parts.push(text)
    text = ''
    parts.push(number)
  }
  text += replacement.slice(from)
  if (text !== '') parts.push(text)
  return parts
}

/** What a replacement without groups makes of every match; null for one with groups. */
export function findSameText(replacement: Replacement): string | null {
  if (replacement.length === 0) return ''
  const [only] = replacement
  return replacement.length === 1 && typeof only === 'string' ? only : null
}

/** What a replacement makes of the match that a search stands at. */
export function expandReplacement(replacement: Replacement, search: Search): string {
  let out = ''
  for (const part of replacement) out += typeof part === 'string' ? part : (search.readGroup(part) ?? '')
  return out
}
