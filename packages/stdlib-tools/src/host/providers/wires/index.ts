// The services whose protocol is spoken here, by the name of the provider.

import { lookup } from '@bridle/vm'
import { anthropic } from './anthropic.js'
import { gemini } from './gemini.js'
import { ollama } from './ollama.js'
import { openai } from './openai.js'
import { responses } from './responses.js'
import type { Wire } from './wire.js'

const WIRES: Readonly<Record<string, Wire>> = lookup({ anthropic, ollama, gemini, vertex: gemini })

/** Services without their own wire use OpenAI's. */
export function findWire(provider: string): Wire {
  return Object.hasOwn(WIRES, provider) ? WIRES[provider]! : openai
}

/** The wire of the interface that a model needs. */
export function findWireOf(provider: string, api: string | null): Wire {
  return api === 'responses' && provider === 'openai' ? responses : findWire(provider)
}
