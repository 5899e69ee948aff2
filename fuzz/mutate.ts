// Mutations of texts and of JSON-like data. A mutation keeps most of its input, because a random one is refused at
// the first character and tests nothing else.

import type { Random } from './random.js'

/** Strings at edge cases of the lexer, the number ranges and the nesting limits. */
const FRAGMENTS = [
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '9007199254740993',
  '0.0000001',
  '1e5',
  '00',
  '1d',
  '99999999999999w',
  '1.5s',
  '"',
  '"""',
  'r"',
  '${',
  '}',
  '\\',
  '\\\n',
  '/*',
  '*/',
  '//',
  '#!',
  '\u0000',
  '\ud800',
  '😀',
  'é',
  '\u2028',
  '\r\n',
  '__proto__',
  'constructor',
  '_',
  ' to ',
  ' exclusive',
  ' ?? ',
  '?.',
  '?[',
  '?',
  ' |> ',
  '...',
  '->',
  '**',
  '!=',
  ' not in ',
  ';;',
  '@test',
  'try* ',
  'spawn { ',
  'parallel 3 { ',
  'defer { ',
  'yield ',
  'emit ',
  'return ',
  'break',
  'continue',
  'throw ',
  'retry 2 { ',
  'deadline 5ms { ',
  'mutex { ',
  'select { ',
  'match ',
  'gen fn ',
  'fn f() { ',
  '{ -> ',
  'nil',
  '[]',
  '{}',
]

/** Pieces of a script that approximate tokens: enough to cut and paste, without the language's own lexer. */
function pieces(text: string): string[] {
  return text.match(/\w+|\s+|"[^"\n]*"|[^\w\s]/gu) ?? []
}

/** A script with a few changes, some of them pieces of `donor`. */
export function mutateSource(random: Random, text: string, donor: string): string {
  const own = pieces(text)
  const other = pieces(donor)
  for (let changes = random.between(1, 4); changes > 0; changes--) {
    const at = random.below(own.length + 1)
    const length = random.below(6)
    switch (random.below(8)) {
      case 0:
        own.splice(at, length)
        break
      case 1:
      case 2: {
        const from = random.below(other.length)
        own.splice(at, 0, ...other.slice(from, from + random.between(1, 14)))
        break
      }
      case 3:
        own[at] = other[random.below(other.length)] ?? ''
        break
      case 4:
        own.splice(at, 0, ...own.slice(at, at + length))
        break
      case 5:
        own.splice(at, 0, random.pick(FRAGMENTS))
        break
      case 6: {
        const swap = random.below(own.length + 1)
        const held = own[at] ?? ''
        own[at] = own[swap] ?? ''
        own[swap] = held
        break
      }
      default:
        own.splice(at, 0, nest(random))
        break
    }
  }
  let mutated = own.join('')
  if (random.oneIn(12)) mutated = mutated.slice(0, random.below(mutated.length))
  if (random.oneIn(12)) mutated = mutateBytes(random, mutated)
  return mutated
}

/** Repeats a piece, opened and perhaps not closed. */
function nest(random: Random): string {
  const times = random.oneIn(6) ? random.between(150, 3000) : random.between(2, 30)
  const [open, close] = random.pick([
    ['(', ')'],
    ['[', ']'],
    ['{a: ', '}'],
    ['!', ''],
    ['-', ''],
    ['"${', '}"'],
    ['if true { ', ' }'],
    ['{ -> ', ' }'],
    ['1 + ', ''],
    ['f(', ')'],
  ] as const)
  return `${open.repeat(times)}1${random.oneIn(3) ? '' : close.repeat(times)}`
}

/** A text with single characters changed. */
export function mutateBytes(random: Random, text: string): string {
  let mutated = text
  for (let changes = random.between(1, 4); changes > 0; changes--) {
    const at = random.below(mutated.length + 1)
    const replacement = random.oneIn(4)
      ? random.pick(FRAGMENTS)
      : String.fromCharCode(random.oneIn(8) ? random.below(0x10000) : random.between(32, 126))
    mutated = mutated.slice(0, at) + (random.oneIn(3) ? '' : replacement) + mutated.slice(at + random.below(3))
  }
  return mutated
}

/** Values that may be anywhere in data: edge cases, and values of another type than before. */
const EDGES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  2,
  7,
  255,
  65536,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  1.5,
  '',
  'x',
  '0',
  '__proto__',
  [],
  {},
  [[0]],
  [0],
]

/** Changes some positions within JSON-like data, in place. `data` itself is never replaced. */
export function mutateData(random: Random, data: object): void {
  const places = collectPlaces(data)
  for (let changes = random.between(1, 3); changes > 0; changes--) {
    const { holder, key } = random.pick(places)
    const old: unknown = Reflect.get(holder, key)
    Reflect.set(holder, key, replacement(random, old, places))
    if (Array.isArray(holder) && random.oneIn(8)) holder.splice(random.below(holder.length), random.below(3))
    if (Array.isArray(holder) && random.oneIn(8)) holder.splice(random.below(holder.length), 0, random.pick(EDGES))
    if (!Array.isArray(holder) && random.oneIn(12)) Reflect.deleteProperty(holder, key)
  }
}

interface Place {
  readonly holder: object
  readonly key: string | number
}

/** Every position of the data that can be replaced; shared objects once. */
function collectPlaces(root: object): Place[] {
  const places: Place[] = []
  const seen = new Set<object>([root])
  const work: object[] = [root]
  for (let holder = work.pop(); holder !== undefined; holder = work.pop()) {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key: Array.isArray(holder) ? Number(key) : key })
      const value: unknown = Reflect.get(holder, key)
      if (typeof value === 'object' && value !== null && !seen.has(value)) {
        seen.add(value)
        work.push(value)
      }
    }
  }
  return places
}

function replacement(random: Random, old: unknown, places: readonly Place[]): unknown {
  if (typeof old === 'number' && !random.oneIn(4)) {
    return random.pick([old + 1, old - 1, old + random.between(-20, 20), random.below(140), old * 2, -old])
  }
  if (typeof old === 'boolean' && !random.oneIn(4)) return !old
  if (random.oneIn(2)) return random.pick(EDGES)
  const other = random.pick(places)
  const value: unknown = Reflect.get(other.holder, other.key)
  // A copy, so that the data stays a tree.
  return typeof value === 'object' && value !== null ? structuredClone(value) : value
}

/** Bytes with a few of them flipped, replaced, removed, duplicated, cut off, or taken from `donor`. */
export function mutateRaw(random: Random, bytes: Uint8Array, donor: Uint8Array): Uint8Array {
  let own = [...bytes]
  for (let changes = random.between(1, 3); changes > 0; changes--) {
    const at = random.below(own.length)
    switch (random.below(6)) {
      case 0:
        own[at] = (own[at] ?? 0) ^ (1 << random.below(8))
        break
      case 1:
        own[at] = random.below(256)
        break
      case 2:
        own.splice(at, random.between(1, 8))
        break
      case 3:
        own.splice(at, 0, ...own.slice(at, at + random.between(1, 16)))
        break
      case 4: {
        const from = random.below(donor.length)
        const length = random.between(1, 24)
        own.splice(at, random.oneIn(2) ? length : 0, ...donor.slice(from, from + length))
        break
      }
      default:
        if (random.oneIn(3)) own = own.slice(0, at)
        else own.splice(at, 1, random.pick([0, 127, 128, 255]))
    }
  }
  return Uint8Array.from(own)
}
