// `npm run tidy`: checks on the code itself that types and lint cannot make. Each check is one function that returns its
// complaints; the table at the end is the list. It checks who may import whom, that the root entries stay browser-safe,
// that the vm uses no clock or randomness, that no source file is unused and no generated file stale, that public entries
// and dependency versions agree, and that files begin with an introduction and stay short. (Layout is `npm run format`.)
// It reads sources only and needs no build.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { build } from 'esbuild'
import { findDoorComplaints } from './doors.js'
import { entries, filesBelow, layers, manifestOf, readJson, root } from './workspace.mjs'

type Complaint = string
type Check = () => Complaint[] | Promise<Complaint[]>

/** Packages whose root entries must load in a browser; the command line need not. */
const browserSafe = layers.filter((name) => name !== 'cli')

/** Libraries that need Node (or, for blake3-wasm, a different build in a browser); root entries must not reach them. */
const nodeOnlyLibraries = ['@modelcontextprotocol/sdk', 'blake3-wasm', 'commander', 'undici', 'ws']

/**
 * Rooms of stdlib-tools, lowest first: a room imports itself and those before it. `library` transforms values and shapes effects, `tools` is one
 * call of a tool, `agents` are models and conversations, `host` is runtimes and runs; the others are separate entries.
 */
const rooms = ['library', 'tools', 'agents', 'host', 'bridge', 'mcp', 'node']
const topRooms = ['ai', 'otel', 'restate', 'dbos', 'gateway']

/** The vm runs without parser, checker and emitter: these are the entries of the compiler that it may import. */
const compilerEntriesOfVm = ['@bridle/compiler/bytecode', '@bridle/compiler/signatures']

