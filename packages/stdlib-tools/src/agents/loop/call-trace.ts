// Records of an agent loop's tool calls in the host's trace: calls that the loop carries out itself, and calls that end before
// being carried out. Calls of tools outside the script are traced by the dispatch.

import { HarnDict, isCallable } from '@bridle/vm/families'
import type { BuiltinDef, Context, TraceRecord } from '@bridle/vm/families'
import { toPlainOrText } from '../../tools/dispatch/call-state.js'
import { getEntryFacts } from '../../tools/definitions/entry.js'
import { findCode } from '../../library/tool-errors.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { getOrNil } from '../../tools/definitions/registry.js'
import { RUNTIME_TOOLS } from '../../tools/definitions/runtime-tools.js'
import { executorOf } from '@bridle/compiler/grants'

export const callTracePrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__begin_call(call: dict) -> nil',
    'Tells traces that a call of a loop begins: {id, name, entry, args}.',
    (ctx, call) => {
      const { id, name } = decodeCall(call as HarnDict)
      ctx.machine.spans?.({ at: 'begin', work: 'tool_call', id, name, task: ctx.machine.taskNumber, ms: ctx.now })
      return null
    },
  ),
  definePrimitive(
    '__end_call(call: dict, start_ms: int, outcome: dict) -> nil',
    'Tells traces what a call of a loop came to.',
    (ctx, call, startMs, outcome) => {
      endCall(ctx, decodeCall(call as HarnDict), Number(startMs), outcome as HarnDict)
      return null
    },
  ),
  definePrimitive(
    '__trace_refusal(call: dict, code: string, message: string) -> nil',
    'A call that ends before anything carries it out: what a model tried is what an auditor looks for.',
    (ctx, call, code, message) => {
      const outcome = { ok: false as const, code: code as string, message: message as string, denied: true }
      record(ctx, decodeCall(call as HarnDict), { attempts: 0, startMs: ctx.now, outcome })
      return null
    },
  ),
]

interface LoopCall {
  readonly id: string
  readonly name: string
  readonly tool: HarnDict | undefined
  readonly args: HarnDict
}

function decodeCall(call: HarnDict): LoopCall {
  const entry = call.get('entry')
  return {
    id: call.get('id') as string,
    name: call.get('name') as string,
    tool: entry instanceof HarnDict ? entry : undefined,
    args: call.get('args') as HarnDict,
  }
}

function endCall(ctx: Context, call: LoopCall, startMs: number, outcome: HarnDict): void {
  const text = outcome.get('text') as string
  const category = (outcome.get('category') ?? null) as string | null
  const rejected = outcome.get('rejected') === true
  const code = rejected ? 'policy_violation' : findCode(category ?? '')
  const told: TraceRecord['outcome'] =
    category === null ? { ok: true, value: text } : { ok: false, code, message: text, denied: rejected }
  record(ctx, call, { attempts: rejected ? 0 : 1, startMs, outcome: told })
  const { spans, taskNumber } = ctx.machine
  spans?.({ at: 'end', work: 'tool_call', id: call.id, task: taskNumber, ms: ctx.now })
}

function record(
  ctx: Context,
  { id, name, tool, args }: LoopCall,
  made: { readonly attempts: number; readonly startMs: number; readonly outcome: TraceRecord['outcome'] },
): void {
  const { traced, taskNumber } = ctx.machine
  if (traced === null) return
  const facts = tool === undefined ? null : getEntryFacts(tool)
  const isHandled = tool !== undefined && isCallable(getOrNil(tool, 'handler'))
  const around = ctx.machine.task().fields.get('tool.call')
  traced({
    kind: 'tool_call',
    tool: name,
    alias: null,
    version: facts?.version ?? null,
    executor: RUNTIME_TOOLS.has(name)
      ? executorOf('builtin')
      : isHandled
        ? executorOf('script')
        : (facts?.executor ?? executorOf('script')),
    callId: id,
    parent: typeof around === 'string' ? around : null,
    task: taskNumber,
    args: toPlainOrText(args),
    policy: null,
    secret: facts?.secrets ?? [],
    attempts: made.attempts,
    startedMs: made.startMs,
    endedMs: ctx.now,
    outcome: made.outcome,
  })
}
