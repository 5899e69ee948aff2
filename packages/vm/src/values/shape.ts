// Shapes: which key lies in which slot, shared by all dicts and structs with the same keys in the same order of insertion. Code
// that reads a property remembers the shape it met and where the key was; the next object of that shape costs one comparison.
//
// Shapes form a tree: from the empty one, each added key is a way to the next. The tree is the process's, not a machine's, because
// compiled modules, which remember shapes, are shared by machines and values are made outside of any. It holds names of keys and
// nothing of a run, and what a run does never depends on it: an object whose keys have no shape has a table of its own (table.ts).
//
// It is bounded in every direction, since its keys are data of scripts: long keys, many keys and many ways from one shape have no
// shape, and a tree that has grown too large is cut and grows anew. Shapes in use stay as they are; only the ways between them go.

import { sortTexts } from './text-order.js'

/** Keys of an object with a shape; past them a table is as good. */
export const MAX_KEYS = 32
const MAX_KEY_LENGTH = 64
const MAX_WAYS = 64
const MAX_FIRST_KEYS = 1024
const MAX_SHAPES = 4096
/** What JSON escapes in a text. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\0-\x1f]/

export class Shape {
  /** In order of insertion: `keys[at]` lies in slot `at`. */
  readonly keys: readonly string[]
  private places: Map<string, number> | null = null
  private ways: Map<string, Shape> | null = null
  /** The way that was taken last: records of a document have the same keys one after the other. */
  private lastKey: string | null = null
  private lastWay: Shape | null = null
  /** The last key that was looked at for what a document writes in another way, and whether there is nothing. */
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

  /** The shape with this key more if it was the one that was asked for last; then the key is none of this shape's own. */
  reuseLast(key: string): Shape | null {
    return key === this.lastKey ? this.lastWay : null
  }

  /** The key that came next last, where a document writes it as it is, in quotes; null for none. */
  get expected(): string | null {
    const { lastKey } = this
    if (lastKey !== this.writtenKey) {
      this.writtenKey = lastKey
      this.isWritten = lastKey !== null && !ESCAPED.test(lastKey)
    }
    return this.isWritten ? lastKey : null
  }

  /** The shape with a key more that has been made before. For keys that are data, of which there is no end. */
  findKnown(key: string): Shape | null {
    return this.ways?.get(key) ?? null
  }

  /** The shape with a key more; null where there is none to be. For keys that a program or a document names. */
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

  /** Forgets what was made from this shape. */
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

/** Stands for the shape of an object whose keys are in a table. Nothing remembers it, and no way leads on from it. */
export const TABLE = new Shape([])

/** The shape of a literal with these keys, null where they are too many or some is there twice. Bounded by the program's text. */
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

/** The one copy of a text that V8 compares by address, instead of a part of some larger text that would be kept alive with it. */
function internalizeText(text: string): string {
  const names = Object.create(null) as Record<string, boolean>
  names[text] = true
  return Object.keys(names)[0]!
}
