// Synthesized tools: a tool described at run time, pinned by an id over its specification, callable as a closure.
// Nothing is executed but what a host bridge or an MCP server does; the default executor only answers what would happen.

import {
  HarnDict,
  HarnHandle,
  HarnList,
  builtin,
  debugQuoted,
  family,
  frame,
  sortTexts,
  stringifySorted,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, FrameState, Result, Value } from '@bridle/vm/families'
import { SYNTHESIZING_EXECUTORS, findSynthesis, quoteExecutors } from '@bridle/compiler/grants'
import { refuseBuiltin, refuseTool } from '../policy/tool-policy.js'
import { getOrNil, readText } from './registry.js'

type Synthesis = NonNullable<ReturnType<typeof findSynthesis>>

/** Those that only say what would happen; the first is the one of a config that names none. */
const RECORDING = SYNTHESIZING_EXECUTORS.filter((name) => findSynthesis(name)!.through === null)
const REACHING = SYNTHESIZING_EXECUTORS.filter((name) => findSynthesis(name)!.through !== null)

interface SynthSpec {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly parameters: Value
  readonly returnType: Value
  readonly capabilities: readonly string[]
  readonly level: string
  readonly executor: string
  /** The tool on the other side; empty for a dry run. */
  readonly target: string
  readonly server: string | null
  readonly client: Value
}

/** Specs by id; lives as long as the run. */
const synthesis = family<{ specs: Map<string, SynthSpec> }>('tool_synthesis', () => ({ specs: new Map() }))

const MAX_NAME_BYTES = 64

/** `Fetch the weather!` → `synth_fetch_the_weather`. */
export function inferName(description: string): string {
  let name = 'synth_'
  let separated = false
  for (const char of description) {
    if (name.length >= MAX_NAME_BYTES) break
    if (!/^[A-Za-z0-9]$/.test(char)) {
      separated = true
      continue
    }
    // The separator and what follows it come together: a name may be one byte longer than the limit.
    if (separated && !name.endsWith('_')) name += '_'
    separated = false
    name += char.toLowerCase()
  }
  return name === 'synth_' ? 'synth_tool' : name
}

const LEVEL_RULES: readonly { readonly level: string; readonly prefixes: readonly string[] }[] = [
  { level: 'network', prefixes: ['http', 'oauth', 'network', 'connector', 'mcp'] },
  { level: 'process_exec', prefixes: ['process', 'exec', 'shell'] },
  { level: 'workspace_write', prefixes: ['workspace.write', 'workspace.apply', 'workspace.delete'] },
]

export function inferLevel(capabilities: readonly string[]): string {
  if (capabilities.length === 0) return 'none'
  const rule = LEVEL_RULES.find(({ prefixes }) =>
    capabilities.some((capability) => prefixes.some((prefix) => capability.startsWith(prefix))),
  )
  return rule?.level ?? 'read_only'
}

function makeExecutorRecord({ executor, target, server }: Omit<SynthSpec, 'id' | 'client'>): HarnDict {
  const way = findSynthesis(executor)!
  return HarnDict.of({
    kind: executor,
    ...(way.tool === undefined ? {} : { [way.tool.recordedAs]: target }),
    ...(way.server === undefined ? {} : { [way.server.recordedAs]: server }),
  })
}

/** The text that the id is computed over. */
export function formatIdentity(spec: Omit<SynthSpec, 'id' | 'client'>): string {
  return stringifySorted(
    HarnDict.of({
      name: spec.name,
      description: spec.description,
      parameters: spec.parameters,
      return_type: spec.returnType,
      capabilities: new HarnList([...spec.capabilities]),
      side_effect_level: spec.level,
      executor: makeExecutorRecord(spec),
    }),
  )
}

