// What an effect makes use of, as the table of effects declares it: the calls that it amounts to, with the addresses, files, programs
// and keys that they reach. The gate judges every use of an effect (tools/policy/grants.ts: grants, domains, paths, programs, pins,
// budgets; the host's side: powers), so that no consequence of an effect goes unchecked.
//
// A resource is judged under the argument names of the tool that does the same: `url`, `path`, `to`, `program`, `name`. What a use
// has, but cannot be derived from the effect, is listed in `unknown`: a constraint on it refuses the effect.

import { findUnknownModelOption } from './model-options.js'
import type { Plain } from '@bridle/vm/families'

type Args = { readonly [key: string]: Plain }

/** Powers of the host that an effect of another kind takes too. Requests use them as kinds, so types refuse other names. */
export type FurtherPower = 'fs.read' | 'fs.write' | 'http.request' | 'mcp.request' | 'process.exec' | 'process.info'

export interface Use {
  /** The power that the host must have granted, beside that of the effect itself. */
  readonly power?: FurtherPower
  /** The tool that does the same: its grants and budgets hold for this use. Null when no grant of a tool can be about it. */
  readonly tool: string | null
  readonly args: Args
  /** Resources that cannot be derived from the effect, by argument, with the reason: a constraint on one of them refuses the effect. */
  readonly unknown?: { readonly [argument: string]: string }
  /** Arguments of the effect (a path of keys) that take a pinned value when they are nil. */
  readonly fills?: { readonly [argument: string]: readonly string[] }
  /** Granted together with the first use; grants that name it still constrain it. */
  readonly implied?: true
  /** Whether the use is a call that traces and ceilings of imports count; the first one of an effect is, unless it says no. */
  readonly isCall?: false
  /** What traces show of the arguments; all of them by default. */
  readonly shown?: readonly string[]
}

export type UsesOf = (args: Args) => readonly Use[]

/** For effects that reach nothing outside of the run, or only what the host has set up for it. */
export const useNothing: UsesOf = () => []

const readText = (value: Plain | undefined): string | null => (typeof value === 'string' ? value : null)

function record(value: Plain | undefined): Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as Args)
    : {}
}

/** The arguments of these names that are not nil. */
function pick(args: Args, names: readonly string[]): Args {
  return Object.fromEntries(
    names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])),
  )
}

// ----------------------------------------------------------------------------------------------------------------- files

const QUERIES: Readonly<Record<string, string>> = { realpath: 'stat' }
const CHANGES: Readonly<Record<string, string>> = { delete: 'remove' }

export const readsFile: UsesOf = (args) => [{ tool: 'fs.read', args: pick(args, ['path']) }]

export const useFileQueries: UsesOf = (args) => {
  const op = readText(args.op) ?? ''
  return [{ tool: `fs.${QUERIES[op] ?? op}`, args: pick(args, ['path']) }]
}

export const changesFiles: UsesOf = (args) => {
  const op = readText(args.op) ?? ''
  const change: Use = { tool: `fs.${CHANGES[op] ?? op}`, args: pick(args, ['path', 'to']) }
  // A copy exposes its source to readers of the copy.
  return op === 'copy' ? [change, { ...readsPath(readText(args.path) ?? ''), isCall: false }] : [change]
}

function readsPath(path: string): Use {
  return { power: 'fs.read', tool: 'fs.read', args: { path } }
}

// --------------------------------------------------------------------------------------------------------------- network

/** Sockets are judged as the requests that they begin as. */
function asHttp(url: string): string {
  return /^wss?:/i.test(url) ? `http${url.slice(2)}` : url
}

const TLS_FILES = ['caBundlePath', 'clientCertPath', 'clientKeyPath', 'clientIdentityPath']

/** What any request touches beside its address: a proxy is a host too, a download writes a file, keys and certificates are read. */
function listRequestUses(tool: string, args: Args): readonly Use[] {
  const proxy = args.proxy
  const also: Use[] = []
  if (typeof proxy === 'object' && proxy !== null && 'url' in proxy)
    also.push({ tool, args: { url: String((proxy as Args)['url']) }, isCall: false })
  if (typeof args.saveTo === 'string') also.push({ power: 'fs.write', tool: 'fs.write', args: { path: args.saveTo } })
  // Which origin a secret may go to is the host's word, and its provider keeps it; grants say which secrets.
  const url = typeof args.url === 'string' ? { url: args.url } : {}
  for (const ref of Object.values(record(args.secrets)))
    also.push({ tool: 'secret.use', args: { name: record(ref)['secret'] ?? '', ...url }, implied: true, isCall: false })
  const tls = record(args.tls)
  for (const name of TLS_FILES) if (typeof tls[name] === 'string') also.push(readsPath(tls[name]))
  return also
}

