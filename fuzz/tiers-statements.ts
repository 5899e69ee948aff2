// THE families of statements of generate-tiers.ts. A row writes one statement, or a few related ones.

import type { Kind, Scribe } from './tiers-values.js'

/** Bodies of one-line closures over an element. */
const SMALL = [
  '+ 1',
  '* 2',
  '% 3',
  '/ 2',
  '> 2',
  '% 3 == 0',
  '== 2',
  '+ 0.5',
  '< 0.5',
  '* 4611686018427387904',
  '/ 0',
  '!= nil',
] as const

const LOOP_METHODS = [
  'map',
  'filter',
  'find',
  'find_index',
  'any',
  'all',
  'every',
  'none',
  'sort_by',
  'flat_map',
  'min_by',
  'max_by',
  'partition',
  'group_by',
] as const

/** A list to call a method on, of a few elements or of some dozens. */
function receiver(g: Scribe): string {
  const { random } = g
  const long = ['n', 'n', 'n * 0.5', 'n % 5'].map((each) => `(0 to ${random.between(8, 60)}).map({ n -> ${each} }).to_list()`)
  const mixed = [
    '[1, 2.5, "a", nil, [1], 7]',
    '["b", "a", "c"]',
    '[[2], [1], []]',
    '[1, 2, "x", ...(0 to 20).map({ n -> n }).to_list()]',
  ]
  return random.oneIn(3) ? random.pick(long) : random.oneIn(5) ? random.pick(mixed) : g.operand(random.pick(['list', 'reals']), 1)
}

/** Writes up to this many statements one level deeper. */
export type Inner = (most?: number) => void

interface Row {
  /** Contains statements. */
  readonly deep?: boolean
  readonly write: (g: Scribe, inner: Inner) => void
}

export interface Family {
  readonly name: string
  /** In every program. */
  readonly always?: boolean
  readonly rows: readonly Row[]
}

const row = (write: Row['write']): Row => ({ write })
const deep = (write: Row['write']): Row => ({ write, deep: true })

/** Iterations of a loop: few inside another one. */
function turns(g: Scribe): string {
  return g.random.pick(g.counters.length > 0 ? ['2', '3', '4'] : ['3', '5', '8', '8', '12', '40'])
}

function loop(g: Scribe, head: string, body: () => void, counter: string | null): void {
  const { inLoop } = g
  g.inLoop = true
  g.block(head, () => {
    if (counter !== null) g.counters.push(counter)
    body()
  })
  g.inLoop = inLoop
}

/** `name op= value` or the long form. */
function change(g: Scribe, name: string, kind: Kind): void {
  const { random } = g
  switch (kind) {
    case 'int':
    case 'float':
      return g.write(
        random.pick([
          `${name} ${random.pick(['+=', '-=', '*='])} ${g.operand(kind, 1)}`,
          `${name} = ${name} ${random.pick(['+', '-', '*', '/'])} ${g.operand(kind, 1)}`,
          `${name} = ${g.operand(kind, 2)}`,
        ]),
      )
    case 'string':
      return g.write(`${name} ${random.pick(['=', '+='])} ${g.operand('string', 1)}`)
    case 'list':
    case 'reals': {
      const item = g.operand(kind === 'list' ? 'int' : 'float', 1)
      return g.write(
        random.pick([
          `${name} = ${name}.push(${item})`,
          `${name} = ${name} + [${item}]`,
          `if len(${name}) > 1 { ${name}[${random.pick(['0', '1', '-1', '-2'])}] ${random.pick(['=', '=', '+='])} ${item} }`,
          `${name} = ${g.operand(kind, 1)}`,
          `${name} = ${name}.pop()`,
        ]),
      )
    }
    case 'dict':
      return g.write(
        random.pick([
          `${name}.${random.pick(['a', 'b', 'k', 'z'])} = ${g.operand('int', 1)}`,
          `${name}["${random.pick(['a', 'k${1 + 1}', 'q'])}"] = ${g.operand('int', 1)}`,
          `${name} = {...${name}, b: ${g.expr('int', 1)}}`,
          `${name} = ${name} + ${g.expr('dict', 1)}`,
          `${name}.a = (${name}.a ?? 0) + 1`,
        ]),
      )
    case 'item':
      return g.write(
        random.pick([
          `${name}.x = ${g.operand('float', 1)}`,
          `${name}.y = ${name}.x`,
          `${name}.x += ${g.operand('int', 1)}`,
          `${name} = ${name}.moved(${g.expr('int', 1)})`,
        ]),
      )
    default:
      return g.write(`${name} = ${g.operand(kind, 2)}`)
  }
}

