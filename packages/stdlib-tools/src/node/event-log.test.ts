// The event log on the disk: numbers, chains, appends that happen once however often they are requested, and state that changes by version.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openEventLog } from './event-log.js'
import { chainHeaders } from './event-log-records.js'
import type { EventLog, NewRecord } from './event-log-records.js'

const box = mkdtempSync(join(tmpdir(), 'bridle-event-log-'))
afterAll(() => rmSync(box, { recursive: true, force: true }))

function record(topic: string, payload: NewRecord['payload'], headers: NewRecord['headers'] = {}): NewRecord {
  return { topic, kind: 'note', payload, headers, atMs: 1000 }
}

describe.each(['sqlite', 'file', 'memory'] as const)('%s', (backend) => {
  const open = async (name: string): Promise<{ log: EventLog; close: () => Promise<void> }> => {
    const folder = mkdtempSync(join(box, `${backend}-${name}-`))
    const { log, store } = await openEventLog({ backend, folder })
    return {
      log,
      close: async () => {
        log.close()
        await store.close()
      },
    }
  }

  test('records are numbered by topic and chained', async () => {
    const { log, close } = await open('chain')
    log.later((transaction) => void transaction.append(record('a', { at: 1 })))
    expect(log.write((transaction) => transaction.append(record('a', { at: 2 })))).toBe(2)
    expect(log.write((transaction) => transaction.append(record('b', 'other')))).toBe(1)
    const [first, second] = log.read({ topic: 'a' })
    expect(first).toEqual({
      id: 1,
      kind: 'note',
      payload: { at: 1 },
      headers: chainHeaders(record('a', { at: 1 }), 1, null),
      occurredAtMs: 1000,
    })
    expect(second!.headers['harn.provenance.prev_hash']).toBe(first!.headers['harn.provenance.record_hash'])
    expect(log.topics()).toEqual(['a', 'b'])
    expect([log.head('a'), log.head('none')]).toEqual([2, 0])
    await close()
  })

  test('what an effect appends is there once', async () => {
    const { log, close } = await open('once')
    const mark = { runId: 'run', effectId: 7 }
    for (let again = 0; again < 3; again++) log.later((transaction) => void transaction.append(record('a', again), mark))
    expect(log.write((transaction) => transaction.append(record('a', 'no'), mark))).toBe(1)
    expect(log.read({ topic: 'a' }).map(({ payload }) => payload)).toEqual([0])
    log.forget('run')
    expect(log.write((transaction) => transaction.append(record('a', 'yes'), mark))).toBe(2)
    await close()
  })

  test('a transaction that fails leaves nothing', async () => {
    if (backend !== 'sqlite') return
    const { log, close } = await open('fails')
    expect(() =>
      log.write((transaction) => {
        transaction.append(record('a', 1))
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(log.read({ topic: 'a' })).toEqual([])
    expect(log.write((transaction) => transaction.append(record('a', 2)))).toBe(1)
    await close()
  })

  test('records are found by place, kind and event', async () => {
    const { log, close } = await open('find')
    log.write((transaction) => {
      for (let at = 1; at <= 5; at++) transaction.append(record('a', at, { event_id: at % 2 === 0 ? 'even' : 'odd' }))
    })
    const payloads = (query: object): readonly unknown[] => log.read({ topic: 'a', ...query }).map(({ payload }) => payload)
    expect(payloads({ after: 3 })).toEqual([4, 5])
    expect(payloads({ last: 2 })).toEqual([4, 5])
    expect(payloads({ after: 1, first: 2 })).toEqual([2, 3])
    expect(payloads({ eventId: 'odd' })).toEqual([1, 3, 5])
    expect(payloads({ eventId: 'odd', last: 1 })).toEqual([5])
    expect(payloads({ kind: 'other' })).toEqual([])
    await close()
  })

  test('shared state changes by its version, and once for an effect', async () => {
    const { log, close } = await open('shared')
    expect(log.get('t', 'k')).toEqual({ value: null, version: 0 })
    const mark = { runId: 'run', effectId: 1 }
    expect(log.put('t', 'k', { n: 1 }, 0, mark)).toBe(true)
    expect(log.put('t', 'k', { n: 9 }, 0)).toBe(false)
    expect(log.put('t', 'k', { n: 2 }, 1, mark)).toBe(true)
    expect(log.get('t', 'k')).toEqual({ value: { n: 1 }, version: 1 })
    expect(log.put('t', 'k', { n: 2 }, 1)).toBe(true)
    log.write((transaction) => transaction.setCursor('a', 'me', 12))
    expect([log.cursor('a', 'me'), log.cursor('a', 'you')]).toEqual([12, null])
    await close()
  })
})

test('files are lines that others can read', async () => {
  const folder = mkdtempSync(join(box, 'lines-'))
  const first = await openEventLog({ backend: 'file', folder })
  first.log.write((transaction) => transaction.append(record('trigger.inbox', { a: 'ü' })))
  first.log.write((transaction) => transaction.setCursor('trigger.inbox', 'me', 1))
  await first.store.close()
  const line = JSON.parse(readFileSync(join(folder, 'events/topics/trigger.inbox.jsonl'), 'utf8')) as object
  expect(line).toMatchObject({ id: 1, event: { kind: 'note', payload: { a: 'ü' }, occurred_at_ms: 1000 } })
  const second = await openEventLog({ backend: 'file', folder })
  expect(second.log.read({ topic: 'trigger.inbox' })).toHaveLength(1)
  expect(second.log.cursor('trigger.inbox', 'me')).toBe(1)
  await second.store.close()
})
