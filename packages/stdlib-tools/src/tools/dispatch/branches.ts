// A run that is continued from a snapshot twice is two runs from there on, which make calls of the same numbers with other
// arguments. Services recognise a repeated call by its key, so what a branch asks for first is named by that branch as well; what was
// under way before keeps the key that it had.

import { defineHostSlot } from '@bridle/vm/families'
import type { Context } from '@bridle/vm/families'

/** One resume of a snapshot. */
export interface RunBranch {
  /** Unique among the resumes of a run. */
  readonly name: string
  /** The first effect and the first tool call that belong to it. */
  readonly effect: number
  readonly call: number
}

/** Where the run was continued from a snapshot, oldest first. Said again with a restore and a replay. */
export const RUN_BRANCHES = defineHostSlot<readonly RunBranch[]>('run_branches', [])

/** The family of state that counts tool calls (dispatch.ts). */
export const TOOL_CALLS = 'tool_calls'

/** What a call is known by to services, within its run: its id, with the branch that began it. */
export function makeCallKey(ctx: Context, callId: string): string {
  const branches = ctx.machine.hostData(RUN_BRANCHES)
  if (branches.length === 0) return callId
  const number = Number(callId.slice(callId.lastIndexOf('_') + 1))
  const branch = branches.findLast(({ call }) => call <= number)
  return branch === undefined ? callId : `${branch.name}:${callId}`
}
