// The backend of files with exported functions: every top-level `pub fn` is a tool. Each call is its own run,
// with its own limits, journal and cancellation; nothing that one call leaves in a variable is seen by another.

import { lowerTypeToJsonSchema } from '@bridle/compiler'
import { SourceFile, parse } from '@bridle/parser'
import type { Expr, FnDecl, Program, TypeExpr } from '@bridle/parser'
import { makeHints } from '../tools/servers/hints.js'
import type { Module } from '../host/module.js'
import type { Runtime } from '../host/runtime.js'
import type { StartOptions } from '../host/runtime-options.js'
import type { RunEvent } from '../host/events.js'
import type { ApprovalDesk } from '../tools/policy/host-approval.js'
import { McpServing, reportTo } from './serving.js'
import { INVALID_PARAMS, NOT_FOUND, RpcError, toJson } from './server-protocol.js'
import type { Json, JsonObject, ListName, McpBackend, RequestScope } from './server-protocol.js'

export interface ExportedOptions {
  readonly start?: Omit<StartOptions, 'input' | 'signal' | 'onEvent'>
  /** Answers the requests of functions to people, and clients through it. */
  readonly desk?: ApprovalDesk
  /** What functions print. */
  readonly onOutput?: (text: string) => void
}

/** The exported functions by name, sorted; empty when the file has none (or does not parse: the compiler says why). */
export function listExportedFunctions(program: Program): readonly FnDecl[] {
  const found = program.items.filter((item): item is FnDecl => item.kind === 'FnDecl' && item.isPublic)
  return found.sort((a, b) => (a.name.text < b.name.text ? -1 : 1))
}

function parseFile(source: string): Program | null {
  return parse(new SourceFile('script.harn', source)).program
}

export function parseExportedFunctions(source: string): readonly FnDecl[] {
  const program = parseFile(source)
  return program === null ? [] : listExportedFunctions(program)
}

type Types = ReadonlyMap<string, TypeExpr>

/** The types of a file by name; structs, which go to clients as objects, as the shapes that they have. */
function listTypes(program: Program, withStructs: boolean): Types {
  const types = new Map<string, TypeExpr>()
  for (const item of program.items) {
    if (item.kind === 'TypeDecl' && item.typeParams.length === 0) types.set(item.name.text, item.type)
    if (!withStructs || item.kind !== 'StructDecl' || item.typeParams.length > 0) continue
    const fields = item.fields.flatMap(({ type, ...field }) => (type === null ? [] : [{ ...field, type }]))
    if (fields.length === item.fields.length) types.set(item.name.text, { kind: 'ShapeType', span: item.span, fields })
  }
  return types
}

function makeTool(fn: FnDecl, types: Types, resultTypes: Types): JsonObject {
  const properties: { [name: string]: Json } = Object.create(null) as { [name: string]: Json }
  const doc = readDoc(fn.doc ?? '')
  for (const param of fn.params) {
    const name = param.name.text
    const fallback = param.defaultValue === null ? undefined : readConstant(param.defaultValue)
    const about = doc.params.get(name)
    properties[name] = {
      ...((param.type === null ? null : lowerTypeToJsonSchema(param.type, types)) as JsonObject | null),
      ...(about === undefined ? {} : { description: about }),
      ...(fallback === undefined ? {} : { default: fallback }),
    }
  }
  const required = fn.params.filter((param) => param.defaultValue === null && !param.rest).map((param) => param.name.text)
  const hints = makeHints(readAnnotations(fn))
  const output = fn.returns === null ? null : lowerTypeToJsonSchema(fn.returns, resultTypes)
  return {
    name: fn.name.text,
    description: doc.text === '' ? `Invoke exported Harn function '${fn.name.text}'.` : doc.text,
    inputSchema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
    // The protocol knows results that are objects only; clients refuse a list with any other schema in it.
    ...(output !== null && output['type'] === 'object' ? { outputSchema: output as JsonObject } : {}),
    ...(hints === null ? {} : { annotations: hints }),
  }
}

/** What `@acp_tool(kind: "read", …)` says of a function. */
function readAnnotations({ attributes }: FnDecl): { readonly [name: string]: unknown } {
  const args = attributes.filter(({ name }) => name.text === 'acp_tool').flatMap((attribute) => attribute.args)
  return Object.fromEntries(args.flatMap(({ name, value }) => (name === null ? [] : [[name.text, value]])))
}

interface FunctionDoc {
  readonly text: string
  readonly params: ReadonlyMap<string, string>
}

/** A line `@param NAME TEXT` of a doc comment is about the parameter, the others about the function. */
function readDoc(doc: string): FunctionDoc {
  const params = new Map<string, string>()
  const lines = doc.split('\n').filter((line) => {
    const words = line
      .trim()
      .split(' ')
      .filter((word) => word !== '')
    const [mark, name, ...text] = words
    if (mark !== '@param' || name === undefined) return true
    params.set(name, (text[0] === '-' ? text.slice(1) : text).join(' '))
    return false
  })
  return { text: lines.join('\n').trim(), params }
}

