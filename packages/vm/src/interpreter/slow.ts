// Operations when the quick side of loop.ts does not apply: other types, no fuel, calls of values that are not script functions.
// Each writes its result and advances the coroutine, or raises, or waits. Nothing has been done before except for the unit of fuel that
// LOOP and calls use. Rare operations without a quick side are in rare.ts.

import { CONTROL } from '../builtins/builtin.js'
import { HarnCell, HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { compare, equals } from '../values/equality.js'
import { makeBlankSlots } from '../values/keyed.js'
import { copyIfSmall, HarnList } from '../values/list.js'
import { HarnEnum, HarnFloat } from '../values/scalars.js'
import { getIndex, getProperty, setHeldIndex, setIndex, setProperty, share } from './access.js'
import { advanceIter, carryOut, stepNative, yieldValue } from './activations.js'
import { add, addOwned, divide, makeRange, modulo, multiply, negate, subtract } from './arithmetic.js'
import { findStructMethod } from './calls.js'
import { chargeHeldUpdate, isLong, isLongAccess, isLongUpdate, isShownAsKey } from './charges.js'
import { Fault, makeThrown } from './fault.js'
import { makeOwn, ownField, ownItem, findKept, shareArguments } from './ownership.js'
import { endCoroutine } from '../scheduler/transitions.js'
import { HELD, LENT, RETURN_FIRST } from './linked.js'
import type { HarnIter } from '../values/handles.js'
import type { BuiltinDef, Result } from '../builtins/builtin.js'
import type { CallSite, Machine } from './machine.js'
import type { Coroutine, NativeActivation, Task } from '../scheduler/task.js'
import type { Instr, LINKED, LinkedOp, MethodSite, OpWith } from './linked.js'
import type { FunctionCode } from './module.js'
import type { Shape } from '../values/shape.js'
import type { Value } from '../values/value.js'

// As in loop.ts.
type L = typeof LINKED

/** Operations that the loop completes for all operands. */
type AlwaysQuick = L[
  | 'MOVE'
  | 'LOADK'
  | 'SHARE'
  | 'LOAD_CAPTURE'
  | 'LOAD_MODULE'
  | 'LOAD_MODULE_SHARED'
  | 'NOT'
  | 'JUMP'
  | 'JF'
  | 'JT'
  | 'JNN'
  | 'JPASSED'
  | 'JEND'
  | 'FIELD'
  | 'IS_ENUM'
  | 'ENUM_FIELD'
  | 'TASK_END'
  | 'EQK'
  | 'NEK'
  | 'LTK'
  | 'LEK'
  | 'GTK'
  | 'GEK'
  | 'JNLTK'
  | 'JNLEK'
  | 'JNGTK'
  | 'JNGEK'
  | 'JNEQK'
  | 'JNNEK']

/** Carries out the current instruction of the coroutine. Returns whether the task can continue. */
export function runSlow(m: Machine, task: Task, i: Instr, closure: HarnClosure): boolean {
  const co = task.current
  const { regs, base } = co
  const x = regs[base + i.b]!
  switch (i.op) {
    case 7 satisfies L['STORE_MODULE']:
      m.moduleSlots(closure.code.module)[i.c] = x
      return goOn(co, i)
    case 9 satisfies L['SET_CELL']: {
      const cell = regs[base + i.c]
      if (cell instanceof HarnCell) cell.value = x
      return goOn(co, i)
    }
    case 10 satisfies L['CELL_CALLABLE']:
      return give(co, i, (x as unknown as HarnCell).value)
    case 12 satisfies L['LOAD_EXPORT']:
      return give(co, i, m.exportValue(i.k as string, i.c))
    case 14 satisfies L['SELF']:
      return give(co, i, closure)

    case 20 satisfies L['ADD']:
    case 28 satisfies L['ADD_OWNED']: {
      const y = regs[base + i.c]!
      if (typeof x !== 'number' || typeof y !== 'number') {
        if (m.fuel < 1 && isLong(x)) return m.refuelBefore(task)
        m.chargeJoin(x, y, i.op === 28)
      }
      noteKinds(i, x, y)
      return giveOrRaise(m, task, i, i.op === 28 ? addOwned(x, y) : add(x, y))
    }
    case 21 satisfies L['SUB']: {
      const y = regs[base + i.c]!
      noteKinds(i, x, y)
      return giveOrRaise(m, task, i, subtract(x, y))
    }
    case 22 satisfies L['MUL']: {
      const y = regs[base + i.c]!
      if (typeof x === 'string' || typeof y === 'string') {
        if (m.fuel < 1) return m.refuelBefore(task)
        m.chargeRepeat(x, y)
      }
      noteKinds(i, x, y)
      return giveOrRaise(m, task, i, multiply(x, y))
    }
    case 23 satisfies L['DIV']: {
      const y = regs[base + i.c]!
      if (typeof x !== 'number' || typeof y !== 'number') noteKinds(i, x, y)
      return giveOrRaise(m, task, i, divide(x, y))
    }
    case 24 satisfies L['MOD']:
    case 43 satisfies L['MODK']: {
      const y = i.op === 43 ? i.c : regs[base + i.c]!
      if (typeof x !== 'number' || typeof y !== 'number') i.kind = 2
      return giveOrRaise(m, task, i, modulo(x, y))
    }
    case 26 satisfies L['NEG']:
      if (typeof x !== 'number') noteKind(i, x)
      return giveOrRaise(m, task, i, negate(x))
    case 40 satisfies L['ADDK']:
      noteKind(i, x)
      return giveOrRaise(m, task, i, add(x, i.c))
    case 41 satisfies L['SUBK']:
      noteKind(i, x)
      return giveOrRaise(m, task, i, subtract(x, i.c))
    case 42 satisfies L['MULK']:
      if (typeof x === 'string') {
        if (m.fuel < 1) return m.refuelBefore(task)
        m.chargeRepeat(x, i.c)
      }
      noteKind(i, x)
      return giveOrRaise(m, task, i, multiply(x, i.c))

    case 30 satisfies L['EQ']:
    case 31 satisfies L['NE']:
    case 32 satisfies L['LT']:
    case 33 satisfies L['LE']:
    case 34 satisfies L['GT']:
    case 35 satisfies L['GE']:
      if (m.fuel < 1 && isLong(x)) return m.refuelBefore(task)
      return give(co, i, holdsFor(i.op, x, regs[base + i.c]!))
    case 57 satisfies L['JNLT']:
    case 58 satisfies L['JNLE']:
    case 59 satisfies L['JNGT']:
    case 60 satisfies L['JNGE']:
    case 61 satisfies L['JNEQ']:
    case 62 satisfies L['JNNE']:
      if (m.fuel < 1 && isLong(x)) return m.refuelBefore(task)
      co.instr = holdsFor(i.op, x, regs[base + i.c]!) ? i.next : i.target
      return true
    case 51 satisfies L['LOOP']:
      return m.refuel(task)

    case 74 satisfies L['BUILD_DICT']:
    case 81 satisfies L['TEXT']:
      return m.refuelBefore(task)
    case 71 satisfies L['BUILD_LIST']:
    case 72 satisfies L['LIST_PUSH']:
    case 78 satisfies L['BUILD_ENUM']:
    case 80 satisfies L['BUILD_RANGE']:
    case 82 satisfies L['CLOSURE']:
    case 94 satisfies L['ITEM']:
    case 99 satisfies L['IS_DICT']:
    case 100 satisfies L['IS_LIST']:
    case 130 satisfies L['BUILD_RECORD']:
    case 131 satisfies L['BUILD_STRUCT_RECORD']:
      return give(co, i, produce(m, i, regs, base, closure))
    case 75 satisfies L['DICT_PUT']: {
      const dict = x as HarnDict
      const key = regs[base + i.c]!
      if (m.fuel < 1 && isShownAsKey(key)) return m.refuelBefore(task)
      if (i.k === true) dict.set(key as string, regs[base + i.d]!)
      else dict.put(typeof key === 'string' ? key : display(key), regs[base + i.d]!)
      m.chargeHeap(32)
      return give(co, i, dict)
    }

    case 84 satisfies L['GET_PROP']:
    case 85 satisfies L['GET_PROP_OPT']: {
      if (m.fuel < 1 && typeof x === 'string') return m.refuelBefore(task)
      const value = getProperty(x, i.k as string, i.op === 85)
      if (value instanceof Fault) return m.raise(task, value)
      return give(co, i, i.c === 0 ? value : share(value))
    }
    case 86 satisfies L['GET_INDEX']:
    case 87 satisfies L['GET_INDEX_OPT']: {
      const index = regs[base + i.c]!
      if (!(x instanceof HarnList)) i.kind = 2
      if (m.fuel < 1 && isLongAccess(x, index)) return m.refuelBefore(task)
      const value = getIndex(x, index, i.op === 87)
      if (value instanceof Fault) return m.raise(task, value)
      return give(co, i, i.d === 1 ? share(value) : value)
    }
    case 89 satisfies L['SET_PROP']:
      if (m.fuel < 1 && isLongUpdate(x, null)) return m.refuelBefore(task)
      m.chargeUpdate(x)
      return giveOrRaise(m, task, i, setProperty(x, i.k as string, regs[base + i.c]!, i.d === 1))
    case 90 satisfies L['SET_INDEX']:
      return setItem(m, task, co, i, x)
    case 133 satisfies L['OWN']:
      if (m.fuel < 1) return m.refuelBefore(task)
      return give(co, i, makeOwn(m, x))
    case 134 satisfies L['OWN_INDEX']:
      if (m.fuel < 1) return m.refuelBefore(task)
      return give(co, i, ownItem(m, regs[base + i.c]!, regs[base + i.d]!, x))
    case 135 satisfies L['OWN_PROP']:
      if (m.fuel < 1) return m.refuelBefore(task)
      return giveOrRaise(m, task, i, ownField(m, regs[base + i.c]!, i.k as string, x))

    case 101 satisfies L['CALL']:
    case 102 satisfies L['CALL_NAMED']:
    case 129 satisfies L['CALL_SELF']:
      if (i.op === 129 || (x instanceof HarnClosure && x.code.plain))
        return m.fuel < 0 ? m.refuel(task) : m.raise(task, m.makeStackOverflow())
      if ((i.moves | i.lends) > 1) shareArguments(regs, base + i.d, i.moves | i.lends)
      return m.callFrom(task, x, base + i.d, i.c, i.k as CallSite | null)
    case 111 satisfies L['TAIL_NAMED']:
      return callLast(m, task, co, i, x)
    case 106 satisfies L['CALL_METHOD']:
      return callMethodOf(m, task, co, i)
    case 103 satisfies L['BUILTIN1']:
    case 104 satisfies L['BUILTIN2']:
      return m.refuelBefore(task)
    case 105 satisfies L['BUILTIN_N']:
      if (m.fuel < 1) return m.refuelBefore(task)
      return settle(m, task, co, i, m.runBuiltin(i.k as BuiltinDef, regs, base + i.b, i.c))
    case 112 satisfies L['PIPE']:
    case 113 satisfies L['TAIL_PIPE']:
      return m.pipe(task, base + i.b, i.op === 113)
    case 114 satisfies L['RETURN']:
      return endBottom(m, task, co, i, x)
    case 124 satisfies L['NEXT']:
      return advanceIter(m, task, x as HarnIter)
    case 115 satisfies L['YIELD']:
      return yieldValue(m, task, x)
    case 116 satisfies L['THROW']:
      if (m.fuel < 1 && isLong(x)) return m.refuelBefore(task)
      return m.raise(task, makeThrown(x))
    case 118 satisfies L['CATCH_VALUE']:
      return give(co, i, (x as unknown as Fault).caught)
    case 127 satisfies L['NATIVE_STEP']:
      // A step may work or allocate without crossing a loop or call of the script, so it is a fuel point itself.
      if (--m.fuel < 0) return m.refuel(task)
      return stepNative(m, task, co.frames[co.fp] as NativeActivation)
    default:
      // Operations without a case here are excluded by their row, or above.
      i.op satisfies OpWith<'runs', 'rare' | 'both'> | AlwaysQuick
      return m.runRare(task, i, closure)
  }
}

/** A test of any two values. */
export function holdsFor(op: LinkedOp, x: Value, y: Value): boolean {
  switch (op) {
    case 30 satisfies L['EQ']:
    case 44 satisfies L['EQK']:
    case 61 satisfies L['JNEQ']:
    case 67 satisfies L['JNEQK']:
      return typeof x === 'number' && typeof y === 'number' ? x === y : equals(x, y)
    case 31 satisfies L['NE']:
    case 45 satisfies L['NEK']:
    case 62 satisfies L['JNNE']:
    case 68 satisfies L['JNNEK']:
      return typeof x === 'number' && typeof y === 'number' ? x !== y : !equals(x, y)
    case 32 satisfies L['LT']:
    case 46 satisfies L['LTK']:
    case 57 satisfies L['JNLT']:
    case 63 satisfies L['JNLTK']:
      return typeof x === 'number' && typeof y === 'number' ? x < y : compare(x, y) < 0
    case 33 satisfies L['LE']:
    case 47 satisfies L['LEK']:
    case 58 satisfies L['JNLE']:
    case 64 satisfies L['JNLEK']:
      return typeof x === 'number' && typeof y === 'number' ? x <= y : compare(x, y) <= 0
    case 34 satisfies L['GT']:
    case 48 satisfies L['GTK']:
    case 59 satisfies L['JNGT']:
    case 65 satisfies L['JNGTK']:
      return typeof x === 'number' && typeof y === 'number' ? x > y : compare(x, y) > 0
    default:
      return typeof x === 'number' && typeof y === 'number' ? x >= y : compare(x, y) >= 0
  }
}

/** Operations that make a value, or test the form of one, and cannot fail. BUILD_DICT and TEXT take fuel. */
export function produce(m: Machine, i: Instr, regs: readonly Value[], base: number, closure: HarnClosure): Value {
  const from = base + i.b
  const { c } = i
  switch (i.op) {
    case 71 satisfies L['BUILD_LIST']:
      m.chargeHeap(16 + 16 * c)
      return new HarnList(take(regs, from, c))
    case 72 satisfies L['LIST_PUSH']: {
      const list = regs[from] as HarnList
      // An emitter made this list and is still filling it: nothing else sees its buffer.
      list.items.push(regs[base + c]!)
      list.length = list.items.length
      m.chargeHeap(16)
      return list
    }
    case 74 satisfies L['BUILD_DICT']: {
      const dict = new HarnDict()
      for (let at = from, end = from + c; at < end; at += 2) {
        const key = regs[at]!
        dict.set(typeof key === 'string' ? key : display(key), regs[at + 1]!)
      }
      m.chargeHeap(16 + 16 * c)
      return dict
    }
    case 78 satisfies L['BUILD_ENUM']: {
      const name = i.k as { readonly enumName: string; readonly variant: string }
      m.chargeHeap(16 + 16 * c)
      return new HarnEnum(name.enumName, name.variant, take(regs, from, c))
    }
    case 80 satisfies L['BUILD_RANGE']:
      return makeRange(regs[from]!, regs[base + c]!, i.d === 1)
    case 81 satisfies L['TEXT']: {
      let text = ''
      for (let at = from, end = from + c; at < end; at++) {
        const part = regs[at]!
        text += typeof part === 'string' ? part : display(part)
      }
      m.chargeText(text.length)
      return text
    }
    case 82 satisfies L['CLOSURE']:
      m.chargeHeap(16 + 16 * c)
      return new HarnClosure(i.k as FunctionCode, take(regs, from, c))
    case 94 satisfies L['ITEM']:
      return (regs[from] as HarnList).at(c) ?? null
    case 99 satisfies L['IS_DICT']:
      return regs[from] instanceof HarnDict
    case 100 satisfies L['IS_LIST']: {
      const value = regs[from]
      return value instanceof HarnList && value.length >= c
    }
    default: {
      const count = c >> 1
      const slots = makeBlankSlots(count)
      for (let at = 0, where = from + 1; at < count; at++, where += 2) slots[at] = regs[where]!
      if (i.op === (130 satisfies L['BUILD_RECORD'])) {
        m.chargeHeap(16 + 16 * c)
        return new HarnDict(null, i.cache as Shape, slots)
      }
      m.chargeHeap(80 + 16 * c)
      return new HarnStruct((i.k as { readonly name: string }).name, closure.code.module.key, null, i.cache as Shape, slots)
    }
  }
}

function take(regs: readonly Value[], from: number, count: number): Value[] {
  const values: Value[] = []
  for (let at = from, end = from + count; at < end; at++) values.push(regs[at]!)
  return values
}

/** Operand types that arithmetic with an int on the right has met. */
function noteKind(i: Instr, x: Value): void {
  i.kind = x instanceof HarnFloat && i.kind < 2 ? 1 : 2
}

/** KEEP WITH: SAW_MIXED_NUMBERS of compiled/types.ts. */
function noteKinds(i: Instr, x: Value, y: Value): void {
  const isMixed = x instanceof HarnFloat ? typeof y === 'number' : y instanceof HarnFloat && typeof x === 'number'
  i.kind = isMixed && i.kind !== 2 ? 3 : 2
}

function goOn(co: Coroutine, i: Instr): true {
  co.instr = i.next
  return true
}

function give(co: Coroutine, i: Instr, value: Value): true {
  co.regs[co.base + i.a] = value
  co.instr = i.next
  return true
}

function giveOrRaise(m: Machine, task: Task, i: Instr, result: Value | Fault): boolean {
  return result instanceof Fault ? m.raise(task, result) : give(task.current, i, result)
}

/** After a builtin. */
function settle(m: Machine, task: Task, co: Coroutine, i: Instr, result: Result): boolean {
  return result === CONTROL ? carryOut(m, task) : give(co, i, result as Value)
}

function setItem(m: Machine, task: Task, co: Coroutine, i: Instr, x: Value): boolean {
  const { regs, base } = co
  const index = regs[base + i.d]!
  const value = regs[base + i.c]!
  if (x instanceof HarnList) {
    if (typeof index !== 'number') i.kind = 2
    else if (i.k !== false && (x.owned || i.k === HELD) && index >= 0 && index < x.length) {
      if (x.owned) x.put(index, value)
      else x.putHeld(index, value)
      return give(co, i, x)
    }
  } else {
    i.kind = 2
    if (x instanceof HarnDict && i.k !== false && (x.owned || i.k === HELD) && typeof index === 'string') {
      x.put(index, value)
      m.chargeHeap(32)
      return give(co, i, x)
    }
  }
  if (m.fuel < 1 && isLongUpdate(x, index)) return m.refuelBefore(task)
  if (i.k === HELD) chargeHeldUpdate(m, x)
  else m.chargeUpdate(x)
  return giveOrRaise(m, task, i, i.k === HELD ? setHeldIndex(x, index, value) : setIndex(x, index, value, i.k === true))
}

/** A call whose callee replaces the frame. */
function callLast(m: Machine, task: Task, co: Coroutine, i: Instr, callee: Value): boolean {
  const { regs, base, fp } = co
  const from = base + i.d
  if (!(callee instanceof HarnClosure && callee.code.plain)) {
    if ((i.moves | i.lends) > 1) shareArguments(regs, from, i.moves | i.lends)
    return m.callFrom(task, callee, from, i.c, i.k as CallSite)
  }
  if (--m.fuel < 0) return m.refuel(task)
  const { code } = callee
  if ((i.moves | i.lends) > 1) shareArguments(regs, from, findKept(i, code.takes, code.keeps))
  for (let at = 0; at < i.c; at++) regs[base + at] = regs[from + at]!
  if (base + code.frameSize > regs.length) co.reserve(base + code.frameSize + 16)
  if (i.c !== code.exactCount) m.placeArguments(code, regs, base, i.c)
  co.frames[fp] = callee
  co.instr = code.first ?? code.entry
  const { tier } = m
  if (tier === null) return true
  const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, regs, base) : null)
  if (enter === null) return true
  const value = tier.callTail(co, enter, callee)
  if (value === undefined) return tier.settle(task)
  regs[base] = value
  co.instr = RETURN_FIRST
  return true
}

