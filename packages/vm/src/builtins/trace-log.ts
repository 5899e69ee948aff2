// The calls of a run as the run itself can read them (`std/trace`): the records that also go to the host's trace, kept in the machine
// once the script has asked for them. Unlike the host's trace they are state: in snapshots, the same in a replay, and never
// redacted, because the script has seen everything in them.

import { builtin, family } from './builtin.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { fromPlain } from '../values/plain.js'
import type { Context } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { TraceRecord } from '../effects/trace-records.js'
import type { Machine } from '../interpreter/machine.js'
import type { Value } from '../values/value.js'

const traceLog = family('trace_log', (): { on: boolean; seq: number; events: Value[] } => ({ on: false, seq: 0, events: [] }))

/** Maximum number of events; older ones are removed. */
const MAX_EVENTS = 10_000

type Listener = (record: TraceRecord) => void

/** Field of a task inside a standard tool, whose own trace record describes the whole call. */
export const UNTRACED = 'trace.covered'

/** Receivers of call records: the host, the script or both; null for none. */
export function findListener(m: Machine): Listener | null {
  const host = m.options.trace ?? null
  const log = m.families.get(traceLog.name) as ReturnType<typeof traceLog.state> | undefined
  if (log?.on !== true) return host
  return (record) => {
    m.chargeHeap(512)
    log.events.push(makeEvent(++log.seq, record))
    if (log.events.length > MAX_EVENTS) log.events.shift()
    host?.(record)
  }
}

function makeEvent(seq: number, record: TraceRecord): Value {
  const { outcome } = record
  return HarnDict.of({
    seq,
    tool: record.tool,
    name: record.alias ?? record.tool,
    version: record.version,
    executor: record.executor,
    call_id: record.callId,
    parent: record.parent,
    task: record.task,
    args: fromPlain(record.args),
    success: outcome.ok,
    denied: !outcome.ok && outcome.denied,
    cached: record.cached ?? false,
    attempts: record.attempts,
    latency_ms: Math.max(0, Math.trunc(record.endedMs - record.startedMs)),
    ...(outcome.ok
      ? { output: fromPlain(outcome.value) }
      : { error: HarnDict.of({ code: outcome.code, message: outcome.message }) }),
  })
}

export const traceLogFamily: BuiltinFamily = {
  name: 'trace-log',
  builtins: [
    builtin('__trace_keep() -> nil', { doc: 'From now on the calls of the run can be read.', effects: [] }, (ctx: Context) => {
      ctx.state(traceLog).on = true
      return null
    }),
    builtin('__trace_events() -> list', { doc: 'The calls of the run so far, oldest first.', effects: [] }, (ctx) => {
      const { events } = ctx.state(traceLog)
      ctx.charge(events.length >> 3, events.length * 16)
      return new HarnList([...events])
    }),
    builtin(
      '__run_id() -> string',
      { doc: 'What the run is called outside; nil when nobody said.', effects: [] },
      (ctx) => ctx.machine.runId,
    ),
  ],
}
