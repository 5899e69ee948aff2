// The key-value store and checkpoints: two JSON files that are read at their first use in a run, kept
// in the machine, and written whole at each change. Other processes write them too: a change is made to what the file says now, and
// one that came in between makes it read again, so that nobody's keys are lost.

import { HarnDict, HarnList, builtin, display, family, here, scripts } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Script, Value } from '@bridle/vm/families'
import { readRecordFile, updateRecordFile } from './record-files.js'
import type { RecordFile } from './record-files.js'
import { deleteKept, jsonData, stateRoot } from './state-files.js'

type Kind = 'store' | 'checkpoint'

/** By kind; null until read. */
const records = family<Record<Kind, RecordFile | null>>('kept_records', () => ({ store: null, checkpoint: null }))

function* pathOf(kind: Kind): Script<string> {
  const { root, program } = yield* stateRoot()
  return kind === 'store' ? `${root}/store.json` : `${root}/checkpoints/${program}.json`
}

function* load(kind: Kind): Script<RecordFile> {
  const known = yield* here((ctx) => ctx.state(records)[kind])
  if (known !== null) return known
  const file = yield* readRecordFile(yield* pathOf(kind), kind)
  return yield* here((ctx) => (ctx.state(records)[kind] = file))
}

function* change(kind: Kind, edit: (content: HarnDict) => HarnDict): Script<null> {
  const before = yield* load(kind)
  const after = yield* updateRecordFile(yield* pathOf(kind), kind, before, edit)
  return yield* here((ctx) => {
    const all = ctx.state(records)
    // When another task has read or written meanwhile, which of the two came last is known to the file alone.
    all[kind] = all[kind]?.hash === before.hash ? after : null
    return null
  })
}

function without(content: HarnDict, key: string): HarnDict {
  const copy = content.copy()
  copy.delete(key)
  return copy
}

const OPERATIONS: Readonly<Record<string, (kind: Kind, key: string, value: Value) => Script>> = {
  *get(kind, key) {
    return (yield* load(kind)).content.get(key) ?? null
  },
  *exists(kind, key) {
    return (yield* load(kind)).content.has(key)
  },
  *list(kind) {
    return new HarnList([...(yield* load(kind)).content.keys()])
  },
  *set(kind, key, value) {
    return yield* change(kind, (content) => content.with(key, jsonData(value)))
  },
  *delete(kind, key) {
    return yield* change(kind, (content) => without(content, key))
  },
  *save(kind) {
    return yield* change(kind, (content) => content)
  },
  *clear(kind) {
    if (kind === 'store') return yield* change(kind, () => new HarnDict())
    yield* deleteKept(yield* pathOf(kind), kind)
    yield* here((ctx) => (ctx.state(records)[kind] = { content: new HarnDict(), hash: null, damaged: null }))
    return null
  },
}

const machine = scripts('store.script', {
  *run(operation, kind, key, value) {
    return yield* OPERATIONS[operation as string]!(kind as Kind, key as string, value!)
  },
})

const READS = ['fs.query', 'process.info', 'fs.read'] as const
const WRITES = [...READS, 'fs.write'] as const

function define(signature: string, doc: string, kind: Kind, operation: string): BuiltinDef {
  const reads = operation === 'get' || operation === 'exists' || operation === 'list'
  return builtin(signature, { doc, effects: reads ? READS : WRITES }, (ctx: Context, key = null, value = null) =>
    machine.start(ctx, 'run', operation, kind, ctx.argc === 0 ? '' : display(key), value),
  )
}

export const storeFamily: BuiltinFamily = {
  name: 'store',
  frames: [machine.frame],
  builtins: [
    define('store_get(key: string) -> any', 'The stored value, nil when there is none.', 'store', 'get'),
    define('store_set(key: string, value: any) -> nil as ?', 'Stores a value; what is no JSON data becomes nil.', 'store', 'set'),
    define('store_delete(key: string) -> nil as ?', 'Forgets a key.', 'store', 'delete'),
    define('store_list() -> list as ?', 'All keys, sorted.', 'store', 'list'),
    define('store_save() -> nil as ?', 'Writes the store out.', 'store', 'save'),
    define('store_clear() -> nil as ?', 'Forgets everything.', 'store', 'clear'),
    define('checkpoint(key: string, value: any) -> nil as ?', 'Keeps a result of this program under a key.', 'checkpoint', 'set'),
    define('checkpoint_get(key: string) -> any', 'The kept result, nil when there is none.', 'checkpoint', 'get'),
    define(
      'checkpoint_exists(key: string) -> bool as ?',
      'Whether a result is kept, even when it is nil.',
      'checkpoint',
      'exists',
    ),
    define('checkpoint_delete(key: string) -> nil as ?', 'Forgets one result.', 'checkpoint', 'delete'),
    define('checkpoint_list() -> list as ?', 'All keys, sorted.', 'checkpoint', 'list'),
    define('checkpoint_clear() -> nil as ?', 'Forgets all results of this program.', 'checkpoint', 'clear'),
  ],
}
