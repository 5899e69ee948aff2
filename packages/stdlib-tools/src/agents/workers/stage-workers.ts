// Workers that carry out one stage: what their configuration asks for, checked. stages.harn is what they do.

import { HarnDict, HarnList, display, failRuntime, sortTexts } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { identifyEntry } from '../../tools/dispatch/gate.js'
import { CeilingError, intersectPolicies } from '../../tools/policy/ceiling.js'
import { findPolicyMisfit } from '../../tools/policy/shape.js'
import { PermissionsError, readPermissions } from '../../tools/policy/permissions.js'
import { rankLevel } from '../../tools/policy/tool-policy.js'
import { listEntries, readName } from '../../tools/definitions/registry.js'
import { definePrimitive } from '../../library/harn/primitive.js'

const LABEL = 'spawn_agent'
const DEFAULTS: Readonly<Record<string, number>> = { max_iterations: 16, max_nudges: 3 }

function toDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

/**
 * The stage of a `spawn_agent` configuration, empty for one with a graph; raises what is wrong with it. `ceiling` is what the worker's
 * policy allows at most, nil for no limit.
 */
function readStage(config: HarnDict): HarnDict {
  const graph = config.get('graph') ?? null
  const node = graph === null ? (config.get('node') ?? null) : new HarnDict()
  if (node === null) return failRuntime(`${LABEL}: config requires either graph or node`)
  if (!(node instanceof HarnDict)) return failRuntime(`${LABEL} node parse error at .: expected struct WorkflowNode`)
  const policy = config.get('policy') ?? null
  const misfit = findPolicyMisfit(policy)
  if (misfit !== null) return failRuntime(`${LABEL}: policy parse error: ${misfit}`)
  const names = readToolNames(config.get('tools') ?? null)
  const base = policy === null ? null : toDict(policy)
  return HarnDict.of({
    node,
    ceiling: names === null ? base : (base ?? new HarnDict()).with('tools', names),
    permissions: config.get('permissions') ?? toDict(node.get('model_policy')).get('permissions') ?? null,
    artifacts: config.get('artifacts') ?? null,
  })
}

/** The shorthand for a policy that allows these tools only. */
function readToolNames(given: Value): HarnList | null {
  if (given === null) return null
  if (!(given instanceof HarnList) || !given.view().every((item) => typeof item === 'string')) {
    return failRuntime(`${LABEL}: tools shorthand must be a list of strings`)
  }
  return given.length > 0 ? given : failRuntime(`${LABEL}: tools shorthand must include at least one tool name`)
}

// ---------------------------------------------------------------------------------------------------------------- policy

function listTools(node: HarnDict): readonly HarnDict[] {
  const tools = node.get('tools') ?? null
  const entries = tools instanceof HarnDict ? listEntries(tools) : tools instanceof HarnList ? tools.view() : []
  return entries.filter((entry): entry is HarnDict => entry instanceof HarnDict)
}

const ARGUMENT_KEYS = ['path_params', 'arg_aliases', 'required'] as const

/** What an entry says of its tool; facts on arguments may stand beside the others. */
function readAnnotations(entry: HarnDict): HarnDict | null {
  const given = [entry.get('policy'), entry.get('annotations')].find((each) => each instanceof HarnDict)
  if (!(given instanceof HarnDict)) return null
  const flat = ARGUMENT_KEYS.filter((key) => (given.get(key) ?? null) !== null)
  if (flat.length === 0 || given.has('arg_schema')) return given
  return given.with('arg_schema', HarnDict.of(Object.fromEntries(flat.map((key) => [key, given.get(key)!]))))
}

/** The operations of all annotations by capability, sorted. */
function joinCapabilities(annotations: readonly HarnDict[]): HarnDict {
  const joined = new Map<string, Set<string>>()
  for (const each of annotations) {
    const capabilities = toDict(each.get('capabilities'))
    for (const name of capabilities.keys()) {
      const known = joined.get(name) ?? new Set<string>()
      joined.set(name, known)
      const operations = capabilities.get(name)
      if (operations instanceof HarnList) for (const operation of operations.view()) known.add(display(operation))
    }
  }
  return HarnDict.of(
    Object.fromEntries([...joined].map(([name, operations]) => [name, new HarnList(sortTexts([...operations]))])),
  )
}

