// A graph of objects ⇄ plain JSON. Shared objects are written once and cycles are kept; nothing recurses, so depth is no limit.
//
// A document is a list of objects; each is [tag, field, field …]. A field is a JSON primitive, or an array that marks what JSON
// lacks: [0] undefined, [1, "digits"] bigint, [2, n] object number n, [3, "text"] a number JSON cannot hold. Reading first makes every object empty and then
// fills it, which is what allows cycles. A class that has no row cannot be written: that is an error of ours, found by tests.

import { HarnBuiltin, HarnCell, HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import {
  END,
  EndOfIteration,
  HarnAtomic,
  HarnChannel,
  HarnGenerator,
  HarnHandle,
  HarnIter,
  HarnPermit,
  HarnRng,
  HarnTask,
} from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { Fault } from '../interpreter/fault.js'
import { Coroutine, NativeActivation, Task } from '../scheduler/task.js'
import { instrOf, placeOfInstr } from './places.js'
import type { FrameDef } from '../builtins/builtin.js'
import type { FunctionCode } from '../interpreter/module.js'

/** How names in a document become things of this process again. Each may raise SnapshotError. */
export interface Resolver {
  readonly code: (moduleKey: string, index: number) => FunctionCode
  readonly frame: (kind: string) => FrameDef
}

/** Why a snapshot was refused. */
export class SnapshotError extends Error {
  readonly reason: 'format' | 'version' | 'program' | 'registry' | 'damaged'
  constructor(reason: SnapshotError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

type Field = null | boolean | string | number | readonly [0] | readonly [1, string] | readonly [2, number] | readonly [3, string]
export type ObjectRow = readonly [tag: string, ...fields: Field[]]

interface ClassRow {
  readonly tag: string
  // The classes have different constructors; a row's `make` knows its own.
  readonly type: abstract new (...args: never[]) => object
  readonly make: () => object
  readonly fields: readonly string[]
}

/**
 * Every class whose instances a machine may hold, but for those with a case of their own below. Lists keep their buffers and who
 * shares them: an append costs less where it can be made in place, and a restored run must use the same fuel.
 */
const CLASSES: readonly ClassRow[] = [
  { tag: 'float', type: HarnFloat, make: () => new HarnFloat(0), fields: ['v'] },
  { tag: 'duration', type: HarnDuration, make: () => new HarnDuration(0), fields: ['ms'] },
  { tag: 'range', type: HarnRange, make: () => new HarnRange(0, 0, false), fields: ['start', 'end', 'exclusive'] },
  { tag: 'pair', type: HarnPair, make: () => new HarnPair(null, null), fields: ['first', 'second'] },
  { tag: 'enum', type: HarnEnum, make: () => new HarnEnum('', '', []), fields: ['enumName', 'variant', 'fields'] },
  { tag: 'list', type: HarnList, make: () => new HarnList([]), fields: ['items', 'length', 'owned'] },
  { tag: 'dict', type: HarnDict, make: () => new HarnDict(), fields: ['map', 'owned'] },
  { tag: 'set', type: HarnSet, make: () => new HarnSet(), fields: ['map'] },
  { tag: 'struct', type: HarnStruct, make: () => new HarnStruct('', '', new Map()), fields: ['name', 'home', 'fields', 'owned'] },
  { tag: 'builtin', type: HarnBuiltin, make: () => new HarnBuiltin(''), fields: ['name'] },
  { tag: 'cell', type: HarnCell, make: () => new HarnCell(null), fields: ['value'] },
  { tag: 'iter', type: HarnIter, make: () => new HarnIter('', []), fields: ['op', 'state', 'done'] },
  {
    tag: 'generator',
    type: HarnGenerator,
    make: () => new HarnGenerator('generator', null),
    fields: ['kind', 'coroutine', 'done'],
  },
  { tag: 'task-handle', type: HarnTask, make: () => new HarnTask(0), fields: ['id'] },
  { tag: 'atomic', type: HarnAtomic, make: () => new HarnAtomic(0), fields: ['value'] },
  { tag: 'rng', type: HarnRng, make: () => new HarnRng([]), fields: ['words'] },
  { tag: 'permit', type: HarnPermit, make: () => new HarnPermit('', '', 0), fields: ['kind', 'key', 'id', 'released'] },
  { tag: 'handle', type: HarnHandle, make: () => new HarnHandle('', '', null), fields: ['kind', 'id', 'descriptor'] },
  {
    tag: 'channel',
    type: HarnChannel,
    make: () => new HarnChannel('', 1, 0),
    fields: ['name', 'capacity', 'id', 'buffer', 'closed'],
  },
  { tag: 'fault', type: Fault, make: () => new Fault('runtime', ''), fields: ['kind', 'message', 'value', 'category', 'trace'] },
  {
    tag: 'task',
    type: Task,
    make: () => new Task(0, null, null as never, { taskId: '', name: '', group: null }),
    fields: [
      'id',
      'parent',
      'current',
      'status',
      'output',
      'muted',
      'result',
      'fault',
      'deadlines',
      'delivery',
      'waitKey',
      'waitDue',
      'waitOrder',
      'effectId',
      'cancelRequested',
      'cancelFuel',
      'cancelDue',
      'name',
      'taskId',
      'group',
      'values',
      'fields',
      'spawned',
      'groups',
      'parentTaskId',
      'rootTaskId',
    ],
  },
]

const ROW_BY_TYPE = new Map<unknown, ClassRow>(CLASSES.map((row) => [row.type, row]))
const ROW_BY_TAG = new Map(CLASSES.map((row) => [row.tag, row]))

// ---- writing

/** The objects reachable from `root`, the root first. */
export function writeGraph(root: object): ObjectRow[] {
  const numbers = new Map<object, number>()
  const queue: object[] = []
  const refer = (value: object): readonly [2, number] => {
    let number = numbers.get(value)
    if (number === undefined) {
      number = queue.push(value) - 1
      numbers.set(value, number)
    }
    return [2, number]
  }
  const field = (value: unknown): Field => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : [3, Object.is(value, -0) ? '-0' : String(value)]
      case 'bigint':
        return [1, String(value)]
      case 'undefined':
        return [0]
      case 'object':
        return value === null ? null : refer(value)
      default:
        throw new Error(`snapshot: a ${typeof value} cannot be saved`)
    }
  }
  const rows: ObjectRow[] = []
  refer(root)
  for (let at = 0; at < queue.length; at++) rows.push(writeObject(queue[at]!, field))
  return rows
}

function writeObject(value: object, field: (value: unknown) => Field): ObjectRow {
  const row = ROW_BY_TYPE.get(value.constructor)
  if (row !== undefined) {
    return [row.tag, ...row.fields.map((name) => field((value as Record<string, unknown>)[name]))]
  }
  if (Array.isArray(value)) return ['array', ...value.map(field)]
  if (value instanceof Map) return ['map', ...[...value].flatMap(([key, item]) => [field(key), field(item)])]
  if (value instanceof Set) return ['js-set', ...[...value].map(field)]
  if (value instanceof Uint8Array) return ['u8', toHex(value)]
  if (value instanceof HarnBytes) return ['bytes', toHex(value.data)]
  if (value instanceof EndOfIteration) return ['end']
  if (value instanceof HarnClosure) return ['closure', value.code.module.key, value.code.index, field(value.captures)]
  if (value instanceof NativeActivation) return ['native', value.def.kind, field(value.state), value.savedLimit, value.timedOut]
  if (value instanceof Coroutine) return writeCoroutine(value, field)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    return [prototype === null ? 'record' : 'object', ...Object.entries(value).flatMap(([key, item]) => [key, field(item)])]
  }
  throw new Error(`snapshot: a ${value.constructor.name} cannot be saved`)
}

