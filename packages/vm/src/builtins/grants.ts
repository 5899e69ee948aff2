// Grants at run time (reference 05 §2.9–2.15): which of them apply to a call, what they add to its arguments, and whether they
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

import {
  addConstraint,
  checkGrant,
  constraintProblem,
  effectsOfLevel,
  leavesEffect,
  nameOfKind,
  normalEffect,
  pinnedArguments,
} from '@bridle/compiler/grants'
import type { GrantRecord, GrantValue, GrantViolation, GrantedTool, ImportCeiling } from '@bridle/compiler/grants'
import { builtin, family, frame } from './builtin.js'
import { popScope, pushScope, scopesOf } from './policy-scopes.js'
import { toolError } from './tool-errors.js'
import { UNTRACED } from './trace-log.js'
import { thrown } from '../interpreter/fault.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { fromPlain, toPlain } from '../values/plain.js'
import { isCallable, typeName } from '../values/value.js'
import type { Context, Control, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { CallFacts } from './tool-errors.js'
import type { Effect, Plain } from '../effects/effect.js'
import type { Fault } from '../interpreter/fault.js'
import type { Value } from '../values/value.js'

/** What a host allows its run, outermost first; every scope must allow a call. */
export type GrantCeiling = readonly GrantScope[]

export interface GrantScope {
  /** By alias, tool id, family or pattern. */
  readonly grants: { readonly [tool: string]: GrantRecord }
  /** Refuses every call that no key of `grants` names; `effects`: only those that reach the world through builtins. */
  readonly defaultDeny?: boolean | 'effects'
}

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
  /** Null for a call by tool id or entry name. */
  readonly alias: string | null
  readonly tool: string
  /** Grants of the alias and of the entry. */
  readonly own: readonly AppliedGrant[]
}

// ---------------------------------------------------------------------------------------------------------- what applies

export function namesTool(key: string, call: { readonly alias: string | null; readonly tool: string }): boolean {
  if (key === '*' || key === call.alias || key === call.tool) return true
  if (key.endsWith('.*')) return call.tool.startsWith(key.slice(0, -1))
  return call.tool.startsWith(`${key}.`)
}

/** Outermost first; the text instead when the host allows no such call at all. */
export function grantsFor(ctx: Context, call: GrantedCall, isEffect = false): readonly AppliedGrant[] | string {
  const { grantCeiling, importCeilings } = ctx.machine
  const scopes = scopesOf(ctx, 'grants')
  if (grantCeiling === null && importCeilings === null && scopes.length === 0) return call.own
  const found: AppliedGrant[] = []
  for (const [at, { grants, defaultDeny }] of (grantCeiling ?? []).entries()) {
    const named = Object.keys(grants).filter((key) => namesTool(key, call))
    if ((defaultDeny === true || (defaultDeny === 'effects' && isEffect)) && named.length === 0)
      return 'no grant of the host allows it'
    for (const key of named) found.push({ id: `host:${at}:${key}`, scope: 'host', grant: grants[key]! })
  }
  for (const { module, grants } of importCeilings ?? []) {
    for (const key of Object.keys(grants))
      if (namesTool(key, call)) found.push({ id: `import:${module}:${key}`, scope: 'import', grant: grants[key]! })
  }
  for (const scope of scopes) {
    if (!(scope instanceof HarnDict)) continue
    const grants = scope.get('grants')
    if (!(grants instanceof HarnDict)) continue
    for (const key of grants.keys()) {
      if (namesTool(key, call))
        found.push({ id: `scope:${String(scope.get('id'))}:${key}`, scope: 'scope', grant: recordOf(grants.get(key)!) })
    }
  }
  return [...found, ...call.own]
}

/** A dict as the record that the rules read. Values that are no constraint stay what they are, and are refused there. */
export function recordOf(value: Value): GrantRecord {
  return value instanceof HarnDict ? (toPlain(value) as GrantRecord) : {}
}

// ------------------------------------------------------------------------------------------------------------- one call

/** Arguments with what the grants pin. */
export function withPins(ctx: Context, applied: readonly AppliedGrant[], args: HarnDict, tool: GrantedTool): HarnDict {
  const { constraintRules } = ctx.machine
  let filled = args
  for (const { grant } of applied) {
    const pins = Object.entries(
      pinnedArguments(grant, toPlain(filled) as { readonly [name: string]: unknown }, tool, constraintRules),
    )
    if (pins.length === 0) continue
    filled = filled.copy()
    for (const [name, value] of pins) filled.set(name, fromPlain(value))
  }
  return filled
}

