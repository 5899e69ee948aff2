// The output of `/metrics`: counters of the process in the text format of Prometheus.

import type { Desk } from './desk.js'
import type { Inbox } from './inbox.js'
import type { Listener } from './listener.js'
import type { Dispatcher } from './pumps.js'
import { describeTriggers } from './snapshot.js'

interface Parts {
  readonly listener: Pick<Listener, 'counts' | 'inFlight'>
  readonly dispatcher: Pick<Dispatcher, 'inFlight'>
  readonly inbox: Inbox
  readonly desk: Desk
}

export function renderMetrics({ listener, dispatcher, inbox, desk }: Parts): string {
  const lines: string[] = []
  const add = (name: string, type: 'counter' | 'gauge', value: number): void => {
    lines.push(`# TYPE ${name} ${type}`, `${name} ${value}`)
  }
  const { counts, inFlight } = listener
  add('harn_http_requests_total', 'counter', counts.requests)
  add('harn_http_requests_in_flight', 'gauge', inFlight)
  add('harn_trigger_accepted_total', 'counter', counts.accepted)
  add('harn_trigger_rejected_total', 'counter', counts.rejected)
  add('harn_trigger_inbox_claims_written_total', 'counter', inbox.counts.written)
  add('harn_trigger_inbox_duplicates_rejected_total', 'counter', inbox.counts.rejected)
  add('harn_dispatcher_in_flight', 'gauge', dispatcher.inFlight)
  for (const name of ['received', 'dispatched', 'failed'] as const) {
    lines.push(`# TYPE harn_trigger_${name}_total counter`)
    for (const trigger of describeTriggers(desk))
      lines.push(`harn_trigger_${name}_total{trigger_id=${JSON.stringify(trigger.id)}} ${trigger[name]}`)
  }
  const custom = desk.log.get('connector_metrics', 'counters').value as { readonly [name: string]: number } | null
  for (const [name, value] of Object.entries(custom ?? {})) add(`connector_custom_${name}_total`, 'counter', value)
  return `${lines.join('\n')}\n`
}
