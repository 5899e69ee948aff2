// The trace of model calls and loops: totals over its events, which lie in the state of the llm family.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Context } from '@bridle/vm/families'
import { llmState } from '../models/state.js'
import type { LlmState } from '../models/state.js'

/** Totals over all events of the trace. */
export function traceSummary(ctx: Context): HarnDict {
  const events = ctx.state(llmState).trace
  const of = (type: string): HarnDict[] => events.filter((event) => event.get('type') === type)
  const sum = (rows: readonly HarnDict[], key: string): number =>
    rows.reduce((total, row) => total + Number(row.get(key) ?? 0), 0)
  const calls = of('llm_call')
  const loops = of('loop_complete')
  const tools = of('tool_execution')
  const fallbacks = of('native_tool_fallback')
  const last = loops.at(-1)
  const used = new Set(tools.map((tool) => display(tool.get('tool_name') ?? '')))
  return HarnDict.of({
    status: last?.get('status') ?? 'unknown',
    iterations: Number(last?.get('iterations') ?? 0),
    total_duration_ms: Number(last?.get('total_duration_ms') ?? 0),
    llm_calls: calls.length,
    tool_executions: tools.length,
    tool_rejections: of('tool_rejected').length,
    interventions: of('loop_intervention').length,
    compactions: of('context_compaction').length,
    native_text_tool_fallbacks: fallbacks.length,
    native_text_tool_fallback_rejections: fallbacks.filter((event) => event.get('accepted') === false).length,
    empty_completion_retries: of('empty_completion_retry').length,
    total_input_tokens: sum(calls, 'input_tokens'),
    total_output_tokens: sum(calls, 'output_tokens'),
    total_llm_duration_ms: sum(calls, 'duration_ms'),
    total_tool_duration_ms: sum(tools, 'duration_ms'),
    tools_used: new HarnList([...used]),
  })
}

export interface TraceTotals {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Tokens of all model calls. */
export function traceTotals({ trace }: LlmState): TraceTotals {
  const calls = trace.filter((event) => event.get('type') === 'llm_call')
  const sum = (key: string): number => calls.reduce((total, event) => total + Number(event.get(key) ?? 0), 0)
  return { inputTokens: sum('input_tokens'), outputTokens: sum('output_tokens') }
}
