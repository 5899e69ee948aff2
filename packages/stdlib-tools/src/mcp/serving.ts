// Requests and notifications of a served script to its client. Effects (builtin
// `__mcp_client`, behind `std/mcp`):
//   mcp.client {op: facts, task}                     → {info, capabilities}
//   mcp.client {op: request, task, method, params}   → the client's result
// `task` is the id of the task that asks; ids of all tasks of one call begin alike.

import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { answered, thrownError } from '../tools/executors/provider.js'
import type { Provider } from '../tools/executors/provider.js'
import { RpcError, isObject, toJson } from './server-protocol.js'
import type { Json, JsonObject, RequestScope } from './server-protocol.js'
import { describeCause } from '../tools/executors/provider.js'
import type { Report } from '../library/effects/index.js'

/** Answers `mcp.client` for a run; `scopeOf` finds the request of the client that a task works for, null for none. */
export class McpServing implements Provider<'mcp.client'> {
  readonly kinds = ['mcp.client'] as const
  private readonly scopeOf: (taskId: string) => RequestScope | null

  constructor(scopeOf: (taskId: string) => RequestScope | null) {
    this.scopeOf = scopeOf
  }

  /** A dry run may ask who it works for; what the client does with a request is its own affair. */
  isReadOnly({ args }: EffectOf<'mcp.client'>): boolean {
    return args.op === 'facts'
  }

  perform({ args }: EffectOf<'mcp.client'>): EffectOutcome | Promise<EffectOutcome> {
    const scope = this.scopeOf(args.task)
    if (scope === null) return thrownError('MCP client: this code does not work for a client')
    const { client } = scope
    if (args.op === 'facts') return answered({ info: client.info as Plain, capabilities: client.capabilities as Plain })
    const params = toJson(args.params)
    return client.request(args.method, isObject(params) ? params : {}).then(
      (result) => answered(result as Plain),
      (cause: unknown) => thrownError(describeComplaint(cause)),
    )
  }
}

function describeComplaint(cause: unknown): string {
  if (cause instanceof RpcError) return `MCP client error (${cause.code}): ${cause.message}`
  return `MCP client: ${describeCause(cause)}`
}

/** Progress and log lines of a script, as notifications to the client whose request it works for. */
export function reportTo(scope: RequestScope, report: Report): void {
  if (report.kind === 'progress') {
    scope.progress(report.current, report.message, report.current === null ? undefined : (report.total ?? undefined))
    return
  }
  if (report.kind === 'agent') return
  const fields = toJson(report.fields) as JsonObject
  const data: Json = Object.keys(fields).length === 0 ? report.message : { message: report.message, ...fields }
  scope.log(report.level, data)
}
