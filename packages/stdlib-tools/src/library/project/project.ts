// Builtins for looking at projects; the functions that scripts import are in std/project.

import { HarnDict, HarnList, builtin, bytesToHex, makeScripts, toUtf8 } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script } from '@bridle/vm/families'
import { sha256 } from '../crypto/hashes.js'
import { scanFingerprint } from './fingerprint.js'
import { encodeCatalog, scanDirectory, scanOptions, scanRoot, scanTree, formatDirectory, visitTree } from './scan.js'
import { readFileFacts } from '../files/state-files.js'
import type { Visit } from './scan.js'

const DEFAULT_DEPTH = 3

function digestToHex(text: string): string {
  return bytesToHex(sha256(toUtf8(text)))
}

/** Hashes over a directory's own visible entries: names and kinds, and names, sizes and times of files. */
function* computeHashes(visit: Visit): Script<{ readonly structure: string; readonly content: string }> {
  const structure: string[] = []
  const content: string[] = []
  for (const entry of visit.entries) {
    if (entry.name.startsWith('.')) continue
    structure.push(`${entry.name}:${entry.isDir ? 'dir' : 'file'}`)
    if (entry.isDir) continue
    const facts = yield* readFileFacts(entry.path)
    if (facts !== null) content.push(`${entry.name}:${facts.size}:${facts.modified}`)
  }
  return { structure: digestToHex(structure.join('|')), content: digestToHex(content.join('|')) }
}

const machine = makeScripts('project.script', {
  *fingerprint(path) {
    return yield* scanFingerprint(path ?? null)
  },
  *scan(path, options) {
    return yield* scanDirectory(yield* scanRoot(path ?? null), scanOptions(options ?? null, DEFAULT_DEPTH))
  },
  *tree(path, options) {
    return yield* scanTree(yield* scanRoot(path ?? null), scanOptions(options ?? null, DEFAULT_DEPTH))
  },
  *walk(path, options) {
    const rows: HarnDict[] = []
    const visits = yield* visitTree(yield* scanRoot(path ?? null), scanOptions(options ?? null, null))
    for (const visit of visits) {
      const hashes = yield* computeHashes(visit)
      rows.push(
        HarnDict.of({
          path: visit.key,
          dir: formatDirectory(path ?? null, visit.key),
          structure_hash: hashes.structure,
          content_hash: hashes.content,
        }),
      )
    }
    return new HarnList(rows)
  },
})

function define(signature: string, doc: string, name: string): BuiltinDef {
  return builtin(signature, { doc, effects: ['fs.query', 'fs.read'] }, (ctx, path = null, options = null) =>
    machine.start(ctx, name, path, options),
  )
}

export const projectFamily: BuiltinFamily = {
  name: 'project',
  frames: [machine.frame],
  builtins: [
    define(
      'project_fingerprint(path?: string) -> {primary_language: string, languages: list<string>, frameworks: list<string>, package_manager: string | nil, package_managers: list<string>, test_runner: string | nil, build_tool: string | nil, vcs: string | nil, ci: list<string>, has_tests: bool, has_ci: bool, lockfile_paths: list<string>}',
      'Languages, tools and tests of the project in a directory.',
      'fingerprint',
    ),
    builtin('project_catalog_native() -> list', { doc: 'The kinds of projects that scans know.' }, () => encodeCatalog()),
    define('project_scan_native(path?: string, options?: dict) -> dict', 'What kind of project lies in one directory.', 'scan'),
    define(
      'project_scan_tree_native(path?: string, options?: dict) -> dict',
      'Scans of a directory and the projects below it.',
      'tree',
    ),
    define(
      'project_walk_tree_native(path?: string, options?: dict) -> list',
      'All directories that a scan visits, with hashes.',
      'walk',
    ),
  ],
}
