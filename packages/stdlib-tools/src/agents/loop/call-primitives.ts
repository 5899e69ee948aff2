// What calls.harn, one tool call of an agent loop, is made with: the tool that a call means, its arguments as models write them, and what the
// call comes down to.

import { HarnDict, HarnList } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { readParameters, withDefaults } from '../../tools/definitions/arguments.js'
import { readParseError } from '../../tools/definitions/model-arguments.js'
import { resolveCalledInLoop, chooseCarrier } from '../../tools/dispatch/carry-out.js'
import { encodeCalled } from '../../tools/dispatch/identity.js'
import type { CalledTool } from '../../tools/dispatch/identity.js'
import { findInstalledAnnotations } from '../../tools/policy/tool-policy.js'
import { readToolName } from '../models/tools.js'
import { listDicts } from '../transcripts/shape.js'
import { callTracePrimitives } from './call-trace.js'
import { findIdentityAtServer, decodeServers } from './servers.js'

const INT_KEYS = new Set(['range_start', 'range_end', 'offset', 'limit', 'timeout', 'line', 'start_line', 'end_line', 'count'])

/** Numbers that models write as texts. */
function normalizeNumbers(value: Value, key: string | null): Value {
  if (typeof value === 'string') return key !== null && INT_KEYS.has(key) && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (value instanceof HarnList) return new HarnList(value.view().map((item) => normalizeNumbers(item, key)))
  if (!(value instanceof HarnDict)) return value
  const copy = new HarnDict()
  for (const name of value.keys()) copy.set(name, normalizeNumbers(value.get(name)!, name))
  return copy
}

/** Arguments under the names that the installed policy's annotations give them. */
function resolveAliases(aliases: ReadonlyMap<string, string>, args: HarnDict): HarnDict {
  if (aliases.size === 0) return args
  const renamed = args.copy()
  for (const [alias, name] of aliases) {
    if (!renamed.has(alias) || renamed.has(name)) continue
    renamed.set(name, renamed.get(alias)!)
    renamed.delete(alias)
  }
  return renamed
}

/** What a call comes down to, as it will be carried out; `server` is the one of the loop that the tool names, or nil. */
function resolveCalled(ctx: Context, name: string, tool: HarnDict | null, server: Value): CalledTool {
  const isServed = tool !== null && server !== null && chooseCarrier(name, tool, true) === 'server'
  const served = isServed ? findIdentityAtServer(decodeServers(new HarnList([server])), tool) : null
  return served === null ? resolveCalledInLoop(ctx, name, tool) : { shown: name, identity: served }
}

const asDictOrNull = (value: Value | undefined): HarnDict | null => (value instanceof HarnDict ? value : null)

export const callPrimitives: readonly BuiltinDef[] = [
  ...callTracePrimitives,
  definePrimitive(
    '__tool_named(tools: list, name: string) -> dict?',
    'The entry of that name; the last one counts.',
    (_ctx, tools, name) => listDicts(tools).findLast((tool) => readToolName(tool) === name) ?? null,
  ),
  definePrimitive(
    '__read_arguments(name: string, tool: dict?, args: dict) -> dict',
    'Arguments as the tool has them, defaults included: {args, problem, kind}; the kind that the installed policy says.',
    (ctx, name, tool, args) => {
      const annotated = findInstalledAnnotations(ctx, name as string) ?? null
      const read = normalizeNumbers(resolveAliases(annotated?.argAliases ?? new Map(), args as HarnDict), null)
      const problem = readParseError(read)
      const filled = problem === null && tool instanceof HarnDict ? withDefaults(readParameters(tool), read as HarnDict) : read
      return HarnDict.of({ args: filled, problem, kind: annotated?.kind ?? null })
    },
  ),
  definePrimitive(
    '__called_tool(name: string, tool: dict?, server: dict?) -> dict',
    'What a call comes down to.',
    (ctx, name, tool, server) => encodeCalled(resolveCalled(ctx, name as string, asDictOrNull(tool), server ?? null)),
  ),
]
