// The starter of `bridle`, which runs before any other code: loads the bundle (scripts/bundle.mjs) through V8's code cache. Compiling
// the bundle takes several times as long as starting Node; with the cached code of an earlier run it is not compiled at all.
//
// - The bundle is CommonJS in `lib/`, each file wrapped as a function, because Node 20 accepts cached code for scripts only.
// - The cache is beside the bundle or, if that is not writable, in the user's cache folder. Its folder is named after the
//   content of the bundle and the version of Node; V8 rejects code compiled under other flags, and compiles as usual.
// - It is written at the end of a run that had to compile. `BRIDLE_COMPILE_CACHE` names another folder, or is `off`.
// - Commands that read scripts and end use a flag that delays V8's optimiser: their code has its own folder.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { findCacheFolder, makeCacheFolder } from './cache-folder.js'

/** Defined by the bundler: the entry file in `lib/`, and a hash of all files there. */
declare const BRIDLE_ENTRY: string
declare const BRIDLE_BUILD: string

/** The `require` of the starter itself, which is CommonJS: one from `node:module` would load the loader of ES modules. */
declare const require: (specifier: string) => unknown

interface Module {
  exports: unknown
}

interface FlagSetter {
  readonly setFlagsFromString: (flags: string) => void
}

/**
 * Commands that read source once and end. Optimising functions that are hot for only a second takes a third of their processor time on a
 * file of 10,000 lines, so V8 optimises a function only after three times the usual run time. Do not change flags of the garbage collector
 * once V8 has started: without concurrent marking it crashes during a collection.
 */
const READING_COMMANDS: ReadonlySet<string | undefined> = new Set(['check', 'lint', 'fmt'])
const isReading = READING_COMMANDS.has(process.argv[2])
if (isReading) (require('node:v8') as FlagSetter).setFlagsFromString('--interrupt-budget=400000')

const library = join(__dirname, 'lib')
const modules = new Map<string, Module>()
const compiled: { readonly name: string; readonly script: Script }[] = []

function load(name: string): unknown {
  const known = modules.get(name)
  if (known !== undefined) return known.exports
  const module: Module = { exports: {} }
  modules.set(name, module)
  const filename = join(library, name)
  const cachedData = readCachedCode(name)
  // The bundler writes ASCII only.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, ...(cachedData === null ? {} : { cachedData }) })
  if (cachedData === null || script.cachedDataRejected === true) {
    if (compiled.length === 0 && isPlainProcess()) process.once('exit', writeCache)
    compiled.push({ name, script })
  }
  const run = script.runInThisContext() as (...args: readonly unknown[]) => void
  run(module.exports, requireInside, module, filename, library)
  return module.exports
}

function requireInside(specifier: string): unknown {
  return specifier.startsWith('./') ? load(specifier.slice(2)) : require(specifier)
}

function listCacheFolders(): readonly string[] {
  const folder = findCacheFolder(process.env)
  if (folder === null) return []
  const name = `${BRIDLE_BUILD}-${process.version}-${process.arch}${isReading ? '-reading' : ''}`
  if ((process.env['BRIDLE_COMPILE_CACHE'] ?? '') !== '') return [join(folder, name)]
  return [join(__dirname, 'compiled', name), join(folder, 'compiled', name)]
}

function readCachedCode(name: string): Buffer | null {
  for (const folder of listCacheFolders()) {
    try {
      return readFileSync(join(folder, `${name}.bin`))
    } catch {
      // Missing or not accessible: try the next folder, or none.
    }
  }
  return null
}

/** Code of other flags would be rejected by every run without them. */
function isPlainProcess(): boolean {
  return process.execArgv.length === 0 && (process.env['NODE_OPTIONS'] ?? '') === ''
}

function writeCache(): void {
  for (const folder of listCacheFolders()) {
    try {
      makeCacheFolder(folder)
      for (const { name, script } of compiled) {
        // Atomic, also when several processes end together.
        const temporary = join(folder, `${name}.${process.pid}.tmp`)
        writeFileSync(temporary, script.createCachedData(), { mode: 0o600 })
        renameSync(temporary, join(folder, `${name}.bin`))
      }
      return
    } catch {
      // Continue without a cache that cannot be written.
    }
  }
}

const entry = load(BRIDLE_ENTRY) as { readonly begin?: (words: readonly string[], build: string) => Promise<void> }
// No top-level await: the bundle is CommonJS. A worker starts by being loaded.
void entry.begin?.(process.argv.slice(2), BRIDLE_BUILD)
