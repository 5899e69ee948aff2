// `project_fingerprint`: what kind of project lies in a directory, from file names and a few manifests.
// project.harn walks and reads; the conclusions at the end follow one order of preference per list.

import { HarnDict, HarnList, lookup, parseJson, sortTexts } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { getBaseName } from '../files/lexical-path.js'
import { readAnswerField, readTextField } from '../files/ask.js'
import { parseTomlText } from '../formats/toml.js'

const RANKS = {
  languages: ['rust', 'typescript', 'python', 'go', 'swift', 'ruby'],
  frameworks: ['axum', 'next', 'react', 'django', 'fastapi', 'rails'],
  managers: ['cargo', 'spm', 'pnpm', 'npm', 'yarn', 'uv', 'poetry', 'pip', 'go-mod', 'bundler'],
  runners: ['nextest', 'cargo-test', 'vitest', 'jest', 'mocha', 'pytest', 'unittest', 'go-test', 'xctest', 'rspec', 'minitest'],
  builds: ['cargo', 'spm', 'next', 'vite', 'uv', 'poetry', 'pnpm', 'npm', 'yarn', 'go', 'bundler', 'pip'],
  ci: ['github-actions', 'gitlab-ci', 'circleci', 'buildkite', 'azure-pipelines', 'bitrise'],
} as const

type Kind = keyof typeof RANKS

const LOCKFILES: Readonly<Record<string, string>> = lookup({
  'Cargo.lock': 'cargo',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'uv.lock': 'uv',
  'poetry.lock': 'poetry',
  'Pipfile.lock': 'pip',
  'requirements.lock': 'pip',
  'go.sum': 'go-mod',
  'Gemfile.lock': 'bundler',
  'Package.resolved': 'spm',
  'bun.lockb': 'npm',
  'bun.lock': 'npm',
})

const EXTENSIONS: Readonly<Record<string, string>> = {
  rs: 'rust',
  ts: 'typescript',
  tsx: 'typescript',
  js: 'typescript',
  jsx: 'typescript',
  mjs: 'typescript',
  cjs: 'typescript',
  py: 'python',
  go: 'go',
  swift: 'swift',
  rb: 'ruby',
}

const CI_FILES: Readonly<Record<string, string>> = lookup({
  '.gitlab-ci.yml': 'gitlab-ci',
  'azure-pipelines.yml': 'azure-pipelines',
  'bitrise.yml': 'bitrise',
  'circle.yml': 'circleci',
})

const TEST_FOLDERS = new Set(['tests', 'test', '__tests__', 'spec', 'e2e', 'cypress'])

/** Commands in package scripts → what they show. A runner also means that there are tests. */
const SCRIPT_HINTS: readonly (readonly [text: string, kind: Kind, name: string])[] = [
  ['next build', 'builds', 'next'],
  ['next dev', 'builds', 'next'],
  ['vite build', 'builds', 'vite'],
  ['vite dev', 'builds', 'vite'],
  ['npx vite', 'builds', 'vite'],
  ['vitest', 'runners', 'vitest'],
  ['jest', 'runners', 'jest'],
  ['mocha', 'runners', 'mocha'],
  ['cargo nextest', 'runners', 'nextest'],
  ['cargo test', 'runners', 'cargo-test'],
  ['pytest', 'runners', 'pytest'],
  ['unittest', 'runners', 'unittest'],
  ['go test', 'runners', 'go-test'],
  ['swift test', 'runners', 'xctest'],
  ['swift build', 'builds', 'spm'],
]

/** What was found so far. */
class Evidence {
  readonly found: Readonly<Record<Kind, Set<string>>> = {
    languages: new Set(),
    frameworks: new Set(),
    managers: new Set(),
    runners: new Set(),
    builds: new Set(),
    ci: new Set(),
  }
  readonly lockfiles: string[] = []
  hasTests = false
  node = false
  vite = false
  /** A Python project that nothing but pip may be installing. */
  needsPip = false
  /** `next` is a dependency, and it is configured: both make it the framework. */
  nextDependency = false
  nextConfig = false
  /** Names of top folders by lower case, for what depends on them at the end. */
  readonly folders = new Set<string>()

