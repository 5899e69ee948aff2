// Date builtins. A timestamp is seconds since 1970, int when whole, else float. They read the real
// clock only: a mocked clock does not reach date_now.

import { Control, HarnDict, HarnDuration, HarnFloat, builtin, display, isInt, typeName } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'
import { fieldsAt, instantOf, secondsOf } from './calendar.js'
import type { Fields, Instant } from './calendar.js'
import { MONTHS, WEEKDAYS, badDate, badField, isDay, isoMillis, parseDate, rfc3339, strftime } from './format.js'
import type { Moment } from './format.js'
import { instantsOfLocal, isZone, zoneTime } from './zones.js'

/** Seconds as scripts see them: int when whole. */
function timestampValue(instant: Instant): Value {
  return instant.nanos === 0 ? instant.seconds : new HarnFloat(instant.seconds + instant.nanos / 1e9)
}

/** The instant in an argument: a number of seconds, or a dict with one under `timestamp`; undefined: it was not passed. */
function instantArg(ctx: Context, name: string, value: Value | undefined): Instant | Control {
  const number = value instanceof HarnDict ? value.get('timestamp') : value
  if (number === undefined) return ctx.throw(`${name}: missing timestamp argument`)
  if (!isInt(number) && !(number instanceof HarnFloat))
    return ctx.throw(`${name}: expected timestamp number or date dict, got ${typeName(number)}`)
  const seconds = number instanceof HarnFloat ? number.v : Number(number)
  if (!Number.isFinite(seconds)) return ctx.throw(`${name}: timestamp must be finite`)
  const instant = instantOf(seconds)
  return instant ?? ctx.throw(`${name}: timestamp out of range`)
}

/** The instant as a clock in the zone shows it; without a zone in UTC. */
function moment(ctx: Context, name: string, instant: Instant, zone: Value | undefined): Moment | Control {
  if (zone === undefined) return { fields: fieldsAt(instant, 0), instant, offset: 0, zoneName: 'UTC' }
  const zoneName = display(zone)
  if (!isZone(zoneName)) return ctx.throw(`${name}: unknown timezone '${zoneName}'`)
  const { offset, abbreviation } = zoneTime(zoneName, instant.seconds)
  return { fields: fieldsAt(instant, offset), instant, offset, zoneName: abbreviation }
}

/** Reads timestamp and zone, then answers by `finish`. */
function withMoment(
  ctx: Context,
  name: string,
  value: Value | undefined,
  zone: Value | undefined,
  finish: (at: Moment) => Result,
): Result {
  const instant = instantArg(ctx, name, value)
  if (instant instanceof Control) return instant
  const at = moment(ctx, name, instant, zone)
  return at instanceof Control ? at : finish(at)
}

function clockFields(fields: Fields): Map<string, Value> {
  const { year, month, day, hour, minute, second, weekday } = fields
  return new Map<string, Value>(Object.entries({ year, month, day, hour, minute, second, weekday }))
}

/** What date_now gives for a wall clock reading in milliseconds. */
export function dateNowDict(nowMs: number): HarnDict {
  const seconds = Math.floor(nowMs / 1000)
  const instant = { seconds, nanos: Math.floor((nowMs - seconds * 1000) * 1e6) }
  const fields = fieldsAt(instant, 0)
  const out = clockFields(fields)
  out.set('timestamp', new HarnFloat(nowMs / 1000))
  out.set('iso8601', isoMillis(fields))
  return HarnDict.named(out)
}

/** `2026-04-25T10:00:00.123Z` for a wall clock reading in milliseconds. */
export function isoNow(nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  return isoMillis(fieldsAt({ seconds, nanos: Math.floor((nowMs - seconds * 1000) * 1e6) }, 0))
}

/** An int, or a float without a fraction; null for anything else. */
function wholeNumber(value: Value): number | null {
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
    const number = value === undefined ? 0 : wholeNumber(value)
    if (number === null) return ctx.throw(`${name}: ${key} must be an integer, got ${typeName(value!)}`)
    numbers.push(number)
  }
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number]
  if (year !== (year | 0)) return ctx.throw(`${name}: year out of range`)
  const problem = badField(month, day, hour, minute, second)
  if (problem !== null) return ctx.throw(problem)
  if (!isDay(year, month, day)) return ctx.throw(badDate(year, month, day))
  const [first] = instantsOfLocal(zoneName, secondsOf(year, month, day, hour, minute, second))
  return first ?? ctx.throw(`${name}: local time does not exist in that timezone`)
}

