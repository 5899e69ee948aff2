// What a configuration adds to the options of a runtime: providers of tools by the names of the file, model services with their keys, MCP
// servers, kept results, the level of log lines. What code says wins; powers still come from `grants` alone.

import { lookup } from '@bridle/vm'
import { dirname } from 'node:path'
import { lazyMcpProvider } from '../mcp/lazy.js'
import type { RequestDefaults } from '../library/http/request-defaults.js'
import type { LlmService } from '../host/providers/models.js'
import { joinProviders } from '../tools/executors/provider.js'
import type { ProviderSource } from '../tools/executors/provider.js'
import type { RuntimeOptions } from '../host/runtime-options.js'
import type { Tool } from '../tools/host-tools/define.js'
import { toolsOf } from '../tools/host-tools/provider.js'
import type { ToolProvider } from '../tools/host-tools/provider.js'
import type { ToolConfig } from './config.js'
import { nodeProviders } from './providers.js'

/** Providers that are always there, with the families of tools that they carry out and what models call them. */
const BUILT_IN: Readonly<Record<string, { readonly family: string; readonly service?: string }>> = lookup({
  'builtin-http': { family: 'http' },
  'builtin-fs': { family: 'fs' },
  anthropic: { family: 'llm', service: 'anthropic' },
  'openai-compatible': { family: 'llm', service: 'openai' },
})

const MODEL_SERVICES = ['anthropic', 'openai-compatible'] as const

interface About {
  /** Whether the configuration has a section at all. */
  readonly says: (section: string) => boolean
  readonly wrong: (path: readonly string[], message: string) => Error
}

export function applyConfig(options: RuntimeOptions, config: ToolConfig, about: About): RuntimeOptions {
  const { logging, cache } = config
  const { service, tools } = mapProviders(options, config, about)
  return {
    ...options,
    tools: [...tools, ...(options.tools ?? [])],
    providers: joinProviders(makeProviders(config, service), options.providers ?? []),
    ...(options.logLevel === undefined && about.says('logging') ? { logLevel: logging.level } : {}),
    ...(options.requestDefaults === undefined ? { requestDefaults: readRequestDefaults(config) } : {}),
    ...(options.resultCache === undefined && about.says('cache') ? { resultCache: cache } : {}),
  }
}

/** For scripts that say nothing; a section that is not there leaves the language's own figures. */
function readRequestDefaults({ settings }: ToolConfig): RequestDefaults {
  const http = settings['builtin-http']
  const modelRetries: { [provider: string]: number } = {}
  for (const name of MODEL_SERVICES) {
    const given = settings[name]
    if (given !== undefined) modelRetries[BUILT_IN[name]!.service!] = given.max_retries
  }
  return {
    ...(http === undefined ? {} : { http: { timeoutMs: http.timeout_ms, maxRedirects: http.max_redirects } }),
    modelRetries,
  }
}

/** Providers of models, and tools of the host's own providers. */
function mapProviders(
  { toolProviders = {} }: RuntimeOptions,
  { providers }: ToolConfig,
  { wrong }: About,
): { readonly service: string | null; readonly tools: readonly Tool[] } {
  const own = new Map<string, readonly Tool[]>()
  const getTools = (name: string, provider: ToolProvider): readonly Tool[] => {
    const known = own.get(name) ?? toolsOf(provider)
    own.set(name, known)
    return known
  }
  let service: string | null = null
  const tools: Tool[] = []
  for (const [id, name] of Object.entries(providers)) {
    const path = ['providers', ...id.split('.')]
    const given = Object.hasOwn(toolProviders, name) ? toolProviders[name]! : null
    if (given !== null) {
      const tool = getTools(name, given).find((each) => each.name === id)
      if (tool === undefined) throw wrong(path, `providers.${id}: provider '${name}' has no tool of that name`)
      tools.push(tool)
      continue
    }
    const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name]! : null
    if (builtIn === null) {
      const names = [...Object.keys(BUILT_IN), ...Object.keys(toolProviders)]
      throw wrong(path, `providers.${id}: there is no provider '${name}'; known are ${names.join(', ')}`)
    }
    const family = id.split('.')[0]
    if (family !== builtIn.family)
      throw wrong(path, `providers.${id}: provider '${name}' carries out tools of ${builtIn.family} only`)
    if (builtIn.service !== undefined && (service === null || id === 'llm.chat')) service = name
  }
  return { service, tools }
}

function makeProviders(config: ToolConfig, chosen: string | null): readonly ProviderSource[] {
  const { file, settings, mcpServers } = config
  const services: { [name: string]: LlmService } = {}
  const env: { [name: string]: string } = {}
  for (const name of MODEL_SERVICES) {
    const given = settings[name]
    if (given === undefined) continue
    services[BUILT_IN[name]!.service!] = {
      ...(given.api_key_env === undefined ? {} : { apiKey: () => config.secret(`${name}.api_key_env`) }),
      ...(given.base_url === undefined ? {} : { baseUrl: given.base_url }),
      ...(given.organization === undefined ? {} : { organization: given.organization }),
      timeoutMs: given.timeout_ms,
    }
  }
  if (chosen !== null) {
    env['HARN_LLM_PROVIDER'] = BUILT_IN[chosen]!.service!
    const model = settings[chosen as 'anthropic' | 'openai-compatible']?.default_model
    if (model !== undefined) env['HARN_LLM_MODEL'] = model
  }
  const http = settings['builtin-http']
  const root = file === null ? process.cwd() : dirname(file)
  const sources = nodeProviders({
    root,
    env,
    llm: { services },
    ...(http === undefined
      ? {}
      : { http: { timeoutMs: http.timeout_ms, ...(http.user_agent === undefined ? {} : { userAgent: http.user_agent }) } }),
  })
  return Object.keys(mcpServers).length === 0 ? sources : [...sources, lazyMcpProvider({ servers: mcpServers, cwd: root })]
}