/** Globals that would let a run differ from its replay; types already keep timers and `process` out of the vm. */
const nondeterminism =
  /\b(?:Math\.random|Date\.now|performance\.now|crypto\.getRandomValues|new Date\(\)|new Promise|Promise\.\w+)|\basync (?:function|\()/g

/** Lines; a longer file contains more than one idea. Only a note, because splitting requires thought. */
const maxLines = 1000

/** Messages that do not fail. */
const notes: string[] = []

const sources = layers.flatMap((name) =>
  filesBelow(join(root, 'packages', name, 'src'), (path) => path.endsWith('.ts')).map(toRelative),
)
const generators = readdirSync(join(root, 'scripts'))
  .filter((name) => /^generate-.*\.ts$/.test(name))
  .map((name) => `scripts/${name}`)
const shipped = sources.filter((path) => !isTestCode(path))

function checkImportDirection(): Complaint[] {
  const complaints: Complaint[] = []
  for (const path of sources) {
    const layer = layers.indexOf(layerOf(path))
    for (const { specifier, line, typeOnly } of importsOf(path)) {
      if (specifier.startsWith('.')) {
        const target = toRelative(join(root, dirname(path), specifier))
        if (!target.startsWith(`packages/${layers[layer]}/src/`) && !isLowerSourceOfTest(path, target, layer))
          complaints.push(`${path}:${line} leaves its package by ${specifier}`)
        else if (!/\.(?:js|json)$/.test(specifier)) complaints.push(`${path}:${line} imports ${specifier} without .js`)
        else if (!typeOnly && crossesValues(path, target)) complaints.push(`${path}:${line} values/ may not know ${specifier}`)
        continue
      }
      const name = /^@bridle\/([^/]+)/.exec(specifier)?.[1]
      if (name === undefined) continue
      const target = layers.indexOf(name)
      if (target < 0) complaints.push(`${path}:${line} imports ${specifier}, which does not exist`)
      else if (target === layer) complaints.push(`${path}:${line} imports its own package as ${specifier}`)
      else if (target > layer) complaints.push(`${path}:${line} imports upward: ${specifier}`)
      else if (layers[layer] === 'vm' && !isTestCode(path) && !compilerEntriesOfVm.includes(specifier)) {
        complaints.push(
          `${path}:${line} imports ${specifier}; of the lower layers the vm sees only ${compilerEntriesOfVm.join(' and ')}`,
        )
      }
    }
  }
  return complaints
}

/** Tests may import the sources and the test support of lower packages. */
function isLowerSourceOfTest(path: string, target: string, layer: number): boolean {
  return isTestCode(path) && layers.indexOf(layerOf(target)) < layer && target.includes('/src/')
}

/** values/ is below the interpreter: the interpreter may import it, never the reverse. */
function crossesValues(path: string, target: string): boolean {
  return path.startsWith('packages/vm/src/values/') && target.startsWith('packages/vm/src/interpreter/') && !isTestCode(path)
}

/** The room of a source of stdlib-tools; null for files outside the rooms. */
function roomOf(path: string): string | null {
  const room = /^packages\/stdlib-tools\/src\/([\w-]+)\//.exec(path)?.[1] ?? null
  return room !== null && (rooms.includes(room) || topRooms.includes(room)) ? room : null
}

function checkRooms(): Complaint[] {
  const complaints: Complaint[] = []
  // The gateway uses all others.
  const rank = (room: string): number =>
    room === 'gateway' ? rooms.length + 1 : topRooms.includes(room) ? rooms.length : rooms.indexOf(room)
  for (const room of [...rooms, ...topRooms]) {
    const folder = `packages/stdlib-tools/src/${room}`
    if (existsSync(join(root, folder)) && !existsSync(join(root, folder, 'README.md')))
      complaints.push(`${folder} has no README.md`)
  }
  for (const path of shipped) {
    const own = roomOf(path)
    if (own === null) continue
    for (const { specifier, line } of importsOf(path)) {
      if (!specifier.startsWith('.')) continue
      const target = toRelative(join(root, dirname(path), specifier))
      const other = roomOf(target)
      if (other === null || other === own || rank(other) < rank(own)) continue
      complaints.push(`${path}:${line} imports upward: ${own} may not know ${target}`)
    }
  }
  return complaints
}

const roomFolder = 'packages/stdlib-tools/src'

/** Room → its doors: `index.ts`, and `door.ts` if that is an entry of the package. */
const doors = new Map(
  [...rooms, ...topRooms].map((room) => [
    room,
    ['index.ts', 'door.ts'].map((name) => `${roomFolder}/${room}/${name}`).filter((path) => existsSync(join(root, path))),
  ]),
)

function checkDoors(): Complaint[] {
  const published = new Set(entries().map((entry) => entry.source))
  const texts = shipped
    .filter((path) => path.startsWith(`${roomFolder}/`))
    .map((path) => [path, withoutComments(read(path))] as const)
  return [
    ...rooms
      .filter((room) => doors.get(room)!.length === 0)
      .map((room) => `${roomFolder}/${room} has no door: write its index.ts`),
    ...findDoorComplaints({ sources: new Map(texts), roomOf, doors, published }),
  ]
}

/**
 * Files that import each other in a cycle, types included. Such a file can only be understood with all others of its cycle, so
 * packages/vm has none. The list can only shrink: tidy refuses a file that is missing here, and one that is no longer in a cycle.
 */
const RINGS: ReadonlySet<string> = new Set([
  'packages/cli/src/authority.ts',
  'packages/cli/src/host-parts.ts',
  'packages/cli/src/host.ts',
  'packages/cli/src/lock.ts',
  'packages/cli/src/preflight/collisions.ts',
  'packages/cli/src/preflight/preflight.ts',
  'packages/compiler/src/emit/concurrency.ts',
  'packages/compiler/src/emit/declarations.ts',
  'packages/compiler/src/emit/errors.ts',
  'packages/compiler/src/emit/expressions.ts',
  'packages/compiler/src/emit/functions.ts',
  'packages/compiler/src/emit/patterns.ts',
  'packages/compiler/src/emit/statements.ts',
  'packages/compiler/src/types/builtins.ts',
  'packages/compiler/src/types/declarations.ts',
  'packages/compiler/src/types/scope.ts',
  'packages/compiler/src/types/signature-text.ts',
  'packages/parser/src/format/control.ts',
  'packages/parser/src/format/declarations.ts',
  'packages/parser/src/format/expressions.ts',
  'packages/parser/src/format/literals.ts',
  'packages/parser/src/format/statements.ts',
  'packages/stdlib-tools/src/host/run-services.ts',
  'packages/stdlib-tools/src/host/run.ts',
  'packages/stdlib-tools/src/node/config-runtime.ts',
  'packages/stdlib-tools/src/node/config.ts',
  'packages/stdlib-tools/src/node/find-skills.ts',
  'packages/stdlib-tools/src/node/skills.ts',
  'packages/stdlib-tools/src/tools/policy/grant-ceiling.ts',
  'packages/stdlib-tools/src/tools/policy/grants.ts',
])

function checkRings(): Complaint[] {
  const imports = new Map<string, string[]>()
  const known = new Set(shipped)
  for (const path of shipped) {
    const targets = importsOf(path)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => toRelative(join(root, dirname(path), specifier.replace(/\.js$/, '.ts'))))
    imports.set(
      path,
      targets.filter((target) => known.has(target)),
    )
  }
  const complaints: Complaint[] = []
  const ringed = new Set<string>()
  for (const ring of findRings(imports)) {
    for (const path of ring) ringed.add(path)
    const unknown = ring.filter((path) => !RINGS.has(path))
    if (unknown.length > 0)
      complaints.push(
        `${unknown.join(', ')}: in a ring of imports (${ring.join(' ')}); move what both need into a file below both`,
      )
  }
  for (const path of RINGS)
    if (!ringed.has(path)) complaints.push(`${path} is in no ring of imports any more: take it out of RINGS`)
  return complaints
}

