// Compiles the internal modules (packages/stdlib-tools/src/**/*.harn beside std/), the bodies of builtins that are written in Harn, to
// bytecode in library/harn/modules.generated.ts. The file is not committed: it follows from sources, compiler and opcodes, and
// `npm run setup` writes it. Deterministic; with `--check` it only compares. Every finding of the checker is an error here.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { compileProgram, serialize, withBuiltins } from '../packages/compiler/src/index.js'
import type { CompileOptions, ModuleChunk, Resolution } from '../packages/compiler/src/index.js'
import { filesBelow, root } from './workspace.mjs'

const source = join(root, 'packages', 'stdlib-tools', 'src')
const target = join(source, 'library', 'harn', 'modules.generated.ts')
const isCheck = process.argv.includes('--check')

// The families import the file that is made here.
if (!existsSync(target) && !isCheck) writeFileSync(target, fileText([]))
const { allFamilies } = await import('../packages/stdlib-tools/src/host/families/all.js')
const { createRegistry, signaturesOf } = await import('../packages/vm/src/families.js')
const { keyOfModule, moduleOfKey } = await import('../packages/vm/src/library-keys.js')

const texts = new Map(
  filesBelow(source, (path) => path.endsWith('.harn'))
    .map((path) =>
      relative(source, path)
        .replaceAll('\\', '/')
        .replace(/\.harn$/, ''),
    )
    .filter((name) => !name.startsWith('std/'))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => [name, readFileSync(join(source, `${name}.harn`), 'utf8').replaceAll('\r\n', '\n')]),
)

const families = allFamilies()
const primitives = families.flatMap((family) => family.primitives ?? [])
const hidden = new Map(primitives.map((def) => [def.name, def]))
const signatures = signaturesOf(createRegistry(families))
const options: Omit<CompileOptions, 'resolve'> = {
  signatures: {
    ...signatures,
    has: (name) => hidden.has(name) || signatures.has(name),
    effects: (name) => signatures.effects(name) ?? (hidden.has(name) ? { tokens: [], calls: 'arguments' } : undefined),
    borrows: (name) => hidden.get(name)?.borrows ?? signatures.borrows(name),
  },
  types: withBuiltins(primitives),
}
const problems: string[] = []
const modules = [...texts].map(([name, text]) => [name, compileModule(name, text)] as const)

const text = fileText(modules.flatMap(([name, chunk]) => (chunk === null ? [] : [rowOf(name, chunk)])))
if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  process.exitCode = 1
} else if (!isCheck) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text)
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  console.error(`${relative(root, target)} is stale: run node --import tsx scripts/generate-library.ts`)
  process.exitCode = 1
}

function compileModule(name: string, moduleText: string): ModuleChunk | null {
  const key = keyOfModule(name)
  const file = `packages/stdlib-tools/src/${name}.harn`
  const { diagnostics, file: lines } = compileProgram({ key, text: moduleText }, { ...options, resolve })
  for (const each of diagnostics) {
    const { line, column } = lines.position(each.span.start)
    problems.push(`${file}:${line}:${column} ${each.code} ${each.message}`)
  }
  if (diagnostics.length > 0) return null
  const entry = { key: 'entry', text: `import "/${name}"\n` }
  const chunk = compileProgram(entry, { ...options, resolve }).program?.modules.find((each) => each.key === key)
  if (chunk === undefined) {
    problems.push(`${file} cannot be imported`)
    return null
  }
  for (const problem of problemsOf(chunk)) problems.push(`${file}: ${problem}`)
  // With positions, traces show the frames of the module: for who looks for a mistake in it.
  if (process.env['BRIDLE_LIBRARY_LINES'] === '1') return chunk
  // Else nobody sees them, so that names and positions would be dead weight.
  return { ...chunk, functions: chunk.functions.map((fn) => ({ ...fn, locals: [], lines: [] })) }
}

/** What an internal module may not do although the language allows it. */
function problemsOf({ functions, moduleSlots, exports }: ModuleChunk): string[] {
  const found: string[] = []
  for (const fn of functions) {
    // A call by the name of a function of the module is compiled as a call of that function.
    for (const { name } of fn.kind === 'main' ? [] : fn.locals)
      if (moduleSlots.includes(name)) found.push(`${fn.name}: local ${name} has the name of a function of the module`)
    for (const name of fn.params)
      if (moduleSlots.includes(name)) found.push(`${fn.name}: parameter ${name} has the name of a function of the module`)
  }
  if (Object.keys(exports).length === 0) found.push('exports nothing')
  return found
}

/** Internal modules import each other by relative paths, and nothing else. */
function resolve(path: string, from: string): Resolution {
  const name = path.startsWith('/') ? path.slice(1) : posix.join(dirname(moduleOfKey(from)), path)
  const found = path.startsWith('.') || path.startsWith('/') ? texts.get(name) : undefined
  return found === undefined
    ? { kind: 'error', message: `Import error: there is no internal module '${path}'` }
    : { kind: 'source', key: keyOfModule(name), text: found }
}

function rowOf(name: string, chunk: ModuleChunk): string {
  const bytes = serialize({ main: chunk.key, modules: [chunk] })
  return `  ['${name}', '${Buffer.from(bytes).toString('base64')}'],`
}

function fileText(rows: readonly string[]): string {
  return `// Generated by scripts/generate-library.ts from src/**/*.harn. Do not edit, do not commit.

/** Bytecode of the internal modules as Base64, by name. */
export const HARN_MODULES: ReadonlyMap<string, string> = new Map<string, string>([
${rows.map((row) => `${row}\n`).join('')}])
`
}
