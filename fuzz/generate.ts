// Random valid programs: every name is declared, every type fits, every loop ends. Generated programs reach combinations for which no
// one writes a script (a yield inside a try inside a loop that a spawned task runs), while scripts test single features.
// That a generated program compiles is itself a property: the checker must not refuse what the language allows.

import type { Random } from './random.js'

type Type = 'int' | 'float' | 'string' | 'bool' | 'list' | 'dict'

const TYPES: readonly Type[] = ['int', 'int', 'int', 'string', 'string', 'float', 'bool', 'list', 'list', 'dict']
const WORDS = ['', 'a', 'bc', 'x y', 'ü', '😀', '10', 'Zed', '\\n', '\\"q\\"', '$5']
const FIELDS = ['a', 'b', 'k', 'type', 'n1'] as const

interface Variable {
  readonly name: string
  readonly type: Type
  readonly mutable: boolean
}

interface Callable {
  readonly name: string
  readonly params: readonly Type[]
  readonly result: Type
}

/** A whole script. */
export function generateProgram(random: Random): string {
  return new Generator(random).program()
}

class Generator {
  private readonly random: Random
  private readonly lines: string[] = []
  private indent = 0
  private names = 0
  private variables: Variable[] = []
  private functions: Callable[] = []
  private inLoop = false
  private inFunction: Type | null = null
  /** Remaining statements: bounds the size of the program. */
  private budget: number

  constructor(random: Random) {
    this.random = random
    this.budget = random.oneIn(5) ? random.between(20, 45) : random.between(3, 16)
  }

  program(): string {
    this.write('enum Shape { Dot, Line(n), Box(w, h) }')
    this.write('struct Item { id: int, tag: string }')
    this.block('impl Item', () => {
      this.block('fn bump(self, by)', () => this.write('return Item {id: self.id + by, tag: self.tag + "!"}'))
    })
    while (this.budget > 0) this.statement(3)
    for (const { name } of this.variables.slice(-6)) this.write(`println(${name})`)
    return `${this.lines.join('\n')}\n`
  }

  // ---- text

  private write(line: string): void {
    this.lines.push('  '.repeat(this.indent) + line)
  }

  /** `head { body }`; names of the body go out of scope after it. `tail` follows the closing brace. */
  private block(head: string, body: () => void, tail = ''): void {
    const { variables, functions } = this
    this.variables = [...variables]
    this.functions = [...functions]
    this.write(`${head} {`)
    this.indent++
    body()
    this.indent--
    this.write(`}${tail}`)
    this.variables = variables
    this.functions = functions
  }

  /** A function or task body: an outer loop cannot be left from it. */
  private body(head: string, result: Type | null, body: () => void, tail = ''): void {
    const { inLoop, inFunction } = this
    this.inLoop = false
    this.inFunction = result
    this.block(head, body, tail)
    this.inLoop = inLoop
    this.inFunction = inFunction
  }

  private name(): string {
    return `v${this.names++}`
  }

  private declare(type: Type, mutable: boolean, value: string): string {
    const name = this.name()
    this.write(`${mutable ? 'var' : 'let'} ${name} = ${value}`)
    this.variables.push({ name, type, mutable })
    return name
  }

  private some(depth: number): void {
    for (let count = this.random.between(1, 3); count > 0; count--) this.statement(depth - 1)
  }

  private variable(type: Type, mutable = false): string | null {
    const found = this.variables.filter((each) => each.type === type && (!mutable || each.mutable))
    return found.length === 0 ? null : this.random.pick(found).name
  }

  // ---- statements

  private statement(depth: number): void {
    this.budget--
    const { random } = this
    const kinds: (() => void)[] = [
      () => this.declareSome(),
      () => this.declareSome(),
      () => this.assign(),
      () => this.assign(),
      () => this.show(),
      () => this.show(),
    ]
    if (depth > 0) {
      kinds.push(
        () => this.conditional(depth),
        () => this.loop(depth),
        () => this.loop(depth),
        () => this.attempt(depth),
        () => this.attempt(depth),
        () => this.matching(depth),
        () => this.callback(depth),
        () => this.generator(depth),
        () => this.concurrency(depth),
        () => this.concurrency(depth),
        () => this.destructure(),
        () => this.records(),
        () => this.fn(depth),
        () => this.fn(depth),
        () => this.writeTimed(depth),
      )
    }
    if (this.inLoop && random.oneIn(3)) {
      kinds.push(() => this.block(`if ${this.expr('bool', 2)}`, () => this.write(random.pick(['break', 'continue']))))
    }
    const { inFunction } = this
    if (inFunction !== null && random.oneIn(3)) {
      kinds.push(() => this.block(`if ${this.expr('bool', 1)}`, () => this.write(`return ${this.expr(inFunction, 1)}`)))
    }
    random.pick(kinds)()
  }

