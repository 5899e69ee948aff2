// The MCP clients of running agent loops. A loop judges the calls of its tools by the gate; what it does with its own clients
// is no builtin call of a script, so the check of builtins leaves them alone. Scripts never get hold of these handles.

import { HarnDict, HarnHandle, family } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'

const loopClients = family<{ numbers: number[] }>('loop_clients', () => ({ numbers: [] }))

function readNumber(client: Value | undefined): number | null {
  if (!(client instanceof HarnHandle) || client.kind !== 'mcp_client' || !(client.descriptor instanceof HarnDict)) return null
  const number = client.descriptor.get('client')
  return typeof number === 'number' ? number : null
}

export function ownClient(ctx: Context, client: Value): void {
  const number = readNumber(client)
  if (number !== null) ctx.state(loopClients).numbers.push(number)
}

export function disownClient(ctx: Context, client: Value): void {
  const state = ctx.state(loopClients)
  const number = readNumber(client)
  state.numbers = state.numbers.filter((each) => each !== number)
}

export function isLoopClient(ctx: Context, client: Value | undefined): boolean {
  const number = readNumber(client)
  return number !== null && ctx.state(loopClients).numbers.includes(number)
}