export const useRequests: UsesOf = (args) => {
  const tool = `http.${String(args.method ?? 'get').toLowerCase()}`
  const timeout = args.timeoutMs
  const body = args.body
  const request: Use = {
    tool,
    args: {
      ...pick(args, ['url']),
      ...(typeof timeout === 'number' ? { timeout_ms: timeout } : {}),
      ...(typeof body === 'string' ? { body } : {}),
    },
    shown: ['url', 'timeout_ms'],
    fills: { timeout_ms: ['timeoutMs'] },
  }
  return [request, ...listRequestUses(tool, args)]
}

/** Operations on a connection that was judged when it was opened. */
const ON_OPEN_STREAMS: ReadonlySet<string> = new Set([
  'http_read',
  'http_close',
  'ws_send',
  'ws_receive',
  'ws_close',
  'ws_route',
  'ws_accept',
  'ws_unlisten',
])

export const useStreams: UsesOf = (args) => {
  const op = readText(args.op) ?? ''
  if (ON_OPEN_STREAMS.has(op)) return []
  const url = readText(args.url)
  if (op === 'ws_listen' || url === null) {
    const host = readText(args.host)
    const address =
      host === null
        ? {}
        : { url: `http://${host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host}:${String(args.port ?? 0)}/` }
    return [{ tool: 'http.listen', args: address, isCall: false }]
  }
  const timeout = args.timeoutMs
  const stream: Use = {
    tool: 'http.stream',
    args: { url: asHttp(url), ...(typeof timeout === 'number' && op === 'ws_connect' ? { timeout_ms: timeout } : {}) },
    shown: ['url'],
  }
  return [stream, ...listRequestUses('http.stream', args)]
}

// -------------------------------------------------------------------------------------------------------------- programs

const IN_SHELL = 'a shell text may start any program'
const BY_ENVIRONMENT = 'variables of the environment change which program a name starts, and what it loads'
const BY_FOLDER = 'a relative path in another folder is another program'

/** A program as constraints see it, or why they cannot see which one it is. */
function describeProgram(
  args: Args,
  further: { readonly env: boolean; readonly folder: boolean },
): Pick<Use, 'args' | 'unknown'> {
  const name = readText(args.program)
  const known = pick(args, ['program', 'args', 'cwd', 'shell'])
  if (name === null || readText(args.shell) !== null) return { args: known, unknown: { program: IN_SHELL } }
  if (further.env) return { args: known, unknown: { program: BY_ENVIRONMENT } }
  if (further.folder && name.includes('/') && !name.startsWith('/')) return { args: known, unknown: { program: BY_FOLDER } }
  return { args: known }
}

export const runsProgram: UsesOf = (args) => {
  const env = args.env !== undefined && args.env !== null
  const timeout = args.timeoutMs
  const { args: known, ...rest } = describeProgram(args, { env, folder: readText(args.cwd) !== null })
  return [
    {
      tool: 'process.exec',
      args: { ...known, ...(typeof timeout === 'number' ? { timeout_ms: timeout } : {}) },
      ...rest,
      shown: ['program', 'args', 'cwd', 'shell'],
      fills: { timeout_ms: ['timeoutMs'], cwd: ['cwd'] },
    },
  ]
}

export const useProcessFacts: UsesOf = (args) => {
  switch (args.op) {
    case 'env':
      return [{ tool: 'env.get', args: pick(args, ['name']) }]
    case 'env_all':
      return [{ tool: 'env.list', args: {} }]
    case 'env_set':
      return [{ tool: 'env.has', args: pick(args, ['name']), isCall: false }]
    default:
      return []
  }
}

