// Every route by which a script reaches a tool outside of the machine, under every judge that may refuse it: what counts is how often the
// tool was carried out. Routes call it by their own names as far as they can; the judges only know the name that it has.
//
// The sweeps run each route under each judge; `npm test` runs each route under every fourth judge, and each judge over every fourth route.
//
// A builtin that can reach a tool and stands in no row is a failure: a new route needs a row.

import { describe, expect, inject, test } from 'vitest'
import type { Plain } from '@bridle/vm'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions, StartOptions } from '../../host/runtime-options.js'
import { memoryModules } from '../../host/modules.js'
import { MemoryFs } from '../../host/providers/memory.js'
import { answered } from '../executors/provider.js'
import type { Provider } from '../executors/provider.js'
import { defineTool } from '../host-tools/define.js'

interface Route {
  readonly name: string
  readonly target: 'host' | 'mcp'
  /** Builtins that the route goes through. */
  readonly through: readonly string[]
  /** Statements that call the tool once; `ARGS` stands for its arguments. Names `f0`, `f1` … are free. */
  readonly script: string
}

const MADE_UP = '{name: "shop.look", executor: "host_bridge", host_capability: "shop.order", effects: [], parameters: {}}'
const BY_SERVER =
  '{name: "shop.look", executor: "mcp_server", mcp_server: "shop", mcp_tool: "order", effects: [], parameters: {}}'

/** An agent whose model asks for one call of `tool`. */
const makeLoop = (start: string, tool: string, options: string): string =>
  `llm_mock_clear()
llm_mock({text: "", tool_calls: [{name: "${tool}", arguments: ARGS}]})
llm_mock({text: "##DONE##"})
${start}("go", ${start === 'agent_loop' ? 'nil, ' : ''}{provider: "mock", tool_format: "native", max_iterations: 3, ${options}})`

const LOOPS = ['agent_loop', '__agent_loop', '__agent_loop_body', '__agent_loop_scope', '__agent_loop_turns']

