// Result types of method calls. Lazy sequences have a precise table; for every other receiver the name of the method alone
// decides, except where the receiver is known to have another method of that name.

import type { Scope } from './scope.js'
import { ANY, BOOL, DICT, FLOAT, INT, isNamed, ITER, type Known, LIST, NIL, STRING, type Type, makeUnion } from './type.js'

const BY_NAME: Readonly<Record<string, Type>> = {
  contains: BOOL,
  starts_with: BOOL,
  ends_with: BOOL,
  empty: BOOL,
  has: BOOL,
  any: BOOL,
  all: BOOL,
  count: INT,
  index_of: INT,
  to_int: INT,
  to_float: FLOAT,
  trim: STRING,
  lowercase: STRING,
  uppercase: STRING,
  reverse: STRING,
  replace: STRING,
  substring: STRING,
  pad_left: STRING,
  pad_right: STRING,
  repeat: STRING,
  join: STRING,
  to_string: STRING,
  split: LIST,
  chars: LIST,
  map: LIST,
  flat_map: LIST,
  sort: LIST,
  keys: LIST,
  values: LIST,
  entries: LIST,
  filter: LIST,
  window: LIST,
  each_cons: LIST,
  sliding_window: LIST,
  merge: DICT,
  map_values: DICT,
  rekey: DICT,
  map_keys: DICT,
}

const WINDOWS = new Set(['window', 'each_cons', 'sliding_window'])
const REKEYED = new Set(['merge', 'map_values', 'rekey', 'map_keys'])
/** Methods that return a lazy sequence on a range and a list elsewhere. */
const LAZY_ON_RANGE = new Set(['map', 'flat_map', 'filter', 'sort', 'reverse'])

export function methodType(receiver: Known, method: string, scope: Scope): Known {
  if (method === 'iter') return liftReceiver(receiver)
  if (receiver !== null && (receiver.kind === 'iter' || isNamed(receiver, 'iter'))) {
    return iterMethod(receiver.kind === 'iter' ? receiver.element : ANY, method)
  }
  if (receiver !== null && isUserType(receiver, scope)) return null
  const type = Object.hasOwn(BY_NAME, method) ? (BY_NAME[method] ?? null) : null
  if (type === null) return null
  // The reference types a reversed list as a string, a filtered dict of unknown type as a list, and a mapped range as a list; leaving
  // the type unknown only removes errors.
  if (method === 'reverse' && !isNamed(receiver, 'string')) return null
  if (receiver === null) return method === 'filter' ? null : type
  if (isNamed(receiver, 'range') && LAZY_ON_RANGE.has(method)) return null
  if (method === 'filter') return isDictLike(receiver) ? DICT : LIST
  if (WINDOWS.has(method)) return receiver.kind === 'list' ? { kind: 'list', element: receiver } : LIST
  if (REKEYED.has(method)) return receiver.kind === 'dict' ? { kind: 'dict', key: STRING, value: receiver.value } : DICT
  return type
}

function isDictLike(type: Type): boolean {
  return type.kind === 'shape' || type.kind === 'dict' || isNamed(type, 'dict')
}

/** A struct, enum or interface, which has its own methods. */
function isUserType(type: Type, scope: Scope): boolean {
  if (type.kind !== 'named' && type.kind !== 'applied') return false
  return (
    scope.struct(type.name) !== undefined ||
    scope.enumNamed(type.name) !== undefined ||
    scope.interfaceNamed(type.name) !== undefined ||
    scope.isTypeParam(type.name)
  )
}

function makePair(first: Type, second: Type): Type {
  return { kind: 'applied', name: 'Pair', args: [first, second] }
}

function makeIter(element: Type): Type {
  return { kind: 'iter', element }
}

/** `.iter()` */
function liftReceiver(receiver: Known): Known {
  if (receiver === null) return null
  switch (receiver.kind) {
    case 'iter':
      return receiver
    case 'list':
    case 'generator':
    case 'stream':
      return makeIter(receiver.element)
    case 'dict':
      return makeIter(makePair(receiver.key, receiver.value))
    case 'named':
      return ['list', 'dict', 'set', 'string', 'iter'].includes(receiver.name) ? ITER : null
    default:
      return null
  }
}

function iterMethod(element: Type, method: string): Known {
  switch (method) {
    case 'iter':
    case 'filter':
    case 'take':
    case 'skip':
    case 'take_while':
    case 'skip_while':
    case 'chain':
      return makeIter(element)
    case 'map':
    case 'flat_map':
      return ITER
    case 'zip':
      return makeIter(makePair(element, ANY))
    case 'enumerate':
      return makeIter(makePair(INT, element))
    case 'chunks':
    case 'windows':
      return makeIter({ kind: 'list', element })
    case 'to_list':
      return { kind: 'list', element }
    case 'to_set':
      return { kind: 'applied', name: 'set', args: [element] }
    case 'to_dict':
      return DICT
    case 'count':
      return INT
    case 'sum':
      return makeUnion([INT, FLOAT])
    case 'min':
    case 'max':
    case 'first':
    case 'last':
    case 'find':
      return makeUnion([element, NIL])
    case 'any':
    case 'all':
      return BOOL
    case 'for_each':
      return NIL
    default:
      return null
  }
}
