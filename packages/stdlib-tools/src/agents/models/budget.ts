// What a model call may cost: estimates of its size, and the limits that its options and the run set.

import { HarnDict, HarnFloat, HarnList, stringifySorted, toUtf8 } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import type { LlmFailure } from './errors.js'
import type { LlmRequest } from './options.js'
import { projectCost } from './providers.js'
import { listDicts } from '../transcripts/shape.js'

const BYTES_PER_TOKEN = 4

export function estimateTextTokens(text: string): number {
  return Math.ceil(toUtf8(text).length / BYTES_PER_TOKEN)
}

function estimateTokens(value: Value): number {
  if (typeof value === 'string') return estimateTextTokens(value)
  if (value instanceof HarnList) return value.view().reduce((sum: number, item) => sum + estimateTokens(item), 0)
  if (value instanceof HarnDict) {
    return value.keys().reduce((sum, key) => sum + estimateTextTokens(key) + estimateTokens(value.get(key)!), 0)
  }
  return 1
}

export function estimateInput(request: LlmRequest): number {
  let tokens = request.system === null ? 0 : estimateTextTokens(request.system)
  for (const message of listDicts(request.messages)) tokens += estimateTokens(message)
  for (const tool of request.tools) tokens += estimateTextTokens(stringifySorted(tool))
  return tokens
}

/** Why the call must not be made, or null. */
export function findBudgetProblem(request: LlmRequest, spent: number, ceiling: number | null): LlmFailure | null {
  const budget = request.budget
  if (budget === null && ceiling === null) return null
  const input = estimateInput(request)
  const output = request.maxTokens
  const cost = projectCost(request.provider, request.model, input, output)
  const total = budget?.total_budget_usd ?? ceiling
  const formatDollars = (value: number): string => `$${value.toFixed(6)}`
  const checks: readonly (readonly [key: string, limit: number | null | undefined, value: number, what: string])[] = [
    ['max_input_tokens', budget?.max_input_tokens, input, `projected input tokens ${input}`],
    ['max_output_tokens', budget?.max_output_tokens, output, `projected output tokens ${output}`],
    ['max_cost_usd', budget?.max_cost_usd, cost, `projected cost ${formatDollars(cost)}`],
    ['total_budget_usd', total, spent + cost, `projected session cost ${formatDollars(spent + cost)}`],
  ]
  for (const [key, limit, value, what] of checks) {
    if (limit === null || limit === undefined || value <= limit) continue
    return {
      category: 'budget_exceeded',
      message: `LLM budget exceeded before provider call: ${what} would exceed ${key}`,
      more: {
        limit: key,
        limit_value: new HarnFloat(limit),
        projected_cost_usd: new HarnFloat(cost),
        session_cost_usd: new HarnFloat(spent),
        projected_input_tokens: input,
        projected_output_tokens: output,
      },
    }
  }
  return null
}