/** The error for a call that a grant refuses, or null. `secret` names arguments whose values no error may show. */
export function refusalByGrants(
  ctx: Context,
  applied: readonly AppliedGrant[],
  args: HarnDict,
  tool: GrantedTool,
  facts: CallFacts & { readonly alias: string | null; readonly secret: ReadonlySet<string> },
): HarnDict | null {
  if (applied.length === 0) return null
  const plain = toPlain(args) as { readonly [name: string]: unknown }
  const { constraintRules: rules } = ctx.machine
  const call = { tool: facts.tool, alias: facts.alias }
  for (const { grant, scope } of applied) {
    const violation = checkGrant(grant, plain, tool, rules === undefined ? {} : { rules, call })
    if (violation !== null) return violationError(violation, scope, facts)
  }
  return null
}

function violationError(
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
  return toolError(code, `policy violation for '${facts.alias ?? facts.tool}': ${reason}`, facts, details)
}

/** What budgets limit beside calls: the key of the constraint, and the end of the counter's name. */
const SETTLED = [
  { key: 'max_cost_usd', counter: '#usd', unit: ' USD' },
  { key: 'max_total_tokens', counter: '#tokens', unit: ' tokens' },
] as const

/**
 * Counts one call against every budget that applies; the error when one is used up, and then nothing is counted. With `counts` false the
 * call was counted before, and only what calls have used since is looked at.
 */
export function reserveBudgets(
  ctx: Context,
  applied: readonly AppliedGrant[],
  facts: CallFacts,
  { counts = true, usd = 0 }: { readonly counts?: boolean; /** What the call is known to cost. */ readonly usd?: number } = {},
): HarnDict | null {
  const { spent } = ctx.state(grantState)
  const shown = facts.alias ?? facts.tool
  const exhausted = (limit: number, scope: string, unit: string): HarnDict =>
    toolError(
      'budget_exhausted',
      `effect budget exceeded for '${shown}': limit ${limit}${unit} reached`,
      facts,
      HarnDict.of({ effect: shown, limit: fromPlain(limit), scope }),
    )
  for (const { id, grant, scope } of applied) {
    for (const { key, counter, unit } of SETTLED) {
      const limit = grant[key]
      if (limit === undefined) continue
      const used = spent.get(`${id}${counter}`) ?? 0
      if (used >= Number(limit) || (key === 'max_cost_usd' && used + usd > Number(limit) + 1e-9))
        return exhausted(Number(limit), scope, unit)
    }
    const calls = grant['max_calls']
    if (counts && calls !== undefined && (spent.get(id) ?? 0) >= Number(calls)) return exhausted(Number(calls), scope, '')
  }
  if (counts) for (const { id, grant } of applied) if (grant['max_calls'] !== undefined) spent.set(id, (spent.get(id) ?? 0) + 1)
  return null
}

/** Books what a call has used, against every budget of the scopes around it. It is known afterwards, so the last call may go over. */
export function settleBudgets(ctx: Context, tool: string, used: { readonly usd: number; readonly tokens: number }): void {
  const applied = grantsFor(ctx, { alias: null, tool, own: [] })
  if (typeof applied === 'string') return
  settle(ctx, applied, used)
}

/** The same for a call whose grants are known. */
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
export function budgetCounters(families: Pick<ReadonlyMap<string, unknown>, 'get'>): ReadonlyMap<string, number> {
  const state = families.get(grantState.name) as { readonly spent: ReadonlyMap<string, number> } | undefined
  return state?.spent ?? new Map()
}

/** The smallest of a limit over all grants; null without one. */
export function smallestLimit(applied: readonly AppliedGrant[], key: string): number | null {
  if (applied.length === 0) return null
  const limits = applied.flatMap(({ grant }) => (typeof grant[key] === 'number' ? [grant[key]] : []))
  return limits.length === 0 ? null : Math.min(...limits)
}

// ----------------------------------------------------------------------------------------------------- effects of builtins

export interface EffectAsCall {
  readonly tool: string
  readonly args: { readonly [name: string]: Plain }
}

