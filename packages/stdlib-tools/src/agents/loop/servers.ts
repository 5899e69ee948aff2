// The MCP servers of an agent loop: connected before the first turn, listed once, their tools in the
// loop's registry as SERVER__TOOL, and closed when the loop ends.

import { Fault, HarnDict, HarnHandle, HarnList, display, failRuntime, here, toPlain, tryCallBack } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { disownClient, ownClient } from '../../tools/policy/loop-clients.js'
import { factsOfEntry } from '../../tools/definitions/entry.js'
import { grantPass } from '../../tools/policy/gate.js'
import { mcpIdentity, serverOfSpec } from '../../tools/dispatch/identity.js'
import type { ToolIdentity } from '../../tools/dispatch/identity.js'
import { entriesOf, isRegistry, nameOf, withTools } from '../../tools/definitions/registry.js'

/** A connected server: what `mcp_call` takes. */
export interface ConnectedServer {
  readonly name: string
  readonly client: Value
}

const LABEL = 'agent_loop'

/** The specs of the option `mcp_servers`, by name; undefined when it was not given. */
export function readServers(option: Value | undefined): readonly HarnDict[] {
  if (option === undefined) return []
  if (!(option instanceof HarnList)) return failRuntime(`${LABEL}: \`mcp_servers\` must be a list of server config dicts`)
  const names = new Set<string>()
  return option.view().map((spec) => {
    if (!(spec instanceof HarnDict)) return failRuntime(`${LABEL}: each \`mcp_servers\` entry must be a dict`)
    const name = spec.get('name')
    if (typeof name !== 'string' || name === '')
      return failRuntime(`${LABEL}: every \`mcp_servers\` entry requires a non-empty \`name\``)
    if (names.has(name)) failRuntime(`${LABEL}: duplicate MCP server name \`${name}\` in \`mcp_servers\``)
    names.add(name)
    return normalSpec(spec)
  })
}

/** A command may be one text or the program and its arguments. */
function normalSpec(spec: HarnDict): HarnDict {
  const command = spec.get('command') ?? null
  if (command === null || typeof command === 'string') return spec
  if (!(command instanceof HarnList)) return failRuntime(`${LABEL}: MCP \`command\` must be a string or a string array`)
  const [program, ...words] = command.view()
  if (typeof program !== 'string') return failRuntime(`${LABEL}: stdio MCP \`command\` arrays must start with a command string`)
  if (!words.every((word) => typeof word === 'string'))
    return failRuntime(`${LABEL}: stdio MCP \`command\` array args must be strings`)
  const args = spec.get('args')
  const more = args instanceof HarnList ? args.view() : []
  return spec.with('command', program).with('args', new HarnList([...words, ...more]))
}

function* call(name: string, ...args: Value[]): Script<Value | Fault> {
  const callee = yield* here((ctx) => ctx.builtinValue(name))
  return yield* tryCallBack(callee, ...args)
}

/** Connects to all of them; when one fails, those before it are closed again. */
export function* connectServers(specs: readonly HarnDict[]): Script<ConnectedServer[]> {
  const servers: ConnectedServer[] = []
  for (const spec of specs) {
    const name = display(spec.get('name')!)
    const client = yield* call('__mcp_open', name, spec)
    if (client instanceof Fault) {
      yield* closeServers(servers)
      throw client
    }
    yield* here((ctx) => (ownClient(ctx, client), null))
    servers.push({ name, client })
  }
  return servers
}

export function* closeServers(servers: readonly ConnectedServer[]): Script<null> {
  for (const { client } of servers) {
    yield* call('mcp_disconnect', client)
    yield* here((ctx) => (disownClient(ctx, client), null))
  }
  return null
}

const ANNOTATIONS = HarnDict.of({ kind: 'fetch', side_effect_level: 'network' })

/** The registry with the tools of all servers. */
export function* withServerTools(registry: Value, servers: readonly ConnectedServer[]): Script<HarnDict> {
  const start =
    registry instanceof HarnDict && isRegistry(registry)
      ? registry
      : HarnDict.of({ _type: 'tool_registry', tools: registry instanceof HarnList ? registry : new HarnList([]) })
  const tools = [...entriesOf(start)]
  for (const { name, client } of servers) {
    const listed = yield* call('mcp_list_tools', client)
    if (listed instanceof Fault) throw listed
    for (const tool of listed instanceof HarnList ? listed.view() : []) {
      const entry = tool instanceof HarnDict ? serverTool(name, tool) : null
      if (entry === null) return failRuntime(`${LABEL}: MCP server \`${name}\` returned a tool without a name`)
      if (tools.some((each) => nameOf(each) === entry.get('name'))) {
        return failRuntime(`${LABEL}: duplicate tool name \`${display(entry.get('name')!)}\` after MCP server prefixing`)
      }
      tools.push(entry)
    }
  }
  return withTools(start, tools)
}

function serverTool(server: string, tool: HarnDict): HarnDict | null {
  const original = display(tool.get('name') ?? '')
  if (original === '') return null
  const output = tool.get('outputSchema') ?? null
  const entry = HarnDict.of({
    name: `${server}__${original}`,
    description: tool.get('description') ?? '',
    parameters: flatParameters(tool.get('inputSchema') ?? null),
    annotations: ANNOTATIONS,
    executor: 'mcp_server',
    mcp_server: server,
    mcp_tool: original,
    _mcp_server: server,
  })
  return output === null ? entry : entry.with('outputSchema', output)
}

/** Parameters with their `required` marks, as tools of scripts have them. */
function flatParameters(schema: Value): HarnDict {
  const flat = new HarnDict()
  if (!(schema instanceof HarnDict)) return flat
  const properties = schema.get('properties')
  const required = schema.get('required')
  const needed = new Set(required instanceof HarnList ? required.view() : [])
  if (!(properties instanceof HarnDict)) return flat
  for (const key of properties.keys()) {
    const spec = properties.get(key)!
    flat.set(key, (spec instanceof HarnDict ? spec : HarnDict.of({ type: 'any' })).with('required', needed.has(key)))
  }
  return flat
}

function serverOf(servers: readonly ConnectedServer[], tool: HarnDict): ConnectedServer | undefined {
  return servers.find((each) => each.name === tool.get('mcp_server'))
}

function toolOfServer(tool: HarnDict): Value {
  return tool.get('mcp_tool') ?? tool.get('name') ?? ''
}

/** What a call of the tool comes down to when a server of the loop answers it; null when none does. */
export function identityAtServer(servers: readonly ConnectedServer[], tool: HarnDict): ToolIdentity | null {
  const server = serverOf(servers, tool)
  if (server === undefined) return null
  const { client, name } = server
  const descriptor = client instanceof HarnHandle ? client.descriptor : null
  const spec = descriptor instanceof HarnDict ? toPlain(descriptor.get('spec') ?? null) : null
  const called = display(toolOfServer(tool))
  return mcpIdentity(serverOfSpec(spec, name), called, [nameOf(tool), `mcp.${name}.${called}`, `${name}__${called}`, called])
}

/** What the server of a tool answers; undefined when the tool is of none of them. */
export function* callServer(
  servers: readonly ConnectedServer[],
  tool: HarnDict,
  args: HarnDict,
  attemptOf: number,
): Script<Value | Fault | undefined> {
  const server = serverOf(servers, tool)
  if (server === undefined) return undefined
  // The gate has judged the tool of this very connection.
  yield* here((ctx) => (grantPass(ctx, server.client, args, attemptOf, factsOfEntry(tool).secrets), null))
  return yield* call('mcp_call', server.client, toolOfServer(tool), args)
}
