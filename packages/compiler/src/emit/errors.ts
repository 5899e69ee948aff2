// try, retry and defer → code. Handlers are ranges in a table, so a try without a fault costs nothing. Code that must run
// when a block is left is emitted inline at every exit and once in a handler.

import type { ExprOf, Stmt } from '@bridle/parser'
import { emitExpr } from './expressions.js'
import { mentions } from './names.js'
import { emitBlock, emitBody } from './statements.js'
import type { FunctionEmitter, Region, Variable } from './function.js'

/** Emits `body` inside a region whose faults go to a handler; exits out of it split the region. */
export function emitGuarded(fn: FunctionEmitter, body: () => void): Region {
  const region = fn.openRegion()
  fn.cleanups.push({ emit: () => undefined, region })
  body()
  fn.cleanups.pop()
  fn.closeRegion(region)
  return region
}

/** Emits `body` so that `leave` runs on every exit: normal, jump out, fault. A value left by `body` stays on the stack. */
export function emitWithCleanup(fn: FunctionEmitter, body: () => void, leave: () => void): void {
  const scopes = fn.allScopes()
  const loops = fn.loops.length
  const inline = (): void => {
    const inner = fn.loops.splice(loops)
    fn.withScopes(scopes, leave)
    fn.loops.push(...inner)
  }
  const region = fn.openRegion()
  fn.cleanups.push({ emit: inline, region })
  body()
  fn.cleanups.pop()
  fn.closeRegion(region)
  inline()
  const done = fn.asm.label()
  fn.asm.jump('JUMP', done)
  if (fn.enterHandler(region)) {
    inline()
    fn.emit('RETHROW')
  }
  fn.asm.place(done)
}

export function emitTry(fn: FunctionEmitter, expr: ExprOf<'Try'>, wanted: boolean): void {
  const finalizer = expr.finalizer
  if (finalizer === null) return emitTryCatch(fn, expr, wanted)
  emitWithCleanup(
    fn,
    () => emitTryCatch(fn, expr, wanted),
    () => emitBlock(fn, finalizer, false),
  )
}

function emitTryCatch(fn: FunctionEmitter, expr: ExprOf<'Try'>, wanted: boolean): void {
  const { handler } = expr
  if (handler === null && expr.finalizer !== null) return emitBlock(fn, expr.body, wanted)
  const end = fn.asm.label()
  const region = emitGuarded(fn, () => emitBlock(fn, expr.body, wanted || handler === null))
  if (handler === null) fn.emit('RESULT_OK')
  fn.asm.jump('JUMP', end)
  if (fn.enterHandler(region)) {
    if (handler === null) {
      fn.emit('CATCH_VALUE')
      fn.emit('BUILD_ENUM', fn.module.name('Result'), fn.module.name('Err'), 1)
    } else {
      // The language ignores a type that is not a plain name.
      if (handler.type?.kind === 'NamedType') {
        const caught = fn.asm.label()
        fn.emit('CATCH_IS', fn.module.name(handler.type.name.text))
        fn.asm.jump('JUMP_IF_TRUE', caught)
        fn.emit('RETHROW')
        fn.asm.place(caught)
      }
      fn.pushScope()
      fn.emit('CATCH_VALUE')
      if (handler.variable === null || handler.variable.text === '_') fn.emit('POP')
      else fn.bindTop(fn.declareName(handler.variable, false))
      fn.pushScope()
      emitBody(fn, handler.body.body, wanted)
      fn.popScope()
      fn.popScope()
    }
  }
  fn.asm.place(end)
}

/** Rethrows a fault of the operand here, as the value that a `catch` would bind: a thrown value, not a fault of the runtime. */
export function emitTryStar(fn: FunctionEmitter, expr: ExprOf<'TryStar'>): void {
  const end = fn.asm.label()
  const region = emitGuarded(fn, () => emitExpr(fn, expr.operand))
  fn.asm.jump('JUMP', end)
  if (fn.enterHandler(region)) {
    fn.emit('CATCH_VALUE')
    fn.at(expr.span)
    fn.emit('THROW')
  }
  fn.asm.place(end)
}

/** At most `count` attempts; the value is nil. A count that is not a number above 1 means one attempt. */
export function emitRetry(fn: FunctionEmitter, expr: ExprOf<'Retry'>): void {
  fn.pushScope()
  const limit = fn.temporary()
  const attempt = fn.temporary()
  emitExpr(fn, expr.count)
  fn.emit('STORE', limit)
  fn.emit('INT', 1)
  fn.emit('STORE', attempt)
  const start = fn.asm.label()
  const done = fn.asm.label()
  fn.asm.place(start)
  const region = emitGuarded(fn, () => emitBlock(fn, expr.body, false))
  fn.asm.jump('JUMP', done)
  if (fn.enterHandler(region)) {
    const again = fn.asm.label()
    fn.emit('LOAD', attempt)
    fn.emit('LOAD', limit)
    fn.emit('LT')
    fn.asm.jump('JUMP_IF_TRUE', again)
    fn.emit('RETHROW')
    fn.asm.place(again)
    fn.emit('POP')
    fn.emit('LOAD', attempt)
    fn.emit('INT', 1)
    fn.emit('ADD')
    fn.emit('STORE', attempt)
    fn.at(expr.span)
    fn.asm.jump('LOOP', start)
  }
  fn.asm.place(done)
  fn.popScope()
  fn.emit('NIL')
}

