// Cost of builtins over many elements beside plain JavaScript doing the same: sorting, sets, text, regular expressions, JSON and
// templates at six sizes. Data are made outside and passed to the script as a global, so that only the builtin is timed; the time
// of an empty loop is subtracted. Small inputs are processed repeatedly, so that the time exceeds the timer's resolution. Results are
// compared with JavaScript's before timing starts.

import { createHash } from 'node:crypto'
import { fromPlain } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { figure } from './stats.js'
import { warmTime } from './timing.js'
import type { Engine } from './engine.js'

export const BULK_SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000] as const

/** Minimum number of elements processed in one measurement. */
const LEAST = 50_000

interface Operation {
  /** An expression over `data` whose value is an int, so that both sides must compute the result. */
  readonly script: string
  readonly data: (size: number) => Plain
  /** The same in plain JavaScript. */
  readonly js: (data: never) => number
  /** Largest measured size; a million by default. */
  readonly most?: number
}

/** A fixed pseudo-random sequence: the same data in every run and every process. */
function scatter(size: number): number[] {
  let state = 12_345
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state % (size * 4)
  })
}

const words = (size: number): string[] => scatter(size).map((n) => `w${n.toString(36)}`)
const records = (size: number): { id: number; name: string; tags: string[]; score: number }[] =>
  scatter(size).map((n, id) => ({ id, name: `name ${n}`, tags: ['a', `t${n % 7}`], score: n / 8 + 0.25 }))

/** A dict with this many keys, unordered. */
const table = (size: number, letter: string): Record<string, number> =>
  Object.fromEntries(scatter(size).map((n, at) => [`${letter}${n.toString(36)}${at}`, n]))

const csv = (size: number): string =>
  `id,name,score\n${records(size)
    .map((row) => `${row.id},"${row.name}, ""quoted""",${row.score}\n`)
    .join('')}`

/** What a careful script would do: cells by one regular expression, quoted or not. */
function makeRows(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/g)) {
    row.push(quoted === undefined ? bare! : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

const csvCell = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'sort ints': {
    script: 'data.sort()[0]',
    data: scatter,
    js: (xs: number[]) => [...xs].sort((a, b) => a - b)[0]!,
  },
  'sort strings': {
    script: 'len(data.sort()[0])',
    data: words,
    js: (xs: string[]) => [...xs].sort(byText)[0]!.length,
  },
  'sort_by a closure': {
    script: 'data.sort_by({ x -> 0 - x })[0]',
    data: scatter,
    js: (xs: number[]) => {
      const keyed = xs.map((x) => ({ key: 0 - x, x }))
      return keyed.sort((a, b) => a.key - b.key)[0]!.x
    },
  },
  'map by a closure': {
    script: 'len(data.map({ x -> x * 2 }))',
    data: scatter,
    js: (xs: number[]) => xs.map((x) => x * 2).length,
  },
  'filter by a closure': {
    script: 'len(data.filter({ x -> x % 2 == 0 }))',
    data: scatter,
    js: (xs: number[]) => xs.filter((x) => x % 2 === 0).length,
  },
  'reduce by a closure': {
    script: 'data.reduce(0, { sum, x -> sum + x })',
    data: scatter,
    js: (xs: number[]) => xs.reduce((sum, x) => sum + x, 0),
  },
  unique: {
    script: 'data.unique()[-1]',
    data: scatter,
    js: (xs: number[]) => Array.from(new Set(xs)).at(-1)!,
  },
  'set from a list': {
    script: 'len(set(data))',
    data: scatter,
    js: (xs: number[]) => new Set(xs).size,
  },
  is_subset: {
    script: 'set(data.a).is_subset(set(data.b)) ? 1 : 0',
    data: (size) => ({ a: scatter(size), b: scatter(size) }),
    js: ({ a, b }: { a: number[]; b: number[] }) => {
      const all = new Set(b)
      for (const x of new Set(a)) if (!all.has(x)) return 0
      return 1
    },
  },
  group_by: {
    script: 'len(data.group_by({ x -> x % 100 }))',
    data: scatter,
    js: (xs: number[]) => {
      const groups = new Map<string, number[]>()
      for (const x of xs) {
        const key = String(x % 100)
        const group = groups.get(key)
        if (group === undefined) groups.set(key, [x])
        else group.push(x)
      }
      return groups.size
    },
  },
  tally: {
    script: 'len(data.tally())',
    data: words,
    js: (xs: string[]) => {
      const counts = new Map<string, number>()
      for (const x of xs) counts.set(x, (counts.get(x) ?? 0) + 1)
      return counts.size
    },
  },
  'merge dicts': {
    script: 'len(data.a.merge(data.b))',
    data: (size) => ({ a: table(size, 'a'), b: table(size, 'b') }),
    js: ({ a, b }: { a: object; b: object }) => Object.keys({ ...a, ...b }).length,
    most: 100_000,
  },
  'keys of a dict': {
    script: 'len(data.keys())',
    data: (size) => table(size, 'k'),
    js: (dict: object) => Object.keys(dict).length,
    most: 100_000,
  },
  'values of a dict': {
    script: 'len(data.values())',
    data: (size) => table(size, 'k'),
    js: (dict: object) => Object.values(dict).length,
    most: 100_000,
  },
  'entries of a dict': {
    script: 'len(data.entries())',
    data: (size) => table(size, 'k'),
    js: (dict: object) => Object.entries(dict).map(([key, value]) => ({ key, value: value as unknown })).length,
    most: 100_000,
  },
  'join strings': {
    script: 'len(data.join(", "))',
    data: words,
    js: (xs: string[]) => xs.join(', ').length,
  },
  'join ints': {
    script: 'len(data.join(", "))',
    data: scatter,
    js: (xs: number[]) => xs.join(', ').length,
  },
  'split and join': {
    script: 'len(data.split(" ").join(","))',
    data: (size) => words(size).join(' '),
    js: (text: string) => text.split(' ').join(',').length,
  },
  'replace text': {
    script: 'len(data.replace(" ", ", "))',
    data: (size) => words(size).join(' '),
    js: (text: string) => text.replaceAll(' ', ', ').length,
  },
  to_upper: {
    script: 'len(data.to_upper())',
    data: (size) => words(size).join(' '),
    js: (text: string) => text.toUpperCase().length,
  },
  'format of one value': {
    script: 'len(format("{} and {}", data, 1))',
    data: (size) => words(size).join(' '),
    js: (text: string) => '{} and {}'.replace('{}', () => text).replace('{}', () => String(1)).length,
    most: 1_000,
  },
  json_parse: {
    script: 'len(json_parse(data))',
    data: (size) => JSON.stringify(records(size)),
    js: (text: string) => (JSON.parse(text) as unknown[]).length,
    most: 100_000,
  },
  json_stringify: {
    script: 'len(json_stringify(data))',
    data: (size) => records(size) as Plain,
    js: (data: unknown[]) => JSON.stringify(data.map(keysSorted)).length,
    most: 100_000,
  },
  csv_parse: {
    script: 'len(csv_parse(data, {headers: true}))',
    data: csv,
    js: (text: string) => {
      const [names, ...rows] = makeRows(text)
      return rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [names![at]!, cell]))).length
    },
    most: 100_000,
  },
  csv_stringify: {
    script: 'len(csv_stringify(data))',
    data: (size) => records(size).map(({ id, name, score }) => [String(id), name, String(score)]),
    js: (rows: string[][]) => rows.map((row) => `${row.map(csvCell).join(',')}\n`).join('').length,
    most: 100_000,
  },
  base64_encode: {
    script: 'len(base64_encode(data))',
    data: (size) => words(size).join(' '),
    js: (text: string) => btoa(text).length,
  },
  'sha256 (Node)': {
    script: 'len(sha256(data))',
    data: (size) => words(size).join(' '),
    js: (text: string) => createHash('sha256').update(text).digest('hex').length,
    most: 100_000,
  },
  'template with a loop': {
    script: 'len(render_string("{{ for r in rows }}{{ r.id }}: {{ r.name | upper }}\\n{{ end }}", {rows: data}))',
    data: (size) => records(size) as Plain,
    js: (rows: { readonly id: number; readonly name: string }[]) =>
      rows.map((row) => `${row.id}: ${row.name.toUpperCase()}\n`).join('').length,
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
  /** Ratios to JavaScript's time, by size; null if not measured. */
  readonly ratios: readonly (number | null)[]
  /** Nanoseconds per element at the largest measured size. */
  readonly perElement: number
}

