// What `bridle` begins with, before any of its own code: loads the bundle (scripts/bundle.mjs) through V8's code cache. Compiling
// the bundle takes several times as long as starting Node; with the code of the last run at hand it is not compiled at all.
//
// - The bundle is CommonJS in `lib/`, each file wrapped as a function, because Node 20 takes cached code for scripts only.
// - The cache lies beside the bundle, or where that cannot be written, in the user's cache folder. Its folder is named after the
//   content of the bundle and the version of Node; V8 refuses code that was made under other flags, and it is compiled as usual.
// - It is written at the end of a run that had to compile. `BRIDLE_COMPILE_CACHE` names another folder, or is `off`.
// - Commands that read scripts and end let V8 optimise less, which is a flag: their code is in a folder of its own.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { findCacheFolder, makeCacheFolder } from './cache-folder.js'

/** Defined by the bundler: the file in `lib/` to begin with, and a hash of all files there. */
declare const BRIDLE_ENTRY: string
declare const BRIDLE_BUILD: string

/** Of the starter itself, which is CommonJS: a `require` from `node:module` would load the loader of ES modules with it. */
declare const require: (specifier: string) => unknown

interface Module {
  exports: unknown
}

interface FlagSetter {
  readonly setFlagsFromString: (flags: string) => void
}

/**
 * Commands that look at text once and end. Optimising functions that are warm for a second takes a third of their processor time on a
 * file of 10,000 lines, so a function has to run three times as long as usual before V8 does. The flags of the garbage collector cannot
 * be changed once V8 has begun: without marking on other threads it fails in the midst of a collection.
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
      // Not there, or not for us: the next folder, or none.
    }
  }
  return null
}

/** Other flags make other code, which would be refused by every run without them. */
function isPlainProcess(): boolean {
  return process.execArgv.length === 0 && (process.env['NODE_OPTIONS'] ?? '') === ''
}

function writeCache(): void {
  for (const folder of listCacheFolders()) {
    try {
      makeCacheFolder(folder)
      for (const { name, script } of compiled) {
        // Whole or not at all, also when several processes end together.
        const temporary = join(folder, `${name}.${process.pid}.tmp`)
        writeFileSync(temporary, script.createCachedData(), { mode: 0o600 })
        renameSync(temporary, join(folder, `${name}.bin`))
      }
      return
    } catch {
      // Cannot be written: a cache is no reason to fail.
    }
  }
}

const entry = load(BRIDLE_ENTRY) as { readonly begin?: (words: readonly string[], build: string) => Promise<void> }
// No top-level await: the bundle is CommonJS. A worker begins by being loaded.
void entry.begin?.(process.argv.slice(2), BRIDLE_BUILD)
