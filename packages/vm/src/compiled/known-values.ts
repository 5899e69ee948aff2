// What the text has found out about values on the way to an instruction, which a chain of tests need not ask again.

import { LINKED } from '../interpreter/linked.js'
import { findWrite } from './operands.js'
import { keepsFuel, keepsShapes } from './types.js'
import type { Instr } from '../interpreter/linked.js'
import type { Shape } from '../values/shape.js'
import type { Types } from './types.js'

const NO_SLOTS: ReadonlySet<number> = new Set()
const NO_SHAPES: ReadonlyMap<number, Shape> = new Map()

export interface SavedValues {
  readonly tagged: ReadonlySet<number>
  readonly paid: ReadonlySet<number>
  readonly shapes: ReadonlyMap<number, Shape>
}

export class KnownValues {
  /** Slots of which a variable holds the variant that the value has. */
  private tagged: ReadonlySet<number> = NO_SLOTS
  /** Slots whose value is not long, or for which there was fuel; and none was used since. */
  private paid: ReadonlySet<number> = NO_SLOTS
  /** What is known of the shapes of objects in slots, as long as nothing runs that might give one another. */
  private shapes: ReadonlyMap<number, Shape> = NO_SHAPES

  /** Whether the variant of what is in `slot` is in its variable already; from here on it is. */
  noteVariant(slot: number): boolean {
    if (this.tagged.has(slot)) return true
    this.tagged = new Set(this.tagged).add(slot)
    return false
  }

  /** Whether `i`, which compares, has to ask for fuel. */
  owesFor(i: Instr, types: Types): boolean {
    if (this.paid.has(i.b)) return false
    if (keepsFuel(i, types)) this.paid = new Set(this.paid).add(i.b)
    return true
  }

  hasShape(slot: number, shape: Shape): boolean {
    return this.shapes.get(slot) === shape
  }

  noteShape(slot: number, shape: Shape): void {
    this.shapes = new Map(this.shapes).set(slot, shape)
  }

  /** What `i` leaves of it. */
  noteAfter(i: Instr, types: Types): void {
    if (!keepsFuel(i, types)) this.paid = NO_SLOTS
    // What is there already is assigned to.
    const isKnown = i.op === LINKED.SET_PROP && i.cache !== null && this.shapes.get(i.b) === i.cache
    if (!isKnown && !keepsShapes(i)) this.shapes = NO_SHAPES
    const moved = isKnown || i.op === LINKED.MOVE || i.op === LINKED.SHARE ? this.shapes.get(i.b) : undefined
    this.forgetSlot(findWrite(i))
    if (moved !== undefined) this.noteShape(i.a, moved)
  }

  /** Something else is in `slot`. */
  forgetSlot(slot: number): void {
    if (this.tagged.has(slot)) this.tagged = new Set([...this.tagged].filter((each) => each !== slot))
    if (this.paid.has(slot)) this.paid = new Set([...this.paid].filter((each) => each !== slot))
    if (this.shapes.has(slot)) this.shapes = new Map([...this.shapes].filter(([each]) => each !== slot))
  }

  /** Control comes from elsewhere too. */
  forgetAll(): void {
    this.tagged = NO_SLOTS
    this.forgetUnstable()
  }

  /** What a call in between may have changed. */
  forgetUnstable(): void {
    this.shapes = NO_SHAPES
    this.paid = NO_SLOTS
  }

  /** At the last instruction of a block, before its text. */
  noteLast(i: Instr, types: Types): void {
    if (!keepsFuel(i, types)) this.paid = NO_SLOTS
    if (!keepsShapes(i)) this.shapes = NO_SHAPES
  }

  /** What is known here, for `restore` when the text of another way has been written. */
  save(): SavedValues {
    const { tagged, paid, shapes } = this
    return { tagged, paid, shapes }
  }

  restore({ tagged, paid, shapes }: SavedValues): void {
    this.tagged = tagged
    this.paid = paid
    this.shapes = shapes
  }
}
