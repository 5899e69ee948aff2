// Tool registry builtins: making, searching and changing registries, their text and schema forms, and
// the registry bound to the current scope. tool_define has a file of its own, tools-define.ts.

import { Control, HarnDict, HarnList, builtin, display, parseJson } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { toolDefine } from './define.js'
import { describeTools, promptTools } from './render.js'
import {
  boundRegistry,
  entriesOf,
  findEntry,
  isRegistry,
  nameOf,
  refuseRegistry,
  registryMessage,
  requireBound,
  unknownTool,
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
    ctx.charge(entriesOf(registry as HarnDict).length)
    return run(ctx, registry as HarnDict, second)
  }
}

/** A builtin of a registry and one more argument, which must both be given. */
function onRegistryAnd(name: string, second: string, run: (ctx: Context, registry: HarnDict, second: Value) => Result) {
  return (ctx: Context, registry: Value, argument: Value): Result => {
    if (ctx.argc < 2) return ctx.throw(`${name}: requires registry and ${second}`)
    const refused = refuseRegistry(ctx, name, registry, 'first argument must be a tool registry')
    if (refused !== null) return refused
    ctx.charge(entriesOf(registry as HarnDict).length)
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
    return entry === null ? ctx.throw(unknownTool(builtinName, name, registry)) : run(entry, name)
  }
}

function toolBind(ctx: Context, registry: Value): Result {
  if (registry !== null && !(registry instanceof HarnDict)) return ctx.throw('tool_bind: argument must be a tool registry or nil')
  if (registry !== null && !isRegistry(registry)) return ctx.throw(registryMessage('tool_bind'))
  ctx.state(boundRegistry).registry = registry
  return registry
}

function toolSelect(ctx: Context, registry: HarnDict, names: Value): Result {
  if (!(names instanceof HarnList)) return ctx.throw('tool_select: second argument must be a list of tool names')
  const wanted = new Set(names.view().map(display))
  return withTools(
    registry,
    entriesOf(registry).filter((entry) => entry instanceof HarnDict && entry.has('name') && wanted.has(nameOf(entry))),
  )
}

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'

/** The parsed calls of a model's text; text that is not JSON is skipped, an unclosed tag ends the scan. */
function toolParseCall(ctx: Context, text: Value): Result {
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

function toolFormatResult(ctx: Context, name: Value, result: Value): Result {
  if (ctx.argc < 2) return ctx.throw('tool_format_result: requires name and result')
  return `<tool_result>{"name": ${quoted(display(name))}, "result": ${quoted(display(result))}}</tool_result>`
}

/** JSON escapes without the short forms `\b` and `\f`. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\./g, (escape) => (escape === '\\b' ? '\\u0008' : escape === '\\f' ? '\\u000c' : escape))
}

const stateful = (doc: string) => ({ doc, effects: [] as readonly string[] })

export const toolsFamily: BuiltinFamily = {
  name: 'tools',
  builtins: [
    builtin('tool_registry() -> dict', stateful('An empty tool registry.'), () =>
      HarnDict.of({ _type: 'tool_registry', tools: new HarnList([]) }),
    ),
    toolDefine,
    builtin(
      'tool_list(registry: dict) -> list',
      stateful('The entries of a registry without their handlers.'),
      onRegistry(
        'tool_list',
        (_ctx, registry) =>
          new HarnList(
            entriesOf(registry)
              .filter((entry) => entry instanceof HarnDict)
              .map(withoutHandler),
          ),
      ),
    ),
    builtin(
      'tool_find(registry: dict, name: string)',
      stateful('The entry of that name with its handler, or nil.'),
      onRegistryAnd('tool_find', 'name', (_ctx, registry, name) => findEntry(registry, display(name))),
    ),
    builtin(
      'tool_select(registry: dict, names: list) -> dict',
      stateful('A registry of the named tools only.'),
      onRegistryAnd('tool_select', 'names list', toolSelect),
    ),
    builtin(
      'tool_remove(registry: dict, name: string) -> dict',
      stateful('A registry without that tool.'),
      onRegistryAnd('tool_remove', 'name', (_ctx, registry, name) =>
        withTools(
          registry,
          entriesOf(registry).filter((entry) => !(entry instanceof HarnDict && entry.get('name') === display(name))),
        ),
      ),
    ),
    builtin(
      'tool_count(registry: dict) -> int',
      stateful('How many tools a registry has.'),
      onRegistry('tool_count', (_ctx, registry) => entriesOf(registry).length),
    ),
    builtin(
      'tool_describe(registry: dict) -> string',
      stateful('A short list of the tools, one line each.'),
      onRegistry('tool_describe', (_ctx, registry) => describeTools(registry)),
    ),
    builtin(
      'tool_prompt(registry: dict) -> string',
      stateful('Text that tells a model how to call the tools.'),
      onRegistry('tool_prompt', (_ctx, registry) => promptTools(registry)),
    ),
    builtin(
      'tool_schema(registry: dict, components?: dict) -> dict',
      stateful('The tools as JSON Schemas.'),
      onRegistry('tool_schema', (_ctx, registry, components) => exportSchema(registry, components)),
    ),
    builtin(
      'tool_parse_call(text: string) -> list as ?',
      stateful('The tool calls that a model wrote into its text.'),
      toolParseCall,
    ),
    builtin(
      'tool_format_result(name: string, result: string) -> string',
      stateful('A tool result as text for a model.'),
      toolFormatResult,
    ),
    builtin(
      'tool_bind(registry?: dict | nil)',
      stateful('Makes a registry the one that tool_ref and tool_def look at; nil unbinds.'),
      toolBind,
    ),
    builtin(
      'tool_ref(name: string) -> string',
      stateful('The name itself, when the bound registry has that tool.'),
      onBoundTool('tool_ref', (_entry, name) => name),
    ),
    builtin(
      'tool_def(name: string) -> dict',
      stateful('The entry of the bound registry without its handler.'),
      onBoundTool('tool_def', (entry) => withoutHandler(entry)),
    ),
    toolSurfaceValidate,
  ],
}
