// Compiles the parts of Bridle that are written in Harn: the internal modules (packages/stdlib-tools/src/**/*.harn outside std/), which are bodies of
// builtins, to library/harn/modules.generated.ts; the standard modules (src/std/**/*.harn) to std-compiled.generated.ts, and their sources,
// which hosts and editors need where no files exist, to std.generated.ts. None of these files is committed: they follow from sources,
// compiler and opcodes, and `npm run setup` writes them. Deterministic; with `--check` it only compares, and checks the style of all
// modules (library-style.ts). Findings of the checker are always errors.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import {
  compileProgram,
  writeModuleIdentity,
  readInterface,
  loadModules,
  storeModule,
  verify,
  wildcardNames,
  withBuiltins,
  writeModule,
} from '../packages/compiler/src/index.js'
import type {
  CompileOptions,
  CompiledImport,
  ImportedInterface,
  LoadedModule,
  ModuleChunk,
  Resolution,
} from '../packages/compiler/src/index.js'
import { SourceFile, parse } from '../packages/parser/src/index.js'
import type { Span } from '../packages/parser/src/index.js'
import { findUnknownPrimitives } from './library-names.js'
import { findStyleProblems } from './library-style.js'
import { packTable } from './pack-table.js'
import { filesBelow, root } from './workspace.mjs'

const source = join(root, 'packages', 'stdlib-tools', 'src')
const targets = {
  internal: join(source, 'library', 'harn', 'modules.generated.ts'),
  std: join(source, 'std-compiled.generated.ts'),
  sources: join(source, 'std.generated.ts'),
} as const
const isCheck = process.argv.includes('--check')
/** Snapshots name 8 bytes of a module's hash. */
const FINGERPRINT_DIGITS = 16

// The families import the files that are generated here.
if (!isCheck) {
  if (!existsSync(targets.internal)) writeFileSync(targets.internal, internalFile([]))
  if (!existsSync(targets.std)) writeFileSync(targets.std, stdFile([]))
  if (!existsSync(targets.sources)) writeFileSync(targets.sources, sourcesFile([]))
}
const { allFamilies } = await import('../packages/stdlib-tools/src/host/families/all.js')
const { hashHex } = await import('../packages/stdlib-tools/src/host/hash.js')
const { createRegistry, collectSignatures } = await import('../packages/vm/src/families.js')
const { makeModuleKey, parseModuleKey } = await import('../packages/vm/src/library-keys.js')

const sources = filesBelow(source, (path) => path.endsWith('.harn'))
  .map((path) => relative(source, path).replaceAll('\\', '/').slice(0, -'.harn'.length))
  .sort((a, b) => (a < b ? -1 : 1))
const textOf = (name: string): string => readFileSync(join(source, `${name}.harn`), 'utf8').replaceAll('\r\n', '\n')
const isStd = (name: string): boolean => name.startsWith('std/')
const internal = new Map(sources.filter((name) => !isStd(name)).map((name) => [name, textOf(name)]))
const std = new Map(sources.filter(isStd).map((name) => [name, textOf(name)]))

const families = allFamilies()
const signatures = collectSignatures(createRegistry(families))
const primitives = families.flatMap((family) => family.primitives ?? [])
const hidden = new Map(primitives.map((def) => [def.name, def]))
const internalOptions: CompileOptions = {
  resolve: resolveInternal,
  signatures: {
    ...signatures,
    has: (name) => hidden.has(name) || signatures.has(name),
    effects: (name) => signatures.effects(name) ?? (hidden.has(name) ? { tokens: [], calls: 'arguments' } : undefined),
    borrows: (name) => hidden.get(name)?.borrows ?? signatures.borrows(name),
  },
  types: withBuiltins(primitives),
  strictness: 'full',
}
const stdOptions: CompileOptions = { resolve: resolveStd, signatures, strictness: 'full' }

type Row = readonly [name: string, text: string]