  add(kind: Kind, name: string): void {
    this.found[kind].add(name)
  }

  addRunner(name: string): void {
    this.add('runners', name)
    this.hasTests = true
  }

  has(kind: Kind, ...names: readonly string[]): boolean {
    return names.some((name) => this.found[kind].has(name))
  }

  rankFound(kind: Kind): string[] {
    return RANKS[kind].filter((name) => this.found[kind].has(name))
  }
}

/** The entries of one directory by name, from the answer of a walk; none when it could not be read. */
export function listEntries(ctx: Context, answer: Value, isMark: (name: string) => boolean): HarnList {
  const entries = readAnswerField(answer, 'entries')
  if (!(entries instanceof HarnList)) return new HarnList([])
  ctx.charge(entries.length)
  const found = new Map<string, HarnDict>()
  for (const entry of entries.view()) {
    if (readAnswerField(entry, 'depth') !== 1) continue
    const path = readTextField(entry, 'path')
    const name = getBaseName(path)
    const isFolder = readAnswerField(entry, 'isDir') === true
    const isManifest = !isFolder && Object.hasOwn(READERS, name)
    found.set(name, HarnDict.of({ path, name, is_dir: isFolder, is_manifest: isManifest, is_mark: isMark(name) }))
  }
  return new HarnList(sortTexts([...found.keys()]).map((name) => found.get(name)!))
}

function findDict(value: Value | undefined, ...path: readonly string[]): HarnDict {
  let at = value
  for (const name of path) at = at instanceof HarnDict ? at.get(name) : undefined
  return at instanceof HarnDict ? at : new HarnDict()
}

function readManifest(evidence: Evidence, text: string): void {
  const parsed = parseJson(text)
  if (!parsed.ok || !(parsed.value instanceof HarnDict)) return
  const manifest = parsed.value
  evidence.node = true
  const dependencies = new Set<string>()
  for (const table of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
    for (const name of findDict(manifest, table).keys()) dependencies.add(name)
  }
  if (dependencies.has('next')) {
    evidence.nextDependency = true
    evidence.add('builds', 'next')
  }
  if (dependencies.has('react')) {
    evidence.add('frameworks', 'react')
    evidence.add('languages', 'typescript')
  }
  if (dependencies.has('typescript')) evidence.add('languages', 'typescript')
  if (dependencies.has('vite')) {
    evidence.vite = true
    evidence.add('builds', 'vite')
  }
  for (const runner of ['vitest', 'jest', 'mocha']) if (dependencies.has(runner)) evidence.addRunner(runner)
  const manager = manifest.get('packageManager')
  if (typeof manager === 'string') {
    for (const name of ['pnpm', 'yarn', 'npm']) if (manager.startsWith(`${name}@`)) evidence.add('managers', name)
  }
  const commands = [...findDict(manifest, 'scripts').values()].filter((command) => typeof command === 'string')
  for (const [text, kind, name] of SCRIPT_HINTS) {
    if (!commands.some((command) => command.includes(text))) continue
    if (kind === 'runners') evidence.addRunner(name)
    else evidence.add(kind, name)
    if (name === 'vite') evidence.vite = true
  }
}

function searchPython(evidence: Evidence, text: string): void {
  const lower = text.toLowerCase()
  for (const framework of ['fastapi', 'django']) if (lower.includes(framework)) evidence.add('frameworks', framework)
  for (const runner of ['pytest', 'unittest']) if (lower.includes(runner)) evidence.addRunner(runner)
}

