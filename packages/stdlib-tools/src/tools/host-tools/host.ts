// The embedding program as scripts see it: its tools by name, its capability operations, its pure functions. Also the modules
// `host/NAME` that scripts import: each is a short script made here, whose functions call the tool or the builtin behind them.

import { HarnFloat, builtin, fromPlain, toPlain, typeName } from '@bridle/vm'
import type { BuiltinDef, BuiltinFamily, Context, Plain, Result, Value } from '@bridle/vm'
import type { HostNames } from '../dispatch/identity.js'
import { DefinitionError, listDeclaredEffects } from './define.js'
import type { Capabilities, CapabilityOperation, HostFunctions, PureFunction, RetryDefinition, Tool } from './define.js'
import type { AttachmentStore } from './attachments.js'
import { NotDataError, TooLargeError, plainFromHost } from './edge.js'
import { MAX_RESULT_BYTES } from '../executors/result-size.js'
import { harnType, isName } from './harn-types.js'
import type { JsonSchema } from './schema.js'
import { describeCause } from '../executors/provider.js'
import { executorOf } from '@bridle/compiler/grants'
import { RUN_FACTS } from '@bridle/compiler/signatures'

export interface HostParts {
  /** Tools, or a registry of them. */
  readonly tools?: Iterable<Tool>
  readonly capabilities?: Capabilities
  readonly hostFunctions?: HostFunctions
  /**
   * What one result of a tool, an operation, a function or a server may have: a byte for a character of text, 16 for each value; 16 MiB by
   * default. A larger one is a failure of the call that names both.
   */
  readonly maxResultBytes?: number
  /** Where tools keep bytes that scripts see references to. */
  readonly attachments?: AttachmentStore
}

export class Host {
  readonly tools: ReadonlyMap<string, Tool>
  private readonly byAlias = new Map<string, Tool>()
  private known: HostNames | null = null
  readonly capabilities: Capabilities
  readonly functions: HostFunctions
  readonly maxResultBytes: number
  readonly attachments: AttachmentStore | null
  /** Its tools as registry entries, for the dispatch in the machine. */
  readonly entries: ReadonlyMap<string, Plain>

  constructor(parts: HostParts) {
    this.attachments = parts.attachments ?? null
    this.maxResultBytes = parts.maxResultBytes ?? MAX_RESULT_BYTES
    const tools = new Map<string, Tool>()
    for (const tool of parts.tools ?? []) {
      if (tools.has(tool.name)) throw new DefinitionError(`tool "${tool.name}" is defined twice`, 'duplicate_tool')
      tools.set(tool.name, tool)
    }
    this.tools = tools
    for (const tool of tools.values()) {
      for (const alias of tool.aliases) {
        // A name that means two tools would be judged as one and carried out as the other.
        const other = tools.get(alias) ?? this.byAlias.get(alias)
        if (other !== undefined && other !== tool)
          throw new DefinitionError(
            `"${alias}" is a further name of tool "${tool.name}" and a name of tool "${other.name}": give one of them another`,
            'duplicate_tool',
          )
        if (alias !== tool.name) this.byAlias.set(alias, tool)
      }
    }
    const names = [...tools, ...this.byAlias]
    this.entries = new Map(names.map(([name, tool]) => [name, { ...(makeEntry(tool) as object), name }]))
    this.capabilities = parts.capabilities ?? {}
    this.functions = parts.hostFunctions ?? {}
    for (const [alias, { name }] of this.byAlias) {
      // Operations go before tools.
      if (this.names.hasOperation(alias))
        throw new DefinitionError(
          `"${alias}" is a further name of tool "${name}" and a capability operation: give one of them another`,
          'duplicate_tool',
        )
    }
    for (const [module, functions] of Object.entries(this.functions)) {
      for (const name of Object.keys(functions)) {
        if (!isName(name))
          throw new DefinitionError(
            `host function ${JSON.stringify(name)} of "host/${module}" has a name that scripts cannot write`,
          )
        if (tools.has(`${module}.${name}`)) throw new DefinitionError(`"host/${module}" has both a tool and a function "${name}"`)
      }
    }
  }

  /** Whether it defines a tool, or a capability operation, of that name. */
  serves(name: string): boolean {
    return this.tool(name) !== null || this.names.hasOperation(name)
  }

  /** For the machine: further names of its tools, and which names are operations. */
  get names(): HostNames {
    this.known ??= {
      aliases: new Map([...this.byAlias].map(([alias, { name }]) => [alias, name])),
      // Operations go before tools, and say nothing about themselves.
      levelOf: (name) => (this.names.hasOperation(name) ? null : (this.tool(name)?.level ?? null)),
      sideEffectOf: (name) => (this.names.hasOperation(name) ? null : (this.tool(name)?.sideEffect ?? null)),
      hasOperation: (name) => {
        const dot = name.indexOf('.')
        return dot >= 0 && this.operation(name.slice(0, dot), name.slice(dot + 1)) !== null
      },
    }
    return this.known
  }

