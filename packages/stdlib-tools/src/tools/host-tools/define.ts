// What a host gives to scripts. A *tool* is a named operation with side effects of some level: every call goes through the
// dispatch of the machine, is journalled and may take its time. A *pure function* is declared to be deterministic and without
// effect: scripts call it directly, a replay calls it again. A *capability operation* is what `host_call("cap.op", …)` reaches.

import type { DriftReaction } from '../host-slots.js'
import type { SecurityLevel } from '../policy/level-order.js'
import type { Plain } from '@bridle/vm'
import { compileSchema } from './schema.js'
import type { AnySchema, CompiledSchema, InputOf, JsonSchema, OutputOf } from './schema.js'
import { makeStandardSchema } from './response.js'
import type { DurableSteps } from './durable.js'
import type { ToolAttachments } from './attachments.js'
import type { ToolEvents, ToolProcesses } from './durable-links.js'
import { Done } from './intents.js'
import type { Intent } from './intents.js'
import { Pending } from './pending.js'
import type { PendingLimits } from './pending.js'
import type { ResponseFormat, StandardResponse, ValidationResponse } from './response.js'
import type { LogLevel, SideEffect } from '../../library/effects/index.js'
import type { Backoff } from '@bridle/compiler/signatures'
import { isAbove } from '../policy/level-order.js'

/** Calls that a tool makes itself; they end with the call that they are part of. */
export interface ToolCalls {
  /** Rejects with ToolError. */
  readonly call: (name: string, args?: { readonly [key: string]: unknown }) => Promise<unknown>
  /** All at once; results in the order of the calls, rejects with the first failure. */
  readonly batch: (
    calls: readonly { readonly tool: string; readonly args?: { readonly [key: string]: unknown } }[],
  ) => Promise<readonly unknown[]>
  /** All at once; the first that ends, well or not. The others are cancelled, or continue (`losers: 'run'`). */
  readonly race: (
    calls: readonly { readonly tool: string; readonly args?: { readonly [key: string]: unknown } }[],
    options?: { readonly losers?: 'cancel' | 'run' },
  ) => Promise<{ readonly index: number; readonly value: unknown }>
}

/** The context of a call for the host's code. */
export interface ToolContext {
  /** Aborts at the call's timeout and when the run is cancelled; work that continues afterwards is not waited for. */
  readonly signal: AbortSignal
  readonly runId: string
  readonly callId: string
  /** From 1; retries of one call count up. */
  readonly attempt: number
  /** How often the call is made at most, failures included. */
  readonly maxAttempts: number
  /** Equal for all attempts of one call, also after a restore. */
  readonly idempotencyKey: string
  /** What the prepare step attached; null without one. */
  readonly payload: unknown
  /** Other tools of the same host. */
  readonly tools: ToolCalls
  /** Says that the work had an effect (`http`). Throws a ToolError `effect_violation` for one that the tool does not declare. */
  readonly performed: (effect: string) => void
  /** Emitted as an event of the run; an MCP client receives a text, or `{progress, total?, message?}`. */
  readonly progress: (data: unknown) => void
  /** Steps that are executed once, waits for outside answers. */
  readonly durable: DurableSteps
  /** The credential to complete this call later; the same for all its attempts, in any process. */
  readonly completionKey: () => string
  /** To return: the result comes later, by the completion key. For tools with `mayDefer`. */
  readonly pending: (limits?: PendingLimits) => Pending
  /** To return: the result, and what the runtime does together with the commit that keeps it. */
  readonly done: (value: unknown, options?: { readonly intents?: readonly Intent[] }) => Done
  /** Return value that ends the call with this value, regardless of the response format. */
  readonly finish: (value: unknown) => Finished
  /**
   * Has `tool` called with these arguments when the run fails or is cancelled; the calls of all tools together, the last one first. Resolves when
   * that is kept: ask for it before what is to be undone.
   */
  readonly onUndo: (tool: string, args?: { readonly [key: string]: unknown }) => Promise<void>
  /** Events of the outside, and of this run. */
  readonly events: ToolEvents
  /** Other runs of the same program. */
  readonly processes: ToolProcesses
  /** Bytes that are kept beside the run; scripts see references. */
  readonly attachments: ToolAttachments
  /** Of the agent whose call this is; null outside of one. */
  readonly sessionId: string | null
  /** The run, where a store keeps it; null otherwise. */
  readonly processId: string | null
  /** Who called, when the tool is served to a client (`toMcpServer`); null in a run, whose script is the caller. */
  readonly client: ToolClient | null
}

