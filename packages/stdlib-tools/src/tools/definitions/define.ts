// `tool_define`: checks one tool's configuration in the reference's order and appends its entry. The combinations of
// executor and backend are one table, so that each refusal stands in one place.

import { TOOL_LISTENER } from './pins.js'
import { HarnDict, builtin, debugQuoted, display, family, toPlain } from '@bridle/vm/families'
import type { Context, Result, Value } from '@bridle/vm/families'
import { descriptionHashOf, schemaHashOf } from './pins.js'
import { entriesOf, nameOf, present, refuseRegistry, withTools, withoutHandler } from './registry.js'

export type ExecutorName = 'harn' | 'host_bridge' | 'mcp_server' | 'provider_native'

const EXECUTORS: ReadonlyMap<string, ExecutorName> = new Map([
  ['harn', 'harn'],
  ['harn_builtin', 'harn'],
  ['host_bridge', 'host_bridge'],
  ['mcp_server', 'mcp_server'],
  ['provider_native', 'provider_native'],
])

/** Tools that the runtime itself carries out, so that they need no handler. */
const RUNTIME_TOOLS: ReadonlySet<string> = new Set(['read_file', 'list_directory', 'emit_plan', 'update_plan'])

interface Backend {
  readonly name: string
  readonly hasHandler: boolean
  readonly hostCapability: Value
  readonly mcpServer: Value
}

interface Rule {
  readonly executor: ExecutorName
  readonly broken: (backend: Backend) => boolean
  readonly text: string
}

const isNonEmptyText = (value: Value): boolean => typeof value === 'string' && value !== ''

const RULES: readonly Rule[] = [
  {
    executor: 'harn',
    broken: (b) => !b.hasHandler && !RUNTIME_TOOLS.has(b.name),
    text: 'has no `handler`. Attach the handler fn or change the executor.',
  },
  {
    executor: 'harn',
    broken: (b) => b.hostCapability !== null,
    text: 'also sets `host_capability`. Drop one — the harn executor runs the handler in-VM and never reaches the host bridge.',
  },
  {
    executor: 'harn',
    broken: (b) => b.mcpServer !== null,
    text: 'also sets `mcp_server`. Drop one — MCP-served tools must declare executor: "mcp_server".',
  },
  {
    executor: 'host_bridge',
    broken: (b) => b.hasHandler,
    text: 'also has a `handler`. Drop the handler — host-bridge tools are dispatched by the host shell, not the VM.',
  },
  {
    executor: 'host_bridge',
    broken: (b) => !isNonEmptyText(b.hostCapability),
    text:
      'is missing `host_capability`. Set it to the canonical bridge identifier (e.g. "interaction.ask") ' +
      'so `harn check` can validate ' +
      'the binding against the host capability manifest.',
  },
  {
    executor: 'mcp_server',
    broken: (b) => b.hasHandler,
    text: 'also has a `handler`. Drop the handler — MCP-served tools route through the MCP transport.',
  },
  {
    executor: 'mcp_server',
    broken: (b) => !isNonEmptyText(b.mcpServer),
    text: 'is missing `mcp_server` (the configured server name).',
  },
  {
    executor: 'provider_native',
    broken: (b) => b.hasHandler,
    text:
      'also has a `handler`. Provider-side tools are executed by the model server; ' +
      'the runtime never dispatches them locally.',
  },
]

/** Config keys that have a place of their own in the entry; every other key is copied as it is. */
const PLACED_KEYS: ReadonlySet<string> = new Set(['parameters', 'handler', 'executor', 'returns', 'annotations'])

/** The resolved executor, or the message of the refusal. */
function resolveExecutor(name: string, config: HarnDict): { readonly executor: ExecutorName } | { readonly refusal: string } {
  const named = present(config, 'executor')
  const hasHandler = present(config, 'handler') !== null
  let executor: ExecutorName | undefined
  if (named === null) {
    if (!hasHandler) {
      return {
        refusal:
          `tool_define: tool ${debugQuoted(name)} has no \`handler\` and no \`executor\`. Either attach a \`handler\` fn ` +
          '(executor: "harn") or declare an alternate backend, e.g. executor: "host_bridge" + host_capability: "cap.op", ' +
          'executor: "mcp_server" + mcp_server: "server-name", executor: "provider_native". Defining a handlerless tool would ' +
          `surface as \`[builtin_call] unhandled: ${name}\` at the first model call.`,
      }
    }
    executor = 'harn'
  } else if (typeof named === 'string') {
    executor = EXECUTORS.get(named)
    if (executor === undefined) {
      return {
        refusal:
          `tool_define: unknown executor ${debugQuoted(named)} for tool ${debugQuoted(name)}. Expected one of: ` +
          '"harn", "host_bridge", "mcp_server", "provider_native"',
      }
    }
  } else {
    return { refusal: 'tool_define: `executor` must be a string ("harn", "host_bridge", "mcp_server", or "provider_native")' }
  }
  const backend = {
    name,
    hasHandler,
    hostCapability: present(config, 'host_capability'),
    mcpServer: present(config, 'mcp_server'),
  }
  const broken = RULES.find((rule) => rule.executor === executor && rule.broken(backend))
  if (broken === undefined) return { executor }
  return { refusal: `tool_define: tool ${debugQuoted(name)} declares executor: "${executor}" but ${broken.text}` }
}