/** Strongly connected components of more than one file, by Tarjan's algorithm. */
function findRings(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const rings: string[][] = []
  const places = new Map<string, { readonly at: number; low: number; isOpen: boolean }>()
  const open: string[] = []
  const visit = (path: string): { readonly at: number; low: number; isOpen: boolean } => {
    const own = { at: places.size, low: places.size, isOpen: true }
    places.set(path, own)
    open.push(path)
    for (const target of imports.get(path) ?? []) {
      const other = places.get(target) ?? visit(target)
      if (other.isOpen) own.low = Math.min(own.low, other.low)
    }
    if (own.low === own.at) {
      const ring = open.splice(open.lastIndexOf(path))
      for (const member of ring) places.get(member)!.isOpen = false
      if (ring.length > 1) rings.push(ring.toSorted())
    }
    return own
  }
  for (const path of imports.keys()) if (!places.has(path)) visit(path)
  return rings
}

/** Mutable variables of the machine's modules, each with its reason; a machine keeps its own state (docs/decisions/0016-meter.md). */
const VARIABLES_OF_VM: Readonly<Record<string, string>> = {
  'values/meter.ts current': 'nests as calls do; metered() restores it',
  'interpreter/heap.ts measurement': 'numbers measurements, so that marks of an earlier one mean nothing',
  'builtins/strings-case.ts segmenter': 'made when first used',
  'builtins/strings-case.ts wordStart': 'made when first used',
  'builtins/sorted-json.ts hexOfByte': 'made when first used',
  'builtins/sorted-json.ts unprintable': 'made when first used',
  'builtins/sorted-json.ts asked': 'which characters are printable',
  'builtins/codecs-alphabets.ts ascii': 'made when first used',
  'builtins/codecs-alphabets.ts utf8': 'made when first used',
  'builtins/codecs-alphabets.ts scratch': 'written to and never read',
  'compiled/from-text.ts canGenerate': 'asked once of the engine',
}

