// A run that is gone on with from a snapshot twice is two runs from there on, which make calls of the same numbers with other
// arguments. Services recognise a repeated call by its key, so what a branch asks for first is named by that branch as well; what was
// under way before keeps the key that it had.

import type { Context } from './builtin.js'

/** The family of state that counts tool calls (tool-dispatch.ts). */
export const TOOL_CALLS = 'tool_calls'

/** What a call is known by to services, within its run: its id, with the branch that began it. */
export function keyOfCall(ctx: Context, callId: string): string {
  const { branches } = ctx.machine
  if (branches.length === 0) return callId
  const number = Number(callId.slice(callId.lastIndexOf('_') + 1))
  const branch = branches.findLast(({ call }) => call <= number)
  return branch === undefined ? callId : `${branch.name}:${callId}`
}
