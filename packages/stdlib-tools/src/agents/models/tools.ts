// Tools as a model's own JSON, and the search that replaces deferred tools in a request by one tool
// that finds them. Shapes are those of the services' public APIs: OpenAI's for everything but Anthropic's own endpoint.

import { HarnDict, HarnList, display, isInt, lookup, sortTexts } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import type { Capabilities } from './capabilities.js'
import { readParameters } from '../../tools/definitions/arguments.js'
import { isObjectSchema, isRequired } from '../../tools/definitions/validate.js'

/** A text is the message to throw. */
export function readToolEntries(tools: Value): readonly HarnDict[] | string {
  const list = tools instanceof HarnDict && tools.get('_type') === 'tool_registry' ? (tools.get('tools') ?? null) : tools
  if (!(list instanceof HarnList)) return 'tools must be a tool_registry or a list of tool definition dicts'
  for (const item of list.view()) {
    if (typeof item === 'string') return 'tools must be declared as tool definition dicts or a tool_registry'
    if (!(item instanceof HarnDict)) return 'tools must contain only tool definition dicts'
  }
  return (list.view() as readonly HarnDict[]).map(unwrap)
}

/** A tool as OpenAI's clients write it, `{type: "function", function: {name, …}}`, is the tool inside. */
function unwrap(item: HarnDict): HarnDict {
  const inner = item.get('function')
  return inner instanceof HarnDict && !item.has('name') ? inner : item
}

export function readToolName(entry: HarnDict): string {
  const name = entry.get('name') ?? null
  return name === null ? '' : display(name)
}

const JSON_TYPES: Readonly<Record<string, string>> = lookup({
  int: 'integer',
  integer: 'integer',
  float: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
  list: 'array',
  array: 'array',
  dict: 'object',
  object: 'object',
})

/** A parameter is named by its type, or described by a JSON Schema that may also say that it can be left out. */
function makeParameters(entry: HarnDict): HarnDict {
  const given = readParameters(entry)
  if (isObjectSchema(given)) return given
  const properties = new HarnDict()
  const required: string[] = []
  for (const [name, spec] of given.entries()) {
    properties.set(name, makeParameter(spec))
    if (!(spec instanceof HarnDict) || isRequired(spec)) required.push(name)
  }
  return HarnDict.of({
    type: 'object',
    properties,
    required: new HarnList(sortTexts(required)),
    additionalProperties: false,
  })
}

function makeParameter(spec: Value): Value {
  if (!(spec instanceof HarnDict)) return HarnDict.of({ type: JSON_TYPES[display(spec)] ?? 'string' })
  const schema = spec.copy()
  // A word of ours: JSON Schema has a list of names there.
  if (typeof schema.get('required') === 'boolean') schema.delete('required')
  const type = schema.get('type')
  if (typeof type === 'string') schema.set('type', JSON_TYPES[type] ?? type)
  else if (!schema.has('type') && !schema.has('enum') && !schema.has('anyOf') && !schema.has('$ref')) schema.set('type', 'string')
  return schema
}

export function isDeferred(entry: HarnDict): boolean {
  return entry.get('defer_loading') === true
}

/** Whether the author of the tool wants its arguments decoded by its schema; wires claim it where the service can. */
function isStrict(entry: HarnDict): boolean {
  return entry.get('strict') === true
}

/** One tool in the shape of the service. */
export function makeNativeTool(entry: HarnDict, anthropic: boolean): HarnDict {
  const name = readToolName(entry)
  const description = display(entry.get('description') ?? '')
  const parameters = makeParameters(entry)
  const namespace = entry.get('namespace') ?? null
  const tool = anthropic
    ? HarnDict.of({ name, description, input_schema: parameters })
    : HarnDict.of({
        type: 'function',
        function: HarnDict.of({ name, description, parameters, ...(isStrict(entry) ? { strict: true } : {}) }),
      })
  const output = entry.get('outputSchema') ?? entry.get('output_schema') ?? null
  if (output !== null) (anthropic ? tool : (tool.get('function') as HarnDict)).set('x-harn-output-schema', output)
  if (isDeferred(entry)) tool.set('defer_loading', true)
  if (namespace !== null && display(namespace) !== '') tool.set('namespace', display(namespace))
  return tool
}

// ------------------------------------------------------------------------------------------------------------ tool search

export interface ToolSearch {
  readonly variant: 'bm25' | 'regex'
  readonly mode: 'auto' | 'native' | 'client'
  readonly strategy: 'bm25' | 'regex' | 'semantic' | 'host'
  readonly alwaysLoaded: readonly string[]
  readonly budgetTokens: number | null
  readonly name: string
  readonly stubListing: boolean
}

export const SEARCH_TOOL = '__harn_tool_search'

/** What is wrong with the kinds of a dict's values, or null. */
function findMisfit(option: HarnDict): string | null {
  const readField = (key: string): Value => option.get(key) ?? null
  for (const key of ['variant', 'mode', 'strategy', 'name']) {
    if (readField(key) !== null && typeof readField(key) !== 'string') return `tool_search.${key}: expected a string`
  }
  if (readField('always_loaded') !== null && !(readField('always_loaded') instanceof HarnList)) {
    return 'tool_search.always_loaded: expected a list of tool names'
  }
  if (readField('budget_tokens') !== null && !isInt(readField('budget_tokens')))
    return 'tool_search.budget_tokens: expected an integer'
  return null
}

