// Stack code → linked instructions with slot operands. The depth of the operand stack is static, so position d of the stack is
// slot `slots + d` of the frame (its canonical slot). Within a basic block the decoder runs a virtual stack whose entries may
// still be a local or a constant: a load emits nothing, the operation that consumes it reads the local directly, and a store
// right after the operation that made the value sets that operation's result slot.
//
// Invariants: at block boundaries every entry is canonical; arguments of a call are canonical; an entry that is a local is
// made canonical before that local is written. Decoding is deterministic, so a code position means the same everywhere.

import { toQuickName } from '../values/names.js'
import { OPCODE_BY_CODE, RAISE_KINDS } from '@bridle/compiler/bytecode'
import type { Constant, FunctionChunk, ModuleChunk, OpcodeName } from '@bridle/compiler/bytecode'
import { HarnDuration, HarnFloat } from '../values/scalars.js'
import { HELD, Instr, LENT, LINKED, makeMethodSite, OPERATION_BY_CODE } from './linked.js'
import type { LinkedOp, OPERATIONS, OperationName } from './linked.js'
import { findQuickCheck } from './param-check.js'
import type { ParameterCheck } from './param-check.js'
import { makeLiteralShape } from '../values/shape.js'
import type { Shape } from '../values/shape.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Code, Value } from '../values/types.js'

/** A virtual stack entry: a slot number, a constant, or the running closure. */
type Entry = number | { readonly constant: Value } | typeof SELF
const SELF = 'self'

/** A function before its first call: FunctionCode of module.ts, which stores the decoded code. */
export interface Undecoded {
  readonly chunk: FunctionChunk
  readonly plain: boolean
  readonly module: {
    readonly isLibrary: boolean
    readonly chunk: ModuleChunk
    readonly builtins: readonly BuiltinDef[]
    readonly functions: readonly Code[]
  }
}

export interface Decoded {
  readonly entry: Instr
  /** The instruction that carries out the code at a position, for resuming there. */
  readonly at: Positions
  /** First instruction of each basic block, for jumping there. */
  readonly blocks: Positions
}

/** Instructions by code position. They are added in code order, so that looking one up is a binary search without hashing. */
export class Positions {
  readonly instrs: Instr[] = []
  private readonly places: number[] = []

  /** `pc` is at least the last one added; a second instruction at the same position replaces the first. */
  note(pc: number, instr: Instr): void {
    const { places, instrs } = this
    const last = places.length - 1
    if (last >= 0 && places[last] === pc) {
      instrs[last] = instr
      return
    }
    places.push(pc)
    instrs.push(instr)
  }

  get(pc: number): Instr | undefined {
    const { places } = this
    let low = 0
    let high = places.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (places[middle]! < pc) low = middle + 1
      else high = middle
    }
    return places[low] === pc ? this.instrs[low] : undefined
  }
}

/** An opcode that is an operation of the same name, whose operands are the values it pops. */
type SimpleName = {
  [Name in OperationName]: (typeof OPERATIONS)[Name] extends { readonly stack: string } ? Name : never
}[OperationName]

const SIMPLE: ReadonlySet<string> = new Set(OPERATION_BY_CODE.filter(({ stack }) => stack !== null).map(({ name }) => name))

function isSimple(name: OpcodeName): name is SimpleName & OpcodeName {
  return SIMPLE.has(name)
}

export function decode(fn: Undecoded): Decoded {
  return new Decoder(fn).run()
}

type StructType = Extract<Constant, { readonly tag: 'struct' }>

class Decoder {
  private readonly fn: Undecoded
  private readonly code: readonly number[]
  private readonly slots: number
  private stack: Entry[] = []
  private last: Instr | null = null
  /** The instruction whose result is the canonical slot on top and which may still be given another result slot. */
  private producer: Instr | null = null
  /** The receiver of `push` where that is the producer: with it as the result's variable, `x = x.push(v)`. */
  private pushed: Entry | null = null
  /** Entries below this are known to be canonical. */
  private settled = 0
  private waiting: number[] = []
  private readonly blockEntry = new Positions()
  private readonly at = new Positions()
  private readonly loops: Instr[] = []
  private readonly jumping: Instr[] = []
  private readonly targets: number[] = []
  /** By code position: 0, or one more than the depth of the stack there. */
  private readonly depthAt: Int32Array
  /** By code position: 1 where a basic block begins. */
  private readonly boundaries: Uint8Array
  private pc = 0
  /** `Instr.moves` of the next call. */
  private moves = 0
  private lends = 0

