// `scriptTool`: one tool "write and run a script" for models, in the shape of the framework that the program around uses. No framework is
// imported: the shapes are structural, and tests hold them against the real packages.

import { harnTypes } from '../tools/host-tools/print-types.js'
import { declareTool } from '../tools/host-tools/declarations.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import type { ToolRegistry } from '../tools/host-tools/registry.js'
import type { ToolDeclaration } from '@bridle/compiler'
import type { Tool } from '../tools/host-tools/define.js'
import type { JsonSchema } from '../tools/host-tools/schema.js'
import { toolsOfDeclarations } from '../tools/host-tools/declarations.js'
import type { Runtime } from '../host/runtime.js'
import { answerFromForm, makeForm } from '../mcp/elicitation.js'
import type { JsonObject } from '../mcp/server-protocol.js'
import type { Answer } from '../tools/policy/answers.js'
import { describeCause } from '../tools/executors/provider.js'
import { makeAiSchema } from './ai-schema.js'
import type { AiSdkSchema } from './ai-schema.js'
import { DEFAULT_BUDGET, primer, splitByBudget } from './primer.js'
import { ScriptRunner } from './script-runner.js'
import type { RunnerOptions, ScriptAnswers, ScriptCall, ScriptInput, ScriptOutcome, ScriptRequest } from './script-runner.js'
import { Shelf, renderPlain } from './shown.js'

export interface ScriptToolOptions extends RunnerOptions {
  /** `run_script` when absent. */
  readonly name?: string
  /** The tools listed for models, the most important ones first; by default all tools of the runtime. */
  readonly tools?: Iterable<Tool | ToolDeclaration>
  /** Tokens that their lines may take in the description; 2,000 when absent. The rest is found by `search_tools`. */
  readonly budget?: number
  /** `system`: the description is short, and the program puts `instructions` into the prompt. In the description when absent. */
  readonly primer?: 'description' | 'system'
}

/** A tool as described to a model. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of its input. */
  readonly inputSchema: JsonSchema
}

/** Makes the tool. The runtime says what scripts may call and what needs approval (`approve`). */
export function scriptTool(runtime: Runtime, options: ScriptToolOptions = {}): ScriptTool {
  return new ScriptTool(runtime, options)
}

const INPUT_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    script: { type: 'string', description: 'The whole script. With base: only the functions that change.' },
    base: {
      type: 'string',
      description: 'Name of an earlier attempt (s1, s2 …) in which the functions of script replace those of the same names.',
    },
    data: { description: 'Any data; the script gets it by import { runtime_pipeline_input } from "std/runtime".' },
    result: {
      type: 'string',
      description: 'Name of a result that was cut (r1, r2 …): the data of the script. Without script: shows more of it.',
    },
    from: { type: 'integer', description: 'Character at which showing a result goes on.' },
    resume: { type: 'string', description: 'Token of a run that waits for a person.' },
  },
}

const SEARCH_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { query: { type: 'string', description: 'Words of what the tool should do' } },
  required: ['query'],
}

const DESCRIBE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string' }, description: 'Names of tools, as search_tools gives them' } },
  required: ['names'],
}

const ABOUT = `Writes and runs a script. The answer has a status:
- done: value is what the script returned, printed what it printed, calls what it called. A long value is cut: {"result": "r1", "from": 4000} shows more,
  and a script that is sent with "result": "r1" gets all of it as its data.
- invalid: the script did not run. findings say where and why, and how to repair it. Send the whole script again, or {"base": "s1", "script": "fn …"}
  with the functions that change.
- failed: the script ended with an error; what it did before is done.
- pending: a person is asked about a call first. Do not run the script again.`

const MOST_FOUND = 10
const MOST_DESCRIBED = 10
const MOST_SUGGESTED = 3

