// What scripts are told of providers and models, with what the environment makes available.

import { Fault, HarnDict, HarnList, display, runHere, sortTexts, tryAsk } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { describeWay } from './attempt.js'
import { readPlace } from './call.js'
import { findCapabilities, makeCapabilityDict } from './capabilities.js'
import { isKnownProvider } from './options.js'
import {
  ALIASES,
  PROVIDERS,
  makeModelDict,
  listModelIds,
  classifyModelTier,
  makeProviderDict,
  resolveModel,
  findToolFormat,
} from './providers.js'
import { llmState } from './state.js'

/** Whether one of the variables that hold a key is set; the key itself stays outside. */
export function* hasKey(envs: readonly string[]): Script<boolean> {
  if (envs.length === 0) return true
  for (const name of envs) {
    const answer = yield* tryAsk({ kind: 'process.info', args: { op: 'env_set', name } })
    if (answer === true) return true
  }
  return false
}

export function* listProviders(): Script<HarnDict> {
  const dict = new HarnDict()
  for (const [name, row] of Object.entries(PROVIDERS)) dict.set(name, makeProviderDict(row, yield* hasKey(row.authEnvs)))
  const registered = yield* runHere((ctx) => [...ctx.state(llmState).registered.entries()])
  for (const [name, config] of registered) dict.set(name, config)
  return dict
}

export function* listAvailableProviders(): Script<HarnList> {
  const all = yield* listProviders()
  const usable = all.keys().filter((name) => (all.get(name) as HarnDict).get('auth_available') !== false)
  return new HarnList([...usable])
}

export function listNames(record: Readonly<Record<string, unknown>>): HarnList {
  return new HarnList(sortTexts(Object.keys(record)))
}

function listQcDefaults(): HarnDict {
  const dict = new HarnDict()
  for (const [name, row] of Object.entries(PROVIDERS)) if (row.qcModel !== undefined) dict.set(name, row.qcModel)
  return dict
}

export function* makeCatalogue(): Script<HarnDict> {
  const all = yield* listProviders()
  return HarnDict.of({
    providers: new HarnList(all.keys().map((name) => (all.get(name) as HarnDict).with('name', name))),
    known_model_names: listNames(ALIASES),
    available_providers: yield* listAvailableProviders(),
    aliases: new HarnList(
      sortTexts(Object.keys(ALIASES)).map((name) => HarnDict.of({ name, ...ALIASES[name]!, tool_format: null })),
    ),
    models: new HarnList(listModelIds().map((id) => makeModelDict(id))),
    qc_defaults: listQcDefaults(),
  })
}

export function resolveToDict(selector: Value): HarnDict {
  const found = resolveModel(selector === null ? '' : display(selector))
  return HarnDict.of({
    id: found.id,
    provider: found.provider,
    alias: found.alias,
    tool_format: findToolFormat(found.provider),
    tier: classifyModelTier(found.id),
  })
}

export function* describeModel(selector: Value): Script<HarnDict> {
  const info = resolveToDict(selector)
  const provider = display(info.get('provider')!)
  const id = display(info.get('id')!)
  const capabilities = yield* runHere((ctx) =>
    makeCapabilityDict(provider, id, findCapabilities(provider, id, ctx.state(llmState).rules)),
  )
  info.set('capabilities', capabilities)
  info.set('catalog', makeModelDict(id))
  info.set('qc_default_model', PROVIDERS[provider]?.qcModel ?? null)
  info.set('auth_available', yield* hasKey(PROVIDERS[provider]?.authEnvs ?? []))
  return info
}

export function* checkHealth(target: Value, options: Value): Script<HarnDict> {
  const given = options instanceof HarnDict ? options : target instanceof HarnDict ? target : new HarnDict()
  const named = target instanceof HarnDict ? (target.get('provider') ?? null) : target
  const provider = named === null ? (yield* readPlace(new HarnDict())).provider : display(named)
  const known = yield* runHere((ctx) => isKnownProvider(ctx.state(llmState), provider))
  if (!known) {
    const metadata = HarnDict.of({ provider, reason: 'unknown_provider' })
    return HarnDict.of({ provider, valid: false, message: `Unknown provider: ${provider}`, metadata })
  }
  if (provider === 'mock') return HarnDict.of({ provider, valid: true, message: 'mock provider', metadata: new HarnDict() })
  const model = given.get('model') ?? null
  if (provider === 'ollama' && given.get('warm') === true && model === null) {
    return HarnDict.of({ valid: false, status: 'invalid_request', message: 'Ollama warmup requires options.model' })
  }
  const way = yield* runHere((ctx) => describeWay(ctx, provider))
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
