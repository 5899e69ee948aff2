// spawn, parallel, select, deadline and mutex → code. The scheduler's side is in the machine; these constructs compile to closures
// and calls of intrinsics, builtins whose names start with `__` and which scripts do not see in the documentation.

import type { ExprOf, Stmt } from '@bridle/parser'
import { emitWithCleanup } from './errors.js'
import { emitBorrowed, emitExpr } from './expressions.js'
import { emitBlockClosure } from './functions.js'
import { emitBlock, emitBody } from './statements.js'
import type { FunctionEmitter } from './function.js'

function intrinsic(fn: FunctionEmitter, name: string, count: number): void {
  fn.emit('CALL_BUILTIN', fn.module.builtin(name), count)
}

export function emitSpawn(fn: FunctionEmitter, expr: ExprOf<'Spawn'>): void {
  emitBlockClosure(fn, '<spawn>', expr.body, null)
  fn.at(expr.span)
  intrinsic(fn, '__spawn', 1)
}

/** `__parallel(mode, subject, closure, max_concurrent)`. */
export function emitParallel(fn: FunctionEmitter, expr: ExprOf<'Parallel'>): void {
  fn.emit('CONST', fn.module.constant(expr.asStream ? 'stream' : expr.mode))
  emitExpr(fn, expr.subject)
  emitBlockClosure(fn, '<parallel>', expr.body, expr.variable)
  if (expr.maxConcurrent === null) fn.emit('NIL')
  else emitExpr(fn, expr.maxConcurrent)
  fn.at(expr.span)
  intrinsic(fn, '__parallel', 4)
}

export function emitDeadline(fn: FunctionEmitter, expr: ExprOf<'Deadline'>): void {
  emitBorrowed(fn, expr.duration)
  fn.at(expr.span)
  fn.emit('DEADLINE_ENTER')
  emitWithCleanup(
    fn,
    () => emitBlock(fn, expr.body, true),
    () => fn.emit('DEADLINE_LEAVE'),
  )
}

/** Holds the default mutex (`sync_mutex_acquire()` without a key) during the block. */
export function emitMutex(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'Mutex' }>): void {
  fn.pushScope()
  const permit = fn.temporary()
  fn.at(stmt.span)
  intrinsic(fn, 'sync_mutex_acquire', 0)
  fn.emit('STORE', permit)
  emitWithCleanup(
    fn,
    () => emitBlock(fn, stmt.body, false),
    () => {
      fn.emit('LOAD', permit)
      intrinsic(fn, 'sync_release', 1)
      fn.emit('POP')
    },
  )
  fn.popScope()
}

/**
 * `__select(channels, timeout, has_default, has_timeout)` waits and returns `[index, value]`: the index of the arm that received, -1 for the
 * timeout or default arm, or -2 when neither exists and no value can ever arrive.
 */
export function emitSelect(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'Select' }>): void {
  const receiving = stmt.arms.filter((arm) => arm.kind === 'receive')
  const timeout = stmt.arms.find((arm) => arm.kind === 'timeout')
  const fallback = stmt.arms.find((arm) => arm.kind === 'default')
  for (const arm of receiving) emitExpr(fn, arm.channel)
  fn.emit('BUILD_LIST', receiving.length)
  if (timeout === undefined) fn.emit('NIL')
  else emitExpr(fn, timeout.duration)
  fn.emit(fallback === undefined ? 'FALSE' : 'TRUE')
  fn.emit(timeout === undefined ? 'FALSE' : 'TRUE')
  fn.at(stmt.span)
  intrinsic(fn, '__select', 4)
  fn.pushScope()
  const outcome = fn.temporary()
  // The verifier does not know the result of a builtin.
  fn.emit('CHECK_LIST')
  fn.emit('STORE', outcome)
  const end = fn.asm.label()
  const test = (index: number, body: () => void): void => {
    const next = fn.asm.label()
    fn.emit('LOAD', outcome)
    fn.emit('ITEM', 0)
    fn.emit('INT', index)
    fn.emit('EQ')
    fn.asm.jump('JUMP_IF_FALSE', next)
    body()
    fn.asm.jump('JUMP', end)
    fn.asm.place(next)
  }
  receiving.forEach((arm, index) =>
    test(index, () => {
      fn.pushScope()
      if (arm.variable.text !== '_') {
        fn.emit('LOAD', outcome)
        fn.emit('ITEM', 1)
        fn.bindTop(fn.declareName(arm.variable, false))
      }
      emitBody(fn, arm.body.body, false)
      fn.popScope()
    }),
  )
  const last = timeout ?? fallback
  if (last !== undefined) test(-1, () => emitBlock(fn, last.body, false))
  fn.asm.place(end)
  fn.popScope()
}
