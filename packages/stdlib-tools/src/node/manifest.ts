// `harn.toml`, the manifest of a project, as far as running a script needs it: today the MCP servers of `[[mcp]]` (04a §3.3).
// Tables that belong to others (packages, skills, hooks) pass unread. A manifest that does not parse is an error with its place.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { TomlError, parse } from 'smol-toml'
import { z } from 'zod'
import type { McpServerDeclaration } from '../mcp/config.js'

export const MANIFEST_NAME = 'harn.toml'

export interface Manifest {
  /** Absolute path of the file. */
  readonly path: string
  /** Everything that it says, unchecked. */
  readonly tables: { readonly [name: string]: unknown }
  /** In the order of the file. */
  readonly mcpServers: { readonly [name: string]: McpServerDeclaration }
}

/** The manifest is there and cannot be used; the message names the file and the place in it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds as a number, or a duration such as `30s`. */
const duration = () => z.union([z.number().nonnegative(), z.string().regex(/^\d+(ms|s|m|h)$/, 'expected a duration such as 30s')])

// Made when asked for: loading zod is a good part of the start of a run without a manifest.
const serverSchema = () =>
  z.object({
    name: z.string().min(1),
    transport: z.enum(['stdio', 'http']).optional(),
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    url: z.string().optional(),
    auth_token: z.string().optional(),
    proxy_server_name: z.string().optional(),
    lazy: z.boolean().default(false),
    card: z.string().optional(),
    keep_alive: duration().optional(),
    keep_alive_ms: z.number().nonnegative().optional(),
  })

/** The manifest of the folder or of the nearest one above it; null when there is none. Throws ManifestError. */
export function findManifest(folder: string): Manifest | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, MANIFEST_NAME)
    let text: string | null = null
    try {
      text = readFileSync(path, 'utf8')
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR')
        throw new ManifestError(`cannot read ${path}: ${code}`, { cause })
    }
    if (text !== null) return readManifest(path, text)
    if (dirname(at) === at) return null
  }
}

/** Throws ManifestError. */
export function readManifest(path: string, text: string): Manifest {
  let tables: { readonly [name: string]: unknown }
  try {
    tables = parse(text)
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    throw new ManifestError(`${path}:${cause.line}:${cause.column}: ${cause.message.split('\n', 1)[0]}`, { cause })
  }
  return { path, tables, mcpServers: mcpServersOf(path, tables['mcp']) }
}

function mcpServersOf(path: string, given: unknown): { readonly [name: string]: McpServerDeclaration } {
  const servers: { [name: string]: McpServerDeclaration } = Object.create(null) as { [name: string]: McpServerDeclaration }
  if (given === undefined) return servers
  const parsed = z.array(serverSchema()).safeParse(given)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    throw new ManifestError(
      `${path}: mcp${issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')}: ${issue.message}`,
    )
  }
  for (const server of parsed.data) {
    if (server.name in servers) throw new ManifestError(`${path}: the MCP server "${server.name}" is declared twice`)
    const keepAliveMs = server.keep_alive_ms ?? millis(server.keep_alive)
    servers[server.name] = {
      lazy: server.lazy,
      ...(server.transport === undefined ? {} : { transport: server.transport }),
      ...(server.command === undefined ? {} : { command: server.command }),
      ...(server.args === undefined ? {} : { args: server.args }),
      ...(server.env === undefined ? {} : { env: server.env }),
      ...(server.url === undefined ? {} : { url: server.url }),
      ...(server.auth_token === undefined ? {} : { authToken: server.auth_token }),
      ...(server.proxy_server_name === undefined ? {} : { proxyServerName: server.proxy_server_name }),
      ...(server.card === undefined ? {} : { card: server.card }),
      ...(keepAliveMs === null ? {} : { keepAliveMs }),
    }
  }
  return servers
}

function millis(value: number | string | undefined): number | null {
  if (typeof value !== 'string') return value ?? null
  const [, digits, unit] = /^(\d+)([a-z]+)$/.exec(value)!
  return Number(digits) * UNITS[unit!]!
}
