// Checks `@invariant(...)` of a handler on all paths through its body: writes only to the declared paths, a budget that
// only decreases, no side effect before approval.

import { report } from '@bridle/parser'
import type {
  Argument,
  Attribute,
  AttributeValue,
  Declaration,
  Diagnostic,
  Expr,
  ExprOf,
  Program,
  SourceFile,
  Span,
  Stmt,
  RowArgs,
} from '@bridle/parser'
import { compileWildcards } from '../grants/wildcards.js'
import { bareSpan } from '../lint/context.js'
import { INVARIANT_CATALOG, type InvariantCode } from './catalog.js'
import { FlowGraph, type FlowNode, readPath, readText, toolName } from './flow-graph.js'

export interface Violation {
  readonly handler: string
  /** Canonical name; null when the attribute itself is wrong. */
  readonly invariant: string | null
  readonly diagnostic: Diagnostic
  /** A path from the start of the handler to the position; empty when none exists. */
  readonly steps: readonly { readonly label: string; readonly span: Span }[]
}

type Handler = Extract<Declaration, { kind: 'FnDecl' | 'ToolDecl' | 'PipelineDecl' }>

const NAMES: Readonly<Record<string, string>> = {
  'fs.writes': 'fs.writes',
  fs_writes: 'fs.writes',
  writes: 'fs.writes',
  'budget.remaining': 'budget.remaining',
  budget_remaining: 'budget.remaining',
  budget: 'budget.remaining',
  'approval.reachability': 'approval.reachability',
  approval_reachability: 'approval.reachability',
  approval: 'approval.reachability',
}

/** The name by which an invariant is known; null for none. */
export function canonicalInvariant(name: string): string | null {
  return Object.hasOwn(NAMES, name) ? NAMES[name]! : null // own key
}

export function checkInvariants(program: Program, file: SourceFile): readonly Violation[] {
  return listHandlers(program).flatMap((handler) => {
    let graph: FlowGraph | null = null
    return handler.attributes
      .filter((attribute) => attribute.name.text === 'invariant' && !isPredicate(handler, attribute))
      .flatMap((attribute) => {
        graph ??= new FlowGraph(bareSpan(handler, { file }), handler.body.body)
        return checkOne(handler, attribute, graph, file)
      })
  })
}

/** A bare marker attribute of a predicate declares no invariant. */
function isPredicate(handler: Handler, attribute: Attribute): boolean {
  return attribute.args.length === 0 && handler.attributes.some(({ name }) => PREDICATE_MARKS.has(name.text))
}

const PREDICATE_MARKS: ReadonlySet<string> = new Set(['deterministic', 'semantic', 'archivist', 'retroactive'])

/** Top-level declarations that can have invariants, by name. */
export function listHandlers(program: Program): readonly Handler[] {
  return program.items.filter((item) => item.kind === 'FnDecl' || item.kind === 'ToolDecl' || item.kind === 'PipelineDecl')
}

/** Canonical names of what a handler declares. */
export function listInvariants(handler: Handler): readonly string[] {
  return handler.attributes.flatMap((attribute) => {
    if (attribute.name.text !== 'invariant') return []
    const name = readArguments(attribute)?.name ?? null
    const canonical = name === null ? null : canonicalInvariant(name)
    return canonical === null ? [] : [canonical]
  })
}

interface InvariantArguments {
  readonly name: string | null
  readonly positional: readonly string[]
  readonly named: ReadonlyMap<string, string>
}

/** null when an argument is a list. */
function readArguments(attribute: Attribute): InvariantArguments | null {
  const positional: string[] = []
  const named = new Map<string, string>()
  for (const { name, value } of attribute.args) {
    const text = formatAttributeValue(value)
    if (text === null) return null
    if (name === null) positional.push(text)
    else named.set(name.text, text)
  }
  const explicit = named.get('name')
  return explicit === undefined
    ? { name: positional[0] ?? null, positional: positional.slice(1), named }
    : { name: explicit, positional, named }
}

function formatAttributeValue(value: AttributeValue): string | null {
  if (value === null) return 'nil'
  if (typeof value !== 'object') return String(value)
  return 'float' in value ? String(value.float) : null
}

