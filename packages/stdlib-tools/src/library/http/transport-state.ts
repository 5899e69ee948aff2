// What server-sent events and WebSockets have in common: limits, mocks by URL pattern and the record of mocked traffic.

import { HarnDict, HarnList, family, isInt } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { matchesPattern } from './state.js'

/** A limit among the options; what is too small is the least there is. */
export function readLimit(options: HarnDict, name: string, fallback: number, least = 1): number {
  const value = options.get(name) ?? null
  return isInt(value) ? Math.max(least, Number(value)) : fallback
}

export interface TransportMock {
  readonly pattern: string
  readonly messages: readonly Value[]
  /** WebSockets: whether what is sent comes back. */
  readonly echo: boolean
}

interface TransportState {
  readonly mocks: { readonly sse: TransportMock[]; readonly websocket: TransportMock[] }
  readonly calls: HarnDict[]
}

const transportState = family<TransportState>('transports', () => ({ mocks: { sse: [], websocket: [] }, calls: [] }))

export type Transport = 'sse' | 'websocket'

/** Behind those that are there: the first that matches answers. */
export function addMock(ctx: Context, transport: Transport, mock: TransportMock): void {
  ctx.state(transportState).mocks[transport].push(mock)
}

export function findMock(ctx: Context, transport: Transport, url: string): TransportMock | undefined {
  return ctx.state(transportState).mocks[transport].find((mock) => matchesPattern(mock.pattern, url))
}

/** A list of messages, or a dict that has them under `key`; anything else is one message. */
export function listMockMessages(given: Value, key: string): readonly Value[] {
  const list = given instanceof HarnDict ? (given.get(key) ?? null) : given
  if (list instanceof HarnList) return [...list.view()]
  return list === null || list instanceof HarnDict ? [] : [list]
}

export interface TransportCall {
  readonly kind: 'sse_connect' | 'websocket_connect' | 'websocket_send' | 'websocket_close'
  readonly handle: string
  readonly url: string
  readonly type?: string
  readonly data?: string
}

export function recordCall(ctx: Context, call: TransportCall): void {
  ctx.charge(1, 128)
  const { kind, handle, url, type = null, data = null } = call
  ctx.state(transportState).calls.push(HarnDict.of({ kind, handle, url, type, data }))
}

export function listRecordedCalls(ctx: Context): HarnList {
  return new HarnList([...ctx.state(transportState).calls])
}

export function clearTransports(ctx: Context): void {
  const state = ctx.state(transportState)
  state.mocks.sse.length = 0
  state.mocks.websocket.length = 0
  state.calls.length = 0
}