/** Programs that are started afterwards run in the environment and the folder that were set. */
export const changesProcess: UsesOf = (args) => {
  if (args.op === 'exit') return []
  const starts: Use = {
    tool: 'process.exec',
    args: {},
    unknown: { program: args.op === 'chdir' ? BY_FOLDER : BY_ENVIRONMENT },
    implied: true,
    isCall: false,
  }
  if (args.op === 'setenv') return [{ tool: 'env.set', args: pick(args, ['name', 'value']), shown: ['name'] }, starts]
  return [{ tool: `process.${String(args.op)}`, args: pick(args, ['path']), isCall: false }, starts]
}

// ---------------------------------------------------------------------------------------------------------------- models

const AT_HOST = 'the host says where this provider is'
const BY_ENDPOINT = 'the endpoint that the script gave the provider may ask for anything'

/** Why the request of a model call cannot be determined, by argument. */
function findModelDoubts(config: Args, options: Args): NonNullable<Use['unknown']> {
  const option = findUnknownModelOption(options)
  const reason =
    readText(config['chat_endpoint']) === null
      ? option === null
        ? null
        : `the provider option ${option} may change it`
      : BY_ENDPOINT
  return reason === null ? {} : { model: reason, max_tokens: reason, temperature: reason }
}

/**
 * The address of a model: the script's own (`provider_register`), which is a request like any other, or that of the provider. A host
 * may have put a provider elsewhere; a provider whose address comes from a variable of the host is at no address that we know.
 */
export const asksModel: UsesOf = (args) => {
  // The call that opened the answer was judged: what names it can reach nothing else.
  if (args.op === 'next' || args.op === 'close') return []
  const config = record(args.config)
  const own = readText(config['base_url'])
  const tool = args.op === 'embed' ? 'llm.embed' : 'llm.chat'
  const official = readText(args.base_url_env) === null ? readText(args.base_url) : null
  const url = own ?? official
  const { max_tokens, temperature, ...rest } = pick(args, ['model', 'provider', 'max_tokens', 'temperature'])
  const heat = temperature ?? record(args.settings)['temperature']
  const call: Use = {
    tool,
    args: {
      ...rest,
      ...(max_tokens === undefined ? {} : { max_tokens }),
      ...(heat === undefined || heat === null ? {} : { temperature: heat }),
      ...(url === null || url === '' ? {} : { url }),
    },
    unknown: {
      ...(url === null || url === '' ? { url: AT_HOST } : {}),
      ...findModelDoubts(config, record(record(args.settings)['overrides'])),
    },
    shown: ['model', 'provider', 'max_tokens', 'temperature'],
    fills: { temperature: ['settings', 'temperature'] },
  }
  const asked: Use[] = own === null ? [] : [{ power: 'http.request', tool: 'http.post', args: { url: own }, isCall: false }]
  for (const ref of Object.values(record(config['extra_headers']))) {
    const secret = readText(record(ref)['secret'])
    const to = url === null || url === '' ? {} : { url }
    if (secret !== null) asked.push({ tool: 'secret.use', args: { name: secret, ...to }, implied: true, isCall: false })
  }
  for (const name of [config['auth_env'], config['auth_envs']].flat())
    if (typeof name === 'string') asked.push({ power: 'process.info', tool: 'env.get', args: { name }, isCall: false })
  return [call, ...asked]
}

// ----------------------------------------------------------------------------------------------------------- MCP servers

/** Whether a server is named by its URL, rather than by the name under which a host declared it. */
export function isServerAddress(server: string): boolean {
  return /^https?:\/\//i.test(server)
}

/** What a server that a script spells out is: a program or an address of the script's choice. A declared one is the host's. */
function listSpecUses(spec: Plain | undefined): readonly Use[] {
  const fields = record(spec)
  if (spec === null || spec === undefined || typeof fields['server'] === 'string') return []
  const url = readText(fields['url'])
  if (fields['transport'] === 'http') {
    const address = url === null ? {} : { url }
    return [{ power: 'http.request', tool: 'http.post', args: address, implied: true, isCall: false }]
  }
  const env = Object.keys(record(fields['env'])).length > 0
  const starts = describeProgram({ program: fields['command'] ?? null, args: fields['args'] ?? null }, { env, folder: false })
  return [{ power: 'process.exec', tool: 'process.exec', ...starts, implied: true, isCall: false }]
}