  constructor(fn: Undecoded) {
    this.fn = fn
    this.code = fn.chunk.code
    this.slots = fn.chunk.slots
    this.depthAt = new Int32Array(this.code.length + 1)
    this.boundaries = new Uint8Array(this.code.length + 1)
  }

  run(): Decoded {
    this.findBoundaries()
    let reachable = true
    const { code, boundaries } = this
    const operands: number[] = []
    for (let pc = 0; pc < code.length;) {
      const { name, row } = OPCODE_BY_CODE[code[pc]!]! // verified chunk
      if (boundaries[pc] === 1) {
        if (reachable) this.flush()
        const depth = this.depthAt[pc]! - 1
        if (depth >= 0 && !reachable) {
          this.stack = Array.from({ length: depth }, (_, at) => this.slots + at)
          this.settled = depth
          this.last = null
          reachable = true
        }
        this.producer = null
        this.waiting.push(pc)
      }
      this.pc = pc
      const count = row.operands.length
      if (reachable) {
        for (let which = 0; which < count; which++) operands[which] = code[pc + 1 + which]!
        this.decodeOne(name, operands)
        if (row.flow === 'jump' || row.flow === 'end') {
          reachable = false
          this.last = null
        }
      }
      pc += 1 + count
    }
    for (let at = 0; at < this.jumping.length; at++) this.jumping[at]!.target = this.blockEntry.get(this.targets[at]!)!
    for (const next of this.loops) shortenLoop(next)
    return { entry: this.blockEntry.get(0)!, at: this.at, blocks: this.blockEntry }
  }

  private findBoundaries(): void {
    const { code, boundaries, depthAt } = this
    boundaries[0] = 1
    depthAt[0] = 1
    for (let pc = 0; pc < code.length;) {
      const { operands } = OPCODE_BY_CODE[code[pc]!]!.row
      for (let which = 0; which < operands.length; which++) if (operands[which] === 'label') boundaries[code[pc + 1 + which]!] = 1
      pc += 1 + operands.length
    }
    for (const { start, end, target, depth } of this.fn.chunk.handlers) {
      boundaries[start] = boundaries[end] = boundaries[target] = 1
      depthAt[target] = depth + 2
    }
  }

  // ---- virtual stack

  private toCanonical(position: number): number {
    return this.slots + position
  }

  private emit(op: LinkedOp, a: number, b = 0, c = 0, d = 0, k: unknown = null): Instr {
    const instr = new Instr(op, this.pc, a, b, c, d, k)
    if (this.last !== null) this.last.next = instr
    if (this.waiting.length > 0) {
      for (const pc of this.waiting) this.blockEntry.note(pc, instr)
      this.waiting.length = 0
    }
    this.last = instr
    this.producer = null
    this.pushed = null
    this.at.note(this.pc, instr)
    return instr
  }

  private makeCanonical(position: number): void {
    const entry = this.stack[position]!
    const slot = this.toCanonical(position)
    if (entry === slot) return
    if (typeof entry === 'number') this.emit(LINKED.MOVE, slot, entry)
    else if (entry === SELF) this.emit(LINKED.SELF, slot)
    else this.emit(LINKED.LOADK, slot, 0, 0, 0, entry.constant)
    this.stack[position] = slot
  }

  private flush(): void {
    for (let position = this.settled; position < this.stack.length; position++) this.makeCanonical(position)
    this.settled = this.stack.length
  }

  /** Pushes an entry that is not, or may not be, canonical. */
  private pushEntry(entry: Entry): void {
    if (this.settled > this.stack.length) this.settled = this.stack.length
    this.stack.push(entry)
    this.producer = null
  }

