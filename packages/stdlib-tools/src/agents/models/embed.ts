// Embeds strings as vectors (`llm.embed`): one request of the effect `llm.call` with `op: 'embed'`. While models are mocked
// nothing leaves the machine: a queued answer that is a JSON list of numbers is the vector, any other text is put into words, and
// each word counts at the place that its hash gives, so that texts that share words lie near each other.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { Fault, HarnDict, HarnFloat, HarnList, frame, parseJson, toUtf8 } from '@bridle/vm/families'
import type { BuiltinDef, Context, EffectOf, FrameState, Result, Value } from '@bridle/vm/families'
import { makeFailureDict, makeFailure } from './errors.js'
import type { LlmFailure } from './errors.js'
import { DISABLED, UNKNOWN_PRICE, describeWay, findDisabled, findMissingKey, toFailure } from './attempt.js'
import { estimateTextTokens } from './budget.js'
import { findTokenPrices } from './providers.js'
import { isMocked, takeNextMockedText } from './mock.js'
import { llmState } from './state.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { findEffectFault, reserveModelCall } from '../../tools/policy/grants.js'
import { isGuarded } from '../../tools/policy/grant-ceiling.js'

/** Numbers of a made-up vector. */
const MOCK_SIZE = 32

interface EmbedState extends FrameState {
  readonly text: string
  readonly provider: string
  readonly model: string
  /** That the call names. */
  readonly address: string | null
  stage: 'begin' | 'allowed' | 'asked'
}

export const embedFrame = frame<EmbedState>({
  kind: 'llm.embed',
  step: (ctx, state) => {
    if (state.stage === 'begin') return begin(ctx, state)
    return state.stage === 'allowed' ? askProvider(ctx, state, ctx.result) : readAnswer(ctx, state)
  },
  onFault: (ctx, state, fault) =>
    state.stage === 'allowed' ? askProvider(ctx, state, null) : failEmbedding(ctx, state, toFailure(fault)),
})

export const embedPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__embed_text(text: string, provider: string, model: string, address: string?) -> list',
    'The vector of a text, a list of floats; failures are thrown as those of llm_call.',
    (ctx, text, provider, model, address) =>
      ctx.frame('llm.embed', { text, provider, model, address, stage: 'begin' } as EmbedState),
  ),
]

function makeEffect(ctx: Context, { provider, model, address }: EmbedState): EffectOf<'llm.call'> {
  return { kind: 'llm.call', args: { op: 'embed', provider, model, ...describeWay(ctx, provider, address) } }
}

function begin(ctx: Context, state: EmbedState): Result {
  const { text, provider, model } = state
  const llm = ctx.state(llmState)
  const isMade = isMocked(llm, provider)
  if (isGuarded(ctx)) {
    const effect = makeEffect(ctx, state)
    const refused = findEffectFault(ctx, effect, isMade ? 'both' : 'judge')
    if (refused !== null) return ctx.fail(refused)
    const unknown = ctx.machine.hostData(REQUEST_DEFAULTS).unknownPrice ?? UNKNOWN_PRICE
    const inputUsd = findTokenPrices(provider, model)?.input ?? (isMade ? 0 : unknown.input / 1e6)
    // A vector has no tokens, and services may not report usage: the reserved amount counts.
    const estimate = { inputTokens: estimateTextTokens(text), outputTokens: 0, inputUsd, outputUsd: 0 }
    const reserved = reserveModelCall(ctx, effect, estimate)
    if (reserved instanceof Fault) return ctx.fail(reserved)
  }
  if (!isMade) {
    state.stage = 'allowed'
    return ctx.request(DISABLED)
  }
  ctx.charge(text.length >> 4, MOCK_SIZE * 16)
  const queued = parseJson(takeNextMockedText(llm, text) ?? '')
  return queued.ok && queued.value instanceof HarnList ? toVector(queued.value) : makeMockVector(text)
}

function askProvider(ctx: Context, state: EmbedState, disabled: Value): Result {
  const failure = findDisabled(disabled, state.provider)
  if (failure !== null) return failEmbedding(ctx, state, failure)
  state.stage = 'asked'
  const { kind, args } = makeEffect(ctx, state)
  return ctx.request({ kind, args: { ...args, input: state.text } })
}

function readAnswer(ctx: Context, state: EmbedState): Result {
  const missing = findMissingKey(ctx.result, state.provider)
  if (missing !== null) return ctx.throw(missing)
  const vector = ctx.result instanceof HarnDict ? ctx.result.get('vector') : null
  if (vector instanceof HarnList) return toVector(vector)
  return failEmbedding(ctx, state, makeFailure(`provider '${state.provider}' gave no vector`))
}

function failEmbedding(ctx: Context, place: EmbedState, failure: LlmFailure): Result {
  return ctx.throw(makeFailureDict(failure, place))
}

function toVector(list: HarnList): HarnList {
  return new HarnList(list.view().map((item) => (typeof item === 'number' ? new HarnFloat(item) : item)))
}

function makeMockVector(text: string): HarnList {
  const counts = Array.from({ length: MOCK_SIZE }, () => 0)
  for (const word of text.toLowerCase().split(/[^\p{L}\p{N}]+/u)) {
    if (word === '') continue
    // FNV-1a.
    let hash = 0x811c9dc5
    for (const byte of toUtf8(word)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
    counts[hash % MOCK_SIZE]!++
  }
  const length = Math.hypot(...counts) || 1
  return new HarnList(counts.map((count) => new HarnFloat(count / length)))
}