function writeCoroutine(co: Coroutine, field: (value: unknown) => Field): ObjectRow {
  const frames = co.frames.slice(0, co.fp + 1)
  return [
    'coroutine',
    field(co.regs.slice(0, co.top)),
    field(frames),
    field(co.returns.slice(0, co.fp + 1).map((instr, at) => placeOfInstr(instr, frames[at - 1]))),
    field(co.bases.slice(0, co.fp + 1)),
    co.fp,
    co.base,
    placeOfInstr(co.instr, frames[co.fp]),
    co.limit,
    field(co.generator),
    field(co.resumer),
    co.paused,
    co.run,
    field(co.outerRuns),
  ]
}

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

function fromHex(text: unknown): Uint8Array {
  if (typeof text !== 'string' || text.length % 2 !== 0 || /[^0-9a-f]/.test(text)) throw new SnapshotError('damaged', 'bad bytes')
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(at * 2, at * 2 + 2), 16))
}

// ---- reading

export function readGraph(rows: readonly ObjectRow[], resolver: Resolver): object {
  const objects = rows.map((row) => makeObject(row, resolver))
  const value = (field: Field | undefined): unknown => {
    if (!Array.isArray(field)) return field
    const [kind, content] = field as readonly [number, unknown]
    switch (kind) {
      case 0:
        return undefined
      case 1:
        return BigInt(content as string)
      case 3:
        return Number(content)
      case 2: {
        const object = objects[content as number]
        if (object !== undefined) return object
      }
    }
    throw new SnapshotError('damaged', 'bad field')
  }
  rows.forEach((row, at) => fillObject(objects[at]!, row, value))
  // Coroutines need their frames' code, which is in place only now.
  rows.forEach((row, at) => {
    if (row[0] === 'coroutine') fillPlaces(objects[at] as Coroutine, row, value)
  })
  const root = objects[0]
  if (root === undefined) throw new SnapshotError('damaged', 'empty snapshot')
  return root
}