  private declareSome(): void {
    const type = this.random.pick(TYPES)
    this.declare(type, this.random.oneIn(2), this.expr(type, 3))
  }

  private assign(): void {
    const { random } = this
    const type = random.pick(TYPES)
    const target = this.variable(type, true)
    if (target === null) return this.declareSome()
    switch (type) {
      case 'int':
        return this.write(
          random.oneIn(2)
            ? `${target} = ${this.expr('int', 2)}`
            : `${target} ${random.pick(['+=', '-=', '*='])} ${this.expr('int', 1)}`,
        )
      case 'float':
        return this.write(`${target} ${random.pick(['=', '+=', '-='])} ${this.expr('float', 1)}`)
      case 'string':
        return this.write(`${target} ${random.pick(['=', '+='])} ${this.expr('string', 1)}`)
      case 'bool':
        return this.write(`${target} = ${this.expr('bool', 2)}`)
      case 'list': {
        const item = this.expr('int', 1)
        return this.write(
          random.pick([
            `${target} = ${target} + [${item}]`,
            `${target} = ${target}.push(${item})`,
            `${target} += [${item}]`,
            `${target} = ${this.expr('list', 2)}`,
            `if len(${target}) > 0 { ${target}[0] = ${item} }`,
            `if len(${target}) > 1 { ${target}[-1] += ${item} }`,
          ]),
        )
      }
      case 'dict': {
        const value = this.expr('int', 1)
        return this.write(
          random.pick([
            `${target}.${random.pick(FIELDS)} = ${value}`,
            `${target}["${random.pick(FIELDS)}"] = ${value}`,
            `${target} = ${target}.merge({b: ${value}})`,
            `${target} = {...${target}, k: ${value}}`,
            `${target} = ${target} + ${this.expr('dict', 1)}`,
          ]),
        )
      }
    }
  }

  private show(): void {
    const type = this.random.pick(TYPES)
    this.write(
      this.random.pick([
        () => `println(${this.expr(type, 3)})`,
        () => `println("\${${this.expr('int', 1)}} \${${this.variable(type) ?? '1'}}")`,
        () => `println(json_stringify(${this.expr(type, 2)}))`,
        () => `println(type_of(${this.expr(type, 2)}))`,
      ])(),
    )
  }

  private conditional(depth: number): void {
    this.block(`if ${this.expr('bool', 2)}`, () => this.some(depth))
    if (this.random.oneIn(2)) {
      this.lines[this.lines.length - 1] += ' else {'
      this.indent++
      const { variables, functions } = this
      this.variables = [...variables]
      this.functions = [...functions]
      this.some(depth)
      this.variables = variables
      this.functions = functions
      this.indent--
      this.write('}')
    }
  }

  private loop(depth: number): void {
    const { random } = this
    const { inLoop } = this
    this.inLoop = true
    const item = this.name()
    const enter = (type: Type): void => {
      this.variables.push({ name: item, type, mutable: false })
      this.some(depth)
    }
    switch (random.below(6)) {
      case 0:
      case 1:
        this.block(
          `for ${item} in ${random.between(-1, 2)} to ${random.between(0, 5)}${random.oneIn(3) ? ' exclusive' : ''}`,
          () => enter('int'),
        )
        break
      case 2:
        // The checker types the items of some lists as `any`, for which it refuses arithmetic.
        this.block(`for each${item} in ${this.expr('list', 2)}`, () => {
          this.write(`let ${item} = to_int(each${item})`)
          enter('int')
        })
        break
      case 3:
        this.block(`for ${item} in ${this.expr('dict', 1)}`, () => {
          this.write(`println("\${${item}.key}=\${${item}.value}")`)
          this.some(depth)
        })
        break
      case 4:
        this.block(`for (${item}, w${item}) in [1, 2, 3].iter().enumerate()`, () => {
          this.write(`println(w${item})`)
          enter('int')
        })
        break
      default: {
        const counter = this.name()
        this.write(`var ${counter} = 0`)
        this.block(`while ${counter} < ${random.between(1, 5)}`, () => {
          this.write(`${counter} += 1`)
          this.some(depth)
        })
      }
    }
    this.inLoop = inLoop
  }

