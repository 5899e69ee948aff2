// THE dispatch loop of the base tier: runs the current coroutine of a task until the task blocks, ends, or its slice is used up.
//
// `i`, `base`, `fp`, `regs` and `closure` mirror the coroutine, which is stale while we run: save() before anything that may
// look at it (calls out of the fast path, faults, suspension), load() after anything that may have changed it. Frames are entries
// of parallel arrays on the coroutine, registers one growable array a coroutine, overlapping so that arguments need no copy.
// Quick checks stand in the cases; the truth is in the slow functions of arithmetic.ts, access.ts and the machine.
// Keep this function small: V8 gives up optimising past 60 KB of bytecode, and then it is ten times slower.

import { CONTROL } from '../builtins/builtin.js'
import { HarnCell, HarnClosure } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { compare, equals } from '../values/equality.js'
import { END, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnEnum, HarnFloat, HarnRange } from '../values/scalars.js'
import { EXACT, isTruthy } from '../values/value.js'
import { checkDict, checkList, getIndex, getProperty, setIndex, setProperty, share, slice } from './access.js'
import { add, addOwned, contains, divide, makeRange, modulo, multiply, negate, power, subtract } from './arithmetic.js'
import { Fault, thrown } from './fault.js'
import { NATIVE_STEP } from './linked.js'
import { NativeActivation } from '../scheduler/task.js'
import type { BuiltinDef, Result } from '../builtins/builtin.js'
import type { Machine } from '../vm.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Instr, LINKED } from './linked.js'
import type { FunctionCode } from './module.js'
import type { Value } from '../values/value.js'

