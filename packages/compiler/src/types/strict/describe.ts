// Types as the checks of uses.ts compare and name them: without irrelevant details, and wider where the language converts.

import { show } from '../show.js'
import { DICT, type Known, LIST, STRING, type Type, withoutNil } from '../type.js'
import { EQUAL_GROUPS } from './facts.js'
import type { Kinds } from './kinds.js'
import type { ExactSignature } from './signatures.js'

export function present(type: Known): Known {
  if (type?.kind !== 'union') return type
  const [only, ...more] = withoutNil(type.members)
  return only !== undefined && more.length === 0 ? only : type
}

export function plain(type: Known): Known {
  if (type?.kind === 'list') return LIST
  if (type?.kind === 'shape' || type?.kind === 'dict') return DICT
  if (type?.kind === 'string-literal') return STRING
  if (type === null || type.kind !== 'named') return null
  return ['int', 'float', 'string', 'bool', 'nil', 'list', 'dict'].includes(type.name) ? type : null
}

/** Numbers are interchangeable where one is expected; `isText`: values that are not strings are formatted. */
export function widen(kinds: Kinds, isText = false): Kinds {
  const wider = new Set(kinds)
  if (wider.has('int') || wider.has('float')) wider.add('int').add('float')
  if (wider.has('duration')) wider.add('int').add('float')
  if (wider.has('list')) wider.add('range').add('iter').add('set').add('generator').add('stream')
  if (kinds.has('iter')) wider.add('list').add('range').add('set').add('generator').add('stream').add('dict').add('string')
  if (wider.has('string')) wider.add('bytes')
  if (wider.has('string') && isText) wider.add('int').add('float').add('bool').add('duration')
  // A function can be named by a string.
  if (wider.has('closure')) wider.add('string')
  return wider
}

export function group(kinds: Kinds): Kinds {
  return new Set([...kinds].map((kind) => EQUAL_GROUPS[kind] ?? kind))
}

export function describe(type: Type): string {
  switch (type.kind) {
    case 'list':
      return 'list'
    case 'shape':
    case 'dict':
      return 'dict'
    case 'fn':
      return 'closure'
    default:
      return show(type)
  }
}

export interface CountedParam {
  readonly optional: boolean
  readonly rest: boolean
}

export function countParams(params: readonly CountedParam[]): Pick<ExactSignature, 'required' | 'most'> {
  return {
    required: params.filter(({ optional, rest }) => !optional && !rest).length,
    most: params.some(({ rest }) => rest) ? null : params.length,
  }
}

export function countText(required: number, most: number | null): string {
  const noun = (count: number): string => (count === 1 ? 'argument' : 'arguments')
  if (most === null) return `at least ${required} ${noun(required)}`
  if (required === most) return most === 0 ? 'no arguments' : `${most} ${noun(most)}`
  return `${required} to ${most} arguments`
}