/** `only`: a substring of the names of the operations to measure. */
export function measureBulk(engine: Engine, only = ''): Bulk[] {
  const operations = Object.entries(OPERATIONS).filter(([name]) => name.includes(only))
  return operations.map(([name, operation]) => {
    let perElement = 0
    const ratios = BULK_SIZES.map((size) => {
      if (size > (operation.most ?? BULK_SIZES.at(-1)!)) return null
      const times = Math.max(1, LEAST / size)
      const loop = (body: string) =>
        engine.load(`var n = 0\nfor i in 0 to ${times} exclusive { n += (${body}) }\nprintln(n)`, ['data'])
      const program = loop(operation.script)
      const empty = loop('i')
      const plain = operation.data(size)
      const globals = new Map<string, Value>([['data', fromPlain(plain)]])
      const peer = (): number => {
        let n = 0
        for (let i = 0; i < times; i++) n += operation.js(plain as never)
        return n
      }
      const wanted = String(peer())
      const work = (): void => {
        const printed = engine.run(program, { globals, limits: LIMITS })
        if (printed !== wanted) throw new Error(`${name} at ${size} gave ${printed}, not ${wanted}`)
      }
      work()
      const own = warmTime(work) - warmTime(() => engine.run(empty, { globals }))
      perElement = (own * 1e6) / size / times
      return own / warmTime(peer)
    })
    return { name, ratios, perElement }
  })
}

/** Reasons for ratios above three. */
export const BULK_REMARKS =
  'The goal is 3. Above it: what calls a closure for few elements (the call of the method, of which V8 leaves nothing on the other side), and ' +
  '`reduce` (of whose twin V8 leaves an addition); sha256, which on the other side is machine code of the platform; ' +
  'templates up to 10,000 rows, which walk a tree of parts for each row, where the other side is one compiled loop.'

/** The largest sizes need more than the default limits, which are for untrusted scripts. */
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
