// Part of the bundler: the file `core.js`, which is all that a plain run of a compiled script loads, and how the other files use it.
//
// The core is what `packages/cli/src/begin.ts` reaches, in one flat scope: interpreter, values, builtins of the core, driver. Two kinds
// of import end it: those of the modules in LAZY_MODULES, which become stand-ins that load a part on first use, and `import()`.
// Both make an entry of the second stage, which is split into chunks as usual. There every module of the core is replaced by
// the core's exports (`parts`), so that each class exists once.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { entries, root } from './workspace.mjs'

/** Loaded by the core on first use: functions and classes only, none of which is used while a module is evaluated. */
export const LAZY_MODULES = [
  'packages/cli/src/commands/run-options.ts',
  'packages/cli/src/confinement.ts',
  'packages/cli/src/fault-report.ts',
  'packages/cli/src/grant-flags.ts',
  'packages/cli/src/host-parts.ts',
  'packages/cli/src/show-diagnostics.ts',
  'packages/compiler/src/bytecode/flow.ts',
  'packages/compiler/src/grants/constraints.ts',
  'packages/compiler/src/grants/domain.ts',
  'packages/stdlib-tools/src/host/families/mcp.ts',
  'packages/stdlib-tools/src/tools/executors/index.ts',
  'packages/stdlib-tools/src/host/front-end.ts',
  'packages/stdlib-tools/src/host/hash.ts',
  'packages/stdlib-tools/src/host/journal-trace.ts',
  'packages/stdlib-tools/src/host/journal.ts',
  'packages/stdlib-tools/src/host/modules.ts',
  'packages/stdlib-tools/src/node/hash.ts',
  'packages/stdlib-tools/src/node/manifest.ts',
  'packages/stdlib-tools/src/node/resolver.ts',
  'packages/stdlib-tools/src/node/skills.ts',
  'packages/stdlib-tools/src/tools/policy/approval-options.ts',
  'packages/stdlib-tools/src/tools/policy/host-approval.ts',
  'packages/stdlib-tools/src/tools/policy/host-constraints.ts',
  'packages/stdlib-tools/src/host/recordings.ts',
  'packages/stdlib-tools/src/host/replay.ts',
  'packages/stdlib-tools/src/host/run-services.ts',
  'packages/stdlib-tools/src/host/runs/keeper.ts',
  'packages/stdlib-tools/src/host/durable/pieces.ts',
  'packages/stdlib-tools/src/host/snapshot.ts',
  'packages/stdlib-tools/src/tools/host-tools/define.ts',
  'packages/stdlib-tools/src/tools/host-tools/harn-types.ts',
  'packages/stdlib-tools/src/host/trace/recorder.ts',
  'packages/stdlib-tools/src/host/families/agents.ts',
  'packages/stdlib-tools/src/host/families/common.ts',
  'packages/parser/src/diagnostics/render.ts',
  'packages/stdlib-tools/src/host/link-check.ts',
  'packages/stdlib-tools/src/tools/dispatch/nested-calls.ts',
  'packages/stdlib-tools/src/tools/host-tools/declarations.ts',
  'packages/stdlib-tools/src/tools/host-tools/schema.ts',
  'packages/stdlib-tools/src/host/level-guard.ts',
  'packages/stdlib-tools/src/tools/definitions/arguments.ts',
  'packages/vm/src/builtins/families-json.ts',
  'packages/stdlib-tools/src/tools/policy/grants.ts',
  'packages/stdlib-tools/src/agents/models/mock.ts',
  'packages/stdlib-tools/src/library/logging/logging.ts',
  'packages/stdlib-tools/src/library/processes/process.ts',
  'packages/vm/src/compiled/compile.ts',
  'packages/vm/src/interpreter/heap.ts',
  'packages/vm/src/snapshot/snapshot.ts',
  'packages/compiler/src/grants/wildcards.ts',
  'packages/stdlib-tools/src/host/journal-codec.ts',
  'packages/stdlib-tools/src/host/run-authority.ts',
  'packages/stdlib-tools/src/library/crypto/hashes.ts',
  'packages/stdlib-tools/src/library/effects/uses.ts',
  'packages/stdlib-tools/src/host/trace/redact.ts',
  'packages/stdlib-tools/src/node/sandbox.ts',
  'packages/stdlib-tools/src/tools/dispatch/cache.ts',
  'packages/stdlib-tools/src/tools/dispatch/identity.ts',
  'packages/stdlib-tools/src/tools/host-tools/edge.ts',
  'packages/stdlib-tools/src/tools/policy/host-grants.ts',
  'packages/stdlib-tools/src/tools/policy/tool-policy.ts',
  'packages/cli/src/printable.ts',
].map((path) => join(root, path))

const NAMESPACE = 'core-lazy'

/** @param {string} path of a source */
export function partFile(path) {
  const [, owner = '', name = ''] = /packages[\\/]([\w-]+)[\\/]src[\\/](.*)\.ts$/.exec(path) ?? []
  return `part-${owner}-${name.replaceAll(/[\\/]/g, '-')}.js`
}

/** @type {ReadonlyMap<string, string>} */
const sourceOfEntry = new Map(entries().map((entry) => [entry.name, join(root, entry.source)]))