/** The sorted capabilities without repeats, or the message of the refusal. */
function readCapabilities(value: Value): readonly string[] | string {
  if (value === null) return []
  if (!(value instanceof HarnList)) return 'tool_synthesize: capabilities must be a list of strings'
  const names: string[] = []
  for (const item of value.view()) {
    if (typeof item !== 'string') return 'tool_synthesize: capabilities must be a list of strings'
    if (item.trim() === '') return 'tool_synthesize: capabilities must be a list of non-empty strings'
    names.push(item)
  }
  return sortTexts([...new Set(names)])
}

/** The spec that a config describes, or the message of the refusal. */
function readConfig(config: Value): Omit<SynthSpec, 'id'> | string {
  if (!(config instanceof HarnDict)) return 'tool_synthesize: requires a config dict'
  if (config.has('handler') || config.has('body')) {
    return (
      'tool_synthesize: executable handlers must be supplied with tool_define; ' +
      `synthesized tools are dry-run, ${REACHING.join(', or ')} only`
    )
  }
  const description = readText(config, 'description') ?? ''
  if (description.trim() === '') return 'tool_synthesize: description must be a non-empty string'
  const given = readText(config, 'name') ?? ''
  const name = given.trim() === '' ? inferName(description) : given
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `tool_synthesize: invalid tool name ${debugQuoted(name)}; use ASCII letters, digits, and underscores`
  }
  const capabilities = readCapabilities(getOrNil(config, 'capabilities'))
  if (typeof capabilities === 'string') return capabilities
  const executor = readText(config, 'executor') ?? RECORDING[0]!
  const way = findSynthesis(executor)
  if (way === null) {
    const expected = quoteExecutors('or', SYNTHESIZING_EXECUTORS)
    return `tool_synthesize: unknown executor ${debugQuoted(executor)}; expected ${expected}`
  }
  const target = way.tool === undefined ? '' : (readText(config, way.tool.key) ?? name)
  if (way.tool !== undefined && target.trim() === '')
    return `tool_synthesize: ${executor} executor requires a non-empty ${way.tool.key}`
  const client = way.client === undefined ? null : getOrNil(config, way.client)
  if (client !== null && !(client instanceof HarnHandle && client.kind === way.client))
    return `tool_synthesize: ${way.client} must be an MCP client handle`
  return {
    name,
    description,
    parameters: config.get('parameters') ?? config.get('params') ?? new HarnDict(),
    returnType: config.get('return_type') ?? config.get('returns') ?? null,
    capabilities,
    level: readText(config, 'side_effect_level') ?? inferLevel(capabilities),
    executor,
    target,
    server: way.server === undefined ? null : readText(config, way.server.key),
    client,
  }
}

function synthesize(ctx: Context, config: Value): Result {
  const spec = readConfig(config)
  if (typeof spec === 'string') return ctx.throw(spec)
  const text = formatIdentity(spec)
  ctx.charge(text.length >> 6, text.length)
  const id = `tool_synth_${ctx.machine.hashHex(toUtf8(text)).slice(0, 16)}`
  ctx.state(synthesis).specs.set(id, { ...spec, id })
  return ctx.machine.closureOver('tool_synth_invoke', [id], ['args'])
}

function encodeSpec(spec: SynthSpec): HarnDict {
  const entry = HarnDict.of({
    id: spec.id,
    name: spec.name,
    description: spec.description,
    parameters: spec.parameters,
    return_type: spec.returnType,
    capabilities: new HarnList([...spec.capabilities]),
    side_effect_level: spec.level,
    executor: spec.executor,
  })
  const { tool, server } = findSynthesis(spec.executor)!
  if (tool !== undefined) entry.set(tool.key, spec.target)
  if (server !== undefined && spec.server !== null) entry.set(server.key, spec.server)
  return entry
}

function listCached(ctx: Context): Result {
  const { specs } = ctx.state(synthesis)
  ctx.charge(specs.size, 160 * specs.size)
  return new HarnList(sortTexts([...specs.keys()]).map((id) => encodeSpec(specs.get(id)!)))
}

