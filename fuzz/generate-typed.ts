// Random programs of the fragment for which the checker guarantees types, with mistakes: every parameter is annotated, every `return` is
// built from parameters and literals, every operand has a known plain type. What the checker accepts there must not end in a
// type error. Excluded is what the language deliberately does not check: optional fields, missing
// elements, locals in `return`s, results of closures, variables that are assigned again.

import type { Random } from './random.js'

type Plain = 'int' | 'float' | 'string' | 'bool'
/** Types of parameters: narrowing leaves a plain type of them. */
const PARAMS = [
  'int',
  'float',
  'string',
  'bool',
  'int | nil',
  'string | nil',
  'int | string',
  'int | string | nil',
  'unknown',
  '{k: int, m: string}',
  '{k: int, n?: int}',
  'list<int>',
  'Event',
  'Side',
] as const
type ParamType = (typeof PARAMS)[number]

const PLAIN: readonly Plain[] = ['int', 'float', 'string', 'bool']
/** An argument of each parameter type. */
const ARGUMENTS: Readonly<Record<ParamType, readonly string[]>> = {
  int: ['1', '-2', '7'],
  float: ['1.5', '2', '-0.25'],
  string: ['"a"', '""', '"xyz"'],
  bool: ['true', 'false'],
  'int | nil': ['1', 'nil'],
  'string | nil': ['"s"', 'nil'],
  'int | string': ['3', '"t"'],
  'int | string | nil': ['3', '"t"', 'nil'],
  unknown: ['1', '"u"', 'nil', '[1]', 'true'],
  '{k: int, m: string}': ['{k: 1, m: "a"}'],
  '{k: int, n?: int}': ['{k: 1}', '{k: 1, n: 2}'],
  'list<int>': ['[1, 2]', '[]'],
  Event: ['{kind: "open", path: "p"}', '{kind: "close", code: 3}'],
  Side: ['Side.Left', 'Side.Right'],
}

interface Variable {
  readonly name: string
  readonly type: string
}

interface Callable {
  readonly name: string
  readonly params: readonly ParamType[]
  readonly result: Plain
}

export function generateTyped(random: Random): string {
  return new TypedGenerator(random).program()
}

class TypedGenerator {
  private readonly random: Random
  private readonly lines: string[] = [
    'type Event = {kind: "open", path: string} | {kind: "close", code: int}',
    'enum Side { Left, Right }',
    'fn same<T>(a: T) -> T { return a }',
    'fn pick<T>(a: T, b: T) -> T { return a }',
  ]
  private readonly functions: Callable[] = []
  private names = 0
  /** The result type of the function being generated. */
  private result: Plain = 'int'
  /** No mistakes at present. */
  private careful = false

  constructor(random: Random) {
    this.random = random
  }

  program(): string {
    for (let count = this.random.between(1, 4); count > 0; count--) this.fn()
    this.lines.push('pipeline default(task) {')
    for (const { name, params } of this.functions) {
      for (let times = this.random.between(1, 3); times > 0; times--) {
        this.lines.push(`  println(${name}(${params.map((type) => this.argument(type)).join(', ')}))`)
      }
    }
    this.lines.push('}')
    return `${this.lines.join('\n')}\n`
  }

  private argument(type: ParamType): string {
    return this.random.pick(ARGUMENTS[this.random.oneIn(25) ? this.random.pick(PARAMS) : type])
  }

  private fn(): void {
    const { random } = this
    const params = Array.from({ length: random.between(1, 3) }, () => random.pick(PARAMS))
    const scope = params.map((type, at): Variable => ({ name: `p${at}`, type }))
    const name = `f${this.functions.length}`
    this.result = random.pick(PLAIN)
    const { result } = this
    this.lines.push(`fn ${name}(${scope.map((each) => `${each.name}: ${each.type}`).join(', ')}) -> ${result} {`)
    const locals = [...scope]
    for (let count = random.between(0, 4); count > 0; count--) this.statement(locals, 1)
    this.returning(scope, result, 1)
    this.lines.push('}')
    this.functions.push({ name, params, result })
  }

