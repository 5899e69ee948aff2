// Tool annotations and the capability policy: reading them from dicts, and the check that every tool
// call passes before it is carried out. Policies are a stack of which only the top is enforced; whoever delegates work
// (agent loops, workflow stages) pushes and pops (policy-scopes.ts). Reading is strict: one odd field makes the whole value
// absent.

import { findInnermostScope } from '../../library/task-scopes.js'
import { HarnDict, HarnList, debugQuoted, isInt } from '@bridle/vm/families'
import type { Context, Control, Value } from '@bridle/vm/families'
import { findNeeds } from './builtins.js'
import { makeCalled, listEveryName } from '../dispatch/identity.js'
import type { CalledTool } from '../dispatch/identity.js'
import { SIDE_EFFECTS } from '../../library/effects/effects.js'

/** Rank by position; a text that is not listed ranks above all. */
const SIDE_EFFECT_LEVELS: readonly string[] = SIDE_EFFECTS
const KINDS: ReadonlySet<string> = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'])

export interface ToolAnnotations {
  readonly kind: string
  readonly level: string
  readonly pathParams: readonly string[]
  /** Alias → canonical name, in key order. */
  readonly argAliases: ReadonlyMap<string, string>
  readonly required: readonly string[]
  readonly capabilities: ReadonlyMap<string, readonly string[]>
  readonly emitsArtifacts: boolean
  readonly resultReaders: readonly string[]
  readonly inlineResult: boolean
}

export interface ArgConstraint {
  readonly tool: string
  readonly patterns: readonly string[]
  readonly argKey: string | null
}

export interface CapabilityPolicy {
  readonly tools: readonly string[]
  readonly capabilities: ReadonlyMap<string, readonly string[]>
  readonly level: string | null
  readonly constraints: readonly ArgConstraint[]
  readonly annotations: ReadonlyMap<string, ToolAnnotations>
}

export function rankLevel(level: string): number {
  const rank = SIDE_EFFECT_LEVELS.indexOf(level)
  return rank < 0 ? SIDE_EFFECT_LEVELS.length : rank
}

/** `*` matches all, `foo*` a prefix, `*foo` a suffix, anything else must be equal. */
export function matchesGlob(pattern: string, text: string): boolean {
  if (pattern === '*') return true
  if (pattern.endsWith('*')) return text.startsWith(pattern.slice(0, -1))
  return pattern.startsWith('*') ? text.endsWith(pattern.slice(1)) : pattern === text
}

/** A field of another type than expected, nil too: the whole dict is unreadable then. */
const ODD = Symbol('odd')
type Odd = typeof ODD

function readTexts(value: Value | undefined): string[] | Odd {
  if (value === undefined) return []
  if (!(value instanceof HarnList)) return ODD
  const items = value.view()
  return items.every((item) => typeof item === 'string') ? [...items] : ODD
}

function readFlag(value: Value | undefined): boolean | Odd {
  if (value === undefined) return false
  return typeof value === 'boolean' ? value : ODD
}

function readText(value: Value | undefined, fallback: string): string | Odd {
  if (value === undefined) return fallback
  return typeof value === 'string' ? value : ODD
}

function readDict<T>(value: Value | undefined, item: (value: Value) => T | Odd): Map<string, T> | Odd {
  const out = new Map<string, T>()
  if (value === undefined) return out
  if (!(value instanceof HarnDict)) return ODD
  for (const key of value.keys()) {
    const read = item(value.get(key)!)
    if (read === ODD) return ODD
    out.set(key, read as T)
  }
  return out
}

export function readAnnotations(value: Value | undefined): ToolAnnotations | null {
  if (!(value instanceof HarnDict)) return null
  const schema = value.get('arg_schema')
  if (schema !== undefined && !(schema instanceof HarnDict)) return null
  const kind = readText(value.get('kind'), 'other')
  const level = readText(value.get('side_effect_level'), 'none')
  const pathParams = readTexts(schema?.get('path_params'))
  const argAliases = readDict(schema?.get('arg_aliases'), (item) => (typeof item === 'string' ? item : ODD))
  const required = readTexts(schema?.get('required'))
  const capabilities = readDict(value.get('capabilities'), readTexts)
  const emitsArtifacts = readFlag(value.get('emits_artifacts'))
  const resultReaders = readTexts(value.get('result_readers'))
  const inlineResult = readFlag(value.get('inline_result'))
  if (kind === ODD || level === ODD || pathParams === ODD || argAliases === ODD || required === ODD || capabilities === ODD)
    return null
  if (emitsArtifacts === ODD || resultReaders === ODD || inlineResult === ODD) return null
  if (!KINDS.has(kind) || !SIDE_EFFECT_LEVELS.includes(level)) return null
  return { kind, level, pathParams, argAliases, required, capabilities, emitsArtifacts, resultReaders, inlineResult }
}

