// A collection of tools on the host's side: looked up, searched and called without a run. The same collection can be given to
// `createRuntime({ tools })`, served as an MCP server or turned into tools of a model's library. What a call here does not
// have is what only runs have: policy, approval, budgets, journal.

import { listenForAbort } from '../../library/abort.js'
import { DefinitionError } from './define.js'
import type { ArgsOf, ResultOf, SecurityLevel, Tool, ToolClient, TypedTool } from './define.js'
import { ToolError, toToolErrorData } from './errors.js'
import type { ToolErrorData } from './errors.js'
import { makeContext, invoke, isStream, limitOutcome, getValue } from './invoke.js'
import type { Invocation, Invoked } from './invoke.js'
import type { JsonSchema } from './schema.js'
import { indexTools } from './search.js'
import type { SearchIndex } from './search.js'
import { isAbove } from '../policy/level-order.js'

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Instead of the tool's own limit. */
  readonly timeoutMs?: number
  readonly progress?: (data: unknown) => void
  /** Who the call is made for; the tool's `context.client`. */
  readonly client?: ToolClient
}

export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly category: string | null
  readonly level: SecurityLevel
}

export interface ToolQuery {
  /** Words looked for in name, aliases, description and parameter names. */
  readonly text?: string
  readonly category?: string
  /** Part of the description. */
  readonly tag?: string
  readonly effect?: string
  readonly maxLevel?: SecurityLevel
  readonly limit?: number
}

export type TryResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ToolError }

export interface BatchCall {
  readonly tool: string
  readonly args?: { readonly [key: string]: unknown }
}

export interface BatchOptions extends CallOptions {
  /** Calls at the same time; all of them by default. */
  readonly concurrency?: number
  /** Throws the first failure and cancels what is under way, instead of giving every outcome. */
  readonly failFast?: boolean
}

export interface Chunk {
  readonly streamId: string
  /** From 0. */
  readonly chunkIndex: number
  readonly content: unknown
  readonly metadata: { readonly isFinal: boolean }
  /** Milliseconds since 1970. */
  readonly timestamp: number
}

/**
 * Chunks as they are asked for, once. `result` settles when the last one was taken; awaiting it without taking chunks has them
 * taken and dropped.
 */
export interface ToolStream extends AsyncIterable<Chunk> {
  readonly result: PromiseLike<unknown>
}

export interface ToolMetrics {
  readonly calls: number
  readonly errors: number
  /** Durations of the last 512 calls in milliseconds. */
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly lastError: ToolErrorData | null
}

interface Usage {
  calls: number
  errors: number
  readonly latencies: number[]
  lastError: ToolErrorData | null
}

const KEPT_LATENCIES = 512

export function createRegistry(tools: Iterable<Tool> = []): ToolRegistry {
  return new ToolRegistry().use(...tools)
}

export class ToolRegistry implements Iterable<Tool> {
  private readonly byName = new Map<string, Tool>()
  private readonly byAlias = new Map<string, Tool>()
  private readonly usage = new Map<string, Usage>()
  private index: SearchIndex | null = null
  private readonly listeners = new Set<() => void>()
  private calls = 0

  /** Adds tools. Throws DefinitionError for a name that is taken. */
  use(...tools: readonly Tool[]): this {
    for (const tool of tools) {
      if (this.byName.has(tool.name)) throw new DefinitionError(`tool "${tool.name}" is defined twice`, 'duplicate_tool')
      this.byName.set(tool.name, tool)
      for (const alias of tool.aliases) if (!this.byAlias.has(alias)) this.byAlias.set(alias, tool)
    }
    return this.noteChange()
  }

  /** Puts a tool in the place of the one of that name; throws DefinitionError when there is none. */
  replace(tool: Tool): this {
    const before = this.byName.get(tool.name)
    if (before === undefined) throw new DefinitionError(`there is no tool "${tool.name}" to replace`)
    this.byName.set(tool.name, tool)
    for (const [alias, each] of this.byAlias) if (each === before) this.byAlias.delete(alias)
    for (const alias of tool.aliases) if (!this.byAlias.has(alias)) this.byAlias.set(alias, tool)
    return this.noteChange()
  }