export class ScriptTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema = INPUT_SCHEMA
  /** The language and the tools, for the prompt of a system where the description does not have them. */
  readonly instructions: string
  /** Everything that a model is offered: the tool, and where not all tools find room in its description `search_tools` and `describe_tools`. */
  readonly tools: readonly ModelTool[]
  private readonly runner: ScriptRunner
  private readonly declarations: readonly ToolDeclaration[]
  /** Made at the first search. */
  private index: ToolRegistry | null = null
  /** Outcomes of calls that the AI SDK asked about, until it asks for them. */
  private readonly known = new Shelf<ScriptOutcome>('c', 200)

  constructor(runtime: Runtime, options: ScriptToolOptions) {
    const {
      tools = runtime.host.tools.values(),
      budget = DEFAULT_BUDGET,
      primer: where = 'description',
      name = 'run_script',
    } = options
    this.name = name
    this.runner = new ScriptRunner(runtime, options)
    this.declarations = Array.from(tools, (tool) => ('kind' in tool ? declareTool(tool) : tool))
    const { hidden } = splitByBudget(this.declarations, budget)
    const search = hidden.length === 0 ? '' : '\nsearch_tools finds tools by words, describe_tools gives their types.\n'
    this.instructions = `${primer({ tools: this.declarations, budget })}${search}`
    this.description = where === 'system' ? ABOUT : `${ABOUT}\n\n${this.instructions}`
    this.tools = [
      { name, description: this.description, inputSchema: INPUT_SCHEMA },
      ...(hidden.length === 0
        ? []
        : [
            { name: 'search_tools', description: 'Finds tools that scripts can call, by words.', inputSchema: SEARCH_SCHEMA },
            { name: 'describe_tools', description: 'Types and documentation of tools.', inputSchema: DESCRIBE_SCHEMA },
          ]),
    ]
  }

  /** Checks and runs a script. Never throws for what the script does. */
  async run(input: ScriptInput | string, call: ScriptCall = {}): Promise<ScriptOutcome> {
    const read = typeof input === 'string' ? { script: input } : input
    return this.runner.run(typeof read === 'object' && read !== null ? read : {}, call)
  }

  /** Continues a run that waits for a person, in any process that has the store. Throws AnswerError if the answer does not match the request. */
  async resume(token: string, answer: Answer | ScriptAnswers, call: ScriptCall = {}): Promise<ScriptOutcome> {
    return this.runner.resume(token, answer, call)
  }

  /** The request to a person: the call with its exact arguments. Null when no run waits under the token. */
  async pending(token: string): Promise<readonly ScriptRequest[] | null> {
    const waiting = await this.runner.findPending(token)
    return waiting === null ? null : waiting.requests
  }

  /** Lines of the tools that have one of the words. */
  searchTools(query: string): string {
    const byName = new Map(this.declarations.map((each) => [each.name, each]))
    const lines = this.findTools(query, MOST_FOUND).flatMap((name) => byName.get(name) ?? [])
    return lines.length === 0
      ? `No tool has any of these words. There are ${this.declarations.length} tools.`
      : harnTypes(lines, { short: true })
  }

  /** Their documentation. */
  describeTools(names: readonly string[]): string {
    const known = new Set(names.slice(0, MOST_DESCRIBED))
    const found = this.declarations.filter(({ name }) => known.has(name))
    const missing = [...known].filter((name) => !found.some((each) => each.name === name))
    const lines = missing.map((name) => {
      const near = this.findTools(name, MOST_SUGGESTED)
      return `There is no tool ${JSON.stringify(name)}${near.length === 0 ? '' : `; near it: ${near.join(', ')}`}.\n`
    })
    return `${harnTypes(found)}${lines.length === 0 ? '' : `\n${lines.join('')}`}`
  }

  private findTools(query: string, limit: number): readonly string[] {
    this.index ??= createRegistry(toolsOfDeclarations(this.declarations))
    return this.index.search({ text: query, limit }).map(({ tool }) => tool.name)
  }

  /** Carries out a call of any of `tools`; gives the text for the model. */
  async call(name: string, input: unknown, call: ScriptCall = {}): Promise<ToolReply> {
    if (input instanceof Unreadable) return { text: renderPlain(input.outcome), outcome: input.outcome }
    const args = readRecord(input)
    try {
      switch (name) {
        case this.name: {
          const outcome = await this.run(args as ScriptInput, call)
          return { text: renderPlain(outcome), outcome }
        }
        case 'search_tools':
          return { text: this.searchTools(String(args['query'] ?? '')), outcome: null }
        case 'describe_tools': {
          const names = args['names']
          return { text: this.describeTools(Array.isArray(names) ? names.map(String) : [String(names ?? '')]), outcome: null }
        }
        default:
          return {
            text: `There is no tool ${JSON.stringify(name)}: call ${this.tools.map((each) => each.name).join(', ')}.`,
            outcome: null,
          }
      }
    } catch (cause) {
      // Bugs and failures of the host are no secret of the model, and must not end its loop.
      return { text: `error: ${describeCause(cause)}`, outcome: { status: 'failed', error: `error: ${describeCause(cause)}\n` } }
    }
  }

  // ---- frameworks

  /**
   * For `generateText({ tools })` of the AI SDK. A script that needs approval is a tool call that needs approval (versions 6 and later): the run
   * waits under the id of the tool call, and continues when the response says yes. `approvals: false` for versions that know none.
   */
  aiSdk({ approvals = true }: { readonly approvals?: boolean } = {}): { [name: string]: AiSdkScriptTool } {
    return Object.fromEntries(
      this.tools.map(({ name, description, inputSchema }) => [
        name,
        {
          description,
          inputSchema: makeAiSchema(inputSchema, null),
          ...(approvals && name === this.name
            ? { needsApproval: (input: unknown, given: AiSdkApprovalCall) => this.needsApproval(readRecord(input), given) }
            : {}),
          execute: (input: unknown, given: AiSdkExecuteCall = {}) => this.executeForAiSdk(name, readRecord(input), given),
        },
      ]),
    )
  }

  /** Whether the call has to be approved: it is run until it ends or needs that. Asked about the same call again, it runs nothing. */
  private async needsApproval(input: ScriptInput, { toolCallId, messages = [] }: AiSdkApprovalCall): Promise<boolean> {
    if (typeof input.resume === 'string') return (await this.runner.findPending(input.resume)) !== null
    if (this.known.get(toolCallId) !== undefined) return this.known.get(toolCallId)!.status === 'pending'
    // The response of a person comes with the call it is for; a run that is not here was answered, or waits elsewhere.
    if ((await this.runner.findPending(toolCallId)) !== null || hasToolCall(messages, toolCallId)) return true
    const { outcome } = await this.call(this.name, input, { token: toolCallId })
    this.known.put(outcome!, toolCallId)
    return outcome!.status === 'pending'
  }

  private async executeForAiSdk(
    name: string,
    input: ScriptInput,
    { toolCallId, abortSignal: signal, messages = [] }: AiSdkExecuteCall,
  ): Promise<unknown> {
    if (name !== this.name || toolCallId === undefined) return this.executeNow(name, input, { signal })
    const known = this.known.take(toolCallId)
    if (known !== undefined && known.status !== 'pending') return known
    if (typeof input.resume === 'string') return this.resumeApproved(input.resume, { signal })
    const waits = (await this.runner.findPending(toolCallId)) !== null
    if (known !== undefined || waits || hasToolCall(messages, toolCallId)) return this.resumeApproved(toolCallId, { signal })
    return this.executeNow(name, input, { signal })
  }

  /** The person has approved the script with all the calls that it waits for. That is no answer to a question. */
  private async resumeApproved(token: string, call: ScriptCall): Promise<ScriptOutcome> {
    const requests = (await this.runner.findPending(token))?.requests ?? []
    if (requests.some(({ kind }) => kind === 'question')) return this.runner.describePending(token)
    if (requests.length === 0) return this.runner.resume(token, true, call)
    return this.runner.resume(token, { answers: Object.fromEntries(requests.map(({ id }) => [id, true])) }, call)
  }

  private async executeNow(name: string, input: unknown, call: ScriptCall): Promise<unknown> {
    const { text, outcome } = await this.call(name, input, call)
    return outcome ?? text
  }

  /** For `tools` of OpenAI's Responses API. */
  openAiResponses(): readonly OpenAiResponsesTool[] {
    return this.tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      strict: false,
    }))
  }

  /** The item that answers a `function_call` of the Responses API; null for an item that is none. */
  async answerOpenAiResponses(item: { readonly type: string }, call: ScriptCall = {}): Promise<OpenAiResponsesOutput | null> {
    if (item.type !== 'function_call') return null
    const { call_id, name, arguments: args } = item as unknown as OpenAiResponsesCall
    const { text } = await this.call(name, parseArguments(args), call)
    return { type: 'function_call_output', call_id, output: text }
  }

  /** For `tools` of OpenAI's Chat Completions, also with `runTools`. */
  openAiChat(): readonly OpenAiChatTool[] {
    return this.tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: {
        name,
        description,
        parameters: inputSchema,
        parse: parseArguments,
        function: async (input: unknown) => (await this.call(name, input)).text,
      },
    }))
  }

  /** The message that answers a tool call of Chat Completions. */
  async answerOpenAiChat(toolCall: OpenAiChatCall, call: ScriptCall = {}): Promise<OpenAiChatMessage> {
    const { name, arguments: args } = toolCall.function ?? { name: '', arguments: '' }
    const { text } = await this.call(name, parseArguments(args), call)
    return { role: 'tool', tool_call_id: toolCall.id, content: text }
  }

  /** For `tools` of Anthropic's Messages API, also with its tool runner. */
  anthropic(): readonly AnthropicTool[] {
    return this.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { ...inputSchema, type: 'object' },
      parse: (input: unknown) => input,
      run: async (input: unknown) => (await this.call(name, input)).text,
    }))
  }

  /** The block that answers a `tool_use`; null for a block that is none. */
  async answerAnthropic(block: { readonly type: string }, call: ScriptCall = {}): Promise<AnthropicResult | null> {
    if (block.type !== 'tool_use') return null
    const { id, name, input } = block as unknown as { readonly id: string; readonly name: string; readonly input: unknown }
    const { text, outcome } = await this.call(name, input, call)
    return { type: 'tool_result', tool_use_id: id, content: text, ...(isFailure(outcome) ? { is_error: true } : {}) }
  }

  /** For `bindTools` and `ToolNode` of LangChain.js, and as the fields of its `DynamicStructuredTool`. */
  langChain(): readonly LangChainTool[] {
    return this.tools.map(({ name, description, inputSchema }) => {
      const func = async (input: unknown): Promise<string> => (await this.call(name, input)).text
      return {
        name,
        description,
        schema: inputSchema,
        func,
        invoke: (input: unknown) => func(isToolCall(input) ? input.args : input),
      }
    })
  }

  /** For a server of the Model Context Protocol: its list of tools, and what answers their calls. */
  mcp(): McpScriptTools {
    return {
      tools: this.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema: { ...inputSchema, type: 'object' },
      })),
      callTool: (params, extra = {}) => this.callForMcp(params, extra),
    }
  }

  /** Asks the person through a form of the client, if it supports forms. A refusal is an answer; closing the form is not. */
  private async callForMcp(
    { name, arguments: input }: { readonly name: string; readonly arguments?: unknown },
    { elicit, signal }: McpCallExtra,
  ): Promise<McpToolResult> {
    let { text, outcome } = await this.call(name, input, { signal })
    while (outcome?.status === 'pending' && elicit !== undefined) {
      const { token } = outcome
      const answers = await this.askByForms(token, elicit)
      if (answers === null) break
      outcome = await this.runner.resume(token, { answers }, { signal })
      text = renderPlain(outcome)
    }
    return {
      content: [{ type: 'text', text }],
      ...(outcome === null ? {} : { structuredContent: JSON.parse(renderPlain(outcome)) as { readonly [key: string]: unknown } }),
      ...(isFailure(outcome) ? { isError: true } : {}),
    }
  }

  private async askByForms(token: string, elicit: NonNullable<McpCallExtra['elicit']>): Promise<{ [id: string]: Answer } | null> {
    const waiting = await this.runner.findPending(token)
    const answers: { [id: string]: Answer } = {}
    for (const request of waiting?.requests ?? []) {
      const form = makeForm(request)
      const answer = form === null ? null : answerFromForm(request, (await elicit(form as never)) as JsonObject)
      if (answer !== null) answers[request.id] = answer as Answer
    }
    return Object.keys(answers).length === 0 ? null : answers
  }
}

