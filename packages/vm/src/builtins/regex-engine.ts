// Compiled patterns and what is made of their matches. Matching is linear in the text (regex/), so that no pattern of a script can
// hang a run. Compiled patterns are remembered across machines: they are a pure function of pattern and flags.

import { RE2JS, RE2JSException } from 're2js'
import { RegexSyntaxError, translateRegex } from './regex-syntax.js'
import { Regex, Search } from '../regex/search.js'

/** Compiled patterns kept in each cache, and how many of them keep the tables of their machines (some MB at most); the oldest go first. */
const CACHE_SIZE = 128
const WARM_SIZE = 16
const plain = new Map<string, Regex>()
/** Those with flags, by these and the pattern. */
const flagged = new Map<string, Regex>()
const warm = new Set<Regex>()
let warmest: Regex | null = null

/** Throws RegexSyntaxError. `flags` must be letters of `imsx`. */
export function compileRegex(pattern: string, flags = ''): Regex {
  const cache = flags === '' ? plain : flagged
  const key = flags === '' ? pattern : `${flags}/${pattern}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const translated = translateRegex(pattern, flags)
  let engine: RE2JS
  try {
    engine = RE2JS.compile(translated.source)
  } catch (error) {
    if (error instanceof RE2JSException) throw new RegexSyntaxError(`regex parse error:\n    ${pattern}\nerror: ${error.message}`)
    if (error instanceof RangeError) throw new RegexSyntaxError('regex parse error: pattern is nested too deeply')
    throw error
  }
  const regex = new Regex(engine, translated.groupNames)
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!)
  cache.set(key, regex)
  return regex
}

/** Whether the pattern occurs anywhere in the text. */
export function testRegex(regex: Regex, text: string): boolean {
  return searchRegex(regex, text, false).exists()
}

/** The matches of a pattern; `groups` says whether its groups are asked for. */
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
  return new Search(regex, text, groups)
}

/** A replacement taken apart: texts, and numbers of groups. */
export type Replacement = readonly (string | number)[]

/** Understands `$1`, `$name`, `${name}` and `$$`; the name after a bare `$` is as long as it can be. Unknown groups are empty. */
export function parseReplacement(replacement: string, regex: Regex): Replacement {
  if (!replacement.includes('$')) return [replacement]
  const parts: (string | number)[] = []
  let text = ''
  let from = 0
  for (const match of replacement.matchAll(/\$(?:\$|([0-9A-Za-z_]+)|\{([^}]*)\})/g)) {
    text += replacement.slice(from, match.index)
    from = match.index + match[0].length
    const name = match[1] ?? match[2]
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

/** What a replacement makes of the match that a search stands at. */
export function expandReplacement(replacement: Replacement, search: Search): string {
  let out = ''
  for (const part of replacement) out += typeof part === 'string' ? part : (search.group(part) ?? '')
  return out
}
