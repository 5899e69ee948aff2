// Metrics of the semantic conventions for generative AI and for MCP: how long calls take, and how many tokens.

import type { Attributes, OtelHistogram, OtelMeter } from './api.js'

/** What a call of a model or a server is measured by. */
const MEASURED_BY = [
  'error.type',
  'gen_ai.operation.name',
  'gen_ai.prompt.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.tool.name',
  'mcp.method.name',
  'mcp.protocol.version',
  'network.protocol.name',
  'network.transport',
  'server.address',
  'server.port',
] as const

/** Of a session, which is about no single method. */
const SESSION_BY = [
  'error.type',
  'mcp.protocol.version',
  'network.protocol.name',
  'network.transport',
  'server.address',
  'server.port',
]

const MODEL_SECONDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const SERVER_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

export class Metrics {
  private readonly meter: OtelMeter
  private readonly histograms = new Map<string, OtelHistogram>()

  constructor(meter: OtelMeter) {
    this.meter = meter
  }

  countModelCall(attributes: Readonly<Attributes>, ms: number): void {
    const by = pick(attributes, MEASURED_BY)
    const description = 'Duration of a call of a model'
    this.find('gen_ai.client.operation.duration', 's', description, MODEL_SECONDS).record(ms / 1000, by)
    const tokens = this.find('gen_ai.client.token.usage', '{token}', 'Tokens of a call of a model', TOKENS)
    for (const type of ['input', 'output']) {
      const count = attributes[`gen_ai.usage.${type}_tokens`]
      if (typeof count === 'number') tokens.record(count, { ...by, 'gen_ai.token.type': type })
    }
  }

  countRequest(side: 'client' | 'server', attributes: Readonly<Attributes>, ms: number): void {
    const description = side === 'client' ? 'Duration of a request of an MCP server' : 'Duration of a request of an MCP client'
    this.find(`mcp.${side}.operation.duration`, 's', description, SERVER_SECONDS).record(ms / 1000, pick(attributes, MEASURED_BY))
  }

  countSession(attributes: Readonly<Attributes>, ms: number): void {
    const description = 'Duration of a connection to an MCP server'
    this.find('mcp.client.session.duration', 's', description, SERVER_SECONDS).record(ms / 1000, pick(attributes, SESSION_BY))
  }

  private find(name: string, unit: string, description: string, boundaries: number[]): OtelHistogram {
    let histogram = this.histograms.get(name)
    if (histogram === undefined) {
      histogram = this.meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: boundaries } })
      this.histograms.set(name, histogram)
    }
    return histogram
  }
}

function pick(attributes: Readonly<Attributes>, names: readonly string[]): Attributes {
  const picked: Attributes = {}
  for (const name of names) if (attributes[name] !== undefined) picked[name] = attributes[name]
  return picked
}