function checkStateOfVm(): Complaint[] {
  const folder = 'packages/vm/src/'
  const found = shipped
    .filter((path) => path.startsWith(folder))
    .flatMap((path) =>
      [...withoutComments(read(path)).matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(
        (match) => `${path.slice(folder.length)} ${match[1]}`,
      ),
    )
  return [
    ...found
      .filter((name) => !(name in VARIABLES_OF_VM))
      .map(
        (name) =>
          `${folder}${name} is state of a module; put it into the machine, or say in VARIABLES_OF_VM why no run can see it`,
      ),
    ...Object.keys(VARIABLES_OF_VM)
      .filter((name) => !found.includes(name))
      .map((name) => `${folder}${name} is no variable any more: take it out of VARIABLES_OF_VM`),
  ]
}

function checkDeclaredDependencies(): Complaint[] {
  const complaints: Complaint[] = []
  for (const path of shipped) {
    const manifest = manifestOf(layerOf(path))
    const declared = {
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.optionalDependencies,
      ...manifest.devDependencies,
    }
    for (const { specifier, line } of importsOf(path)) {
      if (specifier.startsWith('.') || isNodeBuiltin(specifier)) continue
      const name = packageOf(specifier)
      if (declared[name] === undefined) complaints.push(`${path}:${line} imports ${name}, which its package.json does not name`)
    }
  }
  return complaints
}

/** Follows what would be loaded (types are erased, dynamic imports count) from each root entry, through all our packages. */
async function checkBrowserSafety(): Promise<Complaint[]> {
  const complaints: Complaint[] = []
  for (const name of browserSafe) {
    const entry = `packages/${name}/src/index.ts`
    if (!existsSync(join(root, entry))) {
      complaints.push(`${entry} is missing`)
      continue
    }
    const result = await build({
      entryPoints: [join(root, entry)],
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      packages: 'external',
      alias: Object.fromEntries(entries().map((one) => [one.name, join(root, one.source)])),
      logLevel: 'silent',
    })
    for (const [path, input] of Object.entries(result.metafile.inputs)) {
      for (const { path: specifier, external } of input.imports) {
        if (external !== true) continue
        const unsafe = isNodeBuiltin(specifier) || nodeOnlyLibraries.includes(packageOf(specifier))
        if (unsafe) complaints.push(`${path} imports ${specifier} and is reachable from ${entry}`)
      }
    }
  }
  return complaints
}

function checkDeterminism(): Complaint[] {
  const complaints: Complaint[] = []
  for (const path of shipped.filter(
    (one) => /^packages\/(?:vm|stdlib-tools\/src\/(?:library|agents))\//.test(one) && !one.endsWith('/host-clock.ts'),
  )) {
    const lines = withoutComments(read(path)).split('\n')
    lines.forEach((line, index) => {
      for (const match of line.matchAll(nondeterminism))
        complaints.push(`${path}:${index + 1} uses ${match[0]}; what runs in the machine has no clock, chance or promise`)
    })
  }
  return complaints
}

/** A source is used when a public entry, the command, a worker or a generator reaches it; a file that only tests reach is dead. */
function checkUnusedSources(): Complaint[] {
  const starts = [
    ...entries().map((entry) => entry.source),
    'packages/cli/src/main.ts',
    'packages/cli/src/start.ts',
    ...shipped.filter((path) => path.endsWith('/worker.ts')),
    ...generators,
  ]
  // A door is a list for readers and tidy: a mention in it is not a use.
  const lists = new Set([...doors.values()].flat().filter((path) => !starts.includes(path)))
  const seen = new Set<string>()
  const queue = starts.filter((path) => existsSync(join(root, path)))
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    for (const { specifier } of importsOf(path)) {
      if (!specifier.startsWith('.')) continue
      const target = toRelative(join(root, dirname(path), specifier.replace(/\.js$/, '.ts')))
      if (existsSync(join(root, target)) && !lists.has(target)) queue.push(target)
    }
  }
  return shipped.filter((path) => !seen.has(path) && !lists.has(path)).map((path) => `${path} is not reached from any entry`)
}

/** Every generator accepts `--check`: it then writes nothing and fails when one of its files is stale. */
function checkGeneratedFiles(): Complaint[] {
  const complaints: Complaint[] = []
  for (const path of repositoryFiles().filter(isGenerated)) {
    const beginning = read(path).slice(0, 2000)
    if (generators.some((name) => beginning.includes(name))) continue
    complaints.push(`${path} does not name its generator (scripts/generate-*.ts) in its first lines`)
  }
  for (const name of generators) {
    const run = spawnSync(process.execPath, ['--import', 'tsx', name, '--check'], { cwd: root, encoding: 'utf8' })
    if (run.status !== 0) complaints.push(`${name} --check: ${run.stderr.trim()}${run.stdout.trim()}`)
  }
  return complaints
}

function checkEntries(): Complaint[] {
  const complaints: Complaint[] = []
  const config = read('tsconfig.base.json').replace(/^\s*\/\/.*$/gm, '')
  const paths: Record<string, string[]> = JSON.parse(config).compilerOptions.paths
  const wanted = new Map(entries().map((entry) => [entry.name, `./${entry.source}`]))
  for (const [name, source] of wanted) {
    if (paths[name]?.[0] !== source) complaints.push(`tsconfig.base.json: paths lacks "${name}": ["${source}"]`)
    if (!existsSync(join(root, source))) complaints.push(`${name} is exported, but ${source} does not exist`)
  }
  for (const name of Object.keys(paths)) {
    if (!wanted.has(name)) complaints.push(`tsconfig.base.json: paths has ${name}, which no package exports`)
  }
  return complaints
}