/** What a default is before anything runs; undefined for one that is computed. */
function readConstant(expr: Expr): Json | undefined {
  switch (expr.kind) {
    case 'Int':
      return toJson(expr.value)
    case 'Float':
    case 'Bool':
      return expr.value
    case 'String':
      return expr.value
    case 'Nil':
      return null
    case 'Unary': {
      const operand = readConstant(expr.operand)
      return expr.operator === '-' && typeof operand === 'number' ? -operand : undefined
    }
    case 'List': {
      const items = expr.items.map(({ spread, value }) => (spread ? undefined : readConstant(value)))
      return items.some((item) => item === undefined) ? undefined : (items as readonly Json[])
    }
    case 'Dict': {
      const entries = expr.entries.map((entry) => [
        entry.kind === 'named' ? entry.key.text : '',
        entry.kind === 'named' ? readConstant(entry.value) : undefined,
      ])
      return entries.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(entries) as JsonObject)
    }
    default:
      return undefined
  }
}

export class ExportedBackend implements McpBackend {
  readonly kind = 'exported'
  readonly desk?: ApprovalDesk
  private readonly runtime: Runtime
  private readonly functions: readonly FnDecl[]
  private readonly tools: readonly JsonObject[]
  private readonly modules: ReadonlyMap<string, Module>
  private readonly options: ExportedOptions

  /** Throws CompileError. `file` is the path by which the file can be imported. */
  constructor(runtime: Runtime, file: string, source: string, options: ExportedOptions = {}) {
    this.runtime = runtime
    this.options = options
    if (options.desk !== undefined) this.desk = options.desk
    const program = parseFile(source)
    this.functions = program === null ? [] : listExportedFunctions(program)
    const [types, resultTypes] = [false, true].map((withStructs) =>
      program === null ? new Map<string, TypeExpr>() : listTypes(program, withStructs),
    )
    this.tools = this.functions.map((fn) => makeTool(fn, types!, resultTypes!))
    // One small program a function; the file is its import, so that only what imports run is run.
    const base = file.slice(file.lastIndexOf('/') + 1)
    const makeEntry = (name: string): string =>
      `import { ${name} } from "./${base}"\n\npipeline main() {\n  return __mcp_invoke(${name}, host_call("runtime.pipeline_input", {}))\n}\n`
    this.modules = new Map(
      this.functions.map(({ name }) => [name.text, runtime.compile(makeEntry(name.text), { file: `${file}.call.harn` })]),
    )
  }

  list(name: ListName): readonly JsonObject[] {
    return name === 'tools' ? this.tools : []
  }

  async callTool(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const fn = this.functions.find((each) => each.name.text === name)
    if (fn === undefined) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`)
    const args = bind(fn, params['arguments'] ?? null)
    scope.progress(0, `Starting ${name}`)
    const run = this.runtime.start(this.modules.get(name)!, {
      ...this.options.start,
      providers: [
        ...(this.options.start?.providers ?? []),
        ...(this.desk === undefined ? [] : [this.desk.provider()]),
        new McpServing(() => scope),
      ],
      input: args,
      signal: scope.signal,
      onEvent: (event: RunEvent) => {
        if (event.type === 'output') this.options.onOutput?.(event.text)
        else if (event.type === 'report') reportTo(scope, event.report)
      },
    })
    scope.progress(1, `Running ${name}`)
    const result = await run.result
    switch (result.status) {
      case 'done': {
        const { text, structured } = result.value as { readonly text: string; readonly structured: Json }
        return {
          content: [{ type: 'text', text }],
          isError: false,
          ...(structured === null ? {} : { structuredContent: toJson(structured) }),
        }
      }
      case 'failed':
        return makeFailure(result.error.fault.text)
      case 'limit':
        return makeFailure(result.message)
      case 'exit':
        return makeFailure(`the function ended with exit(${result.code})`)
      case 'cancelled':
        return makeFailure(`cancelled: ${result.reason}`)
    }
  }

  async readResource(uri: string): Promise<JsonObject> {
    throw new RpcError(NOT_FOUND, `Resource not found: ${uri}`)
  }

  async getPrompt(): Promise<JsonObject> {
    throw new RpcError(INVALID_PARAMS, 'Unknown prompt')
  }
}

function makeFailure(message: string): JsonObject {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** Arguments by name or by place → the list that the function is called with. */
function bind(fn: FnDecl, given: Json): readonly Json[] {
  const name = fn.name.text
  if (given !== null && typeof given !== 'object')
    throw new RpcError(INVALID_PARAMS, 'tool arguments must be an object, array, or null')
  const makeMissingError = (at: number): RpcError =>
    new RpcError(INVALID_PARAMS, `missing required argument '${fn.params[at]!.name.text}' for '${name}'`)
  const isRequired = (at: number): boolean => fn.params[at]!.defaultValue === null && !fn.params[at]!.rest
  if (Array.isArray(given)) {
    const list = given as readonly Json[]
    const absent = fn.params.findIndex((_, at) => at >= list.length && isRequired(at))
    if (absent >= 0) throw makeMissingError(absent)
    return fn.params.some((param) => param.rest) ? list : list.slice(0, fn.params.length)
  }
  const named = (given ?? {}) as JsonObject
  const args: Json[] = []
  let skipped = false
  for (const [at, param] of fn.params.entries()) {
    const key = param.name.text
    if (!Object.hasOwn(named, key)) {
      if (isRequired(at)) throw makeMissingError(at)
      skipped = true
      continue
    }
    // Arguments are positional, so an omitted one cannot precede a given one.
    if (skipped) throw new RpcError(INVALID_PARAMS, `named arguments for '${name}' skipped '${key}' before later arguments`)
    const value = named[key]!
    if (param.rest && Array.isArray(value)) args.push(...(value as readonly Json[]))
    else args.push(value)
  }
  return args
}
