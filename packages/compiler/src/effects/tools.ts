// What a literal tool definition says about itself (reference 05 §2.13): its effects are those of its `effects` key, else those
// that its side-effect level or its executor implies, else those of its handler, which inference knows.

import type { Expr } from '@bridle/parser'
import { effectsOfLevel, normalEffect } from './kinds.js'
import type { ToolDefinition, Tracked } from './units.js'

export function toolDefinition(
  config: Expr | undefined,
  track: (expr: Expr) => Tracked,
): Pick<ToolDefinition, 'executor' | 'handler' | 'effects'> {
  const handler = entryOf(config, 'handler')
  const executor = textOf(entryOf(config, 'executor'))
  const declared = listOf(entryOf(config, 'effects'))
  const level = textOf(entryOf(entryOf(config, 'annotations'), 'side_effect_level'))
  const implied = level === null ? null : effectsOfLevel(level)
  return {
    executor: executor ?? (handler === undefined ? null : 'harn'),
    handler: handler === undefined ? null : track(handler),
    effects: declared?.flatMap((name) => normalEffect(name) ?? []) ?? implied ?? (executor === 'mcp_server' ? ['mcp'] : null),
  }
}

/** What an executor reaches, whatever the entry says about itself; an executor that only the run knows may be any. */
export function effectsOfExecutor(executor: string | null): readonly string[] {
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

function entryOf(dict: Expr | undefined, key: string): Expr | undefined {
  if (dict?.kind !== 'Dict') return undefined
  const found = dict.entries.find((entry) => entry.kind === 'named' && entry.key.text === key)
  return found?.value
}

function textOf(expr: Expr | undefined): string | null {
  return expr?.kind === 'String' ? expr.value : null
}

function listOf(expr: Expr | undefined): readonly string[] | null {
  if (expr?.kind !== 'List') return null
  return expr.items.flatMap((item) => (item.value.kind === 'String' && !item.spread ? [item.value.value] : []))
}