const READ_OPS: Readonly<Record<string, string>> = {
  exists: 'exists',
  stat: 'stat',
  list: 'list',
  glob: 'glob',
  walk: 'walk',
  realpath: 'stat',
}
const WRITE_OPS: Readonly<Record<string, string>> = { delete: 'remove' }

/** The tool call that an effect amounts to; null for what is no call of the world, or is one already. */
export function effectAsCall(effect: Effect): EffectAsCall | null {
  const { kind, args } = effect
  const op = typeof args['op'] === 'string' ? args['op'] : ''
  const plain = (names: readonly string[]): { readonly [name: string]: Plain } =>
    Object.fromEntries(names.flatMap((name) => (args[name] === undefined || args[name] === null ? [] : [[name, args[name]]])))
  switch (kind) {
    case 'fs.read':
      return { tool: 'fs.read', args: plain(['path']) }
    case 'fs.query':
      return { tool: `fs.${READ_OPS[op] ?? op}`, args: plain(['path']) }
    case 'fs.write':
      return { tool: `fs.${WRITE_OPS[op] ?? op}`, args: plain(['path', 'to']) }
    case 'http.request': {
      const timeout = args['timeoutMs']
      const call = { ...plain(['url']), ...(typeof timeout === 'number' ? { timeout_ms: timeout } : {}) }
      return { tool: `http.${String(args['method'] ?? 'get').toLowerCase()}`, args: call }
    }
    case 'net.stream':
      return args['url'] === undefined ? null : { tool: 'http.stream', args: plain(['url']) }
    case 'process.exec':
      return { tool: 'process.exec', args: plain(['program', 'args', 'cwd', 'shell']) }
    case 'process.info':
      if (op === 'env_all') return { tool: 'env.list', args: {} }
      return op === 'env' ? { tool: 'env.get', args: plain(['name']) } : null
    case 'process.set':
      return op === 'setenv' ? { tool: 'env.set', args: plain(['name']) } : null
    case 'llm.call':
      return { tool: op === 'embed' ? 'llm.embed' : 'llm.chat', args: plain(['model', 'provider', 'max_tokens', 'temperature']) }
    case 'mcp.request': {
      const params = args['params'] as { readonly name?: Plain; readonly arguments?: Plain } | null | undefined
      if (args['method'] !== 'tools/call' || typeof params?.name !== 'string') return null
      const given = params.arguments
      return {
        tool: `mcp.${String(args['name'] ?? args['server'] ?? '')}.${params.name}`,
        args:
          typeof given === 'object' && given !== null && !Array.isArray(given)
            ? (given as { readonly [name: string]: Plain })
            : {},
      }
    }
    case 'host.call':
      return { tool: String(args['name'] ?? ''), args: recordArgs(args['params']) }
    case 'host.tool':
      return op === 'call' ? { tool: String(args['name'] ?? ''), args: recordArgs(args['args']) } : null
    default:
      return null
  }
}

function recordArgs(value: Plain | undefined): { readonly [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [name: string]: Plain })
    : {}
}

/** Constraints that say something about an effect, which has other arguments than the tool of the same name. */
const ON_EFFECTS: ReadonlySet<string> = new Set(['domain', 'path', 'paths', 'timeout_ms', 'model', 'max_tokens', 'temperature'])

/** Whether any grant could refuse an effect of the running task. */
export function isGuarded(ctx: Context): boolean {
  const { grantCeiling, importCeilings } = ctx.machine
  return grantCeiling !== null || importCeilings !== null || scopesOf(ctx, 'grants').length > 0
}

/** Facts of the process that scripts are told; others are looked up on the way to something else. */
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
function ceilingName({ kind, args, own }: Effect): string | null {
  if (own === true || (kind === 'process.info' && !TOLD_FACTS.has(args['op']))) return null
  return nameOfKind(kind)
}

/**
 * The error for an effect that the importers of the calling module do not leave to it, or null. Where a ceiling names hosts, paths or
 * programs, an effect that has none to compare is refused too.
 */
