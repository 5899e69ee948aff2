// People as a power that a host gives to its runs: answers the effect `approval.ask`. Kinds are `question`, `approval`,
// `dual_control` and `escalation` (builtins of these names) and `permission` (a tool call that an approval policy leaves to the
// host); payloads are theirs. An answer is a response dict, or a list of them for the first four.
//
// `approvalProvider` asks a function of the host. An ApprovalDesk keeps what was asked until somebody responds by its id, which
// is the way for hosts whose people answer through a socket, a page or another protocol.

import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { answered } from '../executors/provider.js'
import type { EffectCall, Provider } from '../executors/provider.js'
import { plainFromHost } from '../host-tools/edge.js'

export const APPROVAL_KINDS = ['question', 'approval', 'dual_control', 'escalation', 'permission'] as const
export type ApprovalKind = (typeof APPROVAL_KINDS)[number]

export interface ApprovalRequest {
  /** By which a response names it; unique within a run. */
  readonly id: string
  readonly kind: ApprovalKind
  readonly payload: { readonly [key: string]: Plain }
  readonly runId: string
}

/**
 * `undefined` or null leaves the request unanswered. What it throws makes a permission fail and leaves others unanswered. A permission
 * is given by `{granted: true}`; with `binding` as in the payload the answer is good for that call only.
 */
export type AskPerson = (request: ApprovalRequest, signal: AbortSignal) => unknown

const KINDS = ['approval.ask'] as const

function makeRequest(effect: Effect, call: EffectCall): ApprovalRequest {
  const kind = String(effect.args.kind) as ApprovalKind
  const payload = (effect.args.payload ?? {}) as { readonly [key: string]: Plain }
  const inner = payload['approvalRequest'] as { readonly id?: Plain } | undefined
  const id = payload['request_id'] ?? inner?.id ?? call.idempotencyKey
  return { id: String(id), kind, payload, runId: call.runId }
}

/** Asks a function of the host. */
export function approvalProvider(ask: AskPerson): Provider {
  return {
    kinds: KINDS,
    // A question is asked in a dry run too: nothing else would tell what the run does next.
    isReadOnly: () => true,
    async perform(effect, call): Promise<EffectOutcome> {
      const answer = await ask(makeRequest(effect, call), call.signal)
      return answered(answer === undefined ? null : plainFromHost(answer))
    },
  }
}

export class ApprovalDesk {
  private readonly open = new Map<
    string,
    { readonly request: ApprovalRequest; readonly resolve: (outcome: EffectOutcome) => void }
  >()
  private asked = 0
  private readonly listeners = new Set<(request: ApprovalRequest) => void>()

  provider(): Provider {
    return { kinds: KINDS, isReadOnly: () => true, perform: (effect, call) => this.ask(makeRequest(effect, call), call.signal) }
  }

  /** What waits for somebody, oldest first. */
  pending(): readonly ApprovalRequest[] {
    return [...this.open.values()].map(({ request }) => request)
  }

  /** Hands a response to the request it belongs to; false when nothing of that id waits. */
  respond(id: string, response: unknown): boolean {
    const entry = this.open.get(id)
    if (entry === undefined) return false
    this.open.delete(id)
    entry.resolve(answered(plainFromHost(response)))
    return true
  }

  /** Calls back with every new request; gives the way to stop. */
  onRequest(listener: (request: ApprovalRequest) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private ask(asked: ApprovalRequest, signal: AbortSignal): Promise<EffectOutcome> {
    // Requests about tool calls are numbered within their run. A desk serves many: an answer must not reach the call of another run, nor
    // a later one of the same number.
    const request = asked.kind === 'permission' ? { ...asked, id: `${asked.runId}:${asked.id}:${++this.asked}` } : asked
    return new Promise((resolve) => {
      this.open.set(request.id, { request, resolve })
      // Whoever asked has stopped waiting, or the run has ended.
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
