// Bytes → the graph that graph-write.ts wrote. Nothing is trusted: every count is checked against the remaining bytes,
// every number against the objects so far, every field of a known class against its row, every position against the code.
// An object is created empty at its first mention and filled afterwards, which allows cycles.

import { HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { END, HarnGenerator } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { Nest } from '../values/nest.js'
import { HarnBytes, HarnDuration, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { Coroutine, NativeActivation } from '../scheduler/task.js'
import { ROW_BY_TAG } from './classes.js'
import { checkSeal, ENVELOPE_BYTES } from './envelope.js'
import { makeDamagedError } from './error.js'
import { decodePlace } from './places.js'
import { MAX_DEPTH, SHORT_TEXT, SHORT_TEXT_AGAIN, SMALL_INT, TAG } from './tags.js'
import type { FrameDef, FrameState } from '../builtins/builtin.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Instr } from '../interpreter/linked.js'
import type { Value } from '../values/value.js'
import type { Content } from './envelope.js'
import type { ClassRow } from './classes.js'

/** Resolves names in a snapshot to objects of this process. Each function may throw SnapshotError. */
export interface Resolver {
  readonly code: (moduleKey: string, index: number) => FunctionCode
  readonly frame: (kind: string) => FrameDef
}

/** What an object of this class looks like from here, where its fields are filled. */
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

const doubles = new DataView(new ArrayBuffer(8))

export class GraphReader {
  private readonly nests = new Map<number, Nest>()
  private readonly bytes: Uint8Array
  private readonly resolver: Resolver
  private at: number
  /** All strings in one piece, and how much of it was used. */
  private readonly allTexts: string
  private textsAt = 0
  private readonly texts: string[] = []
  private readonly objects: object[] = []
  /** Checked when everything is read, as are the lists. */
  private readonly closures: HarnClosure[] = []
  private readonly later: { readonly tag: number; readonly object: object }[] = []
  private readonly unchecked: { readonly row: ClassRow; readonly object: object }[] = []
  /** Lists whose items had not been read yet. */
  private readonly lists: HarnList[] = []
  private depth = 0

  /** Throws SnapshotError if the bytes are not an undamaged snapshot of this content and version. */
  constructor(bytes: Uint8Array, content: Content, version: number, resolver: Resolver) {
    checkSeal(bytes, content, version)
    this.bytes = bytes
    this.resolver = resolver
    this.at = ENVELOPE_BYTES
    const size = this.readCount()
    const encoded = this.take(Math.floor(size / 2))
    this.allTexts = size % 2 === 0 ? decodeNarrow(encoded) : decodeWide(encoded)
  }

  /** Call once, after everything was read. */
  finish(): void {
    // The list grows while the loop runs.
    for (let next = 0; next < this.later.length; next++) {
      const { tag, object } = this.later[next]!
      this.readContents(tag, object)
    }
    if (this.at !== this.bytes.length) throw makeDamagedError('something follows its end')
    if (this.lists.some((list) => list.length > list.items.length)) throw makeDamagedError('a list is longer than its items')
    if (this.closures.some(({ captures, code }) => captures.length < code.chunk.captures.length))
      throw makeDamagedError('a closure lacks captured values')
    for (const { row, object } of this.unchecked) {
      const { names, checks } = row
      for (let at = 0; at < names.length; at++) {
        if (!checks[at]!((object as Record<string, unknown>)[names[at]!]))
          throw makeDamagedError(`${names[at]} of a ${row.type.name} is not what it must be`)
      }
    }
  }

  readByte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw makeDamagedError('it ends early')
    return byte
  }

  readCount(): number {
    let byte = this.readByte()
    if (byte < 128) return byte
    let value = byte & 127
    let scale = 128
    do {
      byte = this.readByte()
      value += (byte & 127) * scale
      scale *= 128
      if (value > Number.MAX_SAFE_INTEGER || scale > 2 ** 63) throw makeDamagedError('a number is too large')
    } while (byte >= 128)
    return value
  }

  /** A count of things that take at least one byte each. */
  private readLength(): number {
    const count = this.readCount()
    if (count > this.bytes.length - this.at) throw makeDamagedError('it ends early')
    return count
  }

  readText(): string {
    const number = this.readCount()
    return number % 2 === 1 ? this.getKnownText((number - 1) / 2) : this.readNewText(number / 2)
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw makeDamagedError('it ends early')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  readValues(): unknown[] {
    const length = this.readLength()
    const values: unknown[] = []
    for (let at = 0; at < length; at++) values.push(this.readValue())
    return values
  }

  readValue(): unknown {
    return this.readTagged(this.readByte())
  }

  private readTagged(tag: number): unknown {
    if (tag >= SMALL_INT) return tag - SMALL_INT
    if (tag >= SHORT_TEXT_AGAIN) return this.getKnownText(tag - SHORT_TEXT_AGAIN)
    if (tag >= SHORT_TEXT) return this.readNewText(tag - SHORT_TEXT)
    switch (tag) {
      case TAG.NIL:
        return null
      case TAG.FALSE:
        return false
      case TAG.TRUE:
        return true
      case TAG.UNDEFINED:
        return undefined
      case TAG.INT:
        return this.readCount()
      case TAG.NEGATIVE:
        return -1 - this.readCount()
      case TAG.NUMBER:
        return this.readDouble()
      case TAG.BIGINT:
        return this.readBigint()
      case TAG.TEXT:
        return this.readNewText(this.readCount())
      case TAG.TEXT_AGAIN:
        return this.getKnownText(this.readCount())
      case TAG.AGAIN: {
        const known = this.objects[this.readCount()]
        if (known === undefined) throw makeDamagedError('an object is mentioned again that was never mentioned')
        return known
      }
      case TAG.FLOAT:
        return new HarnFloat(this.readDouble())
      case TAG.DURATION:
        return new HarnDuration(this.readInt())
      case TAG.RANGE: {
        const start = this.readInt()
        return new HarnRange(start, this.readInt(), this.readFlag())
      }
      case TAG.END:
        return END
      case TAG.LATER: {
        const laterTag = this.readByte()
        const object = this.readHead(laterTag)
        this.objects.push(object)
        this.later.push({ tag: laterTag, object })
        return object
      }
      case TAG.NESTED: {
        const owner = this.findNest(this.readCount())
        const nest = this.findNest(this.readCount())
        const next = this.readByte()
        if (next === TAG.NESTED) throw makeDamagedError('an object is nested twice')
        const object = this.readTagged(next)
        if (!(object instanceof HarnList || object instanceof Keyed)) throw makeDamagedError('what is nested is no container')
        object.owner = owner
        object.nest = nest
        return object
      }
      default: {
        const object = this.readHead(tag)
        this.objects.push(object)
        if (++this.depth > MAX_DEPTH) throw makeDamagedError('it is nested too deeply')
        this.readContents(tag, object)
        this.depth--
        return object
      }
    }
  }

  /** A number of the table, 0 for none. */
  private findNest(number: number): Nest | null {
    if (number === 0) return null
    const known = this.nests.get(number) ?? new Nest()
    this.nests.set(number, known)
    return known
  }

  private readHead(tag: number): object {
    const row = ROW_BY_TAG[tag]
    if (row !== undefined) {
      const object = row.make()
      this.unchecked.push({ row, object })
      return object
    }
    switch (tag) {
      case TAG.DICT:
        return new HarnDict()
      case TAG.LIST:
        return new HarnList([])
      case TAG.DICT_OWNED: {
        const dict = new HarnDict()
        dict.owned = true
        return dict
      }
      case TAG.LIST_OWNED: {
        const list = new HarnList([])
        list.owned = true
        return list
      }
      case TAG.ARRAY:
        return []
      case TAG.STRUCT:
        return new HarnStruct('', '')
      case TAG.STRUCT_OWNED: {
        const struct = new HarnStruct('', '')
        struct.owned = true
        return struct
      }
      case TAG.CLOSURE: {
        const key = this.readText()
        return new HarnClosure(this.resolver.code(key, this.readCount()), [])
      }
      case TAG.NATIVE:
        return new NativeActivation(this.resolver.frame(this.readText()), {}, 0)
      case TAG.COROUTINE:
        return new Coroutine(null)
      case TAG.SET:
        return new HarnSet()
      case TAG.MAP:
        return new Map()
      case TAG.JS_SET:
        return new Set()
      case TAG.BYTES:
        return new HarnBytes(this.take(this.readCount()).slice())
      case TAG.U8:
        return this.take(this.readCount()).slice()
      case TAG.OBJECT:
        return {}
      case TAG.RECORD:
        return Object.create(null) as object
      default:
        throw makeDamagedError(`nothing has the number ${tag}`)
    }
  }

  private readContents(tag: number, object: object): void {
    switch (tag) {
      case TAG.DICT:
      case TAG.DICT_OWNED:
        return this.readKeyed(object as HarnDict)
      case TAG.LIST:
      case TAG.LIST_OWNED:
        return this.list(object as HarnList)
      case TAG.ARRAY: {
        const length = this.readLength()
        for (let at = 0; at < length; at++) (object as unknown[]).push(this.readValue())
        return
      }
      case TAG.STRUCT:
      case TAG.STRUCT_OWNED: {
        const struct = object as Mutable<HarnStruct>
        struct.name = this.readText()
        struct.home = this.readText()
        return this.readKeyed(object as HarnStruct)
      }
      case TAG.CLOSURE: {
        const captures = this.readValue()
        if (!Array.isArray(captures)) throw makeDamagedError('a closure lacks captured values')
        const closure = object as Mutable<HarnClosure>
        closure.captures = captures
        // The values may not be read yet, in a long chain of closures.
        this.closures.push(closure)
        return
      }
      case TAG.NATIVE: {
        const state = this.readValue()
        if (typeof state !== 'object' || state === null) throw makeDamagedError('a native frame has no state')
        const activation = object as Mutable<NativeActivation>
        activation.state = state as FrameState
        activation.savedLimit = this.readCount()
        activation.timedOut = this.readFlag()
        return
      }
      case TAG.COROUTINE:
        return this.readCoroutine(object as Coroutine)
      case TAG.SET:
        return this.map((object as HarnSet).map)
      case TAG.MAP:
        return this.map(object as Map<unknown, unknown>)
      case TAG.JS_SET: {
        const length = this.readLength()
        for (let at = 0; at < length; at++) (object as Set<unknown>).add(this.readValue())
        return
      }
      case TAG.OBJECT:
      case TAG.RECORD:
        return this.readFields(object as Record<string, unknown>)
      case TAG.BYTES:
      case TAG.U8:
        return
      default: {
        for (const name of ROW_BY_TAG[tag]!.names) (object as Record<string, unknown>)[name] = this.readValue()
      }
    }
  }

  private readKeyed(object: Keyed): void {
    const length = this.readLength()
    for (let at = 0; at < length; at++) {
      const key = this.readText()
      object.set(key, this.readValue() as Value)
    }
  }

  private map(map: Map<unknown, unknown>): void {
    const length = this.readLength()
    for (let at = 0; at < length; at++) {
      const key = this.readValue()
      map.set(key, this.readValue())
    }
  }

  private readFields(object: Record<string, unknown>): void {
    const length = this.readLength()
    for (let at = 0; at < length; at++) {
      const name = this.readText()
      const value = this.readValue()
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
      else object[name] = value
    }
  }

  private list(list: HarnList): void {
    const items = this.readValue()
    const length = this.readCount()
    if (!Array.isArray(items)) throw makeDamagedError('a list has no items')
    list.boxed = items as Value[]
    list.length = length
    // The items may not be read yet: a list inside itself, or deferred contents.
    if (length > items.length) this.lists.push(list)
  }

  private readCoroutine(target: Coroutine): void {
    const co = target as Mutable<Coroutine>
    const frames = this.readLength()
    for (let fp = 0; fp < frames; fp++) {
      const frame = this.readValue()
      if (!(frame instanceof HarnClosure) && !(frame instanceof NativeActivation)) throw makeDamagedError('a frame is of no kind')
      const base = this.readCount()
      if (base < (fp === 0 ? 1 : co.bases[fp - 1]!)) throw makeDamagedError('a frame is out of place')
      co.frames[fp] = frame
      co.bases[fp] = base
      co.returns[fp] = this.place(co.frames[fp - 1])
    }
    co.fp = frames - 1
    co.base = frames === 0 ? 0 : co.bases[frames - 1]!
    co.instr = this.place(co.frames[frames - 1])
    co.regs = this.readValues() as Value[]
    if (co.regs.length !== co.top) throw makeDamagedError('a stack has too few registers')
    const [limit, run] = [this.readValue(), this.readValue()]
    const outerRuns = this.readValues()
    const generator = this.readValue()
    const resumer = this.readValue()
    if (!isIndex(limit) || !isIndex(run) || !outerRuns.every(isIndex)) throw makeDamagedError('a stack has no bounds')
    if (generator !== null && !(generator instanceof HarnGenerator)) throw makeDamagedError('a stack belongs to no generator')
    if (resumer !== null && !(resumer instanceof Coroutine)) throw makeDamagedError('a stack was resumed by none')
    co.limit = limit
    co.run = run
    co.outerRuns = outerRuns as number[]
    co.generator = generator
    co.resumer = resumer
    co.paused = this.readFlag()
  }

  private place(frame: HarnClosure | NativeActivation | undefined): Instr {
    const place = this.readValue()
    if (!isIndex(place)) throw makeDamagedError('a position is no number')
    return decodePlace(place, frame)
  }

  private readInt(): number | bigint {
    const value = this.readValue()
    if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value as number | bigint
    throw makeDamagedError('an int is none')
  }

  private readFlag(): boolean {
    const byte = this.readByte()
    if (byte > 1) throw makeDamagedError('a flag is neither set nor clear')
    return byte === 1
  }

  private readBigint(): bigint {
    const digits = this.readText()
    if (!/^-?[0-9]{1,20}$/.test(digits)) throw makeDamagedError('an int is none')
    return BigInt(digits)
  }

  private readDouble(): number {
    const { bytes } = this
    if (this.at + 8 > bytes.length) throw makeDamagedError('it ends early')
    for (let k = 0; k < 8; k++) doubles.setUint8(k, bytes[this.at + k]!)
    this.at += 8
    return doubles.getFloat64(0, true)
  }

  private getKnownText(number: number): string {
    const text = this.texts[number]
    if (text === undefined) throw makeDamagedError('a text is mentioned again that was never mentioned')
    return text
  }

  private readNewText(length: number): string {
    const end = this.textsAt + length
    if (end > this.allTexts.length) throw makeDamagedError('a text is missing')
    const text = this.allTexts.slice(this.textsAt, end)
    this.textsAt = end
    this.texts.push(text)
    return text
  }
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function decodeNarrow(encoded: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(encoded)
  } catch {
    throw makeDamagedError('its texts are no UTF-8')
  }
}

function decodeWide(encoded: Uint8Array): string {
  const pieces: string[] = []
  const units: number[] = []
  for (let at = 0; at + 1 < encoded.length; at += 2) {
    units.push(encoded[at]! | (encoded[at + 1]! << 8))
    if (units.length === 4096) pieces.push(String.fromCharCode(...units.splice(0)))
  }
  pieces.push(String.fromCharCode(...units))
  return pieces.join('')
}
