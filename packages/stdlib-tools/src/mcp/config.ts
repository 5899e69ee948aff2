// Server specs as scripts, manifests and embedders write them, read into one checked form.

import { parseUrl } from '@bridle/compiler/grants'
import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import { runtimeError } from '../tools/executors/provider.js'
import { McpFailure } from './connection.js'
import type { McpServerConfig } from './connection.js'
import { MODERN_VERSION } from './modern-wire.js'
import type { McpAuth } from './oauth.js'

/** A server that the host declares by name, as a `[[mcp]]` table of `harn.toml` would. */
export interface McpServerDeclaration {
  readonly transport?: 'stdio' | 'http'
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly url?: string
  readonly authToken?: string
  /** Sent with each request (HTTP only). */
  readonly headers?: { readonly [name: string]: string }
  readonly proxyServerName?: string
  /**
   * The revision that it speaks, where it cannot be asked: one before 2026-07-28 means that it gets no question before its handshake, a later
   * one that there is no handshake to fall back to.
   */
  readonly protocolVersion?: string
  /** How to get a token when the server asks for one (HTTP only). */
  readonly auth?: McpAuth
  /** The error found when the declaration was read: connecting fails with it. */
  readonly problem?: string
  /** Connect on first use (the default), or when the run starts. */
  readonly lazy?: boolean
  /** URL or path of its server card. */
  readonly card?: string
  /** The only tools of it that runs see and call; all by default. */
  readonly tools?: readonly string[]
  /** Limit of one request to it, milliseconds, in place of that of the provider; calls of tools may have their own. */
  readonly timeoutMs?: number
  /** Limit of starting it and its handshake, milliseconds, in place of that of the provider. */
  readonly connectTimeoutMs?: number
  /** Folders that the command names to it when it asks (`roots/list`); false: the capability is not declared. Those of the run when absent. */
  readonly roots?: readonly string[] | false
  /** How long a connection is kept after its last use was given back. */
  readonly keepAliveMs?: number
}

type Fields = { readonly [key: string]: Plain }

/** A value as a message names it, in the words of the reference. */
function describeValue(value: Plain): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${value.v}\``
  if (typeof value === 'object') return Array.isArray(value) ? 'sequence' : 'map'
  return `integer \`${value}\``
}

function failWrongType(value: Plain, wanted: string): never {
  throw makeInvalid(`invalid type: ${describeValue(value)}, expected ${wanted}`)
}

function readText(fields: Fields, key: string, optional: boolean): string | null {
  const value = fields[key]
  if (value === undefined || (optional && value === null)) return null
  return typeof value === 'string' ? value : failWrongType(value, 'a string')
}

function readTexts(fields: Fields, key: string): string[] {
  const value = fields[key]
  if (value === undefined) return []
  if (!Array.isArray(value)) return failWrongType(value, 'a sequence')
  return (value as readonly Plain[]).map((item) => (typeof item === 'string' ? item : failWrongType(item, 'a string')))
}

function readTextTable(fields: Fields, key: string): { [name: string]: string } {
  const value = fields[key]
  const env = Object.create(null) as { [name: string]: string }
  if (value === undefined) return env
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return failWrongType(value, 'a map')
  for (const [name, item] of Object.entries(value as Fields))
    env[name] = typeof item === 'string' ? item : failWrongType(item, 'a string')
  return env
}

/** How to begin with a revision; undefined for an unknown one. */
function readEra(version: string | null): McpServerConfig['era'] {
  if (version === null || !/^\d{4}-\d{2}-\d{2}$/.test(version)) return null
  return version >= MODERN_VERSION ? 'modern' : 'legacy'
}

/** Throws McpFailure with the text of 04a for a malformed spec. */
export function readServerConfig(name: string, spec: Plain): McpServerConfig {
  const fields = spec as Fields
  const transport = readText(fields, 'transport', false) ?? 'stdio'
  if (transport !== 'stdio' && transport !== 'http')
    throw makeInvalid(`unknown variant \`${transport}\`, expected \`stdio\` or \`http\``)
  const command = readText(fields, 'command', false) ?? ''
  const args = readTexts(fields, 'args')
  const env = readTextTable(fields, 'env')
  const url = readText(fields, 'url', false) ?? ''
  const authToken = readText(fields, 'auth_token', true)
  const proxyServerName = readText(fields, 'proxy_server_name', true)
  const era = readEra(readText(fields, 'protocol_version', true))
  if (transport === 'stdio') {
    if (command === '') throw makeInvalid('transport "stdio" needs a command')
    return { name, transport, command, file: null, args, env, era }
  }
  if (parseUrl(url) === null || !/^https?:/.test(url)) throw makeInvalid('transport "http" needs a url')
  return { name, transport, url, authToken, headers: readTextTable(fields, 'headers'), auth: null, proxyServerName, era }
}

export function readDeclaredConfig(name: string, declaration: McpServerDeclaration): McpServerConfig {
  if (declaration.problem !== undefined) throw makeInvalid(declaration.problem)
  const config = readServerConfig(name, {
    transport: declaration.transport ?? (declaration.url === undefined ? 'stdio' : 'http'),
    ...(declaration.command === undefined ? {} : { command: declaration.command }),
    ...(declaration.args === undefined ? {} : { args: [...declaration.args] }),
    ...(declaration.env === undefined ? {} : { env: { ...declaration.env } }),
    ...(declaration.url === undefined ? {} : { url: declaration.url }),
    ...(declaration.authToken === undefined ? {} : { auth_token: declaration.authToken }),
    ...(declaration.headers === undefined ? {} : { headers: { ...declaration.headers } }),
    ...(declaration.proxyServerName === undefined ? {} : { proxy_server_name: declaration.proxyServerName }),
    ...(declaration.protocolVersion === undefined ? {} : { protocol_version: declaration.protocolVersion }),
  })
  const { auth } = declaration
  if (auth === undefined) return config
  if (config.transport !== 'http') throw makeInvalid('only servers over HTTP have authorization')
  if (auth.authorize !== undefined && auth.redirectUrl === undefined) throw makeInvalid('auth.authorize needs auth.redirectUrl')
  return { ...config, auth }
}

function makeInvalid(reason: string): McpFailure {
  return new McpFailure(runtimeError(`Invalid MCP server config: ${reason}`))
}
