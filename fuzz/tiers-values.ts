// Random programs for comparing tiers, the lower half: lines, scopes, helpers that are declared on first use, and
// expressions by kind. Most statements succeed, so that most of a program runs; the probability that an operand has another kind
// than its operator expects, at once or in a late iteration of a loop, is drawn once per program. See generate-tiers.ts.

import { MODULE } from './engine.js'
import type { Random } from './random.js'

/** `list` holds ints, `reals` floats, `dict` ints by `KEYS`; an `item` is a struct P or Q; a `fn` maps a number to a number. */
export const KINDS = ['int', 'float', 'string', 'bool', 'list', 'reals', 'dict', 'item', 'fn'] as const
export type Kind = (typeof KINDS)[number]

export interface Variable {
  readonly name: string
  readonly kind: Kind
  readonly mutable: boolean
}

export interface Callable {
  readonly name: string
  readonly params: readonly Kind[]
  readonly result: Kind
  /** Parameters that a call may leave out. */
  readonly optional: number
}

const KEYS = ['a', 'b', 'k', 'n1'] as const
const INTS = ['0', '1', '2', '3', '7', '-1', '-2', '10', '63']
const EDGES = [
  '1073741824',
  '2147483647',
  '(-2147483648)',
  '4294967296',
  '9007199254740991',
  '(-9007199254740991)',
  '9007199254740993',
  '9223372036854775807',
  '(-9223372036854775807)',
]
const FLOATS = ['0.0', '0.5', '1.0', '1.5', '(-2.25)', '3.0', '7.75']
const FLOAT_EDGES = ['(-0.0)', '(0.0 / 0.0)', '123456789012345678901234567890.0', '0.0000001', '(0.0 / 0.0)', '(1.0 / 0.0)']
const WORDS = ['"a"', '"b"', '""', '"xyz"', '"10"', '"ü😀"']
const OTHERS = ['nil', 'true', '"a"', '""', '[]', '[1, 2, 3]', '[1.5, 2.5]', '{a: 1}', '2.5', '3', 'E.A(4)', 'E.B']

/** Declarations that programs share, by name; a declaration may use earlier ones. */
const HELPERS: Readonly<Record<string, string>> = {
  bump: `import { bump } from "${MODULE.path}"`,
  kept_by_module: `import { kept_by_module } from "${MODULE.path}"`,
  id: 'fn id(x) { return x }',
  E: 'enum E { A(n), B, C(x, y) }',
  F: 'enum F { A(n), B }',
  P: [
    'struct P { x: any, y: any }',
    'impl P {',
    '  fn plus(self, d) { return self.x + d }',
    '  fn moved(self, d) { var s = self\n    s.x = s.x + d\n    return s }',
    '  fn deep(self, n) { if n <= 0 { return self.y }\n    return self.deep(n - 1) + 1 }',
    '}',
  ].join('\n'),
  Q: [
    'struct Q { y: any, w: any, x: any }',
    'impl Q {',
    '  fn plus(self, d) { return self.y * 2 + d }',
    '  fn moved(self, d) { return Q {y: self.y - d, w: self, x: d} }',
    '  fn deep(self, n) { return n > 0 ? self.deep(n - 2) : self.x }',
    '}',
  ].join('\n'),
  through: 'fn through(h) { return { x -> [h(x)][0] } }',
  wrap: 'fn wrap(f) { return { x -> f(x) } }',
  apply: 'fn apply(f, x) { return f(x) }',
  last: 'fn last(a, b, ...more) { return len(more) > 0 ? more[-1] : b ?? a }',
  half: 'fn half(x) { if x == 3 { throw "three" }\n  return x / 2.0 }',
  checked: 'fn checked(n: int, by: float = 0.5) { return n * by }',
  down: 'fn down(n, acc) { if n <= 0 { return acc }\n  return down(n - 1, acc + n) }',
  even: 'fn even(n) { if n <= 0 { return true }\n  return odd(n - 1) }\nfn odd(n) { if n <= 0 { return false }\n  return even(n - 1) }',
  tree: 'fn tree(n, v) { if n <= 0 { return v }\n  return tree(n - 1, v) + tree(n - 2, v + 1) }',
  sink: 'fn sink(n, v) { if n <= 0 { return v }\n  return sink(n - 1, v) + 1 }',
  far: 'fn far(p, n) { if n <= 0 { return p.plus(1) }\n  let q = p.plus(n)\n  return far(p, n - 1) + 1 }',
  maybe: 'fn maybe(n) { if n % 3 == 0 { return Err("no ${n}") }\n  return Ok(n) }',
  asked: 'fn asked(n) { let got = maybe(n)?\n  return Ok(got + 1) }',
  up: 'fn up(n) { var i = 0\n  while i < 4 { yield n + i\n    i = i + 1 } }',
  mix: 'fn mix(n) { var s = 0.5\n  for x in up(n) { s = s + id(0.5) * id(x)\n    if s > 6.0 { sleep(1ms) }\n    yield s } }',
  odds: 'fn odds(n) { var i = 0\n  while true { if i > 6 { throw "odd ${n}" }\n    try { yield n / (i - 4) } catch (e) { yield 0 }\n    i = i + 1 } }',
  kept: 'gen fn kept(n) { try { for i in 1 to 4 { emit i * n } } finally { println("left ${n}") } }',
}
const NEEDS: Readonly<Record<string, readonly string[]>> = { asked: ['maybe'], mix: ['up', 'id'] }

