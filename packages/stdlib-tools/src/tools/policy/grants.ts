// Grants at run time: which of them apply to a call, what they add to its arguments, and whether they
// refuse it. The rules themselves are the compiler's (`@bridle/compiler/grants`); here is where grants come from:
//
//   the host's ceiling       MachineOptions.ceiling; outermost, the same after a restore as the host then says
//   ceilings of imports      `@grant_import`; of the module whose function makes the call, wherever that was called
//   pushed scopes            `with_grants`, `@grant`, grants of tool ids; with the task that opened them, inherited by its children
//   the alias of the call    `use tool` with its grants, narrowed by blocks
//   the tool's own entry     key `grants` of tool_define
//
// Every scope must allow a call. A key names an alias, a tool id, a family (`http`) or a pattern (`http.*`, `*`). Effects of
// builtins count as calls of the tool that does the same (`http_get` is `http.get`), so that a grant binds both.

import { popScope, pushScope, listScopes } from '../../library/task-scopes.js'
import { toCall } from './effect-calls.js'
import { isGuarded } from './grant-ceiling.js'
import type { EffectAsCall, PlainRecord } from '@bridle/vm/families'
import type { GrantCeiling } from './grant-ceiling.js'
import { CONSTRAINT_RULES, GRANT_CEILING } from './grant-ceiling.js'
import {
  HarnDict,
  HarnList,
  UNTRACED,
  builtin,
  family,
  frame,
  fromPlain,
  isCallable,
  makeThrown,
  toPlain,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Control, Effect, Fault, FrameState, Plain, Result, Value } from '@bridle/vm/families'
import {
  addConstraint,
  checkGrant,
  constraintProblem,
  keyKind,
  leavesEffect,
  foldKind,
  normalEffect,
  listPinnedArguments,
  executorOf,
} from '@bridle/compiler/grants'
import type { GrantRecord, GrantValue, GrantViolation, GrantedTool, ImportCeiling } from '@bridle/compiler/grants'
import { makeToolError } from '../../library/tool-errors.js'
import { isMentionedBy, isNamedBy, makeNamed } from '../dispatch/identity.js'
import type { Named } from '../dispatch/identity.js'
import type { CallFacts } from '../../library/tool-errors.js'
import { listUses, withArguments } from '../../library/effects/index.js'
import type { Use } from '../../library/effects/index.js'

/** Calls made under each budget, by the scope's id and key; numbers of scopes opened and of effects refused. */
const grantState = family('grants', (): { scopes: number; denied: number; spent: Map<string, number> } => ({
  scopes: 0,
  denied: 0,
  spent: new Map(),
}))

/** One grant that applies to a call. `id` tells budgets apart. */
export interface AppliedGrant {
  readonly id: string
  readonly scope: 'host' | 'import' | 'scope' | 'alias' | 'tool'
  readonly grant: GrantRecord
}

export interface GrantedCall {
  /** What is called. */
  readonly named: Named
  /** Grants of the alias and of the entry. */
  readonly own: readonly AppliedGrant[]
}

// ---------------------------------------------------------------------------------------------------------- what applies

const NO_HOST_REASON = 'no grant of the host allows it'

/** Why the host's grants allow no such call at all; null when they do. A name that only the script gave is no reason to allow it. */
export function refuseByDefault(ceiling: GrantCeiling, named: Named, isEffect: boolean): string | null {
  for (const { grants, defaultDeny } of ceiling) {
    if (defaultDeny !== true && !(defaultDeny === 'effects' && isEffect)) continue
    if (!Object.keys(grants).some((key) => isNamedBy(key, named))) return NO_HOST_REASON
  }
  return null
}

