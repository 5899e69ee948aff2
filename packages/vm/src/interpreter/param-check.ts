// The run-time check of annotated parameters. The compiler lowers an annotation to plain data
// (compiler/types/runtime-check.ts), which is evaluated here. int and float are interchangeable.

import { HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { equals } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { visit } from '../values/meter.js'
import { HarnBytes, HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { compareText } from '../values/text-order.js'
import { isInt, typeName } from '../values/value.js'
import { makeRuntimeFault, makeTypeFault } from './fault.js'
import { editDistance } from '@bridle/compiler/signatures'
import type { RuntimeCheck } from '@bridle/compiler/bytecode'
import type { Fault } from './fault.js'
import type { Value } from '../values/value.js'

export interface ParameterCheck {
  readonly name: string
  readonly check: RuntimeCheck
}

// The checks that most parameters have, by number; 0 for every other.
const QUICK: Readonly<Partial<Record<string, number>>> = { int: 1, float: 1, string: 2, bool: 3, list: 4, dict: 5, closure: 6 }

export function findQuickCheck({ check }: ParameterCheck): number {
  return check.kind === 'prim' ? (QUICK[check.name] ?? 0) : 0
}

/** Whether a value certainly passes a numbered check; false also if the full check is needed. */
export function passesQuickly(value: Value, quick: number): boolean {
  switch (quick) {
    case 1:
      return typeof value === 'number' || value instanceof HarnFloat
    case 2:
      return typeof value === 'string'
    case 3:
      return typeof value === 'boolean'
    case 4:
      return value instanceof HarnList
    case 5:
      return value instanceof HarnDict || value instanceof HarnStruct
    case 6:
      return value instanceof HarnClosure
    default:
      return false
  }
}

/** Elements checked per step of other walks, as a power of two. */
const LOOKED_BITS = 3

/** One check: annotations such as `list<list<int>>` are walks. */
class Walk {
  private visited = 0

  look(elements: number): void {
    this.visited = visit(this.visited, 1 + (elements >> LOOKED_BITS))
  }
}

/** The fault of an argument that does not fit, null for one that does. */
export function checkParameter(value: Value, parameter: ParameterCheck): Fault | null {
  const { name, check } = parameter
  if (check.kind === 'interface') {
    if (value instanceof HarnStruct) return null
    return makeTypeFault(`parameter '${name}': expected value satisfying interface '${check.name}', got ${typeName(value)}`)
  }
  const complaint = findComplaint(new Walk(), value, name, check)
  if (complaint === null) return null
  return isObjectLike(check) ? makeTypeFault(complaint) : makeRuntimeFault(`TypeError: ${complaint}`)
}

type ShapeCheck = Extract<RuntimeCheck, { kind: 'shape' }>

/**
 * What is wrong with the argument, or with the field at a path such as `p.o.k`. Checks of dict shapes report their first failure
 * with the path of the field as the name of the parameter. Inside lists all failures are collected, each with a path such as
 * `root[0].k`.
 */
function findComplaint(walk: Walk, value: Value, path: string, check: RuntimeCheck): string | null {
  switch (check.kind) {
    case 'shape':
    case 'dict':
      return findObjectComplaint(walk, value, path, check)
    case 'prim':
      if (check.name === 'dict') return asKeyed(value) === null ? describeNotObject(value, path) : null
      return fits(walk, value, check) ? null : describeMismatch(value, path, check)
    case 'union':
      return fits(walk, value, check) ? null : describeMismatch(value, path, check)
    case 'list':
    case 'enum':
    case 'const': {
      if (!hasBaseType(walk, value, check)) return describeMismatch(value, path, check)
      const findings: string[] = []
      collect(walk, value, 'root', check, findings)
      return findings.length === 0 ? null : `parameter '${path}': ${findings.join('; ').replace(/^at root: /, '')}`
    }
    case 'interface':
      return null // only occurs as a whole annotation, never within one
  }
}

type DictCheck = Extract<RuntimeCheck, { kind: 'dict' }>

function findObjectComplaint(walk: Walk, value: Value, path: string, check: ShapeCheck | DictCheck): string | null {
  const fields = asKeyed(value)
  if (fields === null) return describeNotObject(value, path)
  if (check.kind === 'dict') {
    // Keys are sorted only for the message.
    if (fits(walk, value, check)) return null
    for (const key of fields.keys()) {
      walk.look(24)
      const complaint = findFieldComplaint(walk, fields.get(key)!, path, key, check.value)
      if (complaint !== null) return complaint
    }
    return null
  }
  walk.look(8 * check.fields.length)
  for (const field of check.fields) {
    if (field.optional || fields.has(field.name)) continue
    const near = findNearKey(walk, field.name, fields.keys())
    const hint = near === null ? '' : `, did you mean '${near}'?`
    return `parameter '${path}': missing field '${field.name}' (${show(field.check)})${hint}`
  }
  for (const field of sortByName(check)) {
    const item = fields.get(field.name)
    const complaint = item === undefined ? null : findFieldComplaint(walk, item, path, field.name, field.check)
    if (complaint !== null) return complaint
  }
  return null
}

function findFieldComplaint(walk: Walk, item: Value, path: string, key: string, check: RuntimeCheck): string | null {
  if (isObjectLike(check)) {
    if (asKeyed(item) === null) return `parameter '${path}': field '${key}' expected dict or struct, got ${typeName(item)}`
  } else if (check.kind !== 'union' && !hasBaseType(walk, item, check)) {
    return `parameter '${path}': field '${key}' expected ${show(check)}, got ${formatSeenType(item)}`
  }
  return findComplaint(walk, item, `${path}.${key}`, check)
}

/** Adds all problems of a value inside a list; a value of the wrong type is not examined further. */
function collect(walk: Walk, value: Value, place: string, check: RuntimeCheck, findings: string[]): void {
  if (fits(walk, value, check)) return
  if (check.kind === 'const') {
    findings.push(`at ${place}: expected constant ${check.value}, got ${display(value)}`)
  } else if (check.kind === 'union') {
    findings.push(`at ${place}: value did not match any union branch`)
  } else if (!hasBaseType(walk, value, check)) {
    findings.push(`at ${place}: expected type '${show(check)}', got '${formatSeenType(value)}'`)
  } else if (check.kind === 'enum') {
    findings.push(`at ${place}: value must be one of [${check.values.join(', ')}]`)
  } else if (check.kind === 'list' && value instanceof HarnList) {
    for (const [at, item] of value.view().entries()) collect(walk, item, `${place}[${at}]`, check.element, findings)
  } else if (check.kind === 'dict') {
    const fields = asKeyed(value)!
    for (const key of fields.keys()) collect(walk, fields.get(key)!, `${place}.${key}`, check.value, findings)
  } else if (check.kind === 'shape') {
    const fields = asKeyed(value)!
    for (const field of check.fields) {
      if (!field.optional && !fields.has(field.name)) findings.push(`at ${place}: missing required key '${field.name}'`)
    }
    for (const field of sortByName(check)) {
      const item = fields.get(field.name)
      if (item !== undefined) collect(walk, item, `${place}.${field.name}`, field.check, findings)
    }
  }
}

function sortByName(check: ShapeCheck): readonly ShapeCheck['fields'][number][] {
  return [...check.fields].sort((left, right) => compareText(left.name, right.name))
}

function describeMismatch(value: Value, path: string, check: RuntimeCheck): string {
  return `parameter '${path}' expected ${show(check)}, got ${formatSeenType(value)} (${display(value)})`
}

function describeNotObject(value: Value, path: string): string {
  return `parameter '${path}': expected dict or struct, got ${typeName(value)}`
}

/** A struct passes as a dict, and messages about types call it one. */
function formatSeenType(value: Value): string {
  return value instanceof HarnStruct ? 'dict' : typeName(value)
}

/** Whether a value has the type that `show` names; for a list, shape or literal, the part before the details. */
function hasBaseType(walk: Walk, value: Value, check: RuntimeCheck): boolean {
  switch (check.kind) {
    case 'list':
      return value instanceof HarnList
    case 'shape':
    case 'dict':
      return asKeyed(value) !== null
    case 'enum':
    case 'const':
      return fits(walk, value, { kind: 'prim', name: check.base })
    default:
      return fits(walk, value, check)
  }
}

function asKeyed(value: Value): Keyed | null {
  return value instanceof Keyed ? value : null
}

function isObjectLike(check: RuntimeCheck): boolean {
  return check.kind === 'shape' || check.kind === 'dict' || (check.kind === 'prim' && check.name === 'dict')
}

/** A present key with the same first letter within edit distance 1 (names up to four characters) or 2. */
function findNearKey(walk: Walk, name: string, keys: Iterable<string>): string | null {
  const limit = name.length <= 4 ? 1 : 2
  const all = [...keys]
  walk.look(all.length << LOOKED_BITS)
  let best: string | null = null
  let bestDistance = limit + 1
  for (const key of all.filter((each) => each[0] === name[0] && Math.abs(each.length - name.length) <= limit).sort()) {
    const distance = editDistance(name, key)
    if (distance < bestDistance) {
      best = key
      bestDistance = distance
    }
  }
  return best
}

function fits(walk: Walk, value: Value, check: RuntimeCheck): boolean {
  switch (check.kind) {
    case 'prim':
      switch (check.name) {
        case 'int':
        case 'float':
          return isInt(value) || value instanceof HarnFloat
        case 'string':
          return typeof value === 'string'
        case 'bool':
          return typeof value === 'boolean'
        case 'list':
          return value instanceof HarnList
        case 'dict':
          return asKeyed(value) !== null
        case 'set':
          return value instanceof HarnSet
        case 'nil':
          return value === null
        case 'closure':
          return value instanceof HarnClosure
        case 'bytes':
          return value instanceof HarnBytes
      }
      return false
    case 'shape': {
      const fields = asKeyed(value)
      walk.look(8 * check.fields.length)
      return (
        fields !== null &&
        check.fields.every((field) => {
          const item = fields.get(field.name)
          return item === undefined ? field.optional : fits(walk, item, field.check)
        })
      )
    }
    case 'list': {
      if (!(value instanceof HarnList)) return false
      walk.look(value.length)
      return value.view().every((item) => fits(walk, item, check.element))
    }
    case 'dict': {
      const fields = asKeyed(value)
      if (fields === null) return false
      walk.look(fields.size)
      for (const item of fields.values()) if (!fits(walk, item, check.value)) return false
      return true
    }
    case 'union':
      walk.look(check.members.length)
      return check.members.some((member) => fits(walk, value, member))
    case 'enum':
      return check.values.some((literal) => isLiteral(value, check.base, literal))
    case 'const':
      return isLiteral(value, check.base, check.value)
    case 'interface':
      return value instanceof HarnStruct
  }
}

function isLiteral(value: Value, base: 'string' | 'int', literal: string | number): boolean {
  if (base === 'string') return value === literal
  return equals(value, Number.isSafeInteger(Number(literal)) ? Number(literal) : BigInt(literal))
}

/** The type as messages name it. */
function show(check: RuntimeCheck): string {
  switch (check.kind) {
    case 'prim':
      return check.name
    case 'shape':
      return 'dict'
    case 'list':
      return 'list'
    case 'dict':
      return 'dict'
    case 'union':
      return check.members.map(show).join('|')
    case 'enum':
      return check.base
    case 'const':
      return check.base
    case 'interface':
      return check.name
  }
}
