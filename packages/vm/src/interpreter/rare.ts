// Operations that are rare enough to be outside the loop. Each writes its result and advances the coroutine, or raises.

import { HarnBuiltin, HarnCell, HarnClosure } from '../values/callable.js'
import type { HarnDict } from '../values/dict.js'
import { HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { fromPlain } from '../values/plain.js'
import { HarnDuration, HarnEnum, ok } from '../values/scalars.js'
import { isCallable, isInt, typeName } from '../values/value.js'
import { makeLoopIter } from '../builtins/iter.js'
import { buildStruct, checkDict, checkList, isResult, slice, withoutKeys } from './access.js'
import { contains, power } from './arithmetic.js'
import { callFrom } from './calls.js'
import { Fault, makeRuntimeFault, makeThrown, makeTypeFault } from './fault.js'
import { LINKED, unreachable } from './linked.js'
import { hold, shareArguments } from './ownership.js'
import { checkParameter } from './param-check.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Plain } from '../effects/effect.js'
import type { Machine } from './machine.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Instr, MethodSite, OpWith } from './linked.js'
import type { ParameterCheck } from './param-check.js'
import type { RaiseKind } from '@bridle/compiler/bytecode'
import type { Value } from '../values/value.js'

/** Converts a deadline of a type other than duration or int to milliseconds. */
const DEFAULT_DEADLINE_MS = 30_000

interface NameSite {
  readonly name: string
  readonly suggestion: string | null
}

type RareOp = OpWith<'runs', 'rare' | 'both'>

export function runRareOperation(m: Machine, task: Task, i: Instr, closure: HarnClosure): boolean {
  const co = task.current
  const { regs, base } = co
  const b = regs[base + i.b]!
  const op = i.op as RareOp // slow.ts comes here with no other
  switch (op) {
    case LINKED.LOAD_DATA:
      return give(m, co, fromPlain(JSON.parse(i.k as string) as Plain))
    case LINKED.LOAD_GLOBAL:
      return loadGlobal(m, task, i.k as NameSite)
    case LINKED.NEW_CELL:
      return give(m, co, new HarnCell(null))
    case LINKED.CELL_VARIABLE: {
      const { value } = b as HarnCell
      return isCallable(value) ? give(m, co, value) : loadGlobal(m, task, i.k as NameSite)
    }
    case LINKED.RUN_MODULE:
      return runModule(m, task, i)
    case LINKED.CHECK_PARAM: {
      const fault = checkParameter(b, i.k as ParameterCheck)
      if (fault !== null) return m.raise(task, fault)
      co.instr = i.next
      return true
    }
    case LINKED.POW: {
      const result = power(b, regs[base + i.c]!)
      return result instanceof Fault ? m.raise(task, result) : give(m, co, result)
    }
    case LINKED.IN:
      if (m.fuel < 1) return m.refuelBefore(task)
      return give(m, co, contains(b, regs[base + i.c]!))
    case LINKED.NOT_IN:
      if (m.fuel < 1) return m.refuelBefore(task)
      return give(m, co, !contains(b, regs[base + i.c]!))
    case LINKED.SLICE: {
      if (m.fuel < 1) return m.refuelBefore(task)
      m.chargeCopy(b)
      const part = slice(b, i.c < 0 ? null : regs[base + i.c]!, i.d < 0 ? null : regs[base + i.d]!)
      return part instanceof Fault ? m.raise(task, part) : give(m, co, part)
    }
    case LINKED.HOLD:
      return give(m, co, hold(b, i.k as string))
    case LINKED.CHECK_DICT:
    case LINKED.CHECK_LIST: {
      const fault = i.op === LINKED.CHECK_DICT ? checkDict(b) : checkList(b)
      return fault === null ? give(m, co, b) : m.raise(task, fault)
    }
    case LINKED.LIST_EXTEND: {
      if (m.fuel < 1) return m.refuelBefore(task)
      const items = regs[base + i.c]!
      const fault = checkList(items)
      if (fault !== null) return m.raise(task, fault)
      const list = b as HarnList
      m.chargeCopy(items)
      list.take(items as HarnList)
      return give(m, co, list)
    }
    case LINKED.DICT_EXTEND: {
      if (m.fuel < 1) return m.refuelBefore(task)
      const entries = regs[base + i.c]!
      const fault = checkDict(entries)
      if (fault !== null) return m.raise(task, fault)
      m.chargeCopy(entries)
      ;(b as HarnDict).setAll(entries as HarnDict)
      return give(m, co, b)
    }
    case LINKED.BUILD_STRUCT: {
      const type = i.k as { readonly name: string; readonly fields: readonly string[] | null }
      m.chargeHeap(64)
      return give(m, co, buildStruct(type.name, closure.code.module.key, type.fields, b))
    }
    case LINKED.BUILD_ENUM_LIST: {
      const name = i.k as { readonly enumName: string; readonly variant: string }
      return give(m, co, new HarnEnum(name.enumName, name.variant, (b as HarnList).copyItems()))
    }
    case LINKED.DEFINE_IMPL: {
      const { struct, methods } = i.k as { readonly struct: string; readonly methods: readonly string[] }
      const table = new Map<string, HarnClosure>()
      methods.forEach((name, at) => table.set(name, regs[base + i.b + at] as HarnClosure))
      m.impls.set(`${closure.code.module.key}::${struct}`, table)
      m.methodCache = []
      co.instr = i.next
      return true
    }
    case LINKED.LIST_REST:
      if (m.fuel < 1) return m.refuelBefore(task)
      m.chargeCopy(b)
      return give(m, co, new HarnList((b as HarnList).view().slice(i.c)))
    case LINKED.DICT_REST:
      if (m.fuel < 1) return m.refuelBefore(task)
      m.chargeCopy(b)
      return give(m, co, withoutKeys(b as HarnDict, i.k as readonly string[]))
    case LINKED.CALL_OUT:
      if (m.fuel < 1) return m.refuelBefore(task)
      shareArguments(regs, base + i.d, i.moves | i.lends)
      return callFrom(m, task, b, base + i.d, i.c, i.k as NameSite | null)
    case LINKED.CALL_SPREAD:
    case LINKED.CALL_NAMED_SPREAD: {
      if (m.fuel < 1) return m.refuelBefore(task)
      const count = spread(m, task, regs[base + i.b + 1] as HarnList, base + i.b + 1)
      return callFrom(m, task, b, base + i.b + 1, count, i.k as NameSite | null, false)
    }
    case LINKED.BUILTIN_SPREAD: {
      if (m.fuel < 1) return m.refuelBefore(task)
      const count = spread(m, task, b as HarnList, base + i.b)
      return m.settleCall(task, m.runBuiltin(i.k as BuiltinDef, co.regs, base + i.b, count))
    }
    case LINKED.CALL_METHOD_SPREAD: {
      if (m.fuel < 1) return m.refuelBefore(task)
      const count = spread(m, task, regs[base + i.b + 1] as HarnList, base + i.b + 1)
      const def = m.findMethod(i, b)
      if (def !== null) return m.settleCall(task, m.runMethod(def, co.regs, base + i.b, count))
      return m.callMethod(task, b, base + i.b, count, i.k as MethodSite)
    }
    case LINKED.RETHROW:
      return m.raise(task, b as unknown as Fault)
    case LINKED.CATCH_IS: {
      const { kind, value } = b as unknown as Fault
      return give(m, co, kind === 'thrown' && value instanceof HarnEnum && value.enumName === i.k)
    }
    case LINKED.RAISE: {
      const { kind, message } = i.k as { readonly kind: RaiseKind; readonly message: string }
      return m.raise(task, new Fault(kind, message))
    }
    case LINKED.RESULT_OK:
      return give(m, co, isResult(b) ? b : ok(b))
    case LINKED.PROPAGATE: {
      if (!isResult(b)) return m.raise(task, makeTypeFault(`? operator requires a Result value, got ${typeName(b)}`))
      if (b.variant === 'Ok') return give(m, co, b.fields[0] ?? null)
      co.instr = i.target
      return true
    }
    case LINKED.ITERATE:
      return give(m, co, makeLoopIter(b) ?? new HarnIter('list', [new HarnList([]), 0]))
    case LINKED.DEADLINE_ENTER: {
      const ms = b instanceof HarnDuration ? Number(b.ms) : isInt(b) ? Number(b) : DEFAULT_DEADLINE_MS
      task.deadlines.push({ dueMs: m.now + ms, coroutine: co, fp: co.fp, fired: false })
      co.instr = i.next
      return ms > 0 || m.raise(task, makeThrown('Deadline exceeded'))
    }
    case LINKED.DEADLINE_LEAVE:
      task.deadlines.pop()
      co.instr = i.next
      return true
    default:
      return unreachable(op)
  }
}

// Not a closure over the two: with a bundler that preserves function names, making one takes half a microsecond.
function give(m: Machine, co: Coroutine, value: Value): true {
  m.give(co, value)
  return true
}

/** A constant of the registry or the host, a builtin, or a callable of a caller's scope; otherwise the variable is undefined. */
function loadGlobal(m: Machine, task: Task, site: NameSite): boolean {
  const constant = m.options.globals?.get(site.name) ?? m.registry.constants.get(site.name)
  if (constant !== undefined) {
    m.give(task.current, constant)
    return true
  }
  const callable = m.findCallable(task, site.name)
  if (callable !== null && (callable instanceof HarnClosure || callable instanceof HarnBuiltin)) {
    m.give(task.current, callable)
    return true
  }
  return m.raise(
    task,
    site.suggestion === null
      ? new Fault('undefined_variable', `Undefined variable: ${site.name}`)
      : makeRuntimeFault(`Undefined variable: ${site.name} (did you mean \`${site.suggestion}\`?)`),
  )
}

/** Runs a module's initialiser the first time it is imported. */
function runModule(m: Machine, task: Task, i: Instr): boolean {
  const key = i.k as string
  const state = m.modules.get(key)!
  if (state.started) {
    m.give(task.current, null)
    return true
  }
  state.started = true
  const closure = new HarnClosure(m.findModule(key)!.functions[0]!, [])
  return m.enter(task, closure, task.current.base + i.d, 0, false)
}

/** Spreads a list's items as arguments from register `from` on; returns their number. */
function spread(m: Machine, task: Task, list: HarnList, from: number): number {
  const co = task.current
  const count = list.length
  m.charge(count >> 3, 0)
  co.reserve(from + count + 1)
  for (let at = 0; at < count; at++) co.regs[from + at] = list.items[at]!
  return count
}
