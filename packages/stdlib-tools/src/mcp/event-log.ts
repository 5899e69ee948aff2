// What a session over HTTP has sent lately, so that a client whose stream broke, or was closed on purpose, can fetch what it
// missed (`Last-Event-ID`). Bounded: a client that stays away for too long starts again, as after any lost connection.

import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

interface Sent {
  readonly id: string
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly length: number
}

export interface EventLogLimits {
  readonly events?: number
  /** Length of the kept messages as JSON text, in UTF-16 units. */
  readonly length?: number
}

export class EventLog implements EventStore {
  private readonly limits: Required<EventLogLimits>
  /** Oldest first. */
  private sent: Sent[] = []
  private length = 0
  private count = 0

  constructor(limits: EventLogLimits = {}) {
    this.limits = { events: 1000, length: 4 << 20, ...limits }
  }

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const event = { id: String(++this.count), stream, message, length: JSON.stringify(message).length }
    this.sent.push(event)
    this.length += event.length
    // The newest event is kept regardless of its size, because a client may wait for it.
    while (this.sent.length > 1 && (this.sent.length > this.limits.events || this.length > this.limits.length))
      this.length -= this.sent.shift()!.length
    return Promise.resolve(event.id)
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.sent.find((each) => each.id === id)?.stream)
  }

  async replayEventsAfter(
    id: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.sent.findIndex((each) => each.id === id)
    const stream = this.sent[at]?.stream ?? ''
    for (const event of this.sent.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message)
    return stream
  }
}
