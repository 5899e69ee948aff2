// Facts about directories, and scans of them; metadata.harn is what they do.

import { builtin, display, harnBuiltin, hashFnv1a, toUtf8 } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'

function define(signature: string, doc: string, more: readonly string[] = []): BuiltinDef {
  const called = signature.slice(0, signature.indexOf('('))
  return harnBuiltin(
    signature,
    { doc, effects: ['fs.query', 'fs.read', 'process.info', ...more] },
    { module: 'library/files/metadata', function: called },
  )
}

export const metadataFamily: BuiltinFamily = {
  name: 'metadata',
  modules: findHarnModule,
  primitives: [
    definePrimitive('__fnv_hex(text: string) -> string', 'FNV-1a of a text in 64 bits, hexadecimal.', (ctx, text) => {
      const whole = display(text!)
      ctx.charge(whole.length >> 4)
      return BigInt.asUintN(64, hashFnv1a(toUtf8(whole))).toString(16)
    }),
  ],
  builtins: [
    define('metadata_set(dir: string, namespace: string, data: dict) -> nil', 'Merges fields into what is known of a directory.'),
    define(
      'metadata_get(dir: string, namespace?: string) -> dict | nil as dict',
      'Fields of a directory with what it inherits; all namespaces in one dict when none is named.',
    ),
    define(
      'metadata_resolve(dir: string, namespace?: string) -> dict | nil as dict',
      'Fields of a directory with what it inherits; by namespace when none is named.',
    ),
    define('metadata_entries(namespace?: string) -> list', 'All directories with their own and their inherited fields.'),
    define('metadata_stale(project?: string) -> dict as ?', 'Directories that changed since their hashes were taken.'),
    define('metadata_status(namespace?: string) -> dict', 'Counts, missing hashes and stale directories.'),
    define('metadata_refresh_hashes() -> nil', 'Takes the structure hash of every directory anew.'),
    define('metadata_save() -> nil', 'Writes all namespaces out.', ['fs.write']),
    builtin(
      'invalidate_facts(dir?: string) -> nil',
      { doc: 'Kept for scripts that call it; facts are not cached beyond their hashes.' },
      () => null,
    ),
    define('compute_content_hash(dir: string) -> string', 'Hash of names, sizes and times of the entries of a directory.'),
    define(
      'scan_directory(dir?: string, pattern_or_options?: string | dict, options?: dict) -> list as ?',
      'Files and folders below a directory.',
    ),
  ],
}