// KEEP WITH: linked.ts. Local on purpose; each literal is checked against the table by its type.
const MOVE: typeof LINKED.MOVE = 0, LOADK: typeof LINKED.LOADK = 1, LOAD_DATA: typeof LINKED.LOAD_DATA = 2, SHARE: typeof LINKED.SHARE = 3
const LOAD_CAPTURE: typeof LINKED.LOAD_CAPTURE = 4, LOAD_MODULE: typeof LINKED.LOAD_MODULE = 5, LOAD_MODULE_SHARED: typeof LINKED.LOAD_MODULE_SHARED = 6
const STORE_MODULE: typeof LINKED.STORE_MODULE = 7, NEW_CELL: typeof LINKED.NEW_CELL = 8, SET_CELL: typeof LINKED.SET_CELL = 9
const CELL_CALLABLE: typeof LINKED.CELL_CALLABLE = 10, LOAD_EXPORT: typeof LINKED.LOAD_EXPORT = 12, SELF: typeof LINKED.SELF = 14
const ADD: typeof LINKED.ADD = 20, SUB: typeof LINKED.SUB = 21, MUL: typeof LINKED.MUL = 22, DIV: typeof LINKED.DIV = 23, MOD: typeof LINKED.MOD = 24
const POW: typeof LINKED.POW = 25, NEG: typeof LINKED.NEG = 26, NOT: typeof LINKED.NOT = 27, ADD_OWNED: typeof LINKED.ADD_OWNED = 28
const EQ: typeof LINKED.EQ = 30, NE: typeof LINKED.NE = 31, LT: typeof LINKED.LT = 32, LE: typeof LINKED.LE = 33, GT: typeof LINKED.GT = 34
const GE: typeof LINKED.GE = 35, IN: typeof LINKED.IN = 36, NOT_IN: typeof LINKED.NOT_IN = 37
const ADDK: typeof LINKED.ADDK = 40, SUBK: typeof LINKED.SUBK = 41, MULK: typeof LINKED.MULK = 42, MODK: typeof LINKED.MODK = 43
const EQK: typeof LINKED.EQK = 44, NEK: typeof LINKED.NEK = 45, LTK: typeof LINKED.LTK = 46, LEK: typeof LINKED.LEK = 47
const GTK: typeof LINKED.GTK = 48, GEK: typeof LINKED.GEK = 49
const JUMP: typeof LINKED.JUMP = 50, LOOP: typeof LINKED.LOOP = 51, JF: typeof LINKED.JF = 52, JT: typeof LINKED.JT = 53, JNN: typeof LINKED.JNN = 54
const JPASSED: typeof LINKED.JPASSED = 55, JEND: typeof LINKED.JEND = 56, JNLT: typeof LINKED.JNLT = 57, JNLE: typeof LINKED.JNLE = 58
const JNGT: typeof LINKED.JNGT = 59, JNGE: typeof LINKED.JNGE = 60, JNEQ: typeof LINKED.JNEQ = 61, JNNE: typeof LINKED.JNNE = 62
const JNLTK: typeof LINKED.JNLTK = 63, JNLEK: typeof LINKED.JNLEK = 64, JNGTK: typeof LINKED.JNGTK = 65, JNGEK: typeof LINKED.JNGEK = 66
const JNEQK: typeof LINKED.JNEQK = 67, JNNEK: typeof LINKED.JNNEK = 68
const BUILD_LIST: typeof LINKED.BUILD_LIST = 71, LIST_PUSH: typeof LINKED.LIST_PUSH = 72
const BUILD_DICT: typeof LINKED.BUILD_DICT = 74, DICT_PUT: typeof LINKED.DICT_PUT = 75
const BUILD_ENUM: typeof LINKED.BUILD_ENUM = 78, BUILD_RANGE: typeof LINKED.BUILD_RANGE = 80
const TEXT: typeof LINKED.TEXT = 81, CLOSURE: typeof LINKED.CLOSURE = 82
const GET_PROP: typeof LINKED.GET_PROP = 84, GET_PROP_OPT: typeof LINKED.GET_PROP_OPT = 85, GET_INDEX: typeof LINKED.GET_INDEX = 86
const GET_INDEX_OPT: typeof LINKED.GET_INDEX_OPT = 87, SLICE: typeof LINKED.SLICE = 88, SET_PROP: typeof LINKED.SET_PROP = 89, SET_INDEX: typeof LINKED.SET_INDEX = 90
const CHECK_DICT: typeof LINKED.CHECK_DICT = 91, CHECK_LIST: typeof LINKED.CHECK_LIST = 92, FIELD: typeof LINKED.FIELD = 93, ITEM: typeof LINKED.ITEM = 94
const IS_ENUM: typeof LINKED.IS_ENUM = 97, ENUM_FIELD: typeof LINKED.ENUM_FIELD = 98, IS_DICT: typeof LINKED.IS_DICT = 99, IS_LIST: typeof LINKED.IS_LIST = 100
const CALL: typeof LINKED.CALL = 101, CALL_NAMED: typeof LINKED.CALL_NAMED = 102, BUILTIN1: typeof LINKED.BUILTIN1 = 103, BUILTIN2: typeof LINKED.BUILTIN2 = 104
const BUILTIN_N: typeof LINKED.BUILTIN_N = 105, CALL_METHOD: typeof LINKED.CALL_METHOD = 106
const TAIL_NAMED: typeof LINKED.TAIL_NAMED = 111, PIPE: typeof LINKED.PIPE = 112, TAIL_PIPE: typeof LINKED.TAIL_PIPE = 113, RETURN: typeof LINKED.RETURN = 114
const YIELD: typeof LINKED.YIELD = 115, THROW: typeof LINKED.THROW = 116, NEXT: typeof LINKED.NEXT = 124
const OP_NATIVE_STEP: typeof LINKED.NATIVE_STEP = 127, OP_TASK_END: typeof LINKED.TASK_END = 128

