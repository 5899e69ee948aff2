// `bridle gateway CONFIG`: one MCP server in front of those of a configuration (gateway/gateway.ts). Standard output belongs to the protocol.

import { McpServerConnection, StreamTransport, serveHttp, toMcpServer } from '@bridle/stdlib-tools/mcp'
import { CommandError, readReason } from '../errors.js'
import { readGatewayConfig } from '../gateway/config.js'
import { Gateway } from '../gateway/gateway.js'
import { complain } from '../printable.js'
import { Stop } from '../stop.js'
import { VERSION } from '../version.js'
import { readAddress } from './serve.js'

export interface GatewayFlags {
  readonly transport: string
  readonly bind: string
  readonly path: string
  readonly apiKey?: readonly string[]
  readonly store?: string
}

const IDENTITY = { name: 'bridle-gateway', version: VERSION }

export async function gatewayCommand(path: string, flags: GatewayFlags): Promise<number> {
  const config = readGatewayConfig(path)
  const gateway = new Gateway(config, { store: flags.store, onWarning: (message) => complain(`bridle: warning: ${message}\n`) })
  const stop = new Stop(null)
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  const backend = toMcpServer(gateway.tools)
  const count = Object.keys(config.servers).length
  try {
    if (flags.transport === 'http') {
      const { host, port } = readAddress(flags.bind)
      const apiKeys = flags.apiKey ?? []
      const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
      // Whoever reaches the gateway can do what its servers can: without a key it is for this machine only.
      if (!isLocal && apiKeys.length === 0)
        throw new CommandError(`${flags.bind} can be reached from other machines: give --api-key KEY, or bind 127.0.0.1`)
      const served = flags.path.startsWith('/') ? flags.path : `/${flags.path}`
      const server = await serveHttp(backend, IDENTITY, { host, port, path: served, apiKeys }).catch((cause: unknown) => {
        throw new CommandError(`cannot listen on ${flags.bind}: ${readReason(cause)}`)
      })
      complain(`bridle: gateway to ${count} servers at ${server.url}\n`)
      await stopped
      await server.close()
    } else {
      const connection = new McpServerConnection(
        backend,
        IDENTITY,
        new StreamTransport(process.stdin, process.stdout, { keepsIntegers: true }),
      )
      await connection.start()
      complain(`bridle: gateway to ${count} servers on standard input and output\n`)
      await Promise.race([connection.ended, stopped])
      await connection.close()
      // An open standard input would keep the process alive.
      process.stdin.destroy()
    }
    return 0
  } finally {
    await gateway.close()
    stop.end()
  }
}
