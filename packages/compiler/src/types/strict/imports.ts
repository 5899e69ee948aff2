// Imports of a file: missing modules, names that a module does not export, and types, which cannot be imported by name.

import type { Span } from '@bridle/parser'
import { type Candidate, suggestName } from './suggest.js'
import { replaceWord, type StrictWorld } from './world.js'

/** Reports imports without a target. */
export function checkImports(world: StrictWorld): void {
  const { program, imports, report, budget, standardModules, root } = world
  const { tools } = root
  for (const item of program.items) {
    if (item.kind !== 'ImportDecl' || item.pathSpan.end === 0) continue
    const source = imports(item.path)
    if (source === null) {
      if (item.path.startsWith('std/')) reportModule(world, item.path, item.pathSpan, standardModules)
      // If all tools of a host are known, so are its modules.
      else if (item.path.startsWith('host/') && tools?.types.isComplete === true)
        reportModule(world, item.path, item.pathSpan, tools.types.modules)
      continue
    }
    for (const name of item.names ?? []) {
      const declared = source.types.get(name.text)
      if (declared?.kind === 'StructDecl' || declared?.kind === 'EnumDecl') {
        const what = declared.kind === 'StructDecl' ? 'struct' : 'enum'
        report('N051', name.span, { name: name.text, path: item.path, what })
      }
      if (source.declared.has(name.text)) continue
      const candidates = [...source.exports].map((each): Candidate => ({ name: each, distance: 0 }))
      const suggestion = suggestName(name.text, candidates, budget)
      report('N049', name.span, { name: name.text, path: item.path, suggestion }, replaceWord(name.span, suggestion))
    }
  }
}

/** `modules`: the names after `std/` or `host/`. */
function reportModule(world: StrictWorld, path: string, span: Span, modules: Iterable<string>): void {
  const { budget, report, file } = world
  const family = path.slice(0, path.indexOf('/') + 1)
  const candidates = [...modules].map((name): Candidate => ({ name, distance: 0 }))
  const name = suggestName(path.slice(family.length), candidates, budget)
  const suggestion = name === null ? null : `${family}${name}`
  const isQuoted = file.text[span.start] === '"'
  report('N048', span, { path, suggestion }, replaceWord(span, suggestion === null || !isQuoted ? suggestion : `"${suggestion}"`))
}
