// The ways in which a script reaches a tool of the host, each with the expression that holds the arguments:
//
//   import { price } from "host/shop"; price({…})          {…} |> price
//   use tool shop.price as Price; Price(article: "x")
//   host_tool_call("shop.price", {…})
//   tool_call("shop.price", {…}), tool_try(…), tool_stream(…), tool_batch([{tool: …, params: …}])     of std/tools
//
// Names that are known at run time only are not looked at.

import type { DictEntry, Expr, ExprOf, Program, Severity, Span } from '@bridle/parser'
import type { CheckContext } from '../context.js'
import type { FnSignature } from '../declarations.js'
import { type ImportedInterface, listImported } from '../module-interface.js'
import type { Scope } from '../scope.js'
import { closest } from '../suggest.js'
import { DICT, type Known } from '../type.js'
import { nodesWithin } from '../walk.js'
import { checkToolArguments, exampleCall } from './arguments.js'
import { showType, type ToolType, type ToolTypes } from './declaration.js'

/** How a function of `std/tools` calls the tool that its first argument names. */
const BY_NAME: ReadonlyMap<string, 'value' | 'result' | 'other'> = new Map([
  ['tool_call', 'value'],
  ['tool_try', 'result'],
  ['tool_stream', 'other'],
])

const BATCH = 'tool_batch'
const HOST_CALL = 'host_tool_call'

/** What a file says about tools beside its calls. */
export class ToolNames {
  readonly types: ToolTypes
  /** Names of `std/tools` in this file. */
  private readonly byName = new Set<string>()
  private readonly aliases: ReadonlyMap<string, string>
  private readonly program: Program
  private own: ReadonlySet<string> | null = null
  private constants: ReadonlyMap<string, Expr> | null = null

  constructor(types: ToolTypes, aliases: ReadonlyMap<string, string>, program: Program) {
    this.types = types
    this.aliases = aliases
    this.program = program
  }

  /** Registers what one import brings: the functions of a host module have types, those of `std/tools` call by name. */
  addImport(decl: ImportDecl, source: ImportedInterface, root: Scope): void {
    if (decl.path === 'std/tools') {
      for (const name of listImported(decl, () => source)) if (BY_NAME.has(name) || name === BATCH) this.byName.add(name)
    }
    for (const name of listImported(decl, () => source)) {
      const signature = source.functions.get(name)
      if (signature === undefined) continue
      if (decl.path.startsWith('host/')) {
        const tool = this.types.ofModule(decl.path.slice(5), name)
        root.declareFunction(name, tool === null ? signature : toolSignature(tool))
      } else if (signature.tool !== undefined) root.declareFunction(name, signature)
    }
  }

  isByName(name: string): boolean {
    return this.byName.has(name)
  }

  /** The value of a `let` of the top level, whose type the checker does not remember. */
  constant(name: string): Expr | null {
    this.constants ??= new Map(
      this.program.items.flatMap((item) =>
        item.kind === 'Let' && !item.mutable && item.binding.kind === 'NameBinding' ? [[item.binding.name.text, item.value]] : [],
      ),
    )
    return this.constants.get(name) ?? null
  }

  /** The tool that `use tool … as NAME` declares. */
  aliased(name: string): ToolType | null {
    const tool = this.aliases.get(name)
    return tool === undefined ? null : this.types.find(tool)
  }

  /** Whether the script defines a tool of that name itself, which goes before the host's. */
  isOwn(name: string): boolean {
    this.own ??= listOwnTools(this.program)
    return this.own.has(name)
  }
}

type ImportDecl = Extract<Program['items'][number], { kind: 'ImportDecl' }>

function listOwnTools(program: Program): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of nodesWithin(program, () => true)) {
    if (isToolDecl(node)) names.add(node.name.text)
    else if (isDefinition(node)) {
      const name = node.args[1]?.value
      if (name?.kind === 'String') names.add(name.value)
    }
  }
  return names
}

function isToolDecl(node: { readonly kind: string }): node is Extract<Program['items'][number], { kind: 'ToolDecl' }> {
  return node.kind === 'ToolDecl'
}

function isDefinition(node: { readonly kind: string }): node is ExprOf<'Call'> {
  return node.kind === 'Call' && (node as ExprOf<'Call'>).callee.text.startsWith('tool_define')
}

export function toolSignature(tool: ToolType): FnSignature {
  return {
    params: [{ name: 'args', type: tool.args, optional: !tool.isRequired, rest: false }],
    required: tool.isRequired ? 1 : 0,
    hasRest: false,
    returns: tool.result,
    typeParams: [],
    bounds: [],
    tool,
  }
}

/** Result of a call that reaches a tool of the host; undefined when the call is none. */
export function toolCallResult(call: ExprOf<'Call'>, scope: Scope): Known | undefined {
  const { tools } = scope
  const name = call.callee.text
  if (tools === null) return undefined
  if (name === HOST_CALL) return isBuiltinHere(name, scope) ? (namedTool(call, tools)?.result ?? null) : undefined
  if (tools.isByName(name) && scope.functionNamed(name) === undefined) {
    const kind = BY_NAME.get(name)
    const tool = kind === undefined || kind === 'other' || hasRegistry(call) ? null : namedTool(call, tools)
    if (tool === null || tool.result === null || tools.isOwn(tool.name)) return null
    return kind === 'value' ? tool.result : { kind: 'applied', name: 'Result', args: [tool.result, DICT] }
  }
  return tools.aliased(name)?.result ?? undefined
}

/** Whether the value of an expression is the result of a tool of the host. */
export function callsTool(expr: Expr, scope: Scope): boolean {
  if (scope.tools === null || expr.kind !== 'Call') return false
  const own = scope.variable(expr.callee.text) === undefined ? scope.functionNamed(expr.callee.text) : undefined
  return own?.tool !== undefined || toolCallResult(expr, scope) !== undefined
}

