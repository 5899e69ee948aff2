// The key-value store and checkpoints; store.harn is what they do.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { statePrimitives } from './state-primitives.js'

const READS = ['fs.query', 'process.info', 'fs.read'] as const
const WRITES = [...READS, 'fs.write'] as const

function define(signature: string, doc: string, effects: typeof READS | typeof WRITES, name?: string): BuiltinDef {
  const called = name ?? signature.slice(0, signature.indexOf('('))
  return harnBuiltin(signature, { doc, effects }, { module: 'library/files/store', function: called })
}

export const storeFamily: BuiltinFamily = {
  name: 'store',
  modules: findHarnModule,
  primitives: statePrimitives,
  builtins: [
    define('store_get(key: string) -> any', 'The stored value, nil when there is none.', READS),
    define('store_set(key: string, value: any) -> nil as ?', 'Stores a value; what is no JSON data becomes nil.', WRITES),
    define('store_delete(key: string) -> nil as ?', 'Forgets a key.', WRITES),
    define('store_list() -> list as ?', 'All keys, sorted.', READS),
    define('store_save() -> nil as ?', 'Writes the store out.', WRITES),
    define('store_clear() -> nil as ?', 'Forgets everything.', WRITES),
    define(
      'checkpoint(key: string, value: any) -> nil as ?',
      'Keeps a result of this program under a key.',
      WRITES,
      'checkpoint_set',
    ),
    define('checkpoint_get(key: string) -> any', 'The kept result, nil when there is none.', READS),
    define('checkpoint_exists(key: string) -> bool as ?', 'Whether a result is kept, even when it is nil.', READS),
    define('checkpoint_delete(key: string) -> nil as ?', 'Forgets one result.', WRITES),
    define('checkpoint_list() -> list as ?', 'All keys, sorted.', READS),
    define('checkpoint_clear() -> nil as ?', 'Forgets all results of this program.', WRITES),
  ],
}
