// The one unpacker: checks the arguments of a builtin before its code runs. Names, order and types come from the
// signature. The definition gives the messages for arguments that do not fit, because the language words many of them
// individually. The checks are compiled once, at the first call.
//
//   builtinTaking('send(channel: channel, value: any) -> bool', { doc: '…' }, {
//     fewer: '{f}: requires channel and value',
//     not: { channel: '{f}: first argument must be a channel' },
//   }, (ctx, channel, value) => …)                                       // channel: HarnChannel, value: Value
//
// A default follows the type: `name?: string = "default"`. In a message, {f} is the builtin, {n} the number of the argument from
// 1, {param} its name, {type} its type in the signature, {got} the type of the argument.

import { editDistance, findClosest, OPTIONS_OF_LINT } from '@bridle/compiler/signatures'
import { Control, builtin, withRun } from './builtin.js'
import { readShape } from './option-shapes.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnAtomic, HarnChannel, HarnTask } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnDuration, HarnFloat, HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { isCallable, isInt, typeName } from '../values/value.js'
import type { BuiltinDef, Context, Result, Run } from './builtin.js'
import type { HarnBuiltin, HarnClosure } from '../values/callable.js'
import type { Int, Value } from '../values/value.js'

/** Messages, for all parameters or by parameter. */
type Wordings = string | { readonly [param: string]: string }

export interface Demands {
  /** How refusals are raised: as a thrown string (the default), or as a runtime or type error. */
  readonly raise?: 'throw' | 'runtime' | 'type'
  /** Message when fewer arguments are passed than the signature requires; checked first. */
  readonly fewer?: string
  /** Fewest arguments, if that differs from the signature, and most, if more are refused too. */
  readonly least?: number
  readonly most?: number
  /** The result for too few arguments, if that is not an error. */
  readonly fewerGive?: () => Value
  /** The value of a missing required argument, if that is not an error. */
  readonly missing?: { readonly [param: string]: Value }
  /** Message for a missing required argument, checked in the order of parameters. */
  readonly absent?: Wordings
  /** Message for a value of another type than in the signature. Parameters that are not named here may be anything. */
  readonly not?: Wordings
  /** Parameters that are formatted to a string, with the message for an empty or absent one; null: it may be empty. */
  readonly text?: { readonly [param: string]: string | null }
  /** Further checks of single arguments, after those of the type: the message, or null. */
  readonly fits?: { readonly [param: string]: Fit }
}

export type Fit = (value: Value, facts: FitFacts) => string | null

export interface FitFacts {
  /** Names for messages: of the builtin and of the parameter. */
  readonly name: string
  readonly param: string
  readonly isPassed: boolean
}

// ---- types of the arguments that a definition's code receives

interface Kinds {
  readonly string: string
  readonly int: Int
  readonly bool: boolean
  readonly float: HarnFloat
  readonly dict: HarnDict
  readonly list: HarnList
  readonly set: HarnSet
  readonly bytes: HarnBytes
  readonly closure: HarnClosure | HarnBuiltin
  readonly channel: HarnChannel
  readonly duration: HarnDuration
  readonly range: HarnRange
  readonly pair: HarnPair
  readonly atomic: HarnAtomic
  readonly task_handle: HarnTask
}

type Split<P extends string> = P extends '' ? [] : P extends `${infer H}, ${infer R}` ? [H, ...Split<R>] : [P]

type ParamsIn<S extends string> = S extends `${string}(${infer P}) -> ${string}`
  ? P
  : S extends `${string}(${infer P})`
    ? P
    : never

type Known<T extends string> = T extends `${infer X} | ${infer Y}`
  ? Known<X> | Known<Y>
  : T extends keyof Kinds
    ? Kinds[T]
    : T extends 'nil'
      ? null
      : Value

type IsChecked<N extends string, D extends Demands> = D['not'] extends string
  ? true
  : D['not'] extends { readonly [K in N]: string }
    ? true
    : false

type Argument<N extends string, T extends string, Nil, D extends Demands> = D['text'] extends { readonly [K in N]: unknown }
  ? string
  : IsChecked<N, D> extends true
    ? Known<T> | Nil
    : Value

type One<P extends string, D extends Demands> = P extends `${infer Q} = ${string}`
  ? One<Q, D>
  : P extends `${infer N}?: ${infer T}`
    ? Argument<N, T, null, D>
    : P extends `${infer N}: ${infer T}`
      ? Argument<N, T, never, D>
      : Value

