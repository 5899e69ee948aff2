// Sources on which a compiler, a checker or a message formatter may spend too much time. Each compiles or is refused with a diagnostic, soon:
// the bound here is coarse, because test machines are busy; `npm run test:hostile` and the bench have exact figures.

import { CompileError, createRuntime } from '@bridle/stdlib-tools'
import type { CodeCase } from '../../load-cases.js'

const many = (count: number, line: (at: number) => string): string => Array.from({ length: count }, (_, at) => line(at)).join('')

const TEXTS: Readonly<Record<string, string>> = {
  brackets: '('.repeat(20_000),
  'closed brackets': `let x = ${'('.repeat(5000)}1${')'.repeat(5000)}`,
  'lists in lists': `let x = ${'['.repeat(5000)}${']'.repeat(5000)}`,
  'dicts in dicts': `let x = ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`,
  blocks: `${'if true { '.repeat(5000)}${'}'.repeat(5000)}`,
  'closures in closures': `let x = ${'{ -> '.repeat(3000)}1${' }'.repeat(3000)}`,
  'signs before a number': `let x = ${'-'.repeat(20_000)}1`,
  'nots before a value': `let x = ${'!'.repeat(20_000)}true`,
  'a long sum': `let x = ${many(20_000, () => '1 + ')}1`,
  'a long chain of methods': `let x = [1]${many(5000, () => '.map({ y -> y })')}`,
  'a long chain of pipes': `let x = 1${many(5000, () => ' |> to_string')}`,
  'questions in questions': `let x = ${many(3000, () => 'true ? 1 : ')}1`,
  'else if without end': `if true { }${many(5000, (at) => ` else if ${at} == 1 { }`)}`,
  'a match with many arms': `match 1 {\n${many(5000, (at) => `${at} -> { }\n`)}_ -> { }\n}`,
  'texts in texts': `let x = ${'"${'.repeat(300)}1${'}"'.repeat(300)}`,
  'a text that does not end': `let x = "${'a'.repeat(1_000_000)}`,
  'a comment that does not end': `/*${'*'.repeat(1_000_000)}`,
  'one long name': `let ${'a'.repeat(1_000_000)} = 1`,
  'one long number': `let x = ${'9'.repeat(300_000)}`,
  'one long line of blanks': `let x =${' '.repeat(1_000_000)}1`,
  'many locals': many(5000, (at) => `let v${at} = ${at}\n`),
  'names that are almost known':
    many(300, (at) => `let some_name_${at} = ${at}\n`) + many(300, (at) => `println(some_nane_${at})\n`),
  'fields that are almost known': `struct S { ${many(300, (at) => `field_${at}: int\n`)} }\nfn f(s: S) {\n${many(300, (at) => `println(s.feild_${at})\n`)}}`,
  'builtins that are almost known': many(500, (at) => `printlm${at}(1)\n`),
  'functions that call each other': many(1500, (at) => `fn f${at}(x) { return f${(at * 7919) % 1500}(x) }\n`),
  'a type of many alternatives': `type T = ${many(2000, (at) => `"a${at}" | `)}"b"\nlet x: T = "c"`,
  'types in types': `let x: ${'list<'.repeat(3000)}int${'>'.repeat(3000)} = []`,
  'a type that is itself': 'type T = T | list<T>\nlet x: T = [[[1]]]',
  'types that are each other': `${many(300, (at) => `type T${at} = list<T${at + 1}> | T${(at * 7) % 300}\n`)}type T300 = int\nlet x: T0 = 1`,
  'types that double': `type T0 = int\n${many(30, (at) => `type T${at + 1} = {a: T${at}, b: T${at}}\n`)}let x: T30 = {a: 1}`,
  'parameters by the thousand': `fn f(${many(3000, (at) => `p${at}, `)}last) { return last }`,
  'arguments by the thousand': `println(${many(20_000, () => '1, ')}1)`,
  'grants of many stars': `// @bridle grants\nuse tool fs.read with { path: "${'a*'.repeat(40)}b" }\nlet x = 1`,
  'attributes without end': `${many(3000, (at) => `@a${at}\n`)}fn f() { }`,
  'a pattern of patterns': `let ${'['.repeat(2000)}x${']'.repeat(2000)} = []`,
  'imports of what is not there': many(500, (at) => `import "none_${at}"\n`),
  'text of other planes': `let x = "${'😀'.repeat(200_000)}"`,
  'marks that turn text around': `let x = "${'\u202e'.repeat(100_000)}"\nlet y = unknown_${'e\u0301'.repeat(3)}`,
  nothing: '',
  'a zero byte': 'let x = 1\u0000\nlet y = 2',
  'half a pair': 'let x = "\ud800"',
}

const GROSS_MS = 20_000

export const cases: readonly CodeCase[] = Object.entries(TEXTS).map(([name, text]) => ({
  name,
  promise: 'compile-is-bounded',
  attack: () => {
    for (const strictness of ['full', 'language'] as const) {
      const before = performance.now()
      try {
        createRuntime({ strictness }).compile(text)
      } catch (cause) {
        if (!(cause instanceof CompileError)) throw cause
        cause.render()
      }
      const took = performance.now() - before
      if (took > GROSS_MS) throw new Error(`compiling took ${took.toFixed(0)} ms in the strictness ${strictness}`)
    }
  },
}))
