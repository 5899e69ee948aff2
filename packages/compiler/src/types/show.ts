// Formats types. Messages show a type as it was stored, before aliases are followed: scripts and suites match on the result.

import { sameType, type Type } from './type.js'

export function show(type: Type): string {
  switch (type.kind) {
    case 'named':
      return type.name
    case 'never':
      return 'never'
    case 'union':
      return type.members.map(show).join(' | ')
    case 'shape':
      return `{${type.fields.map((field) => `${field.name}${field.optional ? '?' : ''}: ${show(field.type)}`).join(', ')}}`
    case 'list':
      return `list<${show(type.element)}>`
    case 'iter':
      return `iter<${show(type.element)}>`
    case 'generator':
      return `Generator<${show(type.element)}>`
    case 'stream':
      return `Stream<${show(type.element)}>`
    case 'dict':
      return `dict<${show(type.key)}, ${show(type.value)}>`
    case 'applied':
      return `${type.name}<${type.args.map(show).join(', ')}>`
    case 'fn':
      return `fn(${type.params.map(show).join(', ')}) -> ${show(type.returns)}`
    case 'string-literal':
      return quote(type.value)
    case 'int-literal':
      return String(type.value)
  }
}

/** A string in double quotes with `\` and `"` escaped, as literal types and missing variants print. */
export function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/**
 * Why one shape does not fit another, as ` (missing field 'f' (T); …)` with the leading blank; '' when neither side is a stored
 * shape or there is no reason to show. Optional fields are not compared, as in relate.ts.
 */
export function shapeDetail(expected: Type, actual: Type): string {
  if (expected.kind !== 'shape' || actual.kind !== 'shape') return ''
  const parts: string[] = []
  for (const field of expected.fields) {
    if (field.optional) continue
    const found = actual.fields.find((other) => other.name === field.name)
    if (found === undefined) parts.push(`missing field '${field.name}' (${show(field.type)})`)
    else if (!sameType(found.type, field.type) && show(found.type) !== show(field.type)) {
      parts.push(`field '${field.name}' has type ${show(found.type)}, expected ${show(field.type)}`)
    }
  }
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

/** The structural notation that one message of the language prints instead of the usual one. */
export function showStructure(type: Type): string {
  switch (type.kind) {
    case 'named':
      return `Named(${quote(type.name)})`
    case 'never':
      return 'Never'
    case 'union':
      return `Union([${type.members.map(showStructure).join(', ')}])`
    case 'shape':
      return `Shape([${type.fields
        .map((field) => {
          return `ShapeField { name: ${quote(field.name)}, type_expr: ${showStructure(field.type)}, optional: ${field.optional} }`
        })
        .join(', ')}])`
    case 'list':
      return `List(${showStructure(type.element)})`
    case 'iter':
      return `Iter(${showStructure(type.element)})`
    case 'generator':
      return `Generator(${showStructure(type.element)})`
    case 'stream':
      return `Stream(${showStructure(type.element)})`
    case 'dict':
      return `DictType(${showStructure(type.key)}, ${showStructure(type.value)})`
    case 'applied':
      return `Applied { name: ${quote(type.name)}, args: [${type.args.map(showStructure).join(', ')}] }`
    case 'fn':
      return `FnType { params: [${type.params.map(showStructure).join(', ')}], return_type: ${showStructure(type.returns)} }`
    case 'string-literal':
      return `LitString(${quote(type.value)})`
    case 'int-literal':
      return `LitInt(${type.value})`
  }
}