function callMethodOf(m: Machine, task: Task, co: Coroutine, i: Instr): boolean {
  const { regs, base } = co
  const start = base + i.b
  let receiver = regs[start]!
  if (receiver instanceof HarnStruct) return callStructMethod(m, task, co, i, receiver)
  if (i.d === 1 && receiver instanceof HarnList) receiver = copyIfSmall(receiver)
  const used = i.moves | i.lends
  // A builtin that extends its receiver takes it from the variable that the result overwrites.
  if (used > 1) shareArguments(regs, start, i.moves < 1073741824 ? used : used & ~2)
  const kind = typeof receiver === 'string' ? 1 : receiver instanceof HarnList ? 2 : receiver instanceof HarnDict ? 3 : 0
  let def = i.cache as BuiltinDef | null
  if (kind === 0 || kind !== i.kind) {
    def = m.findMethod(i, receiver)
    i.kind = def === null ? 0 : kind
  }
  if (def === null) return m.callMethod(task, receiver, start, i.c, i.k as MethodSite)
  if (m.fuel < 1) return m.refuelBefore(task)
  let result: Result
  const isLent = i.d === LENT && kind > 1
  if (isLent) (receiver as HarnList).owned = true
  if (i.c !== def.arity || def.rest || i.c > 2) result = m.runMethod(def, regs, start, i.c)
  else {
    m.context.argc = i.c
    m.spent = 0
    result =
      i.c === 0
        ? def.run(m.context, receiver)
        : i.c === 1
          ? def.run(m.context, receiver, regs[start + 1]!)
          : def.run(m.context, receiver, regs[start + 1]!, regs[start + 2]!)
  }
  if (isLent) (receiver as HarnList).owned = false
  return settle(m, task, co, i, result)
}

