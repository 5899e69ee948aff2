// Does building a container one step at a time cost time in proportion to its size? Each row is a script with a size in it; it is
// run at three sizes, and the time for one element must stay the same. Doubling work per element shows here as a factor of 100.

import { figure } from './stats.js'
import { milliseconds, warmTime } from './timing.js'
import type { Engine } from './engine.js'

export const SIZES = [10_000, 100_000, 1_000_000] as const

const FORMS: Readonly<Record<string, (size: number) => string>> = {
  'xs = xs + [x]': (size) => `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs + [i] }\n  println(len(xs))`,
  'xs = xs.push(x)': (size) => `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs.push(i) }\n  println(len(xs))`,
  'd[k] = v': (size) => `var d = {}\n  for i in 0 to ${size} exclusive { d["k\${i}"] = i }\n  println(len(d))`,
  'xs[i] = v': (size) =>
    `var xs = []\n  for i in 0 to ${size} exclusive { xs = xs.push(0) }\n  for i in 0 to ${size} exclusive { xs[i] = i }\n  println(len(xs))`,
  's = s + t': (size) => `var s = ""\n  for i in 0 to ${size} exclusive { s = s + "x" }\n  println(len(s))`,
}

export interface Growth {
  readonly form: string
  /** Nanoseconds an element, by size. */
  readonly perElement: readonly number[]
}

export function measureGrowth(engine: Engine): Growth[] {
  return Object.entries(FORMS).map(([form, script]) => ({
    form,
    perElement: SIZES.map((size) => {
      const program = engine.load(`pipeline main() {\n  ${script(size)}\n}\n`)
      const work = (): void => {
        const output = engine.run(program)
        if (output !== String(size)) throw new Error(`${form} at ${size} gave ${output}`)
      }
      // One run of a million elements is long enough to count by itself; two let the code warm up.
      work()
      const ms = size === 1_000_000 ? milliseconds(work) : warmTime(work)
      return (ms * 1e6) / size
    }),
  }))
}

export function growthTable(rows: readonly Growth[]): string[] {
  return [
    `| form | ${SIZES.map((size) => `${size.toLocaleString('en-US')}, ns each`).join(' | ')} | last ÷ first |`,
    `|---|${SIZES.map(() => '---:').join('|')}|---:|`,
    ...rows.map((row) => {
      const ratio = row.perElement.at(-1)! / row.perElement[0]!
      return `| \`${row.form}\` | ${row.perElement.map(figure).join(' | ')} | ${figure(ratio)} |`
    }),
  ]
}
