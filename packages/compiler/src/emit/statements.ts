// Statements, blocks, bindings, assignments and loops → code.

import type { Block, Expr, ExprOf, Stmt } from '@bridle/parser'
import { emitMutex, emitSelect } from './concurrency.js'
import { emitCount } from './count.js'
import { listDeclaredNames, emitDeclaration } from './declarations.js'
import {
  EXTENDS,
  emitBorrowed,
  emitCall,
  emitExpr,
  emitHolding,
  emitIf,
  emitJumpIf,
  emitJumpUnless,
  emitMethodOn,
  emitPipe,
  emitReturnTop,
} from './expressions.js'
import { emitClosureNamed } from './functions.js'
import { CompileError } from './module.js'
import { assigns, extendsItself, listHeldEntries, readPathExtension, rootName } from './names.js'
import { emitBinding, emitMatch } from './patterns.js'
import { emitDefer, emitTry } from './errors.js'
import type { FunctionEmitter, Moving, Variable } from './function.js'

/** A `{ }` block with its own scope; `wanted`: leaves the value of its last statement. */
export function emitBlock(fn: FunctionEmitter, block: Block, wanted: boolean): void {
  fn.pushScope()
  emitBody(fn, block.body, wanted)
  fn.popScope()
}

/** Statements in the current scope. */
export function emitBody(fn: FunctionEmitter, body: readonly Stmt[], wanted: boolean): void {
  fn.prepareLate(body, listDeclaredNames)
  body.forEach((stmt, at) => {
    const isLast = at === body.length - 1
    if (isLast && wanted && stmt.kind === 'ExprStmt') {
      fn.at(stmt.span)
      emitCount(fn, { kind: 'statement', span: stmt.span })
      emitExpr(fn, stmt.value)
    } else {
      emitStmt(fn, stmt)
      if (isLast && wanted) fn.emit('NIL')
    }
  })
  if (body.length === 0 && wanted) fn.emit('NIL')
}

export function emitStmt(fn: FunctionEmitter, stmt: Stmt): void {
  fn.at(stmt.span)
  if (!isDeclaration(stmt)) emitCount(fn, { kind: 'statement', span: stmt.span })
  switch (stmt.kind) {
    case 'ExprStmt':
      return emitDropped(fn, stmt.value)
    case 'Let':
      if (stmt.binding.kind === 'NameBinding' && stmt.value.kind === 'Closure' && stmt.binding.name.text !== '_') {
        // A closure bound to a constant name calls itself by that name without a cell.
        emitClosureNamed(fn, stmt.value, stmt.mutable ? null : stmt.binding.name.text)
      } else {
        const { binding } = stmt
        const takes = stmt.mutable && binding.kind === 'NameBinding' && fn.options.assignments.updated.has(binding.name.text)
        emitMoving(fn, stmt.value, { call: stmt.value, takes, gives: null })
      }
      return emitBinding(fn, stmt.binding, stmt.mutable)
    case 'Assign':
      return emitAssign(fn, stmt)
    case 'While':
      return emitWhile(fn, stmt)
    case 'For':
      return emitFor(fn, stmt)
    case 'Return':
      return emitReturn(fn, stmt)
    case 'Throw':
      emitExpr(fn, stmt.value)
      fn.at(stmt.span)
      return fn.emit('THROW')
    case 'Yield':
    case 'Emit':
      if (stmt.value === null) fn.emit('NIL')
      else emitExpr(fn, stmt.value)
      fn.at(stmt.span)
      fn.emit('YIELD')
      return fn.emit('POP')
    case 'Guard': {
      const end = fn.asm.label()
      emitJumpIf(fn, stmt.condition, end)
      emitCount(fn, { kind: 'branch', branch: 'guard', span: stmt.span, arm: 1 })
      emitBlock(fn, stmt.otherwise, false)
      fn.asm.place(end)
      return emitCount(fn, { kind: 'branch', branch: 'guard', span: stmt.span, arm: 0 })
    }
    case 'Require': {
      const end = fn.asm.label()
      emitJumpIf(fn, stmt.condition, end)
      if (stmt.message === null) fn.emit('CONST', fn.module.constant('require condition failed'))
      else emitExpr(fn, stmt.message)
      fn.at(stmt.span)
      fn.emit('THROW')
      return fn.asm.place(end)
    }
    case 'Defer':
      return emitDefer(fn, stmt)
    case 'Mutex':
      return emitMutex(fn, stmt)
    case 'Select':
      return emitSelect(fn, stmt)
    case 'Break':
      return emitLoopExit(fn, stmt, 'break')
    case 'Continue':
      return emitLoopExit(fn, stmt, 'continue')
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      throw new CompileError('statements of the grants extension are lowered before code is emitted', stmt.span)
    default:
      return emitDeclaration(fn, stmt)
  }
}