/** Outermost first; the text instead when the host allows no such call at all. */
export function listGrantsFor(
  ctx: Context,
  { named, own }: GrantedCall,
  /** Whether it is a call of a tool, or what an effect makes use of; `implied`: the host has allowed it with something else. */
  as: 'call' | 'effect' | 'implied' = 'call',
): readonly AppliedGrant[] | string {
  const { importCeilings } = ctx.machine
  const grantCeiling = ctx.machine.hostData(GRANT_CEILING)
  const scopes = listScopes(ctx, 'grants')
  if (grantCeiling === null && importCeilings === null && scopes.length === 0) return own
  const found: AppliedGrant[] = []
  const denied = grantCeiling === null || as === 'implied' ? null : refuseByDefault(grantCeiling, named, as === 'effect')
  if (denied !== null) return denied
  for (const [at, { grants }] of (grantCeiling ?? []).entries()) {
    for (const key of Object.keys(grants))
      if (isMentionedBy(key, named)) found.push({ id: `host:${at}:${key}`, scope: 'host', grant: grants[key]! })
  }
  for (const { module, grants } of importCeilings ?? []) {
    for (const key of Object.keys(grants))
      if (isMentionedBy(key, named)) found.push({ id: `import:${module}:${key}`, scope: 'import', grant: grants[key]! })
  }
  for (const scope of scopes) {
    if (!(scope instanceof HarnDict)) continue
    const grants = scope.get('grants')
    if (!(grants instanceof HarnDict)) continue
    for (const key of grants.keys()) {
      if (isMentionedBy(key, named))
        found.push({ id: `scope:${String(scope.get('id'))}:${key}`, scope: 'scope', grant: toRecord(grants.get(key)!) })
    }
  }
  return [...found, ...own]
}

/** A dict as the record that the rules read. Values that are not a constraint stay what they are, and are refused there. */
export function toRecord(value: Value): GrantRecord {
  return value instanceof HarnDict ? (toPlain(value) as GrantRecord) : {}
}

// ------------------------------------------------------------------------------------------------------------- one call

/** Arguments with what the grants pin. */
export function withPins(ctx: Context, applied: readonly AppliedGrant[], args: HarnDict, tool: GrantedTool): HarnDict {
  const constraintRules = ctx.machine.hostData(CONSTRAINT_RULES)
  let filled = args
  for (const { grant } of applied) {
    const pins = Object.entries(
      listPinnedArguments(grant, toPlain(filled) as { readonly [name: string]: unknown }, tool, constraintRules),
    )
    if (pins.length === 0) continue
    filled = filled.copy()
    for (const [name, value] of pins) filled.set(name, fromPlain(value))
  }
  return filled
}

/** The error for a call that a grant refuses, or null. `secret` names arguments whose values no error may show. */
export function refuseByGrants(
  ctx: Context,
  applied: readonly AppliedGrant[],
  args: PlainRecord,
  tool: GrantedTool,
  facts: CallFacts & { readonly alias: string | null; readonly secret: ReadonlySet<string> },
): HarnDict | null {
  const rules = ctx.machine.hostData(CONSTRAINT_RULES)
  const call = { tool: facts.tool, alias: facts.alias }
  for (const { grant, scope } of applied) {
    const violation = checkGrant(grant, args, tool, rules === undefined ? {} : { rules, call })
    if (violation !== null) return makeViolationError(violation, scope, facts)
  }
  return null
}

function makeViolationError(
  violation: GrantViolation,
  scope: AppliedGrant['scope'],
  facts: CallFacts & { readonly alias: string | null; readonly secret: ReadonlySet<string> },
): HarnDict {
  const argument = violation.constraint === 'domain' ? 'url' : violation.constraint
  const isSecret = facts.secret.has(argument)
  const reason = isSecret ? `argument '${argument}' violates its grant` : violation.reason
  const code = violation.constraint === 'domain' ? 'egress_blocked' : 'policy_violation'
  const details = HarnDict.of({
    alias: facts.alias,
    constraint: violation.constraint,
    value: isSecret ? '[redacted]' : fromPlain((violation.value ?? null) as Plain),
    allowed: isSecret ? '[redacted]' : fromPlain(violation.allowed as Plain),
    scope,
  })
  return makeToolError(code, `policy violation for '${facts.alias ?? facts.tool}': ${reason}`, facts, details)
}

/** What budgets limit beside calls: the key of the constraint, and the end of the counter's name. */
const SETTLED = [
  { key: 'max_cost_usd', counter: '#usd', unit: ' USD' },
  { key: 'max_total_tokens', counter: '#tokens', unit: ' tokens' },
] as const

