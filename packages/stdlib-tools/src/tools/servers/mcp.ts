// MCP as scripts see it: connecting, asking, disconnecting, and recording what a script offers as a server (which only
// `bridle serve mcp` acts upon). A client is a HarnHandle of kind `mcp_client` whose id is its display name; its descriptor
// carries the connection number and how to reach the server, so that the provider can open it again after a
// restore. Which connections the script has closed is family state, and travels with snapshots.
//
// Effects (answered by mcp/provider.ts):
//   mcp.connect {op: open, client, name, spec}      → server facts; fails with the language's messages
//   mcp.connect {op: close|release, client, name}   → nil
//   mcp.connect {op: updates, client, name}         → {resources: [uri], lists: [name]}, what changed since the last time
//   mcp.connect {op: status}                        → [{name, lazy, card, keepAliveMs}], the servers that the host declared
//   mcp.request {client, name, spec, method, params} → the result object as the server sent it

import {
  HarnClosure,
  HarnDict,
  HarnHandle,
  HarnList,
  HarnStruct,
  HarnBytes,
  parseJson,
  HarnFloat,
  builtin,
  display,
  family,
  frame,
  fromPlain,
  isTruthy,
} from '@bridle/vm'
import { builtinTaking } from '@bridle/vm/families'
import type { Fit } from '@bridle/vm/families'
import { enterGate } from '../dispatch/outside-calls.js'
import { makeJudgedFacts, leaveGate } from '../dispatch/outside-calls.js'
import { makeMcpIdentity } from '../dispatch/identity.js'
import { identifyServer } from '../dispatch/identity.js'
import { checkEgress } from '../../library/http/egress.js'
import type { BuiltinFamily, Context, Effect, Plain, Result, Value } from '@bridle/vm'
import type { AtGate } from '../dispatch/outside-calls.js'
import type { OutsideCall } from '../dispatch/outside-calls.js'

/** How to reach a server: a spec dict `{name, command, args}` or `{name, transport: "http", url}`, or `{server: name}` for one that the host declared. */
export type McpSpec = { readonly [key: string]: Plain }

interface McpState {
  /** Connections made so far; numbers are never reused within a run. */
  count: number
  closed: number[]
  /** Declared servers in use: reference count and connection. */
  active: Map<string, { refs: number; client: number }>
  cards: Map<string, { card: Value; untilMs: number }>
  /** `version` counts registrations. */
  served: { registry: Value; resources: Value[]; templates: Value[]; prompts: Value[]; version: number }
}

export const mcpState = family<McpState>('mcp', () => ({
  count: 0,
  closed: [],
  active: new Map(),
  cards: new Map(),
  served: { registry: null, resources: [], templates: [], prompts: [], version: 0 },
}))

const CARD_LIFETIME_MS = 5 * 60_000
/** A server that hands out cursors forever must not hold a script forever. */
const MAX_PAGES = 1000

interface Client {
  readonly handle: HarnHandle
  readonly number: number
  readonly name: string
  readonly spec: McpSpec
}

function readClient(value: Value | undefined): Client | null {
  if (!(value instanceof HarnHandle) || value.kind !== 'mcp_client') return null
  const descriptor = value.descriptor
  if (!(descriptor instanceof HarnDict)) return null
  const number = descriptor.get('client')
  return typeof number === 'number'
    ? { handle: value, number, name: value.id, spec: toJsonDict(descriptor.get('spec') ?? null) }
    : null
}

function makeHandle(number: number, name: string, spec: McpSpec): HarnHandle {
  return new HarnHandle('mcp_client', name, HarnDict.of({ client: number, spec: fromPlain(spec) }))
}

/** A value as JSON data; what has no JSON form is null. */
function toJsonPlain(value: Value): Plain {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof HarnFloat) return value
  if (value instanceof HarnList) return value.view().map(toJsonPlain)
  if (value instanceof HarnDict) return toJsonDict(value)
  if (value instanceof HarnStruct) return toJsonDict(HarnDict.from(value))
  return null
}

