// Sends the context of a trace along: `traceparent` among the headers of requests, and in `_meta` of what MCP servers are asked. It is put
// in between the machine and the providers, so that it is not in journals and replays.

import { findIdentity } from '@bridle/compiler/grants'
import type { Effect, Plain } from '@bridle/vm'
import type { PerformEffect } from '../../tools/executors/provider.js'
import type { TraceRecorder } from './recorder.js'
import { withArguments } from '../../library/effects/index.js'

export function withPropagation(recorder: Pick<TraceRecorder, 'findContext'>, perform: PerformEffect): PerformEffect {
  return (effect, call) => {
    const to = findTarget(effect)
    const context = to === null ? null : recorder.findContext(call.id, to)
    return perform(context === null ? effect : withContext(effect, context), call)
  }
}

function findTarget({ kind, args }: Effect): 'http' | 'mcp' | null {
  if (kind === 'http.request') return 'http'
  if (kind === 'net.stream') return args.url === undefined ? null : 'http'
  if (kind === 'mcp.request') return 'mcp'
  return kind === 'tool.call' && findIdentity(args.executor) === 'mcp' ? 'mcp' : null
}

/** What a script says itself stays. */
function withContext(effect: Effect, context: { readonly [header: string]: string }): Effect {
  const { args, kind } = effect
  if (kind === 'tool.call') return withArguments(effect, { meta: context })
  if (kind === 'mcp.request') {
    const params = record(args.params)
    return withArguments(effect, { params: { ...params, _meta: { ...context, ...record(params['_meta']) } } })
  }
  const headers = record(args.headers)
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const added = Object.fromEntries(Object.entries(context).filter(([name]) => !own.has(name)))
  return withArguments(effect, { headers: { ...headers, ...added } })
}

function record(value: Plain | undefined): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}