/** The option `tool_search`; null when it is off, a text when it is wrong. */
export function readToolSearch(option: Value): ToolSearch | null | string {
  if (option === null || option === false) return null
  const plain = { mode: 'auto', alwaysLoaded: [], budgetTokens: null, name: SEARCH_TOOL, stubListing: false } as const
  if (option === true || option === 'bm25') return { ...plain, variant: 'bm25', strategy: 'bm25' }
  if (option === 'regex') return { ...plain, variant: 'regex', strategy: 'regex' }
  if (typeof option === 'string') return `tool_search.variant: expected "bm25" or "regex", got "${option}"`
  if (!(option instanceof HarnDict)) {
    return (
      'tool_search: expected bool, string ("bm25"/"regex"), or dict ' +
      '({variant, mode, strategy, always_loaded, budget_tokens, name, include_stub_listing})'
    )
  }
  const misfit = findMisfit(option)
  if (misfit !== null) return misfit
  const readWord = (key: string, allowed: readonly string[], fallback: string): string | null => {
    const value = option.get(key) ?? null
    if (value === null) return fallback
    return typeof value === 'string' && allowed.includes(value) ? value : null
  }
  const variant = readWord('variant', ['bm25', 'regex'], 'bm25')
  if (variant === null) return `tool_search.variant: expected "bm25" or "regex", got "${display(option.get('variant')!)}"`
  const mode = readWord('mode', ['auto', 'native', 'client'], 'auto')
  if (mode === null) return `tool_search.mode: expected "auto" | "native" | "client", got "${display(option.get('mode')!)}"`
  const strategy = readWord('strategy', ['bm25', 'regex', 'semantic', 'host'], variant)
  if (strategy === null) {
    return `tool_search.strategy: expected "bm25" | "regex" | "semantic" | "host", got "${display(option.get('strategy')!)}"`
  }
  const always = option.get('always_loaded') ?? null
  const budget = option.get('budget_tokens') ?? null
  const name = option.get('name') ?? null
  return {
    variant: variant as ToolSearch['variant'],
    mode: mode as ToolSearch['mode'],
    strategy: strategy as ToolSearch['strategy'],
    alwaysLoaded: always instanceof HarnList ? always.view().map((item) => display(item)) : [],
    budgetTokens: isInt(budget) ? Number(budget) : null,
    name: name === null ? SEARCH_TOOL : display(name),
    stubListing: option.get('include_stub_listing') === true,
  }
}

export interface SearchPlace {
  readonly provider: string
  readonly model: string
  readonly capabilities: Capabilities
  /** `options.<provider>.force_native_tool_search`. */
  readonly forceNative: boolean
  readonly anthropic: boolean
}

export interface SearchedTools {
  readonly tools: readonly HarnDict[]
  /** Tools that the request leaves out and the search finds; empty when the service searches by itself. */
  readonly deferred: readonly HarnDict[]
}

/** The tools of a request under `search`. A text is the message to throw. */
export function applyToolSearch(
  entries: readonly HarnDict[],
  search: ToolSearch | null,
  place: SearchPlace,
): SearchedTools | string {
  const toNative = (entry: HarnDict): HarnDict => makeNativeTool(entry, place.anthropic)
  if (search === null || entries.length === 0) return { tools: entries.map(toNative), deferred: [] }
  if (entries.every(isDeferred)) {
    return (
      'tool_search: all tools have defer_loading set. At least one tool must be non-deferred so the model has somewhere to ' +
      "start. (Matches Anthropic's 400 on the same condition.)"
    )
  }
  const supported =
    place.forceNative || (place.capabilities.defer_loading === true && (place.capabilities.tool_search ?? []).length > 0)
  if (search.mode === 'native' && !supported) {
    return (
      `tool_search: provider "${place.provider}" does not expose native tool-search for model "${place.model}". ` +
      'Set `tool_search: { mode: "client" }` to use the client-executed fallback, or omit tool_search to ship tools eagerly.'
    )
  }
  if (search.mode !== 'client' && supported) {
    return { tools: [makeMetaTool(entries, search, place), ...entries.map(toNative)], deferred: [] }
  }
  const isKept = (entry: HarnDict): boolean => !isDeferred(entry) || search.alwaysLoaded.includes(readToolName(entry))
  const shown = entries.filter(isKept).map((entry) => {
    const plain = entry.copy()
    plain.delete('defer_loading')
    return toNative(plain)
  })
  return { tools: [searchTool(search, place.anthropic), ...shown], deferred: entries.filter((entry) => !isKept(entry)) }
}

/** The service's own search, as an entry of the list of tools. */
function makeMetaTool(entries: readonly HarnDict[], search: ToolSearch, place: SearchPlace): HarnDict {
  const claude = /(?:^|\/)claude-/.test(place.model.toLowerCase())
  const searching = (place.capabilities.tool_search ?? []).includes('bm25')
  if (place.provider === 'anthropic' || (place.provider === 'mock' && claude && searching)) {
    return HarnDict.of({
      type: `tool_search_tool_${search.variant}_20251119`,
      name: `tool_search_tool_${search.variant}`,
    })
  }
  const tool = HarnDict.of({ type: 'tool_search', mode: 'hosted' })
  const namespaces = new Set(entries.map((entry) => display(entry.get('namespace') ?? '')).filter((name) => name !== ''))
  if (namespaces.size > 0) tool.set('namespaces', new HarnList(sortTexts([...namespaces])))
  return tool
}

function searchTool(search: ToolSearch, anthropic: boolean): HarnDict {
  const parameters = HarnDict.of({
    type: 'object',
    properties: HarnDict.of({
      query: HarnDict.of({ type: 'string', description: 'Words, or a pattern, to look for in names and descriptions.' }),
    }),
    required: new HarnList(['query']),
    additionalProperties: false,
  })
  const description = 'Finds further capabilities by what they do; what it returns can be called from the next turn on.'
  return anthropic
    ? HarnDict.of({ name: search.name, description, input_schema: parameters })
    : HarnDict.of({ type: 'function', function: HarnDict.of({ name: search.name, description, parameters }) })
}
