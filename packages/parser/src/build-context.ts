// What the AST-building functions share: the tokens of the text at hand, spans made from token indexes, and the list of findings
// that the grammar cannot make. A `${…}` is a text of its own with its own context; offsets count in the file all the same.

import type { Block, Expr, Name, Stmt } from './ast.js'
import type { DiagnosticArgs, DiagnosticCode } from './diagnostics/catalog.js'
import type { ParseNode } from './parse-tree.js'
import type { InterpolationSource, TokenStream } from './lexer.js'
import { NameNode } from './nodes.js'
import type { Span } from './source.js'
import { TOKEN } from './tokens.js'

/** The codes whose message shows the token at which they were found and its place, and needs nothing else. */
type TokenCode = {
  [C in DiagnosticCode]: { readonly got: string; readonly at: string } extends DiagnosticArgs<C> ? C : never
}[DiagnosticCode]

export type Problem =
  | { readonly code: TokenCode; readonly token: number }
  /** An assignment that stands where a statement is over. */
  | { readonly code: 'P014'; readonly token: number; readonly topLevel: boolean }
  | { readonly code: 'P008' | 'P013' | 'P015'; readonly token: number }

/**
 * Operators, branches or accesses in one row. Such a row is no nesting of brackets, but a tree as deep as it is long, and
 * what comes after the parser recurses along trees.
 */
export const MAX_CHAIN = 1000

export interface BuildContext {
  /** Text of the whole file. */
  readonly text: string
  readonly tokens: TokenStream
  readonly problems: Problem[]
  /** Statement lists, for the expressions that hold blocks. */
  readonly block: (node: ParseNode) => Block
  readonly body: (node: ParseNode) => readonly Stmt[]
  /** The expression of a `${…}`; its text when it is none; null when it is not even made of tokens. */
  readonly interpolate: (source: InterpolationSource) => Expr | string | null
}

/** Span of the tokens from `start` to before `end`, without line breaks at either side. */
export function trimSpan(context: BuildContext, start: number, end: number): Span {
  const { starts, ends, units } = context.tokens
  let first = start
  let last = end - 1
  while (first < last && units.charCodeAt(first) === TOKEN['\n']) first += 1
  while (last > first && units.charCodeAt(last) === TOKEN['\n']) last -= 1
  const from = starts[first] ?? context.tokens.end
  return { start: from, end: last < first ? from : (ends[last] ?? context.tokens.end) }
}

export function nodeSpan(context: BuildContext, node: ParseNode): Span {
  return trimSpan(context, node.start, node.end)
}

export function unitAt(context: BuildContext, token: number): number {
  return context.tokens.units.charCodeAt(token)
}

export function textAt(context: BuildContext, token: number): string {
  return context.text.slice(context.tokens.starts[token], context.tokens.ends[token])
}

/** Text of a word; one object for all places of it. */
export function wordAt(context: BuildContext, token: number): string {
  const payload = context.tokens.payloads[token]
  return typeof payload === 'string' ? payload : textAt(context, token)
}

/** The name that is token `token`. */
export function nameAt(context: BuildContext, token: number): Name {
  return new NameNode(trimSpan(context, token, token + 1), wordAt(context, token))
}

/** Value of the text literal that is token `token`. */
export function stringAt(context: BuildContext, token: number): string {
  const payload = context.tokens.payloads[token]
  return typeof payload === 'string' ? payload : ''
}

/** The children of a repetition, or none when it is an option that is absent. */
export function children(iteration: ParseNode): ParseNode[] {
  const result: ParseNode[] = []
  for (let at = 0; at < iteration.count; at += 1) result.push(iteration.child(at))
  return result
}

/** What `build` makes of each child of a repetition, behind `first` if that is given. The list has no room to spare, as one that grew has. */
export function buildEach<T>(iteration: ParseNode, build: (node: ParseNode) => T, first?: T): readonly T[] {
  const offset = first === undefined ? 0 : 1
  const { count } = iteration
  const result = new Array<T>(count + offset)
  if (first !== undefined) result[0] = first
  for (let at = 0; at < count; at += 1) result[at + offset] = build(iteration.child(at))
  return result
}

/** What is in an option: the child made by `build`, or null. */
export function optional<T>(iteration: ParseNode, build: (node: ParseNode) => T): T | null {
  return iteration.count === 0 ? null : build(iteration.child(0))
}

/** Items of a rule of the form `item (sep item)* sep?`. */
export function listSeparated(list: ParseNode): ParseNode[] {
  return [list.child(0), ...children(list.child(2))]
}

/** Reports a repetition that is longer than `MAX_CHAIN`. */
export function checkChain(context: BuildContext, list: ParseNode): void {
  if (list.count > MAX_CHAIN) context.problems.push({ code: 'P013', token: list.child(MAX_CHAIN).start })
}
