// Date builtins. A timestamp is seconds since 1970, int when whole, else float. They read the real
// clock only: a mocked clock does not reach date_now.

import { Control, HarnDict, HarnDuration, HarnFloat, builtin, display, isInt, typeName } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'
import { toFields, toInstant, toSeconds } from './calendar.js'
import type { Fields, Instant } from './calendar.js'
import {
  MONTHS,
  WEEKDAYS,
  describeBadDate,
  findBadField,
  isDay,
  formatIsoMillis,
  parseDate,
  formatRfc3339,
  formatTime,
} from './format.js'
import type { Moment } from './format.js'
import { listLocalInstants, isZone, findZoneTime } from './zones.js'

/** Seconds as scripts see them: int when whole. */
function encodeTimestamp(instant: Instant): Value {
  return instant.nanos === 0 ? instant.seconds : new HarnFloat(instant.seconds + instant.nanos / 1e9)
}

/** The instant in an argument: a number of seconds, or a dict with one under `timestamp`; undefined: it was not passed. */
function readInstant(ctx: Context, name: string, value: Value | undefined): Instant | Control {
  const number = value instanceof HarnDict ? value.get('timestamp') : value
  if (number === undefined) return ctx.throw(`${name}: missing timestamp argument`)
  if (!isInt(number) && !(number instanceof HarnFloat))
    return ctx.throw(`${name}: expected timestamp number or date dict, got ${typeName(number)}`)
  const seconds = number instanceof HarnFloat ? number.v : Number(number)
  if (!Number.isFinite(seconds)) return ctx.throw(`${name}: timestamp must be finite`)
  const instant = toInstant(seconds)
  return instant ?? ctx.throw(`${name}: timestamp out of range`)
}

/** The instant as a clock in the zone shows it; without a zone in UTC. */
function toMoment(ctx: Context, name: string, instant: Instant, zone: Value | undefined): Moment | Control {
  if (zone === undefined) return { fields: toFields(instant, 0), instant, offset: 0, zoneName: 'UTC' }
  const zoneName = display(zone)
  if (!isZone(zoneName)) return ctx.throw(`${name}: unknown timezone '${zoneName}'`)
  const { offset, abbreviation } = findZoneTime(zoneName, instant.seconds)
  return { fields: toFields(instant, offset), instant, offset, zoneName: abbreviation }
}

/** Reads timestamp and zone, then answers by `finish`. */
function withMoment(
  ctx: Context,
  name: string,
  value: Value | undefined,
  zone: Value | undefined,
  finish: (at: Moment) => Result,
): Result {
  const instant = readInstant(ctx, name, value)
  if (instant instanceof Control) return instant
  const at = toMoment(ctx, name, instant, zone)
  return at instanceof Control ? at : finish(at)
}

function encodeClockFields(fields: Fields): Map<string, Value> {
  const { year, month, day, hour, minute, second, weekday } = fields
  return new Map<string, Value>(Object.entries({ year, month, day, hour, minute, second, weekday }))
}

/** What date_now gives for a wall clock reading in milliseconds. */
export function makeDateNow(nowMs: number): HarnDict {
  const seconds = Math.floor(nowMs / 1000)
  const instant = { seconds, nanos: Math.floor((nowMs - seconds * 1000) * 1e6) }
  const fields = toFields(instant, 0)
  const out = encodeClockFields(fields)
  out.set('timestamp', new HarnFloat(nowMs / 1000))
  out.set('iso8601', formatIsoMillis(fields))
  return HarnDict.named(out)
}

/** `2026-04-25T10:00:00.123Z` for a wall clock reading in milliseconds. */
export function formatIsoNow(nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  return formatIsoMillis(toFields({ seconds, nanos: Math.floor((nowMs - seconds * 1000) * 1e6) }, 0))
}

/** An int, or a float without a fraction; null for anything else. */
function readWholeNumber(value: Value): number | null {
  if (isInt(value)) return Number(value)
  return value instanceof HarnFloat && Number.isInteger(value.v) ? value.v : null
}

function fromComponents(ctx: Context, parts: Value, zone: Value): Result {
  const name = 'date_from_components'
  if (ctx.argc === 0) return ctx.throw(`${name}: missing components argument`)
  if (!(parts instanceof HarnDict)) return ctx.throw(`${name}: expected dict, got ${typeName(parts)}`)
  const zoneName = ctx.argc < 2 ? 'UTC' : display(zone)
  if (!isZone(zoneName)) return ctx.throw(`${name}: unknown timezone '${zoneName}'`)
  const numbers: number[] = []
  for (const key of ['year', 'month', 'day', 'hour', 'minute', 'second']) {
    const value = parts.get(key)
    if (value === undefined && numbers.length < 3) return ctx.throw(`${name}: missing ${key}`)
    const number = value === undefined ? 0 : readWholeNumber(value)
    if (number === null) return ctx.throw(`${name}: ${key} must be an integer, got ${typeName(value!)}`)
    numbers.push(number)
  }
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number]
  if (year !== (year | 0)) return ctx.throw(`${name}: year out of range`)
  const problem = findBadField(month, day, hour, minute, second)
  if (problem !== null) return ctx.throw(problem)
  if (!isDay(year, month, day)) return ctx.throw(describeBadDate(year, month, day))
  const [first] = listLocalInstants(zoneName, toSeconds(year, month, day, hour, minute, second))
  return first ?? ctx.throw(`${name}: local time does not exist in that timezone`)
}