function makeExhaustedError(facts: CallFacts, limit: number, scope: string, unit: string): HarnDict {
  const shown = facts.alias ?? facts.tool
  return makeToolError(
    'budget_exhausted',
    `effect budget exceeded for '${shown}': limit ${limit}${unit} reached`,
    facts,
    HarnDict.of({ effect: shown, limit: fromPlain(limit), scope }),
  )
}

/** What a model call may use at most. */
export interface ModelEstimate {
  readonly inputTokens: number
  /** What it may answer; the budgets may leave less. */
  readonly outputTokens: number
  /** Dollars for one token. */
  readonly inputUsd: number
  readonly outputUsd: number
}

/** What was put aside for a call that is under way: plain data. */
export interface Reservation {
  readonly tokens: number
  readonly usd: number
  /** What the call may answer, so that it stays within all budgets. */
  readonly outputTokens: number
  /** Counters that the amounts were added to. */
  readonly counters: readonly { readonly name: string; readonly isUsd: boolean }[]
}

/**
 * Puts aside what a model call may use, against every budget of tokens and money, before the call is made: calls that run side by side
 * cannot spend the same rest. A call that would exceed the budget gets a smaller answer limit; returns the fault if nothing is left. What is never
 * settled, because its task was stopped, stays spent.
 */
export function reserveModelCall(ctx: Context, effect: Effect, estimate: ModelEstimate): Reservation | Fault {
  const call = toCall(effect)
  const applied = call === null ? [] : listGrantsFor(ctx, { named: makeNamed(call.tool), own: [] }, 'implied')
  const nothing: Reservation = { tokens: 0, usd: 0, outputTokens: estimate.outputTokens, counters: [] }
  if (call === null || typeof applied === 'string') return nothing
  const { spent } = ctx.state(grantState)
  const { inputTokens, inputUsd, outputUsd } = estimate
  const counters: { name: string; isUsd: boolean }[] = []
  let { outputTokens } = estimate
  for (const { id, grant, scope } of applied) {
    for (const { key, counter, unit } of SETTLED) {
      if (grant[key] === undefined) continue
      const isUsd = key === 'max_cost_usd'
      const limit = Number(grant[key])
      const left = limit - (spent.get(`${id}${counter}`) ?? 0)
      const rest = left - inputTokens * (isUsd ? inputUsd : 1)
      const each = isUsd ? outputUsd : 1
      const allowed = each > 0 ? Math.floor(rest / each + 1e-9) : rest >= -1e-9 ? Infinity : 0
      if (!(left > 0) || !(allowed >= Math.min(1, estimate.outputTokens))) {
        const facts = { tool: call.tool, callId: null, attempt: 1, alias: null }
        return makeRefused(ctx, call, makeExhaustedError(facts, limit, scope, unit))
      }
      outputTokens = Math.min(outputTokens, allowed)
      counters.push({ name: `${id}${counter}`, isUsd })
    }
  }
  const tokens = inputTokens + outputTokens
  const usd = inputTokens * inputUsd + outputTokens * outputUsd
  for (const { name, isUsd } of counters) spent.set(name, (spent.get(name) ?? 0) + (isUsd ? usd : tokens))
  return { tokens, usd, outputTokens, counters }
}

/** Books what a call has really used in place of what was put aside for it. It may be more, when the other side does not keep to limits. */
export function settleModelCall(
  ctx: Context,
  reservation: Reservation,
  used: { readonly usd: number; readonly tokens: number },
): void {
  const { spent } = ctx.state(grantState)
  for (const { name, isUsd } of reservation.counters) {
    const change = isUsd ? used.usd - reservation.usd : used.tokens - reservation.tokens
    spent.set(name, Math.max(0, (spent.get(name) ?? 0) + change))
  }
}

/**
 * Counts one call against every budget that applies; the error when one is used up, and then nothing is counted. With `counts` false the
 * call was counted before, and only what calls have used since is looked at.
 */
