// A run that continues has the smaller of the limits that it was begun with and those of the host that continues with it; only `widen` gives
// it those of the host.

import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS, readDocument, writeDocument } from '@bridle/vm'
import { MemoryJournal } from './journal.js'
import { VirtualClock } from '../library/time/host-clock.js'
import { createRuntime } from './runtime.js'
import type { ResumeOptions, RuntimeOptions, StartOptions } from './runtime-options.js'
import { describeSnapshot } from './snapshot.js'

const HAS_FUEL = 2000
/** Takes more than that, and less than a hundred times as much. */
const SOURCE = 'sleep(1ms)\nrandom_int(1, 9)\nvar n = 0\nfor i in 1 to 20000 { n = n + i }\nprintln("went on")'
const AUTHORITY = 11

const makeHost = (limits?: RuntimeOptions['limits']) =>
  createRuntime({ grants: ['*'], clock: new VirtualClock(0), ...(limits === undefined ? {} : { limits }) })

async function writeSnapshot(start: StartOptions = {}, limits?: RuntimeOptions['limits']): Promise<Uint8Array> {
  const host = makeHost(limits)
  const run = host.start(host.compile(SOURCE), { ...start, holdFrom: 1 })
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  return bytes
}

/** The limit that ended the run, or its output. */
async function awaitEnd(run: ReturnType<ReturnType<typeof makeHost>['resume']>): Promise<string> {
  const result = await run.result
  return result.status === 'limit' ? result.limit : result.output
}

const resumeToEnd = (bytes: Uint8Array, options: ResumeOptions = {}, limits?: RuntimeOptions['limits']) =>
  awaitEnd(makeHost(limits).resume(bytes, options))

const LESS = { limits: { fuel: HAS_FUEL } }

describe('a snapshot carries the limits of its run', () => {
  test('those of its start', async () => expect(await resumeToEnd(await writeSnapshot(LESS))).toBe('fuel'))

  test('those of its runtime', async () => expect(await resumeToEnd(await writeSnapshot({}, { fuel: HAS_FUEL }))).toBe('fuel'))

  test('which a start may have raised', async () =>
    expect(await resumeToEnd(await writeSnapshot({ limits: { fuel: 1e6 } }, { fuel: HAS_FUEL }))).toBe('went on\n'))

  test('more that is given now is not had', async () => {
    const bytes = await writeSnapshot(LESS)
    expect(await resumeToEnd(bytes, { limits: { fuel: 1e9 } })).toBe('fuel')
    expect(await resumeToEnd(bytes, {}, { fuel: 1e9 })).toBe('fuel')
  })

  test('less that is given now holds', async () => {
    const bytes = await writeSnapshot({ limits: { fuel: 1e9 } })
    expect(await resumeToEnd(bytes, LESS)).toBe('fuel')
    expect(await resumeToEnd(bytes, {}, { fuel: HAS_FUEL })).toBe('fuel')
    expect(await resumeToEnd(bytes)).toBe('went on\n')
  })

  test('through a snapshot of a snapshot', async () => {
    const again = makeHost().resume(await writeSnapshot({ limits: { fuel: 1e9 } }), { ...LESS, holdFrom: 1 })
    const bytes = await again.snapshot()
    again.cancel()
    expect(await resumeToEnd(bytes, { limits: { fuel: 1e9 } })).toBe('fuel')
  })

  test('unless it is widened, which is reported', async () => {
    const bytes = await writeSnapshot(LESS)
    expect(await resumeToEnd(bytes, { widen: true })).toBe('went on\n')
    const { authority } = describeSnapshot(bytes)
    expect(makeHost().widenings(authority!)).toEqual([`limit of fuel: ${DEFAULT_LIMITS.fuel}, before ${HAS_FUEL}`])
    expect(makeHost({ fuel: HAS_FUEL }).widenings(authority!)).toEqual([])
  })

  test.each<[string, Partial<typeof DEFAULT_LIMITS>]>([
    ['heap', { heap: 5e5 }],
    ['frames', { frames: 7 }],
    ['output', { output: 9 }],
    ['tasks', { tasks: 3 }],
    ['work', { work: 1000 }],
  ])('%s too', async (name, limits) => {
    const { authority } = describeSnapshot(await writeSnapshot({ limits }))
    expect(authority!.limits).toEqual({ ...authority!.limits, ...limits })
    const run = makeHost({ [name]: 1e12 }).resume(await writeSnapshot({ limits }), { holdFrom: 1 })
    expect(describeSnapshot(await run.snapshot()).authority!.limits).toEqual(authority!.limits)
    run.cancel()
  })

  test('slice limits are those of the resuming host', async () => {
    const bytes = await writeSnapshot({ limits: { sliceFuel: 100 } })
    expect(describeSnapshot(bytes).authority!.limits).not.toHaveProperty('sliceFuel')
  })
})

