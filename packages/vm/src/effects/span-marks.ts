// Where pieces of work begin and end, for hosts that show a run as a tree while it goes on (stdlib-tools/src/otel). Beside the records
// of calls (trace-records.ts), which tell what came out, marks tell what contains what: a loop its turns, a task its calls, a call its
// attempts. They are in no snapshot and change nothing. Begin and end are paired by `id`; who listens keeps the stacks.

/** What a piece of work is. An `effect` is a call of the world by a builtin, an `attempt` one try of a tool outside the machine. */
export type SpanWork = 'tool_call' | 'attempt' | 'effect' | 'agent_loop' | 'agent_turn' | 'task'

export type SpanMark =
  | {
      readonly at: 'begin'
      readonly work: SpanWork
      /** `call_N` and `effect_N` as in the records; null for loops and turns, which are known by their task and their order. */
      readonly id: string | null
      readonly name: string
      /** Number of the task that does it. */
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
      /** Code of the error that ended it, if one did; its text may hold secrets that nobody knows yet. */
      readonly failure?: string
      /** What is known since its outcome. */
      readonly facts?: { readonly [name: string]: string | number | boolean }
    }
