// Key-value records in one JSON file (tagged data, so ints and bytes survive), for several processes: the file is read again when another
// one wrote it, changed under a lock, and replaced whole, so that a crash leaves the old or the new state and nothing between.

import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { decodePlain, encodePlain } from '../host/journal-codec.js'
import { readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import { storeOperation } from '../host/providers/memory.js'
import { provider, runtimeError } from '../tools/executors/provider.js'
import type { Provider } from '../tools/executors/provider.js'
import { withFileLock } from './file-lock.js'
import { makeFolders, writeWholeFile } from './whole-file.js'

type Records = Map<string, Map<string, Plain>>

const CHANGES: ReadonlySet<unknown> = new Set(['set', 'delete', 'clear'])

export function fileStore(path: string): Provider {
  let known: { readonly records: Records; readonly version: string } | null = null
  const loadCurrent = (): Records => {
    const version = readVersion(path)
    if (known?.version !== version) known = { records: load(path), version }
    return known.records
  }
  return provider({
    kinds: ['store.op'],
    perform(effect) {
      const { args } = effect
      const runOperation = (): EffectOutcome => {
        const outcome = storeOperation(loadCurrent(), args)
        if (outcome.ok && CHANGES.has(args.op)) {
          const { records } = known!
          // Only what is on the disk is known.
          known = null
          save(path, records)
          known = { records, version: readVersion(path) }
        }
        return outcome
      }
      try {
        if (!CHANGES.has(args.op)) return runOperation()
        makeFolders(dirname(path))
        return withFileLock(`${path}.lock`, runOperation)
      } catch (cause) {
        return runtimeError(`store.op: ${path}: ${describeOsError(cause)}`)
      }
    },
    isReadOnly: (effect) => effect.args.op === 'get' || effect.args.op === 'list',
  })
}

/** Differs whenever the file was replaced; empty for none. */
function readVersion(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`
}

function load(path: string): Records {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (readOsErrorCode(cause) === 'ENOENT') return new Map()
    throw cause
  }
  const data = decodePlain(text) as { readonly [namespace: string]: { readonly [key: string]: Plain } }
  return new Map(Object.entries(data).map(([namespace, entries]) => [namespace, new Map(Object.entries(entries))]))
}

function save(path: string, records: Records): void {
  const spaces = [...records].map(([namespace, entries]) => [namespace, Object.fromEntries(entries)])
  writeWholeFile(path, encodePlain(Object.fromEntries(spaces)), { alone: true })
}
