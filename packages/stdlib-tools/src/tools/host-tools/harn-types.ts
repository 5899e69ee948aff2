// JSON Schema → the text of a type in the script language, so that functions of the host are checked where they are called.
// What the language cannot say becomes `any`: a type here may be wider than the schema, never narrower.

import { lookup } from '@bridle/vm'
import { KEYWORDS } from '@bridle/parser'
import { isSchema, resolveRef } from './edge.js'
import type { JsonSchema } from './schema.js'

const MAX_DEPTH = 8
/** Schemas that one type looks at, and characters that it is long: a schema that refers to itself ten times would make millions. */
const MOST_SCHEMAS = 2_000
const LONGEST = 20_000
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const RESERVED: ReadonlySet<string> = new Set(KEYWORDS)

const SIMPLE: { readonly [type: string]: string } = lookup({
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'nil',
  object: 'dict',
  array: 'list',
})

export function harnType(schema: JsonSchema | undefined, root: JsonSchema | undefined = schema): string {
  const type = formatType(schema, { root, left: MOST_SCHEMAS }, 0) ?? 'any'
  return type.length > LONGEST ? 'any' : type
}

/** True for names that may stand after `fn` and before `:`. */
export function isName(text: string): boolean {
  return NAME.test(text) && !RESERVED.has(text)
}

interface Document {
  readonly root: JsonSchema | undefined
  /** Remaining number of schemas to convert; beyond that every type is `any`. */
  left: number
}

/** null when nothing narrower than `any` can be said. */
function formatType(schema: JsonSchema | undefined, root: Document, depth: number): string | null {
  const found = resolveRef(schema, root.root)
  if (found === undefined || depth > MAX_DEPTH || root.left-- <= 0) return null
  const { type } = found
  if (Array.isArray(found['enum'])) return formatLiterals(found['enum'])
  if ('const' in found) return formatLiterals([found['const']])
  const alternatives = found['anyOf'] ?? found['oneOf']
  if (Array.isArray(alternatives))
    return formatUnion(alternatives.map((each) => (isSchema(each) ? formatType(each, root, depth + 1) : null)))
  if (Array.isArray(type))
    return formatUnion(type.map((each) => formatType({ ...found, type: each as unknown }, root, depth + 1)))
  if (type === 'array') {
    const item = isSchema(found['items']) && !('prefixItems' in found) ? formatType(found['items'], root, depth + 1) : null
    return item === null ? 'list' : `list<${item}>`
  }
  if (type === 'object') return formatObjectType(found, root, depth)
  return typeof type === 'string' && Object.hasOwn(SIMPLE, type) ? SIMPLE[type]! : null
}

function formatObjectType(schema: JsonSchema, root: Document, depth: number): string {
  const properties = schema['properties']
  if (!isSchema(properties) || Object.keys(properties).length === 0) {
    const values = isSchema(schema['additionalProperties']) ? formatType(schema['additionalProperties'], root, depth + 1) : null
    return values === null ? 'dict' : `dict<string, ${values}>`
  }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : [])
  const fields: string[] = []
  for (const [name, inner] of Object.entries(properties)) {
    if (!NAME.test(name)) return 'dict'
    const type = (isSchema(inner) ? formatType(inner, root, depth + 1) : null) ?? 'any'
    fields.push(`${name}${required.has(name) ? '' : '?'}: ${type}`)
  }
  return `{${fields.join(', ')}}`
}

function formatLiterals(values: readonly unknown[]): string | null {
  if (values.length === 0 || values.length > 50) return null
  const texts = values.map((value) => {
    if (typeof value === 'string' && /^[\w .:/-]*$/.test(value)) return JSON.stringify(value)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return String(value)
    return value === null ? 'nil' : null
  })
  if (texts.every((text) => text !== null)) return texts.join(' | ')
  return values.every((value) => typeof value === 'string') ? 'string' : null
}

function formatUnion(types: readonly (string | null)[]): string | null {
  if (types.length === 0 || types.some((type) => type === null)) return null
  return [...new Set(types)].join(' | ')
}
