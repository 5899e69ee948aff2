// Whether the installation and the build match the sources: by hashes of all their inputs, which set-up stores.
// Plain JavaScript without dependencies: it also runs before anything is installed.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { builtSources, filesBelow, layers, readJson, root } from './workspace.mjs'

export const stampFile = join(root, 'node_modules', '.bridle-setup.json')

/** The hashes after the last success. @returns {{ install?: string, build?: string }} */
export function readStamps() {
  return existsSync(stampFile) ? readJson(stampFile) : {}
}

/** Whether the packages in `dist` match the sources. */
export function isBuilt() {
  return haveOutputs() && readStamps().build === hashBuild(hashInstall())
}

export function hashInstall() {
  return hashFiles(installInputs(), [process.version, process.platform, process.arch])
}

/** @param {string} installHash */
export function hashBuild(installHash) {
  return hashFiles(buildInputs(), [installHash])
}

export function haveOutputs() {
  const outputs = layers.map((name) => join(root, 'packages', name, 'dist', name === 'cli' ? 'bridle.js' : 'index.js'))
  return [...builtSources, ...outputs].every((path) => existsSync(path))
}

function installInputs() {
  const manifests = layers.map((name) => join(root, 'packages', name, 'package.json'))
  return [...['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc'].map((name) => join(root, name)), ...manifests]
}

function buildInputs() {
  const isSource = (/** @type {string} */ path) => !path.endsWith('.test.ts') && !builtSources.includes(path)
  return [
    ...[
      'tsconfig.json',
      'tsconfig.base.json',
      'scripts/bundle.mjs',
      'scripts/code-cache.harn',
      'scripts/generate-library.ts',
      'scripts/bundle-packages.mjs',
      'scripts/pack-table.ts',
      'scripts/data-files.mjs',
      'scripts/core-bundle.mjs',
      'scripts/lazy-modules.mjs',
      'scripts/workspace.mjs',
    ].map((name) => join(root, name)),
    ...filesBelow(join(root, 'types')),
    ...layers.flatMap((name) => [
      join(root, 'packages', name, 'tsconfig.json'),
      ...filesBelow(join(root, 'packages', name, 'src'), isSource),
    ]),
  ]
}

/** @param {string[]} files @param {string[]} extra */
function hashFiles(files, extra) {
  const hash = createHash('sha256')
  for (const text of extra) hash.update(`${text}\0`)
  for (const file of files) {
    if (!existsSync(file)) continue
    hash.update(`${relative(root, file)}\0`)
    hash.update(readFileSync(file))
    hash.update('\0')
  }
  return hash.digest('hex')
}
