// Grants and their effect on calls. A grant is a record of constraints by key:
//
//   domain                        host patterns (domain.ts) that the argument `url` must match
//   path, paths                   roots (paths.ts) that the arguments `path`, `paths`, `from`, `to` … must lie below
//   timeout_ms                    limit of the argument of that name and of every attempt
//   max_retries                   limit of the tool's own retry policy
//   max_calls, max_cost_usd,      budgets of the alias (they count; this file does not)
//   max_total_tokens
//   max_…                         limit of the argument of the same name
//   version                       version of the tool (version.ts)
//   effect, effects               effects that the alias may have, for the checker
//   a key of the host             a custom constraint (ConstraintRule)
//   anything else                 the argument of that name must have this value, or one of a list
//
// Within one scope, grants are merged (`addConstraint`): the smallest limit, all patterns, equal pins. Between scopes nothing is merged:
// a call must satisfy every scope that applies, so an inner scope can only narrow.

import { domainProblem, matchDomain } from './domain.js'
import { allowsPath } from './paths.js'

export type GrantScalar = string | number | bigint | boolean
export type GrantValue = GrantScalar | readonly GrantScalar[]
export type GrantRecord = { readonly [key: string]: GrantValue }

/** A custom constraint of a host. Its functions must be pure: equal answers for equal data, in every replay. */
export interface ConstraintRule {
  /** The problem of a value, for a message after the key; null when it is valid. */
  readonly problem: (value: GrantValue) => string | null
  /** How two grants of one scope are merged. */
  readonly merge: 'min' | 'max' | 'union' | 'equal'
  /** Why a call is refused; null when it may be made. */
  readonly refuses: (value: GrantValue, args: GrantArguments, call: ConstrainedCall) => string | null
}

export interface ConstrainedCall {
  readonly tool: string
  /** The script's alias for the tool, if any. */
  readonly alias: string | null
}

export type ConstraintRules = ReadonlyMap<string, ConstraintRule>

const NO_RULES: ConstraintRules = new Map()

type KeyKind = 'domain' | 'path' | 'limit' | 'budget' | 'version' | 'effects' | 'pin'

/** Arguments that a `path` constraint checks, besides those that the tool annotates. */
const PATH_ARGUMENTS = ['path', 'paths', 'from', 'to', 'source', 'destination', 'src', 'dst', 'cwd', 'dir', 'file']

export function keyKind(key: string): KeyKind {
  switch (key) {
    case 'domain':
    case 'domains':
      return 'domain'
    case 'path':
    case 'paths':
      return 'path'
    case 'version':
      return 'version'
    case 'effect':
    case 'effects':
      return 'effects'
    case 'max_calls':
    case 'max_cost_usd':
    case 'max_total_tokens':
    case 'max_retries':
      return 'budget'
    default:
      return key === 'timeout_ms' || key.startsWith('max_') ? 'limit' : 'pin'
  }
}

const isWhole = (value: GrantValue): boolean =>
  typeof value === 'bigint' ? value >= 0n : typeof value === 'number' && Number.isInteger(value) && value >= 0

function readTexts(value: GrantValue): readonly string[] | null {
  const items = Array.isArray(value) ? (value as readonly GrantScalar[]) : [value as GrantScalar]
  return items.every((item) => typeof item === 'string') ? items : null
}

/** The problem of a constraint, for a message after its key; null when it is valid. */
export function constraintProblem(key: string, value: GrantValue, rules: ConstraintRules = NO_RULES): string | null {
  const rule = rules.get(key)
  if (rule !== undefined) return rule.problem(value)
  switch (keyKind(key)) {
    case 'domain': {
      const patterns = readTexts(value)
      if (patterns === null) return 'constraint must be a string'
      for (const pattern of patterns) {
        const problem = domainProblem(pattern)
        if (problem !== null) return `pattern ${formatValue(pattern)} ${problem}`
      }
      return patterns.length === 0 ? 'constraint must not be empty' : null
    }
    case 'path':
    case 'effects':
      return readTexts(value) === null ? 'constraint must be a string or a list of strings' : null
    case 'version':
      return typeof value === 'string' ? null : 'constraint must be a string'
    case 'limit':
      return isWhole(value) ? null : 'constraint must be an integer'
    case 'budget':
      if (key === 'max_cost_usd') return typeof value === 'number' && value >= 0 ? null : 'constraint must be a number'
      return isWhole(value) ? null : 'constraint must be an integer'
    case 'pin':
      if (key === 'temperature') {
        const numbers = (Array.isArray(value) ? value : [value]) as readonly GrantScalar[]
        return numbers.every((item) => typeof item === 'number' && item >= 0 && item <= 2)
          ? null
          : 'constraint must be a number from 0 to 2'
      }
      return null
  }
}

