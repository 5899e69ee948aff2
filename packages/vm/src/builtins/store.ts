// The key-value store and checkpoints (reference 03b §4.1–4.2): two JSON files that are read at their first use in a run, kept
// in the machine, and written whole at each change.

import { builtin, family } from './builtin.js'
import type { BuiltinDef, Context } from './builtin.js'
import { here, scripts } from './scripted.js'
import type { Script } from './scripted.js'
import { deletePath, jsonData, prettyJson, readJson, replaceFile, stateRoot } from './state-files.js'
import type { BuiltinFamily } from './registry.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import type { Value } from '../values/value.js'

type Kind = 'store' | 'checkpoint'

/** Contents by kind; null until read. The dicts are never changed in place. */
const records = family<Record<Kind, HarnDict | null>>('store', () => ({ store: null, checkpoint: null }))

function* pathOf(kind: Kind): Script<string> {
  const { root, program } = yield* stateRoot()
  return kind === 'store' ? `${root}/store.json` : `${root}/checkpoints/${program}.json`
}

function* load(kind: Kind): Script<HarnDict> {
  const known = yield* here((ctx) => ctx.state(records)[kind])
  if (known !== null) return known
  const stored = yield* readJson(yield* pathOf(kind))
  const content = stored instanceof HarnDict ? stored : new HarnDict()
  // Another task may have read, and written, meanwhile: then its content is the newer one.
  return yield* here((ctx) => (ctx.state(records)[kind] ??= content))
}

function* save(kind: Kind): Script<null> {
  const content = yield* here((ctx) => {
    const current = ctx.state(records)[kind] ?? new HarnDict()
    ctx.charge(current.size)
    return current
  })
  return yield* replaceFile(yield* pathOf(kind), prettyJson(content), kind)
}

function* change(kind: Kind, edit: (content: HarnDict) => HarnDict): Script<null> {
  yield* load(kind)
  yield* here((ctx) => {
    const all = ctx.state(records)
    all[kind] = edit(all[kind] ?? new HarnDict())
    return null
  })
  return yield* save(kind)
}

function without(content: HarnDict, key: string): HarnDict {
  const copy = content.copy()
  copy.delete(key)
  return copy
}

const OPERATIONS: Readonly<Record<string, (kind: Kind, key: string, value: Value) => Script>> = {
  *get(kind, key) {
    return (yield* load(kind)).get(key) ?? null
  },
  *exists(kind, key) {
    return (yield* load(kind)).has(key)
  },
  *list(kind) {
    return new HarnList([...(yield* load(kind)).keys()])
  },
  *set(kind, key, value) {
    return yield* change(kind, (content) => content.with(key, jsonData(value)))
  },
  *delete(kind, key) {
    return yield* change(kind, (content) => without(content, key))
  },
  *save(kind) {
    yield* load(kind)
    return yield* save(kind)
  },
  *clear(kind) {
    if (kind === 'store') return yield* change(kind, () => new HarnDict())
    yield* here((ctx) => {
      ctx.state(records)[kind] = new HarnDict()
      return null
    })
    yield* deletePath(yield* pathOf(kind))
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
    define('store_set(key: string, value: any) -> nil', 'Stores a value; what is no JSON data becomes nil.', 'store', 'set'),
    define('store_delete(key: string) -> nil', 'Forgets a key.', 'store', 'delete'),
    define('store_list() -> list', 'All keys, sorted.', 'store', 'list'),
    define('store_save() -> nil', 'Writes the store out.', 'store', 'save'),
    define('store_clear() -> nil', 'Forgets everything.', 'store', 'clear'),
    define('checkpoint(key: string, value: any) -> nil', 'Keeps a result of this program under a key.', 'checkpoint', 'set'),
    define('checkpoint_get(key: string) -> any', 'The kept result, nil when there is none.', 'checkpoint', 'get'),
    define('checkpoint_exists(key: string) -> bool', 'Whether a result is kept, even when it is nil.', 'checkpoint', 'exists'),
    define('checkpoint_delete(key: string) -> nil', 'Forgets one result.', 'checkpoint', 'delete'),
    define('checkpoint_list() -> list', 'All keys, sorted.', 'checkpoint', 'list'),
    define('checkpoint_clear() -> nil', 'Forgets all results of this program.', 'checkpoint', 'clear'),
  ],
}
