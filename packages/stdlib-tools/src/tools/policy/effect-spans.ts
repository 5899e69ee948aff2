// Effects as pieces of work of a trace: their names, and what traces say of them before their outcome is known.

import type { Effect, EffectSpan, Plain } from '@bridle/vm/families'
import { opensStream, toCall } from './effect-calls.js'

type Facts = EffectSpan['facts']

/** An effect as a piece of work; `isCovered` where a standard tool around it says it all. */
export function makeEffectSpan(effect: Effect, isCovered: boolean): EffectSpan | null {
  const { kind, args } = effect
  if (kind === 'tool.call') {
    const attempt = Number(args.attempt ?? 1)
    const facts = { attempt, executor: String(args.executor), ...describeServerTool(args.mcp_server, args.tool) }
    return { work: 'attempt', name: `attempt ${attempt}`, facts }
  }
  if (kind === 'mcp.connect') return { work: 'effect', name: `mcp ${args.op}`, facts: describeConnection(args) }
  if (opensStream(effect)) return null
  const call = isCovered ? null : toCall(effect)
  if (call !== null) return { work: 'effect', name: call.tool, facts: describeCall(effect) }
  if (kind === 'mcp.request') return { work: 'effect', name: `mcp ${args.method}`, facts: describeRequest(args) }
  return null
}

function describeCall({ kind, args }: Effect): Facts {
  if (kind === 'mcp.request') return describeRequest(args)
  if (kind !== 'llm.call') return {}
  const address = readText(readRecord(args.config)['base_url']) ?? args.base_url
  return pickTexts({
    operation: args.op === 'embed' ? 'embeddings' : 'chat',
    provider: args.provider,
    model: args.model,
    address,
  })
}

function describeServerTool(server: Plain, tool: Plain): Facts {
  return readText(server) === null ? {} : pickTexts({ method: 'tools/call', server, tool })
}

function describeConnection(args: Extract<Effect, { kind: 'mcp.connect' }>['args']): Facts {
  const method = args.op === 'open' ? 'initialize' : args.op
  return 'name' in args ? pickTexts({ method, ...describePlace(args.name, 'spec' in args ? args.spec : {}) }) : { method }
}

/** Facts about a connection from its handshake: its revision and target. */
export function readAnswerFacts({ kind, args }: Effect, answer: Plain): Facts {
  if (kind !== 'mcp.connect' || args.op !== 'open') return {}
  const { protocol, address } = readRecord(answer)
  return pickTexts({ protocol, address, ...(readText(address) === null ? { transport: 'pipe' } : {}) })
}

/** A request of an MCP server: its method, and what it names. */
function describeRequest({ method, name, spec, params }: Extract<Effect, { kind: 'mcp.request' }>['args']): Facts {
  const what =
    method === 'tools/call'
      ? { tool: params['name'] }
      : method === 'prompts/get'
        ? { prompt: params['name'] }
        : { uri: params['uri'] }
  return pickTexts({ method, ...describePlace(name, spec), ...what })
}

function describePlace(name: string, spec: { readonly [key: string]: Plain }): { readonly [name: string]: Plain | undefined } {
  const isProgram = readText(spec['command']) !== null
  return { server: readText(spec['server']) ?? name, address: spec['url'], ...(isProgram ? { transport: 'pipe' } : {}) }
}

function pickTexts(facts: { readonly [name: string]: Plain | undefined }): Facts {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]): readonly (readonly [string, string])[] => {
      const text = readText(value)
      return text === null ? [] : [[name, text]]
    }),
  )
}

function readText(value: Plain | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function readRecord(value: Plain | undefined): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}
