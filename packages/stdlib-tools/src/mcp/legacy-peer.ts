// A server of the revisions up to 2025-11-25: a handshake, and a session after it. The SDK does the protocol and is loaded when the first
// such connection is made.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Plain } from '@bridle/vm'
import { withIntegers } from '../tools/executors/exact-json.js'
import { LONGEST_TIMER_MS } from '../library/time/host-clock.js'
import { VERSION } from '../version.js'
import type { Peer, PeerRequest } from './peer.js'
import { listCapabilities, serve } from './server-requests.js'
import type { McpServerRequestHandlers } from './server-requests.js'

export interface LegacyPeerOptions {
  readonly handlers: McpServerRequestHandlers
  readonly hear: (method: string, params: { readonly [key: string]: unknown }) => void
  readonly onClosed: () => void
}

export class LegacyPeer implements Peer {
  private readonly client: Client
  private readonly transport: Transport
  private readonly resultSchema: Parameters<Client['request']>[1]
  private protocol: string | null = null

  private constructor(client: Client, transport: Transport, resultSchema: Parameters<Client['request']>[1]) {
    this.client = client
    this.transport = transport
    this.resultSchema = resultSchema
    // The client passes the negotiated revision only to its transport.
    const tell = transport.setProtocolVersion?.bind(transport)
    transport.setProtocolVersion = (version) => {
      this.protocol = version
      tell?.(version)
    }
  }

  static async make(transport: Transport, { handlers, hear, onClosed }: LegacyPeerOptions): Promise<LegacyPeer> {
    const [{ Client: ClientClass }, { ProgressNotificationSchema, ResultSchema }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
    const client = new ClientClass({ name: 'bridle', version: VERSION }, { capabilities: listCapabilities(handlers) })
    client.onerror = () => {}
    client.onclose = onClosed
    client.fallbackNotificationHandler = async (notification) => hear(notification.method, notification.params ?? {})
    client.fallbackRequestHandler = (request, extra) =>
      serve(handlers, request.method, withIntegers((request.params ?? {}) as Plain), extra.signal)
    client.setNotificationHandler(ProgressNotificationSchema, ({ method, params }) => hear(method, params))
    return new LegacyPeer(client, transport, ResultSchema)
  }

  shakeHands(signal: AbortSignal): Promise<void> {
    return this.client.connect(this.transport, { timeout: LONGEST_TIMER_MS, signal })
  }

  facts(): ReturnType<Peer['facts']> {
    return {
      server: this.client.getServerVersion(),
      capabilities: this.client.getServerCapabilities(),
      instructions: this.client.getInstructions(),
      protocol: this.protocol,
    }
  }

  request({ method, params, token, signal }: PeerRequest): Promise<{ readonly [key: string]: unknown }> {
    // The SDK's own listener is dropped with the answer, so progress that arrives together with it would be lost.
    const meta = token === null ? {} : { _meta: { ...(params['_meta'] as object | undefined), progressToken: token } }
    return this.client.request({ method, params: { ...params, ...meta } }, this.resultSchema, {
      timeout: LONGEST_TIMER_MS,
      signal,
    })
  }

  get hasSession(): boolean {
    return 'sessionId' in this.transport && this.transport.sessionId !== undefined
  }

  async close(): Promise<void> {
    if ('terminateSession' in this.transport && typeof this.transport.terminateSession === 'function') {
      const goodbye = (this.transport.terminateSession as () => Promise<void>).call(this.transport).catch(() => {})
      await Promise.race([goodbye, new Promise((resolve) => setTimeout(resolve, 500).unref())])
    }
    await this.client.close().catch(() => {})
    await this.transport.close().catch(() => {})
  }
}
