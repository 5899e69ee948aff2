// Failures of tools on the host's side of the edge. The codes and their categories are the machine's; a tool throws a
// ToolError to choose one, anything else it throws counts as `execution_failed` with its message.

import { TOOL_ERROR_CODES } from '../../library/tool-errors.js'
import { isToolErrorCode } from '../../library/tool-errors.js'
import type { EffectOutcome, Plain } from '@bridle/vm'
import type { ToolErrorCode } from '../../library/tool-errors.js'
import type { ToolErrorData } from '../executors/outcome.js'
import { describeCause } from '../executors/provider.js'

export type { ToolErrorData } from '../executors/outcome.js'

/** One class for all failures; `code` tells them apart, and narrows in a switch over an AnyToolError. */
export class ToolError<Code extends ToolErrorCode = ToolErrorCode> extends Error {
  override readonly name = 'ToolError'
  readonly code: Code
  readonly retryAfterMs: number | null
  readonly details: Plain

  constructor(
    code: Code,
    message: string,
    options: { readonly retryAfterMs?: number; readonly details?: Plain; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs ?? null
    this.details = options.details ?? null
  }

  /** What `error_category(e)` gives in a script. */
  get category(): string {
    return TOOL_ERROR_CODES[this.code].category
  }

  /** Whether a repeat may help at all; the tool's own recovery decides whether one is made. */
  get retryable(): boolean {
    return TOOL_ERROR_CODES[this.code].mayRepeat !== 'no'
  }

  /** From data; an unknown code counts as `execution_failed`. */
  static of(data: ToolErrorData): AnyToolError {
    const { code, message, retryAfterMs, details } = data
    return new ToolError(isToolErrorCode(code) ? code : 'execution_failed', message, {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(details === undefined ? {} : { details }),
    }) as AnyToolError // each code is one member of the union
  }

  toJSON(): { readonly [key: string]: unknown } {
    return {
      name: this.name,
      code: this.code,
      category: this.category,
      message: this.message,
      retryable: this.retryable,
      retryAfterMs: this.retryAfterMs,
      details: this.details,
    }
  }
}

export type AnyToolError = { [Code in ToolErrorCode]: ToolError<Code> }[ToolErrorCode]

export function isToolError<Code extends ToolErrorCode>(cause: unknown, code: Code): cause is ToolError<Code>
export function isToolError(cause: unknown): cause is AnyToolError
export function isToolError(cause: unknown, code?: ToolErrorCode): boolean {
  return cause instanceof ToolError && (code === undefined || cause.code === code)
}

export function toToolErrorData(cause: unknown): ToolErrorData {
  if (cause instanceof ToolError) {
    return {
      code: cause.code,
      message: cause.message,
      ...(cause.retryAfterMs === null ? {} : { retryAfterMs: cause.retryAfterMs }),
      ...(cause.details === null ? {} : { details: cause.details }),
    }
  }
  return { code: 'execution_failed', message: describeCause(cause) }
}

/** The outcome that the dispatch in the machine turns into the dict a script catches (library/effects/tool-records.ts). */
export function makeFailedOutcome(error: ToolErrorData): EffectOutcome {
  const value: { [key: string]: Plain } = { name: 'ToolError', code: error.code, message: error.message }
  if (error.retryAfterMs !== undefined) value['retry_after_ms'] = error.retryAfterMs
  if (error.details !== undefined) value['details'] = error.details
  return { ok: false, error: { kind: 'thrown', message: error.message, value } }
}
