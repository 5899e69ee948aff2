// Part of the bundler: imports that slow start-up and that most runs never use become stand-ins, which load the real
// module on first use. Our sources keep plain imports; none may use such an import while a module is evaluated, otherwise
// everything is loaded at once again (scripts/bundle.mjs checks how much a plain run loads).
//
// A stand-in is a proxy over a function, so it can be called, constructed, read and used with `instanceof`. Exports that are
// neither object nor function are copied as they are.

import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

const NAMESPACE = 'lazy'

const RUNTIME = `
export function lazy(load) {
  let value
  const real = () => (value ??= load())
  const standIn = new Proxy(function () {}, {
    get: (_, key) => { const of = real(); return Reflect.get(of, key, of) },
    set: (_, key, to) => Reflect.set(real(), key, to),
    has: (_, key) => Reflect.has(real(), key),
    apply: (_, self, args) => Reflect.apply(real(), self, args),
    construct: (_, args, target) => Reflect.construct(real(), args, target === standIn ? real() : target),
  })
  return standIn
}
`

/** @param {string} specifier */
export function vendorFile(specifier) {
  return `vendor-${specifier
    .replace(/^@/, '')
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/\.js$/, '')}.js`
}

/**
 * @param {object} options
 * @param {readonly string[]} options.packages specifiers of libraries; each becomes a separate file
 * @param {readonly string[]} options.external specifiers that are loaded as they are: of Node itself, and unbundled packages
 * @param {(importer: string) => boolean} options.applies whether the imports of a file are replaced
 * @param {(specifier: string, resolved: string) => void} options.found called with each imported library and its path
 * @returns {import('esbuild').Plugin}
 */
export function lazyModules({ packages, external, applies, found }) {
  return {
    name: 'lazy-modules',
    setup(build) {
      build.onResolve({ filter: /^lazy:runtime$/ }, () => ({ path: 'runtime', namespace: NAMESPACE }))
      build.onResolve({ filter: /^\.\/vendor-/, namespace: NAMESPACE }, ({ path }) => ({ path, external: true }))
      build.onResolve({ filter: /^[@a-z]/ }, async ({ path, importer, kind, namespace, resolveDir, pluginData }) => {
        if (namespace === NAMESPACE) return { path, external: true }
        if (pluginData === NAMESPACE || (kind !== 'import-statement' && kind !== 'require-call') || !applies(importer))
          return null
        if (external.includes(path))
          return { path, namespace: NAMESPACE, sideEffects: false, pluginData: { resolved: null, resolveDir } }
        if (!packages.includes(path)) return null
        const { path: resolved, errors } = await build.resolve(path, {
          kind: 'import-statement',
          resolveDir,
          pluginData: NAMESPACE,
        })
        if (errors.length > 0) return { errors }
        found(path, resolved)
        return { path, namespace: NAMESPACE, sideEffects: false, pluginData: { resolved, resolveDir } }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path, pluginData }) => {
        if (path === 'runtime') return { contents: RUNTIME }
        const { resolved, resolveDir } = pluginData
        const names =
          resolved === null
            ? require(path.startsWith('node:') ? path : createRequire(`${resolveDir}/x`).resolve(path))
            : await import(pathToFileURL(resolved).href)
        return {
          contents: standIns(names, resolved === null ? path : `./${vendorFile(path)}`),
          resolveDir: dirname(resolved ?? resolveDir),
        }
      })
    },
  }
}

/** @param {Record<string, unknown>} exported @param {string} specifier */
function standIns(exported, specifier) {
  const lines = ["import { lazy } from 'lazy:runtime'", `const load = () => require(${JSON.stringify(specifier)})`]
  for (const [name, value] of Object.entries(exported)) {
    if (name === 'default' || !/^[A-Za-z_$][\w$]*$/.test(name)) continue
    if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
      lines.push(`const ${name}_ = /* @__PURE__ */ lazy(() => load()[${JSON.stringify(name)}])`)
    } else lines.push(`const ${name}_ = ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)}`)
    lines.push(`export { ${name}_ as ${name} }`)
  }
  lines.push('export default /* @__PURE__ */ lazy(() => { const all = load(); return all.__esModule ? all.default : all })')
  return lines.join('\n')
}