export interface ToolReply {
  /** For the model. */
  readonly text: string
  /** Null for a call that ran no script. */
  readonly outcome: ScriptOutcome | null
}

const isFailure = (outcome: ScriptOutcome | null): boolean => outcome?.status === 'failed' || outcome?.status === 'invalid'

type InputRecord = { readonly [key: string]: unknown }

/** Models send what they like. */
function readRecord(input: unknown): InputRecord {
  if (typeof input === 'string') return { script: input }
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as InputRecord) : {}
}

/** Arguments that are no JSON. */
class Unreadable {
  readonly outcome: ScriptOutcome

  constructor(cause: unknown) {
    this.outcome = { status: 'invalid', findings: `the arguments of the call are no JSON: ${describeCause(cause)}` }
  }
}

function parseArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    return new Unreadable(cause)
  }
}

function isToolCall(input: unknown): input is { readonly args: unknown } {
  return typeof input === 'object' && input !== null && Reflect.get(input, 'type') === 'tool_call' && 'args' in input
}

/** Whether the messages already contain the call: then this question is due to a response to its approval. */
function hasToolCall(messages: readonly unknown[], toolCallId: string): boolean {
  return messages.some((message) => {
    const content: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, 'content') : null
    return (
      Array.isArray(content) &&
      content.some((part: unknown) => {
        if (typeof part !== 'object' || part === null) return false
        return Reflect.get(part, 'type') === 'tool-call' && Reflect.get(part, 'toolCallId') === toolCallId
      })
    )
  })
}