  /** Whether there is a host at all, as far as `host_tool_call` is concerned. */
  get isAttached(): boolean {
    return this.tools.size > 0 || Object.keys(this.capabilities).length > 0
  }

  /** By name or alias. */
  tool(name: string): Tool | null {
    return this.tools.get(name) ?? this.byAlias.get(name) ?? null
  }

  operation(capability: string, operation: string): CapabilityOperation | null {
    if (!Object.hasOwn(this.capabilities, capability)) return null
    const operations = this.capabilities[capability]!
    return Object.hasOwn(operations, operation) ? operations[operation]! : null
  }

  /** What its tools do, by each of their names, and its operations in the place of facts of the run; null without a declaration. */
  get declaredEffects(): ReadonlyMap<string, readonly string[] | null> {
    const rows = [...this.tools, ...this.byAlias]
    return new Map<string, readonly string[] | null>([
      ...rows
        .filter(([name]) => !this.names.hasOperation(name))
        .map(([name, tool]) => [name, listDeclaredEffects(tool)] as const),
      ...[...RUN_FACTS].filter((name) => this.names.hasOperation(name)).map((name) => [name, null] as const),
    ])
  }

  /** Names of its modules `host/NAME`. */
  get families(): ReadonlySet<string> {
    const families = [...this.tools.values()].flatMap(({ name }) => {
      const { module, local } = splitName(name)
      return isName(local) ? [module] : []
    })
    return new Set([...families, ...Object.keys(this.functions)])
  }

  /** What scripts can import from the module `host/NAME`; nothing when there is no such module. */
  listModuleNames(name: string): readonly string[] {
    const tools = [...this.tools.values()].map((tool) => splitName(tool.name))
    const locals = tools.flatMap(({ module, local }) => (module === name && isName(local) ? [local] : []))
    return [...locals, ...Object.keys(Object.hasOwn(this.functions, name) ? this.functions[name]! : {})]
  }

  /** Source of the module `host/NAME`, null when the host has nothing under that name. */
  moduleSource(name: string): string | null {
    const parts: string[] = []
    for (const tool of this.tools.values()) {
      const { module, local } = splitName(tool.name)
      if (module === name && isName(local)) parts.push(renderToolFunction(tool, local))
    }
    const functions = Object.hasOwn(this.functions, name) ? this.functions[name]! : {}
    for (const [local, fn] of Object.entries(functions)) parts.push(renderPureWrapper(name, local, fn))
    return parts.length === 0 ? null : `// Functions of the embedding program, made from its definitions.\n\n${parts.join('\n')}`
  }

  /** The builtins behind pure functions. */
  family(): BuiltinFamily {
    const builtins: BuiltinDef[] = []
    for (const [module, functions] of Object.entries(this.functions)) {
      for (const [name, fn] of Object.entries(functions))
        builtins.push(definePureBuiltin(makeBuiltinName(module, name), `${module}.${name}`, fn, this.maxResultBytes))
    }
    return { name: 'host-functions', builtins }
  }
}

function splitName(name: string): { readonly module: string; readonly local: string } {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? { module: 'tools', local: name } : { module: name.slice(0, dot), local: name.slice(dot + 1) }
}

/** The entry that the dispatch in the machine works with: it checks arguments and marks floats of results by these schemas. */
function makeEntry(tool: Tool): Plain {
  const declared = listDeclaredEffects(tool)
  return {
    name: tool.name,
    description: tool.description,
    version: tool.version,
    executor: executorOf('host'),
    // Without `properties` a registry takes it for a dict of parameters, one of which is called `type`.
    parameters: (tool.input === null ? {} : { properties: {}, ...tool.input.json }) as Plain,
    // A function stays with the host.
    recovery: typeof tool.recovery === 'string' ? tool.recovery : 'once',
    // Without a declaration it is `external`; only a tool without side effects has none.
    ...(declared === null ? {} : { effects: declared }),
    ...(tool.cacheable === false ? {} : { cacheable: tool.cacheable === true ? true : { ttl_ms: tool.cacheable.ttlMs } }),
    ...(tool.drift === null ? {} : { drift: tool.drift }),
    ...(tool.retry === null ? {} : { retry: formatRetry(tool.retry) as Plain }),
    ...(tool.output === null ? {} : { outputSchema: tool.output.json as Plain }),
  }
}