function toJsonDict(value: Value): McpSpec {
  const out = Object.create(null) as { [key: string]: Plain }
  if (value instanceof HarnDict) for (const key of value.keys()) out[key] = toJsonPlain(value.get(key)!)
  return out
}

/** Numbers of scripts count from 1, these from -1 downwards, in the order of the declarations. */
export function chooseNumber(servers: { readonly [name: string]: unknown }, server: string): number {
  const at = Object.keys(servers).indexOf(server)
  return at < 0 ? -1 - Object.keys(servers).length : -1 - at
}

/** The script global `mcp`: the clients of the servers that are connected from the start, by name. */
export function mcpGlobal(servers: { readonly [name: string]: { readonly lazy?: boolean } }): Value {
  const clients = new HarnDict()
  for (const [name, { lazy }] of Object.entries(servers)) {
    if (lazy === false) clients.set(name, makeHandle(chooseNumber(servers, name), name, { server: name }))
  }
  return clients
}

function request(client: Client, method: string, params: McpSpec, call: OutsideCall | null = null): Effect {
  const args = { client: client.number, name: client.name, spec: client.spec, method, params }
  return { kind: 'mcp.request', args: call === null ? args : { ...args, ...makeJudgedFacts(call) } }
}

/** What becomes of a result object. */
type Shape = 'call' | 'whole' | 'resource' | 'list'

interface AskState {
  [key: string]: unknown
  asked: boolean
  /** A call of a tool on its way through the gate; null for any other request. */
  call: OutsideCall | null
  shape: Shape
  /** For lists: the key of the result, and whether items are marked with the client's name. */
  key: string
  mark: boolean
  client: HarnHandle
  method: string
  params: HarnDict
  items: Value[]
  pages: number
}

function ask(
  ctx: Context,
  client: Client,
  method: string,
  params: HarnDict,
  shape: Shape,
  list: { key: string; mark: boolean } = { key: '', mark: false },
): Result {
  if (ctx.state(mcpState).closed.includes(client.number)) return ctx.runtime('MCP client is disconnected')
  const state: AskState = { asked: false, call: null, shape, ...list, client: client.handle, method, params, items: [], pages: 0 }
  return ctx.frame('mcp.ask', state)
}

const askFrame = frame<AskState>({
  kind: 'mcp.ask',
  runBoundary: false,
  step(ctx, state) {
    const client = readClient(state.client)!
    if (!state.asked) {
      if (state.shape === 'call') {
        const at = passGate(ctx, state, client)
        if (at.kind === 'refused') return at.result
        state.call = at.call
        if (at.call.args instanceof HarnDict) state.params = state.params.with('arguments', at.call.args)
        if (at.kind === 'asking') return at.result
      }
      state.asked = true
      return ctx.request(request(client, state.method, toJsonDict(state.params), state.call))
    }
    const result = ctx.result
    switch (state.shape) {
      case 'whole':
        return result
      case 'call':
        return callResult(ctx, result)
      case 'resource':
        return readResource(result)
      case 'list':
        break
    }
    const page = readField(result, state.key)
    if (page instanceof HarnList) {
      for (const item of page.view()) state.items.push(state.mark ? markServer(item, client.name) : item)
    }
    state.pages++
    const cursor = readField(result, 'nextCursor')
    if (typeof cursor !== 'string' || cursor === '' || state.pages >= MAX_PAGES) return new HarnList(state.items)
    return ctx.request(request(client, state.method, { ...toJsonDict(state.params), cursor }))
  },
})

/** The server is identified by its connection, not by the script's name for it. */
function passGate(ctx: Context, state: AskState, { name, spec, handle }: Client): AtGate {
  if (state.call !== null) return leaveGate(ctx, state.call, ctx.result as HarnDict)
  const tool = display(state.params.get('name') ?? null)
  const given = [`mcp.${name}.${tool}`, `${name}__${tool}`, tool]
  return enterGate(ctx, makeMcpIdentity(identifyServer(spec, name), tool, given), state.params.get('arguments') ?? null, handle)
}

