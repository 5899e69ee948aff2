// The tools that a script can call, with the hashes of their schemas and descriptions, and the lock file that pins them
// (docs/tools/lock.md).
// Tools that a script defines are found by running it without any power and with a small budget: defining tools
// must not need more. MCP servers are those that the script's manifest declares; they are started to list their tools.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Plain } from '@bridle/vm'
import type { DefinedTool } from '@bridle/stdlib-tools'
import {
  STANDARD_TOOLS,
  pinText,
  describePinnedChange,
  comparePinned,
  mcpKey,
  serverToolHashes,
  readOutputShape,
  toolDescriptionHash,
  toolSchemaHash,
} from '@bridle/stdlib-tools'
import { guardedFetch, hashHex, overwriteFile } from '@bridle/stdlib-tools/node'
import { makeAuthority } from './authority.js'
import type { Authority } from './authority.js'
import { CommandError, UsageError, readReason } from './errors.js'
import { makeCommandRuntime, loadManifest } from './host.js'
import { pickReachableServers } from './host-parts.js'
import type { Script } from './script.js'
import { signDocument, verify } from './lock-signature.js'
import { readTarget } from './targets.js'

export const LOCK_FILE = 'tools.lock.json'
const FORMAT = 3

export interface KnownTool {
  /** `script:NAME`, `bridle:ID`, `mcp:SERVER/TOOL`. */
  readonly key: string
  readonly source: 'script' | 'bridle' | 'mcp'
  readonly name: string
  readonly description: string
  /** Hash of the name and the schemas. */
  readonly hash: string
  /** Hash of its description for models. */
  readonly descriptionHash: string
  /** Hash of the server's annotations about the tool's effects. */
  readonly hintsHash?: string
  readonly input: Plain
  readonly output: Plain
  /** Effects and examples of a standard tool; only `describe` shows them. */
  readonly about?: {
    readonly effect: string | null
    readonly sideEffect: string
    readonly security: string
    readonly examples: readonly { readonly args: Plain; readonly result?: Plain }[]
  }
}

export interface Collected {
  readonly tools: readonly KnownTool[]
  /** What could not be listed: servers that do not start, a script that ends early. */
  readonly problems: readonly string[]
}

const SEALED_FUEL = 5_000_000

export async function collectTools(
  script: Script | null,
  options: { readonly servers: boolean; readonly authority: Authority },
): Promise<Collected> {
  const problems: string[] = []
  const tools: KnownTool[] = STANDARD_TOOLS.map(({ id, description, schema, effect, level, security, examples }) => ({
    key: `bridle:${id}`,
    source: 'bridle',
    name: id,
    description,
    hash: toolSchemaHash(hashHex, { name: id, input: schema as Plain }),
    descriptionHash: toolDescriptionHash(hashHex, { name: id, description, input: schema as Plain }),
    input: schema as Plain,
    output: null,
    about: { effect, sideEffect: level, security, examples },
  }))
  if (script !== null) tools.push(...(await listScriptTools(script, problems)))
  if (options.servers) tools.push(...(await listServerTools(script?.key ?? '<none>', options.authority, problems)))
  return { tools: tools.sort((a, b) => (a.key < b.key ? -1 : 1)), problems }
}

async function listScriptTools(script: Script, problems: string[]): Promise<KnownTool[]> {
  const found = new Map<string, DefinedTool>()
  const runtime = makeCommandRuntime({
    terminal: false,
    script: script.key,
    args: [],
    limits: { fuel: SEALED_FUEL },
    authority: makeAuthority({ sandbox: true }, {}),
    runtime: { onTool: (tool) => found.set(tool.name, tool) },
  })
  const module = runtime.compile(script.text, { file: script.key })
  const result = await runtime.start(module, { rawResult: true }).result
  if (result.status === 'failed')
    problems.push(`${script.shown} failed without powers, after defining ${found.size} tools: ${result.error.message}`)
  else if (result.status !== 'done') problems.push(`${script.shown} did not end without powers; ${found.size} tools were defined`)
  return [...found.values()].map(({ name, hash, descriptionHash, entry }) => {
    const fields = entry as { readonly [key: string]: Plain }
    return {
      key: `script:${name}`,
      source: 'script',
      name,
      description: String(fields['description'] ?? ''),
      hash,
      descriptionHash,
      input: fields['parameters'] ?? null,
      output: fields['outputSchema'] ?? null,
    }
  })
}

