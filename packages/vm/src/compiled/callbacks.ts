// Builtins that call a function for every element (builtins/lists-callbacks.ts), as loops of compiled code: each function that they call
// often gets its own loops. A loop can continue at any element, for a method called by compiled code and for a native frame
// stepped by the base tier. When the function leaves, the native frame is in the state that the base tier would have; its state is the
// same object. Fuel and heap are charged as by the frame's steps: one unit per step and one per call.
//
// A small function whose fuel is constant is inlined into the loop, as in a quiet loop (quiet.ts). Then an inner loop
// visits as many elements as fuel and heap allow in any case (`lim`), and derives both from the index: after visiting
// an element, fuel is `W-2*at`, in the function one unit more. The outer loop does the rest, by calls.

import { findInlinable } from './inline.js'
import { isQuietCallee } from './quiet.js'
import { ANY, UNSET } from './entry-types.js'
import { makeShared } from './unit.js'
import { UnitWriter } from './writer.js'
import type { FrameDef } from '../builtins/builtin.js'
import type { HarnClosure } from '../values/callable.js'
import type { Machine } from '../interpreter/machine.js'
import type { Shared, UnitText } from './unit.js'

/** What a row needs to know of the machine, which depends on whether fuel and heap are counted there. */
interface Form {
  /** Adds the callback's result to the result. */
  readonly keep: string
  /** The result has grown by an element. */
  readonly grown: string
  /** Code before what looks at the machine, and after it. */
  readonly put: string
  readonly get: string
}

interface Row {
  readonly args: readonly string[]
  /** What to do with the callback's result `y` for the element `x` at `at`. */
  readonly visit: (form: Form) => string
  /** Ends the loop. */
  readonly end: string
  /** Where the callback's result for the element before `at` still is, if that was visited in the same run; absent if nowhere. */
  readonly before?: string
  /** How much a visit adds to the result: exactly one element and nothing else that is charged, at most one, nothing, or any amount. */
  readonly adds: 'one' | 'some' | 'none' | 'any'
}

const LEAVE = 'native(m,k0,s,list,fn,out,at,acc,y)'

const MAKE_STATE = 's??={list,fn,at,out:out??[],acc};'

/** In a row: whether the callback's result is true. */
const HOLDS = '(y===true||(y!==false&&isTruthy(y)))'

const ENDS_WITH_LIST = 'return new List(out);'

function search(test: string, found: string, otherwise: string): Partial<Row> {
  return { visit: ({ put }) => `if(${test}){${put}return ${found};}`, end: `return ${otherwise};`, adds: 'none' }
}

/** Keys other than two ints may take long to compare, and are charged for. */
function makeBestRow(sign: '<' | '>'): Partial<Row> {
  return {
    visit: ({ grown, put, get }) =>
      `if(out.length===0){out.push(x);acc=y;${grown}}else if(typeof y==="number"&&typeof acc==="number"){if(y${sign}acc){out[0]=x;acc=y;}}` +
      `else{${put}if(order(y,acc)${sign}0){out[0]=x;acc=y;}${get}}`,
    end: 'return out.length===0?null:out[0];',
    adds: 'some',
  }
}

/** KEEP WITH: LOOPS of builtins/lists-callbacks.ts; repeats those for which compiled code pays. */
const QUICK_ROWS: Readonly<Record<string, Partial<Row>>> = {
  'list.map': { visit: ({ keep, grown }) => keep + grown, end: ENDS_WITH_LIST, adds: 'one', before: 'out[at-1]' },
  'list.filter': { visit: ({ grown }) => `if(${HOLDS}){out.push(x);${grown}}`, end: ENDS_WITH_LIST, adds: 'some' },
  'list.reduce': { args: ['acc', 'x'], visit: () => 'acc=y;', end: 'return acc;', adds: 'none', before: 'acc' },
  'list.find': search(HOLDS, 'x', 'null'),
  'list.find_index': search(HOLDS, 'at', '-1'),
  'list.any': search(HOLDS, 'true', 'false'),
  'list.all': search(`!${HOLDS}`, 'false', 'true'),
  'list.none': search(HOLDS, 'false', 'true'),
  'list.min_by': makeBestRow('<'),
  'list.max_by': makeBestRow('>'),
  'list.sort_by': { visit: ({ keep, grown }) => keep + grown, adds: 'one', before: 'out[at-1]' },
}

/** Works for every frame: its functions see the state as a step would. */
function makeAnyRow({ loop }: FrameDef): Row {
  const args = loop!.count === 2 ? ['w[0]', 'w[1]'] : ['w[0]']
  return {
    args: loop!.args === undefined ? ['x'] : args,
    visit: ({ put, get }) =>
      `s.at=at;n=out.length;${put}w=k1.visit(s,x,y);if(w!==undefined)return w;` +
      `acc=s.acc;if(out.length>n)m.chargeHeap(16*(out.length-n));${get}`,
    end: `${MAKE_STATE}s.at=size;s.out=out;w=k1.end(s,m.context);return w===CONTROL?${LEAVE}:w;`,
    adds: 'any',
  }
}