function readField(value: Value, key: string): Value {
  return value instanceof HarnDict ? (value.get(key) ?? null) : null
}

function markServer(tool: Value, server: string): Value {
  return tool instanceof HarnDict && !tool.has('_mcp_server') ? tool.with('_mcp_server', server) : tool
}

function callResult(ctx: Context, result: Value): Result {
  // A dry run answers with its own record instead of a server's result.
  if (readField(result, '_type') === 'synthesized_tool_result') return result
  const content = readField(result, 'content')
  const items = content instanceof HarnList ? content.view() : []
  const texts = items
    .filter((item) => readField(item, 'type') === 'text')
    .map((item) => readField(item, 'text'))
    .filter((text) => typeof text === 'string')
  if (readField(result, 'isError') === true) return ctx.throw(texts.length > 0 ? texts.join('\n') : display(result))
  if (items.length === 1 && texts.length === 1) return texts[0]!
  return items.length === 0 ? readField(result, 'structuredContent') : new HarnList([...items])
}

function readResource(result: Value): Value {
  const contents = readField(result, 'contents')
  const items = contents instanceof HarnList ? contents.view() : []
  if (items.length === 0) return null
  const text = items.length === 1 ? readField(items[0]!, 'text') : null
  return typeof text === 'string' ? text : new HarnList([...items])
}

// ------------------------------------------------------------------------------------------------------------ connecting

interface OpenState {
  [key: string]: unknown
  asked: boolean
  number: number
  name: string
  spec: McpSpec
  /** The declared server that this connection serves, '' for one that the script spelled out. */
  server: string
}

const openFrame = frame<OpenState>({
  kind: 'mcp.open',
  runBoundary: false,
  step(ctx, state) {
    const { spec } = state
    if (!state.asked) {
      state.asked = true
      const { url } = spec
      const blocked = typeof url === 'string' ? checkEgress(ctx, 'mcp_connect', url) : null
      if (blocked !== null) return blocked
      return ctx.request({ kind: 'mcp.connect', args: { op: 'open', client: state.number, name: state.name, spec } })
    }
    const mcp = ctx.state(mcpState)
    if (state.server !== '') {
      mcp.active.set(state.server, { refs: (mcp.active.get(state.server)?.refs ?? 0) + 1, client: state.number })
    }
    return makeHandle(state.number, state.name, spec)
  },
})

function open(ctx: Context, name: string, spec: McpSpec, server: string): Result {
  const number = ++ctx.state(mcpState).count
  return ctx.frame('mcp.open', { asked: false, number, name, spec, server } as OpenState)
}

const mcpConnect = builtinTaking(
  'mcp_connect(command: string, args?: list) -> any',
  {
    doc: 'Starts an MCP server as a process, speaks to it over its standard input and output, and gives the client.',
    effects: ['mcp.connect'],
  },
  { text: { command: '{f}: command is required' } },
  (ctx, command, args) => {
    const words = args instanceof HarnList ? args.view().map((word) => display(word)) : []
    return open(ctx, command, { transport: 'stdio', command, args: words }, '')
  },
)

/** For agent loops: a server by its spec dict. */
const mcpOpen = builtin(
  '__mcp_open(name: string, spec: dict) -> any',
  { doc: 'Connects to the MCP server that a spec dict describes, and gives the client.', effects: ['mcp.connect'] },
  (ctx, name, spec) => open(ctx, name === null ? '' : display(name!), toJsonDict(spec ?? null), ''),
)

const mcpEnsureActive = builtinTaking(
  'mcp_ensure_active(name: string) -> any',
  {
    doc: 'Connects to a declared MCP server unless it is connected, counts the use, and gives the client.',
    effects: ['mcp.connect'],
  },
  { text: { name: '{f}: server name is required' } },
  (ctx, name) => {
    const mcp = ctx.state(mcpState)
    const active = mcp.active.get(name)
    if (active !== undefined && !mcp.closed.includes(active.client)) {
      active.refs++
      return makeHandle(active.client, name, { server: name })
    }
    if (active !== undefined) mcp.active.delete(name)
    return open(ctx, name, { server: name }, name)
  },
)

