// Ids of events and traces: they start with a time, so that they sort by creation.

import { randomBytes } from 'node:crypto'

/** UUID version 7 (RFC 9562). */
export function makeTimeUuid(now = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export function makeIds(): { readonly eventId: string; readonly traceId: string } {
  return { eventId: `trigger_evt_${makeTimeUuid()}`, traceId: `trace_${makeTimeUuid()}` }
}