  private write(depth: number, line: string): void {
    this.lines.push(`${'  '.repeat(depth)}${line}`)
  }

  /** A `return`, alone or after tests that narrow a parameter. */
  private returning(params: readonly Variable[], result: Plain, depth: number): void {
    const subject = this.random.oneIn(2) ? this.random.pick(params) : null
    if (subject !== null) {
      for (const [condition, type] of this.tests(subject)) {
        this.write(depth, `if ${condition} { return ${this.expr(result, [...params, { name: subject.name, type }], 2)} }`)
      }
    }
    this.write(depth, `return ${this.expr(result, params, 2)}`)
  }

  /** Conditions with the narrowed type of a variable. */
  private tests({ name, type }: Variable): readonly (readonly [condition: string, type: string])[] {
    const members = type.split(' | ')
    if (type === 'Event')
      return [
        [`${name}.kind == "open"`, '{kind: "open", path: string}'],
        [`${name}.kind != "open"`, '{code: int}'],
      ]
    if (type === '{k: int, n?: int}') return [[`${name}.has("n")`, '{k: int, n: int}']]
    if (type === 'unknown')
      return [
        [`type_of(${name}) == "int"`, 'int'],
        [`type_of(${name}) == "string"`, 'string'],
      ]
    if (members.length < 2) return []
    const rest = members.filter((member) => member !== 'nil').join(' | ')
    const tests: [string, string][] = members
      .filter((member) => member !== 'nil')
      .map((member) => [`type_of(${name}) == "${member}"`, member])
    if (members.includes('nil')) tests.unshift([`${name} != nil`, rest], [`!(${name} == nil)`, rest])
    return tests
  }

  /** What the statement proves about names is appended to `seen`: the last record of a name holds. */
  private statement(seen: Variable[], depth: number): void {
    const { random } = this
    switch (random.below(depth > 2 ? 3 : 9)) {
      case 0:
      case 1: {
        const type = random.pick(PLAIN)
        const name = `v${this.names++}`
        this.write(depth, `let ${name}${random.oneIn(2) ? `: ${type}` : ''} = ${this.expr(type, seen, 3)}`)
        seen.push({ name, type })
        return
      }
      case 2:
        this.write(depth, `println(${this.expr(random.pick(PLAIN), seen, 3)})`)
        return
      case 3: {
        const subject = this.latest(random.pick(seen).name, seen)
        const tests = this.tests(subject)
        if (tests.length === 0) return
        const [condition, type] = random.pick(tests)
        this.write(depth, `if ${condition} {`)
        this.statement([...seen, { name: subject.name, type }], depth + 1)
        this.write(depth, '}')
        return
      }
      case 4: {
        const subject = this.latest(random.pick(seen).name, seen)
        if (!subject.type.endsWith(' | nil')) return
        const rest = subject.type.replace(/ \| nil$/, '')
        this.write(depth, `guard ${subject.name} != nil else { return ${random.pick(ARGUMENTS[this.result])} }`)
        seen.push({ name: subject.name, type: rest })
        return
      }
      case 5: {
        const list = seen.find((each) => each.type === 'list<int>')
        const name = `i${this.names++}`
        this.write(depth, `for ${name} in ${list === undefined ? '[1, 2]' : list.name} {`)
        this.statement([...seen, { name, type: 'int' }], depth + 1)
        this.write(depth, '}')
        return
      }
      case 6: {
        const side = seen.find((each) => each.type === 'Side')
        if (side === undefined) return
        this.write(depth, `match ${side.name} {`)
        for (const variant of ['Left', 'Right']) {
          this.write(depth + 1, `Side.${variant} -> {`)
          this.statement([...seen], depth + 2)
          this.write(depth + 1, '}')
        }
        this.write(depth, '}')
        return
      }
      case 7: {
        const event = seen.find((each) => each.type === 'Event')
        if (event === undefined) return
        this.write(depth, `match ${event.name}.kind {`)
        this.write(
          depth + 1,
          `"open" -> { println(${this.expr('string', [...seen, { name: event.name, type: '{path: string}' }], 2)}) }`,
        )
        this.write(
          depth + 1,
          `"close" -> { println(${this.expr('int', [...seen, { name: event.name, type: '{code: int}' }], 2)}) }`,
        )
        this.write(depth, '}')
        return
      }
      default:
        this.write(depth, `while ${this.expr('bool', seen, 1)} {`)
        this.statement([...seen], depth + 1)
        this.write(depth + 1, 'break')
        this.write(depth, '}')
    }
  }

