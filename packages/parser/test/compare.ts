// Compares the generated parser with Ohm on one source: both accept or both refuse, with the same tree or the same reasons.

import { explain } from '../src/explain.js'
import { listSeparated } from '../src/build-context.js'
import { markGrants, pragmaExtensions } from '../src/grant-syntax.js'
import { type InterpolationSource, lex, MAX_NESTING, type TokenStream } from '../src/lexer.js'
import { type Expected, type ParseNode, type StartRule, TooDeep } from '../src/parse-tree.js'
import { parseTokens } from '../src/parser.generated.js'
import { TreeNode } from '../src/tape.js'
import { matchWithOhm } from './ohm-matcher.js'

export type Verdict = 'accepted' | 'refused' | 'not compared'

/** Throws an Error that shows the first difference. Sources that the lexer refuses, or that nest too deeply, are not compared. */
export function compareParsers(text: string): Verdict {
  const tokens = lex(text)
  const isWhole = tokens.error === null && tokens.tooDeep === null
  if (isWhole && pragmaExtensions(text, tokens).includes('grants')) compareUnits(markGrants(text, tokens).tokens.units, 'program')
  return compareTokens(tokens, 'program')
}

function compareTokens(tokens: TokenStream, start: StartRule): Verdict {
  if (tokens.error !== null || tokens.tooDeep !== null) return 'not compared'
  for (const piece of tokens.payloads.flatMap(interpolations)) {
    compareTokens(lex(piece.source, { base: piece.start, depth: piece.depth, whole: false }), 'interpolation')
  }
  return compareUnits(tokens.units, start)
}

function interpolations(payload: TokenStream['payloads'][number]): readonly InterpolationSource[] {
  if (payload === null || typeof payload === 'string') return []
  return payload.filter((piece): piece is InterpolationSource => typeof piece !== 'string')
}

/** As `compareParsers`, for a token string. */
export function compareUnits(units: string, start: StartRule): Verdict {
  const ours = attempt(units, start)
  if (ours === null) return 'not compared'
  try {
    return compareVerdicts(units, start, ours)
  } catch (error) {
    // Ohm and the explanation recurse; a tree near the nesting limit may overflow the stack.
    if (error instanceof RangeError) return 'not compared'
    throw error
  }
}

function compareVerdicts(units: string, start: StartRule, ours: ReturnType<typeof parseTokens>): Verdict {
  const theirs = matchWithOhm(units, start)
  if (theirs.ok !== ours.root >= 0) throw new Error(`Ohm ${theirs.ok ? 'accepts' : 'refuses'}, the generated parser does not`)
  if (theirs.ok) {
    const difference = firstDifference(theirs.root, new TreeNode(ours.tape, ours.root), '')
    if (difference !== null) throw new Error(difference)
    if (start === 'program') compareItems(units, theirs.root)
    return 'accepted'
  }
  const { failure } = theirs
  for (const restart of [0, ours.restart]) {
    const explained = explain(units, start, restart)
    const got = explained === null ? 'accepted' : `${explained.position}: ${show(explained.expected())}`
    const wanted = `${failure.position}: ${show(failure.expected())}`
    if (got !== wanted) throw new Error(`explained from ${restart}\n  ohm      ${wanted}\n  explain  ${got}`)
  }
  return 'refused'
}

/** The items as they are passed on one by one, each before the next overwrites it. */
function compareItems(units: string, program: ParseNode): void {
  const option = program.child(1)
  const wanted = option.count === 0 ? [] : listSeparated(option.child(0))
  let count = 0
  const take = (tape: Int32Array, item: number): void => {
    const other = wanted[count]
    if (other === undefined) throw new Error(`Ohm has ${wanted.length} items, the generated parser hands over more`)
    const difference = firstDifference(other, new TreeNode(tape, item), `/item ${count}`)
    if (difference !== null) throw new Error(`handed over: ${difference}`)
    count += 1
  }
  const begin = (): void => void (count = 0)
  const { root } = parseTokens(units, 'program', MAX_NESTING, take, begin)
  if (root < 0 || count !== wanted.length) throw new Error(`Ohm has ${wanted.length} items, ${count} are handed over`)
}

function attempt(units: string, start: StartRule): ReturnType<typeof parseTokens> | null {
  try {
    return parseTokens(units, start, MAX_NESTING)
  } catch (error) {
    if (error instanceof TooDeep) return null
    throw error
  }
}

function show(expected: readonly Expected[]): string {
  return expected.map(({ what, optional }) => `${what.kind === 'token' ? what.name : what.text}${optional ? '?' : ''}`).join(' ')
}

function firstDifference(a: ParseNode, b: ParseNode, path: string): string | null {
  const here = `${path}/${a.rule}`
  if (a.start === a.end && a.start === b.start && a.rule !== '_iter') return null // the end of the tokens
  if (a.rule !== b.rule || a.count !== b.count) return `${here}: ${a.rule}(${a.count}), ${b.rule}(${b.count})`
  if (a.rule !== '_iter' && (a.start !== b.start || a.end !== b.end)) return `${here}: ${a.start}-${a.end}, ${b.start}-${b.end}`
  for (let at = 0; at < a.count; at += 1) {
    const difference = firstDifference(a.child(at), b.child(at), `${here}[${at}]`)
    if (difference !== null) return difference
  }
  return null
}