function checkOne(handler: Handler, attribute: Attribute, graph: FlowGraph, file: SourceFile): readonly Violation[] {
  const violation = <C extends InvariantCode>(
    code: C,
    span: Span,
    args: RowArgs<(typeof INVARIANT_CATALOG)[C]>,
    steps: readonly FlowNode[] | null = null,
  ): Violation => {
    const related = [{ span: attribute.span, message: 'promised here' }]
    const diagnostic = report(INVARIANT_CATALOG, code, span, args, { related })
    return { handler: handler.name.text, invariant: INVARIANT_CATALOG[code].invariant, diagnostic, steps: steps ?? [] }
  }
  const args = readArguments(attribute)
  if (args === null) {
    const start = file.text.indexOf('[', attribute.span.start)
    return [violation('I032', { start, end: file.text.indexOf(']', start) + 1 }, {})]
  }
  if (args.name === null) return [violation('I030', attribute.span, {})]
  const nodes = [...graph.nodes.entries()]
  switch (canonicalInvariant(args.name)) {
    case 'fs.writes': {
      const named = args.named.get('path_glob') ?? args.named.get('glob') ?? args.named.get('allow')
      const globs = [...args.positional, ...(named === undefined ? [] : [named])]
      if (globs.length === 0) return [violation('I003', attribute.span, {})]
      const patterns = globs.map(globPattern)
      return nodes.flatMap(([at, node]) => {
        const write = node.call === null ? null : findWrite(node.call.call)
        if (write === null) return []
        if (write.path === null) return [violation('I002', node.span, { call: node.call!.name, globs }, graph.wayTo(at))]
        const { path } = write
        return patterns.some((fits) => fits(path)) ? [] : [violation('I001', node.span, { path, globs }, graph.wayTo(at))]
      })
    }
    case 'budget.remaining': {
      const target = args.named.get('target') ?? args.positional[0] ?? 'budget.remaining'
      return nodes.flatMap(([at, { assigned, span }]) =>
        assigned === null || assigned.target !== target || neverGrows(assigned.stmt, target)
          ? []
          : [violation('I010', span, { target }, graph.wayTo(at))],
      )
    }
    case 'approval.reachability':
      return nodes.flatMap(([at, node]) => {
        if (node.call === null || node.isApproved || !hasSideEffect(node.call.call, node.call.name)) return []
        const way = graph.wayTo(at, (step) => step.approves)
        return way === null ? [] : [violation('I020', node.span, { call: node.call.name }, way)]
      })
    default:
      return [violation('I031', attribute.span, { name: args.name })]
  }
}

// ---- writes --------------------------------------------------------------------------------------------------------

/** Builtins that write, and the index of the file name argument. */
const WRITES: Readonly<Record<string, number | undefined>> = {
  write_file: 0,
  append_file: 0,
  delete_file: 0,
  mkdir: 0,
  apply_edit: 0,
  copy_file: 1,
}

const WRITING_TOOL = /write|edit|delete|move|rename|patch/

/** Whether a call writes, and to which path; null for a computed path. */
function findWrite(call: ExprOf<'Call'>): { readonly path: string | null } | null {
  const tool = toolName(call)
  if (tool !== null) {
    if (!WRITING_TOOL.test(tool)) return null
    const args = call.args[call.callee.text === 'mcp_call' ? 2 : 1]
    return { path: args === undefined ? null : pathField(args.value) }
  }
  const name = call.callee.text
  const index = Object.hasOwn(WRITES, name) ? WRITES[name] : undefined
  if (index === undefined) return null
  const arg = call.args[index]
  return { path: arg === undefined ? null : pathArgument(arg) }
}

/** A variable is represented by its name: `write_file(out, …)` is allowed by the glob `out`. */
function pathArgument(arg: Argument): string | null {
  return readText(arg) ?? (arg.value.kind === 'Identifier' ? arg.value.name : null)
}

const PATH_FIELDS = ['path', 'dst', 'destination', 'target']

function pathField(expr: Expr): string | null {
  if (expr.kind !== 'Dict') return null
  for (const name of PATH_FIELDS) {
    const entry = expr.entries.find((one) => one.kind === 'named' && one.key.text === name)
    if (entry !== undefined) return pathArgument({ spread: false, value: entry.value, span: entry.span })
  }
  return null
}

/** `*` matches within a path component, `**` anything. */
const globPattern = (glob: string): ((path: string) => boolean) =>
  compileWildcards(glob, { separator: '/', one: true, deep: 'text', most: 1_000_000 })

// ---- budgets -------------------------------------------------------------------------------------------------------

function neverGrows(stmt: Stmt, target: string): boolean {
  if (stmt.kind === 'Assign' && stmt.operator !== null) return stmt.operator === '-'
  if (stmt.kind !== 'Assign' && stmt.kind !== 'Let') return false
  const { value } = stmt
  if (value.kind === 'Call') return value.callee.text === 'llm_budget_remaining'
  if (value.kind === 'Binary') return value.operator === '-' && readPath(value.left) === target
  return readPath(value) === target
}

// ---- side effects --------------------------------------------------------------------------------------------------

const SIDE_EFFECTS: ReadonlySet<string> = new Set(
  (
    'exec exec_at shell shell_at egress_policy http_post http_put http_patch http_delete http_request http_session ' +
    'http_session_request http_session_close transport_mock_clear'
  ).split(' '),
)

const ACTING_TOOL = /exec|shell|run|push_pr|create_pr|deploy/

function hasSideEffect(call: ExprOf<'Call'>, name: string): boolean {
  if (toolName(call) !== null) return ACTING_TOOL.test(name) || WRITING_TOOL.test(name)
  return SIDE_EFFECTS.has(name) || Object.hasOwn(WRITES, name) || /^(?:sse|websocket)_/.test(name)
}