/** Whether the task can go on (false: it waits, has ended, or the machine must stop). */
export function execute(m: Machine, task: Task): void {
  let co: Coroutine = task.current
  let regs = co.regs
  let base = co.base
  let fp = co.fp
  let i: Instr = co.instr
  let closure = co.frames[fp] as HarnClosure // a native frame's step does not look at it

  for (;;) {
    switch (i.op) {
      case MOVE: regs[base + i.a] = regs[base + i.b]!; i = i.next; continue
      case LOADK: regs[base + i.a] = i.k as Value; i = i.next; continue
      case SHARE: regs[base + i.a] = share(regs[base + i.b]!); i = i.next; continue
      case LOAD_CAPTURE: regs[base + i.a] = closure.captures[i.b]!; i = i.next; continue
      case LOAD_MODULE: regs[base + i.a] = m.moduleSlots(closure.code.module)[i.b]!; i = i.next; continue
      case LOAD_MODULE_SHARED: regs[base + i.a] = share(m.moduleSlots(closure.code.module)[i.b]!); i = i.next; continue
      case STORE_MODULE: m.moduleSlots(closure.code.module)[i.c] = regs[base + i.b]!; i = i.next; continue
      case NEW_CELL: regs[base + i.a] = new HarnCell(null); i = i.next; continue
      case SET_CELL: {
        const cell = regs[base + i.c]
        if (cell instanceof HarnCell) cell.value = regs[base + i.b]!
        i = i.next
        continue
      }
      case CELL_CALLABLE: {
        const cell = regs[base + i.b] as HarnCell
        regs[base + i.a] = cell.value
        i = i.next
        continue
      }
      case LOAD_EXPORT: regs[base + i.a] = m.exportValue(i.k as string, i.c); i = i.next; continue
      case SELF: regs[base + i.a] = closure; i = i.next; continue

      case ADD: {
        const x = regs[base + i.b]!, y = regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const sum = x + y
          if (sum <= EXACT && sum >= -EXACT) {
            regs[base + i.a] = sum
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v + y.v)
          i = i.next
          continue
        } else m.chargeJoin(x, y)
        const sum = add(x, y)
        if (sum instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, sum)) return; break }
        regs[base + i.a] = sum
        i = i.next
        continue
      }
      case ADDK: {
        const x = regs[base + i.b]!
        if (typeof x === 'number') {
          const sum = x + (i.k as number)
          if (sum <= EXACT && sum >= -EXACT) {
            regs[base + i.a] = sum
            i = i.next
            continue
          }
        }
        const sum = add(x, i.k as number)
        if (sum instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, sum)) return; break }
        regs[base + i.a] = sum
        i = i.next
        continue
      }
      case ADD_OWNED: {
        const x = regs[base + i.b]!, y = regs[base + i.c]!
        let sum: Value | Fault
        if (typeof x === 'number' && typeof y === 'number') sum = add(x, y)
        else {
          m.chargeJoin(x, y)
          sum = addOwned(x, y)
        }
        if (sum instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, sum)) return; break }
        regs[base + i.a] = sum
        i = i.next
        continue
      }
      case SUB: case SUBK: {
        const x = regs[base + i.b]!, y = i.op === SUBK ? (i.k as number) : regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const difference = x - y
          if (difference <= EXACT && difference >= -EXACT) {
            regs[base + i.a] = difference
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v - y.v)
          i = i.next
          continue
        }
        const difference = subtract(x, y)
        if (difference instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, difference)) return; break }
        regs[base + i.a] = difference
        i = i.next
        continue
      }
      case MUL: case MULK: {
        const x = regs[base + i.b]!, y = i.op === MULK ? (i.k as number) : regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const product = x * y
          if (product <= EXACT && product >= -EXACT) {
            // + 0 turns -0 into 0; an int is never -0.
            regs[base + i.a] = product + 0
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v * y.v)
          i = i.next
          continue
        }
        if (typeof x === 'string' || typeof y === 'string') m.chargeRepeat(x, y)
        const product = multiply(x, y)
        if (product instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, product)) return; break }
        regs[base + i.a] = product
        i = i.next
        continue
      }
      case MOD: case MODK: {
        const x = regs[base + i.b]!, y = i.op === MODK ? (i.k as number) : regs[base + i.c]!
        // The int32 branch keeps V8 from a library call for the remainder of doubles.
        if (typeof x === 'number' && typeof y === 'number' && y !== 0) {
          regs[base + i.a] = (x | 0) === x && (y | 0) === y && x >= 0 ? (x | 0) % (y | 0) : (x % y) + 0
          i = i.next
          continue
        }
        const rest = modulo(x, y)
        if (rest instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, rest)) return; break }
        regs[base + i.a] = rest
        i = i.next
        continue
      }
      case DIV: case POW: {
        const x = regs[base + i.b]!, y = regs[base + i.c]!
        const result = i.op === DIV ? (x instanceof HarnFloat && y instanceof HarnFloat ? new HarnFloat(x.v / y.v) : divide(x, y)) : power(x, y)
        if (result instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, result)) return; break }
        regs[base + i.a] = result
        i = i.next
        continue
      }
      case NEG: {
        const result = negate(regs[base + i.b]!)
        if (result instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, result)) return; break }
        regs[base + i.a] = result
        i = i.next
        continue
      }
      case NOT: regs[base + i.a] = !isTruthy(regs[base + i.b]!); i = i.next; continue

      case EQ: regs[base + i.a] = equals(regs[base + i.b]!, regs[base + i.c]!); i = i.next; continue
      case NE: regs[base + i.a] = !equals(regs[base + i.b]!, regs[base + i.c]!); i = i.next; continue
      case EQK: { const x = regs[base + i.b]!; regs[base + i.a] = typeof x === 'number' ? x === i.k : equals(x, i.k as Value); i = i.next; continue }
      case NEK: { const x = regs[base + i.b]!; regs[base + i.a] = typeof x === 'number' ? x !== i.k : !equals(x, i.k as Value); i = i.next; continue }
      case LT: case LTK: {
        const x = regs[base + i.b]!, y = i.op === LTK ? (i.k as number) : regs[base + i.c]!
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x < y : compare(x, y) < 0
        i = i.next
        continue
      }
      case LE: case LEK: {
        const x = regs[base + i.b]!, y = i.op === LEK ? (i.k as number) : regs[base + i.c]!
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x <= y : compare(x, y) <= 0
        i = i.next
        continue
      }
      case GT: case GTK: {
        const x = regs[base + i.b]!, y = i.op === GTK ? (i.k as number) : regs[base + i.c]!
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x > y : compare(x, y) > 0
        i = i.next
        continue
      }
      case GE: case GEK: {
        const x = regs[base + i.b]!, y = i.op === GEK ? (i.k as number) : regs[base + i.c]!
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x >= y : compare(x, y) >= 0
        i = i.next
        continue
      }
      case IN: regs[base + i.a] = contains(regs[base + i.b]!, regs[base + i.c]!); i = i.next; continue
      case NOT_IN: regs[base + i.a] = !contains(regs[base + i.b]!, regs[base + i.c]!); i = i.next; continue

      case JUMP: i = i.target; continue
      case LOOP:
        if (--m.fuel < 0) {
          co.fp = fp; co.base = base; co.instr = i
          if (!m.refuel(task)) return
          break
        }
        i = i.target
        continue
      case JF: {
        const x = regs[base + i.b]!
        i = x === true || (x !== false && isTruthy(x)) ? i.next : i.target
        continue
      }
      case JT: {
        const x = regs[base + i.b]!
        i = x === true || (x !== false && isTruthy(x)) ? i.target : i.next
        continue
      }
      case JNN: i = regs[base + i.b] !== null ? i.target : i.next; continue
      case JPASSED: i = regs[base + i.b] !== undefined ? i.target : i.next; continue
      case JEND: i = regs[base + i.b] === END ? i.target : i.next; continue
      case JNLT: { const x = regs[base + i.b]!, y = regs[base + i.c]!; i = (typeof x === 'number' && typeof y === 'number' ? x < y : compare(x, y) < 0) ? i.next : i.target; continue }
      case JNLE: { const x = regs[base + i.b]!, y = regs[base + i.c]!; i = (typeof x === 'number' && typeof y === 'number' ? x <= y : compare(x, y) <= 0) ? i.next : i.target; continue }
      case JNGT: { const x = regs[base + i.b]!, y = regs[base + i.c]!; i = (typeof x === 'number' && typeof y === 'number' ? x > y : compare(x, y) > 0) ? i.next : i.target; continue }
      case JNGE: { const x = regs[base + i.b]!, y = regs[base + i.c]!; i = (typeof x === 'number' && typeof y === 'number' ? x >= y : compare(x, y) >= 0) ? i.next : i.target; continue }
      case JNEQ: i = equals(regs[base + i.b]!, regs[base + i.c]!) ? i.next : i.target; continue
      case JNNE: i = equals(regs[base + i.b]!, regs[base + i.c]!) ? i.target : i.next; continue
      case JNLTK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x < (i.k as number) : compare(x, i.k as number) < 0) ? i.next : i.target; continue }
      case JNLEK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x <= (i.k as number) : compare(x, i.k as number) <= 0) ? i.next : i.target; continue }
      case JNGTK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x > (i.k as number) : compare(x, i.k as number) > 0) ? i.next : i.target; continue }
      case JNGEK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x >= (i.k as number) : compare(x, i.k as number) >= 0) ? i.next : i.target; continue }
      case JNEQK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x === i.k : equals(x, i.k as number)) ? i.next : i.target; continue }
      case JNNEK: { const x = regs[base + i.b]!; i = (typeof x === 'number' ? x === i.k : equals(x, i.k as number)) ? i.target : i.next; continue }

      case BUILD_LIST: {
        const items: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) items.push(regs[at]!)
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnList(items)
        i = i.next
        continue
      }
      case LIST_PUSH: {
        const list = regs[base + i.b] as HarnList
        // The list is an emitter's own, under construction: nothing else sees its buffer.
        list.items.push(regs[base + i.c]!)
        list.length = list.items.length
        m.chargeHeap(16)
        regs[base + i.a] = list
        i = i.next
        continue
      }
      case BUILD_DICT: {
        const map = new Map<string, Value>()
        for (let at = base + i.b, end = at + i.c; at < end; at += 2) {
          const key = regs[at]!
          map.set(typeof key === 'string' ? key : display(key), regs[at + 1]!)
        }
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnDict(map)
        i = i.next
        continue
      }
      case DICT_PUT: {
        const dict = regs[base + i.b] as HarnDict
        const key = regs[base + i.c]!
        dict.set(typeof key === 'string' ? key : display(key), regs[base + i.d]!)
        m.chargeHeap(32)
        regs[base + i.a] = dict
        i = i.next
        continue
      }
      case BUILD_ENUM: {
        const fields: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) fields.push(regs[at]!)
        const name = i.k as { readonly enumName: string; readonly variant: string }
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnEnum(name.enumName, name.variant, fields)
        i = i.next
        continue
      }
      case BUILD_RANGE: regs[base + i.a] = makeRange(regs[base + i.b]!, regs[base + i.c]!, i.d === 1); i = i.next; continue
      case TEXT: {
        let text = ''
        for (let at = base + i.b, end = at + i.c; at < end; at++) {
          const part = regs[at]!
          text += typeof part === 'string' ? part : display(part)
        }
        m.chargeHeap(16 + text.length)
        regs[base + i.a] = text
        i = i.next
        continue
      }
      case CLOSURE: {
        const captures: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) captures.push(regs[at]!)
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnClosure(i.k as FunctionCode, captures)
        i = i.next
        continue
      }

      case GET_PROP: case GET_PROP_OPT: {
        const object = regs[base + i.b]!
        let value: Value | Fault
        if (object instanceof HarnDict) {
          const found = object.map.get(i.k as string)
          value = found === undefined ? null : found
        } else value = getProperty(object, i.k as string, i.op === GET_PROP_OPT)
        if (value instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, value)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case GET_INDEX: case GET_INDEX_OPT: {
        const object = regs[base + i.b]!, index = regs[base + i.c]!
        if (object instanceof HarnList && typeof index === 'number' && index >= 0) {
          regs[base + i.a] = index < object.length ? object.items[index]! : null
          i = i.next
          continue
        }
        const value = getIndex(object, index, i.op === GET_INDEX_OPT)
        if (value instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, value)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case SLICE: {
        const object = regs[base + i.b]!
        m.chargeCopy(object)
        const value = slice(object, i.c < 0 ? null : regs[base + i.c]!, i.c >= 0, i.d < 0 ? null : regs[base + i.d]!, i.d >= 0)
        if (value instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, value)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case SET_PROP: {
        const object = regs[base + i.b]!
        m.chargeUpdate(object)
        const value = setProperty(object, i.k as string, regs[base + i.c]!, i.d === 1)
        if (value instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, value)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case SET_INDEX: {
        const object = regs[base + i.b]!, index = regs[base + i.d]!
        if (object instanceof HarnList && object.owned && i.k === true && typeof index === 'number' && index >= 0 && index < object.length) {
          object.items[index] = regs[base + i.c]!
          regs[base + i.a] = object
          i = i.next
          continue
        }
        m.chargeUpdate(object)
        const value = setIndex(object, index, regs[base + i.c]!, i.k === true)
        if (value instanceof Fault) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, value)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case CHECK_DICT: case CHECK_LIST: {
        const value = regs[base + i.b]!
        const fault = i.op === CHECK_DICT ? checkDict(value) : checkList(value)
        if (fault !== null) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, fault)) return; break }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case FIELD: regs[base + i.a] = (regs[base + i.b] as HarnDict).map.get(i.k as string) ?? null; i = i.next; continue
      case ITEM: regs[base + i.a] = (regs[base + i.b] as HarnList).at(i.c) ?? null; i = i.next; continue
      case IS_ENUM: {
        const value = regs[base + i.b]
        const name = i.k as { readonly enumName: string; readonly variant: string }
        regs[base + i.a] = value instanceof HarnEnum && value.variant === name.variant && value.enumName === name.enumName
        i = i.next
        continue
      }
      case ENUM_FIELD: regs[base + i.a] = (regs[base + i.b] as HarnEnum).fields[i.c] ?? null; i = i.next; continue
      case IS_DICT: regs[base + i.a] = regs[base + i.b] instanceof HarnDict; i = i.next; continue
      case IS_LIST: {
        const value = regs[base + i.b]
        regs[base + i.a] = value instanceof HarnList && value.length >= i.c
        i = i.next
        continue
      }

      case CALL: case CALL_NAMED: {
        const callee = regs[base + i.b]!
        if (callee instanceof HarnClosure && callee.code.plain) {
          if (--m.fuel < 0) {
            co.fp = fp; co.base = base; co.instr = i
            if (!m.refuel(task)) return
            break
          }
          const code = callee.code
          const start = base + i.d
          if (fp + 1 >= co.limit) { co.fp = fp; co.base = base; co.instr = i; if (!m.raise(task, m.stackOverflow())) return; break }
          if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
          if (i.c !== code.paramCount || code.chunk.rest >= 0) m.placeArguments(code, regs, start, i.c)
          fp++
          co.frames[fp] = callee
          co.returns[fp] = i
          co.bases[fp] = start
          closure = callee
          base = start
          i = code.entry
          continue
        }
        co.fp = fp; co.base = base; co.instr = i
        if (!m.callFrom(task, callee, base + i.d, i.c, i.k as { readonly name: string; readonly suggestion: string | null } | null)) return
        break
      }
      case RETURN: {
        const value = regs[base + i.b]!
        const to = co.returns[fp]!
        fp--
        if (fp < 0) {
          // The bottom frame of a task or generator.
          regs[0] = value
          co.fp = fp; co.base = 0; co.instr = to
          if (!m.endCoroutine(task, value)) return
          break
        }
        base = co.bases[fp]!
        regs[base + to.a] = value
        i = to.next
        closure = co.frames[fp] as HarnClosure
        continue
      }
      case TAIL_NAMED: {
        const callee = regs[base + i.b]!
        if (callee instanceof HarnClosure && callee.code.plain) {
          if (--m.fuel < 0) {
            co.fp = fp; co.base = base; co.instr = i
            if (!m.refuel(task)) return
            break
          }
          const code = callee.code
          const from = base + i.d
          for (let at = 0; at < i.c; at++) regs[base + at] = regs[from + at]!
          if (base + code.frameSize > regs.length) co.reserve(base + code.frameSize + 16)
          if (i.c !== code.paramCount || code.chunk.rest >= 0) m.placeArguments(code, regs, base, i.c)
          co.frames[fp] = callee
          closure = callee
          i = code.entry
          continue
        }
        co.fp = fp; co.base = base; co.instr = i
        if (!m.tailCallFrom(task, callee, base + i.d, i.c, i.k as { readonly name: string; readonly suggestion: string | null })) return
        break
      }
      case BUILTIN1: case BUILTIN2: {
        const def = i.k as BuiltinDef
        co.instr = i
        m.argc = def.arity
        const result: Result = i.op === BUILTIN1 ? def.run(m, regs[base + i.b]!) : def.run(m, regs[base + i.b]!, regs[base + i.c]!)
        if (result === CONTROL) {
          co.fp = fp; co.base = base
          if (!m.control(task)) return
          break
        }
        regs[base + i.a] = result as Value
        i = i.next
        continue
      }
      case BUILTIN_N: {
        co.fp = fp; co.base = base; co.instr = i
        const result = m.runBuiltin(i.k as BuiltinDef, regs, base + i.b, i.c)
        if (result === CONTROL) {
          if (!m.control(task)) return
          break
        }
        regs[base + i.a] = result as Value
        i = i.next
        continue
      }
      case CALL_METHOD: {
        co.fp = fp; co.base = base; co.instr = i
        const receiver = regs[base + i.b]!
        const def = m.methodFor(i, receiver)
        if (def !== null) {
          const result = i.c + 1 === def.arity + 1 && !def.rest && i.c <= 1
            ? (m.argc = i.c, i.c === 0 ? def.run(m, receiver) : def.run(m, receiver, regs[base + i.b + 1]!))
            : m.runMethod(def, regs, base + i.b, i.c)
          if (result === CONTROL) {
            if (!m.control(task)) return
            break
          }
          regs[base + i.a] = result as Value
          i = i.next
          continue
        }
        if (!m.callMethod(task, receiver, base + i.b, i.c, i.k as { readonly name: string; readonly optional: boolean })) return
        break
      }
      case PIPE: case TAIL_PIPE: {
        co.fp = fp; co.base = base; co.instr = i
        if (!m.pipe(task, base + i.b, i.op === TAIL_PIPE)) return
        break
      }
      case NEXT: {
        const it = regs[base + i.b] as HarnIter
        if (it.op === 'list') {
          const list = it.state[0] as HarnList
          const at = it.state[1] as number
          if (at < list.length) {
            it.state[1] = at + 1
            regs[base + i.a] = list.items[at]!
          } else {
            it.done = true
            regs[base + i.a] = END
          }
          i = i.next
          continue
        }
        if (it.op === 'range' && typeof it.state[1] === 'number') {
          const range = it.state[0] as HarnRange
          const at = it.state[1]
          if (range.exclusive ? at < range.end : at <= range.end) {
            it.state[1] = at + 1
            regs[base + i.a] = at
          } else {
            it.done = true
            regs[base + i.a] = END
          }
          i = i.next
          continue
        }
        co.fp = fp; co.base = base; co.instr = i
        if (!m.nextItem(task, it)) return
        break
      }
      case YIELD:
        co.fp = fp; co.base = base; co.instr = i
        if (!m.yieldValue(task, regs[base + i.b]!)) return
        break
      case THROW:
        co.fp = fp; co.base = base; co.instr = i
        if (!m.raise(task, thrown(regs[base + i.b]!))) return
        break
      case OP_NATIVE_STEP: {
        const activation = co.frames[fp] as NativeActivation
        co.fp = fp; co.base = base; co.instr = NATIVE_STEP
        if (!m.stepNative(task, activation)) return
        break
      }
      case OP_TASK_END: return
      case LOAD_DATA:
      default: {
        // Everything rare: one function of the machine, so that this one stays small.
        co.fp = fp; co.base = base; co.instr = i
        if (!m.rare(task, i, closure)) return
        break
      }
    }
    // After a slow path: another frame, another coroutine or another task state may be current.
    co = task.current
    regs = co.regs
    base = co.base
    fp = co.fp
    i = co.instr
    closure = co.frames[fp] as HarnClosure
  }
}