const problems: string[] = []
const written = [
  [targets.internal, internalFile([...internal.keys()].flatMap(internalRow))],
  [targets.std, stdFile([...std.keys()].flatMap(stdRow))],
  [targets.sources, sourcesFile([...std].map(([path, text]) => [path.slice('std/'.length), text]))],
] as const
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
for (const [path, text] of written) {
  const isStale = !existsSync(path) || readFileSync(path, 'utf8') !== text
  if (!isStale || problems.length > 0) continue
  if (!isCheck) writeFileSync(path, text)
  else {
    console.error(`${relative(root, path)} is stale: run node --import tsx scripts/generate-library.ts`)
    process.exitCode = 1
  }
}

function fingerprintOf(chunk: ModuleChunk): string {
  return hashHex(new TextEncoder().encode(writeModuleIdentity(chunk))).slice(0, FINGERPRINT_DIGITS)
}

/** The chunk of a module as importers get it; null if it does not compile. */
function chunkOf(path: string, key: string, options: CompileOptions): ModuleChunk | null {
  const chunk = compileProgram({ key: 'entry', text: `import "${path}"\n` }, options).program?.modules.find(
    (each) => each.key === key,
  )
  if (chunk !== undefined) for (const problem of verify(chunk)) problems.push(`${key}: ${problem}`)
  return chunk ?? null
}

function checkStyle(name: string, text: string, resolve: (path: string) => Resolution): readonly string[] {
  return findStyleProblems({
    name,
    file: new SourceFile(`packages/stdlib-tools/src/${name}.harn`, text),
    types: internalOptions.types!,
    imports: (path) => {
      const found = resolve(path)
      const tree = found.kind === 'source' ? parse(new SourceFile(found.key, found.text)).program : null
      return tree === null ? null : readInterface(tree)
    },
  })
}

// ------------------------------------------------------------------------------------------------------- internal modules

function internalRow(name: string): Row[] {
  const key = makeModuleKey(name)
  const file = `packages/stdlib-tools/src/${name}.harn`
  const { diagnostics, file: lines } = compileProgram({ key, text: internal.get(name)! }, internalOptions)
  const place = ({ start }: Span): string => `${file}:${lines.position(start).line}:${lines.position(start).column}`
  for (const { span, code, message } of diagnostics) problems.push(`${place(span)} ${code} ${message}`)
  const { program } = parse(lines)
  const unknown = program === null ? [] : findUnknownPrimitives(program, (each) => hidden.has(each) || signatures.has(each))
  for (const each of unknown) problems.push(`${place(each.span)} there is no primitive \`${each.name}\``)
  const chunk = diagnostics.length > 0 ? null : chunkOf(`/${name}`, key, internalOptions)
  if (chunk === null) {
    if (diagnostics.length === 0) problems.push(`${file} cannot be imported`)
    return []
  }
  for (const problem of misuses(chunk)) problems.push(`${file}: ${problem}`)
  if (isCheck) problems.push(...checkStyle(name, internal.get(name)!, (path) => resolveInternal(path, key)))
  // With positions, traces show the frames of the module, for debugging it. Otherwise they are hidden.
  const isBare = process.env['BRIDLE_LIBRARY_LINES'] !== '1'
  const bare = isBare ? { ...chunk, functions: chunk.functions.map((fn) => ({ ...fn, locals: [], lines: [] })) } : chunk
  return [[name, writeModule(bare, fingerprintOf(bare))]]
}

/** What an internal module must not do although the language allows it. */
function misuses({ functions, moduleSlots, exports }: ModuleChunk): string[] {
  const found: string[] = []
  for (const fn of functions) {
    if (fn.kind === 'main') continue
    // A call by the name of a function of the module is compiled as a call of that function.
    for (const name of new Set([...fn.params, ...fn.locals.map((local) => local.name)]))
      if (moduleSlots.includes(name)) found.push(`${fn.name}: ${name} is the name of a function or constant of the module`)
  }
  if (Object.keys(exports).length === 0) found.push('exports nothing')
  return found
}

