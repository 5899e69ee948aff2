// Statements of the grants extension → source.

import type { GrantStmt, GrantValue } from '../ast.js'
import { escape, writeFloat } from '../literals.js'
import { byteLength, type Layout } from './layout.js'
import { sequence } from './lines.js'

export function printGrantStmt(layout: Layout, stmt: GrantStmt, depth: number): string {
  switch (stmt.kind) {
    case 'UseTool': {
      const target = stmt.server ? `mcp "${escape(stmt.tool.text)}"` : stmt.tool.text
      const version =
        stmt.version === null ? '' : /^[0-9.]+$/.test(stmt.version) ? `@${stmt.version}` : `@"${escape(stmt.version)}"`
      return `use tool ${target}${version} as ${stmt.alias?.text ?? '*'}`
    }
    case 'Grant':
      return printGrant(layout, stmt, depth)
    case 'BindEffect':
      return `bind effect ${stmt.effect.text} to ${stmt.alias.text}`
  }
}

/** Pairs on one line; fields in braces if the source has them, or if the pairs do not fit. */
function printGrant(layout: Layout, stmt: Extract<GrantStmt, { kind: 'Grant' }>, depth: number): string {
  const printEntryValue = (entry: (typeof stmt.entries)[number]): string =>
    layout.text(entry.valueSpan) ?? printValue(entry.value)
  const head = `grant ${stmt.alias.text} `
  const pairs = `${head}${stmt.entries.map((entry) => `${entry.key.text} ${printEntryValue(entry)}`).join(' ')}`
  const inBraces = layout.text({ start: stmt.alias.span.end, end: stmt.span.end })?.trimStart().startsWith('{') === true
  const fits = 2 * depth + byteLength(pairs) <= layout.lineWidth && !layout.hasComments(stmt.span) && !pairs.includes('\n')
  if (stmt.entries.length > 0 && !inBraces && fits) return pairs
  const items = stmt.entries.map((entry) => ({ span: entry.span, render: () => `${entry.key.text}: ${printEntryValue(entry)}` }))
  const from = layout.behind(stmt.alias.span.end, '{')
  return sequence(layout, { open: `${head}{`, close: '}', items, from, to: stmt.span.end, prefix: byteLength(head) + 1, depth })
}

function printValue(value: GrantValue): string {
  if (typeof value === 'string') return `"${escape(value)}"`
  if (typeof value !== 'object') return String(value)
  return 'float' in value ? writeFloat(value.float) : `[${value.map(printValue).join(', ')}]`
}
