// Tools made of tools: one with some arguments given, and one that hands each result on to the next. Checks, prepare steps, time
// limits and response formats of the parts stay theirs; callers see one tool that is at least as dangerous as each part.

import { DefinitionError, listDeclaredEffects, defineTool, isRepeatable } from './define.js'
import type { Tool, ToolContext } from './define.js'
import { invoke, limitOutcome, getValue } from './invoke.js'
import type { FindTool, Invocation } from './invoke.js'
import type { JsonSchema } from './schema.js'
import { rankSideEffect } from '../policy/side-effects.js'
import type { SideEffect } from '../../library/effects/index.js'
import { SECURITY_LEVELS } from '../policy/level-order.js'

export interface PartialOptions {
  /** The tool's own when absent. */
  readonly name?: string
  readonly description?: string
}

/**
 * The tool with some arguments given: they are no parameters any more, and callers cannot override them. Throws DefinitionError
 * for an argument that the tool's schema does not have.
 */
export function partialTool(tool: Tool, given: { readonly [name: string]: unknown }, options: PartialOptions = {}): Tool {
  const schema = tool.input?.json ?? { type: 'object' }
  const properties = schema['properties'] as { readonly [name: string]: JsonSchema } | undefined
  for (const name of Object.keys(given)) {
    if (properties !== undefined && !Object.hasOwn(properties, name) && schema['additionalProperties'] === false)
      throw new DefinitionError(`tool "${tool.name}" has no parameter "${name}"`)
  }
  const listOthers = (names: readonly string[]): string[] => names.filter((name) => !Object.hasOwn(given, name))
  return {
    ...copyTool(tool, options.name ?? tool.name, options.description ?? tool.description),
    input: {
      json: {
        ...schema,
        ...(properties === undefined ? {} : { properties: pick(properties, listOthers(Object.keys(properties))) }),
        ...(Array.isArray(schema['required']) ? { required: listOthers(schema['required'] as readonly string[]) } : {}),
      },
      check: (value) => ({ ok: true, value }),
    },
    execute: (args, context) => run(tool, { ...(args as object), ...given }, context),
  }
}

/**
 * One tool of several: each gets the result of the one before, the first the arguments, and the result of the last is the result.
 * A part that wants a dict must get one from the part before it.
 */
export function composeTools(
  name: string,
  parts: readonly [Tool, ...Tool[]],
  options: { readonly description?: string } = {},
): Tool {
  const [first] = parts
  const last = parts.at(-1)!
  const repeatable = parts.every(({ recovery }) => isRepeatable(recovery))
  return {
    ...copyTool(first, name, options.description ?? parts.map((part) => part.name).join(', then ')),
    output: last.output,
    result: last.output,
    sideEffect: findMostSideEffect(parts),
    effects: uniteEffects(parts),
    level: parts
      .map((part) => part.level)
      .sort((a, b) => SECURITY_LEVELS.indexOf(a) - SECURITY_LEVELS.indexOf(b))
      .at(-1)!,
    recovery: repeatable ? (parts.every(({ recovery }) => recovery === 'safe') ? 'safe' : 'idempotent') : 'once',
    input: first.input === null ? null : { json: first.input.json, check: (value) => ({ ok: true, value }) },
    execute: async (args, context) => {
      let value: unknown = args
      for (const [at, part] of parts.entries()) value = await run(part, value, context, `/${at + 1}`)
      return value
    },
  }
}

/** If a part does not declare its effects, those of the whole are unknown. */
function uniteEffects(parts: readonly Tool[]): readonly string[] {
  const declared = parts.map(listDeclaredEffects)
  return declared.includes(null) ? [] : [...new Set(declared.flatMap((effects) => effects ?? []))]
}

function findMostSideEffect(parts: readonly Tool[]): SideEffect {
  return parts
    .map((part) => part.sideEffect)
    .sort((a, b) => rankSideEffect(a) - rankSideEffect(b))
    .at(-1)!
}

/** What the whole has in common with a part, under its own name; the parts keep their checks and their formats. */
function copyTool(tool: Tool, name: string, description: string): Tool {
  const { name: checked } = defineTool({ name, execute: () => null })
  return {
    ...tool,
    name: checked,
    description,
    aliases: [],
    examples: [],
    response: 'direct',
    result: tool.output,
    prepare: null,
    retry: null,
    timeoutMs: null,
  }
}

function pick<Value>(from: { readonly [name: string]: Value }, names: readonly string[]): { readonly [name: string]: Value } {
  return Object.fromEntries(names.map((name) => [name, from[name]!]))
}

async function run(tool: Tool, args: unknown, context: ToolContext, step = ''): Promise<unknown> {
  const { runId, callId, attempt, maxAttempts, idempotencyKey, progress, client, signal, tools } = context
  const call: Invocation = {
    runId,
    callId: `${callId}${step}`,
    attempt,
    maxAttempts,
    idempotencyKey: `${idempotencyKey}${step}`,
    progress,
    client,
    signal,
  }
  return getValue(await limitOutcome(invoke(tool, args, call, makeFindTool(tools)), tool, signal))
}

/** Tools that a part calls are found where those of the whole are, and judged by what the whole declares. */
function makeFindTool(tools: ToolContext['tools']): FindTool {
  return (name) =>
    defineTool({
      name,
      sideEffect: 'none',
      execute: (args) => tools.call(name, args as { readonly [key: string]: unknown }),
    })
}
