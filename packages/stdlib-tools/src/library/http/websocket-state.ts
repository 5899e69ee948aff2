// Sockets and socket servers of a run. Where the host has a network they are its sockets, known here by the key that the host
// gave them. Where it has none, a server is reached by clients of the same run: both ends are two sockets that know each other
// by id.

import { family } from '@bridle/vm/families'
import type { Context, HarnDict } from '@bridle/vm/families'

/** One message on its way. `data` is text, or Base64 for every type but text. */
export interface Message {
  readonly type: string
  readonly data: string
  readonly code?: number
  readonly reason?: string
  readonly bytes: number
}

export interface Socket {
  readonly url: string
  readonly maxMessages: number
  readonly maxBytes: number
  readonly sendBuffer: number
  /** The other end in this run; null for a mock and for a socket of the network. */
  peer: string | null
  /** Key of a socket of the network at the host; null for others. */
  readonly remote: string | null
  /** Number of the newest message of the network that was taken. */
  taken: number
  readonly mocked: boolean
  readonly echo: boolean
  readonly inbox: Message[]
  received: number
  closed: boolean
}

export interface SocketRoute {
  readonly bearer: string | null
  readonly maxMessages: number
  readonly maxBytes: number
  readonly sendBuffer: number
}

export interface SocketServer {
  readonly address: string
  /** Key of a server that listens on the network; null for one that only this run can reach. */
  readonly remote: string | null
  readonly routes: Map<string, SocketRoute>
  /** Connections that no script accepted yet. */
  readonly waiting: { readonly id: string; readonly path: string; readonly peer: string; readonly headers: HarnDict }[]
}

export const socketState = family('websockets', () => ({
  sockets: new Map<string, Socket>(),
  servers: new Map<string, SocketServer>(),
  nextPort: 49_152,
}))

/** What is woken when a socket or a server has something to give. */
export function makeSocketKey(id: string): string {
  return `websocket:${id}`
}

export function forgetSockets(ctx: Context): void {
  const state = ctx.state(socketState)
  for (const id of state.sockets.keys()) ctx.wake(makeSocketKey(id))
  for (const id of state.servers.keys()) ctx.wake(makeSocketKey(id))
  state.sockets.clear()
  state.servers.clear()
}
