// Start and end of spans, for hosts that show a run as a tree while it runs (stdlib-tools/src/otel). The records
// of calls (trace-records.ts) give results; marks give nesting: a loop contains its turns, a task its calls, a call its
// attempts. They are in no snapshot and change nothing. `id` pairs start and end; the listener keeps the stacks.

/** The kind of a span. An `effect` is requested directly by a builtin, an `attempt` is one try of a tool outside the machine. */
export type SpanWork = 'tool_call' | 'attempt' | 'effect' | 'agent_loop' | 'agent_turn' | 'task'

export type SpanMark =
  | {
      readonly at: 'begin'
      readonly work: SpanWork
      /** `call_N` and `effect_N` as in the records; null for loops and turns, which are identified by task and order. */
      readonly id: string | null
      readonly name: string
      /** Number of the task that runs it. */
      readonly task: number
      /** The task that started this one; for a task only. */
      readonly parentTask?: number
      /** By the machine's clock. */
      readonly ms: number
      readonly facts?: { readonly [name: string]: string | number | boolean }
    }
  | {
      readonly at: 'end'
      readonly work: SpanWork
      readonly id: string | null
      readonly task: number
      readonly ms: number
      /** Code of the error that ended it, if any; the message may contain secrets that are not known yet. */
      readonly failure?: string
      /** What is known since its outcome. */
      readonly facts?: { readonly [name: string]: string | number | boolean }
    }
