// "Add an executor" of CONTRIBUTING, done on a copy of the tree: which files it changes, and that tsc names the table.
// The executor is a template: `pigeon`, which carries a call to a loft that the entry names.

import { afterAll, expect, test } from 'vitest'
import { SourceTree } from './tree.js'

const PARTS = [
  'packages/parser/',
  'packages/compiler/',
  'packages/vm/',
  'packages/stdlib-tools/',
  'types/',
  'tsconfig.base.json',
  'package.json',
]
const tree = new SourceTree((path) => PARTS.some((part) => path.startsWith(part)))

afterAll(() => tree.remove())

tree.writeProject('packages/stdlib-tools/src')

test('an executor changes three source files, and tsc names the table that lacks it', { timeout: 300_000 }, () => {
  // Packages have their own settings, so a few files have errors under those of this tree.
  const known = tree.listTypeErrors()
  const listNew = (): string[] => tree.listTypeErrors().filter((file) => !known.includes(file))
  // 1. The row: how the machine handles it, the identity of a call, and its target.
  tree.insert(
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
  expect(listNew()).toEqual(['packages/stdlib-tools/src/tools/executors/index.ts'])

  // 2. The module, and 3. its line in the table of implementations.
  const module = 'packages/stdlib-tools/src/tools/executors/pigeon.ts'
  tree.create(
    module,
    `import { makeResult } from './executor.js'
import type { Executor } from './executor.js'

export function pigeonExecutor(): Executor {
  return { name: 'pigeon', call: (call) => makeResult(\`\${call.tool} flew to \${call.target.loft ?? 'nowhere'}\`), isReadOnly: () => false }
}
`,
  )
  tree.insert(
    'packages/stdlib-tools/src/tools/executors/index.ts',
    "import { makeHarnExecutor } from './harn.js'",
    "import { pigeonExecutor } from './pigeon.js'\n",
  )
  tree.insert(
    'packages/stdlib-tools/src/tools/executors/index.ts',
    '    provider_native: makeProviderNativeExecutor()',
    '    pigeon: pigeonExecutor(),\n',
  )
  expect(listNew()).toEqual([])
  expect(tree.touched).toEqual([
    'packages/compiler/src/grants/executors.ts',
    'packages/stdlib-tools/src/tools/executors/index.ts',
    module,
  ])
})
