// `bridle gateway`: one MCP server in front of many. It offers four tools, whatever the servers behind it have: search_tools, describe_tools,
// run_script and resume_script. Servers are connected when the first of them is called.

import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError, createRuntime, defineTool, partialTool } from '@bridle/stdlib-tools'
import type { Tool, ToolContext } from '@bridle/stdlib-tools'
import { memoryPendingStore, primer, scriptTool } from '@bridle/stdlib-tools/ai'
import type { PendingStore, ScriptTool } from '@bridle/stdlib-tools/ai'
import { fromMcpServer } from '@bridle/stdlib-tools/mcp'
import type { McpToolSet } from '@bridle/stdlib-tools/mcp'
import type { GatewayConfig } from './config.js'

export interface GatewayOptions {
  /** Where runs that wait for a person outlive the process; in memory when absent. */
  readonly store?: string | undefined
  /** Is told why a server, or a tool of one, is not there. */
  readonly onWarning?: (message: string) => void
}

/** Fuel of one script; a script that waits for servers needs little. */
const FUEL = 50_000_000

const ANSWER: NonNullable<Parameters<typeof defineTool>[0]['output']> = { type: 'object' }

export class Gateway {
  readonly tools: readonly Tool[]
  private readonly config: GatewayConfig
  private readonly options: GatewayOptions
  private readonly store: PendingStore
  private readonly sets = new Map<string, McpToolSet>()
  private opening: Promise<ScriptTool> | null = null
  private made: { readonly tool: ScriptTool; readonly servers: number } | null = null

  constructor(config: GatewayConfig, options: GatewayOptions = {}) {
    this.config = config
    this.options = options
    this.store = options.store === undefined ? memoryPendingStore() : fileStore(options.store)
    this.tools = [
      defineTool({
        name: 'search_tools',
        description: `Finds tools that scripts can call, by words; the tools of ${Object.keys(config.servers).join(', ')}. Without words: names of all.`,
        sideEffect: 'read_only',
        input: { type: 'object', properties: { query: { type: 'string' } } },
        execute: async (args) => (await this.open()).searchTools(String((args as { query?: unknown }).query ?? '')),
      }),
      defineTool({
        name: 'describe_tools',
        description: 'Types and documentation of tools, by their names as search_tools gives them.',
        sideEffect: 'read_only',
        input: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } }, required: ['names'] },
        execute: async (args) => (await this.open()).describeTools((args as { names: readonly string[] }).names),
      }),
      defineTool({
        name: 'run_script',
        description: `${makeDescription()}\n\n${primer()}`,
        effects: ['mcp'],
        input: scriptTool(createRuntime()).inputSchema,
        output: ANSWER,
        execute: (args, context) => this.run(args, context),
      }),
      defineTool({
        name: 'resume_script',
        description: 'Asks the person again about a run that waits (status pending), and goes on with it after the answer.',
        effects: ['mcp'],
        input: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
        output: ANSWER,
        execute: (args, context) => this.run({ resume: (args as { token: string }).token }, context),
      }),
    ]
  }

  /** Ends the connections, and the processes behind them. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.sets.values()].map((set) => set.close()))
    this.sets.clear()
  }

  private async run(args: unknown, { client, signal }: ToolContext): Promise<unknown> {
    const tool = await this.open()
    const hasForms = client !== null && client.capabilities['elicitation'] !== undefined
    const result = await tool.mcp().callTool(
      { name: tool.name, arguments: args },
      {
        signal,
        ...(hasForms
          ? {
              elicit: (form: { readonly message: string; readonly requestedSchema: never }) =>
                client.elicit(form.message, form.requestedSchema),
            }
          : {}),
      },
    )
    return result.structuredContent ?? result.content
  }

  /** Connects what is not connected yet; a server that fails is tried again by the next call, and the others serve meanwhile. */
  private async open(): Promise<ScriptTool> {
    if (this.made !== null && this.made.servers === Object.keys(this.config.servers).length) return this.made.tool
    this.opening ??= this.connect().finally(() => (this.opening = null))
    return this.opening
  }

  private async connect(): Promise<ScriptTool> {
    const failures: string[] = []
    const missing = Object.entries(this.config.servers).filter(([name]) => !this.sets.has(name))
    await Promise.all(
      missing.map(async ([name, server]) => {
        try {
          const { onWarning } = this.options
          this.sets.set(
            name,
            await fromMcpServer(server, {
              prefix: name,
              ...(server.tools === undefined ? {} : { only: server.tools }),
              ...(onWarning === undefined ? {} : { onWarning }),
            }),
          )
        } catch (cause) {
          failures.push(`server ${name}: ${cause instanceof Error ? cause.message : String(cause)}`)
        }
      }),
    )
    for (const failure of failures) this.options.onWarning?.(failure)
    if (this.sets.size === 0) throw new ToolError('provider_unavailable', `no server can be reached: ${failures.join('; ')}`)
    if (this.made !== null && this.made.servers === this.sets.size) return this.made.tool
    // In the order of the configuration, so that what is told to models does not depend on who answered first.
    const tools = Object.keys(this.config.servers).flatMap((name) => (this.sets.get(name)?.tools ?? []).map(withWritableName))
    const { approve } = this.config
    const runtime = createRuntime({ tools: uniqueTools(tools), limits: { fuel: FUEL }, ...(approve === null ? {} : { approve }) })
    const tool = scriptTool(runtime, { store: this.store, budget: 0, primer: 'system', isShared: true })
    this.made = { tool, servers: this.sets.size }
    return tool
  }
}

function makeDescription(): string {
  const about = scriptTool(createRuntime(), { primer: 'system' }).description
  return `${about}\n\nScripts call the tools of all servers: search_tools finds them, describe_tools gives their types.`
}

/** A name that a script can write: \`get-sum\` is \`get_sum\`. */
function withWritableName(tool: Tool): Tool {
  const name = tool.name.replaceAll(/[^A-Za-z0-9_.]/g, '_')
  return name === tool.name ? tool : partialTool(tool, {}, { name })
}

/** Two tools may come to one name; the first one keeps it. */
function uniqueTools(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed()
}

/** A file a run. Taking one renames it first: of several processes that do so at once, one succeeds. */
export function fileStore(folder: string): PendingStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A token may come from a model, and must not lead elsewhere.
  const locate = (token: string): string | null => (/^[A-Za-z0-9_-]{1,200}$/.test(token) ? join(folder, `${token}.run`) : null)
  const read = (path: string): Uint8Array | null => {
    try {
      return new Uint8Array(readFileSync(path))
    } catch {
      return null
    }
  }
  return {
    save(token, record) {
      const path = locate(token)
      if (path === null) throw new TypeError(`a run cannot be kept under the token ${JSON.stringify(token)}`)
      const written = `${path}.${randomUUID()}`
      writeFileSync(written, record, { mode: 0o600 })
      renameSync(written, path)
    },
    load(token) {
      const path = locate(token)
      return path === null ? null : read(path)
    },
    take(token) {
      const path = locate(token)
      if (path === null) return null
      const taken = `${path}.${randomUUID()}.taken`
      try {
        renameSync(path, taken)
      } catch {
        return null
      }
      const record = read(taken)
      rmSync(taken, { force: true })
      return record
    },
  }
}
