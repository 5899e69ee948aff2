// Answers requests of MCP servers: folders of the run, values from the person at the terminal, and model responses. A server sees only the
// capabilities that can be served here.

import { pathToFileURL } from 'node:url'
import { createRuntime } from '@bridle/stdlib-tools'
import type { ProviderSource, RuntimeOptions } from '@bridle/stdlib-tools'
import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import type { People } from './provider.js'
import { makeContent, readForm } from './server-forms.js'

type Fields = { readonly [key: string]: unknown }

type Handler = (params: Plain, signal: AbortSignal) => Promise<Fields>

export interface ServerQuestions {
  /** Null: the capability is not offered. */
  readonly roots: readonly string[] | null
  /** Null: no person is present. */
  readonly people: People | null
  /** Null: no model was granted. */
  readonly sample: ((request: Plain, signal: AbortSignal) => Promise<Fields>) | null
}

/** Handlers for the requests of one server. */
export function makeServerHandlers(
  server: string,
  { roots, people, sample }: ServerQuestions,
): { readonly [method: string]: Handler } {
  return {
    ...(roots === null ? {} : { 'roots/list': async () => ({ roots: roots.map(describeRoot) }) }),
    ...(people === null ? {} : { 'elicitation/create': (params, signal) => elicit(server, people, toFields(params), signal) }),
    ...(sample === null ? {} : { 'sampling/createMessage': sample }),
  }
}

function describeRoot(path: string): Fields {
  return { uri: pathToFileURL(path).href, name: path.split(/[\\/]/).findLast((part) => part !== '') ?? path }
}

async function elicit(server: string, people: People, params: Fields, signal: AbortSignal): Promise<Fields> {
  const message = `${server}: ${String(params['message'] ?? '')}`
  if (params['mode'] === 'url') {
    const isOpened = await people.confirm(`${message}\n  ${String(params['url'] ?? '')}`, signal)
    return { action: isOpened === null ? 'cancel' : isOpened ? 'accept' : 'decline' }
  }
  const fields = readForm(params['requestedSchema'])
  if (fields.length === 0) {
    const isAccepted = await people.confirm(message, signal)
    return isAccepted === null ? { action: 'cancel' } : isAccepted ? { action: 'accept', content: {} } : { action: 'decline' }
  }
  const answers = await people.fillIn(message, fields, signal)
  if (answers === null) return { action: 'cancel' }
  return answers === 'declined' ? { action: 'decline' } : { action: 'accept', content: makeContent(fields, answers) }
}

// ---------------------------------------------------------------------------------------------------------------- models

/** A call of the run's own model. The script only converts the request of the protocol to the form of `llm_call` and back. */
const SAMPLE = `
import { runtime_pipeline_input } from "std/runtime"

fn read_block(block) {
  if block.type == "image" {
    return {type: "image", base64: block.data, media_type: block.mimeType}
  }
  if block.type == "text" {
    return {type: "text", text: block.text}
  }
  throw "content of the kind " + block.type + " is not understood here"
}

fn read_message(message) {
  let content = type_of(message.content) == "list" ? message.content : [message.content]
  return {role: message.role, content: content.map({ block -> read_block(block) })}
}

let asked = runtime_pipeline_input()
let chance = asked.temperature == nil ? {} : {temperature: asked.temperature}
let ends = asked.stopSequences == nil ? {} : {stop: asked.stopSequences}
let options = {messages: asked.messages.map({ message -> read_message(message) }), max_tokens: asked.maxTokens} + chance + ends
let answer = llm_call("", asked.systemPrompt, options)
let reasons = {stop: "endTurn", end_turn: "endTurn", length: "maxTokens", max_tokens: "maxTokens", stop_sequence: "stopSequence"}
return {
  role: "assistant",
  content: {type: "text", text: answer.text},
  model: answer.model,
  stopReason: reasons[answer.stop_reason ?? "stop"] ?? answer.stop_reason,
}
`

/** Asks the model that the environment names, with the run's credentials: no tools, no files. */
export function makeSampling(
  providers: () => readonly ProviderSource[],
  options: Pick<RuntimeOptions, 'modelFixtures' | 'standIns'>,
): NonNullable<ServerQuestions['sample']> {
  return async (request, signal) => {
    const runtime = createRuntime({ ...options, providers: providers(), grants: ['llm', 'http.request', 'process.info'] })
    const run = runtime.start(runtime.compile(SAMPLE, { file: 'sampling.harn' }), { input: request })
    const stop = (): void => run.cancel('the server does not wait any more')
    signal.addEventListener('abort', stop, { once: true })
    try {
      const result = await run.result
      if (result.status === 'done') return result.value as Fields
      throw new Error(result.status === 'failed' ? result.error.message : 'the request was given up')
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}

function toFields(params: Plain): Fields {
  const isRecord = typeof params === 'object' && params !== null && !Array.isArray(params)
  return isRecord && !(params instanceof Uint8Array) && !(params instanceof HarnFloat) ? (params as Fields) : {}
}
