import { HarnDict, HarnDuration, HarnFloat, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { timeFamily } from './time.js'

const machine = makeFakeMachine(timeFamily)
machine.perform = (effect) => ({ ok: true, value: effect.kind === 'clock.now' ? 1777111200123.5 : 42.7 })
const call = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
const fault = (name: string, ...args: Value[]): string => faultText(() => call(name, ...args))

test('date_parse reads standard and loose forms', () => {
  expect(call('date_parse', '2024-01-02T03:04:05Z')).toBe('1704164645')
  expect(call('date_parse', '2024-01-02T03:04:05.5+01:00')).toBe('1704161045.5')
  expect(call('date_parse', '2024-01-02 03:04')).toBe('1704164640')
  expect(call('date_parse', '2024-01-02')).toBe('1704153600')
  expect(call('date_parse', '2024/1/2 at 3h4m5')).toBe('1704164645')
  expect(call('date_parse', '0001-01-01')).toBe('-62135596800')
  expect(fault('date_parse', 'not a date')).toBe('Cannot parse date: not a date')
  expect(fault('date_parse', '2024-13-01')).toBe('Invalid month: 13 (must be 1-12)')
  expect(fault('date_parse', '2024-01-32')).toBe('Invalid day: 32 (must be 1-31)')
  expect(fault('date_parse', '2024-02-30')).toBe('Invalid date: 2024-02-30')
  expect(fault('date_parse', '2024-01-01T24:00:00Z')).toBe('Invalid hour: 24 (must be 0-23)')
})

test('date_format', () => {
  expect(call('date_format', 0)).toBe('1970-01-01 00:00:00')
  expect(
    call('date_format', new HarnFloat(1704164645.123456), '%A %a %B %b %j %f %3f %.3f %.6f %s %p %I %y %e|%F %T %% %Z %z %:z'),
  ).toBe('Tuesday Tue January Jan 002 123456000 123 .123 .123456 1704164645 AM 03 24  2|2024-01-02 03:04:05 % UTC +0000 +00:00')
  expect(call('date_format', 1720000000, '%H:%M %Z %z', 'America/Los_Angeles')).toBe('02:46 PDT -0700')
  expect(call('date_format', 1720000000, '%H:%M %Z', 'Europe/Berlin')).toBe('11:46 CEST')
  expect(call('date_format', 1720000000, '%-d %_m %U %W %V %G %q %u %w %c', 'Asia/Tokyo')).toBe(
    '3  7 26 27 27 2024 3 3 3 Wed Jul  3 18:46:40 2024',
  )
  expect(call('date_format', HarnDict.of({ timestamp: 0 }), '%Y')).toBe('1970')
  expect(fault('date_format', 0, '%Y', 'Mars/Base')).toBe("date_format: unknown timezone 'Mars/Base'")
  expect(fault('date_format', 'x')).toBe('date_format: expected timestamp number or date dict, got string')
  expect(fault('date_format')).toBe('date_format: missing timestamp argument')
})

test('zones', () => {
  expect(call('date_to_zone', 1720000000, 'UTC')).toBe('2024-07-03T09:46:40+00:00')
  expect(call('date_to_zone', new HarnFloat(1720000000.25), 'Asia/Kolkata')).toBe('2024-07-03T15:16:40.250+05:30')
  expect(call('date_in_zone', 1720000000, 'America/New_York')).toBe(
    '{day: 3, hour: 5, iso8601: 2024-07-03T05:46:40-04:00, minute: 46, month: 7, offset_seconds: -14400, second: 40, timestamp: 1720000000, weekday: 3, year: 2024, zone: America/New_York}',
  )
  const makeParts = (fields: Record<string, Value>): HarnDict => HarnDict.of(fields)
  expect(
    call('date_from_components', makeParts({ year: 2024, month: 11, day: 3, hour: 1, minute: 30 }), 'America/New_York'),
  ).toBe('1730611800')
  expect(
    fault('date_from_components', makeParts({ year: 2024, month: 3, day: 10, hour: 2, minute: 30 }), 'America/New_York'),
  ).toBe('date_from_components: local time does not exist in that timezone')
  expect(fault('date_from_components', makeParts({ month: 3 }))).toBe('date_from_components: missing year')
  expect(call('weekday_name', 0)).toBe('Thursday')
  expect(call('month_name', 0, 'America/New_York')).toBe('December')
})

test('sums', () => {
  expect(call('date_add', 10, new HarnDuration(1500))).toBe('11.5')
  expect(call('date_add', 10, new HarnDuration(-86_400_000))).toBe('-86390')
  expect(call('date_diff', 10, new HarnFloat(7.5))).toBe('2500ms')
  expect(fault('date_add', 10, 5)).toBe('date_add: expected duration, got int')
})

test('durations', () => {
  expect(call('duration_days', 1)).toBe('24h')
  expect(call('duration_seconds', new HarnFloat(1.5))).toBe('1500ms')
  expect(call('duration_to_human', new HarnDuration(11_640_000))).toBe('3h 14m')
  expect(call('duration_to_human', new HarnDuration(-90_061_001))).toBe('-1d 1h 1m')
  expect(call('duration_to_human', new HarnDuration(0))).toBe('0s')
  expect(call('duration_to_seconds', new HarnDuration(-1999))).toBe('-1')
  expect(fault('duration_ms', 'x')).toBe('duration_ms: expected number, got string')
})

test('clocks, real and mocked', () => {
  expect(call('now_ms')).toBe('1777111200123')
  expect(call('timestamp')).toBe('1777111200.1235')
  expect(call('monotonic_ms')).toBe('42')
  expect(call('date_now_iso')).toBe('2026-04-25T10:00:00.123Z')
  expect(fault('advance_time', 5)).toBe('advance_time: no mock active. Call mock_time(ms) first.')
  call('mock_time', 1000)
  call('sleep_ms', 250)
  expect([call('now_ms'), call('timestamp'), call('elapsed'), call('advance_time', 5)]).toEqual(['1250', '1.25', '250', '1255'])
  expect(call('date_now_iso')).toBe('2026-04-25T10:00:00.123Z')
  call('unmock_time')
  expect(call('elapsed')).toBe('42')
  expect(fault('mock_time', 'x')).toBe('mock_time(ms): expected an integer millisecond timestamp')
})

test('timers', () => {
  const timer = callBuiltin(machine, 'timer_start', 'load')
  expect(display(timer)).toBe('{name: load, start_ms: 1777111200123}')
  expect(call('timer_end', timer)).toBe('0')
  expect(machine.output).toBe('[timer] load: 0ms\n')
})