export class Scribe {
  readonly random: Random
  readonly lines: string[] = []
  readonly helpers = new Set<string>()
  indent = 0
  variables: Variable[] = []
  callables: Callable[] = []
  /** Variables that count the iterations of the enclosing loops, innermost last. */
  counters: string[] = []
  inLoop = false
  /** The result kind of the function being generated; null outside functions and for functions without a value. */
  result: Kind | null = null
  yields = false
  private names = 0
  /** One operand in this many has another kind; Infinity in some programs. */
  private readonly wild: number
  private readonly edgy: number

  constructor(random: Random) {
    this.random = random
    this.wild = random.pick([8, 20, 60, Infinity])
    this.edgy = random.pick([2, 8, 30])
  }

  // ---- text

  write(line: string): void {
    this.lines.push('  '.repeat(this.indent) + line)
  }

  /** `head { body }tail`; declarations of the body go out of scope after it. */
  block(head: string, body: () => void, tail = ''): void {
    const { variables, callables, counters } = this
    this.variables = [...variables]
    this.callables = [...callables]
    this.counters = [...counters]
    this.write(`${head} {`)
    this.indent++
    body()
    this.indent--
    this.write(`}${tail}`)
    this.variables = variables
    this.callables = callables
    this.counters = counters
  }

  /** The block of a function, task or closure: enclosing variables can be read, but enclosing loops not be left. */
  body(head: string, result: Kind | null, body: () => void, tail = ''): void {
    const { inLoop, yields, result: outer } = this
    this.inLoop = this.yields = false
    this.result = result
    this.block(head, body, tail)
    this.inLoop = inLoop
    this.yields = yields
    this.result = outer
  }

