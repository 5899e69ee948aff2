// The backend of scripts that register tools, resources and prompts: one run that continues as long as the server. The script
// runs first, then the machine takes calls (server-family.ts) that are queued here; replies find their callers by number.

import type { EffectArgs, EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { answered } from '../tools/executors/provider.js'
import type { Provider } from '../tools/executors/provider.js'
import type { Run, RunResult } from '../host/run.js'
import type { Module } from '../host/module.js'
import type { Runtime } from '../host/runtime.js'
import type { StartOptions } from '../host/runtime-options.js'
import type { ApprovalDesk } from '../tools/policy/host-approval.js'
import { McpServing, reportTo } from './serving.js'
import { INTERNAL, INVALID_PARAMS, NOT_FOUND, RpcError, isObject, isTaskSupport, toJson, LIST_NAMES } from './server-protocol.js'
import { withDigits } from '../tools/executors/exact-json.js'
import { makeCompletion, matchTemplate } from './server-offers.js'
import type { Json, JsonObject, ListName, McpBackend, RequestScope, TaskSupport } from './server-protocol.js'

type Asked = { readonly [key: string]: Plain } | null

interface Caller {
  readonly scope: RequestScope
  readonly resolve: (result: Reply) => void
  readonly reject: (cause: Error) => void
}

type Reply = { readonly ok: true; readonly result: JsonObject } | { readonly ok: false; readonly message: string }

interface Offer {
  readonly tools: readonly JsonObject[]
  /** With their contents (`text` or `blob`) and `subscribe`, which lists do not show. */
  readonly resources: readonly JsonObject[]
  /** With `complete`: by name of the argument its values, or true when the script computes them. As prompts. */
  readonly resourceTemplates: readonly JsonObject[]
  readonly prompts: readonly JsonObject[]
}

const NOTHING: Offer = { tools: [], resources: [], resourceTemplates: [], prompts: [] }
/** What lists do not show. */
const HIDDEN = new Set(['text', 'blob', 'subscribe', 'complete'])

/** A script whose run ended before it served anything. */
export class ServeError extends Error {
  override readonly name = 'ServeError'
  readonly result: RunResult

  constructor(result: RunResult) {
    super(result.status === 'failed' ? result.error.message : `the script ended with status ${result.status}`)
    this.result = result
  }
}

export interface RegisteredOptions extends Omit<StartOptions, 'epilogue'> {
  /** Answers the script's requests to people, and clients through it. */
  readonly desk?: ApprovalDesk
}

export class RegisteredBackend implements McpBackend {
  readonly kind = 'registered'
  readonly desk?: ApprovalDesk
  private offer: Offer = NOTHING
  private readonly queue: Asked[] = []
  private waiting: ((outcome: EffectOutcome) => void) | null = null
  private readonly callers = new Map<number, Caller>()
  private readonly listeners = new Set<(name: ListName) => void>()
  private readonly watchers = new Set<(uri: string) => void>()
  private calls = 0
  private closed = false
  private run: Run | null = null
  private onOffered: (() => void) | null = null

  private constructor(desk: ApprovalDesk | undefined) {
    if (desk !== undefined) this.desk = desk
  }

  /** Runs the script up to the point where it serves. Throws ServeError. */
  static async start(runtime: Runtime, module: Module, options: RegisteredOptions = {}): Promise<RegisteredBackend> {
    const backend = new RegisteredBackend(options.desk)
    const offered = new Promise<void>((resolve) => {
      backend.onOffered = resolve
    })
    const run = runtime.start(module, {
      ...options,
      epilogue: '__mcp_serve',
      providers: [
        ...(options.providers ?? []),
        ...(options.desk === undefined ? [] : [options.desk.provider()]),
        backend.makeProvider(),
        new McpServing((taskId) => backend.findTaskScope(taskId)),
      ],
      onEvent: (event) => {
        if (event.type === 'report') {
          const scope = backend.findTaskScope(event.report.taskId)
          if (scope !== null) reportTo(scope, event.report)
        }
        options.onEvent?.(event)
      },
    })
    backend.run = run
    const first = await Promise.race([offered, run.result])
    if (first !== undefined) throw new ServeError(first)
    void run.result.then((result) => backend.onEnded(result))
    return backend
  }

  /** The end of the run; for waiting for a server whose script stopped. */
  get result(): Promise<RunResult> {
    return this.run!.result
  }

  async close(): Promise<void> {
    this.closed = true
    this.ask(null)
    await this.run?.result
  }

  list(name: ListName): readonly JsonObject[] {
    if (name === 'tools') return this.offer.tools.map(({ task: _, ...tool }) => tool)
    return this.offer[name].map((each) => Object.fromEntries(Object.entries(each).filter(([key]) => !HIDDEN.has(key))))
  }

  features(): ReturnType<NonNullable<McpBackend['features']>> & { readonly tasks: boolean } {
    const { prompts, resourceTemplates, resources } = this.offer
    return {
      // A tool of the script may register what there is none of yet: clients listen for changes of what is announced only.
      lists: ['prompts', 'resources'],
      completions: [...prompts, ...resourceTemplates].some((each) => each['complete'] !== undefined),
      subscriptions: resources.some((each) => each['subscribe'] === true),
      tasks: this.offer.tools.some((each) => isTaskSupport(each['task'])),
    }
  }

  getTaskSupport(tool: string): TaskSupport | null {
    const support = this.offer.tools.find((each) => each['name'] === tool)?.['task']
    return isTaskSupport(support) ? support : null
  }

  onResourceUpdated(listener: (uri: string) => void): () => void {
    this.watchers.add(listener)
    return () => this.watchers.delete(listener)
  }

  onListChanged(listener: (name: ListName) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async callTool(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const at = this.offer.tools.findIndex((tool) => tool['name'] === name)
    if (at < 0) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`)
    const reply = await this.call('tool', at, params['arguments'] ?? {}, scope)
    return reply.ok ? reply.result : { content: [{ type: 'text', text: reply.message }], isError: true }
  }

  async readResource(uri: string, scope: RequestScope): Promise<JsonObject> {
    const fixed = this.offer.resources.find((resource) => resource['uri'] === uri)
    if (fixed !== undefined) return makeContents(uri, fixed, fixed['mimeType'])
    for (const [at, template] of this.offer.resourceTemplates.entries()) {
      const variables = matchTemplate(String(template['uriTemplate']), uri)
      if (variables === null) continue
      const reply = await this.call('template', at, variables, scope)
      if (!reply.ok) throw new RpcError(INTERNAL, reply.message)
      return makeContents(uri, reply.result, reply.result['mimeType'] ?? template['mimeType'])
    }
    throw new RpcError(NOT_FOUND, `Resource not found: ${uri}`)
  }

  async getPrompt(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const at = this.offer.prompts.findIndex((prompt) => prompt['name'] === name)
    if (at < 0) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}`)
    const reply = await this.call('prompt', at, params['arguments'] ?? {}, scope)
    if (!reply.ok) throw new RpcError(INTERNAL, reply.message)
    return reply.result
  }

  async complete(params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const ref = isObject(params['ref']) ? params['ref'] : {}
    const argument = isObject(params['argument']) ? params['argument'] : {}
    const { name = '', value: written = '' } = argument
    if (typeof name !== 'string' || typeof written !== 'string')
      throw new RpcError(INVALID_PARAMS, 'completion/complete: the name and the value of the argument are strings')
    const ofPrompt = ref['type'] === 'ref/prompt'
    const list = ofPrompt ? this.offer.prompts : this.offer.resourceTemplates
    const key = ofPrompt ? 'name' : 'uri'
    const at = list.findIndex((each) => each[ofPrompt ? 'name' : 'uriTemplate'] === ref[key])
    if (at < 0) throw new RpcError(INVALID_PARAMS, `Unknown ${ofPrompt ? 'prompt' : 'resource template'}: ${ref[key] ?? ''}`)
    const complete = list[at]!['complete']
    const known = isObject(complete) && Object.hasOwn(complete, name) ? complete[name]! : []
    if (Array.isArray(known)) return makeCompletion(known.filter((each) => String(each).startsWith(written)))
    const context = isObject(params['context']) && isObject(params['context']['arguments']) ? params['context']['arguments'] : {}
    const args = { kind: ofPrompt ? 'prompt' : 'template', argument: name, value: written, context }
    const reply = await this.call('complete', at, args, scope)
    if (!reply.ok) throw new RpcError(INTERNAL, reply.message)
    const { values } = reply.result
    return makeCompletion(Array.isArray(values) ? values : [])
  }

  /** The request of a client that a task works for: its call is named in the ids of all of its tasks. */
  private findTaskScope(taskId: string): RequestScope | null {
    const call = /:mcp:(\d+)(?::|$)/.exec(taskId)?.[1]
    return call === undefined ? null : (this.callers.get(Number(call))?.scope ?? null)
  }

  private async call(what: string, at: number, args: Json, scope: RequestScope): Promise<Reply> {
    const { signal } = scope
    if (this.closed) throw new RpcError(INTERNAL, 'the script has ended')
    const call = ++this.calls
    const replied = new Promise<Reply>((resolve, reject) => this.callers.set(call, { scope, resolve, reject }))
    const onAbort = (): void => {
      this.callers.get(call)?.reject(new Error('cancelled'))
      this.callers.delete(call)
      this.ask({ cancel: call })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    else this.ask({ call, what, at, args })
    try {
      return await replied
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Hands something to the machine: at once when it waits, else when it next asks. */
  private ask(asked: Asked): void {
    const { waiting } = this
    this.waiting = null
    if (waiting === null) this.queue.push(asked)
    else waiting(answered(asked))
  }

  private makeProvider(): Provider<'mcp.serve'> {
    return {
      kinds: ['mcp.serve'],
      // Serving changes nothing by itself; what handlers do are effects of their own.
      isReadOnly: () => true,
      perform: (effect, call) => this.perform(effect, call.signal),
    }
  }

  private perform({ args }: EffectOf<'mcp.serve'>, signal: AbortSignal): EffectOutcome | Promise<EffectOutcome> {
    switch (args.op) {
      case 'offer':
        this.take(args)
        return answered(null)
      case 'reply': {
        const { call } = args
        const caller = this.callers.get(call)
        this.callers.delete(call)
        caller?.resolve(
          args.ok ? { ok: true, result: toJson(args.result ?? null) as JsonObject } : { ok: false, message: args.message ?? '' },
        )
        return answered(null)
      }
      case 'next': {
        const next = this.queue.shift()
        if (next !== undefined) return answered(next)
        return new Promise((resolve) => {
          this.waiting = resolve
          signal.addEventListener('abort', () => resolve(answered(null)), { once: true })
        })
      }
    }
  }

  private take(args: Extract<EffectArgs['mcp.serve'], { readonly op: 'offer' }>): void {
    const list = (key: 'tools' | 'resources' | 'templates' | 'prompts') => toJson(args[key]) as unknown as readonly JsonObject[]
    const before = this.offer
    this.offer = {
      tools: list('tools'),
      resources: list('resources'),
      resourceTemplates: list('templates'),
      prompts: list('prompts'),
    }
    this.onOffered?.()
    if (this.onOffered === null) this.tellChanges(before)
    this.onOffered = null
  }

  private tellChanges(before: Offer): void {
    const now = this.offer
    for (const { uri, text, blob } of before.resources) {
      const after = now.resources.find((each) => each['uri'] === uri)
      if (after === undefined || (after['text'] === text && after['blob'] === blob)) continue
      for (const watcher of this.watchers) watcher(String(uri))
    }
    const formatOffer = (offer: Offer, name: ListName): string =>
      JSON.stringify(offer[name], (key, value: unknown) => (HIDDEN.has(key) && name !== 'tools' ? undefined : value))
    for (const name of LIST_NAMES)
      if (formatOffer(before, name) !== formatOffer(now, name)) for (const listener of this.listeners) listener(name)
  }

  private onEnded(result: RunResult): void {
    this.closed = true
    const cause = new RpcError(INTERNAL, result.status === 'failed' ? result.error.message : 'the script has ended')
    for (const caller of this.callers.values()) caller.reject(cause)
    this.callers.clear()
  }
}

function makeContents(uri: string, { text, blob }: JsonObject, mimeType: Json | undefined): JsonObject {
  const content: JsonObject = typeof blob === 'string' ? { blob } : { text: String(withDigits(text)) }
  return { contents: [{ uri, ...content, ...(mimeType === undefined || mimeType === null ? {} : { mimeType }) }] }
}
