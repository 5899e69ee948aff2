// What catalogue.harn is made with: the facts of providers and models as scripts see them. Nothing here asks the world.

import { HarnDict, HarnList, builtin, display, fromPlain, sortTexts } from '@bridle/vm/families'
import type { BuiltinDef, Value } from '@bridle/vm/families'
import { describeWay } from './attempt.js'
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
import { definePrimitive } from '../../library/harn/primitive.js'

export function listNames(record: Readonly<Record<string, unknown>>): HarnList {
  return new HarnList(sortTexts(Object.keys(record)))
}

function listQcDefaults(): HarnDict {
  const dict = new HarnDict()
  for (const [name, row] of Object.entries(PROVIDERS)) if (row.qcModel !== undefined) dict.set(name, row.qcModel)
  return dict
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

export const cataloguePrimitives: readonly BuiltinDef[] = [
  builtin('__provider_names() -> list', { doc: 'Names of the built-in providers, as their table has them.' }, () => {
    return new HarnList(Object.keys(PROVIDERS))
  }),
  builtin(
    '__key_variables(provider: string) -> list',
    { doc: 'Variables that may hold the key of a built-in provider.' },
    (_ctx, name) => new HarnList([...(PROVIDERS[name as string]?.authEnvs ?? [])]),
  ),
  builtin(
    '__provider_facts(name: string, auth_available: bool) -> dict',
    { doc: 'A built-in provider as scripts see it.' },
    (_ctx, name, authAvailable) => makeProviderDict(PROVIDERS[name as string]!, authAvailable === true),
  ),
  definePrimitive('__registered_providers() -> dict', 'Configs of the providers that the script registered.', (ctx) =>
    HarnDict.of(Object.fromEntries(ctx.state(llmState).registered)),
  ),
  definePrimitive('__is_known_provider(name: string) -> bool', 'Whether a provider can be asked.', (ctx, name) =>
    isKnownProvider(ctx.state(llmState), name as string),
  ),
  definePrimitive('__provider_way(name: string) -> dict', 'How a provider is reached, as the outside needs it.', (ctx, name) =>
    fromPlain(describeWay(ctx, name as string)),
  ),
  definePrimitive('__model_catalogue() -> dict', 'What is known of models, whatever the environment says.', (ctx) => {
    const ids = listModelIds()
    ctx.charge(ids.length)
    const aliases = sortTexts(Object.keys(ALIASES)).map((name) => HarnDict.of({ name, ...ALIASES[name]!, tool_format: null }))
    return HarnDict.of({
      known_model_names: listNames(ALIASES),
      aliases: new HarnList(aliases),
      models: new HarnList(ids.map((id) => makeModelDict(id))),
      qc_defaults: listQcDefaults(),
    })
  }),
  definePrimitive('__model_facts(selector: any) -> dict', 'What is known of a model.', (ctx, selector) => {
    const info = resolveToDict(selector!)
    const provider = display(info.get('provider')!)
    const id = display(info.get('id')!)
    info.set('capabilities', makeCapabilityDict(provider, id, findCapabilities(provider, id, ctx.state(llmState).rules)))
    info.set('catalog', makeModelDict(id))
    info.set('qc_default_model', PROVIDERS[provider]?.qcModel ?? null)
    return info
  }),
]
