// What builtins over many elements cost beside plain JavaScript doing the same: sorting, sets, text, regular expressions, JSON and
// templates at four sizes. Data are made outside and handed to the script as a global, so that only the builtin is timed; what an
// empty script takes is taken off. Results are checked against JavaScript's before the first time is taken.

import { fromPlain } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { figure } from './stats.js'
import { warmTime } from './timing.js'
import type { Engine } from './engine.js'

export const BULK_SIZES = [1_000, 10_000, 100_000, 1_000_000] as const

interface Operation {
  readonly script: string
  readonly data: (size: number) => Plain
  /** The same in plain JavaScript, answering what the script prints. */
  readonly js: (data: never) => string
  /** Largest size that is measured; a million where absent. */
  readonly most?: number
}

/** A fixed sequence that looks random: the same data in every run and every process. */
function scattered(size: number): number[] {
  let state = 12_345
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state % (size * 4)
  })
}

const words = (size: number): string[] => scattered(size).map((n) => `w${n.toString(36)}`)
const records = (size: number): { id: number; name: string; tags: string[]; score: number }[] =>
  scattered(size).map((n, id) => ({ id, name: `name ${n}`, tags: ['a', `t${n % 7}`], score: n / 8 + 0.25 }))

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'sort ints': {
    script: 'println(data.sort()[0])',
    data: scattered,
    js: (xs: number[]) => String([...xs].sort((a, b) => a - b)[0]),
  },
  'sort strings': {
    script: 'println(data.sort()[0])',
    data: words,
    js: (xs: string[]) => [...xs].sort(byText)[0]!,
  },
  'sort_by a closure': {
    script: 'println(data.sort_by({ x -> 0 - x })[0])',
    data: scattered,
    js: (xs: number[]) => {
      const keyed = xs.map((x) => ({ key: 0 - x, x }))
      return String(keyed.sort((a, b) => a.key - b.key)[0]!.x)
    },
  },
  unique: {
    script: 'println(len(data.unique()))',
    data: scattered,
    js: (xs: number[]) => {
      const found = [...new Set(xs)]
      return String(found.length)
    },
  },
  'set from a list': {
    script: 'println(len(set(data)))',
    data: scattered,
    js: (xs: number[]) => String(new Set(xs).size),
  },
  group_by: {
    script: 'println(len(data.group_by({ x -> x % 100 })))',
    data: scattered,
    js: (xs: number[]) => {
      const groups = new Map<string, number[]>()
      for (const x of xs) {
        const key = String(x % 100)
        const group = groups.get(key)
        if (group === undefined) groups.set(key, [x])
        else group.push(x)
      }
      return String(groups.size)
    },
  },
  'split and join': {
    script: 'println(len(data.split(" ").join(",")))',
    data: (size) => words(size).join(' '),
    js: (text: string) => String(text.split(' ').join(',').length),
  },
  json_parse: {
    script: 'println(len(json_parse(data)))',
    data: (size) => JSON.stringify(records(size)),
    js: (text: string) => String((JSON.parse(text) as unknown[]).length),
    most: 100_000,
  },
  json_stringify: {
    script: 'println(len(json_stringify(data)))',
    data: (size) => records(size) as Plain,
    js: (data: unknown[]) => String(JSON.stringify(data.map(keysSorted)).length),
    most: 100_000,
  },
  'template with a loop': {
    script: 'println(len(render_string("{{ for r in rows }}{{ r.id }}: {{ r.name | upper }}\\n{{ end }}", {rows: data})))',
    data: (size) => records(size) as Plain,
    js: (rows: { readonly id: number; readonly name: string }[]) =>
      String(rows.map((row) => `${row.id}: ${row.name.toUpperCase()}\n`).join('').length),
    most: 100_000,
  },
}

/** Keys in the order in which the language writes them. */
function keysSorted(value: unknown): unknown {
  const entries = Object.entries(value as object)
  return Object.fromEntries(entries.sort(([a], [b]) => byText(a, b)))
}

export interface Bulk {
  readonly name: string
  /** Times JavaScript's, by size; null where it is not measured. */
  readonly ratios: readonly (number | null)[]
  /** Nanoseconds an element at the largest size that is measured. */
  readonly perElement: number
}

/** `only`: what the names of the operations hold that are measured. */
export function measureBulk(engine: Engine, only = ''): Bulk[] {
  const empty = engine.load('println("")', ['data'])
  const operations = Object.entries(OPERATIONS).filter(([name]) => name.includes(only))
  return operations.map(([name, operation]) => {
    const program = engine.load(operation.script, ['data'])
    let perElement = 0
    const ratios = BULK_SIZES.map((size) => {
      if (size > (operation.most ?? BULK_SIZES.at(-1)!)) return null
      const plain = operation.data(size)
      const globals = new Map<string, Value>([['data', fromPlain(plain)]])
      const wanted = operation.js(plain as never)
      const work = (): void => {
        const printed = engine.run(program, { globals, limits: LIMITS })
        if (printed !== wanted) throw new Error(`${name} at ${size} gave ${printed}, not ${wanted}`)
      }
      work()
      const own = warmTime(work) - warmTime(() => engine.run(empty, { globals }))
      perElement = (own * 1e6) / size
      return own / warmTime(() => operation.js(plain as never))
    })
    return { name, ratios, perElement }
  })
}

/** The largest sizes need more than the defaults, which are for scripts of strangers. */
export const LIMITS = { fuel: 1e12, heap: 1e11, work: 1e12 }

export function bulkTable(rows: readonly Bulk[], sizes: readonly number[] = BULK_SIZES, each = 'each'): string[] {
  return [
    `| builtin | ${sizes.map((size) => `${size.toLocaleString('en-US')}, × JavaScript`).join(' | ')} | ns ${each} |`,
    `|---|${sizes.map(() => '---:').join('|')}|---:|`,
    ...rows.map(
      (row) =>
        `| ${row.name.replaceAll('|', '\\|')} | ${row.ratios.map((ratio) => (ratio === null ? '' : figure(ratio))).join(' | ')} | ${figure(row.perElement)} |`,
    ),
  ]
}
