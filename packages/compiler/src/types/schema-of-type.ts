// Type annotations as schema values: the dict that `schema_of(T)` and similar calls get for an alias, and the JSON Schema of a
// tool's parameters. Both are plain JSON data. The objects have no prototype: a field may be called `__proto__`.

import type { Program, TypeExpr } from '@bridle/parser'
import { isString, listLiterals, CHECKED_PRIMITIVES } from './runtime-check.js'

export type SchemaData = { readonly [key: string]: SchemaValue }
export type SchemaValue = string | number | boolean | SchemaData | readonly SchemaValue[]

/** Names that schemas may expand: aliases at top level, without attributes and without type parameters. */
export type SchemaAliases = ReadonlyMap<string, TypeExpr>

interface Dialect {
  readonly names: Readonly<Record<string, SchemaData>>
  readonly additional: string
  readonly union: string
  readonly closure: SchemaData
}

const own = (type: string): SchemaData => data([['type', type]])

const HARN: Dialect = {
  names: names(CHECKED_PRIMITIVES.map((name) => [name, own(name)])),
  additional: 'additional_properties',
  union: 'union',
  closure: own('closure'),
}

const JSON_CLOSURE = data([
  ['type', 'string'],
  ['x-harn-type', 'closure'],
])

const JSON_SCHEMA: Dialect = {
  names: names([
    ['int', own('integer')],
    ['float', own('number')],
    ['string', own('string')],
    ['bool', own('boolean')],
    ['nil', own('null')],
    ['list', own('array')],
    ['dict', own('object')],
    [
      'set',
      data([
        ['type', 'array'],
        ['uniqueItems', true],
      ]),
    ],
    ['closure', JSON_CLOSURE],
    ['bytes', own('bytes')],
  ]),
  additional: 'additionalProperties',
  union: 'oneOf',
  closure: JSON_CLOSURE,
}

/** The schema dict of a type; null when the type has none. */
export function lowerType(type: TypeExpr, aliases: SchemaAliases): SchemaData | null {
  return new Lowering(HARN, aliases).lower(type)
}

/** JSON Schema of an annotation; null when it has none. Without `aliases`, as for a tool's signature, none are followed. */
export function lowerTypeToJsonSchema(type: TypeExpr, aliases: SchemaAliases = new Map()): SchemaData | null {
  return new Lowering(JSON_SCHEMA, aliases).lower(type)
}

/** Schema of a tool parameter; an empty one when the annotation is missing or has no schema. */
export function toolParamSchema(type: TypeExpr | null): SchemaData {
  return (type === null ? null : lowerTypeToJsonSchema(type)) ?? data([['type', 'any']])
}

export function schemaAliases(program: Program): SchemaAliases {
  const aliases = new Map<string, TypeExpr>()
  for (const item of program.items) {
    if (item.kind !== 'TypeDecl' || item.attributes.length > 0 || item.typeParams.length > 0) continue
    aliases.set(item.name.text, item.type)
  }
  return aliases
}

class Lowering {
  private readonly dialect: Dialect
  private readonly aliases: SchemaAliases
  /** Aliases being expanded: a recursive one has no schema. */
  private readonly open = new Set<string>()

  constructor(dialect: Dialect, aliases: SchemaAliases) {
    this.dialect = dialect
    this.aliases = aliases
  }

  lower(type: TypeExpr): SchemaData | null {
    switch (type.kind) {
      case 'NilType':
        return this.lowerNamed('nil')
      case 'FnType':
        return this.dialect.closure
      case 'ListType':
        return this.list(type.element)
      case 'LiteralType':
        return this.literal(type.value)
      case 'ShapeType':
        return this.shape(type.fields)
      case 'UnionType':
        return this.union(type.members)
      case 'NamedType':
        return this.nominal(type.name.text, type.args)
    }
  }

  private lowerNamed(name: string): SchemaData | null {
    return Object.hasOwn(this.dialect.names, name) ? (this.dialect.names[name] ?? null) : null
  }

  private nominal(name: string, args: readonly TypeExpr[]): SchemaData | null {
    const [first, second] = args
    if (args.length === 0) return this.lowerNamed(name) ?? this.alias(name)
    if (name === 'list' && args.length === 1 && first !== undefined) return this.list(first)
    if (name !== 'dict' || args.length !== 2 || first === undefined || second === undefined) return null
    const plain = this.lowerNamed('dict')
    const value = isString(first) ? this.lower(second) : null
    return plain === null || value === null ? plain : data([...Object.entries(plain), [this.dialect.additional, value]])
  }

  private alias(name: string): SchemaData | null {
    const body = this.aliases.get(name)
    if (body === undefined || this.open.has(name)) return null
    this.open.add(name)
    const schema = this.lower(body)
    this.open.delete(name)
    return schema
  }

  private list(element: TypeExpr): SchemaData | null {
    const plain = this.lowerNamed('list')
    const items = this.lower(element)
    return plain === null || items === null ? plain : data([...Object.entries(plain), ['items', items]])
  }

  private shape(fields: Extract<TypeExpr, { kind: 'ShapeType' }>['fields']): SchemaData | null {
    const plain = this.lowerNamed('dict')
    const properties: [string, SchemaValue][] = []
    for (const field of fields) {
      const schema = this.lower(field.type)
      if (schema === null) return null
      properties.push([field.name.text, schema])
    }
    if (plain === null) return null
    const required = fields.filter((field) => !field.optional).map((field) => field.name.text)
    const entries: [string, SchemaValue][] = [...Object.entries(plain), ['properties', data(properties)]]
    if (required.length > 0) entries.push(['required', required])
    return data(entries)
  }

  private union(members: readonly TypeExpr[]): SchemaData | null {
    const literals = listLiterals(members)
    if (literals !== null) {
      const plain = this.lowerNamed(literals.base)
      const values = literals.values.map(constant).filter((value) => value !== null)
      return plain === null || values.length < members.length ? plain : data([...Object.entries(plain), ['enum', values]])
    }
    const schemas = members.map((member) => this.lower(member)).filter((schema) => schema !== null)
    return schemas.length === 0 ? null : data([[this.dialect.union, schemas]])
  }

  private literal(value: string | number | bigint | boolean): SchemaData | null {
    if (typeof value === 'boolean') return this.lowerNamed('bool')
    const plain = this.lowerNamed(typeof value === 'string' ? 'string' : 'int')
    const exact = constant(value)
    return plain === null || exact === null ? plain : data([...Object.entries(plain), ['const', exact]])
  }
}

/** A literal as JSON carries it exactly; null for an int beyond ±2^53. */
function constant(value: string | number | bigint): string | number | null {
  if (typeof value === 'string') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}

function data(entries: readonly (readonly [string, SchemaValue])[]): SchemaData {
  const object: { [key: string]: SchemaValue } = Object.create(null) as { [key: string]: SchemaValue }
  for (const [key, value] of entries) object[key] = value
  return object
}

function names(entries: readonly (readonly [string, SchemaData])[]): Readonly<Record<string, SchemaData>> {
  return Object.fromEntries(entries)
}