function encodeInZone(at: Moment, zone: Value): Value {
  const out = encodeClockFields(at.fields)
  out.set('offset_seconds', at.offset)
  out.set('timestamp', encodeTimestamp(at.instant))
  out.set('iso8601', formatRfc3339(at))
  out.set('zone', display(zone))
  return HarnDict.named(out)
}

function addDuration(ctx: Context, value: Value | undefined, duration: Value): Result {
  const instant = readInstant(ctx, 'date_add', value)
  if (instant instanceof Control) return instant
  if (ctx.argc < 2) return ctx.throw('date_add: missing duration argument')
  if (!(duration instanceof HarnDuration)) return ctx.throw(`date_add: expected duration, got ${typeName(duration)}`)
  const ms = Number(duration.ms)
  const seconds = Math.floor(ms / 1000)
  let nanos = instant.nanos + (ms - seconds * 1000) * 1_000_000
  const carry = Math.floor(nanos / 1e9)
  nanos -= carry * 1e9
  return encodeTimestamp({ seconds: instant.seconds + seconds + carry, nanos })
}

function subtractDates(ctx: Context, left: Value | undefined, right: Value | undefined): Result {
  const a = readInstant(ctx, 'date_diff', left)
  if (a instanceof Control) return a
  const b = readInstant(ctx, 'date_diff', right)
  if (b instanceof Control) return b
  return new HarnDuration(Math.trunc((a.seconds - b.seconds) * 1000 + (a.nanos - b.nanos) / 1e6) || 0)
}

/** The argument at `index`, undefined when it was not passed. */
function readGiven(ctx: Context, index: number, value: Value | undefined): Value | undefined {
  return index < ctx.argc ? value : undefined
}

/** As withMoment, for a zone that must be given. */
function withZone(
  ctx: Context,
  name: string,
  dt: Value | undefined,
  zone: Value | undefined,
  finish: (at: Moment) => Result,
): Result {
  const timestamp = readGiven(ctx, 0, dt)
  const instant = readInstant(ctx, name, timestamp)
  if (instant instanceof Control) return instant
  if (ctx.argc < 2) return ctx.throw(`${name}: missing timezone argument`)
  return withMoment(ctx, name, timestamp, zone, finish)
}

const DEFAULT_FORMAT = '%Y-%m-%d %H:%M:%S'

export const dateBuiltins: readonly BuiltinDef[] = [
  builtin(
    'date_format(dt: float | dict, format?: string, tz?: string) -> string',
    { doc: 'Formats a timestamp with strftime directives, in UTC or in a named zone.', borrows: true },
    (ctx, dt, format, zone) =>
      withMoment(ctx, 'date_format', readGiven(ctx, 0, dt), readGiven(ctx, 2, zone), (at) => {
        const template = ctx.argc < 2 ? DEFAULT_FORMAT : display(format!)
        return formatTime(template, at) ?? ctx.throw(`date_format: invalid format string '${template}'`)
      }),
  ),
  builtin(
    'date_parse(str: string) -> int | float as ?',
    { doc: 'The timestamp that a text names: RFC 3339, date and time, date, or groups of digits.', borrows: true },
    (ctx, source) => {
      const parsed = parseDate(ctx.argc === 0 ? '' : display(source!))
      return typeof parsed === 'string' ? ctx.throw(parsed) : encodeTimestamp(parsed)
    },
  ),
  builtin(
    'date_in_zone(dt: float, tz: string) -> dict',
    { doc: 'The local fields of a timestamp in a time zone.', borrows: true },
    (ctx, dt, zone) => withZone(ctx, 'date_in_zone', dt, zone, (at) => encodeInZone(at, zone!)),
  ),
  builtin(
    'date_to_zone(dt: float, tz: string) -> string',
    { doc: 'RFC 3339 text of a timestamp in a time zone.', borrows: true },
    (ctx, dt, zone) => withZone(ctx, 'date_to_zone', dt, zone, formatRfc3339),
  ),
  builtin(
    'date_from_components(parts: dict, tz?: string) -> int as ?',
    { doc: 'The timestamp of local date and time fields; an ambiguous time is the earlier one.', borrows: true },
    (ctx, parts, zone) => fromComponents(ctx, parts!, zone!),
  ),
  builtin(
    'date_add(dt: float, duration: duration) -> int | float as ?',
    { doc: 'A timestamp moved by a duration.', borrows: true },
    (ctx, dt, duration) => addDuration(ctx, readGiven(ctx, 0, dt), duration!),
  ),
  builtin('date_diff(a: float, b: float) -> duration', { doc: 'The duration from `b` to `a`.', borrows: true }, (ctx, a, b) =>
    subtractDates(ctx, readGiven(ctx, 0, a), readGiven(ctx, 1, b)),
  ),
  builtin(
    'weekday_name(dt: float, tz?: string) -> string',
    { doc: 'English name of the day of the week.', borrows: true },
    (ctx, dt, zone) =>
      withMoment(ctx, 'weekday_name', readGiven(ctx, 0, dt), readGiven(ctx, 1, zone), (at) => WEEKDAYS[at.fields.weekday]!),
  ),
  builtin('month_name(dt: float, tz?: string) -> string', { doc: 'English name of the month.', borrows: true }, (ctx, dt, zone) =>
    withMoment(ctx, 'month_name', readGiven(ctx, 0, dt), readGiven(ctx, 1, zone), (at) => MONTHS[at.fields.month - 1]!),
  ),
]
