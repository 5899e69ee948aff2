// Generates hostile calls: each input is a short script that passes values of odd kinds, sizes, depths, sharing,
// text and patterns to one builtin or method. The same seed and number give the same script. `npm run test:hostile` runs thousands, a test some hundreds.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuiltinDef, Registry } from '@bridle/vm'
import { Random } from '../fuzz/random.js'

export interface Input {
  readonly index: number
  /** The builtin that is called. */
  readonly name: string
  readonly source: string
}

/** Excluded, because they end the process, or wait for an event that never comes. */
const LEFT_OUT = new Set(['exit', 'sleep', 'sleep_ms', 'mcp_serve'])

const builtinSources = ['vm/src/builtins', 'stdlib-tools/src/library', 'stdlib-tools/src/tools', 'stdlib-tools/src/agents'].map(
  (folder) => fileURLToPath(new URL(`../packages/${folder}/`, import.meta.url)),
)

export class Generator {
  private readonly seed: number
  private readonly callables: readonly BuiltinDef[]
  private readonly keys: readonly string[]

  /** Of builtins whose name contains `word`. */
  constructor(seed: number, registry: Registry, word = '') {
    this.seed = seed
    const methods = [...registry.methods.values()].flatMap((table) => [...table.values()])
    this.callables = [...registry.builtins.values(), ...methods].filter(
      (def) => !def.name.startsWith('__') && !LEFT_OUT.has(def.name) && readName(def).includes(word),
    )
    this.keys = optionKeys()
  }

  get size(): number {
    return this.callables.length
  }

  input(index: number): Input {
    const chance = new Random(this.seed, 'hostile', index)
    // One builtin after the other, so that all get their turn; the seed chooses the first.
    const def = this.callables[(index + this.seed) % this.callables.length]!
    const maker = new Maker(chance, this.keysFor(def))
    const count = chance.oneIn(8) ? chance.below(5) : def.arity + (def.rest ? chance.below(3) : 0)
    const values = Array.from({ length: count }, (_, at) => maker.value(parameterType(def, at)))
    const receiver = def.receiver === null ? '' : `(${maker.value(def.receiver)}).`
    const call = `${receiver}${def.name}(${values.join(', ')})`
    const source = `${maker.prelude}let r = try { ${call} } catch (e) { "caught \${e}" }\nprintln(type_of(r))\nreturn r\n`
    return { index, name: readName(def), source }
  }

  private keysFor(def: BuiltinDef): readonly string[] {
    const own = [...`${def.signature} ${def.doc}`.matchAll(/\b([a-z][a-z_]+)\??:/g)].map(([, key]) => key!)
    return own.length === 0 ? this.keys : [...own, ...own, ...own, ...this.keys.slice(0, 40)]
  }
}

function readName({ receiver, name }: BuiltinDef): string {
  return receiver === null ? name : `${receiver}.${name}`
}

