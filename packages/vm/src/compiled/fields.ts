// The JavaScript of operations on properties, and of those that make a container owned by its holder. KEEP WITH: loop.ts and slow.ts.
//
// An instruction that has met one shape is expected to meet no other: shape and slot are constants in the code, and other
// shapes leave the code. An instruction that was wrong once (`Instr.missed`) lists all shapes that it met, with the
// slow path for the rest. An instruction that never ran reads the cache that the base tier fills.

import { ANY, FLOAT, LIST } from './entry-types.js'
import { HELD, LINKED } from '../interpreter/linked.js'
import { writeBeforeLong, writeBeforeSlow } from './fuel-points.js'
import type { Instr } from '../interpreter/linked.js'
import type { Shape } from '../values/shape.js'
import type { Block } from './graph.js'
import type { InstrWriter } from './instr-writer.js'

/** The one shape that `i` met, null where it met none or more than one. */
function findOnlyShape(w: InstrWriter, i: Instr): Shape | null {
  return w.guesses && !i.missed && (i.seen === null || i.op === LINKED.SET_PROP) ? (i.cache as Shape | null) : null
}

/** Leaves when the object in `slot` has another shape. */
function writeShapeGuard(w: InstrWriter, i: Instr, slot: number, shape: Shape): string {
  const x = w.any(slot)
  return w.hasShape(slot, shape) ? '' : `if(${x}===null||${x}.shape!==${w.constant(shape)}){${w.guard(i)}}`
}

export function readProperty(w: InstrWriter, i: Instr, block: Block): string {
  const name = w.constant(i.k)
  const x = w.value(i.b)
  const a = w.any(i.a)
  const isOut = i.c !== 0
  const out = i.c === 2 ? `readOut(${x},t,2)` : 'share(t)'
  const isOptional = i.op === LINKED.GET_PROP_OPT
  const slow = `${writeBeforeSlow(w, i, `typeof ${x}==="string"`)}t=${w.writeCalling(`getProperty(${x},${name},${isOptional})`)};if(t instanceof Fault){${w.writeFault(i, block, 't')}}${isOut ? 'share(t);' : ''}`
  if (w.readType(i.b) === FLOAT) return `${slow}${a}=t;`
  const shape = w.readType(i.b) === ANY ? findOnlyShape(w, i) : null
  if (shape !== null) {
    const guard = writeShapeGuard(w, i, i.b, shape)
    w.noteShape(i.b, shape)
    const slot = `${x}.slots[${i.kind}]`
    return isOut ? `${guard}t=${slot};if(${x}.nest!==null)${out};${a}=t;` : `${guard}${a}=${slot};`
  }
  const ofList =
    i.k === 'count'
      ? `if(${x} instanceof List)t=${x}.length;else{`
      : i.k === 'empty'
        ? `if(${x} instanceof List)t=${x}.length===0;else{`
        : ''
  const site = w.constant(i)
  return (
    `${ofList}t=${x}?.shape;if(t===${site}.cache)t=${x}.slots[${site}.kind];else if(t===${site}.seen)t=${x}.slots[${site}.d];` +
    `else if(t!==undefined)t=readField(${x},${site});else{${slow}}${isOut ? `if(${x}.nest!==null&&${x}.nest!==undefined)${out};` : ''}${ofList === '' ? '' : '}'}${a}=t;`
  )
}

/** A property of a value that is known to be a dict or struct. */
export function readField(w: InstrWriter, i: Instr): string {
  const x = w.any(i.b)
  const shape = findOnlyShape(w, i)
  if (shape === null) {
    const site = w.constant(i)
    return `t=${x};t=t.shape===${site}.cache?t.slots[${site}.kind]:readField(t,${site});${w.any(i.a)}=t;`
  }
  const guard = writeShapeGuard(w, i, i.b, shape)
  w.noteShape(i.b, shape)
  return `${guard}${w.any(i.a)}=${x}.slots[${i.kind}];`
}

