// `bridle serve mcp FILE`: a script as an MCP server. A file with exported functions offers those; any other file is run, and
// what it registered is offered. Standard output belongs to the protocol, so the output of scripts
// goes to standard error.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ApprovalDesk, CompileError } from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import {
  ExportedBackend,
  McpServerConnection,
  RegisteredBackend,
  ServeError,
  StreamTransport,
  parseExportedFunctions,
  serveHttp,
} from '@bridle/stdlib-tools/mcp'
import type { HttpServerOptions, Json, McpBackend, ServerIdentity } from '@bridle/stdlib-tools/mcp'
import { makeServingAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { CommandError, EXIT_FAILURE, UsageError, readReason, makeUnreadableError } from '../errors.js'
import { renderFault } from '../fault-report.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript, makeSourceLookup } from '../load.js'
import type { Script } from '../script.js'
import { Stop } from '../stop.js'
import { withServerTelemetry } from '../telemetry/serving.js'
import { VERSION } from '../version.js'
import { complain } from '../printable.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'

export interface ServeFlags extends AuthorityFlags, SizeFlags {
  readonly transport: string
  readonly bind: string
  readonly path: string
  readonly apiKey?: readonly string[]
  readonly card?: string
  readonly pollAfter?: number
}

export async function serveMcpCommand(file: string, options: ServeFlags): Promise<number> {
  const script = await readScript(file, undefined)
  const card = options.card === undefined ? undefined : readCard(options.card)
  const authority = await withLock(makeServingAuthority(options), options, script.key, 'many')
  const runtime = makeCommandRuntime({ script: script.key, terminal: false, standIns: 'none', authority, ...readSizes(options) })
  const stop = new Stop(null)
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  const made = await makeBackend(runtime, script, stop.signal)
  const backend = made === null ? null : withServerTelemetry(made, options.transport === 'http' ? 'tcp' : 'pipe')
  if (backend === null) {
    stop.end()
    return stop.signal.aborted ? stop.code : EXIT_FAILURE
  }
  const identity: ServerIdentity = {
    name: basename(script.key).replace(/\.harn$/, ''),
    version: VERSION,
    ...(card === undefined ? {} : { card }),
  }
  try {
    if (options.transport === 'http') await serveOverHttp(backend, identity, options, stopped)
    else await serveOverStdio(backend, identity, stopped)
    return 0
  } finally {
    if (backend instanceof RegisteredBackend) await backend.close()
    stop.end()
  }
}

const toStderr = (text: string): void => {
  process.stderr.write(text)
}

/** null when the script does not compile or fails before it serves; the reason is then on stderr. */
async function makeBackend(runtime: Runtime, script: Script, signal: AbortSignal): Promise<McpBackend | null> {
  const desk = new ApprovalDesk()
  if (parseExportedFunctions(script.text).length > 0) {
    try {
      return new ExportedBackend(runtime, script.key, script.text, { desk, onOutput: toStderr })
    } catch (cause) {
      if (!(cause instanceof CompileError)) throw cause
      // Reports errors of the file itself; otherwise the small program that imports it would report them with its own source.
      if (compileScript(runtime, script) !== null) complain(`${cause.render()}\n`)
      return null
    }
  }
  const module = compileScript(runtime, script)
  if (module === null) return null
  try {
    return await RegisteredBackend.start(runtime, module, {
      desk,
      signal,
      onEvent: (event) => (event.type === 'output' ? toStderr(event.text) : undefined),
    })
  } catch (cause) {
    if (!(cause instanceof ServeError)) throw cause
    const { result } = cause
    if (result.status === 'failed') complain(renderFault(result.error.fault, makeSourceLookup(module, script)))
    else complain(`error: ${cause.message}\n`)
    return null
  }
}

async function serveOverStdio(backend: McpBackend, identity: ServerIdentity, stop: Promise<void>): Promise<void> {
  const connection = new McpServerConnection(
    backend,
    identity,
    new StreamTransport(process.stdin, process.stdout, { keepsIntegers: true }),
  )
  await connection.start()
  complain(`bridle: serving ${identity.name} as an MCP server on standard input and output\n`)
  await Promise.race([connection.ended, stop, ...listEnds(backend)])
  await connection.close()
  // An open standard input would keep the process alive.
  process.stdin.destroy()
}

async function serveOverHttp(
  backend: McpBackend,
  identity: ServerIdentity,
  options: ServeFlags,
  stop: Promise<void>,
): Promise<void> {
  const { host, port } = readAddress(options.bind)
  const path = options.path.startsWith('/') ? options.path : `/${options.path}`
  const { pollAfter } = options
  const http: HttpServerOptions = { host, port, path, apiKeys: options.apiKey ?? [] }
  const server = await serveHttp(backend, identity, {
    ...http,
    ...(pollAfter === undefined ? {} : { pollAfterMs: pollAfter }),
  }).catch((cause: unknown) => {
    throw new CommandError(`cannot listen on ${options.bind}: ${readReason(cause)}`)
  })
  if (!['localhost', '127.0.0.1', '::1'].includes(host) && http.apiKeys?.length === 0)
    complain(
      `bridle: warning: ${options.bind} can be reached from other machines, and nobody needs a key: use --api-key, or bind 127.0.0.1\n`,
    )
  complain(`bridle: serving ${identity.name} as an MCP server at ${server.url}\n`)
  await Promise.race([stop, ...listEnds(backend)])
  await server.close()
}

/** A script that ends (by exit, or a limit) ends its server. */
function listEnds(backend: McpBackend): Promise<unknown>[] {
  return backend instanceof RegisteredBackend ? [backend.result] : []
}

/** Throws UsageError. */
export function readAddress(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new UsageError(`--bind wants HOST:PORT, got ${text}`)
  return { host: match[1] ?? (match[2] === '' ? '127.0.0.1' : match[2]!), port }
}

/** A path of a JSON file, or the JSON itself. */
function readCard(given: string): Json {
  let text = given
  if (!given.trimStart().startsWith('{')) {
    try {
      text = readFileSync(given, 'utf8')
    } catch (cause) {
      throw makeUnreadableError(given, cause)
    }
  }
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new CommandError(`the server card is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
