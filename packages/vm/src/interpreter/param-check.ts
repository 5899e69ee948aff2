// The run-time check of annotated parameters (reference 01 §13, 02 §16). The compiler lowers an annotation to plain data
// (compiler/types/runtime-check.ts); this carries it out. int and float stand for each other.

import { HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { isInt, typeName } from '../values/value.js'
import { runtimeFault, typeFault } from './fault.js'
import type { RuntimeCheck } from '@bridle/compiler/bytecode'
import type { Fault } from './fault.js'
import type { Value } from '../values/value.js'

export interface ParameterCheck {
  readonly name: string
  readonly check: RuntimeCheck
}

/** The fault of an argument that does not fit, null for one that does. */
export function checkParameter(value: Value, parameter: ParameterCheck): Fault | null {
  const { name, check } = parameter
  switch (check.kind) {
    case 'interface':
      return value instanceof HarnStruct ? null : typeFault(`parameter '${name}': expected value satisfying interface '${check.name}', got ${typeName(value)}`)
    case 'shape': return checkShape(value, name, check)
    case 'dict': {
      const entries = fieldsOf(value)
      if (entries === null) return notObject(value, name)
      for (const key of [...entries.keys()].sort()) {
        const item = entries.get(key)!
        if (!fits(item, check.value)) return typeFault(`parameter '${name}': field '${key}' expected ${show(check.value)}, got ${typeName(item)}`)
      }
      return null
    }
    case 'list': {
      if (!(value instanceof HarnList)) return mismatch(value, name, check)
      for (let at = 0; at < value.length; at++) {
        const item = value.items[at]!
        if (!fits(item, check.element)) {
          return runtimeFault(`TypeError: parameter '${name}': at root[${at}]: expected type '${show(check.element)}', got '${typeName(item)}'`)
        }
      }
      return null
    }
    case 'prim':
      if (check.name === 'dict') return fieldsOf(value) === null ? notObject(value, name) : null
      return fits(value, check) ? null : mismatch(value, name, check)
    case 'union': return fits(value, check) ? null : mismatch(value, name, check)
    case 'enum':
      return fits(value, check) ? null : runtimeFault(`TypeError: parameter '${name}': value must be one of [${check.values.join(', ')}]`)
    case 'const':
      return fits(value, check) ? null : runtimeFault(`TypeError: parameter '${name}': expected constant ${check.value}, got ${display(value)}`)
  }
}

function mismatch(value: Value, name: string, check: RuntimeCheck): Fault {
  return runtimeFault(`TypeError: parameter '${name}' expected ${show(check)}, got ${typeName(value)} (${display(value)})`)
}

function notObject(value: Value, name: string): Fault {
  return typeFault(`parameter '${name}': expected dict or struct, got ${typeName(value)}`)
}

function fieldsOf(value: Value): Map<string, Value> | null {
  return value instanceof HarnDict ? value.map : value instanceof HarnStruct ? value.fields : null
}

function isObjectLike(check: RuntimeCheck): boolean {
  return check.kind === 'shape' || check.kind === 'dict' || (check.kind === 'prim' && check.name === 'dict')
}

function checkShape(value: Value, name: string, check: Extract<RuntimeCheck, { kind: 'shape' }>): Fault | null {
  const fields = fieldsOf(value)
  if (fields === null) return notObject(value, name)
  for (const field of check.fields) {
    if (field.optional || fields.has(field.name)) continue
    const near = nearKey(field.name, fields.keys())
    return typeFault(`parameter '${name}': missing field '${field.name}' (${show(field.check)})${near === null ? '' : `, did you mean '${near}'?`}`)
  }
  for (const field of [...check.fields].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const item = fields.get(field.name)
    if (item === undefined || (field.optional && item === null)) continue
    if (isObjectLike(field.check)) {
      if (fieldsOf(item) === null) return typeFault(`parameter '${name}': field '${field.name}' expected dict or struct, got ${typeName(item)}`)
      const fault = checkParameter(item, { name: `${name}.${field.name}`, check: field.check })
      if (fault !== null) return fault
    } else if (!fits(item, field.check)) {
      return typeFault(`parameter '${name}': field '${field.name}' expected ${show(field.check)}, got ${typeName(item)}`)
    }
  }
  return null
}

/** A present key with the same first letter within edit distance 1 (names up to four characters) or 2. */
function nearKey(name: string, keys: Iterable<string>): string | null {
  const limit = name.length <= 4 ? 1 : 2
  let best: string | null = null
  let bestDistance = limit + 1
  for (const key of [...keys].sort()) {
    if (key[0] !== name[0]) continue
    const distance = editDistance(name, key)
    if (distance < bestDistance) {
      best = key
      bestDistance = distance
    }
  }
  return best
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[to.length]!
}

function fits(value: Value, check: RuntimeCheck): boolean {
  switch (check.kind) {
    case 'prim':
      switch (check.name) {
        case 'int': case 'float': return isInt(value) || value instanceof HarnFloat
        case 'string': return typeof value === 'string'
        case 'bool': return typeof value === 'boolean'
        case 'list': return value instanceof HarnList
        case 'dict': return fieldsOf(value) !== null
        case 'set': return value instanceof HarnSet
        case 'nil': return value === null
        case 'closure': return value instanceof HarnClosure
        case 'bytes': return value instanceof HarnBytes
      }
      return false
    case 'shape': {
      const fields = fieldsOf(value)
      return fields !== null && check.fields.every((field) => {
        const item = fields.get(field.name)
        return item === undefined ? field.optional : (field.optional && item === null) || fits(item, field.check)
      })
    }
    case 'list': return value instanceof HarnList && value.view().every((item) => fits(item, check.element))
    case 'dict': {
      const fields = fieldsOf(value)
      return fields !== null && [...fields.values()].every((item) => fits(item, check.value))
    }
    case 'union': return check.members.some((member) => fits(value, member))
    case 'enum': return check.values.some((literal) => isLiteral(value, check.base, literal))
    case 'const': return isLiteral(value, check.base, check.value)
    case 'interface': return value instanceof HarnStruct
  }
}

function isLiteral(value: Value, base: 'string' | 'int', literal: string | number): boolean {
  if (base === 'string') return value === literal
  return isInt(value) && String(value) === String(literal)
}

/** The type as messages name it. */
function show(check: RuntimeCheck): string {
  switch (check.kind) {
    case 'prim': return check.name
    case 'shape': return 'dict'
    case 'list': return 'list'
    case 'dict': return 'dict'
    case 'union': return check.members.map(show).join('|')
    case 'enum': return check.base
    case 'const': return check.base
    case 'interface': return check.name
  }
}
