// People as a power that a host gives to its runs: answers the effect `approval.ask`. Kinds are `question`, `approval`,
// `dual_control` and `escalation` (builtins of these names) and `permission` (a tool call that an approval policy leaves to the
// host); payloads are theirs. An answer is a response dict, or a list of them for the first four.
//
// `approvalProvider` asks a function of the host. An ApprovalDesk keeps requests until they are answered by id, which
// is the way for hosts whose people answer through a socket, a page or another protocol.

import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import type { ApprovalCall, ApprovalKind, ApprovalRequest } from './approval-request.js'
import { AnswerError, describeRequest, readAnswer } from './answers.js'
import { answered, categorizedError } from '../executors/provider.js'
import type { EffectCall, Provider } from '../executors/provider.js'
import { plainFromHost } from '../host-tools/edge.js'

/**
 * Gives an Answer. `undefined` or null leaves the request unanswered. What it throws makes a permission fail and leaves others unanswered.
 * With `binding` as in the request an answer is good for that call only.
 */
export type AskPerson = (request: ApprovalRequest, signal: AbortSignal) => unknown

const KINDS = ['approval.ask'] as const

function makeRequest(effect: Effect, call: EffectCall): ApprovalRequest {
  const kind = String(effect.args.kind) as ApprovalKind
  const payload = (effect.args.payload ?? {}) as { readonly [key: string]: Plain }
  const inner = payload['approvalRequest'] as { readonly id?: Plain } | undefined
  const id = payload['request_id'] ?? inner?.id ?? call.idempotencyKey
  const request = { id: String(id), kind, payload, runId: call.runId }
  const asked = kind === 'permission' ? readCall(payload) : null
  return { ...request, prompt: describeRequest({ ...request, prompt: '' }), ...(asked === null ? {} : { call: asked }) }
}

/** Null for a payload that gate.harn did not make. */
function readCall(payload: ApprovalRequest['payload']): ApprovalCall | null {
  const { approvalRequest, tool, binding } = payload as {
    readonly approvalRequest?: { readonly action: string; readonly args: ApprovalCall['args']; readonly deadline: string }
    readonly tool?: { readonly identity: string; readonly version: string | null }
    readonly binding?: string
  }
  if (approvalRequest === undefined || tool === undefined || binding === undefined) return null
  const { action, args, deadline } = approvalRequest
  return { tool: action, identity: tool.identity, version: tool.version, args, binding, expiresAt: deadline }
}

/** The outcome that an answer is. One that is none fails, and says what would be one. */
function makeOutcome(request: ApprovalRequest, answer: unknown): EffectOutcome {
  try {
    return answered(readAnswer(request, answer === undefined ? null : plainFromHost(answer)))
  } catch (cause) {
    if (cause instanceof AnswerError) return categorizedError('schema_validation', cause.message)
    throw cause
  }
}

/** Asks a function of the host. */
export function approvalProvider(ask: AskPerson): Provider {
  return {
    kinds: KINDS,
    // Questions are asked in a dry run too, because the rest of the run depends on the answer.
    isReadOnly: () => true,
    async perform(effect, call): Promise<EffectOutcome> {
      const request = makeRequest(effect, call)
      return makeOutcome(request, await ask(request, call.signal))
    },
  }
}

export class ApprovalDesk {
  private readonly open = new Map<
    string,
    { readonly request: ApprovalRequest; readonly resolve: (outcome: EffectOutcome) => void }
  >()
  private readonly listeners = new Set<(request: ApprovalRequest) => void>()

  provider(): Provider {
    return { kinds: KINDS, isReadOnly: () => true, perform: (effect, call) => this.ask(makeRequest(effect, call), call) }
  }

  /** Waiting requests, oldest first. */
  pending(): readonly ApprovalRequest[] {
    return [...this.open.values()].map(({ request }) => request)
  }

  /**
   * Hands an Answer to the request it belongs to; false when nothing of that id waits. Throws AnswerError if the answer does not match it; the
   * request continues waiting.
   */
  respond(id: string, response: unknown): boolean {
    const entry = this.open.get(id)
    if (entry === undefined) return false
    const answer = readAnswer(entry.request, response === undefined ? null : plainFromHost(response))
    this.open.delete(id)
    entry.resolve(answered(answer))
    return true
  }

  /** Calls back with every new request; gives the way to stop. */
  onRequest(listener: (request: ApprovalRequest) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private ask(asked: ApprovalRequest, { idempotencyKey, signal }: EffectCall): Promise<EffectOutcome> {
    // Requests about tool calls are numbered within their run. A desk serves many: an answer must not reach the call of another run, nor
    // a later one of the same number. It must find the same one in another process.
    const request = asked.kind === 'permission' ? { ...asked, id: idempotencyKey } : asked
    return new Promise((resolve) => {
      this.open.set(request.id, { request, resolve })
      // The request is no longer awaited, or the run has ended.
      signal.addEventListener(
        'abort',
        () => {
          if (this.open.get(request.id)?.resolve === resolve) this.open.delete(request.id)
          resolve(answered(null))
        },
        { once: true },
      )
      for (const listener of this.listeners) listener(request)
    })
  }
}
