// Results that come in chunks: `tool_stream` of std/tools. Opening is a call like any other (tool-dispatch.ts); what
// is left then is a stream that a script pulls, one effect a pull, so that every chunk is in the journal and nothing is produced that nobody
// asks for. Open streams are state of the machine: a pull names one by the id of its call and cannot say what it calls.

import { HarnDict, HarnGenerator, HarnIter, HarnList, builtin, display, family, frame } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Effect, FrameState, Plain, Result, Value } from '@bridle/vm/families'
import { toToolError, isInterruption, makeToolError } from '../../library/tool-errors.js'
import { withArguments } from '../../library/effects/index.js'

interface OpenStream {
  readonly tool: string
  /** The effect that opened it. */
  readonly call: Effect
  delivered: number
}

const openStreams = family('tool_streams', (): { open: Map<string, OpenStream> } => ({ open: new Map() }))

/** What an executor or a handler gave for a call that asked for chunks. */
export type Opened =
  | { readonly kind: 'chunks'; readonly handle: HarnDict }
  /** All there is. */
  | { readonly kind: 'whole'; readonly value: Value }

/** `call` is the effect by which the stream was opened; null for a handler of the script. */
export function openStream(ctx: Context, callId: string, given: Value, call: () => Effect | null): Opened {
  if (given instanceof HarnGenerator || given instanceof HarnIter)
    return { kind: 'chunks', handle: HarnDict.of({ kind: 'script', id: callId, value: given }) }
  if (!(given instanceof HarnDict) || typeof given.get('streaming') !== 'boolean') return { kind: 'whole', value: given }
  const effect = given.get('streaming') === true ? call() : null
  if (effect === null) return { kind: 'whole', value: given.get('value') ?? null }
  ctx.state(openStreams).open.set(callId, { tool: display(String(effect.args.tool)), call: effect, delivered: 0 })
  return { kind: 'chunks', handle: HarnDict.of({ kind: 'host', id: callId }) }
}

interface PullState extends FrameState {
  readonly id: string
  readonly most: number
  asked: boolean
}

function request(stream: OpenStream, asked: { readonly [key: string]: Plain }): Effect {
  return withArguments(stream.call, { stream: asked })
}

const pull = frame<PullState>({
  kind: 'tool.pull',
  runBoundary: false,
  step: (ctx, state): Result => {
    const { open } = ctx.state(openStreams)
    const stream = open.get(state.id)
    if (stream === undefined)
      return ctx.throw(makeToolError('not_found', `no stream '${state.id}' is open`, makeFacts(state.id, '')))
    if (!state.asked) {
      state.asked = true
      return ctx.request(request(stream, { op: 'next', index: stream.delivered, most: state.most }))
    }
    const answer = ctx.result instanceof HarnDict ? ctx.result : new HarnDict()
    const chunks = answer.get('chunks')
    stream.delivered += chunks instanceof HarnList ? chunks.length : 0
    if (answer.get('done') !== false) open.delete(state.id)
    return HarnDict.of({
      chunks: chunks instanceof HarnList ? chunks : new HarnList([]),
      done: answer.get('done') !== false,
      value: answer.get('value') ?? null,
    })
  },
  onFault: (ctx, state, fault) => {
    const { open } = ctx.state(openStreams)
    const stream = open.get(state.id)
    if (!state.asked || stream === undefined) return ctx.fail(fault)
    open.delete(state.id)
    if (isInterruption(fault)) return ctx.fail(fault)
    return ctx.throw(toToolError(fault, makeFacts(state.id, stream.tool)))
  },
})

const makeFacts = (id: string, tool: string) => ({ tool, callId: id, attempt: 1 })

const EFFECTS = ['tool.call'] as const

export const toolStreamsFamily: BuiltinFamily = {
  name: 'tool-streams',
  frames: [pull],
  builtins: [
    builtin(
      '__tool_stream_next(id: string, most?: int) -> dict',
      { doc: 'The next chunks of an open stream: {chunks, done, value}.', effects: EFFECTS },
      (ctx, id, most) =>
        ctx.frame('tool.pull', {
          id: display(id ?? null),
          most: typeof most === 'number' ? Math.max(1, most) : 1,
          asked: false,
        } satisfies PullState),
    ),
    builtin('__tool_stream_close(id: string) -> nil', { doc: 'Ends an open stream.', effects: EFFECTS }, (ctx, id): Result => {
      const { open } = ctx.state(openStreams)
      const name = display(id ?? null)
      const stream = open.get(name)
      if (stream === undefined) return null
      open.delete(name)
      return ctx.perform(request(stream, { op: 'close' }))
    }),
  ],
}
