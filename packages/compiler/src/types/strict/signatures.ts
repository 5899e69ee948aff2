// Builtins and builtin methods as their definitions state them: number and types of arguments, and the result. The language's own
// checks assume less (`checkedAs` in builtins.ts), because their findings stop a run.

import { BUILTIN_ROWS, METHOD_ROWS } from '../builtins.generated.js'
import { splitSignature } from '../builtins.js'
import type { ParamInfo } from '../declarations.js'
import { OTHER_FIELDS, readParams, readType } from '../signature-text.js'
import { ANY, type Known, substitute, type Type } from '../type.js'
import { RESULT_TYPES } from './results.generated.js'

export interface ExactSignature {
  readonly params: readonly ParamInfo[]
  readonly required: number
  /** null for any number. */
  readonly most: number | null
  /** null if unknown, or dependent on a type parameter. */
  readonly returns: Known
}

type Texts = ReadonlyMap<string, string>

/** Names of methods, on any receiver. */
export const METHOD_NAMES: ReadonlySet<string> = new Set(METHOD_ROWS.map(([, text]) => nameIn(text)))

let builtinTexts: Texts | null = null
let methodTexts: ReadonlyMap<string, Texts> | null = null
const read = new Map<string, ExactSignature>()

/** null for a host's builtin, or if there is none. */
export function findBuiltin(name: string): ExactSignature | null {
  builtinTexts ??= new Map(BUILTIN_ROWS.map(([text]) => [nameIn(text), text]))
  const text = builtinTexts.get(name)
  return text === undefined ? null : readExact(text, RESULT_TYPES.get(name))
}

const exactShapes = new WeakSet<Type>()

/** Whether values of a shape have exactly its fields: shapes of builtin results. */
export function isExactShape(type: Type): boolean {
  return exactShapes.has(type)
}

/** For the dicts that a method makes: exactly these fields. */
export function makeExactShape(fields: Readonly<Record<string, Type>>): Type {
  const shape: Type = {
    kind: 'shape',
    fields: Object.entries(fields).map(([name, type]) => ({ name, type, optional: false })),
  }
  exactShapes.add(shape)
  return shape
}

/** Records which shapes in the result of a builtin are complete. */
function readResult(type: Type): Type {
  switch (type.kind) {
    case 'union':
      return { kind: 'union', members: type.members.map(readResult) }
    case 'list':
      return { kind: 'list', element: readResult(type.element) }
    case 'shape': {
      const fields = type.fields.filter(({ name }) => name !== OTHER_FIELDS)
      const read: Type = { kind: 'shape', fields: fields.map((field) => ({ ...field, type: readResult(field.type) })) }
      if (fields.length === type.fields.length) exactShapes.add(read)
      return read
    }
    default:
      return type
  }
}

export function findMethod(receiver: string, name: string): ExactSignature | null {
  const text = listMethods(receiver).get(name)
  return text === undefined ? null : readExact(text)
}

const NO_METHODS: Texts = new Map()

/** Methods of a type by name; empty for a type without methods. */
export function listMethods(receiver: string): Texts {
  if (methodTexts === null) {
    const tables = new Map<string, Map<string, string>>()
    for (const [owner, text] of METHOD_ROWS) {
      let table = tables.get(owner)
      if (table === undefined) tables.set(owner, (table = new Map()))
      table.set(nameIn(text), text)
    }
    methodTexts = tables
  }
  return methodTexts.get(receiver) ?? NO_METHODS
}

function nameIn(text: string): string {
  const end = text.search(/[<(]/)
  return end < 0 ? text : text.slice(0, end)
}

function readExact(text: string, result?: string): ExactSignature {
  let found = read.get(text)
  if (found === undefined) read.set(text, (found = parse(text, result)))
  return found
}

/** `result`: the result type, if the signature is weaker. */
function parse(text: string, result: string | undefined): ExactSignature {
  const { typeParams, params: paramText, returns } = splitSignature(text)
  const params = readParams(paramText)
  const said = result ?? returns
  const isKnown = said !== '' && said !== '?' && said !== 'any' && !typeParams.includes(said)
  const bindings = new Map(typeParams.map((name) => [name, ANY]))
  return {
    params,
    required: params.filter(({ optional, rest }) => !optional && !rest).length,
    most: params.some(({ rest }) => rest) ? null : params.length,
    returns: isKnown ? readResult(substitute(readType(said), bindings)) : null,
  }
}
