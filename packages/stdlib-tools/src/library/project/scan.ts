// Scans of directories for `std/project`: which catalogue entries a directory fits, how surely, and on
// request what its manifests declare. A directory's own files decide; sources below it only strengthen the evidence.

import { HarnDict, HarnFloat, HarnList, display, runHere, isInt, isTruthy, parseJson, sortTexts } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { ignoreRules } from './ignore.js'
import { readEntries, projectDirectory, parseTomlOrNil, findVcs } from './fingerprint.js'
import type { Entry } from './fingerprint.js'
import { normalizePath, makeRelativePath } from '../files/lexical-path.js'
import { readText } from '../files/state-files.js'

interface CatalogEntry {
  readonly id: string
  readonly languages: readonly string[]
  readonly frameworks: readonly string[]
  readonly builds: readonly string[]
  readonly anchors: readonly string[]
  readonly score: number
  readonly lockfiles: readonly string[]
  readonly globs: readonly string[]
  readonly sources: (path: string) => boolean
  readonly build: string | null
  readonly test: string
}

const NODE_LOCKFILES = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lockb']

const CATALOG: readonly CatalogEntry[] = [
  {
    id: 'rust',
    languages: ['rust'],
    frameworks: [],
    builds: ['cargo'],
    anchors: ['Cargo.toml'],
    score: 0.5,
    lockfiles: ['Cargo.lock'],
    globs: ['*.rs', 'src/**/*.rs', 'crates/**/*.rs', 'tests/**/*.rs'],
    sources: (path) => path.endsWith('.rs'),
    build: 'cargo build',
    test: 'cargo test',
  },
  {
    id: 'go',
    languages: ['go'],
    frameworks: [],
    builds: ['go'],
    anchors: ['go.mod'],
    score: 0.5,
    lockfiles: ['go.sum'],
    globs: ['*.go', 'cmd/**/*.go', 'internal/**/*.go', 'pkg/**/*.go'],
    sources: (path) => path.endsWith('.go'),
    build: 'go build ./...',
    test: 'go test ./...',
  },
  {
    id: 'python',
    languages: ['python'],
    frameworks: [],
    builds: ['python'],
    anchors: ['pyproject.toml', 'setup.py', 'requirements.txt'],
    score: 0.5,
    lockfiles: ['uv.lock', 'poetry.lock', 'Pipfile.lock', 'requirements.lock'],
    globs: ['*.py', 'src/**/*.py', 'tests/**/*.py'],
    sources: (path) => path.endsWith('.py'),
    build: null,
    test: 'pytest',
  },
  {
    id: 'typescript',
    languages: ['typescript'],
    frameworks: [],
    builds: ['npm'],
    anchors: ['tsconfig.json', 'package.json'],
    score: 0.2,
    lockfiles: NODE_LOCKFILES,
    globs: ['*.ts', '*.tsx', 'src/**/*.ts', 'src/**/*.tsx', 'tests/**/*.ts'],
    sources: (path) => /\.tsx?$/.test(path),
    build: 'npm run build',
    test: 'npm test',
  },
  {
    id: 'javascript',
    languages: ['javascript'],
    frameworks: [],
    builds: ['npm'],
    anchors: ['package.json'],
    score: 0.1,
    lockfiles: NODE_LOCKFILES,
    globs: ['*.js', '*.jsx', '*.mjs', '*.cjs', 'src/**/*.js', 'src/**/*.jsx'],
    sources: (path) => /\.(?:jsx?|mjs|cjs)$/.test(path),
    build: 'npm run build',
    test: 'npm test',
  },
  {
    id: 'nextjs',
    languages: ['javascript', 'typescript'],
    frameworks: ['nextjs'],
    builds: ['npm'],
    anchors: ['next.config.js', 'next.config.mjs', 'next.config.ts'],
    score: 0.7,
    lockfiles: [],
    globs: ['pages/**/*.tsx', 'app/**/*.tsx', 'pages/**/*.js', 'app/**/*.js'],
    sources: (path) => /(?:^|\/)(?:pages|app)\//.test(path) && /\.(?:tsx|js)$/.test(path),
    build: 'npm run build',
    test: 'npm test',
  },
  {
    id: 'ruby',
    languages: ['ruby'],
    frameworks: [],
    builds: ['bundler'],
    anchors: ['Gemfile'],
    score: 0.5,
    lockfiles: ['Gemfile.lock'],
    globs: ['*.rb', 'app/**/*.rb', 'lib/**/*.rb', 'spec/**/*.rb'],
    sources: (path) => path.endsWith('.rb'),
    build: null,
    test: 'bundle exec rspec',
  },
]

