// Bundles the command line into packages/cli/dist with esbuild, from source, so that it starts fast:
//
//   bridle.js              the entry: loads the rest through V8's code cache (packages/cli/src/start.ts)
//   lib/core.js            everything that a plain run of a script needs (scripts/core-bundle.mjs)
//   lib/                   the rest of the bundle in CommonJS, each file wrapped as a function: parts that the core loads on first use
//                          (other commands, further builtins, the compiler), a file for each worker, chunks that they share
//   lib/*.json             compiled Harn modules: a file for each (scripts/data-files.mjs)
//   lib/vendor-*.js        libraries that most runs do not use; imports of them are lazy (scripts/lazy-modules.mjs)
//   compiled/              the code cache, filled by one run at the end; made again by each Node version, and not published
//
// blake3-wasm stays outside, because it finds its .wasm file by its own location. The bundle contains code of others, so their
// licence texts are collected beside it. Hot code stays in one flat scope: esbuild's splitting, which requires ES
// modules, makes the chunks, which are then converted to CommonJS one by one; wrapped modules would make the interpreter's constants variables.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import { build, transform } from 'esbuild'
import { buildCore, fromCore, partFile } from './core-bundle.mjs'
import { dataFiles } from './data-files.mjs'
import { lazyModules, vendorFile } from './lazy-modules.mjs'
import { entries, layers, manifestOf, readJson, root } from './workspace.mjs'

const source = join(root, 'packages', 'cli', 'src')
const target = join(root, 'packages', 'cli', 'dist')
const library = join(target, 'lib')

/** Loaded on first use, which is only after start-up. */
const LAZY_PACKAGES = [
  '@noble/curves/ed25519.js',
  '@noble/curves/nist.js',
  '@noble/hashes/blake3.js',
  '@noble/hashes/sha2.js',
  'fflate/browser',
  'fzstd',
  'ipaddr.js',
  're2js',
  'smol-toml',
  'yaml',
  'zod',
]
const LAZY_BUILTINS = [
  'node:child_process',
  'node:crypto',
  'node:dns',
  'node:http',
  'node:https',
  'node:net',
  'node:os',
  'node:zlib',
]
const URL_OF_FILE = 'const bridleUrl=require("node:url").pathToFileURL(__dirname).href;'
const { dependencies, peerDependencies } = manifestOf('cli')
const unbundled = Object.keys({ ...dependencies, ...peerDependencies })

for (const name of existsSync(target) ? readdirSync(target) : []) {
  if (/\.(js|map|txt)$/.test(name) || name === 'lib' || name === 'compiled') rmSync(join(target, name), { recursive: true })
}

/** @type {Map<string, string>} */
const vendors = new Map()
/** @type {Set<string>} */
const bundledFiles = new Set()
/** @type {Map<string, string>} */
const files = new Map()

const shared = /** @type {const} */ ({
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'inline',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
  supported: { 'dynamic-import': true },
})

const options = {
  ...shared,
  format: /** @type {const} */ ('esm'),
  external: unbundled,
  alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
  define: { BRIDLE_VERSION: JSON.stringify(manifestOf('cli').version) },
  plugins: [
    dataFiles((name, text) => files.set(name, text)),
    lazyModules({
      packages: LAZY_PACKAGES,
      external: [...LAZY_BUILTINS, ...unbundled],
      applies: (importer) =>
        /[\\/]packages[\\/]\w[\w-]*[\\/]src[\\/]|[\\/]commander[\\/]/.test(importer) && !importer.includes('test-support'),
      found: (specifier, resolved) => vendors.set(specifier, resolved),
    }),
  ],
}
const core = await buildCore(options, join(source, 'begin.ts'))
await addFiles(core.result)
const bundle = await build({
  ...options,
  outdir: library,
  entryPoints: [...workers(), ...core.parts.map((path) => ({ in: path, out: partFile(path).slice(0, -3) }))],
  chunkNames: 'chunk-[hash]',
  splitting: true,
  plugins: [fromCore(core.members, core.exportsOf), ...options.plugins],
})
await addFiles(bundle)
for (const [specifier, resolved] of vendors) {
  const entry = { in: resolved, out: vendorFile(specifier).slice(0, -3) }
  await addFiles(await build({ ...shared, outdir: library, entryPoints: [entry], format: 'cjs' }))
  await checkVendor(vendorFile(specifier), resolved)
}

