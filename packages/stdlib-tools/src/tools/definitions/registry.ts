// Tool registries as values: a plain dict `{_type: "tool_registry", tools: [entry…]}`, never changed in place.
// The checks, readers and builders that every tool builtin shares live here, and the slot of the bound registry.

import { HarnDict, HarnList, debugQuoted, display, family, sortTexts } from '@bridle/vm/families'
import type { Context, Control, Value } from '@bridle/vm/families'

/** What `tool_bind` set: the registry of the current scope, nil without one. */
export const boundRegistry = family<{ registry: Value }>('tool_binding', () => ({ registry: null }))

export function isRegistry(value: HarnDict): boolean {
  return value.get('_type') === 'tool_registry'
}

export function describeNotRegistry(builtin: string): string {
  return `${builtin}: argument must be a tool registry (created with tool_registry())`
}

/** The fault for a value that is not a registry; `message` is for other types than dict. Null when it is one. */
export function refuseRegistry(ctx: Context, builtin: string, value: Value, message: string): Control | null {
  if (!(value instanceof HarnDict)) return ctx.throw(`${builtin}: ${message}`)
  return isRegistry(value) ? null : ctx.throw(describeNotRegistry(builtin))
}

/** The entries; a missing or odd `tools` counts as none. */
export function listEntries(registry: HarnDict): readonly Value[] {
  const tools = registry.get('tools')
  return tools instanceof HarnList ? tools.view() : []
}

export function readName(entry: Value): string {
  const name = entry instanceof HarnDict ? entry.get('name') : undefined
  return name === undefined ? '' : display(name)
}

export function findEntry(registry: HarnDict, name: string): HarnDict | null {
  for (const entry of listEntries(registry)) if (entry instanceof HarnDict && entry.get('name') === name) return entry
  return null
}

export function withTools(registry: HarnDict, tools: Value[]): HarnDict {
  return registry.with('tools', new HarnList(tools))
}

export function withoutHandler(entry: Value): Value {
  if (!(entry instanceof HarnDict) || !entry.has('handler')) return entry
  const copy = entry.copy()
  copy.delete('handler')
  return copy
}

export function listKnownNames(registry: HarnDict): string {
  const given = listEntries(registry).map((entry) => (entry instanceof HarnDict ? entry.get('name') : undefined))
  const names = sortTexts(given.filter((name) => typeof name === 'string'))
  return names.length === 0 ? '(none registered)' : names.join(', ')
}

/** The bound registry for `tool_ref` and `tool_def`, or the fault that says why there is none. */
export function requireBound(ctx: Context, builtin: string): HarnDict | Control {
  const bound = ctx.state(boundRegistry).registry
  if (bound === null) {
    return ctx.throw(
      `${builtin}: no tool registry bound to this scope. Call tool_bind(registry) first, or invoke inside an agent_loop.`,
    )
  }
  if (!(bound instanceof HarnDict)) return ctx.throw(`${builtin}: bound tool registry is not a dict`)
  return isRegistry(bound) ? bound : ctx.throw(describeNotRegistry(builtin))
}

export function describeUnknownTool(builtin: string, name: string, registry: HarnDict): string {
  return `${builtin}: unknown tool ${debugQuoted(name)}. Registered tools: ${listKnownNames(registry)}`
}

/** `null` stands for absent and nil alike. */
export function getOrNil(dict: HarnDict, key: string): Value {
  return dict.get(key) ?? null
}

export function readText(dict: HarnDict, key: string): string | null {
  const value = dict.get(key)
  return typeof value === 'string' ? value : null
}

export function listAt(dict: HarnDict, key: string): readonly Value[] {
  const value = dict.get(key)
  return value instanceof HarnList ? value.view() : []
}
