// Effects of a literal tool definition: those of its `effects` key, otherwise those
// that its side-effect level or its executor implies, otherwise those of its handler, which inference computes.

import type { Expr } from '@bridle/parser'
import {
  EXECUTORS,
  executorNamed,
  findExecutorFacts,
  findIdentity,
  impliedExecutor,
  targetOf,
  executorOf,
} from '../grants/executors.js'
import { listLevelEffects, normalEffect } from './kinds.js'
import type { ToolDefinition, Tracked } from './units.js'

export function toolDefinition(
  name: string,
  config: Expr | undefined,
  track: (expr: Expr) => Tracked,
): Pick<ToolDefinition, 'executor' | 'handler' | 'effects' | 'reaches'> {
  // A computed key may be any key, and may override a literal one.
  const isOpen = config?.kind === 'Dict' && !isPlainDict(config)
  const handler = findEntry(config, 'handler')
  const executor = readText(findEntry(config, 'executor'))
  const declared = readList(findEntry(config, 'effects'))
  const level = readText(findEntry(findEntry(config, 'annotations'), 'side_effect_level'))
  const implied = level === null ? null : listLevelEffects(level)
  return {
    executor: isOpen ? SEVERAL : (executor ?? (handler === undefined ? null : executorOf('script'))),
    handler: handler === undefined ? null : track(handler),
    effects: declared?.flatMap((name) => normalEffect(name) ?? []) ?? implied ?? impliedEffects(executor),
    reaches: isPlainDict(config) ? listReach(name, config) : ['*'],
  }
}

function impliedEffects(executor: string | null): readonly string[] | null {
  return findExecutorFacts(executor)?.implies ?? null
}

/** A dict with literal, distinct keys only: no computed key can override the values read here. */
function isPlainDict(config: Expr | undefined): boolean {
  if (config === undefined) return true
  if (config.kind !== 'Dict') return false
  const keys = config.entries.map((entry) => (entry.kind === 'named' ? entry.key.text : null))
  return !keys.includes(null) && new Set(keys).size === keys.length
}

/** Targets of calls of the tool: `host:ID`, `mcp:SERVER/TOOL`, with `*` for names only known at run time; none for a handler. */
function listReach(name: string, config: Expr | undefined): readonly string[] {
  function readConfig<T extends string | null>(key: string, otherwise: T): string | T {
    const value = findEntry(config, key)
    return value === undefined || value.kind === 'Nil' ? otherwise : (readText(value) ?? '*')
  }
  const executor = executorNamed(
    readConfig(
      'executor',
      impliedExecutor((key) => findEntry(config, key) !== undefined),
    ),
  )
  const identity = findIdentity(executor)
  if (executor === null || identity === null) return ['*']
  const target = targetOf(executor, (key) => (key === 'name' ? name : readConfig(key, null)))
  switch (identity) {
    case 'script':
    case 'builtin':
    case 'native':
      return []
    case 'host':
      return [`host:${target.host_capability ?? name}`]
    case 'mcp':
      return [`mcp:${target.mcp_server ?? '*'}/${escapeTool(target.mcp_tool ?? name)}`]
  }
}

/** Name of a tool within a key of a server's tool: the part after the last `/`. */
function escapeTool(tool: string): string {
  return tool.replaceAll('%', '%25').replaceAll('/', '%2F')
}

/** Joins two definitions of one name: a call may find either. */
export function joinDefinitions(before: ToolDefinition | undefined, definition: ToolDefinition): ToolDefinition {
  if (before === undefined) return definition
  return {
    ...definition,
    executor: before.executor === definition.executor ? definition.executor : SEVERAL,
    reaches: [...new Set([...before.reaches, ...definition.reaches])],
  }
}

/** Effects of an executor, whatever the entry declares; a computed executor may be any. */
export function listExecutorEffects(executor: string | null): readonly string[] {
  if (executor === SEVERAL) return [...new Set(Object.values(EXECUTORS).flatMap(({ effects }) => effects))]
  return findExecutorFacts(executor)?.effects ?? ['external']
}

/** Marks a name with several definitions. */
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
