// Key-value records in one JSON file (tagged data, so ints and bytes survive). Read at first use, written whole after each
// change through a temporary file, so that a crash leaves the old or the new state and nothing between.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Plain } from '@bridle/vm'
import { decodePlain, encodePlain } from '../journal-codec.js'
import { osErrorCode } from '../os-errors.js'
import { storeOperation } from '../providers/memory.js'
import type { Provider } from '../providers/provider.js'

export function fileStore(path: string): Provider {
  let records: Map<string, Map<string, Plain>> | null = null
  return {
    kinds: ['store.op'],
    perform(effect) {
      records ??= load(path)
      const { op, namespace, key, value } = effect.args
      const outcome = storeOperation(records, String(op), String(namespace ?? ''), String(key ?? ''), value ?? null)
      if (outcome.ok && (op === 'set' || op === 'delete' || op === 'clear')) save(path, records)
      return outcome
    },
    isReadOnly: (effect) => effect.args['op'] === 'get' || effect.args['op'] === 'list',
  }
}

function load(path: string): Map<string, Map<string, Plain>> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (osErrorCode(cause) === 'ENOENT') return new Map()
    throw cause
  }
  const data = decodePlain(text) as { readonly [namespace: string]: { readonly [key: string]: Plain } }
  return new Map(Object.entries(data).map(([namespace, entries]) => [namespace, new Map(Object.entries(entries))]))
}

function save(path: string, records: ReadonlyMap<string, ReadonlyMap<string, Plain>>): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(
    temporary,
    encodePlain(Object.fromEntries([...records].map(([namespace, entries]) => [namespace, Object.fromEntries(entries)]))),
  )
  renameSync(temporary, path)
}
