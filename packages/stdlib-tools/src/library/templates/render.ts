// Renders template trees. Rendering is a pure function of the template, the bindings and the files that are loaded so far.
// When an include needs a file that is not loaded, rendering stops with MissingFile; the native frame around it fetches the
// file and starts over. So nothing of a half-done rendering has to survive a suspension.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  HarnRange,
  HarnSet,
  Keyed,
  addInts,
  compare,
  equals,
  isInt,
  typeName,
  visit,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { FilterError, applyFilter, toTemplateText, isTemplateTrue } from './filters.js'
import { TemplateError, parseTemplate } from './syntax.js'
import type { Node, Place } from './syntax.js'
import type { Expression } from './expression.js'

/** A file that is needed before rendering can continue; `request` is as written for lookup, `path` absolute. */
export class MissingFile extends Error {
  readonly request: string
  constructor(request: string) {
    super(request)
    this.request = request
  }
}

/** A template error with its place and, for files, the path in front. */
export class RenderError extends Error {}

/** What became of a file that an include asked for: its absolute path and text, or the reason why there is none. */
export type Loaded = { readonly path: string; readonly text: string } | { readonly path: string; readonly problem: string }

export interface Loader {
  /** Resolves an include path against the including file's directory; throws MissingFile when it is not known yet. */
  readonly load: (from: Origin, request: string) => Loaded | { readonly error: string }
}

/** Where a template's text comes from. `path` is null for text given by the script. */
export interface Origin {
  readonly path: string | null
  /** Directory that includes are relative to. */
  readonly directory: string
}

/** A piece of output and the directive that made it; offsets count bytes of UTF-8. */
export interface Span {
  readonly kind: 'text' | 'expr' | 'legacy_bare' | 'if' | 'for_iteration' | 'include'
  readonly line: number
  readonly column: number
  readonly start: number
  readonly end: number
  readonly bound: string | null
}

const MAX_INCLUDES = 32
/** Blocks inside blocks over all files; the renderer recurses once a block. */
const MAX_DEPTH = 1000
/** Characters of output, and directives that are carried out: a rendering must end by itself. */
const MAX_OUTPUT = 1 << 27
const MAX_WORK = 5_000_000

/** A step of a template costs as much as some steps of a walk over values. */
const VISITS_A_STEP = 4

export interface Rendering {
  readonly text: string
  readonly spans: readonly Span[]
}

export function renderTemplate(
  text: string,
  origin: Origin,
  bindings: ReadonlyMap<string, Value>,
  loader: Loader,
  withSpans: boolean,
): Rendering {
  const renderer = new Renderer(loader, withSpans)
  renderer.renderFile(text, origin, new Map(bindings), [])
  return { text: renderer.joinWritten(), spans: renderer.spans }
}

type Scope = Map<string, Value>

class Renderer {
  /** What was written, piece by piece: a tree of texts would make every reader walk it. */
  private readonly written: string[] = []
  private size = 0
  readonly spans: Span[] = []
  private readonly loader: Loader
  private readonly withSpans: boolean
  private depth = 0
  /** Included files that are being rendered, each inside the one before. */
  private includes = 0
  private work = 0
  private visited = 0
  /** Bytes of UTF-8 that were written; counted for spans only. */
  private bytes = 0

  constructor(loader: Loader, withSpans: boolean) {
    this.loader = loader
    this.withSpans = withSpans
  }

  /** Renders one file; `parents` are the files that led here, outermost first. */
  renderFile(text: string, origin: Origin, scope: Scope, parents: readonly string[]): void {
    try {
      this.renderNodes(parseTemplate(text), scope, origin, parents)
    } catch (error) {
      const place = error instanceof TemplateError ? error.place : null
      if (place === null) throw error
      throw new RenderError(
        `${origin.path === null ? '' : `${origin.path} `}at ${place.line}:${place.column}: ${(error as Error).message}`,
      )
    }
  }

  joinWritten(): string {
    return this.written.join('')
  }

  private noteSpan(kind: Span['kind'], place: Place | null, start: number, bound: string | null = null): void {
    if (!this.withSpans) return
    const shown = bound === null ? null : shortenText(bound)
    this.spans.push({ kind, line: place?.line ?? 0, column: place?.column ?? 0, start, end: this.bytes, bound: shown })
  }

  private write(text: string): void {
    this.written.push(text)
    this.size += text.length
    if (this.size > MAX_OUTPUT) throw new RenderError('template output is too large')
    if (this.withSpans) this.bytes += countBytes(text)
  }

