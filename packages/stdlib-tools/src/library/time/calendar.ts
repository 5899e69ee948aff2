// The proleptic Gregorian calendar by arithmetic: instants to local fields and back. No JavaScript Date anywhere, so the
// range is that of exact numbers and nothing depends on the zone of the host.

/** A point in time: whole seconds since 1970 (floor) and nanoseconds 0…999,999,999 on top. */
export interface Instant {
  readonly seconds: number
  readonly nanos: number
}

/** What a wall clock shows in a zone. `weekday` counts from Sunday = 0; `month` and `day` from 1. */
export interface Fields {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanos: number
  readonly weekday: number
}

/** Dates past this many seconds from 1970 are refused: the bound up to which the platform knows time zones. */
export const MAX_SECONDS = 8.64e12

export const DAY_SECONDS = 86_400

/** Days since 1970-01-01 (the civil-from-days algorithm, eras of 400 years that begin in March). */
export function countDays(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

export function toDate(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

export function countDaysInMonth(year: number, month: number): number {
  return month === 2 ? (isLeapYear(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Day of the year, 1…366. */
export function toYearDay(year: number, month: number, day: number): number {
  return countDays(year, month, day) - countDays(year, 1, 1) + 1
}

/** Fields of an instant at `offset` seconds east of UTC. */
export function toFields(instant: Instant, offset: number): Fields {
  const local = instant.seconds + offset
  const days = Math.floor(local / DAY_SECONDS)
  const rest = local - days * DAY_SECONDS
  return {
    ...toDate(days),
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    nanos: instant.nanos,
    weekday: (((days + 4) % 7) + 7) % 7,
  }
}

/** Seconds since 1970 as if the fields were UTC. */
export function toSeconds(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  return countDays(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second
}

/** ISO 8601 week number and the year it belongs to. */
export function toIsoWeek(fields: Fields): { year: number; week: number } {
  const days = countDays(fields.year, fields.month, fields.day)
  // The Thursday of the same ISO week decides the year.
  const thursday = days - ((fields.weekday + 6) % 7) + 3
  const { year } = toDate(thursday)
  return { year, week: Math.floor((thursday - countDays(year, 1, 1)) / 7) + 1 }
}

/** The instant of a script's timestamp in seconds, rounded to whole microseconds; null when out of range. */
export function toInstant(timestamp: number): Instant | null {
  if (!Number.isFinite(timestamp) || Math.abs(timestamp) > MAX_SECONDS) return null
  let seconds = Math.floor(timestamp)
  let micros = Math.round((timestamp - seconds) * 1e6)
  if (micros >= 1_000_000) {
    seconds++
    micros -= 1_000_000
  }
  return { seconds, nanos: micros * 1000 }
}
