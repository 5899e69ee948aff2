// Names and attributes of spans, after the semantic conventions for generative AI and for MCP.

import { parseUrl } from '@bridle/compiler/grants'
import type { SpanMark } from '@bridle/vm'
import type { ModelCallFacts } from '../host/trace/call-facts.js'
import type { TraceEvent } from '../host/trace/event.js'
import { CLIENT, INTERNAL, SERVER } from './api.js'
import type { Attributes } from './api.js'

export type Begin = Extract<SpanMark, { at: 'begin' }>

type Facts = NonNullable<Begin['facts']>

/** Our names of services that the conventions call otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure_openai: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
}

export function nameProvider(provider: string): string {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]! : provider
}

export interface SpanStart {
  readonly name: string
  readonly kind: number
  readonly attributes: Attributes
}

/** Facts that become attributes of the conventions; others are attributes of ours. */
const CONVENTIONAL: ReadonlySet<string> = new Set([
  ...['address', 'method', 'model', 'operation', 'prompt', 'provider', 'server', 'session', 'tool', 'transport', 'uri'],
])

export function describeMark(mark: Begin): SpanStart {
  const { work, name, facts = {} } = mark
  const own: Attributes = {}
  for (const [key, fact] of Object.entries(facts)) if (!CONVENTIONAL.has(key)) own[`bridle.${work}.${key}`] = fact
  switch (work) {
    case 'agent_loop':
      return {
        name: 'invoke_agent',
        kind: INTERNAL,
        attributes: { 'gen_ai.operation.name': 'invoke_agent', ...describeModel(facts), ...own },
      }
    case 'agent_turn':
      return { name, kind: INTERNAL, attributes: { ...describeModel(facts), ...own } }
    case 'task':
      return { name: `task ${name}`, kind: INTERNAL, attributes: own }
    case 'attempt':
      return readText(facts, 'method') === null ? { name, kind: INTERNAL, attributes: own } : describeRequest(facts, own)
    case 'tool_call':
      return { name: `execute_tool ${name}`, kind: INTERNAL, attributes: { ...nameTool(name), ...own } }
    case 'effect':
      if (readText(facts, 'method') !== null) return describeRequest(facts, own)
      if (readText(facts, 'operation') !== null) return describeModelCall(facts, own)
      return { name: `execute_tool ${name}`, kind: INTERNAL, attributes: { ...nameTool(name), ...own } }
  }
}

function nameTool(name: string): Attributes {
  return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'gen_ai.tool.type': 'function' }
}

function describeModelCall(facts: Facts, own: Attributes): SpanStart {
  const operation = readText(facts, 'operation') ?? 'chat'
  const model = readText(facts, 'model')
  return {
    name: model === null ? operation : `${operation} ${model}`,
    kind: CLIENT,
    attributes: { 'gen_ai.operation.name': operation, ...describeModel(facts), ...describeAddress(facts), ...own },
  }
}

function describeModel(facts: Facts): Attributes {
  const provider = readText(facts, 'provider')
  return {
    ...(provider === null ? {} : { 'gen_ai.provider.name': nameProvider(provider) }),
    ...pickText(facts, 'model', 'gen_ai.request.model'),
    ...pickText(facts, 'session', 'gen_ai.conversation.id'),
  }
}