  private countStep(): void {
    if (++this.work > MAX_WORK) throw new RenderError('template does too much work')
    this.visited = visit(this.visited, VISITS_A_STEP)
  }

  private renderNodes(nodes: readonly Node[], scope: Scope, origin: Origin, parents: readonly string[]): void {
    if (++this.depth > MAX_DEPTH) throw new RenderError('template is nested too deeply')
    for (let at = 0; at < nodes.length; at++) this.renderNode(nodes[at]!, scope, origin, parents)
    this.depth--
  }

  private renderNode(node: Node, scope: Scope, origin: Origin, parents: readonly string[]): void {
    this.countStep()
    const start = this.bytes
    switch (node.kind) {
      case 'text':
        this.write(node.text)
        if (this.withSpans) this.noteSpan('text', null, start)
        return
      case 'name': {
        const value = scope.get(node.name)
        const text = value === undefined ? `{{${node.name}}}` : toTemplateText(value)
        this.write(text)
        if (this.withSpans) this.noteSpan('legacy_bare', null, start, value === undefined ? null : text)
        return
      }
      case 'value': {
        const text = toTemplateText(this.evaluateAt(node.expression, scope, node.place))
        this.write(text)
        if (this.withSpans) this.noteSpan('expr', node.place, start, text)
        return
      }
      case 'if':
        return this.renderBranches(node, scope, origin, parents, start)
      case 'for':
        return this.renderLoop(node, scope, origin, parents)
      case 'include':
        return this.include(node, scope, origin, parents, start)
    }
  }

  /** Errors get the place of their directive. */
  private evaluateAt(expression: Expression, scope: Scope, place: Place): Value {
    try {
      return evaluate(expression, scope)
    } catch (error) {
      if (error instanceof FilterError) throw new TemplateError(error.message, place)
      throw error
    }
  }

  private renderBranches(
    node: Extract<Node, { kind: 'if' }>,
    scope: Scope,
    origin: Origin,
    parents: readonly string[],
    start: number,
  ): void {
    const taken = node.branches.find((branch) => isTemplateTrue(this.evaluateAt(branch.condition, scope, branch.place)))
    this.renderNodes(taken === undefined ? node.otherwise : taken.body, scope, origin, parents)
    this.noteSpan('if', node.place, start)
  }

  private renderLoop(node: Extract<Node, { kind: 'for' }>, scope: Scope, origin: Origin, parents: readonly string[]): void {
    const source = this.evaluateAt(node.source, scope, node.place)
    const items = makeTurns(source)
    if (items === null)
      throw new TemplateError(`cannot iterate over ${typeName(source)} — expected list, dict, set, or range`, node.place)
    const { length } = items
    if (length === 0) return this.renderNodes(node.otherwise, scope, origin, parents)
    const inner = new Map(scope)
    const wantsLoop = node.body.some(mayReadLoop)
    for (let index = 0; index < length; index++) {
      this.countStep()
      const start = this.bytes
      if (node.key !== null) inner.set(node.key, items.keyAt(index))
      inner.set(node.item, items.itemAt(index))
      if (wantsLoop)
        inner.set(
          'loop',
          HarnDict.of({ index: index + 1, index0: index, first: index === 0, last: index === length - 1, length }),
        )
      this.renderNodes(node.body, inner, origin, parents)
      this.noteSpan('for_iteration', node.place, start)
    }
  }

  private include(
    node: Extract<Node, { kind: 'include' }>,
    scope: Scope,
    origin: Origin,
    parents: readonly string[],
    start: number,
  ): void {
    const path = this.evaluateAt(node.path, scope, node.place)
    if (typeof path !== 'string') throw new TemplateError(`include path must be a string (got ${typeName(path)})`, node.place)
    const inner = new Map(scope)
    for (const [name, value] of node.bindings) inner.set(name, this.evaluateAt(value, scope, node.place))
    const loaded = this.loader.load(origin, path)
    if ('error' in loaded) throw new TemplateError(loaded.error, node.place)
    const chain = origin.path === null ? parents : [...parents, origin.path]
    const cycle = chain.indexOf(loaded.path)
    if (cycle >= 0)
      throw new TemplateError(`circular include detected: ${[...chain.slice(cycle), loaded.path].join(' → ')}`, node.place)
    if (this.includes >= MAX_INCLUDES) throw new TemplateError(`include depth exceeded (${MAX_INCLUDES} levels)`, node.place)
    if ('problem' in loaded)
      throw new TemplateError(`failed to read included template ${loaded.path}: ${loaded.problem}`, node.place)
    const directory = loaded.path.slice(0, loaded.path.lastIndexOf('/')) || '/'
    this.includes++
    this.renderFile(loaded.text, { path: loaded.path, directory }, inner, chain)
    this.includes--
    this.noteSpan('include', node.place, start)
  }
}

