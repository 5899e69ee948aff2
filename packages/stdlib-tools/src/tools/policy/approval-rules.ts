// Which calls of scripts a host wants a person asked about (`approve` of createRuntime). Rules are judged by what is carried out, as every
// rule is: by identity, effects, side effects, level and arguments. Unknown properties count as the most dangerous, so that nothing
// passes for lack of a declaration.

import { checkGrant, keyKind, normalEffect } from '@bridle/compiler/grants'
import type { GrantRecord, GrantedTool } from '@bridle/compiler/grants'
import { toPlain } from '@bridle/vm/families'
import type { Context, Effect, HarnDict, PlainRecord } from '@bridle/vm/families'
import { knowsParameter } from '../definitions/arguments.js'
import { getEntryFacts, toHostEntry } from '../definitions/entry.js'
import { HOST_TOOLS } from '../definitions/entry.js'
import { isMentionedBy, makeNamed } from '../dispatch/identity.js'
import type { CalledTool, Named } from '../dispatch/identity.js'
import { EFFECTS, listUses } from '../../library/effects/index.js'
import type { SideEffect } from '../../library/effects/index.js'
import { matchesGlob } from './tool-policy.js'
import { APPROVAL_SCOPES, CONSTRAINT_RULES } from './grant-ceiling.js'
import type { ApprovalRecord } from './grant-ceiling.js'
import { isAbove } from './level-order.js'
import type { SecurityLevel } from './level-order.js'
import { findEffectLevel } from './security-level.js'
import { rankSideEffect } from './side-effects.js'
import { HOST_NAMES } from '../host-slots.js'

/** What a rule looks at. */
interface JudgedCall {
  /** Several for an effect that makes use of several things. */
  readonly named: readonly Named[]
  readonly effects: readonly string[]
  readonly sideEffect: SideEffect
  readonly level: SecurityLevel
  /** Arguments that constraints are held to, for each of them. */
  readonly parts: () => readonly { readonly args: PlainRecord; readonly tool: GrantedTool }[]
}

/** Whether a rule of the host wants a person asked about a call of a tool. */
export function needsApproval(ctx: Context, tool: CalledTool, args: HarnDict): boolean {
  const scopes = ctx.machine.hostData(APPROVAL_SCOPES)
  if (scopes === null) return false
  const call = describeToolCall(ctx, tool, args)
  // Effects of builtins are approved at the effect.
  return call !== null && scopes.some(({ rules }) => rules.some((rule) => fits(ctx, rule, call)))
}

/** The same of what a builtin is about to do. */
export function effectNeedsApproval(ctx: Context, effect: Effect): boolean {
  const call = describeEffect(effect)
  return (ctx.machine.hostData(APPROVAL_SCOPES) ?? []).some(({ rules }) => rules.some((rule) => fits(ctx, rule, call)))
}

/** How long an answer counts: the shortest time that a scope says. */
export function findApprovalMs(ctx: Context, most: number): number {
  return Math.min(most, ...(ctx.machine.hostData(APPROVAL_SCOPES) ?? []).map(({ expiresMs }) => expiresMs))
}