function findHighestLevel(annotations: readonly HarnDict[]): string | null {
  const levels = annotations
    .map((each) => each.get('side_effect_level'))
    .filter((level): level is string => typeof level === 'string' && level !== 'none')
  return levels.length === 0 ? null : levels.reduce((high, level) => (rankLevel(level) > rankLevel(high) ? level : high))
}

/** What the tools of a stage need: their names, what they are annotated with, capabilities and level; null without tools. */
function makeToolsPolicy(ctx: Context, tools: readonly HarnDict[]): HarnDict | null {
  if (tools.length === 0) return null
  const byName = new HarnDict()
  const known: HarnDict[] = []
  for (const tool of tools) {
    const annotations = readAnnotations(tool)
    if (annotations === null) continue
    byName.set(readName(tool), annotations)
    known.push(annotations)
  }
  return HarnDict.of({
    // What executes is judged, not the name that the entry gives it.
    tools: new HarnList([...new Set(tools.flatMap((tool) => [readName(tool), ...identifyEntry(ctx, tool).names]))]),
    tool_annotations: byName,
    capabilities: joinCapabilities(known),
    side_effect_level: findHighestLevel(known),
  })
}

/** What the stage asks for: its tools with their annotations, no more than its own policy lets it have. */
function makeStagePolicy(ctx: Context, node: HarnDict, ceiling: Value): HarnDict | null {
  const asked = makeToolsPolicy(ctx, listTools(node))
  const own = node.get('capability_policy') ?? null
  const narrowPolicy = (limit: HarnDict | null, wanted: HarnDict | null): HarnDict | null => {
    if (limit === null || wanted === null) return wanted ?? limit
    try {
      return intersectPolicies(limit, wanted)
    } catch (error) {
      if (error instanceof CeilingError) return failRuntime(error.message)
      throw error
    }
  }
  return narrowPolicy(ceiling instanceof HarnDict ? ceiling : null, narrowPolicy(asked, own instanceof HarnDict ? own : null))
}

function checkPermissions(value: Value): Value {
  try {
    readPermissions(value, 'workflow model_policy')
    return value
  } catch (error) {
    if (error instanceof PermissionsError) return failRuntime(error.message)
    throw error
  }
}

/** Options of the loop that carries a stage out. `session` is where its conversation continues. */
function makeLoopOptions(ctx: Context, stage: HarnDict, session: string): HarnDict {
  const node = toDict(stage.get('node'))
  const options = toDict(node.get('model_policy')).copy()
  for (const [key, value] of Object.entries(DEFAULTS)) if ((options.get(key) ?? null) === null) options.set(key, value)
  options.set('persistent', true)
  if ((options.get('session_id') ?? null) === null) options.set('session_id', session)
  options.set('auto_compact', toDict(node.get('auto_compact')).get('enabled') === true)
  for (const key of ['tools', 'approval_policy', 'done_sentinel', 'exit_when_verified']) {
    const value = node.get(key) ?? null
    if (value !== null) options.set(key, value)
  }
  options.delete('permissions')
  const permissions = stage.get('permissions') ?? null
  if (permissions !== null) options.set('permissions', checkPermissions(permissions))
  const policy = makeStagePolicy(ctx, node, stage.get('ceiling') ?? null)
  if (policy !== null) options.set('policy', policy)
  return options
}

export const stagePrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__read_stage(config: dict) -> dict',
    'The stage of a configuration, read and checked: {node, ceiling, permissions, artifacts}.',
    (_ctx, config) => readStage(config as HarnDict),
  ),
  definePrimitive('__tools_policy(node: dict) -> dict?', 'The policy that the tools of a node need.', (ctx, node) =>
    makeToolsPolicy(ctx, listTools(node as HarnDict)),
  ),
  definePrimitive('__has_stage_tools(node: dict) -> bool', 'Whether a stage has tools.', (_ctx, node) => {
    return listTools(node as HarnDict).length > 0
  }),
  definePrimitive(
    '__stage_loop_options(stage: dict, session: string) -> dict',
    'Options of the loop that carries a stage out; raises what is wrong with its policies.',
    (ctx, stage, session) => makeLoopOptions(ctx, stage as HarnDict, session as string),
  ),
]
