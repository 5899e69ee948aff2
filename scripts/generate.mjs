// Runs every generator (`scripts/generate-*.ts`), each of which writes committed files from one table or grammar.
// A generated file is called `*.generated.*` and names its generator in its first lines. With `--check` a generator writes nothing
// and fails when a file of its own is stale; scripts/tidy.ts uses that.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { builtSources, root } from './workspace.mjs'

const LIBRARY = 'generate-library.ts'
const names = readdirSync(join(root, 'scripts'))
  .filter((name) => /^generate-.*\.ts$/.test(name))
  .sort()
// Other generators import the output of this one, which is not committed.
if (!builtSources.every((path) => existsSync(path))) names.unshift(LIBRARY)

for (const name of names) {
  process.stdout.write(`generate: ${name}\n`)
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join('scripts', name)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(1)
}