/** The JavaScript of the loop of a native frame, for any function or for one. */
export function writeElementText(m: Machine, fn: HarnClosure | null, def: FrameDef): UnitText {
  const shared = makeShared()
  shared.constants.push(def.kind, def.loop)
  const row = { ...makeAnyRow(def), ...QUICK_ROWS[def.kind] }
  const args = row.args[0] === 'x' || row.args[0] === 'acc' ? '' : 's.at=at;w=k1.args(s,x);'
  const inner = fn === null ? '' : writeInnerLoop(m, fn, row, args, shared)
  const turn =
    `if(--m.fuel<0){m.fuel++;return ${LEAVE}}` +
    `if(at>=0){${row.visit({ keep: 'out.push(y);', grown: 'm.chargeHeap(16);', put: '', get: '' })}}${inner}at++;if(at>=size){${row.end}}` +
    `x=items[at];if(m.fuel>0)m.fuel--;else m.charge(1);${args}w=fn.code.jit(m,fn,d,${row.args.join(',')});` +
    `if(w===undefined)return m.raised===null?${LEAVE}:undefined;y=w;`
  const begin =
    // A list that a builtin was given is never assigned to, and appended elements are past its end.
    (row.adds === 'any' ? MAKE_STATE.replace('out??[]', '[]') : '') +
    `const items=list.items,size=list.length;let out=${row.adds === 'none' ? 'null' : 's===null?[]:s.out'},x=at<0?null:items[at],n=0,w;` +
    (inner === '' ? '' : 'let o=0,W=0,lim=0,last=0,answer=null;') +
    [...shared.tests].map(([value, name]) => `const ${name}=${value};`).join('')
  const constants = shared.constants.map((_, at) => `const k${at}=K[${at}];`).join('')
  const text = `${constants}return function(m,fn,d,list,s,at,y,acc){${begin}for(;;){${turn}}}`
  return { text, sites: shared.sites, constants: shared.constants, expects: [] }
}

/** The loop with the function inlined; empty if that is not possible. */
function writeInnerLoop(machine: Machine, closure: HarnClosure, row: Row, args: string, shared: Shared): string {
  const { code } = closure
  const call = code.compiled.guesses ? findInlinable(code) : null
  if (call === null) return ''
  const { states } = call.solve(new Uint8Array(code.frameSize).fill(ANY), 0)
  if (!isQuietCallee(call, states)) return ''
  const room = '(m.heapTrip-m.heapCharged)/16'
  const grows = row.adds === 'one' || row.adds === 'some'
  const count = (made: string): string => (row.adds === 'one' ? made : 'out.length')
  /** Charges for the growth of the result; `made` is the number of visited elements. */
  const flush = (made: string): string => (grows ? `m.heapCharged+=16*(${count(made)}-o);o=${count(made)};` : '')
  // A result with one element each starts as a copy of the list: growing by one each time takes V8 three times as long.
  const cut = (made: string): string => (row.adds === 'one' ? `if(out.length>${made})out.length=${made};` : '')
  const start = row.adds === 'one' ? 'if(at<0)out=items.slice(0,lim+1);' : ''
  const keep = 'if(at<out.length)out[at]=y;else out.push(y);'
  // Elements from `at` on that `fuel` units allow; `less` were already visited.
  const writeLimit = (fuel: string, less: string): string =>
    `Math.min(size-1,at+(${fuel}>>1)${grows ? `,at+Math.floor(${room})${less}` : ''})|0`
  const put = `m.fuel=W-2*at;${flush('at+1')}`
  const get = `W=m.fuel+2*at;lim=${writeLimit('m.fuel', '')};`
  let mayEnd = false
  let mayLeave = false
  const before = row.before === undefined ? 'b' : `at>first?${row.before}:given`
  const writer = new UnitWriter(
    { graph: call.graph, kind: 'callee', entry: call.graph.entry, sample: () => undefined, machine, closure },
    {
      shared,
      call,
      states,
      prefix: 'p_',
      self: 'fn',
      isQuiet: true,
      fuel: '(W-2*at+1)',
      capture: (at) => {
        const text = `fn.captures[${at}]`
        const name = shared.tests.get(text) ?? `h${shared.tests.size}`
        shared.tests.set(text, name)
        return name
      },
      calling: (text) => {
        mayEnd = true
        const isSpent = `m.fuel<1${grows ? `||${room}<1` : ''}`
        return (
          `(m.fuel=W-2*at+1,${flush('at').replaceAll(';', ',')}t=${text},W=m.fuel-1+2*at,` +
          `lim=${isSpent}?-2:${writeLimit('(m.fuel-1)', '-1')},t)`
        )
      },
      lookForOwners: () => '',
      left: () => {
        mayLeave = true
        return `${flush('at')}${cut('at')}y=${before};return ${LEAVE};`
      },
      raised: () => `${flush('at')}return;`,
      result: (value) => `y=${value()};break C;`,
    },
  )
  const body = writer.writeBody()
  const entry = states.get(call.graph.entry)!
  const give = row.args.map((each, slot) => (entry[slot] === UNSET ? '' : `${writer.any(slot)}=${each};`)).join('')
  // Fuel or heap ran out: the callback's result still has to be visited.
  const end = mayEnd ? `if(lim===-2){m.fuel=W-2*at+1;${flush('at')}${cut('at')}return ${LEAVE}}` : ''
  const slots = [...shared.slots].map(([name, start]) => `,${name}=${start}`).join('')
  const keepsAnswer = mayLeave && row.before === undefined
  // Variables of one iteration only, written back after the loop: V8 keeps variables that live across iterations as tagged
  // values, which takes as long as the rest of a short function.
  return (
    `${grows ? 'o=out.length;' : ''}${get}if(at<lim){${start}const given=y,first=at+1|0;{let at=first-1|0${keepsAnswer ? ',b=given' : ''};for(;;){` +
    `at=at+1|0;const x=items[at];let y,t,v,q=0,g=0,h=0${slots};${args}${give}C:{${body}}${end}` +
    `${row.visit({ keep, grown: '', put, get })}if(at>=lim){last=at;answer=y;break}${keepsAnswer ? 'b=y;' : ''}}}` +
    `at=last;y=answer;${put}${cut('at+1')}}`
  )
}
