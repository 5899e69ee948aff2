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
import { refuseBuiltin, refuseTool } from '../policy/tool-policy.js'
import { getOrNil, readText } from './registry.js'

type SynthExecutor = 'dry_run' | 'host_bridge' | 'mcp_server'

interface SynthSpec {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly parameters: Value
  readonly returnType: Value
  readonly capabilities: readonly string[]
  readonly level: string
  readonly executor: SynthExecutor
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

function makeExecutorRecord(spec: Omit<SynthSpec, 'id' | 'client'>): HarnDict {
  switch (spec.executor) {
    case 'dry_run':
      return HarnDict.of({ kind: 'dry_run' })
    case 'host_bridge':
      return HarnDict.of({ kind: 'host_bridge', host_tool: spec.target })
    case 'mcp_server':
      return HarnDict.of({ kind: 'mcp_server', tool_name: spec.target, server_name: spec.server })
  }
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
      'synthesized tools are dry-run, host_bridge, or mcp_server only'
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
  const executor = readText(config, 'executor') ?? 'dry_run'
  if (executor !== 'dry_run' && executor !== 'host_bridge' && executor !== 'mcp_server') {
    return `tool_synthesize: unknown executor ${debugQuoted(executor)}; expected "dry_run", "host_bridge", or "mcp_server"`
  }
  const target = executor === 'dry_run' ? '' : (readText(config, executor === 'host_bridge' ? 'host_tool' : 'mcp_tool') ?? name)
  if (executor === 'host_bridge' && target.trim() === '')
    return 'tool_synthesize: host_bridge executor requires a non-empty host_tool'
  if (executor === 'mcp_server' && target.trim() === '')
    return 'tool_synthesize: mcp_server executor requires a non-empty mcp_tool'
  const client = executor === 'mcp_server' ? getOrNil(config, 'mcp_client') : null
  if (client !== null && !(client instanceof HarnHandle && client.kind === 'mcp_client'))
    return 'tool_synthesize: mcp_client must be an MCP client handle'
  return {
    name,
    description,
    parameters: config.get('parameters') ?? config.get('params') ?? new HarnDict(),
    returnType: config.get('return_type') ?? config.get('returns') ?? null,
    capabilities,
    level: readText(config, 'side_effect_level') ?? inferLevel(capabilities),
    executor,
    target,
    server: executor === 'mcp_server' ? readText(config, 'mcp_server') : null,
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
  if (spec.executor === 'host_bridge') entry.set('host_tool', spec.target)
  if (spec.executor === 'mcp_server') {
    entry.set('mcp_tool', spec.target)
    if (spec.server !== null) entry.set('mcp_server', spec.server)
  }
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
      'synthesized tool is pinned and validated, but executor is dry_run; ' +
      'set executor: "host_bridge" or "mcp_server" to dispatch',
  })
}

interface InvokeState extends FrameState {
  started: boolean
  builtin: 'host_tool_call' | 'mcp_call'
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
  if (spec.executor === 'dry_run') return makeDryRun(spec, args)
  const target = spec.executor === 'host_bridge' ? 'host_tool_call' : 'mcp_call'
  const refused = refuseTool(ctx, spec.name, args) ?? refuseBuiltin(ctx, target)
  if (refused !== null) return refused
  if (target === 'host_tool_call')
    return ctx.frame('tool.synth', { started: false, builtin: target, args: [spec.target, args] } satisfies InvokeState)
  if (spec.client === null) {
    return ctx.throw('tool_synth_invoke: mcp_server synthesized tools require mcp_client in the synthesis config')
  }
  if (args !== null && !(args instanceof HarnDict))
    return ctx.throw('tool_synth_invoke: mcp_server tool arguments must be a dict')
  return ctx.frame('tool.synth', {
    started: false,
    builtin: target,
    args: [spec.client, spec.target, args ?? new HarnDict()],
  } satisfies InvokeState)
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