mkdirSync(library, { recursive: true })
const hash = createHash('sha256')
for (const [name, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
  writeFileSync(join(library, name), text)
  hash.update(name).update(text)
}
const buildHash = hash.digest('hex').slice(0, 16)
// No file in dist is an ES module, whatever package.json says.
writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n')
await writeStarter('bridle', 'core.js', '#!/usr/bin/env node')
chmodSync(join(target, 'bridle.js'), 0o755)
for (const { out } of workers()) await writeStarter(out, `${out}.js`, '')
writeFileSync(join(target, 'THIRD-PARTY.txt'), thirdPartyNotices([...bundledFiles]))
fillCache()

/**
 * Stores the outputs of a build as wrapped CommonJS files.
 * @param {import('esbuild').BuildResult<{ metafile: true, write: false }>} result
 */
async function addFiles({ outputFiles, metafile }) {
  for (const input of Object.keys(metafile.inputs)) bundledFiles.add(input)
  for (const { path, text } of outputFiles) {
    const name = basename(path)
    if (!name.endsWith('.js')) continue
    const { code, map } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minifySyntax: true,
      minifyWhitespace: true,
      sourcemap: 'external',
      sourcesContent: false,
      sourcefile: name,
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': 'bridleUrl' },
      logOverride: { 'empty-import-meta': 'silent' },
      banner: `(function(exports,require,module,__filename,__dirname){${text.includes('import.meta.url') ? URL_OF_FILE : ''}`,
      footer: '})',
    })
    if (/[^\x00-\x7f]/.test(code)) throw new Error(`bundle: ${name} is not ASCII, which start.ts relies on`)
    files.set(name, code)
    files.set(`${name}.map`, map)
  }
}

/**
 * Checks that every export that a stand-in may use exists.
 * @param {string} name @param {string} resolved
 */
async function checkVendor(name, resolved) {
  const module = { exports: {} }
  const run = new Script(files.get(name) ?? '', { filename: name }).runInThisContext()
  run(module.exports, createRequire(resolved), module, resolved, library)
  const missing = Object.keys(await import(pathToFileURL(resolved).href)).filter(
    (key) => key !== 'default' && key !== 'module.exports' && !(key in module.exports),
  )
  if (missing.length > 0) throw new Error(`bundle: ${name} lacks ${missing.join(', ')}`)
}

/** @param {string} name @param {string} entry @param {string} shebang */
async function writeStarter(name, entry, shebang) {
  await build({
    entryPoints: [{ in: join(source, 'start.ts'), out: name }],
    outdir: target,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    define: { BRIDLE_ENTRY: JSON.stringify(entry), BRIDLE_BUILD: JSON.stringify(buildHash) },
    plugins: [lazyModules({ packages: [], external: LAZY_BUILTINS, applies: () => true, found: () => {} })],
    ...(shebang === '' ? {} : { banner: { js: shebang } }),
    logLevel: 'warning',
  })
}

/** Runs a script that uses common features; the code compiled by this run is in the cache of later runs. */
function fillCache() {
  const script =
    'fn greet(name, times = 1) { return "hello ${name} ${times}" }\npipeline main() {\n  let found = ["a", "b"].map({ x -> greet(x) })\n  println(found.join(", "))\n}\n'
  const folder = mkdtempSync(join(tmpdir(), 'bridle-bundle-'))
  const env = { ...process.env, BRIDLE_COMPILE_CACHE: '', XDG_CACHE_HOME: folder, NODE_OPTIONS: '' }
  /** @param {readonly string[]} words */
  const run = (...words) => start(words, env)
  try {
    const file = join(folder, 'script.harn')
    writeFileSync(file, script)
    // The cache of a file contains what was compiled by the end of the run that wrote it: for the core, the needs of a
    // precompiled script; for the other files, common features.
    run('run', file)
    rmSync(join(target, 'compiled'), { recursive: true })
    run('run', file)
    // A check has other flags, and so a separate cache. The attribute in the script makes the check emit it, and the other one has
    // findings.
    const wrong = join(folder, 'wrong.harn')
    writeFileSync(wrong, 'println(unknwon(1), [1].pushh(2))\nif true { println("$x") }\n')
    start(['check', join(root, 'scripts', 'code-cache.harn'), wrong], env, 1)
    run('run', '-e', `${script}println(regex_match("a+", path_join("a", "b")), file_exists("x"), now_ms() > 0)\n`)
    checkPlainRun(folder, env)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param {readonly string[]} words @param {NodeJS.ProcessEnv} env @param {number} code how it has to end */
function start(words, env, code = 0) {
  const { status, stderr } = spawnSync(process.execPath, [join(target, 'bridle.js'), ...words], { env, encoding: 'utf8' })
  if (status !== code) throw new Error(`bundle: the bundle does not run:\n${stderr}`)
}

/**
 * A cached script that prints reads only the core. One value that is used too early loads a library at every start, and
 * no test of a run's output would notice.
 * @param {string} folder @param {NodeJS.ProcessEnv} env
 */
function checkPlainRun(folder, env) {
  const cache = join(folder, 'plain')
  const file = join(folder, 'hello.harn')
  writeFileSync(file, 'pipeline main() {\n  println("hello")\n}\n')
  const code = () => readdirSync(cache).filter((name) => name !== 'scripts')
  start(['run', file], { ...env, BRIDLE_COMPILE_CACHE: cache })
  for (const name of code()) rmSync(join(cache, name), { recursive: true })
  start(['run', file], { ...env, BRIDLE_COMPILE_CACHE: cache })
  const read = code().flatMap((name) => readdirSync(join(cache, name)))
  if (read.join(' ') !== 'core.js.bin') throw new Error(`bundle: a plain run reads more than the core: ${read.join(', ')}`)
}

/** Each `worker.ts`: a worker thread starts from a separate file, named after its folder. */
function workers() {
  const points = []
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
