// Builtins as the checker sees them: a name, perhaps a plain return type, and for a few a generic signature that gives a better
// one when every type parameter could be bound. Built from THE table in builtin-signatures.ts.

import { BUILTIN_ROWS } from './builtin-signatures.js'
import type { ParamInfo } from './declarations.js'
import { readParams, readType } from './signature-text.js'
import type { Known, Type } from './type.js'

export interface BuiltinSignature {
  readonly name: string
  readonly minArgs: number
  /** null: any number. */
  readonly maxArgs: number | null
  /** As text, in the notation of signature-text.ts; `paramsOf` reads it. */
  readonly params: string
  readonly returns: Known
  readonly generic: GenericSignature | null
}

export interface GenericSignature {
  readonly typeParams: readonly string[]
  readonly params: readonly Type[]
  readonly returns: Type
}

export type BuiltinSignatures = ReadonlyMap<string, BuiltinSignature>

const REPLY =
  '{text: string, model: string, provider: string, input_tokens: int, output_tokens: int, data: T, ' +
  'visible_text?: string, tool_calls?: list, thinking?: string, stop_reason?: string}'
const USAGE = '{input_tokens: int, output_tokens: int, cache_read_tokens: int, cache_write_tokens: int}'

/**
 * Name, type parameter or '', parameter types that bind it, result. Results that the language states with nominal record types
 * of the host (trigger handles, trust records) are left out: nobody declares those names, so they could only make false errors.
 */
const GENERIC_ROWS: readonly (readonly [name: string, typeParam: string, params: readonly string[], returns: string])[] = [
  ['ask_user', 'T', ['string', '{schema?: Schema<T>, timeout?: duration, default?: T}'], 'T'],
  ['dual_control', 'T', ['int', 'int', 'fn() -> T', 'list<string> | nil'], 'T'],
  [
    'escalate_to',
    '',
    ['string', 'string'],
    '{request_id: string, role: string, reason: string, trace_id: string, ' +
      'status: string, accepted_at: string | nil, reviewer: string | nil}',
  ],
  ['llm_call', 'T', ['string', 'string | nil', '{output_schema?: Schema<T>}'], REPLY],
  ['llm_call_structured', 'T', ['string', 'Schema<T>', 'dict | nil'], 'T'],
  [
    'llm_call_structured_result',
    'T',
    ['string', 'Schema<T>', 'dict | nil'],
    '{ok: bool, data: T | nil, raw_text: string, ' +
      'error: string, error_category: string | nil, attempts: int, repaired: bool, extracted_json: bool, ' +
      `usage: ${USAGE}, model: string, provider: string}`,
  ],
  ['llm_completion', 'T', ['string', 'string | nil', '{output_schema?: Schema<T>}'], REPLY],
  [
    'project_fingerprint',
    '',
    ['string'],
    '{primary_language: string, languages: list<string>, frameworks: list<string>, ' +
      'package_manager: string | nil, package_managers: list<string>, test_runner: string | nil, build_tool: string | nil, ' +
      'vcs: string | nil, ci: list<string>, has_tests: bool, has_ci: bool, lockfile_paths: list<string>}',
  ],
  [
    'request_approval',
    '',
    ['string', 'dict'],
    '{approved: bool, reviewers: list<string>, approved_at: string, ' +
      'reason: string | nil, signatures: list<{reviewer: string, signed_at: string, signature: string}>}',
  ],
  ['schema_check', 'T', ['unknown', 'Schema<T>'], 'Result<T, string>'],
  ['schema_expect', 'T', ['unknown', 'Schema<T>'], 'T'],
  ['schema_parse', 'T', ['unknown', 'Schema<T>'], 'Result<T, string>'],
  ['trigger_inspect_lifecycle', '', ['string | nil'], 'list<dict>'],
]

/** Builtins whose plain return type would contradict their real, nominal one; nothing is known about these. */
const NOMINAL_RESULT = new Set([
  'handler_context',
  'hitl_pending',
  'trigger_fire',
  'trigger_inspect_action_graph',
  'trigger_inspect_dlq',
  'trigger_list',
  'trigger_register',
  'trigger_replay',
  'trust_graph_policy_for',
  'trust_graph_query',
  'trust_graph_record',
  'trust_graph_verify_chain',
  'trust_record',
])

/** Callable without being in the table. */
const CONSTRUCTORS = new Set(['Ok', 'Err', 'Some', 'None'])