export function reserveBudgets(
  ctx: Context,
  applied: readonly AppliedGrant[],
  facts: CallFacts,
  {
    counts = true,
    usd = 0,
    isReserved = false,
  }: {
    readonly counts?: boolean
    /** What the call is known to cost. */
    readonly usd?: number
    /** Tokens and money were put aside for it (reserveModelCall). */
    readonly isReserved?: boolean
  } = {},
): HarnDict | null {
  const { spent } = ctx.state(grantState)
  const makeExhausted = (limit: number, scope: string, unit: string): HarnDict => makeExhaustedError(facts, limit, scope, unit)
  for (const { id, grant, scope } of applied) {
    for (const { key, counter, unit } of isReserved ? [] : SETTLED) {
      const limit = grant[key]
      if (limit === undefined) continue
      const used = spent.get(`${id}${counter}`) ?? 0
      if (used >= Number(limit) || (key === 'max_cost_usd' && used + usd > Number(limit) + 1e-9))
        return makeExhausted(Number(limit), scope, unit)
    }
    const calls = grant['max_calls']
    if (counts && calls !== undefined && (spent.get(id) ?? 0) >= Number(calls)) return makeExhausted(Number(calls), scope, '')
  }
  if (counts) for (const { id, grant } of applied) if (grant['max_calls'] !== undefined) spent.set(id, (spent.get(id) ?? 0) + 1)
  return null
}

/** What a call uses up, by name of the counter, or the error when a budget does not have it; counts nothing. */
export function countCall(
  ctx: Context,
  applied: readonly AppliedGrant[],
  facts: CallFacts,
  usd: number,
): { readonly [counter: string]: number } | HarnDict {
  const { spent } = ctx.state(grantState)
  const counts: { [counter: string]: number } = {}
  for (const { id, grant, scope } of applied) {
    const calls = grant['max_calls']
    if (calls !== undefined && (spent.get(id) ?? 0) >= Number(calls)) return makeExhaustedError(facts, Number(calls), scope, '')
    if (calls !== undefined) counts[id] = 1
    for (const { key, counter } of SETTLED)
      if (key === 'max_cost_usd' && grant[key] !== undefined) counts[`${id}${counter}`] = usd
  }
  return reserveBudgets(ctx, applied, facts, { counts: false, usd }) ?? counts
}

/** Counts what `countCall` gave. */
export function bookCounts(ctx: Context, counts: { readonly [counter: string]: number }): void {
  const { spent } = ctx.state(grantState)
  for (const [counter, amount] of Object.entries(counts)) spent.set(counter, (spent.get(counter) ?? 0) + amount)
}

/** Books what a call costs that is about to be made, against the grants that apply to it. */
export function settle(
  ctx: Context,
  applied: readonly AppliedGrant[],
  used: { readonly usd: number; readonly tokens: number },
): void {
  if (applied.length === 0) return
  const { spent } = ctx.state(grantState)
  for (const { id, grant } of applied) {
    for (const { key, counter } of SETTLED) {
      const amount = key === 'max_cost_usd' ? used.usd : used.tokens
      if (grant[key] !== undefined) spent.set(`${id}${counter}`, (spent.get(`${id}${counter}`) ?? 0) + amount)
    }
  }
}

/** Counters of the budgets of a machine, for its host: calls by the id of the grant, with `#usd` and `#tokens` behind it the rest. */
export function readBudgetCounters(families: Pick<ReadonlyMap<string, unknown>, 'get'>): ReadonlyMap<string, number> {
  const state = families.get(grantState.name) as { readonly spent: ReadonlyMap<string, number> } | undefined
  return state?.spent ?? new Map()
}

/** The smallest of a limit over all grants; null without one. */
export function findSmallestLimit(applied: readonly AppliedGrant[], key: string): number | null {
  if (applied.length === 0) return null
  const limits = applied.flatMap(({ grant }) => (typeof grant[key] === 'number' ? [grant[key]] : []))
  return limits.length === 0 ? null : Math.min(...limits)
}

/** The limit of grants on the default value of an argument. Infinite without a limit. */
export function findGrantLimit(ctx: Context, tool: string, key: string): number {
  if (!isGuarded(ctx)) return Infinity
  const applied = listGrantsFor(ctx, { named: makeNamed(tool), own: [] }, 'implied')
  return (typeof applied === 'string' ? null : findSmallestLimit(applied, key)) ?? Infinity
}

// ----------------------------------------------------------------------------------------------------- effects of builtins

