// JSON pointers (RFC 6901) into values: reading, and copies with one position set or removed. A step that does not exist reads
// as nil and leaves a value unchanged.

import type { BuiltinDef, Context, Control, Result, Run } from './builtin.js'
import { builtinTaking } from './unpack.js'
import type { Demands } from './unpack.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { work } from '../values/meter.js'
import type { Value } from '../values/value.js'

/** Fuel for unescaping and following one step. */
const UNITS_A_STEP = 2

/** The unescaped steps of a pointer, or the error if it is invalid. Charges for them first. */
function readPointer(ctx: Context, name: string, pointer: string): string[] | Control {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) return ctx.throw(`${name}: pointer must be empty or start with '/'`)
  let steps = 0
  for (let at = 0; at >= 0; at = pointer.indexOf('/', at + 1)) steps++
  work(UNITS_A_STEP * steps + (pointer.length >> 6))
  const bad = /~(?![01])(.?)/su.exec(pointer)
  if (bad !== null) {
    return ctx.throw(bad[1] === '' ? `${name}: dangling '~' in pointer` : `${name}: invalid escape '~${bad[1]!}' in pointer`)
  }
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** A list index as pointers write it: decimal digits without leading zeros. */
function parseIndex(step: string): number | null {
  return /^(?:0|[1-9][0-9]*)$/.test(step) ? Number(step) : null
}

/** The member that a step leads to, undefined when there is none. */
function findMember(value: Value, step: string): Value | undefined {
  if (value instanceof HarnDict) return value.get(step)
  const index = value instanceof HarnList ? parseIndex(step) : null
  return index === null ? undefined : (value as HarnList).at(index)
}

function replaceMember(value: Value, step: string, made: Value): Value {
  if (value instanceof HarnDict) return value.with(step, made)
  if (!(value instanceof HarnList)) return value
  const index = step === '-' ? value.length : parseIndex(step)
  if (index === null || index > value.length) return value
  if (index === value.length) return value.append(made)
  const items = value.copyItems()
  items[index] = made
  return new HarnList(items)
}

function removeMember(value: Value, step: string): Value {
  if (findMember(value, step) === undefined) return value
  if (value instanceof HarnDict) {
    const copy = value.copy()
    copy.delete(step)
    return copy
  }
  return new HarnList((value as HarnList).copyItems().toSpliced(parseIndex(step)!, 1))
}

function chargeCopy(ctx: Context, container: Value): void {
  if (container instanceof HarnList) ctx.charge(container.length >> 3, 16 * container.length)
  else if (container instanceof HarnDict) ctx.charge(container.size, 32 * container.size)
}

/** Rebuilds the containers on the path to the last step, whose container `change` gets; the value itself when the path ends earlier. */
function rebuild(ctx: Context, root: Value, steps: readonly string[], change: (container: Value, step: string) => Value): Value {
  const containers: Value[] = [root]
  for (const step of steps.slice(0, -1)) {
    const next = findMember(containers.at(-1)!, step)
    if (next === undefined) return root
    containers.push(next)
  }
  chargeCopy(ctx, containers.at(-1)!)
  let made = change(containers.at(-1)!, steps.at(-1)!)
  for (let at = containers.length - 2; at >= 0; at--) {
    const container = containers[at]!
    chargeCopy(ctx, container)
    made = replaceMember(container, steps[at]!, made)
  }
  return made
}

function definePointerFunction(
  name: string,
  params: string,
  needed: number,
  doc: string,
  run: (ctx: Context, value: Value, steps: readonly string[], made: Value) => Value,
): BuiltinDef {
  const demands: Demands = { fewer: `{f} requires ${needed} arguments`, text: { ptr: null } }
  const find = (ctx: Context, value: Value = null, pointer: Value = '', made: Value = null): Result => {
    const steps = readPointer(ctx, name, pointer as string) // the unpacker checked it
    return Array.isArray(steps) ? run(ctx, value, steps, made) : steps
  }
  return builtinTaking(`${name}(${params}) -> any`, { doc }, demands, find as Run)
}

export const pointerFunctions: readonly BuiltinDef[] = [
  definePointerFunction(
    'json_pointer',
    'value: any, ptr: string',
    2,
    'The value at a JSON pointer, or nil.',
    (_ctx, value, steps) => {
      let found: Value | undefined = value
      for (const step of steps) if (found !== undefined) found = findMember(found, step)
      return found ?? null
    },
  ),
  definePointerFunction(
    'json_pointer_set',
    'value: any, ptr: string, new: any',
    3,
    'With another value at the pointer.',
    (ctx, value, steps, made) =>
      steps.length === 0 ? made : rebuild(ctx, value, steps, (container, step) => replaceMember(container, step, made)),
  ),
  definePointerFunction(
    'json_pointer_delete',
    'value: any, ptr: string',
    2,
    'Without the value at the pointer.',
    (ctx, value, steps) => (steps.length === 0 ? null : rebuild(ctx, value, steps, removeMember)),
  ),
]
