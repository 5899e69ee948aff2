// A graph of objects → bytes. One depth-first walk: an object is written at its first mention, and
// every later mention is its number. Shared objects are therefore written once and cycles are kept. Beyond MAX_DEPTH a first
// mention defers its contents, so that the depth of data is not limited.
//
//   numbers   little-endian, 7 bits per byte; the eighth says that more follow
//   texts     all strings concatenated before the graph, which contains only their lengths: one call of the
//             platform encodes them all. A short string that occurs again is written as its number.
//   objects   tag, head (what is needed to make the empty object: code, kind, bytes), contents
//
// Small values without an observable identity (floats, durations, ranges) have no number. Neither have the maps
// inside dicts, sets and structs, which by contract nothing else references.

import { FewMap } from '../few-map.js'
import type { Entries } from '../few-map.js'
import { HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { EndOfIteration } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import type { Nest } from '../values/nest.js'
import { HarnBytes, HarnDuration, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { Coroutine, NativeActivation } from '../scheduler/task.js'
import { ROW_BY_TYPE } from './classes.js'
import { ENVELOPE_BYTES, seal } from './envelope.js'
import { encodePlace } from './places.js'
import { MAX_DEPTH, SHORT_MAX, SHORT_TEXT, SHORT_TEXT_AGAIN, SMALL_INT, TAG } from './tags.js'
import type { Content } from './envelope.js'

/** Longer strings are not deduplicated. */
const LONGEST_SHARED_TEXT = 64

/**
 * After this many different strings, values are no longer deduplicated; keys still are. Bulk data has keys that repeat and values that do
 * not, and looking up each value cost more than everything else.
 */
const MOST_SHARED_TEXTS = 4096

const FIRST_BYTES = 512

const doubles = new DataView(new ArrayBuffer(8))

export class GraphWriter {
  private bytes = new Uint8Array(FIRST_BYTES)
  private at = 0
  /** First mentions, in order; a string's number is its index here. */
  private readonly texts: string[] = []
  private readonly textNumbers = new Map<string, number>()
  private readonly objects = new Map<object, number>()
  private readonly nests = new Map<Nest, number>()
  private later: object[] = []
  private depth = 0

  /** The whole snapshot; call once, after everything was written. */
  finish(content: Content, version: number): Uint8Array {
    // The list grows while the loop runs.
    for (let next = 0; next < this.later.length; next++) this.writeContents(this.later[next]!)
    this.later = []
    const text = this.texts.join('')
    const [isWide, encoded] = encodeTexts(text)
    const graph = this.bytes.subarray(0, this.at)
    this.bytes = new Uint8Array(16)
    this.at = 0
    this.writeCount(encoded.length * 2 + (isWide ? 1 : 0))
    const head = this.bytes.subarray(0, this.at)
    const whole = new Uint8Array(ENVELOPE_BYTES + head.length + encoded.length + graph.length)
    whole.set(head, ENVELOPE_BYTES)
    whole.set(encoded, ENVELOPE_BYTES + head.length)
    whole.set(graph, ENVELOPE_BYTES + head.length + encoded.length)
    seal(whole, content, version)
    return whole
  }

  writeByte(value: number): void {
    if (this.at === this.bytes.length) this.grow(1)
    this.bytes[this.at++] = value
  }

  /** A whole number from 0 to 2^53. */
  writeCount(value: number): void {
    let rest = value
    while (rest > 0x7fffffff) {
      this.writeByte((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      this.writeByte((rest & 127) | 128)
      rest >>>= 7
    }
    this.writeByte(rest)
  }

  /** A string where nothing else is possible. */
  writeText(text: string): void {
    const known = text.length > LONGEST_SHARED_TEXT ? undefined : this.textNumbers.get(text)
    if (known !== undefined) return this.writeCount(known * 2 + 1)
    this.addText(text, text.length <= LONGEST_SHARED_TEXT)
    this.writeCount(text.length * 2)
  }

  writeRaw(data: Uint8Array): void {
    if (this.at + data.length > this.bytes.length) this.grow(data.length)
    this.bytes.set(data, this.at)
    this.at += data.length
  }

  writeValue(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.writeTextValue(value)
      case 'number':
        return this.writeNumberValue(value)
      case 'object':
        if (value === null) this.writeByte(TAG.NIL)
        else this.writeObject(value)
        return
      case 'boolean':
        return this.writeByte(value ? TAG.TRUE : TAG.FALSE)
      case 'undefined':
        return this.writeByte(TAG.UNDEFINED)
      case 'bigint':
        this.writeByte(TAG.BIGINT)
        return this.writeText(String(value))
      default:
        throw new Error(`snapshot: a ${typeof value} cannot be saved`)
    }
  }

  /** The first `length` elements of an array that nothing else references. */
  writeValues(values: readonly unknown[], length: number): void {
    this.writeCount(length)
    for (let at = 0; at < length; at++) this.writeValue(values[at])
  }

  private writeTextValue(text: string): void {
    const mayBeKnown = text.length <= LONGEST_SHARED_TEXT && this.textNumbers.size < MOST_SHARED_TEXTS
    const known = mayBeKnown ? this.textNumbers.get(text) : undefined
    if (known !== undefined) {
      if (known <= SHORT_MAX) return this.writeByte(SHORT_TEXT_AGAIN | known)
      this.writeByte(TAG.TEXT_AGAIN)
      return this.writeCount(known)
    }
    this.addText(text, mayBeKnown)
    if (text.length <= SHORT_MAX) return this.writeByte(SHORT_TEXT | text.length)
    this.writeByte(TAG.TEXT)
    this.writeCount(text.length)
  }

  private addText(text: string, isShared: boolean): void {
    if (isShared) this.textNumbers.set(text, this.texts.length)
    this.texts.push(text)
  }

  private writeNumberValue(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      if (value >= 0) {
        if (value < 128) return this.writeByte(SMALL_INT | value)
        this.writeByte(TAG.INT)
        return this.writeCount(value)
      }
      this.writeByte(TAG.NEGATIVE)
      return this.writeCount(-1 - value)
    }
    this.writeByte(TAG.NUMBER)
    this.writeDouble(value)
  }

  private writeDouble(value: number): void {
    doubles.setFloat64(0, value, true)
    if (this.at + 8 > this.bytes.length) this.grow(8)
    for (let k = 0; k < 8; k++) this.bytes[this.at++] = doubles.getUint8(k)
  }

  private writeObject(value: object): void {
    if (value instanceof HarnFloat) {
      this.writeByte(TAG.FLOAT)
      return this.writeDouble(value.v)
    }
    const known = this.objects.get(value)
    if (known !== undefined) {
      this.writeByte(TAG.AGAIN)
      return this.writeCount(known)
    }
    if (value instanceof HarnDuration) {
      this.writeByte(TAG.DURATION)
      return this.writeValue(value.ms)
    }
    if (value instanceof HarnRange) {
      this.writeByte(TAG.RANGE)
      this.writeValue(value.start)
      this.writeValue(value.end)
      return this.writeByte(value.exclusive ? 1 : 0)
    }
    if (value instanceof EndOfIteration) return this.writeByte(TAG.END)
    this.objects.set(value, this.objects.size)
    if ((value instanceof HarnList || value instanceof Keyed) && (value.owner !== null || value.nest !== null)) {
      this.writeByte(TAG.NESTED)
      this.writeCount(this.numberNest(value.owner))
      this.writeCount(this.numberNest(value.nest))
    }
    if (this.depth >= MAX_DEPTH) {
      this.writeByte(TAG.LATER)
      this.writeHead(value)
      this.later.push(value)
      return
    }
    this.writeHead(value)
    this.depth++
    this.writeContents(value)
    this.depth--
  }

  private numberNest(nest: Nest | null): number {
    if (nest === null) return 0
    const known = this.nests.get(nest) ?? this.nests.size + 1
    this.nests.set(nest, known)
    return known
  }

  /** Tag, and what the reader needs to create the empty object. */
  private writeHead(value: object): void {
    if (value instanceof HarnDict) return this.writeByte(value.owned ? TAG.DICT_OWNED : TAG.DICT)
    if (value instanceof HarnList) return this.writeByte(value.owned ? TAG.LIST_OWNED : TAG.LIST)
    if (Array.isArray(value)) return this.writeByte(TAG.ARRAY)
    const row = ROW_BY_TYPE.get(value.constructor)
    if (row !== undefined) return this.writeByte(row.tag)
    if (value instanceof HarnStruct) return this.writeByte(value.owned ? TAG.STRUCT_OWNED : TAG.STRUCT)
    if (value instanceof HarnClosure) {
      this.writeByte(TAG.CLOSURE)
      this.writeText(value.code.module.key)
      return this.writeCount(value.code.index)
    }
    if (value instanceof Coroutine) return this.writeByte(TAG.COROUTINE)
    if (value instanceof NativeActivation) {
      this.writeByte(TAG.NATIVE)
      return this.writeText(value.def.kind)
    }
    if (value instanceof HarnSet) return this.writeByte(TAG.SET)
    if (value instanceof Map || value instanceof FewMap) return this.writeByte(TAG.MAP)
    if (value instanceof Set) return this.writeByte(TAG.JS_SET)
    if (value instanceof HarnBytes || value instanceof Uint8Array) {
      const data = value instanceof HarnBytes ? value.data : value
      this.writeByte(value instanceof HarnBytes ? TAG.BYTES : TAG.U8)
      this.writeCount(data.length)
      return this.writeRaw(data)
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) return this.writeByte(TAG.OBJECT)
    if (prototype === null) return this.writeByte(TAG.RECORD)
    throw new Error(`snapshot: a ${value.constructor.name} cannot be saved`)
  }

  private writeContents(value: object): void {
    if (value instanceof HarnDict) return this.writeKeyed(value)
    if (value instanceof HarnList) {
      // The buffer including elements past the end, and who shares it: an append costs less if it can be made in place, and
      // a restored run must use the same fuel.
      this.writeValue(value.items)
      return this.writeCount(value.length)
    }
    if (Array.isArray(value)) return this.writeValues(value, value.length)
    const row = ROW_BY_TYPE.get(value.constructor)
    if (row !== undefined) {
      for (const name of row.names) this.writeValue((value as Record<string, unknown>)[name])
      return
    }
    if (value instanceof HarnStruct) {
      this.writeText(value.name)
      this.writeText(value.home)
      return this.writeKeyed(value)
    }
    if (value instanceof HarnClosure) return this.writeValue(value.captures)
    if (value instanceof Coroutine) return this.writeCoroutine(value)
    if (value instanceof NativeActivation) {
      this.writeValue(value.state)
      this.writeCount(value.savedLimit)
      return this.writeByte(value.timedOut ? 1 : 0)
    }
    if (value instanceof HarnSet) return this.map(value.map)
    if (value instanceof Map || value instanceof FewMap) return this.map(value as Entries<unknown, unknown>)
    if (value instanceof Set) return this.writeValues([...value], value.size)
    if (value instanceof HarnBytes || value instanceof Uint8Array) return
    const names = Object.keys(value)
    this.writeCount(names.length)
    for (const name of names) {
      this.writeText(name)
      this.writeValue((value as Record<string, unknown>)[name])
    }
  }

  private writeKeyed(object: Keyed): void {
    this.writeCount(object.size)
    for (const [key, item] of object.entries()) {
      this.writeText(key)
      this.writeValue(item)
    }
  }

  private map(map: Pick<Entries<unknown, unknown>, 'size' | typeof Symbol.iterator>): void {
    this.writeCount(map.size)
    for (const [key, item] of map) {
      this.writeValue(key)
      this.writeValue(item)
    }
  }

  private writeCoroutine(co: Coroutine): void {
    this.writeCount(co.fp + 1)
    for (let fp = 0; fp <= co.fp; fp++) {
      this.writeValue(co.frames[fp])
      this.writeCount(co.bases[fp]!)
      this.writeValue(encodePlace(co.returns[fp]!, co.frames[fp - 1]))
    }
    this.writeValue(encodePlace(co.instr, co.frames[co.fp]))
    this.writeValues(co.regs, co.top)
    this.writeValue(co.limit)
    this.writeValue(co.run)
    this.writeValues(co.outerRuns, co.outerRuns.length)
    this.writeValue(co.generator)
    this.writeValue(co.resumer)
    this.writeByte(co.paused ? 1 : 0)
  }

  private grow(more: number): void {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + more))
    larger.set(this.bytes)
    this.bytes = larger
  }
}

/** UTF-8; or 16-bit units, little-endian, for a string with half a surrogate pair, which UTF-8 cannot represent. */
function encodeTexts(text: string): readonly [isWide: boolean, bytes: Uint8Array] {
  const encoded = new TextEncoder().encode(text)
  if (encoded.length === text.length || !/\p{Surrogate}/u.test(text)) return [false, encoded]
  const wide = new Uint8Array(text.length * 2)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    wide[at * 2] = unit & 0xff
    wide[at * 2 + 1] = unit >> 8
  }
  return [true, wide]
}
