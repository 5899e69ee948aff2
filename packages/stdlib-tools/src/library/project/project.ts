// Builtins for looking at projects; project.harn is what they do. The functions that scripts import are in std/project.

import { HarnDict, HarnList, builtin, display, harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'
import { describeProject, listEntries } from './fingerprint.js'
import { ignoreRules } from './ignore.js'
import { describeDirectory, encodeCatalog, isRootMark, listConfigFiles } from './scan.js'

const readTexts = (value: Value | undefined): readonly string[] => (value instanceof HarnList ? value.view().map(display) : [])

/** What project.harn asks. */
const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__folder_entries(answer: any) -> list<dict>',
    'The entries of a directory by name: {path, name, is_dir, is_manifest, is_mark}.',
    (ctx, answer) => listEntries(ctx, answer ?? null, isRootMark),
  ),
  definePrimitive(
    '__project_fingerprint(evidence: list<dict>) -> dict',
    'What kind of project has these entries and manifests.',
    (ctx, evidence) => describeProject(ctx, (evidence as HarnList).view() as readonly HarnDict[]),
  ),
  definePrimitive(
    '__config_files(names: list<string>) -> list<string>',
    'The files of a directory that declare how it is built.',
    (_ctx, names) => new HarnList([...listConfigFiles(readTexts(names))]),
  ),
  definePrimitive(
    '__project_scan(names: list<string>, sources: list<string>, config: dict?) -> dict',
    'Which entries of the catalogue a directory fits, by its entries and the files below it; with what its manifests declare.',
    (ctx, names, sources, config) =>
      describeDirectory(ctx, readTexts(names), readTexts(sources), config instanceof HarnDict ? config : null),
  ),
  definePrimitive(
    '__is_ignored(rules: string, path: string) -> bool',
    'Whether the rules of a .gitignore leave a folder out.',
    (ctx, rules, path) => {
      ctx.charge((rules as string).length >> 4)
      return ignoreRules(rules as string)(path as string)
    },
  ),
]

function define(signature: string, doc: string): BuiltinDef {
  const called = signature.slice(0, signature.indexOf('('))
  return harnBuiltin(
    signature,
    { doc, effects: ['fs.query', 'fs.read'] },
    { module: 'library/project/project', function: called },
  )
}

export const projectFamily: BuiltinFamily = {
  name: 'project',
  modules: findHarnModule,
  primitives,
  builtins: [
    define(
      'project_fingerprint(path?: string) -> {primary_language: string, languages: list<string>, frameworks: list<string>, package_manager: string | nil, package_managers: list<string>, test_runner: string | nil, build_tool: string | nil, vcs: string | nil, ci: list<string>, has_tests: bool, has_ci: bool, lockfile_paths: list<string>}',
      'Languages, tools and tests of the project in a directory.',
    ),
    builtin('project_catalog_native() -> list', { doc: 'The kinds of projects that scans know.' }, () => encodeCatalog()),
    define('project_scan_native(path?: string, options?: dict) -> dict', 'What kind of project lies in one directory.'),
    define('project_scan_tree_native(path?: string, options?: dict) -> dict', 'Scans of a directory and the projects below it.'),
    define('project_walk_tree_native(path?: string, options?: dict) -> list', 'All directories that a scan visits, with hashes.'),
  ],
}