  private attempt(depth: number): void {
    const { random } = this
    switch (random.below(5)) {
      case 0:
      case 1: {
        this.block(
          'try',
          () => {
            this.some(depth)
            if (random.oneIn(2)) this.write(`throw ${this.expr(random.pick(TYPES), 1)}`)
            if (random.oneIn(4))
              this.write(random.pick(['throw Shape.Line(3)', 'let q = 1 / 0', 'unwrap(Err("no"))', 'require 1 > 2, "math"']))
          },
          random.oneIn(3) ? ' catch (e: Shape) {' : ' catch (e) {',
        )
        this.indent++
        this.write('println("caught ${e}")')
        this.indent--
        this.write('}')
        if (random.oneIn(2)) {
          this.lines[this.lines.length - 1] += ' finally {'
          this.indent++
          this.write('println("finally")')
          this.indent--
          this.write('}')
        }
        return
      }
      case 2: {
        const result = this.name()
        this.body(`let ${result} = try`, null, () => {
          this.write(`if ${this.expr('bool', 1)} { throw ${this.expr('string', 1)} }`)
          this.write(this.expr('int', 1))
        })
        this.write(`println(${result})`)
        this.declare('int', false, `unwrap_or(${result}, 7)`)
        return
      }
      case 3: {
        const tries = this.name()
        this.write(`var ${tries} = 0`)
        this.block(
          'try { retry 3',
          () => {
            this.write(`${tries} += 1`)
            this.write(`println("try \${${tries}}")`)
            this.write(`if ${tries} < ${random.between(1, 4)} { throw "again" }`)
          },
          ' } catch (e) { println("gave up: ${e}") }',
        )
        return
      }
      default:
        this.write(`println(try { ${this.expr(random.pick(TYPES), 2)} } catch (e) { "failed: \${e}" })`)
    }
  }

  private matching(depth: number): void {
    const { random } = this
    switch (random.below(4)) {
      case 0:
        return this.block(`match ${this.expr('int', 2)}`, () => {
          this.block('1 | 2 ->', () => this.some(depth))
          this.block(`n if n > ${random.between(0, 9)} ->`, () => this.write('println("big ${n}")'))
          this.block('_ ->', () => this.some(depth))
        })
      case 1: {
        const value = random.pick([
          'Shape.Dot',
          `Shape.Line(${this.expr('int', 1)})`,
          `Shape.Box(${this.expr('int', 1)}, ${this.expr('string', 1)})`,
        ])
        return this.block(`match ${value}`, () => {
          this.block('Shape.Dot ->', () => this.write('println("dot")'))
          this.block('Shape.Line(n) ->', () => this.write('println("line ${n}")'))
          this.block('Shape.Box(w, h) ->', () => this.write('println("box ${w} ${h}")'))
        })
      }
      case 2:
        return this.block(`match ${this.expr('list', 2)}`, () => {
          this.block('[1, x] ->', () => this.write('println("one ${x}")'))
          this.block('[x] ->', () => this.write('println("single ${x}")'))
          this.block('_ ->', () => this.some(depth))
        })
      default:
        return this.block(`match ${this.expr('dict', 1)}`, () => {
          this.block('{a: 1, b: second} ->', () => this.write('println("dict ${second}")'))
          this.block('_ ->', () => this.write('println("other")'))
        })
    }
  }