/** What is wrong with the keys for deferred loading, or null. */
function refuseDeferred(config: HarnDict): string | null {
  const deferred = config.get('defer_loading')
  if (deferred !== undefined && typeof deferred !== 'boolean') {
    return (
      'tool_define: `defer_loading` must be a bool (true → hold schema back until a tool_search call surfaces it; ' +
      'false or absent → ship eagerly)'
    )
  }
  const namespace = present(config, 'namespace')
  if (namespace !== null && !isNonEmptyText(namespace)) {
    return (
      'tool_define: `namespace` must be a non-empty string ' +
      '(groups deferred tools for OpenAI tool_search; Anthropic ignores it)'
    )
  }
  return null
}

/** By name, of a machine whose host asked to be told; the last definition wins. */
export const definedTools = family<{ entries: Map<string, HarnDict> }>('defined_tools', () => ({ entries: new Map() }))

function defineTool(ctx: Context, registry: Value, nameValue: Value, description: Value, config: Value): Result {
  if (ctx.argc < 4) return ctx.throw('tool_define: requires registry, name, description, and config dict')
  const refused = refuseRegistry(ctx, 'tool_define', registry, 'first argument must be a tool registry')
  if (refused !== null) return refused
  if (!(config instanceof HarnDict)) return ctx.throw('tool_define: config must be a dict with parameters and handler')
  if (config.has('params') && !config.has('parameters')) return ctx.throw("tool_define: use 'parameters', not 'params'")
  const name = display(nameValue)
  const resolved = resolveExecutor(name, config)
  if ('refusal' in resolved) return ctx.throw(resolved.refusal)
  const refusal = refuseDeferred(config)
  if (refusal !== null) return ctx.throw(refusal)

  const entry = HarnDict.of({
    name,
    description: display(description),
    handler: present(config, 'handler'),
    parameters: config.has('parameters') ? config.get('parameters')! : new HarnDict(),
    executor: resolved.executor,
  })
  const returns = present(config, 'returns')
  if (returns !== null) entry.set('outputSchema', returns)
  if (config.has('annotations')) entry.set('annotations', config.get('annotations')!)
  for (const [key, value] of config.entries()) if (!PLACED_KEYS.has(key)) entry.set(key, value)

  const onTool = ctx.machine.hostData(TOOL_LISTENER)
  if (onTool !== null) {
    ctx.state(definedTools).entries.set(name, entry)
    const hashHex = (bytes: Uint8Array): string => ctx.machine.hashHex(bytes)
    const [hash, descriptionHash] = [schemaHashOf(hashHex, entry), descriptionHashOf(hashHex, entry)]
    onTool({ name, hash, descriptionHash, entry: toPlain(withoutHandler(entry)) })
  }
  const others = entriesOf(registry as HarnDict)
  ctx.charge(others.length >> 3, 16 * (others.length + entry.size))
  // A tool that is defined again moves to the end.
  return withTools(registry as HarnDict, [...others.filter((other) => nameOf(other) !== name), entry])
}

const TOOL_CONFIG = `
  parameters: dict = {} -- Parameters by name: a type, or a schema with \`type\`, \`description\`, \`required\`, \`default\`, \`enum\`.
  handler: closure -- Called with the dict of arguments.
  returns: dict | string -- Schema of the result.
  outputSchema: dict -- The same.
  output_schema: dict -- The same, as models and MCP clients are told.
  executor: "harn" | "host_bridge" | "mcp_server" | "provider_native" = "harn" -- Who carries a call out.
  host_capability: string -- The operation of the host, for \`host_bridge\`.
  mcp_server: string -- The server, for \`mcp_server\`.
  annotations: dict -- What the tool does: \`readOnlyHint\`, \`destructiveHint\`, \`kind\`, side effects, arguments.
  defer_loading: bool -- Whether models see the tool only when they search for it.
  namespace: string -- The group of a tool that is searched for.
  title: string -- A name for people.
  *: any -- Further keys are kept with the tool.
`

export const toolDefine = builtin(
  'tool_define(registry: dict, name: string, description: string, config: dict) -> dict',
  {
    doc: 'A registry with this tool added; a tool of the same name is replaced.',
    effects: [],
    shapes: { config: TOOL_CONFIG },
  },
  defineTool,
)
