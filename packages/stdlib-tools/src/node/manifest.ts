// `harn.toml`, the manifest of a project, as far as running a script needs it: today the MCP servers of `[[mcp]]`.
// Tables that belong to others (packages, skills, hooks) pass unread. A manifest that does not parse is an error with its place.

import { dirname, join, resolve } from 'node:path'
import { TomlError, parse } from 'smol-toml'
import { z } from 'zod'
import { suggest } from '@bridle/parser'
import { HOOK_EVENTS } from '../tools/dispatch/hooks.js'
import { ManifestError } from './manifest-error.js'
import type { McpServerDeclaration } from '../mcp/config.js'
import type { McpAuth } from '../mcp/oauth.js'

export interface Manifest {
  /** Absolute path of the file. */
  readonly path: string
  /** Everything that it says, unchecked. */
  readonly tables: { readonly [name: string]: unknown }
  /** `[[hooks]]` in the order of the file. */
  readonly hooks: readonly ManifestHook[]
  /** In the order of the file. */
  readonly mcpServers: { readonly [name: string]: McpServerDeclaration }
}

export interface ManifestHook {
  readonly event: string
  /** A pattern expression on the payload. */
  readonly pattern: string
  /** Absolute path of the module, and its function. */
  readonly module: string
  readonly fn: string
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds as a number, or a duration such as `30s`. */
const makeDurationSchema = () =>
  z.union([z.number().nonnegative(), z.string().regex(/^\d+(ms|s|m|h)$/, 'expected a duration such as 30s')])

// Made when asked for: loading zod is a good part of the start of a run without a manifest.
const makeAuthSchema = () =>
  z.strictObject({
    client_id: z.string().min(1),
    client_secret: z.string().optional(),
    /** Name of the environment variable that has it; a manifest is no place for secrets. */
    client_secret_env: z.string().optional(),
    scope: z.string().optional(),
    issuer: z.string().optional(),
    dpop: z.enum(['asked', 'always']).optional(),
  })

const makeServerSchema = () =>
  z.strictObject({
    name: z.string().min(1),
    transport: z.enum(['stdio', 'http']).optional(),
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    url: z.string().optional(),
    auth_token: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    auth: makeAuthSchema().optional(),
    proxy_server_name: z.string().optional(),
    protocol_version: z.string().optional(),
    lazy: z.boolean().default(false),
    card: z.string().optional(),
    tools: z.array(z.string()).optional(),
    roots: z.union([z.literal(false), z.array(z.string())]).optional(),
    timeout_ms: z.number().nonnegative().optional(),
    connect_timeout_ms: z.number().nonnegative().optional(),
    keep_alive: makeDurationSchema().optional(),
    keep_alive_ms: z.number().nonnegative().optional(),
  })

/** Throws ManifestError. */
export function readManifest(path: string, text: string): Manifest {
  let tables: { readonly [name: string]: unknown }
  try {
    tables = parse(text)
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    throw new ManifestError(`${path}:${cause.line}:${cause.column}: ${cause.message.split('\n', 1)[0]}`, { cause })
  }
  return { path, tables, hooks: readHooks(path, tables), mcpServers: readMcpServers(path, tables['mcp']) }
}

const makeHookSchema = () =>
  z.strictObject({ event: z.enum(HOOK_EVENTS as [string, ...string[]]), pattern: z.string().default('*'), handler: z.string() })

/** A handler is `<package or export>::<function>`: of the `lib.harn` of the package, or of the module that an export names. */
function readHooks(path: string, tables: { readonly [name: string]: unknown }): readonly ManifestHook[] {
  if (tables['hooks'] === undefined) return []
  const parsed = z.array(makeHookSchema()).safeParse(tables['hooks'])
  if (!parsed.success) {
    throw new ManifestError(
      `${path}: ${describeIssue('hooks', parsed.error.issues[0]!, Object.keys(makeHookSchema().shape), [])}`,
    )
  }
  const folder = dirname(path)
  const name = (tables['package'] as { readonly name?: unknown } | undefined)?.name
  const exports = (tables['exports'] ?? {}) as { readonly [alias: string]: unknown }
  return parsed.data.map(({ event, pattern, handler }, at) => {
    const [, source, fn] = /^([^:]+)::([A-Za-z_][A-Za-z0-9_]*)$/.exec(handler) ?? []
    if (source === undefined || fn === undefined)
      throw new ManifestError(`${path}: hooks[${at}].handler: "${handler}" is not of the form <package or export>::<function>`)
    const exported = Object.hasOwn(exports, source) ? exports[source] : source === name ? 'lib.harn' : undefined
    if (typeof exported !== 'string')
      throw new ManifestError(`${path}: hooks[${at}].handler: there is no package or export "${source}" in this manifest`)
    return { event, pattern, module: join(folder, exported), fn }
  })
}

/** Texts of modules that install the hooks, one each: two of them may have functions of one name. */
export function hookModules(hooks: readonly ManifestHook[]): readonly string[] {
  return hooks.map(({ event, pattern, module, fn }) =>
    [
      '// Installs a hook of harn.toml.',
      `import { ${fn} } from ${quoteText(module)}`,
      // Of a module that is imported only declarations run.
      `let installed = __hook_on(${quoteText(event)}, ${quoteText(pattern)}, { payload -> __hook_call(${fn}, payload) })`,
      '',
    ].join('\n'),
  )
}

function quoteText(text: string): string {
  return JSON.stringify(text).replaceAll('$', '\\$')
}

function readMcpServers(path: string, given: unknown): { readonly [name: string]: McpServerDeclaration } {
  const servers: { [name: string]: McpServerDeclaration } = Object.create(null) as { [name: string]: McpServerDeclaration }
  if (given === undefined) return servers
  const parsed = z.array(makeServerSchema()).safeParse(given)
  if (!parsed.success) {
    throw new ManifestError(
      `${path}: ${describeIssue('mcp', parsed.error.issues[0]!, Object.keys(makeServerSchema().shape), Object.keys(makeAuthSchema().shape))}`,
    )
  }
  for (const [at, written] of parsed.data.entries()) {
    const missing: string[] = []
    const server = fillInVariables(written, `${path}: mcp[${at}]`, missing)
    if (server.name in servers) throw new ManifestError(`${path}: the MCP server "${server.name}" is declared twice`)
    const keepAliveMs = server.keep_alive_ms ?? parseMillis(server.keep_alive)
    servers[server.name] = {
      lazy: server.lazy,
      ...(missing.length === 0 ? {} : { problem: missing.join('; ') }),
      ...(server.transport === undefined ? {} : { transport: server.transport }),
      ...(server.command === undefined ? {} : { command: server.command }),
      ...(server.args === undefined ? {} : { args: server.args }),
      ...(server.env === undefined ? {} : { env: server.env }),
      ...(server.url === undefined ? {} : { url: server.url }),
      ...(server.auth_token === undefined ? {} : { authToken: server.auth_token }),
      ...(server.headers === undefined ? {} : { headers: server.headers }),
      ...(server.auth === undefined ? {} : { auth: readAuth(server.auth) }),
      ...(server.proxy_server_name === undefined ? {} : { proxyServerName: server.proxy_server_name }),
      ...(server.protocol_version === undefined ? {} : { protocolVersion: server.protocol_version }),
      ...(server.card === undefined ? {} : { card: server.card }),
      ...(server.tools === undefined ? {} : { tools: server.tools }),
      ...(server.roots === undefined
        ? {}
        : { roots: server.roots && server.roots.map((folder) => resolve(dirname(path), folder)) }),
      ...(server.timeout_ms === undefined ? {} : { timeoutMs: server.timeout_ms }),
      ...(server.connect_timeout_ms === undefined ? {} : { connectTimeoutMs: server.connect_timeout_ms }),
      ...(keepAliveMs === null ? {} : { keepAliveMs }),
    }
  }
  for (const [name, server] of Object.entries(servers)) {
    const missing = findMissingPlace(server)
    if (missing !== null) throw new ManifestError(`${path}: the MCP server "${name}" ${missing}`)
  }
  return servers
}

const VARIABLE = '${env:'

/**
 * A value with each `${env:NAME}` in it replaced by the variable NAME: a manifest is no place for secrets. A variable that is not there goes to
 * `missing`: only a run that uses the server needs it. Throws ManifestError for a mark without an end.
 */
function fillInVariables<T>(value: T, place: string, missing: string[]): T {
  if (typeof value === 'string') return fillInText(value, place, missing) as T
  if (Array.isArray(value)) return value.map((each, at) => fillInVariables(each, `${place}[${at}]`, missing) as unknown) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [key, fillInVariables(each as unknown, `${place}.${key}`, missing)])
  return Object.fromEntries(entries) as T
}

