// Cost of regular expressions beside JavaScript's own, which backtracks and compiles patterns to machine code: the builtins with
// everyday patterns on texts of four sizes. Short texts are processed repeatedly, so that the time exceeds the timer's resolution. Results of
// both sides are compared before timing starts.

import { fromPlain } from '@bridle/vm'
import type { Value } from '@bridle/vm'
import { LIMITS } from './bulk.js'
import { warmTime } from './timing.js'
import type { Bulk } from './bulk.js'
import type { Engine } from './engine.js'

/** Characters of the text. */
export const REGEX_SIZES = [100, 1_000, 100_000, 1_000_000] as const

/** Minimum number of characters processed in one measurement. */
const LEAST = 200_000

/** Lines as in logs, mails and settings; a fixed sequence. */
function prose(size: number): string {
  const lines: string[] = []
  let length = 0
  for (let i = 0; length < size; i++) {
    const line =
      `The quick brown fox ${i} jumped over user${i}@example.com on 2024-0${(i % 9) + 1}-1${i % 10} at 10:${10 + (i % 50)}, ` +
      `"quoted ${i}" key${i} = value${i * 7};`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n').slice(0, size)
}

interface Row {
  /** An expression over `data`, and what it is made to show. */
  readonly script: string
  readonly js: (text: string) => number
}

const count = (pattern: RegExp) => (text: string) => text.match(pattern)?.length ?? 0
const matches = (pattern: string, flags = ''): Row => ({
  script: `len(regex_match(${JSON.stringify(pattern)}, data${flags === '' ? '' : `, "${flags}"`}) ?? [])`,
  js: count(new RegExp(pattern, `gu${flags}`)),
})
const replaces = (pattern: string, by: string): Row => {
  const compiled = new RegExp(pattern, 'gu')
  return {
    script: `len(regex_replace(${JSON.stringify(pattern)}, ${JSON.stringify(by)}, data))`,
    js: (text) => text.replace(compiled, by).length,
  }
}
const splits = (pattern: string): Row => {
  const compiled = new RegExp(pattern, 'u')
  return { script: `len(regex_split(data, ${JSON.stringify(pattern)}))`, js: (text) => text.split(compiled).length }
}
const captures = (pattern: string): Row => {
  const compiled = new RegExp(pattern, 'gu')
  return {
    script: `len(regex_captures(${JSON.stringify(pattern)}, data))`,
    js: (text) => {
      const found: unknown[] = []
      for (const match of text.matchAll(compiled)) found.push({ match: match[0], groups: match.slice(1), ...match.groups })
      return found.length
    },
  }
}

/** Reasons for ratios above three. */
export const REGEX_REMARKS =
  'The goal is 3. Above it: short texts, where a call (some 100 ns: arguments, fuel, a search that may stop) is most of the time; and ' +
  'patterns that match every other word, since a step of a table takes three times what one of machine code does.'

const ROWS: Readonly<Record<string, Row>> = {
  'match `fox`': matches('fox'),
  'match `nothing`': matches('nothing'),
  'match `^The`, lines': matches('^The', 'm'),
  'match `quick`, any case': matches('quick', 'i'),
  'match `quick|brown|fox`': matches('quick|brown|fox'),
  'match `[0-9]+`': matches('[0-9]+'),
  'match `[a-z]+`': matches('[a-z]+'),
  'match `\\bfox\\b`': matches('\\bfox\\b'),
  'match `"[^"]*"`': matches('"[^"]*"'),
  'match `[0-9]{4}-[0-9]{2}-[0-9]{2}`': matches('[0-9]{4}-[0-9]{2}-[0-9]{2}'),
  'match a mail address': matches('[A-Za-z0-9._]+@[a-z]+\\.com'),
  'match `.*;$`, lines': matches('.*;$', 'm'),
  'match `\\w+\\s*=\\s*\\w+`': matches('\\w+\\s*=\\s*\\w+'),
  'replace `fox` by text': replaces('fox', 'dog'),
  'replace `(\\w+)@(\\w+)` by its groups': replaces('(\\w+)@(\\w+)', '$2 at $1'),
  'replace `\\s+` by a space': replaces('\\s+', ' '),
  'split at `[,;] *`': splits('[,;] *'),
  'split at `\\n`': splits('\\n'),
  'captures of `(\\d+)-(\\d+)-(\\d+)`': captures('(\\d+)-(\\d+)-(\\d+)'),
  'captures of `(?<key>key\\d+) = (?<value>\\w+)`': captures('(?<key>key\\d+) = (?<value>\\w+)'),
}

/** `only`: a substring of the names of the rows to measure. */
export function measureRegexes(engine: Engine, only = ''): Bulk[] {
  const rows = Object.entries(ROWS).filter(([name]) => name.includes(only))
  return rows.map(([name, { script, js }]) => {
    let perElement = 0
    const ratios = REGEX_SIZES.map((size) => {
      const times = Math.max(1, LEAST / size)
      const globals = new Map<string, Value>([['data', fromPlain(prose(size))]])
      const text = prose(size)
      const program = engine.load(`var n = 0\nfor i in 0 to ${times} exclusive { n += ${script} }\nprintln(n)`, ['data'])
      const empty = engine.load(`var n = 0\nfor i in 0 to ${times} exclusive { n += i }\nprintln(n)`, ['data'])
      const peer = (): number => {
        let n = 0
        for (let i = 0; i < times; i++) n += js(text)
        return n
      }
      const wanted = String(peer())
      const work = (): void => {
        const printed = engine.run(program, { globals, limits: LIMITS })
        if (printed !== wanted) throw new Error(`${name} at ${size} gave ${printed}, not ${wanted}`)
      }
      work()
      const own = warmTime(work) - warmTime(() => engine.run(empty, { globals, limits: LIMITS }))
      perElement = (own * 1e6) / size / times
      return own / warmTime(peer)
    })
    return { name, ratios, perElement }
  })
}