/** Field of a task: the standard tool that its builtin carries out at present. */
export const STANDARD_CALL = 'tool.standard'

/** Whether the gate in front of tools has judged the effect (tool-gate.ts); it says so by the key of what it judged. */
function isJudgedByGate({ args }: Effect): boolean {
  return typeof args.identity === 'string'
}

/** Facts of the process that scripts read; others are only read internally. */
const TOLD_FACTS: ReadonlySet<Plain | undefined> = new Set([
  'env',
  'args',
  'hostname',
  'username',
  'home',
  'pid',
  'exe',
  'platform',
  'arch',
])

/** The name of what an effect does, as ceilings know it; null for what they leave alone. */
function findCeilingName({ kind, args, own }: Effect): string | null {
  if (own === true || (kind === 'process.info' && !TOLD_FACTS.has(args.op))) return null
  return foldKind(kind)
}

/**
 * The error for an effect that the importers of the calling module do not leave to it, or null. Where a ceiling names hosts, paths or
 * programs, an effect that has none to compare is refused too.
 */
function refuseBeyondImport(ctx: Context, effect: Effect, call: EffectAsCall | null): HarnDict | null {
  const { importCeilings } = ctx.machine
  const name = importCeilings === null ? null : findCeilingName(effect)
  if (importCeilings === null || name === null) return null
  for (const ceiling of importCeilings) {
    if (leavesEffect(ceiling, name, effect.kind) && (call !== null || !(name in ceiling.grants))) continue
    return makeBeyondCeiling(ceiling, name, { tool: call?.tool ?? effect.kind, callId: null, attempt: 1 })
  }
  return null
}

export function makeBeyondCeiling({ module, effects }: ImportCeiling, name: string, facts: CallFacts): HarnDict {
  const details = HarnDict.of({
    alias: facts.alias ?? null,
    constraint: name,
    value: null,
    allowed: new HarnList([...(effects ?? [])]),
    scope: 'import',
    module,
  })
  const reason = `the import of "${module}" does not allow ${name}`
  return makeToolError('policy_violation', `policy violation for '${facts.alias ?? facts.tool}': ${reason}`, facts, details)
}

/** The first of the named effects that an importer of the calling module does not leave to it, or null. */
export function findEffectBeyondImport(
  ctx: Context,
  effects: readonly string[],
): { readonly ceiling: ImportCeiling; readonly name: string } | null {
  const { importCeilings } = ctx.machine
  if (importCeilings === null) return null
  for (const written of effects) {
    const name = normalEffect(written)
    const ceiling = name === null ? undefined : importCeilings.find((each) => !leavesEffect(each, name, written))
    if (ceiling !== undefined) return { ceiling, name: name! }
  }
  return null
}

/**
 * The fault for an effect that a grant refuses, or null; counts it against the budgets. With `judge` it is not counted: for
 * builtins that ask before they look at their mocks. With `count` only that, for what a mock answers.
 */
export function findEffectFault(ctx: Context, effect: Effect, mode: 'both' | 'judge' | 'count' = 'both'): Fault | null {
  const isJudged = isJudgedByGate(effect)
  const call = isJudged ? null : toCall(effect)
  const beyond = mode === 'count' || isJudged ? null : refuseBeyondImport(ctx, effect, call)
  if (beyond !== null) return makeRefused(ctx, call ?? { tool: effect.kind, args: {} }, beyond)
  if (mode !== 'count') {
    for (const [at, use] of listUses(effect).entries()) {
      if (isJudged && at === 0 && use.isCall !== false) continue
      const error = useRefused(ctx, use, at === 0, effect)
      if (error !== null) {
        const secret = toCall(effect)?.secret ?? []
        return makeRefused(
          ctx,
          { tool: use.tool ?? effect.kind, args: at === 0 && call !== null ? call.args : use.args, secret },
          error,
        )
      }
    }
  }
  if (call === null || mode === 'judge') return null
  const applied = listGrantsFor(ctx, { named: makeNamed(call.tool), own: [] }, 'implied')
  // What a standard tool asks for has been counted as a call of that tool.
  const counted = ctx.machine.task().fields.has(STANDARD_CALL)
  const settings = { counts: !counted, isReserved: effect.kind === 'llm.call' }
  const exhausted = typeof applied === 'string' ? null : reserveBudgets(ctx, applied, makeUseFacts(call.tool), settings)
  return exhausted === null ? null : makeRefused(ctx, call, exhausted)
}