type All<Ps extends readonly string[], D extends Demands> = { [I in keyof Ps]: One<Ps[I], D> }

/** Types with brackets are not modelled here; their arguments are still checked at run time. */
type Unpacked<S extends string, D extends Demands> =
  ParamsIn<S> extends `${string}${'<' | '{' | '(' | '...'}${string}` ? Value[] : All<Split<ParamsIn<S>>, D>

/** Code of a definition, which runs after the checks. */
export type TakingRun<S extends string, D extends Demands> = (ctx: Context, ...args: Unpacked<S, D>) => Result

/** Defines a builtin whose arguments are checked before `run` gets them. */
export function builtinTaking<const S extends string, const D extends Demands>(
  signature: S,
  options: Parameters<typeof builtin>[1],
  demands: D,
  run: TakingRun<S, D>,
): BuiltinDef {
  // The checks guarantee exactly what Unpacked says.
  const given = run as unknown as Run
  let checked: Run | null = null
  const make = (): Run => (checked = unpack(def, demands, given))
  const def: BuiltinDef = builtin(signature, options, (ctx, ...args) => (checked ?? make())(ctx, ...args))
  if (def.rest || def.arity > 2) return def
  // The usual number of arguments needs no array.
  const short: Run =
    def.arity === 2
      ? (ctx, a = null, b = null) => (checked ?? make())(ctx, a, b)
      : def.arity === 1
        ? (ctx, a = null) => (checked ?? make())(ctx, a)
        : (ctx) => (checked ?? make())(ctx)
  return { ...def, run: short }
}

// ---- dicts of options

/**
 * Makes the builtin refuse options dicts with a key that is nearly one of their shape. Other unknown keys are ignored,
 * as scripts rely on; the checker reports them. If other keys are allowed, a near one is refused only if the others hold dicts
 * and it does not.
 */
export function withKnownOptions(def: BuiltinDef): BuiltinDef {
  const params = Object.entries(def.shapes ?? {}).flatMap(([param, shape]) => {
    const others = OTHERS.exec(shape)?.[1]
    return others === undefined || others === 'dict' ? [{ param, shape, isOpen: others !== undefined }] : []
  })
  if (params.length === 0) return def
  let checks: readonly OptionCheck[] | null = null
  const make = (): readonly OptionCheck[] => {
    const names = listParamNames(def.signature)
    checks = params.map(({ param, shape, isOpen }) => ({
      at: names.indexOf(param),
      keys: new Set([...readShape(shape).map(({ name }) => name), ...OPTIONS_OF_LINT]),
      isOpen,
    }))
    return checks
  }
  return withRun(def, (ctx, ...args) => {
    const places = checks ?? make()
    for (const [place, { at, keys, isOpen }] of places.entries()) {
      const options = args[at]
      if (!(options instanceof HarnDict)) continue
      // A dict counts as options only as the last argument.
      if (ctx.argc > at + 1 && place + 1 < places.length) continue
      if (options.size > keys.size + MOST_UNKNOWN) continue
      for (const key of options.keys()) {
        if (keys.has(key)) continue
        const near = suggestKey(key, keys)
        if (near === null || (isOpen && options.get(key) instanceof HarnDict)) continue
        return ctx.throw(describeUnknownKey(def.name, key, near, keys))
      }
    }
    return def.run(ctx, ...args)
  })
}

/** The type of keys outside the shape. */
const OTHERS = /^ *\*: (\w+)/m

interface OptionCheck {
  readonly at: number
  readonly keys: ReadonlySet<string>
  readonly isOpen: boolean
}

/** A key that differs in a letter or two. For short keys nearly everything would be near. */
function suggestKey(key: string, keys: ReadonlySet<string>): string | null {
  const near = findClosest(key, keys, (each) => !OPTIONS_OF_LINT.includes(each))
  return near !== null && editDistance(key, near, 3) <= Math.min(2, key.length / 3) ? near : null
}

function describeUnknownKey(name: string, key: string, near: string, keys: ReadonlySet<string>): string {
  const known = [...keys].filter((each) => !OPTIONS_OF_LINT.includes(each) && each !== '*')
  const shown = known.slice(0, MOST_SHOWN).join(', ') + (known.length > MOST_SHOWN ? ', …' : '')
  return `${name}: unknown option key '${key}' (expected one of: ${shown}); did you mean '${near}'?`
}