export function writeProperty(w: InstrWriter, i: Instr, block: Block): string {
  const name = w.constant(i.k)
  const object = w.value(i.b)
  const value = w.value(i.c)
  const a = w.any(i.a)
  const slow = `${writeBeforeSlow(w, i, `isLongUpdate(${object},null)`)}m.chargeUpdate(${object});t=setProperty(${object},${name},${value},${i.d === 1});if(t instanceof Fault){${w.writeFault(i, block, 't')}}${a}=t;`
  if (i.d === 0 || w.readType(i.b) === FLOAT) return slow
  const x = w.any(i.b)
  const move = i.a === i.b ? '' : `${a}=${x};`
  const shape = w.readType(i.b) === ANY ? findOnlyShape(w, i) : null
  if (shape !== null) {
    const guard = writeShapeGuard(w, i, i.b, shape)
    w.noteShape(i.b, shape)
    const put = `${x}.slots[${i.kind}]=${value};m.chargeHeap(32);${move}`
    return i.d === HELD ? guard + put : `${guard}if(${x}.owned){${put}}else{${slow}}`
  }
  const site = w.constant(i)
  return (
    `t=${x}?.shape;if(t!==undefined${i.d === HELD ? '' : `&&${x}.owned`}){if(t===${site}.cache)${x}.slots[${site}.kind]=${value};` +
    `else writeField(${x},${site},${value});m.chargeHeap(32);${move}}else{${slow}}`
  )
}

export function mayBeContainer(type: number): boolean {
  return type === ANY || type === LIST
}

export function writeOwn(w: InstrWriter, i: Instr): string {
  if (!mayBeContainer(w.readType(i.b))) return ''
  const x = w.any(i.b)
  return `if(${w.readType(i.b) === LIST ? `!${x}.owned` : `${x}?.owned===false`}){${writeBeforeLong(w, i)}${x}=makeOwn(m,${x})}`
}

export function writeOwnItem(w: InstrWriter, i: Instr): string {
  if (!mayBeContainer(w.readType(i.b))) return ''
  const x = w.any(i.b)
  const holder = w.value(i.c)
  const index = w.value(i.d)
  const isElsewhere = w.readType(i.c) === LIST ? '' : `!(${holder} instanceof List)||`
  return (
    `if(${x}!==null&&${x}.owner!==undefined&&(${x}.owner===null||${x}.owner!==${holder}.nest||${isElsewhere}${holder}.boxed[${index}]!==${x})` +
    `&&!holdsItem(${holder},${index},${x})){${writeBeforeLong(w, i)}${x}=ownItem(m,${holder},${index},${x})}`
  )
}

export function writeOwnField(w: InstrWriter, i: Instr, block: Block): string {
  if (!mayBeContainer(w.readType(i.b))) return ''
  const x = w.any(i.b)
  const holder = w.value(i.c)
  const name = w.constant(i.k)
  const site = w.constant(i)
  // Usually set by the instruction that read it, in the same block.
  const read = block.instrs
    .slice(0, block.instrs.indexOf(i))
    .findLast((each) => each.op === LINKED.GET_PROP && each.k === i.k && each.a === i.b)
  const shape = read === undefined ? null : findOnlyShape(w, read)
  const isElsewhere =
    shape === null
      ? `!(${holder}.shape===${site}.cache&&${holder}.slots[${site}.kind]===${x})`
      : `${holder}.shape!==${w.constant(shape)}||${holder}.slots[${read!.kind}]!==${x}`
  const warm = shape === null ? `if(${holder}.shape!==undefined)readField(${holder},${site});` : ''
  return (
    `if(${x}!==null&&${x}.owner!==undefined&&(${x}.owner===null||${x}.owner!==${holder}.nest||${isElsewhere})&&!holdsField(${holder},${name},${x})){` +
    `${writeBeforeLong(w, i)}t=ownField(m,${holder},${name},${x});if(t instanceof Fault){${w.writeFault(i, block, 't')}}${x}=t;${warm}}`
  )
}