export const FAMILIES: readonly Family[] = [
  {
    name: 'values',
    always: true,
    rows: [
      row((g) => {
        const kind = g.kind()
        g.declare(kind, g.operand(kind, 2))
      }),
      row((g) => {
        const kind = g.kind()
        change(g, g.target(kind), kind)
      }),
      row((g) => {
        const kind = g.kind()
        change(g, g.target(kind), kind)
      }),
      row((g) => g.write(`println("\${${g.any()}} \${${g.expr(g.kind(), 1)}}")`)),
    ],
  },
  {
    name: 'loops',
    always: true,
    rows: [
      deep((g, inner) => {
        const name = g.name()
        g.write(`var ${name} = 0`)
        loop(
          g,
          `while ${name} < ${turns(g)}`,
          () => {
            g.write(`${name} = ${name} + 1`)
            g.bind(name, 'int')
            inner()
          },
          name,
        )
      }),
      deep((g, inner) => {
        const name = g.name()
        loop(
          g,
          `for ${name} in ${g.random.pick(['0', '1', '-2', '3'])} to ${turns(g)}${g.random.oneIn(2) ? ' exclusive' : ''}`,
          () => {
            g.bind(name, 'int')
            inner()
          },
          name,
        )
      }),
      deep((g, inner) => {
        // Floats carried by a loop in variables.
        const [sum, name] = [g.declare('float', g.literal('float'), true), g.name()]
        loop(
          g,
          `for ${name} in 0 to ${turns(g)}`,
          () => {
            g.bind(name, 'int')
            g.write(`${sum} = ${sum} ${g.random.pick(['+', '*', '-'])} ${g.operand(g.random.pick(['float', 'int']), 2)}`)
            if (g.random.oneIn(2)) inner(2)
          },
          name,
        )
        g.write(`println(${sum})`)
      }),
    ],
  },
  {
    name: 'conditions',
    always: true,
    rows: [
      deep((g, inner) => {
        const { random } = g
        g.block(`if ${g.condition(1)}`, () => inner(2))
        if (random.oneIn(2)) return
        g.lines[g.lines.length - 1] += ' else {'
        g.indent++
        const { variables, callables } = g
        g.variables = [...variables]
        inner(2)
        g.variables = variables
        g.callables = callables
        g.indent--
        g.write('}')
      }),
    ],
  },
  {
    name: 'iteration',
    rows: [
      deep((g, inner) => {
        const name = g.name()
        const kind = g.random.pick(['int', 'float'] as const)
        loop(
          g,
          `for ${name} in ${g.operand(kind === 'int' ? 'list' : 'reals', 1)}`,
          () => {
            g.bind(name, kind)
            inner()
          },
          null,
        )
      }),
      deep((g, inner) => {
        const [key, value] = [g.name(), g.name()]
        loop(
          g,
          `for {key: ${key}, value: ${value}} in ${g.expr('dict', 1)}`,
          () => {
            g.bind(key, 'string')
            g.bind(value, 'int')
            inner()
          },
          null,
        )
      }),
      deep((g, inner) => {
        const [at, item] = [g.name(), g.name()]
        const over = g.random.pick(['iter().enumerate()', 'enumerate()', 'iter().zip((1 to 9).iter())'])
        loop(
          g,
          over === 'enumerate()'
            ? `for {index: ${at}, value: ${item}} in ${g.expr('list', 1)}.enumerate()`
            : `for (${at}, ${item}) in ${g.expr('list', 1)}.${over}`,
          () => {
            g.bind(at, 'int')
            g.bind(item, 'int')
            inner()
          },
          null,
        )
      }),
      deep((g, inner) => {
        const name = g.name()
        loop(
          g,
          `for ${name} in ${g.expr('string', 1)}.chars()`,
          () => {
            g.bind(name, 'string')
            inner()
          },
          null,
        )
      }),
      deep((g, inner) => {
        const name = g.name()
        loop(
          g,
          `for ${name} in [1, 2.5, "x", 4, nil, 0.5]`,
          () => {
            g.bind(name, g.random.pick(['int', 'float']))
            inner()
          },
          null,
        )
      }),
    ],
  },
  {
    name: 'reals',
    rows: [
      deep((g) => {
        const { random } = g
        const [list, at] = [g.target('reals'), g.name()]
        const index = (): string => random.pick([`${at} % 3`, `(${at} + 1) % 3`, '0', '2', '-1', at, `5 - ${at}`])
        const item = (): string => `${list}[${index()}]`
        const value = (): string =>
          random.pick([`${item()} * 0.5 + ${item()}`, `${item()} - 1.25`, `1 + ${item()}`, item(), '0.75', g.operand('float', 1)])
        if (random.oneIn(3)) g.write(`let ${g.name()} = ${list}`)
        loop(
          g,
          `for ${at} in 0 to ${turns(g)}`,
          () => {
            for (let left = random.between(1, 3); left > 0; left--) {
              g.write(
                random.pick([
                  `${list}[${random.oneIn(4) ? index() : `${at} % 3`}] = ${value()}`,
                  `${list}[${at} % 2] = ${value()}`,
                  `if ${at} % 4 == 3 { ${list} = ${list}.${random.pick(['push(0.5)', `push(${at})`, 'pop().push(7.5)'])} }`,
                  `if ${item()} > 1.0 { ${g.target('float')} = ${item()} }`,
                  `if ${at} % 5 == 2 { println("\${${list}.sum()} \${${list}}") }`,
                  `let ${g.name()} = ${list}`,
                ]),
              )
            }
          },
          at,
        )
        g.write(`println("\${${list}}")`)
      }),
    ],
  },
  {
    // Loops without a call, in which compiled code only checks fuel.
    name: 'quiet',
    rows: [
      deep((g) => {
        const { random } = g
        const [at, inner, ints, sum, real, count] = [
          g.name(),
          g.name(),
          g.target('list'),
          g.target('int'),
          g.target('float'),
          g.declare('int', g.literal('int'), true),
        ]
        const reals = g.target('reals')
        const step = (index: string): string =>
          random.pick([
            `${sum} = ${sum} ${random.pick(['+', '-', '*'])} ${random.pick([index, count, '3', '9007199254740991', g.operand('int', 0)])}`,
            `${real} = ${real} ${random.pick(['+', '*', '-', '/'])} ${random.pick([index, '0.5', real, g.literal('float')])}`,
            `${count} = (${count} * 31 + ${index}) % ${random.pick(['1000', '7', '(-5)', '2147483647'])}`,
            `${ints}[${index} % ${random.pick(['2', '3'])}] = ${sum} + ${ints}[${random.pick(['0', '-1', '1'])}]`,
            `${reals}[${index} % ${random.pick(['1', '3'])}] = ${reals}[0] * 0.5 + ${random.pick([real, index, '1.0'])}`,
            `if ${random.pick([real, sum, count])} ${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${random.pick([index, real, g.literal('float'), '5'])} { ${count} = ${count} + 1 }`,
            `if ${index} == ${random.between(1, 30)} { ${random.pick(['break', 'continue', `${real} = 0.0 / 0.0`, `${count} = ${g.operand('int', 0)}`])} }`,
          ])
        const most = random.pick(['4', '9', '30', '60', count])
        g.write('try {')
        loop(
          g,
          random.oneIn(3) ? `for ${at} in ${random.pick(['0', '-3', sum])} to ${most}` : `for ${at} in 0 to ${most} exclusive`,
          () => {
            for (let left = random.between(1, 3); left > 0; left--) g.write(step(at))
            if (random.oneIn(3)) {
              loop(g, `for ${inner} in ${at} to ${random.pick(['3', '6', '20'])}`, () => g.write(step(inner)), null)
              g.write(step(at))
            }
            // An endless loop is ended by fuel; this one ends sooner.
            g.write(`if ${at} > 80 { break }`)
          },
          at,
        )
        g.write('} catch (e) { println("${e}") }')
        g.write(`println("\${${sum}} \${${real}} \${${count}} \${${ints}} \${${reals}}")`)
      }),
      deep((g) => {
        const { random } = g
        const [at, end, real] = [g.declare('int', '0', true), g.name(), g.target('float')]
        g.write(`let ${end} = ${random.pick(['20', '50', '7.5', g.expr('int', 1)])}`)
        loop(
          g,
          `while ${at} < ${end}`,
          () => {
            g.write(`${at} = ${at} + ${random.pick(['1', '2', '3'])}`)
            g.write(`${real} = ${real} ${random.pick(['+', '*', '-'])} ${random.pick([at, '1.5', g.operand('float', 1)])}`)
            g.write(`if ${at} > 90 { break }`)
          },
          at,
        )
        g.write(`println("\${${at}} \${${real}}")`)
      }),
    ],
  },
  {
    // Rare constructs.
    name: 'rare',
    rows: [
      row((g) =>
        g.write(
          `println(${g.hideType(g.random.pick(['nil', '[1, 2]', '{a: 3}', g.expr('list', 1)]))}?[${g.random.pick(['0', '"a"', '-1'])}])`,
        ),
      ),
      row((g) =>
        g.write(
          `println([${g.helper('E')}.C(...${g.expr('list', 1)}), max(...[1, ${g.expr('int', 1)}]), ${g.helper('last')}(...${g.expr('list', 1)}, 1)])`,
        ),
      ),
      row((g) => g.write(`println([1, 2].slice(...[${g.expr('int', 0)}]) + [${g.hideType('"a,b"')}.split(...[","])])`)),
      row((g) => {
        const name = g.name()
        if (g.indent !== 0) return g.write(`println(${g.expr('int', 1)} |> ${g.helper('half')})`)
        g.write(`fn ${name}(x) { return x - 1 |> ${g.random.pick([g.helper('half'), g.helper('id'), 'to_string'])} }`)
        g.write(`for i in 0 to 6 { println(try { ${name}(i) } catch (e) { "! \${e}" }) }`)
      }),
      row((g) => {
        const name = g.name()
        g.write(`for i in 0 to ${turns(g)} { var ${name} = [1, 2, 3, "four", [5, {six: 6}], nil, true, 8.5, -9]`)
        g.write(`  ${name}[i % 9] = ${g.operand('int', 1)}`)
        g.write(`  println("\${${name}}") }`)
      }),
      row((g) => {
        g.write(
          `println(try { ${g.helper('far')}(${g.expr('item', 1)}, ${g.random.pick(['20', '500', '509', '511', '530'])}) } catch (e) { e })`,
        )
      }),
      row((g) => {
        // One instruction that reads by index from any value.
        const some = Array.from({ length: 5 }, () => g.expr(g.random.pick(['list', 'reals', 'dict', 'string']), 0))
        const keys = ['0', '1', '5', '-1', '"a"', '0.5'].filter(() => !g.random.oneIn(3))
        g.write(`for c in [${some.join(', ')}] { for k in [${keys.join(', ')}] { println(try { c[k] } catch (e) { e }) } }`)
      }),
      row((g) =>
        g.write(
          `println(try { ${g.helper('sink')}(${g.random.pick(['505', '511', '520', '900'])}, ${g.expr('int', 0)}) } catch (e) { e })`,
        ),
      ),
      row((g) =>
        g.write(
          `println(try { [1].map({ x -> ${g.expr('item', 1)}.plus(x) + ${g.helper('sink')}(${g.random.pick(['480', '509', '512', '600'])}, x) }) } catch (e) { e })`,
        ),
      ),
    ],
  },
  {
    name: 'modules',
    rows: [
      row((g) => g.write(`println(${g.helper('bump')}(${g.operand(g.random.pick(['int', 'float']), 1)}))`)),
      row((g) =>
        g.write(
          `for i in 0 to ${turns(g)} { ${g.helper('bump')}(i) ${g.random.pick(['', '\n sleep(1ms)', `\n ${g.helper('kept_by_module')}(i)`])} }`,
        ),
      ),
      row((g) => g.write(`println([${g.helper('kept_by_module')}(${g.operand(g.kind(), 1)}), ${g.helper('bump')}(1)])`)),
    ],
  },
  {
    name: 'containers',
    rows: [
      row((g) => {
        const [name, kind] = [g.name(), g.random.pick(['list', 'reals', 'dict', 'item'] as const)]
        const from = g.target(kind)
        g.write(`var ${name} = ${g.random.pick([from, `[${from}, 1][0]`, `{k: ${from}}.k`])}`)
        g.variables.push({ name, kind, mutable: true })
        change(g, from, kind)
        change(g, name, kind)
        g.write(`println("\${${from}} \${${name}}")`)
      }),
      row((g) => {
        const [a, b, rest] = [g.name(), g.name(), g.name()]
        g.write(`let [${a}, ${b} = 5, ...${rest}] = ${g.operand('list', 1)}`)
        g.bind(b, 'int')
        g.bind(rest, 'list')
      }),
      row((g) => {
        const [a, rest] = [g.name(), g.name()]
        g.write(`let {a: ${a} = 4, ...${rest}} = ${g.operand('dict', 1)}`)
        g.bind(a, 'int')
        g.bind(rest, 'dict')
      }),
      row((g) => {
        const name = g.name()
        const value = g.expr(g.random.pick(['int', 'float', 'list']), 1)
        g.write(`var ${name} = {rows: [{n: 1, s: [0.5]}, {s: [1.5], n: 2}]}`)
        g.write(`for i in 0 to 3 { ${name}.rows[i % 2].n ${g.random.pick(['=', '+='])} i`)
        g.write(`  ${name}.rows[1].${g.random.pick(['n', 's', 'z'])} = ${value} }`)
        g.write(`println("\${${name}}")`)
      }),
      row((g) => {
        const name = g.name()
        g.write(`var ${name} = {}`)
        g.write(
          `for i in 0 to ${g.random.pick(['5', '20', '40'])} { ${name}["k\${i % ${g.random.pick(['3', '7', '41'])}}"] = ${g.operand('int', 1)} }`,
        )
        g.write(`println("\${len(${name})} \${${name}}")`)
        g.bind(name, 'dict')
      }),
    ],
  },
  {
    name: 'records',
    rows: [
      row((g) => {
        // Fields of dicts and structs with different shapes at one instruction.
        const [name, sum] = [g.name(), g.declare('float', '0', true)]
        g.helper('P')
        g.helper('Q')
        const shapes = ['{x: 1, y: 2}', '{y: 3, x: 4}', '{x: 0.5}', '{a: 1, x: 2, y: 1}', g.expr('item', 1), g.expr('item', 0)]
        const some = Array.from({ length: g.random.between(2, 5) }, () => g.random.pick(shapes))
        g.write(`for ${name} in [${some.join(', ')}] {`)
        g.write(`  ${sum} = ${sum} + ${name}.x ${g.random.pick(['', `+ (${name}?.y ?? 1)`, `* (${name}.y ?? 2)`])}`)
        if (g.random.oneIn(2)) {
          g.write(`  var own = ${name}`)
          g.write(`  own.x = ${g.operand('int', 1)}`)
          g.write(`  own.${g.random.pick(['y', 'x', 'a'])} = own.x`)
          g.write(`  println("\${own} \${${name}}")`)
        }
        g.write('}')
        g.write(`println(${sum})`)
      }),
      row((g) => {
        const [name, sum] = [g.name(), g.declare('float', '0', true)]
        const items = Array.from({ length: g.random.between(2, 4) }, () => g.operand('item', 1))
        g.write(
          `for ${name} in [${items.join(', ')}] { ${sum} = ${sum} + ${name}.${g.random.pick(['plus', 'deep'])}(${g.expr('int', 1)}) }`,
        )
        g.write(`println(${sum})`)
      }),
    ],
  },
  {
    name: 'matching',
    rows: [
      deep((g, inner) => {
        const { random } = g
        const patterns = [
          '0',
          '1 | 2',
          `n if n > ${random.pick(['3', '0.5'])}`,
          '"a"',
          '0.5',
          '[q, 1]',
          '{a: 1, b: 2}',
          'nil',
          `${g.helper('E')}.A(n)`,
          'E.B',
        ]
        const some = Array.from({ length: random.between(1, 4) }, () => random.pick(patterns))
        g.block(`match ${random.oneIn(3) ? g.any() : g.operand(random.pick(['int', 'string', 'list', 'dict']), 1)}`, () => {
          for (const pattern of new Set(some)) {
            g.block(`${pattern} ->`, () => (random.oneIn(2) ? inner(1) : g.write(`println("${pattern.replaceAll('"', "'")}")`)))
          }
          g.block('_ ->', () => inner(1))
        })
      }),
      row((g) => {
        const { random } = g
        g.helper('E')
        g.helper('F')
        const [name, item] = [g.declare('int', '0', true), g.name()]
        const values = Array.from({ length: 4 }, () =>
          random.pick([
            `E.A(${g.operand('int', 1)})`,
            'E.B',
            `E.C(${g.expr('int', 0)}, ${g.expr('float', 0)})`,
            `F.A(${g.expr('int', 0)})`,
            'F.B',
          ]),
        )
        g.block(`for ${item} in [${values.join(', ')}]`, () => {
          g.block(`${name} = match ${g.hideType(item)}`, () => {
            g.write(`E.A(n) ${random.oneIn(3) ? 'if n == 1 ' : ''}-> { n + ${name} }`)
            g.write(`F.A(n) -> { n - ${name} }`)
            g.write(`E.C(x, _) -> { x }`)
            g.write(`E.B -> { ${g.expr('int', 1)} }`)
            g.write('_ -> { 9 }')
          })
        })
        g.write(`println(${name})`)
      }),
    ],
  },
  {
    // Chains of tests: the tier makes a switch of long ones, and omits repeated tests.
    name: 'chains',
    rows: [
      row((g) => {
        const { random } = g
        const [name, item, called] = [g.declare('int', '0', true), g.name(), g.name()]
        const main = random.pick(['int', 'int', 'int', 'string'] as const)
        const isPure = random.oneIn(2)
        const least = random.pick([0, 0, -3, 40])
        const literal = (): string =>
          !isPure && random.oneIn(8)
            ? random.pick(['nil', 'true', 'false', '0.5', '2.0', '3', '"a"'])
            : main === 'int'
              ? String(random.oneIn(12) ? random.between(-9, 99) : random.between(least, least + 12))
              : `"${random.pick(['a', 'b', 'ab', 'k', '', '\u{1f600}', 'é'])}"`
        const values = Array.from({ length: random.between(2, 8) }, () =>
          random.oneIn(6)
            ? g.any()
            : random.oneIn(8)
              ? `[${literal()}]`
              : main === 'int' && random.oneIn(3)
                ? `${random.between(least, least + 12)}.0`
                : literal(),
        )
        const arms = (result: (of: string) => string): void => {
          for (let left = random.between(1, random.oneIn(2) ? 4 : 14); left > 0; left--) {
            const pattern = random.oneIn(4) ? `${literal()} | ${literal()}` : literal()
            const guard = !isPure && random.oneIn(8) ? ` if ${g.condition(0)}` : ''
            const text = random.oneIn(5) ? `len("${random.pick(['', 'four', 'é😀'])}")` : g.expr('int', random.below(2))
            g.write(`${pattern}${guard} -> { ${result(text)} }`)
          }
          if (!random.oneIn(6)) g.write(`_ -> { ${result('9')} }`)
        }
        g.block(`fn ${called}(x)`, () => g.block('match x', () => arms((text) => `return ${text}`)))
        g.block(`for ${item} in [${values.join(', ')}]`, () => {
          g.write(`${name} = ${name} + (try { ${called}(${g.hideType(item)}) ?? 1 } catch (e) { len("\${e}") })`)
          if (random.oneIn(2))
            g.block(
              'try',
              () => g.block(`match ${item}`, () => arms((text) => `${name} = ${name} + ${text}`)),
              ' catch (e) { println(e) }',
            )
        })
        g.write(`println(${name})`)
      }),
      // One match after the other, with no other path between.
      row((g) => {
        const { random } = g
        g.helper('E')
        const [one, other, called] = [g.name(), g.name(), g.name()]
        const some = (): string => random.pick(['E.A(1)', 'E.A(2)', 'E.B', 'E.C(1, 2)', '3', 'nil', '"a"'])
        const pattern = (): string => random.pick(['E.A(n)', 'E.B', 'E.C(n, _)', '"a"', '3', 'nil'])
        g.block(`fn ${called}(x, y)`, () => {
          g.write('var z = x')
          for (let left = random.between(1, 3); left > 0; left--) {
            g.block(`match ${random.pick(['x', 'y', 'z', 'z'])}`, () => {
              g.write(`${pattern()} -> { z = ${random.pick(['y', some()])} }`)
              for (let more = random.below(3); more > 0; more--) g.write(`${pattern()} -> { return ${random.below(9)} }`)
              g.write(`_ -> { return ${random.below(9)} }`)
            })
            if (random.oneIn(3)) g.write(`z = ${random.pick(['x', 'y', some()])}`)
          }
          g.block('match z', () => {
            for (const each of new Set([pattern(), pattern()])) g.write(`${each} -> { return ${random.between(10, 19)} }`)
            g.write('_ -> { return 20 }')
          })
        })
        const list = (): string => Array.from({ length: random.between(2, 4) }, some).join(', ')
        g.block(`for ${one} in [${list()}]`, () =>
          g.block(`for ${other} in [${list()}]`, () => g.write(`println(${called}(${one}, ${g.hideType(other)}))`)),
        )
      }),
    ],
  },
  {
    name: 'faults',
    rows: [
      deep((g, inner) => {
        const { random } = g
        g.block(
          'try',
          () => {
            inner()
            if (random.oneIn(2)) g.write(`if ${g.condition(1)} { throw ${g.operand(g.kind(), 1)} }`)
            if (random.oneIn(4))
              g.write(
                random.pick([
                  `throw ${g.helper('E')}.A(3)`,
                  'let q = 1 / 0',
                  'unwrap(Err("no"))',
                  'require 1 > 2, "math"',
                  'throw 0.5',
                ]),
              )
          },
          random.oneIn(4) ? ` catch (e: ${g.helper('E')}) {` : ' catch (e) {',
        )
        g.indent++
        g.write('println("caught ${e}")')
        if (random.oneIn(6)) g.write('throw e')
        else if (random.oneIn(2)) inner(1)
        g.indent--
        g.write(random.oneIn(3) ? `} finally { println("finally \${${g.any()}}") }` : '}')
      }),
      row((g) => {
        const name = g.declare('int', '0', true)
        const into = g.target('float')
        const text = `${g.helper('half')}(${g.random.pick(['i', 'i % 4', 'to_float(i)'])})`
        g.write(`for i in 0 to ${turns(g)} { try { ${name} = ${name} + 1`)
        g.write(`  ${into} = ${text} } catch (e) { println("\${e} \${${g.any()}}") } }`)
      }),
      deep((g, inner) => {
        const name = g.name()
        g.body(`fn ${name}(q)`, 'int', () => {
          g.bind('q', 'int')
          g.write(`defer { println("deferred \${q}") }`)
          inner(2)
          if (g.random.oneIn(2)) g.write(`guard q > 0 else { return -1 }`)
          g.write(`return ${g.expr('int', 1)}`)
        })
        g.callables.push({ name, params: ['int'], result: 'int', optional: 0 })
        g.write(`for i in 0 to 3 { println(try { ${name}(i) } catch (e) { "! \${e}" }) }`)
      }),
      row((g) => {
        const name = g.declare('int', '0', true)
        g.write(`try { retry 3 { ${name} += 1`)
        g.write(
          `  if ${name} < ${g.random.between(1, 4)} { throw ${g.expr('int', 1)} } } } catch (e) { println("gave up \${e}") }`,
        )
      }),
      row((g) => g.declare('int', `unwrap_or(try { ${g.operand('int', 2)} }, 7)`)),
    ],
  },
  {
    name: 'closures',
    rows: [
      deep((g, inner) => {
        const { random } = g
        const [list, at, each] = [g.name(), g.name(), g.name()]
        g.write(`var ${list} = []`)
        const kept = g.variable('float') ?? g.declare('float', '0.5')
        loop(
          g,
          `for ${at} in 0 to ${turns(g)}`,
          () => {
            if (random.oneIn(2)) change(g, g.target('float'), 'float')
            g.write(
              `${list} = ${list}.push({ x -> x ${random.pick(['+', '*', '-'])} ${random.pick([at, kept, `${kept} + ${at}`, g.any()])} })`,
            )
          },
          at,
        )
        loop(
          g,
          `for ${each} in ${list}`,
          () => {
            g.bind(each, 'fn')
            g.write(`println(${each}(${g.operand(random.pick(['int', 'float']), 1)}))`)
            if (random.oneIn(3)) inner(1)
          },
          null,
        )
      }),
      deep((g, inner) => {
        const name = g.name()
        const { result } = g
        g.closure(`let ${name} = { x ->`, null, () => {
          g.bind('x', 'int')
          inner(2)
          g.write(g.expr('float', 1))
        })
        g.result = result
        g.bind(name, 'fn')
        g.write(`for i in 0 to 4 { println(${name}(i)) }`)
      }),
      row((g) => {
        const name = g.name()
        // The checker knows a nested function by name in its own body only if it is at the top level of another one.
        if (g.indent !== 1) return g.write(`fn ${name}(n) { return n + ${g.expr('int', 1)} }`)
        g.write(
          `fn ${name}(n) { return n < 2 ? ${g.expr('int', 1)} : ${name}(n - 1) + ${name}(n - 2) ${g.random.pick(['', '+ 0.5', '* 2'])} }`,
        )
        g.write(`println(${name}(${g.random.pick(['2', '5', '7', '3.5'])}))`)
      }),
      row((g) => {
        // One call site with different callees.
        const some = Array.from({ length: g.random.between(2, 4) }, () => g.expr('fn', 1))
        g.write(
          `for h in [${some.join(', ')}] { println(${g.random.pick(['h(2)', `${g.helper('through')}(h)(0.5)`, `${g.helper('wrap')}(h)(3)`, '(4 |> h)', '[1, 2].map(h)'])}) }`,
        )
      }),
    ],
  },
  {
    name: 'callbacks',
    rows: [
      deep((g, inner) => {
        const { random } = g
        const [name, item] = [g.name(), g.name()]
        const method = random.pick([
          'map',
          'filter',
          'find',
          'any',
          'all',
          'find_index',
          'none',
          'sort_by',
          'flat_map',
          'each',
          'map',
          'filter',
          'every',
          'min_by',
          'max_by',
          'partition',
          'group_by',
        ])
        const list = receiver(g)
        g.closure(
          `let ${name} = ${list}.${method}({ ${item} ->`,
          null,
          () => {
            g.bind(item, random.pick(['int', 'float']))
            if (random.oneIn(2)) inner(1)
            if (random.oneIn(5)) g.write(`if ${item} == 2 { throw "two" }`)
            if (random.oneIn(8)) g.write(`if ${item} == ${random.between(0, 30)} { sleep(1ms) }`)
            const wanted: Kind = method === 'flat_map' ? 'list' : method === 'map' || method === 'sort_by' ? 'float' : 'bool'
            g.write(random.oneIn(3) ? `${item} ${random.pick(SMALL)}` : g.operand(wanted, 1))
          },
          ')',
        )
        g.write(`println(${name})`)
      }),
      // Closures without statements, which are inlined into a loop, and functions and frames of all kinds that call them.
      row((g) => {
        const { random } = g
        const name = g.name()
        const by = g.variable(random.pick(['int', 'float', 'string', 'list'])) ?? '3'
        const item = random.pick(['x', 'x', 'x', `(x ?? 1)`, `${g.helper('id')}(x)`, `{v: x}.v`])
        const test = `${item} ${random.pick([...SMALL, `+ ${by}`, `- ${by}`, `* ${by}`, `< ${by}`, `== ${by}`, `% 4 == 1`])}`
        const over = receiver(g)
        const method = random.pick(LOOP_METHODS)
        const calls = [
          `${over}.${method}({ x -> ${test} })`,
          `${over}.${method}({ x -> ${test} })`,
          `${over}.reduce(${by}, { acc, x -> acc ${random.pick(['+', '-', '*'])} ${item} })`,
          `${random.pick(['group_by', 'partition', 'dedup_by', 'flat_map'])}(${over}, { x -> ${test} })`,
          `{a: 1, b: 2.5, c: 3, ...{d: ${by}}}.${random.pick(['map_values', 'map_keys', 'filter'])}({ x -> ${test} })`,
          `set(${over}).${random.pick(['map', 'filter'])}({ x -> ${test} })`,
        ]
        g.write(`for i in 0 to ${random.between(1, 4)} exclusive {`)
        g.write(`  let ${name} = try { ${random.pick(calls)} } catch (e) { "caught \${e}" }`)
        g.write(`  println(${name})`)
        g.write('}')
      }),
      deep((g, inner) => {
        const { random } = g
        const name = g.name()
        g.closure(
          `let ${name} = ${g.operand(random.pick(['list', 'reals']), 1)}.reduce(${g.literal(random.pick(['int', 'float', 'string', 'list']))}, { acc, x ->`,
          null,
          () => {
            g.bind('x', 'int')
            if (random.oneIn(2)) g.bind('acc', 'float')
            if (random.oneIn(2)) inner(1)
            if (random.oneIn(4)) g.write('sleep(1ms)')
            g.write(`acc + ${g.operand(random.pick(['int', 'float']), 1)}`)
          },
          ')',
        )
        g.write(`println(${name})`)
      }),
      row((g) =>
        g.write(
          `println([${g.expr('list', 1)}, [1]].map({ r -> r.map({ x -> x + ${g.operand('int', 1)} }).filter({ x -> x > ${g.expr('int', 0)} }) }))`,
        ),
      ),
      row((g) =>
        g.write(
          `println(${g.expr('list', 1)}.iter().map({ x -> x * 2 }).filter({ x -> x > ${g.expr('int', 0)} }).take(3).to_list())`,
        ),
      ),
      row((g) => g.write(`println(${g.operand('list', 1)} |> _.map(${g.expr('fn', 1)}) |> len)`)),
    ],
  },
  {
    name: 'generators',
    rows: [
      deep((g, inner) => {
        const name = g.name()
        g.body(`fn ${name}(n)`, null, () => {
          g.bind('n', 'int')
          g.yields = true
          g.write('yield n')
          const sum = g.declare('float', g.literal('float'), true)
          inner(2)
          const at = g.name()
          loop(
            g,
            `for ${at} in 1 to ${g.random.between(1, 5)}`,
            () => {
              g.bind(at, 'int')
              if (g.random.oneIn(2)) inner(1)
              g.write(`${sum} = ${sum} + ${g.operand('float', 1)}`)
              g.write(
                g.random.oneIn(3)
                  ? `try { yield ${sum} } finally { println("left \${${at}}") }`
                  : `yield ${g.random.pick([sum, `${at} * n`])}`,
              )
            },
            at,
          )
        })
        consume(g, `${name}(${g.operand('int', 1)})`, inner)
      }),
      deep((g, inner) => {
        const which = g.random.pick(['up', 'mix', 'odds', 'kept'])
        if (which === 'odds')
          return g.write(
            `try { for x in ${g.helper('odds')}(${g.operand('int', 1)}) { println(x) } } catch (e) { println("\${e}") }`,
          )
        consume(g, `${g.helper(which)}(${g.operand(g.random.pick(['int', 'float']), 1)})`, inner)
      }),
      row((g) => {
        const name = g.name()
        g.write(`let ${name} = ${g.helper('up')}(${g.expr('int', 1)})`)
        g.write(`println(${name}.next())`)
        g.write(`for x in ${name} { println(x) }`)
        g.write(`for x in ${name} { println("more \${x}") }`)
        g.write(`println(${name}.next())`)
      }),
    ],
  },
  {
    name: 'texts',
    rows: [
      deep((g) => {
        const [name, at] = [g.declare('string', g.literal('string'), true), g.name()]
        loop(
          g,
          `for ${at} in 0 to ${turns(g)}`,
          () => {
            g.bind(at, 'int')
            g.write(
              `${name} = ${g.random.pick([`${name} + "${'x'}\${${at}}"`, `"\${${name}}\${${g.any()}}"`, `${name} + ${g.operand('string', 1)}`])}`,
            )
            g.write(`if len(${name}) > 40 { ${name} = "" }`)
          },
          at,
        )
        g.write(`println(${name}.split("x") + [len(${name}), ${name} < ${g.expr('string', 0)}])`)
      }),
    ],
  },
  {
    name: 'stops',
    rows: [
      row((g) => g.write('sleep(1ms)')),
      row((g) => g.write(`println("\${try { env("A") } catch (e) { "closed" }}")`)),
      deep((g, inner) => {
        const name = g.name()
        g.body(`let ${name} = spawn`, null, () => {
          inner(2)
          if (g.random.oneIn(2)) g.write('sleep(2ms)')
          g.write(g.operand('float', 1))
        })
        g.write(g.random.oneIn(5) ? `cancel(${name})` : `println(try { await(${name}) } catch (e) { "! \${e}" })`)
      }),
      deep((g, inner) => {
        const name = g.name()
        const mode = g.random.pick(['each', 'settle'])
        g.closure(
          `let ${name} = parallel ${mode} ${g.expr('list', 1)}${g.random.oneIn(2) ? ' with { max_concurrent: 2 }' : ''} { x ->`,
          null,
          () => {
            g.bind('x', 'int')
            inner(2)
            if (g.random.oneIn(2)) g.write('sleep(1ms)')
            g.write(g.expr('float', 1))
          },
        )
        g.write(`println(${name})`)
      }),
      deep((g, inner) => {
        const name = g.name()
        g.write(`let ${name} = channel("c", ${g.random.between(1, 2)})`)
        g.write(`let t${name} = spawn { for i in 1 to ${g.random.between(1, 4)} { send(${name}, i) }`)
        g.write(`  close_channel(${name}) }`)
        loop(
          g,
          `for r${name} in ${name}`,
          () => {
            g.bind(`r${name}`, 'int')
            inner(2)
          },
          null,
        )
        g.write(`println(await(t${name}))`)
      }),
      deep((g, inner) => g.block('mutex', () => inner(2))),
      deep((g, inner) => g.block(`deadline ${g.random.pick(['5ms', '1s'])}`, () => inner(2))),
    ],
  },
]

function consume(g: Scribe, source: string, inner: Inner): void {
  const { random } = g
  if (random.oneIn(4)) return g.write(`println(${source}.iter().take(${random.between(1, 4)}).to_list())`)
  const name = g.name()
  const sum = g.declare('float', '0.5', true)
  loop(
    g,
    `for ${name} in ${source}`,
    () => {
      g.bind(name, random.pick(['int', 'float']))
      g.write(random.oneIn(2) ? `${sum} = ${sum} + ${name}` : `println(${name})`)
      if (random.oneIn(2)) inner(2)
      if (random.oneIn(4)) g.write(`if ${name} == 2 { break }`)
    },
    null,
  )
  g.write(`println(${sum})`)
}