  private makeCanonicalTop(count: number): number {
    const from = this.stack.length - count
    for (let position = from; position < this.stack.length; position++) this.makeCanonical(position)
    return this.toCanonical(from)
  }

  /** Pops an operand as a slot; a constant is loaded into its canonical slot first. */
  private popSlot(): number {
    const position = this.stack.length - 1
    if (typeof this.stack[position] !== 'number') this.makeCanonical(position)
    return this.stack.pop() as number
  }

  /** Emits an operation whose result is pushed. */
  private push(op: LinkedOp, b = 0, c = 0, d = 0, k: unknown = null): Instr {
    const slot = this.toCanonical(this.stack.length)
    const instr = this.emit(op, slot, b, c, d, k)
    this.stack.push(slot)
    this.producer = instr
    return instr
  }

  /** Before local `slot` is written, entries that still reference it get their own slots. */
  private protect(slot: number): void {
    for (let position = this.settled; position < this.stack.length; position++)
      if (this.stack[position] === slot) this.makeCanonical(position)
  }

  /** Whether an entry is this slot and not its canonical one. */
  private holds(slot: number): boolean {
    return this.stack.includes(slot, this.settled)
  }

  private store(slot: number): void {
    const producer = this.producer
    const entry = this.stack.pop()!
    const position = this.stack.length
    const isOwn = producer !== null && entry === this.toCanonical(position) && producer.a === entry
    if (isOwn && !this.holds(entry) && !this.holds(slot)) {
      producer.a = slot
      if (producer.op === LINKED.CALL_METHOD && this.pushed === slot) producer.d = 1
      this.producer = null
      return
    }
    this.protect(slot)
    if (typeof entry === 'number') {
      if (entry !== slot) this.emit(LINKED.MOVE, slot, entry)
    } else if (entry === SELF) this.emit(LINKED.SELF, slot)
    else this.emit(LINKED.LOADK, slot, 0, 0, 0, entry.constant)
  }

  private jump(instr: Instr, target: number): void {
    this.jumping.push(instr)
    this.targets.push(target)
    if (this.depthAt[target] === 0) this.depthAt[target] = this.stack.length + 1
  }

  // ---- instructions

  private getConstant(index: number): Constant {
    return this.fn.module.chunk.constants[index]!
  }

  private getName(index: number): string {
    return toQuickName(this.fn.module.chunk.names[index]!)
  }