  /** An expression of a type, or occasionally of another one. */
  private expr(wanted: Plain, scope: readonly Variable[], depth: number): string {
    const { random } = this
    const type = !this.careful && random.oneIn(30) ? random.pick(PLAIN) : wanted
    const sources = this.sources(type, scope)
    if (depth === 0 || random.oneIn(3)) {
      if (sources.length > 0 && !random.oneIn(4)) return random.pick(sources)
      // An int passes for a float, but branches with one of each form a union.
      const constants = ARGUMENTS[type]
      return random.pick(this.careful && type === 'float' ? constants.filter((each) => each.includes('.')) : constants)
    }
    const writeOther = (other: Plain): string => this.expr(other, scope, depth - 1)
    if (random.oneIn(8)) return `same(${writeOther(type)})`
    if (random.oneIn(12)) return `pick(${writeOther(type)}, ${writeOther(type)})`
    if (random.oneIn(8)) {
      // Branches of two types form a union, and operators do not check unions.
      const condition = writeOther('bool')
      const before = this.careful
      this.careful = true
      const ternary = `(${condition} ? ${writeOther(type)} : ${writeOther(type)})`
      this.careful = before
      return ternary
    }
    const callable = this.functions.find((each) => each.result === type)
    if (callable !== undefined && random.oneIn(4)) {
      return `${callable.name}(${callable.params.map((param) => this.argument(param)).join(', ')})`
    }
    switch (type) {
      case 'int':
        return random.oneIn(8)
          ? `(-${random.pick(ARGUMENTS.int)})`
          : `(${writeOther('int')} ${random.pick(['+', '-', '*'])} ${writeOther('int')})`
      case 'float':
        return `(${writeOther(random.oneIn(3) ? 'int' : 'float')} ${random.pick(['+', '-', '*'])} ${writeOther('float')})`
      case 'string':
        return random.oneIn(4)
          ? `(${writeOther('string')} * 2)`
          : random.oneIn(4)
            ? `to_string(${writeOther(random.pick(PLAIN))})`
            : `(${writeOther('string')} + ${writeOther('string')})`
      case 'bool': {
        const operand = random.pick(['int', 'float', 'string'] as const)
        return random.oneIn(3)
          ? `(${writeOther('bool')} ${random.pick(['&&', '||'])} ${writeOther('bool')})`
          : random.oneIn(4)
            ? `!${writeOther('bool')}`
            : `(${writeOther(operand)} ${random.pick(['<', '>=', '==', '!='])} ${writeOther(operand)})`
      }
    }
  }

  private latest(name: string, seen: readonly Variable[]): Variable {
    return seen.findLast((each) => each.name === name)!
  }

  /** Variables of a type, and fields of shapes; the last record of a name is valid at this position. */
  private sources(type: Plain, scope: readonly Variable[]): readonly string[] {
    const found: string[] = []
    for (const [name, known] of new Map(scope.map((each) => [each.name, each.type]))) {
      if (known === type) found.push(name)
      for (const [, field, of] of known.matchAll(/(\w+): (\w+)/g)) {
        if (known.startsWith('{') && of === type) found.push(`${name}.${field}`)
      }
      // A name of a wrong type: the checker must report it.
      if (!this.careful && (known === 'unknown' || PLAIN.some((plain) => plain === known)) && this.random.oneIn(40))
        found.push(name)
    }
    return found
  }
}
