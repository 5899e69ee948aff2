// JSON Schema → types of the checker. What a type cannot express becomes the hole `_`, which fits everything: a type made here may be wider
// than its schema, never narrower.

import {
  BOOL,
  DICT,
  type Field,
  FLOAT,
  INT,
  isNamed,
  type Known,
  LIST,
  makeUnion,
  NIL,
  sameType,
  STRING,
  type Type,
  WILDCARD,
} from '../type.js'

export type JsonSchema = { readonly [key: string]: unknown }

const MAX_DEPTH = 8
/** Maximum number of schemas per type: a schema that refers to itself ten times would expand to millions. */
const MOST_SCHEMAS = 2_000
const MOST_HOPS = 20
const MOST_LITERALS = 50

const SIMPLE: ReadonlyMap<string, Type> = new Map([
  ['string', STRING],
  ['integer', INT],
  ['number', FLOAT],
  ['boolean', BOOL],
  ['null', NIL],
  ['object', DICT],
  ['array', LIST],
])

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Follows `$ref: "#/…"` within the document, and joins `allOf` of objects; null if it says nothing. */
export function resolveSchema(schema: unknown, root: JsonSchema): JsonSchema | null {
  let found = schema
  for (let hops = 0; isSchema(found) && typeof found['$ref'] === 'string'; hops++) {
    const ref: string = found['$ref']
    if (hops >= MOST_HOPS || !ref.startsWith('#')) return null
    let at: unknown = root
    for (const part of ref.split('/').slice(1))
      at = isSchema(at) && Object.hasOwn(at, unescapePart(part)) ? at[unescapePart(part)] : undefined
    found = at
  }
  if (!isSchema(found)) return null
  return Array.isArray(found['allOf']) ? joinAll(found, found['allOf'], root) : found
}

function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Properties and requirements of all parts; for other keywords the first one counts. */
function joinAll(schema: JsonSchema, parts: readonly unknown[], root: JsonSchema): JsonSchema | null {
  const { allOf: _, ...own } = schema
  let joined: { [key: string]: unknown } = own
  for (const part of parts.slice(0, MOST_LITERALS)) {
    const more = isSchema(part) && !('allOf' in part) ? resolveSchema(part, root) : null
    // An unknown keyword may forbid or allow anything.
    if (more === null || 'allOf' in more) return null
    joined = {
      ...more,
      ...joined,
      ...joinedObjects('properties', joined, more),
      ...joinedLists('required', joined, more),
    }
  }
  return joined
}

function joinedObjects(key: string, one: JsonSchema, other: JsonSchema): JsonSchema {
  return isSchema(one[key]) && isSchema(other[key]) ? { [key]: { ...other[key], ...one[key] } } : {}
}

function joinedLists(key: string, one: JsonSchema, other: JsonSchema): JsonSchema {
  return Array.isArray(one[key]) && Array.isArray(other[key])
    ? { [key]: [...(one[key] as readonly unknown[]), ...(other[key] as readonly unknown[])] }
    : {}
}

/** Names of the types that a value may have; null when the schema does not say. */
export function listTypes(schema: JsonSchema): readonly string[] | null {
  const { type } = schema
  if (typeof type === 'string') return SIMPLE.has(type) ? [type] : null
  if (Array.isArray(type)) return type.every((each) => typeof each === 'string' && SIMPLE.has(each)) ? (type as string[]) : null
  return isSchema(schema['properties']) && !('anyOf' in schema) && !('oneOf' in schema) ? ['object'] : null
}

export function listAlternatives(schema: JsonSchema): readonly unknown[] | null {
  const found = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(found) && found.length > 0 ? found : null
}

/** The values that `enum` or `const` allow; null when neither is present. */
export function listValues(schema: JsonSchema): readonly unknown[] | null {
  if (Array.isArray(schema['enum'])) return schema['enum']
  return 'const' in schema ? [schema['const']] : null
}

export function requiredKeys(schema: JsonSchema): ReadonlySet<string> {
  const { required } = schema
  return new Set(Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [])
}

/** The type of a schema's values; null when unknown. */
export function typeOfSchema(schema: unknown, root: JsonSchema): Known {
  const type = new Reader(root).read(schema, 0)
  return isNamed(type, '_') ? null : type
}

export function argumentsType(schema: JsonSchema | null): { readonly args: Type; readonly isRequired: boolean } {
  const found = schema === null ? null : resolveSchema(schema, schema)
  const type = schema === null || found === null ? null : typeOfSchema(found, schema)
  return { args: type ?? DICT, isRequired: found !== null && requiredKeys(found).size > 0 }
}

class Reader {
  private readonly root: JsonSchema
  private left = MOST_SCHEMAS

  constructor(root: JsonSchema) {
    this.root = root
  }

  read(schema: unknown, depth: number): Type {
    const found = depth > MAX_DEPTH || this.left-- <= 0 ? null : resolveSchema(schema, this.root)
    if (found === null) return WILDCARD
    const values = listValues(found)
    if (values !== null) return literals(values)
    const alternatives = listAlternatives(found)
    if (alternatives !== null) return union(alternatives.map((each) => this.read(each, depth + 1)))
    const types = listTypes(found)
    return types === null ? WILDCARD : union(types.map((type) => this.named(type, found, depth)))
  }

  private named(type: string, schema: JsonSchema, depth: number): Type {
    if (type === 'array') {
      const { items } = schema
      if (!isSchema(items) || 'prefixItems' in schema) return LIST
      return { kind: 'list', element: this.read(items, depth + 1) }
    }
    if (type === 'object') return this.object(schema, depth)
    return SIMPLE.get(type) ?? WILDCARD
  }

  private object(schema: JsonSchema, depth: number): Type {
    const { properties, additionalProperties } = schema
    if (!isSchema(properties) || Object.keys(properties).length === 0) {
      if (!isSchema(additionalProperties)) return DICT
      return { kind: 'dict', key: STRING, value: this.read(additionalProperties, depth + 1) }
    }
    const required = requiredKeys(schema)
    const fields: Field[] = Object.entries(properties).map(([name, inner]) => {
      return { name, type: this.read(inner, depth + 1), optional: !required.has(name) }
    })
    return { kind: 'shape', fields }
  }
}

function literals(values: readonly unknown[]): Type {
  if (values.length === 0 || values.length > MOST_LITERALS) return WILDCARD
  const types = values.map((value): Type => {
    if (typeof value === 'string') return { kind: 'string-literal', value }
    if (typeof value === 'number') return Number.isSafeInteger(value) ? { kind: 'int-literal', value } : FLOAT
    if (typeof value === 'boolean') return BOOL
    return value === null ? NIL : WILDCARD
  })
  return union(types)
}

function union(types: readonly Type[]): Type {
  const members: Type[] = []
  for (const type of types) {
    if (isNamed(type, '_')) return WILDCARD
    for (const each of type.kind === 'union' ? type.members : [type])
      if (!members.some((other) => sameType(other, each))) members.push(each)
  }
  return members.length === 0 ? WILDCARD : makeUnion(members)
}
