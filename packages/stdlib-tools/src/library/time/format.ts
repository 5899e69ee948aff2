// strftime with the directives of the chrono library, RFC 3339 texts, and the reader behind date_parse.

import { TextBuilder, work } from '@bridle/vm/families'
import { countDaysInMonth, toIsoWeek, toYearDay, toSeconds } from './calendar.js'
import type { Fields, Instant } from './calendar.js'

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

export interface Moment {
  readonly fields: Fields
  readonly instant: Instant
  /** Seconds east of UTC. */
  readonly offset: number
  readonly zoneName: string
}

function padTwo(n: number): string {
  return String(n).padStart(2, '0')
}

function formatYear(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0')
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(4, '0')}`
}

function formatOffset(offset: number, style: 'plain' | 'colon' | 'seconds' | 'hours'): string {
  const size = Math.abs(offset)
  const sign = offset < 0 ? '-' : '+'
  const hours = padTwo(Math.floor(size / 3600))
  const minutes = padTwo(Math.floor(size / 60) % 60)
  switch (style) {
    case 'plain':
      return `${sign}${hours}${minutes}`
    case 'colon':
      return `${sign}${hours}:${minutes}`
    case 'seconds':
      return `${sign}${hours}:${minutes}:${padTwo(size % 60)}`
    case 'hours':
      return `${sign}${hours}`
  }
}

/** Nothing, or a dot and 3, 6 or 9 digits: as few as are exact. */
function formatFraction(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  if (nanos % 1_000_000 === 0) return `.${digits.slice(0, 3)}`
  return nanos % 1000 === 0 ? `.${digits.slice(0, 6)}` : `.${digits}`
}

export function formatRfc3339(moment: Moment): string {
  const { fields } = moment
  const date = `${formatYear(fields.year)}-${padTwo(fields.month)}-${padTwo(fields.day)}`
  return `${date}T${padTwo(fields.hour)}:${padTwo(fields.minute)}:${padTwo(fields.second)}${formatFraction(fields.nanos)}${formatOffset(moment.offset, 'colon')}`
}

/** UTC with exactly three decimals: `2026-04-25T10:00:00.123Z`. */
export function formatIsoMillis(fields: Fields): string {
  const millis = String(Math.floor(fields.nanos / 1_000_000)).padStart(3, '0')
  return `${formatYear(fields.year)}-${padTwo(fields.month)}-${padTwo(fields.day)}T${padTwo(fields.hour)}:${padTwo(fields.minute)}:${padTwo(fields.second)}.${millis}Z`
}

type Pad = '0' | ' ' | ''

/** A number directive: value, width and usual padding; `%-d`, `%_d` and `%0d` change the padding. */
function findNumericDirective(directive: string, moment: Moment): readonly [number, number, Pad] | null {
  const { fields } = moment
  const { year, month, day, hour, weekday } = fields
  const dayOfYear = toYearDay(year, month, day)
  switch (directive) {
    case 'C':
      return [Math.floor(year / 100), 2, '0']
    case 'y':
      return [((year % 100) + 100) % 100, 2, '0']
    case 'm':
      return [month, 2, '0']
    case 'd':
      return [day, 2, '0']
    case 'e':
      return [day, 2, ' ']
    case 'w':
      return [weekday, 1, '0']
    case 'u':
      return [weekday === 0 ? 7 : weekday, 1, '0']
    case 'q':
      return [Math.ceil(month / 3), 1, '0']
    case 'U':
      return [Math.floor((dayOfYear + 6 - weekday) / 7), 2, '0']
    case 'W':
      return [Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7), 2, '0']
    case 'g':
      return [((toIsoWeek(fields).year % 100) + 100) % 100, 2, '0']
    case 'V':
      return [toIsoWeek(fields).week, 2, '0']
    case 'j':
      return [dayOfYear, 3, '0']
    case 'H':
      return [hour, 2, '0']
    case 'k':
      return [hour, 2, ' ']
    case 'I':
      return [hour % 12 === 0 ? 12 : hour % 12, 2, '0']
    case 'l':
      return [hour % 12 === 0 ? 12 : hour % 12, 2, ' ']
    case 'M':
      return [fields.minute, 2, '0']
    case 'S':
      return [fields.second, 2, '0']
    case 'f':
      return [fields.nanos, 9, '0']
    case 's':
      return [moment.instant.seconds, 1, '0']
    default:
      return null
  }
}

/** Directives that stand for a longer format. */
const COMPOSED: Readonly<Record<string, string>> = {
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  F: '%Y-%m-%d',
  v: '%e-%b-%Y',
  R: '%H:%M',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
}

function formatTextDirective(directive: string, moment: Moment): string | null {
  const { fields } = moment
  switch (directive) {
    case 'b':
    case 'h':
      return MONTHS[fields.month - 1]!.slice(0, 3)
    case 'B':
      return MONTHS[fields.month - 1]!
    case 'a':
      return WEEKDAYS[fields.weekday]!.slice(0, 3)
    case 'A':
      return WEEKDAYS[fields.weekday]!
    case 'p':
      return fields.hour < 12 ? 'AM' : 'PM'
    case 'P':
      return fields.hour < 12 ? 'am' : 'pm'
    case 'Z':
      return moment.zoneName
    case 'z':
      return formatOffset(moment.offset, 'plain')
    case ':z':
      return formatOffset(moment.offset, 'colon')
    case '::z':
      return formatOffset(moment.offset, 'seconds')
    case ':::z':
      return formatOffset(moment.offset, 'hours')
    case '#z':
      return fields.minute === 0 ? formatOffset(moment.offset, 'plain') : formatOffset(moment.offset, 'colon')
    case '+':
      return formatRfc3339(moment)
    case '.f':
      return formatFraction(fields.nanos)
    case 't':
      return '\t'
    case 'n':
      return '\n'
    case '%':
      return '%'
  }
  const fraction = /^(\.?)([369])f$/.exec(directive)
  if (fraction !== null) return fraction[1]! + String(fields.nanos).padStart(9, '0').slice(0, Number(fraction[2]))
  return null
}

/** Characters of a format up to which it is part of the call. */
const FEW = 64

/** The formatted text, or null when the format holds an unknown directive. */
export function formatTime(format: string, moment: Moment): string | null {
  if (format.length > FEW) work(format.length)
  const out = new TextBuilder()
  let at = 0
  while (at < format.length) {
    const percent = format.indexOf('%', at)
    if (percent < 0) return out.toString() + format.slice(at)
    out.add(format.slice(at, percent))
    const match = /^%([-_0]?)(\.[369]?f|[369]f|:{1,3}z|#z|[A-Za-z%+])/.exec(format.slice(percent, percent + 8))
    if (match === null) return null
    const piece = formatDirective(match[2]!, match[1]!, moment)
    if (piece === null) return null
    out.add(piece)
    at = percent + match[0].length
  }
  return out.toString()
}

function formatDirective(directive: string, modifier: string, moment: Moment): string | null {
  if (directive === 'Y' || directive === 'G') {
    const year = directive === 'Y' ? moment.fields.year : toIsoWeek(moment.fields).year
    return modifier === '-' ? String(year) : modifier === '_' ? String(year).padStart(4, ' ') : formatYear(year)
  }
  const composed = COMPOSED[directive]
  if (composed !== undefined) return formatTime(composed, moment)
  const row = findNumericDirective(directive, moment)
  if (row === null) return formatTextDirective(directive, moment)
  const [value, width, pad] = row
  const fill = modifier === '-' ? '' : modifier === '_' ? ' ' : modifier === '0' ? '0' : pad
  const digits = String(Math.abs(value))
  const sign = value < 0 ? '-' : ''
  return fill === '' ? sign + digits : sign + digits.padStart(width - sign.length, fill)
}

// -------------------------------------------------------------------------------------------------------------- reading

/** An instant, or the text of the error. */
export function parseDate(source: string): Instant | string {
  const trimmed = source.trim()
  return parseStandard(trimmed) ?? parseDigits(trimmed)
}

const STANDARD = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|z|[+\-\u2212]\d{2}:\d{2})?)?$/

/** RFC 3339, date and time without zone (UTC), and date alone; null when the text is none of these or names no real time. */
function parseStandard(source: string): Instant | null {
  const match = STANDARD.exec(source)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const zone = match[8]
  if (zone !== undefined && match[6] === undefined) return null
  // 60 is a leap second; it counts as the end of second 59, whose fraction then passes 1.
  if (hour > 23 || minute > 59 || second > 60) return null
  if (month < 1 || month > 12 || day < 1 || day > countDaysInMonth(year, month)) return null
  let offset = 0
  if (zone !== undefined && zone.toUpperCase() !== 'Z') {
    const minutes = Number(zone.slice(4, 6))
    if (minutes > 59) return null
    offset = (Number(zone.slice(1, 3)) * 60 + minutes) * (zone.startsWith('+') ? 60 : -60)
  }
  const nanos = Number((match[7] ?? '').slice(0, 9).padEnd(9, '0'))
  const leap = second === 60 ? 1 : 0
  return { seconds: toSeconds(year, month, day, hour, minute, second - leap) - offset, nanos: nanos + leap * 1e9 }
}

/** Years that there are, as in the library of the reference; others are refused as days that do not exist. */
const FIRST_YEAR = -262_143
const LAST_YEAR = 262_142

/** What no field can hold counts as below the smallest month or day, and above the largest hour, minute or second. */
function toField(number: number, outside: number): number {
  return number >= 0 && number < 2 ** 32 ? number : outside
}

/** Which field is out of its range, in the words of the error; null when none is. */
export function findBadField(
  ...fields: readonly [month: number, day: number, hour: number, minute: number, second: number]
): string | null {
  const [month, day, hour, minute, second] = fields.map((field, at) => toField(field, at < 2 ? 0 : 2 ** 32 - 1)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12) return `Invalid month: ${month} (must be 1-12)`
  if (day < 1 || day > 31) return `Invalid day: ${day} (must be 1-31)`
  if (hour > 23) return `Invalid hour: ${hour} (must be 0-23)`
  if (minute > 59) return `Invalid minute: ${minute} (must be 0-59)`
  return second > 59 ? `Invalid second: ${second} (must be 0-59)` : null
}

/** Whether there is such a day, for a month that is one. */
export function isDay(year: number, month: number, day: number): boolean {
  return year >= FIRST_YEAR && year <= LAST_YEAR && day <= countDaysInMonth(year, month)
}

export function describeBadDate(year: number, month: number, day: number): string {
  return `Invalid date: ${String(year).padStart(4, '0')}-${padTwo(month)}-${padTwo(day)}`
}

/** The first three to six groups of digits as year, month, day, hour, minute, second. */
function parseDigits(source: string): Instant | string {
  const groups = source.match(/\d+/g) ?? []
  if (groups.length < 3) return `Cannot parse date: ${source}`
  const [year, month, day, hour, minute, second] = [0, 1, 2, 3, 4, 5].map((at) => Number(groups[at] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (year >= 2 ** 31) return `Invalid year: ${groups[0]!}`
  const problem = findBadField(month, day, hour, minute, second)
  if (problem !== null) return problem
  if (!isDay(year, month, day)) return describeBadDate(year, month, day)
  return { seconds: toSeconds(year, month, day, hour, minute, second), nanos: 0 }
}
