// The structure of the workspace, read from package.json files: the packages in import order, and for every public entry
// (`@bridle/compiler/bytecode`) the source file behind it. vitest, the CLI bundle and tidy all take their aliases from here,
// so a new entry is one line in `exports` (plus its counterpart in tsconfig.base.json, which tidy compares).
// Plain JavaScript without dependencies: it also runs before anything is installed.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Lowest layer first: a package may import those before it, never those after it. */
export const layers = ['parser', 'compiler', 'vm', 'stdlib-tools', 'cli']

/** Generated sources that git does not track; absolute paths. */
export const builtSources = ['library/harn/modules.generated.ts', 'std-compiled.generated.ts', 'std.generated.ts'].map((name) =>
  join(root, 'packages', 'stdlib-tools', 'src', name),
)

/** @param {string} file @returns {any} */
export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** @param {string} name folder of the package @returns {any} its package.json */
export function manifestOf(name) {
  return readJson(join(root, 'packages', name, 'package.json'))
}

/**
 * Every public entry with its source, longest names first so that prefix matching is safe.
 * @returns {{ name: string, package: string, source: string }[]} `source` relative to the root, with forward slashes
 */
export function entries() {
  const found = []
  for (const folder of layers) {
    const manifest = manifestOf(folder)
    for (const [key, target] of Object.entries(manifest.exports ?? {})) {
      if (typeof target.default !== 'string' || !target.default.endsWith('.js')) continue
      const source = target.default.replace('./dist/', `packages/${folder}/src/`).replace(/\.js$/, '.ts')
      found.push({ name: manifest.name + key.slice(1), package: folder, source })
    }
  }
  return found.sort((a, b) => b.name.length - a.name.length)
}

/**
 * Files below `folder` whose path `keep` accepts, as absolute paths in a stable order; installed and built folders are skipped.
 * @param {string} folder @returns {string[]}
 */
export function filesBelow(folder, keep = (/** @type {string} */ _path) => true) {
  /** @type {string[]} */
  const found = []
  if (!existsSync(folder)) return found
  const names = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of names) {
    if (skipped.has(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...filesBelow(path, keep))
    else if (entry.isFile() && keep(path)) found.push(path)
  }
  return found
}

const skipped = new Set(['node_modules', 'dist', '.git', '.bridle', '.cache', 'coverage'])
