// Calls outside the loop's fast path: methods of structs and dicts, builtins as values, generators, names from the callers'
// scopes. Each function works on the coroutine that is at the call, and returns whether the task can continue.

import { Fault, makeRuntimeFault, makeTypeFault } from './fault.js'
import { findClosestName } from './suggest.js'
import { makeIter } from '../builtins/iter.js'
import { Coroutine, COROUTINE_UNITS } from '../scheduler/task.js'
import { HarnBuiltin, HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnGenerator } from '../values/handles.js'
import { work } from '../values/meter.js'
import { HarnRange } from '../values/scalars.js'
import { typeName } from '../values/value.js'
import { placeArguments } from './frames.js'
import { leavesLibrary } from './library.js'
import type { MethodSite } from './linked.js'
import type { CallSite, FoundMethod, Machine } from './machine.js'
import type { Task } from '../scheduler/task.js'
import type { Value } from '../values/value.js'

/** A call of a method that is not builtin: structs, callable dict entries, ranges as iterators, nil. */
export function callMethod(m: Machine, task: Task, receiver: Value, from: number, argc: number, site: MethodSite): boolean {
  const co = task.current
  if (receiver instanceof HarnStruct) {
    const method = findStructMethod(m, receiver, site)
    // A struct method is a separate run, as is a callable entry of a dict.
    if (method !== null) return m.fuel < 1 ? m.refuelBefore(task) : m.enter(task, method, from, argc + 1, true)
    const field = receiver.get(site.name)
    if (field instanceof HarnClosure)
      return m.fuel < 1 ? m.refuelBefore(task) : m.enter(task, field, from + 1, argc, leavesLibrary(co.frames[co.fp], field))
  } else if (receiver instanceof HarnDict) {
    const entry = receiver.get(site.name)
    if (entry instanceof HarnClosure && entry.code.plain) {
      return m.fuel < 1 ? m.refuelBefore(task) : m.enter(task, entry, from + 1, argc, true)
    }
    if (entry instanceof HarnClosure || entry instanceof HarnBuiltin) return callFrom(m, task, entry, from + 1, argc, null)
  } else if (receiver instanceof HarnRange) {
    const method = m.registry.methods.get('iter')?.get(site.name)
    if (method !== undefined) {
      co.regs[from] = makeIter(receiver)
      return m.settleCall(task, m.runMethod(method, co.regs, from, argc))
    }
  }
  m.give(co, null)
  return true
}

/** The method of a struct: from its own module, otherwise from any module that has one. */
export function findStructMethod(m: Machine, receiver: HarnStruct, { name, place }: MethodSite): HarnClosure | null {
  const found = m.methodCache[place]
  return found !== undefined && found.name === name && found.struct === receiver.name && found.home === receiver.home
    ? found.method
    : findMethod(m, receiver, name, place)
}

/** The method that a call found last, if that is still cached. */
export function findLastMethod(m: Machine, { name, place }: MethodSite): HarnClosure | null {
  const found = m.methodCache[place]
  return found !== undefined && found.name === name ? found.method : null
}

function findMethod(m: Machine, receiver: HarnStruct, name: string, place: number): HarnClosure | null {
  // The method found before the last: a few structs may alternate.
  const last = m.methodCache[place] ?? null
  for (let each = last === null ? null : last.older; each !== null; each = each.older)
    if (each.name === name && each.struct === receiver.name && each.home === receiver.home) return each.method
  let method = m.impls.get(`${receiver.home}::${receiver.name}`)?.get(name)
  if (method === undefined) {
    for (const [key, methods] of m.impls)
      if (method === undefined && key.endsWith(`::${receiver.name}`)) method = methods.get(name)
    if (method === undefined) return null
  }
  // The initial array is shared by all machines.
  if (m.methodCache.length === 0) m.methodCache = []
  while (m.methodCache.length <= place) m.methodCache.push(NO_METHOD)
  m.methodCache[place] = { struct: receiver.name, home: receiver.home, name, method, older: keepNewest(last, MOST_FOUND) }
  return method
}

/** Number of methods that a call remembers besides the last. */
const MOST_FOUND = 4

function keepNewest(found: FoundMethod | null, count: number): FoundMethod | null {
  if (found === null || found === NO_METHOD || count === 0) return null
  return { ...found, older: keepNewest(found.older, count - 1) }
}

/** Marks an unset entry: no method has the empty name. */
const NO_METHOD: FoundMethod = { struct: '', home: '', name: '', method: null as never, older: null }

