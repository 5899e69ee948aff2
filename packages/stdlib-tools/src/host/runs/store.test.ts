// The stores of runs, each against the contract; and the contract against stores that break it.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
  readFileSync,
  utimesSync,
  appendFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { afterAll, describe, expect, test } from 'vitest'
import { fileRunStore } from '../../node/run-store.js'
import { sqliteStore } from '../../node/sqlite.js'
import { storeConformance } from './conformance.js'
import type { OpenRunStore } from './conformance.js'
import { sqlRunStore } from './sql-store.js'
import type { SqlDatabase } from './sql-store.js'
import { memoryRunStore } from './store.js'
import type { RunStore } from './store.js'

const box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-runs-')))
afterAll(() => rmSync(box, { recursive: true }))
let places = 0
const place = (): string => join(box, String(places++))

/** SQLite itself, compiled to WebAssembly, in the shape that `node:sqlite` and its like have. */
function openWasmDatabase(path: string): SqlDatabase {
  const database = new sqlite.Database(path)
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => ({
      run: (...params) => database.run(sql, params),
      all: (...params) => database.all(sql, params),
    }),
    close: () => database.close(),
  }
}

const STORES: Readonly<Record<string, OpenRunStore>> = {
  memoryRunStore: () => {
    const store = memoryRunStore()
    return () => store
  },
  fileRunStore: () => {
    const folder = place()
    return () => fileRunStore(folder)
  },
  'fileRunStore, flushed': () => {
    const folder = place()
    return () => fileRunStore(folder, { sync: true })
  },
  sqlRunStore: () => {
    const path = `${place()}.db`
    return () => sqlRunStore(openWasmDatabase(path))
  },
}

describe.each(Object.entries(STORES))('%s', (_name, open) => {
  test.each(storeConformance(open))('$name', ({ run }) => run())
})

test('sqliteStore is that of Node, or says what to use instead', async () => {
  const hasSqlite = Number(process.versions.node.split('.')[0]) >= 24
  const open = (): RunStore => sqliteStore(join(box, 'node.db'))
  if (!hasSqlite) {
    expect(open).toThrow(
      /^Node \d+\.\d+\.\d+ has no node:sqlite; give an open database \(better-sqlite3, libsql\), or use fileRunStore$/,
    )
    const store = sqliteStore(openWasmDatabase(`${place()}.db`))
    expect(store.claim('run', { owner: 'a', now: 0, leaseMs: 1 })).toEqual({ runId: 'run', fence: 1 })
    return
  }
  for (const { run } of storeConformance(() => {
    const path = `${place()}.db`
    return () => sqliteStore(path)
  }))
    await run()
})

// The suite must be able to fail: each of these stores has one defect, and is found.
const WRONG: readonly (readonly [what: string, change: (store: RunStore) => Partial<RunStore>])[] = [
  ['leases that nobody respects', (store) => ({ claim: (id, claim) => store.claim(id, { ...claim, now: 1e15 }) })],
  ['leases that never end', (store) => ({ claim: (id, claim) => store.claim(id, { ...claim, leaseMs: 1e15 }) })],
  [
    'an off-by-one at the end of a lease',
    (store) => ({ claim: (id, claim) => store.claim(id, { ...claim, now: claim.now - 1 }) }),
  ],
  ['appends of those who lost the lease', (store) => ({ append: (lease, line) => tolerate(() => store.append(lease, line)) })],
  ['lines that are trimmed', (store) => ({ append: (lease, line) => store.append(lease, line.trim()) })],
  ['lines that come out backwards', (store) => ({ read: (id) => [...store.read(id)].reverse() })],
  [
    'ids without their case',
    (store) => ({ claim: (id, claim) => store.claim(id.toLowerCase(), claim), read: (id) => store.read(id.toLowerCase()) }),
  ],
  ['ends that are forgotten', (store) => ({ release: (lease) => store.release(lease) })],
  ['runs that cannot be removed', () => ({ remove: () => true })],
  ['renewals that do nothing', () => ({ renew: () => true })],
  ['an unsorted list', (store) => ({ list: () => [...store.list()].reverse() })],
]