function makeObject(row: ObjectRow, resolver: Resolver): object {
  const known = ROW_BY_TAG.get(row[0])
  if (known !== undefined) return known.make()
  switch (row[0]) {
    case 'array':
      return []
    case 'map':
      return new Map()
    case 'js-set':
      return new Set()
    case 'u8':
      return fromHex(row[1])
    case 'bytes':
      return new HarnBytes(fromHex(row[1]))
    case 'end':
      return END
    case 'closure':
      return new HarnClosure(resolver.code(String(row[1]), Number(row[2])), [])
    case 'native':
      return new NativeActivation(resolver.frame(String(row[1])), {}, 0)
    case 'coroutine':
      return new Coroutine(null)
    case 'object':
      return {}
    case 'record':
      return Object.create(null) as object
    default:
      throw new SnapshotError('damaged', `unknown object ${String(row[0])}`)
  }
}

function fillObject(target: object, row: ObjectRow, value: (field: Field | undefined) => unknown): void {
  const known = ROW_BY_TAG.get(row[0])
  if (known !== undefined) {
    known.fields.forEach((name, at) => {
      ;(target as Record<string, unknown>)[name] = value(row[at + 1] as Field)
    })
    return
  }
  switch (row[0]) {
    case 'array':
      for (let at = 1; at < row.length; at++) (target as unknown[]).push(value(row[at] as Field))
      return
    case 'map':
      for (let at = 1; at + 1 < row.length; at += 2)
        (target as Map<unknown, unknown>).set(value(row[at] as Field), value(row[at + 1] as Field))
      return
    case 'js-set':
      for (let at = 1; at < row.length; at++) (target as Set<unknown>).add(value(row[at] as Field))
      return
    case 'object':
    case 'record':
      for (let at = 1; at + 1 < row.length; at += 2) {
        Object.defineProperty(target, String(row[at]), {
          value: value(row[at + 1] as Field),
          enumerable: true,
          writable: true,
          configurable: true,
        })
      }
      return
    case 'closure':
      return assign(target, { captures: value(row[3] as Field) })
    case 'native':
      return assign(target, { state: value(row[2] as Field), savedLimit: row[3], timedOut: row[4] })
    case 'coroutine': {
      const [regs, frames, , bases] = row.slice(1, 5).map((field) => value(field as Field))
      return assign(target, {
        regs,
        frames,
        bases,
        fp: row[5],
        base: row[6],
        limit: row[8],
        generator: value(row[9] as Field),
        resumer: value(row[10] as Field),
        paused: row[11],
        run: row[12],
        outerRuns: value(row[13] as Field),
      })
    }
  }
}

function fillPlaces(co: Coroutine, row: ObjectRow, value: (field: Field | undefined) => unknown): void {
  const places = value(row[3] as Field) as number[]
  assign(co, {
    returns: places.map((place, at) => instrOf(place, co.frames[at - 1])),
    instr: instrOf(Number(row[7]), co.frames[co.fp]),
  })
}

function assign(target: object, fields: Record<string, unknown>): void {
  for (const [name, field] of Object.entries(fields)) (target as Record<string, unknown>)[name] = field
}
