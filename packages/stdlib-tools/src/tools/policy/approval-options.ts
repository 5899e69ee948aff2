// `approve` of createRuntime: which calls of scripts need approval, and who asks.

import { constraintProblem, keyKind } from '@bridle/compiler/grants'
import type { ConstraintRules, GrantRecord } from '@bridle/compiler/grants'
import type { ApprovalRecord, ApprovalScope } from './grant-ceiling.js'
import { GrantError } from './grant-error.js'
import { APPROVAL_MS } from './approval-time.js'
import { isSideEffect } from './side-effects.js'
import { SIDE_EFFECTS } from '../../library/effects/index.js'
import { SECURITY_LEVELS, isSecurityLevel } from './level-order.js'
import type { SecurityLevel } from './level-order.js'
import type { SideEffect } from '../../library/effects/index.js'
import type { AskPerson } from './host-approval.js'
import { grantScope } from './host-grants.js'
import type { ToolGrant } from './host-grants.js'

/** A call needs approval if it matches all keys of a rule. */
export interface ApprovalRule {
  /** Names, as keys of grants (`shop.order`, `shop`, `mcp.files.*`, `*`). Builtins go by the tool that does the same: `fs.write`. */
  readonly tools?: string | readonly string[]
  /** Effects: `fs.write`, or all of an area: `process`. */
  readonly effects?: string | readonly string[]
  /** This one or more: `none`, `read_only`, `workspace_write`, `process_exec`, `network`. */
  readonly sideEffect?: SideEffect
  /** This one or more: `safe`, `restricted`, `privileged`. */
  readonly level?: SecurityLevel
  /** Calls within these argument constraints need no approval: `{ max_cents: 1000, currency: 'EUR' }`. */
  readonly unless?: ToolGrant
}

export interface ApproveOptions {
  /** Everything that may change something (`sideEffect: 'workspace_write'`) when absent. */
  readonly rules?: ApprovalRule | readonly ApprovalRule[]
  /** Returns the answer. Without it the run waits for `runtime.approvals.respond`. */
  readonly ask?: AskPerson
  /** How long an answer counts after its question, in milliseconds; a day when absent. */
  readonly expiresMs?: number
}

/** A function without rules is asked about every call that may change something. */
export type Approve = ApprovalRule | readonly ApprovalRule[] | ApproveOptions | AskPerson

const CHANGES: ApprovalRule = { sideEffect: 'workspace_write' }

/** Raises GrantError for a rule that cannot be understood: a misspelt rule must not be a missing one. */
export function readApprove(
  given: Approve,
  rules?: ConstraintRules,
): { readonly scope: ApprovalScope; readonly ask: AskPerson | null } {
  const options: ApproveOptions =
    typeof given === 'function' ? { ask: given } : isOptions(given) ? given : { rules: given as ApprovalRule }
  const { rules: said = CHANGES, ask = null, expiresMs = APPROVAL_MS, ...more } = options
  const unknown = Object.keys(more)[0]
  if (unknown !== undefined) throw new GrantError(`approve: unknown option "${unknown}"; it has rules, ask and expiresMs`)
  if (ask !== null && typeof ask !== 'function') throw new GrantError('approve: ask must be a function')
  const list = Array.isArray(said) ? (said as readonly ApprovalRule[]) : [said as ApprovalRule]
  return { scope: makeApprovalScope(list, expiresMs, rules), ask }
}

function isOptions(given: Exclude<Approve, AskPerson>): given is ApproveOptions {
  return !Array.isArray(given) && ['rules', 'ask', 'expiresMs'].some((key) => Object.hasOwn(given, key))
}

/** Raises GrantError. */
export function makeApprovalScope(given: readonly ApprovalRule[], expiresMs: unknown, rules?: ConstraintRules): ApprovalScope {
  if (typeof expiresMs !== 'number' || !(expiresMs > 0))
    throw new GrantError(`approve: expiresMs must be a number of milliseconds above 0, got ${String(expiresMs)}`)
  return { rules: given.map((rule) => readRule(rule, rules)), expiresMs: Math.min(expiresMs, APPROVAL_MS) }
}

function readRule(rule: ApprovalRule, rules: ConstraintRules | undefined): ApprovalRecord {
  if (typeof rule !== 'object' || rule === null) throw new GrantError(`approve: a rule is an object, got ${JSON.stringify(rule)}`)
  const { tools, effects, sideEffect, level, unless, ...more } = rule
  const unknown = Object.keys(more)[0]
  if (unknown !== undefined)
    throw new GrantError(`approve: unknown key "${unknown}"; a rule has tools, effects, sideEffect, level and unless`)
  if (sideEffect !== undefined && !isSideEffect(sideEffect))
    throw new GrantError(`approve: sideEffect is one of ${SIDE_EFFECTS.join(', ')}, got ${JSON.stringify(sideEffect)}`)
  if (level !== undefined && !isSecurityLevel(level))
    throw new GrantError(`approve: level is one of ${SECURITY_LEVELS.join(', ')}, got ${JSON.stringify(level)}`)
  if (tools === undefined && effects === undefined && sideEffect === undefined && level === undefined)
    throw new GrantError(
      `approve: a rule says which calls it is about: tools, effects, sideEffect or level; tools: '*' is all of them`,
    )
  return {
    ...(tools === undefined ? {} : { tools: readNames(tools, 'tools') }),
    ...(effects === undefined ? {} : { effects: readNames(effects, 'effects') }),
    ...(sideEffect === undefined ? {} : { sideEffect }),
    ...(level === undefined ? {} : { level }),
    ...(unless === undefined ? {} : { unless: readConstraints(unless, rules) }),
  }
}

function readNames(given: string | readonly string[], key: string): readonly string[] {
  const names: readonly unknown[] = typeof given === 'string' ? [given] : given
  if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === 'string' && name !== ''))
    throw new GrantError(`approve: ${key} is a name or a list of names, got ${JSON.stringify(given)}`)
  return names as readonly string[]
}

/** Only what says something about arguments: a budget or a version lets no call pass. */
function readConstraints(unless: ToolGrant, rules: ConstraintRules | undefined): GrantRecord {
  const record = grantScope({ unless }, false, rules).grants['unless']!
  for (const [key, value] of Object.entries(record)) {
    const isRule = rules?.has(key) === true
    const kind = keyKind(key)
    const problem = constraintProblem(key, value, rules)
    if (problem !== null) throw new GrantError(`approve: unless.${key} ${problem}`)
    if (!isRule && !['domain', 'path', 'limit', 'pin'].includes(kind))
      throw new GrantError(`approve: unless.${key} is no constraint of an argument`)
  }
  if (Object.keys(record).length === 0) throw new GrantError('approve: unless has no constraint')
  return record
}