const VENDOR = new Set(['.git', '.hg', '.svn', '.venv', '__pycache__', 'build', 'dist', 'node_modules', 'target', 'venv'])
const ROOT_MARKS = new Set([...CATALOG.flatMap((entry) => [...entry.anchors, ...entry.lockfiles]), '.git', 'harn.toml'])
const SURE = 0.5

export function encodeCatalog(): HarnList {
  return new HarnList(
    CATALOG.map((entry) =>
      HarnDict.of({
        id: entry.id,
        languages: new HarnList([...entry.languages]),
        frameworks: new HarnList([...entry.frameworks]),
        build_systems: new HarnList([...entry.builds]),
        anchors: new HarnList([...entry.anchors]),
        lockfiles: new HarnList([...entry.lockfiles]),
        source_globs: new HarnList([...entry.globs]),
        default_build_cmd: entry.build,
        default_test_cmd: entry.test,
      }),
    ),
  )
}

export interface ScanOptions {
  readonly config: boolean
  /** Levels of directories to visit; null is no limit. */
  readonly depth: number | null
  readonly hidden: boolean
  readonly vendor: boolean
  readonly gitignore: boolean
}

export function scanOptions(given: Value, defaultDepth: number | null): ScanOptions {
  const options = given instanceof HarnDict ? given : new HarnDict()
  const tiers = options.get('tiers') ?? null
  const depth = options.get('depth') ?? null
  const readFlag = (name: string, fallback: boolean): boolean => (options.has(name) ? isTruthy(options.get(name)!) : fallback)
  return {
    config: tiers instanceof HarnList && tiers.view().includes('config'),
    depth: isInt(depth) ? Math.max(0, Number(depth)) : defaultDepth,
    hidden: readFlag('include_hidden', false),
    vendor: readFlag('include_vendor', false),
    gitignore: readFlag('respect_gitignore', true),
  }
}

function isVisited(entry: Entry, options: ScanOptions): boolean {
  return (
    entry.isDir &&
    (options.hidden || !entry.name.startsWith('.') || VENDOR.has(entry.name)) &&
    (options.vendor || !VENDOR.has(entry.name))
  )
}

/** Relative paths of the files below a directory, without nested projects. */
function* listSources(folder: string, entries: readonly Entry[], options: ScanOptions): Script<string[]> {
  const files: string[] = []
  const pending: { readonly entries: readonly Entry[]; readonly depth: number }[] = [{ entries, depth: 0 }]
  const limit = (options.depth ?? 3) + 2
  while (pending.length > 0) {
    const level = pending.pop()!
    for (const entry of level.entries) {
      if (!entry.isDir) files.push(makeRelativePath(entry.path, folder) ?? entry.name)
      else if (level.depth < limit && isVisited(entry, options)) {
        const below = yield* readEntries(entry.path)
        if (!below.some((each) => ROOT_MARKS.has(each.name))) pending.push({ entries: below, depth: level.depth + 1 })
      }
    }
  }
  return files
}

interface Fit {
  readonly entry: CatalogEntry
  readonly score: number
}

