// `@bridle/stdlib-tools/catalogue`: the standard catalogue as tools of a host. The tools are written in the language itself
// (`std/catalogue`, which scripts can import as well); here each becomes a Tool whose calls are runs of their own runtime, with
// the providers, grants and limits that the host gives. Without any, the tools that touch nothing work and the others are refused.

import type { SideEffect } from '../../library/effects/index.js'
import { lookup } from '@bridle/vm'
import { parseErrorText } from '../../library/tool-errors.js'
import { isToolErrorCode } from '../../library/tool-errors.js'
import type { Plain } from '@bridle/vm'
import type { ToolErrorCode } from '../../library/tool-errors.js'
import { ScriptError } from '../run.js'
import { RunStopped, createRuntime } from '../runtime.js'
import type { Module } from '../module.js'
import type { Runtime } from '../runtime.js'
import type { RuntimeOptions } from '../runtime-options.js'
import { defineTool } from '../../tools/host-tools/define.js'
import type { Tool, ToolExample } from '../../tools/host-tools/define.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import type { JsonSchema } from '../../tools/host-tools/schema.js'
import { LISTING } from './listing.generated.js'
import type { SecurityLevel } from '../../tools/policy/level-order.js'

export { postgresTools, redisTools } from './databases.js'
export type { PostgresClient, RedisClient } from './databases.js'

/** `tools` are what the catalogue's own tools ask: `web_search.PROVIDER` for web_searcher. */
export interface StdToolsOptions extends Pick<
  RuntimeOptions,
  'providers' | 'grants' | 'toolGrants' | 'defaultDeny' | 'limits' | 'clock' | 'random' | 'hashHex' | 'tools'
> {
  /** What process_executor may run, as its argument `executable` says it; nothing without this list, regardless of grants. */
  readonly programs?: readonly string[]
  /** Only these. */
  readonly only?: readonly string[]
}

interface Listed {
  readonly name: string
  readonly description: string
  readonly category: string
  readonly recovery: 'once' | 'safe'
  readonly cacheable?: boolean
  readonly parameters: { readonly [name: string]: JsonSchema & { readonly required?: unknown; readonly default?: unknown } }
  readonly annotations: { readonly side_effect_level: SideEffect; readonly security_level: SecurityLevel }
  readonly examples: readonly ToolExample[]
}

/** What a tool's calls need a grant for, by its kind of work. */
const EFFECTS: { readonly [category: string]: readonly string[] } = lookup({
  filesystem: ['fs'],
  web: ['http'],
})

/** The tools of the catalogue, or those that are named. Nothing is compiled before the first call. */
export function stdTools(options: StdToolsOptions = {}): readonly Tool[] {
  const { only, programs, ...rest } = options
  // The tool has no shell and no environment of its own, so the list is the whole of what it starts.
  const own = programs === undefined ? rest : { ...rest, toolGrants: withPrograms(rest.toolGrants, programs) }
  let prepared: Prepared | null = null
  const prepare = (): Prepared => {
    if (prepared === null) {
      const runtime = createRuntime(own)
      prepared = { runtime, calls: runtime.compile(CALL, { file: 'catalogue.harn' }) }
    }
    return prepared
  }
  return (JSON.parse(LISTING) as readonly Listed[])
    .filter((entry) => only === undefined || only.includes(entry.name))
    .map((entry) => makeTool(prepare, entry, programs !== undefined || entry.annotations.side_effect_level !== 'process_exec'))
}

/** The list beside what the host's grants say of programs: both bind. */
function withPrograms(
  grants: RuntimeOptions['toolGrants'] = {},
  programs: readonly string[],
): NonNullable<RuntimeOptions['toolGrants']> {
  const before = grants['process.exec'] ?? {}
  const known = before['program']
  const both = known === undefined ? programs : programs.filter((name) => [known].flat().includes(name))
  return { ...grants, 'process.exec': { ...before, program: [...both] } }
}

interface Prepared {
  readonly runtime: Runtime
  readonly calls: Module
}

const CALL = `
import { std_call } from "std/catalogue"
import { runtime_pipeline_input } from "std/runtime"
let input = runtime_pipeline_input()
return std_call(input.name, input.args)
`

function makeTool(prepare: () => Prepared, entry: Listed, isListed: boolean): Tool {
  const { name, annotations } = entry
  return defineTool({
    name,
    description: entry.description,
    category: entry.category,
    effects:
      entry.category === 'system' && annotations.side_effect_level === 'process_exec'
        ? ['process']
        : (EFFECTS[entry.category] ?? []),
    sideEffect: annotations.side_effect_level,
    level: annotations.security_level,
    recovery: entry.recovery,
    cacheable: entry.cacheable === true,
    examples: entry.examples,
    input: makeSchema(entry.parameters),
    async execute(args, { signal, callId }) {
      if (!isListed)
        throw new ToolError(
          'policy_violation',
          `${name} starts no program: name those that it may start, stdTools({ programs: ['git'] })`,
        )
      const { runtime, calls } = prepare()
      try {
        return await runtime.run(calls, { input: { name, args: withDefaults(entry.parameters, args) }, signal, runId: callId })
      } catch (cause) {
        throw toToolError(cause)
      }
    },
  })
}

function makeSchema(parameters: Listed['parameters']): JsonSchema {
  const properties: { [name: string]: JsonSchema } = {}
  const required: string[] = []
  for (const [name, spec] of Object.entries(parameters)) {
    const { required: flag, ...schema } = spec
    properties[name] = schema
    if (flag !== false && !('default' in schema)) required.push(name)
  }
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), additionalProperties: false }
}

function withDefaults(parameters: Listed['parameters'], args: unknown): { readonly [name: string]: unknown } {
  const filled: { [name: string]: unknown } = { ...(args as { readonly [name: string]: unknown }) }
  for (const [name, spec] of Object.entries(parameters))
    if ('default' in spec && (filled[name] ?? null) === null) filled[name] = spec.default
  return filled
}

/** The script's own error when it threw one that has a code; a category decides the code of what the runtime refused. */
function toToolError(cause: unknown): Error {
  if (cause instanceof RunStopped)
    return new ToolError(cause.result.status === 'cancelled' ? 'cancelled' : 'resource_limit', cause.message)
  if (!(cause instanceof ScriptError)) return cause instanceof Error ? cause : new Error(String(cause))
  const { code, message, details } = (cause.value ?? {}) as {
    readonly code?: unknown
    readonly message?: unknown
    readonly details?: Plain
  }
  if (typeof code === 'string')
    return new ToolError(
      isToolErrorCode(code) ? code : 'execution_failed',
      typeof message === 'string' ? message : cause.message,
      details === undefined ? { cause } : { cause, details },
    )
  const text = typeof cause.value === 'string' ? cause.value : cause.message
  const told = parseErrorText(text) ?? { code: CODES[cause.fault.category] ?? 'execution_failed', message: cause.message }
  return new ToolError(told.code, told.message, { cause })
}

/** Refusals of the runtime have a category where tools have a code. */
const CODES: { readonly [category: string]: ToolErrorCode } = lookup({
  tool_rejected: 'policy_violation',
  egress_blocked: 'egress_blocked',
  budget_exceeded: 'budget_exhausted',
  circuit_open: 'circuit_open',
  timeout: 'timeout',
  cancelled: 'cancelled',
})
