// What a file says about tools of the host beside the arguments of its calls: which functions reach one, and what those give.

import type { Expr, ExprOf, Program } from '@bridle/parser'
import type { FnSignature } from '../declarations.js'
import { type ImportedInterface, listImported } from '../module-interface.js'
import type { Scope } from '../scope.js'
import { DICT, type Known } from '../type.js'
import { nodesWithin } from '../walk.js'
import type { ToolType, ToolTypes } from './declaration.js'

/** How a function of `std/tools` calls the tool that its first argument names. */
const BY_NAME: ReadonlyMap<string, 'value' | 'result' | 'other'> = new Map([
  ['tool_call', 'value'],
  ['tool_try', 'result'],
  ['tool_stream', 'other'],
])

export const BATCH = 'tool_batch'
export const HOST_CALL = 'host_tool_call'

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

export function isBuiltinHere(name: string, scope: Scope): boolean {
  return scope.functionNamed(name) === undefined && scope.variable(name) === undefined
}

function namedTool({ args: [first] }: ExprOf<'Call'>, { types }: ToolNames): ToolType | null {
  return first?.spread === false && first.value.kind === 'String' ? types.find(first.value.value) : null
}

/** Options may bind another registry, whose names are its own. */
export function hasRegistry({ args }: ExprOf<'Call'>): boolean {
  const options = args[2]?.value
  if (options === undefined || options.kind === 'Nil') return false
  if (options.kind !== 'Dict') return true
  return options.entries.some((entry) => entry.kind !== 'named' || entry.key.text === 'registry')
}
