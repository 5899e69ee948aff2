// Part of the bundler: modules of strings become data files. The Harn modules are three maps of half a megabyte, of which a run
// reads a few entries; in JavaScript files each map would be read, checked and loaded from V8's code cache as a whole.

import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { entries, root } from './workspace.mjs'

/** By name of their export. Their types have `get` and `keys`, as do the tables that replace them. */
const TABLES = new Map([
  [join(root, 'packages', 'stdlib-tools', 'src', 'library', 'harn', 'modules.generated.ts'), 'HARN_MODULES'],
  [join(root, 'packages', 'stdlib-tools', 'src', 'std-compiled.generated.ts'), 'STD_COMPILED'],
  [join(root, 'packages', 'stdlib-tools', 'src', 'std.generated.ts'), 'STD_MODULES'],
])

/**
 * @param {(name: string, text: string) => void} write a file beside the bundle
 * @returns {import('esbuild').Plugin}
 */
export function dataFiles(write) {
  return {
    name: 'data-files',
    setup(setup) {
      setup.onLoad({ filter: /\.generated\.ts$/ }, async ({ path }) => {
        const name = TABLES.get(path)
        if (name === undefined) return null
        const table = await readTable(path, name)
        const folder = basename(path).split('.')[0]
        for (const key of table.keys()) write(fileOf(folder, key), JSON.stringify(table.get(key)))
        return { contents: tableOfFiles(name, folder, [...table.keys()]), loader: 'js', resolveDir: root }
      })
    },
  }
}

/** @param {string | undefined} folder @param {string} key */
const fileOf = (folder, key) => `${folder}-${key.replaceAll('/', '-')}.json`

/**
 * @param {string} path @param {string} name
 * @returns {Promise<Pick<ReadonlyMap<string, unknown>, 'get' | 'keys'>>}
 */
async function readTable(path, name) {
  const { outputFiles } = await build({
    entryPoints: [path],
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    write: false,
    bundle: true,
    alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
    logLevel: 'warning',
  })
  const module = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.text ?? '').toString('base64')}`)
  return module[name]
}

/** @param {string} name @param {string | undefined} folder @param {readonly string[]} keys */
function tableOfFiles(name, folder, keys) {
  if (new Set(keys.map((key) => fileOf(folder, key))).size !== keys.length)
    throw new Error(`bundle: two keys of ${name} have one file`)
  return `import { readFileSync } from 'node:fs'
import { join } from 'node:path'
const keys = new Set(${JSON.stringify(keys)})
const known = new Map()
export const ${name} = {
  keys: () => keys.keys(),
  get(key) {
    if (!keys.has(key)) return undefined
    let value = known.get(key)
    if (value === undefined)
      known.set(key, (value = JSON.parse(readFileSync(join(__dirname, ${JSON.stringify(`${folder}-`)} + key.replaceAll('/', '-') + '.json'), 'utf8'))))
    return value
  },
}
`
}
