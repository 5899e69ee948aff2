// THE dispatch loop of the base tier: runs the current coroutine of a task until the task blocks, ends, or its slice is used up.
//
// `i`, `base`, `fp`, `regs` and `closure` mirror the coroutine, which is stale while we run: stand() before anything that may
// read it (calls out of the fast path, faults, suspension), load it again after anything that may have changed it. Frames are
// entries of parallel arrays on the coroutine, registers one growable array per coroutine, overlapping so that arguments need no copy.
//
// Only the quick side of operations is here. Everything else breaks to `slow`, with nothing done: slow.ts implements all cases.
// Keep this loop small. V8 counts every iteration as a run through the whole loop, so it optimises after some hundred iterations,
// and again whenever an unseen case occurs: compiling this function is most of the cost of a short run. So the
// operations share what they can: fields of the instruction are read once, results are stored in one place except those of the most
// frequent operations, a test jumps in one place (docs/decisions/0022).

import { CONTROL } from '../builtins/builtin.js'
import { carryOut } from './activations.js'
import { HarnClosure } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import type { HarnIter } from '../values/handles.js'
import { END } from '../values/handles.js'
import { Keyed } from '../values/keyed.js'
import { HarnList } from '../values/list.js'
import type { HarnRange } from '../values/scalars.js'
import { HarnEnum, HarnFloat } from '../values/scalars.js'
import { isTruthy } from '../values/value.js'
import { share } from './access.js'
import { holdsField, holdsItem, isContainer, readOut, findKept, shareArguments } from './ownership.js'
import { readField, writeField } from './fields.js'
import { passesQuickly } from './param-check.js'
import { RETURN_FIRST } from './linked.js'
import { holdsFor, produce, runSlow } from './slow.js'
import type { BuiltinDef, Result } from '../builtins/builtin.js'
import type { Machine } from './machine.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Instr, LINKED } from './linked.js'
import type { Value } from '../values/value.js'

// Labels are numbers, because V8 makes a jump table of literals and a chain of comparisons of names; `satisfies` checks them against
// the table in linked.ts and leaves no code.
type L = typeof LINKED