const ROUTES: readonly Route[] = [
  { name: 'tool_call', target: 'host', through: ['__tool_call'], script: 'tool_call("shop.order", ARGS)' },
  { name: 'tool_call by a further name', target: 'host', through: ['__tool_call'], script: 'tool_call("order", ARGS)' },
  { name: 'tool_call of an entry', target: 'host', through: ['__tool_call'], script: `tool_call(${MADE_UP}, ARGS)` },
  {
    name: 'tool_call in a registry',
    target: 'host',
    through: ['__tool_call'],
    script:
      'tool_call("shop.look", ARGS, {registry: tool_define(tool_registry(), "shop.look", "", {executor: "host_bridge", host_capability: "order", effects: []})})',
  },
  { name: 'tool_try', target: 'host', through: ['__tool_try'], script: 'unwrap(tool_try("order", ARGS))' },
  {
    name: 'tool_batch',
    target: 'host',
    through: ['__tool_call', '__tool_try'],
    script: `tool_batch([{tool: ${MADE_UP}, args: ARGS}], {fail_fast: true})`,
  },
  {
    name: 'tool_use',
    target: 'host',
    through: ['__tool_use', '__tool_alias_call'],
    script: 'let t = tool_use("shop.order", {name: "shop.look"})\nt(ARGS)',
  },
  { name: 'an import of the host', target: 'host', through: ['__host_tool'], script: 'imported_order(ARGS)' },
  { name: 'a defined tool', target: 'host', through: ['__defined_tool_call'], script: '__defined_tool_call("order", ARGS)' },
  { name: 'host_call', target: 'host', through: ['host_call'], script: 'host_call("shop.order", ARGS)' },
  { name: 'host_tool_call', target: 'host', through: ['host_tool_call'], script: 'host_tool_call("shop.order", ARGS)' },
  {
    name: 'host_tool_call by a further name',
    target: 'host',
    through: ['host_tool_call'],
    script: 'host_tool_call("order", ARGS)',
  },
  {
    name: 'a synthesized tool',
    target: 'host',
    through: ['tool_synthesize', 'tool_synth_invoke', 'host_tool_call'],
    script: 'let t = tool_synthesize({name: "look", description: "look", executor: "host_bridge", host_tool: "order"})\nt(ARGS)',
  },
  { name: 'a call by a tool', target: 'host', through: ['__tool_call'], script: 'tool_call("shop.relay", ARGS)' },
  { name: 'a call by a tool of a host call', target: 'host', through: ['host_call'], script: 'host_call("shop.relay", ARGS)' },
  {
    name: 'a handler',
    target: 'host',
    through: ['__tool_call', 'host_call'],
    script: 'tool_call({name: "h", parameters: {}, handler: { a -> host_call("shop.order", a) }}, ARGS)',
  },
  {
    name: 'a stream',
    target: 'host',
    through: ['__tool_stream_open', '__tool_stream_next', '__tool_stream_close'],
    script: `for c in tool_stream(${MADE_UP}, ARGS) { c.content }`,
  },
  { name: 'a task', target: 'host', through: ['__tool_call'], script: `await(spawn { tool_call(${MADE_UP}, ARGS) })` },
  {
    name: 'agent_loop',
    target: 'host',
    through: LOOPS,
    script: makeLoop('agent_loop', 'shop.look', `tools: {_type: "tool_registry", tools: [${MADE_UP}]}`),
  },
  {
    name: 'sub_agent_run',
    target: 'host',
    through: ['sub_agent_run'],
    script: makeLoop('sub_agent_run', 'shop.look', `tools: {_type: "tool_registry", tools: [${MADE_UP}]}`),
  },
  {
    name: 'spawn_agent',
    target: 'host',
    through: ['spawn_agent', '__worker_body'],
    script: `llm_mock_clear()
llm_mock({text: "", tool_calls: [{name: "shop.look", arguments: ARGS}]})
llm_mock({text: "##DONE##"})
wait_agent(spawn_agent({task: "go", node: {mode: "agent", model_policy: {provider: "mock", tool_format: "native", max_iterations: 3}, tools: {_type: "tool_registry", tools: [${MADE_UP}]}}}))`,
  },
  {
    name: 'a daemon',
    target: 'host',
    through: ['daemon_spawn', '__daemon_body'],
    script: `llm_mock_clear()
llm_mock({text: "", tool_calls: [{name: "shop.look", arguments: ARGS}]})
llm_mock({text: "##DONE##"})
daemon_stop(daemon_spawn({task: "go", persist_path: "/daemon", provider: "mock", tool_format: "native", max_iterations: 3, tools: {_type: "tool_registry", tools: [${MADE_UP}]}}))`,
  },
  {
    name: 'a stage of a workflow',
    target: 'host',
    through: ['workflow_execute'],
    script: `llm_mock_clear()
llm_mock({text: "", tool_calls: [{name: "shop.look", arguments: ARGS}]})
llm_mock({text: "##DONE##"})
workflow_execute("go", {entry: "a", nodes: {a: {kind: "stage", mode: "agent", model_policy: {provider: "mock", tool_format: "native", max_iterations: 3}, tools: {_type: "tool_registry", tools: [${MADE_UP}]}}}}, [], {provider: "mock", persist_path: "/run.json"})`,
  },
  {
    name: 'a handler of a trigger',
    target: 'host',
    through: ['trigger_fire'],
    script: `let t = trigger_register({id: "t", kind: "k", provider: "webhook", retry: {max: 1, backoff: "immediate"}, handler: { e -> host_call("shop.order", ARGS) }})
trigger_fire(t, {kind: "k", provider: "webhook"})`,
  },
  {
    name: 'a handler of an orchestrator',
    target: 'host',
    through: ['trigger_orchestrate_native'],
    script: `let binding = {id: "t", version: 1, state: "active", source: "manifest", kind: "webhook", provider: "webhook", events: ["k"], autonomy_tier: "act_auto", handler: "t", handler_kind: "local", when: nil, when_budget: {}, budget: {on_budget_exhausted: "false"}, retry: {max: 1, backoff: "immediate"}, flow_control: {}}
trigger_orchestrate_native({action: "fire", id: "t", bindings: [binding]}, {t: { e -> host_call("shop.order", ARGS) }})`,
  },
  { name: 'mcp_call', target: 'mcp', through: ['mcp_call'], script: 'mcp_call(mcp_ensure_active("shop"), "order", ARGS)' },
  { name: 'an entry of a server', target: 'mcp', through: ['__tool_call'], script: `tool_call(${BY_SERVER}, ARGS)` },
  {
    name: 'a synthesized tool of a server',
    target: 'mcp',
    through: ['tool_synthesize', 'tool_synth_invoke', 'mcp_call'],
    script:
      'let t = tool_synthesize({name: "look", description: "look", executor: "mcp_server", mcp_client: mcp_ensure_active("shop"), mcp_tool: "order"})\nt(ARGS)',
  },
  {
    name: 'a server of an agent loop, under a name of its own',
    target: 'mcp',
    through: LOOPS,
    script: makeLoop('agent_loop', 'other__order', 'mcp_servers: [{name: "other", server: "shop"}]'),
  },
  {
    name: 'an alias of a server',
    target: 'mcp',
    through: ['__tool_server_call'],
    script:
      '__tool_server_call(__tool_binding({alias: "shop.look", tool: "shop", server: true, grants: []}), "order", ARGS, nil)',
  },
]

