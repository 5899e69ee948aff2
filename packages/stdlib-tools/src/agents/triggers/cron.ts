// Schedules of cron triggers: validation, and the next time. In zones with summer time a schedule at a fixed time fires
// once a day: at the first time after the gap if its time is skipped, at the first of two if its time occurs twice.

import { Cron } from 'croner'

/** Fields of a pattern; five, or six with seconds first. */
const FIELDS = new Set([5, 6])

const MAX_LENGTH = 256

function openSchedule(schedule: string, timezone: string): Cron {
  return new Cron(schedule, { timezone, paused: true, mode: '5-or-6-parts' })
}

/** What is wrong with a schedule; null for one that will come. */
export function findCronProblem(schedule: string): string | null {
  if (schedule.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`
  const fields = schedule
    .trim()
    .split(' ')
    .filter((field) => field !== '')
  if (!FIELDS.has(fields.length)) return `expected five fields, or six with seconds in front, got ${fields.length}`
  try {
    const never = openSchedule(fields.join(' '), 'UTC').nextRun(new Date(0)) === null
    return never ? 'no day fits it' : null
  } catch (cause) {
    return cause instanceof Error ? cause.message.replace('CronPattern: ', '') : String(cause)
  }
}

/** Whether it is the name of a zone of the tz database; offsets such as `+02:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The times after `afterMs` at which a schedule comes, `count` at most. The schedule and the zone have no problems. */
export function listCronTicks(schedule: string, timezone: string, afterMs: number, count: number): readonly number[] {
  return openSchedule(schedule.trim(), timezone)
    .nextRuns(count, new Date(afterMs))
    .map((tick) => tick.getTime())
}
