// The configuration of `bridle gateway`: the `mcpServers` JSON that desktop clients have, or a TOML file with `[servers.NAME]` tables. Both may
// say `approve`, about which calls a person is asked.

import { readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import type { ApprovalRule } from '@bridle/stdlib-tools'
import type { McpServerDeclaration } from '@bridle/stdlib-tools/mcp'
import { CommandError, makeUnreadableError } from '../errors.js'

export interface GatewayConfig {
  readonly servers: { readonly [name: string]: McpServerDeclaration }
  /** Everything that is not marked as reading when absent; null: nothing. */
  readonly approve: readonly ApprovalRule[] | null
}

const CHANGES: readonly ApprovalRule[] = [{ sideEffect: 'workspace_write' }]

/** Throws CommandError for a file that is none, with the place in it. */
export function readGatewayConfig(path: string): GatewayConfig {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
  let data: unknown
  try {
    data = path.endsWith('.toml') ? parseToml(text) : JSON.parse(text)
  } catch (cause) {
    throw new CommandError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  const fail = (where: string, problem: string): never => {
    throw new CommandError(`${path}: ${where} ${problem}`)
  }
  if (!isRecord(data)) return fail('the file', 'must be an object')
  const { mcpServers, servers, approve } = data
  if ((mcpServers === undefined) === (servers === undefined))
    return fail('the file', 'must have mcpServers, as desktop clients have it, or servers')
  const key = mcpServers === undefined ? 'servers' : 'mcpServers'
  const given = mcpServers ?? servers
  if (!isRecord(given) || Object.keys(given).length === 0) return fail(key, 'must be an object with at least one server')
  return {
    servers: Object.fromEntries(
      Object.entries(given)
        .filter(([, server]) => !isRecord(server) || server['disabled'] !== true)
        .map(([name, server]) => [makeServerName(name), readServer(server, (problem) => fail(`${key}.${name}`, problem))]),
    ),
    approve: readApprove(approve, (problem) => fail('approve', problem)),
  }
}

type JsonRecord = { readonly [key: string]: unknown }

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** As scripts can write it: `my-files` is `my_files`. */
export function makeServerName(name: string): string {
  const written = name.replaceAll(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z_]/.test(written) ? written : `_${written}`
}

function readServer(server: unknown, fail: (problem: string) => never): McpServerDeclaration {
  if (!isRecord(server)) return fail('must be an object')
  const { command, args, env, url, headers, tools } = server
  if ((command === undefined) === (url === undefined)) return fail('must have a command or a url')
  if (command !== undefined && typeof command !== 'string') return fail('command must be a string')
  if (url !== undefined && typeof url !== 'string') return fail('url must be a string')
  if (args !== undefined && !isTexts(args)) return fail('args must be a list of strings')
  if (tools !== undefined && !isTexts(tools)) return fail('tools must be a list of names')
  if (env !== undefined && !(isRecord(env) && Object.values(env).every((each) => typeof each === 'string')))
    return fail('env must be an object of strings')
  const token = headers === undefined ? undefined : readToken(headers, fail)
  return {
    transport: url === undefined ? 'stdio' : 'http',
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env: env as { readonly [name: string]: string } }),
    ...(url === undefined ? {} : { url }),
    ...(tools === undefined ? {} : { tools }),
    ...(token === undefined ? {} : { authToken: token }),
  }
}

/** Of the headers that clients write, the one that the transport has: a header that is dropped in silence would fail at the server. */
function readToken(headers: unknown, fail: (problem: string) => never): string {
  const entries = isRecord(headers) ? Object.entries(headers) : []
  const [name, value] = entries[0] ?? []
  if (entries.length !== 1 || name?.toLowerCase() !== 'authorization' || typeof value !== 'string' || !/^bearer /i.test(value))
    return fail('headers can only have Authorization: Bearer TOKEN')
  return value.slice('bearer '.length)
}

function readApprove(approve: unknown, fail: (problem: string) => never): readonly ApprovalRule[] | null {
  if (approve === undefined) return CHANGES
  if (approve === false) return null
  if (isTexts(approve)) return approve.length === 0 ? null : [{ tools: approve }]
  return isRecord(approve) ? [approve as ApprovalRule] : fail('must be false, a list of names of tools, or a rule')
}
