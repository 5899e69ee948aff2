// What a host gives to scripts. A *tool* is a named operation with side effects of some level: every call goes through the
// dispatch of the machine, is journalled and may take its time. A *pure function* is declared to be deterministic and without
// effect: scripts call it directly, a replay calls it again. A *capability operation* is what `host_call("cap.op", …)` reaches.

import type { SideEffect } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import { compileSchema } from './schema.js'
import type { AnySchema, CompiledSchema, OutputOf } from './schema.js'

/** What the host's code is told about the call it serves. */
export interface ToolContext {
  /** Aborts at the call's timeout and when the run is cancelled; work that goes on afterwards is not waited for. */
  readonly signal: AbortSignal
  readonly runId: string
  readonly callId: string
  /** From 1; retries of one call count up. */
  readonly attempt: number
  /** Equal for all attempts of one call, also after a restore. */
  readonly idempotencyKey: string
  /** Shows up among the events of the run. */
  readonly progress: (data: unknown) => void
}

export interface ToolDefinition<Input extends AnySchema = AnySchema, Output extends AnySchema = AnySchema> {
  /** `area.operation`, imported by `import { operation } from "host/area"`; a name without a dot is in `host/tools`. */
  readonly name: string
  readonly description?: string
  readonly version?: string
  /** An object schema; any dict when absent. */
  readonly input?: Input
  /** Checked, and decides which numbers are floats. */
  readonly output?: Output
  /** What a call may do to the world, for dry runs and policies; `network` (the most) when not said. */
  readonly sideEffect?: SideEffect
  /** Limit of one attempt; none by default. */
  readonly timeoutMs?: number
  /** `pending(token)` says that the result comes later, by `runtime.completeTool`. */
  readonly execute: (input: OutputOf<Input>, context: ToolContext) => unknown
}

export interface Tool {
  readonly kind: 'tool'
  readonly name: string
  readonly description: string
  readonly version: string
  readonly input: CompiledSchema | null
  readonly output: CompiledSchema | null
  readonly sideEffect: SideEffect
  readonly timeoutMs: number | null
  readonly execute: (input: unknown, context: ToolContext) => unknown
}

export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
}

export function defineTool<Input extends AnySchema = AnySchema, Output extends AnySchema = AnySchema>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name } = definition
  if (!/^[^\s"'`\\]{1,200}$/.test(name))
    throw new DefinitionError(
      `tool name ${JSON.stringify(name)} is not usable: give it 1 to 200 characters without blanks and quotes`,
    )
  if (typeof definition.execute !== 'function') throw new DefinitionError(`tool "${name}" has no execute function`)
  const input = definition.input === undefined ? null : compileSchema(definition.input)
  if (input !== null && input.json['type'] !== 'object')
    throw new DefinitionError(`the input schema of tool "${name}" must describe an object`)
  return {
    kind: 'tool',
    name,
    description: definition.description ?? '',
    version: definition.version ?? '1.0.0',
    input,
    output: definition.output === undefined ? null : compileSchema(definition.output, 'output'),
    sideEffect: definition.sideEffect ?? 'network',
    timeoutMs: definition.timeoutMs ?? null,
    execute: definition.execute as (input: unknown, context: ToolContext) => unknown,
  }
}

type Outputs<Params extends readonly AnySchema[]> = { -readonly [At in keyof Params]: OutputOf<Params[At]> }

export interface PureDefinition<
  Params extends readonly AnySchema[] = readonly AnySchema[],
  Returns extends AnySchema = AnySchema,
> {
  readonly description?: string
  /** One schema for each parameter, in order. */
  readonly params: Params
  /** Names of the parameters, for signatures and messages; `a`, `b`, … by default. */
  readonly names?: readonly string[]
  readonly returns?: Returns
  readonly run: (...args: Outputs<Params>) => unknown
}

export interface PureFunction {
  readonly kind: 'pure'
  readonly description: string
  readonly params: readonly CompiledSchema[]
  readonly names: readonly string[]
  readonly returns: CompiledSchema | null
  readonly run: (...args: never[]) => unknown
}

/** Declares a deterministic function without effects. Nothing checks that it is one: a replay relies on it. */
export function pureFunction<const Params extends readonly AnySchema[], Returns extends AnySchema = AnySchema>(
  definition: PureDefinition<Params, Returns>,
): PureFunction {
  const names = definition.names ?? definition.params.map((_, at) => (at < 26 ? String.fromCharCode(97 + at) : `p${at}`))
  if (names.length !== definition.params.length)
    throw new DefinitionError(`a function of ${definition.params.length} parameters was given ${names.length} names`)
  return {
    kind: 'pure',
    description: definition.description ?? '',
    params: definition.params.map((schema) => compileSchema(schema)),
    names,
    returns: definition.returns === undefined ? null : compileSchema(definition.returns, 'output'),
    run: definition.run as (...args: never[]) => unknown,
  }
}

/** What answers `host_call("capability.operation", params)`. */
export type CapabilityOperation = (params: Plain, context: ToolContext) => unknown

export type Capabilities = { readonly [capability: string]: { readonly [operation: string]: CapabilityOperation } }

/** By module: `{ math: { add } }` is imported by `import { add } from "host/math"`. */
export type HostFunctions = { readonly [module: string]: { readonly [name: string]: PureFunction } }

/** A tool returns this to say that its result comes later, under this token. */
export class Pending {
  readonly token: string

  constructor(token: string) {
    this.token = token
  }
}

export function pending(token: string): Pending {
  return new Pending(token)
}