/**
 * The source file of an import of our own code, null for anything else.
 * @param {string} specifier @param {string} folder
 */
function sourceOf(specifier, folder) {
  if (specifier.startsWith('.')) return resolve(folder, specifier.replace(/\.js$/, '.ts'))
  return sourceOfEntry.get(specifier) ?? null
}

/**
 * @param {Omit<import('esbuild').BuildOptions, 'outdir' | 'entryPoints'>} options of the whole bundle
 * @param {string} entry source whose exports the starter uses
 */
export async function buildCore(options, entry) {
  /** @type {Set<string>} */
  const parts = new Set()
  /** @type {Map<string, readonly string[]>} */
  const known = new Map()
  /** @type {(path: string) => Promise<readonly string[]>} */
  const exportsOf = async (path) => {
    const before = known.get(path)
    if (before !== undefined) return before
    if (/^export (?:let|\* from)/m.test(readFileSync(path, 'utf8')))
      throw new Error(`bundle: ${path} is part of the core and has exports that cannot be handed on`)
    const { metafile } = await build({ entryPoints: [path], format: 'esm', write: false, metafile: true, outdir: root })
    const names = Object.values(metafile.outputs)[0]?.exports ?? []
    known.set(path, names)
    return names
  }
  /** @type {import('esbuild').Plugin} */
  const lazily = {
    name: NAMESPACE,
    setup(setup) {
      setup.onResolve({ filter: /^\.\/part-/, namespace: NAMESPACE }, ({ path }) => ({ path, external: true }))
      setup.onResolve({ filter: /^(\.|@bridle\/)/ }, ({ path, kind, resolveDir, namespace }) => {
        if (namespace === NAMESPACE) return null
        const source = sourceOf(path, resolveDir)
        if (source === null) return null
        if (kind === 'dynamic-import') {
          parts.add(source)
          return { path: `./${partFile(source)}`, external: true }
        }
        return kind === 'import-statement' && LAZY_MODULES.includes(source)
          ? { path: source, namespace: NAMESPACE, sideEffects: false }
          : null
      })
      setup.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        parts.add(path)
        const lines = ["import { lazy } from 'lazy:runtime'", `const load = () => require('./${partFile(path)}')`]
        for (const name of await exportsOf(path))
          lines.push(`const ${name}_ = /* @__PURE__ */ lazy(() => load().${name})`, `export { ${name}_ as ${name} }`)
        return { contents: lines.join('\n'), resolveDir: dirname(path) }
      })
    },
  }
  const coreOptions = {
    ...options,
    metafile: /** @type {const} */ (true),
    write: /** @type {const} */ (false),
    plugins: [lazily, ...(options.plugins ?? [])],
  }
  /** @type {readonly string[]} */
  let members = []
  for (;;) {
    parts.clear()
    const lines = [`export { begin } from ${JSON.stringify(entry)}`]
    /** @type {string[]} */
    const handed = []
    for (const [at, path] of members.entries()) {
      const names = await exportsOf(path)
      lines.push(`import * as m${at} from ${JSON.stringify(path)}`)
      handed.push(`() => ({ ${names.map((name) => `${name}: m${at}.${name}`).join(', ')} })`)
    }
    lines.push(`export const parts = [${handed.join(',\n')}]`)
    const result = await build({
      ...coreOptions,
      stdin: { contents: lines.join('\n'), resolveDir: root, sourcefile: 'core.js', loader: 'js' },
      outfile: join(root, 'core.js'),
    })
    const reached = membersOf(result.metafile)
    if (!reached.every((path) => members.includes(path))) {
      members = [...new Set([...members, ...reached])].sort((a, b) => (a < b ? -1 : 1))
      continue
    }
    const unused = LAZY_MODULES.filter((path) => !parts.has(path))
    if (unused.length > 0) throw new Error(`bundle: LAZY_MODULES names what the core does not import: ${unused.join(', ')}`)
    return { result, parts: [...parts].sort(), members, exportsOf }
  }
}

/** Our sources in a bundle. @param {import('esbuild').Metafile} metafile */
function membersOf(metafile) {
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && /^packages\/[\w-]+\/src\//.test(path))
    .map(([path]) => join(root, path))
}

/**
 * In the second stage: members of the core are replaced by its exports.
 * @param {readonly string[]} members @param {(path: string) => Promise<readonly string[]>} exportsOf
 * @returns {import('esbuild').Plugin}
 */
export function fromCore(members, exportsOf) {
  return {
    name: 'from-core',
    setup(setup) {
      setup.onResolve({ filter: /^bridle:core$/ }, () => ({ path: './core.js', external: true }))
      setup.onLoad({ filter: /[\\/]packages[\\/].*\.ts$/ }, async ({ path }) => {
        const at = members.indexOf(path)
        if (at < 0) return null
        const names = await exportsOf(path)
        if (names.length === 0) return { contents: 'export {}' }
        return {
          contents: `import { parts } from 'bridle:core'\nconst part = /* @__PURE__ */ parts[${at}]()\n${names
            .map((name) => `export const ${name} = part.${name}`)
            .join('\n')}`,
        }
      })
    },
  }
}
