// Tool registry builtins: making, searching and changing registries, their text and schema forms, and
// the registry bound to the current scope. tool_define has its own file, tools-define.ts.

import { builtinTaking, Control, HarnDict, HarnList, builtin, display, parseJson } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { toolDefine } from './define.js'
import { describeTools, renderPromptTools } from './render.js'
import {
  boundRegistry,
  listEntries,
  findEntry,
  isRegistry,
  readName,
  refuseRegistry,
  describeNotRegistry,
  requireBound,
  describeUnknownTool,
  withTools,
  withoutHandler,
} from './registry.js'
import { exportSchema } from './schema.js'
import { toolSurfaceValidate } from './surface.js'

/** A builtin of one registry: `requires a tool registry` for anything but a dict, then the registry check. */
function onRegistry(name: string, run: (ctx: Context, registry: HarnDict, second: Value) => Result) {
  return (ctx: Context, registry: Value, second: Value = null): Result => {
    const refused = refuseRegistry(ctx, name, registry, 'requires a tool registry')
    if (refused !== null) return refused
    ctx.charge(listEntries(registry as HarnDict).length)
    return run(ctx, registry as HarnDict, second)
  }
}

/** A builtin of a registry and one more argument, which must both be given. */
function onRegistryAnd(name: string, run: (ctx: Context, registry: HarnDict, second: Value) => Result) {
  return (ctx: Context, registry: Value, argument: Value): Result => {
    const refused = refuseRegistry(ctx, name, registry, 'first argument must be a tool registry')
    if (refused !== null) return refused
    ctx.charge(listEntries(registry as HarnDict).length)
    return run(ctx, registry as HarnDict, argument)
  }
}

/** The entry that `name` has in the bound registry. */
function onBoundTool(builtinName: string, run: (entry: HarnDict, name: string) => Result) {
  return (ctx: Context, name: Value): Result => {
    if (typeof name !== 'string') return ctx.throw(`${builtinName}: name must be a string literal`)
    const registry = requireBound(ctx, builtinName)
    if (registry instanceof Control) return registry
    const entry = findEntry(registry, name)
    return entry === null ? ctx.throw(describeUnknownTool(builtinName, name, registry)) : run(entry, name)
  }
}

function bindRegistry(ctx: Context, registry: Value): Result {
  if (registry !== null && !(registry instanceof HarnDict)) return ctx.throw('tool_bind: argument must be a tool registry or nil')
  if (registry !== null && !isRegistry(registry)) return ctx.throw(describeNotRegistry('tool_bind'))
  ctx.state(boundRegistry).registry = registry
  return registry
}

function selectTools(ctx: Context, registry: HarnDict, names: Value): Result {
  if (!(names instanceof HarnList)) return ctx.throw('tool_select: second argument must be a list of tool names')
  const wanted = new Set(names.view().map(display))
  return withTools(
    registry,
    listEntries(registry).filter((entry) => entry instanceof HarnDict && entry.has('name') && wanted.has(readName(entry))),
  )
}

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'

/** The parsed calls of a model's text; text that is not JSON is skipped, an unclosed tag ends the scan. */
function parseCalls(ctx: Context, text: Value): Result {
  const source = text === null ? '' : display(text)
  ctx.charge(source.length >> 6, source.length)
  const calls: Value[] = []
  for (let at = source.indexOf(OPEN); at >= 0; at = source.indexOf(OPEN, at)) {
    const start = at + OPEN.length
    const end = source.indexOf(CLOSE, start)
    if (end < 0) break
    const parsed = parseJson(source.slice(start, end).trim())
    if (parsed.ok) calls.push(parsed.value)
    at = end + CLOSE.length
  }
  return new HarnList(calls)
}

function formatResult(name: Value, result: Value): string {
  return `<tool_result>{"name": ${quoteText(display(name))}, "result": ${quoteText(display(result))}}</tool_result>`
}

