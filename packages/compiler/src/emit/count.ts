// Coverage counters in the code of a program (coverage.ts); nothing without coverage.

import { COUNT_PRIMITIVE } from './coverage.js'
import type { CoveragePoint } from './coverage.js'
import type { FunctionEmitter } from './function.js'

export function emitCount(fn: FunctionEmitter, point: CoveragePoint): void {
  const { coverage, file } = fn.module.options
  const number = coverage?.number(file, point) ?? null
  if (number === null) return
  fn.emit('INT', number)
  fn.emit('CALL_BUILTIN', fn.module.builtin(COUNT_PRIMITIVE), 1)
  fn.emit('POP')
}