/** Declarations are not counted: they run wherever their file does. */
function isDeclaration({ kind }: Stmt): boolean {
  return kind.endsWith('Decl')
}

/** An expression; if it is a call, ownership may move with its arguments and its result. */
function emitMoving(fn: FunctionEmitter, expr: Expr, moving: Moving): void {
  fn.moving = moving
  emitExpr(fn, expr)
  fn.moving = null
}

/** An expression whose value is dropped. */
function emitDropped(fn: FunctionEmitter, expr: Expr): void {
  switch (expr.kind) {
    case 'If':
      return emitIf(fn, expr, false)
    case 'Match':
      return emitMatch(fn, expr, false)
    case 'Try':
      if (expr.handler !== null) return emitTry(fn, expr, false)
  }
  emitExpr(fn, expr)
  fn.emit('POP')
}

function emitReturn(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'Return' }>): void {
  const value = stmt.value
  const tail = fn.options.tailCalls && fn.cleanups.length === 0 && fn.epilogue === null
  if (tail && value?.kind === 'Call') {
    fn.moving = { call: value, takes: false, gives: '' }
    return emitCall(fn, value, true)
  }
  if (tail && value?.kind === 'Identifier' && value.name !== '_') {
    const variable = fn.lookup(value.name)
    if (variable !== null && fn.isMovable(variable)) {
      fn.load(variable, false)
      return fn.emit('RETURN_MOVED')
    }
  }
  if (tail && value?.kind === 'MethodCall') {
    emitMoving(fn, value, { call: value, takes: true, gives: '' })
    return fn.emit('RETURN_MOVED')
  }
  if (tail && value !== null && emitHolding(fn, value)) return fn.emit('RETURN_MOVED')
  if (tail && value?.kind === 'Pipe') return emitPipe(fn, value, true)
  // An exit that runs code of the function itself may read the parameter again.
  for (const { value: each } of listHeldEntries(value))
    fn.options.takenParts.delete(each.kind === 'MethodCall' ? each.object : each)
  if (value === null) fn.emit('NIL')
  else emitExpr(fn, value)
  emitReturnTop(fn)
}

// ---- assignment

const COMPOUND = { '+': 'ADD', '-': 'SUB', '*': 'MUL', '/': 'DIV', '%': 'MOD' } as const

function emitAssign(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'Assign' }>): void {
  const { target, operator, value } = stmt
  const root = rootName(target)
  const variable = root === null || root === '_' ? null : fn.lookup(root)
  if (target.kind === 'Identifier') {
    if (variable === null || variable.isCell || !variable.mutable) {
      if (operator !== null) {
        emitBorrowed(fn, target)
        emitBorrowed(fn, value)
        fn.at(stmt.span)
        fn.emit(COMPOUND[operator])
      } else emitExpr(fn, value)
      fn.emit('POP')
      return emitUnassignable(fn, target.name, variable, stmt)
    }
    if (operator !== null) {
      fn.load(variable, operator !== '+')
      emitBorrowed(fn, value)
      fn.at(stmt.span)
      fn.emit(operator === '+' ? 'ADD_OWNED' : COMPOUND[operator])
    } else if (extendsItself(target.name, value)) emitExtension(fn, variable, value)
    else if (fn.isMovable(variable)) {
      // A handler around it would see the variable as the callee left it.
      const gives = fn.isGuarded || assigns(value, target.name) ? null : target.name
      emitMoving(fn, value, { call: value, takes: true, gives })
    } else emitExpr(fn, value)
    return store(fn, variable)
  }
  emitPathAssign(fn, stmt, target as ExprOf<'Member'> | ExprOf<'Index'>, variable)
}