test('a journal carries them', async () => {
  const journal = new MemoryJournal()
  const host = makeHost()
  expect(await awaitEnd(host.start(host.compile(SOURCE), { ...LESS, journal }))).toBe('fuel')
  const found = makeHost().continueRecording(journal.entries.slice(0, 2), { journal: new MemoryJournal() })
  expect(found.kind === 'resumed' && (await awaitEnd(found.run))).toBe('fuel')
  const wide = makeHost({ fuel: 1e9 })
  const replayed = wide.replay(wide.compile(SOURCE), journal.entries, { until: 0 })
  expect(replayed.kind === 'stopped' && (await resumeToEnd(replayed.snapshot!(), {}, { fuel: 1e9 }))).toBe('fuel')
})

test('a recording that went on under less is played under less', async () => {
  const first = new MemoryJournal()
  const host = makeHost()
  await host.start(host.compile(SOURCE), { limits: { fuel: 1e9 }, journal: first }).result
  const journal = new MemoryJournal()
  for (const entry of first.entries.slice(0, 2)) journal.append(entry)
  const found = makeHost().continueRecording(journal.entries.slice(), { ...LESS, journal })
  expect(found.kind === 'resumed' && (await awaitEnd(found.run))).toBe('fuel')
})

describe('what a file says about limits only takes away', () => {
  const claimLimits = (bytes: Uint8Array, limits: unknown): Uint8Array => {
    const document = readDocument(bytes, 3) as unknown[]
    const authority = document[AUTHORITY] as unknown[]
    return writeDocument(document.with(AUTHORITY, authority.with(-1, limits)), 3)
  }

  test('a claim to more is held to the host', async () => {
    const bytes = await writeSnapshot()
    for (const claim of [[1e300], [Infinity], [null, 1e300], [], null])
      expect(await resumeToEnd(claimLimits(bytes, claim), LESS)).toBe('fuel')
  })

  test.each<[string, unknown]>([
    ['text', 'many'],
    ['a limit that is text', ['1']],
    ['a limit that is no number', [Number.NaN]],
    ['a negative limit', [-1]],
  ])('%s is refused', async (_, claim) => {
    const bytes = claimLimits(await writeSnapshot(), claim)
    expect(() => makeHost().resume(bytes)).toThrow(expect.objectContaining({ name: 'SnapshotError', reason: 'damaged' }))
  })

  test('a journal that claims more is held to the host', async () => {
    const journal = new MemoryJournal()
    const host = makeHost()
    await host.start(host.compile(SOURCE), { journal }).result
    const entries = journal.entries.slice(0, 2).map((entry) => {
      if (entry.type === 'run') return { ...entry, authority: { ...entry.authority!, limits: null } }
      return entry.type === 'start' ? { ...entry, limits: { ...DEFAULT_LIMITS, fuel: 1e300 } } : entry
    })
    const found = makeHost({ fuel: HAS_FUEL }).continueRecording(entries, { journal: new MemoryJournal() })
    expect(found.kind === 'resumed' && (await awaitEnd(found.run))).toBe('fuel')
  })
})
