// Closures that call a builtin with some arguments already bound: how scripts see a synthesised tool or a spawned builtin.
// Their code is a separate module, made on demand and named by what it does, so that a snapshot can make it again.

import { OPCODES } from '@bridle/compiler/bytecode'
import type { ModuleChunk } from '@bridle/compiler/bytecode'
import { HarnClosure } from '../values/callable.js'
import { Module } from './module.js'
import type { Value } from '../values/value.js'
import type { Machine } from './machine.js'

const PREFIX = 'native:'

export function isAdapterKey(key: string): boolean {
  return key.startsWith(PREFIX) || key.startsWith(STREAM_PREFIX)
}

const STREAM_PREFIX = 'native-stream:'

/** The module whose function yields the results of a builtin until it returns END. */
export function getStreamModule(machine: Machine, builtin: string, bound: number): Module {
  return getAdapter(machine, `${STREAM_PREFIX}${builtin}/${bound}/`)
}

function getAdapterModule(machine: Machine, builtin: string, bound: number, params: readonly string[]): Module {
  return getAdapter(machine, `${PREFIX}${builtin}/${bound}/${params.join(',')}`)
}

/** A closure that calls a builtin with `bound` before its own arguments, which `params` names. */
export function makeAdapterClosure(
  machine: Machine,
  builtin: string,
  bound: readonly Value[],
  params: readonly string[],
): HarnClosure {
  const module = getAdapterModule(machine, builtin, bound.length, params)
  return new HarnClosure(module.functions[0]!, [...bound])
}

/** The module of a key from getAdapterModule. Throws an Error for a builtin that the registry lacks. */
export function getAdapter(machine: Machine, key: string): Module {
  const known = machine.adapters?.get(key)
  if (known !== undefined) return known
  const [builtin = '', boundText = '0', paramText = ''] = key.slice(key.indexOf(':') + 1).split('/')
  const params = paramText === '' ? [] : paramText.split(',')
  const bound = Number(boundText)
  const def = machine.registry.builtins.get(builtin)
  if (def === undefined) throw new Error(`builtin ${builtin} is missing`)
  const isStream = key.startsWith(STREAM_PREFIX)
  const code: number[] = []
  for (let at = 0; at < bound; at++) code.push(OPCODES.LOAD_CAPTURE.code, at)
  for (let at = 0; at < params.length; at++) code.push(OPCODES.LOAD.code, at)
  const count = bound + params.length
  code.push(OPCODES.CALL_BUILTIN.code, 0, count)
  if (isStream) {
    // end: the item on the stack is the end mark, which RETURN drops.
    const end = code.length + 2 + 1 + 1 + 2
    code.push(OPCODES.JUMP_IF_END.code, end, OPCODES.YIELD.code, OPCODES.POP.code, OPCODES.LOOP.code, 0)
  }
  code.push(OPCODES.RETURN.code)
  const chunk: ModuleChunk = {
    key,
    functions: [
      {
        name: builtin,
        kind: isStream ? 'stream' : 'closure',
        params,
        firstDefault: params.length,
        rest: -1,
        slots: params.length,
        stack: Math.max(1, count),
        code,
        handlers: [],
        captures: Array.from({ length: bound }, (_, at) => `bound${at}`),
        lines: [],
        locals: [],
      },
    ],
    constants: [],
    names: [],
    builtins: [builtin],
    units: [],
    moduleSlots: [],
    exports: {},
  }
  const module = new Module(chunk, [def])
  machine.adapters ??= new Map()
  machine.adapters.set(key, module)
  return module
}