async function listServerTools(scriptKey: string, authority: Authority, problems: string[]): Promise<KnownTool[]> {
  const manifest = loadManifest(scriptKey)
  if (manifest === null) return []
  const servers = pickReachableServers(manifest, authority)
  for (const name of Object.keys(manifest.mcpServers))
    if (!Object.hasOwn(servers, name)) problems.push(`MCP server "${name}" is not granted: --grant mcp starts it`)
  const names = Object.keys(servers)
  if (names.length === 0) return []
  const { McpConnections } = await import('@bridle/stdlib-tools/mcp')
  const folder = scriptKey.startsWith('<') ? process.cwd() : dirname(scriptKey)
  const { mcpNetwork } = authority
  const connections = new McpConnections({
    cwd: folder,
    env: 'inherit',
    servers,
    ...(mcpNetwork === null ? {} : { fetch: guardedFetch(mcpNetwork) }),
  })
  try {
    const lists = await Promise.all(
      names.map(async (server) => {
        const outcome = await connections.listTools(server, new AbortController().signal)
        if (!outcome.ok) problems.push(`MCP server "${server}": ${outcome.error.message}`)
        return outcome.ok
          ? (outcome.value as readonly { readonly [key: string]: Plain }[]).map((tool) => toKnownTool(server, tool))
          : []
      }),
    )
    return lists.flat()
  } finally {
    await connections.close()
  }
}

function toKnownTool(server: string, tool: { readonly [key: string]: Plain }): KnownTool {
  const name = String(tool['name'] ?? '')
  const input = tool['inputSchema'] ?? null
  const output = tool['outputSchema'] ?? null
  const { schema, description, hints } = serverToolHashes(hashHex, tool)
  return {
    key: mcpKey(server, name),
    source: 'mcp',
    name: `${server}.${name}`,
    description: String(tool['description'] ?? ''),
    hash: schema,
    descriptionHash: description,
    hintsHash: hints,
    input,
    output,
  }
}

// ---- the file -----------------------------------------------------------------------------------------------------------

export interface LockedTool {
  readonly schema: string
  readonly description: string
  /** For tools of MCP servers. */
  readonly hints?: string
}

export interface Lock {
  readonly format: number
  readonly tools: { readonly [key: string]: LockedTool }
  /** Output schemas of the tools that have one. */
  readonly shapes?: { readonly [key: string]: unknown }
}

export function makeLock(tools: readonly KnownTool[]): Lock {
  const shapes = tools.flatMap(({ key, output }) => {
    const shape = readOutputShape(output)
    return shape === null ? [] : [[key, shape] as const]
  })
  return {
    format: FORMAT,
    tools: Object.fromEntries(
      tools.map(({ key, hash, descriptionHash, hintsHash }) => [
        key,
        { schema: hash, description: descriptionHash, ...(hintsHash === undefined ? {} : { hints: hintsHash }) },
      ]),
    ),
    ...(shapes.length === 0 ? {} : { shapes: Object.fromEntries(shapes) }),
  }
}

