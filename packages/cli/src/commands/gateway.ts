// `bridle gateway CONFIG`: one MCP server in front of those of a configuration (room gateway of stdlib-tools). Standard output belongs to the protocol.

import { dirname, resolve } from 'node:path'
import { GATEWAY_IDENTITY, Gateway, fileStore, makeResourceServer, serveApprovalPage } from '@bridle/stdlib-tools/gateway'
import { McpServerConnection, StreamTransport, serveHttp } from '@bridle/stdlib-tools/mcp'
import { CommandError, readReason } from '../errors.js'
import { fileAccepted, readGatewayConfig } from '../gateway/config.js'
import { complain } from '../printable.js'
import { Stop } from '../stop.js'
import { makeTracings } from './run-options.js'
import { makeTelemetryTracing } from '../telemetry/telemetry.js'
import { readAddress } from './serve.js'

export interface GatewayFlags {
  readonly transport: string
  readonly bind: string
  readonly path: string
  readonly apiKey?: readonly string[]
  readonly allowOrigin?: readonly string[]
  readonly maxSessions?: number
  readonly store?: string
  readonly lockFile?: string
  readonly trace?: string
  readonly page?: boolean
}

/** Each client has its own connections to the servers. */
const SESSIONS = 32

export async function gatewayCommand(path: string, flags: GatewayFlags): Promise<number> {
  const config = readGatewayConfig(path)
  let pageUrl: string | null = null
  const tracing =
    flags.trace === undefined ? makeTelemetryTracing() : makeTracings(`${flags.trace}/`, { isRequired: false, runs: 'many' })
  const gateway = new Gateway(config, {
    cwd: dirname(resolve(path)),
    page: () => pageUrl,
    onWarning: (message) => complain(`bridle: warning: ${message}\n`),
    ...(flags.store === undefined ? {} : { store: fileStore(flags.store) }),
    ...(flags.lockFile === undefined ? {} : { accepted: fileAccepted(flags.lockFile) }),
    ...(tracing === null ? {} : { tracing }),
  })
  const stop = new Stop(null)
  const stopped = new Promise<void>((done) => stop.signal.addEventListener('abort', () => done(), { once: true }))
  const page = flags.page === true ? await serveApprovalPage(gateway) : null
  if (page !== null) {
    pageUrl = page.url
    complain(`bridle: approvals at ${page.url}\n`)
  }
  try {
    if (flags.transport === 'http') await serveOverHttp(gateway, flags, stopped)
    else await serveOverStdio(gateway, stopped)
    return 0
  } finally {
    await page?.close()
    await gateway.close()
    stop.end()
  }
}

const countServers = ({ config }: Gateway): string => {
  const count = Object.keys(config.servers).length + Object.keys(config.apis).length
  return `${count} server${count === 1 ? '' : 's'}`
}

async function serveOverHttp(gateway: Gateway, flags: GatewayFlags, stopped: Promise<void>): Promise<void> {
  const { host, port } = readAddress(flags.bind)
  const apiKeys = flags.apiKey ?? []
  const { auth } = gateway.config
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
  // Clients of the gateway can do everything its servers can: without a key it accepts only this machine.
  if (!isLocal && apiKeys.length === 0 && auth === null)
    throw new CommandError(
      `${flags.bind} can be reached from other machines: give --api-key KEY, or auth in the configuration, or bind 127.0.0.1`,
    )
  const path = flags.path.startsWith('/') ? flags.path : `/${flags.path}`
  if (auth !== null && auth.resource === undefined && port === 0)
    throw new CommandError('auth needs a resource, or a port that is no 0: tokens are for one address')
  const resource = auth?.resource ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
  const server = await serveHttp(gateway.open, GATEWAY_IDENTITY, {
    host,
    port,
    path,
    apiKeys,
    allowedOrigins: flags.allowOrigin ?? [],
    maxSessions: flags.maxSessions ?? SESSIONS,
    ...(auth === null
      ? {}
      : {
          auth: makeResourceServer(auth, resource, {
            onRefusal: (reason) => complain(`bridle: warning: a token was refused: ${reason}\n`),
          }),
        }),
  }).catch((cause: unknown) => {
    throw new CommandError(`cannot listen on ${flags.bind}: ${readReason(cause)}`)
  })
  complain(`bridle: gateway to ${countServers(gateway)} at ${server.url}\n`)
  await stopped
  await server.close()
}

async function serveOverStdio(gateway: Gateway, stopped: Promise<void>): Promise<void> {
  const connection = new McpServerConnection(
    gateway.open(),
    GATEWAY_IDENTITY,
    new StreamTransport(process.stdin, process.stdout, { keepsIntegers: true }),
  )
  await connection.start()
  complain(`bridle: gateway to ${countServers(gateway)} on standard input and output\n`)
  await Promise.race([connection.ended, stopped])
  await connection.close()
  // An open standard input would keep the process alive.
  process.stdin.destroy()
}
