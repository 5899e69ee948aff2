// The command as one file, bundled from source, for tests that start it many times: loaded as hundreds of modules through a
// compiler each start takes seconds.

import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { build } from 'esbuild'
import { entries, manifestOf, root } from '../../../scripts/workspace.mjs'

/** The path of the bundle and of its folder, which the caller removes. Below the package, where its dependencies are found. */
export async function bundledCommand(): Promise<{ readonly path: string; readonly folder: string }> {
  const cache = join(root, 'packages', 'cli', 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'command-'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  await build({
    entryPoints: [
      { in: fileURLToPath(new URL('../src/main.ts', import.meta.url)), out: 'bridle' },
      { in: fileURLToPath(new URL('../src/conformance/worker.ts', import.meta.url)), out: 'conformance-worker' },
      { in: fileURLToPath(new URL('../src/simulation/worker.ts', import.meta.url)), out: 'simulation-worker' },
    ],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    external: Object.keys(manifestOf('cli').dependencies ?? {}),
    alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
    define: { BRIDLE_VERSION: JSON.stringify(manifestOf('cli').version) },
    banner: {
      js: "import { createRequire as makeBundleRequire } from 'node:module';const require = makeBundleRequire(import.meta.url);",
    },
  })
  return { path: join(folder, 'bridle.js'), folder }
}