/** As CALL, but as a separate run (Coroutine.run). */
function callStructMethod(m: Machine, task: Task, co: Coroutine, i: Instr, receiver: HarnStruct): boolean {
  const { regs } = co
  const start = co.base + i.b
  const callee = findStructMethod(m, receiver, i.k as MethodSite)
  if (callee === null || co.fp >= m.limits.frames) {
    share(receiver)
    shareArguments(regs, start, i.moves | i.lends)
    return m.callMethod(task, receiver, start, i.c, i.k as MethodSite)
  }
  if (--m.fuel < 0) return m.refuel(task)
  const { code } = callee
  // A receiver is always lent, as to a builtin of that name.
  if ((code.keeps & 2) !== 0 && (i.moves & 2) === 0) share(receiver)
  if ((i.moves | i.lends) > 3) shareArguments(regs, start, findKept(i, code.takes, code.keeps) & ~2)
  if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
  if (i.c + 1 !== code.exactCount) m.placeArguments(code, regs, start, i.c + 1)
  const { tier } = m
  if (tier !== null && code.plain) {
    const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, regs, start) : null)
    if (enter !== null) {
      const value = tier.callRun(co, enter, callee, start)
      return value === undefined ? tier.settle(task) : give(co, i, value)
    }
  }
  const fp = co.fp + 1
  co.frames[fp] = callee
  co.returns[fp] = i
  co.bases[fp] = start
  co.stand(fp, start, code.first ?? code.entry)
  co.openRun()
  return true
}

/** The bottom frame of a task or generator returns. */
function endBottom(m: Machine, task: Task, co: Coroutine, i: Instr, value: Value): boolean {
  const to = co.returns[0]!
  if (i.c === 1 && (to.moves & 1) === 0) share(value)
  if (co.run === 0) co.closeRun()
  co.regs[0] = value
  co.stand(-1, 0, to)
  return endCoroutine(m, task, value)
}
