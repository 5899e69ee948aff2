// The two response formats of tools. A *direct* tool gives its bare value and throws when it fails. A *standard*
// tool gives a record that says what was done and whether it went well, so that a failure of the work itself is a value; wrong
// arguments, refusals, limits, timeouts and cancellation are thrown by both kinds. A tool declares which one it is and cannot
// choose by call.

import type { ToolErrorData } from './errors.js'
import { ToolError } from './errors.js'
import type { JsonSchema } from './schema.js'

export type ResponseFormat = 'direct' | 'standard'

export interface StandardResponse<Result = unknown> {
  readonly operation: string
  readonly success: boolean
  readonly message?: string
  readonly result?: Result
  readonly error?: { readonly message: string; readonly code: string; readonly details?: unknown }
  readonly metadata?: { readonly [key: string]: unknown }
}

/** The answer of a validator. */
export interface ValidationResponse {
  readonly valid: boolean
  readonly errors: readonly unknown[]
}

/** Builds standard responses; a tool with `response: 'standard'` may also return its bare result, which is wrapped. */
export const respond = {
  ok<Result>(operation: string, result: Result, metadata?: { readonly [key: string]: unknown }): StandardResponse<Result> {
    return { operation, success: true, result, ...(metadata === undefined ? {} : { metadata }) }
  },
  fail(
    operation: string,
    error: { readonly message: string; readonly code?: string; readonly details?: unknown },
  ): StandardResponse<never> {
    const { message, code = 'execution_failed', details } = error
    return { operation, success: false, error: { message, code, ...(details === undefined ? {} : { details }) } }
  },
  list<Item>(operation: string, items: readonly Item[]): StandardResponse<readonly Item[]> {
    return {
      operation,
      success: true,
      message: `Found ${items.length} items`,
      result: items,
      metadata: { count: items.length },
    }
  },
  validation(errors: readonly unknown[]): ValidationResponse {
    return { valid: errors.length === 0, errors }
  },
}

/** The result of a standard response; throws ToolError when it reports a failure. */
export function unwrapStandard<Result>(response: StandardResponse<Result>): Result {
  if (response.success) return response.result as Result
  const { code = 'execution_failed', message = 'the tool failed', details } = response.error ?? {}
  throw ToolError.of({ code, message, ...(details === undefined ? {} : { details: details as never }) })
}

/** Failures that are thrown in every format: nothing was done, or the outcome is unknown. */
const THROWN: ReadonlySet<string> = new Set([
  'not_registered',
  'invalid_args',
  'output_validation_failed',
  'policy_violation',
  'effect_violation',
  'egress_blocked',
  'security_violation',
  'approval_denied',
  'budget_exhausted',
  'resource_limit',
  'circuit_open',
  'timeout',
  'cancelled',
  'unknown_outcome',
  'tool_contract_missing',
  'tool_recursion_limit',
])

export function isThrownAlways(code: string): boolean {
  return THROWN.has(code)
}

export function makeFailureResponse(operation: string, error: ToolErrorData): StandardResponse<never> {
  return respond.fail(operation, error)
}

export function isStandardResponse(value: unknown): value is StandardResponse {
  if (typeof value !== 'object' || value === null) return false
  const { operation, success } = value as { readonly operation?: unknown; readonly success?: unknown }
  return typeof operation === 'string' && typeof success === 'boolean'
}

/** Schema of the record around a result. */
export function makeStandardSchema(result: JsonSchema | null): JsonSchema {
  const { $defs, ...own } = result ?? {}
  return {
    type: 'object',
    properties: {
      operation: { type: 'string' },
      success: { type: 'boolean' },
      message: { type: 'string' },
      result: own,
      error: {
        type: 'object',
        properties: { message: { type: 'string' }, code: { type: 'string' }, details: {} },
        required: ['message', 'code'],
      },
      metadata: { type: 'object' },
    },
    required: ['operation', 'success'],
    ...($defs === undefined ? {} : { $defs }),
  }
}