/** Calls whose results come from outside and have no known shape; strict mode asks for a check. */
export const BOUNDARY: ReadonlySet<string> = new Set([
  'json_parse',
  'json_extract',
  'yaml_parse',
  'toml_parse',
  'llm_call',
  'llm_call_safe',
  'llm_completion',
  'http_get',
  'http_post',
  'http_put',
  'http_patch',
  'http_delete',
  'http_download',
  'http_request',
  'http_session_request',
  'http_stream_info',
  'sse_receive',
  'sse_server_mock_receive',
  'sse_server_response',
  'sse_server_status',
  'websocket_accept',
  'websocket_receive',
  'host_call',
  'connector_call',
  'host_tool_call',
  'mcp_call',
])

/** A row of the table. Its types are read when they are asked for: a script calls a handful of a thousand builtins. */
class TableSignature implements BuiltinSignature {
  readonly name: string
  readonly minArgs: number
  readonly maxArgs: number | null
  readonly params: string
  private readonly returnText: string
  private readonly genericRow: (typeof GENERIC_ROWS)[number] | null
  private knownReturns: Known | undefined
  private knownGeneric: GenericSignature | null | undefined

  constructor([name, minArgs, maxArgs, params, returns]: (typeof BUILTIN_ROWS)[number], generic: TableSignature['genericRow']) {
    this.name = name
    this.minArgs = minArgs
    this.maxArgs = maxArgs
    this.params = params
    this.returnText = returns
    this.genericRow = generic
    this.knownReturns = undefined
    this.knownGeneric = undefined
  }

  get returns(): Known {
    if (this.knownReturns === undefined) {
      const isKnown = this.returnText !== '?' && !NOMINAL_RESULT.has(this.name)
      this.knownReturns = isKnown ? readType(this.returnText) : null
    }
    return this.knownReturns
  }

  get generic(): GenericSignature | null {
    if (this.knownGeneric === undefined) this.knownGeneric = this.genericRow === null ? null : readGeneric(this.genericRow)
    return this.knownGeneric
  }
}

export const BUILTINS: BuiltinSignatures = readRows()

/** The static table and further builtins of a host, each by its name or its signature: `area(shape: dict, scale?: float) -> float`. */
export function withBuiltins(given: Iterable<string>): BuiltinSignatures {
  const table = new Map(BUILTINS)
  for (const text of given) {
    const added = readSignature(text)
    if (!table.has(added.name)) table.set(added.name, added)
  }
  return new Map([...table].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** `name(params) -> returns`; a text of another form is a name. */
function signatureParts(text: string): { readonly name: string; readonly params: string; readonly returns: string } {
  const open = /^[\w.]+\(/.exec(text)?.[0].length ?? 0
  const behind = /\)\s*(?:->|$)/y
  for (let close = text.lastIndexOf(')'); open > 0 && close >= open; close = text.lastIndexOf(')', close - 1)) {
    behind.lastIndex = close
    const found = behind.exec(text)
    if (found === null) continue
    const returns = text.slice(close + found[0].length).trim()
    if (found[0].endsWith('->') && returns === '') continue
    return { name: text.slice(0, open - 1), params: text.slice(open, close), returns }
  }
  return { name: text, params: '', returns: '' }
}

/** What cannot be read is not known: the name alone is enough to call it. */
function readSignature(text: string): BuiltinSignature {
  const { name, params, returns } = signatureParts(text)
  const unknown: BuiltinSignature = { name, minArgs: 0, maxArgs: null, params: '...args: any', returns: null, generic: null }
  try {
    const read = readParams(params)
    const rest = params.includes('...')
    return {
      ...unknown,
      minArgs: read.filter((param) => !param.optional && !param.rest).length,
      maxArgs: rest ? null : read.length,
      params,
      returns: returns === '' ? null : readType(returns),
    }
  } catch {
    return unknown
  }
}

/** Names that resolve as call targets without anybody declaring them. */
export function isReservedCallName(name: string): boolean {
  return CONSTRUCTORS.has(name) || name.startsWith('__') || name.startsWith('hostlib_')
}

export function paramsOf(signature: BuiltinSignature): readonly ParamInfo[] {
  return readParams(signature.params)
}

function readRows(): BuiltinSignatures {
  const generics = new Map(GENERIC_ROWS.map((row) => [row[0], row]))
  return new Map(BUILTIN_ROWS.map((row) => [row[0], new TableSignature(row, generics.get(row[0]) ?? null)]))
}

function readGeneric([, typeParam, params, returns]: (typeof GENERIC_ROWS)[number]): GenericSignature {
  return { typeParams: typeParam === '' ? [] : [typeParam], params: params.map(readType), returns: readType(returns) }
}
