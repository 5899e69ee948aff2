// The configuration of a gateway: the `mcpServers` JSON that desktop clients have, or a TOML of ours with `[servers.NAME]` tables. Both may say what
// scripts may do with the tools, and which calls a person must approve.

import { parseUrl } from '@bridle/compiler/grants'
import type { ApprovalRule } from '../tools/policy/approval-options.js'
import type { ToolGrants } from '../tools/policy/host-grants.js'
import type { McpServerDeclaration } from '../mcp/config.js'

export interface GatewayServer extends McpServerDeclaration {
  /** Patterns of tools that scripts do not see. */
  readonly deny?: readonly string[]
  /** Arguments that the gateway fills in, by tool (`*`: all of the server): models and scripts do not see them. */
  readonly fill?: { readonly [tool: string]: { readonly [argument: string]: unknown } }
  /** Whether clients see its prompts and its resources; they do by default. */
  readonly prompts?: boolean
  readonly resources?: boolean
}

/** A document of the OpenAPI specification whose operations are tools. */
export interface GatewayApi {
  /** URL or path of the document, JSON or YAML. */
  readonly document: string
  /** In place of the first server of the document. */
  readonly baseUrl?: string
  readonly headers?: { readonly [name: string]: string }
  readonly tools?: readonly string[]
  readonly deny?: readonly string[]
  readonly fill?: GatewayServer['fill']
  readonly timeoutMs?: number
}

/** What one client may use, as long as the gateway runs or within each `windowMs`. */
export interface ClientBudgets {
  readonly runs?: number
  readonly calls?: number
  /** Calls by pattern of tools. */
  readonly tools?: { readonly [pattern: string]: number }
  /** Runs at the same time; 8 by default. */
  readonly concurrent?: number
  readonly windowMs?: number
}

export interface GatewayConfig {
  readonly servers: { readonly [name: string]: GatewayServer }
  readonly apis: { readonly [name: string]: GatewayApi }
  /** Everything that is not marked as reading when absent; null: nothing. */
  readonly approve: readonly ApprovalRule[] | null
  /** As `toolGrants` of a runtime (docs/tools/grants.md). */
  readonly grants: ToolGrants
  /** Whether tools that no grant names are refused. */
  readonly defaultDeny: boolean
  /** Values that are removed from all responses to clients, by name. */
  readonly secrets: { readonly [name: string]: string }
  readonly budgets: ClientBudgets
  /** The issuer of tokens for the gateway over HTTP; null without one. */
  readonly auth: GatewayAuth | null
}

export interface GatewayAuth {
  readonly issuer: string
  /** The URL that clients know the gateway by; tokens are for it. That of the listener when absent. */
  readonly resource?: string
  readonly scopes?: readonly string[]
}

export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError'
}

const CHANGES: readonly ApprovalRule[] = [{ sideEffect: 'workspace_write' }]

type JsonRecord = { readonly [key: string]: unknown }

const KEYS: ReadonlySet<string> = new Set(['approve', 'grants', 'default_deny', 'secrets', 'budgets', 'openapi', 'auth'])

/** Throws GatewayConfigError, with the place in the data. `env` is where `${env:NAME}` is looked up. */
export function parseGatewayConfig(data: unknown, env: { readonly [name: string]: string | undefined }): GatewayConfig {
  if (!isRecord(data)) return fail('the file', 'must be an object')
  const { mcpServers, servers, openapi = {}, approve, budgets = {}, auth } = data
  if (mcpServers !== undefined && servers !== undefined)
    return fail('the file', 'has both mcpServers and servers: keep one of them')
  if (mcpServers === undefined && servers === undefined && data['openapi'] === undefined)
    return fail('the file', 'must have mcpServers, as desktop clients have it, or servers, or openapi')
  // The files of desktop clients have their own keys, which mean nothing here; a misspelt key of ours must not be a missing rule.
  const unknown = Object.keys(data).find((key) => servers !== undefined && key !== 'servers' && !KEYS.has(key))
  if (unknown !== undefined) return fail(unknown, `is no key of a gateway: there are servers, ${[...KEYS].join(', ')}`)
  const secrets = readSecrets(data['secrets'] ?? {}, env)
  const expander = new Expander(env, secrets)
  const key = mcpServers === undefined ? 'servers' : 'mcpServers'
  const given = mcpServers ?? servers ?? {}
  if (!isRecord(given)) return fail(key, 'must be an object')
  if (!isRecord(openapi)) return fail('openapi', 'must be an object')
  const config: GatewayConfig = {
    servers: readAll(key, given, (server, at) => readServer(server, at, expander)),
    apis: readAll('openapi', openapi, (api, at) => readApi(api, at, expander)),
    approve: readApprove(approve),
    grants: readGrants(data['grants'] ?? {}),
    defaultDeny: readBoolean(data, 'default_deny', 'default_deny') ?? false,
    secrets,
    budgets: readBudgets(budgets),
    auth: auth === undefined ? null : readAuth(auth),
  }
  const names = [...Object.keys(config.servers), ...Object.keys(config.apis)]
  if (names.length === 0) return fail(key, 'must be an object with at least one server')
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return fail(twice, 'is the name of two servers, as scripts write it')
  return config
}

