// Builtins that call a function for every element (builtins/lists-callbacks.ts), as loops of compiled code: each function that they call
// often gets loops of its own, so that V8 sees one callee in them and takes it in. A loop goes on from any element, for a method that
// compiled code calls and for a native frame that the base tier steps. When the function leaves, the native frame stands where it would
// stand in the base tier; its state is the same object. Fuel and heap are charged as the frame's step takes them: a unit a step and
// one a call.

import { fromText } from './from-text.js'
import type { FrameDef } from '../builtins/builtin.js'
import type { LoopState } from '../builtins/lists-callbacks.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { HarnClosure } from '../values/callable.js'
import type { Value } from '../values/value.js'
import type { Machine } from '../vm.js'

/**
 * Goes on behind the element `at` (-1: none yet), for which the function gave `answer`; the function's activations are at `depth`.
 * The value of the builtin, or undefined as calls have it: then a fault is raised, or the native frame is the last of `leaving`.
 */
export type ElementLoop = (
  m: Machine,
  fn: HarnClosure,
  depth: number,
  state: LoopState,
  at: number,
  answer: Value,
) => Value | undefined

interface Row {
  readonly args: string
  /** What is done with the answer `v` for the element `x` at `at`; `return` ends the loop. */
  readonly visit: string
  readonly end: string
}

const KEEP = 'm.chargeHeap(16);'

/** `w`: whether the answer holds. */
const TEST = 'const w=v===true||(v!==false&&isTruthy(v));'

/** KEEP WITH: LOOPS of builtins/lists-callbacks.ts, which these say again where it is worth it. */
const ROWS: Readonly<Record<string, Partial<Row>>> = {
  'list.map': { visit: `out.push(v);${KEEP}`, end: 'return new List(out)' },
  'list.filter': { visit: `${TEST}if(w){out.push(x);${KEEP}}`, end: 'return new List(out)' },
  'list.reduce': { args: 'acc,x', visit: 'acc=v;', end: 'return acc' },
  'list.find': { visit: `${TEST}if(w)return x;`, end: 'return null' },
  'list.find_index': { visit: `${TEST}if(w)return at;`, end: 'return -1' },
  'list.any': { visit: `${TEST}if(w)return true;`, end: 'return false' },
  'list.all': { visit: `${TEST}if(!w)return false;`, end: 'return true' },
  'list.none': { visit: `${TEST}if(w)return false;`, end: 'return true' },
  'list.sort_by': { visit: `out.push(v);${KEEP}` },
}

/** Works for every frame: its functions get to see the state as a step would show it. */
function anyRow({ loop }: FrameDef): Row {
  return {
    args: loop!.args === undefined ? 'x' : `...(s.at=at,L.args(s,x))`,
    visit:
      's.at=at;n=out.length;t=L.visit(s,x,v);if(t!==undefined)return t;acc=s.acc;if(out.length>n)m.chargeHeap(16*(out.length-n));',
    end: 's.at=size;t=L.end(s,m.context);return t===CONTROL?leave(at):t',
  }
}

/** The loop of a frame's kind. */
function make(def: FrameDef, helpers: object): ElementLoop {
  const { args, visit, end } = { ...anyRow(def), ...ROWS[def.kind] }
  const text =
    '"use strict";const {List,isTruthy,native,CONTROL}=H;return function(m,fn,d,s,at,v){' +
    'const {list,out}=s,items=list.items,size=list.length;' +
    'let acc=s.acc,x=at<0?null:items[at],n=0,t;' +
    // Nobody assigns to a list that a builtin was given, and what is appended to it lies behind its end.
    'for(;;){if(--m.fuel<0){m.fuel++;return native(m,K,s,at,acc,v)}' +
    `if(at>=0){${visit}}` +
    `at++;if(at>=size){${end.replace('leave(at)', 'native(m,K,s,at,acc,v)')}}` +
    'x=items[at];if(m.fuel>0)m.fuel--;else m.charge(1);' +
    `t=fn.code.jit(m,fn,d,${args});` +
    'if(t===undefined)return m.raised===null?native(m,K,s,at,acc,v):undefined;' +
    'v=t}}'
  return fromText('H', 'K', 'L', text)(helpers, def.kind, def.loop) as ElementLoop
}

/** Elements after which a function gets loops of its own. */
const HOT = 200

/** Loops for all functions that have none of their own, by kind of frame. */
const shared = new Map<string, ElementLoop>()

/** The loop of a native frame over `count` elements for a function that runs `code`. */
export function elementLoop(code: FunctionCode, def: FrameDef, count: number, helpers: object): ElementLoop {
  const { compiled } = code
  compiled.elements += count
  const isHot = compiled.elements >= HOT
  const loops = isHot ? compiled.loops : shared
  let loop = loops.get(def.kind)
  if (loop === undefined) {
    loop = make(def, helpers)
    loops.set(def.kind, loop)
  }
  return loop
}