const mcpRelease = builtinTaking(
  'mcp_release(name: string) -> nil',
  { doc: 'Gives back one use of a declared MCP server; the last one ends the connection.', effects: ['mcp.connect'] },
  { text: { name: '{f}: server name is required' } },
  (ctx, name) => {
    const mcp = ctx.state(mcpState)
    const active = mcp.active.get(name)
    if (active === undefined) return null
    active.refs--
    if (active.refs > 0) return null
    mcp.active.delete(name)
    mcp.closed.push(active.client)
    return ctx.perform({ kind: 'mcp.connect', args: { op: 'release', client: active.client, name } })
  },
)

const mcpDisconnect = builtin(
  'mcp_disconnect(client: mcp_client) -> nil',
  { doc: 'Ends the connection and the server process behind it.', effects: ['mcp.connect'] },
  (ctx, value) => {
    const client = readClient(value)
    if (client === null) return ctx.throw('mcp_disconnect: argument must be an MCP client')
    const { closed } = ctx.state(mcpState)
    if (closed.includes(client.number)) return null
    closed.push(client.number)
    return ctx.perform({ kind: 'mcp.connect', args: { op: 'close', client: client.number, name: client.name } })
  },
)

// ---------------------------------------------------------------------------------------------------------------- asking

const isClient: Fit = (value, { name }) => (readClient(value) === null ? `${name}: first argument must be an MCP client` : null)

const makeEmpty = (): HarnDict => new HarnDict()

function defineLister(
  name: string,
  returns: string,
  method: string,
  key: string,
  doc: string,
  mark = false,
): ReturnType<typeof builtin> {
  return builtin(`${name}(client: mcp_client) -> ${returns}`, { doc, effects: ['mcp.request'] }, (ctx, value) => {
    const client = readClient(value)
    if (client === null) return ctx.throw(`${name}: argument must be an MCP client`)
    return ask(ctx, client, method, makeEmpty(), 'list', { key, mark })
  })
}

const mcpListTools = defineLister(
  'mcp_list_tools',
  'list',
  'tools/list',
  'tools',
  'The tools of a server, each marked with `_mcp_server`.',
  true,
)
const mcpListResources = defineLister('mcp_list_resources', 'list', 'resources/list', 'resources', 'The resources of a server.')
const mcpListTemplates = defineLister(
  'mcp_list_resource_templates',
  'list as ?',
  'resources/templates/list',
  'resourceTemplates',
  'The resource templates of a server.',
)
const mcpListPrompts = defineLister('mcp_list_prompts', 'list', 'prompts/list', 'prompts', 'The prompts of a server.')

const mcpCall = builtinTaking(
  'mcp_call(client: mcp_client, name: string, arguments?: dict) -> any',
  {
    fromOutside: true,
    doc: 'Calls a tool of a server. One text content comes back as a string, none as nil, others as a list; a tool error is thrown.',
    effects: ['mcp.request'],
  },
  { fits: { client: isClient }, text: { name: '{f}: tool name is required' } },
  (ctx, client, name, args) => {
    return ask(
      ctx,
      readClient(client)!, // fits
      'tools/call',
      HarnDict.of({ name, arguments: args instanceof HarnDict ? args : makeEmpty() }),
      'call',
    )
  },
)

const mcpReadResource = builtinTaking(
  'mcp_read_resource(client: mcp_client, uri: string) -> any',
  { doc: 'Reads a resource: its text, nil when it is empty, or the list of its contents.', effects: ['mcp.request'] },
  { fits: { client: isClient }, text: { uri: '{f}: URI is required' } },
  (ctx, client, uri) => ask(ctx, readClient(client)!, 'resources/read', HarnDict.of({ uri }), 'resource'), // fits
)

