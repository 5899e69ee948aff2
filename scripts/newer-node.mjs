// A newer Node than the running one, from the npm package that contains its binary: for the suite on that version, and for a test package
// that needs it. Users do not install it.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspace.mjs'

export const NEWER_NODE = '24.21.0'

/** Its binary, installed on first use; null if it is not available. @returns {string | null} */
export function findNewerNode() {
  const folder = join(root, '.cache', 'newer-node')
  mkdirSync(folder, { recursive: true })
  const binary = join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(binary)) {
    const npm = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node@${NEWER_NODE}`]
    spawnSync('npm', npm, { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32', timeout: 120_000 })
  }
  const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim()
  return version === `v${NEWER_NODE}` ? binary : null
}