function measureFit(entry: CatalogEntry, names: ReadonlySet<string>, sources: readonly string[]): Fit | null {
  const anchored = entry.anchors.some((name) => names.has(name))
  const locked = entry.lockfiles.some((name) => names.has(name))
  if (!anchored && !locked) return null
  const hasSources = sources.some(entry.sources)
  const base = anchored ? entry.score : 0
  if (locked) return { entry, score: hasSources ? 1 : Math.min(1, Number((base + 0.45).toFixed(2))) }
  return { entry, score: hasSources ? Math.max(SURE, base) : base }
}

/** The scan record of one directory. */
export function* scanDirectory(folder: string, options: ScanOptions): Script<HarnDict> {
  const entries = yield* readEntries(folder)
  const names = new Set(entries.map((entry) => entry.name))
  const sources = yield* listSources(folder, entries, options)
  const fits = CATALOG.map((entry) => measureFit(entry, names, sources)).filter((each) => each !== null)
  const scores = new Map<string, number>()
  for (const { entry, score } of fits) {
    for (const label of [...entry.languages, ...entry.frameworks]) scores.set(label, Math.max(scores.get(label) ?? 0, score))
  }
  const sure = fits.filter((each) => each.score >= SURE)
  const rankLabels = (pick: (entry: CatalogEntry) => readonly string[]): HarnList => {
    const labels = sortTexts([...new Set(CATALOG.flatMap(pick))]).filter((label) => (scores.get(label) ?? 0) >= SURE)
    return new HarnList(labels.sort((a, b) => scores.get(b)! - scores.get(a)!))
  }
  const listPresent = (pick: (entry: CatalogEntry) => readonly string[]): HarnList =>
    new HarnList(sortTexts([...new Set(CATALOG.flatMap(pick))]).filter((name) => names.has(name)))
  const commands = sure.flatMap(({ entry }) => [...(entry.build === null ? [] : [entry.build]), entry.test])
  const config = options.config ? yield* readConfig(folder, names) : NO_CONFIG
  return HarnDict.of({
    path: folder,
    languages: rankLabels((entry) => entry.languages),
    frameworks: rankLabels((entry) => entry.frameworks),
    build_systems: new HarnList(sortTexts([...new Set(sure.flatMap(({ entry }) => entry.builds))])),
    vcs: yield* findVcs(folder),
    lockfiles: listPresent((entry) => entry.lockfiles),
    anchors: listPresent((entry) => entry.anchors),
    confidence: HarnDict.of(Object.fromEntries([...scores].map(([label, score]) => [label, new HarnFloat(score)]))),
    package_name: config.packageName,
    build_commands: new HarnList([...new Set([...commands, ...config.commands])]),
    declared_scripts: config.scripts,
    readme_code_fences: new HarnList([...config.fences]),
    dockerfile_commands: new HarnList([...config.docker]),
    makefile_targets: new HarnList([...config.targets]),
  })
}

// ------------------------------------------------------------------------------------------------------------ config tier

interface Config {
  readonly packageName: string | null
  readonly commands: readonly string[]
  readonly scripts: HarnDict
  readonly fences: readonly string[]
  readonly docker: readonly string[]
  readonly targets: readonly string[]
}

const NO_CONFIG: Config = { packageName: null, commands: [], scripts: new HarnDict(), fences: [], docker: [], targets: [] }

function findText(value: Value, ...path: readonly string[]): string | null {
  let at: Value = value
  for (const name of path) at = at instanceof HarnDict ? (at.get(name) ?? null) : null
  return typeof at === 'string' && at !== '' ? at : null
}