/**
 * A dict with more unknown keys than that is data, not a typo. It is not checked: sorting its keys and comparing each with
 * the known ones would be uncharged work, and without sorting the result would depend on their order.
 */
const MOST_UNKNOWN = 64

/** Keys that a message lists, so that it fits into a line. */
const MOST_SHOWN = 24

// ---- checks

interface Param {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  /** The default in the signature: the value when nothing is passed. */
  readonly otherwise: Value | undefined
  readonly at: number
}

/** Checks one argument: returns the value for the code, or what is raised. */
type Check = (ctx: Context, value: Value) => Value | Control

function unpack(def: BuiltinDef, demands: Demands, run: Run): Run {
  const params = readParams(def.signature)
  const checks = params.map((param) => makeCheck(def, param, demands))
  const fewest = demands.least ?? params.filter(({ isOptional }) => !isOptional).length
  const { fewerGive, most = Infinity, raise = 'throw' } = demands
  const fewer = demands.fewer?.replaceAll('{f}', def.name)
  const refuseCount = (ctx: Context): Result | undefined => {
    if (ctx.argc >= fewest && ctx.argc <= most) return undefined
    if (fewerGive !== undefined && ctx.argc < fewest) return fewerGive()
    return fewer === undefined ? undefined : ctx[raise](fewer)
  }
  const counts = fewer !== undefined || fewerGive !== undefined
  const [first = take, second = take] = checks
  if (!def.rest && params.length === 1) {
    return (ctx, a = null) => {
      const problem = counts ? refuseCount(ctx) : undefined
      if (problem !== undefined) return problem
      const x = first(ctx, a)
      return x instanceof Control ? x : run(ctx, x)
    }
  }
  if (!def.rest && params.length === 2) {
    return (ctx, a = null, b = null) => {
      const problem = counts ? refuseCount(ctx) : undefined
      if (problem !== undefined) return problem
      const x = first(ctx, a)
      if (x instanceof Control) return x
      const y = second(ctx, b)
      return y instanceof Control ? y : run(ctx, x, y)
    }
  }
  return (ctx, ...args) => {
    const problem = counts ? refuseCount(ctx) : undefined
    if (problem !== undefined) return problem
    for (let at = 0; at < checks.length; at++) {
      if (checks[at] === take) continue
      const value = checks[at]!(ctx, args[at] ?? null)
      if (value instanceof Control) return value
      args[at] = value
    }
    return run(ctx, ...args)
  }
}

const take: Check = (_ctx, value) => value

function makeCheck(def: BuiltinDef, param: Param, demands: Demands): Check {
  const { raise = 'throw' } = demands
  const { at, name } = param
  const otherwise = param.otherwise ?? demands.missing?.[name]
  const steps: Check[] = []
  const absent = param.isOptional ? undefined : findWording(demands.absent, name)
  if (absent !== undefined) {
    const say = compile(absent, def, param)
    steps.push((ctx, value) => (ctx.argc <= at ? ctx[raise](say(null)) : value))
  }
  const empty = demands.text?.[name]
  if (empty !== undefined) {
    const say = empty === null ? null : compile(empty, def, param)
    const nothing = typeof otherwise === 'string' ? otherwise : ''
    steps.push((ctx, value) => {
      const text = typeof value === 'string' ? value : ctx.argc > at ? display(value) : nothing
      return text === '' && say !== null ? ctx[raise](say(null)) : text
    })
  } else if (otherwise !== undefined) {
    steps.push((ctx, value) => (ctx.argc <= at ? otherwise : value))
  }
  const not = empty === undefined ? findWording(demands.not, name) : undefined
  if (not !== undefined) {
    const say = compile(not, def, param)
    const fits = makeTest(param)
    steps.push((ctx, value) => (fits(value) ? value : ctx[raise](say(value))))
  }
  const fit = demands.fits?.[name]
  if (fit !== undefined) {
    steps.push((ctx, value) => {
      const problem = fit(value, { name: def.name, param: name, isPassed: ctx.argc > at })
      return problem === null ? value : ctx[raise](problem)
    })
  }
  const [first, ...more] = steps
  if (first === undefined) return take
  if (more.length === 0) return first
  return (ctx, given) => {
    let value = first(ctx, given)
    for (const step of more) {
      if (value instanceof Control) return value
      value = step(ctx, value)
    }
    return value
  }
}

