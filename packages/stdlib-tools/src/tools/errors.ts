// Failures of tools on the host's side of the edge. The codes and their categories are the machine's (05 §7); a tool throws a
// ToolError to choose one, anything else it throws counts as `execution_failed` with its message.

import type { EffectOutcome, Plain } from '@bridle/vm'

export interface ToolErrorData {
  readonly code: string
  readonly message: string
  readonly retryAfterMs?: number
  readonly details?: Plain
}

export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: string
  readonly retryAfterMs: number | null
  readonly details: Plain

  constructor(
    code: string,
    message: string,
    options: { readonly retryAfterMs?: number; readonly details?: Plain; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs ?? null
    this.details = options.details ?? null
  }

  static of(data: ToolErrorData): ToolError {
    const { code, message, retryAfterMs, details } = data
    return new ToolError(code, message, {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(details === undefined ? {} : { details }),
    })
  }

  toJSON(): { readonly [key: string]: unknown } {
    return { name: this.name, code: this.code, message: this.message, retryAfterMs: this.retryAfterMs, details: this.details }
  }
}

export function isToolError(cause: unknown, code?: string): cause is ToolError {
  return cause instanceof ToolError && (code === undefined || cause.code === code)
}

export function toolErrorData(cause: unknown): ToolErrorData {
  if (cause instanceof ToolError) {
    return {
      code: cause.code,
      message: cause.message,
      ...(cause.retryAfterMs === null ? {} : { retryAfterMs: cause.retryAfterMs }),
      ...(cause.details === null ? {} : { details: cause.details }),
    }
  }
  return { code: 'execution_failed', message: cause instanceof Error ? cause.message : String(cause) }
}

/** The outcome that the dispatch in the machine turns into the dict a script catches (packages/vm/src/effects/tool-records.ts). */
export function failedOutcome(error: ToolErrorData): EffectOutcome {
  const value: { [key: string]: Plain } = { name: 'ToolError', code: error.code, message: error.message }
  if (error.retryAfterMs !== undefined) value['retry_after_ms'] = error.retryAfterMs
  if (error.details !== undefined) value['details'] = error.details
  return { ok: false, error: { kind: 'thrown', message: error.message, value } }
}
