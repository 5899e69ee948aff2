// Server specs as scripts, manifests and embedders write them (04a §3.1), read into one checked form.

import { z } from 'zod'
import type { Plain } from '@bridle/vm'
import { runtimeError } from '../providers/provider.js'
import { McpFailure } from './connection.js'
import type { McpServerConfig } from './connection.js'

/** A server that the host declares by name, as a `[[mcp]]` table of `harn.toml` would. */
export interface McpServerDeclaration {
  readonly transport?: 'stdio' | 'http'
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly url?: string
  readonly authToken?: string
  readonly proxyServerName?: string
  /** Connect on first use (the default), or when the run starts. */
  readonly lazy?: boolean
  /** URL or path of its server card. */
  readonly card?: string
  /** How long a connection is kept after its last use was given back. */
  readonly keepAliveMs?: number
}

// Made when asked for: loading zod is a good part of the start of a run that reads no spec.
const specSchema = () =>
  z.object({
    name: z.string().optional(),
    transport: z.enum(['stdio', 'http']).default('stdio'),
    command: z.string().default(''),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    url: z.string().default(''),
    auth_token: z.string().nullish(),
    proxy_server_name: z.string().nullish(),
  })

/** Throws McpFailure with the text of 04a for a malformed spec. */
export function readServerConfig(name: string, spec: Plain): McpServerConfig {
  const parsed = specSchema().safeParse(spec)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    throw invalid(`${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`)
  }
  const { data } = parsed
  if (data.transport === 'http') {
    if (!URL.canParse(data.url) || !/^https?:/.test(data.url)) throw invalid('transport "http" needs a url')
    return {
      name,
      transport: 'http',
      url: data.url,
      authToken: data.auth_token ?? null,
      proxyServerName: data.proxy_server_name ?? null,
    }
  }
  if (data.command === '') throw invalid('transport "stdio" needs a command')
  return { name, transport: 'stdio', command: data.command, args: data.args, env: data.env }
}

export function declaredConfig(name: string, declaration: McpServerDeclaration): McpServerConfig {
  return readServerConfig(name, {
    transport: declaration.transport ?? (declaration.url === undefined ? 'stdio' : 'http'),
    ...(declaration.command === undefined ? {} : { command: declaration.command }),
    ...(declaration.args === undefined ? {} : { args: [...declaration.args] }),
    ...(declaration.env === undefined ? {} : { env: { ...declaration.env } }),
    ...(declaration.url === undefined ? {} : { url: declaration.url }),
    ...(declaration.authToken === undefined ? {} : { auth_token: declaration.authToken }),
    ...(declaration.proxyServerName === undefined ? {} : { proxy_server_name: declaration.proxyServerName }),
  })
}

function invalid(reason: string): McpFailure {
  return new McpFailure(runtimeError(`Invalid MCP server config: ${reason}`))
}