function fillInText(text: string, place: string, missing: string[]): string {
  const [first = '', ...parts] = text.split(VARIABLE)
  const filled = parts.map((part) => {
    const end = part.indexOf('}')
    const name = part.slice(0, Math.max(0, end))
    if (name === '') throw new ManifestError(`${place}: "${VARIABLE}" needs a name and a "}" behind it`)
    const found = Object.hasOwn(process.env, name) ? process.env[name] : undefined
    if (found === undefined) missing.push(`${place}: the environment has no variable ${name}`)
    return (found ?? '') + part.slice(end + 1)
  })
  return first + filled.join('')
}

/** What a server needs to be reached and does not say; null when nothing. An entry with only a card exists for its card. */
function findMissingPlace({ transport, command, url, card }: McpServerDeclaration): string | null {
  const kind = transport ?? (url === undefined ? 'stdio' : 'http')
  if (kind === 'http') return url === undefined || url === '' ? 'has no url: write the address that it answers at' : null
  if (command !== undefined && command !== '') return null
  return command === undefined && card !== undefined
    ? null
    : 'has no command: write the program that starts it, or the url that it answers at'
}

/** What is wrong with a table, with its place; `keys` are those of the table, `inner` those of a table in it. */
function describeIssue(table: string, issue: z.core.$ZodIssue, keys: readonly string[], inner: readonly string[]): string {
  const place = `${table}${issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')}`
  if (issue.code !== 'unrecognized_keys') return `${place}: ${issue.message}`
  const known = issue.path.length > 1 ? inner : keys
  const [key] = issue.keys
  const near = suggest(key!, known)
  return `${place}: unknown key "${key}"; ${near === null ? `known are ${known.join(', ')}` : `did you mean "${near}"?`}`
}

function readAuth(given: z.infer<ReturnType<typeof makeAuthSchema>>): McpAuth {
  const { client_id, client_secret_env, scope, issuer, dpop } = given
  const isSet = client_secret_env !== undefined && Object.hasOwn(process.env, client_secret_env)
  const secret = given.client_secret ?? (isSet ? process.env[client_secret_env] : undefined)
  return {
    clientId: client_id,
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(dpop === undefined ? {} : { dpop }),
  }
}

function parseMillis(value: number | string | undefined): number | null {
  if (typeof value !== 'string') return value ?? null
  const [, digits, unit] = /^(\d+)([a-z]+)$/.exec(value)!
  return Number(digits) * UNITS[unit!]!
}
