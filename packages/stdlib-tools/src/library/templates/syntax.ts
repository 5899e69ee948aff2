// The template language: text → tree. Two layers: this file cuts the text into directives and nests them;
// expressions inside a directive are read by expression.ts.

import { countUnitsDone, work } from '@bridle/vm/families'
import { ExpressionError, readExpression, readInclude } from './expression.js'
import type { Expression } from './expression.js'

/** 1-based place of a directive's `{{`; columns count characters. */
export interface Place {
  readonly line: number
  readonly column: number
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string; readonly place: Place }
  | { readonly kind: 'value'; readonly expression: Expression; readonly place: Place }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: readonly Node[]; readonly place: Place }
  | {
      readonly kind: 'for'
      readonly key: string | null
      readonly item: string
      readonly source: Expression
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
      readonly place: Place
    }
  | {
      readonly kind: 'include'
      readonly path: Expression
      readonly bindings: readonly (readonly [string, Expression])[]
      readonly place: Place
    }

export interface Branch {
  readonly condition: Expression
  readonly body: readonly Node[]
  readonly place: Place
}

/** A template that cannot be read or rendered; the message has no place yet. */
export class TemplateError extends Error {
  readonly place: Place
  constructor(message: string, place: Place) {
    super(message)
    this.place = place
  }
}

type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'directive'; readonly source: string; readonly place: Place }

/** Trees kept; they depend on the text alone. */
const CACHE_SIZE = 64
const cache = new Map<string, { readonly tree: readonly Node[]; readonly units: number }>()

/** Costs the same whether the tree was kept or not: what another run rendered must not change what this one pays. */
export function parseTemplate(text: string): readonly Node[] {
  const known = cache.get(text)
  if (known !== undefined) {
    work(known.units)
    return known.tree
  }
  const before = countUnitsDone()
  const tree = new TreeBuilder(cut(text)).parseWhole()
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!)
  cache.set(text, { tree, units: countUnitsDone() - before })
  return tree
}

// ------------------------------------------------------------------------------------------------------------- cutting

function cut(text: string): Piece[] {
  const pieces: Piece[] = []
  const places = makePlaceReader(text)
  let at = 0
  /** Whether the directive before asked for the white space behind it to go. */
  let trimNext = false
  const addText = (end: number, trimEnd: boolean): void => {
    let piece = text.slice(at, end)
    if (trimNext) piece = piece.replace(/^[ \t]*(?:\r?\n)?/, '')
    if (trimEnd) piece = withoutLastBreak(piece)
    trimNext = false
    if (piece !== '') pieces.push({ kind: 'text', text: piece })
  }
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open < 0) {
      addText(text.length, false)
      return pieces
    }
    const place = places(open)
    const trimBefore = text[open + 2] === '-'
    addText(open, trimBefore)
    const bodyStart = open + (trimBefore ? 3 : 2)
    if (text[bodyStart] === '#') {
      const end = text.indexOf('#}}', bodyStart + 1)
      if (end < 0) throw new TemplateError('unterminated comment', place)
      at = end + 3
      continue
    }
    const end = findDirectiveEnd(text, bodyStart)
    if (end < 0) throw new TemplateError('unterminated directive', place)
    const trimBehind = text[end - 1] === '-' && end > bodyStart
    const source = text.slice(bodyStart, trimBehind ? end - 1 : end).trim()
    at = end + 2
    trimNext = trimBehind
    if (/^raw(?:\s|$)/.test(source)) {
      // What is between the two stays as it is, and so does what is behind: only the `-` of `{{- raw` trims.
      const close = /\{\{-?\s*endraw\s*-?\}\}/g
      close.lastIndex = at
      const match = close.exec(text)
      if (match === null) throw new TemplateError('unterminated `{{ raw }}` block', place)
      trimNext = false
      addText(match.index, false)
      at = match.index + match[0].length
    } else pieces.push({ kind: 'directive', source, place })
  }
}

/** Spaces and tabs at the end go, and one line end before them. By hand: a regex anchored at the end would be quadratic. */
function withoutLastBreak(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  if (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1
  return text.slice(0, end)
}

/** Position of the `}}` that closes a directive; one in quotes does not, nor the first of `}}}` behind an open brace. */
function findDirectiveEnd(text: string, from: number): number {
  let quote = ''
  let braces = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === '\\') at++
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{') braces++
    else if (char === '}') {
      const closes = text[at + 1] === '}' && (braces === 0 || text[at + 2] !== '}')
      if (closes) return at
      if (braces > 0) braces--
    }
  }
  return -1
}

/** Gives line and column of positions that are asked for in rising order; reads the text once. */
function makePlaceReader(text: string): (at: number) => Place {
  let line = 1
  let column = 1
  let scanned = 0
  return (at) => {
    for (; scanned < at; scanned++) {
      const unit = text.charCodeAt(scanned)
      if (unit === 10) {
        line++
        column = 1
      } else if (unit < 0xdc00 || unit > 0xdfff) column++
    }
    return { line, column }
  }
}