function isBuiltinHere(name: string, scope: Scope): boolean {
  return scope.functionNamed(name) === undefined && scope.variable(name) === undefined
}

function namedTool({ args: [first] }: ExprOf<'Call'>, { types }: ToolNames): ToolType | null {
  return first?.spread === false && first.value.kind === 'String' ? types.find(first.value.value) : null
}

/** Options may bind another registry, whose names are its own. */
function hasRegistry({ args }: ExprOf<'Call'>): boolean {
  const options = args[2]?.value
  if (options === undefined || options.kind === 'Nil') return false
  if (options.kind !== 'Dict') return true
  return options.entries.some((entry) => entry.kind !== 'named' || entry.key.text === 'registry')
}

/** Checks a call that may reach a tool by its name. */
export function checkToolCall(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const { tools } = scope
  if (tools === null) return
  const name = call.callee.text
  const [first, second] = call.args
  if (name === HOST_CALL) {
    if (isBuiltinHere(name, scope) && first?.spread === false && first.value.kind === 'String')
      checkNamed({ name: first.value.value, span: first.value.span, arg: second, call }, scope, context)
  } else if (tools.isByName(name) && scope.functionNamed(name) === undefined) {
    if (name === BATCH) checkBatch(call, scope, context)
    else if (first?.spread === false && first.value.kind === 'String' && !hasRegistry(call) && !tools.isOwn(first.value.value))
      checkNamed({ name: first.value.value, span: null, arg: second, call }, scope, context)
  } else {
    const tool = tools.aliased(name)
    if (tool !== null) checkAlias(tool, call, scope, context)
  }
}

/** A name is looked up at the call, where a registry of the run may have another tool of that name. */
function severityByName({ isComplete }: ToolTypes): Severity {
  return isComplete ? 'error' : 'warning'
}

interface NamedCall {
  readonly name: string
  /** Where the name stands, when one that is not known is a mistake. */
  readonly span: Span | null
  readonly arg: ExprOf<'Call'>['args'][number] | undefined
  readonly call: ExprOf<'Call'>
}

function checkNamed({ name, span, arg, call }: NamedCall, scope: Scope, context: CheckContext): void {
  const { types } = scope.tools!
  const tool = types.find(name)
  if (tool === null) {
    if (span !== null && types.isComplete) reportUnknown(name, span, types, context)
    return
  }
  const severity = severityByName(types)
  if (arg === undefined) checkWithout(tool, call.span, context, severity)
  else if (!arg.spread && arg.value.kind !== 'Nil') checkToolArguments(tool, arg.value, scope, context, severity)
}

function reportUnknown(name: string, span: Span, types: ToolTypes, context: CheckContext): void {
  const { suggestions } = context
  const suggestion = suggestions.isSpent ? null : closest(name, types.names, suggestions)
  const fix =
    suggestion === null ? undefined : { title: `write "${suggestion}"`, edits: [{ span, text: JSON.stringify(suggestion) }] }
  context.report('A001', span, { name, suggestion }, fix)
}

/** A call of a function of `host/…`. */
export function checkToolFunction(tool: ToolType, call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const [first, second] = call.args
  if (first === undefined) checkWithout(tool, call.span, context)
  else if (first.spread) return
  else if (second !== undefined && !second.spread)
    context.report('A007', second.span, { tool: tool.name, example: exampleCall(tool), actual: `${call.args.length} arguments` })
  else checkToolArguments(tool, first.value, scope, context)
}

/** `value |> price`. */
export function checkToolStage(value: Expr, callee: Expr, scope: Scope, context: CheckContext): void {
  if (scope.tools === null || callee.kind !== 'Identifier' || scope.variable(callee.name) !== undefined) return
  const tool = scope.functionNamed(callee.name)?.tool
  if (tool !== undefined) checkToolArguments(tool, value, scope, context)
}

function checkWithout(tool: ToolType, span: Span, context: CheckContext, severity: Severity = 'error'): void {
  if (!tool.isRequired || tool.args.kind !== 'shape') return
  for (const { name, type, optional } of tool.args.fields)
    if (!optional) context.report('A003', span, { tool: tool.name, key: name, type: showType(type) }, undefined, severity)
}

/** `Alias(name: value)` passes that dict; a single other argument is the first parameter. */
function checkAlias(tool: ToolType, call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const [first] = call.args
  if (first === undefined) checkWithout(tool, call.span, context)
  else if (first.value.kind === 'Dict' && !first.spread) checkToolArguments(tool, first.value, scope, context)
}

function checkBatch({ args: [first, options] }: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const tools = scope.tools!
  if (first?.value.kind !== 'List' || (options !== undefined && options.value.kind !== 'Dict')) return
  if (
    options?.value.kind === 'Dict' &&
    options.value.entries.some((entry) => entry.kind !== 'named' || entry.key.text === 'registry')
  )
    return
  for (const { spread, value } of first.value.items) {
    if (spread || value.kind !== 'Dict') continue
    const name = findEntry(value.entries, 'tool')
    const params = findEntry(value.entries, 'params') ?? findEntry(value.entries, 'args')
    if (name?.kind !== 'String' || tools.isOwn(name.value)) continue
    const tool = tools.types.find(name.value)
    if (tool === null) continue
    if (params !== undefined) checkToolArguments(tool, params, scope, context, severityByName(tools.types))
    else if (value.entries.every((entry) => entry.kind === 'named'))
      checkWithout(tool, value.span, context, severityByName(tools.types))
  }
}

function findEntry(entries: readonly DictEntry[], key: string): Expr | undefined {
  return entries.find((entry) => entry.kind === 'named' && entry.key.text === key)?.value
}