// ---- shapes

interface AiSdkApprovalCall {
  readonly toolCallId: string
  readonly messages?: readonly unknown[]
}

interface AiSdkExecuteCall {
  readonly toolCallId?: string
  readonly messages?: readonly unknown[]
  readonly abortSignal?: AbortSignal | undefined
}

export interface AiSdkScriptTool {
  readonly description: string
  readonly inputSchema: AiSdkSchema
  // Versions pass different options; method syntax makes the tool assignable to both types.
  needsApproval?(input: unknown, call: AiSdkApprovalCall): Promise<boolean>
  execute(input: unknown, call?: AiSdkExecuteCall): Promise<unknown>
}

export interface OpenAiResponsesTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly strict: false
}

interface OpenAiResponsesCall {
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}

export interface OpenAiResponsesOutput {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string
}

export interface OpenAiChatTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: JsonSchema
    readonly parse: (text: string) => unknown
    readonly function: (input: unknown) => Promise<string>
  }
}

export interface OpenAiChatCall {
  readonly id: string
  readonly function?: { readonly name: string; readonly arguments: string }
}

export interface OpenAiChatMessage {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string
}

export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonSchema & { readonly type: 'object' }
  readonly parse: (input: unknown) => unknown
  readonly run: (input: unknown) => Promise<string>
}

export interface AnthropicResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

export interface LangChainTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly func: (input: unknown) => Promise<string>
  readonly invoke: (input: unknown) => Promise<string>
}

export interface McpCallExtra {
  /** Asks the person at the client (`server.elicitInput`); without it a run that needs approval stays pending. */
  readonly elicit?: (form: never) => Promise<unknown>
  readonly signal?: AbortSignal | undefined
}

export interface McpToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: { readonly [key: string]: unknown }
  readonly isError?: boolean
  // Results of the protocol may have more.
  readonly [key: string]: unknown
}

export interface McpScriptTools {
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly inputSchema: JsonSchema & { readonly type: 'object' }
  }[]
  readonly callTool: (
    params: { readonly name: string; readonly arguments?: unknown },
    extra?: McpCallExtra,
  ) => Promise<McpToolResult>
}
