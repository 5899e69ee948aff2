// Compiles functions, loops, parts of generators and the loops of native frames. The whole compiler hangs on this file; the
// tier, which every machine has, loads it once something is hot, so that a short run never does.

import { writeElementText } from './callbacks.js'
import { fromText } from './from-text.js'
import { getGraph } from './graph.js'
import { Refusal } from './region.js'
import { HELPERS } from './runtime.js'
import { giveUp, NEVER } from './state.js'
import { UnitWriter } from './writer.js'
import type { Compiled, ElementLoop, Enter, EnteredUnit } from './state.js'
import type { UnitKind, UnitText } from './unit.js'
import type { FrameDef } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Coroutine } from '../scheduler/task.js'
import type { HarnClosure } from '../values/callable.js'
import type { Machine } from '../interpreter/machine.js'

/** Compiles a function; `sample` gives the values of its slots, if known. Returns whether there is compiled code now. */
export function compileFunction(machine: Machine, closure: HarnClosure, sample: (slot: number) => unknown): boolean {
  const { code } = closure
  const made = attempt(code, () => {
    if (!code.plain) throw new Refusal('no plain function')
    return instantiate(makeFunctionUnit(machine, closure, sample).write()) as [Compiled, Enter]
  })
  if (made === null) {
    giveUp(code)
    return false
  }
  code.jit = made[0]
  code.enter = made[1]
  return true
}

function makeFunctionUnit(machine: Machine, closure: HarnClosure, sample: (slot: number) => unknown): UnitWriter {
  const graph = getGraph(closure.code)
  if (graph === null) throw new Refusal('too large')
  return new UnitWriter({ graph, kind: 'function', entry: graph.entry, sample, machine, closure })
}

/** The loop at `loop`, for the top frame of `co`. Null if it cannot be compiled; then it is not tried again. */
export function compileLoop(machine: Machine, closure: HarnClosure, loop: Instr, co: Coroutine): EnteredUnit | null {
  return keep(closure.code, loop, compileEntered(machine, closure, 'loop', loop.target, co))
}

/** A generator from `at` to its next yield, stored at `instr`. Null if it cannot be compiled; then it is not tried again. */
export function compilePart(machine: Machine, closure: HarnClosure, instr: Instr, at: Instr, co: Coroutine): EnteredUnit | null {
  return keep(closure.code, instr, compileEntered(machine, closure, 'part', at, co))
}

/** The same for a generator at its start. */
export function compileBeginning(machine: Machine, closure: HarnClosure, instr: Instr, co: Coroutine): EnteredUnit | null {
  return compileEntered(machine, closure, 'part', instr, co)
}

/** The loop of a native frame, for any function or for one; null if it cannot be compiled. */
export function compileAnyElements(machine: Machine, def: FrameDef): ElementLoop {
  return instantiate(writeElementText(machine, null, def)) as ElementLoop
}

export function compileElements(machine: Machine, closure: HarnClosure, def: FrameDef): ElementLoop | null {
  return attempt(closure.code, () => instantiate(writeElementText(machine, closure, def)) as ElementLoop)
}

/** null if it cannot be compiled. */
function compileEntered(
  machine: Machine,
  closure: HarnClosure,
  kind: UnitKind,
  at: Instr,
  { regs, base }: Coroutine,
): EnteredUnit | null {
  return attempt(closure.code, (): EnteredUnit => {
    const graph = getGraph(closure.code)
    if (graph === null) throw new Refusal('too large')
    const entry = graph.findBlock(at)
    if (entry === undefined) throw new Refusal('no block at the entry')
    const sample = (slot: number): unknown => regs[base + slot]
    const unit = new UnitWriter({ graph, kind, entry, sample, machine, closure }).write()
    return { enter: instantiate(unit) as Enter, expects: unit.expects, profit: { leaves: 0, work: 0 } }
  })
}

function keep(code: FunctionCode, instr: Instr, unit: EnteredUnit | null): EnteredUnit | null {
  instr.cache = unit
  if (unit === null) instr.kind = NEVER
  else code.compiled.entered.push(instr)
  return unit
}

/** A bug in here costs speed, not the run: it is recorded for the test suites, which check for it. */
function attempt<Made>(code: FunctionCode, make: () => Made): Made | null {
  try {
    return make()
  } catch (cause) {
    if (!(cause instanceof Refusal)) code.compiled.broken = cause
    return null
  }
}

const HELPER_NAMES: ReadonlySet<string> = new Set(Object.keys(HELPERS))

function instantiate({ text, sites, constants }: UnitText): unknown {
  const names = [...new Set(text.match(/[A-Za-z]\w*/g))].filter((name) => HELPER_NAMES.has(name))
  const make = fromText('H', 'S', 'K', `"use strict";const {${names.join(',')}}=H;${text}`)
  return make(HELPERS, sites, constants)
}
