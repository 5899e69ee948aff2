// Expressions that denote a type because they are used as a schema: an alias, a variable bound to a schema literal, a dict
// literal in schema notation, `schema_of(Alias)`. Other expressions denote no type.

import type { DictEntry, Expr } from '@bridle/parser'
import type { Scope } from './scope.js'
import { DICT, type Field, type Known, NIL, makeNamed, STRING, type Type, makeUnion } from './type.js'

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'dict',
  array: 'list',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'nil',
}

export function schemaType(expr: Expr, scope: Scope): Known {
  switch (expr.kind) {
    case 'Identifier':
      return scope.variable(expr.name)?.schema ?? aliasBody(expr.name, scope)
    case 'Dict':
      return literalSchema(expr.entries, scope)
    case 'Call': {
      const [only] = expr.args
      if (expr.callee.text !== 'schema_of' || expr.args.length !== 1 || only === undefined) return null
      return only.value.kind === 'Identifier' ? aliasBody(only.value.name, scope) : null
    }
    default:
      return null
  }
}

/** The alias of `schema_of(Alias)`; generic aliases are not instantiated. */
export function aliasBody(name: string, scope: Scope): Known {
  const alias = scope.alias(name)
  return alias === undefined || alias.params.length > 0 ? null : alias.body
}

/** The type of a schema written as a dict literal, and only that: `let` remembers it for the variable. */
export function literalSchema(entries: readonly DictEntry[], scope: Scope): Known {
  const keys = new Map<string, Expr>()
  for (const entry of entries) if (entry.kind === 'named') keys.set(entry.key.text, entry.value)
  const type = bodySchema(keys, scope)
  const nullable = keys.get('nullable')
  if (type === null || nullable?.kind !== 'Bool' || !nullable.value) return type
  return { kind: 'union', members: type.kind === 'union' ? [...type.members, NIL] : [type, NIL] }
}

function bodySchema(keys: ReadonlyMap<string, Expr>, scope: Scope): Known {
  const union = keys.get('union') ?? keys.get('oneOf') ?? keys.get('anyOf')
  if (union !== undefined) return unionSchema(union, scope)
  const properties = keys.get('properties')
  if (properties !== undefined) return shapeSchema(properties, keys.get('required'), scope)
  const items = keys.get('items')
  if (items !== undefined) {
    const element = schemaType(items, scope)
    return element === null ? null : { kind: 'list', element }
  }
  const type = keys.get('type')
  return type === undefined ? null : inferNamedSchema(type, keys, scope)
}

function unionSchema(expr: Expr, scope: Scope): Known {
  if (expr.kind !== 'List') return null
  const members: Type[] = []
  for (const item of expr.items) {
    const member = item.spread ? null : schemaType(item.value, scope)
    if (member === null) return null
    members.push(member)
  }
  return members.length === 0 ? null : makeUnion(members)
}

function shapeSchema(properties: Expr, required: Expr | undefined, scope: Scope): Known {
  if (properties.kind !== 'Dict') return null
  const needed = new Set(required === undefined ? [] : (strings(required) ?? []))
  const fields: Field[] = []
  for (const entry of properties.entries) {
    const type = entry.kind === 'named' ? schemaType(entry.value, scope) : null
    if (type === null || entry.kind !== 'named') return null
    fields.push({ name: entry.key.text, type, optional: !needed.has(entry.key.text) })
  }
  return { kind: 'shape', fields }
}

function inferNamedSchema(type: Expr, keys: ReadonlyMap<string, Expr>, scope: Scope): Known {
  const names = strings(type)
  if (names !== null) return names.length === 0 ? null : makeUnion(names.map(canonical))
  if (type.kind !== 'String') return null
  const own = canonical(type.value)
  const additional = keys.get('additional_properties') ?? keys.get('additionalProperties')
  if (own !== DICT || additional === undefined) return own
  const value = schemaType(additional, scope)
  return value === null ? own : { kind: 'dict', key: STRING, value }
}

function canonical(name: string): Type {
  const own = Object.hasOwn(TYPE_NAMES, name) ? (TYPE_NAMES[name] ?? name) : name
  return own === 'dict' ? DICT : makeNamed(own)
}

/** The strings of a list literal of string literals; null for anything else. */
function strings(expr: Expr): readonly string[] | null {
  if (expr.kind !== 'List') return null
  const texts: string[] = []
  for (const item of expr.items) {
    if (item.spread || item.value.kind !== 'String') return null
    texts.push(item.value.value)
  }
  return texts
}
