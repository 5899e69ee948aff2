// What the MCP servers of an agent loop are made of: the specs of the options, entries for their tools, and what a call of one comes down
// to. A loop connects and closes them in servers.harn.

import { HarnDict, HarnHandle, HarnList, display, failRuntime, toPlain } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { makeMcpIdentity, identifyServer } from '../../tools/dispatch/identity.js'
import type { ToolIdentity } from '../../tools/dispatch/identity.js'
import { listDicts } from '../transcripts/shape.js'
import { readName } from '../../tools/definitions/registry.js'
import { executorOf } from '@bridle/compiler/grants'

/** A connected server: what `mcp_call` takes. */
export interface ConnectedServer {
  readonly name: string
  readonly client: Value
}

/** Connected servers as internal modules hold them. */
export function decodeServers(list: Value | undefined): readonly ConnectedServer[] {
  return listDicts(list).map((each) => ({ name: display(each.get('name')!), client: each.get('client') ?? null }))
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
    return normalizeSpec(spec)
  })
}

/** A command may be one text or the program and its arguments. */
function normalizeSpec(spec: HarnDict): HarnDict {
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

const ANNOTATIONS = HarnDict.of({ kind: 'fetch', side_effect_level: 'network' })

/** The entry of a tool as a server lists it; null for one without a name. */
export function makeServerTool(server: string, tool: HarnDict): HarnDict | null {
  const original = display(tool.get('name') ?? '')
  if (original === '') return null
  const output = tool.get('outputSchema') ?? null
  const entry = HarnDict.of({
    name: `${server}__${original}`,
    description: tool.get('description') ?? '',
    parameters: flattenParameters(tool.get('inputSchema') ?? null),
    annotations: ANNOTATIONS,
    executor: executorOf('mcp'),
    mcp_server: server,
    mcp_tool: original,
    _mcp_server: server,
  })
  return output === null ? entry : entry.with('outputSchema', output)
}

/** Parameters with their `required` marks, as tools of scripts have them. */
function flattenParameters(schema: Value): HarnDict {
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

function findServer(servers: readonly ConnectedServer[], tool: HarnDict): ConnectedServer | undefined {
  return servers.find((each) => each.name === tool.get('mcp_server'))
}

function readServerTool(tool: HarnDict): Value {
  return tool.get('mcp_tool') ?? tool.get('name') ?? ''
}

/** What a call of the tool comes down to when a server of the loop answers it; null when none does. */
export function findIdentityAtServer(servers: readonly ConnectedServer[], tool: HarnDict): ToolIdentity | null {
  const server = findServer(servers, tool)
  if (server === undefined) return null
  const { client, name } = server
  const descriptor = client instanceof HarnHandle ? client.descriptor : null
  const spec = descriptor instanceof HarnDict ? toPlain(descriptor.get('spec') ?? null) : null
  const called = display(readServerTool(tool))
  return makeMcpIdentity(identifyServer(spec, name), called, [
    readName(tool),
    `mcp.${name}.${called}`,
    `${name}__${called}`,
    called,
  ])
}
