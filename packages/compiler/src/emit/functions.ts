// Functions and closures → function chunks and the instruction that makes the closure.

import type { Block, Expr, ExprOf, Param } from '@bridle/parser'
import type { FunctionKind } from '../bytecode/chunk.js'
import { emitCount } from './count.js'
import { FunctionEmitter } from './function.js'
import { emitDeferEpilogue } from './errors.js'
import { emitExpr, emitReturnTop } from './expressions.js'
import { emitBody } from './statements.js'
import { isTaken, listTakenParts, ownBody } from './names.js'

export interface FunctionSource {
  readonly name: string
  readonly params: readonly Param[]
  readonly body: Block
  /** Declared as `gen fn`. */
  readonly isStream: boolean
  /** The value of the last statement is returned; false for declared functions. */
  readonly implicitReturn: boolean
  /** The name for calls of itself; null without one. */
  readonly selfName: string | null
  readonly closure: boolean
}

/** Parameters after this many are not transferred. */
const MOST_TAKEN = 24

const NO_PARTS: ReadonlySet<Expr> = new Set()

/** Compiles a function and pushes its closure. */
export function emitFunction(parent: FunctionEmitter, source: FunctionSource): void {
  const { assignments, yields, hasDefer } = ownBody(source.body.body)
  const kind: FunctionKind = source.isStream ? 'stream' : yields ? 'generator' : source.closure ? 'closure' : 'function'
  const names = source.params.map((param) => param.name.text)
  const firstDefault = source.params.findIndex((param) => param.defaultValue !== null)
  const isPlain = !hasDefer && (kind === 'function' || kind === 'closure')
  const mayTake = source.params.map((param, at) => isPlain && !param.rest && param.defaultValue === null && at < MOST_TAKEN)
  const taken = source.params.map(({ name }, at) => mayTake[at]! && isTaken(name.text, source, assignments))
  const parts = source.params.map(({ name }, at) =>
    mayTake[at]! && !taken[at]! ? listTakenParts(name.text, source, assignments) : NO_PARTS,
  )
  const fn = new FunctionEmitter(parent.module, parent, {
    name: source.name,
    kind,
    params: names,
    firstDefault: firstDefault < 0 ? names.length : firstDefault,
    rest: source.params.findIndex((param) => param.rest),
    selfName: source.selfName !== null && !names.includes(source.selfName) ? source.selfName : null,
    assignments,
    takenParts: new Set(parts.flatMap((each) => [...each])),
    keepSlots: hasDefer,
    tailCalls: !hasDefer && kind !== 'generator' && kind !== 'stream',
  })
  // Parameters take the first slots, in order.
  source.params.forEach((param, at) => {
    if (param.name.text === '_') fn.newSlot()
    else fn.declareParam(param.name, taken[at]!)
    if (taken[at]! || parts[at]!.size > 0) fn.emit('TAKE', at)
  })
  fn.copyAssignedCaptures(names)
  source.params.forEach((param, at) => {
    const { defaultValue } = param
    if (defaultValue === null) return
    const passed = fn.asm.label()
    fn.asm.jump('JUMP_IF_PASSED', passed, at)
    fn.hideParams(names.slice(at), () => emitExpr(fn, defaultValue))
    fn.emit('STORE', at)
    fn.asm.place(passed)
  })
  source.params.forEach((param, at) => {
    const check = param.type === null ? null : fn.module.options.paramCheck(param.type)
    if (check === null) return
    fn.at(param.name.span)
    fn.emit(
      'CHECK_PARAM',
      at,
      fn.module.constant({ tag: 'data', json: JSON.stringify({ name: param.name.text, check: JSON.parse(check) as unknown }) }),
    )
  })
  if (hasDefer) emitDeferEpilogue(fn, () => emitFunctionBody(fn, source))
  else emitFunctionBody(fn, source)
  finishClosure(parent, fn)
}

function emitFunctionBody(fn: FunctionEmitter, source: FunctionSource): void {
  emitCount(fn, { kind: 'function', name: source.name, span: source.params[0]?.span ?? source.body.span })
  emitBody(fn, source.body.body, source.implicitReturn)
  if (!source.implicitReturn) fn.emit('NIL')
  emitReturnTop(fn)
}

/** Adds the finished function to the module and pushes its closure in the parent. */
export function finishClosure(parent: FunctionEmitter, fn: FunctionEmitter): void {
  const chunk = fn.finish()
  const index = parent.module.functions.push(chunk) - 1
  for (const capture of fn.captures) {
    // A cell is captured itself; every other variable by value.
    parent.load(capture.source, true)
  }
  parent.emit('CLOSURE', index, fn.captures.length)
}

export function emitClosure(fn: FunctionEmitter, expr: ExprOf<'Closure'>): void {
  emitClosureNamed(fn, expr, null)
}

export function emitClosureNamed(fn: FunctionEmitter, expr: ExprOf<'Closure'>, selfName: string | null): void {
  emitFunction(fn, {
    name: selfName ?? '<closure>',
    params: expr.params,
    body: expr.body,
    isStream: false,
    implicitReturn: true,
    selfName,
    closure: true,
  })
}

/** A block that runs as a closure of its own: `spawn`, `parallel`. */
export function emitBlockClosure(
  fn: FunctionEmitter,
  name: string,
  body: Block,
  variable: { readonly text: string; readonly span: Block['span'] } | null,
): void {
  const params: Param[] =
    variable === null ? [] : [{ name: variable, type: null, defaultValue: null, rest: false, span: variable.span }]
  emitFunction(fn, { name, params, body, isStream: false, implicitReturn: true, selfName: null, closure: true })
}

/** The constructor function of a struct: takes a dict. */
export function emitConstructor(fn: FunctionEmitter, name: string, structConstant: number): void {
  const constructor = new FunctionEmitter(fn.module, fn, {
    name,
    kind: 'closure',
    params: ['__fields'],
    firstDefault: 1,
    rest: -1,
    selfName: null,
    assignments: ownBody([]).assignments,
    takenParts: new Set(),
    keepSlots: false,
    tailCalls: false,
  })
  constructor.newSlot()
  constructor.emit('LOAD', 0)
  constructor.emit('BUILD_STRUCT', structConstant)
  constructor.emit('RETURN')
  finishClosure(fn, constructor)
}
