// State shared by the functions that build the tree: the tokens of the source, spans made from token indexes, and diagnostics that
// the grammar cannot make. A `${…}` is a source with its own context; its offsets still count in the file.

import type { Block, Expr, Name, Stmt } from './ast.js'
import type { DiagnosticArgs, DiagnosticCode } from './diagnostics/catalog.js'
import type { ParseNode } from './parse-tree.js'
import type { InterpolationSource, TokenStream } from './lexer.js'
import { NameNode } from './nodes.js'
import type { Span } from './source.js'
import { TOKEN } from './tokens.js'

/** Codes whose message needs only the token and its position. */
type TokenCode = {
  [C in DiagnosticCode]: { readonly got: string; readonly at: string } extends DiagnosticArgs<C> ? C : never
}[DiagnosticCode]

export type Problem =
  | { readonly code: TokenCode; readonly token: number }
  /** An assignment after the end of a statement. */
  | { readonly code: 'P014'; readonly token: number; readonly topLevel: boolean }
  | { readonly code: 'P008' | 'P013' | 'P015'; readonly token: number }

/**
 * Operators, branches or accesses in one chain. A chain has no nested brackets, but its tree is as deep as the chain is long, and
 * the phases after the parser recurse along trees.
 */
export const MAX_CHAIN = 1000

export interface BuildContext {
  /** Source of the whole file. */
  readonly text: string
  readonly tokens: TokenStream
  readonly problems: Problem[]
  /** Statement lists, for the expressions that hold blocks. */
  readonly block: (node: ParseNode) => Block
  readonly body: (node: ParseNode) => readonly Stmt[]
  /** The expression of a `${…}`; its source when it is not an expression; null when it cannot be tokenized. */
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

/** Spelling of a word; equal words share one string. */
export function wordAt(context: BuildContext, token: number): string {
  const payload = context.tokens.payloads[token]
  return typeof payload === 'string' ? payload : textAt(context, token)
}

/** The name that is token `token`. */
export function nameAt(context: BuildContext, token: number): Name {
  return new NameNode(trimSpan(context, token, token + 1), wordAt(context, token))
}

/** Value of the string literal that is token `token`. */
export function stringAt(context: BuildContext, token: number): string {
  const payload = context.tokens.payloads[token]
  return typeof payload === 'string' ? payload : ''
}

/** The children of a repetition; none for an absent option. */
export function children(iteration: ParseNode): ParseNode[] {
  const result: ParseNode[] = []
  for (let at = 0; at < iteration.count; at += 1) result.push(iteration.child(at))
  return result
}

/** Builds each child of a repetition, after `first` if given. The list is allocated at its final length: one that grew keeps spare memory. */
export function buildEach<T>(iteration: ParseNode, build: (node: ParseNode) => T, first?: T): readonly T[] {
  const offset = first === undefined ? 0 : 1
  const { count } = iteration
  const result = new Array<T>(count + offset)
  if (first !== undefined) result[0] = first
  for (let at = 0; at < count; at += 1) result[at + offset] = build(iteration.child(at))
  return result
}

/** Builds the child of an option; null when it is absent. */
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