  private decodeOne(name: OpcodeName, o: readonly number[]): void {
    if (isSimple(name)) {
      const op = LINKED[name]
      if (OPERATION_BY_CODE[op]!.stack === 'binary') this.emitBinary(op)
      else this.push(op, this.popSlot())
      return
    }
    switch (name) {
      case 'CONST': {
        const constant = this.getConstant(o[0]!)
        if (constant !== null && typeof constant === 'object') {
          if (constant.tag === 'data') return void this.push(LINKED.LOAD_DATA, 0, 0, 0, constant.json)
          if (constant.tag === 'struct') throw new Error('struct constant outside BUILD_STRUCT')
          return this.pushConstant(constant.tag === 'float' ? new HarnFloat(constant.value) : new HarnDuration(constant.ms))
        }
        return this.pushConstant(typeof constant === 'string' ? toQuickName(constant) : constant)
      }
      case 'INT':
        return this.pushConstant(o[0]!)
      case 'NIL':
        return this.pushConstant(null)
      case 'TRUE':
        return this.pushConstant(true)
      case 'FALSE':
        return this.pushConstant(false)
      case 'POP':
        this.stack.pop()
        this.producer = null
        return
      case 'DUP':
        return this.pushEntry(this.stack.at(-1)!)
      case 'LOAD':
        return this.pushEntry(o[0]!)
      case 'LOAD_SHARED':
        this.push(LINKED.SHARE, o[0]!)
        this.producer = null
        return
      case 'STORE':
        return this.store(o[0]!)
      case 'LOAD_CAPTURE':
        this.push(LINKED.LOAD_CAPTURE, o[0]!)
        return
      case 'NEW_CELL':
        this.protect(o[0]!)
        this.emit(LINKED.NEW_CELL, o[0]!)
        return
      case 'SET_CELL': {
        const value = this.popSlot()
        this.pushEntry(value)
        this.emit(LINKED.SET_CELL, 0, value, o[0]!)
        return
      }
      case 'CELL_VARIABLE': {
        const cell = this.popSlot()
        this.push(LINKED.CELL_VARIABLE, cell, 0, 0, { name: this.getName(o[0]!), suggestion: this.getConstant(o[1]!) })
        return
      }
      case 'LOAD_MODULE':
        this.push(LINKED.LOAD_MODULE, o[0]!)
        return
      case 'LOAD_MODULE_SHARED':
        this.push(LINKED.LOAD_MODULE_SHARED, o[0]!)
        return
      case 'STORE_MODULE': {
        const value = this.popSlot()
        this.emit(LINKED.STORE_MODULE, 0, value, o[0]!)
        return
      }
      case 'LOAD_EXPORT':
        this.push(LINKED.LOAD_EXPORT, 0, o[1]!, 0, this.fn.module.chunk.units[o[0]!]!)
        return
      case 'LOAD_GLOBAL':
        this.push(LINKED.LOAD_GLOBAL, 0, 0, 0, { name: this.getName(o[0]!), suggestion: this.getConstant(o[1]!) })
        return
      case 'SELF':
        return this.pushEntry(SELF)
      case 'RUN_MODULE':
        this.flush()
        this.call(LINKED.RUN_MODULE, this.toCanonical(this.stack.length), 0, 0, this.fn.module.chunk.units[o[0]!]!)
        return

      case 'JUMP':
        this.flush()
        this.jump(this.emit(LINKED.JUMP, 0), o[0]!)
        return
      case 'LOOP':
        this.flush()
        this.jump(this.emit(LINKED.LOOP, 0), o[0]!)
        return
      case 'JUMP_IF_FALSE':
        return this.emitConditional(LINKED.JF, o[0]!)
      case 'JUMP_IF_TRUE':
        return this.emitConditional(LINKED.JT, o[0]!)
      case 'JUMP_IF_NOT_NIL':
        this.flush()
        this.jump(this.emit(LINKED.JNN, 0, this.toCanonical(this.stack.length - 1)), o[0]!)
        return
      case 'JUMP_IF_END':
        this.flush()
        this.jump(this.emit(LINKED.JEND, 0, this.toCanonical(this.stack.length - 1)), o[0]!)
        return
      case 'JUMP_IF_PASSED':
        this.flush()
        this.jump(this.emit(LINKED.JPASSED, 0, o[0]!), o[1]!)
        return
      case 'PROPAGATE': {
        this.flush()
        const slot = this.toCanonical(this.stack.length - 1)
        this.jump(this.emit(LINKED.PROPAGATE, slot, slot), o[0]!)
        return
      }
      case 'CHECK_PARAM':
        this.protect(o[0]!)
        this.checkParam(o[0]!, JSON.parse((this.getConstant(o[1]!) as { json: string }).json) as ParameterCheck)
        return

      case 'BUILD_LIST':
        return this.gather(LINKED.BUILD_LIST, o[0]!, null)
      case 'BUILD_DICT':
        return this.buildDict(2 * o[0]!)
      case 'BUILD_ENUM':
        return this.gather(LINKED.BUILD_ENUM, o[2]!, { enumName: this.getName(o[0]!), variant: this.getName(o[1]!) })
      case 'TEXT':
        return this.gather(LINKED.TEXT, o[0]!, null)
      case 'CLOSURE':
        return this.gather(LINKED.CLOSURE, o[1]!, this.fn.module.functions[o[0]!])
      case 'BUILD_ENUM_LIST': {
        const list = this.popSlot()
        this.push(LINKED.BUILD_ENUM_LIST, list, 0, 0, { enumName: this.getName(o[0]!), variant: this.getName(o[1]!) })
        return
      }
      case 'DEFINE_IMPL': {
        const from = this.makeCanonicalTop(o[2]!)
        this.stack.length -= o[2]!
        this.emit(LINKED.DEFINE_IMPL, 0, from, o[2]!, 0, {
          struct: this.getName(o[0]!),
          methods: JSON.parse((this.getConstant(o[1]!) as { json: string }).json),
        })
        return
      }
      case 'DICT_PUT': {
        const value = this.popSlot()
        const name = this.stack.at(-1)!
        const isNamed = typeof name !== 'number' && name !== SELF && typeof name.constant === 'string'
        const key = this.popSlot()
        const dict = this.popSlot()
        this.push(LINKED.DICT_PUT, dict, key, value, isNamed)
        return
      }
      case 'BUILD_STRUCT': {
        const type = this.getConstant(o[0]!) as StructType
        if (this.becomesStruct(type)) return
        const dict = this.popSlot()
        this.push(LINKED.BUILD_STRUCT, dict, 0, 0, type)
        return
      }
      case 'BUILD_RANGE': {
        const to = this.popSlot()
        const from = this.popSlot()
        this.push(LINKED.BUILD_RANGE, from, to, o[0]!)
        return
      }
      case 'GET_PROP':
        return this.withName(LINKED.GET_PROP, o[0]!)
      case 'GET_PROP_OUT':
        this.withName(LINKED.GET_PROP, o[0]!)
        this.last!.c = 1
        return
      case 'TAKE_PROP':
        this.withName(LINKED.GET_PROP, o[0]!)
        this.last!.c = 2
        return
      case 'HOLD':
        return this.withName(LINKED.HOLD, o[0]!)
      case 'GET_INDEX_OUT':
        this.emitBinary(LINKED.GET_INDEX)
        this.last!.d = 1
        return
      case 'TAKE':
        return
      case 'MOVES':
        this.moves = o[0]!
        this.lends = o[1]!
        return
      case 'RETURN_MOVED': {
        const value = this.popSlot()
        this.emit(LINKED.RETURN, 0, value, 1)
        return
      }
      case 'OWN':
        this.protect(o[0]!)
        this.emit(LINKED.OWN, o[0]!, o[0]!)
        return
      case 'OWN_PROP':
        this.protect(o[0]!)
        this.emit(LINKED.OWN_PROP, o[0]!, o[0]!, o[1]!, 0, this.getName(o[2]!))
        return
      case 'OWN_INDEX':
        this.protect(o[0]!)
        this.emit(LINKED.OWN_INDEX, o[0]!, o[0]!, o[1]!, o[2]!)
        return
      case 'PUT_PROP': {
        const value = this.popSlot()
        this.protect(o[0]!)
        this.emit(LINKED.SET_PROP, o[0]!, o[0]!, value, HELD, this.getName(o[1]!))
        return
      }
      case 'PUT_INDEX': {
        const index = this.popSlot()
        const value = this.popSlot()
        this.protect(o[0]!)
        this.emit(LINKED.SET_INDEX, o[0]!, o[0]!, value, index, HELD)
        return
      }
      case 'GET_PROP_OPT':
        return this.withName(LINKED.GET_PROP_OPT, o[0]!)
      case 'FIELD':
        return this.withName(LINKED.FIELD, o[0]!)
      case 'CATCH_IS': {
        this.makeCanonical(this.stack.length - 1)
        this.push(LINKED.CATCH_IS, this.stack.at(-1) as number, 0, 0, this.getName(o[0]!))
        return
      }
      case 'SLICE': {
        const to = o[1] === 1 ? this.popSlot() : -1
        const from = o[0] === 1 ? this.popSlot() : -1
        const object = this.popSlot()
        this.push(LINKED.SLICE, object, from, to)
        return
      }
      case 'SET_PROP': {
        const value = this.popSlot()
        const object = this.popSlot()
        this.push(LINKED.SET_PROP, object, value, o[1]!, this.getName(o[0]!))
        return
      }
      case 'SET_INDEX': {
        const index = this.popSlot()
        const value = this.popSlot()
        const object = this.popSlot()
        this.push(LINKED.SET_INDEX, object, value, index, o[0] === 1)
        return
      }
      case 'ITEM':
        return this.withNumber(LINKED.ITEM, o[0]!)
      case 'LIST_REST':
        return this.withNumber(LINKED.LIST_REST, o[0]!)
      case 'ENUM_FIELD':
        return this.withNumber(LINKED.ENUM_FIELD, o[0]!)
      case 'IS_LIST':
        return this.withNumber(LINKED.IS_LIST, o[0]!)
      case 'DICT_REST': {
        const source = this.popSlot()
        this.push(LINKED.DICT_REST, source, 0, 0, JSON.parse((this.getConstant(o[0]!) as { json: string }).json))
        return
      }
      case 'IS_ENUM': {
        const source = this.popSlot()
        this.push(LINKED.IS_ENUM, source, 0, 0, { enumName: this.getName(o[0]!), variant: this.getName(o[1]!) })
        return
      }

      case 'CALL':
        return this.emitNamed(this.fn.module.isLibrary ? LINKED.CALL_OUT : LINKED.CALL, o[0]!, null)
      case 'CALL_NAMED': {
        const site = { name: this.getName(o[0]!), suggestion: this.getConstant(o[2]!) }
        return this.emitNamed(this.isOutwards(site.name) ? LINKED.CALL_OUT : LINKED.CALL_NAMED, o[1]!, site)
      }
      case 'CALL_BUILTIN':
        return this.emitBuiltin(this.fn.module.builtins[o[0]!]!, o[1]!)
      case 'CALL_METHOD': {
        const receiver = this.stack[this.stack.length - 1 - o[1]!]!
        const from = this.makeCanonicalTop(o[1]! + 1)
        this.stack.length -= o[1]! + 1
        this.call(LINKED.CALL_METHOD, from, from, o[1]!, makeMethodSite(this.getName(o[0]!), o[2] === 1, this.pc))
        this.producer!.d = 0
        if (this.getName(o[0]!) === 'push' && o[1] === 1) this.pushed = receiver
        return
      }
      case 'CALL_METHOD_HELD': {
        const from = this.makeCanonicalTop(o[1]! + 1)
        this.stack.length -= o[1]! + 1
        this.call(LINKED.CALL_METHOD, from, from, o[1]!, makeMethodSite(this.getName(o[0]!), false, this.pc))
        this.producer!.d = LENT
        return
      }
      case 'CALL_SPREAD':
      case 'CALL_NAMED_SPREAD': {
        const from = this.makeCanonicalTop(2)
        this.stack.length -= 2
        if (name === 'CALL_SPREAD') this.call(LINKED.CALL_SPREAD, from, from, 0, null)
        else
          this.call(LINKED.CALL_NAMED_SPREAD, from, from, 0, { name: this.getName(o[0]!), suggestion: this.getConstant(o[1]!) })
        return
      }
      case 'CALL_BUILTIN_SPREAD': {
        const list = this.makeCanonicalTop(1)
        this.stack.length -= 1
        this.call(LINKED.BUILTIN_SPREAD, list, list, 0, this.fn.module.builtins[o[0]!])
        return
      }
      case 'CALL_METHOD_SPREAD': {
        const from = this.makeCanonicalTop(2)
        this.stack.length -= 2
        this.call(LINKED.CALL_METHOD_SPREAD, from, from, 0, makeMethodSite(this.getName(o[0]!), o[1] === 1, this.pc))
        return
      }
      case 'TAIL_NAMED': {
        const site = { name: this.getName(o[0]!), suggestion: this.getConstant(o[2]!) }
        // A callback does not replace the frame of an internal module: it is a separate run.
        if (this.isOutwards(site.name)) {
          this.emitNamed(LINKED.CALL_OUT, o[1]!, site)
          // A run may stop before the call and after it: the return is placed where no instruction begins, at the first operand.
          this.pc++
          this.emit(LINKED.RETURN, 0, this.popSlot())
          this.pc--
          return
        }
        const from = this.makeCanonicalTop(o[1]! + 1)
        const call = this.emit(LINKED.TAIL_NAMED, from, from, o[1]!, from + 1, site)
        this.noteMoves(call)
        return this.emitReturnAfter(call)
      }
      case 'PIPE':
      case 'TAIL_PIPE': {
        const from = this.makeCanonicalTop(2)
        this.stack.length -= 2
        if (name === 'PIPE' || this.fn.module.isLibrary) this.call(LINKED.PIPE, from, from, 0, null)
        else return this.emitReturnAfter(this.emit(LINKED.TAIL_PIPE, from, from))
        if (name === 'TAIL_PIPE') this.emit(LINKED.RETURN, 0, this.popSlot())
        return
      }
      case 'RETURN': {
        const value = this.popSlot()
        this.emit(LINKED.RETURN, 0, value)
        return
      }
      case 'THROW': {
        const value = this.popSlot()
        this.emit(LINKED.THROW, 0, value)
        return
      }
      case 'RETHROW': {
        const fault = this.popSlot()
        this.emit(LINKED.RETHROW, 0, fault)
        return
      }
      case 'RAISE':
        this.emit(LINKED.RAISE, 0, 0, 0, 0, { kind: RAISE_KINDS[o[0]!], message: this.getConstant(o[1]!) })
        return
      case 'NEXT': {
        this.flush()
        this.loops.push(this.push(LINKED.NEXT, this.toCanonical(this.stack.length - 1)))
        this.producer = null
        return
      }
      case 'DEADLINE_ENTER': {
        const duration = this.popSlot()
        this.emit(LINKED.DEADLINE_ENTER, 0, duration)
        return
      }
      case 'DEADLINE_LEAVE':
        this.emit(LINKED.DEADLINE_LEAVE, 0)
        return
      default:
        name satisfies never
        throw new Error('decode: an opcode without a case')
    }
  }

