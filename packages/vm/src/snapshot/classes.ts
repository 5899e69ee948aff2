// Classes whose instances are written field by field. Each field is checked on reading, so that forged
// bytes cannot create an object of a shape that the machine does not know. A class without a row, and without a case in
// graph-write.ts, cannot be written: that is a bug of ours, found by tests.

import { Fault } from '../interpreter/fault.js'
import { Coroutine, Task } from '../scheduler/task.js'
import { HarnBuiltin, HarnCell } from '../values/callable.js'
import { HarnAtomic, HarnChannel, HarnGenerator, HarnHandle, HarnIter, HarnPermit, HarnRng, HarnTask } from '../values/handles.js'
import { HarnEnum, HarnPair } from '../values/scalars.js'
import { TAG } from './tags.js'

type Check = (value: unknown) => boolean

export interface ClassRow {
  readonly tag: number
  // The classes have different constructors; a row's `make` knows its own.
  readonly type: abstract new (...args: never[]) => object
  readonly make: () => object
  readonly names: readonly string[]
  readonly checks: readonly Check[]
}

/** Anything that a field of a script value may hold. */
const any: Check = (value) => value !== undefined
const text: Check = (value) => typeof value === 'string'
const bool: Check = (value) => typeof value === 'boolean'
const count: Check = (value) => Number.isSafeInteger(value)
const number: Check = (value) => typeof value === 'number'
const int: Check = (value) => Number.isSafeInteger(value) || typeof value === 'bigint'
const array: Check = Array.isArray
const map: Check = (value) => value instanceof Map
const textOrNull: Check = (value) => value === null || typeof value === 'string'
const numberOrNull: Check = (value) => value === null || typeof value === 'number'
const coroutine: Check = (value) => value instanceof Coroutine
const coroutineOrNull: Check = (value) => value === null || value instanceof Coroutine
const faultOrNull: Check = (value) => value === null || value instanceof Fault
const arrayOrNull: Check = (value) => value === null || Array.isArray(value)

function oneOf(...names: readonly string[]): Check {
  return (value) => names.includes(value as string)
}

function listOf(each: Check): Check {
  return (value) => Array.isArray(value) && value.every(each)
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}

const DELIVERIES: Readonly<Record<string, Check>> = {
  value: (delivery) => any((delivery as { value?: unknown }).value),
  fault: (delivery) => (delivery as { fault?: unknown }).fault instanceof Fault,
  again: (delivery) => bool((delivery as { timedOut?: unknown }).timedOut),
}

const deliveryOrNull: Check = (value) =>
  value === null ||
  (isRecord(value) && Object.hasOwn(DELIVERIES, String(value['kind'])) && DELIVERIES[String(value['kind'])]!(value))

const deadline: Check = (value) =>
  isRecord(value) && number(value['dueMs']) && coroutine(value['coroutine']) && count(value['fp']) && bool(value['fired'])

function row(tag: number, type: ClassRow['type'], make: () => object, fields: Readonly<Record<string, Check>>): ClassRow {
  return { tag, type, make, names: Object.keys(fields), checks: Object.values(fields) }
}

export const CLASSES: readonly ClassRow[] = [
  row(TAG.PAIR, HarnPair, () => new HarnPair(null, null), { first: any, second: any }),
  row(TAG.ENUM, HarnEnum, () => new HarnEnum('', '', []), { enumName: text, variant: text, fields: array }),
  row(TAG.BUILTIN, HarnBuiltin, () => new HarnBuiltin(''), { name: text }),
  row(TAG.CELL, HarnCell, () => new HarnCell(null), { value: any }),
  row(TAG.ITER, HarnIter, () => new HarnIter('', []), { op: text, state: array, done: bool }),
  row(TAG.GENERATOR, HarnGenerator, () => new HarnGenerator('generator', null), {
    kind: oneOf('generator', 'stream'),
    coroutine: coroutineOrNull,
    done: bool,
  }),
  row(TAG.TASK_HANDLE, HarnTask, () => new HarnTask(0, 0), { id: count, number: count }),
  row(TAG.ATOMIC, HarnAtomic, () => new HarnAtomic(0), { value: int }),
  row(TAG.RNG, HarnRng, () => new HarnRng([]), { words: listOf(number) }),
  row(TAG.PERMIT, HarnPermit, () => new HarnPermit('', '', 0), { kind: text, key: text, id: count, released: bool }),
  row(TAG.HANDLE, HarnHandle, () => new HarnHandle('', '', null), { kind: text, id: text, descriptor: any }),
  row(TAG.CHANNEL, HarnChannel, () => new HarnChannel('', 1, 0), {
    name: text,
    capacity: number,
    id: count,
    buffer: array,
    closed: bool,
  }),
  row(TAG.FAULT, Fault, () => new Fault('runtime', ''), {
    kind: text,
    message: text,
    value: any,
    category: textOrNull,
    trace: arrayOrNull,
  }),
  row(TAG.TASK, Task, () => new Task(0, null, null as never, { taskId: '', name: '', group: null }), {
    id: count,
    parent: count,
    current: coroutine,
    status: oneOf('ready', 'waiting', 'done', 'failed', 'cancelled'),
    output: listOf(text),
    muted: count,
    result: any,
    fault: faultOrNull,
    deadlines: listOf(deadline),
    delivery: deliveryOrNull,
    waitKey: textOrNull,
    waitDue: numberOrNull,
    waitOrder: count,
    effectId: count,
    cancelRequested: bool,
    cancelFuel: number,
    cancelDue: numberOrNull,
    name: text,
    taskId: text,
    group: textOrNull,
    values: map,
    fields: map,
    spawned: count,
    groups: count,
    parentTaskId: textOrNull,
    rootTaskId: text,
  }),
]

export const ROW_BY_TYPE: ReadonlyMap<unknown, ClassRow> = new Map(CLASSES.map((each) => [each.type, each]))
export const ROW_BY_TAG: readonly (ClassRow | undefined)[] = CLASSES.reduce<(ClassRow | undefined)[]>((rows, each) => {
  rows[each.tag] = each
  return rows
}, [])
