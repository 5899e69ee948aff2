// THE dispatch loop of the base tier: runs the current coroutine of a task until the task blocks, ends, or its slice is used up.
//
// `i`, `base`, `fp`, `regs` and `closure` mirror the coroutine, which is stale while we run: save() before anything that may
// look at it (calls out of the fast path, faults, suspension), load() after anything that may have changed it. Frames are entries
// of parallel arrays on the coroutine, registers one growable array a coroutine, overlapping so that arguments need no copy.
// Quick checks stand in the cases; the truth is in the slow functions of arithmetic.ts, access.ts and the machine.
// Keep this function small: V8 gives up optimising past 60 KB of bytecode, and then it is ten times slower.

import { CONTROL } from '../builtins/builtin.js'
import { HarnCell, HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { compare, equals } from '../values/equality.js'
import type { HarnIter } from '../values/handles.js'
import { END } from '../values/handles.js'
import { makeBlankSlots, Keyed } from '../values/keyed.js'
import { HarnList, copyIfSmall } from '../values/list.js'
import type { HarnRange } from '../values/scalars.js'
import { HarnEnum, HarnFloat } from '../values/scalars.js'
import { isTruthy } from '../values/value.js'
import { getIndex, getProperty, setHeldIndex, setIndex, setProperty, share } from './access.js'
import { holdsField, holdsItem, isContainer, makeOwn, ownField, ownItem, readOut, findKept, shareArguments } from './ownership.js'
import { chargeHeldUpdate, isLong, isLongAccess, isLongUpdate, isShownAsKey } from './charges.js'
import { carryOut, advanceIter, stepNative, yieldValue } from './activations.js'
import { add, addOwned, divide, makeRange, modulo, multiply, negate, subtract } from './arithmetic.js'
import { findStructMethod } from './calls.js'
import { Fault, makeThrown } from './fault.js'
import { readField, writeField } from './fields.js'
import { passesQuickly } from './param-check.js'
import { NATIVE_STEP, RETURN_FIRST } from './linked.js'
import { endCoroutine } from '../scheduler/transitions.js'
import type { NativeActivation } from '../scheduler/task.js'
import type { BuiltinDef, Result } from '../builtins/builtin.js'
import type { Machine } from './machine.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Instr, LINKED, MethodSite, OpWith } from './linked.js'
import type { FunctionCode } from './module.js'
import type { Shape } from '../values/shape.js'
import type { Value } from '../values/value.js'

// A label is its number, because V8 makes a jump table of literals and a chain of comparisons of names; `satisfies` holds it to
// the table in linked.ts and leaves nothing behind.
type L = typeof LINKED
interface StructType {
  readonly name: string
}

/** Whether the task can go on (false: it waits, has ended, or the machine must stop). */
export function execute(m: Machine, task: Task): void {
  // Largest int that is a number; here, because V8 folds locals but not what other modules export.
  const exact = 9007199254740991
  const { tier } = m
  let co: Coroutine = task.current
  let regs = co.regs
  let base = co.base
  let fp = co.fp
  let i: Instr = co.instr
  /** A fault of instruction `i`, on the way from its case to the end of the switch. */
  let raised: Fault | null = null
  let closure = co.frames[fp] as HarnClosure // a native frame's step does not look at it

  for (;;) {
    switch (i.op) {
      case 0 satisfies L['MOVE']:
        regs[base + i.a] = regs[base + i.b]!
        i = i.next
        continue
      case 1 satisfies L['LOADK']:
        regs[base + i.a] = i.k as Value
        i = i.next
        continue
      case 3 satisfies L['SHARE']:
        regs[base + i.a] = share(regs[base + i.b]!)
        i = i.next
        continue
      case 4 satisfies L['LOAD_CAPTURE']:
        regs[base + i.a] = closure.captures[i.b]!
        i = i.next
        continue
      case 5 satisfies L['LOAD_MODULE']:
        regs[base + i.a] = m.moduleSlots(closure.code.module)[i.b]!
        i = i.next
        continue
      case 6 satisfies L['LOAD_MODULE_SHARED']:
        regs[base + i.a] = share(m.moduleSlots(closure.code.module)[i.b]!)
        i = i.next
        continue
      case 7 satisfies L['STORE_MODULE']:
        m.moduleSlots(closure.code.module)[i.c] = regs[base + i.b]!
        i = i.next
        continue
      case 9 satisfies L['SET_CELL']: {
        const cell = regs[base + i.c]
        if (cell instanceof HarnCell) cell.value = regs[base + i.b]!
        i = i.next
        continue
      }
      case 10 satisfies L['CELL_CALLABLE']: {
        const cell = regs[base + i.b] as HarnCell
        regs[base + i.a] = cell.value
        i = i.next
        continue
      }
      case 12 satisfies L['LOAD_EXPORT']:
        regs[base + i.a] = m.exportValue(i.k as string, i.c)
        i = i.next
        continue
      case 14 satisfies L['SELF']:
        regs[base + i.a] = closure
        i = i.next
        continue

      // Ints: `| 0` first, which gives most results without a look at the safe range, keeps small ones unboxed and turns -0 to 0.
      case 20 satisfies L['ADD']:
      case 28 satisfies L['ADD_OWNED']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const sum = x + y
          const small = sum | 0
          if (small === sum) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (sum <= exact && sum >= -exact) {
            regs[base + i.a] = sum
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v + y.v)
          if (i.kind === 0) i.kind = 1
          i = i.next
          continue
        } else if (m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        } else {
          co.stand(fp, base, i)
          m.chargeJoin(x, y, i.op === 28)
        }
        i.kind = 2
        const sum = i.op === 28 ? addOwned(x, y) : add(x, y)
        if (sum instanceof Fault) {
          raised = sum
          break
        }
        regs[base + i.a] = sum
        i = i.next
        continue
      }
      case 21 satisfies L['SUB']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const difference = x - y
          const small = difference | 0
          if (small === difference) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (difference <= exact && difference >= -exact) {
            regs[base + i.a] = difference
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v - y.v)
          if (i.kind === 0) i.kind = 1
          i = i.next
          continue
        }
        i.kind = 2
        const difference = subtract(x, y)
        if (difference instanceof Fault) {
          raised = difference
          break
        }
        regs[base + i.a] = difference
        i = i.next
        continue
      }
      case 22 satisfies L['MUL']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x === 'number' && typeof y === 'number') {
          const product = x * y
          const small = product | 0
          if (small === product) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (product <= exact && product >= -exact) {
            regs[base + i.a] = product
            i = i.next
            continue
          }
        } else if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v * y.v)
          if (i.kind === 0) i.kind = 1
          i = i.next
          continue
        } else if (typeof x === 'string' || typeof y === 'string') {
          if (m.fuel < 1) {
            co.stand(fp, base, i)
            if (!m.refuelBefore(task)) return
            break
          }
          m.chargeRepeat(x, y)
        }
        i.kind = 2
        const product = multiply(x, y)
        if (product instanceof Fault) {
          raised = product
          break
        }
        regs[base + i.a] = product
        i = i.next
        continue
      }
      case 24 satisfies L['MOD']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        // The int32 branch keeps V8 from a library call for the remainder of doubles.
        if (typeof x === 'number' && typeof y === 'number' && y !== 0) {
          regs[base + i.a] = (x | 0) === x && (y | 0) === y && x >= 0 ? (x | 0) % (y | 0) : (x % y) + 0
          i = i.next
          continue
        }
        if (typeof x !== 'number' || typeof y !== 'number') i.kind = 2
        const rest = modulo(x, y)
        if (rest instanceof Fault) {
          raised = rest
          break
        }
        regs[base + i.a] = rest
        i = i.next
        continue
      }
      // With a small int on the right, which is `c` itself.
      case 40 satisfies L['ADDK']: {
        const x = regs[base + i.b]!
        if (typeof x === 'number') {
          const sum = x + i.c
          const small = sum | 0
          if (small === sum) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (sum <= exact && sum >= -exact) {
            regs[base + i.a] = sum
            i = i.next
            continue
          }
        }
        i.kind = x instanceof HarnFloat && i.kind < 2 ? 1 : 2
        const sum = add(x, i.c)
        if (sum instanceof Fault) {
          raised = sum
          break
        }
        regs[base + i.a] = sum
        i = i.next
        continue
      }
      case 41 satisfies L['SUBK']: {
        const x = regs[base + i.b]!
        if (typeof x === 'number') {
          const difference = x - i.c
          const small = difference | 0
          if (small === difference) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (difference <= exact && difference >= -exact) {
            regs[base + i.a] = difference
            i = i.next
            continue
          }
        }
        i.kind = x instanceof HarnFloat && i.kind < 2 ? 1 : 2
        const difference = subtract(x, i.c)
        if (difference instanceof Fault) {
          raised = difference
          break
        }
        regs[base + i.a] = difference
        i = i.next
        continue
      }
      case 42 satisfies L['MULK']: {
        const x = regs[base + i.b]!
        if (typeof x === 'number') {
          const product = x * i.c
          const small = product | 0
          if (small === product) {
            regs[base + i.a] = small
            i = i.next
            continue
          }
          if (product <= exact && product >= -exact) {
            regs[base + i.a] = product
            i = i.next
            continue
          }
        } else if (typeof x === 'string') {
          if (m.fuel < 1) {
            co.stand(fp, base, i)
            if (!m.refuelBefore(task)) return
            break
          }
          m.chargeRepeat(x, i.c)
        }
        i.kind = x instanceof HarnFloat && i.kind < 2 ? 1 : 2
        const product = multiply(x, i.c)
        if (product instanceof Fault) {
          raised = product
          break
        }
        regs[base + i.a] = product
        i = i.next
        continue
      }
      case 43 satisfies L['MODK']: {
        const x = regs[base + i.b]!,
          y = i.c
        if (typeof x === 'number' && y !== 0) {
          regs[base + i.a] = (x | 0) === x && x >= 0 ? (x | 0) % y : (x % y) + 0
          i = i.next
          continue
        }
        if (typeof x !== 'number' || typeof y !== 'number') i.kind = 2
        const rest = modulo(x, y)
        if (rest instanceof Fault) {
          raised = rest
          break
        }
        regs[base + i.a] = rest
        i = i.next
        continue
      }
      case 23 satisfies L['DIV']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (x instanceof HarnFloat && y instanceof HarnFloat) {
          regs[base + i.a] = new HarnFloat(x.v / y.v)
          if (i.kind === 0) i.kind = 1
          i = i.next
          continue
        }
        if (typeof x !== 'number' || typeof y !== 'number') i.kind = 2
        const result = divide(x, y)
        if (result instanceof Fault) {
          raised = result
          break
        }
        regs[base + i.a] = result
        i = i.next
        continue
      }
      case 26 satisfies L['NEG']: {
        const x = regs[base + i.b]!
        if (typeof x !== 'number') i.kind = x instanceof HarnFloat && i.kind < 2 ? 1 : 2
        const result = negate(x)
        if (result instanceof Fault) {
          raised = result
          break
        }
        regs[base + i.a] = result
        i = i.next
        continue
      }
      case 27 satisfies L['NOT']:
        regs[base + i.a] = !isTruthy(regs[base + i.b]!)
        i = i.next
        continue

      case 30 satisfies L['EQ']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x === y : equals(x, y)
        i = i.next
        continue
      }
      case 31 satisfies L['NE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x !== y : !equals(x, y)
        i = i.next
        continue
      }
      case 32 satisfies L['LT']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x < y : compare(x, y) < 0
        i = i.next
        continue
      }
      case 33 satisfies L['LE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x <= y : compare(x, y) <= 0
        i = i.next
        continue
      }
      case 34 satisfies L['GT']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x > y : compare(x, y) > 0
        i = i.next
        continue
      }
      case 35 satisfies L['GE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        regs[base + i.a] = typeof x === 'number' && typeof y === 'number' ? x >= y : compare(x, y) >= 0
        i = i.next
        continue
      }
      case 44 satisfies L['EQK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x === i.c : equals(x, i.c)
        i = i.next
        continue
      }
      case 45 satisfies L['NEK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x !== i.c : !equals(x, i.c)
        i = i.next
        continue
      }
      case 46 satisfies L['LTK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x < i.c : compare(x, i.c) < 0
        i = i.next
        continue
      }
      case 47 satisfies L['LEK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x <= i.c : compare(x, i.c) <= 0
        i = i.next
        continue
      }
      case 48 satisfies L['GTK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x > i.c : compare(x, i.c) > 0
        i = i.next
        continue
      }
      case 49 satisfies L['GEK']: {
        const x = regs[base + i.b]!
        regs[base + i.a] = typeof x === 'number' ? x >= i.c : compare(x, i.c) >= 0
        i = i.next
        continue
      }

      case 50 satisfies L['JUMP']:
        i = i.target
        continue
      case 51 satisfies L['LOOP']:
        if (--m.fuel < 0) {
          co.stand(fp, base, i)
          if (!m.refuel(task)) return
          break
        }
        if (tier !== null && ++i.kind > tier.turns) {
          co.stand(fp, base, i.target)
          const value = tier.runLoop(co, i, closure)
          if (value === undefined) {
            if (!tier.settle(task)) return
            break
          }
          regs[base] = value
          i = RETURN_FIRST
          continue
        }
        i = i.target
        continue
      case 52 satisfies L['JF']: {
        const x = regs[base + i.b]!
        i = x === true || (x !== false && isTruthy(x)) ? i.next : i.target
        continue
      }
      case 53 satisfies L['JT']: {
        const x = regs[base + i.b]!
        i = x === true || (x !== false && isTruthy(x)) ? i.target : i.next
        continue
      }
      case 54 satisfies L['JNN']:
        i = regs[base + i.b] !== null ? i.target : i.next
        continue
      case 55 satisfies L['JPASSED']:
        i = regs[base + i.b] !== undefined ? i.target : i.next
        continue
      case 56 satisfies L['JEND']:
        i = regs[base + i.b] === END ? i.target : i.next
        continue
      case 57 satisfies L['JNLT']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x < y : compare(x, y) < 0) ? i.next : i.target
        continue
      }
      case 58 satisfies L['JNLE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x <= y : compare(x, y) <= 0) ? i.next : i.target
        continue
      }
      case 59 satisfies L['JNGT']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x > y : compare(x, y) > 0) ? i.next : i.target
        continue
      }
      case 60 satisfies L['JNGE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x >= y : compare(x, y) >= 0) ? i.next : i.target
        continue
      }
      case 61 satisfies L['JNEQ']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x === y : equals(x, y)) ? i.next : i.target
        continue
      }
      case 62 satisfies L['JNNE']: {
        const x = regs[base + i.b]!
        const y = regs[base + i.c]!
        if (typeof x !== 'number' && m.fuel < 1 && isLong(x)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        i = (typeof x === 'number' && typeof y === 'number' ? x === y : equals(x, y)) ? i.target : i.next
        continue
      }
      case 63 satisfies L['JNLTK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x < i.c : compare(x, i.c) < 0) ? i.next : i.target
        continue
      }
      case 64 satisfies L['JNLEK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x <= i.c : compare(x, i.c) <= 0) ? i.next : i.target
        continue
      }
      case 65 satisfies L['JNGTK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x > i.c : compare(x, i.c) > 0) ? i.next : i.target
        continue
      }
      case 66 satisfies L['JNGEK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x >= i.c : compare(x, i.c) >= 0) ? i.next : i.target
        continue
      }
      case 67 satisfies L['JNEQK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x === i.c : equals(x, i.c)) ? i.next : i.target
        continue
      }
      case 68 satisfies L['JNNEK']: {
        const x = regs[base + i.b]!
        i = (typeof x === 'number' ? x === i.c : equals(x, i.c)) ? i.target : i.next
        continue
      }

      case 70 satisfies L['CHECK_PARAM']:
        if (passesQuickly(regs[base + i.b]!, i.c)) {
          i = i.next
          continue
        }
        co.stand(fp, base, i)
        if (!m.runRare(task, i, closure)) return
        break

      case 71 satisfies L['BUILD_LIST']: {
        const items: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) items.push(regs[at]!)
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnList(items)
        i = i.next
        continue
      }
      case 72 satisfies L['LIST_PUSH']: {
        const list = regs[base + i.b] as HarnList
        // The list is an emitter's own, under construction: nothing else sees its buffer.
        list.items.push(regs[base + i.c]!)
        list.length = list.items.length
        m.chargeHeap(16)
        regs[base + i.a] = list
        i = i.next
        continue
      }
      case 74 satisfies L['BUILD_DICT']: {
        if (m.fuel < 1) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        const dict = new HarnDict()
        for (let at = base + i.b, end = at + i.c; at < end; at += 2) {
          const key = regs[at]!
          dict.set(typeof key === 'string' ? key : display(key), regs[at + 1]!)
        }
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = dict
        i = i.next
        continue
      }
      case 130 satisfies L['BUILD_RECORD']:
      case 131 satisfies L['BUILD_STRUCT_RECORD']: {
        const count = i.c >> 1
        const slots = makeBlankSlots(count)
        for (let at = 0, from = base + i.b + 1; at < count; at++, from += 2) slots[at] = regs[from]!
        if (i.op === 130) {
          m.chargeHeap(16 + 16 * i.c)
          regs[base + i.a] = new HarnDict(null, i.cache as Shape, slots)
        } else {
          m.chargeHeap(80 + 16 * i.c)
          regs[base + i.a] = new HarnStruct((i.k as StructType).name, closure.code.module.key, null, i.cache as Shape, slots)
        }
        i = i.next
        continue
      }
      case 75 satisfies L['DICT_PUT']: {
        const dict = regs[base + i.b] as HarnDict
        const key = regs[base + i.c]!
        if (m.fuel < 1 && isShownAsKey(key)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        if (i.k === true) dict.set(key as string, regs[base + i.d]!)
        else dict.put(typeof key === 'string' ? key : display(key), regs[base + i.d]!)
        m.chargeHeap(32)
        regs[base + i.a] = dict
        i = i.next
        continue
      }
      case 78 satisfies L['BUILD_ENUM']: {
        const fields: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) fields.push(regs[at]!)
        const name = i.k as { readonly enumName: string; readonly variant: string }
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnEnum(name.enumName, name.variant, fields)
        i = i.next
        continue
      }
      case 80 satisfies L['BUILD_RANGE']:
        regs[base + i.a] = makeRange(regs[base + i.b]!, regs[base + i.c]!, i.d === 1)
        i = i.next
        continue
      case 81 satisfies L['TEXT']: {
        if (m.fuel < 1) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        let text = ''
        for (let at = base + i.b, end = at + i.c; at < end; at++) {
          const part = regs[at]!
          text += typeof part === 'string' ? part : display(part)
        }
        m.chargeText(text.length)
        regs[base + i.a] = text
        i = i.next
        continue
      }
      case 82 satisfies L['CLOSURE']: {
        const captures: Value[] = []
        for (let at = base + i.b, end = at + i.c; at < end; at++) captures.push(regs[at]!)
        m.chargeHeap(16 + 16 * i.c)
        regs[base + i.a] = new HarnClosure(i.k as FunctionCode, captures)
        i = i.next
        continue
      }

      case 84 satisfies L['GET_PROP']:
      case 85 satisfies L['GET_PROP_OPT']: {
        const object = regs[base + i.b]!
        let value: Value | Fault
        if (object instanceof Keyed) {
          value =
            object.shape === i.cache ? object.slots[i.kind]! : object.shape === i.seen ? object.slots[i.d]! : readField(object, i)
          if (i.c !== 0 && object.nest !== null) readOut(object, value, i.c)
        } else {
          if (m.fuel < 1 && typeof object === 'string') {
            co.stand(fp, base, i)
            if (!m.refuelBefore(task)) return
            break
          }
          value = getProperty(object, i.k as string, i.op === 85)
          if (value instanceof Fault) {
            raised = value
            break
          }
          if (i.c !== 0) share(value)
        }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case 86 satisfies L['GET_INDEX']:
      case 87 satisfies L['GET_INDEX_OPT']: {
        const object = regs[base + i.b]!,
          index = regs[base + i.c]!
        if (object instanceof HarnList && typeof index === 'number' && index >= 0) {
          const found = index < object.length ? (object.raw === null ? object.boxed[index]! : object.at(index)!) : null
          if (i.d === 1 && object.nest !== null) share(found)
          regs[base + i.a] = found
          i = i.next
          continue
        }
        if (!(object instanceof HarnList)) i.kind = 2
        if (object instanceof HarnDict && typeof index === 'string') {
          const found = object.get(index)
          if (i.d === 1 && found !== undefined) share(found)
          regs[base + i.a] = found === undefined ? null : found
          i = i.next
          continue
        }
        if (m.fuel < 1 && isLongAccess(object, index)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        const value = getIndex(object, index, i.op === 87)
        if (value instanceof Fault) {
          raised = value
          break
        }
        regs[base + i.a] = i.d === 1 ? share(value) : value
        i = i.next
        continue
      }
      case 89 satisfies L['SET_PROP']: {
        const object = regs[base + i.b]!
        if (i.d !== 0 && object instanceof Keyed && (i.d === 2 || object.owned)) {
          if (object.shape === i.cache) object.slots[i.kind] = regs[base + i.c]!
          else writeField(object, i, regs[base + i.c]!)
          m.chargeHeap(32)
          regs[base + i.a] = object
          i = i.next
          continue
        }
        if (m.fuel < 1 && isLongUpdate(object, null)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        co.stand(fp, base, i)
        m.chargeUpdate(object)
        const value = setProperty(object, i.k as string, regs[base + i.c]!, i.d === 1)
        if (value instanceof Fault) {
          raised = value
          break
        }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case 90 satisfies L['SET_INDEX']: {
        const object = regs[base + i.b]!,
          index = regs[base + i.d]!
        if (
          object instanceof HarnList &&
          i.k !== false &&
          (object.owned || i.k === 2) &&
          typeof index === 'number' &&
          index >= 0 &&
          index < object.length
        ) {
          if (object.raw === null) object.boxed[index] = regs[base + i.c]!
          else if (object.owned) object.put(index, regs[base + i.c]!)
          else object.putHeld(index, regs[base + i.c]!)
          regs[base + i.a] = object
          i = i.next
          continue
        }
        if (!(object instanceof HarnList && typeof index === 'number')) i.kind = 2
        if (object instanceof HarnDict && i.k !== false && (object.owned || i.k === 2) && typeof index === 'string') {
          object.put(index, regs[base + i.c]!)
          m.chargeHeap(32)
          regs[base + i.a] = object
          i = i.next
          continue
        }
        if (m.fuel < 1 && isLongUpdate(object, index)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        co.stand(fp, base, i)
        if (i.k === 2) chargeHeldUpdate(m, object)
        else m.chargeUpdate(object)
        const value =
          i.k === 2 ? setHeldIndex(object, index, regs[base + i.c]!) : setIndex(object, index, regs[base + i.c]!, i.k === true)
        if (value instanceof Fault) {
          raised = value
          break
        }
        regs[base + i.a] = value
        i = i.next
        continue
      }
      case 133 satisfies L['OWN']: {
        const object = regs[base + i.b]!
        if ((object instanceof HarnList || object instanceof Keyed) && !object.owned) {
          co.stand(fp, base, i)
          if (m.fuel < 1) {
            if (!m.refuelBefore(task)) return
            break
          }
          regs[base + i.a] = makeOwn(m, object)
        }
        i = i.next
        continue
      }
      case 134 satisfies L['OWN_INDEX']: {
        const object = regs[base + i.b]!,
          holder = regs[base + i.c]!,
          index = regs[base + i.d]!
        if (isContainer(object)) {
          if (
            !(
              holder instanceof HarnList &&
              object.owner !== null &&
              object.owner === holder.nest &&
              holder.boxed[index as number] === object
            ) &&
            !holdsItem(holder, index, object)
          ) {
            co.stand(fp, base, i)
            if (m.fuel < 1) {
              if (!m.refuelBefore(task)) return
              break
            }
            regs[base + i.a] = ownItem(m, holder, index, object)
          }
        }
        i = i.next
        continue
      }
      case 135 satisfies L['OWN_PROP']: {
        const object = regs[base + i.b]!,
          holder = regs[base + i.c]!
        if (isContainer(object) && !holdsField(holder, i.k as string, object)) {
          co.stand(fp, base, i)
          if (m.fuel < 1) {
            if (!m.refuelBefore(task)) return
            break
          }
          const own = ownField(m, holder, i.k as string, object)
          if (own instanceof Fault) {
            raised = own
            break
          }
          regs[base + i.a] = own
        }
        i = i.next
        continue
      }
      case 93 satisfies L['FIELD']:
        {
          const object = regs[base + i.b] as HarnDict
          regs[base + i.a] = object.shape === i.cache ? object.slots[i.kind]! : readField(object, i)
        }
        i = i.next
        continue
      case 94 satisfies L['ITEM']:
        regs[base + i.a] = (regs[base + i.b] as HarnList).at(i.c) ?? null
        i = i.next
        continue
      case 97 satisfies L['IS_ENUM']: {
        const value = regs[base + i.b]
        const name = i.k as { readonly enumName: string; readonly variant: string }
        regs[base + i.a] = value instanceof HarnEnum && value.variant === name.variant && value.enumName === name.enumName
        i = i.next
        continue
      }
      case 98 satisfies L['ENUM_FIELD']:
        regs[base + i.a] = (regs[base + i.b] as HarnEnum).fields[i.c] ?? null
        i = i.next
        continue
      case 99 satisfies L['IS_DICT']:
        regs[base + i.a] = regs[base + i.b] instanceof HarnDict
        i = i.next
        continue
      case 100 satisfies L['IS_LIST']: {
        const value = regs[base + i.b]
        regs[base + i.a] = value instanceof HarnList && value.length >= i.c
        i = i.next
        continue
      }

      case 129 satisfies L['CALL_SELF']: {
        if (--m.fuel < 0) {
          co.stand(fp, base, i)
          if (!m.refuel(task)) return
          break
        }
        const code = closure.code
        const start = base + i.d
        if (fp + 1 >= co.limit) {
          raised = m.makeStackOverflow()
          break
        }
        if ((i.moves | i.lends) > 1) shareArguments(regs, start, findKept(i, code.takes, code.keeps))
        if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
        if (i.c !== code.exactCount) m.placeArguments(code, regs, start, i.c)
        if (tier !== null) {
          const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(closure, regs, start) : null)
          if (enter !== null) {
            co.stand(fp, base, i)
            const value = tier.call(co, enter, closure, start)
            if (value !== undefined) {
              regs[base + i.a] = value
              i = i.next
              continue
            }
            if (!tier.settle(task)) return
            break
          }
        }
        fp++
        co.frames[fp] = closure
        co.returns[fp] = i
        co.bases[fp] = start
        base = start
        i = code.first ?? code.entry
        continue
      }
      case 101 satisfies L['CALL']:
      case 102 satisfies L['CALL_NAMED']: {
        const callee = regs[base + i.b]!
        if (callee instanceof HarnClosure && callee.code.plain) {
          if (--m.fuel < 0) {
            co.stand(fp, base, i)
            if (!m.refuel(task)) return
            break
          }
          const code = callee.code
          const start = base + i.d
          if (fp + 1 >= co.limit) {
            raised = m.makeStackOverflow()
            break
          }
          if ((i.moves | i.lends) > 1) shareArguments(regs, start, findKept(i, code.takes, code.keeps))
          if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
          if (i.c !== code.exactCount) m.placeArguments(code, regs, start, i.c)
          if (tier !== null) {
            const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, regs, start) : null)
            if (enter !== null) {
              co.stand(fp, base, i)
              const value = tier.call(co, enter, callee, start)
              if (value !== undefined) {
                regs[base + i.a] = value
                i = i.next
                continue
              }
              if (!tier.settle(task)) return
              break
            }
          }
          fp++
          co.frames[fp] = callee
          co.returns[fp] = i
          co.bases[fp] = start
          closure = callee
          base = start
          i = code.first ?? code.entry
          continue
        }
        co.stand(fp, base, i)
        if ((i.moves | i.lends) > 1) shareArguments(regs, base + i.d, i.moves | i.lends)
        if (
          !m.callFrom(task, callee, base + i.d, i.c, i.k as { readonly name: string; readonly suggestion: string | null } | null)
        )
          return
        break
      }
      case 114 satisfies L['RETURN']: {
        const value = regs[base + i.b]!
        const to = co.returns[fp]!
        if (i.c === 1 && (to.moves & 1) === 0) share(value)
        if (fp === co.run) co.closeRun()
        fp--
        if (fp < 0) {
          // The bottom frame of a task or generator.
          regs[0] = value
          co.fp = fp
          co.base = 0
          co.instr = to
          if (!endCoroutine(m, task, value)) return
          break
        }
        base = co.bases[fp]!
        regs[base + to.a] = value
        i = to.next
        closure = co.frames[fp] as HarnClosure
        continue
      }
      case 111 satisfies L['TAIL_NAMED']: {
        const callee = regs[base + i.b]!
        if (callee instanceof HarnClosure && callee.code.plain) {
          if (--m.fuel < 0) {
            co.stand(fp, base, i)
            if (!m.refuel(task)) return
            break
          }
          const code = callee.code
          const from = base + i.d
          if ((i.moves | i.lends) > 1) shareArguments(regs, from, findKept(i, code.takes, code.keeps))
          for (let at = 0; at < i.c; at++) regs[base + at] = regs[from + at]!
          if (base + code.frameSize > regs.length) co.reserve(base + code.frameSize + 16)
          if (i.c !== code.exactCount) m.placeArguments(code, regs, base, i.c)
          co.frames[fp] = callee
          closure = callee
          i = code.first ?? code.entry
          if (tier !== null) {
            const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, regs, base) : null)
            if (enter !== null) {
              co.stand(fp, base, i)
              const value = tier.callTail(co, enter, callee)
              if (value === undefined) {
                if (!tier.settle(task)) return
                break
              }
              regs[base] = value
              i = RETURN_FIRST
            }
          }
          continue
        }
        co.stand(fp, base, i)
        if ((i.moves | i.lends) > 1) shareArguments(regs, base + i.d, i.moves | i.lends)
        if (!m.callFrom(task, callee, base + i.d, i.c, i.k as { readonly name: string; readonly suggestion: string | null }))
          return
        break
      }
      case 103 satisfies L['BUILTIN1']:
      case 104 satisfies L['BUILTIN2']: {
        const def = i.k as BuiltinDef
        // A builtin may ask where it was called, and so may whoever carries out its effect.
        co.stand(fp, base, i)
        if (m.fuel < 1 && def.real === null) {
          if (!m.refuelBefore(task)) return
          break
        }
        m.context.argc = def.arity
        m.spent = 0
        const result: Result =
          i.op === 103 ? def.run(m.context, regs[base + i.b]!) : def.run(m.context, regs[base + i.b]!, regs[base + i.c]!)
        if (result === CONTROL) {
          if (!carryOut(m, task)) return
          break
        }
        regs[base + i.a] = result as Value
        i = i.next
        continue
      }
      case 105 satisfies L['BUILTIN_N']: {
        co.stand(fp, base, i)
        if (m.fuel < 1) {
          if (!m.refuelBefore(task)) return
          break
        }
        const result = m.runBuiltin(i.k as BuiltinDef, regs, base + i.b, i.c)
        if (result === CONTROL) {
          if (!carryOut(m, task)) return
          break
        }
        regs[base + i.a] = result as Value
        i = i.next
        continue
      }
      case 106 satisfies L['CALL_METHOD']: {
        co.stand(fp, base, i)
        let receiver = regs[base + i.b]!
        if (i.d === 1 && receiver instanceof HarnList) receiver = copyIfSmall(receiver)
        if (receiver instanceof HarnStruct) {
          const callee = findStructMethod(m, receiver, i.k as MethodSite)
          if (callee !== null && fp < m.limits.frames) {
            // As CALL, but a run of its own (Coroutine.run).
            if (--m.fuel < 0) {
              if (!m.refuel(task)) return
              break
            }
            const code = callee.code
            const start = base + i.b
            // A receiver is always lent, as it is to a builtin of that name.
            if ((code.keeps & 2) !== 0 && (i.moves & 2) === 0) share(receiver)
            if ((i.moves | i.lends) > 3) shareArguments(regs, start, findKept(i, code.takes, code.keeps) & ~2)
            if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
            if (i.c + 1 !== code.exactCount) m.placeArguments(code, regs, start, i.c + 1)
            fp++
            co.frames[fp] = callee
            co.returns[fp] = i
            co.bases[fp] = start
            co.fp = fp
            co.openRun()
            closure = callee
            base = start
            i = code.first ?? code.entry
            continue
          }
          share(receiver)
          shareArguments(regs, base + i.b, i.moves | i.lends)
          if (!m.callMethod(task, receiver, base + i.b, i.c, i.k as MethodSite)) return
          break
        }
        // A builtin that extends its receiver has it from the variable that the result goes to.
        if ((i.moves | i.lends) > 1)
          shareArguments(regs, base + i.b, i.moves < 1073741824 ? i.moves | i.lends : (i.moves | i.lends) & ~2)
        const kind = typeof receiver === 'string' ? 1 : receiver instanceof HarnList ? 2 : receiver instanceof HarnDict ? 3 : 0
        let def = i.cache as BuiltinDef | null
        if (kind === 0 || kind !== i.kind) {
          def = m.findMethod(i, receiver)
          i.kind = def === null ? 0 : kind
        }
        if (def !== null) {
          if (m.fuel < 1) {
            if (!m.refuelBefore(task)) return
            break
          }
          let result: Result
          if (i.d === 3 && kind > 1) (receiver as HarnList).owned = true
          if (i.c !== def.arity || def.rest || i.c > 2) result = m.runMethod(def, regs, base + i.b, i.c)
          else {
            m.context.argc = i.c
            m.spent = 0
            const at = base + i.b
            result =
              i.c === 0
                ? def.run(m.context, receiver)
                : i.c === 1
                  ? def.run(m.context, receiver, regs[at + 1]!)
                  : def.run(m.context, receiver, regs[at + 1]!, regs[at + 2]!)
          }
          if (i.d === 3 && kind > 1) (receiver as HarnList).owned = false
          if (result === CONTROL) {
            if (!carryOut(m, task)) return
            break
          }
          regs[base + i.a] = result as Value
          i = i.next
          continue
        }
        if (!m.callMethod(task, receiver, base + i.b, i.c, i.k as MethodSite)) return
        break
      }
      case 112 satisfies L['PIPE']:
      case 113 satisfies L['TAIL_PIPE']: {
        co.stand(fp, base, i)
        if (!m.pipe(task, base + i.b, i.op === 113)) return
        break
      }
      case 124 satisfies L['NEXT']: {
        // An item takes the quick way past test and move (decode.ts, shortenLoop); what is asked of others comes to `a` and `next`.
        const it = regs[base + i.b] as HarnIter
        if (it.op === 'list') {
          const list = it.state[0] as HarnList
          const at = it.state[1] as number
          if (at < list.length) {
            it.state[1] = at + 1
            regs[base + i.d] = list.items[at]!
            i = i.target
          } else {
            it.done = true
            regs[base + i.a] = END
            i = i.next
          }
          continue
        }
        if (it.op === 'range' && typeof it.state[1] === 'number') {
          const range = it.state[0] as HarnRange
          const at = it.state[1]
          if (range.exclusive ? at < range.end : at <= range.end) {
            it.state[1] = at + 1
            regs[base + i.d] = at
            i = i.target
          } else {
            it.done = true
            regs[base + i.a] = END
            i = i.next
          }
          continue
        }
        co.stand(fp, base, i)
        if (!advanceIter(m, task, it)) return
        break
      }
      case 115 satisfies L['YIELD']:
        co.stand(fp, base, i)
        if (!yieldValue(m, task, regs[base + i.b]!)) return
        break
      case 116 satisfies L['THROW']: {
        const value = regs[base + i.b]!
        if (m.fuel < 1 && isLong(value)) {
          co.stand(fp, base, i)
          if (!m.refuelBefore(task)) return
          break
        }
        raised = makeThrown(value)
        break
      }
      case 118 satisfies L['CATCH_VALUE']:
        regs[base + i.a] = (regs[base + i.b] as unknown as Fault).caught
        i = i.next
        continue
      case 127 satisfies L['NATIVE_STEP']: {
        const activation = co.frames[fp] as NativeActivation
        co.stand(fp, base, NATIVE_STEP)
        // A step may work or allocate without crossing a loop or call of the script, so it is a fuel point of its own.
        if (--m.fuel < 0) {
          if (!m.refuel(task)) return
          break
        }
        if (!stepNative(m, task, activation)) return
        break
      }
      case 128 satisfies L['TASK_END']:
        return
      case 2 satisfies L['LOAD_DATA']:
      default: {
        // Everything rare: one function of the machine, so that this one stays small. What has no case here says so in its row.
        i.op satisfies OpWith<'runs', 'rare'>
        co.stand(fp, base, i)
        if (!m.runRare(task, i, closure)) return
        break
      }
    }
    if (raised !== null) {
      co.stand(fp, base, i)
      const fault = raised
      raised = null
      if (!m.raise(task, fault)) return
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
