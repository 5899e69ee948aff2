// What the host's trace hears of the tool calls of an agent loop: those that the loop carries out by itself, and those that end before
// anything carries them out. Calls of tools outside the script tell of themselves, in the dispatch.

import { here, isCallable } from '@bridle/vm/families'
import type { Context, HarnDict, Script, TraceRecord } from '@bridle/vm/families'
import { RUNTIME_TOOLS } from './options.js'
import { plainOrText } from '../../tools/dispatch/dispatch.js'
import { factsOfEntry } from '../../tools/definitions/entry.js'
import { codeOfCategory } from '../../library/tool-errors.js'
import { present } from '../../tools/definitions/registry.js'

export interface LoopCall {
  readonly id: string
  readonly name: string
  readonly tool: HarnDict | undefined
  readonly args: HarnDict
}

/** What became of a call. */
export interface Outcome {
  readonly text: string
  readonly rejected: boolean
  readonly category: string | null
  readonly plan: HarnDict | null
}

/** As traces name a call of a loop; models count theirs from the start in each turn. */
export function callIdOf(id: string, iteration: number): string {
  return `agent_${iteration}_${id}`
}

export function beginCall(ctx: Context, id: string, name: string): void {
  ctx.machine.spans?.({ at: 'begin', work: 'tool_call', id, name, task: ctx.machine.taskNumber, ms: ctx.now })
}

export function endCall(ctx: Context, call: LoopCall, startMs: number, { category, rejected, text }: Outcome): void {
  const code = rejected ? 'policy_violation' : codeOfCategory(category ?? '')
  const outcome: TraceRecord['outcome'] =
    category === null ? { ok: true, value: text } : { ok: false, code, message: text, denied: rejected }
  record(ctx, call, { attempts: rejected ? 0 : 1, startMs, outcome })
  const { spans, taskNumber } = ctx.machine
  spans?.({ at: 'end', work: 'tool_call', id: call.id, task: taskNumber, ms: ctx.now })
}

/** A call that ends before anything carries it out is in the trace as well: what a model tried is what an auditor looks for. */
export function* traceRefusal(call: LoopCall, error: { readonly code: string; readonly message: string }): Script<null> {
  return yield* here((ctx) => {
    record(ctx, call, { attempts: 0, startMs: ctx.now, outcome: { ok: false, ...error, denied: true } })
    return null
  })
}

function record(
  ctx: Context,
  { id, name, tool, args }: LoopCall,
  made: { readonly attempts: number; readonly startMs: number; readonly outcome: TraceRecord['outcome'] },
): void {
  const { traced, taskNumber } = ctx.machine
  if (traced === null) return
  const facts = tool === undefined ? null : factsOfEntry(tool)
  const isHandled = tool !== undefined && isCallable(present(tool, 'handler'))
  const around = ctx.machine.task().fields.get('tool.call')
  traced({
    kind: 'tool_call',
    tool: name,
    alias: null,
    version: facts?.version ?? null,
    executor: RUNTIME_TOOLS.includes(name) ? 'builtin' : isHandled ? 'harn' : (facts?.executor ?? 'harn'),
    callId: id,
    parent: typeof around === 'string' ? around : null,
    task: taskNumber,
    args: plainOrText(args),
    policy: null,
    secret: facts?.secrets ?? [],
    attempts: made.attempts,
    startedMs: made.startMs,
    endedMs: ctx.now,
    outcome: made.outcome,
  })
}
