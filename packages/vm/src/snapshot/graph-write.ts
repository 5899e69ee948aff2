// A graph of objects → bytes. One walk, inside out: what is mentioned for the first time is written where it is mentioned, and
// every later mention is its number. Shared objects are therefore written once and cycles are kept. Past MAX_DEPTH a first
// mention leaves its contents for later, so that the depth of data is no limit.
//
//   numbers   little end first, 7 bits a byte, the eighth says that more follow
//   texts     all of them behind each other in one piece in front of the graph, which only has lengths: one call of the
//             platform encodes them all. A short text that occurs again is written as its number.
//   objects   tag, head (what is needed to make the empty object: code, kind, bytes), contents
//
// Small values without an identity that a script could see (floats, durations, ranges) have no number. Neither have the maps
// inside dicts, sets and structs, which by contract nothing else holds.

import { FewMap } from '../few-map.js'
import type { Entries } from '../few-map.js'
import { HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { EndOfIteration } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import type { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnDuration, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { Coroutine, NativeActivation } from '../scheduler/task.js'
import { ROW_BY_TYPE } from './classes.js'
import { ENVELOPE_BYTES, seal } from './envelope.js'
import { placeOfInstr } from './places.js'
import { MAX_DEPTH, SHORT_MAX, SHORT_TEXT, SHORT_TEXT_AGAIN, SMALL_INT, TAG } from './tags.js'
import type { Content } from './envelope.js'

/** Longer texts are not looked up among those that came before. */
const LONGEST_SHARED_TEXT = 64

/**
 * After so many different texts, values are no longer looked up; keys still are. Bulk data has keys that repeat and values that do
 * not, and looking up each cost more than all the rest.
 */
const MOST_SHARED_TEXTS = 4096

const FIRST_BYTES = 512

const doubles = new DataView(new ArrayBuffer(8))

export class GraphWriter {
  private bytes = new Uint8Array(FIRST_BYTES)
  private at = 0
  /** First mentions, in order; a text's number is its place here. */
  private readonly texts: string[] = []
  private readonly textNumbers = new Map<string, number>()
  private readonly objects = new Map<object, number>()
  private later: object[] = []
  private depth = 0

  /** The whole snapshot; call once, after everything was written. */
  finish(content: Content, version: number): Uint8Array {
    // A list that grows while it is walked.
    for (let next = 0; next < this.later.length; next++) this.contents(this.later[next]!)
    this.later = []
    const text = this.texts.join('')
    const [isWide, encoded] = encodeTexts(text)
    const graph = this.bytes.subarray(0, this.at)
    this.bytes = new Uint8Array(16)
    this.at = 0
    this.count(encoded.length * 2 + (isWide ? 1 : 0))
    const head = this.bytes.subarray(0, this.at)
    const whole = new Uint8Array(ENVELOPE_BYTES + head.length + encoded.length + graph.length)
    whole.set(head, ENVELOPE_BYTES)
    whole.set(encoded, ENVELOPE_BYTES + head.length)
    whole.set(graph, ENVELOPE_BYTES + head.length + encoded.length)
    seal(whole, content, version)
    return whole
  }

  byte(value: number): void {
    if (this.at === this.bytes.length) this.grow(1)
    this.bytes[this.at++] = value
  }

  /** A whole number from 0 to 2^53. */
  count(value: number): void {
    let rest = value
    while (rest > 0x7fffffff) {
      this.byte((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      this.byte((rest & 127) | 128)
      rest >>>= 7
    }
    this.byte(rest)
  }

  /** A text where nothing else can stand. */
  text(text: string): void {
    const known = text.length > LONGEST_SHARED_TEXT ? undefined : this.textNumbers.get(text)
    if (known !== undefined) return this.count(known * 2 + 1)
    this.newText(text, text.length <= LONGEST_SHARED_TEXT)
    this.count(text.length * 2)
  }

  raw(data: Uint8Array): void {
    if (this.at + data.length > this.bytes.length) this.grow(data.length)
    this.bytes.set(data, this.at)
    this.at += data.length
  }

  value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        return this.textValue(value)
      case 'number':
        return this.numberValue(value)
      case 'object':
        if (value === null) this.byte(TAG.NIL)
        else this.object(value)
        return
      case 'boolean':
        return this.byte(value ? TAG.TRUE : TAG.FALSE)
      case 'undefined':
        return this.byte(TAG.UNDEFINED)
      case 'bigint':
        this.byte(TAG.BIGINT)
        return this.text(String(value))
      default:
        throw new Error(`snapshot: a ${typeof value} cannot be saved`)
    }
  }

  /** The first `length` of an array that nothing else holds. */
  values(values: readonly unknown[], length: number): void {
    this.count(length)
    for (let at = 0; at < length; at++) this.value(values[at])
  }

  private textValue(text: string): void {
    const mayBeKnown = text.length <= LONGEST_SHARED_TEXT && this.textNumbers.size < MOST_SHARED_TEXTS
    const known = mayBeKnown ? this.textNumbers.get(text) : undefined
    if (known !== undefined) {
      if (known <= SHORT_MAX) return this.byte(SHORT_TEXT_AGAIN | known)
      this.byte(TAG.TEXT_AGAIN)
      return this.count(known)
    }
    this.newText(text, mayBeKnown)
    if (text.length <= SHORT_MAX) return this.byte(SHORT_TEXT | text.length)
    this.byte(TAG.TEXT)
    this.count(text.length)
  }

  private newText(text: string, isShared: boolean): void {
    if (isShared) this.textNumbers.set(text, this.texts.length)
    this.texts.push(text)
  }

  private numberValue(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      if (value >= 0) {
        if (value < 128) return this.byte(SMALL_INT | value)
        this.byte(TAG.INT)
        return this.count(value)
      }
      this.byte(TAG.NEGATIVE)
      return this.count(-1 - value)
    }
    this.byte(TAG.NUMBER)
    this.double(value)
  }

  private double(value: number): void {
    doubles.setFloat64(0, value, true)
    if (this.at + 8 > this.bytes.length) this.grow(8)
    for (let k = 0; k < 8; k++) this.bytes[this.at++] = doubles.getUint8(k)
  }

  private object(value: object): void {
    if (value instanceof HarnFloat) {
      this.byte(TAG.FLOAT)
      return this.double(value.v)
    }
    const known = this.objects.get(value)
    if (known !== undefined) {
      this.byte(TAG.AGAIN)
      return this.count(known)
    }
    if (value instanceof HarnDuration) {
      this.byte(TAG.DURATION)
      return this.value(value.ms)
    }
    if (value instanceof HarnRange) {
      this.byte(TAG.RANGE)
      this.value(value.start)
      this.value(value.end)
      return this.byte(value.exclusive ? 1 : 0)
    }
    if (value instanceof EndOfIteration) return this.byte(TAG.END)
    this.objects.set(value, this.objects.size)
    if (this.depth >= MAX_DEPTH) {
      this.byte(TAG.LATER)
      this.head(value)
      this.later.push(value)
      return
    }
    this.head(value)
    this.depth++
    this.contents(value)
    this.depth--
  }

  /** Tag, and what the reader needs to make the empty object. */
  private head(value: object): void {
    if (value instanceof HarnDict) return this.byte(value.owned ? TAG.DICT_OWNED : TAG.DICT)
    if (value instanceof HarnList) return this.byte(value.owned ? TAG.LIST_OWNED : TAG.LIST)
    if (Array.isArray(value)) return this.byte(TAG.ARRAY)
    const row = ROW_BY_TYPE.get(value.constructor)
    if (row !== undefined) return this.byte(row.tag)
    if (value instanceof HarnStruct) return this.byte(value.owned ? TAG.STRUCT_OWNED : TAG.STRUCT)
    if (value instanceof HarnClosure) {
      this.byte(TAG.CLOSURE)
      this.text(value.code.module.key)
      return this.count(value.code.index)
    }
    if (value instanceof Coroutine) return this.byte(TAG.COROUTINE)
    if (value instanceof NativeActivation) {
      this.byte(TAG.NATIVE)
      return this.text(value.def.kind)
    }
    if (value instanceof HarnSet) return this.byte(TAG.SET)
    if (value instanceof Map || value instanceof FewMap) return this.byte(TAG.MAP)
    if (value instanceof Set) return this.byte(TAG.JS_SET)
    if (value instanceof HarnBytes || value instanceof Uint8Array) {
      const data = value instanceof HarnBytes ? value.data : value
      this.byte(value instanceof HarnBytes ? TAG.BYTES : TAG.U8)
      this.count(data.length)
      return this.raw(data)
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) return this.byte(TAG.OBJECT)
    if (prototype === null) return this.byte(TAG.RECORD)
    throw new Error(`snapshot: a ${value.constructor.name} cannot be saved`)
  }

  private contents(value: object): void {
    if (value instanceof HarnDict) return this.keyed(value)
    if (value instanceof HarnList) {
      // The buffer with what lies behind the end, and who shares it: an append costs less where it can be made in place, and
      // a restored run must use the same fuel.
      this.value(value.items)
      return this.count(value.length)
    }
    if (Array.isArray(value)) return this.values(value, value.length)
    const row = ROW_BY_TYPE.get(value.constructor)
    if (row !== undefined) {
      for (const name of row.names) this.value((value as Record<string, unknown>)[name])
      return
    }
    if (value instanceof HarnStruct) {
      this.text(value.name)
      this.text(value.home)
      return this.keyed(value)
    }
    if (value instanceof HarnClosure) return this.value(value.captures)
    if (value instanceof Coroutine) return this.coroutine(value)
    if (value instanceof NativeActivation) {
      this.value(value.state)
      this.count(value.savedLimit)
      return this.byte(value.timedOut ? 1 : 0)
    }
    if (value instanceof HarnSet) return this.map(value.map)
    if (value instanceof Map || value instanceof FewMap) return this.map(value as Entries<unknown, unknown>)
    if (value instanceof Set) return this.values([...value], value.size)
    if (value instanceof HarnBytes || value instanceof Uint8Array) return
    const names = Object.keys(value)
    this.count(names.length)
    for (const name of names) {
      this.text(name)
      this.value((value as Record<string, unknown>)[name])
    }
  }

  private keyed(object: Keyed): void {
    this.count(object.size)
    for (const [key, item] of object.entries()) {
      this.text(key)
      this.value(item)
    }
  }

  private map(map: Pick<Entries<unknown, unknown>, 'size' | typeof Symbol.iterator>): void {
    this.count(map.size)
    for (const [key, item] of map) {
      this.value(key)
      this.value(item)
    }
  }

  private coroutine(co: Coroutine): void {
    this.count(co.fp + 1)
    for (let fp = 0; fp <= co.fp; fp++) {
      this.value(co.frames[fp])
      this.count(co.bases[fp]!)
      this.value(placeOfInstr(co.returns[fp]!, co.frames[fp - 1]))
    }
    this.value(placeOfInstr(co.instr, co.frames[co.fp]))
    this.values(co.regs, co.top)
    this.value(co.limit)
    this.value(co.run)
    this.values(co.outerRuns, co.outerRuns.length)
    this.value(co.generator)
    this.value(co.resumer)
    this.byte(co.paused ? 1 : 0)
  }

  private grow(more: number): void {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + more))
    larger.set(this.bytes)
    this.bytes = larger
  }
}

/** UTF-8; in 16-bit units, least byte first, where a text has half a surrogate pair, which UTF-8 cannot say. */
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