/** `x = x + a + b` or `x = x.push(a)`: changes the variable's own container if the variable owns it. */
function emitExtension(fn: FunctionEmitter, variable: Variable, value: Expr): void {
  if (value.kind === 'MethodCall') {
    // A struct may have a method of that name, to which it would be transferred.
    const gives = fn.isMovable(variable) && !fn.isGuarded && !assigns(value, variable.name)
    return emitMethodOn(fn, value, () => fn.load(variable, false), gives ? { given: EXTENDS | 3, lent: 0 } : null)
  }
  if (value.kind !== 'Binary') return fn.load(variable, false)
  emitExtension(fn, variable, value.left)
  emitBorrowed(fn, value.right)
  fn.at(value.span)
  fn.emit('ADD_OWNED')
}

function store(fn: FunctionEmitter, variable: Variable): void {
  if (variable.cell !== null) fn.emit('SET_CELL', variable.cell)
  fn.storeRaw(variable)
}

function emitUnassignable(fn: FunctionEmitter, name: string, variable: Variable | null, stmt: Stmt): void {
  if (variable === null || variable.isCell) {
    fn.at(stmt.span)
    fn.emit('LOAD_GLOBAL', fn.module.name(name), fn.suggestion(name))
    fn.emit('POP')
    // A builtin or constant of that name is not a variable.
    return fn.raise('undefined_variable', `Undefined variable: ${name}`, stmt.span)
  }
  fn.raise('immutable', `Cannot assign to immutable binding: ${name}`, stmt.span)
}

/**
 * `root.a[i].b = v`: reads the containers on the way, stores into the innermost and rebinds outward. Index expressions of the
 * inner steps run first, the right side next, the last index last; a compound form reads with it before.
 */
function emitPathAssign(
  fn: FunctionEmitter,
  stmt: Extract<Stmt, { kind: 'Assign' }>,
  target: ExprOf<'Member'> | ExprOf<'Index'>,
  variable: Variable | null,
): void {
  const steps: (ExprOf<'Member'> | ExprOf<'Index'>)[] = []
  let at: Expr = target
  while (at.kind === 'Member' || at.kind === 'Index') {
    steps.unshift(at)
    at = at.object
  }
  const assignable = variable !== null && variable.mutable && !variable.isCell
  if (assignable) {
    const extension = stmt.operator === null ? readPathExtension(target, stmt.value) : null
    if (extension !== null) return emitPathExtension(fn, stmt, steps, variable, extension)
    if (steps.length > 1) return emitNestedAssign(fn, stmt, steps, variable)
  }
  fn.pushScope()
  const indexSlots = steps.map((step, which) => {
    if (step.kind === 'Member' || which === steps.length - 1) return -1
    const slot = fn.temporary()
    emitBorrowed(fn, step.index)
    fn.emit('STORE', slot)
    return slot
  })
  if (variable !== null && !variable.isCell) fn.load(variable, false)
  else emitExpr(fn, at)
  const get = (which: number): void => {
    const step = steps[which]!
    fn.at(step.span)
    if (step.kind === 'Member') fn.emit('GET_PROP', fn.module.name(step.property.text))
    else {
      // The language evaluates the last index twice: for reading and for storing.
      if (indexSlots[which]! >= 0) fn.emit('LOAD', indexSlots[which]!)
      else emitBorrowed(fn, step.index)
      fn.emit('GET_INDEX')
    }
  }
  for (let which = 0; which < steps.length - 1; which++) {
    fn.emit('DUP')
    get(which)
  }
  const last = steps.length - 1
  if (stmt.operator !== null) {
    fn.emit('DUP')
    get(last)
    emitBorrowed(fn, stmt.value)
    fn.at(stmt.span)
    fn.emit(COMPOUND[stmt.operator])
  } else emitExpr(fn, stmt.value)
  for (let which = last; which >= 0; which--) {
    const step = steps[which]!
    const owned = which === 0 && assignable ? 1 : 0
    if (step.kind === 'Index') {
      if (indexSlots[which]! >= 0) fn.emit('LOAD', indexSlots[which]!)
      else emitBorrowed(fn, step.index)
      fn.at(stmt.span)
      if (which === 0 && !assignable) break
      fn.emit('SET_INDEX', owned)
    } else {
      fn.at(stmt.span)
      if (which === 0 && !assignable) break
      fn.emit('SET_PROP', fn.module.name(step.property.text), owned)
    }
  }
  if (assignable) store(fn, variable)
  else if (at.kind === 'Identifier') {
    fn.emit('POP')
    emitUnassignable(fn, at.name, variable, stmt)
  } else fn.emit('POP')
  fn.popScope()
}

