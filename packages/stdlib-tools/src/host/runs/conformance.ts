// The contract of RunStore as cases that any test runner can run: `for (const { name, run } of storeConformance(open)) test(name, run)`.
// `open` gives a store on one and the same place each time it is called within a case, as another process would open it, and a new place
// for the next case; a store that only lives in memory gives the same object. A case that fails throws an Error that says what it saw.

import { isToolError } from '../../tools/host-tools/errors.js'
import type { Claim, Lease, RunStore } from './store.js'

/** Called once for each case: a function that opens the store of that case. */
export type OpenRunStore = () => (() => RunStore) | Promise<() => RunStore>

export interface StoreCase {
  readonly name: string
  /** Throws when the store does something else than the contract says. */
  readonly run: () => Promise<void>
}

const ADA: Claim = { owner: 'ada', now: 1000, leaseMs: 100 }
const BO: Claim = { owner: 'bo', now: 1050, leaseMs: 100 }

/** Text that stores have been known to change. */
const LINES = [
  '{"a":1}',
  '',
  ' blanks ',
  'naïve 茶 🍵 \u2028',
  '\\"quoted\\"',
  "'; DROP TABLE runs; --",
  '\\u0000 written out',
  'x'.repeat(300_000),
]

const RUN_IDS = ['run', 'run/../other', '..', 'Run', 'a.b', 'run%2E', '茶', "o'clock"]

type Check = (what: string, seen: unknown, wanted: unknown) => void