function makeUseFacts(tool: string) {
  return { tool, callId: null, attempt: 1, alias: null, secret: NO_SECRETS }
}

/** The error when a grant refuses one use of an effect. */
function useRefused(ctx: Context, use: Use, isFirst: boolean, effect: Effect): HarnDict | null {
  const { tool } = use
  if (tool === null) return null
  const { secrets } = effect.args
  const marked = Array.isArray(secrets) ? new Set(secrets.map(String)) : NO_SECRETS
  const facts = { ...makeUseFacts(tool), secret: marked }
  const applied = listGrantsFor(ctx, { named: makeNamed(tool), own: [] }, use.implied === true ? 'implied' : 'effect')
  if (typeof applied === 'string') return makeToolError('policy_violation', `policy violation for '${tool}': ${applied}`, facts)
  if (applied.length === 0) return null
  const { fields } = ctx.machine.task()
  // The arguments of a standard tool were judged, under their own names, when it was called.
  const wasJudged = isFirst && fields.get(STANDARD_CALL) === tool
  const unknown = use.unknown ?? {}
  const judged = applied.map((each) => {
    const keys = Object.entries(each.grant)
    return wasJudged ? { ...each, grant: Object.fromEntries(keys.filter(([key]) => isSeen(key, use) || key in unknown)) } : each
  })
  return refuseByGrants(
    ctx,
    judged,
    fillArguments(judged, use),
    { knows: () => false, base: null, isEffect: true, unknown },
    facts,
  )
}

/** Constraints on an argument that the use has, or on none. */
function isSeen(key: string, { args }: Use): boolean {
  return keyKind(key) !== 'pin' || Object.hasOwn(args, key)
}

/** The arguments of a use with the pins that can be put in. */
function fillArguments(applied: readonly AppliedGrant[], { args, fills = {} }: Use): { readonly [name: string]: Plain } {
  const more: { [name: string]: Plain } = {}
  for (const name of Object.keys(fills)) {
    const value = args[name] === undefined ? findPin(applied, name) : undefined
    if (value !== undefined) more[name] = value
  }
  return { ...args, ...more }
}

/** The one value that grants pin an argument to, or the least of their limits; undefined when they leave it open. */
function findPin(applied: readonly AppliedGrant[], name: string): Plain | undefined {
  if (keyKind(name) === 'limit') return findSmallestLimit(applied, name) ?? undefined
  const pinned = applied.find(({ grant }) => grant[name] !== undefined && !Array.isArray(grant[name]))
  return pinned?.grant[name] as Plain | undefined
}

/** The effect with missing arguments filled in from pins and limits of its grants. */
export function withEffectPins(ctx: Context, effect: Effect): Effect {
  let args: PlainRecord = effect.args
  for (const use of listUses(effect)) {
    if (use.tool === null || use.fills === undefined) continue
    const applied = listGrantsFor(ctx, { named: makeNamed(use.tool), own: [] }, 'implied')
    if (typeof applied === 'string' || applied.length === 0) continue
    // The file is looked up once, in the host's own PATH, and that file is started.
    if (effect.kind === 'process.exec' && applied.some(({ grant }) => grant['program'] !== undefined))
      args = { ...args, judged: true }
    const given = fillArguments(applied, use)
    for (const [name, path] of Object.entries(use.fills))
      if (use.args[name] === undefined && given[name] !== undefined) args = putAt(args, path, given[name])
  }
  return args === effect.args ? effect : withArguments(effect, args)
}

function putAt(args: PlainRecord, [key, ...rest]: readonly string[], value: Plain): PlainRecord {
  if (key === undefined) return args
  const inner = args[key]
  const record = typeof inner === 'object' && inner !== null ? (inner as PlainRecord) : {}
  return { ...args, [key]: rest.length === 0 ? value : putAt(record, rest, value) }
}

function makeRefused(ctx: Context, { tool, args, secret }: EffectAsCall, error: HarnDict): Fault {
  tellDenied(ctx, tool, args, error, secret)
  return makeThrown(error)
}