const tolerate = (work: () => void): void => {
  try {
    work()
  } catch {
    // As a store without fencing would.
  }
}

test.each(WRONG)('the contract notices %s', async (_what, change) => {
  const cases = storeConformance(() => {
    const right = memoryRunStore()
    const wrong = { ...right, ...change(right) }
    return () => wrong
  })
  const failures = await Promise.all(
    cases.map(({ run }) =>
      run().then(
        () => null,
        (cause: unknown) => String(cause),
      ),
    ),
  )
  expect(failures.filter((each) => each !== null)).not.toEqual([])
})

describe('files', () => {
  const claim = { owner: 'a', now: 0, leaseMs: 100 }

  test('an incomplete line after a crash is not read; the next holder continues after it', () => {
    const folder = place()
    const store = fileRunStore(folder)
    const lease = store.claim('run', claim)!
    store.append(lease, 'whole')
    appendFileSync(join(folder, 'run', '1.jsonl'), 'cut o')
    expect(store.read('run')).toEqual(['whole'])
    const next = fileRunStore(folder)
    const taken = next.claim('run', { ...claim, owner: 'b', now: 200 })!
    next.append(taken, 'more')
    expect(next.read('run')).toEqual(['whole', 'more'])
  })

  test('other files in the folder are not runs', () => {
    const folder = place()
    const store = fileRunStore(folder)
    store.claim('100%.x', claim)
    writeFileSync(join(folder, 'notes'), '')
    for (const name of ['100%', '.git', 'a b']) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'lease.json'), '{}')
    }
    expect(store.list().map(({ runId }) => runId)).toEqual(['100%.x'])
  })

  test('what a stale worker still writes after it was asked is not read', () => {
    const folder = place()
    const store = fileRunStore(folder)
    store.append(store.claim('run', claim)!, 'mine')
    const other = fileRunStore(folder)
    other.append(other.claim('run', { ...claim, owner: 'b', now: 200 })!, 'theirs')
    // Between looking at the lease and writing, as it were.
    appendFileSync(join(folder, 'run', '1.jsonl'), 'stale\n')
    expect(other.read('run')).toEqual(['mine', 'theirs'])
  })

  test('an entry is written under the lock of the lease, and refused when the run was taken over meanwhile', () => {
    const folder = place()
    const seen: (readonly string[])[] = []
    let meanwhile = (): void => {}
    const store = fileRunStore(folder, {
      onWrite: () => {
        seen.push(readdirSync(join(folder, 'run')))
        meanwhile()
      },
    })
    const lease = store.claim('run', claim)!
    store.append(lease, 'mine')
    expect(seen).toEqual([expect.arrayContaining(['lock'])])
    const other = fileRunStore(folder)
    // The lock of a worker on another machine that sleeps here is broken after a while.
    meanwhile = () => {
      rmSync(join(folder, 'run', 'lock'))
      other.append(other.claim('run', { ...claim, owner: 'b', now: 200 })!, 'theirs')
    }
    expect(() => store.append(lease, 'stale')).toThrow('another worker has taken over the run run')
    expect(other.read('run')).toEqual(['mine', 'theirs'])
  })

  test('an unsigned lock, left by a process that died while creating it, is broken after a while; folders hold nothing else', () => {
    const folder = place()
    const store = fileRunStore(folder)
    store.claim('run', claim)
    expect(readdirSync(join(folder, 'run'))).toEqual(['lease.json'])
    expect(JSON.parse(readFileSync(join(folder, 'run', 'lease.json'), 'utf8'))).toMatchObject({ owner: 'a', fence: 1 })
    writeFileSync(join(folder, 'run', 'lock'), '')
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(join(folder, 'run', 'lock'), longAgo, longAgo)
    expect(fileRunStore(folder).claim('run', { ...claim, owner: 'b', now: 200 })).toEqual({ runId: 'run', fence: 2 })
    expect(readdirSync(join(folder, 'run'))).toEqual(['lease.json'])
  })
})
