// What traces say of a call of a model, or of an MCP server, in few words: for sinks that measure. Taken from the record itself, because large
// arguments and results are set aside in events.

import { HarnFloat } from '@bridle/vm/families'
import type { Plain, TraceRecord } from '@bridle/vm'

export interface ModelCallFacts {
  readonly provider: string | null
  readonly model: string | null
  readonly maxTokens: number | null
  readonly temperature: number | null
  readonly responseModel: string | null
  readonly finishReason: string | null
  /** Null where no answer came. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface CallFacts {
  readonly model: ModelCallFacts | null
  /** The MCP server answered, and its answer says that the tool failed. */
  readonly isToolError: boolean
}

const NONE: CallFacts = { model: null, isToolError: false }

export function readCallFacts({ tool, args, outcome }: TraceRecord): CallFacts {
  if (tool === 'llm.chat' || tool === 'llm.embed') return { model: readModelCall(args, outcome), isToolError: false }
  return outcome.ok && tool.startsWith('mcp.') && record(outcome.value)['isError'] === true
    ? { ...NONE, isToolError: true }
    : NONE
}

function readModelCall(args: Plain, outcome: TraceRecord['outcome']): ModelCallFacts {
  const asked = record(args)
  const settings = record(asked['settings'])
  const answer = record(outcome.ok ? outcome.value : null)
  return {
    provider: readText(asked['provider']) ?? readText(answer['provider']),
    model: readText(asked['model']) ?? readText(answer['model']),
    maxTokens: readNumber(asked['max_tokens']),
    temperature: readNumber(asked['temperature']) ?? readNumber(settings['temperature']),
    responseModel: readText(answer['model']),
    finishReason: readText(answer['stop_reason']),
    inputTokens: readNumber(answer['input_tokens']),
    outputTokens: readNumber(answer['output_tokens']),
    cacheRead: readNumber(answer['cache_read_tokens']) ?? 0,
    cacheWrite: readNumber(answer['cache_write_tokens']) ?? 0,
  }
}

function record(value: Plain | undefined): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}

function readText(value: Plain | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function readNumber(value: Plain | undefined): number | null {
  if (value instanceof HarnFloat) return value.v
  return typeof value === 'number' ? value : null
}