/** The client on the other side of a served tool. What it did not declare rejects with ToolError. */
export interface ToolClient {
  /** `{name, version}` as it introduced itself. */
  readonly info: { readonly [key: string]: unknown }
  /** What it declared: `sampling`, `elicitation`, `roots` … */
  readonly capabilities: { readonly [key: string]: unknown }
  /** A line for its log; nothing happens below the level that it set, or when it set none. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void
  /** An answer of its own model: parameters and result of `sampling/createMessage`. */
  readonly sample: (
    request: {
      readonly messages: readonly object[]
      readonly maxTokens: number
      readonly [key: string]: unknown
    },
    options?: ToolQuestionOptions,
  ) => Promise<{ readonly [key: string]: unknown }>
  /** A form for the person in front of it; the schema is an object of flat fields. */
  readonly elicit: (message: string, schema: JsonSchema, options?: ToolQuestionOptions) => Promise<ToolFormAnswer>
  /** Folders that it works in. */
  readonly roots: (options?: ToolQuestionOptions) => Promise<readonly { readonly uri: string; readonly name?: string }[]>
}

export interface ToolQuestionOptions {
  /** By which clients of the revision 2026-07-28 answer; `input-1`, `input-2` and so on by default. */
  readonly key?: string
}

export type ToolFormAnswer =
  | { readonly action: 'accept'; readonly content: { readonly [field: string]: unknown } }
  | { readonly action: 'decline' | 'cancel'; readonly content: null }

/** The context of the prepare step: facts, and nothing that has an effect. */
export interface PrepareContext extends Pick<
  ToolContext,
  'signal' | 'runId' | 'callId' | 'attempt' | 'maxAttempts' | 'idempotencyKey' | 'sessionId' | 'processId' | 'client'
> {
  /** Tools that this one may call. */
  readonly catalog: () => readonly { readonly name: string; readonly description: string; readonly version: string }[]
}

/** A call as the prepare step sees it. */
export interface CallToPrepare<Input = unknown> {
  readonly callId: string
  readonly tool: string
  readonly args: Input
}

/** Arguments and payload for every attempt; absent members are not changed. */
export interface PreparedCall<Input = unknown> {
  readonly args?: Input
  readonly payload?: unknown
}