function readConstraints(value: Value | undefined): ArgConstraint[] | Odd {
  if (value === undefined) return []
  if (!(value instanceof HarnList)) return ODD
  const constraints: ArgConstraint[] = []
  for (const item of value.view()) {
    if (!(item instanceof HarnDict)) return ODD
    const tool = readText(item.get('tool'), '')
    const patterns = readTexts(item.get('arg_patterns'))
    const argKey = item.get('arg_key') ?? null
    if (tool === ODD || patterns === ODD || (argKey !== null && typeof argKey !== 'string')) return ODD
    constraints.push({ tool, patterns, argKey })
  }
  return constraints
}

export function readPolicy(value: Value | undefined): CapabilityPolicy | null {
  if (!(value instanceof HarnDict)) return null
  const tools = readTexts(value.get('tools'))
  const capabilities = readDict(value.get('capabilities'), readTexts)
  const level = value.get('side_effect_level') ?? null
  const limit = value.get('recursion_limit') ?? null
  if (readTexts(value.get('workspace_roots')) === ODD || (limit !== null && !(isInt(limit) && limit >= 0))) return null
  const constraints = readConstraints(value.get('tool_arg_constraints'))
  const annotations = readDict(value.get('tool_annotations'), (item) => readAnnotations(item) ?? ODD)
  if (tools === ODD || capabilities === ODD || constraints === ODD || annotations === ODD) return null
  if (level !== null && typeof level !== 'string') return null
  return { tools, capabilities, level, constraints, annotations }
}

function allowsCapability(policy: CapabilityPolicy, capability: string, operation: string): boolean {
  if (policy.capabilities.size === 0) return true
  const operations = policy.capabilities.get(capability)
  return operations !== undefined && (operations.length === 0 || operations.includes(operation))
}

function exceedsLevel(policy: CapabilityPolicy, level: string): boolean {
  return policy.level !== null && rankLevel(level) > rankLevel(policy.level)
}

/** What a malformed policy counts as: it holds nothing back, but there is one. */
const EMPTY_POLICY: CapabilityPolicy = {
  tools: [],
  capabilities: new Map(),
  level: null,
  constraints: [],
  annotations: new Map(),
}

/** Policies as read, by the installed dict, which nothing changes in place; it is read on every call. */
const readPolicies = new WeakMap<object, CapabilityPolicy>()

function findTopPolicy(ctx: Context): CapabilityPolicy | null {
  const installed = findInnermostScope(ctx, 'ceilings')
  return installed === null ? null : getPolicy(installed)
}

function getPolicy(installed: Value): CapabilityPolicy {
  if (!(installed instanceof HarnDict)) return EMPTY_POLICY
  let policy = readPolicies.get(installed)
  if (policy === undefined) readPolicies.set(installed, (policy = readPolicy(installed) ?? EMPTY_POLICY))
  return policy
}

/** What the installed policy says about a tool. Annotations of registry entries do not count here. */
export function findInstalledAnnotations(ctx: Context, tool: string): ToolAnnotations | undefined {
  return findTopPolicy(ctx)?.annotations.get(tool)
}

