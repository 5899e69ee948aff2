// Dynamic permissions: reading a config, the scopes in force and the grants that were given in them, and the matching of patterns.
// permissions.harn asks the scopes about a call, because matchers and escalations are called back.
//
// A scope is a dict {id, label, allow, deny, on_escalation}; `allow` and `deny` are lists of rules {pattern, matcher}. Its id
// names the session grants that were given in it.

import { popScope, pushScope, listScopes } from '../../library/task-scopes.js'
import { HarnDict, HarnList, display, family, isCallable, stringifySorted, typeName } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listEveryName, readCalled } from '../dispatch/identity.js'
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

/** The value of the first key that exists, even if it is nil. */
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

/** Whether the arguments are those that a matcher that is not a closure is about. */
function fitsMatcher(matcher: Value, args: Value): boolean {
  if (matcher === null || typeof matcher === 'boolean') return matcher ?? true
  if (matcher instanceof HarnList) return matchesAny(matcher, listStrings(args))
  const byKey = matcher as HarnDict // readMatcher knows no others
  const given = args instanceof HarnDict ? args.get(byKey.get('key') as string) : args
  return typeof given === 'string' && matchesAny(byKey.get('patterns') as HarnList, [given])
}

/** A call as session grants name it. */
function makeGrantKey({ identity }: CalledTool, args: Value): string {
  return `${listEveryName(identity).join(' ')}\u0000${stringifySorted(args)}`
}

function addSessionGrant(ctx: Context, scope: number, call: string): void {
  const { granted } = ctx.state(sessionGrants)
  ctx.charge(1, call.length)
  granted.set(scope, [...(granted.get(scope) ?? []), call])
}

export const permissionPrimitives: readonly BuiltinDef[] = [
  definePrimitive('__permission_scopes() -> list<dict>', 'Scopes of permissions in force, outermost first.', (ctx) => {
    return new HarnList(listScopes(ctx, 'permissions').filter((scope) => scope instanceof HarnDict))
  }),
  definePrimitive(
    '__permission_key(called: dict, args: any) -> string',
    'A call as session grants name it.',
    (_ctx, called, args) => makeGrantKey(readCalled(called!), args ?? null),
  ),
  definePrimitive(
    '__names_match(pattern: string, names: list<string>) -> bool',
    'Whether a pattern on names of tools is about one of the names.',
    (_ctx, pattern, names) => (names as HarnList).view().some((name) => matchesGlob(pattern as string, name as string)),
  ),
  definePrimitive(
    '__fits_matcher(matcher: any, args: any) -> bool',
    'Whether the arguments are those that a matcher that is no closure is about.',
    (_ctx, matcher, args) => fitsMatcher(matcher ?? null, args ?? null),
  ),
  definePrimitive(
    '__has_session_grant(scope: int, call: string) -> bool',
    'Whether the call was granted for the rest of the scope.',
    (ctx, scope, call) =>
      ctx
        .findState(sessionGrants)
        ?.granted.get(Number(scope))
        ?.includes(call as string) ?? false,
  ),
  definePrimitive(
    '__add_session_grant(scope: int, call: string) -> nil',
    'Grants a call for the rest of the scope.',
    (ctx, scope, call) => {
      addSessionGrant(ctx, Number(scope), call as string)
      return null
    },
  ),
]
