// "Add an executor" of CONTRIBUTING, done on a copy of the tree: which files it takes, and that the compiler of TypeScript names the table.
// The executor is a template: `pigeon`, which carries a call to a loft that the entry names.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const tree = mkdtempSync(join(tmpdir(), 'add executor '))
const packages = ['parser', 'compiler', 'vm', 'stdlib-tools']

afterAll(() => rmSync(tree, { recursive: true, force: true }))

for (const part of ['types', 'tsconfig.base.json', 'package.json'])
  cpSync(join(root, part), join(tree, part), { recursive: true })
for (const name of packages)
  for (const part of ['src', 'package.json'])
    cpSync(join(root, 'packages', name, part), join(tree, 'packages', name, part), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'), 'dir')
for (const name of packages)
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
      types: ['node'],
      useDefineForClassFields: false,
    },
    include: ['packages/stdlib-tools/src'],
    exclude: ['packages/*/src/**/*.test.ts', 'packages/*/src/**/test-support/**'],
  }),
)
const touched = new Set<string>()
/** Packages have settings of their own, so that a few files are wrong under those of this tree. */
const known = new Set<string>()

function insert(path: string, before: string, text: string): void {
  const file = join(tree, path)
  const source = readFileSync(file, 'utf8')
  const at = source.indexOf(before)
  if (at < 0) throw new Error(`${path} has no ${JSON.stringify(before)}: the template is out of date`)
  writeFileSync(file, source.slice(0, at) + text + source.slice(at))
  touched.add(path)
}

/** Files in which types are wrong. */
function complainedOf(): Set<string> {
  const run = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', tree, '--pretty', 'false'], {
    cwd: tree,
    encoding: 'utf8',
  })
  const files = run.stdout.split('\n').flatMap((line) => /^(packages\/[^(]+)\(/.exec(line)?.[1] ?? [])
  if (run.status !== 0 && files.length === 0) throw new Error(run.stdout + run.stderr)
  return new Set(files.filter((file) => !known.has(file)))
}

test('an executor touches three source files, and types name the table that lacks it', { timeout: 300_000 }, () => {
  for (const file of complainedOf()) known.add(file)
  // 1. The row: how the machine treats it, what a call is judged as, and where it goes.
  insert(
    'packages/compiler/src/grants/executors.ts',
    '  provider_native: {\n',
    `  pigeon: {
    runs: 'outside',
    identity: 'host',
    effects: ['external'],
    implies: null,
    named: 'in definitions',
    target: { loft: null },
    demands: [{ key: 'loft', is: 'name', otherwise: 'is missing \`loft\`.', example: 'east' }],
  },
`,
  )
  expect(complainedOf()).toEqual(new Set(['packages/stdlib-tools/src/tools/executors/index.ts']))

  // 2. The module, and 3. its line in the table of implementations.
  const module = 'packages/stdlib-tools/src/tools/executors/pigeon.ts'
  writeFileSync(
    join(tree, module),
    `import { result } from './executor.js'
import type { Executor } from './executor.js'

export function pigeonExecutor(): Executor {
  return { name: 'pigeon', call: (call) => result(\`\${call.tool} flew to \${call.target.loft ?? 'nowhere'}\`), isReadOnly: () => false }
}
`,
  )
  touched.add(module)
  insert(
    'packages/stdlib-tools/src/tools/executors/index.ts',
    "import { harnExecutor } from './harn.js'",
    "import { pigeonExecutor } from './pigeon.js'\n",
  )
  insert(
    'packages/stdlib-tools/src/tools/executors/index.ts',
    '    provider_native: providerNativeExecutor()',
    '    pigeon: pigeonExecutor(),\n',
  )
  expect(complainedOf()).toEqual(new Set())
  expect(touched).toEqual(
    new Set(['packages/compiler/src/grants/executors.ts', 'packages/stdlib-tools/src/tools/executors/index.ts', module]),
  )
})
