// What a script says of itself – what it logs, how far it is – as updates of its session.

import type { Params } from '../tools/executors/jsonrpc.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import type { Report } from '../library/effects/index.js'

/** Of notices, by levels of logs. */
const SEVERITIES: ReadonlyMap<string, string> = new Map([
  ['info', 'info'],
  ['warn', 'warning'],
  ['error', 'error'],
])

/** Clients that show notices get what a script logs as such, but for details of its run. */
export function makeUpdate(report: Exclude<Report, { kind: 'agent' }>, asNotices: boolean): Params {
  if (report.kind === 'log') {
    const { level, message, fields } = report
    const severity = asNotices ? SEVERITIES.get(level) : undefined
    // A title is never empty.
    if (severity !== undefined) return { sessionUpdate: 'notice', severity, title: message === '' ? level : message }
    return { sessionUpdate: 'log', level, message, fields: plainFromHost(fields) }
  }
  const { phase, message, current, total } = report
  return {
    sessionUpdate: 'progress',
    phase,
    message,
    ...(current === null ? {} : { progress: current }),
    ...(total === null ? {} : { total }),
  }
}
