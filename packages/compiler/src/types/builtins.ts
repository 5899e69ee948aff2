// Builtins as the checker sees them: a name, an optional return type, and for a few a generic signature that gives a better
// one if every type parameter can be bound. The rows are generated from the definitions (scripts/generate-builtin-types.ts). The
// checker never counts or compares the arguments of a builtin.

import { BUILTIN_ROWS } from './builtins.generated.js'
import type { ParamInfo } from './declarations.js'
import { readParams, readType } from './signature-text.js'
import { ANY, type Known, type Type } from './type.js'

export interface BuiltinSignature {
  readonly name: string
  readonly params: readonly ParamInfo[]
  /** The result type without bound type parameters; null when it is unknown. */
  readonly returns: Known
  readonly generic: GenericSignature | null
}

export interface GenericSignature {
  readonly typeParams: readonly string[]
  readonly params: readonly Type[]
  readonly returns: Type
}

export type BuiltinSignatures = ReadonlyMap<string, BuiltinSignature>

/** Callable without a row in the table. */
const CONSTRUCTORS = new Set(['Ok', 'Err', 'Some', 'None'])

/** A signature that is parsed on demand: a script calls only a few of a thousand builtins. */
class TextSignature implements BuiltinSignature {
  readonly name: string
  private readonly text: string
  private readonly checkedAs: string | undefined
  private knownParts: SignatureParts | undefined
  private knownParams: readonly ParamInfo[] | undefined
  private knownReturns: Known | undefined
  private knownGeneric: GenericSignature | null | undefined

  constructor(name: string, text: string, checkedAs: string | undefined) {
    this.name = name
    this.text = text
    this.checkedAs = checkedAs
    this.knownParts = undefined
    this.knownParams = undefined
    this.knownReturns = undefined
    this.knownGeneric = undefined
  }

  get params(): readonly ParamInfo[] {
    return (this.knownParams ??= readParams(this.parts.params))
  }

  get returns(): Known {
    if (this.knownReturns === undefined) {
      const { typeParams, returns } = this.parts
      // A result that depends on a type parameter is known only if that is bound.
      const plain = this.checkedAs ?? (typeParams.length > 0 ? '' : returns)
      this.knownReturns = isSaid(plain) ? readType(plain) : null
    }
    return this.knownReturns
  }

  get generic(): GenericSignature | null {
    if (this.knownGeneric === undefined) {
      const { typeParams, returns } = this.parts
      const isGeneric = typeParams.length > 0 && isSaid(returns)
      const params = isGeneric ? this.params.map(({ type }) => type ?? ANY) : []
      this.knownGeneric = isGeneric ? { typeParams, params, returns: readType(returns) } : null
    }
    return this.knownGeneric
  }

  private get parts(): SignatureParts {
    return (this.knownParts ??= splitSignature(this.text))
  }
}

/** A result of type `any` is unknown. */
function isSaid(returns: string): boolean {
  return returns !== '' && returns !== '?' && returns !== 'any'
}

export const BUILTINS: BuiltinSignatures = readRows()

/** The types of a definition. */
export interface HostSignature {
  /** `area<T>(shape: T, scale?: float) -> float`, or the name alone. */
  readonly signature: string
  readonly checkedAs?: string | null
}

/** The static table and further builtins of a host. */
export function withBuiltins(given: Iterable<HostSignature>): BuiltinSignatures {
  const table = new Map(BUILTINS)
  for (const each of given) {
    const added = readHostSignature(each)
    if (!table.has(added.name)) table.set(added.name, added)
  }
  return new Map([...table].sort(([one], [other]) => (one < other ? -1 : 1)))
}

export interface SignatureParts {
  readonly typeParams: readonly string[]
  readonly params: string
  readonly returns: string
}

const NAME = /^[\w.]+/
const FORM = /^[\w.]+(?:<([\w, ]+)>)?\(/

/** The parts of `name<T>(params) -> returns`; throws for text of another form. */
export function splitSignature(text: string): SignatureParts {
  const head = FORM.exec(text)
  if (head === null) throw new Error(`unreadable signature: ${text}`)
  const open = head[0].length
  const close = findParamsEnd(text, open)
  const behind = text.slice(close + 1).trim()
  if (behind !== '' && !/^->\s*\S/.test(behind)) throw new Error(`unreadable signature: ${text}`)
  return {
    typeParams: head[1] === undefined ? [] : head[1].split(',').map((name) => name.trim()),
    params: text.slice(open, close),
    returns: behind.slice(2).trim(),
  }
}

/** Index of the parenthesis before the parameters. */
function findParamsEnd(text: string, from: number): number {
  for (let at = from, depth = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '"') {
      at = text.indexOf('"', at + 1)
      continue
    }
    if (char === ')' && depth === 0) return at
    if ('(<[{'.includes(char)) depth++
    else if (')>]}'.includes(char) && text[at - 1] !== '-') depth--
  }
  throw new Error(`unreadable signature: ${text}`)
}

/** An unparsable signature leaves the types unknown: the name alone is enough to call it. */
function readHostSignature({ signature, checkedAs }: HostSignature): BuiltinSignature {
  const name = NAME.exec(signature)?.[0] ?? signature
  try {
    const read = new TextSignature(name, signature, checkedAs ?? undefined)
    const { params, returns, generic } = read
    return { name, params, returns, generic }
  } catch {
    return { name, params: [], returns: null, generic: null }
  }
}

/** Names that resolve as call targets without a declaration. */
export function isReservedCallName(name: string): boolean {
  return CONSTRUCTORS.has(name) || name.startsWith('__') || name.startsWith('hostlib_')
}

function readRows(): BuiltinSignatures {
  return new Map(
    BUILTIN_ROWS.map(([text, checkedAs]) => {
      const end = text.indexOf('(')
      const angle = text.indexOf('<')
      const name = text.slice(0, angle >= 0 && angle < end ? angle : end)
      return [name, new TextSignature(name, text, checkedAs)]
    }),
  )
}
