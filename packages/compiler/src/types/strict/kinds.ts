// Run-time kinds of a type: the names that `type_of` returns. Two types conflict only if no value can have
// both; everything finer is left to the language's own checks.

import { resolveHead } from '../aliases.js'
import type { Scope } from '../scope.js'
import type { Known, Type } from '../type.js'

export type Kinds = ReadonlySet<string>

const PLAIN: ReadonlySet<string> = new Set([
  ...['int', 'float', 'string', 'bool', 'nil', 'list', 'set', 'bytes', 'duration', 'range', 'iter', 'pair'],
  ...['generator', 'stream', 'channel', 'task_handle'],
])

const MORE: Readonly<Record<string, readonly string[]>> = {
  number: ['int', 'float'],
  // A struct passes where a dict is expected.
  dict: ['dict', 'struct'],
  closure: ['closure', 'builtin'],
  Pair: ['pair'],
  Result: ['enum'],
}

/** null if unknown. */
export function listKinds(type: Known, scope: Scope): Kinds | null {
  if (type === null) return null
  const kinds = new Set<string>()
  return addKinds(type, scope, kinds, 0) ? kinds : null
}

function addKinds(type: Type, scope: Scope, into: Set<string>, depth: number): boolean {
  if (depth > 20) return false
  const head = resolveHead(type, scope)
  switch (head.kind) {
    case 'named':
    case 'applied':
      return addNamed(head.name, scope, into)
    case 'union':
      return head.members.every((member) => addKinds(member, scope, into, depth + 1))
    case 'shape':
    case 'dict':
      into.add('dict').add('struct')
      return true
    case 'list':
    case 'iter':
    case 'generator':
    case 'stream':
      into.add(head.kind)
      return true
    case 'fn':
      into.add('closure').add('builtin')
      return true
    case 'string-literal':
      into.add('string')
      return true
    case 'int-literal':
      into.add('int')
      return true
    case 'never':
      return false
  }
}

function addNamed(name: string, scope: Scope, into: Set<string>): boolean {
  if (scope.isTypeParam(name) || scope.interfaceNamed(name) !== undefined) return false
  if (scope.struct(name) !== undefined) into.add('struct')
  else if (scope.enumNamed(name) !== undefined) into.add('enum')
  else if (PLAIN.has(name)) into.add(name)
  else if (Object.hasOwn(MORE, name)) for (const kind of MORE[name]!) into.add(kind)
  else return false
  return true
}

/** Whether every kind is one of `allowed`; false if unknown. */
export function isWithin(kinds: Kinds | null, allowed: ReadonlySet<string>): boolean {
  if (kinds === null || kinds.size === 0) return false
  for (const kind of kinds) if (!allowed.has(kind)) return false
  return true
}

export function isDisjoint(one: Kinds, other: Kinds): boolean {
  for (const kind of one) if (other.has(kind)) return false
  return true
}