  private checkParam(slot: number, parameter: ParameterCheck): void {
    this.emit(LINKED.CHECK_PARAM, 0, slot, findQuickCheck(parameter), 0, parameter)
  }

  private emitBinary(op: LinkedOp): void {
    const right = this.stack.at(-1)!
    const withInt = OPERATION_BY_CODE[op]!.int
    if (
      withInt >= 0 &&
      typeof right === 'object' &&
      typeof right.constant === 'number' &&
      (right.constant | 0) === right.constant
    ) {
      this.stack.pop()
      const left = this.popSlot()
      this.push(withInt as LinkedOp, left, right.constant)
      return
    }
    const c = this.popSlot()
    const b = this.popSlot()
    this.push(op, b, c)
  }

  private emitConditional(op: LinkedOp, target: number): void {
    const producer = this.producer
    const condition = this.popSlot()
    let clean = true
    for (let position = this.settled; position < this.stack.length; position++)
      if (this.stack[position] !== this.toCanonical(position)) clean = false
    const fused =
      producer === null || producer !== this.last || !clean || op !== LINKED.JF || producer.a !== condition
        ? -1
        : OPERATION_BY_CODE[producer.op]!.jump
    if (fused !== -1) {
      // The comparison becomes the jump: same sources, no result.
      producer!.op = fused
      this.at.note(this.pc, producer!)
      this.producer = null
      return this.jump(producer!, target)
    }
    // A local or constant condition stays readable after the flush, which writes canonical slots only.
    this.flush()
    this.jump(this.emit(op, 0, condition), target)
  }