/** One version of everything, exact, in a form that a plain `npm pack` can publish. */
function checkVersions(): Complaint[] {
  const complaints: Complaint[] = []
  const chosen = new Map<string, string>()
  const release = readJson(join(root, 'package.json')).version
  for (const file of ['package.json', ...layers.map((name) => `packages/${name}/package.json`)]) {
    const manifest = readJson(join(root, file))
    if (manifest.version !== release) complaints.push(`${file}: version ${manifest.version}, the release is ${release}`)
    for (const [name, version] of Object.entries<string>({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.devDependencies,
    })) {
      // A second version of a package has a different name.
      if (!/^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        complaints.push(`${file}: ${name} is "${version}", not an exact version`)
      const other = chosen.get(name)
      if (other !== undefined && other !== version) complaints.push(`${file}: ${name} ${version}, elsewhere ${other}`)
      if (name.startsWith('@bridle/') && version !== release)
        complaints.push(`${file}: ${name} ${version}, the release is ${release}`)
      chosen.set(name, version)
    }
  }
  return complaints
}

function checkLook(): Complaint[] {
  const complaints: Complaint[] = []
  const code = repositoryFiles().filter(
    (path) => /^(packages|scripts|bench|fuzz|hostile|chaos)\/.*\.(ts|mjs)$/.test(path) && !isGenerated(path),
  )
  for (const path of code) {
    const text = read(path)
    const lines = text.split('\n')
    const first = lines[0]?.startsWith('#!') === true ? lines[1] : lines[0]
    if (!isTestCode(path) && !/^(\/\/|\/\*)/.test(first ?? ''))
      complaints.push(`${path} does not begin with what a newcomer needs`)
    if (!isTestCode(path) && lines.length > maxLines) notes.push(`${path} has ${lines.length} lines; split it`)
    if (!text.endsWith('\n')) complaints.push(`${path} does not end with a newline`)
    lines.forEach((line, index) => {
      if (/oxlint-disable\S* .*linear-patterns(?! -- \S)/.test(line) && path !== 'scripts/tidy.ts')
        complaints.push(`${path}:${index + 1} allows a pattern without a reason (-- why its text is short)`)
      if (/\/\/ ?(TODO|FIXME|XXX)\b/.test(line)) complaints.push(`${path}:${index + 1} leaves something for later`)
    })
  }
  return complaints
}

/** APIs that change their answer once V8 has optimised the caller: only `parseUrl` of @bridle/compiler/grants may parse URLs. */
function checkUrls(): Complaint[] {
  const complaints: Complaint[] = []
  for (const path of repositoryFiles().filter((each) => /\.(?:ts|mjs|js|tsx)$/.test(each) && !isGenerated(each))) {
    withoutComments(read(path))
      .split('\n')
      .forEach((line, index) => {
        if (/\bcanParse\b/.test(line) && path !== 'scripts/tidy.ts')
          complaints.push(`${path}:${index + 1} uses URL.canParse; write parseUrl(text) !== null`)
      })
  }
  return complaints
}

/** Text that ties the repository to one machine or one registry. */
function checkForbiddenText(): Complaint[] {
  const complaints: Complaint[] = []
  const forbidden: [string, RegExp][] = [
    ['the path of this checkout', new RegExp(`${escapeRegExp(root)}(?![\\w-])`)],
    ['a registry address', /\bregistry\.[a-z]+\.(?:org|com|dev|io|net)\b/],
    ['notes outside the repository', /\.\.\/shared\/|\/shared\/(?:reference|design|house-style)/],
  ]
  const texts = repositoryFiles().filter((path) => !/\.(png|wasm|ico|gz|bin|snap\.bin)$/.test(path))
  for (const path of texts) {
    const text = read(path)
    for (const [what, pattern] of forbidden) {
      const match = pattern.exec(text)
      if (match === null || path === 'scripts/tidy.ts') continue
      complaints.push(`${path}:${text.slice(0, match.index).split('\n').length} has ${what}: ${match[0]}`)
    }
  }
  return complaints
}

// --- reading sources ---

const importPattern =
  /^[ \t]*(?:import|export|\})[^'"`\n;]*?\bfrom\s*'([^']+)'|^[ \t]*import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm

/** Imports and re-exports of a file, types included; a pattern is enough, because lint keeps their form uniform. */
function importsOf(path: string): { specifier: string; line: number; typeOnly: boolean }[] {
  const text = withoutComments(read(path))
  return [...text.matchAll(importPattern)].map((match) => ({
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
    line: text.slice(0, match.index).split('\n').length,
    typeOnly: /^\s*(?:import|export) type\b/.test(match[0]),
  }))
}

/** Blanks whole-line comments and doc comments, which quote code; lines keep their numbers. */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/^[ \t]*\/\/.*$/gm, '')
}

const readFiles = new Map<string, string>()

function read(path: string): string {
  if (isGenerated(path)) return readFileSync(join(root, path), 'utf8')
  let text = readFiles.get(path)
  if (text === undefined) {
    text = readFileSync(join(root, path), 'utf8')
    readFiles.set(path, text)
  }
  return text
}

/** Tracked files and new ones that are not ignored; in an unpacked archive, all files except built ones. */
function repositoryFiles(): string[] {
  const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  const paths = git.status === 0 ? git.stdout.split('\0').filter(Boolean) : filesBelow(root).map(toRelative)
  return paths.filter((path) => existsSync(join(root, path)))
}

function isTestCode(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/test-support/')
}

function isGenerated(path: string): boolean {
  return path.includes('.generated.')
}

function isNodeBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function layerOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function toRelative(path: string): string {
  return relative(root, path).split(sep).join('/')
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * The walks of ARCHITECTURE.md: a named file exists, and none occurs twice in a walk. A folder that is left is not entered again; the
 * paths are those of packages without `src`, or of the rooms of stdlib-tools.
 */
function checkWalks(): Complaint[] {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const section = page.split(/^## /m).find((each) => each.startsWith('Three values')) ?? ''
  const walks = section.split('\n\n').filter((part) => part.startsWith('1. '))
  if (walks.length !== 3) return [`ARCHITECTURE.md must have three walks, and has ${walks.length}`]
  return walks.flatMap((walk, at) => complaintsOfWalk(walk, `walk ${at + 1} of ARCHITECTURE.md`))
}

function complaintsOfWalk(walk: string, name: string): Complaint[] {
  const complaints: Complaint[] = []
  const files = [...walk.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => file!)
  const left = new Set<string>()
  let folder = ''
  for (const [index, file] of files.entries()) {
    if (!existsSync(join(root, pathInWalk(file)))) complaints.push(`${name} names ${file}, which does not exist`)
    if (files.indexOf(file) !== index) complaints.push(`${name} names ${file} twice`)
    const next = dirname(file)
    if (next === folder) continue
    if (left.has(next)) complaints.push(`${name} enters ${next} twice`)
    left.add(folder)
    folder = next
  }
  return complaints
}

function pathInWalk(file: string): string {
  const [first = '', ...rest] = file.split('/')
  return [...rooms, ...topRooms].includes(first) ? `packages/stdlib-tools/src/${file}` : `packages/${first}/src/${rest.join('/')}`
}

const checks: Record<string, Check> = {
  'import direction': checkImportDirection,
  rooms: checkRooms,
  doors: checkDoors,
  'rings of imports': checkRings,
  'state of the machine': checkStateOfVm,
  'declared dependencies': checkDeclaredDependencies,
  'browser safety': checkBrowserSafety,
  determinism: checkDeterminism,
  'unused sources': checkUnusedSources,
  'generated files': checkGeneratedFiles,
  'public entries': checkEntries,
  versions: checkVersions,
  look: checkLook,
  'reading URLs': checkUrls,
  'forbidden text': checkForbiddenText,
  walks: checkWalks,
}

let count = 0
for (const [name, check] of Object.entries(checks)) {
  const complaints = await check()
  for (const complaint of complaints) process.stdout.write(`tidy: ${name}: ${complaint}\n`)
  count += complaints.length
}
for (const note of notes) process.stdout.write(`tidy: note: ${note}\n`)
process.stdout.write(count === 0 ? `tidy: ${Object.keys(checks).length} checks, all good\n` : `tidy: ${count} complaints\n`)
process.exitCode = count === 0 ? 0 : 1
