// `tool_define`: checks one tool's configuration in the reference's order and appends its entry. The combinations of
// executor and backend are one table, so that each refusal stands in one place.

import { TOOL_LISTENER } from '../host-slots.js'
import {
  DEFINABLE_EXECUTORS,
  executorNamed,
  factsOfExecutor,
  listAlternatives,
  quoteExecutors,
  executorOf,
} from '@bridle/compiler/grants'
import type { ExecutorDemand, ExecutorName } from '@bridle/compiler/grants'
import { builtinTaking, HarnDict, debugQuoted, display, family, toPlain } from '@bridle/vm/families'
import type { Context, Result, Value } from '@bridle/vm/families'
import { RUNTIME_TOOLS } from './runtime-tools.js'
import { hashEntryDescription, hashEntrySchemas } from './pins.js'
import { listEntries, readName, getOrNil, refuseRegistry, withTools, withoutHandler } from './registry.js'

const isNonEmptyText = (value: Value): boolean => typeof value === 'string' && value !== ''

/** Whether a definition gives what its executor demands. */
function meets({ key, is }: ExecutorDemand, name: string, config: HarnDict): boolean {
  const value = getOrNil(config, key)
  if (is === 'name') return isNonEmptyText(value)
  if (is === 'absent') return value === null
  return value !== null || (key === 'handler' && RUNTIME_TOOLS.has(name))
}

/** Config keys that have their own place in the entry; every other key is copied as it is. */
const PLACED_KEYS: ReadonlySet<string> = new Set(['parameters', 'handler', 'executor', 'returns', 'annotations'])

/** The resolved executor, or the message of the refusal. */
function resolveExecutor(name: string, config: HarnDict): { readonly executor: ExecutorName } | { readonly refusal: string } {
  const named = getOrNil(config, 'executor')
  let executor: ExecutorName | null
  if (named === null) {
    if (getOrNil(config, 'handler') === null) {
      return {
        refusal:
          `tool_define: tool ${debugQuoted(name)} has no \`handler\` and no \`executor\`. Either attach a \`handler\` fn ` +
          `(executor: "harn") or declare an alternate backend, e.g. ${listAlternatives(true).join(', ')}. Defining a handlerless ` +
          `tool would surface as \`[builtin_call] unhandled: ${name}\` at the first model call.`,
      }
    }
    executor = executorOf('script')
  } else if (typeof named === 'string') {
    executor = executorNamed(named)
    if (executor === null || !DEFINABLE_EXECUTORS.includes(executor)) {
      return {
        refusal:
          `tool_define: unknown executor ${debugQuoted(named)} for tool ${debugQuoted(name)}. Expected one of: ` +
          quoteExecutors(),
      }
    }
  } else {
    return { refusal: `tool_define: \`executor\` must be a string (${quoteExecutors('or')})` }
  }
  const broken = factsOfExecutor(executor).demands.find((demand) => !meets(demand, name, config))
  if (broken === undefined) return { executor }
  return { refusal: `tool_define: tool ${debugQuoted(name)} declares executor: "${executor}" but ${broken.otherwise}` }
}

/** What is wrong with the keys for deferred loading, or null. */
function refuseDeferred(config: HarnDict): string | null {
  const deferred = config.get('defer_loading')
  if (deferred !== undefined && typeof deferred !== 'boolean') {
    return (
      'tool_define: `defer_loading` must be a bool (true → hold schema back until a tool_search call surfaces it; ' +
      'false or absent → ship eagerly)'
    )
  }
  const namespace = getOrNil(config, 'namespace')
  if (namespace !== null && !isNonEmptyText(namespace)) {
    return (
      'tool_define: `namespace` must be a non-empty string ' +
      '(groups deferred tools for OpenAI tool_search; Anthropic ignores it)'
    )
  }
  return null
}

/** By name, if the host listens for definitions; the last definition wins. */
export const definedTools = family<{ entries: Map<string, HarnDict> }>('defined_tools', () => ({ entries: new Map() }))

function defineTool(ctx: Context, registry: Value, nameValue: Value, description: Value, config: Value): Result {
  const refused = refuseRegistry(ctx, 'tool_define', registry, 'first argument must be a tool registry')
  if (refused !== null) return refused
  if (!(config instanceof HarnDict)) return ctx.throw('tool_define: config must be a dict with parameters and handler')
  if (config.has('params') && !config.has('parameters')) return ctx.throw("tool_define: use 'parameters', not 'params'")
  const name = display(nameValue)
  const resolved = resolveExecutor(name, config)
  if ('refusal' in resolved) return ctx.throw(resolved.refusal)
  const refusal = refuseDeferred(config)
  if (refusal !== null) return ctx.throw(refusal)

  const entry = HarnDict.of({
    name,
    description: display(description),
    handler: getOrNil(config, 'handler'),
    parameters: config.has('parameters') ? config.get('parameters')! : new HarnDict(),
    executor: resolved.executor,
  })
  const returns = getOrNil(config, 'returns')
  if (returns !== null) entry.set('outputSchema', returns)
  if (config.has('annotations')) entry.set('annotations', config.get('annotations')!)
  for (const [key, value] of config.entries()) if (!PLACED_KEYS.has(key)) entry.set(key, value)

  const onTool = ctx.machine.hostData(TOOL_LISTENER)
  if (onTool !== null) {
    ctx.state(definedTools).entries.set(name, entry)
    const hashHex = (bytes: Uint8Array): string => ctx.machine.hashHex(bytes)
    const [hash, descriptionHash] = [hashEntrySchemas(hashHex, entry), hashEntryDescription(hashHex, entry)]
    onTool({ name, hash, descriptionHash, entry: toPlain(withoutHandler(entry)) })
  }
  const others = listEntries(registry as HarnDict)
  ctx.charge(others.length >> 3, 16 * (others.length + entry.size))
  // A tool that is defined again moves to the end.
  return withTools(registry as HarnDict, [...others.filter((other) => readName(other) !== name), entry])
}

const TOOL_CONFIG = `
  parameters: dict = {} -- Parameters by name: a type, or a schema with \`type\`, \`description\`, \`required\`, \`default\`, \`enum\`.
  handler: closure -- Called with the dict of arguments.
  returns: dict | string -- Schema of the result.
  outputSchema: dict -- The same.
  output_schema: dict -- The same, as models and MCP clients are told.
  executor: ${DEFINABLE_EXECUTORS.map((name) => `"${name}"`).join(' | ')} = "harn" -- Who carries a call out.
  host_capability: string -- The operation of the host, for \`host_bridge\`.
  mcp_server: string -- The server, for \`mcp_server\`.
  annotations: dict -- What the tool does: \`readOnlyHint\`, \`destructiveHint\`, \`kind\`, side effects, arguments.
  defer_loading: bool -- Whether models see the tool only when they search for it.
  namespace: string -- The group of a tool that is searched for.
  title: string -- A name for people.
  *: any -- Further keys are kept with the tool.
`

export const toolDefine = builtinTaking(
  'tool_define(registry: dict, name: string, description: string, config: dict) -> dict',
  {
    doc: 'A registry with this tool added; a tool of the same name is replaced.',
    effects: [],
    shapes: { config: TOOL_CONFIG },
  },
  { fewer: '{f}: requires registry, name, description, and config dict' },
  defineTool,
)