const toList = (value: GrantValue): readonly GrantScalar[] =>
  Array.isArray(value) ? (value as readonly GrantScalar[]) : [value as GrantScalar]

const union = (a: GrantValue, b: GrantValue): GrantValue => {
  const all = [...toList(a)]
  for (const item of toList(b)) if (!all.some((known) => same(known, item))) all.push(item)
  return all.length === 1 && !Array.isArray(a) ? all[0]! : all
}

export interface GrantConflict {
  readonly key: string
  readonly before: GrantValue
  readonly now: GrantValue
}

/** Adds one constraint to a scope's grant. `conflict` is null when the two agree. */
export function addConstraint(
  grant: GrantRecord,
  key: string,
  value: GrantValue,
  rules: ConstraintRules = NO_RULES,
): { readonly grant: GrantRecord; readonly conflict: GrantConflict | null } {
  const before = grant[key]
  if (before === undefined) return { grant: { ...grant, [key]: value }, conflict: null }
  const rule = rules.get(key)
  if (rule !== undefined) {
    if (rule.merge === 'equal')
      return { grant, conflict: jsonText(before) === jsonText(value) ? null : { key, before, now: value } }
    if (rule.merge === 'union') return { grant: { ...grant, [key]: union(before, value) }, conflict: null }
    return { grant: { ...grant, [key]: value < before === (rule.merge === 'min') ? value : before }, conflict: null }
  }
  switch (keyKind(key)) {
    case 'domain':
    case 'path':
    case 'effects':
      return { grant: { ...grant, [key]: union(before, value) }, conflict: null }
    case 'limit':
    case 'budget':
      return { grant: { ...grant, [key]: (value as number) < (before as number) ? value : before }, conflict: null }
    case 'version':
    case 'pin':
      if (Array.isArray(before) || Array.isArray(value))
        return { grant: { ...grant, [key]: union(before, value) }, conflict: null }
      return same(before as GrantScalar, value as GrantScalar)
        ? { grant, conflict: null }
        : { grant, conflict: { key, before, now: value } }
  }
}

/** A key for which two scopes have no common value, as far as the grants show; null when one may exist. */
export function findEmptiedKey(outer: GrantRecord, inner: GrantRecord, rules: ConstraintRules = NO_RULES): string | null {
  for (const [key, value] of Object.entries(inner)) {
    const given = outer[key]
    if (given === undefined || rules.has(key)) continue
    const kind = keyKind(key)
    if (kind === 'pin' && !toList(given).some((item) => toList(value).some((each) => same(item, each)))) return key
    if (kind === 'domain' && !toList(given).some((a) => toList(value).some((b) => overlap(String(a), String(b))))) return key
  }
  return null
}

/** Whether two host patterns have a host in common. */
function overlap(a: string, b: string): boolean {
  const bare = (pattern: string): string =>
    pattern
      .toLowerCase()
      .replace(/^\*{1,2}\./, '')
      .replace(/:\d+$/, '')
  if (bare(a) === '*' || bare(b) === '*' || bare(a) === bare(b)) return true
  return (a.startsWith('*') && bare(b).endsWith(`.${bare(a)}`)) || (b.startsWith('*') && bare(a).endsWith(`.${bare(b)}`))
}

// --- calls ---------------------------------------------------------------------------------------------------------------

/** Arguments as plain data; values that are not scalars are read only if a constraint needs them. */
export type GrantArguments = { readonly [name: string]: unknown }

/** Facts from the schema of the tool. */
export interface GrantedTool {
  /** Whether the input schema has a property of that name. */
  readonly knows: (argument: string) => boolean
  /** Arguments with paths or URLs, besides the usual ones. */
  readonly pathArguments?: readonly string[]
  readonly urlArguments?: readonly string[]
  /** Base folder of relative paths; null when unknown. */
  readonly base: string | null
  /** The arguments are those of an effect: missing ones are not filled in, so a pinned argument must be present. */
  readonly isEffect?: boolean
  /** Arguments with unknown values, with the reason. */
  readonly unknown?: { readonly [argument: string]: string }
}

/** Arguments that a grant fills in if the call has none: pinned values and limits, if the schema has the property. */
export function listPinnedArguments(
  grant: GrantRecord,
  args: GrantArguments,
  tool: GrantedTool,
  rules: ConstraintRules = NO_RULES,
): { readonly [name: string]: GrantScalar } {
  const added: { [name: string]: GrantScalar } = {}
  for (const [key, value] of Object.entries(grant)) {
    const kind = keyKind(key)
    if ((kind !== 'pin' && kind !== 'limit') || rules.has(key) || Object.hasOwn(args, key) || !tool.knows(key)) continue
    const [only, more] = toList(value)
    if (only !== undefined && more === undefined) added[key] = only
  }
  return added
}

