// A copy of this checkout, as built: tracked and new files, dependencies, and the build. For runs of the suite that must
// not depend on the location of the folder, and must leave nothing in it.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { builtSources, filesBelow, layers, root } from './workspace.mjs'

/** Everything, so that tests run there. @param {string} target */
export function copyCheckout(target) {
  copySources(target, () => true)
  for (const name of layers) {
    copyTree(join('packages', name, 'dist'), target)
    copyTree(join('packages', name, 'node_modules'), target)
  }
  for (const path of builtSources) copyTree(relative(root, path), target)
  copyTree('node_modules', target)
}

/** The files of the repository for which `wanted` holds. @param {string} target @param {(path: string) => boolean} wanted */
export function copySources(target, wanted) {
  for (const path of repositoryFiles().filter(wanted)) {
    if (!existsSync(join(root, path))) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    cpSync(join(root, path), join(target, path), { verbatimSymlinks: true })
  }
}

function repositoryFiles() {
  const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (git.status === 0) return git.stdout.split('\0').filter((path) => path !== '')
  return filesBelow(root).map((/** @type {string} */ path) => path.slice(root.length).replace(/^[\\/]/, ''))
}

/** @param {string} path @param {string} target */
function copyTree(path, target) {
  const source = join(root, path)
  if (!existsSync(source)) return
  mkdirSync(dirname(join(target, path)), { recursive: true })
  // Several times as fast as cpSync for the many small files of dependencies.
  const cp = process.platform === 'win32' ? null : spawnSync('cp', ['-a', source, join(target, path)])
  if (cp?.status !== 0) cpSync(source, join(target, path), { recursive: true, verbatimSymlinks: true })
}