  /** As body, for a closure: it opens with its own brace. */
  closure(head: string, result: Kind | null, body: () => void, tail = ''): void {
    const at = this.lines.length
    this.body(head, result, body, tail)
    this.lines[at] = this.lines[at]!.replace(/ \{$/, '')
  }

  name(): string {
    return `v${this.names++}`
  }

  declare(kind: Kind, value: string, mutable = !this.random.oneIn(4)): string {
    const name = this.name()
    this.write(`${mutable ? 'var' : 'let'} ${name} = ${this.random.oneIn(3) ? this.hideType(value) : value}`)
    this.variables.push({ name, kind, mutable })
    return name
  }

  bind(name: string, kind: Kind): void {
    this.variables.push({ name, kind, mutable: false })
  }

  /** The name of a helper; its declaration goes before the program. */
  helper(name: string): string {
    for (const each of NEEDS[name] ?? []) this.helpers.add(each)
    this.helpers.add(name)
    return name
  }

  declarations(): string[] {
    return Object.keys(HELPERS)
      .filter((name) => this.helpers.has(name))
      .map((name) => HELPERS[name]!)
  }

  /** Through a function, which hides the type from the checker and from the compiled tier's facts. */
  hideType(text: string): string {
    return `${this.helper('id')}(${text})`
  }

  // ---- choice

  variable(kind: Kind, mutable = false): string | null {
    const found = this.variables.filter((each) => each.kind === kind && (!mutable || each.mutable))
    return found.length === 0 ? null : this.random.pick(found).name
  }

  /** A variable that may be assigned, declared now if there is none. */
  target(kind: Kind): string {
    return this.variable(kind, true) ?? this.declare(kind, this.expr(kind, 1), true)
  }

  any(): string {
    return this.variables.length === 0 ? this.expr(this.random.pick(KINDS), 1) : this.random.pick(this.variables).name
  }

  kind(): Kind {
    return this.random.pick(['int', 'int', 'int', 'float', 'float', 'string', 'bool', 'list', 'reals', 'dict', 'item', 'fn'])
  }

  // ---- expressions

  /** An operand that usually has the expected kind. */
  operand(kind: Kind, depth: number): string {
    const { random } = this
    if (this.wild !== Infinity && random.oneIn(this.wild)) {
      const other = random.pick(OTHERS)
      if (other.startsWith('E')) this.helper('E')
      const counter = this.counters.at(-1)
      const text = random.oneIn(3) ? this.any() : this.hideType(other)
      return counter === undefined || random.oneIn(3)
        ? text
        : `(${counter} == ${random.between(1, 6)} ? (${text}) : ${this.expr(kind, depth)})`
    }
    return this.expr(kind, depth)
  }

  expr(kind: Kind, depth: number): string {
    const { random } = this
    const variable = this.variable(kind)
    if (depth <= 0 || random.oneIn(4)) return variable !== null && !random.oneIn(4) ? variable : this.literal(kind)
    if (random.oneIn(5)) {
      const callable = this.callables.filter((each) => each.result === kind)
      if (callable.length > 0) return this.call(random.pick(callable), depth - 1)
    }
    if (random.oneIn(14))
      return `(${this.condition(depth - 1)} ? (${this.operand(kind, depth - 1)}) : ${this.expr(kind, depth - 1)})`
    return this[kind](depth - 1)
  }

  call({ name, params, optional }: Callable, depth: number): string {
    const { random } = this
    const args = params.map((kind) => this.operand(kind, depth))
    if (optional > 0 && random.oneIn(2)) args.pop()
    if (random.oneIn(50)) args.pop()
    else if (random.oneIn(50)) args.push('1')
    if (args.length === 1 && random.oneIn(6)) return `(${args[0]} |> ${name})`
    return random.oneIn(20) ? `${name}(...[${args.join(', ')}])` : `${name}(${args.join(', ')})`
  }

  literal(kind: Kind): string {
    const { random } = this
    switch (kind) {
      case 'int':
        return random.pick(random.oneIn(this.edgy) ? EDGES : INTS)
      case 'float':
        return random.pick(random.oneIn(this.edgy) ? FLOAT_EDGES : FLOATS)
      case 'string':
        return random.pick(WORDS)
      case 'bool':
        return random.pick(['true', 'false'])
      case 'list':
        return random.pick(['[1, 2, 3]', '[]', '[5]', '[0, -1, 4, 2]', `[${this.literal('int')}, ${this.literal('int')}]`])
      case 'reals':
        return random.pick(['[0.5, 1.5, 2.5]', '[0.5, -0.0, 4.0, 1.0, 9.5]', '[1.5, 2, 3.5]', '[0.25]'])
      case 'dict':
        return random.pick(['{a: 1, b: 2}', '{b: 3, a: 0}', '{k: 1}', '{a: 1, b: 2, k: 3, n1: 4}', '{}'])
      case 'item':
        return this.newItem(0)
      case 'fn':
        return random.pick([
          '{ x -> x }',
          '{ x -> x + 1 }',
          '{ x -> x * 0.5 }',
          '{ x -> 0.5 - x }',
          `${this.helper('id')}`,
          `${this.helper('half')}`,
          `${this.helper('through')}(${this.helper('id')})`,
        ])
    }
  }

  condition(depth: number): string {
    const { random } = this
    const kind = random.pick(['int', 'int', 'float', 'string'] as const)
    return `${this.operand(kind, depth)} ${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${this.operand(kind, depth)}`
  }

  /** A call of a function that is a value; only names can be called. */
  private writeApply(depth: number): string {
    const name = this.variable('fn')
    if (name !== null && this.random.oneIn(2)) return `${name}(${this.number(depth)})`
    return `${this.helper('apply')}(${this.expr('fn', depth)}, ${this.number(depth)})`
  }

  private newItem(depth: number): string {
    const { random } = this
    const number = (): string => this.expr(random.pick(['int', 'float']), depth)
    if (random.oneIn(3)) {
      this.helper('Q')
      return `Q {y: ${number()}, w: ${number()}, x: ${number()}}`
    }
    this.helper('P')
    return `P {x: ${number()}, y: ${number()}}`
  }

  private number(depth: number): string {
    return this.operand(this.random.pick(['int', 'float']), depth)
  }

  private int(depth: number): string {
    const { random } = this
    switch (random.below(18)) {
      case 0:
        return `len(${this.operand(random.pick(['list', 'reals', 'string', 'dict']), depth)})`
      case 1:
        return this.hideType(
          `${this.expr('list', depth)}[${random.pick(['0', '-1', '1', this.expr('int', 0)])}] ?? ${this.literal('int')}`,
        )
      case 2:
        return this.hideType(`${this.expr('dict', depth)}.${random.pick(KEYS)} ?? ${this.literal('int')}`)
      case 3:
        return `(-${this.operand('int', depth)})`
      case 4:
        return `${this.helper('down')}(${random.pick(['3', '9', '130'])}, ${this.operand('int', depth)})`
      case 5:
        return `${this.helper('tree')}(${random.pick(['1', '3', '5'])}, ${this.operand('int', depth)})`
      case 6:
        return `${this.helper('last')}(${this.expr('int', depth)}, ${this.expr('int', 0)}${random.oneIn(2) ? `, ...[${this.expr('int', 0)}]` : ''})`
      case 7:
        return `to_int(${this.operand('float', depth)} ?? 0)`
      case 8:
        return `${this.expr('list', depth)}.reduce(${this.literal('int')}, { acc, x -> acc ${random.pick(['+', '-', '*'])} ${random.pick(['x', 'acc', this.expr('int', 0)])} })`
      case 9:
        return `unwrap_or(${this.helper(random.pick(['maybe', 'asked']))}(${this.expr('int', depth)}), ${this.literal('int')})`
      case 10:
        return `(${this.operand('int', depth)} % ${random.pick(['2', '3', '7', '(-3)', this.operand('int', 0)])})`
      case 11:
        return `(${this.operand('int', depth)} / ${random.pick(['2', '3', '(-2)', this.operand('int', 0)])})`
      default:
        return `(${this.operand('int', depth)} ${random.pick(['+', '-', '*', '+', '-'])} ${this.operand('int', depth)})`
    }
  }

  private float(depth: number): string {
    const { random } = this
    switch (random.below(17)) {
      case 16:
        // The sign of a zero int must not be observable.
        return `(0.5 * (${this.operand('int', depth)} % ${random.pick(['2', '3', '(-7)', this.operand('int', 0)])}))`
      case 0:
        return `sqrt(${this.number(depth)})`
      case 1:
      case 2:
        return this.hideType(`${this.expr('reals', depth)}[${random.pick(['0', '-1', this.expr('int', 0)])}]`)
      case 3:
        return this.hideType(`${this.expr('item', depth)}.${random.pick(['x', 'y'])}`)
      case 4:
        return this.hideType(
          `${this.expr('item', depth)}.${random.pick(['plus', 'deep'])}(${random.pick(['1', '2', '0.5', this.number(depth)])})`,
        )
      case 5:
        return this.writeApply(depth)
      case 6:
        return `${this.helper('checked')}(${this.operand('int', depth)}${random.oneIn(2) ? `, ${this.number(depth)}` : ''})`
      case 7:
        return `(-${this.operand('float', depth)})`
      case 8:
        return `${this.helper('sink')}(${random.pick(['2', '12', '170'])}, ${this.operand('float', depth)})`
      case 9:
        return `(${this.number(depth)} ${random.pick(['%', '**'])} ${random.pick(['2', '0.5', '2.5', '(-1)'])})`
      case 10:
        return `${this.expr('reals', depth)}.${random.pick(['sum()', 'reduce(0.5, { acc, x -> acc * 0.5 + x })', 'min()'])}`
      default:
        return `(${this.number(depth)} ${random.pick(['+', '-', '*', '/'])} ${this.operand('float', depth)})`
    }
  }

  private string(depth: number): string {
    const { random } = this
    switch (random.below(8)) {
      case 0:
        return `type_of(${this.any()})`
      case 1:
        return `(${this.operand('string', depth)} + ${this.operand('string', depth)})`
      case 2:
        return `(${this.operand('string', depth)} * ${random.pick(['2', '3', '0'])})`
      case 3:
        return `${this.expr('string', depth)}.${random.pick(['uppercase()', 'trim()', 'replace("a", "bb")', 'substring(0, 2)'])}`
      case 4:
        return `${this.expr('string', depth)}[${random.pick(['0:2', '1:', ':-1'])}]`
      case 5:
        return `${this.expr('list', depth)}.join("-")`
      default:
        return `"\${${this.expr(this.kind(), depth)}}|\${${this.any()}}"`
    }
  }

  private bool(depth: number): string {
    const { random } = this
    switch (random.below(7)) {
      case 0:
        return `(${this.operand('int', depth)} ${random.pick(['in', 'not in'])} ${this.operand('list', depth)})`
      case 1:
        return `(${this.expr('bool', depth)} ${random.pick(['&&', '||'])} ${this.operand('bool', depth)})`
      case 2:
        return `(!${this.operand('bool', depth)})`
      case 3:
        return `${this.expr('list', depth)}.${random.pick(['any', 'all', 'none'])}({ x -> x ${random.pick(['>', '==', '<='])} ${this.expr('int', 0)} })`
      case 4:
        return `${this.helper('even')}(${random.pick(['3', '6', '140'])})`
      default:
        return `(${this.condition(depth)})`
    }
  }

  private list(depth: number): string {
    const { random } = this
    switch (random.below(9)) {
      case 0:
        return `(${this.operand('list', depth)} + [${this.expr('int', depth)}])`
      case 1:
        return `[...${this.expr('list', depth)}, ${this.expr('int', depth)}]`
      case 2:
        return `${this.expr('list', depth)}[${random.pick(['1:', ':2', '-2:'])}]`
      case 3:
        return `${this.expr('list', depth)}.filter({ x -> x ${random.pick(['>', '!=', '<'])} ${this.expr('int', 0)} })`
      case 4:
        return `${this.expr('list', depth)}.${random.pick(['reverse()', 'sort()', 'unique()', 'push(4)', 'take(2)', 'flat_map({ x -> [x, 1] })'])}`
      case 5:
        return `(0 to ${random.between(0, 5)}).map({ x -> x + ${this.expr('int', 0)} })`
      case 6:
        return `${this.expr('dict', depth)}.values()`
      case 7:
        return `${this.expr('list', depth)}.map({ x -> x ${random.pick(['+', '*', '-'])} ${this.operand('int', 0)} })`
      default:
        return `[${this.operand('int', depth)}, ${this.expr('int', depth)}]`
    }
  }

  private reals(depth: number): string {
    const { random } = this
    switch (random.below(5)) {
      case 0:
        return `(${this.expr('reals', depth)} + [${this.operand('float', depth)}])`
      case 1:
        return `${this.expr('reals', depth)}.push(${this.operand('float', depth)})`
      case 2:
        return `${this.expr(random.pick(['reals', 'list']), depth)}.map(${this.expr('fn', depth)})`
      case 3:
        return `${this.expr('reals', depth)}.map({ x -> x ${random.pick(['+', '*', '/'])} ${this.number(0)} })`
      default:
        return `[${this.operand('float', depth)}, ${this.expr('float', depth)}, ${this.literal('float')}]`
    }
  }

  private dict(depth: number): string {
    const { random } = this
    switch (random.below(5)) {
      case 0:
        return `{...${this.expr('dict', depth)}, ${random.pick(KEYS)}: ${this.expr('int', depth)}}`
      case 1:
        return `(${this.operand('dict', depth)} + {${random.pick(KEYS)}: ${this.operand('int', depth)}})`
      case 2:
        return `${this.expr('dict', depth)}.map_values({ v -> v + ${this.expr('int', 0)} })`
      case 3:
        return `{["${random.pick(KEYS)}"]: ${this.expr('int', depth)}, ${random.pick(KEYS)}: 2}`
      default:
        return `{a: ${this.operand('int', depth)}, b: ${this.expr('int', depth)}}`
    }
  }

  private item(depth: number): string {
    if (this.random.oneIn(3)) return `${this.expr('item', depth)}.moved(${this.random.pick(['1', '0.5', this.number(depth)])})`
    return this.newItem(depth)
  }

  private fn(depth: number): string {
    const { random } = this
    switch (random.below(3)) {
      case 0:
        return `${this.helper(random.pick(['through', 'wrap']))}(${this.expr('fn', depth)})`
      case 1:
        return `{ x -> x ${random.pick(['+', '-', '*'])} ${this.expr(random.pick(['int', 'float']), depth)} }`
      default:
        return `[${this.expr('fn', depth)}, ${this.expr('fn', 0)}][${random.below(2)}]`
    }
  }
}
