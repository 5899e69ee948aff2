// What the generated code has checked on the path to an instruction, so that a chain of tests does not repeat it.

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
  /** Slots whose variant is already in a variable. */
  private tagged: ReadonlySet<number> = NO_SLOTS
  /** Slots whose value is short, or was covered by a fuel check since which no fuel was used. */
  private paid: ReadonlySet<number> = NO_SLOTS
  /** Known shapes of objects in slots, valid until something runs that may change shapes. */
  private shapes: ReadonlyMap<number, Shape> = NO_SHAPES

  /** Whether the variant of the value in `slot` is already in its variable; from here on it is. */
  noteVariant(slot: number): boolean {
    if (this.tagged.has(slot)) return true
    this.tagged = new Set(this.tagged).add(slot)
    return false
  }

  /** Whether the comparison `i` needs a fuel check. */
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

  /** Removes what `i` invalidates. */
  noteAfter(i: Instr, types: Types): void {
    if (!keepsFuel(i, types)) this.paid = NO_SLOTS
    // An existing entry is assigned to.
    const isKnown = i.op === LINKED.SET_PROP && i.cache !== null && this.shapes.get(i.b) === i.cache
    if (!isKnown && !keepsShapes(i)) this.shapes = NO_SHAPES
    const moved = isKnown || i.op === LINKED.MOVE || i.op === LINKED.SHARE ? this.shapes.get(i.b) : undefined
    this.forgetSlot(findWrite(i))
    if (moved !== undefined) this.noteShape(i.a, moved)
  }

  /** `slot` holds another value now. */
  forgetSlot(slot: number): void {
    if (this.tagged.has(slot)) this.tagged = new Set([...this.tagged].filter((each) => each !== slot))
    if (this.paid.has(slot)) this.paid = new Set([...this.paid].filter((each) => each !== slot))
    if (this.shapes.has(slot)) this.shapes = new Map([...this.shapes].filter(([each]) => each !== slot))
  }

  /** Control may also come from elsewhere. */
  forgetAll(): void {
    this.tagged = NO_SLOTS
    this.forgetUnstable()
  }

  /** Removes what a call may have changed. */
  forgetUnstable(): void {
    this.shapes = NO_SHAPES
    this.paid = NO_SLOTS
  }

  /** At the last instruction of a block, before its code. */
  noteLast(i: Instr, types: Types): void {
    if (!keepsFuel(i, types)) this.paid = NO_SLOTS
    if (!keepsShapes(i)) this.shapes = NO_SHAPES
  }

  /** The current state, for `restore` after the code of another path has been written. */
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
