// Random programs for comparing tiers: small functions full of loops over values whose types are only known at run time. Parameters have
// no annotation, so the checker accepts everything and operators meet valid and invalid operands: ints at the
// 64-bit edges, floats, NaN, strings, containers that one variable owns or several share. Faults cross frames, loops are left
// in every way, calls nest until the stack overflows, runs suspend inside all of these.

import type { Random } from './random.js'

const INTS = [
  '0',
  '1',
  '2',
  '3',
  '7',
  '(-1)',
  '(-2)',
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
const FLOATS = [
  '0.0',
  '(-0.0)',
  '0.5',
  '1.0',
  '1.5',
  '(-2.25)',
  '3.0',
  '123456789012345678901234567890.0',
  '0.0000001',
  '(0.0 / 0.0)',
  '(1.0 / 0.0)',
]
const OTHERS = ['nil', 'true', 'false', '"a"', '"b"', '""', '[]', '[1, 2, 3]', '[1.5, 2.5]', '{a: 1}', 'E.A(4)', 'E.B']
const SMALL_METHODS = ['map', 'filter', 'find', 'any', 'all', 'find_index', 'none', 'sort_by', 'flat_map'] as const

export function generateHotProgram(random: Random): string {
  return new HotGenerator(random).program()
}

class HotGenerator {
  private readonly random: Random
  private readonly lines: string[] = []
  private indent = 0
  private names = 0
  private variables: string[] = []
  private counters: string[] = []
  private functions: { readonly name: string; readonly arity: number }[] = []
  private loops = 0
  private generating = false
  private readonly generators = ['up(3)', 'mix(2)', 'mix(0.25)', 'odd(3)', 'odd(2.5).take(3)']

  constructor(random: Random) {
    this.random = random
  }

  program(): string {
    const { random } = this
    this.write('fn id(x) { return x }')
    // One closure's code with different callees.
    this.write('fn through(h) { return { x -> [h(x)][0] } }')
    this.write('enum E { A(n), B }')
    this.write('struct P { x: any, y: any }')
    this.block('impl P', () => {
      this.function('add(self, d)', ['self', 'd'])
      this.write('fn twice(self, d) { return self.add(d) + self.y }')
    })
    this.write('fn up(n) { var i = 0\n  while i < 5 { yield n + i\n    i = i + 1 } }')
    this.write(
      'fn mix(n) { var s = 0.5\n  for x in up(n) { s = s + id(0.5) * id(x)\n    if s > 6.0 { sleep(1ms) }\n    yield s } }',
    )
    this.write(
      'fn odd(n) { var i = 0\n  while true { if i > 6 { throw "odd ${n}" }\n    try { yield n / (i - 4) } catch (e) { yield "${e}" }\n    i = i + 1 } }',
    )
    if (random.oneIn(2)) {
      this.generating = true
      this.function('own(p0)', ['p0'])
      this.generating = false
      this.generators.push('own(2)', 'own(0.5)')
    }
    for (let at = random.below(4); at > 0; at--) this.small()
    const count = random.between(1, 4)
    for (let at = 0; at < count; at++) {
      const name = `f${at}`
      const arity = random.between(1, 3)
      const params = Array.from({ length: arity }, (_, which) => `p${which}`)
      const shown = params.map((param, which) =>
        which === arity - 1 && which > 0 && random.oneIn(3) ? `${param} = ${this.literal()}` : param,
      )
      const typed = random.oneIn(5) ? `${shown[0]!}: ${random.pick(['int', 'float'])}` : shown[0]!
      // Known before its body: it may call itself.
      this.functions.push({ name, arity })
      const body = [typed, ...shown.slice(1)].join(', ')
      this.function(`${name}(${body})`, params)
    }
    this.block('pipeline main()', () => {
      this.write('var seen = []')
      this.variables = []
      for (let calls = random.between(2, 6); calls > 0; calls--) {
        const { name, arity } = random.pick(this.functions)
        const args = Array.from({ length: random.oneIn(6) ? random.below(4) : arity }, () => this.literal())
        this.block('try', () => this.write(`seen = seen + [${name}(${args.join(', ')})]`))
        this.write(`catch (e) { seen = seen.push("caught \${e}") }`)
      }
      if (random.oneIn(2)) for (let left = random.between(1, 3); left > 0; left--) this.statement(2)
      this.write('for s in seen { println("${s}") }')
    })
    return `${this.lines.join('\n')}\n`
  }

  private write(line: string): void {
    this.lines.push('  '.repeat(this.indent) + line)
  }

  private block(head: string, body: () => void): void {
    const { variables, counters } = this
    this.variables = [...variables]
    this.counters = [...counters]
    this.write(`${head} {`)
    this.indent++
    body()
    this.indent--
    this.write('}')
    this.variables = variables
    this.counters = counters
  }

  private function(head: string, params: readonly string[]): void {
    const { loops, variables } = this
    this.loops = 0
    this.variables = []
    this.block(`fn ${head}`, () => {
      for (const param of params) if (param !== 'self') this.declare(param)
      // Recursion that usually ends.
      if (!this.generating && this.random.oneIn(2)) this.write(`if ${this.variables[0]!} == 0 { return ${this.literal()} }`)
      for (let left = this.random.between(2, 6); left > 0; left--) this.statement(3)
      if (!this.generating) this.write(`return ${this.expression(2)}`)
    })
    this.loops = loops
    this.variables = variables
  }

  /** A function that compiled code may inline: short, without loops and calls, with several ways to fail. */
  private small(): void {
    const { random } = this
    const name = `s${this.names++}`
    const params = ['a', 'b'].slice(0, random.between(1, 2))
    const operand = (): string => random.pick([...params, ...params, '1', '2.0', '0.5', '(-3)', '"s"', 'nil'])
    const body = (): string => {
      const [x, y, z] = [operand(), operand(), operand()]
      const [one, other] = [random.pick(['+', '-', '*', '/', '%']), random.pick(['+', '-', '*'])]
      return random.pick([
        `id2(${x}) ${one} id2(${y})`,
        `${x}`,
        `"<\${${x}}>"`,
        `id2(${x}) ${one} id2(${y}) ${other} id2(${z})`,
        `[${x}, 1.5][0]`,
      ])
    }
    const plain = (text: string): string =>
      text.replace(/id2\((\w+)\)/g, (_, each: string) => (params.includes(each) ? each : `id(${each})`)).replaceAll('id2', 'id')
    this.block(
      `fn ${name}(${params.map((each, at) => (at === 0 && random.oneIn(6) ? `${each}: float` : each)).join(', ')})`,
      () => {
        if (random.oneIn(3))
          this.write(
            `if ${params[0]!} ${random.pick(['<', '==', '>='])} ${random.pick(['2', '1.5', '"s"'])} { return ${plain(body())} }`,
          )
        if (random.oneIn(6)) this.write(`if ${params[0]!} == 3 { throw "three" }`)
        this.write(`return ${plain(body())}`)
      },
    )
    this.functions.push({ name, arity: params.length })
  }

  private declare(value: string): string {
    const name = `v${this.names++}`
    this.write(`var ${name} = id(${value})`)
    this.variables.push(name)
    return name
  }

  private statement(depth: number): void {
    const { random } = this
    const kinds: (() => void)[] = [
      () => void this.declare(this.expression(2)),
      () => this.assign(),
      () => this.assign(),
      () => this.assign(),
      () => this.update(),
      () => this.write(`println("\${${this.variable()}}")`),
    ]
    if (depth > 0) {
      kinds.push(
        () => this.conditional(depth),
        () => this.writeCounted(depth),
        () => this.writeCounted(depth),
        () => this.iteration(depth),
        () => this.iteration(depth),
        () => this.attempt(depth),
        () => this.callback(),
        () => this.numbers(),
        () => this.matching(depth),
        () => this.write('sleep(1ms)'),
      )
    }
    if (this.generating) kinds.push(...Array.from({ length: 4 }, () => () => this.write(`yield ${this.expression(1)}`)))
    if (this.loops > 0) kinds.push(() => this.write(`if ${this.condition()} { ${random.pick(['break', 'continue'])} }`))
    if (random.oneIn(8)) kinds.push(() => this.write(`if ${this.condition()} { throw ${this.expression(1)} }`))
    if (!this.generating && random.oneIn(8))
      kinds.push(() => this.write(`if ${this.condition()} { return ${this.expression(1)} }`))
    random.pick(kinds)()
  }

  private some(depth: number): void {
    for (let left = this.random.between(1, 4); left > 0; left--) this.statement(depth - 1)
  }

  private assign(): void {
    const name = this.variable()
    const { random } = this
    if (random.oneIn(3)) this.write(`${name} ${random.pick(['+=', '-=', '*='])} ${this.expression(1)}`)
    else this.write(`${name} = ${name} ${random.pick(['+', '-', '*', '/', '%'])} ${this.expression(1)}`)
  }

  /** In place where a variable owns a container, a copy where it is shared. */
  private update(): void {
    const { random } = this
    const name = `v${this.names++}`
    const shared = random.oneIn(2)
    switch (random.below(3)) {
      case 0:
        this.write(`var ${name} = [${this.expression(1)}, ${this.expression(1)}, 3]`)
        if (shared) this.write(`let ${name}s = ${name}`)
        this.write(`for k in 0 to 2 { ${name}[k] = ${this.expression(1)}\n ${name} = ${name}.push(k) }`)
        break
      case 1:
        this.write(`var ${name} = {a: ${this.expression(1)}}`)
        if (shared) this.write(`let ${name}s = ${name}`)
        this.write(`for k in 0 to 4 { ${name}["k\${k % 3}"] = ${this.expression(1)}\n ${name}.a = k }`)
        break
      default:
        this.write(`var ${name} = P {x: ${this.expression(1)}, y: 2}`)
        if (shared) this.write(`let ${name}s = ${name}`)
        this.write(`for k in 0 to 4 { ${name}.x = ${name}.y\n ${name}.y = ${name}.x + ${this.expression(1)} }`)
        this.write(`${this.variable()} = ${name}.${random.pick(['add', 'twice'])}(${this.expression(1)})`)
        return
    }
    if (shared) this.write(`println("\${${name}s}")`)
    this.write(`println("\${${name}}")`)
  }

  /** Lists of floats in a loop: read, written, grown, shared, inspected in between, and occasionally given another value. */
  private numbers(): void {
    const { random } = this
    const name = `v${this.names++}`
    const at = (): string => random.pick(['j % 3', '(j + 1) % 3', '0', '2', '-1', 'j', '5 - j'])
    const item = (): string => `${name}[${at()}]`
    const value = (): string =>
      random.oneIn(12)
        ? this.expression(1)
        : random.pick([`${item()} * 0.5 + ${item()}`, `${item()} - 1.25`, `2.0 * ${item()}`, `1 + ${item()}`, item(), '0.75'])
    this.write(
      `var ${name} = ${random.pick(['[0.5, 1.5, 2.5]', '[0.5, -0.0, 4.0, 1.0, 9.5]', '[1.5, 2, 3.5]', 'id([0.25, 0.5, 1.0])'])}`,
    )
    if (random.oneIn(3)) this.write(`let ${name}s = ${name}`)
    this.block(`for j in 0 to ${random.pick(['4', '9', '20'])} exclusive`, () => {
      for (let left = random.between(1, 4); left > 0; left--) {
        const index = random.oneIn(4) ? at() : 'j % 3'
        this.write(
          random.pick([
            `${name}[${index}] = ${value()}`,
            `${name}[${index}] = ${value()}`,
            `if j % 4 == 3 { ${name} = ${name}.${random.pick(['push(0.5)', 'push(j)', 'pop().push(7.5)'])} }`,
            `if ${item()} > 1.0 { ${this.variable()} = ${item()} }`,
            `if j % 5 == 2 { println("\${${name}.sum()} \${${name}}") }`,
            `if j % 5 == 4 { ${name} = ${name} + [${value()}] }`,
            `let ${name}k = ${name}`,
            `if j % 7 == 5 { sleep(1ms) }`,
          ]),
        )
      }
    })
    this.write(`println("\${${name}}")`)
    if (this.lines.some((line) => line.includes(`let ${name}s `))) this.write(`println("\${${name}s}")`)
  }

  private conditional(depth: number): void {
    this.block(`if ${this.condition()}`, () => this.some(depth))
    if (this.random.oneIn(2)) {
      this.lines[this.lines.length - 1] += ' else {'
      this.indent++
      const { variables } = this
      this.variables = [...variables]
      this.some(depth)
      this.variables = variables
      this.indent--
      this.write('}')
    }
  }

  private writeCounted(depth: number): void {
    const name = `v${this.names++}`
    this.write(`var ${name} = 0`)
    this.counters.push(name)
    const limit = this.random.pick(['3', '5', '12', '40'])
    this.block(`while ${name} < ${limit}`, () => {
      this.write(`${name} = ${name} + 1`)
      this.loops++
      this.some(depth)
      this.loops--
    })
  }

  private iteration(depth: number): void {
    const name = `v${this.names++}`
    const over = this.random.pick([
      '0 to 6',
      '0 to 9 exclusive',
      '[1, 2.5, "x"]',
      '{a: 1, b: 2}',
      ...this.generators,
      '[1, 2, 3].iter()',
      '"abc"',
    ])
    this.block(`for ${name} in ${over}`, () => {
      this.loops++
      this.declare(name)
      this.some(depth)
      this.loops--
    })
  }

  private attempt(depth: number): void {
    this.block('try', () => this.some(depth))
    this.block('catch (e)', () => {
      this.declare('e')
      this.some(depth - 1)
    })
  }

  private callback(): void {
    const { random } = this
    const list = random.pick(['[1, 2, 3]', '[0.5, 1.5]', '["a", "b"]', 'id([])'])
    const captured = this.variable()
    const body = `id(x) ${random.pick(['+', '*', '-', '==', '<'])} ${captured}`
    if (random.oneIn(4)) this.declare(`${list}.reduce(${this.literal()}, { acc, x -> id(acc) + ${body} })`)
    else if (random.oneIn(3)) {
      const callees = ['{ x -> x }', '{ x -> "${x}" }', '{ x -> [x] }', '{ x -> 0.5 }', 'id', '{ x -> x == 2 }']
      const some = Array.from({ length: random.between(1, 3) }, () => random.pick(callees))
      const name = this.declare('nil')
      this.write(`for h in [${some.join(', ')}] { ${name} = ${list}.${random.pick(SMALL_METHODS)}(through(h)) }`)
      this.write(`println("\${${name}}")`)
    } else this.declare(`${list}.${random.pick(SMALL_METHODS)}({ x -> ${body} })`)
  }

  private matching(depth: number): void {
    this.block(`match ${this.variable()}`, () => {
      for (const pattern of ['1', '"a"', 'E.A(n)', '_']) this.block(`${pattern} ->`, () => this.some(depth - 1))
    })
  }

  // ---- expressions

  private variable(): string {
    return this.variables.length === 0 ? this.declare(this.literal()) : this.random.pick(this.variables)
  }

  private literal(): string {
    const { random } = this
    if (random.oneIn(2)) return random.pick(INTS)
    // Through a function, which hides the type from the checker.
    return random.oneIn(3) ? `id(${random.pick(OTHERS)})` : random.pick(FLOATS)
  }

  private condition(): string {
    const operator = this.random.pick(['<', '<=', '>', '>=', '==', '!='])
    return `${this.operand(1)} ${operator} ${this.operand(1)}`
  }

  private operand(depth: number): string {
    if (depth <= 0 || this.random.oneIn(2)) return this.random.oneIn(3) ? this.literal() : this.variable()
    return `(${this.expression(depth)})`
  }

  private expression(depth: number): string {
    const { random } = this
    if (depth <= 0) return this.operand(0)
    switch (random.below(12)) {
      case 0:
        return this.operand(0)
      case 1:
        return `(-${this.operand(depth - 1)})`
      case 2:
        return `(${this.condition()} ? ${this.operand(depth - 1)} : ${this.operand(depth - 1)})`
      case 3:
      case 4: {
        if (this.functions.length === 0) return this.operand(0)
        const { name, arity } = random.pick(this.functions)
        const args = Array.from({ length: arity }, (_, at) => (at === 0 ? `${this.variable()} - 1` : this.operand(depth - 1)))
        return `${name}(${args.join(', ')})`
      }
      case 5:
        return `id("<\${${this.variable()}}>")`
      case 6:
        if (random.oneIn(3)) return `sqrt(${this.operand(0)})`
        return `id([${this.operand(0)}, ${this.operand(0)}])[${random.pick(['0', '1', '-1', this.variable()])}]`
      default:
        return `${this.operand(depth - 1)} ${random.pick(['+', '-', '*', '/', '%', '**', '+', '*'])} ${this.operand(depth - 1)}`
    }
  }
}
