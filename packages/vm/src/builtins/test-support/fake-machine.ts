// A stand-in for the machine's Context, for unit tests of builtins. It records what a builtin requested and can run native
// frames to their end with scripted outcomes; script functions are plain JavaScript functions behind HarnBuiltin names.

import { blake3 } from '@noble/hashes/blake3.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { CONTROL, Control } from '../builtin.js'
import type { BuiltinDef, Context, Family, FrameDef, FrameState, Result, TaskFacts } from '../builtin.js'
import { makeIterFrame, takeNextSimple } from '../iter.js'
import type { BuiltinFamily } from '../registry.js'
import type { Effect, EffectOutcome } from '../../effects/effect.js'
import { Fault, makeCategorized, makeRuntimeFault, makeThrown, makeTypeFault } from '../../interpreter/fault.js'
import { HarnBuiltin } from '../../values/callable.js'
import { HarnIter } from '../../values/handles.js'
import { fromPlain } from '../../values/plain.js'
import { typeName } from '../../values/value.js'
import type { Value } from '../../values/value.js'

export interface FakeMachine {
  /** Answers effects; may throw a Fault for an `ok: false` outcome. */
  perform: (effect: Effect) => EffectOutcome
  /** What callbacks do, by the name of the HarnBuiltin that stands for them. */
  readonly functions: Map<string, (...args: Value[]) => Value>
  readonly effects: Effect[]
  output: string
  now: number
  directory: string
  readonly families: readonly BuiltinFamily[]
  readonly states: Map<string, unknown>
  readonly task: TaskFacts
}

export function makeFakeMachine(...families: BuiltinFamily[]): FakeMachine {
  return {
    perform: (effect) => ({ ok: false, error: { kind: 'runtime', message: `no answer for ${effect.kind}` } }),
    functions: new Map(),
    effects: [],
    output: '',
    now: 0,
    directory: '/src',
    families,
    states: new Map(),
    task: {
      taskId: 'task_root',
      parentId: null,
      rootId: 'task_root',
      name: 'root',
      group: null,
      cancelled: false,
      spawned: 0,
      unawaited: [],
      values: new Map(),
      fields: new Map(),
    },
  }
}

type Pending =
  | { readonly kind: 'call'; readonly callee: Value; readonly args: readonly Value[] }
  | { readonly kind: 'effect'; readonly effect: Effect }
  | { readonly kind: 'frame'; readonly name: string; readonly state: FrameState }
  | { readonly kind: 'park'; readonly dueMs: number | null }
  | { readonly kind: 'pull'; readonly source: HarnIter }

/** Runs a builtin to its end and gives its value; throws the Fault it raises. */
export function callBuiltin(machine: FakeMachine, name: string, ...args: Value[]): Value {
  for (const family of machine.families) {
    const def = family.builtins.find((each) => each.name === name && each.receiver === null)
    if (def !== undefined) return runDefinition(machine, def, args)
  }
  throw new Error(`no builtin ${name}`)
}

/** As `callBuiltin`, for a method of `receiver`. An unknown method gives nil, as in the machine. */
export function callMethod(machine: FakeMachine, receiver: Value, name: string, ...args: Value[]): Value {
  const type = typeName(receiver)
  for (const family of machine.families) {
    const def = family.builtins.find((each) => each.name === name && each.receiver === type)
    if (def !== undefined) return runDefinition(machine, def, args, receiver)
  }
  return null
}

function runDefinition(machine: FakeMachine, def: BuiltinDef, args: readonly Value[], receiver?: Value): Value {
  const padded = [...args]
  while (padded.length < def.arity) padded.push(null)
  let pending: Pending | null = null
  const setPending = (next: Pending): Control => {
    pending = next
    return CONTROL
  }
  const context = makeContext(machine, args.length, null, false, setPending)
  const passed = def.rest ? padded : padded.slice(0, def.arity)
  return settle(machine, def.run(context, ...(receiver === undefined ? passed : [receiver, ...passed])), () => pending)
}

function settle(machine: FakeMachine, result: Result, pending: () => Pending | null): Value {
  if (!(result instanceof Control)) return result
  const next = pending()
  if (next === null) throw new Error('a builtin answered CONTROL without asking for anything')
  if (next.kind === 'effect') return answer(machine, next.effect)
  if (next.kind === 'frame') return runFrame(machine, next.name, next.state)
  throw new Error('only a frame may call or park')
}

function answer(machine: FakeMachine, effect: Effect): Value {
  machine.effects.push(effect)
  const outcome = machine.perform(effect)
  if (outcome.ok) return fromPlain(outcome.value)
  const { kind, message, category, value } = outcome.error
  if (kind === 'thrown') throw makeThrown(value === undefined ? message : fromPlain(value))
  if (kind === 'categorized') throw makeCategorized(category ?? 'generic', message)
  throw kind === 'type' ? makeTypeFault(message) : makeRuntimeFault(message)
}