function readCargo(evidence: Evidence, text: string): void {
  evidence.add('languages', 'rust')
  evidence.add('managers', 'cargo')
  evidence.add('builds', 'cargo')
  evidence.add('runners', 'cargo-test')
  const manifest = parseTomlOrNil(text)
  const tables = [['dependencies'], ['dev-dependencies'], ['build-dependencies'], ['workspace', 'dependencies']]
  if (tables.some((path) => findDict(manifest, ...path).has('axum'))) evidence.add('frameworks', 'axum')
}

export function parseTomlOrNil(text: string): Value {
  try {
    return parseTomlText(text)
  } catch {
    // Ignore a manifest that does not parse.
    return null
  }
}

function readPyproject(evidence: Evidence, text: string): void {
  evidence.add('languages', 'python')
  searchPython(evidence, text)
  const tools = (['poetry', 'uv'] as const).filter((tool) => text.includes(`[tool.${tool}]`))
  for (const tool of tools) {
    evidence.add('managers', tool)
    evidence.add('builds', tool)
  }
  if (tools.length === 0) evidence.needsPip = true
}

function readGemfile(evidence: Evidence, text: string): void {
  evidence.add('languages', 'ruby')
  evidence.add('managers', 'bundler')
  const gems = Array.from(text.matchAll(/gem\s*(?:\(\s*)?["'](\w*)/g), (match) => match[1]!)
  for (const [name, kind] of [
    ['rails', 'frameworks'],
    ['rspec', 'runners'],
    ['minitest', 'runners'],
  ] as const) {
    if (!gems.some((gem) => gem.startsWith(name))) continue
    if (kind === 'runners') evidence.addRunner(name)
    else evidence.add(kind, name)
  }
}

/** Files that are read, and what their text shows. */
const READERS: Readonly<Record<string, (evidence: Evidence, text: string) => void>> = {
  'Cargo.toml': readCargo,
  'package.json': readManifest,
  'pyproject.toml': readPyproject,
  Gemfile: readGemfile,
  ...Object.fromEntries(
    ['requirements.txt', 'requirements-dev.txt', 'requirements-test.txt', 'setup.py'].map((name) => [
      name,
      (evidence: Evidence, text: string) => {
        evidence.add('languages', 'python')
        evidence.add('builds', 'pip')
        evidence.needsPip = true
        searchPython(evidence, text)
      },
    ]),
  ),
}

function noteFile(evidence: Evidence, name: string, relative: string): void {
  const manager = LOCKFILES[name]
  if (manager !== undefined) {
    evidence.lockfiles.push(relative)
    evidence.add('managers', manager)
  }
  const ci = CI_FILES[name]
  if (ci !== undefined) evidence.add('ci', ci)
  if (/(?:^|\/)\.github\/workflows\//.test(relative)) evidence.add('ci', 'github-actions')
  if (name === 'go.mod') {
    evidence.add('languages', 'go')
    evidence.add('managers', 'go-mod')
    evidence.add('builds', 'go')
    evidence.add('runners', 'go-test')
  }
  if (name === 'Package.swift') {
    evidence.add('languages', 'swift')
    evidence.add('managers', 'spm')
    evidence.add('runners', 'xctest')
  }
  if (/^next\.config\.(?:js|mjs|ts)$/.test(name)) {
    evidence.nextConfig = true
    evidence.add('languages', 'typescript')
    evidence.add('builds', 'next')
  }
  if (/^vite\.config\./.test(name)) {
    evidence.vite = true
    evidence.add('builds', 'vite')
  }
  if (name.startsWith('vitest.config.')) evidence.addRunner('vitest')
  if (name.startsWith('jest.config.')) evidence.addRunner('jest')
  if (name.startsWith('.mocharc')) evidence.addRunner('mocha')
  if (name === 'pytest.ini' || name === 'tox.ini' || name === 'conftest.py') evidence.addRunner('pytest')
  if (name === 'nextest.toml') evidence.add('runners', 'nextest')
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : ''
  const language = Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined
  if (language === undefined) return
  evidence.add('languages', language)
  if (language === 'typescript') evidence.node = true
}

function noteFolder(evidence: Evidence, name: string, relative: string): void {
  const lower = name.toLowerCase()
  evidence.folders.add(lower)
  if (TEST_FOLDERS.has(lower)) evidence.hasTests = true
  if (name === 'crates') evidence.add('languages', 'rust')
  if (name === 'cmd' || name === 'pkg') evidence.add('languages', 'go')
  if (relative === '.github/workflows') evidence.add('ci', 'github-actions')
  if (name === '.circleci') evidence.add('ci', 'circleci')
  if (name === '.buildkite') evidence.add('ci', 'buildkite')
}

/** Notes an entry {name, relative, is_dir, text}. */
function noteEntry(evidence: Evidence, entry: HarnDict): void {
  const name = readTextField(entry, 'name')
  const relative = readTextField(entry, 'relative')
  if (entry.get('is_dir') === true) return noteFolder(evidence, name, relative)
  noteFile(evidence, name, relative)
  const text = entry.get('text')
  if (typeof text === 'string') READERS[name]!(evidence, text)
}

/** What follows from what was found. */
function conclude(evidence: Evidence): void {
  if (evidence.node && !evidence.has('managers', 'npm', 'pnpm', 'yarn')) evidence.add('managers', 'npm')
  if (evidence.nextDependency && evidence.nextConfig) evidence.add('frameworks', 'next')
  if (evidence.needsPip && !evidence.has('managers', 'poetry', 'uv')) evidence.add('managers', 'pip')
  if (evidence.has('languages', 'rust')) {
    evidence.add('builds', 'cargo')
    evidence.add('runners', 'cargo-test')
  }
  if (evidence.has('languages', 'go')) {
    evidence.add('managers', 'go-mod')
    evidence.add('builds', 'go')
    evidence.add('runners', 'go-test')
  }
  if (evidence.has('languages', 'swift')) {
    evidence.add('managers', 'spm')
    evidence.add('builds', 'spm')
    evidence.add('runners', 'xctest')
  }
  if (evidence.has('languages', 'python') && !evidence.has('runners', 'pytest', 'unittest')) evidence.add('runners', 'pytest')
  if (evidence.has('languages', 'ruby')) {
    evidence.add('managers', 'bundler')
    evidence.add('builds', 'bundler')
    if (!evidence.has('runners', 'rspec', 'minitest')) {
      if (evidence.folders.has('spec')) evidence.add('runners', 'rspec')
      else if (evidence.folders.has('test') || evidence.folders.has('tests')) evidence.add('runners', 'minitest')
    }
  }
  if (evidence.vite && evidence.hasTests && evidence.found.runners.size === 0) evidence.add('runners', 'vitest')
  const python = evidence.has('languages', 'python')
  if ((evidence.node || python) && evidence.found.builds.size === 0) {
    const manager = evidence.rankFound('managers')[0]
    if (manager !== undefined) evidence.add('builds', manager)
  }
}

/** The record of a project, without its version control. */
export function describeProject(ctx: Context, entries: readonly HarnDict[]): HarnDict {
  const evidence = new Evidence()
  ctx.charge(entries.length)
  for (const entry of entries) noteEntry(evidence, entry)
  conclude(evidence)
  const languages = evidence.rankFound('languages')
  const ci = evidence.rankFound('ci')
  const findFirst = (kind: Kind): string | null => evidence.rankFound(kind)[0] ?? null
  return HarnDict.of({
    primary_language: languages.length === 0 ? 'unknown' : languages.length === 1 ? languages[0]! : 'mixed',
    languages: new HarnList(languages),
    frameworks: new HarnList(evidence.rankFound('frameworks')),
    package_manager: findFirst('managers'),
    package_managers: new HarnList(evidence.rankFound('managers')),
    test_runner: findFirst('runners'),
    build_tool: findFirst('builds'),
    ci: new HarnList(ci),
    has_tests: evidence.hasTests,
    has_ci: ci.length > 0,
    lockfile_paths: new HarnList(sortTexts(evidence.lockfiles)),
  })
}