  /** A dict literal whose keys are all constants has a shape, and its keys need no registers. */
  private buildDict(count: number): void {
    const from = this.stack.length - count
    const keys: string[] = []
    for (let position = from; position < this.stack.length; position += 2) {
      const entry = this.stack[position]!
      if (typeof entry === 'number' || entry === SELF || typeof entry.constant !== 'string') break
      keys.push(entry.constant)
    }
    const shape = 2 * keys.length === count ? makeLiteralShape(keys) : null
    if (shape === null) return this.gather(LINKED.BUILD_DICT, count, null)
    for (let position = from + 1; position < this.stack.length; position += 2) this.makeCanonical(position)
    this.stack.length = from
    this.push(LINKED.BUILD_RECORD, this.toCanonical(from), count, 0, null).cache = shape
  }

  /** Whether the dict on top is a literal with only fields of a struct; then it is made as the struct directly. */
  private becomesStruct(type: StructType): boolean {
    const { producer } = this
    if (producer === null || producer.op !== LINKED.BUILD_RECORD || this.stack.at(-1) !== producer.a) return false
    const { keys } = producer.cache as Shape
    if (type.fields !== null && !keys.every((key) => type.fields!.includes(key))) return false
    producer.op = LINKED.BUILD_STRUCT_RECORD
    producer.k = type
    return true
  }