  private callback(depth: number): void {
    const { random } = this
    const list = this.expr('list', 2)
    const result = this.name()
    const kind = random.below(5)
    const method = ['map', 'filter', 'flat_map', 'sort_by', 'each'][kind]!
    const item = this.name()
    this.body(
      `let ${result} = ${list}.${method}({ ${item} ->`.replace(/ \{$/, ''),
      null,
      () => {
        this.variables.push({ name: item, type: 'int', mutable: false })
        if (depth > 1) this.statement(depth - 2)
        const last = ['int', 'bool', 'list', 'int', 'int'] as const
        this.write(this.expr(last[kind]!, 1))
      },
      ')',
    )
    // `block` wrote `{ v -> {`: the closure opens with its own brace.
    const opened = this.lines.findLastIndex((line) => line.endsWith('-> {') && line.includes(`{ ${item} ->`))
    this.lines[opened] = this.lines[opened]!.replace(/-> \{$/, '->')
    this.write(`println(${result})`)
  }

  private generator(depth: number): void {
    const { random } = this
    const isStream = random.oneIn(2)
    const name = this.name()
    const word = isStream ? 'emit' : 'yield'
    this.body(`${isStream ? 'gen ' : ''}fn ${name}(n)`, null, () => {
      this.variables.push({ name: 'n', type: 'int', mutable: false })
      this.write(`${word} n`)
      this.block(`for i in 1 to ${random.between(0, 4)}`, () => {
        this.variables.push({ name: 'i', type: 'int', mutable: false })
        if (depth > 1) this.statement(depth - 2)
        this.write(random.oneIn(3) ? `try { ${word} i } finally { println("left \${i}") }` : `${word} i * n`)
      })
    })
    const item = this.name()
    const source = `${name}(${this.expr('int', 1)})`
    if (random.oneIn(3)) return this.write(`println(${source}.iter().take(2).to_list())`)
    this.block(`for ${item} in ${source}`, () => {
      this.write(`println(${item})`)
      if (random.oneIn(3)) this.write(`if ${item} == 2 { break }`)
    })
  }

  private concurrency(depth: number): void {
    const { random } = this
    const name = this.name()
    const item = this.name()
    const inTask = (): void => {
      this.some(Math.min(depth, 2))
      if (random.oneIn(2)) this.write(`sleep(${random.between(0, 9)})`)
      this.write(this.expr('int', 1))
    }
    switch (random.below(7)) {
      case 0:
      case 1:
        this.body(`let ${name} = spawn`, null, inTask)
        return this.write(random.oneIn(5) ? `cancel(${name})` : `println(await(${name}))`)
      case 2: {
        this.body(`let ${name} = parallel ${random.between(0, 3)} { ${item} ->`, null, () => {
          this.variables.push({ name: item, type: 'int', mutable: false })
          inTask()
        })
        break
      }
      case 3:
      case 4: {
        const mode = random.pick(['each', 'settle'])
        const most = random.oneIn(2) ? ' with { max_concurrent: 2 }' : ''
        this.body(`let ${name} = parallel ${mode} ${this.expr('list', 1)}${most} { ${item} ->`, null, () => {
          this.variables.push({ name: item, type: 'int', mutable: false })
          if (mode === 'settle') this.write(`if ${item} > 2 { throw "too big" }`)
          inTask()
        })
        break
      }
      case 5: {
        this.write(`let ${name} = channel("c", ${random.between(1, 3)})`)
        this.body(`let t${name} = spawn`, null, () => {
          this.write(`for i in 1 to ${random.between(1, 4)} { send(${name}, i) }`)
          this.write(`close_channel(${name})`)
        })
        if (random.oneIn(2)) this.write(`for ${item} in ${name} { println(${item}) }`)
        else {
          this.block('select', () => {
            this.block(`${item} from ${name}`, () => this.write(`println("got \${${item}}")`))
            this.block('timeout 20ms', () => this.write('println("late")'))
          })
          this.write(`cancel(t${name})`)
        }
        return
      }
      default:
        return this.block('mutex', () => this.some(depth))
    }
    this.reopen(`{ ${item} ->`)
    this.write(`println(${name})`)
  }

  /** `… { x -> {` was written by `block`; the brace before the name is the only one. */
  private reopen(opening: string): void {
    const at = this.lines.findLastIndex((line) => line.endsWith(`${opening} {`))
    this.lines[at] = this.lines[at]!.slice(0, -2)
  }

  private destructure(): void {
    const [x, y] = [this.name(), this.name()]
    switch (this.random.below(3)) {
      case 0:
        this.write(`let [${x}, ${y} = 4, ...r${x}] = ${this.expr('list', 1)}`)
        break
      case 1:
        this.write(`let {a: ${x}, ${y} = 5, ...r${x}} = ${this.expr('dict', 1)}`)
        break
      default:
        this.write(`let {key: ${x}, value: ${y}} = entries({q: ${this.expr('int', 1)}})[0]`)
    }
    this.write(`println("\${${x}} \${${y}}")`)
  }

  private records(): void {
    const item = this.name()
    this.write(`var ${item} = Item {id: ${this.expr('int', 1)}, tag: ${this.expr('string', 1)}}`)
    this.write(
      this.random.pick([`${item}.id = ${this.expr('int', 1)}`, `${item} = ${item}.bump(2)`, `println(${item}.bump(1).tag)`]),
    )
    this.write(`println(${item})`)
  }

  private fn(depth: number): void {
    const { random } = this
    const name = this.name()
    const result = random.pick(TYPES)
    const params = Array.from({ length: random.below(4) }, () => random.pick(TYPES))
    // Inside a closure the checker does not know a function by its own name, as in the reference.
    if (this.indent === 0 && random.oneIn(3)) {
      this.body(`fn ${name}(n)`, 'int', () => {
        this.write('if n <= 0 { return 0 }')
        this.write(random.oneIn(2) ? `return ${name}(n - 1)` : `return 1 + ${name}(n - 1)`)
      })
      return this.write(`println(${name}(${random.oneIn(6) ? random.between(500, 700) : random.below(20)}))`)
    }
    const names = params.map((_, at) => `p${at}`)
    const written = names.map((each, at) =>
      at === params.length - 1 && random.oneIn(3) ? `${each} = ${this.constant(params[at]!)}` : each,
    )
    this.body(`fn ${name}(${written.join(', ')})`, result, () => {
      names.forEach((each, at) => this.variables.push({ name: each, type: params[at]!, mutable: false }))
      if (random.oneIn(3)) this.write('defer { println("deferred") }')
      this.some(depth)
      this.write(`return ${this.expr(result, 2)}`)
    })
    const callable = { name, params, result }
    // The checker does not know a function of a block in nested closures, so only the block itself calls it.
    if (this.indent === 0) this.functions.push(callable)
    else this.write(`println(${this.writeCall(callable)})`)
  }

  private writeTimed(depth: number): void {
    const { random } = this
    switch (random.below(3)) {
      case 0:
        return this.block(
          'try { deadline 5ms',
          () => {
            this.write(`sleep(${random.pick([1, 3, 9])})`)
            this.some(depth)
          },
          ' } catch (e) { println("${e}") }',
        )
      case 1:
        return this.write(`sleep(${random.between(0, 50)}ms)`)
      default:
        return this.block(`if true`, () => this.some(depth))
    }
  }

  // ---- expressions

  private constant(type: Type): string {
    const { random } = this
    switch (type) {
      case 'int':
        return String(
          random.oneIn(12) ? random.pick(['9223372036854775807', '9007199254740991', '4294967296']) : random.between(0, 9),
        )
      case 'float':
        return random.pick(['0.5', '1.0', '3.25', '100.0', '0.1'])
      case 'string':
        return `"${random.pick(WORDS)}"`
      case 'bool':
        return random.pick(['true', 'false'])
      case 'list':
        return random.pick(['[]', '[1]', '[1, 2]', '[3, 1, 2]', '[5, 5, 5, 5]'])
      case 'dict':
        return random.pick(['{}', '{a: 1}', '{a: 1, b: 2}', '{k: 3, type: 4}'])
    }
  }

  private writeCall({ name, params }: Callable): string {
    return `${name}(${params.map((each) => this.expr(each, 1)).join(', ')})`
  }

  private expr(type: Type, depth: number): string {
    const { random } = this
    if (depth <= 0 || random.oneIn(5)) {
      const name = random.oneIn(4) ? null : this.variable(type)
      return name ?? this.constant(type)
    }
    const own = (of: Type): string => this.expr(of, depth - 1)
    const callee = this.functions.filter((each) => each.result === type)
    if (callee.length > 0 && random.oneIn(3)) return this.writeCall(random.pick(callee))
    // Parentheses: a branch that begins with a bracket would be parsed as an index.
    if (random.oneIn(10)) return `(${own('bool')} ? (${own(type)}) : (${own(type)}))`
    if (random.oneIn(14)) return `(if ${own('bool')} { ${own(type)} } else { ${own(type)} })`
    switch (type) {
      case 'int':
        return random.pick([
          () => `(${own('int')} ${random.pick(['+', '-', '*'])} ${own('int')})`,
          () => `(${own('int')} ${random.pick(['/', '%'])} ${random.between(1, 9)})`,
          () => `(-${own('int')})`,
          () => `len(${own('list')})`,
          () => `len(${own('string')})`,
          () => `to_int(${own('float')})`,
          () => `${own('list')}.reduce(0, { acc, x -> acc + x })`,
          () => `(${own('list')}.first() ?? ${own('int')})`,
          () => `(${own('dict')}?.a ?? ${random.below(9)})`,
          () => `(${own('int')} |> { x -> x + 1 })`,
          () => `abs(${own('int')})`,
          () => `(2 ** ${random.below(70)})`,
          () => `len(${random.below(3)} to ${random.below(9)})`,
        ])()
      case 'float':
        return random.pick([
          () => `(${own('float')} ${random.pick(['+', '-', '*', '/'])} ${own('float')})`,
          () => `to_float(${own('int')})`,
          () => `sqrt(${own('float')})`,
        ])()
      case 'string':
        return random.pick([
          () => `(${own('string')} + ${own('string')})`,
          () => `to_string(${own(random.pick(TYPES))})`,
          () => `${own('string')}.uppercase()`,
          () => `${own('string')}[${random.pick(['1:', ':2', '0:3', '-2:', ':'])}]`,
          () => `join(${own('list')}, "-")`,
          () => `${own('string')}.replace("a", "b")`,
          () => `"<\${${own('int')}}>"`,
          () => `(${own('string')} * ${random.below(4)})`,
          () => `${own('string')}.trim().reverse()`,
        ])()
      case 'bool':
        return random.pick([
          () => `(${own('int')} ${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${own('int')})`,
          () => `(${own('bool')} ${random.pick(['&&', '||'])} ${own('bool')})`,
          () => `(!${own('bool')})`,
          () => `(${own('int')} in ${own('list')})`,
          () => `("${random.pick(FIELDS)}" not in ${own('dict')})`,
          () => `(${own('list')} == ${own('list')})`,
          () => `${own('list')}.any({ x -> x > 1 })`,
          () => `(${own('string')} < ${own('string')})`,
        ])()
      case 'list':
        return random.pick([
          () => `[${own('int')}, ${own('int')}]`,
          () => `[...${own('list')}, ${own('int')}]`,
          () => `(${own('list')} + ${own('list')})`,
          () => `${own('list')}.map({ x -> x * 2 })`,
          () => `${own('list')}.filter({ x -> x > ${random.below(4)} })`,
          () => `${own('list')}[${random.pick(['1:', ':2', '-1:', ':'])}]`,
          () => `${own('list')}.sort()`,
          () => `${own('list')}.reverse()`,
          () => `values(${own('dict')})`,
          () => `(${random.below(3)} to ${random.below(7)}).iter().map({ x -> x + 1 }).to_list()`,
          () => `${own('list')}.iter().skip(1).to_list()`,
          () => `${own('list')}.sort_by({ x -> -x })`,
          () => `to_list(set(${own('int')}, ${own('int')}))`,
        ])()
      case 'dict':
        return random.pick([
          () => `{a: ${own('int')}, b: ${own('int')}}`,
          () => `{...${own('dict')}, k: ${own('int')}}`,
          () => `${own('dict')}.merge(${own('dict')})`,
          () => `{["x\${${own('int')}}"]: ${own('int')}}`,
          () => `${own('dict')}.map_values({ v -> v + 1 })`,
          () => `${own('dict')}.remove("a")`,
          () => `${own('dict')}.filter({ v -> v > 1 })`,
        ])()
    }
  }
}
