// Shapes: which key is in which slot, shared by all dicts and structs with the same keys in the same order of insertion. Code
// that reads a property caches the shape it met and the slot of the key; the next object of that shape costs one comparison.
//
// Shapes form a tree: from the empty one, each added key is a transition to the next. The tree belongs to the process, not a machine, because
// compiled modules, which cache shapes, are shared by machines, and values are also made outside machines. It contains only names of keys, and
// no run depends on it: an object whose keys have no shape has its own table (table.ts).
//
// It is bounded in every direction, since its keys are data of scripts: long keys, many keys and many transitions from one shape get no
// shape, and a tree that has grown too large is cut and grows again. Shapes in use stay valid; only transitions are removed.

import { sortTexts } from './text-order.js'

/** Maximum keys of an object with a shape; beyond that a table is as fast. */
export const MAX_KEYS = 32
const MAX_KEY_LENGTH = 64
const MAX_WAYS = 64
const MAX_FIRST_KEYS = 1024
const MAX_SHAPES = 4096
/** Characters that JSON escapes in a string. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\0-\x1f]/

export class Shape {
  /** In order of insertion: `keys[at]` is in slot `at`. */
  readonly keys: readonly string[]
  private places: Map<string, number> | null = null
  private ways: Map<string, Shape> | null = null
  /** The transition taken last: records of a document have the same keys in the same order. */
  private lastKey: string | null = null
  private lastWay: Shape | null = null
  /** The last key that was checked for characters that JSON escapes, and whether it has none. */
  private writtenKey: string | null = null
  private isWritten = false
  private order: Uint8Array | null = null
  private sorted: readonly string[] | null = null

  constructor(keys: readonly string[]) {
    this.keys = keys
  }

  /** The slot of a key, -1 for none. */
  at(key: string): number {
    if (this.places === null) {
      this.places = new Map()
      for (let at = 0; at < this.keys.length; at++) this.places.set(this.keys[at]!, at)
    }
    const at = this.places.get(key)
    return at === undefined ? -1 : at
  }

  /** The shape with this additional key if it was the one requested last; then this shape does not have the key. */
  reuseLast(key: string): Shape | null {
    return key === this.lastKey ? this.lastWay : null
  }

  /** The key added last time, if a document writes it without escapes, in quotes; null for none. */
  get expected(): string | null {
    const { lastKey } = this
    if (lastKey !== this.writtenKey) {
      this.writtenKey = lastKey
      this.isWritten = lastKey !== null && !ESCAPED.test(lastKey)
    }
    return this.isWritten ? lastKey : null
  }

  /** The existing shape with an additional key. For keys that are data, whose number is unlimited. */
  findKnown(key: string): Shape | null {
    return this.ways?.get(key) ?? null
  }

  /** The shape with an additional key; null if there must be none. For keys that a program or a document names. */
  with(key: string): Shape | null {
    if (key === this.lastKey) return this.lastWay
    const known = this.ways?.get(key)
    if (known !== undefined) {
      this.lastKey = key
      this.lastWay = known
      return known
    }
    const count = this.keys.length
    if (this === TABLE || count >= MAX_KEYS || key.length > MAX_KEY_LENGTH) return null
    if (this.ways !== null && this.ways.size >= (count === 0 ? MAX_FIRST_KEYS : MAX_WAYS)) return null
    const name = internalizeText(key)
    const made = new Shape([...this.keys, name])
    if (tree.made >= MAX_SHAPES) cut()
    tree.made++
    if (this.ways === null) {
      this.ways = new Map()
      tree.parents.push(this)
    }
    this.ways.set(name, made)
    return made
  }

  /** Keys in code point order; read only. */
  getSortedKeys(): readonly string[] {
    return (this.sorted ??= sortTexts([...this.keys]))
  }

  /** The slots of the keys in code point order. */
  getSortedSlots(): Uint8Array {
    return (this.order ??= Uint8Array.from(this.getSortedKeys(), (key) => this.at(key)))
  }

  /** Removes the transitions from this shape. */
  cutWays(): void {
    this.ways = null
    this.lastKey = null
    this.lastWay = null
  }
}

const tree: { made: number; readonly parents: Shape[] } = { made: 0, parents: [] }

function cut(): void {
  for (const shape of tree.parents) shape.cutWays()
  tree.parents.length = 0
  tree.made = 0
}

export const EMPTY = new Shape([])

/** The shape of all objects whose keys are in a table. It is never cached and has no transitions. */
export const TABLE = new Shape([])

/** The shape of a literal with these keys, null if they are too many or not distinct. Bounded by the program's source. */
export function makeLiteralShape(keys: readonly string[]): Shape | null {
  if (keys.length > MAX_KEYS || new Set(keys).size !== keys.length) return null
  let shape = EMPTY
  for (const key of keys) {
    const next = shape.with(key)
    if (next === null) return new Shape([...keys])
    shape = next
  }
  return shape
}

/** An interned copy of a string, which V8 compares by address, instead of a substring that would keep a larger string alive. */
function internalizeText(text: string): string {
  const names = Object.create(null) as Record<string, boolean>
  names[text] = true
  return Object.keys(names)[0]!
}