export interface GrantViolation {
  /** The key of the constraint. */
  readonly constraint: string
  /** The argument that broke it; undefined when it is missing. */
  readonly value: unknown
  readonly allowed: GrantValue
  readonly reason: string
}

/** The first constraint that a call breaks, in order of keys; null when it breaks none. */
export function checkGrant(
  grant: GrantRecord,
  args: GrantArguments,
  tool: GrantedTool,
  {
    rules = NO_RULES,
    call = { tool: '', alias: null },
  }: { readonly rules?: ConstraintRules; readonly call?: ConstrainedCall } = {},
): GrantViolation | null {
  for (const key of Object.keys(grant).sort()) {
    const allowed = grant[key]!
    const rule = rules.get(key)
    const violation = rule === undefined ? checkConstraint(key, allowed, args, tool) : checkRule(rule, key, allowed, args, call)
    if (violation !== null) return violation
  }
  return null
}

function checkRule(
  rule: ConstraintRule,
  key: string,
  allowed: GrantValue,
  args: GrantArguments,
  call: ConstrainedCall,
): GrantViolation | null {
  const problem = rule.problem(allowed)
  const reason = problem === null ? rule.refuses(allowed, args, call) : `${key} ${problem}`
  return reason === null ? null : { constraint: key, value: args[key], allowed, reason }
}

function checkConstraint(key: string, allowed: GrantValue, args: GrantArguments, tool: GrantedTool): GrantViolation | null {
  const makeViolation = (value: unknown, reason: string): GrantViolation => ({ constraint: key, value, allowed, reason })
  const problem = constraintProblem(key, allowed)
  if (problem !== null) return makeViolation(undefined, `${key} ${problem}`)
  switch (keyKind(key)) {
    case 'domain': {
      const { url } = args
      const hidden = tool.unknown?.['url']
      if (hidden !== undefined) return makeViolation(url, `the address cannot be judged: ${hidden}`)
      if (typeof url !== 'string') return makeViolation(url, "domain policy requires string 'url' argument")
      const patterns = readTexts(allowed)!
      const urls = [url, ...(tool.urlArguments ?? []).map((name) => args[name]).filter((each) => typeof each === 'string')]
      const outside = urls.find((each) => !patterns.some((pattern) => matchDomain(pattern, each)))
      return outside === undefined
        ? null
        : makeViolation(outside, `domain ${patterns.map(formatValue).join(', ')} does not allow ${formatValue(outside)}`)
    }
    case 'path': {
      const roots = readTexts(allowed)!
      const names = new Set([...PATH_ARGUMENTS, ...(tool.pathArguments ?? [])])
      const paths = [...names].flatMap((name) => (Object.hasOwn(args, name) ? args[name] : []) as unknown)
      if (paths.length === 0) return makeViolation(undefined, `${key} policy requires a path argument`)
      const outside = paths.find((path) => typeof path !== 'string' || !roots.some((root) => allowsPath(root, path, tool.base)))
      return outside === undefined
        ? null
        : makeViolation(outside, `path ${formatValue(outside)} is not below ${roots.map(formatValue).join(', ')}`)
    }
    case 'limit': {
      const value = args[key]
      const why = tool.unknown?.[key]
      if (why !== undefined) return makeViolation(undefined, `argument '${key}' cannot be judged: ${why}`)
      if (value === undefined || value === null) return null
      if (typeof value !== 'number' && typeof value !== 'bigint')
        return makeViolation(value, `${key} ${formatValue(value)} is not a number`)
      return value > (allowed as number)
        ? makeViolation(value, `${key} ${String(value)} exceeds allowed ${String(allowed)}`)
        : null
    }
    case 'pin': {
      const value = args[key]
      const why = tool.unknown?.[key]
      if (why !== undefined) return makeViolation(undefined, `argument '${key}' cannot be judged: ${why}`)
      if (value === undefined)
        return tool.isEffect === true
          ? makeViolation(undefined, `argument '${key}' must be ${formatRequired(allowed)}, and the call does not say it`)
          : null
      if (toList(allowed).some((item) => same(item, value))) return null
      return makeViolation(value, `argument '${key}' value ${jsonText(value)} violates required ${formatRequired(allowed)}`)
    }
    case 'budget':
    case 'version':
    case 'effects':
      return null
  }
}

function formatRequired(allowed: GrantValue): string {
  return Array.isArray(allowed) ? toList(allowed).map(jsonText).join(' or ') : jsonText(allowed)
}

/** Equal as JSON data: 1, 1n and 1.0 are one number. */
function same(a: unknown, b: unknown): boolean {
  return normal(a) === normal(b)
}

function normal(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : jsonText(value)
}

function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? String(value)
  } catch {
    return String(value)
  }
}
