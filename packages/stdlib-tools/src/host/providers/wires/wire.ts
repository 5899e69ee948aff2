// One service's way of saying what a script asks of a model, and of answering.

import { count, list, readText, readWord, record, renameSettings } from './json.js'
import type { Json } from './json.js'

/** A request in the shape of the script's side. */
export interface Asked {
  readonly provider: string
  readonly model: string
  readonly system: string | null
  readonly messages: readonly Json[]
  readonly tools: readonly Json[]
  readonly toolChoice: unknown
  readonly maxTokens: number
  readonly settings: Json
  readonly thinking: Json
  readonly cache: boolean
  readonly output: { readonly kind: string; readonly schema: unknown }
  readonly facts: AskedFacts
}

/** Facts about the requested model: ModelFacts of agents/models/services.ts. */
export interface AskedFacts {
  /** Whether temperature and its like are taken. */
  readonly sampling: boolean
  readonly structured: boolean
  readonly tokens: string
  readonly style: string | null
  readonly api: string | null
}

/** One service's way of saying it. */
export interface Wire {
  readonly path: (asked: Asked, endpoint: string) => string
  readonly body: (asked: Asked) => Json
  readonly answer: (body: Json, asked: Asked) => Json
  /** Headers that the request needs beside those of the provider. */
  readonly headers?: (asked: Asked) => Readonly<Record<string, string>>
  readonly streaming: Streaming
  /** A text as a vector, by the services that do that. */
  readonly embed?: {
    readonly path: (model: string) => string
    readonly body: (model: string, input: string) => Json
    readonly vector: (body: Json) => unknown
  }
  /** Where the list of models is, for a check of health. */
  readonly modelsPath: string
}

export function readAsked(args: Json): Asked {
  const facts = record(args.model_facts)
  return {
    facts: {
      sampling: facts['sampling'] !== false,
      structured: facts['structured'] !== false,
      tokens: readWord(facts['tokens'], 'max_tokens'),
      style: readText(facts['style']),
      api: readText(facts['api']),
    },
    provider: readWord(args.provider),
    model: readWord(args.model),
    system: readText(args.system),
    messages: list(args.messages).map(record),
    tools: list(args.tools).map(record),
    toolChoice: args.tool_choice ?? null,
    maxTokens: count(args.max_tokens),
    settings: record(args.settings),
    thinking: record(args.thinking),
    cache: args.cache === true,
    output: { kind: readWord(record(args.output)['kind'], 'text'), schema: record(args.output)['schema'] ?? null },
  }
}

/** Settings of chance, for models that take them: others refuse the request. */
export function renameSampling(asked: Asked, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return asked.facts.sampling ? renameSettings(asked.settings, names) : {}
}

/** What this model sent with an earlier answer to have it back; empty for a message that it did not write. */
export function readState(message: Json, asked: Asked): readonly Json[] {
  const state = record(message['service_state'])
  return state['provider'] === asked.provider && state['model'] === asked.model ? list(state['parts']).map(record) : []
}

// ------------------------------------------------------------------------------------------------------------- in pieces

/** A piece of an answer, as scripts get it. */
export type Delta =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A piece of the JSON of a call's arguments; the first of a call has its name, and may have no text. */
  | { readonly type: 'tool_call'; readonly index: number; readonly id: string; readonly name: string; readonly text: string }

/** How a service streams. */
export interface Streaming {
  readonly framing: 'sse' | 'ndjson'
  readonly path?: (asked: Asked, endpoint: string) => string
  /** What the body of the request has beside. */
  readonly body: Json
  readonly read: () => AnswerReader
}

/** Puts an answer together from its events. */
export interface AnswerReader {
  /** What one event adds. Throws a StreamError for one that says that the service failed. */
  readonly take: (event: Json, name: string | null) => readonly Delta[]
  /** Whether the service has said all: what comes then is not waited for. */
  readonly isEnded: () => boolean
  /** Whether the answer is whole where the connection ends here. */
  readonly isWhole: () => boolean
  /** The answer in the form that it has when it does not come in pieces, so that both are read by one function. */
  readonly body: () => Json
}

/** An error in the middle of a streamed answer. */
export class StreamError extends Error {
  readonly category: string

  constructor(category: string, message: string) {
    super(message)
    this.category = category
  }
}

/** End marker of event streams in OpenAI's protocol. */
export const DONE = '[DONE]'
