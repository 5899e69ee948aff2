// Scans of directories for `std/project`: which catalogue entries a directory fits, how surely, and on
// request what its manifests declare. A directory's own files decide; sources below it only strengthen the evidence.

import { HarnDict, HarnFloat, HarnList, display, parseJson, sortTexts } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { parseTomlOrNil } from './fingerprint.js'

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

/** Whether an entry of that name shows that a project begins in its directory. */
export function isRootMark(name: string): boolean {
  return ROOT_MARKS.has(name)
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

/**
 * The scan record of one directory, without its path and version control. `texts`: the texts of its config files, when they are to be
 * looked at.
 */
export function describeDirectory(
  ctx: Context,
  listed: readonly string[],
  sources: readonly string[],
  texts: HarnDict | null,
): HarnDict {
  ctx.charge(listed.length + sources.length)
  const names = new Set(listed)
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
  const config = texts === null ? NO_CONFIG : readConfig(ctx, texts)
  return HarnDict.of({
    languages: rankLabels((entry) => entry.languages),
    frameworks: rankLabels((entry) => entry.frameworks),
    build_systems: new HarnList(sortTexts([...new Set(sure.flatMap(({ entry }) => entry.builds))])),
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

const CONFIG_FILES = ['pyproject.toml', 'package.json', 'go.mod', 'Cargo.toml', 'Dockerfile', 'Makefile']

const isReadme = (name: string): boolean => /^readme(?:\.\w+)?$/i.test(name)

/** The files of a directory that declare how it is built, in the order in which they are read. */
export function listConfigFiles(names: readonly string[]): readonly string[] {
  return [...CONFIG_FILES.filter((name) => names.includes(name)), ...names.filter(isReadme).slice(0, 1)]
}

function readConfig(ctx: Context, texts: HarnDict): Config {
  ctx.charge([...texts.values()].reduce<number>((sum, text) => sum + (display(text).length >> 6), 0))
  const getText = (name: string): string => display(texts.get(name) ?? '')
  const readme = texts.keys().find(isReadme) ?? ''
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
