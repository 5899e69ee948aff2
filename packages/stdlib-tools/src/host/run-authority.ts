// What a run may do, as data: its snapshots and its journal carry it, so that going on never has more power than the run had. What is
// read from there may come from anyone. It therefore only takes away: two authorities are joined by asking both.

import type { ConstraintRules, GrantRecord } from '@bridle/compiler/grants'
import type { BuiltinLists, Plain } from '@bridle/vm'
import type { ApprovalScope, GrantScope } from '../tools/policy/grant-ceiling.js'
import { DEFAULT_LIMITS, SnapshotError, LIMIT_NAMES } from '@bridle/vm'
import { makeApprovalScope } from '../tools/policy/approval-options.js'
import type { ApprovalRule } from '../tools/policy/approval-options.js'
import { GrantError } from '../tools/policy/grant-error.js'
import { isSecurityLevel } from '../tools/policy/level-order.js'
import { isGrant, makeGrants } from './authority.js'
import type { Grant } from './authority.js'
import { plainFromJson, plainToJson } from './journal-codec.js'
import { grantScope } from '../tools/policy/host-grants.js'
import type { ToolGrants } from '../tools/policy/host-grants.js'
import { joinLimits, makeLimits } from './run-limits.js'
import type { RunLimits } from './run-limits.js'

export interface RunAuthority {
  /** Lists of powers: a run has those that are in each of them. */
  readonly grants: readonly (readonly Grant[])[]
  /** Grants of tools, and budgets: every scope must allow a call. */
  readonly scopes: readonly GrantScope[]
  /** Every list must leave a builtin. */
  readonly builtins: readonly BuiltinLists[]
  /** Hashes of the only tools that may be called; null: any. */
  readonly pins: { readonly [tool: string]: string } | null
  /** Whether the run is held to the manifest of its program. */
  readonly isHeld: boolean
  /** What the host says about its providers (RuntimeOptions.confinement); null: nothing. */
  readonly confinement: Plain
  /** Budgets of the run; null in records of versions without them. */
  readonly limits: RunLimits | null
}

/** What a host's providers confine runs to. */
export interface Confinement {
  /** As data, for snapshots and journals. */
  readonly facts: Plain
  /** Whether these providers let a run do no more than those that `facts` were written by. */
  readonly isWithin: (facts: Plain) => boolean
}

/** Of two scopes, or other plain data. */
export const isSameData = (a: unknown, b: unknown): boolean => formatData(a) === formatData(b)
const formatData = (value: unknown): string => JSON.stringify(plainToJson(value as Plain))

/** What both allow. Scopes of `before` keep their places, because counters of budgets go by them. */
export function joinAuthorities(before: RunAuthority, now: RunAuthority): RunAuthority {
  const uniteLists = <T>(a: readonly T[], b: readonly T[]): readonly T[] => [
    ...a,
    ...b.filter((one) => !a.some((each) => isSameData(each, one))),
  ]
  return {
    grants: uniteLists(before.grants, now.grants),
    scopes: uniteLists(before.scopes, now.scopes),
    builtins: uniteLists(before.builtins, now.builtins),
    pins: joinPins(before.pins, now.pins),
    isHeld: before.isHeld || now.isHeld,
    confinement: now.confinement,
    limits: joinLimits(before.limits, now.limits),
  }
}

function joinPins(a: RunAuthority['pins'], b: RunAuthority['pins']): RunAuthority['pins'] {
  if (a === null || b === null) return a ?? b
  return Object.fromEntries(Object.entries(a).filter(([tool, hash]) => Object.hasOwn(b, tool) && b[tool] === hash))
}

/** In words, one line each, what `now` allows that `before` did not; empty when it is no wider. Errs on the side of listing too much. */
export function listWidenings(before: RunAuthority, now: RunAuthority, kinds: readonly string[]): readonly string[] {
  const [had, has] = [makeGrants(before), makeGrants(now)]
  const powers = kinds.filter((kind) => has.allows(kind as never) && !had.allows(kind as never))
  const scopes = before.scopes.filter((scope) => !now.scopes.some((each) => isSameData(scope, each)))
  const builtins = before.builtins.filter((list) => !now.builtins.some((each) => isSameData(list, each)))
  return [
    ...(powers.length === 0 ? [] : [`powers: ${powers.join(', ')}`]),
    ...scopes.map((scope) => `grants no longer hold: ${formatData(scope)}`),
    ...builtins.map((list) =>
      'deny' in list
        ? `builtins no longer denied: ${list.deny.join(', ')}`
        : `builtins beside ${list.allow.join(', ') || 'the core'}`,
    ),
    ...(before.pins !== null && !isSameData(before.pins, now.pins) ? ['tools are no longer held to the lock file'] : []),
    ...(before.isHeld && !now.isHeld ? ['the run is no longer held to the manifest of its program'] : []),
    ...listWidenedLimits(before.limits, now.limits),
  ]
}

function listWidenedLimits(before: RunLimits | null, now: RunLimits | null): readonly string[] {
  if (before === null || now === null) return []
  return LIMIT_NAMES.filter((name) => now[name] > before[name]).map(
    (name) => `limit of ${name}: ${now[name]}, before ${before[name]}`,
  )
}

// ---- as data -------------------------------------------------------------------------------------------------------------