/** Internal modules import only each other, by relative paths. */
function resolveInternal(path: string, from: string): Resolution {
  const name = path.startsWith('/') ? path.slice(1) : posix.join(dirname(parseModuleKey(from)), path)
  const found = path.startsWith('.') || path.startsWith('/') ? internal.get(name) : undefined
  return found === undefined
    ? { kind: 'error', message: `Import error: there is no internal module '${path}'` }
    : { kind: 'source', key: makeModuleKey(name), text: found }
}

function internalFile(rows: readonly Row[]): string {
  return `// Generated by scripts/generate-library.ts from src/**/*.harn. Do not edit, do not commit.

import { packedTexts } from './packed.js'

/** The internal modules, compiled, by name. */
export const HARN_MODULES: Pick<ReadonlyMap<string, string>, 'get' | 'keys'> = /* @__PURE__ */ packedTexts(${packed(rows)})
`
}

// ------------------------------------------------------------------------------------------------------- standard modules

function stdRow(path: string): Row[] {
  const entry = loadModules({ key: 'entry', text: `import "${path}"\n` }, resolveStd)
  const order = entry.graph?.order ?? []
  const key = stdKey(path)
  const module = order.find((each) => each.key === key)
  const chunk = chunkOf(path, key, stdOptions)
  if (module === undefined || chunk === null) {
    problems.push(`${path} cannot be imported`)
    return []
  }
  if (isCheck) problems.push(...checkStyle(path, std.get(path)!, resolveStd))
  const { aliases, scoped } = module.grants
  if (aliases.length + scoped.length + module.narrowed.size > 0) problems.push(`${path} declares grants or ceilings`)
  const imports = [...module.imports].flatMap(([from, found]): CompiledImport[] => {
    const unit = found.kind === 'module' ? chunkOf(from, found.key, stdOptions) : null
    if (unit === null) problems.push(`${path} imports ${from}, which cannot be found`)
    return unit === null ? [] : [{ path: from, key: unit.key, fingerprint: fingerprintOf(unit) }]
  })
  const stored = storeModule(
    { chunk, imports, wildcard: wildcardNames(module, chunk), interface: interfaceIn(order, module) },
    fingerprintOf(chunk),
  )
  return [[path.slice('std/'.length), JSON.stringify(stored)]]
}

function interfaceIn(order: readonly LoadedModule[], module: LoadedModule): ImportedInterface {
  return readInterface(module.program, (path) => {
    const found = module.imports.get(path)
    const there = found?.kind === 'module' ? order.find((each) => each.key === found.key) : undefined
    return there === undefined ? null : interfaceIn(order, there)
  })
}

function stdKey(path: string): string {
  return `<stdlib>/${path.slice('std/'.length)}.harn`
}

function resolveStd(path: string): Resolution {
  const found = std.get(path)
  return found === undefined
    ? { kind: 'error', message: `Unknown stdlib module: ${path}` }
    : { kind: 'source', key: stdKey(path), text: found }
}

function stdFile(rows: readonly Row[]): string {
  return `// Generated by scripts/generate-library.ts from src/std/**/*.harn. Do not edit, do not commit.

import type { StoredModule } from '@bridle/compiler/bytecode'
import { packedJson } from './library/harn/packed.js'

/** The standard modules, compiled, by the name behind \`std/\`. */
export const STD_COMPILED: Pick<ReadonlyMap<string, StoredModule>, 'get' | 'keys'> = /* @__PURE__ */ packedJson<StoredModule>(${packed(rows)})
`
}

function sourcesFile(rows: readonly Row[]): string {
  return `// Generated by scripts/generate-library.ts from src/std/**/*.harn. Do not edit, do not commit.

import { packedTexts } from './library/harn/packed.js'

/** Source of each standard module by the name behind \`std/\`. */
export const STD_MODULES: Pick<ReadonlyMap<string, string>, 'get' | 'keys'> = /* @__PURE__ */ packedTexts(${packed(rows)})
`
}

/** As an object literal; neither part has a quote or a line break. */
function packed(rows: readonly Row[]): string {
  const { keys, lengths, data } = packTable(rows)
  return `{\n  keys: '${keys}',\n  lengths: '${lengths}',\n  data: '${data}',\n}`
}