function inZone(at: Moment, zone: Value): Value {
  const out = clockFields(at.fields)
  out.set('offset_seconds', at.offset)
  out.set('timestamp', timestampValue(at.instant))
  out.set('iso8601', rfc3339(at))
  out.set('zone', display(zone))
  return HarnDict.named(out)
}

function addDuration(ctx: Context, value: Value | undefined, duration: Value): Result {
  const instant = instantArg(ctx, 'date_add', value)
  if (instant instanceof Control) return instant
  if (ctx.argc < 2) return ctx.throw('date_add: missing duration argument')
  if (!(duration instanceof HarnDuration)) return ctx.throw(`date_add: expected duration, got ${typeName(duration)}`)
  const ms = Number(duration.ms)
  const seconds = Math.floor(ms / 1000)
  let nanos = instant.nanos + (ms - seconds * 1000) * 1_000_000
  const carry = Math.floor(nanos / 1e9)
  nanos -= carry * 1e9
  return timestampValue({ seconds: instant.seconds + seconds + carry, nanos })
}

function difference(ctx: Context, left: Value | undefined, right: Value | undefined): Result {
  const a = instantArg(ctx, 'date_diff', left)
  if (a instanceof Control) return a
  const b = instantArg(ctx, 'date_diff', right)
  if (b instanceof Control) return b
  return new HarnDuration(Math.trunc((a.seconds - b.seconds) * 1000 + (a.nanos - b.nanos) / 1e6) || 0)
}

/** The argument at `index`, undefined when it was not passed. */
function given(ctx: Context, index: number, value: Value | undefined): Value | undefined {
  return index < ctx.argc ? value : undefined
}

/** As withMoment, for a zone that must be given. */
function zoned(
  ctx: Context,
  name: string,
  dt: Value | undefined,
  zone: Value | undefined,
  finish: (at: Moment) => Result,
): Result {
  const timestamp = given(ctx, 0, dt)
  const instant = instantArg(ctx, name, timestamp)
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
      withMoment(ctx, 'date_format', given(ctx, 0, dt), given(ctx, 2, zone), (at) => {
        const template = ctx.argc < 2 ? DEFAULT_FORMAT : display(format!)
        return strftime(template, at) ?? ctx.throw(`date_format: invalid format string '${template}'`)
      }),
  ),
  builtin(
    'date_parse(str: string) -> int | float as ?',
    { doc: 'The timestamp that a text names: RFC 3339, date and time, date, or groups of digits.', borrows: true },
    (ctx, source) => {
      const parsed = parseDate(ctx.argc === 0 ? '' : display(source!))
      return typeof parsed === 'string' ? ctx.throw(parsed) : timestampValue(parsed)
    },
  ),
  builtin(
    'date_in_zone(dt: float, tz: string) -> dict',
    { doc: 'The local fields of a timestamp in a time zone.', borrows: true },
    (ctx, dt, zone) => zoned(ctx, 'date_in_zone', dt, zone, (at) => inZone(at, zone!)),
  ),
  builtin(
    'date_to_zone(dt: float, tz: string) -> string',
    { doc: 'RFC 3339 text of a timestamp in a time zone.', borrows: true },
    (ctx, dt, zone) => zoned(ctx, 'date_to_zone', dt, zone, rfc3339),
  ),
  builtin(
    'date_from_components(parts: dict, tz?: string) -> int as ?',
    { doc: 'The timestamp of local date and time fields; an ambiguous time is the earlier one.', borrows: true },
    (ctx, parts, zone) => fromComponents(ctx, parts!, zone!),
  ),
  builtin(
    'date_add(dt: float, duration: duration) -> int | float as ?',
    { doc: 'A timestamp moved by a duration.', borrows: true },
    (ctx, dt, duration) => addDuration(ctx, given(ctx, 0, dt), duration!),
  ),
  builtin('date_diff(a: float, b: float) -> duration', { doc: 'The duration from `b` to `a`.', borrows: true }, (ctx, a, b) =>
    difference(ctx, given(ctx, 0, a), given(ctx, 1, b)),
  ),
  builtin(
    'weekday_name(dt: float, tz?: string) -> string',
    { doc: 'English name of the day of the week.', borrows: true },
    (ctx, dt, zone) =>
      withMoment(ctx, 'weekday_name', given(ctx, 0, dt), given(ctx, 1, zone), (at) => WEEKDAYS[at.fields.weekday]!),
  ),
  builtin('month_name(dt: float, tz?: string) -> string', { doc: 'English name of the month.', borrows: true }, (ctx, dt, zone) =>
    withMoment(ctx, 'month_name', given(ctx, 0, dt), given(ctx, 1, zone), (at) => MONTHS[at.fields.month - 1]!),
  ),
]
