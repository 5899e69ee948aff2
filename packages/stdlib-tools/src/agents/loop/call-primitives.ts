// What calls.harn, one tool call of an agent loop, is made with: the tool that a call means, its arguments as models write them, and what the
// call comes down to.

import { HarnDict, HarnList } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { primitive } from '../../library/harn/primitive.js'
import { parseErrorOf } from '../../tools/definitions/model-arguments.js'
import { calledInLoop, carrierOf } from '../../tools/dispatch/carry-out.js'
import { calledValue } from '../../tools/dispatch/identity.js'
import type { CalledTool } from '../../tools/dispatch/identity.js'
import { installedAnnotations } from '../../tools/policy/tool-policy.js'
import { toolName } from '../models/tools.js'
import { dictsOf } from '../transcripts/shape.js'
import { callTracePrimitives } from './call-trace.js'
import { identityAtServer, serversOfValue } from './servers.js'

const INT_KEYS = new Set(['range_start', 'range_end', 'offset', 'limit', 'timeout', 'line', 'start_line', 'end_line', 'count'])

/** Numbers that models write as texts. */
function normalized(value: Value, key: string | null): Value {
  if (typeof value === 'string') return key !== null && INT_KEYS.has(key) && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (value instanceof HarnList) return new HarnList(value.view().map((item) => normalized(item, key)))
  if (!(value instanceof HarnDict)) return value
  const copy = new HarnDict()
  for (const name of value.keys()) copy.set(name, normalized(value.get(name)!, name))
  return copy
}

/** Arguments under the names that the installed policy's annotations give them. */
function unaliased(aliases: ReadonlyMap<string, string>, args: HarnDict): HarnDict {
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
function calledOf(ctx: Context, name: string, tool: HarnDict | null, server: Value): CalledTool {
  const isServed = tool !== null && server !== null && carrierOf(name, tool, true) === 'server'
  const served = isServed ? identityAtServer(serversOfValue(new HarnList([server])), tool) : null
  return served === null ? calledInLoop(ctx, name, tool) : { shown: name, identity: served }
}

const dictOrNull = (value: Value | undefined): HarnDict | null => (value instanceof HarnDict ? value : null)

export const callPrimitives: readonly BuiltinDef[] = [
  ...callTracePrimitives,
  primitive(
    '__tool_named(tools: list, name: string) -> dict?',
    'The entry of that name; the last one counts.',
    (_ctx, tools, name) => dictsOf(tools).findLast((tool) => toolName(tool) === name) ?? null,
  ),
  primitive(
    '__read_arguments(name: string, args: dict) -> dict',
    'Arguments as the tool has them: {args, problem, kind}; the kind that the installed policy says.',
    (ctx, name, args) => {
      const annotated = installedAnnotations(ctx, name as string) ?? null
      const read = normalized(unaliased(annotated?.argAliases ?? new Map(), args as HarnDict), null)
      return HarnDict.of({ args: read, problem: parseErrorOf(read), kind: annotated?.kind ?? null })
    },
  ),
  primitive(
    '__called_tool(name: string, tool: dict?, server: dict?) -> dict',
    'What a call comes down to.',
    (ctx, name, tool, server) => calledValue(calledOf(ctx, name as string, dictOrNull(tool), server ?? null)),
  ),
]
