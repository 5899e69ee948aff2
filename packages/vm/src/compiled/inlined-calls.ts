// Code of inlined calls (inline.ts chooses them): tests that the callee is the expected one, its
// arguments, and where its result, its faults and its exits go.

import { LINKED } from '../interpreter/linked.js'
import { FLOAT, UNSET } from './entry-types.js'
import { locateArguments } from './operands.js'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Block } from './graph.js'
import type { Origin } from './types.js'
import type { Host, WholeWriter } from './unit.js'

export class InlinedCalls {
  /** Calls of methods that are inlined, numbered. */
  private readonly methods = new Map<Instr, number>()
  private readonly whole: WholeWriter

  constructor(whole: WholeWriter) {
    this.whole = whole
  }

  /** The code of an inlined call, null for every other call. */
  write(i: Instr, block: Block): string | null {
    const found = this.whole.guessed.inlined.get(i)
    if (found === undefined) return null
    const { call, origin } = found
    const { from, count } = locateArguments(i)
    const { states, result } = call.solve(this.whole.types, from)
    const prefix = `p${this.whole.shared.labels++}_`
    const label = this.whole.makeLabel()
    const isMethod = i.op === LINKED.CALL_METHOD
    const isAsked = this.whole.isQuiet && origin !== null
    const self = isMethod ? this.whole.variable('s', this.numberMethod(i), 'null') : this.whole.any(i.b)
    const isCallee = isMethod ? this.isMethod(i, call.code, self) : this.writeClosureTest(call.code, origin, self)
    const test = isAsked ? '' : `if(!${isCallee}){${this.whole.guard(i)}}`
    // From here on an exit must still do the call itself.
    if (this.whole.isQuiet) this.whole.oweCall()
    const host: Host = {
      shared: this.whole.shared,
      call,
      states,
      prefix,
      self,
      isQuiet: this.whole.isQuiet,
      fuel: this.whole.fuel,
      calling: (text, isApart) => this.whole.writeCalling(text, isApart),
      lookForOwners: () => this.whole.lookForOwners(),
      left: () => this.whole.wait(i),
      // A method call is a separate run.
      raised: () => (isMethod ? 'leaveRun(m);' : '') + this.whole.passOn(i, block),
      result: (value, raw) =>
        `${result === FLOAT ? `${this.whole.raw(i.a)}=${raw()}` : `${this.whole.any(i.a)}=${value()}`};break ${label};`,
    }
    const inner = this.whole.makeInner(host)
    const entry = states.get(call.graph.entry)!
    const args: string[] = []
    for (let slot = 0; slot < count; slot++) {
      if (entry[slot] === FLOAT) args.push(`${inner.raw(slot)}=${this.whole.raw(from + slot)};`)
      else if (entry[slot] !== UNSET) args.push(`${inner.any(slot)}=${this.whole.value(from + slot)};`)
    }
    const take = this.whole.isQuiet
      ? ''
      : `if(d>=${isMethod ? 'm.limits.frames' : 'm.deepest'}||--m.fuel<0){${this.whole.restart(i)}}`
    return `${test}${take}${args.join('')}${label}:{${inner.writeBody()}}`
  }

  /** Whether the receiver is a struct whose method runs `code`; the method is in `self` then. */
  private isMethod(i: Instr, code: FunctionCode, self: string): string {
    const receiver = this.whole.value(i.b)
    const found =
      `${receiver}?.constructor===Struct&&(${self}=structMethod(m,${receiver},${this.whole.constant(i.k)}))!==null` +
      `&&${self}.code===${this.whole.constant(code)}`
    if (!this.whole.isQuiet) return `(${found})`
    const last = this.writeLastReceiver(i)
    return `(${receiver}===${last}||${found}&&(${last}=${receiver},true))`
  }

  /** The variable of the receiver with which a quiet loop made this call last: no method is defined in the loop. A class is never a value. */
  writeLastReceiver(i: Instr): string {
    return this.whole.variable('j', this.numberMethod(i), 'Struct')
  }

  /** Each call has its own variables: one slot is the receiver of many calls. */
  private numberMethod(i: Instr): number {
    const number = this.methods.get(i) ?? this.methods.size
    this.methods.set(i, number)
    return number
  }

  /** Whether `callee` runs `code`; tested once if the callee is constant. */
  writeClosureTest(code: FunctionCode, origin: Origin, callee: string): string {
    const test = (value: string): string => `(${value} instanceof Closure&&${value}.code===${this.whole.constant(code)})`
    if (origin === null) return test(callee)
    const steady = origin.kind === 'capture' ? this.whole.capture(origin.at) : this.whole.any(origin.at)
    const { tests } = this.whole.shared
    const text = test(steady)
    const name = tests.get(text) ?? `h${tests.size}`
    tests.set(text, name)
    return name
  }
}