function* readConfig(folder: string, names: ReadonlySet<string>): Script<Config> {
  const texts = new Map<string, string>()
  const readme = [...names].find((name) => /^readme(?:\.\w+)?$/i.test(name)) ?? ''
  for (const name of ['pyproject.toml', 'package.json', 'go.mod', 'Cargo.toml', 'Dockerfile', 'Makefile', readme]) {
    if (names.has(name)) texts.set(name, (yield* readText(`${folder}/${name}`)) ?? '')
  }
  yield* runHere((ctx) => ctx.charge([...texts.values()].reduce((sum, text) => sum + (text.length >> 6), 0)))
  const getText = (name: string): string => texts.get(name) ?? ''
  const manifest = parseJson(getText('package.json'))
  const node = manifest.ok ? manifest.value : null
  const python = parseTomlOrNil(getText('pyproject.toml'))
  const goModule = /^module\s+(\S+)/m.exec(getText('go.mod'))?.[1]?.split('/').at(-1) ?? null
  const packageName =
    findText(python, 'project', 'name') ??
    findText(python, 'tool', 'poetry', 'name') ??
    findText(node, 'name') ??
    goModule ??
    findText(parseTomlOrNil(getText('Cargo.toml')), 'package', 'name')
  const declared = node instanceof HarnDict ? node.get('scripts') : null
  const scripts = new HarnDict()
  if (declared instanceof HarnDict)
    for (const [name, command] of declared.entries()) if (typeof command === 'string') scripts.set(name, command)
  const targets = [...getText('Makefile').matchAll(/^([A-Za-z0-9_][\w.-]*)\s*:(?!=)/gm)].map((match) => match[1]!)
  return {
    packageName,
    commands: [
      ...['build', 'test', 'lint', 'dev', 'start']
        .filter((name) => scripts.has(name))
        .map((name) => (name === 'test' ? 'npm test' : `npm run ${name}`)),
      ...['build', 'test'].filter((name) => targets.includes(name)).map((name) => `make ${name}`),
    ],
    scripts,
    fences: listFences(getText(readme)),
    docker: getText('Dockerfile')
      .split('\n')
      .flatMap((line) => /^(?:RUN|CMD|ENTRYPOINT)\s+(\S.*)$/i.exec(line.trim())?.[1] ?? []),
    targets: [...new Set(targets)],
  }
}

/** Languages of fenced blocks, where they name one. */
function listFences(text: string): string[] {
  const languages: string[] = []
  let open = false
  for (const line of text.split('\n')) {
    const fence = /^\s*```(.*)$/.exec(line)
    if (fence === null) continue
    open = !open
    const language = fence[1]!.trim()
    if (open && language !== '') languages.push(language)
  }
  return languages
}

// -------------------------------------------------------------------------------------------------------------------- trees

export interface Visit {
  readonly folder: string
  /** Relative to the root, `.` for the root. */
  readonly key: string
  readonly entries: readonly Entry[]
}

/** The root and the directories below it that a scan visits, parents first. */
export function* visitTree(root: string, options: ScanOptions): Script<Visit[]> {
  const ignore = options.gitignore ? ignoreRules((yield* readText(`${root}/.gitignore`)) ?? '') : (): boolean => false
  const visits: Visit[] = []
  const visit = function* (folder: string, key: string, depth: number): Script<null> {
    const entries = yield* readEntries(folder)
    visits.push({ folder, key, entries })
    if (options.depth !== null && depth >= options.depth) return null
    for (const entry of entries) {
      const path = key === '.' ? entry.name : `${key}/${entry.name}`
      if (isVisited(entry, options) && !ignore(path)) yield* visit(entry.path, path, depth + 1)
    }
    return null
  }
  yield* visit(root, '.', 0)
  return visits
}

export function* scanTree(root: string, options: ScanOptions): Script<HarnDict> {
  const result = new HarnDict()
  const visits = yield* visitTree(root, options)
  for (const { folder, key, entries } of visits) {
    if (key === '.' || entries.some((entry) => ROOT_MARKS.has(entry.name))) result.set(key, yield* scanDirectory(folder, options))
  }
  return result
}

export function* scanRoot(path: Value): Script<string> {
  return yield* projectDirectory(path, 'project.scan')
}

/** What a script calls a directory of a tree: its path as it was given, and what lies below. */
export function formatDirectory(given: Value, key: string): string {
  const start = given === null ? '.' : display(given)
  const joined = normalizePath(key === '.' ? start : `${start}/${key}`)
  return joined === '' ? '.' : joined
}
