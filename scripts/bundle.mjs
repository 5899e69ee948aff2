// Bundles the command line into packages/cli/dist/bridle.js with esbuild, from source: one start-up file instead of several
// hundred halves the start time. What is imported dynamically (MCP, parsers of data formats) becomes chunks beside it that are
// read on first use. blake3-wasm stays outside, because it finds its .wasm file by its own location.
// The bundle copies other people's code, so their licence texts are collected beside it.

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { entries, layers, manifestOf, readJson, root } from './workspace.mjs'

const source = join(root, 'packages', 'cli', 'src')
const target = join(root, 'packages', 'cli', 'dist')

// CommonJS dependencies inside an ES module still call `require` for Node's own modules. The `#!` line is the entry's own.
const banner =
  "import { createRequire as bridleCreateRequire } from 'node:module';const require = bridleCreateRequire(import.meta.url);"
const shebang = '#!/usr/bin/env node'

const external = Object.keys(manifestOf('cli').dependencies)

for (const name of existsSync(target) ? readdirSync(target) : []) {
  if (/\.(js|map|txt)$/.test(name)) rmSync(join(target, name))
}

if (!readFileSync(join(source, 'main.ts'), 'utf8').startsWith(`${shebang}\n`)) {
  process.stderr.write(`bundle: packages/cli/src/main.ts must begin with ${shebang}\n`)
  process.exit(1)
}

const result = await build({
  entryPoints: entryPoints(),
  outdir: target,
  chunkNames: 'chunk-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  external,
  alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
  define: { BRIDLE_VERSION: JSON.stringify(manifestOf('cli').version) },
  banner: { js: banner },
  metafile: true,
  logLevel: 'warning',
})

chmodSync(join(target, 'bridle.js'), 0o755)
writeFileSync(join(target, 'THIRD-PARTY.txt'), thirdPartyNotices(Object.keys(result.metafile.inputs)))

/** The command itself, and each `worker.ts`: a worker thread starts from a file of its own, named after its folder. */
function entryPoints() {
  const points = [{ in: join(source, 'main.ts'), out: 'bridle' }]
  for (const name of readdirSync(source)) {
    const worker = join(source, name, 'worker.ts')
    if (existsSync(worker)) points.push({ in: worker, out: `${name}-worker` })
  }
  return points
}

/** @param {string[]} inputs paths of bundled files, relative to the root */
function thirdPartyNotices(inputs) {
  const folders = new Map()
  for (const input of inputs) {
    const match = /^(?:\.\.\/)*(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input)
    if (match === null || match[1] === undefined || match[2] === undefined) continue
    if (!layers.some((layer) => match[2] === `@bridle/${layer}`)) folders.set(join(root, match[1]), match[2])
  }
  const parts = ['The bridle command contains code of these packages.\n']
  for (const [folder, name] of [...folders].sort((a, b) => (a[1] < b[1] ? -1 : 1))) {
    const manifest = readJson(join(folder, 'package.json'))
    const licence = readdirSync(folder).find((file) => /^(licen[cs]e|copying)/i.test(file))
    const text = licence === undefined ? `Licence: ${manifest.license}` : readFileSync(join(folder, licence), 'utf8').trim()
    parts.push(`${'-'.repeat(78)}\n${name} ${manifest.version}\n\n${text}\n`)
  }
  return parts.join('\n')
}
