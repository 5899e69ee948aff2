// Answers what runs ask of the event log that their host keeps. Records and changes of shared state carry the number of their effect, so that a run
// that is recovered, and asks for one again, makes it once.

import { answered, provider, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import type { EventLog, LogRecord, NewRecord } from './event-log-records.js'

export interface GateAnswer {
  readonly goes_on: boolean
  /** Events that were gathered; null where none are. */
  readonly batch: Plain
  /** What is recorded of the decision: `{kind, payload}` each. */
  readonly records: Plain
}

/** Flow control over all dispatches of a host. */
export interface Gates {
  enter(args: EnterArgs, signal: AbortSignal): Promise<GateAnswer>
  leave(args: { readonly gate: string; readonly rule: string; readonly dispatch: string }): void
}

export interface EnterArgs {
  readonly gate: string
  readonly rule: string
  readonly limits: { readonly [name: string]: Plain }
  readonly dispatch: string
  readonly rank: number
  readonly event: Plain
}

export interface EventLogProviderOptions {
  readonly log: EventLog
  /** Without them every dispatch continues. */
  readonly gates?: Gates
  /** Receives each record before it is appended. */
  readonly onAppend?: (record: NewRecord) => void
}

export function eventLogProvider({ log, gates, onAppend }: EventLogProviderOptions): Provider {
  return provider({
    kinds: ['event_log.op'],
    isReadOnly: () => true,
    perform(effect, call) {
      const { args } = effect
      switch (args.op) {
        case 'append': {
          const { topic, kind, payload, headers, at_ms: atMs } = args
          return append(log, { topic, kind, payload, headers, atMs }, args, call, onAppend)
        }
        case 'read': {
          const { topic, after, last, kind, event_id: eventId } = args
          return answered(log.read({ topic, after, last, kind, eventId }).map((record) => describeRecord(topic, record)))
        }
        case 'get': {
          const { value, version } = log.get(args.table, args.key)
          return answered({ value, version })
        }
        case 'put':
          return answered(log.put(args.table, args.key, args.value, args.version, readMark(call)))
        case 'enter':
          return gates === undefined ? answered({ goes_on: true, batch: null, records: [] }) : enter(gates, args, call)
        case 'leave':
          gates?.leave(args)
          return answered(null)
      }
    },
  })
}

type AppendArgs = Extract<EffectOf<'event_log.op'>['args'], { readonly op: 'append' }>

function readMark({ runId, id }: EffectCall): { readonly runId: string; readonly effectId: number } {
  return { runId, effectId: id }
}

function append(
  log: EventLog,
  record: NewRecord,
  { wants_id: wantsId, expected }: Pick<AppendArgs, 'wants_id' | 'expected'>,
  call: EffectCall,
  onAppend: EventLogProviderOptions['onAppend'],
): EffectOutcome {
  onAppend?.(record)
  const mark = readMark(call)
  if (!wantsId) {
    log.later((transaction) => void transaction.append(record, mark))
    return answered(null)
  }
  return answered(
    log.write((transaction) => {
      const known = transaction.find(mark)
      if (known !== null) return known
      return expected !== null && transaction.head(record.topic) !== expected ? null : transaction.append(record, mark)
    }),
  )
}

async function enter(gates: Gates, args: EnterArgs, { signal }: EffectCall): Promise<EffectOutcome> {
  try {
    const { goes_on, batch, records } = await gates.enter(args, signal)
    return answered({ goes_on, batch, records })
  } catch (cause) {
    return runtimeError(cause instanceof Error ? cause.message : String(cause))
  }
}

/** As scripts see it. */
export function describeRecord(topic: string, { id, kind, payload, headers, occurredAtMs }: LogRecord): Plain {
  return { id, cursor: id, topic, kind, payload, headers, occurred_at_ms: occurredAtMs }
}