/** Builtins that can reach a tool by their declaration, and do not. */
const NO_ROUTES: ReadonlyMap<string, string> = new Map([
  ['trigger_replay', 'calls the handler as trigger_fire does: dispatch.harn has one way for both'],
  ['daemon_resume', 'starts the task that daemon_spawn starts: daemons.harn has one way for both'],
  ...['pg_pool', 'pg_connect', 'pg_close', 'pg_query', 'pg_query_one', 'pg_execute', 'pg_transaction'].map(
    (name) => [name, 'reaches the tools postgres.… by host_tool_call, and no others'] as const,
  ),
  ['host_tool_list', 'lists'],
  ['mcp_list_tools', 'lists'],
  ['mcp_list_resources', 'lists'],
  ['mcp_list_resource_templates', 'lists'],
  ['mcp_list_prompts', 'lists'],
  ['mcp_read_resource', 'reads a resource'],
  ['mcp_get_prompt', 'renders a prompt'],
  ['__mcp_ask', 'knows no tools/call'],
])

const REACHING = new Set<string>(['tool.call', 'host.call', 'host.tool', 'mcp.request'])

/** What was carried out, by the tool that it was asked of. */
class World {
  readonly host: unknown[] = []
  readonly mcp: unknown[] = []

  makeOptions(): RuntimeOptions {
    const input = { type: 'object', properties: { side: { type: 'string' } } } as const
    const order = defineTool({
      name: 'shop.order',
      aliases: ['order'],
      input,
      execute: (args) => (this.host.push(args), 'ordered'),
    })
    const look = defineTool({ name: 'shop.look', sideEffect: 'none', effects: [], input, execute: () => 'looked' })
    const relay = defineTool({
      name: 'shop.relay',
      input,
      execute: (args, { tools }) => tools.call('order', args as object as never),
    })
    const noteCall = (tool: unknown, args: unknown): Plain => {
      this.mcp.push([tool, args])
      return { content: [{ type: 'text', text: 'ordered' }] }
    }
    const schema = { type: 'object', properties: { side: { type: 'string' } } }
    const server: Provider & { callTool: unknown; isReadOnlyTool: unknown } = {
      kinds: ['mcp.connect', 'mcp.request', 'process.info'],
      perform: ({ kind, args }) => {
        if (kind === 'process.info') return answered(args['op'] === 'cwd' ? '/' : null)
        if (kind === 'mcp.connect') return answered({})
        if (args['method'] === 'tools/list') return answered({ tools: [{ name: 'order', inputSchema: schema }] })
        const { name, arguments: given } = args['params'] as { readonly name: string; readonly arguments: Plain }
        return answered(noteCall(name, given))
      },
      callTool: async (_server: string, tool: string, args: unknown) => answered(noteCall(tool, args)),
      isReadOnlyTool: async () => false,
    }
    return {
      tools: [order, look, relay],
      providers: [server, new MemoryFs({}, '/')],
      grants: ['mcp', 'process.info', 'fs'],
      enforceManifest: false,
    }
  }

  countMade({ target }: Route): number {
    return this[target].length
  }
}

const HEAD = `import { tool_call, tool_try, tool_batch, tool_stream } from "std/tools"
import { tool_use } from "std/grants"
import { with_policies, on_event } from "std/policy"
import { order as imported_order } from "host/shop"
`.replace(
  'import { order as imported_order } from "host/shop"',
  'import { order } from "host/shop"\nfn imported_order(args) { return order(args) }',
)

/** The calls of a route, as a script; what refuses one is passed over. */
function makeScript(route: Route, { calls = 1, args = '{side: "sell"}', around = (body: string) => body } = {}): string {
  const bodies = Array.from({ length: calls }, (_, at) => {
    const body = route.script.replaceAll('ARGS', args)
    return `fn f${at}() {\n${body}\n}\nfn g${at}() { ${around(`f${at}()`)} }\ntry { g${at}() } catch (e) { println(e) }`
  })
  return `${HEAD}${bodies.join('\n')}\n`
}

interface Judge {
  readonly name: string
  /** Calls that are made, and those that may be carried out. */
  readonly calls?: number
  readonly allowed?: number
  readonly around?: (body: string) => string
  readonly runtime?: (route: Route) => Partial<RuntimeOptions>
  readonly start?: (route: Route) => StartOptions
}

const chooseName = ({ target }: Route): string => (target === 'host' ? 'shop.order' : 'mcp.shop.order')
/** What routes go through on their way; never the tool itself. */
const WAYS = ['shop.look', 'shop.relay', 'h', 'look', 'x']
const wrapUnder =
  (policies: string) =>
  (body: string): string =>
    `with_policies({${policies}}, { -> ${body} })`
const list = (names: readonly string[]): string => JSON.stringify(names)