/** Whether the task can go on (false: it waits, has ended, or the machine must stop). */
export function execute(m: Machine, task: Task): void {
  // Largest int that is a number; local, because V8 folds locals but not imported constants.
  const exact = 9007199254740991
  const { tier } = m
  let co: Coroutine = task.current
  let regs = co.regs
  let base = co.base
  let fp = co.fp
  let i: Instr = co.instr
  let closure = co.frames[fp] as HarnClosure // a native frame's step does not look at it

  turns: for (;;) {
    const { op, b, c } = i
    // What most operations work on; unused by the others.
    const x = regs[base + b]!
    /** The result, for operations that break to `store`. */
    let value: Value
    /** The result of arithmetic that is not a short int, and of a test. */
    let wide: number
    let holds: boolean
    store: {
      jump: {
        changed: {
          slow: {
            test: {
              mixed: {
                check: {
                  switch (op) {
                    case 0 satisfies L['MOVE']:
                      regs[base + i.a] = x
                      i = i.next
                      continue
                    case 1 satisfies L['LOADK']:
                      regs[base + i.a] = i.k as Value
                      i = i.next
                      continue
                    case 3 satisfies L['SHARE']:
                      regs[base + i.a] = share(x)
                      i = i.next
                      continue
                    case 4 satisfies L['LOAD_CAPTURE']:
                      value = closure.captures[b]!
                      break store
                    case 5 satisfies L['LOAD_MODULE']:
                    case 6 satisfies L['LOAD_MODULE_SHARED']:
                      value = m.moduleSlots(closure.code.module)[b]!
                      if (op === 6) share(value)
                      break store

                    // Ints: `| 0` first, which gives most results without a check of the safe range, keeps small ones unboxed and turns
                    // -0 into 0.
                    case 20 satisfies L['ADD']:
                    case 28 satisfies L['ADD_OWNED']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break mixed
                      wide = x + y
                      const small = wide | 0
                      if (small !== wide) break check
                      regs[base + i.a] = small
                      i = i.next
                      continue
                    }
                    case 21 satisfies L['SUB']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break mixed
                      wide = x - y
                      const small = wide | 0
                      if (small !== wide) break check
                      value = small
                      break store
                    }
                    case 22 satisfies L['MUL']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break mixed
                      wide = x * y
                      const small = wide | 0
                      if (small !== wide) break check
                      value = small
                      break store
                    }
                    case 23 satisfies L['DIV']:
                      break mixed
                    // With a small int on the right, which is `c` itself.
                    case 40 satisfies L['ADDK']: {
                      if (typeof x !== 'number') break slow
                      wide = x + c
                      const small = wide | 0
                      if (small !== wide) break check
                      value = small
                      break store
                    }
                    case 41 satisfies L['SUBK']: {
                      if (typeof x !== 'number') break slow
                      wide = x - c
                      const small = wide | 0
                      if (small !== wide) break check
                      value = small
                      break store
                    }
                    case 42 satisfies L['MULK']: {
                      if (typeof x !== 'number') break slow
                      wide = x * c
                      const small = wide | 0
                      if (small !== wide) break check
                      value = small
                      break store
                    }
                    case 24 satisfies L['MOD']:
                    case 43 satisfies L['MODK']: {
                      const y = op === 43 ? c : regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number' || y === 0) break slow
                      // The int32 branch keeps V8 from a library call for the remainder of doubles.
                      regs[base + i.a] = (x | 0) === x && (y | 0) === y && x >= 0 ? (x | 0) % (y | 0) : (x % y) + 0
                      i = i.next
                      continue
                    }
                    case 27 satisfies L['NOT']:
                      value = !isTruthy(x)
                      break store

                    case 30 satisfies L['EQ']:
                    case 31 satisfies L['NE']:
                    case 32 satisfies L['LT']:
                    case 33 satisfies L['LE']:
                    case 34 satisfies L['GT']:
                    case 35 satisfies L['GE']:
                    case 44 satisfies L['EQK']:
                    case 45 satisfies L['NEK']:
                    case 46 satisfies L['LTK']:
                    case 47 satisfies L['LEK']:
                    case 48 satisfies L['GTK']:
                    case 49 satisfies L['GEK']:
                      break test
                    case 57 satisfies L['JNLT']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x < y
                      break jump
                    }
                    case 58 satisfies L['JNLE']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x <= y
                      break jump
                    }
                    case 59 satisfies L['JNGT']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x > y
                      break jump
                    }
                    case 60 satisfies L['JNGE']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x >= y
                      break jump
                    }
                    case 61 satisfies L['JNEQ']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x === y
                      break jump
                    }
                    case 62 satisfies L['JNNE']: {
                      const y = regs[base + c]!
                      if (typeof x !== 'number' || typeof y !== 'number') break test
                      holds = x !== y
                      break jump
                    }
                    case 63 satisfies L['JNLTK']:
                      if (typeof x !== 'number') break test
                      holds = x < c
                      break jump
                    case 64 satisfies L['JNLEK']:
                      if (typeof x !== 'number') break test
                      holds = x <= c
                      break jump
                    case 65 satisfies L['JNGTK']:
                      if (typeof x !== 'number') break test
                      holds = x > c
                      break jump
                    case 66 satisfies L['JNGEK']:
                      if (typeof x !== 'number') break test
                      holds = x >= c
                      break jump
                    case 67 satisfies L['JNEQK']:
                      if (typeof x !== 'number') break test
                      holds = x === c
                      break jump
                    case 68 satisfies L['JNNEK']:
                      if (typeof x !== 'number') break test
                      holds = x !== c
                      break jump

                    case 50 satisfies L['JUMP']:
                      i = i.target
                      continue
                    case 51 satisfies L['LOOP']:
                      if (--m.fuel < 0) break slow
                      if (tier !== null && ++i.kind > tier.turns) {
                        co.stand(fp, base, i.target)
                        const returned = tier.runLoop(co, i, closure)
                        if (returned === undefined) {
                          if (!tier.settle(task)) return
                          break changed
                        }
                        regs[base] = returned
                        i = RETURN_FIRST
                        continue
                      }
                      i = i.target
                      continue
                    case 52 satisfies L['JF']:
                      holds = x === true || (x !== false && isTruthy(x))
                      break jump
                    case 53 satisfies L['JT']:
                      holds = x === false || (x !== true && !isTruthy(x))
                      break jump
                    case 54 satisfies L['JNN']:
                      holds = x === null
                      break jump
                    case 55 satisfies L['JPASSED']:
                      holds = x === undefined
                      break jump
                    case 56 satisfies L['JEND']:
                      holds = x !== END
                      break jump

                    case 70 satisfies L['CHECK_PARAM']:
                      if (!passesQuickly(x, c)) break slow
                      i = i.next
                      continue

                    case 71 satisfies L['BUILD_LIST']:
                    case 72 satisfies L['LIST_PUSH']:
                    case 74 satisfies L['BUILD_DICT']:
                    case 78 satisfies L['BUILD_ENUM']:
                    case 80 satisfies L['BUILD_RANGE']:
                    case 81 satisfies L['TEXT']:
                    case 82 satisfies L['CLOSURE']:
                    case 94 satisfies L['ITEM']:
                    case 99 satisfies L['IS_DICT']:
                    case 100 satisfies L['IS_LIST']:
                    case 130 satisfies L['BUILD_RECORD']:
                    case 131 satisfies L['BUILD_STRUCT_RECORD']:
                      if (m.fuel < 1) break slow
                      value = produce(m, i, regs, base, closure)
                      break store

                    case 84 satisfies L['GET_PROP']:
                    case 85 satisfies L['GET_PROP_OPT']: {
                      if (!(x instanceof Keyed)) break slow
                      value = x.shape === i.cache ? x.slots[i.kind]! : x.shape === i.seen ? x.slots[i.d]! : readField(x, i)
                      if (c !== 0 && x.nest !== null) readOut(x, value, c)
                      break store
                    }
                    case 86 satisfies L['GET_INDEX']:
                    case 87 satisfies L['GET_INDEX_OPT']: {
                      const index = regs[base + c]!
                      if (x instanceof HarnList && typeof index === 'number' && index >= 0) {
                        value = index < x.length ? (x.raw === null ? x.boxed[index]! : x.at(index)!) : null
                        if (i.d === 1 && x.nest !== null) share(value)
                        regs[base + i.a] = value
                        i = i.next
                        continue
                      }
                      if (!(x instanceof HarnDict && typeof index === 'string')) break slow
                      i.kind = 2
                      value = x.get(index) ?? null
                      if (i.d === 1) share(value)
                      break store
                    }
                    case 89 satisfies L['SET_PROP']:
                      if (i.d === 0 || !(x instanceof Keyed && (i.d === 2 || x.owned))) break slow
                      if (x.shape === i.cache) x.slots[i.kind] = regs[base + c]!
                      else writeField(x, i, regs[base + c]!)
                      m.chargeHeap(32)
                      value = x
                      break store
                    case 90 satisfies L['SET_INDEX']: {
                      const index = regs[base + i.d]!
                      if (
                        !(
                          x instanceof HarnList &&
                          x.raw === null &&
                          i.k !== false &&
                          (x.owned || i.k === 2) &&
                          typeof index === 'number' &&
                          index >= 0 &&
                          index < x.length
                        )
                      )
                        break slow
                      x.boxed[index] = regs[base + c]!
                      value = x
                      break store
                    }
                    case 133 satisfies L['OWN']:
                      if ((x instanceof HarnList || x instanceof Keyed) && !x.owned) break slow
                      i = i.next
                      continue
                    case 134 satisfies L['OWN_INDEX']: {
                      const holder = regs[base + c]!
                      const index = regs[base + i.d]!
                      if (
                        isContainer(x) &&
                        !(
                          holder instanceof HarnList &&
                          x.owner !== null &&
                          x.owner === holder.nest &&
                          holder.boxed[index as number] === x
                        ) &&
                        !holdsItem(holder, index, x)
                      )
                        break slow
                      i = i.next
                      continue
                    }
                    case 135 satisfies L['OWN_PROP']:
                      if (isContainer(x) && !holdsField(regs[base + c]!, i.k as string, x)) break slow
                      i = i.next
                      continue
                    case 93 satisfies L['FIELD']: {
                      const object = x as HarnDict
                      value = object.shape === i.cache ? object.slots[i.kind]! : readField(object, i)
                      break store
                    }
                    case 97 satisfies L['IS_ENUM']: {
                      const name = i.k as { readonly enumName: string; readonly variant: string }
                      value = x instanceof HarnEnum && x.variant === name.variant && x.enumName === name.enumName
                      break store
                    }
                    case 98 satisfies L['ENUM_FIELD']:
                      value = (x as HarnEnum).fields[c] ?? null
                      break store

                    case 101 satisfies L['CALL']:
                    case 102 satisfies L['CALL_NAMED']:
                    case 129 satisfies L['CALL_SELF']: {
                      const callee = op === 129 ? closure : x
                      if (!(callee instanceof HarnClosure && callee.code.plain) || --m.fuel < 0 || fp + 1 >= co.limit) break slow
                      const { code } = callee
                      const start = base + i.d
                      if ((i.moves | i.lends) > 1) shareArguments(regs, start, findKept(i, code.takes, code.keeps))
                      if (start + code.frameSize > regs.length) co.reserve(start + code.frameSize + 16)
                      if (c !== code.exactCount) m.placeArguments(code, regs, start, c)
                      if (tier !== null) {
                        const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, regs, start) : null)
                        if (enter !== null) {
                          co.stand(fp, base, i)
                          const returned = tier.call(co, enter, callee, start)
                          if (returned !== undefined) {
                            value = returned
                            break store
                          }
                          if (!tier.settle(task)) return
                          break changed
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
                    case 114 satisfies L['RETURN']: {
                      if (fp === 0) break slow
                      const to = co.returns[fp]!
                      if (c === 1 && (to.moves & 1) === 0) share(x)
                      if (fp === co.run) co.closeRun()
                      fp--
                      base = co.bases[fp]!
                      closure = co.frames[fp] as HarnClosure
                      i = to
                      value = x
                      break store
                    }
                    case 103 satisfies L['BUILTIN1']:
                    case 104 satisfies L['BUILTIN2']: {
                      const def = i.k as BuiltinDef
                      if (m.fuel < 1 && def.real === null) break slow
                      // A builtin may read its caller's position, and so may the provider of its effect.
                      co.stand(fp, base, i)
                      m.context.argc = def.arity
                      m.spent = 0
                      const result: Result = op === 103 ? def.run(m.context, x) : def.run(m.context, x, regs[base + c]!)
                      if (result === CONTROL) {
                        if (!carryOut(m, task)) return
                        break changed
                      }
                      value = result as Value
                      break store
                    }
                    case 124 satisfies L['NEXT']: {
                      // An item takes the shortcut past test and move (decode.ts, shortenLoop); an item that comes later is delivered to `a`
                      // and `next`.
                      const it = x as HarnIter
                      if (it.op !== 'list' && it.op !== 'range') break slow
                      const at = it.state[1]
                      if (typeof at !== 'number') break slow
                      if (it.op === 'list') {
                        const list = it.state[0] as HarnList
                        if (at < list.length) {
                          it.state[1] = at + 1
                          regs[base + i.d] = list.items[at]!
                          i = i.target
                          continue
                        }
                      } else {
                        const range = it.state[0] as HarnRange
                        if (range.exclusive ? at < range.end : at <= range.end) {
                          it.state[1] = at + 1
                          regs[base + i.d] = at
                          i = i.target
                          continue
                        }
                      }
                      it.done = true
                      value = END
                      break store
                    }
                    case 128 satisfies L['TASK_END']:
                      break turns
                    default:
                      break slow
                  }
                }
                if (wide > exact || wide < -exact) break slow
                value = wide
                break store
              }
              const y = regs[base + c]!
              if (!(x instanceof HarnFloat && y instanceof HarnFloat)) break slow
              value = new HarnFloat(op === 22 ? x.v * y.v : op === 21 ? x.v - y.v : op === 23 ? x.v / y.v : x.v + y.v)
              if (i.kind === 0) i.kind = 1
              break store
            }
            // Comparing long values takes fuel; an int on the right is never compared with the content of a value.
            const isInt = (op > 43 && op < 50) || op > 62
            if (!isInt && typeof x !== 'number' && m.fuel < 1) break slow
            holds = holdsFor(op, x, isInt ? c : regs[base + c]!)
            if (op > 50) break jump
            value = holds
            break store
          }
          co.stand(fp, base, i)
          if (!runSlow(m, task, i, closure)) return
        }
        // The current frame, coroutine or task state may have changed.
        co = task.current
        regs = co.regs
        base = co.base
        fp = co.fp
        i = co.instr
        closure = co.frames[fp] as HarnClosure
        continue
      }
      i = holds ? i.next : i.target
      continue
    }
    regs[base + i.a] = value
    i = i.next
  }
  // Never so. It makes the function long, and the loop no longer: V8 optimises a loop once it has made some number of turns,
  // and that number grows with the length of the whole function. At this length it is some 10,000 instructions after the last new one, not
  // 900: most short runs end before, and would never have got back what compiling the loop takes (docs/decisions/0022).
  if (m.fuel === Infinity) {
    let v: Value | undefined
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    ;[v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v] = regs
    regs[0] = v!
  }
}
