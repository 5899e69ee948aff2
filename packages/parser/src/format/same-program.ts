// Whether two trees are the same program. The comparison ignores what a formatter may change:
// positions, documentation, the two spellings of a list type, of a literal key and of `else if`, and the order of imports.

import type { Block, Program, Stmt } from '../ast.js'

export function isSameProgram(one: Program, other: Program): boolean {
  // Most trees differ only in ignored parts, and are compared without copies.
  return isEqual(one, other) || JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
}

function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return Object.is(one, other)
  if (typeof other !== 'object' || other === null) return false
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    for (let at = 0; at < one.length; at += 1) if (!isEqual(one[at], other[at])) return false
    return true
  }
  const left = one as Readonly<Record<string, unknown>>
  const right = other as Readonly<Record<string, unknown>>
  // Nodes of one kind have the same fields.
  if (left['kind'] !== right['kind']) return false
  for (const key in left) {
    if (key === 'doc' || key === 'quote' || key === 'quoted' || key.endsWith('span') || key.endsWith('Span')) continue
    if (!isEqual(left[key], right[key])) return false
  }
  return true
}

/** Plain data that is equal for programs with the same meaning. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value === 'bigint') return `${value}n`
  if (Object.is(value, -0)) return '-0'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return value
  const record = value as Readonly<Record<string, unknown>>
  switch (record['kind']) {
    case 'Program':
      return { kind: 'Program', items: sortImports(record['items'] as readonly Stmt[]).map(canonical) }
    case 'If':
      return parts({ ...record, otherwise: flattenElse(record['otherwise'] as Block | null) })
    case 'ListType':
      return { kind: 'NamedType', name: { text: 'list' }, args: [canonical(record['element'])] }
    case 'computed': {
      const key = record['key'] as { readonly kind: string; readonly value?: unknown }
      if (key.kind === 'String') return { kind: 'named', key: { text: key.value }, value: canonical(record['value']) }
      return parts(record)
    }
    default:
      return parts(record)
  }
}

/** Ignored: quotes of literal keys and strings, and comments. */
const LEFT_OUT = /^(?:.*span|doc|quoted|quote)$/i

function parts(record: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(record).flatMap(([key, part]) => (LEFT_OUT.test(key) ? [] : [[key, canonical(part)]])))
}

function flattenElse(otherwise: Block | { readonly kind: 'If' } | null): unknown {
  if (otherwise === null || otherwise.kind === 'If') return otherwise
  const [only, more] = otherwise.body
  return only?.kind === 'ExprStmt' && only.value.kind === 'If' && more === undefined ? only.value : otherwise
}

/** The leading imports by path and names, names alphabetically. */
function sortImports(items: readonly Stmt[]): readonly unknown[] {
  const first = items.findIndex((item) => item.kind !== 'ImportDecl')
  const count = first < 0 ? items.length : first
  const imports = items.map((item) => {
    if (item.kind !== 'ImportDecl' || item.names === null) return item
    return { ...item, names: item.names.map((name) => name.text).sort() }
  })
  const leading = imports.slice(0, count).map((item) => ({ item, key: JSON.stringify(canonical(item)) }))
  return [
    ...leading.sort((x, y) => (x.key < y.key ? -1 : x.key > y.key ? 1 : 0)).map(({ item }) => item),
    ...imports.slice(count),
  ]
}