type Step = ExprOf<'Member'> | ExprOf<'Index'>

/** A path in slots: the container of each step, and the index of each index step. */
interface Path {
  readonly steps: readonly Step[]
  readonly containers: number[]
  readonly indexes: number[]
  /** The first container is the variable's own slot. */
  readonly isDirect: boolean
}

/** Evaluates the indexes of the first `indexed` steps and reads the containers of the steps. */
function openPath(fn: FunctionEmitter, steps: readonly Step[], indexed: number, variable: Variable, isDirect: boolean): Path {
  const indexes = steps.map((step, which) => {
    if (step.kind === 'Member' || which >= indexed) return -1
    const slot = fn.temporary()
    emitBorrowed(fn, step.index)
    fn.emit('STORE', slot)
    return slot
  })
  const { place } = variable
  const containers = [isDirect && place.kind === 'local' ? place.slot : fn.temporary()]
  if (!isDirect) {
    fn.load(variable, false)
    fn.emit('STORE', containers[0]!)
  }
  const path = { steps, containers, indexes, isDirect }
  for (let which = 0; which < steps.length - 1; which++) readStep(fn, path, which)
  return path
}

/** Reads the target of step `which` into a slot. */
function readStep(fn: FunctionEmitter, { steps, containers, indexes }: Path, which: number): void {
  const step = steps[which]!
  fn.emit('LOAD', containers[which]!)
  if (step.kind === 'Member') {
    fn.at(step.span)
    fn.emit('GET_PROP', fn.module.name(step.property.text))
  } else {
    if (indexes[which]! >= 0) fn.emit('LOAD', indexes[which]!)
    else emitBorrowed(fn, step.index)
    fn.at(step.span)
    fn.emit('GET_INDEX')
  }
  containers[which + 1] = fn.temporary()
  fn.emit('STORE', containers[which + 1]!)
}

/** Makes the variable own its container, and each container own the next one of the path. */
function ownPath(fn: FunctionEmitter, { steps, containers, indexes }: Path): void {
  fn.emit('OWN', containers[0]!)
  for (let which = 1; which < containers.length; which++) {
    const step = steps[which - 1]!
    const holder = containers[which - 1]!
    if (step.kind === 'Member') fn.emit('OWN_PROP', containers[which]!, holder, fn.module.name(step.property.text))
    else fn.emit('OWN_INDEX', containers[which]!, holder, indexes[which - 1]!)
  }
}

function closePath(fn: FunctionEmitter, { containers, isDirect }: Path, variable: Variable): void {
  if (isDirect) return
  fn.emit('LOAD', containers[0]!)
  store(fn, variable)
}

/** Whether the variable's slot still holds the same container after `values` were evaluated. */
function isSteady(variable: Variable, values: readonly Expr[]): boolean {
  return variable.place.kind === 'local' && variable.cell === null && !values.some((value) => assigns(value, variable.name))
}

/**
 * `root.a[i].b = v` with more than one step: the containers are read first and the right side is evaluated next, as for one step. Then
 * each container becomes owned by the previous one, by a copy if it may have another reference, and the innermost is changed in place.
 */
function emitNestedAssign(
  fn: FunctionEmitter,
  stmt: Extract<Stmt, { kind: 'Assign' }>,
  steps: readonly Step[],
  variable: Variable,
): void {
  const last = steps.length - 1
  const target = steps[last]!
  fn.pushScope()
  const values = target.kind === 'Index' ? [stmt.value, target.index] : [stmt.value]
  const path = openPath(fn, steps, last, variable, isSteady(variable, values))
  const innermost = path.containers[last]!
  if (stmt.operator !== null) {
    fn.emit('LOAD', innermost)
    if (target.kind === 'Member') {
      fn.at(target.span)
      fn.emit('GET_PROP', fn.module.name(target.property.text))
    } else {
      // The language evaluates the last index twice: for reading and for storing.
      emitBorrowed(fn, target.index)
      fn.at(target.span)
      fn.emit('GET_INDEX')
    }
    emitBorrowed(fn, stmt.value)
    fn.at(stmt.span)
    fn.emit(COMPOUND[stmt.operator])
  } else emitExpr(fn, stmt.value)
  if (target.kind === 'Index') emitBorrowed(fn, target.index)
  fn.at(stmt.span)
  ownPath(fn, path)
  if (target.kind === 'Index') fn.emit('PUT_INDEX', innermost)
  else fn.emit('PUT_PROP', innermost, fn.module.name(target.property.text))
  closePath(fn, path, variable)
  fn.popScope()
}

