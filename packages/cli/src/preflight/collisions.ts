// Names that two imports of a file declare, or that a module exports twice. For imports, only functions are checked: types may have
// the same name in several modules. For exports, everything that the module exports.

import { resolve as resolvePath } from 'node:path'
import { readInterface } from '@bridle/compiler'
import type { Declaration, Program } from '@bridle/parser'
import { findFolder, type ModuleFinder } from '../checking/imports.js'
import { isFile } from './assets.js'
import type { Preflight, PreflightModule } from './preflight.js'

type ImportDecl = Extract<Declaration, { kind: 'ImportDecl' }>

export function checkCollisions(root: PreflightModule, finder: ModuleFinder, run: Preflight): void {
  const first = new Map<string, string>()
  for (const decl of listImports(root.program)) {
    if (decl.path.startsWith('std/')) continue
    const wildcard = decl.names === null
    const names = decl.names?.map((name) => name.text) ?? listExportedFunctions(decl.path, root.key, finder, new Set())
    for (const name of [...names].sort()) {
      const before = first.get(name)
      if (before === undefined) first.set(name, resolveImportPath(decl.path, root.key))
      else if (before !== resolveImportPath(decl.path, root.key)) {
        run.report(root.file, 'H014', decl.span, { name, first: before, second: decl.path, wildcard })
      }
    }
  }
}

/** The target of the import in a message: the path as written below the folder of the importing file. */
function resolveImportPath(path: string, from: string): string {
  const direct = `${findFolder(from)}/${path}`
  return isFile(direct) ? direct : `${direct}.harn`
}

/** Functions that a wildcard import of the path declares: the public ones if there are any, otherwise all; re-exports always. */
function listExportedFunctions(path: string, from: string, finder: ModuleFinder, seen: Set<string>): ReadonlySet<string> {
  const module = finder.find(path, from)
  if (module === null || module.program === null || seen.has(module.key)) return new Set()
  seen.add(module.key)
  const own = module.program.items.filter((item) => item.kind === 'FnDecl')
  const anyPublic = own.some((item) => item.isPublic)
  const names = new Set(own.filter((item) => item.isPublic || !anyPublic).map((item) => item.name.text))
  for (const decl of listImports(module.program)) {
    if (!decl.isPublic) continue
    const reexported = decl.names?.map((name) => name.text) ?? listExportedFunctions(decl.path, module.key, finder, seen)
    for (const name of reexported) names.add(name)
  }
  return names
}

/**
 * Names that the file re-exports from two modules, or re-exports and declares. A module counts once, whatever paths lead to it.
 * The finding is at the import that lists the name, otherwise at the first item of the file.
 */
export function checkReexports(root: PreflightModule, finder: ModuleFinder, run: Preflight): void {
  const [firstItem] = root.program.items
  const reexports = listImports(root.program).filter((decl) => decl.isPublic)
  if (firstItem === undefined || reexports.length === 0) return
  const sources = new Map<string, Set<string>>()
  const add = (name: string, source: string): void => {
    const known = sources.get(name)
    if (known === undefined) sources.set(name, new Set([source]))
    else known.add(source)
  }
  const own = root.program.items.filter((item) => item.kind !== 'ImportDecl')
  for (const name of readInterface({ ...root.program, items: own }).exports) add(name, formatModule(root.key))
  const imports = finder.makeImportLookup(root.key)
  const places = new Map<string, ImportDecl>()
  for (const decl of reexports) {
    const module = finder.find(decl.path, root.key)
    if (module === null) continue
    const source = formatModule(module.key)
    for (const name of decl.names?.map(({ text }) => text) ?? imports(decl.path)?.exports ?? []) {
      add(name, source)
      if (decl.names !== null && !places.has(name)) places.set(name, decl)
    }
  }
  for (const [name, from] of [...sources].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (from.size < 2) continue
    run.report(root.file, 'H015', (places.get(name) ?? firstItem).span, { name, sources: [...from].sort() })
  }
}

/** A module as the message names it: the absolute path of its file, or `<std>/NAME`. */
function formatModule(key: string): string {
  return key.startsWith('<stdlib>/') ? `<std>/${key.slice('<stdlib>/'.length).replace(/\.harn$/, '')}` : resolvePath(key)
}

function listImports(program: Program): readonly ImportDecl[] {
  return program.items.filter((item) => item.kind === 'ImportDecl')
}
