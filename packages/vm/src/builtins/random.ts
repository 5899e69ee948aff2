// Randomness. A seeded generator is a value of the machine, deterministic and part of snapshots. Without one, random bytes are
// an effect (`random.bytes`): each call requests the bytes it needs, so that a journal or a mock decides them.
//
// The generator is xoshiro128** over four 32-bit words; a seed is spread over them by splitmix64.

import { builtin, frame } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, FrameState, Result } from './builtin.js'
import { chargeList } from './core-values.js'
import { makeEachWork, definePieces } from './pieces.js'
import type { BuiltinFamily } from './registry.js'
import { HarnRng } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnFloat } from '../values/scalars.js'
import { isInt, wrapInt } from '../values/value.js'
import type { Int, Value } from '../values/value.js'

export function seedRng(seed: Int): HarnRng {
  let state = BigInt.asUintN(64, BigInt(seed))
  const words: number[] = []
  while (words.length < 4) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n)
    let mixed = state
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n)
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn)
    mixed ^= mixed >> 31n
    words.push(Number(mixed & 0xffffffffn), Number(mixed >> 32n))
  }
  return new HarnRng(words)
}

function rotate(word: number, bits: number): number {
  return ((word << bits) | (word >>> (32 - bits))) >>> 0
}

/** The next 32 bits; advances the generator. */
export function drawWord(rng: HarnRng): number {
  const w = rng.words as [number, number, number, number]
  const result = Math.imul(rotate(Math.imul(w[1], 5), 7), 9) >>> 0
  const shifted = w[1] << 9
  w[2] ^= w[0]
  w[3] ^= w[1]
  w[1] = (w[1] ^ w[2]) >>> 0
  w[0] = (w[0] ^ w[3]) >>> 0
  w[2] = (w[2] ^ shifted) >>> 0
  w[3] = rotate(w[3] >>> 0, 11)
  return result
}

/** 53 random bits as a float in [0, 1). */
function drawUnitFloat(rng: HarnRng): number {
  const high = drawWord(rng) >>> 5
  const low = drawWord(rng) >>> 6
  return (high * 2 ** 26 + low) / 2 ** 53
}

/** A uniform int below `bound` (1 … 2^64). Rejects draws that would favour small results. */
function drawBelow(rng: HarnRng, bound: bigint): bigint {
  const limit = (1n << 64n) - ((1n << 64n) % bound)
  for (;;) {
    const draw = (BigInt(drawWord(rng)) << 32n) | BigInt(drawWord(rng))
    if (draw < limit) return draw % bound
  }
}

/** The kinds of draws. A frame that waits for random bytes keeps the row name and its arguments. */
const DRAWS: { readonly [name: string]: (rng: HarnRng, args: readonly Value[]) => Value } = {
  float: (rng) => new HarnFloat(drawUnitFloat(rng)),
  int: (rng, [low, high]) => {
    const from = BigInt(low as Int)
    return wrapInt(from + drawBelow(rng, BigInt(high as Int) - from + 1n))
  },
  choice: (rng, [list]) => {
    const { items, length } = list as HarnList
    return items[Number(drawBelow(rng, BigInt(length)))]!
  },
}

const UNITS_A_DRAW = 4

/** Draws from a copy, which replaces the generator at the end: a run that is restored in between draws the same values again. */
const shuffling = definePieces('random.shuffle', ([rng, list]) => {
  const { words } = rng as HarnRng
  const copy = new HarnRng(words.slice())
  const items = (list as HarnList).copyItems()
  const last = items.length - 1
  return makeEachWork(
    last,
    (drawn, budget) => {
      const at = last - drawn
      const other = Number(drawBelow(copy, BigInt(at + 1)))
      const item = items[at]!
      items[at] = items[other]!
      items[other] = item
      budget.left -= UNITS_A_DRAW
      return undefined
    },
    () => {
      for (const [at, word] of copy.words.entries()) words[at] = word
      return new HarnList(items)
    },
  )
})

interface DrawState extends FrameState {
  draw: string
  args: Value[]
  asked: boolean
  drawn: boolean
}