/** A call that was refused is in the trace as well. */
export function traceDenied(ctx: Context, tool: string, args: Value, error: HarnDict, secret: readonly string[]): void {
  if (ctx.machine.traced !== null) tellDenied(ctx, tool, toPlainArguments(args), error, secret)
}

function toPlainArguments(args: Value): Plain {
  try {
    return toPlain(args)
  } catch {
    return '<nested too deeply>'
  }
}

function tellDenied(ctx: Context, tool: string, args: Plain, error: HarnDict, secret: readonly string[] = []): void {
  const { traced } = ctx.machine
  const { fields } = ctx.machine.task()
  if (traced !== null && fields.get(UNTRACED) !== true) {
    const parent = fields.get('tool.call')
    traced({
      kind: 'tool_call',
      tool,
      alias: null,
      version: null,
      executor: executorOf('builtin'),
      callId: `denied_${++ctx.state(grantState).denied}`,
      parent: typeof parent === 'string' ? parent : null,
      task: ctx.machine.taskNumber,
      args,
      policy: null,
      secret,
      attempts: 0,
      startedMs: ctx.now,
      endedMs: ctx.now,
      outcome: { ok: false, code: String(error.get('code')), message: String(error.get('message')), denied: true },
    })
  }
}

const NO_SECRETS: ReadonlySet<string> = new Set()

// -------------------------------------------------------------------------------------------------------------- scopes

/** The error in a dict of grants by tool; null if it is valid. */
function findProblem(ctx: Context, grants: Value): string | null {
  if (!(grants instanceof HarnDict)) return `grants must be a dict of dicts, got ${typeName(grants)}`
  for (const tool of grants.keys()) {
    const grant = grants.get(tool)!
    if (!(grant instanceof HarnDict)) return `grants of '${tool}' must be a dict, got ${typeName(grant)}`
    const problem = findGrantProblem(ctx, tool, grant)
    if (problem !== null) return problem
  }
  return null
}

export function findGrantProblem(ctx: Context, tool: string, grant: HarnDict): string | null {
  for (const [key, value] of Object.entries(toRecord(grant))) {
    const problem =
      value === null ? 'constraint must not be nil' : constraintProblem(key, value, ctx.machine.hostData(CONSTRAINT_RULES))
    if (problem !== null) return `${key} ${problem} (grant of '${tool}')`
  }
  return null
}

/** Opens a scope, or gives the fault for grants that cannot be understood. */
function open(ctx: Context, label: string, grants: Value): Control | null {
  const problem = findProblem(ctx, grants)
  if (problem !== null)
    return ctx.throw(makeToolError('grant_invalid', `${label}: ${problem}`, { tool: '', callId: null, attempt: 0 }))
  const state = ctx.state(grantState)
  state.scopes++
  pushScope(ctx, 'grants', HarnDict.of({ id: state.scopes, grants }))
  return null
}

interface ScopeState extends FrameState {
  stage: 'open' | 'body'
  readonly grants: Value
  readonly body: Value
  opened: boolean
}

const scopeFrame = frame<ScopeState>({
  kind: 'grants.scope',
  runBoundary: false,
  step: (ctx, state) => {
    if (state.stage === 'body') return ctx.result
    const refused = open(ctx, 'with_grants', state.grants)
    if (refused !== null) return refused
    state.opened = true
    state.stage = 'body'
    return ctx.call(state.body, [])
  },
  onLeave: (ctx, state) => {
    if (state.opened) popScope(ctx, 'grants')
  },
})

// ------------------------------------------------------------------------------------------------------------- aliases

/**
 * What an alias stands for, as a dict: {alias, tool, server, version, effects, grants: [dict of each scope, outermost first]}.
 * `id` tells the budgets of two bindings apart.
 */
function bind(ctx: Context, spec: Value): Result {
  if (!(spec instanceof HarnDict)) return ctx.runtime('tool_use: a binding must be a dict')
  const state = ctx.state(grantState)
  state.scopes++
  return spec.with('id', state.scopes)
}

