// Calls of streaming tools while they are open. A script pulls: `next` makes the tool continue, so a slow script slows the tool down, and
// chunks that are not requested are not produced. Streams live in this process; one that a run asks for after a restore is begun anew, with the
// same idempotency key, and what was delivered before is passed over, where the tool allows that it is done twice.

import { EdgeError, PlainSize } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import type { NestedGate } from './provider.js'
import { isRepeatable } from '../host-tools/define.js'
import type { Tool } from '../host-tools/define.js'
import { NotDataError, TooLargeError, plainFromHostInPieces } from '../host-tools/edge.js'
import { walkInPieces } from '../host-tools/piece-walk.js'
import { toToolErrorData } from '../host-tools/errors.js'
import type { Invocation, Invoked, OpenStream } from '../host-tools/invoke.js'
import { makeFailed, makeResult } from './executor.js'
import type { CallScope, StreamRequest, ToolCall } from './executor.js'
import type { ToolOutcome } from './outcome.js'

export function readStreamRequest(value: Plain | undefined): StreamRequest | null {
  if (typeof value !== 'object' || value === null) return null
  const { op, index, most } = value as { readonly op?: Plain; readonly index?: Plain; readonly most?: Plain }
  if (op === 'open' || op === 'close') return { op }
  if (op !== 'next') return null
  return { op, index: typeof index === 'number' ? index : 0, most: typeof most === 'number' ? Math.max(1, most) : 1 }
}

/** Begins the work; a result that is not a stream is final. */
export type BeginStream = (call: ToolCall, signal: AbortSignal) => Promise<OpenStream | Invoked>

/** The gate of the request that makes the tool continue: each of them is its own effect. */
class GateOfRequest implements NestedGate {
  request: NestedGate | null

  constructor(request: NestedGate | null) {
    this.request = request
  }

  admit(call: Parameters<NestedGate['admit']>[0]): ReturnType<NestedGate['admit']> {
    return this.request?.admit(call) ?? null
  }

  get durable(): NestedGate['durable'] {
    return this.request?.durable ?? null
  }
}

interface Open {
  readonly gate: GateOfRequest
  readonly stream: OpenStream
  readonly abort: AbortController
  delivered: number
}

export class OpenStreams {
  private readonly byCall = new Map<string, Open>()
  /** Bytes that one request may be answered with. */
  private readonly mostBytes: number

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes
  }

  /** `call.stream` is the request; a cancelled call ends its stream. */
  async serve(call: ToolCall, { signal }: CallScope, tool: Tool, begin: BeginStream): Promise<ToolOutcome> {
    const request = call.stream ?? { op: 'open' }
    signal.addEventListener('abort', () => void this.end(call.callId, 'the call was given up'), { once: true })
    switch (request.op) {
      case 'open': {
        const opened = await this.begin(call, begin)
        return 'delivered' in opened ? makeResult({ streaming: true }) : toWhole(call, opened, this.mostBytes)
      }
      case 'next':
        return this.next(call, request, tool, begin)
      case 'close':
        await this.end(call.callId, 'the stream was left')
        return makeResult(null)
    }
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.byCall.keys()].map((id) => this.end(id, 'the run has ended')))
  }

  private async begin(call: ToolCall, begin: BeginStream): Promise<Open | Invoked> {
    const abort = new AbortController()
    const gate = new GateOfRequest(call.nested ?? null)
    const stream = await begin({ ...call, nested: gate }, abort.signal)
    if (stream.kind !== 'stream') return stream
    const open: Open = { gate, stream, abort, delivered: 0 }
    this.byCall.set(call.callId, open)
    return open
  }

  private async next(
    call: ToolCall,
    { index, most }: { readonly index: number; readonly most: number },
    tool: Tool,
    begin: BeginStream,
  ): Promise<ToolOutcome> {
    const open = this.byCall.get(call.callId) ?? (await this.reopenStream(call, tool, begin))
    if (!('delivered' in open)) return open
    open.gate.request = call.nested ?? null
    const chunks: Plain[] = []
    let left = this.mostBytes
    while (chunks.length < most) {
      const item = await open.stream.next()
      if (item.done) {
        this.byCall.delete(call.callId)
        const end = await toToolOutcome(call, item.outcome, left)
        return end.kind === 'result' ? makeResult({ chunks, done: true, value: end.value }) : end
      }
      open.delivered++
      if (open.delivered <= index) continue
      try {
        const chunk = await plainFromHostInPieces(item.chunk, undefined, left)
        chunks.push(chunk)
        const size = new PlainSize(chunk, left)
        await walkInPieces(size)
        left -= size.units
      } catch (cause) {
        await this.end(call.callId, 'a chunk could not be taken in')
        return toFailure(call, cause)
      }
    }
    return makeResult({ chunks, done: false })
  }

  private async reopenStream(call: ToolCall, tool: Tool, begin: BeginStream): Promise<Open | ToolOutcome> {
    if (!isRepeatable(tool.recovery))
      return makeFailed(
        'unknown_outcome',
        `the stream of tool '${call.tool}' was lost, and the tool does not allow that it is begun again`,
      )
    const opened = await this.begin(call, begin)
    return 'delivered' in opened ? opened : makeFailed('execution_failed', `Tool '${call.tool}' no longer streams`)
  }

  private async end(id: string, reason: string): Promise<void> {
    const open = this.byCall.get(id)
    if (open === undefined) return
    this.byCall.delete(id)
    open.abort.abort(new Error(reason))
    await open.stream.close()
  }
}

/** What a tool that does not stream gave, as the one chunk that it is. */
async function toWhole(call: ToolCall, outcome: Invoked, most: number): Promise<ToolOutcome> {
  const end = await toToolOutcome(call, outcome, most)
  return end.kind === 'result' ? makeResult({ streaming: false, value: end.value }) : end
}

async function toToolOutcome(call: ToolCall, outcome: Invoked, most: number): Promise<ToolOutcome> {
  if (outcome.kind === 'pending')
    return makeFailed('execution_failed', `Tool '${call.tool}' answers later, and a stream cannot wait for that`)
  if (outcome.kind === 'failed') return outcome
  try {
    return makeResult(await plainFromHostInPieces(outcome.value, outcome.schema, most))
  } catch (cause) {
    return toFailure(call, cause)
  }
}

function toFailure(call: ToolCall, cause: unknown): ToolOutcome {
  if (cause instanceof TooLargeError || cause instanceof EdgeError)
    return makeFailed('execution_failed', `Tool '${call.tool}' gave ${cause.message} (maxResultBytes)`)
  if (cause instanceof NotDataError)
    return makeFailed('execution_failed', `Tool '${call.tool}' returned what is not data: ${cause.message}`)
  return { kind: 'failed', error: toToolErrorData(cause) }
}

/** The call as its tool sees it: under a signal that lasts as long as the stream. */
export function makeStreamInvocation(call: ToolCall, signal: AbortSignal): Invocation {
  const { runId, callId, attempt, maxAttempts, idempotencyKey, progress, nested = null } = call
  return { runId, callId, attempt, maxAttempts, idempotencyKey, progress, nested, signal }
}