  private gather(op: LinkedOp, count: number, k: unknown): void {
    const from = this.makeCanonicalTop(count)
    this.stack.length -= count
    this.push(op, from, count, 0, k)
  }

  private pushConstant(constant: Value): void {
    this.pushEntry({ constant })
  }

  private withName(op: LinkedOp, name: number): void {
    const source = this.popSlot()
    this.push(op, source, 0, 0, this.getName(name))
  }

  private withNumber(op: LinkedOp, number: number): void {
    const source = this.popSlot()
    this.push(op, source, number)
  }

  /** A call: the result may be delivered later, so that its slot must be final; a store after it may still change the slot. */
  private call(op: LinkedOp, from: number, b: number, c: number, k: unknown): void {
    const slot = this.toCanonical(this.stack.length)
    const instr = this.emit(op, slot, b, c, from, k)
    this.noteMoves(instr)
    this.stack.push(slot)
    this.producer = instr
  }

  private noteMoves(call: Instr): void {
    call.moves = this.moves
    call.lends = this.lends
    this.moves = this.lends = 0
  }

  /** After a tail call there is a return, which passes on the result of a callee that could not replace the frame. */
  private emitReturnAfter(call: Instr): void {
    this.emit(LINKED.RETURN, 0, call.a)
    this.at.note(this.pc, call)
  }

