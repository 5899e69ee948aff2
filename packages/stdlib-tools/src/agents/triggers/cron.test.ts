import { expect, test } from 'vitest'
import { findCronProblem, isTimeZone, listCronTicks } from './cron.js'

const list = (schedule: string, zone: string, after: string, count = 3): readonly string[] =>
  listCronTicks(schedule, zone, Date.parse(after), count).map((at) => new Date(at).toISOString())

test.each([
  ['* * * * *', 'UTC', '2026-04-19T00:00:30Z', ['2026-04-19T00:01:00.000Z', '2026-04-19T00:02:00.000Z']],
  ['*/15 * * * * *', 'UTC', '2026-01-01T00:00:00Z', ['2026-01-01T00:00:15.000Z', '2026-01-01T00:00:30.000Z']],
  ['0 9 * * 1-5', 'America/New_York', '2026-01-02T15:00:00Z', ['2026-01-05T14:00:00.000Z', '2026-01-06T14:00:00.000Z']],
  // 2:30 is missing on this day, and comes when the gap is over.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']],
  // 2:30 occurs twice that day; the schedule fires once.
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
  ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
])('%s in %s after %s', (schedule, zone, after, expected) => expect(list(schedule, zone, after, 2)).toEqual(expected))

test('what is wrong with a schedule', () => {
  expect(['* * * * *', ' 0  12 * * MON ', '0 0 0 1 1 *'].map(findCronProblem)).toEqual([null, null, null])
  expect(findCronProblem('* * * *')).toBe('expected five fields, or six with seconds in front, got 4')
  expect(findCronProblem('@daily')).toBe('expected five fields, or six with seconds in front, got 1')
  expect(findCronProblem('* * * * * * 2026')).toBe('expected five fields, or six with seconds in front, got 7')
  expect(findCronProblem('61 * * * *')).toBe('Invalid value for minute: 61')
  expect(findCronProblem('0 0 30 2 *')).toBe('no day fits it')
  expect(findCronProblem('a b c d e')).not.toBeNull()
  expect(findCronProblem('*'.repeat(300))).toBe('it has more than 256 characters')
})

test('zones are names, not offsets', () => {
  expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].map(isTimeZone)).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(['+02:00', '-5', 'UTC+2', 'Mars/Olympus', '', 'Europe/Berlin '].map(isTimeZone)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ])
})
