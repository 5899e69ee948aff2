// Names that two imports of a file bring, or that a module exports twice. Only functions are looked at: types may be known under
// one name in several modules.

import type { Declaration, Program } from '@bridle/parser'
import { folderOf, type ModuleFinder } from '../checking/imports.js'
import { isFile } from './assets.js'
import type { Preflight, PreflightModule } from './preflight.js'

type ImportDecl = Extract<Declaration, { kind: 'ImportDecl' }>

export function checkCollisions(root: PreflightModule, finder: ModuleFinder, run: Preflight): void {
  const first = new Map<string, string>()
  for (const decl of importsOf(root.program)) {
    if (decl.path.startsWith('std/')) continue
    const wildcard = decl.names === null
    const names = decl.names?.map((name) => name.text) ?? exportedFunctions(decl.path, root.key, finder, new Set())
    for (const name of [...names].sort()) {
      const before = first.get(name)
      if (before === undefined) first.set(name, resolvedPath(decl.path, root.key))
      else if (before !== resolvedPath(decl.path, root.key)) {
        run.report(root.file, 'H014', decl.span, { name, first: before, second: decl.path, wildcard })
      }
    }
  }
}

/** Where the import leads, as the message shows it: the path as written below the folder of the importing file. */
function resolvedPath(path: string, from: string): string {
  const direct = `${folderOf(from)}/${path}`
  return isFile(direct) ? direct : `${direct}.harn`
}

/** Functions that a wildcard import of the path brings: public ones where there are any, else all; re-exports always. */
function exportedFunctions(path: string, from: string, finder: ModuleFinder, seen: Set<string>): ReadonlySet<string> {
  const module = finder.find(path, from)
  if (module === null || module.program === null || seen.has(module.key)) return new Set()
  seen.add(module.key)
  const own = module.program.items.filter((item) => item.kind === 'FnDecl')
  const anyPublic = own.some((item) => item.isPublic)
  const names = new Set(own.filter((item) => item.isPublic || !anyPublic).map((item) => item.name.text))
  for (const decl of importsOf(module.program)) {
    if (!decl.isPublic) continue
    const reexported = decl.names?.map((name) => name.text) ?? exportedFunctions(decl.path, module.key, finder, seen)
    for (const name of reexported) names.add(name)
  }
  return names
}

/** Names that the file re-exports from two places, or re-exports and declares. */
export function checkReexports(root: PreflightModule, run: Preflight): void {
  const sources = new Map<string, string[]>()
  const places = new Map<string, ImportDecl>()
  for (const item of root.program.items) {
    if (item.kind === 'FnDecl' && item.isPublic) sources.set(item.name.text, ['<local>'])
  }
  for (const decl of importsOf(root.program)) {
    if (!decl.isPublic || decl.names === null) continue
    for (const { text } of decl.names) {
      sources.set(text, [...(sources.get(text) ?? []), decl.path])
      if (!places.has(text)) places.set(text, decl)
    }
  }
  for (const [name, from] of sources) {
    const place = places.get(name)
    if (from.length > 1 && place !== undefined) run.report(root.file, 'H015', place.span, { name, sources: from })
  }
}

function importsOf(program: Program): readonly ImportDecl[] {
  return program.items.filter((item) => item.kind === 'ImportDecl')
}
