// Builtins that take many steps (read this, then write that, then call back), written as straight generator functions. A
// generator cannot be written into a snapshot, so the frame keeps what the script was told so far: after a restore the
// script runs again from its start and is fed the same answers until it stands where it stood.
//
// Hence the one rule: between two `yield*` a script depends on nothing but its arguments and its answers. Machine state,
// families and charges are touched inside `runHere` only, which runs once and whose result is an answer like any other.

import { frame } from './builtin.js'
import type { Context, FrameDef, FrameState, Result } from './builtin.js'
import type { Effect } from '../effects/effect.js'
import { Fault } from '../interpreter/fault.js'
import { runUnmetered } from '../values/meter.js'
import type { Value } from '../values/value.js'

type Ask =
  | { readonly kind: 'effect'; readonly effect: Effect; readonly caught: boolean }
  | { readonly kind: 'call'; readonly callee: Value; readonly args: readonly Value[]; readonly caught: boolean }
  | { readonly kind: 'park'; readonly key: string | null; readonly dueMs: number | null }
  | { readonly kind: 'here'; readonly run: (ctx: Context) => unknown }
  | { readonly kind: 'slice' }

/**
 * A script, or a part of one; parts are used with `yield*`, but not in the head of a `for … of`: QuickJS, which is an engine like
 * others, makes bad code of it.
 */
export type Script<T = Value> = Generator<Ask, T, unknown>

export type ScriptTable = Readonly<Record<string, (...args: Value[]) => Script>>

interface ScriptState extends FrameState {
  readonly name: string
  readonly args: Value[]
  /** Everything the script was told, in order. Plain data, Values and faults. */
  readonly answers: unknown[]
  begun: boolean
  /** Whether the script wants the fault of what it asked last as an answer. */
  catching: boolean
  parked: boolean
}

export interface Scripts {
  readonly frame: FrameDef
  /** Goes on as script `name`. */
  readonly start: (ctx: Context, name: string, ...args: Value[]) => Result
}

// ---------------------------------------------------------------------------------------------------- what scripts may ask

/** Asks the world. */
export function* ask(effect: Effect): Script {
  return (yield { kind: 'effect', effect, caught: false }) as Value
}

/** Asks the world; a refusal is an answer too. */
export function* tryAsk(effect: Effect): Script<Value | Fault> {
  return (yield { kind: 'effect', effect, caught: true }) as Value | Fault
}

/** Pays for work that comes next, before which the machine may end its slice. */
export function* payInSlice(units: number): Script<void> {
  yield { kind: 'here', run: (ctx) => ctx.charge(units) }
  yield { kind: 'slice' }
}

/** Calls a script function. */
export function* callBack(callee: Value, ...args: Value[]): Script {
  return (yield { kind: 'call', callee, args, caught: false }) as Value
}

export function* tryCallBack(callee: Value, ...args: Value[]): Script<Value | Fault> {
  return (yield { kind: 'call', callee, args, caught: true }) as Value | Fault
}

/** Calls a function of an internal module: for scripts of which a part is written in Harn already. */
export function* callLibrary(module: string, name: string, ...args: Value[]): Script {
  const first = yield* runHere((ctx) => ctx.machine.libraryEntry(module, name))
  if (!first.starts) return yield* callBack(first.callee, ...args)
  yield* callBack(first.callee)
  const entry = yield* runHere((ctx) => ctx.machine.libraryEntry(module, name))
  return yield* callBack(entry.callee, ...args)
}

/** Waits for a wake of `key` or the time `dueMs` (`ctx.now`); true when the time ran out. */
export function* parkUntil(key: string | null, dueMs: number | null): Script<boolean> {
  return (yield { kind: 'park', key, dueMs }) as boolean
}

/** Runs code against the machine, once. Its result must be plain data or Values that nothing changes later. */
export function* runHere<T>(run: (ctx: Context) => T): Script<T> {
  return (yield { kind: 'here', run }) as T
}

// ------------------------------------------------------------------------------------------------------------- the frame

/** Of asking a host that answers at once: a script may do so for each of the many elements that it was given. */
const UNITS_AN_EFFECT = 100

/** `output: 'drop'` for builtins whose callbacks are child runs in the reference: what they print is lost. */
export function makeScripts(kind: string, table: ScriptTable, output: 'keep' | 'drop' = 'drop'): Scripts {
  // Live generators by frame state. Only a cache: a missing one is made again from the answers.
  const live = new WeakMap<ScriptState, Script>()

  const advance = (ctx: Context, state: ScriptState, script: Script, input: unknown): Result => {
    let turn = script.next(input)
    while (turn.done !== true) {
      const asked = turn.value
      if (asked.kind === 'here') {
        const answer = asked.run(ctx)
        state.answers.push(answer)
        turn = script.next(answer)
        continue
      }
      state.catching = (asked.kind === 'effect' || asked.kind === 'call') && asked.caught
      state.parked = asked.kind === 'park'
      if (asked.kind === 'slice') return ctx.again()
      if (asked.kind === 'effect') {
        ctx.charge(UNITS_AN_EFFECT)
        return ctx.request(asked.effect)
      }
      if (asked.kind === 'call') return ctx.call(asked.callee, asked.args)
      return ctx.park(asked.key, asked.dueMs)
    }
    return turn.value
  }

  const resume = (ctx: Context, state: ScriptState, answer: unknown): Result => {
    let script = live.get(state)
    try {
      if (script === undefined) {
        script = table[state.name]!(...state.args)
        live.set(state, script)
        if (state.begun) {
          // What is done again was paid for.
          const again = script
          runUnmetered(() => {
            again.next()
            for (const told of state.answers) again.next(told)
          })
        }
      }
      if (state.begun) state.answers.push(answer)
      state.begun = true
      return advance(ctx, state, script, answer)
    } catch (error) {
      if (error instanceof Fault) return ctx.fail(error)
      throw error
    }
  }

  return {
    frame: frame<ScriptState>({
      kind,
      output,
      step: (ctx, state) => resume(ctx, state, state.parked ? ctx.timedOut : ctx.result),
      onFault: (ctx, state, fault) => (state.catching ? resume(ctx, state, fault) : ctx.fail(fault)),
    }),
    start: (ctx, name, ...args) =>
      ctx.frame(kind, { name, args, answers: [], begun: false, catching: false, parked: false } satisfies ScriptState),
  }
}