/** Whether a node can see the facts of the loop it is in; included files can. Most bodies do not, and making them costs most of a turn. */
function mayReadLoop(node: Node): boolean {
  switch (node.kind) {
    case 'text':
      return false
    case 'name':
      return node.name === 'loop'
    case 'value':
      return readsLoop(node.expression)
    case 'if':
      return (
        node.otherwise.some(mayReadLoop) ||
        node.branches.some(({ condition, body }) => readsLoop(condition) || body.some(mayReadLoop))
      )
    case 'for':
      return readsLoop(node.source) || node.otherwise.some(mayReadLoop) || node.body.some(mayReadLoop)
    case 'include':
      return true
  }
}

function readsLoop(expression: Expression): boolean {
  switch (expression.kind) {
    case 'literal':
      return false
    case 'path':
      return expression.root === 'loop'
    case 'not':
      return readsLoop(expression.operand)
    case 'filter':
      return readsLoop(expression.input) || expression.args.some(readsLoop)
    default:
      return readsLoop(expression.left) || readsLoop(expression.right)
  }
}

/** At most 80 characters, the last an ellipsis when there were more. */
function shortenText(text: string): string {
  const chars = Array.from(text.slice(0, 400))
  return chars.length > 80 ? `${chars.slice(0, 79).join('')}…` : text
}

interface Turns {
  readonly length: number
  readonly keyAt: (index: number) => Value
  readonly itemAt: (index: number) => Value
}

/** The turns of a loop over a value; null for what cannot be looped over. */
function makeTurns(value: Value): Turns | null {
  if (value === null) return { length: 0, keyAt: () => null, itemAt: () => null }
  if (value instanceof HarnDict) {
    const keys = value.keys()
    return { length: keys.length, keyAt: (index) => keys[index]!, itemAt: (index) => value.get(keys[index]!)! }
  }
  if (value instanceof HarnList || value instanceof HarnSet) {
    const items = value instanceof HarnList ? value.view() : value.values()
    return { length: items.length, keyAt: (index) => index, itemAt: (index) => items[index]! }
  }
  if (!(value instanceof HarnRange)) return null
  return { length: value.length, keyAt: (index) => index, itemAt: (index) => addInts(value.start, index) }
}

/** Bytes of UTF-8; each half of a surrogate pair stands for two of the four. */
function countBytes(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}

// --------------------------------------------------------------------------------------------------------- expressions

function evaluate(expression: Expression, scope: Scope): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'path':
      return follow(scope.get(expression.root) ?? null, expression.steps)
    case 'and': {
      const left = evaluate(expression.left, scope)
      return isTemplateTrue(left) ? evaluate(expression.right, scope) : left
    }
    case 'or': {
      const left = evaluate(expression.left, scope)
      return isTemplateTrue(left) ? left : evaluate(expression.right, scope)
    }
    case 'not':
      return !isTemplateTrue(evaluate(expression.operand, scope))
    case 'compare':
      return compareValues(expression.operator, evaluate(expression.left, scope), evaluate(expression.right, scope))
    case 'filter':
      return applyFilter(
        expression.name,
        evaluate(expression.input, scope),
        expression.args.length === 0 ? NO_ARGS : expression.args.map((arg) => evaluate(arg, scope)),
      )
  }
}

const NO_ARGS: readonly Value[] = []

function follow(root: Value, steps: readonly (string | number)[]): Value {
  let value = root
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at]!
    if (typeof step === 'string') {
      value = value instanceof Keyed ? (value.get(step) ?? null) : null
    } else {
      const items = value instanceof HarnList ? value.view() : typeof value === 'string' ? Array.from(value) : []
      value = items.at(step) ?? null
    }
  }
  return value
}

function isNumber(value: Value): boolean {
  return isInt(value) || value instanceof HarnFloat
}

function compareValues(operator: string, left: Value, right: Value): boolean {
  if (operator === '==') return equals(left, right)
  if (operator === '!=') return !equals(left, right)
  const ordered = (isNumber(left) && isNumber(right)) || (typeof left === 'string' && typeof right === 'string')
  if (!ordered) return false
  const order = compare(left, right)
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    default:
      return order >= 0
  }
}
