// The base of internal modules: the frames that call them, and the primitives that each of them may use. Families outside
// the machine add their own primitives (BuiltinFamily.primitives).
//
// The name of a primitive starts with two underscores. It requests effects, parks, keeps state or raises faults on behalf of the
// builtin whose body calls it. Scripts cannot name it.

import { builtin, family, frame } from './builtin.js'
import type { Context, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import { toMillis } from './time-amounts.js'
import type { Effect, EffectData, Plain, PlainRecord } from '../effects/effect.js'
import { Fault, makeCategorized, makeRuntimeFault, makeThrown, makeTypeFault } from '../interpreter/fault.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { fromPlain, toPlain } from '../values/plain.js'
import { isCallable, isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

// ------------------------------------------------------------------------------------------------- frames around a first call

interface CallState extends FrameState {
  readonly module: string
  readonly function: string
  args: readonly Value[]
  stage: 'begin' | 'called' | 'done'
}

/** Runs the module's own code, if it has not run, and then the function. */
function stepCall(ctx: Context, state: CallState): Result {
  if (state.stage === 'done') return ctx.result
  const { module, function: name } = state
  const entry = ctx.machine.libraryEntry(module, name)
  if (entry.starts) return ctx.call(entry.callee, [])
  state.stage = 'done'
  const { args } = state
  // Values that the frame references would be in snapshots for as long as the builtin runs.
  state.args = []
  return ctx.call(entry.callee, args)
}

// ----------------------------------------------------------------------------------------------------------------- the world

/**
 * The effect that a primitive is called to request. Its provider relies on the types of its kind, so they are checked here, once.
 * Without a judge no kinds are known, and the provider has to check.
 */
function readEffect(ctx: Context, kind: Value, args: Value, own: Value): Effect | Fault {
  const plain = toPlain(args)
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw new Error('internal module: arguments of an effect are a dict')
  const effect: EffectData = { kind: display(kind), args: plain as PlainRecord }
  const problem = ctx.machine.judge?.problem(effect) ?? null
  if (problem !== null) return makeTypeFault(problem)
  return { ...effect, ...(isTruthy(own) ? { own: true } : {}) } as Effect
}

interface AttemptState extends FrameState {
  readonly what: { readonly effect: Effect } | { readonly callee: Value; readonly args: readonly Value[] }
  asked: boolean
}

// --------------------------------------------------------------------------------------------------------------------- faults

/** A fault as data: returned by `__attempt`, taken by `__raise_again`. */
export function describeFault(fault: Fault): HarnDict {
  return HarnDict.of({
    kind: fault.kind,
    message: fault.message,
    value: fault.value,
    category: fault.category,
    text: fault.text,
    caught: fault.caught,
    trace: fromPlain((fault.trace ?? []) as unknown as Plain),
  })
}

function makeFault(given: Value): Fault {
  if (!(given instanceof HarnDict)) throw new Error('internal module: __raise_again takes what __attempt gave')
  const readField = (name: string): Value => given.get(name) ?? null
  const fault = new Fault(
    readField('kind') as Fault['kind'],
    display(readField('message')),
    readField('value'),
    display(readField('category')),
  )
  fault.trace = toPlain(readField('trace')) as unknown as Fault['trace']
  return fault
}

const FAULTS: Readonly<Record<string, (message: string, category: string, code: string | null) => Fault>> = {
  runtime: makeRuntimeFault,
  type: makeTypeFault,
  thrown: makeThrown,
  categorized: (message, category, code) => makeCategorized(category, message, code),
}

// ---------------------------------------------------------------------------------------------------------------------- state

/** Values that internal modules keep for the run, in tables by key; each module names its own tables. */
const kept = family<{ readonly tables: Map<string, Map<string, Value>> }>('library_state', () => ({ tables: new Map() }))

function getTable(ctx: Context, name: Value): Map<string, Value> {
  const { tables } = ctx.state(kept)
  const known = tables.get(name as string)
  if (known !== undefined) return known
  const made = new Map<string, Value>()
  tables.set(name as string, made)
  return made
}

interface ParkState extends FrameState {
  readonly key: string | null
  readonly due: number | null
  parked: boolean
}

/** For primitives that request effects or look at their callers: compiled code must have written their frames to the stack. */
const WORLD = ['world'] as const

export const libraryFamily: BuiltinFamily = {
  name: 'library',
  builtins: [],
  frames: [
    frame<CallState>({ kind: 'library.start', step: stepCall }),
    frame<CallState>({ kind: 'library.muted', step: stepCall, output: 'drop' }),
    frame<AttemptState>({
      kind: 'library.attempt',
      step: (ctx, state) => {
        if (state.asked) return HarnDict.of({ value: ctx.result, fault: null })
        state.asked = true
        return 'effect' in state.what ? ctx.request(state.what.effect) : ctx.call(state.what.callee, state.what.args)
      },
      onFault: (_ctx, _state, fault) => HarnDict.of({ value: null, fault: describeFault(fault) }),
    }),
    frame<ParkState>({
      kind: 'library.park',
      step: (ctx, state) => {
        if (state.parked) return ctx.timedOut
        state.parked = true
        return ctx.park(state.key, state.due)
      },
    }),
  ],
  primitives: [
    builtin(
      '__perform(kind: string, args: dict, own?: bool) -> any',
      { doc: 'Asks the world. `own` is for a variable that the builtin looks up for its own work.', effects: WORLD },
      (ctx, kind, args, own) => {
        const effect = readEffect(ctx, kind ?? null, args ?? null, own ?? null)
        return effect instanceof Fault ? ctx.fail(effect) : ctx.perform(effect)
      },
    ),
    builtin(
      '__try_perform(kind: string, args: dict, own?: bool) -> dict',
      { doc: 'As __perform; a refusal is an answer too: {value, fault}.', effects: WORLD },
      (ctx, kind, args, own) => {
        const effect = readEffect(ctx, kind ?? null, args ?? null, own ?? null)
        return effect instanceof Fault ? ctx.fail(effect) : ctx.frame('library.attempt', { what: { effect }, asked: false })
      },
    ),
    builtin(
      '__attempt(callee: any, args: list) -> dict',
      {
        doc: 'Calls a function: {value, fault}. A fault is a dict {kind, message, category, value, text, caught, trace}.',
        effects: ['callback'],
      },
      (ctx, callee, args) =>
        ctx.frame('library.attempt', {
          what: { callee: callee ?? null, args: args instanceof HarnList ? [...args.view()] : [] },
          asked: false,
        }),
    ),
    builtin(
      '__raise(kind: string, message: string, category?: string, code?: string) -> never',
      { doc: 'Raises a fault of kind runtime, type or categorized, as builtins do.', effects: ['callback'] },
      (ctx, kind, message, category, code) =>
        ctx.fail(
          FAULTS[display(kind ?? null)]!(
            display(message ?? null),
            display(category ?? null),
            code == null ? null : display(code),
          ),
        ),
    ),
    builtin(
      '__raise_again(fault: dict) -> never',
      { doc: 'Raises what __attempt or __try_perform gave, with its place.', effects: ['callback'] },
      (ctx, fault) => ctx.fail(makeFault(fault ?? null)),
    ),
    builtin(
      '__now() -> int',
      { doc: 'Milliseconds of the machine, which deadlines and parking go by.', effects: ['callback'] },
      (ctx) => ctx.now,
    ),
    builtin(
      '__park(key: string?, due_ms: int?) -> bool',
      { doc: 'Waits for a wake of the key, or until `__now()` is `due_ms`; true when the time ran out.', effects: ['callback'] },
      (ctx, key, due) =>
        ctx.frame('library.park', { key: key as string | null, due: due === null ? null : Number(due), parked: false }),
    ),
    builtin('__sha256(text: string) -> string', { doc: 'SHA-256 of a text, lower-case hex.' }, (ctx, text) => {
      const whole = display(text ?? null)
      ctx.charge(whole.length >> 4)
      return ctx.machine.sha256Hex(whole)
    }),
    builtin(
      '__is_callable(value: any) -> bool',
      { doc: 'Whether scripts can call the value: a function, a closure, a builtin.' },
      (_ctx, value) => isCallable(value ?? null),
    ),
    builtin(
      '__millis(value: any) -> int?',
      { doc: 'Milliseconds of an int, a float or a duration; nil for anything else.' },
      (_ctx, value) => toMillis(value),
    ),
    builtin(
      '__wake(key: string) -> nil',
      { doc: 'Wakes every task that is parked on the key.', effects: ['callback'] },
      (ctx, key) => {
        ctx.wake(key as string)
        return null
      },
    ),
    builtin('__charge(units: int) -> nil', { doc: 'Pays for work that comes next.', effects: ['callback'] }, (ctx, units) => {
      ctx.charge(Number(units))
      return null
    }),
    builtin(
      '__kept(table: string, key: string) -> any',
      { doc: 'What the run keeps under a key of a table; nil when there is nothing.', effects: ['callback'] },
      (ctx, table, key) =>
        ctx
          .findState(kept)
          ?.tables.get(table as string)
          ?.get(key as string) ?? null,
    ),
    builtin(
      '__keep(table: string, key: string, value: any) -> nil',
      { doc: 'Keeps a value for the length of the run; nil takes it out.', effects: ['callback'] },
      (ctx, table, key, value) => {
        ctx.charge(1, 32)
        // All readers get the same object, so nobody may change it in place.
        if (value instanceof HarnList || value instanceof HarnDict) value.owned = false
        if (value === null) getTable(ctx, table ?? null).delete(key as string)
        else getTable(ctx, table ?? null).set(key as string, value!)
        return null
      },
    ),
    builtin(
      '__kept_keys(table: string) -> list<string>',
      { doc: 'Keys of a table, in the order in which they came.', effects: ['callback'] },
      (ctx, table) => {
        const keys = [
          ...(ctx
            .findState(kept)
            ?.tables.get(table as string)
            ?.keys() ?? []),
        ]
        ctx.charge(keys.length >> 3, 16 * keys.length)
        return new HarnList(keys)
      },
    ),
    builtin(
      '__caller() -> dict',
      { doc: 'Where the script stands that called: {file, directory, entry}.', effects: WORLD },
      (ctx) => {
        const { file, directory, entry } = ctx.source
        return HarnDict.of({ file, directory, entry })
      },
    ),
  ],
}