const mcpGetPrompt = builtinTaking(
  'mcp_get_prompt(client: mcp_client, name: string, arguments?: dict) -> dict',
  { doc: 'Renders a prompt of a server and gives the whole result.', effects: ['mcp.request'] },
  { fits: { client: isClient }, text: { name: '{f}: prompt name is required' } },
  (ctx, client, name, args) =>
    ask(ctx, readClient(client)!, 'prompts/get', HarnDict.of({ name, arguments: toTexts(args) }), 'whole'), // fits
)

/** Arguments of prompts are texts in the protocol. */
function toTexts(args: Value | undefined): HarnDict {
  const texts = new HarnDict()
  if (args instanceof HarnDict) for (const [key, value] of args.entries()) texts.set(key, display(value))
  return texts
}

/** Requests beyond those with their own builtins, for `std/mcp`. */
const OTHER_REQUESTS: ReadonlySet<string> = new Set([
  'ping',
  'resources/directory/read',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'skills/get',
  'skills/list',
])

const mcpAsk = builtin(
  '__mcp_ask(client: mcp_client, method: string, params: dict) -> dict',
  { doc: 'Any other request of the protocol that a client may make; gives the whole result.', effects: ['mcp.request'] },
  (ctx, value, method, params) => {
    const client = readClient(value)
    if (client === null) return ctx.throw('the first argument must be an MCP client')
    const name = display(method!)
    if (!OTHER_REQUESTS.has(name)) return ctx.throw(`MCP: '${name}' is no request of scripts`)
    return ask(ctx, client, name, params instanceof HarnDict ? params : makeEmpty(), 'whole')
  },
)

const mcpUpdates = builtin(
  '__mcp_updates(client: mcp_client) -> dict',
  { doc: 'What a server said to have changed since it was last asked.', effects: ['mcp.connect'] },
  (ctx, value) => {
    const client = readClient(value)
    if (client === null) return ctx.throw('the first argument must be an MCP client')
    if (ctx.state(mcpState).closed.includes(client.number)) return ctx.runtime('MCP client is disconnected')
    return ctx.perform({ kind: 'mcp.connect', args: { op: 'updates', client: client.number, name: client.name } })
  },
)

const mcpServerInfo = builtin(
  'mcp_server_info(client: mcp_client) -> dict',
  { doc: 'Name of the server and that it is connected.', effects: [] },
  (ctx, value) => {
    const client = readClient(value)
    if (client === null) return ctx.throw('mcp_server_info: argument must be an MCP client')
    if (ctx.state(mcpState).closed.includes(client.number)) return ctx.runtime('MCP client is disconnected')
    return HarnDict.of({ name: client.name, connected: true })
  },
)

// ------------------------------------------------------------------------------------------------------- declared servers

interface StatusState {
  [key: string]: unknown
  asked: boolean
}

const STATUS: Effect = { kind: 'mcp.connect', args: { op: 'status' } }

const statusFrame = frame<StatusState>({
  kind: 'mcp.status',
  runBoundary: false,
  step(ctx, state) {
    if (!state.asked) {
      state.asked = true
      return ctx.request(STATUS)
    }
    const mcp = ctx.state(mcpState)
    const servers = ctx.result instanceof HarnList ? ctx.result.view() : []
    return new HarnList(
      servers.map((server) => {
        const name = display(readField(server, 'name'))
        const active = mcp.active.get(name)
        const lazy = isTruthy(readField(server, 'lazy'))
        // A server that is not lazy is connected from the start and held by the run itself.
        const entry = HarnDict.of({
          name,
          lazy,
          active: active !== undefined || !lazy,
          ref_count: (active?.refs ?? 0) + (lazy ? 0 : 1),
        })
        const card = readField(server, 'card')
        if (card !== null) entry.set('card', card)
        return entry
      }),
    )
  },
})

const mcpRegistryStatus = builtin(
  'mcp_registry_status() -> list',
  { doc: 'The declared MCP servers and whether they are in use.', effects: ['mcp.connect'] },
  (ctx) => ctx.frame('mcp.status', { asked: false }),
)

interface CardState {
  [key: string]: unknown
  stage: 'begin' | 'name' | 'file' | 'http' | 'well-known'
  target: string
  source: string
}