// ------------------------------------------------------------------------------------------------------------- nesting

/** Blocks inside blocks; more is refused, because the renderer recurses. */
const MAX_DEPTH = 200

class TreeBuilder {
  private readonly pieces: readonly Piece[]
  private at = 0
  private depth = 0

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }

  parseWhole(): readonly Node[] {
    const { nodes, stop } = this.parseBlock()
    if (stop === null) return nodes
    throw new TemplateError(`unexpected \`{{ ${stop.word} }}\``, stop.place)
  }

  /** Nodes up to the end or to a directive that belongs to the block around. */
  private parseBlock(): { nodes: readonly Node[]; stop: { word: string; source: string; place: Place } | null } {
    const nodes: Node[] = []
    while (this.at < this.pieces.length) {
      const piece = this.pieces[this.at++]!
      if (piece.kind === 'text') {
        nodes.push(piece)
        continue
      }
      const word = /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*/u.exec(piece.source)?.[0] ?? ''
      const behind = piece.source.slice(word.length)
      const rest = behind.trim()
      // Inside a block, what stands behind `end` and `else` is a remark.
      const closes = (word === 'end' || word === 'else') && (rest === '' || (this.depth > 0 && /^\s/.test(behind)))
      if (closes || word === 'elif') return { nodes, stop: { word, source: rest, place: piece.place } }
      nodes.push(this.parseDirective(word, rest, piece.source, piece.place))
    }
    return { nodes, stop: null }
  }

  private parseDirective(word: string, rest: string, source: string, place: Place): Node {
    // `if(x)` is an expression, as every word without white space behind it.
    const alone = rest === '' || /^\s/.test(source.slice(word.length))
    if (alone && word === 'if') return this.parseBranches(rest, place)
    if (alone && word === 'for') return this.parseLoop(rest, place)
    if (alone && word === 'include') return this.include(rest, place)
    if (source === word && word !== '') return { kind: 'name', name: word, place }
    return { kind: 'value', expression: this.parseExpression(source, place), place }
  }

  /** Runs a reader over the source of a directive and turns its errors into errors with a place. */
  private read<T>(source: string, place: Place, read: (source: string) => T): T {
    try {
      return read(source)
    } catch (error) {
      if (error instanceof ExpressionError) throw new TemplateError(error.message, place)
      throw error
    }
  }

  private parseExpression(source: string, place: Place): Expression {
    return this.read(source, place, readExpression)
  }

  private enter(place: Place): void {
    if (++this.depth > MAX_DEPTH) throw new TemplateError('template is nested too deeply', place)
  }

  private parseBranches(condition: string, place: Place): Node {
    this.enter(place)
    const branches: Branch[] = []
    let current = { condition: this.parseExpression(condition, place), place }
    for (;;) {
      const { nodes, stop } = this.parseBlock()
      if (stop === null) throw new TemplateError('`{{ if }}` missing matching `{{ end }}`', place)
      branches.push({ condition: current.condition, body: nodes, place: current.place })
      if (stop.word === 'elif') {
        current = { condition: this.parseExpression(stop.source, stop.place), place: stop.place }
        continue
      }
      const otherwise = stop.word === 'else' ? this.parseClosing(stop.place) : []
      this.depth--
      return { kind: 'if', branches, otherwise, place }
    }
  }

  /** The part behind an `else`, which only `end` may close; `place` is where an error points. */
  private parseClosing(place: Place): readonly Node[] {
    const { nodes, stop } = this.parseBlock()
    if (stop === null) throw new TemplateError('`{{ else }}` missing matching `{{ end }}`', place)
    if (stop.word !== 'end') throw new TemplateError(`unexpected \`{{ ${stop.word} }}\``, stop.place)
    return nodes
  }

  private parseLoop(source: string, place: Place): Node {
    this.enter(place)
    const found = /\sin\s/.exec(source)
    const bound = found === null ? '' : source.slice(0, found.index)
    if (found === null || bound.includes('\n')) throw new TemplateError('expected `in` in for-loop', place)
    const names = bound.split(',').map((name) => name.trim())
    if (names.length > 2 || names.some((name) => !/^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*$/u.test(name)))
      throw new TemplateError(`invalid for-loop variable${names.length > 1 ? 's' : ''}`, place)
    const iterated = this.parseExpression(source.slice(found.index + found[0].length).trim(), place)
    const { nodes, stop } = this.parseBlock()
    if (stop === null) throw new TemplateError('`{{ for }}` missing matching `{{ end }}`', place)
    if (stop.word === 'elif') throw new TemplateError('unexpected `{{ elif }}`', stop.place)
    const otherwise = stop.word === 'else' ? this.parseClosing(place) : []
    this.depth--
    return {
      kind: 'for',
      key: names.length === 2 ? names[0]! : null,
      item: names.at(-1)!,
      source: iterated,
      body: nodes,
      otherwise,
      place,
    }
  }

  private include(source: string, place: Place): Node {
    return { kind: 'include', ...this.read(source, place, readInclude), place }
  }
}