function beyondImport(ctx: Context, effect: Effect, call: EffectAsCall | null): HarnDict | null {
  const { importCeilings } = ctx.machine
  const name = importCeilings === null ? null : ceilingName(effect)
  if (importCeilings === null || name === null) return null
  for (const ceiling of importCeilings) {
    if (leavesEffect(ceiling, name, effect.kind) && (call !== null || !(name in ceiling.grants))) continue
    return beyondCeiling(ceiling, name, { tool: call?.tool ?? effect.kind, callId: null, attempt: 1 })
  }
  return null
}

function beyondCeiling({ module, effects }: ImportCeiling, name: string, facts: CallFacts): HarnDict {
  const details = HarnDict.of({
    alias: facts.alias ?? null,
    constraint: name,
    value: null,
    allowed: new HarnList([...(effects ?? [])]),
    scope: 'import',
    module,
  })
  const reason = `the import of "${module}" does not allow ${name}`
  return toolError('policy_violation', `policy violation for '${facts.alias ?? facts.tool}': ${reason}`, facts, details)
}

/** The same for a tool that something outside the machine carries out, by the effects that its entry names. */
export function toolBeyondImport(ctx: Context, entry: HarnDict, executor: string, facts: CallFacts): HarnDict | null {
  const { importCeilings } = ctx.machine
  if (importCeilings === null || (executor !== 'host_bridge' && executor !== 'mcp_server')) return null
  for (const written of effectsOfEntry(entry, executor)) {
    const name = normalEffect(written)
    const ceiling = name === null ? undefined : importCeilings.find((each) => !leavesEffect(each, name, written))
    if (ceiling !== undefined) return beyondCeiling(ceiling, name!, facts)
  }
  return null
}

function effectsOfEntry(entry: HarnDict, executor: string): readonly string[] {
  const declared = entry.get('effects')
  if (declared instanceof HarnList) return declared.view().map((name) => display(name))
  const annotations = entry.get('annotations')
  const level = annotations instanceof HarnDict ? annotations.get('side_effect_level') : null
  const known = typeof level === 'string' ? effectsOfLevel(level) : null
  return known ?? [executor === 'mcp_server' ? 'mcp' : 'external']
}

/**
 * The fault for an effect that a grant refuses, or null; counts it against the budgets. With `judge` it is not counted: for
 * builtins that ask before they look at their mocks. With `count` only that, for what a mock answers.
 */
export function faultOfEffect(ctx: Context, effect: Effect, mode: 'both' | 'judge' | 'count' = 'both'): Fault | null {
  const call = effectAsCall(effect)
  const beyond = mode === 'count' ? null : beyondImport(ctx, effect, call)
  if (beyond !== null) return refused(ctx, call ?? { tool: effect.kind, args: {} }, beyond)
  if (call === null) return null
  const facts = { tool: call.tool, callId: null, attempt: 1, alias: null, secret: NO_SECRETS }
  const applied = grantsFor(ctx, { alias: null, tool: call.tool, own: [] }, true)
  if (typeof applied === 'string')
    return refused(ctx, call, toolError('policy_violation', `policy violation for '${call.tool}': ${applied}`, facts))
  const { constraintRules: rules } = ctx.machine
  const judged = applied.map((each) => ({
    ...each,
    grant: Object.fromEntries(
      Object.entries(each.grant).filter(
        ([key]) => ON_EFFECTS.has(key) || rules?.has(key) === true || (key !== 'max_calls' && Object.hasOwn(call.args, key)),
      ),
    ),
  }))
  const args = fromPlain(call.args) as HarnDict
  const refusal = mode === 'count' ? null : refusalByGrants(ctx, judged, args, { knows: () => false, base: null }, facts)
  if (refusal !== null) return refused(ctx, call, refusal)
  if (mode !== 'count') {
    for (const also of entailed(effect)) {
      const fault = faultOfEffect(ctx, also, 'judge')
      if (fault !== null) return fault
    }
  }
  // Inside a tool call the call has been counted.
  const counted = ctx.machine.task().fields.has('tool.call')
  const exhausted = mode === 'judge' ? null : reserveBudgets(ctx, applied, facts, { counts: !counted })
  return exhausted === null ? null : refused(ctx, call, exhausted)
}

/** What a request does beside reaching its URL: a proxy is a host too, and a download writes a file. */
function entailed({ kind, args }: Effect): readonly Effect[] {
  const { proxy, saveTo } = args
  const also: Effect[] = []
  if (typeof proxy === 'object' && proxy !== null && 'url' in proxy)
    also.push({ kind, args: { ...args, url: String(proxy.url), proxy: null, saveTo: null } })
  if (typeof saveTo === 'string') also.push({ kind: 'fs.write', args: { op: 'write', path: saveTo } })
  return also
}

