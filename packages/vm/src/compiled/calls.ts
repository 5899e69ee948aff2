// The JavaScript of calls: of functions, builtins and methods. KEEP WITH: loop.ts and slow.ts.
//
// A method call is specialised to the receiver that the base tier saw last: a list, a dict or a string and its builtin method, or a
// struct. Other receivers leave the code, and after that the code handles all kinds.

import { EXTENDS, LENT, LINKED } from '../interpreter/linked.js'
import { findLastMethod } from '../interpreter/calls.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { isDirect } from './direct.js'
import { FLOAT } from './entry-types.js'
import { mayBeContainer } from './fields.js'
import { writeBeforeLong } from './fuel-points.js'
import { isLengthAtHand } from './types.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Instr, MethodSite } from '../interpreter/linked.js'
import type { Block } from './graph.js'
import type { InstrWriter } from './instr-writer.js'

const L = LINKED

function run(w: InstrWriter, from: number, count: number): string {
  return Array.from({ length: count }, (_, at) => w.value(from + at)).join(',')
}

export function writeSelfCall(w: InstrWriter, i: Instr, block: Block): string {
  const { code } = w
  if (i.c !== code.exactCount) return call(w, i, block, 'c')
  const callee = w.isWhole ? 'f' : 'c.code.jit'
  return (
    `if(d>=m.deepest||--m.fuel<0){${w.restart(i)}}${writeKept(w, i, i.d, 'c.code')}${writeWanting(i)}` +
    `v=${callee}(m,c,d+1${prefixComma(run(w, i.d, i.c))});${writeWanted(i)}if(v===undefined)${w.writeAfterCall(i, block)}${w.any(i.a)}=v;`
  )
}

/** Shares the arguments from `from` on whose bit is set in `bits`, if `condition` holds for the bit. KEEP WITH: findKept. */
function writeShared(w: InstrWriter, bits: number, from: number, condition: (bit: number) => string): string {
  let text = ''
  const shared = bits & (EXTENDS - 1)
  for (let at = 0; shared >> (at + 1) > 0; at++) {
    const bit = 2 << at
    if ((shared & bit) === 0 || !mayBeContainer(w.readType(from + at))) continue
    text += `${condition(bit)}share(${w.any(from + at)});`
  }
  return text
}

/** As writeShared, for arguments that the callee `code` might keep. */
function writeKept(w: InstrWriter, i: Instr, from: number, code: string, without = 0): string {
  return writeShared(w, (i.moves | i.lends) & ~without, from, (bit) => {
    const mayKeep = `(${code}.keeps&${bit})!==0`
    return (i.moves & bit) === 0 ? `if(${mayKeep})` : `if(${mayKeep}&&(${code}.takes&${bit})===0)`
  })
}

/** Code before a call whose result becomes owned, and after it. */
function writeWanting(i: Instr): string {
  return (i.moves & 1) === 0 ? '' : 'm.wants=d+1;'
}

function writeWanted(i: Instr): string {
  return (i.moves & 1) === 0 ? '' : 'm.wants=-1;'
}

function prefixComma(list: string): string {
  return list === '' ? '' : `,${list}`
}

export function call(w: InstrWriter, i: Instr, block: Block, self = ''): string {
  const callee = self === '' ? w.value(i.b) : self
  return (
    `if(!(${callee} instanceof Closure&&(t=${callee}.code).jitCount===${i.c})||d>=m.deepest||--m.fuel<0){${w.restart(i)}}${writeKept(w, i, i.d, 't')}${writeWanting(i)}` +
    `v=t.jit(m,${callee},d+1${prefixComma(run(w, i.d, i.c))});${writeWanted(i)}if(v===undefined)${w.writeAfterCall(i, block)}${w.any(i.a)}=v;`
  )
}

/** Fuel as `Machine.enter` takes it. */
export function writePipe(w: InstrWriter, i: Instr, block: Block): string {
  const callee = w.value(i.b + 1)
  return (
    `if(!(${callee} instanceof Closure&&(t=${callee}.code).jitCount===1)||d>=m.deepest||m.fuel<=0){${w.exit(i)}}m.fuel--;` +
    `v=t.jit(m,${callee},d+1,${w.value(i.b)});if(v===undefined)${w.writeAfterCall(i, block)}${w.any(i.a)}=v;`
  )
}