/** Every key that some builtin reads from a dict, found in its source. */
function optionKeys(): readonly string[] {
  const keys = new Set<string>()
  const files = builtinSources.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  for (const file of files
    .filter((each) => each.endsWith('.ts') && !each.endsWith('.test.ts'))
    .sort((a, b) => (a < b ? -1 : 1))) {
    const text = readFileSync(file, 'utf8')
    for (const [, key] of text.matchAll(/(?:\.get\(|\w+\(\w+, )'([a-z][a-z_]+)'/g)) keys.add(key!)
  }
  return [...keys].toSorted()
}

/** `string` of `f(text: string, …)`; empty if the signature does not say. */
function parameterType({ signature }: BuiltinDef, at: number): string {
  const inside = signature.slice(signature.indexOf('(') + 1)
  const parts = inside.split(/,\s*(?=\.{0,3}[a-z_]+\??:)/)
  return /:\s*([a-z]+)/.exec(parts[at] ?? '')?.[1] ?? ''
}

const SIZES = [0, 1, 2, 17, 1000, 20_000, 300_000, 4_000_000]

const UNITS = [
  'a', ' ', '\\n', '\\t', '\\r\\n', '0', '9', '-', '.', '/', '../', 'a/', '**/', '*', '?', '[', ']', '{', '}', '{{', '}}', '(', ')', '<', '>',
  '<think>', '</think>', '```', '<tool_call>', '\\"', "'", '\\\\', '\\\\n', '\\u{0}', '\\u{1b}[2J', 'é', '\\u{301}', '😀', '\\u{200d}', '\\u{202e}', 'ß', 'İ',
  '%', '%00', '%2e%2e%2f', '&', '&a;', '=', 'a=1;', 'a,b\\n', '- a: 1\\n', 'a: &a [*a]\\n', '[a]\\n', 'a.b.c = 1\\n', '#', '//', '@', ':', '{\\"a\\":', '[1,', '1e', 'data: x\\n\\n',
  '$', '^', '|', '(a+)+', '(a|a)*', '\\\\d', '.*', 'x{1,9}', '\\\\', 'SELECT 1;', 'retry ', 'error ', 'timeout ', '429 ', 'A', '=?', 'data:', 'http://a.test/',
] // prettier-ignore

const SMALL = [
  'nil', 'true', 'false', '0', '-1', '1', '2', '64', '1000000', '9007199254740993', '9223372036854775807', '(0 - 9223372036854775807 - 1)', '0.5', '-0.0',
  '(1.0 / 0.0)', '(0.0 / 0.0)', '1e308', '5e-324', '""', '"a"', '"\\u{0}"', '"__proto__"', '"constructor"', '"toString"', '"-"', '"."', '".."', '"/"', '"//"', '"*"',
  '"(a+)+$"', '"((a{1,50}){1,50}){1,50}"', '"http://a.test/"', '"http://127.0.0.1/"', '"file:///etc/passwd"', '"2024-02-30T25:61:61Z"', '"%Y%%%Q"', '"sha256"', '"utf8"', '"GET"', '"gpt-4"', '"mock"', '"{}"', '"[]"',
  '{ -> 1 }', '{ x -> x }', '{ x, y -> [x, y] }', '{ x -> throw x }', '(0 to 9000000000000000)', 'iter(1 to 9000000000)', 'set()', 'bytes_from_string("ab")', '5ms', 'len', 'Ok(1)', 'Err("x")', 'channel("c")',
] // prettier-ignore

/** Expressions of hostile values. Those that need several statements are in `prelude`. */
class Maker {
  prelude = ''
  private count = 0
  private readonly chance: Random
  private readonly keys: readonly string[]

  constructor(chance: Random, keys: readonly string[]) {
    this.chance = chance
    this.keys = keys
  }

  value(type: string, depth = 0): string {
    const { chance } = this
    if (chance.oneIn(6)) return this.any(depth)
    switch (type) {
      case 'string':
        return this.text()
      case 'int':
      case 'float':
      case 'number':
      case 'duration':
        return chance.oneIn(3) ? String(chance.pick(SIZES)) : chance.pick(SMALL.slice(3, 18))
      case 'list':
        return this.list(depth)
      case 'dict':
        return this.dict(depth)
      case 'fn':
      case 'closure':
        return chance.pick(['{ -> 1 }', '{ x -> x }', '{ x, y -> x }', '{ x -> throw x }', '{ x -> "a" * 1000000 }'])
      case 'bytes':
        return `bytes_from_string(${this.text()})`
      case 'set':
        return `set(${this.list(depth)})`
      case 'range':
        return '(0 to 9000000000000000)'
      case 'iter':
        return chance.pick(['iter(1 to 9000000000)', `iter(${this.list(depth)})`])
      case 'bool':
        return chance.pick(['true', 'false'])
      default:
        return this.any(depth)
    }
  }

  private any(depth: number): string {
    const kind = this.chance.below(10)
    if (kind < 4) return this.chance.pick(SMALL)
    if (kind < 6) return this.text()
    if (kind < 7) return this.list(depth)
    if (kind < 9) return this.dict(depth)
    return this.deep()
  }

  private text(): string {
    const { chance } = this
    if (chance.oneIn(4)) return chance.pick(SMALL.filter((each) => each.startsWith('"')))
    const unit = chance.pick(UNITS)
    const around = chance.oneIn(3) ? chance.pick(UNITS) : ''
    const size = Math.ceil(chance.pick(SIZES) / unit.length)
    const middle = `"${unit}" * ${size}`
    return this.defineName(chance.oneIn(2) ? `"${around}" + ${middle}` : `${middle} + "${around}"`)
  }

  private list(depth: number): string {
    const { chance } = this
    switch (chance.below(6)) {
      case 0:
        return '[]'
      case 1:
        return this.defineName(`(1 to ${chance.pick([10, 1000, 50_000])}).to_list()`)
      case 2:
        return this.defineName(
          `(1 to ${chance.pick([10, 1000, 20_000])}).to_list().map({ i -> {name: "n\${i}", id: i, tags: ["a"]} })`,
        )
      case 3:
        return this.deep()
      case 4:
        return this.defineName(
          `(1 to ${chance.pick([10, 3000])}).to_list().map({ i -> ${chance.pick(UNITS.map((unit) => `"${unit}"`))} * i })`,
        )
      default:
        return depth > 2 ? '[nil]' : `[${Array.from({ length: chance.below(4) }, () => this.value('', depth + 1)).join(', ')}]`
    }
  }

  private dict(depth: number): string {
    const { chance } = this
    if (chance.oneIn(6)) {
      const name = this.fresh()
      this.prelude += `var ${name} = {}\nfor i in 1 to ${chance.pick([100, 20_000])} { ${name}["k\${i}"] = i }\n`
      return name
    }
    if (depth > 2 || chance.oneIn(8)) return this.deep()
    const keys = new Set(Array.from({ length: 1 + chance.below(chance.oneIn(4) ? 30 : 5) }, () => chance.pick(this.keys)))
    return `{${[...keys].map((key) => `"${key}": ${this.value('', depth + 1)}`).join(', ')}}`
  }

  /** Nested or shared: 2^40 values for a walk that ignores sharing. */
  private deep(): string {
    const { chance } = this
    const name = this.fresh()
    const step = chance.pick([
      `[${name}]`,
      `{a: ${name}}`,
      `[${name}, ${name}]`,
      `{a: ${name}, b: ${name}}`,
      `{properties: {a: ${name}}, type: "object"}`,
    ])
    const isShared = step.split(name).length > 2
    const times = isShared ? chance.pick([12, 24, 40]) : chance.pick([20, 300, 20_000])
    this.prelude += `var ${name}: any = ${chance.pick(['1', '"a"', 'nil', '[]'])}\nfor i in 1 to ${times} { ${name} = ${step} }\n`
    return name
  }

  private defineName(expression: string): string {
    const name = this.fresh()
    this.prelude += `let ${name} = ${expression}\n`
    return name
  }

  private fresh(): string {
    return `v${this.count++}`
  }
}
