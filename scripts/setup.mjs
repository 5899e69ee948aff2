// The common first half of `npm start` and `npm test`: installs what the lockfile names and builds the packages.
// Runs on Node 20 with npm alone, before anything is installed, and does nothing when nothing changed: each half is
// skipped when the hash of its inputs equals the one stored after its last success. Progress goes to stderr, so that
// commands whose stdout is read by programs (`npm pack --json`) may run it first.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashBuild, hashInstall, haveOutputs, readStamps, stampFile } from './built.mjs'
import { layers, root } from './workspace.mjs'

const PNPM = 'pnpm@12.21.0'
main()

function main() {
  requireNode()
  if (process.argv.includes('--update-lockfile')) {
    run('resolving dependencies', 'npx', ['--yes', PNPM, 'install', '--no-frozen-lockfile'])
    return
  }
  const stamps = readStamps()
  const installHash = hashInstall()
  if (stamps.install !== installHash) {
    run('installing dependencies', 'npx', ['--yes', '--prefer-offline', PNPM, 'install', '--frozen-lockfile', '--prefer-offline'])
    writeStamps({ install: installHash })
  }
  const buildHash = hashBuild(installHash)
  if (stamps.build !== buildHash || !haveOutputs()) {
    for (const name of layers) {
      // The command's dist contains the bundle; tsc's output for its sources is a level deeper.
      const dist = join(root, 'packages', name, 'dist', name === 'cli' ? 'types' : '')
      pruneOutputs(dist, join(root, 'packages', name, 'src'))
    }
    run('compiling the library', process.execPath, ['--import', 'tsx', join('scripts', 'generate-library.ts')])
    run('checking types', process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'])
    run('bundling the packages', process.execPath, [join('scripts', 'bundle-packages.mjs')])
    run('bundling the command line', process.execPath, [join('scripts', 'bundle.mjs')])
    writeStamps({ install: installHash, build: buildHash })
  }
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  fail(`Node ${process.versions.node} is too old: Bridle needs 20.19 or newer`)
}

/**
 * tsc never deletes: without this, the declarations of a deleted source would stay and be packed.
 * @param {string} dist @param {string} source
 */
function pruneOutputs(dist, source) {
  if (!existsSync(dist)) return
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const path = join(dist, entry.name)
    const stem = entry.name.replace(/\.d\.ts$/, '')
    if (entry.isDirectory()) pruneOutputs(path, join(source, entry.name))
    else if (stem !== entry.name && !existsSync(join(source, `${stem}.ts`))) rmSync(path)
  }
}

/** @param {{ install: string, build?: string }} stamps */
function writeStamps(stamps) {
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, JSON.stringify(stamps))
}

/** @param {string} what @param {string} command @param {string[]} args */
function run(what, command, args) {
  process.stderr.write(`setup: ${what} …\n`)
  const startedAt = Date.now()
  // stdout of the child goes to our stderr (2), stdin is closed, so that nothing can prompt. npx is a .cmd file on Windows.
  const shell = process.platform === 'win32' && command === 'npx'
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell, env: childEnvironment() })
  if (result.error !== undefined) fail(`${command} could not be started: ${result.error.message}`)
  if (result.status !== 0) fail(`${what} failed (exit code ${result.status ?? result.signal})`)
  process.stderr.write(`setup: ${what} took ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
}

/** npm passes settings to its scripts as npm_config_* variables; those of the running command must not affect the install. */
function childEnvironment() {
  const env = { ...process.env }
  for (const name of ['npm_config_dry_run', 'npm_config_json', 'npm_config_pack_destination', 'npm_config_global'])
    delete env[name]
  return env
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`setup: ${message}\n`)
  process.exit(1)
}
