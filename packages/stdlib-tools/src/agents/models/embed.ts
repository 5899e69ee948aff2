// Embeds strings as vectors (`llm.embed`): one request of the effect `llm.call` with `op: 'embed'`. While models are mocked
// nothing leaves the machine: a queued answer that is a JSON list of numbers is the vector, any other text is put into words, and
// each word counts at the place that its hash gives, so that texts that share words lie near each other.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { Fault, HarnDict, HarnFloat, HarnList, display, failWith, runHere, parseJson, toUtf8 } from '@bridle/vm/families'
import type { EffectOf, Script, Value } from '@bridle/vm/families'
import { makeFailureDict, makeFailure } from './errors.js'
import { askOutside, UNKNOWN_PRICE, describeWay } from './attempt.js'
import { estimateTextTokens } from './budget.js'
import { readPlace } from './call.js'
import { readBaseUrl } from './options.js'
import { findTokenPrices } from './providers.js'
import { isMocked, takeNextMockedText } from './mock.js'
import { llmState } from './state.js'
import { findEffectFault, reserveModelCall } from '../../tools/policy/grants.js'
import { isGuarded } from '../../tools/policy/grant-ceiling.js'

/** Numbers of a made-up vector. */
const MOCK_SIZE = 32

/** The vector of a text, a list of floats; failures are thrown as those of `llm_call`. */
export function* embed(given: Value, options: HarnDict): Script<HarnList> {
  const text = display(given)
  const { provider, model } = yield* readPlace(options)
  const address = readBaseUrl(options)
  const mocked = yield* runHere((ctx): Value | Fault => {
    const state = ctx.state(llmState)
    const isMade = isMocked(state, provider)
    const effect: EffectOf<'llm.call'> = {
      kind: 'llm.call',
      args: { op: 'embed', provider, model, ...describeWay(ctx, provider, address) },
    }
    const refused = isGuarded(ctx) ? findEffectFault(ctx, effect, isMade ? 'both' : 'judge') : null
    if (refused !== null) return refused
    const unknown = ctx.machine.hostData(REQUEST_DEFAULTS).unknownPrice ?? UNKNOWN_PRICE
    const inputUsd = findTokenPrices(provider, model)?.input ?? (isMade ? 0 : unknown.input / 1e6)
    // A vector has no tokens, and nobody says what was used: what is put aside is what counts.
    const estimate = { inputTokens: estimateTextTokens(text), outputTokens: 0, inputUsd, outputUsd: 0 }
    const reserved = isGuarded(ctx) ? reserveModelCall(ctx, effect, estimate) : null
    if (reserved instanceof Fault) return reserved
    if (!isMade) return null
    ctx.charge(text.length >> 4, MOCK_SIZE * 16)
    const queued = parseJson(takeNextMockedText(state, text) ?? '')
    return queued.ok && queued.value instanceof HarnList ? toVector(queued.value) : makeMockVector(text)
  })
  if (mocked instanceof Fault) throw mocked
  if (mocked instanceof HarnList) return mocked
  const answer = yield* askOutside(provider, { op: 'embed', model, input: text, base_url_option: address })
  const vector = answer.kind === 'value' && answer.value instanceof HarnDict ? answer.value.get('vector') : null
  if (vector instanceof HarnList) return toVector(vector)
  const failure = answer.kind === 'failure' ? answer.failure : makeFailure(`provider '${provider}' gave no vector`)
  return failWith(makeFailureDict(failure, { provider, model }))
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
