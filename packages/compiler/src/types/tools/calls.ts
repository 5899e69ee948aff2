// The ways in which a script reaches a tool of the host, each with the expression that holds the arguments:
//
//   import { price } from "host/shop"; price({…})          {…} |> price
//   use tool shop.price as Price; Price(article: "x")
//   host_tool_call("shop.price", {…})
//   let f = price; f({…})      [{…}].map(price)
//   mcp_call(client, "price", {…})
//   tool_call("shop.price", {…}), tool_try(…), tool_stream(…), tool_batch([{tool: …, params: …}])     of std/tools
//
// Names that are only known at run time are not checked.

import type { DictEntry, Expr, ExprOf, Severity, Span } from '@bridle/parser'
import type { CheckContext } from '../context.js'
import type { Scope } from '../scope.js'
import { STANDARD_TOOL_BUILTINS } from '../../grants/standard.js'
import { suggestNear } from '../strict/suggest.js'
import { closest } from '../suggest.js'
import { checkToolArguments, exampleCall } from './arguments.js'
import { showType, type ToolType, type ToolTypes } from './declaration.js'
import { checkGrantCall } from './grants.js'
import { BATCH, hasRegistry, HOST_CALL, isBuiltinHere, MCP_CALL, TOOL_USE, WITH_GRANTS } from './names.js'

/** Checks a call that may reach a tool by its name. */
export function checkToolCall(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const { tools } = scope
  const name = call.callee.text
  const [first, second] = call.args
  if (tools === null) {
    const isNamed = name === HOST_CALL && first?.spread === false && first.value.kind === 'String'
    if (isNamed && context.reportsOptions && isBuiltinHere(name, scope)) reportSlip(first.value.value, first.value.span, context)
    return
  }
  if (name === HOST_CALL) {
    if (isBuiltinHere(name, scope) && first?.spread === false && first.value.kind === 'String')
      checkNamed({ name: first.value.value, span: first.value.span, arg: second, call }, scope, context)
  } else if (tools.isByName(name) && scope.functionNamed(name) === undefined) {
    if (name === BATCH) checkBatch(call, scope, context)
    else if (name === TOOL_USE || name === WITH_GRANTS) checkGrantCall(call, scope, context)
    else if (first?.spread === false && first.value.kind === 'String' && !hasRegistry(call) && !tools.isOwn(first.value.value))
      checkNamed({ name: first.value.value, span: null, arg: second, call }, scope, context)
  } else if (name === MCP_CALL) {
    if (isBuiltinHere(name, scope)) checkMcpCall(call, scope, context)
  } else {
    const tool = tools.aliased(name)
    if (tool !== null) checkAlias(tool, call, scope, context)
    const held = scope.variable(name) === undefined ? null : findToolValue(call.callee.text, scope, 0)
    if (held !== null) checkToolFunction(held, call, scope, context)
  }
}

/** Names may alias each other in a cycle. */
const MOST_NAMES = 8

/** The host tool whose function a name holds. */
function findToolValue(name: string, scope: Scope, depth: number): ToolType | null {
  if (depth > MOST_NAMES) return null
  const variable = scope.variable(name)
  if (variable === undefined) return scope.functionNamed(name)?.tool ?? null
  if (variable.type?.kind === 'fn') {
    const { tool } = variable.type
    return tool === undefined ? null : (scope.tools?.types.find(tool) ?? null)
  }
  if (variable.type !== null || scope.findOwner(name) !== scope.root) return null
  const value = scope.tools?.constant(name) ?? null
  return value?.kind === 'Identifier' ? findToolValue(value.name, scope.root, depth + 1) : null
}

/** `mcp_call(client, "price", {…})`: servers are declared under the plain names of their tools, or below their own. */
function checkMcpCall({ args: [, name, arg], span }: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  if (name === undefined || name.spread || name.value.kind !== 'String') return
  const { types } = scope.tools!
  const text = name.value.value
  const below = [...types.names].filter((each) => each.endsWith(`.${text}`))
  const tool = types.find(text) ?? (below.length === 1 ? types.find(below[0]!) : null)
  if (tool === null) return
  // A server that is started explicitly may have another tool of that name.
  if (arg === undefined) checkWithout(tool, span, context, 'warning')
  else if (!arg.spread && arg.value.kind !== 'Nil') checkToolArguments(tool, arg.value, scope, context, 'warning')
}

/** Methods that call a function with each item. */
export const ITEM_METHODS: ReadonlySet<string> = new Set([
  ...[
    'map',
    'flat_map',
    'filter',
    'find',
    'find_index',
    'any',
    'all',
    'every',
    'none',
    'for_each',
    'sort_by',
    'group_by',
    'partition',
  ],
  ...['min_by', 'max_by'],
])

/** `[{…}].map(price)`. */
export function checkToolCallback({ object, method, args }: ExprOf<'MethodCall'>, scope: Scope, context: CheckContext): void {
  const [callback] = args
  if (scope.tools === null || !ITEM_METHODS.has(method.text) || callback?.value.kind !== 'Identifier') return
  const tool = findToolValue(callback.value.name, scope, 0)
  const list = object.kind === 'Identifier' ? (scope.tools.constant(object.name) ?? object) : object
  if (tool === null || list.kind !== 'List') return
  for (const { spread, value } of list.items) if (!spread) checkToolArguments(tool, value, scope, context)
}

/** A name is looked up at the call, where a registry of the run may have another tool of that name. */
function severityByName({ isComplete }: ToolTypes): Severity {
  return isComplete ? 'error' : 'warning'
}

interface NamedCall {
  readonly name: string
  /** The position of the name, if an unknown one is a mistake. */
  readonly span: Span | null
  readonly arg: ExprOf<'Call'>['args'][number] | undefined
  readonly call: ExprOf<'Call'>
}

function checkNamed({ name, span, arg, call }: NamedCall, scope: Scope, context: CheckContext): void {
  const { types } = scope.tools!
  const tool = types.find(name)
  if (tool === null) {
    if (span !== null && types.isComplete) reportUnknown(name, span, types, context)
    else if (span !== null && context.reportsOptions) reportSlip(name, span, context)
    return
  }
  const severity = severityByName(types)
  if (arg === undefined) checkWithout(tool, call.span, context, severity)
  else if (!arg.spread && arg.value.kind !== 'Nil') checkToolArguments(tool, arg.value, scope, context, severity)
}

/** If the host is unknown, the names of the standard tools are still known: a near miss of one is a typo. */
function reportSlip(name: string, span: Span, context: CheckContext): void {
  if (Object.hasOwn(STANDARD_TOOL_BUILTINS, name)) return
  const near = suggestNear(name, Object.keys(STANDARD_TOOL_BUILTINS))
  if (near === null) return
  const fix = { title: `write "${near}"`, edits: [{ span, text: JSON.stringify(near) }] }
  context.report('A001', span, { name, suggestion: near }, fix, 'warning')
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
