// The command for tests that start it many times: as set-up has built it, or bundled from source if the build is stale. Loading it as
// hundreds of modules through a compiler would take seconds per start.

import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { build } from 'esbuild'
import { isBuilt } from './built.mjs'
import { entries, manifestOf, root } from './workspace.mjs'

/** The path of the command, and a folder for the caller to remove: that of the bundle, below the package, where its dependencies are found. */
export async function bundledCommand(): Promise<{ readonly path: string; readonly folder: string }> {
  const cache = join(root, 'packages', 'cli', 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'command-'))
  if (isBuilt()) return { path: join(root, 'packages', 'cli', 'dist', 'bridle.js'), folder }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  await build({
    entryPoints: [
      { in: fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url)), out: 'bridle' },
      { in: fileURLToPath(new URL('../packages/cli/src/conformance/worker.ts', import.meta.url)), out: 'conformance-worker' },
      { in: fileURLToPath(new URL('../packages/cli/src/simulation/worker.ts', import.meta.url)), out: 'simulation-worker' },
    ],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    external: Object.keys({ ...manifestOf('cli').dependencies, ...manifestOf('cli').peerDependencies }),
    alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
    define: { BRIDLE_VERSION: JSON.stringify(manifestOf('cli').version) },
    banner: {
      js: "import { createRequire as makeBundleRequire } from 'node:module';const require = makeBundleRequire(import.meta.url);",
    },
  })
  return { path: join(folder, 'bridle.js'), folder }
}