function fail(where: string, problem: string): never {
  throw new GatewayConfigError(`${where} ${problem}`)
}

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** As scripts can write it: `my-files` is `my_files`. */
export function makeServerName(name: string): string {
  const written = name.replaceAll(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z_]/.test(written) ? written : `_${written}`
}

function readAll<T>(key: string, given: JsonRecord, read: (value: JsonRecord, at: string) => T): { readonly [name: string]: T } {
  const entries = Object.entries(given).flatMap(([name, value]): [string, T][] => {
    const at = `${key}.${name}`
    if (!isRecord(value)) return fail(at, 'must be an object')
    return value['disabled'] === true ? [] : [[makeServerName(name), read(value, at)]]
  })
  const names = entries.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return fail(`${key}: ${twice}`, 'is the name of two servers, as scripts write it')
  return Object.fromEntries(entries)
}

function readServer(server: JsonRecord, at: string, expander: Expander): GatewayServer {
  const { command, url } = server
  if ((command === undefined) === (url === undefined)) return fail(at, 'must have a command or a url')
  const missing: string[] = []
  const text = (key: string): string | undefined => {
    const value = readText(server, key, at)
    return value === undefined ? undefined : expander.expand(value, missing)
  }
  const args = readTexts(server, 'args', at)?.map((each) => expander.expand(each, missing))
  const env = expander.expandAll(readTable(server, 'env', at), missing)
  const headers = expander.expandAll(readTable(server, 'headers', at), missing)
  const declaration = {
    transport: url === undefined ? ('stdio' as const) : ('http' as const),
    ...dropMissing({
      command: text('command'),
      url: text('url'),
      args,
      env,
      headers,
      tools: readTexts(server, 'tools', at),
      deny: readTexts(server, 'deny', at),
      timeoutMs: readNumber(server, 'timeout_ms', at),
      prompts: readBoolean(server, 'prompts', at),
      resources: readBoolean(server, 'resources', at),
      fill: readFill(server, at, expander, missing),
    }),
  }
  // A server whose variable is not set fails when it is used; the others serve.
  return missing.length === 0 ? declaration : { ...declaration, problem: describeMissing(missing) }
}

function readApi(api: JsonRecord, at: string, expander: Expander): GatewayApi {
  const missing: string[] = []
  const document = readText(api, 'document', at) ?? fail(at, 'must have a document: a path or a URL')
  const made = {
    document: expander.expand(document, missing),
    ...dropMissing({
      baseUrl: expander.expandMaybe(readText(api, 'base_url', at), missing),
      headers: expander.expandAll(readTable(api, 'headers', at), missing),
      tools: readTexts(api, 'tools', at),
      deny: readTexts(api, 'deny', at),
      timeoutMs: readNumber(api, 'timeout_ms', at),
      fill: readFill(api, at, expander, missing),
    }),
  }
  return missing.length === 0 ? made : fail(at, describeMissing(missing))
}

const describeMissing = (missing: readonly string[]): string => `needs ${missing.join(', ')}, which is not set`

function readFill(given: JsonRecord, at: string, expander: Expander, missing: string[]): GatewayServer['fill'] {
  const { fill } = given
  if (fill === undefined) return undefined
  if (!isRecord(fill)) return fail(`${at}.fill`, 'must be an object of arguments by tool')
  return Object.fromEntries(
    Object.entries(fill).map(([tool, args]) => {
      if (!isRecord(args)) return fail(`${at}.fill.${tool}`, 'must be an object of arguments')
      const expanded = Object.entries(args).map(([name, value]) => [
        name,
        typeof value === 'string' ? expander.expand(value, missing) : value,
      ])
      return [tool, Object.fromEntries(expanded) as JsonRecord]
    }),
  )
}

function readApprove(approve: unknown): readonly ApprovalRule[] | null {
  if (approve === undefined) return CHANGES
  if (approve === false) return null
  if (isTexts(approve)) return approve.length === 0 ? null : [{ tools: approve }]
  if (Array.isArray(approve) && approve.every(isRecord)) return approve as readonly ApprovalRule[]
  return isRecord(approve) ? [approve as ApprovalRule] : fail('approve', 'must be false, a list of names of tools, or a rule')
}

function readGrants(grants: unknown): ToolGrants {
  if (!isRecord(grants)) return fail('grants', 'must be an object of constraints by tool')
  for (const [tool, grant] of Object.entries(grants))
    if (!isRecord(grant)) return fail(`grants.${tool}`, 'must be an object of constraints')
  return grants as ToolGrants
}

