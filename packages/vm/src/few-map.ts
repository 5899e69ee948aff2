// A map that usually has no entry or one. A machine has a dozen of them (tasks, pending effects, state of families, …), and of ten
// thousand waiting machines each would have the tables of a dozen JavaScript maps: more than everything else that they
// hold. The first entry is stored in the object; with the second, all move to a JavaScript map and stay there.

/** The part of the Map interface that users need, implemented by this class and by JavaScript's Map. */
export interface Entries<Key, Value> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): unknown
  delete(key: Key): boolean
  keys(): Iterable<Key>
  values(): Iterable<Value>
  [Symbol.iterator](): Iterator<[Key, Value]>
}

export class FewMap<Key, Value> implements Entries<Key, Value> {
  private count = 0
  private key: Key | null = null
  private value: Value | null = null
  private map: Map<Key, Value> | null = null

  constructor(entries: Iterable<readonly [Key, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value)
  }

  get size(): number {
    return this.map === null ? this.count : this.map.size
  }

  get(key: Key): Value | undefined {
    if (this.map !== null) return this.map.get(key)
    return this.count === 1 && this.key === key ? (this.value as Value) : undefined
  }

  has(key: Key): boolean {
    return this.map === null ? this.count === 1 && this.key === key : this.map.has(key)
  }

  set(key: Key, value: Value): this {
    if (this.map !== null) this.map.set(key, value)
    else if (this.count === 0 || this.key === key) {
      this.key = key
      this.value = value
      this.count = 1
    } else {
      this.map = new Map([
        [this.key as Key, this.value as Value],
        [key, value],
      ])
      this.key = this.value = null
    }
    return this
  }

  delete(key: Key): boolean {
    if (this.map !== null) return this.map.delete(key)
    if (this.count === 0 || this.key !== key) return false
    this.key = this.value = null
    this.count = 0
    return true
  }

  // ---- iteration in insertion order; with one entry, over a copy of it

  keys(): Iterable<Key> {
    if (this.map !== null) return this.map.keys()
    return this.count === 0 ? NOTHING : [this.key as Key]
  }

  values(): Iterable<Value> {
    if (this.map !== null) return this.map.values()
    return this.count === 0 ? NOTHING : [this.value as Value]
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    if (this.map !== null) return this.map[Symbol.iterator]()
    const entries: [Key, Value][] = this.count === 0 ? [] : [[this.key as Key, this.value as Value]]
    return entries[Symbol.iterator]()
  }
}

const NOTHING: readonly never[] = []
