// From what a script names to the entry that a call is about.

import { HAS_OTHER_HOST_TOOLS, HOST_TOOLS, toHostEntry } from '../definitions/entry.js'
import { HarnDict, display } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { findClosest } from '@bridle/compiler/signatures'
import { findStandardEntry, STANDARD_TOOLS } from '../definitions/standard-tools.js'
import { boundRegistry, listEntries, findEntry, isRegistry, listKnownNames, readName } from '../definitions/registry.js'
import type { DispatchState } from './call-state.js'
import { executorOf } from '@bridle/compiler/grants'

/** The entry that is meant, or the text that says why there is none. A name that no registry knows goes to the host. */
export function resolve(ctx: Context, state: DispatchState): HarnDict | string {
  const { tool } = state
  if (tool instanceof HarnDict && state.alias !== null) return resolveBinding(ctx, state, tool)
  if (tool instanceof HarnDict) {
    if (!isRegistry(tool)) return tool.has('name') ? tool : 'a tool is named by a string, a registry of one tool, or an entry'
    const entries = listEntries(tool)
    const only = entries[0]
    return entries.length === 1 && only instanceof HarnDict
      ? only
      : `a registry of one tool is needed to call it, got ${entries.length} tools`
  }
  const name = display(tool)
  const registry = state.registry ?? ctx.state(boundRegistry).registry
  if (registry !== null && !(registry instanceof HarnDict && isRegistry(registry)))
    return 'registry must be a tool registry (created with tool_registry())'
  const entry = registry === null ? null : findEntry(registry, name)
  if (entry !== null) return entry
  if (state.registry !== null) return `Tool '${name}' not found. Registered tools: ${listKnownNames(registry as HarnDict)}`
  return findById(ctx, state, name) ?? describeUnknownTool(name, listKnownIds(ctx, registry))
}

/** What an alias stands for (grants.ts). */
function resolveBinding(ctx: Context, state: DispatchState, binding: HarnDict): HarnDict | string {
  const id = display(binding.get('tool') ?? '')
  const server = binding.get('mcp_tool')
  if (typeof server === 'string') {
    state.origin = 'mcp'
    return HarnDict.of({ name: server, executor: executorOf('mcp'), mcp_server: id, parameters: new HarnDict() })
  }
  const { registry } = ctx.state(boundRegistry)
  const own = registry instanceof HarnDict && isRegistry(registry) ? findEntry(registry, id) : null
  return own ?? findById(ctx, state, id) ?? describeUnknownTool(id, listKnownIds(ctx, registry))
}

/** A tool of the host, else a standard one. A machine that does not know its host's tools leaves the question to the host. */
function findById(ctx: Context, state: DispatchState, name: string): HarnDict | null {
  const hostTools = ctx.machine.hostData(HOST_TOOLS)
  const hasOtherHostTools = ctx.machine.hostData(HAS_OTHER_HOST_TOOLS)
  const entry = hostTools?.get(name)
  state.origin = 'host'
  if (entry !== undefined) return toHostEntry(entry)
  const standard = findStandardEntry(name)
  if (standard !== null) {
    state.origin = 'bridle'
    return standard
  }
  return hasOtherHostTools ? HarnDict.of({ name, executor: executorOf('host'), parameters: new HarnDict() }) : null
}

function listKnownIds(ctx: Context, registry: Value): readonly string[] {
  const own = registry instanceof HarnDict && isRegistry(registry) ? listEntries(registry).map(readName) : []
  return [...own, ...(ctx.machine.hostData(HOST_TOOLS)?.keys() ?? []), ...STANDARD_TOOLS.map(({ id }) => id)]
}

function describeUnknownTool(name: string, known: readonly string[]): string {
  const near = findClosest(name, known)
  return near === null ? `Tool '${name}' not found` : `Tool '${name}' not found. Did you mean '${near}'?`
}