/** JSON escapes without the short forms `\b` and `\f`. */
function quoteText(text: string): string {
  return JSON.stringify(text).replace(/\\./g, (escape) => (escape === '\\b' ? '\\u0008' : escape === '\\f' ? '\\u000c' : escape))
}

const makeStateful = (doc: string) => ({ doc, effects: [] as readonly string[] })

export const toolsFamily: BuiltinFamily = {
  name: 'tools',
  builtins: [
    builtin('tool_registry() -> dict', makeStateful('An empty tool registry.'), () =>
      HarnDict.of({ _type: 'tool_registry', tools: new HarnList([]) }),
    ),
    toolDefine,
    builtin(
      'tool_list(registry: dict) -> list',
      makeStateful('The entries of a registry without their handlers.'),
      onRegistry(
        'tool_list',
        (_ctx, registry) =>
          new HarnList(
            listEntries(registry)
              .filter((entry) => entry instanceof HarnDict)
              .map(withoutHandler),
          ),
      ),
    ),
    builtinTaking(
      'tool_find(registry: dict, name: string)',
      makeStateful('The entry of that name with its handler, or nil.'),
      { fewer: '{f}: requires registry and name' },
      onRegistryAnd('tool_find', (_ctx, registry, name) => findEntry(registry, display(name))),
    ),
    builtinTaking(
      'tool_select(registry: dict, names: list) -> dict',
      makeStateful('A registry of the named tools only.'),
      { fewer: '{f}: requires registry and names list' },
      onRegistryAnd('tool_select', selectTools),
    ),
    builtinTaking(
      'tool_remove(registry: dict, name: string) -> dict',
      makeStateful('A registry without that tool.'),
      { fewer: '{f}: requires registry and name' },
      onRegistryAnd('tool_remove', (_ctx, registry, name) =>
        withTools(
          registry,
          listEntries(registry).filter((entry) => !(entry instanceof HarnDict && entry.get('name') === display(name))),
        ),
      ),
    ),
    builtin(
      'tool_count(registry: dict) -> int',
      makeStateful('How many tools a registry has.'),
      onRegistry('tool_count', (_ctx, registry) => listEntries(registry).length),
    ),
    builtin(
      'tool_describe(registry: dict) -> string',
      makeStateful('A short list of the tools, one line each.'),
      onRegistry('tool_describe', (_ctx, registry) => describeTools(registry)),
    ),
    builtin(
      'tool_prompt(registry: dict) -> string',
      makeStateful('Text that tells a model how to call the tools.'),
      onRegistry('tool_prompt', (_ctx, registry) => renderPromptTools(registry)),
    ),
    builtin(
      'tool_schema(registry: dict, components?: dict) -> dict',
      makeStateful('The tools as JSON Schemas.'),
      onRegistry('tool_schema', (_ctx, registry, components) => exportSchema(registry, components)),
    ),
    builtin(
      'tool_parse_call(text: string) -> list as ?',
      makeStateful('The tool calls that a model wrote into its text.'),
      parseCalls,
    ),
    builtinTaking(
      'tool_format_result(name: string, result: string) -> string',
      makeStateful('A tool result as text for a model.'),
      { fewer: '{f}: requires name and result' },
      (_ctx, name, result) => formatResult(name, result),
    ),
    builtin(
      'tool_bind(registry?: dict | nil)',
      makeStateful('Makes a registry the one that tool_ref and tool_def look at; nil unbinds.'),
      bindRegistry,
    ),
    builtin(
      'tool_ref(name: string) -> string',
      makeStateful('The name itself, when the bound registry has that tool.'),
      onBoundTool('tool_ref', (_entry, name) => name),
    ),
    builtin(
      'tool_def(name: string) -> dict',
      makeStateful('The entry of the bound registry without its handler.'),
      onBoundTool('tool_def', (entry) => withoutHandler(entry)),
    ),
    toolSurfaceValidate,
  ],
}