// ---- defer
//
// A function with defers keeps a list of the registered ones. Its body runs inside a region; every exit goes to an epilogue that
// pops the entries of the list, runs the block of each, and then returns the pending value or raises the pending fault.
// Blocks see the final values of the function's variables; variables of a loop body are saved at registration.

export function emitDeferEpilogue(fn: FunctionEmitter, body: () => void): void {
  const value = fn.temporary()
  const pending = fn.temporary()
  const defers = fn.temporary()
  const record = fn.temporary()
  const label = fn.asm.label()
  fn.emit('NIL')
  fn.emit('STORE', value)
  fn.emit('NIL')
  fn.emit('STORE', pending)
  fn.emit('BUILD_LIST', 0)
  fn.emit('STORE', defers)
  const epilogue = { label, value, defers, sites: [] as NonNullable<FunctionEmitter['epilogue']>['sites'] }
  fn.epilogue = epilogue
  const region = emitGuarded(fn, body)
  if (fn.enterHandler(region)) {
    fn.emit('STORE', pending)
    fn.asm.jump('JUMP', label)
  }
  fn.asm.place(label)
  const deferRegion = emitGuarded(fn, () => emitDeferred(fn, epilogue, record))
  fn.emit('LOAD', pending)
  const rethrow = fn.asm.label()
  fn.asm.jump('JUMP_IF_NOT_NIL', rethrow)
  fn.emit('POP')
  fn.emit('LOAD', value)
  fn.emit('RETURN')
  fn.asm.place(rethrow)
  fn.emit('RETHROW')
  if (fn.enterHandler(deferRegion)) {
    // A fault in a deferred block replaces the pending result; the remaining blocks still run.
    fn.emit('STORE', pending)
    fn.asm.jump('LOOP', label)
  }
}

function emitDeferred(fn: FunctionEmitter, epilogue: NonNullable<FunctionEmitter['epilogue']>, record: number): void {
  const start = fn.asm.label()
  const done = fn.asm.label()
  fn.asm.place(start)
  fn.emit('LOAD', epilogue.defers)
  fn.emit('IS_LIST', 1)
  fn.asm.jump('JUMP_IF_FALSE', done)
  fn.emit('LOAD', epilogue.defers)
  fn.emit('INT', -1)
  fn.emit('GET_INDEX')
  fn.emit('CHECK_LIST')
  fn.emit('STORE', record)
  fn.emit('LOAD', epilogue.defers)
  fn.emit('INT', -1)
  fn.emit('SLICE', 0, 1)
  fn.emit('STORE', epilogue.defers)
  epilogue.sites.forEach((site, at) => {
    const next = fn.asm.label()
    fn.emit('LOAD', record)
    fn.emit('ITEM', 0)
    fn.emit('INT', at)
    fn.emit('EQ')
    fn.asm.jump('JUMP_IF_FALSE', next)
    site.saved.forEach((variable, which) => {
      fn.emit('LOAD', record)
      fn.emit('ITEM', which + 1)
      fn.storeRaw(variable)
    })
    fn.withScopes(site.scopes, () => emitBlock(fn, site.stmt.body, false))
    fn.at(site.stmt.span)
    fn.asm.jump('LOOP', start)
    fn.asm.place(next)
  })
  fn.asm.place(done)
}

export function emitDefer(fn: FunctionEmitter, stmt: Extract<Stmt, { kind: 'Defer' }>): void {
  const epilogue = fn.epilogue!
  const outermost = fn.loops[0]
  const saved: Variable[] = []
  if (outermost !== undefined) {
    const names = mentions(stmt.body)
    for (const scope of fn.scopesFrom(outermost.scopes)) {
      for (const variable of scope.variables.values())
        if (names.has(variable.name) && variable.place.kind === 'local') saved.push(variable)
    }
  }
  const site = epilogue.sites.push({ stmt, scopes: fn.allScopes(), saved }) - 1
  fn.emit('LOAD', epilogue.defers)
  fn.emit('INT', site)
  for (const variable of saved) fn.load(variable, true)
  fn.emit('BUILD_LIST', 1 + saved.length)
  fn.emit('BUILD_LIST', 1)
  fn.emit('ADD')
  fn.emit('STORE', epilogue.defers)
}