/** `path = path.push(a)`, and the other methods that change their receiver: changes it in place. */
function emitPathExtension(
  fn: FunctionEmitter,
  stmt: Extract<Stmt, { kind: 'Assign' }>,
  steps: readonly Step[],
  variable: Variable,
  value: ExprOf<'MethodCall'>,
): void {
  const last = steps.length - 1
  const target = steps[last]!
  fn.pushScope()
  const args = value.args.map((arg) => arg.value)
  const path = openPath(fn, steps, steps.length, variable, isSteady(variable, args))
  readStep(fn, path, last)
  const given = args.map((arg) => {
    const slot = fn.temporary()
    emitExpr(fn, arg)
    fn.emit('STORE', slot)
    return slot
  })
  fn.at(value.span)
  ownPath(fn, path)
  fn.emit('LOAD', path.containers[last + 1]!)
  for (const slot of given) fn.emit('LOAD', slot)
  fn.emit('CALL_METHOD_HELD', fn.module.name(value.method.text), given.length)
  fn.at(stmt.span)
  if (target.kind === 'Index') {
    fn.emit('LOAD', path.indexes[last]!)
    fn.emit('PUT_INDEX', path.containers[last]!)
  } else fn.emit('PUT_PROP', path.containers[last]!, fn.module.name(target.property.text))
  closePath(fn, path, variable)
  fn.popScope()
}

// ---- loops

function emitWhile(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'While' }>): void {
  const start = fn.asm.label()
  const end = fn.asm.label()
  fn.asm.place(start)
  fn.loops.push({
    breakLabel: end,
    continueLabel: start,
    depth: fn.asm.depth,
    cleanups: fn.cleanups.length,
    scopes: fn.scopeDepth,
  })
  emitJumpUnless(fn, stmt.condition, end)
  emitBlock(fn, stmt.body, false)
  fn.at(stmt.span)
  fn.asm.jump('LOOP', start)
  fn.loops.pop()
  fn.asm.place(end)
}

function emitFor(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'For' }>): void {
  const start = fn.asm.label()
  const ended = fn.asm.label()
  const end = fn.asm.label()
  emitExpr(fn, stmt.iterable)
  fn.at(stmt.span)
  fn.emit('ITERATE')
  fn.asm.place(start)
  const depth = fn.asm.depth
  fn.loops.push({ breakLabel: end, continueLabel: start, depth, cleanups: fn.cleanups.length, scopes: fn.scopeDepth })
  fn.at(stmt.iterable.span)
  fn.emit('NEXT')
  fn.asm.jump('JUMP_IF_END', ended)
  fn.pushScope()
  emitBinding(fn, stmt.binding, true)
  emitBody(fn, stmt.body.body, false)
  fn.popScope()
  fn.at(stmt.span)
  fn.asm.jump('LOOP', start)
  fn.loops.pop()
  fn.asm.place(ended)
  fn.emit('POP')
  fn.asm.place(end)
  fn.emit('POP')
}

function emitLoopExit(fn: FunctionEmitter, stmt: Stmt, word: 'break' | 'continue'): void {
  const loop = fn.loops.at(-1)
  if (loop === undefined) throw new CompileError(`${word} outside of loop`, stmt.span)
  fn.runCleanups(loop.cleanups)
  const depth = fn.asm.depth
  while (fn.asm.reachable && fn.asm.depth > loop.depth) fn.emit('POP')
  if (word === 'break') fn.asm.jump('JUMP', loop.breakLabel)
  else {
    fn.at(stmt.span)
    fn.asm.jump('LOOP', loop.continueLabel)
  }
  fn.asm.depth = depth
}
