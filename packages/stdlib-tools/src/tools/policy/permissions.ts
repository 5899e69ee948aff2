// Dynamic permissions: which tools an agent may call with which arguments, decided by patterns and by closures of
// the script, and what a person or another closure says when a call is denied. Reading a config is here, and the evaluation
// as a script (scripted.ts), because matchers and escalations are called back.
//
// A scope is a dict {id, label, allow, deny, on_escalation}; `allow` and `deny` are lists of rules {pattern, matcher}. Its id
// names the session grants that were given in it.

import { popScope, pushScope, listScopes } from '../../library/task-scopes.js'
import {
  HarnDict,
  HarnList,
  callBack,
  display,
  failRuntime,
  family,
  runHere,
  isCallable,
  isTruthy,
  stringifySorted,
  typeName,
} from '@bridle/vm/families'
import type { Context, Script, Value } from '@bridle/vm/families'
import { listEveryName } from '../dispatch/identity.js'
import type { CalledTool } from '../dispatch/identity.js'
import { matchesGlob } from './tool-policy.js'

/** Grants for the rest of a scope: `tool` + arguments as sorted JSON, by scope. */
const sessionGrants = family<{ scopes: number; granted: Map<number, string[]> }>('permission_grants', () => ({
  scopes: 0,
  granted: new Map(),
}))

/** A config that cannot be read, with the message of the runtime error. */
export class PermissionsError extends Error {
  override readonly name = 'PermissionsError'
}

const makeRule = (pattern: string, matcher: Value): HarnDict => HarnDict.of({ pattern, matcher })

function readTextList(value: HarnList, label: string, what = 'list'): HarnList {
  for (const item of value.view())
    if (typeof item !== 'string') throw new PermissionsError(`${label}: ${what} entries must be strings`)
  return value
}

/** A matcher in its checked form: nil, bool, list of patterns, closure, or {key, patterns}. */
function readMatcher(value: Value, label: string): Value {
  if (value === null || typeof value === 'boolean' || isCallable(value)) return value
  if (typeof value === 'string') return new HarnList([value])
  if (value instanceof HarnList) return readTextList(value, label, 'pattern list')
  if (!(value instanceof HarnDict)) throw new PermissionsError(`${label}: unsupported matcher type ${typeName(value)}`)
  const named = findFirst(value, 'arg_key', 'key')
  const key = named === undefined ? '' : display(named)
  const patterns = findFirst(value, 'patterns', 'arg_patterns', 'allow')
  if (key === '' || patterns === undefined) {
    throw new PermissionsError(`${label}: dict matchers must include arg_key and patterns`)
  }
  const list = typeof patterns === 'string' ? new HarnList([patterns]) : patterns
  if (!(list instanceof HarnList) || list.view().some((item) => typeof item !== 'string')) {
    throw new PermissionsError(`${label}: patterns must be a string or list of strings`)
  }
  return HarnDict.of({ key, patterns: list })
}

/** The value of the first key that is there, nil too. */
function findFirst(dict: HarnDict, ...keys: readonly string[]): Value | undefined {
  const key = keys.find((each) => dict.has(each))
  return key === undefined ? undefined : dict.get(key)
}

/** Patterns of tools are read without the blanks around them; a blank one is none. */
function readRules(value: Value, label: string): HarnList {
  if (value === null) return new HarnList([])
  if (value instanceof HarnList) return makeRules(readTextList(value, label).view() as readonly string[], () => null)
  if (!(value instanceof HarnDict)) throw new PermissionsError(`${label}: expected a list or dict, got ${typeName(value)}`)
  return makeRules(value.keys(), (pattern) => readMatcher(value.get(pattern)!, `${label}.${pattern}`))
}

function makeRules(patterns: readonly string[], matcher: (pattern: string) => Value): HarnList {
  const rules = patterns.map((pattern) => ({ pattern: pattern.trim(), matcher: matcher(pattern) }))
  return new HarnList(rules.filter(({ pattern }) => pattern !== '').map((each) => makeRule(each.pattern, each.matcher)))
}

/** Raises PermissionsError. `label` is whose option it is, such as `agent_loop`. */
export function readPermissions(value: Value, label: string): HarnDict {
  if (!(value instanceof HarnDict)) throw new PermissionsError(`${label}: permissions must be a dict`)
  const escalation = value.get('on_escalation') ?? null
  // Agent loops pass over what they cannot call, as in the reference.
  if (label === 'with_policies' && escalation !== null && !isCallable(escalation))
    throw new PermissionsError(`${label}.on_escalation: expected a closure, got ${typeName(escalation)}`)
  return HarnDict.of({
    allow: readRules(value.get('allow') ?? null, `${label}.allow`),
    deny: readRules(value.get('deny') ?? null, `${label}.deny`),
    on_escalation: isCallable(escalation) ? escalation : null,
  })
}

export function pushPermissions(ctx: Context, permissions: HarnDict): void {
  const grants = ctx.state(sessionGrants)
  pushScope(ctx, 'permissions', permissions.with('id', ++grants.scopes))
}

export function popPermissions(ctx: Context): void {
  const ended = popScope(ctx, 'permissions')
  if (ended instanceof HarnDict) ctx.state(sessionGrants).granted.delete(Number(ended.get('id')))
}

// --------------------------------------------------------------------------------------------------------------- matching

/** Every string anywhere in the arguments; the arguments as JSON when there is none. */
function listStrings(args: Value): string[] {
  const found: string[] = []
  const pending: Value[] = [args]
  while (pending.length > 0) {
    const value = pending.pop()!
    if (typeof value === 'string') found.push(value)
    else if (value instanceof HarnList) for (const item of [...value.view()].reverse()) pending.push(item)
    else if (value instanceof HarnDict) for (const key of [...value.keys()].reverse()) pending.push(value.get(key)!)
  }
  return found.length > 0 ? found : [stringifySorted(args)]
}

