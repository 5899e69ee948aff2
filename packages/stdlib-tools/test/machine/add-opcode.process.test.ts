// "Add an opcode" of CONTRIBUTING, done on a copy of the tree: which files it takes, and that the compiler of TypeScript names each of them.
// The opcode is a template: TIMES, `x -> x * a`, with an operand of its own kind, a form in the base tier and one in compiled code.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const tree = mkdtempSync(join(tmpdir(), 'add opcode '))

afterAll(() => rmSync(tree, { recursive: true, force: true }))

for (const part of [
  'packages/parser/src',
  'packages/compiler/src',
  'packages/vm/src',
  'types',
  'tsconfig.base.json',
  'package.json',
])
  cpSync(join(root, part), join(tree, part), { recursive: true })
for (const name of ['parser', 'compiler', 'vm'])
  cpSync(join(root, `packages/${name}/package.json`), join(tree, `packages/${name}/package.json`))
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'), 'dir')
for (const name of ['parser', 'compiler', 'vm'])
  symlinkSync(join(root, `packages/${name}/node_modules`), join(tree, `packages/${name}/node_modules`), 'dir')
writeFileSync(
  join(tree, 'tsconfig.json'),
  JSON.stringify({
    extends: './tsconfig.base.json',
    compilerOptions: {
      composite: false,
      incremental: false,
      emitDeclarationOnly: false,
      noEmit: true,
      rootDir: '.',
      useDefineForClassFields: false,
    },
    include: ['packages/vm/src', 'packages/compiler/src', 'types/web-globals.d.ts'],
    exclude: ['packages/*/src/**/*.test.ts', 'packages/*/src/**/test-support/**'],
  }),
)
const touched = new Set<string>()

/** Puts `text` in front of the first `before` in a file. */
function insert(path: string, before: string, text: string): void {
  const file = join(tree, path)
  const source = readFileSync(file, 'utf8')
  const at = source.indexOf(before)
  if (at < 0) throw new Error(`${path} has no ${JSON.stringify(before)}: the template is out of date`)
  writeFileSync(file, source.slice(0, at) + text + source.slice(at))
  touched.add(path)
}

/** Files in which types are wrong. */
function complainedOf(): string[] {
  const run = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', tree, '--pretty', 'false'], {
    cwd: tree,
    encoding: 'utf8',
  })
  const files = run.stdout.split('\n').flatMap((line) => /^(packages\/[^(]+)\(/.exec(line)?.[1] ?? [])
  if (run.status !== 0 && files.length === 0) throw new Error(run.stdout + run.stderr)
  return [...new Set(files)].toSorted()
}

test('an opcode touches six source files, and types name each that lacks it', { timeout: 300_000 }, () => {
  // 1. The row of the opcode. The decoder has no case for it.
  insert(
    'packages/compiler/src/bytecode/opcodes.ts',
    '} as const satisfies',
    "  TIMES: { code: 250, operands: ['int'], pops: 1, pushes: 1, text: 'x -> x * a' },\n",
  )
  expect(complainedOf()).toEqual(['packages/vm/src/interpreter/decode.ts'])

  // 2. The decoder, and 3. the row of the operation. The base tier and the templates have no case for it.
  insert(
    'packages/vm/src/interpreter/decode.ts',
    "      case 'ITEM':\n",
    "      case 'TIMES':\n        return this.withNumber(LINKED.TIMES, o[0]!)\n",
  )
  insert('packages/vm/src/interpreter/linked.ts', '} as const satisfies', "  TIMES: { code: 250, reads: 'b', runs: 'rare' },\n")
  expect(complainedOf()).toEqual(['packages/vm/src/compiled/templates.ts', 'packages/vm/src/interpreter/rare.ts'])

  // 4. The base tier, and 5. compiled code; `template: false` in the row leaves it to the base tier instead.
  insert('packages/vm/src/interpreter/rare.ts', 'contains, power }', 'multiply, ')
  insert(
    'packages/vm/src/interpreter/rare.ts',
    '    case LINKED.POW: {',
    `    case LINKED.TIMES: {
      const product = multiply(b, i.c)
      return product instanceof Fault ? m.raise(task, product) : give(m, co, product)
    }
`,
  )
  insert(
    'packages/vm/src/compiled/templates.ts',
    '    case L.POW:\n',
    '    case L.TIMES:\n      return setOrFault(`multiply(${b()},${i.c})`)\n',
  )
  // 6. The emitter, which types cannot ask for: an opcode that nothing emits is dead.
  insert(
    'packages/compiler/src/emit/expressions.ts',
    'export function emitExpr',
    "export function emitTimes(fn: FunctionEmitter, count: number): void {\n  fn.emit('TIMES', count)\n}\n\n",
  )
  expect(complainedOf()).toEqual([])
  expect([...touched].toSorted()).toEqual([
    'packages/compiler/src/bytecode/opcodes.ts',
    'packages/compiler/src/emit/expressions.ts',
    'packages/vm/src/compiled/templates.ts',
    'packages/vm/src/interpreter/decode.ts',
    'packages/vm/src/interpreter/linked.ts',
    'packages/vm/src/interpreter/rare.ts',
  ])
})
