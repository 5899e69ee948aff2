// `@bridle/stdlib-tools/ai`: tools of the Vercel AI SDK (package `ai`, versions 4 to 6) as tools of this library, and the other
// way round. The types are structural: nothing of that package is imported, so it need not be installed.

import { DefinitionError, defineTool } from '../tools/host-tools/define.js'
import type { Tool, ToolDefinition } from '../tools/host-tools/define.js'
import { invoke, limitOutcome, getValue } from '../tools/host-tools/invoke.js'
import type { FindTool } from '../tools/host-tools/invoke.js'
import type { AnySchema, JsonSchema } from '../tools/host-tools/schema.js'
import { makeAiSchema } from './ai-schema.js'
import type { AiSdkSchema } from './ai-schema.js'

export { primer } from './primer.js'
export type { PrimerOptions } from './primer.js'
export { estimateTokens } from './token-estimate.js'
export { scriptTool, ScriptTool } from './script-tool.js'
export type {
  AiSdkScriptTool,
  AnthropicResult,
  AnthropicTool,
  LangChainTool,
  McpCallExtra,
  McpScriptTools,
  McpToolResult,
  ModelTool,
  OpenAiChatMessage,
  OpenAiChatTool,
  OpenAiResponsesOutput,
  OpenAiResponsesTool,
  ScriptToolOptions,
  ToolReply,
} from './script-tool.js'
export type {
  CutValue,
  RunnerOptions,
  ScriptAnswers,
  ScriptCall,
  ScriptInput,
  ScriptOutcome,
  ScriptRequest,
} from './script-runner.js'
export type { CallSummary } from './call-counter.js'
export { memoryPendingStore } from './pending-runs.js'
export type { PendingStore } from './pending-runs.js'
export { aiProvider } from './ai-provider.js'
export type { AiDelta, AiProviderOptions, AiSdkModel, AiSdkModels } from './ai-provider.js'
export type { AiSdkSchema } from './ai-schema.js'

/** A tool as `tool({ … })` of the AI SDK makes it. */
export interface AiSdkTool {
  readonly description?: string | undefined
  /** A zod or other standard schema, or what `jsonSchema(…)` gives. */
  readonly inputSchema?: unknown
  /** The name of `inputSchema` in version 4. */
  readonly parameters?: unknown
  readonly outputSchema?: unknown
  readonly execute?: ((input: never, options: never) => unknown) | undefined
}

/** Options passed to `execute` of an AI SDK tool. */
export interface AiSdkCallOptions {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
  readonly abortSignal?: AbortSignal | undefined
}

/** A tool for `generateText({ tools })`. */
export interface AiSdkToolSet {
  readonly [name: string]: ReturnType<typeof toAiSdkTool>
}

/** Throws DefinitionError for a tool that only a client could carry out. */
export function fromAiSdkTool(
  name: string,
  tool: AiSdkTool,
  more: Partial<Omit<ToolDefinition, 'name' | 'input' | 'output' | 'execute'>> = {},
): Tool {
  const { execute } = tool
  if (typeof execute !== 'function') throw new DefinitionError(`AI SDK tool "${name}" has no execute function`)
  const input = resolveSchema(tool.inputSchema ?? tool.parameters)
  const output = resolveSchema(tool.outputSchema)
  return defineTool({
    description: tool.description ?? '',
    ...more,
    name,
    ...(input === null ? {} : { input }),
    ...(output === null ? {} : { output }),
    execute: (args: unknown, { callId, signal }) => {
      const options: AiSdkCallOptions = { toolCallId: callId, messages: [], abortSignal: signal }
      return execute(args as never, options as never)
    },
  })
}

/**
 * The tool with its checks and limits; failures reject, which that package hands to the model. `find` knows the tools that it may
 * call itself.
 */
export function toAiSdkTool(
  tool: Tool,
  find: FindTool = () => null,
): {
  readonly description: string
  readonly inputSchema: AiSdkSchema
  readonly execute: (input: unknown, options?: Partial<AiSdkCallOptions>) => Promise<unknown>
} {
  const { input } = tool
  return {
    description: tool.description,
    inputSchema: makeAiSchema(
      input?.json ?? { type: 'object', properties: {} },
      input === null ? null : (value) => input.check(value),
    ),
    execute: async (args, options = {}) => {
      const signal = options.abortSignal ?? new AbortController().signal
      const callId = options.toolCallId ?? 'call'
      const call = { runId: 'ai', callId, attempt: 1, maxAttempts: 1, idempotencyKey: `ai:${callId}`, progress: () => {}, signal }
      return getValue(await limitOutcome(invoke(tool, args, call, find), tool, signal))
    },
  }
}

/** A whole collection, whose tools may call each other; names that models do not take (`http.get`) have their dots replaced by underscores. */
export function toAiSdkTools(tools: Iterable<Tool>): AiSdkToolSet {
  const set: { [name: string]: ReturnType<typeof toAiSdkTool> } = {}
  const byName = new Map([...tools].map((tool) => [tool.name, tool]))
  for (const tool of byName.values())
    set[tool.name.replace(/[^A-Za-z0-9_-]/g, '_')] = toAiSdkTool(tool, (name) => byName.get(name) ?? null)
  return set
}

/** A schema in any of the forms that an AI SDK tool may have it in: zod, a wrapper, or a function that makes one of them. */
function resolveSchema(given: unknown): AnySchema | null {
  const schema = typeof given === 'function' && !('~standard' in given) ? (given as () => unknown)() : given
  if (schema === undefined || schema === null) return null
  if (typeof schema !== 'object' && typeof schema !== 'function')
    throw new DefinitionError('the schema of an AI SDK tool is not a schema')
  if ('~standard' in schema) return schema as AnySchema
  if ('jsonSchema' in schema) return withoutDialect(schema.jsonSchema as JsonSchema)
  throw new DefinitionError('the schema of an AI SDK tool is neither a standard schema nor made by jsonSchema()')
}

function withoutDialect(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...rest } = schema
  return rest
}