/** For documents that keep data as it is and should be small (snapshots). */
export function authorityToPlain({ grants, scopes, builtins, pins, isHeld, confinement, limits }: RunAuthority): Plain {
  return [grants, scopes, builtins, pins, isHeld, confinement, limits === null ? null : limitsToPlain(limits)] as unknown as Plain
}

/** Null for a default, and nothing for the defaults at the end: most runs have no others. */
function limitsToPlain(limits: RunLimits): Plain {
  const told = LIMIT_NAMES.map((name) => (limits[name] === DEFAULT_LIMITS[name] ? null : limits[name]))
  return told.slice(0, told.findLastIndex((limit) => limit !== null) + 1)
}

function limitsFromPlain(raw: unknown): RunLimits {
  const told = list(raw)
  return makeLimits((name) => {
    const limit = told[LIMIT_NAMES.indexOf(name)] ?? DEFAULT_LIMITS[name]
    if (typeof limit !== 'number' || !(limit >= 0)) throw makeMissingError(`a limit of ${name}`)
    return limit
  })
}

/** For JSON. */
export function authorityToJson(authority: RunAuthority): unknown {
  return plainToJson(authority as unknown as Plain)
}

/** Raises SnapshotError. */
export function authorityFromJson(raw: unknown): RunAuthority {
  const { grants, scopes, builtins, pins, isHeld, confinement, limits } = record(plainFromJson(raw))
  const told = limits === undefined || limits === null ? null : LIMIT_NAMES.map((name) => record(limits)[name])
  return authorityFromPlain([grants, scopes, builtins, pins, isHeld, confinement, told])
}

/**
 * Raises SnapshotError for what is none. Powers that this version does not know are left out: they give nothing. Values of constraints
 * are looked at by `readHeldScopes`, which knows those of the host.
 */
export function authorityFromPlain(raw: unknown): RunAuthority {
  const [grants, scopes, builtins, pins, isHeld, confinement, limits] = list(raw)
  return {
    grants: list(grants).map((names) => list(names).filter((name): name is Grant => typeof name === 'string' && isGrant(name))),
    scopes: list(scopes).map(readScope),
    builtins: list(builtins).map((each) => {
      const { allow, deny } = record(each)
      if (deny !== undefined) return { deny: readTexts(deny) }
      return { allow: readTexts(allow) }
    }),
    pins: pins === null ? null : Object.fromEntries(Object.entries(record(pins)).map(([tool, hash]) => [tool, readText(hash)])),
    isHeld: isHeld !== false,
    confinement: (confinement ?? null) as Plain,
    limits: limits === undefined || limits === null ? null : limitsFromPlain(limits),
  }
}

function readScope(raw: unknown): GrantScope {
  const { grants, defaultDeny, level, approve } = record(raw)
  if (level !== undefined && !isSecurityLevel(level)) throw makeMissingError('a security level')
  const tools: { [tool: string]: GrantRecord } = Object.create(null) as { [tool: string]: GrantRecord }
  for (const [tool, grant] of Object.entries(record(grants))) {
    for (const value of Object.values(record(grant))) {
      const items = Array.isArray(value) ? (value as readonly unknown[]) : [value]
      if (!items.every((item) => ['string', 'number', 'bigint', 'boolean'].includes(typeof item)))
        throw makeMissingError('a constraint')
    }
    tools[tool] = grant as GrantRecord
  }
  return {
    grants: tools,
    ...(defaultDeny === undefined || defaultDeny === false
      ? {}
      : { defaultDeny: defaultDeny === 'effects' ? ('effects' as const) : true }),
    ...(level === undefined ? {} : { level }),
    ...(approve === undefined ? {} : { approve: readApprovalScope(approve) }),
  }
}

/** Throws SnapshotError: unreadable rules must not count as absent. */
function readApprovalScope(raw: unknown): ApprovalScope {
  try {
    const { rules, expiresMs } = record(raw)
    return makeApprovalScope(list(rules) as readonly ApprovalRule[], expiresMs)
  } catch (cause) {
    if (cause instanceof GrantError) throw makeMissingError(`a rule of approvals (${cause.message})`)
    throw cause
  }
}

/** The scopes that were read, with constraints that can be understood. Raises SnapshotError. */
export function readHeldScopes({ scopes }: RunAuthority, rules?: ConstraintRules): readonly GrantScope[] {
  try {
    return scopes.map(({ grants, defaultDeny, level, approve }) => ({
      ...grantScope(grants as ToolGrants, defaultDeny, rules),
      ...(level === undefined ? {} : { level }),
      ...(approve === undefined ? {} : { approve }),
    }))
  } catch (cause) {
    throw new SnapshotError('damaged', `its authority is damaged: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function record(raw: unknown): { readonly [key: string]: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw makeMissingError('a record')
  return raw as { readonly [key: string]: unknown }
}

function list(raw: unknown): readonly unknown[] {
  if (!Array.isArray(raw)) throw makeMissingError('a list')
  return raw
}

const readTexts = (raw: unknown): readonly string[] => list(raw).map(readText)

function readText(raw: unknown): string {
  if (typeof raw !== 'string') throw makeMissingError('a text')
  return raw
}

function makeMissingError(what: string): SnapshotError {
  return new SnapshotError('damaged', `its authority is damaged: ${what} is missing`)
}