/** Signed if a private key file is given. Throws CommandError. */
export function writeLock(path: string, lock: Lock, signKey?: string): void {
  const document = signKey === undefined ? lock : signDocument({ ...lock }, signKey)
  try {
    overwriteFile(path, `${JSON.stringify(document, null, 2)}\n`)
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${readReason(cause)}`)
  }
}

/** If a public key file is given, accepts only a lock signed by its private key. Throws CommandError for a missing or invalid file. */
export function readLock(path: string, verifyKey?: string): Lock {
  if (!existsSync(path))
    throw new UsageError(`there is no lock file ${path}`, {
      code: 'unreadable_file',
      file: path,
      hint: '`bridle tools lock` writes one',
    })
  let document: unknown
  try {
    document = JSON.parse(readTarget(path))
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new CommandError(`${path} is not a lock file: ${readReason(cause)}`)
  }
  const lock = (isRecord(document) ? document : {}) as { readonly [key: string]: unknown }
  if (lock['format'] === 1 || lock['format'] === 2)
    throw new CommandError(
      `${path} is a lock file of format ${lock['format']}, which pins no ${lock['format'] === 1 ? 'descriptions' : 'hints of servers'}; ` +
        `\`bridle tools lock\` writes one of format ${FORMAT}`,
    )
  const { tools, shapes } = lock
  if (lock['format'] !== FORMAT || !isRecord(tools) || !Object.entries(tools).every(isLockedTool))
    throw new CommandError(`${path} is not a lock file of format ${FORMAT}`)
  if (verifyKey !== undefined) {
    const problem = verify(lock, verifyKey)
    if (problem !== null) throw new CommandError(`${path} ${problem}; nothing is called`)
  }
  return {
    format: FORMAT,
    tools: tools as Lock['tools'],
    ...(isRecord(shapes) ? { shapes } : {}),
  }
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Separator between the hashes of a pin; it occurs in neither, so that the description of one tool cannot pass as that of another. */
function isLockedTool([key, value]: readonly [string, unknown]): boolean {
  const isHash = (hash: unknown): boolean => typeof hash === 'string' && hash !== '' && !hash.includes('+')
  if (!isRecord(value) || !isHash(value['schema']) || !isHash(value['description'])) return false
  return key.startsWith('mcp:') ? isHash(value['hints']) : value['hints'] === undefined
}

export interface LockDifference {
  readonly key: string
  readonly change: 'added' | 'removed' | 'changed'
  /** For a changed tool: schemas, descriptions, or both. */
  readonly what?: string
  /** Changes of the results of a tool, one line each. */
  readonly drifts?: readonly string[]
  /** Whether the change breaks callers. */
  readonly breaking?: boolean
}

/** Changes by key. Servers that could not be asked are left out. */
export function compareLock(
  lock: Lock,
  { tools }: Collected,
  options: { readonly servers: boolean } = { servers: true },
): readonly LockDifference[] {
  const now = new Map(tools.map((tool) => [tool.key, tool]))
  const shapes = new Map(tools.map(({ key, output }) => [key, readOutputShape(output)]))
  const before = Object.entries(lock.tools).filter(([key]) => options.servers || !key.startsWith('mcp:'))
  const gone = before.flatMap(([key, locked]): LockDifference[] => {
    const found = now.get(key)
    if (found === undefined) return [{ key, change: 'removed' }]
    const what = findChange(locked, found)
    return what === null ? [] : [{ key, change: 'changed', what, ...findDrift(lock.shapes?.[key], shapes.get(key)) }]
  })
  const known = new Set(Object.keys(lock.tools))
  const added = [...now.keys()].filter((key) => !known.has(key)).map((key): LockDifference => ({ key, change: 'added' }))
  return [...gone, ...added].sort((a, b) => (a.key < b.key ? -1 : 1))
}

const formatPin = ({ schema, description, hints }: LockedTool): string => pinText(schema, description, hints)

function findChange(locked: LockedTool, now: KnownTool): string | null {
  return describePinnedChange(formatPin(locked), readHashes(now))
}

function readHashes({ hash, descriptionHash, hintsHash }: KnownTool): LockedTool {
  return { schema: hash, description: descriptionHash, ...(hintsHash === undefined ? {} : { hints: hintsHash }) }
}

function findDrift(before: unknown, now: unknown): { readonly drifts?: readonly string[]; readonly breaking?: boolean } {
  if (before === undefined || before === null || now === undefined || now === null) return {}
  const { lines, breaking } = comparePinned(before, now)
  return lines.length === 0 ? {} : { drifts: lines, breaking }
}

/** The pins of a locked run. Tools of MCP servers are compared here too, before it starts; all are compared when they are called. */
export async function readLockedPins(
  path: string,
  scriptKey: string,
  authority: Authority,
  verifyKey?: string,
): Promise<ReadonlyMap<string, string>> {
  const lock = readLock(path, verifyKey)
  const pinned = Object.entries(lock.tools).filter(([key]) => key.startsWith('mcp:'))
  if (pinned.length > 0) {
    const problems: string[] = []
    const now = new Map((await listServerTools(scriptKey, authority, problems)).map((tool) => [tool.key, tool]))
    if (problems.length > 0) throw new CommandError(problems.join('\n'))
    const changed = pinned.flatMap(([key, locked]) => {
      const found = now.get(key)
      if (found === undefined) return [`  ${key} is gone`]
      const what = findChange(locked, found)
      if (what === null) return []
      const is = readHashes(found)
      return [`  ${key} has changed: its ${what}; locked as ${formatPin(locked)}, now ${formatPin(is)}`]
    })
    if (changed.length > 0)
      throw new CommandError(
        `the tools are not those of ${path}:\n${changed.join('\n')}\n` +
          '`bridle tools diff` says what changed; `bridle tools lock` writes down the tools as they are now',
      )
  }
  return new Map(Object.entries(lock.tools).map(([key, locked]) => [key, formatPin(locked)]))
}