/** A call whose callee is not a plain closure. `site` is null if the callee has no name to fall back to. */
export function callFrom(
  m: Machine,
  task: Task,
  callee: Value,
  from: number,
  argc: number,
  site: CallSite | null,
  // False if the instruction cannot run again, because it has charged something.
  isFuelPoint = true,
): boolean {
  const co = task.current
  if (callee instanceof HarnClosure) {
    if (callee.code.plain) return m.enter(task, callee, from, argc, leavesLibrary(co.frames[co.fp], callee))
    // Bounds the nesting of generators: one may pull another that it makes, and so on endlessly.
    if (isFuelPoint && m.fuel < 1) return m.refuelBefore(task)
    m.charge(1, COROUTINE_UNITS + 16 * argc)
    const generator = new HarnGenerator(callee.code.chunk.kind === 'stream' ? 'stream' : 'generator', null)
    const own = new Coroutine(generator)
    own.begin(callee, co.regs.slice(from, from + argc), placeArguments)
    generator.coroutine = own
    m.give(co, generator)
    return true
  }
  if (callee instanceof HarnBuiltin) {
    if (isFuelPoint && m.fuel < 1) return m.refuelBefore(task)
    const def = m.registry.builtins.get(callee.name)
    if (def === undefined) return m.raise(task, new Fault('undefined_builtin', `Undefined builtin: ${callee.name}`))
    return m.settleCall(task, m.runBuiltin(def, co.regs, from, argc))
  }
  if (site === null) return m.raise(task, makeTypeFault(`Cannot call ${display(callee)}`))
  const found = findCallable(m, task, site.name)
  if (found !== null) {
    if (isFuelPoint && m.fuel < 1) return m.refuelBefore(task)
    return callFrom(m, task, found, from, argc, null, isFuelPoint)
  }
  // The compiler guesses a builtin only if no variable has the name; a variable may still hold a value that cannot be called.
  return m.raise(task, makeUndefinedFault(site.name, site.suggestion ?? suggestBuiltin(m, site.name)))
}

/** Fuel for looking a name up among those of all builtins: a quarter of a millisecond at worst. */
const UNITS_A_SUGGESTION = 2500
/** No builtin has such a long name, and parsing a long one takes long. */
const LONGEST_NAME = 256

function suggestBuiltin(m: Machine, name: string): string | null {
  work(UNITS_A_SUGGESTION)
  return name.length > LONGEST_NAME ? null : findClosestName(name, m.registry.builtins.keys())
}

/** With a suggestion it is a runtime error. */
function makeUndefinedFault(name: string, suggestion: string | null): Fault {
  const text = `Undefined builtin: ${name}`
  return suggestion === null
    ? new Fault('undefined_builtin', text)
    : makeRuntimeFault(`${text} (did you mean \`${suggestion}\`?)`)
}

/** `value |> callee`; registers `from` and `from + 1`. */
export function pipe(m: Machine, task: Task, from: number, tail: boolean): boolean {
  const co = task.current
  const callee = co.regs[from + 1]!
  if (callee instanceof HarnClosure) {
    if (tail) return enterInPlace(m, task, callee, from)
    return m.fuel < 1 ? m.refuelBefore(task) : m.enter(task, callee, from, 1, leavesLibrary(co.frames[co.fp], callee))
  }
  if (callee instanceof HarnBuiltin) return callFrom(m, task, callee, from, 1, null)
  if (typeof callee === 'string') {
    const found = findCallable(m, task, callee)
    if (found !== null) return m.fuel < 1 ? m.refuelBefore(task) : callFrom(m, task, found, from, 1, null)
    return m.raise(task, makeUndefinedFault(callee, suggestBuiltin(m, callee)))
  }
  return m.raise(task, makeTypeFault(`cannot pipe into ${typeName(callee)}`))
}

/** Only fuel bounds tail calls, so this is a fuel point; without fuel the instruction runs again later. */
function enterInPlace(m: Machine, task: Task, callee: HarnClosure, from: number): boolean {
  if (--m.fuel < 0) return m.refuel(task)
  const co = task.current
  const { code } = callee
  co.regs[co.base] = co.regs[from]!
  co.reserve(co.base + code.frameSize + 1)
  placeArguments(code, co.regs, co.base, 1)
  co.frames[co.fp] = callee
  co.instr = code.entry
  return true
}

/** Names of builtins that only the compiler may call are not identifiers; a called string (`x |> "name"`) must not reach them either. */
const isSpellable = (name: string): boolean => !name.endsWith('!')

/**
 * A callable in the callers' scopes under this name, else a builtin, else null. Scopes of other
 * modules do not count: a function cannot see those that import its module.
 */
export function findCallable(m: Machine, task: Task, name: string): Value {
  const { current } = task
  const caller = current.frames[current.fp]
  const home = caller instanceof HarnClosure ? caller.code.module : null
  for (let co: Coroutine | null = task.current; co !== null; co = co.resumer) {
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]!
      if (!(frame instanceof HarnClosure) || (home !== null && frame.code.module !== home)) continue
      const pc = fp === co.fp ? co.instr.pc : co.returns[fp + 1]!.pc
      for (const local of frame.code.chunk.locals) {
        if (local.name !== name || pc < local.start || pc >= local.end) continue
        const value = co.regs[co.bases[fp]! + local.slot]
        if (value instanceof HarnClosure || value instanceof HarnBuiltin) return value
      }
      const captured = frame.code.chunk.captures.indexOf(name)
      if (captured >= 0 && frame.captures[captured] instanceof HarnClosure) return frame.captures[captured]!
    }
  }
  return isSpellable(name) && m.registry.builtins.has(name) ? new HarnBuiltin(name) : null
}
