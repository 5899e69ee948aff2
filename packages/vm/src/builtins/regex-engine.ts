// Compiled patterns and the search loop. Matching is linear in the text (re2js), so that no pattern of a script can hang a
// run. Compiled patterns are remembered across machines: they are a pure function of pattern and flags.

import { RE2JS, RE2JSException } from 're2js'
import { RegexSyntaxError, translateRegex } from './regex-syntax.js'
import { needsUnicodeWords, searchWords } from './regex-words.js'

export interface Regex {
  readonly engine: RE2JS
  readonly groupNames: readonly (string | null)[]
  readonly hasWordBoundary: boolean
}

/** One match; `groups[0]` is the whole of it. Positions are in UTF-16 units. */
export interface RegexMatch {
  readonly start: number
  readonly end: number
  readonly groups: readonly (string | null)[]
}

/** Compiled patterns kept; the oldest goes first. */
const CACHE_SIZE = 128
const cache = new Map<string, Regex>()

/** Throws RegexSyntaxError. `flags` must be letters of `imsx`. */
export function compileRegex(pattern: string, flags = ''): Regex {
  const key = `${flags}/${pattern}`
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
  const regex = { engine, groupNames: translated.groupNames, hasWordBoundary: translated.hasWordBoundary }
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!)
  cache.set(key, regex)
  return regex
}

/** Whether the pattern occurs anywhere in the text. */
export function testRegex(regex: Regex, text: string): boolean {
  return searcher(regex, text)(0) !== null
}

/** A search from a position on: the engine's, or the one that knows all words where that could differ. */
function searcher(regex: Regex, text: string): (from: number) => RegexMatch | null {
  if (regex.hasWordBoundary && needsUnicodeWords(text)) {
    return (from) => {
      const at = searchWords(regex.engine, text, from)
      if (at === null) return null
      const groups = Array.from({ length: regex.groupNames.length + 1 }, (_unused, group) => {
        const start = at[2 * group]!
        return start < 0 ? null : text.slice(start, at[2 * group + 1])
      })
      return { start: at[0]!, end: at[1]!, groups }
    }
  }
  const matcher = regex.engine.matcher(text)
  return (from) => {
    if (!matcher.find(from)) return null
    const groups = Array.from({ length: regex.groupNames.length + 1 }, (_unused, group) => matcher.group(group))
    return { start: matcher.start(), end: matcher.end(), groups }
  }
}

/** Matches from left to right, not overlapping; an empty match right behind the one before it does not count. */
export function* matchesOf(regex: Regex, text: string): Generator<RegexMatch, void, void> {
  const search = searcher(regex, text)
  let from = 0
  let lastEnd = -1
  while (from <= text.length) {
    const match = search(from)
    if (match === null) return
    const { start, end } = match
    if (start !== end || end !== lastEnd) yield match
    lastEnd = end
    from = start === end ? end + charSize(text, end) : end
  }
}

function charSize(text: string, at: number): number {
  const code = text.codePointAt(at)
  return code !== undefined && code > 0xffff ? 2 : 1
}

/** Fills `$1`, `$name`, `${name}` and `$$` of a replacement; the name after a bare `$` is as long as it can be. */
export function expandReplacement(replacement: string, regex: Regex, match: RegexMatch): string {
  return replacement.replace(
    /\$(?:\$|([0-9A-Za-z_]+)|\{([^}]*)\})/g,
    (whole: string, bare: string | undefined, braced: string | undefined) => {
      if (whole === '$$') return '$'
      const name = bare ?? braced!
      const index = /^[0-9]+$/.test(name) ? Number(name) : regex.groupNames.indexOf(name) + 1
      return index === 0 && name !== '0' && !/^0+$/.test(name) ? '' : (match.groups[index] ?? '')
    },
  )
}