/** Generator state from 16 random bytes. All zeros would be a fixed point, so it is excluded. */
function makeRng(bytes: Uint8Array): HarnRng {
  const words = [0, 4, 8, 12].map((at) => [0, 1, 2, 3].reduce((word, byte) => (word * 256 + (bytes[at + byte] ?? 0)) >>> 0, 0))
  return words.every((word) => word === 0) ? seedRng(0) : new HarnRng(words)
}

const drawFrame: FrameDef = frame<DrawState>({
  kind: 'random.draw',
  step: (ctx, state) => {
    if (!state.asked) {
      state.asked = true
      return ctx.request({ kind: 'random.bytes', args: { count: 16 } })
    }
    const { result } = ctx
    if (state.drawn) return result
    state.drawn = true
    const rng = makeRng(result instanceof HarnBytes ? result.data : new Uint8Array(16))
    return drawFrom(ctx, rng, state.draw, state.args)
  },
})

function drawFrom(ctx: Context, rng: HarnRng, name: string, args: readonly Value[]): Result {
  return name === 'shuffle' ? shuffling.run(ctx, rng, args[0]!) : DRAWS[name]!(rng, args)
}

function draw(ctx: Context, rng: HarnRng | null, name: string, ...args: Value[]): Result {
  if (rng !== null) return drawFrom(ctx, rng, name, args)
  const state: DrawState = { draw: name, args, asked: false, drawn: false }
  return ctx.frame('random.draw', state)
}

/** Separates a leading generator from the other arguments. */
function splitLeadingRng(
  ctx: Context,
  args: readonly Value[],
): { readonly rng: HarnRng | null; readonly rest: readonly Value[] } {
  const passed = args.slice(0, ctx.argc)
  const [first] = passed
  return first instanceof HarnRng ? { rng: first, rest: passed.slice(1) } : { rng: null, rest: passed }
}

function defineRandomized(
  signature: string,
  doc: string,
  body: (ctx: Context, rng: HarnRng | null, args: readonly Value[]) => Result,
): BuiltinDef {
  return builtin(signature, { doc, effects: ['random.bytes'] }, (ctx, ...args) => {
    const { rng, rest } = splitLeadingRng(ctx, args)
    return body(ctx, rng, rest)
  })
}

export const randomFamily: BuiltinFamily = {
  name: 'random',
  builtins: [
    builtin('rng_seed(seed: int) -> rng as ?', { doc: 'A generator whose sequence the seed decides.' }, (ctx, seed = null) =>
      isInt(seed) ? seedRng(seed) : ctx.type('rng_seed(seed): seed must be an integer'),
    ),
    defineRandomized('random(rng?: rng) -> float', 'A float from 0 up to, not including, 1.', (ctx, rng) =>
      draw(ctx, rng, 'float'),
    ),
    defineRandomized(
      'random_int(rng_or_min: rng|int, min_or_max: int, max?: int) -> int as ?',
      'An int between two, both possible.',
      (ctx, rng, args) => {
        const [low, high] = args
        if (low === undefined || high === undefined) return null
        if (!isInt(low)) return ctx.type('random_int: min must be an integer')
        if (!isInt(high)) return ctx.type('random_int: max must be an integer')
        return low > high ? null : draw(ctx, rng, 'int', low, high)
      },
    ),
    defineRandomized(
      'random_choice(rng_or_list: rng|list, list?: list) -> any',
      'An element of the list, nil when it is empty.',
      (ctx, rng, [list]) => (list instanceof HarnList && list.length > 0 ? draw(ctx, rng, 'choice', list) : null),
    ),
    defineRandomized(
      'random_shuffle(rng_or_list: rng|list, list?: list) -> list',
      'The elements in random order, in a new list.',
      (ctx, rng, [list]) => {
        if (!(list instanceof HarnList)) return null
        chargeList(ctx, list.length)
        return draw(ctx, rng, 'shuffle', list)
      },
    ),
  ],
  frames: [drawFrame, shuffling.frame],
}
