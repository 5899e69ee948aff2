// Incremental parsing of the versions of one file, as an editor makes them: unchanged items keep their trees. The text is tokenized
// again; items before and after the edit are reused, and only the part between is parsed.
//
// Why this gives the tree of the whole text: parsing from an item on depends only on the tokens from there on. So after the edit the
// old items follow as soon as an item begins at the same token as one of them. Before the edit an item may have depended on what
// follows it, so the last complete item there is parsed again.
//
// Invariant: trees of an earlier version move with the text of the new one, so their positions in the old version are no longer available.

import type { Program } from './ast.js'
import { lexFile, type TokenStream } from './lexer.js'
import { moveTree } from './nodes.js'
import {
  findLayout,
  inheritSuspicion,
  isExtended,
  keepLayout,
  type Layout,
  parse,
  PARSE_LIMITS,
  parsePart,
  type ParseResult,
} from './parse.js'
import type { SourceFile } from './source.js'
import { TOKEN } from './tokens.js'

interface Version {
  readonly source: SourceFile
  readonly program: Program
  readonly layout: Layout
}

export class Reparser {
  /** The newest version that parsed. */
  private last: Version | null = null

  /** As `parse`. */
  parse(source: SourceFile): ParseResult {
    const program = this.last === null ? null : reparse(this.last, source)
    const result = program === null ? parse(source) : { program, diagnostics: [] }
    const layout = result.program === null ? null : findLayout(result.program)
    if (result.program !== null) this.last = layout === null ? null : { source, program: result.program, layout }
    return result
  }
}

/** Null when the text has errors, or must be parsed as a whole. */
function reparse({ source: before, program, layout: { tokens: old, firsts } }: Version, source: SourceFile): Program | null {
  if (source.text.length > PARSE_LIMITS.characters) return null
  const tokens = lexFile(source)
  if (tokens.error !== null || tokens.tooDeep !== null || tokens.units.length > PARSE_LIMITS.tokens) return null
  if (isExtended(source, tokens)) return null
  const head = countEqualHead(before.text, source.text)
  const tail = countEqualTail(before.text, source.text, head)
  const by = source.text.length - before.text.length
  const added = tokens.units.length - old.units.length
  const kept = countKept(firsts, old, tokens, head)
  const behind = findBehind(firsts, old, tokens, { from: before.text.length - tail, by })
  const follows = new Map<number, number>()
  for (let at = Math.max(behind, kept); at < firsts.length; at++) follows.set(firsts[at]! + added, at)
  const from = kept === 0 ? 0 : firsts[kept]!
  let next = firsts.length
  const isEnd = (token: number): boolean => {
    const found = follows.get(from + token)
    if (found !== undefined) next = found
    return found !== undefined
  }
  const built = parsePart(source, dropTokens(tokens, from), isEnd)
  if (built === null) return null
  const rest = program.items.slice(next)
  if (by !== 0) moveTree(rest, by)
  inheritSuspicion(before, source)
  const items = [...program.items.slice(0, kept), ...built.tree.items, ...rest]
  const made: Program = { kind: 'Program', span: { start: 0, end: source.text.length }, items }
  const middle = built.firsts.map((token) => token + from)
  const moved = firsts.slice(next).map((token) => token + added)
  keepLayout(made, { tokens, firsts: [...firsts.slice(0, kept), ...middle, ...moved] })
  return made
}

function countEqualHead(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let count = 0
  while (count < most && one.charCodeAt(count) === other.charCodeAt(count)) count++
  return count
}

function countEqualTail(one: string, other: string, head: number): number {
  const most = Math.min(one.length, other.length) - head
  let count = 0
  while (count < most && one.charCodeAt(one.length - 1 - count) === other.charCodeAt(other.length - 1 - count)) count++
  return count
}

/** Leading items that keep their trees: those before the last one that ends in the equal `head` of both texts. */
function countKept(firsts: readonly number[], old: TokenStream, tokens: TokenStream, head: number): number {
  let begun = 0
  while (begun < firsts.length && old.starts[firsts[begun]!]! < head) begun++
  for (let kept = Math.max(0, begun - 2); kept > 0; kept--) if (areEqual(old, tokens, firsts[kept + 1]!)) return kept
  return 0
}

/** Whether both begin with the same tokens; a bracket may be a different token because of later text. */
function areEqual(old: TokenStream, tokens: TokenStream, count: number): boolean {
  if (old.units.slice(0, count) !== tokens.units.slice(0, count)) return false
  for (let at = 0; at < count; at++) if (old.starts[at] !== tokens.starts[at] || old.ends[at] !== tokens.ends[at]) return false
  return true
}

/** The first item after the edit from which on all tokens are unchanged; the number of items when there is none. */
function findBehind(
  firsts: readonly number[],
  old: TokenStream,
  tokens: TokenStream,
  { from, by }: { readonly from: number; readonly by: number },
): number {
  let first = firsts.length
  // Including the comments before it, which may document it.
  while (first > 0 && endBefore(old, firsts[first - 1]!) >= from) first--
  if (first === firsts.length) return first
  const count = old.units.length - firsts[first]!
  const shift = tokens.units.length - old.units.length
  if (count > tokens.units.length || old.units.slice(-count) !== tokens.units.slice(-count)) return firsts.length
  for (let at = old.units.length - count; at < old.units.length; at++) {
    if (old.starts[at]! + by !== tokens.starts[at + shift] || old.ends[at]! + by !== tokens.ends[at + shift]) return firsts.length
  }
  return first
}

/** End of the last token before `token` other than a line break; -1 when there is none. */
function endBefore({ units, ends }: TokenStream, token: number): number {
  let at = token - 1
  while (at >= 0 && units.charCodeAt(at) === TOKEN['\n']) at--
  return at < 0 ? -1 : ends[at]!
}

/** The stream from a token on. */
function dropTokens(tokens: TokenStream, from: number): TokenStream {
  if (from === 0) return tokens
  const docs = new Map<number, string>()
  for (const [token, doc] of tokens.docs) if (token >= from) docs.set(token - from, doc)
  return {
    ...tokens,
    units: tokens.units.slice(from),
    starts: tokens.starts.subarray(from),
    ends: tokens.ends.subarray(from),
    payloads: tokens.payloads.slice(from),
    docs,
  }
}
