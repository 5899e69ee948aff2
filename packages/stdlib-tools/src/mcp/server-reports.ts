// Progress and log lines of a request, as notifications of the protocol.

import type { LogLevel } from '../library/effects/index.js'
import type { Json, JsonObject, RequestScope } from './server-protocol.js'

/** Of the protocol, least first; the four that scripts know are among them. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const LEVEL_NAMES: Readonly<Record<LogLevel, string>> = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' }

export interface ReportTarget {
  /** The client's progress token; undefined if it did not request progress. */
  readonly token: () => Json | undefined
  /** Index in LOG_LEVELS below which nothing is sent; null sends nothing. */
  readonly level: () => number | null
  readonly notify: (method: string, params: JsonObject) => void
  readonly signal: AbortSignal
}

export function makeReports({ token, level, notify, signal }: ReportTarget): Pick<RequestScope, 'progress' | 'log'> {
  let last = -1
  return {
    progress: (given, message, total) => {
      const progressToken = token()
      if (progressToken === undefined || signal.aborted) return
      // The protocol wants figures that grow; work of several parts counts each from the start.
      const grows = given !== null && given > last
      last = grows ? given : last + 1
      const figures = grows && total !== undefined ? { progress: last, total } : { progress: last }
      notify('notifications/progress', { progressToken, ...figures, ...(message === undefined ? {} : { message }) })
    },
    log: (at, data, logger) => {
      const name = LEVEL_NAMES[at]
      const least = level()
      if (least === null || LOG_LEVELS.indexOf(name) < least || signal.aborted) return
      notify('notifications/message', { level: name, ...(logger === undefined ? {} : { logger }), data })
    },
  }
}
