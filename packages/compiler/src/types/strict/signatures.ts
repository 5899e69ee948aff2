// Builtins and builtin methods as their definitions state them: how many arguments, of which types, with which result. The language's own
// checks take less than that for known (`checkedAs` in builtins.ts), because what they report stops a run.

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
  /** null where nothing is known, or where it depends on a type parameter. */
  readonly returns: Known
}

type Texts = ReadonlyMap<string, string>

/** Names of methods, whatever they are called on. */
export const METHOD_NAMES: ReadonlySet<string> = new Set(METHOD_ROWS.map(([, text]) => nameIn(text)))

let builtinTexts: Texts | null = null
let methodTexts: ReadonlyMap<string, Texts> | null = null
const read = new Map<string, ExactSignature>()

/** null for a builtin that a host has added, or none. */
export function findBuiltin(name: string): ExactSignature | null {
  builtinTexts ??= new Map(BUILTIN_ROWS.map(([text]) => [nameIn(text), text]))
  const text = builtinTexts.get(name)
  return text === undefined ? null : readExact(text, RESULT_TYPES.get(name))
}

const exactShapes = new WeakSet<Type>()

/** Whether values of a shape have the fields that it names and no others: what builtins give. */
export function isExactShape(type: Type): boolean {
  return exactShapes.has(type)
}

/** Of the dicts that a method makes: these fields and no others. */
export function makeExactShape(fields: Readonly<Record<string, Type>>): Type {
  const shape: Type = {
    kind: 'shape',
    fields: Object.entries(fields).map(([name, type]) => ({ name, type, optional: false })),
  }
  exactShapes.add(shape)
  return shape
}

/** Notes which of the shapes in what a builtin gives are all that there is. */
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

/** Methods of a type by name; none for a type that has no methods. */
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

/** `result`: what it gives, where the signature says less. */
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
