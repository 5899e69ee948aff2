// THE table of programs that `npm run bench` times. Each row has a script in scripts/, the same work in plain JavaScript, which
// is the yardstick of every ratio, and if there is a scripts/<name>.lua, the same in Lua. All must print the same text
// before any time counts. The first line of a script is the question that it answers.

import { binaryTrees, nbody, spectralNorm } from './numeric.js'

export interface Workload {
  readonly name: string
  readonly js: () => string
}

function fib(n: number): number {
  return n < 2 ? n : fib(n - 1) + fib(n - 2)
}

function escapes(cr: number, ci: number, limit: number): number {
  let zr = 0
  let zi = 0
  for (let n = 0; n < limit; n++) {
    const zr2 = zr * zr
    const zi2 = zi * zi
    if (zr2 + zi2 > 4) return n
    zi = 2 * zr * zi + ci
    zr = zr2 - zi2 + cr
  }
  return limit
}

function numbers(count: number): number[] {
  const xs: number[] = []
  for (let i = 0; i < count; i++) xs.push(i)
  return xs
}

class Counter {
  private readonly step: number
  constructor(step: number) {
    this.step = step
  }
  next(at: number): number {
    return (at + this.step) % 1000003
  }
}

type Shape =
  | { readonly kind: 'circle'; readonly r: number }
  | { readonly kind: 'rect'; readonly w: number; readonly h: number }
  | { readonly kind: 'empty' }

function area(shape: Shape): number {
  switch (shape.kind) {
    case 'circle':
      return shape.r * shape.r * 3
    case 'rect':
      return shape.w * shape.h
    case 'empty':
      return 0
  }
}

function word(n: number): string {
  switch (n) {
    case 0:
      return 'zero'
    case 1:
      return 'one'
    case 2:
      return 'two'
    default:
      return 'many'
  }
}

function risky(n: number): number {
  // A thrown string, as in the script: the cost of making an Error is not the question.
  if (n % 2 === 0) throw 'even' // eslint-disable-line no-throw-literal
  return n
}

function* countTo(n: number): Generator<number> {
  for (let i = 0; i < n; i++) yield i * 2
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'fib', js: () => String(fib(30)) },
  { name: 'nbody', js: nbody },
  { name: 'spectral_norm', js: spectralNorm },
  { name: 'binary_trees', js: binaryTrees },
  {
    name: 'int_loop',
    js: () => {
      let sum = 0
      for (let i = 0; i < 3_000_000; i++) sum = (sum + i * 3) % 1000003
      return String(sum)
    },
  },
  {
    name: 'float_loop',
    js: () => {
      let total = 0
      for (let y = 0; y < 80; y++) for (let x = 0; x < 80; x++) total += escapes(x * 0.03125 - 1.75, y * 0.025 - 1, 100)
      return String(total)
    },
  },
  {
    name: 'iteration',
    js: () => {
      const xs = numbers(1000)
      let sum = 0
      for (let round = 0; round < 500; round++) {
        for (const x of xs) sum = (sum + x) % 1000003
        for (let k = 0; k < 1000; k++) sum = (sum + k) % 1000003
      }
      return String(sum)
    },
  },
  {
    name: 'list',
    js: () => {
      const xs: number[] = []
      let seed = 42
      for (let i = 0; i < 100_000; i++) {
        seed = (seed * 16807) % 2147483647
        xs.push(seed % 1000000)
      }
      let sum = 0
      for (let i = 0; i < 100_000; i++) sum = (sum * 31 + xs[i]!) % 1000003
      const sorted = xs.toSorted((a, b) => a - b)
      return `${xs.length} ${sum} ${sorted[0]} ${sorted[50000]} ${sorted[99999]}`
    },
  },
  {
    name: 'list_update',
    js: () => {
      const limit = 200_000
      const composite: boolean[] = []
      for (let i = 0; i <= limit; i++) composite.push(false)
      let count = 0
      for (let i = 2; i <= limit; i++) {
        if (composite[i]!) continue
        count++
        for (let k = i * 2; k <= limit; k += i) composite[k] = true
      }
      return String(count)
    },
  },
  {
    name: 'dict',
    js: () => {
      const keys: string[] = []
      for (let i = 0; i < 5000; i++) keys.push(`key${i}`)
      const counts = new Map<string, number>()
      let k = 0
      for (let i = 0; i < 300_000; i++) {
        k = (k + 7919) % 5000
        const key = keys[k]!
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      let sum = 0
      for (const key of keys) sum += counts.get(key)! * key.length
      return `${counts.size} ${sum}`
    },
  },
  {
    name: 'dict_property',
    js: () => {
      const order = { price: 17, amount: 3, tax: { rate: 7 } }
      let sum = 0
      for (let i = 0; i < 500_000; i++) sum = (sum + order.price * order.amount + order.tax.rate) % 1000003
      return String(sum)
    },
  },
  {
    name: 'string',
    js: () => {
      let text = ''
      for (let i = 0; i < 100_000; i++) text += `item ${i}, `
      const parts = text.split(', ')
      let length = 0
      for (const part of parts) length += part.length
      return `${text.length} ${parts.length} ${length} ${parts.join(';').length}`
    },
  },
  {
    name: 'struct_field',
    js: () => {
      const p = { x: 0, y: 1 }
      for (let i = 0; i < 500_000; i++) {
        p.x = (p.x + p.y * 3) % 1000003
        p.y = (p.y + i) % 1009
      }
      return `${p.x} ${p.y}`
    },
  },
  {
    name: 'struct_method',
    js: () => {
      const counter = new Counter(7)
      let at = 0
      for (let i = 0; i < 500_000; i++) at = counter.next(at)
      return String(at)
    },
  },
  {
    name: 'method',
    js: () => {
      const words = ['alpha', 'beta', 'gamma', 'delta']
      let sum = 0
      for (let i = 0; i < 500_000; i++) {
        const each = words[i % 4]!
        if (each.includes('a')) sum += each.indexOf('a')
        sum = (sum + each.length + words.length) % 1000003
      }
      return String(sum)
    },
  },
  {
    name: 'closures',
    js: () => {
      const xs = numbers(1000)
      let sum = 0
      for (let round = 0; round < 300; round++) {
        const kept = xs.map((x) => x * 3 + round).filter((x) => x % 2 === 0)
        sum = (sum + kept.reduce((acc, x) => acc + x, 0)) % 1000003
      }
      return String(sum)
    },
  },
  {
    name: 'match',
    js: () => {
      const shapes: Shape[] = [
        { kind: 'circle', r: 2 },
        { kind: 'rect', w: 3, h: 4 },
        { kind: 'empty' },
        { kind: 'circle', r: 5 },
      ]
      let sum = 0
      for (let i = 0; i < 300_000; i++) sum = (sum + area(shapes[i % 4]!) + word(i % 5).length) % 1000003
      return String(sum)
    },
  },
  {
    name: 'throw_catch',
    js: () => {
      let sum = 0
      for (let i = 0; i < 300_000; i++) {
        try {
          sum = (sum + risky(i)) % 1000003
        } catch (error) {
          sum += String(error).length
        }
      }
      return String(sum)
    },
  },
  {
    name: 'generators',
    js: () => {
      let last = 0
      let count = 0
      for (const x of countTo(300_000)) {
        last = x
        count++
      }
      return `${count} ${last}`
    },
  },
]
