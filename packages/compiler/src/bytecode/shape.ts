// Checks that data from outside has the form of a chunk: every part present and of its type, every constant of the kind that its
// instruction needs. The effect of the code is not checked here.

import type { Constant, ModuleChunk } from './chunk.js'
import type { OpcodeName } from './opcodes.js'
import { FUNCTION_KINDS } from './chunk.js'

type Data = Readonly<Record<string, unknown>>

const KINDS: ReadonlySet<unknown> = new Set(FUNCTION_KINDS)

/** Problems in the parts of a chunk; empty when the rest of the verifier can rely on its type. */
export function chunkProblems(chunk: ModuleChunk): string[] {
  // The type holds for chunks of our compiler; chunks from outside pass here too.
  const data: unknown = chunk
  if (!isData(data)) return ['not a chunk']
  const { key, functions, constants, names, builtins, units, moduleSlots, exports } = data
  if (typeof key !== 'string') return ['the chunk has no key']
  for (const [name, list] of Object.entries({ names, builtins, units, moduleSlots }))
    if (!isTexts(list)) return [`${name} are not texts`]
  if (!Array.isArray(constants)) return ['the chunk has no constants']
  const bad = constants.findIndex((constant) => !isConstant(constant))
  if (bad >= 0) return [`constant ${bad} is malformed`]
  if (!Array.isArray(functions) || functions.length === 0) return ['no main function']
  for (const [index, fn] of functions.entries()) {
    const problem = functionProblem(fn)
    if (problem !== null) return [`function ${index}: ${problem}`]
  }
  if (!isData(exports)) return ['the chunk has no exports']
  for (const [name, slot] of Object.entries(exports)) {
    if (!isIndex(slot) || slot >= (moduleSlots as readonly string[]).length)
      return [`export ${name}: no module slot ${String(slot)}`]
  }
  return []
}

function functionProblem(fn: unknown): string | null {
  if (!isData(fn)) return 'not a function'
  const { name, kind, params, firstDefault, rest, slots, stack, code, handlers, captures, lines, locals } = fn
  if (typeof name !== 'string' || !KINDS.has(kind)) return 'no name or kind'
  if (!isTexts(params) || !isTexts(captures)) return 'no parameters or captures'
  if (!isIndex(firstDefault) || firstDefault > params.length) return 'defaults out of range'
  if (rest !== -1 && rest !== params.length - 1) return 'a rest parameter that is not the last'
  if (!isIndex(slots) || !isIndex(stack)) return 'no frame size'
  if (!isInts(code) || !isInts(lines) || lines.length % 3 !== 0) return 'no code or lines'
  if (!isAll(handlers, (each) => isData(each) && [each['start'], each['end'], each['target'], each['depth']].every(isIndex)))
    return 'malformed handlers'
  const isLocal = (each: unknown): boolean =>
    isData(each) &&
    typeof each['name'] === 'string' &&
    isIndex(each['slot']) &&
    each['slot'] < slots &&
    isIndex(each['start']) &&
    isIndex(each['end'])
  return isAll(locals, isLocal) ? null : 'malformed locals'
}

function isConstant(constant: unknown): boolean {
  switch (typeof constant) {
    case 'string':
    case 'boolean':
      return true
    // Ints beyond ±2^53 are bigints, so that each int has one form.
    case 'number':
      return Number.isSafeInteger(constant) && !Object.is(constant, -0)
    case 'bigint':
      return isLongInt(constant)
  }
  if (constant === null) return true
  if (!isData(constant)) return false
  switch (constant['tag']) {
    case 'float':
      return typeof constant['value'] === 'number'
    case 'duration':
      return typeof constant['ms'] === 'bigint' ? isLongInt(constant['ms']) : Number.isSafeInteger(constant['ms'])
    case 'data':
      return typeof constant['json'] === 'string' && parseJson(constant['json']) !== undefined
    case 'struct':
      return typeof constant['name'] === 'string' && (constant['fields'] === null || isTexts(constant['fields']))
    default:
      return false
  }
}

function isLongInt(value: bigint): boolean {
  return (
    BigInt.asIntN(64, value) === value && (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
  )
}

/** Whether a constant has the form that its instruction needs. */
export function constantFits(name: OpcodeName, operands: readonly number[], constant: Constant): boolean {
  const tag = typeof constant === 'object' && constant !== null ? constant.tag : null
  switch (name) {
    case 'BUILD_STRUCT':
      return tag === 'struct'
    case 'CONST':
      return tag !== 'struct'
    case 'RAISE':
      return typeof constant === 'string'
    // Suggestions.
    case 'LOAD_GLOBAL':
    case 'CELL_VARIABLE':
    case 'CALL_NAMED':
    case 'CALL_NAMED_SPREAD':
    case 'TAIL_NAMED':
      return constant === null || typeof constant === 'string'
  }
  if (typeof constant !== 'object' || constant === null || constant.tag !== 'data') return false
  const data = parseJson(constant.json)
  switch (name) {
    case 'DEFINE_IMPL':
      return isTexts(data) && data.length === operands[2]
    case 'CHECK_PARAM':
      return isData(data) && typeof data['name'] === 'string' && isCheck(data['check'])
    default:
      return isTexts(data)
  }
}

/** KEEP WITH: RuntimeCheck in types/runtime-check.ts. */
function isCheck(check: unknown): boolean {
  if (!isData(check)) return false
  const { kind, name, base } = check
  switch (kind) {
    case 'prim':
    case 'interface':
      return typeof name === 'string'
    case 'shape':
      return isAll(
        check['fields'],
        (each) =>
          isData(each) && typeof each['name'] === 'string' && typeof each['optional'] === 'boolean' && isCheck(each['check']),
      )
    case 'list':
      return isCheck(check['element'])
    case 'dict':
      return isCheck(check['value'])
    case 'union':
      return isAll(check['members'], isCheck)
    case 'enum':
      return (base === 'string' || base === 'int') && isAll(check['values'], isLiteral)
    case 'const':
      return (base === 'string' || base === 'int') && isLiteral(check['value'])
    default:
      return false
  }
}

function isLiteral(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** undefined for a string that is not JSON. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function isTexts(value: unknown): value is readonly string[] {
  return isAll(value, (each) => typeof each === 'string')
}

/** Operands are 32-bit ints. */
function isInts(value: unknown): value is readonly number[] {
  return isAll(value, (each) => typeof each === 'number' && (each | 0) === each)
}

function isAll(value: unknown, fits: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}
