// The usual set of providers over one workspace.

import { llmProvider } from '../host/providers/models.js'
import { readPlace } from '../host/providers/places.js'
import type { LlmProviderOptions } from '../host/providers/models.js'
import type { Provider, ProviderSource } from '../tools/executors/provider.js'
import { fsProvider } from './fs.js'
import { guardedFetch } from './guarded-fetch.js'
import { httpProvider } from './http.js'
import type { HttpOptions } from './http.js'
import { compressProvider } from './libraries.js'
import { environmentRules } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'
import { processProvider } from './process.js'
import type { ProcessOptions } from './process.js'
import { FileSandbox } from './sandbox.js'
import type { SandboxOptions } from './sandbox.js'
import { fileStore } from './store.js'
import { SecretKeeper, readOrigin } from '../host/secrets.js'
import type { Secrets } from '../host/secrets.js'
import { terminalProvider } from './terminal.js'
import { Workspace } from './workspace.js'

export interface NodeProviderOptions {
  /** Execution root: where relative paths begin. The process's folder by default. */
  readonly root?: string
  /**
   * What may be touched: `'root'` (default) confines files to the root, options say it in detail, `'none'` confines nothing.
   * Programs that scripts start are not confined by this; granting `process` is trusting them.
   */
  readonly sandbox?: 'root' | 'none' | SandboxOptions
  /** Environment that scripts see; empty by default. HARN_EGRESS_ALLOW, _DENY and _DEFAULT in it narrow what the run may reach. */
  readonly env?: { readonly [name: string]: string | undefined }
  /**
   * Keys of services, by name. Scripts use them by name (`auth: {secret: "NAME"}`) and never see them; model services find theirs among
   * them. A key goes to the origins that it is bound to, one of a model service to that service as well.
   */
  readonly secrets?: Secrets
  readonly process?: ProcessOptions
  readonly http?: HttpOptions
  /** Model services; keys are looked up in `env`. */
  readonly llm?: LlmProviderOptions
  /** File of the key-value store; no store without it. */
  readonly storeFile?: string
  /** Standard input and error of this process for the script; false by default. */
  readonly terminal?: boolean
}

/** Models are reached as any other address is, but where the host itself has put one. */
function makeModelFetch({ env = {}, llm = {} }: NodeProviderOptions, policy: NetworkPolicy): typeof fetch {
  const guarded = guardedFetch(policy)
  const { alsoWithin } = policy
  // Keys and prompts are not to leave for a host that the rules of the environment refuse, wherever the host has put a model.
  const placed: typeof fetch =
    alsoWithin === undefined ? (input, init) => fetch(input, init) : guardedFetch({ denyPrivate: false, alsoWithin })
  const readVariable = (name: string): string | undefined => {
    const value = (llm.env ?? env)[name]
    return value === undefined ? undefined : readPlace(name, value)
  }
  const places = [
    ...Object.values(llm.services ?? {}).map(({ baseUrl }) => baseUrl),
    ...MODEL_PLACES.map((name) => readVariable(name)),
  ]
  const origins = new Set(places.flatMap((place) => (place === undefined ? [] : (readOrigin(place) ?? []))))
  return (input, init) => (origins.has(readOrigin(String(input)) ?? '') ? placed(input, init) : guarded(input, init))
}

/** Variables by which a host says where a model is. KEEP WITH: PROVIDERS of the vm (providers.test.ts compares them). */
export const MODEL_PLACES: readonly string[] = [
  'ANTHROPIC_BASE_URL',
  'AZURE_OPENAI_ENDPOINT',
  'BEDROCK_BASE_URL',
  'DASHSCOPE_BASE_URL',
  'DEEPSEEK_BASE_URL',
  'FIREWORKS_BASE_URL',
  'GEMINI_BASE_URL',
  'GOOGLE_GEMINI_BASE_URL',
  'GROQ_BASE_URL',
  'LOCAL_LLM_BASE_URL',
  'MLX_BASE_URL',
  'OLLAMA_HOST',
  'OPENAI_API_BASE',
  'OPENAI_BASE_URL',
  'OPENROUTER_BASE_URL',
  'TGI_BASE_URL',
  'TOGETHER_AI_BASE_URL',
  'VERTEX_AI_BASE_URL',
  'VLLM_BASE_URL',
]

/** One set for each run: runs share the disk, not their folder, environment or connections. */
export function nodeProviders(options: NodeProviderOptions = {}): readonly ProviderSource[] {
  const root = options.root ?? process.cwd()
  const files: SandboxOptions | null =
    options.sandbox === 'none'
      ? null
      : options.sandbox === undefined || options.sandbox === 'root'
        ? { roots: [root] }
        : options.sandbox
  // Providers of one run are made one after the other; the workspace they share is found by the run.
  const workspaces = new WeakMap<object, Workspace>()
  const getWorkspace = (run: object): Workspace => {
    let workspace = workspaces.get(run)
    if (workspace === undefined) {
      workspace = new Workspace({ root, sandbox: files === null ? undefined : new FileSandbox(files), env: options.env ?? {} })
      workspaces.set(run, workspace)
    }
    return workspace
  }
  const rules = environmentRules(options.env ?? {})
  const http = rules === null ? options.http : { ...options.http, policy: { ...options.http?.policy, alsoWithin: rules } }
  const secrets = options.secrets === undefined ? {} : { secrets: options.secrets }
  const keeper = new SecretKeeper(options.secrets)
  const sources: ProviderSource[] = [
    (run) => fsProvider(getWorkspace(run)),
    (run) =>
      processProvider(getWorkspace(run), {
        ...options.process,
        ...(options.secrets === undefined ? {} : { secretNames: Object.keys(options.secrets) }),
      }),
    (run) => httpProvider(getWorkspace(run), { ...http, ...secrets }),
    compressProvider(),
    llmProvider({ env: options.env ?? {}, ...secrets, fetch: makeModelFetch(options, http?.policy ?? {}), ...options.llm }),
  ]
  if (options.storeFile !== undefined) sources.push(fileStore(options.storeFile))
  if (options.terminal === true) sources.push(() => terminalProvider())
  return options.secrets === undefined ? sources : sources.map((source) => hideSecrets(source, keeper))
}

/** A provider whose answers do not reveal the host's secrets. */
function hideSecrets(source: ProviderSource, keeper: SecretKeeper): ProviderSource {
  const wrap = (provider: Provider): Provider => ({
    kinds: provider.kinds,
    secretValues: keeper.all(),
    perform: (effect, call) => {
      const outcome = provider.perform(effect, call)
      return outcome instanceof Promise ? outcome.then((each) => keeper.hide(each)) : keeper.hide(outcome)
    },
    ...(provider.isReadOnly === undefined ? {} : { isReadOnly: (effect, call) => provider.isReadOnly!(effect, call) }),
    ...(provider.close === undefined ? {} : { close: () => provider.close!() }),
  })
  return typeof source === 'function' ? (run) => wrap(source(run)) : wrap(source)
}
