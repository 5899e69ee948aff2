// What a literal tool definition says about itself: its effects are those of its `effects` key, else those
// that its side-effect level or its executor implies, else those of its handler, which inference knows.

import type { Expr } from '@bridle/parser'
import { listLevelEffects, normalEffect } from './kinds.js'
import type { ToolDefinition, Tracked } from './units.js'

export function toolDefinition(
  name: string,
  config: Expr | undefined,
  track: (expr: Expr) => Tracked,
): Pick<ToolDefinition, 'executor' | 'handler' | 'effects' | 'reaches'> {
  // A key that only the run knows may be any, and take the place of one that stands there.
  const isOpen = config?.kind === 'Dict' && !isPlainDict(config)
  const handler = findEntry(config, 'handler')
  const executor = readText(findEntry(config, 'executor'))
  const declared = readList(findEntry(config, 'effects'))
  const level = readText(findEntry(findEntry(config, 'annotations'), 'side_effect_level'))
  const implied = level === null ? null : listLevelEffects(level)
  return {
    executor: isOpen ? SEVERAL : (executor ?? (handler === undefined ? null : 'harn')),
    handler: handler === undefined ? null : track(handler),
    effects: declared?.flatMap((name) => normalEffect(name) ?? []) ?? implied ?? (executor === 'mcp_server' ? ['mcp'] : null),
    reaches: isPlainDict(config) ? listReach(name, config) : ['*'],
  }
}

/** A dict of which every key stands in the text, once: nothing that is added at run time can take the place of what was read. */
function isPlainDict(config: Expr | undefined): boolean {
  if (config === undefined) return true
  if (config.kind !== 'Dict') return false
  const keys = config.entries.map((entry) => (entry.kind === 'named' ? entry.key.text : null))
  return !keys.includes(null) && new Set(keys).size === keys.length
}

/** What calls of the tool lead to: `host:ID`, `mcp:SERVER/TOOL`, with `*` for what only the run knows; none for a handler. */
function listReach(name: string, config: Expr | undefined): readonly string[] {
  const readConfig = (key: string, otherwise: string): string => {
    const value = findEntry(config, key)
    return value === undefined || value.kind === 'Nil' ? otherwise : (readText(value) ?? '*')
  }
  const marked = findEntry(config, '_mcp_server') === undefined ? 'host_bridge' : 'mcp_server'
  switch (readConfig('executor', findEntry(config, 'handler') === undefined ? marked : 'harn')) {
    case 'harn':
    case 'harn_builtin':
    case 'builtin':
    case 'provider_native':
      return []
    case 'host_bridge':
      return [`host:${readConfig('host_capability', name)}`]
    case 'mcp_server':
      return [`mcp:${readConfig('mcp_server', readConfig('_mcp_server', '*'))}/${escapeTool(readConfig('mcp_tool', name))}`]
    default:
      return ['*']
  }
}

/** A tool as keys of servers' tools have it: what comes behind the last `/`. */
function escapeTool(tool: string): string {
  return tool.replaceAll('%', '%25').replaceAll('/', '%2F')
}

/** Of one name that is defined twice: whichever of them a call finds. */
export function joinDefinitions(before: ToolDefinition | undefined, definition: ToolDefinition): ToolDefinition {
  if (before === undefined) return definition
  return {
    ...definition,
    executor: before.executor === definition.executor ? definition.executor : SEVERAL,
    reaches: [...new Set([...before.reaches, ...definition.reaches])],
  }
}

/** What an executor reaches, whatever the entry says about itself; an executor that only the run knows may be any. */
export function listExecutorEffects(executor: string | null): readonly string[] {
  switch (executor) {
    case 'harn':
    case 'harn_builtin':
    case 'provider_native':
      return []
    case 'mcp_server':
      return ['mcp']
    case SEVERAL:
      return ['external', 'mcp']
    default:
      return ['external']
  }
}

/** Of a name under which a program defines several tools. */
export const SEVERAL = 'several'

function findEntry(dict: Expr | undefined, key: string): Expr | undefined {
  if (dict?.kind !== 'Dict') return undefined
  const found = dict.entries.find((entry) => entry.kind === 'named' && entry.key.text === key)
  return found?.value
}

function readText(expr: Expr | undefined): string | null {
  return expr?.kind === 'String' ? expr.value : null
}

function readList(expr: Expr | undefined): readonly string[] | null {
  if (expr?.kind !== 'List') return null
  return expr.items.flatMap((item) => (item.value.kind === 'String' && !item.spread ? [item.value.value] : []))
}