function runFrame(machine: FakeMachine, name: string, state: FrameState): Value {
  const def = machine.families.flatMap((family): readonly FrameDef[] => family.frames ?? []).find((each) => each.kind === name)
  if (def === undefined) throw new Error(`no frame ${name}`)
  let result: Value = null
  let timedOut = false
  try {
    for (let steps = 0; steps < 1_000_000; steps++) {
      let pending: Pending | null = null
      const context = makeContext(machine, 0, result, timedOut, (next) => {
        pending = next
        return CONTROL
      })
      timedOut = false
      // As in the machine: a fault of the step itself leaves the frame; `onFault` handles faults of its calls and effects.
      let value = def.step(context, state as never)
      for (;;) {
        if (!(value instanceof Control)) return value
        const next = pending as Pending | null
        pending = null
        if (next === null) throw new Error(`${name} answered CONTROL without asking for anything`)
        try {
          if (next.kind === 'call') result = invoke(machine, next.callee, next.args)
          else if (next.kind === 'effect') result = answer(machine, next.effect)
          else if (next.kind === 'frame') result = runFrame(machine, next.name, next.state)
          else if (next.kind === 'pull')
            result = takeNextSimple(next.source) ?? runFrame(machine, 'iter.next', makeIterFrame(next.source))
          else {
            if (next.dueMs !== null) machine.now = Math.max(machine.now, next.dueMs)
            timedOut = true
            result = null
          }
          break
        } catch (error) {
          if (!(error instanceof Fault) || def.onFault === undefined) throw error
          result = null
          value = def.onFault(context, state as never, error)
        }
      }
    }
  } finally {
    def.onLeave?.(
      makeContext(machine, 0, null, false, () => CONTROL),
      state as never,
    )
  }
  throw new Error(`${name} does not end`)
}

function invoke(machine: FakeMachine, callee: Value, args: readonly Value[]): Value {
  if (!(callee instanceof HarnBuiltin)) throw new Error('callee is not a HarnBuiltin')
  const fn = machine.functions.get(callee.name)
  return fn === undefined ? callBuiltin(machine, callee.name, ...args) : fn(...args)
}

function makeContext(
  machine: FakeMachine,
  argc: number,
  result: Value,
  timedOut: boolean,
  set: (next: Pending) => Control,
): Context {
  return {
    argc,
    result,
    timedOut,
    now: machine.now,
    state<S>(family: Family<S>): S {
      if (!machine.states.has(family.name)) machine.states.set(family.name, family.state())
      return machine.states.get(family.name) as S
    },
    findState: <S>(family: Family<S>) => machine.states.get(family.name) as S | undefined,
    write(text) {
      machine.output += text
    },
    charge() {},
    noteCopy() {},
    mostWork: 1e9,
    again() {
      throw new Error('the fake machine makes one step only')
    },
    throw(value) {
      throw makeThrown(value)
    },
    runtime(message) {
      throw makeRuntimeFault(message)
    },
    type(message) {
      throw makeTypeFault(message)
    },
    categorized(category, message) {
      throw makeCategorized(category, message)
    },
    fail(fault) {
      throw fault
    },
    perform: (effect) => set({ kind: 'effect', effect }),
    frame: (kind, state) => set({ kind: 'frame', name: kind, state }),
    library() {
      throw new Error('internal modules are not supported here')
    },
    call: (callee, args) => set({ kind: 'call', callee, args }),
    request: (effect) => set({ kind: 'effect', effect }),
    park: (_key, dueMs) => set({ kind: 'park', dueMs }),
    pull(source) {
      if (!(source instanceof HarnIter)) throw new Error('generators are not supported here')
      return set({ kind: 'pull', source })
    },
    wake() {},
    builtinValue: (name) => new HarnBuiltin(name),
    source: { file: `${machine.directory}/main.harn`, directory: machine.directory, entry: `${machine.directory}/main.harn` },
    machine: {
      isPending: () => false,
      spawn() {
        throw new Error('spawn is not supported here')
      },
      libraryEntry() {
        throw new Error('internal modules are not supported here')
      },
      hashHex: (bytes) => bytesToHex(blake3(bytes)),
      runId: null,
      sha256Hex: (text) => bytesToHex(sha256(new TextEncoder().encode(text))),
      task: () => machine.task,
      taskOutcome: () => ({ kind: 'aborted' }),
      requestCancel() {},
      abortTask() {},
      taskNumber: 0,
      forgetTask() {},
      nextGroup: () => 1,
      importCeilings: null,
      narrowedCaller: null,
      hostData: (slot) => slot.absent,
      judge: null,
      traced: null,
      spans: null,
      beginTimeLimit: () => {},
      endTimeLimit: () => false,
      isStopping: false,
      streamOver() {
        throw new Error('streams are not supported here')
      },
      closureOver(name, bound) {
        const made = `closure ${machine.functions.size}`
        machine.functions.set(made, (...args) => callBuiltin(machine, name, ...bound, ...args))
        return new HarnBuiltin(made)
      },
    },
  }
}

/** The text that an uncaught fault of `run` would show. */
export function faultText(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error.kind === 'thrown' ? error.message : error.text
    throw error
  }
  return 'no fault'
}
