// Forms of an object with named fields, each in generated code as the compiled tier makes it: fields are read three times and
// written twice per iteration, after the tests that the form needs. Returns nanoseconds per iteration, and for making an object of three fields.

import { warmTime } from '../timing.js'

const TURNS = 300_000

class Shape {
  readonly keys: readonly string[]
  constructor(keys: readonly string[]) {
    this.keys = keys
  }
}

class WithMap {
  readonly map: Map<string, unknown>
  owned = true
  constructor(map: Map<string, unknown>) {
    this.map = map
  }
}

class WithSlots {
  shape: Shape
  slots: unknown[]
  owned = true
  constructor(shape: Shape, slots: unknown[]) {
    this.shape = shape
    this.slots = slots
  }
}

class WithFields {
  shape: Shape
  s0: unknown
  s1: unknown
  s2: unknown
  s3: unknown
  owned = true
  constructor(shape: Shape, s0: unknown, s1: unknown, s2: unknown, s3: unknown) {
    this.shape = shape
    this.s0 = s0
    this.s1 = s1
    this.s2 = s2
    this.s3 = s3
  }
}

const XY = new Shape(['x', 'y'])
const XYZ = new Shape(['x', 'y', 'z'])
const HELPERS = { WithMap, WithSlots, WithFields, XY, XYZ }

interface Form {
  /** Makes `o` with the fields x and y. */
  readonly make: string
  /** Statements that leave a field in `v`, with `leave` if the object has another form. */
  readonly read: (field: number) => string
  readonly write: (field: number, value: string) => string
  /** An object of three fields, one of them the loop's `k`. */
  readonly literal: string
}

const NAMES = ['x', 'y']
const LEAVE = 'else return NaN;'

const FORMS: Readonly<Record<string, Form>> = {
  'hash map': {
    make: 'new WithMap(new Map([["x",0],["y",1]]))',
    read: (at) => `if(o instanceof WithMap){v=o.map.get("${NAMES[at]}");if(v===undefined)v=null}${LEAVE}`,
    write: (at, value) => `if(o instanceof WithMap&&o.owned)o.map.set("${NAMES[at]}",${value});${LEAVE}`,
    literal: 't=new Map();t.set("x",k);t.set("y",k);t.set("z",k);o=new WithMap(t)',
  },
  'slots, shape remembered beside the instruction': {
    make: 'new WithSlots(XY,[null,1])',
    read: (at) => `if(o?.shape===c${at}.shape)v=o.slots[c${at}.slot];${LEAVE}`,
    write: (at, value) => `if(o?.shape===c${at}.shape&&o.owned)o.slots[c${at}.slot]=${value};${LEAVE}`,
    literal: 't=[null,k,k];t[0]=k;o=new WithSlots(XYZ,t)',
  },
  'slots, shape in the text': {
    make: 'new WithSlots(XY,[null,1])',
    read: (at) => `if(o?.shape===XY)v=o.slots[${at}];${LEAVE}`,
    write: (at, value) => `if(o?.shape===XY&&o.owned)o.slots[${at}]=${value};${LEAVE}`,
    literal: 't=[null,k,k];t[0]=k;o=new WithSlots(XYZ,t)',
  },
  'fields of the object, shape in the text': {
    make: 'new WithFields(XY,null,1,null,null)',
    read: (at) => `if(o?.shape===XY)v=o.s${at};${LEAVE}`,
    write: (at, value) => `if(o?.shape===XY&&o.owned)o.s${at}=${value};${LEAVE}`,
    literal: 'o=new WithFields(XYZ,k,k,k,null)',
  },
  'plain JavaScript object': {
    make: '{x:0,y:1}',
    read: (at) => `v=o.${NAMES[at]};`,
    write: (at, value) => `o.${NAMES[at]}=${value};`,
    literal: 'o={x:k,y:k,z:k}',
  },
}

function nanosecondsATurn(body: string): number {
  const names = Object.keys(HELPERS).join(',')
  // Only for a function made from source does V8 collect separate feedback each time.
  // oxlint-disable-next-line typescript/no-implied-eval
  const loop = new Function('H', 'turns', `"use strict";const {${names}}=H;${body}`) as (
    helpers: unknown,
    turns: number,
  ) => unknown
  const work = (): void => void loop(HELPERS, TURNS)
  work()
  work()
  return (warmTime(work) * 1e6) / TURNS
}

export function measureFields(): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const [name, { make, read, write, literal }] of Object.entries(FORMS)) {
    const first = make.includes('null,1') ? 'if(o.slots)o.slots[0]=0;else o.s0=0;' : ''
    figures[`${name}: reads and writes, ns`] = nanosecondsATurn(
      `let c0={shape:XY,slot:0},c1={shape:XY,slot:1},v,a,o=${make};${first}for(let k=0;k<turns;k++){` +
        `${read(0)}a=v;${read(1)}a=(a+v*3)%1000003;${write(0, 'a')}${read(1)}a=(v+k)%1009;${write(1, 'a')}}return o`,
    )
    figures[`${name}: made, ns`] = nanosecondsATurn(`let t,o,kept;for(let k=0;k<turns;k++){${literal};kept=o}return kept`)
  }
  return figures
}
