// Requests to people.

import type { Plain } from '@bridle/vm'

export const APPROVAL_KINDS = ['question', 'approval', 'dual_control', 'escalation', 'permission'] as const
export type ApprovalKind = (typeof APPROVAL_KINDS)[number]

export interface ApprovalRequest {
  /** By which a response names it; unique within a run. */
  readonly id: string
  readonly kind: ApprovalKind
  readonly payload: { readonly [key: string]: Plain }
  readonly runId: string
  /** What is asked, in few words: the prompt of a question, the action, the tool. */
  readonly prompt: string
  /** Of a permission: the call as it will be made. */
  readonly call?: ApprovalCall
}

export interface ApprovalCall {
  /** As the script calls it. */
  readonly tool: string
  /** What is carried out: `host:shop.order`, `mcp:files/write`, `effect:fs.write`. */
  readonly identity: string
  readonly version: string | null
  readonly args: { readonly [name: string]: Plain }
  /** SHA-256 over identity, version, schemas and arguments. */
  readonly binding: string
  /** Later answers are refused. */
  readonly expiresAt: string
}
