// What scripts are told of providers and models, with what the environment makes available.

import { Fault, HarnDict, HarnList, display, here, sortTexts, tryAsk } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { wayTo } from './attempt.js'
import { placeOf } from './call.js'
import { capabilitiesOf, capabilityDict } from './capabilities.js'
import { isKnownProvider } from './options.js'
import { ALIASES, PROVIDERS, modelDict, modelIds, modelTier, providerDict, resolveModel, toolFormatOf } from './providers.js'
import { llmState } from './state.js'

/** Whether one of the variables that hold a key is set; the key itself stays outside. */
export function* keyAvailable(envs: readonly string[]): Script<boolean> {
  if (envs.length === 0) return true
  for (const name of envs) {
    const answer = yield* tryAsk({ kind: 'process.info', args: { op: 'env_set', name } })
    if (answer === true) return true
  }
  return false
}

export function* allProviders(): Script<HarnDict> {
  const dict = new HarnDict()
  for (const [name, row] of Object.entries(PROVIDERS)) dict.set(name, providerDict(row, yield* keyAvailable(row.authEnvs)))
  const registered = yield* here((ctx) => [...ctx.state(llmState).registered.entries()])
  for (const [name, config] of registered) dict.set(name, config)
  return dict
}

export function* availableProviders(): Script<HarnList> {
  const all = yield* allProviders()
  const usable = all.keys().filter((name) => (all.get(name) as HarnDict).get('auth_available') !== false)
  return new HarnList([...usable])
}

export function names(record: Readonly<Record<string, unknown>>): HarnList {
  return new HarnList(sortTexts(Object.keys(record)))
}

function qcDefaults(): HarnDict {
  const dict = new HarnDict()
  for (const [name, row] of Object.entries(PROVIDERS)) if (row.qcModel !== undefined) dict.set(name, row.qcModel)
  return dict
}

export function* catalogue(): Script<HarnDict> {
  const all = yield* allProviders()
  return HarnDict.of({
    providers: new HarnList(all.keys().map((name) => (all.get(name) as HarnDict).with('name', name))),
    known_model_names: names(ALIASES),
    available_providers: yield* availableProviders(),
    aliases: new HarnList(
      sortTexts(Object.keys(ALIASES)).map((name) => HarnDict.of({ name, ...ALIASES[name]!, tool_format: null })),
    ),
    models: new HarnList(modelIds().map((id) => modelDict(id))),
    qc_defaults: qcDefaults(),
  })
}

export function resolved(selector: Value): HarnDict {
  const found = resolveModel(selector === null ? '' : display(selector))
  return HarnDict.of({
    id: found.id,
    provider: found.provider,
    alias: found.alias,
    tool_format: toolFormatOf(found.provider),
    tier: modelTier(found.id),
  })
}

export function* modelInfo(selector: Value): Script<HarnDict> {
  const info = resolved(selector)
  const provider = display(info.get('provider')!)
  const id = display(info.get('id')!)
  const capabilities = yield* here((ctx) => capabilityDict(provider, id, capabilitiesOf(provider, id, ctx.state(llmState).rules)))
  info.set('capabilities', capabilities)
  info.set('catalog', modelDict(id))
  info.set('qc_default_model', PROVIDERS[provider]?.qcModel ?? null)
  info.set('auth_available', yield* keyAvailable(PROVIDERS[provider]?.authEnvs ?? []))
  return info
}

export function* healthcheck(target: Value, options: Value): Script<HarnDict> {
  const given = options instanceof HarnDict ? options : target instanceof HarnDict ? target : new HarnDict()
  const named = target instanceof HarnDict ? (target.get('provider') ?? null) : target
  const provider = named === null ? (yield* placeOf(new HarnDict())).provider : display(named)
  const known = yield* here((ctx) => isKnownProvider(ctx.state(llmState), provider))
  if (!known) {
    const metadata = HarnDict.of({ provider, reason: 'unknown_provider' })
    return HarnDict.of({ provider, valid: false, message: `Unknown provider: ${provider}`, metadata })
  }
  if (provider === 'mock') return HarnDict.of({ provider, valid: true, message: 'mock provider', metadata: new HarnDict() })
  const model = given.get('model') ?? null
  if (provider === 'ollama' && given.get('warm') === true && model === null) {
    return HarnDict.of({ valid: false, status: 'invalid_request', message: 'Ollama warmup requires options.model' })
  }
  const way = yield* here((ctx) => wayTo(ctx, provider))
  const answer = yield* tryAsk({
    kind: 'llm.call',
    args: {
      op: 'healthcheck',
      provider,
      model: model === null ? null : display(model),
      ...way,
      warm: given.get('warm') === true,
    },
  })
  if (answer instanceof HarnDict) return answer.with('provider', provider)
  const message = answer instanceof Fault ? (answer.kind === 'thrown' ? display(answer.value) : answer.message) : 'no answer'
  return HarnDict.of({ provider, valid: false, message, metadata: HarnDict.of({ provider, reason: 'request_failed' }) })
}