const matchesAny = (patterns: HarnList, texts: readonly string[]): boolean =>
  patterns.view().some((pattern) => texts.some((text) => matchesGlob(pattern as string, text)))

function* matches(matcher: Value, args: Value): Script<boolean> {
  if (matcher === null || typeof matcher === 'boolean') return matcher ?? true
  if (matcher instanceof HarnList) return matchesAny(matcher, listStrings(args))
  if (matcher instanceof HarnDict) {
    const given = args instanceof HarnDict ? args.get(matcher.get('key') as string) : args
    return typeof given === 'string' && matchesAny(matcher.get('patterns') as HarnList, [given])
  }
  return isTruthy(yield* callBack(matcher, args))
}

/** The pattern of the first rule that matches the call, or null. */
function* findFirstMatch(rules: Value | undefined, names: readonly string[], args: Value): Script<string | null> {
  for (const each of rules instanceof HarnList ? rules.view() : []) {
    if (!(each instanceof HarnDict)) continue
    const pattern = each.get('pattern') as string
    if (names.some((name) => matchesGlob(pattern, name)) && (yield* matches(each.get('matcher') ?? null, args))) return pattern
  }
  return null
}

// ------------------------------------------------------------------------------------------------------------- evaluation

export interface PermissionVerdict {
  readonly granted: boolean
  readonly reason: string
  /** Transcript events in order: {kind, reason, escalated}. */
  readonly events: readonly PermissionEvent[]
}

export interface PermissionEvent {
  readonly kind: 'PermissionGrant' | 'PermissionDeny' | 'PermissionEscalation'
  readonly reason: string
  readonly escalated: boolean
}

interface Escalated {
  readonly granted: boolean
  readonly session: boolean
  readonly reason: string
}

const GRANTED = 'permission escalation granted'
const DENIED = 'permission escalation denied'

function readEscalation(answer: Value): Escalated {
  const of = (grant: Value, reason: string | null, odd: string): Escalated => {
    if (typeof grant === 'string' && grant !== 'once' && grant !== 'session')
      failRuntime(`permissions on_escalation unsupported grant scope '${grant}'`)
    if (typeof grant !== 'boolean' && typeof grant !== 'string')
      failRuntime(`permissions on_escalation ${odd}, got ${typeName(grant)}`)
    const granted = grant !== false
    return { granted, session: grant === 'session', reason: reason ?? (granted ? GRANTED : DENIED) }
  }
  if (!(answer instanceof HarnDict)) return of(answer ?? false, null, "must return false, true, 'once', 'session', or {grant}")
  const reason = answer.get('reason')
  const grant = answer.get('grant') ?? answer.get('granted')
  // A grant that is missing denies; one that is nil says nothing that could be meant.
  const given = grant === undefined && !answer.has('grant') && !answer.has('granted') ? false : (grant ?? null)
  return of(given, typeof reason === 'string' ? reason : null, "grant must be false, true, 'once', or 'session'")
}

/** Asks every scope, outermost first; the first denial that no escalation lifts ends it. */
export function* evaluatePermissions(called: CalledTool, args: Value, sessionId: Value): Script<PermissionVerdict> {
  const tool = called.shown
  const scopes = yield* runHere((ctx) =>
    listScopes(ctx, 'permissions').filter((scope): scope is HarnDict => scope instanceof HarnDict),
  )
  const events: PermissionEvent[] = []
  let reason = 'no permission scope is installed'
  const call = `${listEveryName(called.identity).join(' ')}\u0000${stringifySorted(args)}`
  for (const scope of scopes) {
    const id = Number(scope.get('id'))
    if (yield* runHere((ctx) => ctx.state(sessionGrants).granted.get(id)?.includes(call) ?? false)) {
      reason = 'session grant'
      continue
    }
    const denial = yield* findDenial(scope, called, args)
    if (denial === null) {
      reason = 'permission allow rule matched'
      continue
    }
    const escalate = scope.get('on_escalation') ?? null
    if (escalate === null) {
      events.push({ kind: 'PermissionDeny', reason: denial, escalated: false })
      return { granted: false, reason: denial, events }
    }
    const asked = HarnDict.of({ _type: 'PermissionRequest', tool, args, session_id: sessionId, reason: denial })
    const answer = readEscalation(yield* callBack(escalate, asked))
    reason = answer.reason
    events.push({ kind: 'PermissionEscalation', reason, escalated: true })
    if (!answer.granted) {
      events.push({ kind: 'PermissionDeny', reason, escalated: true })
      return { granted: false, reason, events }
    }
    if (answer.session) {
      yield* runHere((ctx) => {
        const { granted } = ctx.state(sessionGrants)
        ctx.charge(1, call.length)
        granted.set(id, [...(granted.get(id) ?? []), call])
        return null
      })
    }
  }
  if (scopes.length > 0) events.push({ kind: 'PermissionGrant', reason, escalated: events.length > 0 })
  return { granted: true, reason, events }
}

/** Any name can deny; a name that only the script gave allows nothing. */
function* findDenial(scope: HarnDict, { shown: tool, identity }: CalledTool, args: Value): Script<string | null> {
  const denied = yield* findFirstMatch(scope.get('deny'), listEveryName(identity), args)
  if (denied !== null) return `permission denied by deny rule: ${denied}`
  const allow = scope.get('allow')
  if (!(allow instanceof HarnList) || allow.length === 0 || (yield* findFirstMatch(allow, identity.names, args)) !== null)
    return null
  return `permission denied: tool '${display(tool)}' is not allowed by this agent's permissions`
}
