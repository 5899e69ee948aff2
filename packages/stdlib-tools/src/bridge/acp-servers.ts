// MCP servers that a client gives a session (Agent Client Protocol, `mcpServers`): scripts reach them by name, as they reach those of the manifest.

import { isRecord, RequestError } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'

const INVALID_PARAMS = -32602

export interface AcpMcpServer {
  readonly transport: 'stdio' | 'http'
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly url?: string
  readonly headers?: { readonly [name: string]: string }
  readonly lazy: false
}

export type AcpMcpServers = { readonly [name: string]: AcpMcpServer }

export function readMcpServers(given: unknown): AcpMcpServers {
  if (given === undefined || given === null) return {}
  if (!Array.isArray(given)) throw new RequestError(INVALID_PARAMS, 'mcpServers is not a list')
  const servers: { [name: string]: AcpMcpServer } = Object.create(null) as { [name: string]: AcpMcpServer }
  for (const each of given) {
    const { name } = isRecord(each) ? each : {}
    if (!isRecord(each) || typeof name !== 'string' || name === '')
      throw new RequestError(INVALID_PARAMS, 'a server of mcpServers has no name')
    if (Object.hasOwn(servers, name)) throw new RequestError(INVALID_PARAMS, `mcpServers has ${name} twice`)
    servers[name] = readServer(name, each)
  }
  return servers
}

function readServer(name: string, given: Params): AcpMcpServer {
  const fail = (why: string): never => {
    throw new RequestError(INVALID_PARAMS, `the MCP server ${name} ${why}`)
  }
  const { type, command, args, env, url, headers } = given
  if (type === 'http' || type === 'sse') {
    if (typeof url !== 'string') return fail('has no url')
    return {
      transport: 'http',
      url,
      headers: readPairs(headers, () => fail('has headers that are not pairs of name and value')),
      lazy: false,
    }
  }
  if (type !== undefined && type !== 'stdio')
    return fail(`has a transport that the agent does not speak: ${JSON.stringify(type)}`)
  if (typeof command !== 'string') return fail('has no command')
  const list = args ?? []
  const isTexts = Array.isArray(list) && list.every((each): each is string => typeof each === 'string')
  if (!isTexts) return fail('has arguments that are not strings')
  return {
    transport: 'stdio',
    command,
    args: list,
    env: readPairs(env, () => fail('has variables that are not pairs of name and value')),
    lazy: false,
  }
}

function readPairs(given: unknown, fail: () => never): { readonly [name: string]: string } {
  const pairs: { [name: string]: string } = Object.create(null) as { [name: string]: string }
  if (given === undefined || given === null) return pairs
  if (!Array.isArray(given)) return fail()
  for (const each of given) {
    const { name, value } = isRecord(each) ? each : {}
    if (typeof name !== 'string' || typeof value !== 'string') return fail()
    pairs[name] = value
  }
  return pairs
}
