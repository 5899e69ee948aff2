// "Adding things" of CONTRIBUTING, done on a copy of the tree: a builtin, a command, a diagnostic and a standard module. Each is made from a
// template here, works, and changes exactly the files that CONTRIBUTING names; all other changed files are generated. The opcode
// and the executor have separate tests.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SourceTree } from './tree.js'

const tree = new SourceTree((path) => !/^(bench|fuzz|hostile)\//.test(path))
afterAll(() => tree.remove())

/** One script of the suite, in the base mode. */
function runScript(name: string): string {
  return tree.bridle('conformance', 'conformance', '--filter', name, '--mode', 'base').output
}

const ADDITIONS = {
  builtin() {
    tree.insert(
      'packages/vm/src/builtins/math.ts',
      "  define('sign(",
      "  define('cube_of_addition(n: int) -> int', 'The third power.', (_ctx, n = null) => computePower(n, 3)),\n",
    )
    tree.create('conformance/tests/additions/cube.harn', 'println(cube_of_addition(3))\n')
    tree.create('conformance/tests/additions/cube.expected', '27\n')
  },

  command() {
    tree.create(
      'packages/cli/src/commands/greet.ts',
      "import { tell } from '../printable.js'\n\nexport async function greetCommand(name: string): Promise<number> {\n  tell(`Good day, ${name}\\n`)\n  return 0\n}\n",
    )
    tree.insert(
      'packages/cli/src/program.ts',
      "  add('builtins [name]'",
      "  add('greet <name>', 'greet somebody').action(async (name: string) => {\n    const { greetCommand } = await import('./commands/greet.js')\n    done(await greetCommand(name))\n  })\n\n",
    )
  },

  diagnostic() {
    tree.insert(
      'packages/compiler/src/lint/catalog.ts',
      '  L033: row',
      "  L099: row<{ name: string }>({\n    rule: 'call-of-addition',\n    title: 'call of an addition',\n    message: (a) => `${a.name} is an addition`,\n    hint: () => 'do not call it',\n    doc: 'A function is called that was added.',\n  }),\n",
    )
    tree.insert(
      'packages/compiler/src/lint/expressions.ts',
      "      if (expr.callee.text === 'llm_call'",
      "      if (expr.callee.text === 'added') context.report('L099', expr.callee.span, { name: 'added' })\n",
    )
    tree.create('conformance/lint/additions/call.harn', 'fn added(a, b) {\n  return a + b\n}\n\nprintln(added(1, 2))\n')
    tree.create('conformance/lint/additions/call.findings', '5:9 warning[call-of-addition] added is an addition\n')
  },

  module() {
    tree.create(
      'packages/stdlib-tools/src/std/additions.harn',
      '// Greetings.\n\n/** Greets somebody. */\npub fn greet(name: string) -> string {\n  return "Good day, " + name\n}\n',
    )
    tree.create(
      'packages/stdlib-tools/test/std/additions.harn',
      '// Tests of std/additions.\n\nimport { greet } from "std/additions"\n\npipeline test_somebody_is_greeted() {\n  assert_eq(greet("Ada"), "Good day, Ada")\n}\n',
    )
    tree.create('conformance/tests/additions/greet.harn', 'import { greet } from "std/additions"\n\nprintln(greet("Ada"))\n')
    tree.create('conformance/tests/additions/greet.expected', 'Good day, Ada\n')
  },
}

const touched = new Map<keyof typeof ADDITIONS, readonly string[]>()

beforeAll(() => {
  for (const name of Object.keys(ADDITIONS) as (keyof typeof ADDITIONS)[]) {
    tree.begin()
    ADDITIONS[name]()
    touched.set(name, tree.touched)
  }
  for (const name of ['builtin-names', 'builtin-types', 'library', 'docs']) {
    const { status, output } = tree.run('--import', 'tsx', `scripts/generate-${name}.ts`)
    if (status !== 0) throw new Error(output)
  }
  tree.bundle()
}, 180_000)

describe('adding', { timeout: 180_000 }, () => {
  test('a builtin takes its definition and a script', () => {
    expect(runScript('additions/cube')).toContain('1 passed, 0 failed')
    expect(tree.bridle('builtins', 'cube_of_addition').output).toContain('The third power.')
    expect(tree.read('docs/language/builtins.md')).toContain('cube_of_addition')
    tree.create('wrong.harn', 'let text: string = cube_of_addition(3)\n')
    expect(tree.bridle('check', 'wrong.harn')).toMatchObject({ status: 1, output: expect.stringContaining('string') })
    expect(touched.get('builtin')).toEqual([
      'conformance/tests/additions/cube.expected',
      'conformance/tests/additions/cube.harn',
      'packages/vm/src/builtins/math.ts',
    ])
  })

  test('a command takes its module and its place in the program', () => {
    expect(tree.bridle('greet', 'Ada')).toEqual({ status: 0, output: 'Good day, Ada\n' })
    expect(tree.bridle('--help').output).toContain('greet somebody')
    expect(tree.bridle('greet').status).not.toBe(0)
    expect(touched.get('command')).toEqual(['packages/cli/src/commands/greet.ts', 'packages/cli/src/program.ts'])
  })

  test('a diagnostic takes its row, the place that reports it, and a script', () => {
    expect(runScript('additions/call')).toContain('1 passed, 0 failed')
    expect(tree.bridle('explain', 'L099').output).toContain('A function is called that was added.')
    expect(tree.read('docs/language/diagnostics.md')).toContain('call-of-addition')
    expect(touched.get('diagnostic')).toEqual([
      'conformance/lint/additions/call.findings',
      'conformance/lint/additions/call.harn',
      'packages/compiler/src/lint/catalog.ts',
      'packages/compiler/src/lint/expressions.ts',
    ])
  })

  test('a standard module takes its source, its tests and a script', () => {
    expect(runScript('additions/greet')).toContain('1 passed, 0 failed')
    expect(tree.bridle('test', 'packages/stdlib-tools/test/std/additions.harn').output).toContain('1 passed')
    expect(tree.run('--import', 'tsx', 'scripts/generate-library.ts', '--check')).toEqual({ status: 0, output: '' })
    expect(touched.get('module')).toEqual([
      'conformance/tests/additions/greet.expected',
      'conformance/tests/additions/greet.harn',
      'packages/stdlib-tools/src/std/additions.harn',
      'packages/stdlib-tools/test/std/additions.harn',
    ])
  })
})
