// Names by which calls reach tools of the host, and the results of those calls.

import type { Expr, ExprOf, Program } from '@bridle/parser'
import type { FnSignature } from '../declarations.js'
import { type ImportedInterface, listImported } from '../module-interface.js'
import type { Scope } from '../scope.js'
import { DICT, type Known } from '../type.js'
import type { ToolType } from './declaration.js'
import type { FileTools } from './file-tools.js'

/** How a function of `std/tools` calls the tool that its first argument names. */
export const BY_NAME: ReadonlyMap<string, 'value' | 'result' | 'other'> = new Map([
  ['tool_call', 'value'],
  ['tool_try', 'result'],
  ['tool_stream', 'other'],
])

export const BATCH = 'tool_batch'
export const HOST_CALL = 'host_tool_call'
/** Functions of `std/grants` whose argument is a grant. */
export const TOOL_USE = 'tool_use'
export const WITH_GRANTS = 'with_grants'
export const MCP_CALL = 'mcp_call'

type ImportDecl = Extract<Program['items'][number], { kind: 'ImportDecl' }>

/** Registers the names of one import: the functions of a host module have types, those of `std/tools` call by name. */
export function addToolImport(decl: ImportDecl, source: ImportedInterface, root: Scope): void {
  const { tools } = root
  if (tools === null) return
  for (const name of listImported(decl, () => source)) {
    if (decl.path === 'std/tools' && (BY_NAME.has(name) || name === BATCH)) tools.addByName(name)
    if (decl.path === 'std/grants' && (name === TOOL_USE || name === WITH_GRANTS)) tools.addByName(name)
    const signature = source.functions.get(name)
    if (signature === undefined) continue
    if (decl.path.startsWith('host/')) {
      const tool = tools.types.ofModule(decl.path.slice(5), name)
      root.declareFunction(name, tool === null ? signature : toolSignature(tool))
    } else if (signature.tool !== undefined) root.declareFunction(name, signature)
  }
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

/** Result of a call that reaches a tool of the host; undefined for any other call. */
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

export function isBuiltinHere(name: string, scope: Scope): boolean {
  return scope.functionNamed(name) === undefined && scope.variable(name) === undefined
}

function namedTool({ args: [first] }: ExprOf<'Call'>, { types }: FileTools): ToolType | null {
  return first?.spread === false && first.value.kind === 'String' ? types.find(first.value.value) : null
}

/** Options may bind another registry with its own names. */
export function hasRegistry({ args }: ExprOf<'Call'>): boolean {
  const options = args[2]?.value
  if (options === undefined || options.kind === 'Nil') return false
  if (options.kind !== 'Dict') return true
  return options.entries.some((entry) => entry.kind !== 'named' || entry.key.text === 'registry')
}
