// Sessions of a server over HTTP: one per client, bound to the client that opened it, ended when unused.

import type { WebStandardStreamableHTTPServerTransportOptions } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

import { EventLog } from './event-log.js'
import { McpServerConnection } from './server.js'
import { openBackend } from './server-protocol.js'
import type { BackendSource, McpTransport, ServerIdentity } from './server-protocol.js'

export interface SessionFacts<Transport> {
  readonly transport: Transport
  readonly connection: McpServerConnection
  /** The client that opened it; null without authentication. */
  readonly client: string | null
}

class Session<Transport> {
  readonly transport: Transport
  readonly connection: McpServerConnection
  readonly client: string | null
  /** Of a clock that only goes forward. */
  usedAt = performance.now()
  /** Requests and streams that are open. */
  requests = 0

  constructor({ transport, connection, client }: SessionFacts<Transport>) {
    this.transport = transport
    this.connection = connection
    this.client = client
  }

  begin(): void {
    this.requests++
    this.usedAt = performance.now()
  }

  end(): void {
    this.requests--
    this.usedAt = performance.now()
  }
}

export class SessionTable<Transport> {
  private readonly sessions = new Map<string, Session<Transport>>()
  private readonly most: number
  private readonly idleMs: number

  constructor(most: number, idleMs: number) {
    this.most = most
    this.idleMs = idleMs
  }

  add(id: string, facts: SessionFacts<Transport>): void {
    this.sessions.set(id, new Session(facts))
  }

  delete(id: string): void {
    this.sessions.delete(id)
  }

  /** Null also for the session of another client: knowing its id is not enough. */
  find(id: string, client: string | null): Session<Transport> | null {
    const session = this.sessions.get(id)
    return session === undefined || session.client !== client ? null : session
  }

  /** Ends what is idle for too long, and when there are too many what is idle for longest; false when all are at work. */
  makeRoom(): boolean {
    const before = performance.now() - this.idleMs
    for (const [id, { usedAt, requests }] of [...this.sessions]) if (requests === 0 && usedAt < before) this.endSession(id)
    if (this.sessions.size < this.most) return true
    const idle = [...this.sessions].filter(([, { requests }]) => requests === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const [oldest] = idle
    if (oldest === undefined) return false
    this.endSession(oldest[0])
    return true
  }

  async close(): Promise<void> {
    const open = [...this.sessions.values()]
    this.sessions.clear()
    await Promise.all(open.map(({ connection }) => connection.close()))
  }

  private endSession(id: string): void {
    const session = this.sessions.get(id)
    this.sessions.delete(id)
    void session?.connection.close().catch(() => {})
  }
}

export interface SessionParts<Transport> {
  readonly source: BackendSource
  readonly identity: ServerIdentity
  readonly sessions: SessionTable<Transport>
  /** As in the options of the server. */
  readonly retryMs: number
  readonly pollAfterMs: number | undefined
  readonly makeTransport: (options: WebStandardStreamableHTTPServerTransportOptions) => Transport
}

/** Opens a session of a client; it is in the table once the handshake is done. */
export async function openSession<Transport extends McpTransport>(
  { source, identity, sessions, retryMs, pollAfterMs, makeTransport }: SessionParts<Transport>,
  client: string | null,
): Promise<Transport> {
  const backend = openBackend(source, { client })
  const transport = makeTransport({
    sessionIdGenerator: () => globalThis.crypto.randomUUID(),
    eventStore: new EventLog(),
    retryInterval: retryMs,
    onsessioninitialized: (id) => sessions.add(id, { transport, connection, client }),
    onsessionclosed: (id) => sessions.delete(id),
  })
  const connection = new McpServerConnection(
    backend,
    identity,
    Object.assign(transport, { keepsIntegers: true }),
    pollAfterMs === undefined ? {} : { pollAfterMs },
  )
  if (typeof source === 'function') void connection.ended.then(() => backend.close?.())
  await connection.start()
  return transport
}