/**
 * One use under the name of the server. A script chooses the name of a server that it spells out, so such a name allows nothing: the use
 * is judged under the program or address as well, which only grants of all servers (`mcp`, `mcp.*`) or of that one name.
 */
function listServerUses(args: Args, what: string, given: Args, isCall: boolean): readonly Use[] {
  const spec = record(args.spec)
  const own = args.spec !== undefined && args.spec !== null && typeof spec['server'] !== 'string'
  const place = {
    ...(readText(spec['url']) === null ? {} : { url: spec['url']! }),
    ...(readText(spec['command']) === null ? {} : { program: spec['command']! }),
  }
  const name = readText(spec['server']) ?? String(args.name ?? args.server ?? '')
  const named: Use = {
    tool: `mcp.${name}.${what}`,
    args: { ...place, ...given },
    ...(isCall ? { shown: Object.keys(given) } : { isCall: false }),
    ...(own ? { implied: true } : {}),
  }
  if (!own) return [named]
  const identity = String(spec['url'] ?? spec['command'] ?? '')
  const asked: Use = { tool: `mcp.${identity}.${what}`, args: { ...place, ...given }, isCall: false }
  // Arguments of a script may be called `url` too; they do not stand for the address of the server.
  const connected: Use = { tool: `mcp.${identity}.connect`, args: place, isCall: false }
  return [named, asked, connected, ...listSpecUses(args.spec)]
}

/** Ending or asking about a connection takes nothing more than opening it did; the list of servers contains only declared ones. */
export const connectsServer: UsesOf = (args) => {
  if (args.op === 'status') return [{ tool: 'mcp.status', args: {}, isCall: false }]
  return args.op === 'open' ? listServerUses(args, 'connect', {}, false) : []
}

/** Listing requests; they send no data of the script and reveal nothing that a call would not. */
const LISTS: ReadonlySet<string> = new Set(['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** A connection that a restored run does not have is opened again from its spec, so each request is judged by that too. */
export const asksServer: UsesOf = (args) => {
  const method = readText(args.method) ?? ''
  const params = record(args.params)
  if (method === 'tools/call' && typeof params['name'] === 'string')
    return listServerUses(args, params['name'], record(params['arguments']), true)
  return LISTS.has(method) ? listSpecUses(args.spec) : listServerUses(args, method.replaceAll('/', '.'), params, false)
}

// ----------------------------------------------------------------------------------------------------- tools of the host

/** Dispatch judges a tool call under the identity of its tool; what remains is the address of an undeclared server. */
export const useTool: UsesOf = (args) => {
  const server = readText(args.mcp_server)
  if (server === null || !isServerAddress(server)) return []
  return [
    { power: 'mcp.request', tool: null, args: {}, isCall: false },
    { power: 'http.request', tool: 'http.post', args: { url: server }, implied: true, isCall: false },
  ]
}

export const useHost: UsesOf = (args) => {
  const params = record(args.params)
  if (args.name !== 'process.exec') return [{ tool: String(args.name ?? ''), args: params }]
  // What the host may do itself, the machine does otherwise (tools/dispatch/host-process.ts): both start the same program.
  const argv = Array.isArray(params['argv']) && params['mode'] === 'argv' ? (params['argv'] as readonly Plain[]) : null
  const starts = describeProgram(
    {
      ...params,
      program: argv?.[0] ?? null,
      args: argv?.slice(1) ?? null,
      shell: argv === null ? (params['command'] ?? '') : null,
    },
    { env: params['env'] !== undefined && params['env'] !== null, folder: readText(params['cwd']) !== null },
  )
  return [{ tool: 'process.exec', ...starts, args: { ...params, ...starts.args }, shown: Object.keys(params) }]
}

export const useHostTool: UsesOf = (args) =>
  args.op === 'call' ? [{ tool: String(args.name ?? ''), args: record(args.args) }] : []

// ----------------------------------------------------------------------------------------------------------------- others

export const usesStore: UsesOf = (args) => [
  { tool: `store.${readText(args.op) ?? ''}`, args: pick(args, ['namespace', 'key']), isCall: false },
]

export const readsTerminal: UsesOf = (args) =>
  // Whether there is a terminal is no reading of it.
  args.op === 'tty' ? [] : [{ tool: 'terminal.read', args: {}, isCall: false }]
