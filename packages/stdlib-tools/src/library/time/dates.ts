// Date builtins. A timestamp is seconds since 1970, int when whole, else float. They read the real
// clock only: a mocked clock does not reach date_now.

import { builtinTaking, HarnDict, HarnDuration, HarnFloat, isInt, typeName } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value, Fit } from '@bridle/vm/families'
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

/** The instant in an argument: a number of seconds, or a dict with one under `timestamp`; or what is wrong with it. */
function parseInstant(value: Value): Instant | string {
  const number = value instanceof HarnDict ? value.get('timestamp') : value
  if (number === undefined) return MISSING_INSTANT
  if (!isInt(number) && !(number instanceof HarnFloat)) return `expected timestamp number or date dict, got ${typeName(number)}`
  const seconds = number instanceof HarnFloat ? number.v : Number(number)
  if (!Number.isFinite(seconds)) return 'timestamp must be finite'
  return toInstant(seconds) ?? 'timestamp out of range'
}

const MISSING_INSTANT = 'missing timestamp argument'

const holdsInstant: Fit = (value, { name, isPassed }) => {
  const instant = isPassed ? parseInstant(value) : MISSING_INSTANT
  return typeof instant === 'string' ? `${name}: ${instant}` : null
}

/** The instant in an argument that fits. */
function readInstant(value: Value): Instant {
  return parseInstant(value) as Instant
}

/** The instant as a clock in the zone shows it, given to `finish`. */
function withMoment(ctx: Context, name: string, value: Value, zone: string, finish: (at: Moment) => Result): Result {
  const instant = readInstant(value)
  if (!isZone(zone)) return ctx.throw(`${name}: unknown timezone '${zone}'`)
  const { offset, abbreviation } = findZoneTime(zone, instant.seconds)
  return finish({ fields: toFields(instant, offset), instant, offset, zoneName: abbreviation })
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

function fromComponents(ctx: Context, parts: HarnDict, zoneName: string): Result {
  const name = 'date_from_components'
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

function encodeInZone(at: Moment, zone: string): Value {
  const out = encodeClockFields(at.fields)
  out.set('offset_seconds', at.offset)
  out.set('timestamp', encodeTimestamp(at.instant))
  out.set('iso8601', formatRfc3339(at))
  out.set('zone', zone)
  return HarnDict.named(out)
}

function addDuration(_ctx: Context, value: Value, duration: HarnDuration): Result {
  const instant = readInstant(value)
  const ms = Number(duration.ms)
  const seconds = Math.floor(ms / 1000)
  let nanos = instant.nanos + (ms - seconds * 1000) * 1_000_000
  const carry = Math.floor(nanos / 1e9)
  nanos -= carry * 1e9
  return encodeTimestamp({ seconds: instant.seconds + seconds + carry, nanos })
}

function subtractDates(_ctx: Context, left: Value, right: Value): Result {
  const [a, b] = [readInstant(left), readInstant(right)]
  return new HarnDuration(Math.trunc((a.seconds - b.seconds) * 1000 + (a.nanos - b.nanos) / 1e6) || 0)
}

const IN_ZONE = { fits: { dt: holdsInstant }, absent: { tz: '{f}: missing timezone argument' }, text: { tz: null } } as const
const MAYBE_IN_ZONE = { fits: { dt: holdsInstant }, text: { tz: null } } as const

export const dateBuiltins: readonly BuiltinDef[] = [
  builtinTaking(
    'date_format(dt: float | dict, format?: string = "%Y-%m-%d %H:%M:%S", tz?: string = "UTC") -> string',
    { doc: 'Formats a timestamp with strftime directives, in UTC or in a named zone.', borrows: true },
    { fits: { dt: holdsInstant }, text: { format: null, tz: null } },
    (ctx, dt, format, zone) =>
      withMoment(
        ctx,
        'date_format',
        dt,
        zone,
        (at) => formatTime(format, at) ?? ctx.throw(`date_format: invalid format string '${format}'`),
      ),
  ),
  builtinTaking(
    'date_parse(str: string) -> int | float as ?',
    { doc: 'The timestamp that a text names: RFC 3339, date and time, date, or groups of digits.', borrows: true },
    { text: { str: null } },
    (ctx, source) => {
      const parsed = parseDate(source)
      return typeof parsed === 'string' ? ctx.throw(parsed) : encodeTimestamp(parsed)
    },
  ),
  builtinTaking(
    'date_in_zone(dt: float, tz: string) -> dict',
    { doc: 'The local fields of a timestamp in a time zone.', borrows: true },
    IN_ZONE,
    (ctx, dt, zone) => withMoment(ctx, 'date_in_zone', dt, zone, (at) => encodeInZone(at, zone)),
  ),
  builtinTaking(
    'date_to_zone(dt: float, tz: string) -> string',
    { doc: 'RFC 3339 text of a timestamp in a time zone.', borrows: true },
    IN_ZONE,
    (ctx, dt, zone) => withMoment(ctx, 'date_to_zone', dt, zone, formatRfc3339),
  ),
  builtinTaking(
    'date_from_components(parts: dict, tz?: string = "UTC") -> int as ?',
    { doc: 'The timestamp of local date and time fields; an ambiguous time is the earlier one.', borrows: true },
    { fewer: '{f}: missing components argument', not: { parts: '{f}: expected dict, got {got}' }, text: { tz: null } },
    fromComponents,
  ),
  builtinTaking(
    'date_add(dt: float, duration: duration) -> int | float as ?',
    { doc: 'A timestamp moved by a duration.', borrows: true },
    {
      fits: { dt: holdsInstant },
      absent: { duration: '{f}: missing duration argument' },
      not: { duration: '{f}: expected duration, got {got}' },
    },
    addDuration,
  ),
  builtinTaking(
    'date_diff(a: float, b: float) -> duration',
    { doc: 'The duration from `b` to `a`.', borrows: true },
    { fits: { a: holdsInstant, b: holdsInstant } },
    subtractDates,
  ),
  builtinTaking(
    'weekday_name(dt: float, tz?: string = "UTC") -> string',
    { doc: 'English name of the day of the week.', borrows: true },
    MAYBE_IN_ZONE,
    (ctx, dt, zone) => withMoment(ctx, 'weekday_name', dt, zone, (at) => WEEKDAYS[at.fields.weekday]!),
  ),
  builtinTaking(
    'month_name(dt: float, tz?: string = "UTC") -> string',
    { doc: 'English name of the month.', borrows: true },
    MAYBE_IN_ZONE,
    (ctx, dt, zone) => withMoment(ctx, 'month_name', dt, zone, (at) => MONTHS[at.fields.month - 1]!),
  ),
]