export function writeTailCall(w: InstrWriter, i: Instr): string {
  const callee = w.value(i.b)
  return (
    `if(!(${callee} instanceof Closure&&(t=${callee}.code).jitCount===${i.c})||m.tails>=100||--m.fuel<0){${w.restart(i)}}${writeKept(w, i, i.d, 't')}${w.writeWantedAgain()}` +
    `m.tails++;v=t.jit(m,${callee},d${prefixComma(run(w, i.d, i.c))});m.tails--;return v;`
  )
}

export function writeBuiltin(w: InstrWriter, i: Instr, block: Block, given: readonly string[]): string {
  const def = i.k as BuiltinDef
  const count = def.rest ? Math.max(given.length, def.arity) : def.arity
  const args = Array.from({ length: count }, (_, at) => given[at] ?? 'null')
  const before = i.op === L.BUILTIN1 && def.real !== null ? '' : writeBeforeLong(w, i)
  if (isLengthAtHand(i, w.types)) return `${before}${w.any(i.a)}=${given[0]!}.length;`
  const call = w.writeCalling(`${w.constant(def)}.run(m.context${prefixComma(args.join(','))})`)
  const run = `m.context.argc=${given.length};m.spent=0;t=${call};${writeControl(w, i, block)}`
  return `${before}${writeQuickCall(w, def, given, run)}${w.any(i.a)}=t;`
}

/** Statements that leave the result of a builtin in `t`; `run` is the expression for its code. */
function writeQuickCall(w: InstrWriter, { quick, rest }: BuiltinDef, given: readonly string[], run: string): string {
  if (quick === null || rest || given.length > 2) return run
  return `t=${w.constant(quick)}(${given[0] ?? 'null'},${given[1] ?? 'null'});if(t===undefined){${run}}`
}

/** `t` is the result of a builtin: a value, a fault, or something that only the base tier can handle. */
function writeControl(w: InstrWriter, i: Instr, block: Block): string {
  return `if(t===CONTROL){if(m.context.action.kind==="fault"){${w.writeFault(i, block, 'asked(m)')}}${w.wait(i)}}`
}

export function callMethod(w: InstrWriter, i: Instr, block: Block): string {
  const receiver = w.value(i.b)
  const args = Array.from({ length: i.c }, (_, at) => w.value(i.b + 1 + at))
  const given = writeShared(w, (i.moves | i.lends) & (i.moves < EXTENDS ? ~0 : ~2), i.b, () => '')
  const finish = (text: string): string => `${given}${writeBeforeLong(w, i)}${text}${w.any(i.a)}=t;`
  const anyMethod = `t=${i.c <= 2 ? `method${i.c}` : 'methodN'}(m,${w.constant(i)},${receiver}${prefixComma(args.join(','))});if(t===undefined){${w.exit(i)}}${writeMethodControl(w, i, block)}`
  if (w.readType(i.b) === FLOAT) return finish(anyMethod)
  if (i.d === LENT) return finish(writeLentMethod(w, i, receiver, args) + writeMethodControl(w, i, block))
  const seen = writeSeenMethod(w, i, block, receiver, args)
  const guesses = w.guesses && !i.missed
  const isOfStruct = i.seen === null && findLastMethod(w.machine, i.k as MethodSite) !== null
  if (guesses && seen !== null && !isOfStruct) return `if(!(${seen.test})){${w.guard(i)}}${finish(seen.text)}`
  const ofStruct = writeStructCall(w, i, block, receiver, args)
  if (guesses && isOfStruct) return `if(!(${receiver} instanceof Struct)){${w.guard(i)}}${ofStruct}`
  // The class that was seen comes first: an instanceof test walks a prototype chain.
  if (seen === null) return `if(${receiver} instanceof Struct){${ofStruct}}else{${finish(anyMethod)}}`
  return `if(${seen.test}){${finish(seen.text)}}else if(${receiver} instanceof Struct){${ofStruct}}else{${finish(anyMethod)}}`
}

