// Dates as HTTP headers write them. The fields are read loosely, as RFC 6265 asks of cookie dates, and always mean UTC.

import { toSeconds } from '../time/calendar.js'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Milliseconds since 1970, null when the text holds no date. */
export function parseHttpDate(text: string): number | null {
  const date = /(\d{1,2})[ -]([A-Za-z]{3})[a-z]*[ -](\d{2,4})/.exec(text)
  const time = /(\d{1,2}):(\d{2}):(\d{2})/.exec(text)
  const month = MONTHS.indexOf(date?.[2]?.toLowerCase() ?? '')
  if (date === null || time === null || month < 0) return null
  const short = Number(date[3])
  const year = date[3]!.length > 2 ? short : short < 70 ? 2000 + short : 1900 + short
  return toSeconds(year, month + 1, Number(date[1]), Number(time[1]), Number(time[2]), Number(time[3])) * 1000
}