function describeToolCall(ctx: Context, { identity }: CalledTool, given: HarnDict): JudgedCall | null {
  const { key = null } = identity
  const kind = key === null ? null : key.slice(0, key.indexOf(':'))
  if (kind === 'builtin') return null
  const host = ctx.machine.hostData(HOST_NAMES)
  const id = kind === 'host' ? key!.slice('host:'.length) : null
  const entry = id === null ? undefined : ctx.machine.hostData(HOST_TOOLS)?.get(id)
  const own = entry === undefined ? null : toHostEntry(entry)
  const facts = own === null ? null : getEntryFacts(own)
  const parts = (): ReturnType<JudgedCall['parts']> => [
    {
      args: toPlain(given) as PlainRecord,
      tool: {
        knows: (name) => facts !== null && knowsParameter(facts.parameters, name),
        pathArguments: facts?.paths ?? [],
        urlArguments: facts?.urls ?? [],
        base: null,
      },
    },
  ]
  const named = [identity]
  switch (kind) {
    // A closure of the script, or a target without executor: only its name identifies it, and its effects are judged when they happen.
    case 'harn':
    case 'none':
      return { named, effects: [], sideEffect: 'none', level: 'safe', parts }
    case 'mcp': {
      const isOfHost = !/^mcp:(?:program|unknown):/.test(key!)
      return { named, effects: ['mcp'], sideEffect: 'network', level: isOfHost ? 'restricted' : 'privileged', parts }
    }
    case 'host': {
      const sideEffect = host?.sideEffectOf?.(id!) ?? 'network'
      const level = host?.levelOf?.(id!) ?? 'privileged'
      return { named, effects: readEffects(own) ?? ['external'], sideEffect, level, parts }
    }
    default:
      return {
        named,
        effects: ['external'],
        sideEffect: 'network',
        level: kind === 'native' ? 'restricted' : 'privileged',
        parts,
      }
  }
}

function readEffects(entry: HarnDict | null): readonly string[] | null {
  const declared = entry?.get('effects') ?? null
  const plain = declared === null ? null : toPlain(declared)
  return Array.isArray(plain) ? plain.map(String) : null
}

function describeEffect(effect: Effect): JudgedCall {
  const { kind } = effect
  const uses = listUses(effect)
  const powers = uses.flatMap(({ power }) => (power === undefined ? [] : [power]))
  const sideEffects = [kind, ...powers].map((each) => EFFECTS[each].sideEffect)
  return {
    named: uses.flatMap(({ tool }) => (tool === null ? [] : [makeNamed(tool)])),
    effects: [kind, ...powers],
    sideEffect: sideEffects.reduce((most, each) => (rankSideEffect(each) > rankSideEffect(most) ? each : most)),
    level: findEffectLevel(effect),
    parts: () =>
      uses.map(({ args, unknown = {} }) => ({ args, tool: { knows: () => false, base: null, isEffect: true, unknown } })),
  }
}

function fits(ctx: Context, rule: ApprovalRecord, call: JudgedCall): boolean {
  const { tools, effects, sideEffect, level, unless } = rule
  if (tools !== undefined && !tools.some((pattern) => call.named.some((named) => isNamed(pattern, named)))) return false
  if (effects !== undefined && !effects.some((name) => call.effects.some((each) => isEffectWithin(name, each)))) return false
  if (sideEffect !== undefined && rankSideEffect(call.sideEffect) < rankSideEffect(sideEffect)) return false
  if (level !== undefined && isAbove(level, call.level)) return false
  return unless === undefined || !isWithin(ctx, unless, call)
}

/** As keys of grants are read, and as the patterns of approval policies are. */
function isNamed(pattern: string, named: Named): boolean {
  return isMentionedBy(pattern, named) || [...named.names, ...named.given].some((name) => matchesGlob(pattern, name))
}

/** `fs` matches `fs.read`, `http` matches `http.request`; tools may declare `fs.write`, `net` or any other name. */
function isEffectWithin(name: string, effect: string): boolean {
  if (name === effect || effect.startsWith(`${name}.`)) return true
  const known = normalEffect(effect)
  return known !== null && (name === known || normalEffect(name) === known) && !name.includes('.')
}

/** Whether every constrained argument is present and within its constraint; a missing argument is unknown. */
function isWithin(ctx: Context, unless: GrantRecord, { parts }: JudgedCall): boolean {
  const rules = ctx.machine.hostData(CONSTRAINT_RULES)
  const all = parts()
  if (all.length === 0) return false
  return all.every(({ args, tool }) => {
    for (const key of Object.keys(unless)) {
      const kind = rules?.has(key) === true ? 'rule' : keyKind(key)
      if ((kind === 'pin' || kind === 'limit') && (!Object.hasOwn(args, key) || args[key] === null)) return false
    }
    return checkGrant(unless, args, tool, rules === undefined ? {} : { rules }) === null
  })
}