/** Ends a call with this result: returned by a prepare step, the tool does not run at all. */
export class Finished {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

export function finish(value: unknown): Finished {
  return new Finished(value)
}

/**
 * What became of a call whose process ended in the middle: `{ done: value }` with the value that it had, `not_done` to make it now, or
 * `unknown`, and the script gets the error `unknown_outcome`.
 */
export type VerifyCall = (
  idempotencyKey: string,
  args: { readonly [key: string]: unknown },
) => VerifiedCall | Promise<VerifiedCall>
export type VerifiedCall = { readonly done: unknown } | 'not_done' | 'unknown'

/** Whether a call that was begun and has no outcome may be made again: never by itself, without harm, or as `verify` finds. */
export type Recovery = 'once' | 'safe' | 'idempotent' | { readonly verify: VerifyCall }

/** What may be tried again, and when; only failures that are worth it are, and only where that does no harm. */
export interface RetryDefinition {
  readonly maxRetries?: number
  readonly baseDelayMs?: number
  readonly maxDelayMs?: number
  readonly backoff?: Backoff
  readonly jitter?: boolean
  readonly retryOn?: readonly string[]
}

export { Done, Pending }
export type { Intent, PendingLimits, SecurityLevel }

export interface ToolExample {
  readonly note?: string
  readonly args: { readonly [key: string]: unknown }
  /** What the call gives; left out where it depends on the world. */
  readonly result?: unknown
}

/** What `execute` gives for a result of the type that `output` accepts. */
export type Executed<Result> =
  | Result
  | Promise<Result | Pending | Finished>
  | Pending
  | Finished
  | AsyncGenerator<unknown, Result, unknown>
  | Generator<unknown, Result, unknown>

/** What `execute` may give: what `output` accepts, anything without one; with standard responses also one of those. */
type ResultFor<Output extends AnySchema, Response extends ResponseFormat> =
  unknown extends InputOf<Output>
    ? unknown
    : Executed<InputOf<Output> | (Response extends 'standard' ? StandardResponse | ValidationResponse : never)>

export interface ToolDefinition<
  Input extends AnySchema = AnySchema,
  Output extends AnySchema = AnySchema,
  Name extends string = string,
  Response extends ResponseFormat = ResponseFormat,
> {
  /** `area.operation`, imported by `import { operation } from "host/area"`; a name without a dot is in `host/tools`. */
  readonly name: Name
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
  /** What the tool is about, for listing and search: `filesystem`, `web`, `data` … */
  readonly category?: string
  /** Further names that calls and searches find it by. */
  readonly aliases?: readonly string[]
  /** Kinds of effect, as the grants of a run name them: `['http']`. */
  readonly effects?: readonly string[]
  /** At least what the side effect implies; a tool can only call itself more dangerous. */
  readonly level?: SecurityLevel
  /** Whether doing the work twice does harm: `once` by default, `safe` for tools that only read. */
  readonly recovery?: Recovery
  readonly retry?: RetryDefinition
  /** Whether equal calls of a run may share a result, and how long. */
  readonly cacheable?: boolean | { readonly ttlMs: number }
  /** What happens when a result has another shape than `output` says, or a lock file (docs/tools/lock.md). */
  readonly drift?: DriftReaction
  /** `direct` (default) gives the bare result and throws; `standard` wraps both (tools/response.ts). */
  readonly response?: Response
  readonly examples?: readonly ToolExample[]
  /** Runs once, before the first attempt, and must not have effects: fills in arguments, or answers at once with `finish(value)`. */
  readonly prepare?: (
    call: CallToPrepare<OutputOf<Input>>,
    context: PrepareContext,
  ) => PreparedCall | Finished | undefined | Promise<PreparedCall | Finished | undefined>
  /**
   * `pending(token)` says that the result comes later, by `runtime.completeTool`. An async generator streams: what it yields is
   * progress (or the chunks of `registry.stream`), what it returns the result.
   */
  readonly execute: (input: OutputOf<Input>, context: ToolContext) => ResultFor<Output, Response>
  /** Whether it may return `context.pending()`. */
  readonly mayDefer?: boolean
}

export interface Tool {
  readonly kind: 'tool'
  readonly name: string
  readonly description: string
  readonly version: string
  readonly input: CompiledSchema | null
  /** Of what callers get: the record around the result for a tool with standard responses. */
  readonly output: CompiledSchema | null
  /** Of the result itself. */
  readonly result: CompiledSchema | null
  readonly sideEffect: SideEffect
  readonly timeoutMs: number | null
  readonly category: string | null
  readonly aliases: readonly string[]
  readonly effects: readonly string[]
  readonly level: SecurityLevel
  readonly recovery: Recovery
  readonly retry: RetryDefinition | null
  readonly cacheable: boolean | { readonly ttlMs: number }
  readonly drift: DriftReaction | null
  readonly response: ResponseFormat
  readonly examples: readonly ToolExample[]
  readonly prepare:
    | ((
        call: CallToPrepare,
        context: PrepareContext,
      ) => PreparedCall | Finished | undefined | Promise<PreparedCall | Finished | undefined>)
    | null
  readonly execute: (input: unknown, context: ToolContext) => unknown
  readonly mayDefer: boolean
}

/** A tool as TypeScript knows it: what calls give it, and what they get. */
export interface TypedTool<Name extends string = string, Args = unknown, Result = unknown> extends Tool {
  readonly name: Name
  /** For TypeScript only; there is no such value. */
  readonly types?: { readonly args: Args; readonly result: Result }
}

/** Arguments of a tool, as a caller writes them. */
export type ArgsOf<T> = T extends { readonly types?: infer Types }
  ? NonNullable<Types> extends { readonly args: infer Args }
    ? Args
    : unknown
  : unknown

/** What a tool gives to a caller. */
export type ResultOf<T> = T extends { readonly types?: infer Types }
  ? NonNullable<Types> extends { readonly result: infer Result }
    ? Result
    : unknown
  : unknown

export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  /** `duplicate_tool` for a name that is taken. */
  readonly code: 'invalid_definition' | 'duplicate_tool'

  constructor(message: string, code: DefinitionError['code'] = 'invalid_definition') {
    super(message)
    this.code = code
  }
}

/** A definition without `output`: `execute` may give anything. */
export type UncheckedDefinition<Input extends AnySchema, Name extends string, Response extends ResponseFormat> = Omit<
  ToolDefinition<Input, AnySchema, Name, Response>,
  'output' | 'execute'
> & {
  readonly output?: undefined
  readonly execute: (input: OutputOf<Input>, context: ToolContext) => unknown
}