const CASES: readonly (readonly [name: string, work: (open: () => RunStore, check: Check) => void])[] = [
  [
    'a run that nobody knows',
    (open, check) => {
      const store = open()
      check('its journal', store.read('none'), [])
      check('the list', store.list(), [])
      check('removing it', store.remove('none'), false)
    },
  ],
  [
    'what was appended is read as it was, in order, by others too',
    (open, check) => {
      const store = open()
      const lease = claimOrThrow(store, 'run', ADA)
      for (const line of LINES) store.append(lease, line)
      check('the journal', store.read('run'), LINES)
      check('the journal elsewhere', open().read('run'), LINES)
    },
  ],
  [
    'runs do not meet, whatever they are called',
    (open, check) => {
      const store = open()
      for (const runId of RUN_IDS) store.append(claimOrThrow(store, runId, ADA), `of ${runId}`)
      for (const runId of RUN_IDS) check(`the journal of ${runId}`, open().read(runId), [`of ${runId}`])
      check(
        'the list',
        open()
          .list()
          .map(({ runId }) => runId),
        [...RUN_IDS].sort((a, b) => (a < b ? -1 : 1)),
      )
    },
  ],
  [
    'a lease keeps others away until it ends, to the millisecond',
    (open, check) => {
      const [store, other] = [open(), open()]
      const lease = claimOrThrow(store, 'run', ADA)
      check('the number of the first holder', lease.fence, 1)
      check('a claim while it lasts', other.claim('run', BO), null)
      check('a claim in its last millisecond', other.claim('run', { ...BO, now: 1099 }), null)
      check('what is known of it', other.list(), [{ runId: 'run', owner: 'ada', expiresAt: 1100, ended: null }])
      check('a claim when it has ended', other.claim('run', { ...BO, now: 1100 })?.fence, 2)
      check('what is known of it then', store.list(), [{ runId: 'run', owner: 'bo', expiresAt: 1200, ended: null }])
    },
  ],
  [
    'a lease that is renewed lasts longer',
    (open, check) => {
      const store = open()
      const lease = claimOrThrow(store, 'run', ADA)
      check('renewing', store.renew(lease, 1090, 100), true)
      check('a claim after its first end', open().claim('run', { ...BO, now: 1150 }), null)
      check('a claim after its second', open().claim('run', { ...BO, now: 1190 })?.fence, 2)
    },
  ],
  [
    'who lost a lease can do nothing any more',
    (open, check) => {
      const [store, other] = [open(), open()]
      const lost = claimOrThrow(store, 'run', ADA)
      store.append(lost, 'first')
      const now = claimOrThrow(other, 'run', { ...BO, now: 2000 })
      other.append(now, 'second')
      expectRefusal(() => store.append(lost, 'stale'))
      check('renewing', store.renew(lost, 2000, 1e6), false)
      store.release(lost, 'done')
      check('the journal', open().read('run'), ['first', 'second'])
      check('who has it', open().list(), [{ runId: 'run', owner: 'bo', expiresAt: 2100, ended: null }])
      other.append(now, 'third')
      check('the journal', store.read('run'), ['first', 'second', 'third'])
    },
  ],
  [
    'the holder itself may claim again, and the older lease is lost',
    (open, check) => {
      const store = open()
      const first = claimOrThrow(store, 'run', ADA)
      const second = claimOrThrow(open(), 'run', { ...ADA, now: 1010 })
      check('the number', second.fence, 2)
      expectRefusal(() => store.append(first, 'stale'))
    },
  ],
  [
    'a run that was given back can be taken at once; one that ended cannot',
    (open, check) => {
      const store = open()
      const lease = claimOrThrow(store, 'run', ADA)
      store.append(lease, 'entry')
      store.release(lease)
      expectRefusal(() => store.append(lease, 'stale'))
      check('what is known of it', open().list(), [{ runId: 'run', owner: null, expiresAt: 0, ended: null }])
      const again = claimOrThrow(open(), 'run', BO)
      const third = open()
      third.release(again, 'failed')
      check('a claim much later', open().claim('run', { ...ADA, now: 1e12 }), null)
      check('what is known of it', open().list(), [{ runId: 'run', owner: null, expiresAt: 0, ended: 'failed' }])
      check('the journal stays', open().read('run'), ['entry'])
    },
  ],
  [
    'a run that was removed is new',
    (open, check) => {
      const store = open()
      const lease = claimOrThrow(store, 'run', ADA)
      store.append(lease, 'entry')
      check('removing it', store.remove('run'), true)
      check('its journal', open().read('run'), [])
      check('the list', open().list(), [])
      expectRefusal(() => store.append(lease, 'stale'))
      check('its next holder', open().claim('run', BO)?.fence, 1)
    },
  ],
  [
    'of many who claim at the same time one has it',
    (open, check) => {
      const stores = Array.from({ length: 20 }, open)
      const held = stores.map((store, at) => store.claim('run', { ...ADA, owner: `w${at}` })).filter((lease) => lease !== null)
      check('how many', held.length, 1)
    },
  ],
]

/** The cases; see above. */
export function storeConformance(open: OpenRunStore): readonly StoreCase[] {
  return CASES.map(([name, work]) => ({
    name,
    run: async () => {
      const opened: RunStore[] = []
      const openHere = await open()
      try {
        work(() => {
          const store = openHere()
          opened.push(store)
          return store
        }, compare)
      } finally {
        for (const store of new Set(opened)) store.close?.()
      }
    },
  }))
}

function compare(what: string, seen: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(seen), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`${what}: expected ${shortenText(b)}, got ${shortenText(a)}`)
}

const shortenText = (text: string | undefined): string =>
  text === undefined ? 'nothing' : text.length > 400 ? `${text.slice(0, 400)}…` : text

function claimOrThrow(store: RunStore, runId: string, claim: Claim): Lease {
  const lease = store.claim(runId, claim)
  if (lease === null) throw new Error(`a claim of "${runId}" that must succeed: expected a lease, got null`)
  return lease
}

function expectRefusal(work: () => void): void {
  try {
    work()
  } catch (cause) {
    if (isToolError(cause, 'journal_lease_lost')) return
    throw cause
  }
  throw new Error('appending with a lease that was lost: expected journal_lease_lost, got nothing')
}