const JUDGES: readonly Judge[] = [
  { name: 'a pinned argument', runtime: (route) => ({ toolGrants: { [chooseName(route)]: { side: 'buy' } } }) },
  {
    name: 'a pinned argument of the family',
    runtime: ({ target }) => ({ toolGrants: { [target === 'host' ? 'shop.order' : 'mcp.shop']: { side: 'buy' } } }),
  },
  { name: 'maxCalls', calls: 3, allowed: 1, runtime: (route) => ({ toolGrants: { [chooseName(route)]: { maxCalls: 1 } } }) },
  { name: 'a budget of the run', calls: 3, allowed: 1, start: (route) => ({ budgets: { [chooseName(route)]: { calls: 1 } } }) },
  {
    name: 'defaultDeny',
    runtime: () => ({ defaultDeny: true, toolGrants: Object.fromEntries([...WAYS, 'llm', 'order2'].map((name) => [name, {}])) }),
  },
  { name: 'the lock file', runtime: () => ({ pins: new Map([['script:shop.look', 'x']]) }) },
  { name: 'a ceiling of tools', around: wrapUnder(`policy: {tools: ${list(WAYS)}}`) },
  {
    name: 'an argument of a policy',
    around: (body) => body,
    runtime: (route) => ({ toolGrants: { [chooseName(route)]: { side: ['buy', 'hold'] } } }),
  },
  { name: 'a denied approval', around: wrapUnder('approval_policy: {auto_deny: ["*order"]}') },
  {
    name: 'an approval that nobody gives',
    around: wrapUnder(`approval_policy: {auto_approve: ${list(WAYS)}, require_approval: ["*order"]}`),
  },
  { name: 'permissions', around: wrapUnder(`permissions: {allow: ${list(WAYS)}}`) },
  { name: 'a permission that is denied', around: wrapUnder('permissions: {deny: ["*order"]}') },
]

async function runUnder(route: Route, judge: Judge): Promise<{ readonly made: number; readonly output: string }> {
  const world = new World()
  const runtime = createRuntime({ ...world.makeOptions(), ...judge.runtime?.(route) })
  const source = makeScript(route, { calls: judge.calls ?? 1, ...(judge.around === undefined ? {} : { around: judge.around }) })
  const result = await runtime.start(runtime.compile(source), judge.start?.(route)).result
  const failure =
    result.status === 'failed' ? ` ! ${result.error.message}` : result.status === 'done' ? '' : ` ! ${result.status}`
  return { made: world.countMade(route), output: result.output + failure }
}

test('every builtin that can reach a tool stands in a row', () => {
  const { registry } = createRuntime()
  const known = new Set(ROUTES.flatMap(({ through }) => through))
  const found = [...registry.builtins].filter(
    ([, { effects }]) => effects !== 'pure' && effects.some((effect) => REACHING.has(effect)),
  )
  expect(found.map(([name]) => name).filter((name) => !known.has(name) && !NO_ROUTES.has(name))).toEqual([])
})

describe('routes', () => {
  for (const route of ROUTES) {
    test(`${route.name} reaches its tool where nothing forbids it`, async () => {
      const { made, output } = await runUnder(route, { name: 'nobody' })
      expect({ made, output }).toEqual({ made: 1, output: '' })
    })
  }
})

for (const [row, judge] of JUDGES.entries()) {
  describe(`under ${judge.name}`, () => {
    for (const [column, route] of ROUTES.entries()) {
      if (!inject('isDense') && (row + column) % 4 !== 0) continue
      test(`${route.name} is carried out ${judge.allowed ?? 0} times`, async () => {
        const { made, output } = await runUnder(route, judge)
        expect({ made, output: made > (judge.allowed ?? 0) ? output : '' }).toEqual({ made: judge.allowed ?? 0, output: '' })
      })
    }
  })
}

describe('the effects that a host allows', () => {
  const EVERYTHING_ELSE = [
    'http',
    'llm',
    'fs',
    'env',
    'process',
    'random',
    'time',
    'emit',
    'trace',
    'state',
    'approve',
    'async',
    'crypto',
  ]
  for (const route of ROUTES) {
    const program = makeScript(route)
    test(`${route.name} does not compile without them`, () => {
      const runtime = createRuntime(new World().makeOptions())
      expect(() => runtime.compile(program, { allowEffects: EVERYTHING_ELSE })).toThrow()
    })

    test(`${route.name} is refused in an import without them`, async () => {
      const world = new World()
      const runtime = createRuntime({ ...world.makeOptions(), resolve: memoryModules({ 'pkg.harn': program }) })
      const ceiling = { imports: { pkg: { allowEffects: EVERYTHING_ELSE } } }
      try {
        await runtime.start(runtime.compile('import "pkg"', ceiling)).result
      } catch {
        // It was refused before the run.
      }
      expect(world.countMade(route)).toBe(0)
    })
  }
})