export function defineTool<
  Input extends AnySchema = AnySchema,
  const Name extends string = string,
  Response extends ResponseFormat = 'direct',
>(
  definition: UncheckedDefinition<Input, Name, Response>,
): TypedTool<Name, InputOf<Input>, Response extends 'standard' ? StandardResponse : unknown>
/** What `execute` gives is checked against `output`, here and at each call. */
export function defineTool<
  Input extends AnySchema = AnySchema,
  Output extends AnySchema = AnySchema,
  const Name extends string = string,
  Response extends ResponseFormat = 'direct',
>(
  definition: ToolDefinition<Input, Output, Name, Response>,
): TypedTool<Name, InputOf<Input>, Response extends 'standard' ? StandardResponse<OutputOf<Output>> : OutputOf<Output>>
export function defineTool(definition: ToolDefinition | UncheckedDefinition<AnySchema, string, ResponseFormat>): TypedTool {
  const { name } = definition
  if (!/^[^\s"'`\\]{1,200}$/.test(name))
    throw new DefinitionError(
      `tool name ${JSON.stringify(name)} is not usable: give it 1 to 200 characters without blanks and quotes`,
    )
  if (typeof definition.execute !== 'function') throw new DefinitionError(`tool "${name}" has no execute function`)
  const input =
    definition.input === undefined ? null : compileSchema(definition.input, 'input', `input of tool '${definition.name}'`)
  if (input !== null && input.json['type'] !== 'object')
    throw new DefinitionError(`the input schema of tool "${name}" must describe an object`)
  const result =
    definition.output === undefined ? null : compileSchema(definition.output, 'output', `output of tool '${definition.name}'`)
  const response = definition.response ?? 'direct'
  const sideEffect = definition.sideEffect ?? 'network'
  const reads = sideEffect === 'none' || sideEffect === 'read_only'
  return {
    kind: 'tool',
    name,
    description: definition.description ?? '',
    version: definition.version ?? '1.0.0',
    input,
    output:
      response === 'direct'
        ? result
        : { json: makeStandardSchema(result?.json ?? null), check: (value) => ({ ok: true, value }) },
    result,
    sideEffect,
    timeoutMs: definition.timeoutMs ?? null,
    category: definition.category ?? null,
    aliases: definition.aliases ?? [],
    effects: definition.effects ?? [],
    level: chooseLevel(name, sideEffect, definition.level),
    recovery: readRecovery(name, definition.recovery) ?? (reads ? 'safe' : 'once'),
    retry: definition.retry ?? null,
    cacheable: definition.cacheable ?? false,
    drift: definition.drift ?? null,
    response,
    examples: definition.examples ?? [],
    prepare: (definition.prepare as Tool['prepare'] | undefined) ?? null,
    execute: definition.execute as (input: unknown, context: ToolContext) => unknown,
    mayDefer: definition.mayDefer ?? false,
  }
}

/** Raises DefinitionError: an unknown recovery must not be treated as one that allows repetition. */
function readRecovery(name: string, given: unknown): Recovery | null {
  if (given === undefined) return null
  if (given === 'once' || given === 'safe' || given === 'idempotent') return given
  const verify = typeof given === 'object' && given !== null ? (given as { readonly verify?: unknown }).verify : undefined
  if (typeof verify === 'function') return { verify: verify as VerifyCall }
  throw new DefinitionError(`the recovery of tool "${name}" is none of "once", "safe", "idempotent", { verify }`)
}

/** Whether a call may be made again without asking anybody. */
export function isRepeatable(recovery: Recovery): boolean {
  return recovery === 'safe' || recovery === 'idempotent'
}

function chooseLevel(name: string, sideEffect: SideEffect, given: SecurityLevel | undefined): SecurityLevel {
  const least: SecurityLevel = sideEffect === 'none' ? 'safe' : sideEffect === 'process_exec' ? 'privileged' : 'restricted'
  if (given === undefined) return least
  if (isAbove(least, given))
    throw new DefinitionError(
      `tool "${name}" has side effect ${sideEffect} and cannot be of level ${given}; it is ${least} at least`,
    )
  return given
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

/** A tool that declares nothing has said nothing, unless it is without side effects. */
export function listDeclaredEffects({ effects, sideEffect }: Pick<Tool, 'effects' | 'sideEffect'>): readonly string[] | null {
  return effects.length > 0 || sideEffect === 'none' ? effects : null
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

export function pending(token: string): Pending {
  return new Pending(token)
}
