// MCP that is loaded with the first effect that needs it: most scripts use no server, and loading the protocol's library would be a third
// of their start-up time.

import type { McpToolCaller } from '../tools/executors/mcp.js'
import type { EffectCall, Provider, ProviderSource } from '../tools/executors/provider.js'
import type { PinnedTools } from '../tools/definitions/pins.js'
import type { McpConnections, McpOptions } from './provider.js'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'

export function lazyMcpProvider(options: McpOptions): ProviderSource {
  return ({ pins = null }) => new LazyMcp(options, pins)
}

class LazyMcp implements Provider, McpToolCaller {
  readonly kinds = ['mcp.connect', 'mcp.request'] as const
  private readonly options: McpOptions
  private readonly pins: PinnedTools | null
  private loading: Promise<McpConnections> | null = null

  constructor(options: McpOptions, pins: PinnedTools | null) {
    this.options = options
    this.pins = pins
    // Servers that are not lazy are started with the run.
    if (Object.values(options.servers ?? {}).some((server) => server.lazy === false)) void this.load()
  }

  async perform(effect: Effect, call: EffectCall): Promise<EffectOutcome> {
    return (await this.load()).perform(effect, call)
  }

  async isReadOnly(effect: Effect, call: EffectCall): Promise<boolean> {
    return (await this.load()).isReadOnly(effect, call)
  }

  async callTool(
    server: string,
    tool: string,
    args: { readonly [key: string]: Plain },
    signal: AbortSignal,
    timeoutMs?: number,
    progress?: (event: unknown) => void,
    meta?: { readonly [key: string]: Plain },
  ): Promise<EffectOutcome> {
    return (await this.load()).callTool(server, tool, args, signal, timeoutMs, progress, meta)
  }

  async isReadOnlyTool(server: string, tool: string, signal: AbortSignal): Promise<boolean> {
    return (await this.load()).isReadOnlyTool(server, tool, signal)
  }

  async close(): Promise<void> {
    if (this.loading !== null) await (await this.loading).close()
  }

  private load(): Promise<McpConnections> {
    this.loading ??= import('./provider.js').then(({ McpConnections }) => new McpConnections(this.options, this.pins))
    return this.loading
  }
}