function narrowBinding(ctx: Context, binding: Value, grant: Value): Result {
  if (!(binding instanceof HarnDict) || !(grant instanceof HarnDict)) return ctx.runtime('grant: a binding and a dict are needed')
  const problem = findGrantProblem(ctx, String(binding.get('alias') ?? ''), grant)
  if (problem !== null) return ctx.runtime(`grant: ${problem}`)
  const scopes = binding.get('grants')
  return binding.with('grants', new HarnList([...(scopes instanceof HarnList ? scopes.view() : []), grant]))
}

/** The grants of an alias, one a scope. */
export function listAliasGrants(binding: HarnDict): readonly AppliedGrant[] {
  const scopes = binding.get('grants')
  if (!(scopes instanceof HarnList)) return []
  const id = String(binding.get('id') ?? 0)
  return scopes.view().map((grant, at) => ({ id: `alias:${id}:${at}`, scope: 'alias' as const, grant: toRecord(grant) }))
}

/** Grants of one scope as one dict; the error text when two disagree. */
function mergeGrants(ctx: Context, list: Value): Result {
  let grant: GrantRecord = {}
  for (const each of list instanceof HarnList ? list.view() : []) {
    for (const [key, value] of Object.entries(toRecord(each)) as [string, GrantValue][]) {
      const added = addConstraint(grant, key, value, ctx.machine.hostData(CONSTRAINT_RULES))
      if (added.conflict !== null) return ctx.runtime(`ConflictingGrant: ${key} is given twice with different values`)
      grant = added.grant
    }
  }
  return fromPlain(grant as Plain)
}

export const grantsFamily: BuiltinFamily = {
  name: 'grants',
  frames: [scopeFrame],
  builtins: [
    // What `grant` statements become (lower.ts). No text can spell these names: code that could end a scope would have more power than its caller gave.
    builtin('__grants_push!(grants: dict) -> nil', { doc: 'Opens a scope of grants by tool.', effects: [] }, (ctx, grants) =>
      open(ctx, 'grant', grants ?? null),
    ),
    builtin('__grants_pop!() -> nil', { doc: 'Ends the scope of grants that was opened last.', effects: [] }, (ctx) => {
      popScope(ctx, 'grants')
      return null
    }),
    builtin(
      '__grants_scope(grants: dict, body: closure) -> any',
      { doc: 'Runs `body` under further grants by tool.', effects: ['callback'] },
      (ctx, grants, body) =>
        isCallable(body ?? null)
          ? ctx.frame('grants.scope', { stage: 'open', grants: grants ?? null, body: body!, opened: false } satisfies ScopeState)
          : ctx.runtime(`with_grants: body must be a closure, got ${typeName(body ?? null)}`),
    ),
    builtin('__grants_merge(grants: list) -> dict', { doc: 'Grants of one scope as one.', effects: [] }, (ctx, list) =>
      mergeGrants(ctx, list ?? null),
    ),
    builtin('__tool_binding(spec: dict) -> dict', { doc: 'What an alias of a tool stands for.', effects: [] }, (ctx, spec) =>
      bind(ctx, spec ?? null),
    ),
    builtin(
      '__tool_use(id: string, spec: dict) -> dict',
      { doc: 'As __tool_binding, for an id that is data.', effects: ['tool.call'] },
      (ctx, id, spec) =>
        spec instanceof HarnDict
          ? bind(
              ctx,
              spec
                .with('tool', id ?? null)
                .with('server', false)
                .with('grants', new HarnList([])),
            )
          : ctx.runtime('tool_use: a binding must be a dict'),
    ),
    builtin(
      '__tool_narrowed(binding: dict, grant: dict) -> dict',
      { doc: 'A binding under one more grant.', effects: [] },
      (ctx, binding, grant) => narrowBinding(ctx, binding ?? null, grant ?? null),
    ),
    builtin(
      '__tool_alias(binding: dict) -> closure',
      { doc: 'The function by which a script calls a bound tool.', effects: [] },
      (ctx, binding) =>
        binding instanceof HarnDict && binding.get('server') === true
          ? ctx.machine.closureOver('__tool_server_call', [binding], ['name', 'args', 'options'])
          : ctx.machine.closureOver('__tool_alias_call', [binding ?? null], ['args', 'options']),
    ),
  ],
}
