// An embedding program that lives in another process, as the runs of this one see it: its tools, its capability operations, the
// people behind it. `HostBridge` is what a run needs; `remoteHost` makes one of a JSON-RPC connection with the messages of docs/embedding/bridge.md.

import { HarnFloat } from '@bridle/vm'
import type { EffectOutcome, Plain } from '@bridle/vm'
import type { ApprovalRequest } from '../policy/approval-request.js'
import type { AskPerson } from '../policy/host-approval.js'
import { answered, categorizedError, runtimeError } from './provider.js'
import { plainFromHostInPieces } from '../host-tools/edge.js'
import { BridgeError, isRecord } from './jsonrpc.js'
import type { JsonRpcPeer, Params } from './jsonrpc.js'
import { describeCause } from './provider.js'
import type { HostCapabilities } from '../../library/effects/index.js'

/** A host beyond the definitions of this process; its own tools and operations go first. */
export interface HostBridge {
  /** The answer to `host/tools/list`, in any of its shapes. */
  readonly listTools: (signal: AbortSignal) => Promise<EffectOutcome>
  readonly callTool: (name: string, args: Plain, signal: AbortSignal) => Promise<EffectOutcome>
  /** `null`, at once or as the answer, when the host does not have the operation. */
  readonly callOperation: (name: string, params: Plain, signal: AbortSignal) => Promise<EffectOutcome | null> | null
  readonly capabilities: HostCapabilities
}

export interface RemoteHostOptions {
  /** Added to the parameters of every message about one session. */
  readonly session?: string
  /** Limit of one capability operation; the connection's own limit by default. */
  readonly callTimeoutMs?: number
  readonly capabilities?: HostCapabilities
  /**
   * `declared` (default): only operations of `capabilities` are asked for. `any`: all of them, and an answer that the host does
   * not know `host/call` or the operation (-32601) means that it does not have it.
   */
  readonly operations?: 'declared' | 'any'
  /** Wording of failures of operations; by default that of the bridge. */
  readonly failure?: (cause: BridgeError) => EffectOutcome
}

/** The host refused by decision; scripts see a `tool_rejected` error. */
const REJECTED = -32001
const NO_SUCH_METHOD = -32601

export function remoteHost(peer: JsonRpcPeer, options: RemoteHostOptions = {}): HostBridge {
  const session: Params = options.session === undefined ? {} : { sessionId: options.session }
  const { capabilities = {}, operations: known = 'declared', failure = toFailure } = options
  const ask = async (method: string, params: Params, signal: AbortSignal): Promise<EffectOutcome> => {
    try {
      return answered(await plainFromHostInPieces(await peer.request(method, params, { signal })))
    } catch (cause) {
      return toFailure(cause)
    }
  }
  const callOperation = async (
    name: string,
    params: Plain,
    isDeclared: boolean,
    signal: AbortSignal,
  ): Promise<EffectOutcome | null> => {
    const { callTimeoutMs } = options
    const limits = { signal, ...(callTimeoutMs === undefined ? {} : { timeoutMs: callTimeoutMs }) }
    try {
      return answered(
        await plainFromHostInPieces(await peer.request('host/call', { ...session, name, args: toWire(params) }, limits)),
      )
    } catch (cause) {
      if (!(cause instanceof BridgeError)) return toFailure(cause)
      const { fault } = cause
      return !isDeclared && fault.kind === 'answered' && fault.code === NO_SUCH_METHOD ? null : failure(cause)
    }
  }
  return {
    capabilities,
    listTools: (signal) => ask('host/tools/list', session, signal),
    callTool: (name, args, signal) => ask('builtin_call', { ...session, name, args: [toWire(args)] }, signal),
    callOperation(name, params, signal) {
      const dot = name.indexOf('.')
      const operations = capabilities[name.slice(0, dot)]?.operations
      const isDeclared = operations !== undefined && Object.hasOwn(operations, name.slice(dot + 1))
      return isDeclared || known === 'any' ? callOperation(name, params, isDeclared, signal) : null
    },
  }
}

/** What a client shows as buttons (Agent Client Protocol). The machine knows by these ids what was chosen (approval-binding.ts of the vm). */
const PERMISSION_OPTIONS = [
  { optionId: 'allow-once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
] as const

/** Asks the people behind the host: `session/request_permission` for tool calls, a notification for questions. */
export function remoteApproval(peer: JsonRpcPeer, session: string, onQuestion: AskPerson): AskPerson {
  return async (request, signal) => {
    if (request.kind !== 'permission') return onQuestion(request, signal)
    return peer.request(
      'session/request_permission',
      { ...request.payload, toolCall: makeToolCall(request), options: PERMISSION_OPTIONS, sessionId: session },
      { signal },
    )
  }
}

/** A call that no loop has numbered has no id of its own, and clients of the protocol want one and a title. */
function makeToolCall({ id, prompt, payload }: ApprovalRequest): Params {
  const given = isRecord(payload['toolCall']) ? payload['toolCall'] : {}
  return { ...given, toolCallId: given['toolCallId'] ?? id, title: given['toolName'] ?? prompt, status: 'pending' }
}

/** What `host/capabilities` answers, in the shapes that hosts use: operations as a list of names, or as a dict. */
export function readCapabilities(answer: unknown): HostCapabilities {
  const given = isRecord(answer) && isRecord(answer['capabilities']) ? answer['capabilities'] : answer
  const out: { [name: string]: HostCapabilities[string] } = Object.create(null) as { [name: string]: HostCapabilities[string] }
  if (!isRecord(given)) return out
  for (const [name, value] of Object.entries(given)) {
    const row: Params = isRecord(value) ? value : {}
    const listed: unknown = Array.isArray(value) ? value : (row['operations'] ?? row['ops'])
    const operations: { [name: string]: string } = Object.create(null) as { [name: string]: string }
    if (Array.isArray(listed)) {
      for (const each of listed as unknown[]) if (typeof each === 'string') operations[each] = ''
    } else if (isRecord(listed))
      for (const [operation, text] of Object.entries(listed))
        operations[operation] = readText(isRecord(text) ? text['description'] : text)
    out[name] = { description: readText(row['description']), operations }
  }
  return out
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toFailure(cause: unknown): EffectOutcome {
  if (!(cause instanceof BridgeError)) return runtimeError(`Bridge: ${describeCause(cause)}`)
  const { fault } = cause
  if (fault.kind !== 'answered') return runtimeError(fault.message)
  return fault.code === REJECTED
    ? categorizedError('tool_rejected', fault.message)
    : runtimeError(`Host error (${fault.code}): ${fault.message}`)
}

/** Data as JSON has it: large ints become doubles, bytes have no form. */
function toWire(data: Plain): unknown {
  return JSON.parse(
    JSON.stringify(data ?? null, (_key, value: unknown) => {
      if (typeof value === 'bigint') return Number(value)
      if (value instanceof HarnFloat) return value.v
      return value instanceof Uint8Array ? null : value
    }),
  )
}