function readBudgets(given: unknown): ClientBudgets {
  if (!isRecord(given)) return fail('budgets', 'must be an object')
  const known = ['runs', 'calls', 'tools', 'concurrent', 'window_ms']
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown !== undefined) return fail(`budgets.${unknown}`, `is no budget: there are ${known.join(', ')}`)
  const { tools } = given
  if (tools !== undefined && !(isRecord(tools) && Object.values(tools).every(isCount)))
    return fail('budgets.tools', 'must be an object of whole numbers by tool')
  return dropMissing({
    runs: readNumber(given, 'runs', 'budgets'),
    calls: readNumber(given, 'calls', 'budgets'),
    tools: tools as ClientBudgets['tools'],
    concurrent: readNumber(given, 'concurrent', 'budgets'),
    windowMs: readNumber(given, 'window_ms', 'budgets'),
  })
}

function readAuth(auth: unknown): GatewayAuth {
  if (!isRecord(auth)) return fail('auth', 'must be an object')
  const issuer = readText(auth, 'issuer', 'auth') ?? fail('auth', 'must have the issuer of tokens')
  if (parseUrl(issuer) === null) return fail('auth.issuer', 'must be a URL')
  const resource = readText(auth, 'resource', 'auth')
  if (resource !== undefined && parseUrl(resource) === null) return fail('auth.resource', 'must be a URL')
  return { issuer, ...dropMissing({ resource, scopes: readTexts(auth, 'scopes', 'auth') }) }
}

/** `{NAME: {env: VARIABLE}}`, or the value itself. */
function readSecrets(given: unknown, env: { readonly [name: string]: string | undefined }): { readonly [name: string]: string } {
  if (!isRecord(given)) return fail('secrets', 'must be an object')
  return Object.fromEntries(
    Object.entries(given).map(([name, secret]) => {
      if (typeof secret === 'string') return [name, secret]
      const variable = isRecord(secret) ? secret['env'] : undefined
      if (typeof variable !== 'string') return fail(`secrets.${name}`, 'must be {env: "VARIABLE"}, or the value')
      return [name, env[variable] ?? fail(`secrets.${name}`, `needs the variable ${variable}, which is not set`)]
    }),
  )
}

// ---- values

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Without what is undefined. */
function dropMissing<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function readText(from: JsonRecord, key: string, at: string): string | undefined {
  const value = from[key]
  return value === undefined || typeof value === 'string' ? value : fail(at, `${key} must be a string`)
}

function readTexts(from: JsonRecord, key: string, at: string): readonly string[] | undefined {
  const value = from[key]
  return value === undefined || isTexts(value) ? value : fail(at, `${key} must be a list of strings`)
}

function readTable(from: JsonRecord, key: string, at: string): { readonly [name: string]: string } | undefined {
  const value = from[key]
  if (value === undefined) return undefined
  if (!isRecord(value) || !Object.values(value).every((each) => typeof each === 'string'))
    return fail(at, `${key} must be an object of strings`)
  return value as { readonly [name: string]: string }
}

function readNumber(from: JsonRecord, key: string, at: string): number | undefined {
  const value = from[key]
  return value === undefined || isCount(value) ? value : fail(at, `${key} must be a whole number`)
}

function readBoolean(from: JsonRecord, key: string, at: string): boolean | undefined {
  const value = from[key]
  return value === undefined || typeof value === 'boolean' ? value : fail(at, `${key} must be true or false`)
}

const REFERENCE = /\$\{(env|secret):([A-Za-z_][A-Za-z0-9_]*)\}/g

/** Puts variables and secrets into texts. */
class Expander {
  private readonly env: { readonly [name: string]: string | undefined }
  private readonly secrets: { readonly [name: string]: string }

  constructor(env: Expander['env'], secrets: Expander['secrets']) {
    this.env = env
    this.secrets = secrets
  }

  expand(text: string, missing: string[]): string {
    return text.replaceAll(REFERENCE, (whole, kind: string, name: string) => {
      const table = kind === 'env' ? this.env : this.secrets
      const value = Object.hasOwn(table, name) ? table[name] : undefined
      if (value === undefined) missing.push(kind === 'env' ? `the variable ${name}` : `the secret ${name}`)
      return value ?? whole
    })
  }

  expandMaybe(text: string | undefined, missing: string[]): string | undefined {
    return text === undefined ? undefined : this.expand(text, missing)
  }

  expandAll(
    table: { readonly [name: string]: string } | undefined,
    missing: string[],
  ): { readonly [name: string]: string } | undefined {
    return table && Object.fromEntries(Object.entries(table).map(([name, value]) => [name, this.expand(value, missing)]))
  }
}