/** A request of a client of ours. */
export function describeServedRequest(request: {
  readonly method: string
  readonly tool?: string
  readonly prompt?: string
  readonly uri?: string
  readonly revision?: string
  readonly transport?: 'pipe' | 'tcp'
}): SpanStart {
  const { method, tool, prompt, uri, revision, transport } = request
  const facts = {
    method,
    ...(tool === undefined ? {} : { tool }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(uri === undefined ? {} : { uri }),
  }
  const own = {
    ...(revision === undefined ? {} : { 'mcp.protocol.version': revision }),
    ...(transport === undefined ? {} : { 'network.transport': transport }),
    ...(transport === 'tcp' ? { 'network.protocol.name': 'http' } : {}),
  }
  return { ...describeRequest(facts, own), kind: SERVER }
}

/** A request of an MCP server, by the name of its method and of what it is about. */
function describeRequest(facts: Facts, own: Attributes): SpanStart {
  const method = readText(facts, 'method')!
  const tool = readText(facts, 'tool')
  const target = tool ?? readText(facts, 'prompt')
  return {
    name: target === null ? method : `${method} ${target}`,
    kind: CLIENT,
    attributes: {
      'mcp.method.name': method,
      ...(tool === null ? {} : { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }),
      ...pickText(facts, 'prompt', 'gen_ai.prompt.name'),
      ...pickText(facts, 'uri', 'mcp.resource.uri'),
      ...pickText(facts, 'server', 'bridle.mcp.server'),
      ...describeTransport(facts),
      ...describeAddress(facts),
      ...own,
    },
  }
}

/** Attributes from the handshake for all requests to a server. */
export function describeConnection(facts: Facts): Attributes {
  return { ...pickText(facts, 'protocol', 'mcp.protocol.version'), ...describeTransport(facts), ...describeAddress(facts) }
}

function describeTransport(facts: Facts): Attributes {
  if (readText(facts, 'transport') !== null) return { 'network.transport': 'pipe' }
  return readText(facts, 'address') === null ? {} : { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
}

function describeAddress(facts: Facts): Attributes {
  const address = readText(facts, 'address')
  const url = address === null ? null : parseUrl(address)
  if (url === null) return {}
  const { hostname, port, protocol } = url
  if (hostname === '') return {}
  return { 'server.address': hostname, 'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) }
}

function readText(facts: Facts, key: string): string | null {
  const value = facts[key]
  return typeof value === 'string' && value !== '' ? value : null
}

function pickText(facts: Facts, key: string, name: string): Attributes {
  const text = readText(facts, key)
  return text === null ? {} : { [name]: text }
}

// ---------------------------------------------------------------------------------------------------------- what came out

/** Attributes of a call whose outcome is known. */
export function describeOutcome(event: TraceEvent, model: ModelCallFacts | null): Attributes {
  const details = event.details ?? {}
  return {
    ...(model === null ? { 'gen_ai.tool.call.id': String(details['call_id']) } : describeAnswer(event, model)),
    'bridle.call.id': String(details['call_id']),
    'bridle.tool.alias': String(details['name']),
    'bridle.tool.executor': String(details['executor']),
    'bridle.tool.attempts': Number(details['attempts'] ?? 1),
    'bridle.tool.cached': event.cached ?? false,
    'bridle.tool.denied': details['denied'] === true,
    'bridle.task': Number(details['task'] ?? 0),
    'bridle.trace.seq': event.seq,
    'bridle.trace.hash': event.hash,
    ...(event.tool_version === undefined ? {} : { 'bridle.tool.version': event.tool_version }),
    ...(event.inputs_hash === undefined ? {} : { 'bridle.inputs_hash': event.inputs_hash }),
    ...(event.outputs_hash === undefined ? {} : { 'bridle.outputs_hash': event.outputs_hash }),
    ...(event.policy_hash === undefined ? {} : { 'bridle.policy_hash': event.policy_hash }),
  }
}

/** A call without a start mark. */
export function describeLateCall(event: TraceEvent, model: ModelCallFacts | null): SpanStart {
  const name = String(event.details?.['name'])
  if (model === null) return { name: `execute_tool ${name}`, kind: INTERNAL, attributes: nameTool(name) }
  const operation = nameOperation(event)
  return { name: model.model === null ? operation : `${operation} ${model.model}`, kind: CLIENT, attributes: {} }
}

export function nameOperation(event: TraceEvent): 'chat' | 'embeddings' {
  return event.tool_id === 'llm.embed' ? 'embeddings' : 'chat'
}

function describeAnswer(event: TraceEvent, facts: ModelCallFacts): Attributes {
  const { provider, model, maxTokens, temperature, responseModel, finishReason, inputTokens, outputTokens } = facts
  return {
    'gen_ai.operation.name': nameOperation(event),
    ...(provider === null ? {} : { 'gen_ai.provider.name': nameProvider(provider) }),
    ...(model === null ? {} : { 'gen_ai.request.model': model }),
    ...(maxTokens === null ? {} : { 'gen_ai.request.max_tokens': maxTokens }),
    ...(temperature === null ? {} : { 'gen_ai.request.temperature': temperature }),
    ...(responseModel === null ? {} : { 'gen_ai.response.model': responseModel }),
    ...(finishReason === null ? {} : { 'gen_ai.response.finish_reasons': [finishReason] }),
    ...(inputTokens === null ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === null ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(facts.cacheRead > 0 ? { 'gen_ai.usage.cache_read.input_tokens': facts.cacheRead } : {}),
    ...(facts.cacheWrite > 0 ? { 'gen_ai.usage.cache_creation.input_tokens': facts.cacheWrite } : {}),
  }
}