/** True for what is a place of its own rather than the name of a declared server. */
function isPlace(target: string): boolean {
  return /^https?:\/\//.test(target) || target.includes('/') || target.includes('\\') || target.endsWith('.json')
}

const cardFrame = frame<CardState>({
  kind: 'mcp.card',
  runBoundary: false,
  step(ctx, state) {
    switch (state.stage) {
      case 'begin':
        if (!isPlace(state.target)) {
          state.stage = 'name'
          return ctx.request(STATUS)
        }
        return fetchCard(ctx, state, state.target)
      case 'name': {
        const servers = ctx.result instanceof HarnList ? ctx.result.view() : []
        const server = servers.find((each) => readField(each, 'name') === state.target)
        if (server === undefined) return failUnknownServer(ctx, state.target)
        const card = readField(server, 'card')
        if (typeof card !== 'string' || card === '')
          return ctx.throw(`mcp_server_card: server '${state.target}' has no 'card' field in harn.toml`)
        return fetchCard(ctx, state, card)
      }
      case 'file': {
        if (readField(ctx.result, 'refused') === true)
          return ctx.throw(`mcp_server_card: io: read ${state.source}: ${display(readField(ctx.result, 'detail'))}`)
        return parseCard(ctx, state, display(readField(ctx.result, 'data')))
      }
      case 'http':
      case 'well-known': {
        const status = readField(ctx.result, 'status')
        const found = typeof status === 'number' && status >= 200 && status < 300
        if (found) return parseCard(ctx, state, readBodyText(readField(ctx.result, 'body')))
        if (state.stage === 'http') {
          state.stage = 'well-known'
          return ctx.request(makeHttpGet(`${withoutSlashes(state.source)}/.well-known/mcp-card`))
        }
        const why =
          readField(ctx.result, 'refused') === true ? display(readField(ctx.result, 'detail')) : `status ${display(status)}`
        return ctx.throw(`mcp_server_card: http: ${why}`)
      }
    }
  },
})

function failUnknownServer(ctx: Context, name: string): Result {
  return ctx.throw(`mcp_server_card: no MCP server '${name}' registered (check harn.toml) — pass a URL or path directly instead`)
}

function fetchCard(ctx: Context, state: CardState, source: string): Result {
  state.source = source
  const { cards } = ctx.state(mcpState)
  const cached = cards.get(source)
  if (cached !== undefined && ctx.now < cached.untilMs) return cached.card
  const remote = /^https?:\/\//.test(source)
  state.stage = remote ? 'http' : 'file'
  return ctx.request(remote ? makeHttpGet(source) : { kind: 'fs.read', args: { path: source, encoding: 'utf8' } })
}

function makeHttpGet(url: string): Effect {
  return {
    kind: 'http.request',
    args: {
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      body: null,
      saveTo: null,
      timeoutMs: null,
      connectTimeoutMs: null,
      readTimeoutMs: null,
      proxy: null,
      tls: null,
      decompress: true,
    },
  }
}

function readBodyText(body: Value): string {
  return body instanceof HarnBytes ? new TextDecoder().decode(body.data) : display(body)
}

function parseCard(ctx: Context, state: CardState, text: string): Result {
  const parsed = parseJson(text)
  if (!parsed.ok) return ctx.throw(`mcp_server_card: parse: ${parsed.message}`)
  const card = parsed.value
  ctx.state(mcpState).cards.set(state.source, { card, untilMs: ctx.now + CARD_LIFETIME_MS })
  return card
}

const mcpServerCard = builtinTaking(
  'mcp_server_card(target: string) -> dict',
  {
    doc: 'The card of a declared server, or the one at a URL or path; kept for five minutes.',
    effects: ['mcp.connect', 'fs.read', 'http.request'],
  },
  { fewer: '{f}: server name, URL, or path is required', text: { target: null } },
  (ctx, target) => ctx.frame('mcp.card', { stage: 'begin', target, source: '' } as CardState),
)

// --------------------------------------------------------------------------------------------------- offering as a server

