// The dict: string keys, iterated in code point order. Insertion goes to a hash map; the sorted key list is made on first
// iteration and kept until a key is added or removed. `owned` means what it means for lists (list.ts).

import { sortTexts } from './text-order.js'
import type { Value } from './value.js'

export class HarnDict {
  readonly map: Map<string, Value>
  private sorted: readonly string[] | null = null
  owned = false

  /** Takes the map over. */
  constructor(map: Map<string, Value> = new Map()) {
    this.map = map
  }

  static of(entries: Readonly<Record<string, Value>>): HarnDict {
    const map = new Map<string, Value>()
    for (const key of Object.keys(entries)) map.set(key, entries[key]!)
    return new HarnDict(map)
  }

  get size(): number {
    return this.map.size
  }

  get(key: string): Value | undefined {
    return this.map.get(key)
  }

  has(key: string): boolean {
    return this.map.has(key)
  }

  /** Writes in place. Only for a dict that nothing else can see yet, or an owned one. */
  set(key: string, value: Value): void {
    const before = this.map.size
    this.map.set(key, value)
    if (this.map.size !== before) this.sorted = null
  }

  delete(key: string): void {
    if (this.map.delete(key)) this.sorted = null
  }

  /** Keys in code point order; read only. */
  keys(): readonly string[] {
    return (this.sorted ??= sortTexts([...this.map.keys()]))
  }

  copy(): HarnDict {
    const copy = new HarnDict(new Map(this.map))
    copy.sorted = this.sorted
    return copy
  }

  with(key: string, value: Value): HarnDict {
    const copy = this.copy()
    copy.set(key, value)
    return copy
  }

  merged(other: HarnDict): HarnDict {
    const copy = this.copy()
    for (const [key, value] of other.map) copy.set(key, value)
    return copy
  }
}
