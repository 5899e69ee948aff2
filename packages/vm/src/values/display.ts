// Formats a value as print, interpolation, dict-key conversion and error messages show it.
// Strings are never quoted. Deep data is walked with a work list, so depth cannot overflow the JavaScript stack.

import { HarnBuiltin, HarnCell, HarnClosure, HarnStruct } from './callable.js'
import { HarnDict } from './dict.js'
import { EndOfIteration, HarnAtomic, HarnChannel, HarnGenerator, HarnIter, HarnPermit, HarnRng, HarnTask } from './handles.js'
import { HarnList } from './list.js'
import { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange } from './scalars.js'
import { HarnSet } from './set.js'
import { SHORT_TEXT, visit, work } from './meter.js'
import { TextBuilder } from './text-builder.js'
import type { Value } from './value.js'

/** One decimal for an integral float below 10^15, otherwise the shortest round-trip digits, never an exponent. */
export function displayFloat(v: number): string {
  if (Number.isNaN(v)) return 'NaN'
  if (v === Infinity) return 'inf'
  if (v === -Infinity) return '-inf'
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return `${Object.is(v, -0) ? '-0' : v}.0`
  const text = String(v)
  return text.includes('e') ? expandExponent(text) : text
}

function expandExponent(text: string): string {
  const [, sign, whole, fraction = '', exponentText] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)!
  const exponent = Number(exponentText)
  const digits = whole! + fraction
  const point = whole!.length + exponent
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? sign + digits + '0'.repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

export function displayDuration(ms: number | bigint): string {
  const total = BigInt(ms)
  const size = total < 0n ? -total : total
  const sign = total < 0n ? '-' : ''
  if (size === 0n) return '0ms'
  if (size % 3600000n === 0n) return `${sign}${size / 3600000n}h`
  if (size % 60000n === 0n) return `${sign}${size / 60000n}m`
  if (size % 1000n === 0n) return `${sign}${size / 1000n}s`
  return `${sign}${size}ms`
}

/** A value without members, formatted; null for containers. */
function displayLeaf(value: Value): string | null {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'nil'
  if (value instanceof HarnFloat) return displayFloat(value.v)
  if (value instanceof HarnRange) return `${value.start} to ${value.end}${value.exclusive ? ' exclusive' : ''}`
  if (value instanceof HarnDuration) return displayDuration(value.ms)
  if (value instanceof HarnBytes) {
    const shown = Array.from(value.data.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join('')
    return `b"${shown}${value.data.length > 32 ? `...+${value.data.length - 32}` : ''}"`
  }
  if (value instanceof HarnClosure) return `<fn(${value.code.paramNames.join(', ')})>`
  if (value instanceof HarnBuiltin) return `<builtin ${value.name}>`
  if (value instanceof HarnGenerator) return `<${value.kind}${value.done ? ' (done)' : ''}>`
  if (value instanceof HarnIter) return value.done ? '<iter (exhausted)>' : '<iter>'
  if (value instanceof HarnChannel) return `<channel:${value.name}>`
  if (value instanceof HarnTask) return `<task:vm_task_${value.number}>`
  if (value instanceof HarnAtomic) return `<atomic:${value.value}>`
  if (value instanceof HarnRng) return '<rng>'
  if (value instanceof HarnPermit) return `<sync_permit:${value.kind}:${value.key}>`
  if (value instanceof HarnCell) return displayLeaf(value.value)
  if (value instanceof HarnList || value instanceof HarnDict || value instanceof HarnSet || value instanceof HarnStruct)
    return null
  if (value instanceof HarnPair || value instanceof HarnEnum) return null
  if (value instanceof EndOfIteration) return 'nil'
  return `<${value.kind}:${value.id}>`
}

/** A container being formatted: its members from `at` on are not written yet. */
interface Open {
  /** Labels of the members, null for those without. */
  readonly keys: readonly string[] | null
  readonly members: readonly Value[]
  readonly close: string
  at: number
}

export function display(root: Value): string {
  const leaf = displayLeaf(root)
  if (leaf !== null) return leaf
  const walk = new DisplayWalk(root)
  walk.step(Infinity)
  return walk.text
}

/** Formats a container in pieces. The value must not change between two pieces. */
export class DisplayWalk {
  private readonly stack: Open[] = []
  private readonly out = new TextBuilder()

  constructor(root: Value) {
    work(VISITS_A_CONTAINER)
    this.out.add(begin(this.stack, root))
  }

  /** Formats up to `piece` members; returns whether everything is done. */
  step(piece: number): boolean {
    const { stack } = this
    let visited = 0
    let left = piece
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { keys, members } = top
      if (top.at === members.length) {
        this.out.add(top.close)
        stack.pop()
        continue
      }
      if (left-- <= 0) return false
      const at = top.at++
      visited = visit(visited, VISITS_A_MEMBER)
      const label = (at > 0 ? ', ' : '') + (keys === null ? '' : `${keys[at]!}: `)
      const member = members[at]!
      const text = displayLeaf(member)
      if (text !== null) {
        // Long strings are copied.
        if (text.length > SHORT_TEXT) visited = visit(visited, text.length >> COPIED_BITS)
        this.out.add(label + text)
      } else {
        visited = visit(visited, VISITS_A_CONTAINER)
        this.out.add(label + begin(stack, member))
      }
    }
    return true
  }

  get text(): string {
    return this.out.toString()
  }

  /** Characters so far. */
  get length(): number {
    return this.out.length
  }
}

/** Formatting a value takes about as long as two steps of other walks; starting a container takes more. */
const VISITS_A_MEMBER = 2
const VISITS_A_CONTAINER = 6

/** Characters copied per step, as a power of two. */
const COPIED_BITS = 8

/** Pushes a container and returns the characters before its members. */
function begin(stack: Open[], value: Value): string {
  if (value instanceof HarnList) return open(stack, '[', null, value.view(), ']')
  if (value instanceof HarnDict) return open(stack, '{', value.keys(), value.members(), '}')
  if (value instanceof HarnStruct) return open(stack, `${value.name} {`, value.keys(), value.members(), '}')
  if (value instanceof HarnSet) return open(stack, 'set(', null, value.values(), ')')
  if (value instanceof HarnPair) return open(stack, '(', null, [value.first, value.second], ')')
  if (!(value instanceof HarnEnum)) return ''
  const name = `${value.enumName}.${value.variant}`
  return value.fields.length === 0 ? name : open(stack, `${name}(`, null, value.fields, ')')
}

function open(stack: Open[], head: string, keys: readonly string[] | null, members: readonly Value[], close: string): string {
  stack.push({ keys, members, close, at: 0 })
  return head
}