function findWording(wordings: Wordings | undefined, name: string): string | undefined {
  return typeof wordings === 'string' ? wordings : wordings?.[name]
}

function compile(wording: string, def: BuiltinDef, param: Param): (value: Value) => string {
  const text = wording
    .replaceAll('{f}', def.name)
    .replaceAll('{n}', String(param.at + 1))
    .replaceAll('{param}', param.name)
    .replaceAll(
      '{type}',
      param.type
        .split('|')
        .map((each) => each.trim())
        .join(' or '),
    )
  return text.includes('{got}') ? (value) => text.replaceAll('{got}', typeName(value)) : () => text
}

const TESTS: { readonly [type: string]: (value: Value) => boolean } = {
  any: () => true,
  nil: (value) => value === null,
  string: (value) => typeof value === 'string',
  int: isInt,
  float: (value) => value instanceof HarnFloat,
  number: (value) => isInt(value) || value instanceof HarnFloat,
  bool: (value) => typeof value === 'boolean',
  dict: (value) => value instanceof HarnDict,
  list: (value) => value instanceof HarnList,
  set: (value) => value instanceof HarnSet,
  bytes: (value) => value instanceof HarnBytes,
  closure: isCallable,
  channel: (value) => value instanceof HarnChannel,
  duration: (value) => value instanceof HarnDuration,
  range: (value) => value instanceof HarnRange,
  pair: (value) => value instanceof HarnPair,
  atomic: (value) => value instanceof HarnAtomic,
  task_handle: (value) => value instanceof HarnTask,
}

function makeTest({ type, isOptional, name }: Param): (value: Value) => boolean {
  const tests = listMembers(type).map((member) => {
    const test = TESTS[member]
    if (test === undefined) throw new Error(`the type of the parameter ${name} cannot be checked: ${type}`)
    return test
  })
  // nil means that an optional argument was left out.
  if (isOptional) tests.push(TESTS['nil']!)
  const [first, second] = tests as [(value: Value) => boolean, ...((value: Value) => boolean)[]]
  if (second === undefined) return first
  return tests.length === 2 ? (value) => first(value) || second(value) : (value) => tests.some((test) => test(value))
}

/** The kinds of values in a type: the members of lists and dicts are not checked. */
function listMembers(type: string): readonly string[] {
  const bare: string[] = []
  let depth = 0
  for (const char of type) {
    if (char === '{' && depth === 0) bare.push('dict')
    if ('(<{'.includes(char)) depth += 1
    if (depth === 0) bare.push(char)
    if (')>}'.includes(char)) depth -= 1
  }
  return bare
    .join('')
    .split('|')
    .map((each) => each.trim())
}

export function listParamNames(signature: string): readonly string[] {
  return readParams(signature).map(({ name }) => name)
}

function readParams(signature: string): readonly Param[] {
  const params: Param[] = []
  const open = signature.indexOf('(')
  for (let at = open + 1, from = at, depth = 0; at < signature.length; at += 1) {
    const char = signature[at]!
    if (char === '"') {
      at = signature.indexOf('"', at + 1)
      continue
    }
    if ((char === ')' || char === ',') && depth === 0) {
      const param = readParam(signature.slice(from, at).trim(), params.length)
      if (param !== null) params.push(param)
      if (char === ')') break
      from = at + 1
    }
    if ('(<[{'.includes(char)) depth += 1
    else if (')>]}'.includes(char) && signature[at - 1] !== '-') depth -= 1
  }
  return params
}

/** `name?: type = value`; null for nothing. */
function readParam(text: string, at: number): Param | null {
  if (text === '') return null
  const equals = text.indexOf(' = ')
  const said = equals < 0 ? text : text.slice(0, equals)
  const otherwise = equals < 0 ? undefined : (JSON.parse(text.slice(equals + 3)) as Value)
  const colon = said.indexOf(':')
  const head = colon < 0 ? said : said.slice(0, colon)
  const type = colon < 0 ? 'any' : said.slice(colon + 1).trim()
  const isRest = head.startsWith('...')
  const isOptional = isRest || head.endsWith('?')
  const name = head.slice(isRest ? 3 : 0, head.endsWith('?') ? -1 : undefined)
  return { name, type, isOptional, otherwise, at }
}