function registerTools(name: string): ReturnType<typeof builtin> {
  return builtinTaking(
    `${name}(registry: dict) -> nil as ?`,
    { doc: 'Offers the tools of a registry when the script is served as an MCP server.', effects: [] },
    {
      raise: 'runtime',
      fewer: 'mcp_tools: requires a tool_registry argument',
      not: { registry: 'mcp_tools: argument must be a tool registry' },
    },
    (ctx, registry) => {
      if (registry.get('_type') !== 'tool_registry')
        return ctx.runtime('mcp_tools: argument must be a tool registry (created with tool_registry())')
      const { served } = ctx.state(mcpState)
      served.registry = registry
      served.version += 1
      return null
    },
  )
}

/** Checks that a dict has the required entries; `null` or the text of the first complaint. */
function findComplaint(config: HarnDict, required: readonly string[], closure: string | null, name: string): string | null {
  for (const key of required) {
    if (!config.has(key)) return `${name}: '${key}' is required`
  }
  if (closure !== null && !(config.get(closure) instanceof HarnClosure)) return `${name}: '${closure}' closure is required`
  return null
}

const isSubscribable = (resource: Value): boolean => readField(resource, 'subscribe') === true

const mcpResource = builtin(
  'mcp_resource(config: dict) -> nil',
  { doc: 'Offers a text, or bytes, as a resource.', effects: [] },
  (ctx, config) => {
    if (!(config instanceof HarnDict)) return ctx.runtime('mcp_resource: argument must be a dict with {uri, name, text}')
    const binary = config.get('blob') instanceof HarnBytes
    const problem = findComplaint(config, binary ? ['uri', 'name'] : ['uri', 'name', 'text'], null, 'mcp_resource')
    if (problem !== null) return ctx.runtime(problem)
    const { served } = ctx.state(mcpState)
    served.version += 1
    // Registering a subscribable resource again replaces it and notifies clients.
    const before = served.resources.findIndex((each) => isSubscribable(each) && readField(each, 'uri') === config.get('uri'))
    if (before >= 0) served.resources[before] = config
    else served.resources.push(config)
    return null
  },
)

const mcpResourceTemplate = builtin(
  'mcp_resource_template(config: dict) -> nil',
  { doc: 'Offers resources that a closure makes from a URI template.', effects: [] },
  (ctx, config) => {
    if (!(config instanceof HarnDict)) return ctx.runtime('mcp_resource_template: argument must be a dict')
    const problem = findComplaint(config, ['uri_template', 'name'], 'handler', 'mcp_resource_template')
    if (problem !== null) return ctx.runtime(problem)
    const { served } = ctx.state(mcpState)
    served.templates.push(config)
    served.version += 1
    return null
  },
)

const mcpPrompt = builtin(
  'mcp_prompt(config: dict) -> nil',
  { doc: 'Offers a prompt that a closure renders.', effects: [] },
  (ctx, config) => {
    if (!(config instanceof HarnDict)) return ctx.runtime('mcp_prompt: argument must be a dict with {name, handler}')
    const problem = findComplaint(config, ['name'], 'handler', 'mcp_prompt')
    if (problem !== null) return ctx.runtime(problem)
    const { served } = ctx.state(mcpState)
    served.prompts.push(config)
    served.version += 1
    return null
  },
)

export const mcpFamily: BuiltinFamily = {
  name: 'mcp',
  builtins: [
    mcpConnect,
    mcpOpen,
    mcpEnsureActive,
    mcpRelease,
    mcpDisconnect,
    mcpListTools,
    mcpListResources,
    mcpListTemplates,
    mcpListPrompts,
    mcpCall,
    mcpReadResource,
    mcpGetPrompt,
    mcpAsk,
    mcpUpdates,
    mcpServerInfo,
    mcpRegistryStatus,
    mcpServerCard,
    registerTools('mcp_tools'),
    registerTools('mcp_serve'),
    mcpResource,
    mcpResourceTemplate,
    mcpPrompt,
  ],
  frames: [askFrame, openFrame, statusFrame, cardFrame],
}

function withoutSlashes(url: string): string {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}
