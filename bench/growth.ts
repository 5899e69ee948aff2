// Does building a container one step at a time take time proportional to its size? Each row is a script with a size in it; it is
// run at three sizes, and the time per element must stay about the same: copying at each step shows as a factor of 100.

import { LIMITS } from './bulk.js'
import { figure } from './stats.js'
import { warmTime } from './timing.js'
import type { Engine } from './engine.js'

export const SIZES = [10_000, 100_000, 1_000_000] as const

interface Form {
  readonly script: (size: number) => string
  /** The same in plain JavaScript, returning the final length: shows how much of a rise comes from the processor's caches. */
  readonly js: (size: number) => number
}

const FORMS: Readonly<Record<string, Form>> = {
  'xs = xs + [x]': {
    script: (size) => `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs + [i] }\n  println(len(xs))`,
    js: pushes,
  },
  'xs = xs.push(x)': {
    script: (size) => `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs.push(i) }\n  println(len(xs))`,
    js: pushes,
  },
  'd[k] = v': {
    script: (size) => `var d = {}\n  for i in 0 to ${size} exclusive { d["k\${i}"] = i }\n  println(len(d))`,
    js: (size) => {
      const map = new Map<string, number>()
      for (let i = 0; i < size; i++) map.set(`k${i}`, i)
      return map.size
    },
  },
  'xs[i] = v': {
    script: (size) =>
      `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs.push(0) }\n  for i in 0 to ${size} exclusive { xs[i] = i }\n  println(len(xs))`,
    js: (size) => {
      const xs: number[] = []
      for (let i = 0; i < size; i++) xs.push(0)
      for (let i = 0; i < size; i++) xs[i] = i
      return xs.length
    },
  },
  's = s + t': {
    script: (size) => `var s = ""\n  for i in 0 to ${size} exclusive { s = s + "x" }\n  println(len(s))`,
    js: (size) => {
      let s = ''
      for (let i = 0; i < size; i++) s += 'x'
      return s.length
    },
  },
}

function pushes(size: number): number {
  const xs: number[] = []
  for (let i = 0; i < size; i++) xs.push(i)
  return xs.length
}

export interface Growth {
  readonly form: string
  /** Nanoseconds per element, by size. */
  readonly perElement: readonly number[]
  readonly jsPerElement: readonly number[]
}

export function measureGrowth(engine: Engine): Growth[] {
  return Object.entries(FORMS).map(([form, { script, js }]) => ({
    form,
    perElement: SIZES.map((size) => {
      const program = engine.load(`pipeline main() {\n  ${script(size)}\n}\n`)
      return nanosecondsEach(size, form, () => engine.run(program, { limits: LIMITS }))
    }),
    jsPerElement: SIZES.map((size) => nanosecondsEach(size, form, () => String(js(size)))),
  }))
}

function nanosecondsEach(size: number, form: string, run: () => string): number {
  const work = (): void => {
    const output = run()
    if (output !== String(size)) throw new Error(`${form} at ${size} gave ${output}`)
  }
  work()
  return (warmTime(work) * 1e6) / size
}

export function growthTable(rows: readonly Growth[]): string[] {
  return [
    `| form | ${SIZES.map((size) => `${size.toLocaleString('en-US')}, ns each`).join(' | ')} | last ÷ first | JavaScript, last ÷ first |`,
    `|---|${SIZES.map(() => '---:').join('|')}|---:|---:|`,
    ...rows.map(
      (row) =>
        `| \`${row.form}\` | ${row.perElement.map(figure).join(' | ')} | ${figure(row.perElement.at(-1)! / row.perElement[0]!)} | ` +
        `${figure(row.jsPerElement.at(-1)! / row.jsPerElement[0]!)} |`,
    ),
  ]
}
