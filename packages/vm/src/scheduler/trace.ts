// Traces effects that builtins request directly (a tool call is traced by tools/dispatch/dispatch.ts): one
// record each, when its outcome reaches the script.

import { UNTRACED, findListener } from '../builtins/trace-log.js'
import type { Effect, EffectOutcome } from '../effects/effect.js'
import type { EffectSpan } from '../effects/judge.js'
import type { TraceRecord } from '../effects/trace-records.js'
import type { Machine } from '../interpreter/machine.js'
import type { Task } from './task.js'

export function traceEffect(m: Machine, task: Task, id: number, effect: Effect, outcome: EffectOutcome): void {
  record(m, task, id, effect, outcome)
  const { spans } = m.options
  if (spans === undefined) return
  const named = findSpan(m, task, effect)
  if (named === null) return
  const failed = outcome.ok ? null : makeOutcome(m, outcome)
  const facts = outcome.ok ? m.options.judge?.spanEnd?.(effect, outcome.value) : undefined
  spans({
    at: 'end',
    work: named.work,
    id: `effect_${id}`,
    task: task.id,
    ms: m.now,
    ...(failed === null || failed.ok ? {} : { failure: failed.code }),
    ...(facts === undefined ? {} : { facts }),
  })
}

/** The span of an effect, if it should be visible. */
function findSpan(m: Machine, task: Task, effect: Effect): EffectSpan | null {
  return m.options.judge?.span(effect, task.fields.get(UNTRACED) === true) ?? null
}

export function beginEffect(m: Machine, task: Task, id: number, effect: Effect): void {
  const named = findSpan(m, task, effect)
  if (named !== null) m.options.spans?.({ at: 'begin', id: `effect_${id}`, task: task.id, ms: m.now, ...named })
}

function record(m: Machine, task: Task, id: number, effect: Effect, outcome: EffectOutcome): void {
  const startedMs = m.effectStarts.get(id) ?? m.now
  m.effectStarts.delete(id)
  const listener = findListener(m)
  if (listener === null || task.fields.get(UNTRACED) === true) return
  const call = m.options.judge?.describe(effect) ?? null
  if (call === null) return
  const parent = task.fields.get('tool.call')
  listener({
    kind: 'tool_call',
    tool: call.tool,
    alias: null,
    version: null,
    executor: 'builtin',
    callId: `effect_${id}`,
    parent: typeof parent === 'string' ? parent : null,
    task: task.id,
    args: call.args,
    policy: null,
    secret: call.secret ?? [],
    attempts: 1,
    startedMs,
    endedMs: m.now,
    outcome: makeOutcome(m, outcome),
  })
}

function makeOutcome(m: Machine, outcome: EffectOutcome): TraceRecord['outcome'] {
  if (outcome.ok) return { ok: true, value: outcome.value }
  const { category, message, value, code: own } = outcome.error
  const record = value as { readonly code?: unknown } | null | undefined
  const code =
    typeof record?.code === 'string' ? record.code : (own ?? m.options.judge?.codeOf(category ?? '') ?? 'execution_failed')
  return { ok: false, code, message, denied: category === 'tool_rejected' || category === 'egress_blocked' }
}
