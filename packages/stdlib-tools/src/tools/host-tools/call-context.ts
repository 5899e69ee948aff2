// What the code of a tool is given of its call: facts, its signal, other tools, and what it may ask of the run around it. All of it is made when
// somebody looks.

import { openAttachments } from './attachments.js'
import type { AttachmentStore, ToolAttachments } from './attachments.js'
import { Finished, listDeclaredEffects } from './define.js'
import type { PrepareContext, Tool, ToolCalls, ToolClient, ToolContext } from './define.js'
import { DurableCalls } from './durable.js'
import type { DurableSteps } from './durable.js'
import type { ToolEvents, ToolProcesses } from './durable-links.js'
import { ToolError } from './errors.js'
import { Done } from './intents.js'
import type { Intent } from './intents.js'
import type { PendingLimits } from './pending.js'
import type { NestedGate } from '../executors/provider.js'

export interface Invocation {
  readonly runId: string
  readonly callId: string
  readonly attempt: number
  readonly maxAttempts: number
  readonly idempotencyKey: string
  readonly progress: (data: unknown) => void
  /** Of a served tool; absent in runs. */
  readonly client?: ToolClient | null
  /** Judges the calls that the tool makes itself; absent for tools that are called without a run. */
  readonly nested?: NestedGate | null
  /** Created on first access: most calls end before anyone could abort them. */
  readonly signal: AbortSignal
}

/** Finds the tools that tools may call. */
export interface FindTool {
  (name: string): Tool | null
  /** All of them, for the prepare step. */
  readonly list?: () => Iterable<Tool>
  /** Where attachments are kept; a host without a place for them has none. */
  readonly attachments?: AttachmentStore | null
}

/** Those of a host. */
export function findToolsOf(host: {
  readonly tool: (name: string) => Tool | null
  readonly tools: ReadonlyMap<string, Tool>
  readonly attachments: AttachmentStore | null
}): FindTool {
  return Object.assign((name: string) => host.tool(name), { list: () => host.tools.values(), attachments: host.attachments })
}

/** Arguments and payload as every attempt sees them. */
export interface Prepared {
  readonly args: unknown
  readonly payload: unknown
}

/** The facts of a call, read on access: most tools use none, and most calls end before a signal is needed. */
export abstract class CallFacts implements Invocation {
  protected readonly facts: Omit<Invocation, 'signal'>

  constructor(facts: Omit<Invocation, 'signal'>) {
    this.facts = facts
  }

  abstract get signal(): AbortSignal

  get runId(): string {
    return this.facts.runId
  }

  get callId(): string {
    return this.facts.callId
  }

  get attempt(): number {
    return this.facts.attempt
  }

  get maxAttempts(): number {
    return this.facts.maxAttempts
  }

  get idempotencyKey(): string {
    return this.facts.idempotencyKey
  }

  get progress(): (data: unknown) => void {
    return this.facts.progress
  }

  get client(): ToolClient | null {
    return this.facts.client ?? null
  }

  get nested(): NestedGate | null {
    return this.facts.nested ?? null
  }
}

export class CallContext extends CallFacts implements ToolContext {
  private readonly call: Invocation
  private readonly find: FindTool
  private readonly makeCalls: (performed: (effect: string) => void) => ToolCalls
  /** Null for code of the host that is not a tool. */
  private readonly tool: Tool | null
  private calls: ToolCalls | null = null
  private kept: DurableCalls | null = null
  payload: unknown = null

  constructor(
    call: Invocation,
    find: FindTool,
    makeCalls: (performed: (effect: string) => void) => ToolCalls,
    tool: Tool | null,
  ) {
    super(call)
    this.call = call
    this.find = find
    this.makeCalls = makeCalls
    this.tool = tool
  }

  /** Created on first access; a tool may destructure it. */
  get performed(): (effect: string) => void {
    const { tool } = this
    return (effect) => {
      if (tool === null || listDeclaredEffects(tool) === null) return
      if (tool.effects.some((declared) => effect === declared || effect.startsWith(`${declared}.`))) return
      throw new ToolError('effect_violation', `Tool '${tool.name}' has effect '${effect}', which it does not declare`, {
        details: { effect, declared: tool.effects },
      })
    }
  }

  get signal(): AbortSignal {
    return this.call.signal
  }

  get tools(): ToolCalls {
    this.calls ??= this.makeCalls(this.performed)
    return this.calls
  }

  get durable(): DurableSteps {
    return this.readDurable()
  }

  get events(): ToolEvents {
    const durable = this.readDurable()
    const { links } = durable
    const { emit, waitAfter, signal } = links
    return {
      available: links.available,
      start: durable.event,
      wait: durable.waitFor,
      signal,
      emit,
      waitAfter,
      subscribe: (options) => links.subscribe(options),
    }
  }

  get processes(): ToolProcesses {
    const { available, start, awaitRun, signal, cancel, look, query } = this.readDurable().links
    return { available, start, await: awaitRun, signal, cancel, look, query }
  }

  get onUndo(): ToolContext['onUndo'] {
    return (tool, args) => {
      if (this.find(tool) === null) throw new ToolError('not_registered', `Tool '${tool}' not found`)
      return this.readDurable().links.onUndo(tool, args)
    }
  }

  get done(): ToolContext['done'] {
    return (value, { intents = [] } = {}) => new Done(value, intents)
  }

  get finish(): ToolContext['finish'] {
    return (value) => new Finished(value)
  }

  get attachments(): ToolAttachments {
    return openAttachments(this.find.attachments ?? null)
  }

  get sessionId(): string | null {
    return this.readDurable().sessionId
  }

  get processId(): string | null {
    return (this.call.nested?.durable?.link ?? null) === null ? null : this.runId
  }

  findPrepared(): Prepared | null {
    return this.readDurable().findPrepared()
  }

  keepPrepared(prepared: Prepared): void {
    this.readDurable().keepPrepared(prepared)
  }

  announce(limits: PendingLimits): Promise<void> {
    return this.readDurable().announce(limits)
  }

  stageIntents(intents: readonly Intent[]): () => void {
    return this.readDurable().links.stageIntents(intents)
  }

  forPrepare(): PrepareContext {
    const { runId, callId, attempt, maxAttempts, idempotencyKey, client, processId, find } = this
    const readSignal = (): AbortSignal => this.signal
    const readSession = (): string | null => this.sessionId
    return {
      runId,
      callId,
      attempt,
      maxAttempts,
      idempotencyKey,
      client,
      processId,
      get signal() {
        return readSignal()
      },
      get sessionId() {
        return readSession()
      },
      catalog: () => [...(find.list?.() ?? [])].map(({ name, description, version }) => ({ name, description, version })),
    }
  }

  get completionKey(): () => string {
    return () => this.readDurable().mintCall()
  }

  get pending(): ToolContext['pending'] {
    return (limits = {}) => this.readDurable().defer(this.tool?.mayDefer === true, limits)
  }

  private readDurable(): DurableCalls {
    this.kept ??= new DurableCalls({
      runId: this.runId,
      callId: this.callId,
      idempotencyKey: this.idempotencyKey,
      tool: this.tool?.name ?? this.callId,
      gate: this.call.nested?.durable ?? null,
    })
    return this.kept
  }
}
