// Calls of functions: builtins, functions of the file and of imports, variables; and arguments of print functions.

import type { Expr, ExprOf, Node, Stmt } from '@bridle/parser'
import { show } from '../../show.js'
import { isNamed } from '../../type.js'
import { countParams, describe } from '../describe.js'
import { NO_CALL, PRINTS } from '../facts.js'
import { givesNothing } from '../infer.js'
import { isWithin } from '../kinds.js'
import { checkOptionTypes } from '../options.js'
import type { Decl } from '../scope.js'
import { findBuiltin } from '../signatures.js'
import { checkArguments, checkConversion, checkCount, checkProgram, checkResultFunction } from './arguments.js'
import type { Uses } from './context.js'
import { checkDefinition } from './definitions.js'

export function checkCall(uses: Uses, call: ExprOf<'Call'>, parent: Node | null): void {
  const name = call.callee.text
  const decl = uses.types.target(call)
  const imported = decl === undefined || decl.kind === 'import' ? uses.types.importedSignature(name) : null
  if (decl === undefined || decl.kind === 'import') uses.ownTools.check(call)
  if (imported !== null) {
    checkArguments(uses, name, imported, call.args, call.callee.span)
    return
  }
  checkPrinted(uses, call)
  if (decl === undefined) {
    const { importedNames, root } = uses.world
    if (importedNames === null || importedNames.has(name) || root.struct(name) !== undefined) return
    if ((name === 'Ok' || name === 'Err') && call.args.length > 1) {
      checkCount(uses, name, { required: 0, most: 1 }, call.args, call.callee.span)
      return
    }
    const signature = findBuiltin(name)
    if (signature === null) return
    const isEmptyLine = call.args.length === 0 && PRINTS.has(name)
    if (!isEmptyLine) checkArguments(uses, name, signature, call.args, call.callee.span)
    checkConversion(uses, name, call)
    checkResultFunction(uses, name, call)
    checkProgram(uses, name, call)
    checkDefinition(uses, name, call)
    if (isNamed(signature.returns, 'nil') && isUsed(uses, call, parent)) uses.world.report('T089', call.callee.span, { name })
    checkOptionTypes(call, uses.types, uses.world)
    return
  }
  if (decl.kind === 'fn' && decl.stmt?.kind === 'FnDecl') {
    checkUserCall(uses, call, decl.stmt)
    if (givesNothing(decl.stmt) && isUsed(uses, call, parent)) uses.world.report('T089', call.callee.span, { name })
    return
  }
  checkVariableCall(uses, call, decl)
}

/** A value from which something is made; where it is only passed on, nil may be intended. */
export function isUsed(uses: Uses, call: Expr, parent: Node | null): boolean {
  switch (parent?.kind) {
    case 'Binary': {
      const other = parent.left === call ? parent.right : parent.left
      return other.kind !== 'Nil' && parent.operator !== '&&' && parent.operator !== '||'
    }
    case 'Call':
      return parent.callee.text === 'println' || parent.callee.text === 'print' || parent.callee.text === 'len'
    case 'If':
    case 'While':
    case 'Guard':
    case 'Ternary':
      return parent.condition === call
    case 'Let':
      return parent.binding.kind !== 'NameBinding' || !parent.binding.name.text.startsWith('_')
    case 'Interpolation':
    case 'Member':
    case 'MethodCall':
    case 'Index':
    case 'For':
      return true
    default:
      return false
  }
}

export function checkUserCall(uses: Uses, call: ExprOf<'Call'>, decl: Extract<Stmt, { kind: 'FnDecl' }>): void {
  const params = decl.params.map((param) => ({
    name: param.name.text,
    type: null,
    optional: param.defaultValue !== null,
    rest: param.rest,
  }))
  checkCount(uses, call.callee.text, countParams(params), call.args, call.callee.span)
  if (decl.typeParams.length > 0) return
  for (const [at, arg] of call.args.entries()) {
    const param = decl.params[at]
    if (arg.spread || param === undefined || param.rest) return
    if (param.type === null) continue
    const declared = uses.read(param.type)
    const given = uses.types.infer(arg.value)
    if (given === null) continue
    if (!uses.isMismatch(declared, given, arg.value)) continue
    const { text } = param.name
    uses.world.report('T022', arg.value.span, { index: at + 1, param: text, expected: show(declared), actual: show(given) })
  }
}

export function checkVariableCall(uses: Uses, call: ExprOf<'Call'>, decl: Decl): void {
  const name = call.callee.text
  if (uses.world.builtins.has(name)) return // the call means the builtin
  const closure = decl.kind === 'let' && decl.value?.kind === 'Closure' ? decl.value : null
  if (closure !== null) {
    const params = closure.params.map((param) => ({
      name: param.name.text,
      type: null,
      optional: param.defaultValue !== null,
      rest: param.rest,
    }))
    checkCount(uses, name, countParams(params), call.args, call.callee.span)
    return
  }
  if (decl.kind !== 'let' && decl.kind !== 'var' && decl.kind !== 'param' && decl.kind !== 'loop') return
  const type = uses.types.declType(decl)
  if (type !== null && isWithin(uses.kinds(type), NO_CALL)) {
    uses.world.report('T088', call.callee.span, { name, type: describe(type) })
  }
}

export function checkPrinted(uses: Uses, call: ExprOf<'Call'>): void {
  if (PRINTS.has(call.callee.text)) for (const { value } of call.args) checkPlainValue(uses, value)
}

/** The name of a builtin where its result is expected. */
export function checkPlainValue(uses: Uses, value: Expr): void {
  if (isNamed(uses.types.infer(value), 'task_handle')) {
    uses.world.report('T093', value.span, { what: 'a task is not its result: write `await(…)`' })
    return
  }
  if (value.kind !== 'Identifier') return
  if (uses.types.target(value) !== undefined || !uses.types.isBuiltin(value.name)) return
  uses.world.report('T093', value.span, { what: `\`${value.name}\` is a function and not its result: call it` })
}