  /** Calls back when tools were added or replaced; gives the way to stop. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  [Symbol.iterator](): IterableIterator<Tool> {
    return this.byName.values()
  }

  get size(): number {
    return this.byName.size
  }

  /** By name or alias. */
  get(name: string): Tool | undefined {
    return this.byName.get(name) ?? this.byAlias.get(name)
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  list(): readonly ToolInfo[] {
    return [...this.byName.values()].map(({ name, description, version, category, level }) => ({
      name,
      description,
      version,
      category,
      level,
    }))
  }

  /** Sorted, each once. */
  categories(): readonly string[] {
    return [...new Set([...this.byName.values()].map((tool) => tool.category).filter((each) => each !== null))].sort()
  }

  /** Tools that satisfy all of the query, best match first. */
  search(query: ToolQuery = {}): readonly { readonly tool: Tool; readonly score: number }[] {
    this.index ??= indexTools(this.byName.values())
    const { category, tag, effect, maxLevel, limit = Infinity } = query
    return this.index
      .find(query.text ?? '')
      .filter(
        ({ tool }) =>
          (category === undefined || tool.category === category) &&
          (tag === undefined || tool.description.includes(tag)) &&
          (effect === undefined || tool.effects.includes(effect)) &&
          (maxLevel === undefined || !isAbove(tool.level, maxLevel)),
      )
      .slice(0, limit)
  }

  /** The tools with their schemas, as models and MCP clients take them. */
  toJsonSchema(): readonly {
    readonly name: string
    readonly description: string
    readonly inputSchema: JsonSchema
    readonly outputSchema?: JsonSchema
  }[] {
    return [...this.byName.values()].map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.input?.json ?? { type: 'object' },
      ...(tool.output === null ? {} : { outputSchema: tool.output.json }),
    }))
  }

  /** By name, or typed by the tool, which must be in the registry. Throws ToolError. */
  call<T extends TypedTool>(tool: T, args: ArgsOf<T>, options?: CallOptions): Promise<ResultOf<T>>
  call(name: string, args?: { readonly [key: string]: unknown }, options?: CallOptions): Promise<unknown>
  async call(wanted: string | Tool, args: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    const tool = this.require(wanted)
    const signal = options.signal ?? new AbortController().signal
    return getValue(
      await this.countUse(tool, () => this.invokeTool(tool, args, this.makeInvocation(signal, options), options.timeoutMs)),
    )
  }

  tryCall<T extends TypedTool>(tool: T, args: ArgsOf<T>, options?: CallOptions): Promise<TryResult<ResultOf<T>>>
  tryCall(name: string, args?: { readonly [key: string]: unknown }, options?: CallOptions): Promise<TryResult>
  async tryCall(wanted: string | Tool, args: unknown = {}, options: CallOptions = {}): Promise<TryResult> {
    try {
      const tool = this.require(wanted)
      return { ok: true, value: await this.call(tool, args, options) }
    } catch (cause) {
      if (cause instanceof ToolError) return { ok: false, error: cause }
      throw cause
    }
  }

  /** Outcomes in the order of the calls. An unknown tool refuses the whole batch before anything is called. */
  async batch(calls: readonly BatchCall[], options: BatchOptions & { readonly failFast: true }): Promise<readonly unknown[]>
  async batch(calls: readonly BatchCall[], options?: BatchOptions): Promise<readonly TryResult[]>
  async batch(calls: readonly BatchCall[], options: BatchOptions = {}): Promise<readonly unknown[]> {
    const { concurrency = calls.length, failFast = false, signal, ...rest } = options
    for (const { tool } of calls) this.require(tool)
    const stop = new AbortController()
    const ignore = listenForAbort(signal, () => stop.abort(signal?.reason))
    const outcomes: TryResult[] = []
    let first: ToolError | null = null
    let next = 0
    const runWorker = async (): Promise<void> => {
      while (next < calls.length && !(failFast && first !== null)) {
        const at = next++
        const { tool, args } = calls[at]!
        const outcome = await this.tryCall(tool, args ?? {}, { ...rest, signal: stop.signal })
        outcomes[at] = outcome
        if (outcome.ok || !failFast || first !== null) continue
        first = outcome.error
        stop.abort(outcome.error)
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, calls.length)) }, runWorker))
    } finally {
      ignore()
    }
    if (!failFast) return outcomes
    if (first !== null) throw first
    return outcomes.map((outcome) => (outcome.ok ? outcome.value : null))
  }

  /** Pulls chunks out of a streaming tool as fast as they are taken; leaving the loop ends the tool. Other tools give one chunk. */
  stream(name: string, args: { readonly [key: string]: unknown } = {}, options: CallOptions = {}): ToolStream {
    const tool = this.require(name)
    const abort = new AbortController()
    const signal = options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, options.signal])
    const invocation = this.makeInvocation(signal, options)
    let settle: (value: unknown) => void = () => {}
    let fail: (cause: unknown) => void = () => {}
    const result = new Promise<unknown>((resolve, reject) => {
      settle = resolve
      fail = reject
    })
    // A consumer that only reads chunks gets the failure from the loop.
    result.catch(() => {})
    const chunks = this.iterateChunks(tool, args, invocation, options)
    let begun = false
    async function* takeChunks(): AsyncGenerator<Chunk> {
      try {
        for (;;) {
          const { done, value } = await chunks.next()
          if (done === true) return settle(value)
          yield value
        }
      } catch (cause) {
        fail(cause)
        throw cause
      } finally {
        abort.abort(new Error('the stream was left'))
        await chunks.return(undefined)
        fail(new ToolError('cancelled', `Tool '${tool.name}' was cancelled`))
      }
    }
    const drain = async (): Promise<void> => {
      if (begun) return
      begun = true
      for await (const _ of { [Symbol.asyncIterator]: takeChunks });
    }
    return {
      [Symbol.asyncIterator]: () => {
        begun = true
        return takeChunks()
      },
      result: {
        // A loop that begins in the same turn comes first.
        then: (onValue, onFailure) => {
          queueMicrotask(() => void drain().catch(() => {}))
          return result.then(onValue, onFailure)
        },
      },
    }
  }

  metrics(name: string): ToolMetrics {
    const { calls = 0, errors = 0, latencies = [], lastError = null } = this.usage.get(this.require(name).name) ?? {}
    const sorted = [...latencies].sort((a, b) => a - b)
    const findPercentile = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
    return { calls, errors, p50Ms: findPercentile(0.5), p95Ms: findPercentile(0.95), p99Ms: findPercentile(0.99), lastError }
  }

  private noteChange(): this {
    this.index = null
    for (const listener of this.listeners) listener()
    return this
  }

  private require(wanted: string | Tool): Tool {
    const name = typeof wanted === 'string' ? wanted : wanted.name
    const tool = this.get(name)
    if (tool !== undefined && (typeof wanted === 'string' || tool === wanted)) return tool
    if (tool !== undefined)
      throw new ToolError('not_registered', `Tool '${name}' of this registry is another one: give the name, or that tool`)
    const near = this.search({ text: name, limit: 3 }).map((each) => each.tool.name)
    throw new ToolError('not_registered', `Tool '${name}' not found${near.length === 0 ? '' : `; near it: ${near.join(', ')}`}`)
  }

  private makeInvocation(signal: AbortSignal, { progress, client }: CallOptions): Invocation {
    const callId = `call_${++this.calls}`
    return {
      runId: 'registry',
      callId,
      attempt: 1,
      maxAttempts: 1,
      idempotencyKey: `registry:${callId}`,
      progress: progress ?? (() => {}),
      client: client ?? null,
      signal,
    }
  }

  private invokeTool(tool: Tool, args: unknown, call: Invocation, timeoutMs: number | undefined): Promise<Invoked> {
    if (call.signal.aborted)
      return Promise.resolve({ kind: 'failed', error: { code: 'cancelled', message: `Tool '${tool.name}' was cancelled` } })
    return limitOutcome(
      invoke(tool, args, call, (name) => this.get(name) ?? null),
      tool,
      call.signal,
      timeoutMs,
    )
  }

  private async *iterateChunks(
    tool: Tool,
    args: { readonly [key: string]: unknown },
    call: Invocation,
    options: CallOptions,
  ): AsyncGenerator<Chunk, unknown, void> {
    let index = 0
    const makeChunk = (content: unknown, isFinal: boolean): Chunk => ({
      streamId: call.callId,
      chunkIndex: index++,
      content,
      metadata: { isFinal },
      timestamp: Date.now(),
    })
    const checked = (await tool.input?.check(args)) ?? { ok: true, value: args }
    if (!checked.ok) throw new ToolError('invalid_args', `Invalid arguments at ${checked.path}: ${checked.reason}`)
    let started: unknown = null
    if (tool.prepare === null) {
      started = tool.execute(
        checked.value,
        makeContext(call, (name) => this.get(name) ?? null, tool),
      )
      if (started instanceof Promise) started = await started
    }
    if (!isStream(started)) {
      const value =
        tool.prepare === null
          ? getValue(await this.invokeTool({ ...tool, execute: () => started }, args, call, options.timeoutMs))
          : getValue(await this.invokeTool(tool, args, call, options.timeoutMs))
      yield makeChunk(value, true)
      return value
    }
    const stream = started
    try {
      for (;;) {
        if (call.signal.aborted) throw new ToolError('cancelled', `Tool '${tool.name}' was cancelled`)
        const { done, value } = await stream.next()
        if (done === true) {
          const last = getValue(await this.invokeTool({ ...tool, execute: () => value }, args, call, options.timeoutMs))
          yield makeChunk(last, true)
          return last
        }
        yield makeChunk(value, false)
      }
    } catch (cause) {
      throw cause instanceof ToolError ? cause : ToolError.of(toToolErrorData(cause))
    } finally {
      await stream.return?.()
    }
  }

  private async countUse(tool: Tool, work: () => Promise<Invoked>): Promise<Invoked> {
    let usage = this.usage.get(tool.name)
    if (usage === undefined) this.usage.set(tool.name, (usage = { calls: 0, errors: 0, latencies: [], lastError: null }))
    const before = performance.now()
    const outcome = await work()
    usage.calls++
    usage.latencies.push(performance.now() - before)
    if (usage.latencies.length > KEPT_LATENCIES) usage.latencies.shift()
    if (outcome.kind === 'failed') {
      usage.errors++
      usage.lastError = outcome.error
    }
    return outcome
  }
}