  private emitNamed(op: LinkedOp, count: number, k: unknown): void {
    const from = this.makeCanonicalTop(count)
    this.stack.length -= count
    // The callee may stay in its slot; only arguments move.
    const isSelf = this.stack.at(-1) === SELF && this.fn.plain
    const callee = isSelf ? 0 : this.popSlot()
    if (isSelf) this.stack.pop()
    const slot = this.toCanonical(this.stack.length)
    const instr = this.emit(isSelf ? LINKED.CALL_SELF : op, slot, callee, count, from, k)
    this.noteMoves(instr)
    this.stack.push(slot)
    this.producer = instr
  }

  /** Whether a name called by an internal module may be a function of a script: it is not a function of the module. */
  private isOutwards(name: string): boolean {
    const { isLibrary, chunk } = this.fn.module
    return isLibrary && !chunk.moduleSlots.includes(name)
  }

  private emitBuiltin(def: BuiltinDef, count: number): void {
    if (!def.rest && count === def.arity && (count === 1 || count === 2)) {
      const c = count === 2 ? this.popSlot() : 0
      const b = this.popSlot()
      this.push(count === 1 ? LINKED.BUILTIN1 : LINKED.BUILTIN2, b, c, 0, def)
      return
    }
    const from = this.makeCanonicalTop(count)
    this.stack.length -= count
    this.call(LINKED.BUILTIN_N, from, from, count, def)
  }
}

/**
 * Gives a NEXT its shortcut: `d` is where an item goes and `target` what follows, past the test for the end and past the move
 * of the item into the loop's variable. An item that comes later, from a generator, passes through both.
 */
function shortenLoop(next: Instr): void {
  const test = next.next
  const move = test.op === LINKED.JEND && test.b === next.a ? test.next : null
  const isMove = move !== null && move.op === LINKED.MOVE && move.b === next.a
  next.d = isMove ? move.a : next.a
  next.target = isMove ? move.next : (move ?? test)
}
