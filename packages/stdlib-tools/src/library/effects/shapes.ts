// Shapes of the arguments of effects. A shape is both things at once: the type that TypeScript derives the union `Effect` from, and the
// test of an effect that comes as data (readEffect). So what a kind carries is written once, in its row of the table.

import { HarnFloat } from '@bridle/vm/families'
import type { Plain, PlainRecord } from '@bridle/vm/families'

/** What one argument may be. */
export interface Shape<T> {
  /** Follows "must be" in messages. */
  readonly says: string
  readonly fits: (value: Plain | undefined) => boolean
  /** Never there: it carries the type. */
  readonly type?: T
}

/** An argument that may be missing. */
export interface Optional<T> extends Shape<T> {
  readonly isOptional: true
}

/** Arguments by name. */
export interface Fields {
  readonly [name: string]: Shape<unknown> | Optional<unknown>
}

/** All arguments of a kind. */
export interface ArgsShape<T> {
  /** The error in the arguments; null if they are valid. */
  readonly problem: (args: PlainRecord) => string | null
  readonly type?: T
}

type TypeOf<S> = S extends Shape<infer T> ? T : never

type OptionalIn<F> = { [Name in keyof F]: F[Name] extends Optional<unknown> ? Name : never }[keyof F]

/** The same type with its members in one place: messages of the type checker stay readable. */
type Flat<T> = { readonly [Key in keyof T]: T[Key] }

type TypeOfFields<F> = Flat<
  { readonly [Name in Exclude<keyof F, OptionalIn<F>>]: TypeOf<F[Name]> } & {
    readonly [Name in OptionalIn<F>]?: TypeOf<F[Name]>
  }
>

export type TypeOfArgs<S> = S extends ArgsShape<infer T> ? T : never

// ------------------------------------------------------------------------------------------------------------ one argument

export const text: Shape<string> = { says: 'a string', fits: (value) => typeof value === 'string' }
export const number: Shape<number> = { says: 'a number', fits: (value) => typeof value === 'number' }
export const flag: Shape<boolean> = { says: 'true or false', fits: (value) => typeof value === 'boolean' }
export const bytes: Shape<Uint8Array> = { says: 'bytes', fits: (value) => value instanceof Uint8Array }
export const content: Shape<string | Uint8Array> = {
  says: 'a string or bytes',
  fits: (value) => typeof value === 'string' || value instanceof Uint8Array,
}
/** Any data; the provider validates it. */
export const data: Shape<Plain> = { says: 'data', fits: (value) => value !== undefined }
/** A record of data. */
export const record: Shape<PlainRecord> = { says: 'a dict', fits: isRecord }

export function oneOf<const Word extends string>(...words: readonly Word[]): Shape<Word> {
  const known: ReadonlySet<unknown> = new Set(words)
  return { says: `one of ${words.join(', ')}`, fits: (value) => known.has(value) }
}

export function listOf<T>(each: Shape<T>): Shape<readonly T[]> {
  return {
    says: `a list, each ${each.says}`,
    fits: (value) => Array.isArray(value) && value.every((item: Plain) => each.fits(item)),
  }
}

export function recordOf<T>(each: Shape<T>): Shape<{ readonly [name: string]: T }> {
  return { says: `a dict, each ${each.says}`, fits: (value) => isRecord(value) && Object.values(value).every(each.fits) }
}

/** A record with these members, and no others. */
export function dictOf<const F extends Fields>(fields: F): Shape<TypeOfFields<F>> {
  return {
    says: `a dict of ${Object.keys(fields).join(', ')}`,
    fits: (value) => isRecord(value) && problemOfFields(fields, value) === null,
  }
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return { says: `${shape.says} or nil`, fits: (value) => value === null || shape.fits(value) }
}

export function either<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return { says: `${one.says} or ${other.says}`, fits: (value) => one.fits(value) || other.fits(value) }
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { says: shape.says, fits: (value) => value === undefined || shape.fits(value), isOptional: true }
}

// ----------------------------------------------------------------------------------------------------------- all arguments

/** The same arguments at every time. */
export function args<const F extends Fields>(fields: () => F): ArgsShape<TypeOfFields<F>> {
  // Made when the first arguments come as data, which most programs never see.
  let made: F | null = null
  return { problem: (given) => problemOfFields((made ??= fields()), given) }
}

/** Arguments that depend on the operation, which stands in `op`. `also` may be there with each. */
export function byOp<const Ops extends { readonly [op: string]: Fields }, const Also extends Fields = Record<never, never>>(
  ops: Ops,
  also?: Also,
): ArgsShape<{ [Op in keyof Ops & string]: Flat<{ readonly op: Op } & TypeOfFields<Ops[Op] & Also>> }[keyof Ops & string]> {
  return {
    problem: ({ op = null, ...given }) => {
      const row = typeof op === 'string' && Object.hasOwn(ops, op) ? ops[op] : undefined
      const fields: Fields | undefined = row === undefined ? undefined : { op: text, ...row, ...also }
      return fields === undefined ? `unknown operation ${describe(op)}` : problemOfFields(fields, { op, ...given })
    },
  }
}

function problemOfFields(fields: Fields, given: PlainRecord): string | null {
  for (const name of Object.keys(given)) if (!Object.hasOwn(fields, name)) return `unknown argument "${name}"`
  for (const [name, { says, fits }] of Object.entries(fields))
    if (!fits(given[name])) return `${name} must be ${says}, got ${describe(given[name])}`
  return null
}

function isRecord(value: Plain | undefined): value is PlainRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !(value instanceof Uint8Array) && !(value instanceof HarnFloat)
}

const LONGEST_SHOWN = 40

/** What was found, without showing data that may be secret or large. */
function describe(value: Plain | undefined): string {
  if (value === null || value === undefined) return 'nil'
  if (typeof value === 'string') return value.length > LONGEST_SHOWN ? 'a string' : JSON.stringify(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'object') return 'a number'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof HarnFloat) return 'a number'
  return Array.isArray(value) ? 'a list' : 'a dict'
}
