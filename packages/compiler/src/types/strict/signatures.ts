// Builtins and builtin methods as their definitions state them: how many arguments, of which types, with which result. The language's own
// checks take less than that for known (`checkedAs` in builtins.ts), because what they report stops a run.

import { BUILTIN_ROWS, METHOD_ROWS } from '../builtins.generated.js'
import { splitSignature } from '../builtins.js'
import type { ParamInfo } from '../declarations.js'
import { readParams, readType } from '../signature-text.js'
import { ANY, type Known, substitute } from '../type.js'

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
  return text === undefined ? null : readExact(text)
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

function readExact(text: string): ExactSignature {
  let found = read.get(text)
  if (found === undefined) read.set(text, (found = parse(text)))
  return found
}

function parse(text: string): ExactSignature {
  const { typeParams, params: paramText, returns } = splitSignature(text)
  const params = readParams(paramText)
  const isKnown = returns !== '' && returns !== '?' && returns !== 'any' && !typeParams.includes(returns)
  const bindings = new Map(typeParams.map((name) => [name, ANY]))
  return {
    params,
    required: params.filter(({ optional, rest }) => !optional && !rest).length,
    most: params.some(({ rest }) => rest) ? null : params.length,
    returns: isKnown ? substitute(readType(returns), bindings) : null,
  }
}