function refused(ctx: Context, { tool, args }: EffectAsCall, error: HarnDict): Fault {
  const { traced } = ctx.machine
  const { fields } = ctx.machine.task()
  if (traced !== null && fields.get(UNTRACED) !== true) {
    const parent = fields.get('tool.call')
    traced({
      kind: 'tool_call',
      tool,
      alias: null,
      version: null,
      executor: 'builtin',
      callId: `denied_${++ctx.state(grantState).denied}`,
      parent: typeof parent === 'string' ? parent : null,
      task: ctx.machine.taskNumber,
      args,
      policy: null,
      secret: [],
      attempts: 0,
      startedMs: ctx.now,
      endedMs: ctx.now,
      outcome: { ok: false, code: String(error.get('code')), message: String(error.get('message')), denied: true },
    })
  }
  return thrown(error)
}

const NO_SECRETS: ReadonlySet<string> = new Set()

// -------------------------------------------------------------------------------------------------------------- scopes

/** What is wrong with a dict of grants by tool; null when nothing is. */
function problemOf(ctx: Context, grants: Value): string | null {
  if (!(grants instanceof HarnDict)) return `grants must be a dict of dicts, got ${typeName(grants)}`
  for (const tool of grants.keys()) {
    const grant = grants.get(tool)!
    if (!(grant instanceof HarnDict)) return `grants of '${tool}' must be a dict, got ${typeName(grant)}`
    const problem = grantProblem(ctx, tool, grant)
    if (problem !== null) return problem
  }
  return null
}

export function grantProblem(ctx: Context, tool: string, grant: HarnDict): string | null {
  for (const [key, value] of Object.entries(recordOf(grant))) {
    const problem = value === null ? 'constraint must not be nil' : constraintProblem(key, value, ctx.machine.constraintRules)
    if (problem !== null) return `${key} ${problem} (grant of '${tool}')`
  }
  return null
}

/** Opens a scope, or gives the fault for grants that cannot be understood. */
function open(ctx: Context, label: string, grants: Value): Control | null {
  const problem = problemOf(ctx, grants)
  if (problem !== null)
    return ctx.throw(toolError('grant_invalid', `${label}: ${problem}`, { tool: '', callId: null, attempt: 0 }))
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

function narrowed(ctx: Context, binding: Value, grant: Value): Result {
  if (!(binding instanceof HarnDict) || !(grant instanceof HarnDict)) return ctx.runtime('grant: a binding and a dict are needed')
  const problem = grantProblem(ctx, String(binding.get('alias') ?? ''), grant)
  if (problem !== null) return ctx.runtime(`grant: ${problem}`)
  const scopes = binding.get('grants')
  return binding.with('grants', new HarnList([...(scopes instanceof HarnList ? scopes.view() : []), grant]))
}

/** The grants of an alias, one a scope. */
export function aliasGrants(binding: HarnDict): readonly AppliedGrant[] {
  const scopes = binding.get('grants')
  if (!(scopes instanceof HarnList)) return []
  const id = String(binding.get('id') ?? 0)
  return scopes.view().map((grant, at) => ({ id: `alias:${id}:${at}`, scope: 'alias' as const, grant: recordOf(grant) }))
}

/** Grants of one scope as one dict; the error text when two disagree. */
function merged(ctx: Context, list: Value): Result {
  let grant: GrantRecord = {}
  for (const each of list instanceof HarnList ? list.view() : []) {
    for (const [key, value] of Object.entries(recordOf(each)) as [string, GrantValue][]) {
      const added = addConstraint(grant, key, value, ctx.machine.constraintRules)
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
    builtin('__grants_push(grants: dict) -> nil', { doc: 'Opens a scope of grants by tool.', effects: [] }, (ctx, grants) =>
      open(ctx, 'grant', grants ?? null),
    ),
    builtin('__grants_pop() -> nil', { doc: 'Ends the scope of grants that was opened last.', effects: [] }, (ctx) => {
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
      merged(ctx, list ?? null),
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
      (ctx, binding, grant) => narrowed(ctx, binding ?? null, grant ?? null),
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