function writeStructCall(w: InstrWriter, i: Instr, block: Block, receiver: string, args: readonly string[]): string {
  return (
    `t=structMethod(m,${receiver},${w.constant(i.k)});` +
    `if(t===null||t.code.jitCount!==${i.c + 1}||d>=m.floor||d>=m.limits.frames||--m.fuel<0){${w.restart(i)}}` +
    `${(i.moves & 2) === 0 ? `if((t.code.keeps&2)!==0)share(${receiver});` : ''}${writeKept(w, i, i.b, 't.code', 2)}${writeWanting(i)}` +
    `q=m.deepest;m.deepest=d+1+RUN>m.floor?m.floor:d+1+RUN;v=t.code.jit(m,t,d+1,${receiver}${prefixComma(args.join(','))});m.deepest=q;${writeWanted(i)}` +
    `if(v===undefined)${w.writeAfterCall(i, block, true)}${w.any(i.a)}=v;`
  )
}

/** Statements that leave in `t` the result of a builtin method that may change its receiver. */
function writeLentMethod(w: InstrWriter, i: Instr, receiver: string, args: readonly string[]): string {
  const { name } = i.k as { readonly name: string }
  const any = `t=lentMethod(m,${w.constant(i)},${receiver}${prefixComma(args.join(','))});if(t===undefined){${w.exit(i)}}`
  if (name !== 'push' || i.c !== 1) return any
  return `if(${receiver} instanceof List){m.chargeHeap(32);${receiver}.addHeld(${args[0]!});t=${receiver}}else{${any}}`
}

/** The kind of receiver that the base tier saw last, and statements that leave the method's result in `t`. */
function writeSeenMethod(
  w: InstrWriter,
  i: Instr,
  block: Block,
  receiver: string,
  args: readonly string[],
): { readonly test: string; readonly text: string } | null {
  if (i.d === 1) {
    const inPlace = `m.chargeHeap(32);${receiver}.length=${receiver}.boxed.push(${args[0]!});t=${receiver}`
    return {
      test: `${receiver} instanceof List`,
      text: `if(${receiver}.owned&&${receiver}.raw===null){${inPlace}}else{t=pushOwn(m,${receiver},${args[0]!})}`,
    }
  }
  const def = i.cache as BuiltinDef | null
  const test =
    i.seen === 'string'
      ? `typeof ${receiver}==="string"`
      : i.seen === HarnList
        ? `${receiver} instanceof List`
        : i.seen === HarnDict
          ? `${receiver} instanceof Dict`
          : null
  if (def === null || test === null || !isDirect(def)) return null
  const count = def.rest ? Math.max(args.length, def.arity) : def.arity
  const all = Array.from({ length: count }, (_, at) => args[at] ?? 'null')
  const run = `m.context.argc=${args.length};m.spent=0;t=${w.constant(def)}.run(m.context,${receiver}${prefixComma(all.join(','))});`
  const given = writeForEach(w, i, block, def, args, writeQuickCall(w, def, [receiver, ...args], run))
  return { test, text: given + (def.effects === 'pure' ? writeControl(w, i, block) : writeMethodControl(w, i, block)) }
}

/**
 * A method that calls a function for every element is called as that function's own loop, if it was last called for that method:
 * V8 sees the same loop again and inlines it. KEEP WITH: Tier.elements.
 */
function writeForEach(
  w: InstrWriter,
  i: Instr,
  block: Block,
  { each }: BuiltinDef,
  args: readonly string[],
  run: string,
): string {
  if (each === null || args.length <= each.fn) return run
  const fn = args[each.fn]!
  const first = each.fn === 0 ? 'null' : args[each.fn - 1]!
  return (
    `if(${fn} instanceof Closure&&(t=${fn}.code.compiled).lastFrame===${w.constant(each.frame)}&&d+2<m.floor&&d<m.limits.frames){` +
    `m.spent=0;q=m.deepest;m.deepest=d+2+RUN>m.floor?m.floor:d+2+RUN;` +
    `t=t.lastLoop(m,${fn},d+2,${w.value(i.b)},null,-1,null,${first});m.deepest=q;if(t===undefined)${w.writeAfterCall(i, block, true)}` +
    `}else{${run}}`
  )
}

/** As control; a method that calls a function for every element continues right here. */
function writeMethodControl(w: InstrWriter, i: Instr, block: Block): string {
  return (
    `if(t===CONTROL){if(m.context.action.kind==="fault"){${w.writeFault(i, block, 'asked(m)')}}` +
    `if((t=m.tier.elements(d))===CONTROL){${w.wait(i)}}if(t===undefined)${w.writeAfterCall(i, block, true)}}`
  )
}
