// Runs every generator (`scripts/generate-*.ts`), each of which writes committed files from one table or grammar.
// A generated file is called `*.generated.*` and names its generator in its first lines. With `--check` a generator writes nothing
// and fails when a file of its own is stale; scripts/tidy.ts uses that.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspace.mjs'

for (const name of readdirSync(join(root, 'scripts')).sort()) {
  if (!/^generate-.*\.ts$/.test(name)) continue
  process.stdout.write(`generate: ${name}\n`)
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join('scripts', name)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(1)
}