/** The same for a call under any of its names; the first one that the policy annotates. */
export function findAnnotations(ctx: Context, { identity }: CalledTool): ToolAnnotations | undefined {
  const policy = findTopPolicy(ctx)
  if (policy === null) return undefined
  for (const name of listEveryName(identity)) {
    const found = policy.annotations.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** Why the installed policy refuses this call, or null. The text is the message of a `tool_rejected` error. */
export function refuseCall(ctx: Context, call: CalledTool, args: Value): string | null {
  const installed = findInnermostScope(ctx, 'ceilings')
  return installed === null ? null : refuseUnder(installed, call, args)
}

/** For a tool of which only the name is known. */
export function refuseNamedTool(ctx: Context, tool: string, args: Value): string | null {
  return refuseCall(ctx, makeCalled(tool), args)
}

/** The same by an installed policy. It allows what it lists by a name that the tool really has, and refuses by any. */
export function refuseUnder(installed: Value, { shown, identity }: CalledTool, args: Value): string | null {
  const policy = getPolicy(installed)
  if (policy.tools.length > 0 && !identity.names.some((name) => policy.tools.includes(name)))
    return `tool '${shown}' exceeds tool ceiling`
  for (const name of listEveryName(identity)) {
    const annotations = policy.annotations.get(name)
    const refusal =
      (annotations === undefined ? null : refuseByAnnotations(policy, shown, annotations)) ??
      refuseByArgs(policy, { name, shown }, annotations, args)
    if (refusal !== null) return refusal
  }
  return null
}

function refuseByAnnotations(policy: CapabilityPolicy, shown: string, annotations: ToolAnnotations): string | null {
  for (const [capability, operations] of annotations.capabilities) {
    for (const operation of operations) {
      if (!allowsCapability(policy, capability, operation))
        return `tool '${shown}' exceeds capability ceiling: ${capability}.${operation}`
    }
  }
  return annotations.level !== 'none' && exceedsLevel(policy, annotations.level)
    ? `tool '${shown}' exceeds side-effect ceiling: ${annotations.level}`
    : null
}

/** Whether the policy looks at the arguments of this tool. */
export function looksAtArguments(installed: Value, { identity }: CalledTool): boolean {
  return getPolicy(installed).constraints.some(
    ({ tool: pattern, patterns }) => patterns.length > 0 && listEveryName(identity).some((name) => matchesGlob(pattern, name)),
  )
}

function refuseByArgs(
  policy: CapabilityPolicy,
  tool: { readonly name: string; readonly shown: string },
  annotations: ToolAnnotations | undefined,
  args: Value,
): string | null {
  for (const constraint of policy.constraints) {
    if (!matchesGlob(constraint.tool, tool.name) || constraint.patterns.length === 0) continue
    const keys = constraint.argKey === null ? (annotations?.pathParams ?? []) : [constraint.argKey]
    const found = findCandidate(keys, args)
    if (found === null || constraint.patterns.some((pattern) => matchesGlob(pattern, found.text))) continue
    const patterns = `[${constraint.patterns.map((pattern) => debugQuoted(pattern)).join(', ')}]`
    return (
      `tool '${tool.shown}' ${found.key} '${found.text}' does not match allowed patterns: ${patterns}. ` +
      `Only the ${found.key} argument is checked against this allow-list — other argument values are not.`
    )
  }
  return null
}

/** The first of the keys that holds a text; for arguments that are one text, that text. */
function findCandidate(keys: readonly string[], args: Value): { key: string; text: string } | null {
  if (keys.length === 0) return null
  if (!(args instanceof HarnDict)) return typeof args === 'string' ? { key: keys[0]!, text: args } : null
  for (const key of keys) {
    const value = args.get(key)
    if (typeof value === 'string') return { key, text: value }
  }
  return null
}

/** The fault for a tool call that the installed policy refuses, or null. */
export function refuseTool(ctx: Context, tool: string, args: Value): Control | null {
  const refusal = refuseNamedTool(ctx, tool, args)
  return refusal === null ? null : ctx.categorized('tool_rejected', refusal)
}

/** The fault for a builtin that exceeds the installed policy, or null. */
export function refuseBuiltin(ctx: Context, name: string): Control | null {
  const needs = findNeeds(name)
  const policy = needs === null ? null : findTopPolicy(ctx)
  if (policy === null || needs === null) return null
  const [capability, operation] = needs.capability?.split('.') ?? []
  const allowed = capability === undefined || operation === undefined || allowsCapability(policy, capability, operation)
  if (allowed && !(needs.level !== null && exceedsLevel(policy, needs.level))) return null
  return ctx.categorized(
    'tool_rejected',
    `builtin '${name === '__mcp_open' ? 'mcp_connect' : name}' exceeds ${needs.tail} ceiling`,
  )
}

const WRITING_OPERATIONS: ReadonlySet<string> = new Set(['workspace.write_text', 'workspace.apply_edit', 'workspace.delete'])

/** The fault for a `host_call` that exceeds the installed policy, or null. */
export function refuseHostCall(ctx: Context, name: string): Control | null {
  const policy = findTopPolicy(ctx)
  if (policy === null) return null
  const dot = name.indexOf('.')
  if (dot < 0) return ctx.categorized('tool_rejected', `host_call '${name}' must use capability.operation naming`)
  if (!allowsCapability(policy, name.slice(0, dot), name.slice(dot + 1))) {
    return ctx.categorized('tool_rejected', `host_call ${name} exceeds capability ceiling`)
  }
  const level = WRITING_OPERATIONS.has(name) ? 'workspace_write' : name === 'process.exec' ? 'process_exec' : 'read_only'
  return exceedsLevel(policy, level) ? ctx.categorized('tool_rejected', `host_call ${name} exceeds side-effect ceiling`) : null
}