/** Only names are checked: a parameter is missing when its key is. */
function refuseArguments(spec: SynthSpec, args: Value): string | null {
  const { parameters } = spec
  if (!(parameters instanceof HarnDict) || parameters.size === 0) return null
  if (!(args instanceof HarnDict)) return `${spec.name}: arguments must be a dict`
  for (const key of parameters.keys()) {
    const parameter = parameters.get(key)!
    const optional = parameter instanceof HarnDict && parameter.get('required') === false
    if (!optional && !args.has(key)) return `${spec.name}: missing required argument ${debugQuoted(key)}`
  }
  return null
}

function makeDryRun(spec: SynthSpec, args: Value): HarnDict {
  return HarnDict.of({
    _type: 'synthesized_tool_result',
    status: 'dry_run',
    tool_id: spec.id,
    name: spec.name,
    description: spec.description,
    args,
    capabilities: new HarnList([...spec.capabilities]),
    side_effect_level: spec.level,
    message:
      `synthesized tool is pinned and validated, but executor is ${spec.executor}; ` +
      `set executor: ${quoteExecutors('or', REACHING)} to dispatch`,
  })
}

interface InvokeState extends FrameState {
  started: boolean
  builtin: NonNullable<Synthesis['through']>
  args: Value[]
}

/** Hands over to the builtin that reaches the other side. */
const invokeFrame = frame<InvokeState>({
  kind: 'tool.synth',
  runBoundary: false,
  step: (ctx, state) => {
    if (state.started) return ctx.result
    state.started = true
    return ctx.call(ctx.builtinValue(state.builtin), state.args)
  },
})

function invoke(ctx: Context, id: Value, args: Value): Result {
  if (typeof id !== 'string' || id.trim() === '') return ctx.throw('tool_synth_invoke: synthesis id is required')
  const spec = ctx.state(synthesis).specs.get(id)
  if (spec === undefined)
    return ctx.throw(`tool_synth_invoke: unknown synthesis id ${debugQuoted(id)}; synthesize the tool in this run first`)
  const wrong = refuseArguments(spec, args)
  if (wrong !== null) return ctx.throw(wrong)
  const { through, client } = findSynthesis(spec.executor)!
  if (through === null) return makeDryRun(spec, args)
  const refused = refuseTool(ctx, spec.name, args) ?? refuseBuiltin(ctx, through)
  if (refused !== null) return refused
  if (client === undefined) return handOver(ctx, through, [spec.target, args])
  if (spec.client === null) {
    return ctx.throw(`tool_synth_invoke: ${spec.executor} synthesized tools require ${client} in the synthesis config`)
  }
  if (args !== null && !(args instanceof HarnDict))
    return ctx.throw(`tool_synth_invoke: ${spec.executor} tool arguments must be a dict`)
  return handOver(ctx, through, [spec.client, spec.target, args ?? new HarnDict()])
}

function handOver(ctx: Context, through: InvokeState['builtin'], args: Value[]): Result {
  return ctx.frame('tool.synth', { started: false, builtin: through, args } satisfies InvokeState)
}

export const toolSynthesisFamily: BuiltinFamily = {
  name: 'tool-synthesis',
  builtins: [
    builtin(
      'tool_synthesize(config: dict)',
      { doc: 'A closure that calls a tool described by `config`.', effects: ['host.tool', 'mcp.request'] },
      synthesize,
    ),
    builtin(
      'tool_synth_invoke(id: string, args?: any)',
      { doc: 'Calls a synthesized tool by its id.', effects: ['callback', 'host.tool', 'mcp.request'] },
      invoke,
    ),
    builtin(
      'tool_synthesis_cache() -> list',
      { doc: 'The specifications of the tools synthesized in this run, by id.', effects: [] },
      listCached,
    ),
    builtin('tool_synthesis_clear() -> nil', { doc: 'Forgets every synthesized tool.', effects: [] }, (ctx) => {
      ctx.state(synthesis).specs.clear()
      return null
    }),
  ],
  frames: [invokeFrame],
}
