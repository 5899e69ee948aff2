// Answers in pieces: what the internal modules chat.harn and call.harn are made with. An answer is opened by an attempt (attempt.ts), which is
// judged and paid for in advance. Then it is pulled, one effect a pull, so that all pieces are in the journal; with the last one the attempt is settled.
// `llm_stream` has its own task that pulls and fills a channel. The channel is small: when no one receives, the task stops pulling.

import {
  HarnBuiltin,
  HarnChannel,
  HarnDict,
  HarnList,
  beginFeed,
  builtin,
  display,
  endFeed,
  frame,
  makeChannel,
  stringifySorted,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Fault, FrameDef, FrameState, Result, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { readResponse, settleAndTrace, toFailure } from './attempt.js'
import { decodeRequest, decodeResponse, encodeFailure, encodeResponse } from './request-value.js'
import { openAnswers } from './stream-state.js'
import type { OpenAnswer } from './stream-state.js'
import type { LlmFailure } from './errors.js'
import { tellDelta, tellPieces } from './told-pieces.js'
import type { ToldAnswer } from './told-pieces.js'

/** Pieces that one pull asks for: those of one chunk of bytes are rarely more. */
const MOST_PIECES = 64

/** Pieces that a channel of `llm_stream` holds. */
const CHANNEL_CAPACITY = 16

const LEFT: LlmFailure = { category: 'cancelled', message: 'the answer was not read to its end', wasStopped: true }

interface PullState extends FrameState {
  readonly id: string
  stage: 'begin' | 'asked' | 'ended'
}

function makePieces(deltas: Value, response: Value, failure: Value): HarnDict {
  return HarnDict.of({ deltas, response, failure })
}

function makeStreamArgs(
  id: string,
  { request }: OpenAnswer,
): { readonly provider: string; readonly model: string; readonly stream: string } {
  const { provider, model } = decodeRequest(request)
  return { provider, model, stream: id }
}

/** As the host knows it. */
function nameAnswer(answer: string, request: HarnDict): ToldAnswer {
  const { provider, model } = decodeRequest(request)
  return { answer, provider, model }
}

const pullFrame = frame<PullState>({
  kind: 'llm.pull',
  runBoundary: false,
  step: (ctx, state): Result => {
    const { open } = ctx.state(openAnswers)
    const answer = open.get(state.id)
    if (answer === undefined) return makePieces(new HarnList([]), null, encodeFailure(LEFT))
    if (state.stage === 'begin') {
      state.stage = 'asked'
      const args = { op: 'next', ...makeStreamArgs(state.id, answer), index: answer.delivered, most: MOST_PIECES } as const
      return ctx.request({ kind: 'llm.call', args, own: true })
    }
    state.stage = 'ended'
    const given = ctx.result instanceof HarnDict ? ctx.result : new HarnDict()
    const deltas = given.get('deltas')
    const pieces = deltas instanceof HarnList ? deltas : new HarnList([])
    answer.delivered += pieces.length
    const told = nameAnswer(state.id, answer.request)
    tellPieces(ctx, told, pieces)
    const last = given.get('answer') ?? null
    if (last === null) return makePieces(pieces, null, null)
    open.delete(state.id)
    const response = readResponse(last, decodeRequest(answer.request))
    settleAndTrace(ctx, answer, { kind: 'answer', response })
    tellDelta(ctx, told, { type: 'end', ok: true })
    return makePieces(pieces, encodeResponse(response), null)
  },
  onFault: (ctx, state, fault): Result => {
    state.stage = 'ended'
    const { open } = ctx.state(openAnswers)
    const answer = open.get(state.id)
    const failure = toFailure(fault)
    if (answer !== undefined) {
      open.delete(state.id)
      settleAndTrace(ctx, answer, { kind: 'failure', failure })
      tellDelta(ctx, nameAnswer(state.id, answer.request), { type: 'end', ok: false })
    }
    return makePieces(new HarnList([]), null, encodeFailure(failure))
  },
  // If the task is ended while it waits, its provider learns of it through the abandoned effect.
  onLeave: (ctx, state) => {
    if (state.stage === 'asked') forget(ctx, state.id)
  },
})

/** The answer is discarded; its possible cost stays accounted. */
function forget(ctx: Context, id: string): OpenAnswer | null {
  const { open } = ctx.state(openAnswers)
  const answer = open.get(id)
  if (answer === undefined) return null
  open.delete(id)
  settleAndTrace(ctx, answer, { kind: 'failure', failure: LEFT })
  tellDelta(ctx, nameAnswer(id, answer.request), { type: 'end', ok: false })
  return answer
}

// ------------------------------------------------------------------------------------------------------------ the feeder

const POUR = { module: 'agents/models/chat', function: 'pour', output: 'drop' } as const

interface FeedState extends FrameState {
  readonly id: string
  readonly request: HarnDict
  readonly channel: HarnChannel
  readonly all: boolean
  stage: 'begin' | 'pouring' | 'ended'
}

const feedFrame = frame<FeedState>({
  kind: 'llm.feed',
  step: (ctx, state): Result => {
    if (state.stage !== 'begin') {
      finishFeed(ctx, state, undefined)
      return null
    }
    state.stage = 'pouring'
    const { id, request, channel, all } = state
    return ctx.library(POUR, [id, request, channel, all])
  },
  onFault: (ctx, state, fault): Result => {
    const isOpen = ctx.state(openAnswers).open.has(state.id)
    finishFeed(ctx, state, readCaught(fault))
    return isOpen ? ctx.call(ctx.builtinValue('__leave_answer'), [state.id]) : null
  },
  onLeave: (ctx, state) => {
    if (state.stage !== 'pouring') return
    finishFeed(ctx, state, HarnDict.of({ category: LEFT.category, message: LEFT.message }))
    // The task was ended, and cannot ask for anything any more.
    if (ctx.state(openAnswers).open.has(state.id))
      ctx.machine.spawn(new HarnBuiltin('__leave_answer'), [state.id], {
        name: 'llm_stream',
        taskId: makeTaskId(ctx, `${state.id}:end`),
      })
  },
})

function finishFeed(ctx: Context, state: FeedState, failure: Value | undefined): void {
  state.stage = 'ended'
  endFeed(ctx, state.channel, failure)
}

function readCaught(fault: Fault): Value {
  return fault.caught
}

/** Scripts do not count these tasks among those that they spawn. */
function makeTaskId(ctx: Context, id: string): string {
  return `${ctx.machine.task().taskId}:${id}`
}

// ------------------------------------------------------------------------------------------------------ what mocks say

/** An answer that was whole at once, as pieces: words with the blanks in front of them. */
function splitAnswer(value: HarnDict): HarnList {
  const { text, thinking, toolCalls } = decodeResponse(value)
  const deltas: HarnDict[] = []
  if (thinking !== null && thinking !== '') deltas.push(HarnDict.of({ type: 'reasoning', text: thinking }))
  for (const word of splitWords(text)) deltas.push(HarnDict.of({ type: 'text', text: word }))
  for (const [index, call] of toolCalls.entries()) {
    const args = call.get('arguments') ?? null
    deltas.push(
      HarnDict.of({
        type: 'tool_call',
        index,
        id: call.get('id') ?? '',
        name: call.get('name') ?? '',
        text: typeof args === 'string' ? args : stringifySorted(args ?? new HarnDict()),
      }),
    )
  }
  return new HarnList(deltas)
}

function splitWords(text: string): string[] {
  const words: string[] = []
  let from = 0
  let isInWord = false
  for (let at = 0; at < text.length; at++) {
    const isBlank = text[at]!.trim() === ''
    if (isBlank && isInWord) {
      words.push(text.slice(from, at))
      from = at
    }
    isInWord = !isBlank
  }
  if (from < text.length) words.push(text.slice(from))
  return words
}

export const streamFrames: readonly FrameDef[] = [pullFrame, feedFrame]

export const streamBuiltins: readonly BuiltinDef[] = [
  builtin(
    '__next_pieces(id: string) -> dict',
    { doc: 'More of an answer: {deltas, response, failure}.', effects: ['llm.call'] },
    (ctx, id) => ctx.frame('llm.pull', { id: display(id ?? null), stage: 'begin' } satisfies PullState),
  ),
  builtin(
    '__leave_answer(id: string) -> nil',
    { doc: 'Gives up an answer that is not all here.', effects: ['llm.call'] },
    (ctx, id): Result => {
      const name = display(id ?? null)
      const answer = forget(ctx, name)
      if (answer === null) return null
      if (answer.feeder !== null && answer.feeder !== ctx.machine.taskNumber) ctx.machine.abortTask(answer.feeder)
      return ctx.perform({ kind: 'llm.call', args: { op: 'close', ...makeStreamArgs(name, answer) }, own: true })
    },
  ),
  builtin(
    '__feed_answer(id: string, request: dict, channel: channel, all: bool) -> nil',
    { doc: 'The task that fills a channel.', effects: ['llm.call'] },
    (ctx, id, request, channel, all) => {
      const name = display(id ?? null)
      if (!(request instanceof HarnDict) || !(channel instanceof HarnChannel) || !ctx.state(openAnswers).open.has(name))
        return null
      return ctx.frame('llm.feed', { id: name, request, channel, all: all === true, stage: 'begin' } satisfies FeedState)
    },
  ),
]

export const streamPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__stream_channel(id: string, request: dict, all: bool) -> channel',
    'A channel that is filled with the pieces of an open answer.',
    (ctx, id, request, all) => {
      const name = id as string
      const channel = makeChannel(ctx, 'llm_stream', CHANNEL_CAPACITY)
      beginFeed(ctx, channel, '__leave_answer', [name])
      const options = { name: 'llm_stream', taskId: makeTaskId(ctx, name) }
      const feeder = ctx.machine.spawn(new HarnBuiltin('__feed_answer'), [name, request!, channel, all!], options)
      const answer = ctx.state(openAnswers).open.get(name)
      if (answer !== undefined) answer.feeder = feeder
      return channel
    },
  ),
  definePrimitive('__closed_channel(items: list) -> channel', 'A channel with all that there is.', (ctx, items) => {
    const given = (items as HarnList).view()
    ctx.charge(given.length, 32 * given.length)
    const channel = makeChannel(ctx, 'llm_stream', given.length)
    for (const item of given) channel.buffer.push(item)
    channel.closed = true
    return channel
  }),
  builtin(
    '__pieces_of(response: dict) -> list',
    { doc: 'An answer that was whole at once, in pieces, of which the host is told as well.' },
    (ctx, response) => {
      const pieces = splitAnswer(response as HarnDict)
      const { provider, model } = decodeResponse(response as HarnDict)
      const told = { answer: `answer_${++ctx.state(openAnswers).made}`, provider, model }
      tellPieces(ctx, told, pieces)
      tellDelta(ctx, told, { type: 'end', ok: true })
      return pieces
    },
  ),
  builtin(
    '__tell_restart(request: dict, answer: string?) -> nil',
    { doc: 'Tells the host that the model is asked again: pieces of this answer, by default the last one, do not count.' },
    (ctx, request, answer) => {
      const name = typeof answer === 'string' ? answer : `answer_${ctx.state(openAnswers).made}`
      tellDelta(ctx, nameAnswer(name, request as HarnDict), { type: 'restart' })
      return null
    },
  ),
  builtin(
    '__words_of(text: string) -> list',
    { doc: 'The words of a text.' },
    (_ctx, text) => new HarnList((text as string).split(/\s+/u).filter((word) => word !== '')),
  ),
]