function renderToolFunction(tool: Tool, local: string): string {
  const entry = makeEntry(tool)
  const args = tool.input === null ? 'dict' : harnType(tool.input.json)
  const optional = tool.input === null || !hasRequired(tool.input.json)
  const returns = tool.output === null ? '' : ` -> ${harnType(tool.output.json)}`
  return [
    `let __entry_${local} = json_parse(${quoteText(JSON.stringify(entry))})`,
    `pub fn ${local}(args: ${args}${optional ? ' = {}' : ''})${returns} {`,
    `  return __host_tool(${quoteText(tool.name)}, __entry_${local}, args)`,
    '}',
    '',
  ].join('\n')
}

/** As scripts write it. */
function formatRetry(retry: RetryDefinition): { readonly [key: string]: unknown } {
  const out: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(retry)) {
    if (value !== undefined) out[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
  }
  return out
}

function hasRequired(schema: JsonSchema): boolean {
  return Array.isArray(schema['required']) && schema['required'].length > 0
}

function renderPureWrapper(module: string, local: string, fn: PureFunction): string {
  const params = fn.params.map((schema, at) => `${fn.names[at]!}: ${harnType(schema.json)}`).join(', ')
  const returns = fn.returns === null ? '' : ` -> ${harnType(fn.returns.json)}`
  return `pub fn ${local}(${params})${returns} {\n  return ${makeBuiltinName(module, local)}(${fn.names.join(', ')})\n}\n`
}

function makeBuiltinName(module: string, name: string): string {
  return `__host_${module.replace(/[^A-Za-z0-9_]/g, '_')}_${name}`
}

/** A string literal of the script language; `${` would be an interpolation. */
function quoteText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('$', '\\$')}"`
}

/** Scalars pass as they are: this is the fast path between script and host. */
function definePureBuiltin(name: string, shown: string, fn: PureFunction, most: number): BuiltinDef {
  const takes = fn.params.map((schema) => makeArgumentReader(schema.json))
  const returns = fn.returns?.json
  const returnsFloat = returns?.['type'] === 'number'
  const params = fn.params.map((schema, at) => `${fn.names[at]!}: ${harnType(schema.json)}`).join(', ')
  const run = fn.run as (...args: unknown[]) => unknown
  return builtin(`${name}(${params})`, { doc: fn.description }, (ctx, ...args) => {
    try {
      for (let at = 0; at < takes.length; at++) {
        const read = takes[at]!(args[at]!)
        if (read === WRONG)
          return ctx.type(
            `host function ${shown}: argument '${fn.names[at]!}' must be ${harnType(fn.params[at]!.json)}, got ${typeName(args[at]!)}`,
          )
        args[at] = read as Value
      }
      const result = run(...args)
      switch (typeof result) {
        case 'string':
          if (result.length <= most) return result
          return throwFailed(ctx, shown, new TooLargeError(result.length, most))
        case 'boolean':
          return result
        case 'number':
          return Number.isSafeInteger(result) && !returnsFloat && !Object.is(result, -0) ? result : new HarnFloat(result)
      }
      if (result instanceof Promise)
        return throwFailed(ctx, shown, new NotDataError('it returned a promise, but is declared as pure'))
      return fromPlain(plainFromHost(result, returns, most))
    } catch (cause) {
      return throwFailed(ctx, shown, cause)
    }
  })
}

/** Thrown as the dict that failed tools are thrown as, so that scripts handle both alike. */
function throwFailed(ctx: Context, shown: string, cause: unknown): Result {
  const message = describeCause(cause)
  const code =
    (cause as { readonly name?: unknown; readonly code?: unknown } | null)?.name === 'ToolError'
      ? String((cause as { readonly code: unknown }).code)
      : 'execution_failed'
  return ctx.throw(
    fromPlain({ name: 'ToolError', code, category: 'tool_error', message, tool: shown, retryable: false, severity: 'error' }),
  )
}

const WRONG = Symbol('wrong type')

type ReadArgument = (value: Value) => unknown

function makeArgumentReader(schema: JsonSchema): ReadArgument {
  switch (schema['type']) {
    case 'integer':
      return (value) => (typeof value === 'number' || typeof value === 'bigint' ? value : WRONG)
    case 'number':
      return (value) => (value instanceof HarnFloat ? value.v : typeof value === 'number' ? value : WRONG)
    case 'string':
      return (value) => (typeof value === 'string' ? value : WRONG)
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : WRONG)
    case 'array':
      return (value) => {
        const plain = toPlain(value)
        return Array.isArray(plain) ? plain : WRONG
      }
    default:
      return (value) => toPlain(value)
  }
}
