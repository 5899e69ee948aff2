import {
  HarnBuiltin,
  HarnDict,
  HarnFloat,
  debugQuoted,
  display,
  formatJsonFloat,
  parseJson,
  stringifySorted,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { planFamily } from './plan.js'
import { hostCallFamily } from '../dispatch/host-call.js'
import { hostMocksFamily } from '../dispatch/host-mocks.js'
import { formatIdentity, inferLevel, inferName, toolSynthesisFamily } from './synthesis.js'
import { toolsFamily } from './tools.js'
import type { FakeMachine } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const makeMachine = (): FakeMachine =>
  makeFakeMachine(toolsFamily, toolSynthesisFamily, planFamily, hostCallFamily, hostMocksFamily)

/** A value written as JSON; the text `"<fn>"` stands for a callable. */
function v(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(`bad JSON in a test: ${json}`)
  return withCallables(parsed.value)
}

function withCallables(value: Value): Value {
  if (value === '<fn>') return new HarnBuiltin('len')
  if (!(value instanceof HarnDict)) return value
  for (const key of value.keys()) value.set(key, withCallables(value.get(key)!))
  return value
}

function define(m: FakeMachine, name: string, config: string, description: Value = ''): Value {
  return callBuiltin(m, 'tool_define', callBuiltin(m, 'tool_registry'), name, description, v(config))
}

test.each<[number, string]>([
  [1, '1.0'],
  [-0, '-0.0'],
  [0, '0.0'],
  [1.5, '1.5'],
  [1e15, '1000000000000000.0'],
  [1e16, '1e16'],
  [1.5e16, '1.5e16'],
  [1e21, '1e21'],
  [0.00001, '0.00001'],
  [0.000001, '1e-6'],
  [1e-7, '1e-7'],
  [123456.789, '123456.789'],
  [Number.NaN, 'null'],
  [-2.5e-9, '-2.5e-9'],
])('float %s is written %s in sorted JSON', (value, text) => {
  expect(formatJsonFloat(value)).toBe(text)
})

test('sorted JSON orders keys by code point at every level and keeps ints exact', () => {
  expect(stringifySorted(v('{"b": {"z": 1, "a": [true, null]}, "a": 9007199254740993, "": "q\\"\\n\\u0001"}'))).toBe(
    '{"":"q\\"\\n\\u0001","a":9007199254740993,"b":{"a":[true,null],"z":1}}',
  )
})

test('the indented form has two spaces a level and keeps empty containers closed', () => {
  expect(stringifySorted(v('{"a": [1, {}], "b": []}'), 2)).toBe('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}')
})

test.each<[string, string]>([
  ['plain', '"plain"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['x\n\t\0', '"x\\n\\t\\0"'],
  ['\u0001', '"\\u{1}"'],
  ['\u00a0é\u0301', '"\\u{a0}é\\u{301}"'],
  ["it's", '"it\'s"'],
])('debug quoting of %j', (text, quoted) => {
  expect(debugQuoted(text)).toBe(quoted)
})

test.each<[string, string]>([
  ['{"parameters": {}}', 'has no `handler` and no `executor`'],
  ['{"params": {}, "handler": "<fn>"}', "tool_define: use 'parameters', not 'params'"],
  ['{"executor": 3}', '`executor` must be a string'],
  [
    '{"executor": "magic"}',
    'unknown executor "magic" for tool "t". Expected one of: "harn", "host_bridge", "mcp_server", "provider_native"',
  ],
  [
    '{"executor": "harn"}',
    'tool "t" declares executor: "harn" but has no `handler`. Attach the handler fn or change the executor.',
  ],
  [
    '{"executor": "harn_builtin", "handler": "<fn>", "host_capability": "a.b"}',
    'executor: "harn" but also sets `host_capability`. Drop one',
  ],
  ['{"handler": "<fn>", "mcp_server": "s"}', 'also sets `mcp_server`. Drop one'],
  [
    '{"executor": "host_bridge", "handler": "<fn>", "host_capability": "a.b"}',
    'executor: "host_bridge" but also has a `handler`. Drop the handler',
  ],
  ['{"executor": "host_bridge"}', 'is missing `host_capability`. Set it to the canonical bridge identifier'],
  ['{"executor": "host_bridge", "host_capability": ""}', 'is missing `host_capability`'],
  ['{"executor": "mcp_server"}', 'is missing `mcp_server` (the configured server name).'],
  ['{"executor": "provider_native", "handler": "<fn>"}', 'Provider-side tools are executed by the model server'],
  ['{"handler": "<fn>", "defer_loading": null}', '`defer_loading` must be a bool'],
  ['{"handler": "<fn>", "namespace": ""}', '`namespace` must be a non-empty string'],
])('tool_define refuses %s', (config, text) => {
  expect(faultText(() => define(makeMachine(), 't', config))).toContain(text)
})

test('tool_define checks argument count and types first', () => {
  const m = makeMachine()
  expect(faultText(() => callBuiltin(m, 'tool_define', null, 'a', 'b'))).toBe(
    'tool_define: requires registry, name, description, and config dict',
  )
  expect(faultText(() => callBuiltin(m, 'tool_define', null, 'a', 'b', null))).toBe(
    'tool_define: first argument must be a tool registry',
  )
  expect(faultText(() => callBuiltin(m, 'tool_define', v('{}'), 'a', 'b', null))).toBe(
    'tool_define: argument must be a tool registry (created with tool_registry())',
  )
  expect(faultText(() => callBuiltin(m, 'tool_define', callBuiltin(m, 'tool_registry'), 'a', 'b', null))).toBe(
    'tool_define: config must be a dict with parameters and handler',
  )
})

test('an entry holds the configuration, and config keys override', () => {
  const m = makeMachine()
  const registry = define(
    m,
    'read',
    '{"handler": "<fn>", "parameters": {"p": "string"}, "returns": {"type": "string"}, "title": "T", "description": "other"}',
    'Read',
  )
  expect(display(registry)).toBe(
    '{_type: tool_registry, tools: [{description: other, executor: harn, handler: <builtin len>, name: read, ' +
      'outputSchema: {type: string}, parameters: {p: string}, title: T}]}',
  )
  expect(display(callBuiltin(m, 'tool_list', registry))).not.toContain('handler')
})

test('a tool that is defined again moves to the end', () => {
  const m = makeMachine()
  let registry = define(m, 'a', '{"handler": "<fn>"}')
  registry = callBuiltin(m, 'tool_define', registry, 'b', '', v('{"handler": "<fn>"}'))
  registry = callBuiltin(m, 'tool_define', registry, 'a', 'again', v('{"handler": "<fn>"}'))
  expect(callBuiltin(m, 'tool_count', registry)).toBe(2)
  expect(display(callBuiltin(m, 'tool_describe', registry))).toBe('Available tools:\n- a(): again\n- b(): ')
})

const PING = '{"executor": "provider_native", "parameters": {"host": "string"}, "returns": {"type": "string"}}'

test('tool_describe and tool_prompt have the exact forms of the reference', () => {
  const m = makeMachine()
  const registry = define(m, 'ping', PING, 'Ping')
  expect(callBuiltin(m, 'tool_describe', registry)).toBe('Available tools:\n- ping(host: string): Ping\n  returns type: string')
  expect(callBuiltin(m, 'tool_describe', callBuiltin(m, 'tool_registry'))).toBe('Available tools:\n(none)')
  expect(callBuiltin(m, 'tool_prompt', registry)).toBe(
    '# Available Tools\n\nYou have access to the following tools. To use a tool, output a tool call in this ' +
      'exact format:\n\n<tool_call>{"name": "tool_name", "arguments": {"param": "value"}}</tool_call>\n\nYou may make multiple tool calls in a single ' +
      'response. Wait for tool results before proceeding.\n\n## Tools\n\n### ping\nPing\nParameters: host: string\nReturns: type: string',
  )
  expect(callBuiltin(m, 'tool_prompt', callBuiltin(m, 'tool_registry'))).toBe('No tools are available.')
})

test('tool_schema requires every parameter and resolves references', () => {
  const m = makeMachine()
  const registry = define(
    m,
    't',
    '{"executor": "provider_native", "parameters": {"n": "int", "d": {"type": "string", "required": false}, "r": {"$ref": "Known"}, ' +
      '"u": {"$ref": "Unknown"}, "x": 5}, "returns": "float"}',
  )
  expect(stringifySorted(callBuiltin(m, 'tool_schema', registry, v('{"Known": {"type": "object"}}')))).toBe(
    '{"components":{"schemas":{"Known":{"type":"object"}}},"schema_version":"harn-tools/1.0","tools":[{"description":"","inputSchema":{"properties":' +
      '{"d":{"required":false,"type":"string"},"n":{"type":"integer"},"r":{"type":"object"},"u":{"$ref":"#/components/schemas/Unknown"},"x":{"type":"string"}},' +
      '"required":["d","n","r","u","x"],"type":"object"},"name":"t","outputSchema":{"type":"number"}}]}',
  )
  expect(stringifySorted(callBuiltin(m, 'tool_schema', define(m, 'e', '{"handler": "<fn>"}')))).toContain(
    '"inputSchema":{"properties":{},"type":"object"}',
  )
})

test('tool_parse_call skips bad JSON and stops at an unclosed tag', () => {
  const m = makeMachine()
  const text = 'a <tool_call> {"name": "x"} </tool_call><tool_call>oops</tool_call><tool_call>[1]</tool_call><tool_call>{"y": 1}'
  expect(display(callBuiltin(m, 'tool_parse_call', text))).toBe('[{name: x}, [1]]')
})

test('tool_format_result escapes control characters the long way', () => {
  expect(callBuiltin(makeMachine(), 'tool_format_result', 'n', 'a"\\b\b\n\u0001é')).toBe(
    '<tool_result>{"name": "n", "result": "a\\"\\\\b\\u0008\\n\\u0001é"}</tool_result>',
  )
})

test('tool_ref and tool_def look at the bound registry', () => {
  const m = makeMachine()
  expect(faultText(() => callBuiltin(m, 'tool_ref', 'a'))).toBe(
    'tool_ref: no tool registry bound to this scope. Call tool_bind(registry) first, or invoke inside an agent_loop.',
  )
  callBuiltin(m, 'tool_bind', define(m, 'b', '{"handler": "<fn>"}'))
  expect(callBuiltin(m, 'tool_ref', 'b')).toBe('b')
  expect(display(callBuiltin(m, 'tool_def', 'b'))).toBe('{description: , executor: harn, name: b, parameters: {}}')
  expect(faultText(() => callBuiltin(m, 'tool_def', 'zz'))).toBe('tool_def: unknown tool "zz". Registered tools: b')
  expect(faultText(() => callBuiltin(m, 'tool_ref', 1))).toBe('tool_ref: name must be a string literal')
  expect(faultText(() => callBuiltin(m, 'tool_bind', 3))).toBe('tool_bind: argument must be a tool registry or nil')
  callBuiltin(m, 'tool_bind', null)
  expect(faultText(() => callBuiltin(m, 'tool_ref', 'b'))).toContain('no tool registry bound')
})

test.each<[string, string]>([
  ['Fetch the weather!', 'synth_fetch_the_weather'],
  ['  ', 'synth_tool'],
  ['!!', 'synth_tool'],
  ['É a', 'synth_a'],
  ['Look-up: ID 7', 'synth_look_up_id_7'],
  ['x'.repeat(100), `synth_${'x'.repeat(58)}`],
])('the name inferred from %j is %s', (description, name) => {
  expect(inferName(description)).toBe(name)
})

test.each<[string[], string]>([
  [[], 'none'],
  [['http.get', 'shell'], 'network'],
  [['workspace.write_text', 'exec'], 'process_exec'],
  [['workspace.apply_edit'], 'workspace_write'],
  [['workspace.read'], 'read_only'],
])('capabilities %j have level %s', (capabilities, level) => {
  expect(inferLevel(capabilities)).toBe(level)
})

test('the id of a synthesized tool is the reference vector', () => {
  const m = makeMachine()
  callBuiltin(
    m,
    'tool_synthesize',
    v(
      '{"name": "weather_lookup", "description": "Look up weather", "capabilities": ["http"], "parameters": {"city": {"type": "string"}}}',
    ),
  )
  const [entry] = (callBuiltin(m, 'tool_synthesis_cache') as unknown as { items: HarnDict[] }).items
  expect(entry!.get('id')).toBe('tool_synth_e746af0e6a1752eb')
  expect(display(entry!)).toBe(
    '{capabilities: [http], description: Look up weather, executor: dry_run, id: tool_synth_e746af0e6a1752eb, name: weather_lookup, ' +
      'parameters: {city: {type: string}}, return_type: nil, side_effect_level: network}',
  )
})

test('the identity of each executor', () => {
  const spec = {
    name: 'n',
    description: 'd',
    parameters: new HarnDict(),
    returnType: null,
    capabilities: [],
    level: 'none',
    server: null,
  }
  expect(formatIdentity({ ...spec, executor: 'host_bridge', target: 'x' })).toContain(
    '"executor":{"host_tool":"x","kind":"host_bridge"}',
  )
  expect(formatIdentity({ ...spec, executor: 'mcp_server', target: 'x' })).toContain(
    '"executor":{"kind":"mcp_server","server_name":null,"tool_name":"x"}',
  )
})

test('equal specifications share one entry, in any order of capabilities', () => {
  const m = makeMachine()
  callBuiltin(m, 'tool_synthesize', v('{"description": "d", "capabilities": ["b", "a", "b"]}'))
  callBuiltin(m, 'tool_synthesize', v('{"description": "d", "capabilities": ["a", "b"]}'))
  expect(display(callBuiltin(m, 'tool_synthesis_cache'))).toContain('capabilities: [a, b]')
  expect((callBuiltin(m, 'tool_synthesis_cache') as unknown as { length: number }).length).toBe(1)
  callBuiltin(m, 'tool_synthesis_clear')
  expect(display(callBuiltin(m, 'tool_synthesis_cache'))).toBe('[]')
})

test.each<[string, string]>([
  ['1', 'tool_synthesize: requires a config dict'],
  [
    '{"description": "d", "body": "x"}',
    'tool_synthesize: executable handlers must be supplied with tool_define; synthesized tools are dry-run, host_bridge, or mcp_server only',
  ],
  ['{"description": "  "}', 'tool_synthesize: description must be a non-empty string'],
  ['{"description": "d", "name": "9x"}', 'tool_synthesize: invalid tool name "9x"; use ASCII letters, digits, and underscores'],
  ['{"description": "d", "capabilities": "http"}', 'tool_synthesize: capabilities must be a list of strings'],
  ['{"description": "d", "capabilities": [" "]}', 'tool_synthesize: capabilities must be a list of non-empty strings'],
  [
    '{"description": "d", "executor": "zap"}',
    'tool_synthesize: unknown executor "zap"; expected "dry_run", "host_bridge", or "mcp_server"',
  ],
  [
    '{"description": "d", "executor": "host_bridge", "host_tool": " "}',
    'tool_synthesize: host_bridge executor requires a non-empty host_tool',
  ],
  [
    '{"description": "d", "executor": "mcp_server", "mcp_tool": ""}',
    'tool_synthesize: mcp_server executor requires a non-empty mcp_tool',
  ],
  ['{"description": "d", "executor": "mcp_server", "mcp_client": 4}', 'tool_synthesize: mcp_client must be an MCP client handle'],
])('tool_synthesize refuses %s', (config, text) => {
  expect(faultText(() => callBuiltin(makeMachine(), 'tool_synthesize', v(config)))).toBe(text)
})

test('a synthesized tool checks names of arguments and answers what it would do', () => {
  const m = makeMachine()
  const tool = callBuiltin(
    m,
    'tool_synthesize',
    v('{"description": "Fetch", "parameters": {"b": {"required": false}, "a": "int"}}'),
  ) as HarnBuiltin
  const run = m.functions.get(tool.name)!
  expect(display(run(v('{"a": 1}')))).toMatch(
    /^\{_type: synthesized_tool_result, args: \{a: 1\}, capabilities: \[\], description: Fetch, message: synthesized tool is pinned and validated, but executor is dry_run; set executor: "host_bridge" or "mcp_server" to dispatch, name: synth_fetch, side_effect_level: none, status: dry_run, tool_id: tool_synth_[0-9a-f]{16}\}$/,
  )
  expect(faultText(() => run(v('{}')))).toBe('synth_fetch: missing required argument "a"')
  expect(faultText(() => run(3))).toBe('synth_fetch: arguments must be a dict')
  expect(faultText(() => callBuiltin(m, 'tool_synth_invoke', 'nope'))).toBe(
    'tool_synth_invoke: unknown synthesis id "nope"; synthesize the tool in this run first',
  )
  expect(faultText(() => callBuiltin(m, 'tool_synth_invoke', ''))).toBe('tool_synth_invoke: synthesis id is required')
})

test('a synthesized host tool is dispatched like host_tool_call', () => {
  const m = makeMachine()
  const tool = callBuiltin(
    m,
    'tool_synthesize',
    v('{"description": "Save", "executor": "host_bridge", "host_tool": "save"}'),
  ) as HarnBuiltin
  m.perform = () => ({ ok: true, value: { attached: true, value: 'saved' } })
  expect(m.functions.get(tool.name)!(v('{"x": 1}'))).toBe('saved')
  expect(m.effects[0]).toEqual({ kind: 'host.tool', args: { op: 'call', name: 'save', args: { x: 1 }, identity: 'host:save' } })
  m.perform = () => ({ ok: true, value: { attached: false } })
  expect(faultText(() => m.functions.get(tool.name)!(null))).toBe('host_tool_call: no host bridge is attached')
  const remote = callBuiltin(m, 'tool_synthesize', v('{"description": "R", "executor": "mcp_server"}')) as HarnBuiltin
  expect(faultText(() => m.functions.get(remote.name)!(null))).toBe(
    'tool_synth_invoke: mcp_server synthesized tools require mcp_client in the synthesis config',
  )
})

test('the id of a plan is the reference vector', () => {
  const m = makeMachine()
  const plan = callBuiltin(
    m,
    'plan_artifact',
    v('{"summary": "Ship it", "steps": [{"content": "Write code", "status": "done"}], "verification_commands": ["make test"]}'),
  )
  expect((plan as HarnDict).get('id')).toBe('plan_5713586bb48e')
  expect(display(callBuiltin(m, 'plan_entries', plan))).toBe('[{content: Write code, status: completed}]')
  expect(display(callBuiltin(m, 'plan_entries', v('{"summary": " "}')))).toBe('[{content: Plan emitted, status: pending}]')
})

test.each<[string, string, string]>([
  [
    '["a", " ", {"task": "b", "status": "running", "priority": 1}, {"x": 1}]',
    'steps',
    '[{content: a, id: step-1, priority: nil, status: pending}, {content: b, id: step-3, priority: 1, status: in_progress}]',
  ],
  ['{"plan": {"name": "N", "tasks": []}, "explanation": "E"}', 'title', 'N'],
  ['{"plan": {"name": "N", "tasks": []}, "explanation": "E"}', 'summary', 'E'],
  ['{"assumptions": "one", "questions": [1, " ", true]}', 'open_questions', '[1, true]'],
  ['{"assumptions": "one"}', 'assumptions', '[one]'],
  ['{"approval": {"approved": false, "reviewer": "r", "other": 1}}', 'approval', '{reviewer: r, state: rejected}'],
  ['{"approval": {"status": "denied"}}', 'approval', '{state: rejected}'],
  ['{}', 'approval', '{state: unrequested}'],
  ['5', 'steps', '[]'],
])('plan_artifact of %s has %s %s', (given, key, text) => {
  expect(display((callBuiltin(makeMachine(), 'plan_artifact', v(given)) as HarnDict).get(key)!)).toBe(text)
})

function checkSurface(tools: string, options = '{}'): string {
  const report = callBuiltin(makeMachine(), 'tool_surface_validate', v(`{"tools": ${tools}}`), v(options)) as HarnDict
  const rows = (report.get('diagnostics') as unknown as { items: HarnDict[] }).items
  return [
    String(report.get('valid')),
    ...rows.map(
      (row) =>
        `${String(row.get('code')).slice('TOOL_SURFACE_'.length)} ${String(row.get('severity'))} ${display(row.get('tool') ?? null)} ${display(row.get('field') ?? null)}: ${String(row.get('message'))}`,
    ),
  ].join('\n')
}

const READ =
  '{"name": "read", "parameters": {"path": "string"}, "executor": "harn", "annotations": {"kind": "read", "side_effect_level": "read_only"}}'

test.each<[string, string, string]>([
  [`[${READ}]`, '{}', 'true'],
  [
    '[{"name": "bare"}]',
    '{}',
    "true\nMISSING_SCHEMA warning bare parameters: active tool 'bare' has no parameter schema\n" +
      "MISSING_ANNOTATIONS warning bare annotations: active tool 'bare' has no ToolAnnotations\n" +
      "MISSING_EXECUTOR warning bare executor: active tool 'bare' has no declared executor",
  ],
  [
    '[{"name": "x", "parameters": {}, "executor": "harn", "annotations": {"kind": "execute", "emits_artifacts": true, "result_readers": ["r"]}}]',
    '{}',
    "false\nMISSING_SIDE_EFFECT_LEVEL warning x side_effect_level: active tool 'x' has no side-effect level\n" +
      "MISSING_RESULT_READER error x result_readers: execute tool 'x' can emit output artifacts but has no active result reader\n" +
      "UNKNOWN_RESULT_READER warning x result_readers: tool 'x' declares result reader 'r' that is not active",
  ],
  [
    `[${READ}]`,
    '{"policy": {"side_effect_level": "none"}}',
    "false\nSIDE_EFFECT_CEILING_EXCEEDED error read side_effect_level: tool 'read' requires side-effect level 'read_only' but policy ceiling is 'none'",
  ],
  [
    `[${READ}]`,
    '{"policy": {"tools": ["other*"]}, "prompt": "Use read(x)"}',
    "true\nPROMPT_TOOL_NOT_IN_POLICY warning read prompt: prompt references tool 'read' outside the active policy",
  ],
  [
    `[${READ}]`,
    '{"prompt": "call run_it(1) and len(2) and foo (3)"}',
    "true\nUNKNOWN_PROMPT_TOOL warning run_it prompt: prompt references tool 'run_it' which is not active",
  ],
  [
    `[${READ}]`,
    '{"prompt": "```\\nrun_it()\\n```\\nharn-tool-surface: ignore-next-line\\na_b()\\nc_d() tool-surface-ignore"}',
    'true',
  ],
  [
    `[${READ}]`,
    '{"approval_policy": {"auto_deny": ["zap", "z*"]}}',
    "true\nAPPROVAL_PATTERN_NO_MATCH warning nil approval_policy.auto_deny: approval_policy.auto_deny pattern 'zap' matches no active tool",
  ],
  [
    `[${READ}]`,
    '{"policy": {"tool_arg_constraints": [{"tool": "gone", "arg_patterns": ["x"]}, {"tool": "re*", "arg_patterns": ["x"], "arg_key": "file"}]}}',
    "true\nUNKNOWN_ARG_CONSTRAINT_TOOL warning gone tool_arg_constraints.tool: ToolArgConstraint references tool 'gone' which is not active\n" +
      "UNKNOWN_ARG_CONSTRAINT_KEY warning read tool_arg_constraints.file: ToolArgConstraint for 'read' targets unknown argument 'file'",
  ],
  [
    '[{"name": "e", "parameters": {}, "executor": "harn", "defer_loading": true, "annotations": {"kind": "edit", "side_effect_level": "workspace_write", "arg_schema": {"arg_aliases": {"file": "path"}}}}]',
    '{"system": "Call e() with the file, not files"}',
    "true\nDEFERRED_TOOL_PROMPT_REFERENCE warning e prompt: prompt references deferred tool 'e' but tool_search is not active\n" +
      "DEPRECATED_ARG_ALIAS warning e arg_schema.arg_aliases.file: prompt mentions alias 'file' for tool 'e'; use canonical argument 'path'",
  ],
])('tool_surface_validate of %s with %s', (tools, options, report) => {
  expect(checkSurface(tools, options)).toBe(report)
})

test('host mocks answer newest first, match a subset of params, and are recorded', () => {
  const m = makeMachine()
  callBuiltin(m, 'host_mock', 'a', 'b', 1)
  callBuiltin(m, 'host_mock', 'a', 'b', v('{"result": 2, "params": {"x": 1}}'))
  callBuiltin(m, 'host_mock', 'a', 'c', v('{"error": "boom"}'))
  expect(callBuiltin(m, 'host_call', 'a.b', v('{"x": 1, "y": 2}'))).toBe(2)
  expect(callBuiltin(m, 'host_call', 'a.b')).toBe(1)
  expect(faultText(() => callBuiltin(m, 'host_call', 'a.c'))).toBe('boom')
  expect(display(callBuiltin(m, 'host_mock_calls'))).toBe(
    '[{capability: a, operation: b, params: {x: 1, y: 2}}, {capability: a, operation: b, params: {}}, {capability: a, operation: c, params: {}}]',
  )
  callBuiltin(m, 'host_mock_push_scope')
  expect(display(callBuiltin(m, 'host_mock_calls'))).toBe('[]')
  m.perform = () => ({ ok: true, value: { handled: false } })
  expect(faultText(() => callBuiltin(m, 'host_call', 'a.b'))).toBe('host_call: unsupported operation a.b')
  callBuiltin(m, 'host_mock_pop_scope')
  expect(callBuiltin(m, 'host_call', 'a.b')).toBe(1)
  expect(faultText(() => callBuiltin(m, 'host_mock_pop_scope'))).toBe('host_mock_pop_scope: no scope to pop')
  expect(callBuiltin(m, 'host_has', 'a', 'c')).toBe(true)
  expect(callBuiltin(m, 'host_has', 'process', 'nope')).toBe(false)
  expect(faultText(() => callBuiltin(m, 'host_call', 'nodot'))).toBe("host_call: unsupported operation name 'nodot'")
  expect(faultText(() => callBuiltin(m, 'host_mock', '', 'x', 1))).toBe('host_mock: capability and operation are required')
})

test('the embedding program is asked after mocks, and process.exec falls back to an effect', () => {
  const m = makeMachine()
  m.perform = (effect) =>
    effect.kind === 'host.call'
      ? { ok: true, value: effect.args['capability'] === 'own' ? { handled: true, value: 7 } : { handled: false } }
      : { ok: true, value: { stdout: 'o', stderr: 'e', status: 3, timedOut: false } }
  expect(callBuiltin(m, 'host_call', 'own.op', v('{"q": 1}'))).toBe(7)
  const result = callBuiltin(
    m,
    'host_call',
    'process.exec',
    v('{"mode": "argv", "argv": ["ls", "-l"], "env": {"A": "1"}}'),
  ) as HarnDict
  expect([result.get('combined'), result.get('exit_code'), result.get('success'), result.get('status')]).toEqual([
    'oe',
    3,
    false,
    'completed',
  ])
  expect(m.effects.at(-1)!.args).toMatchObject({ program: 'ls', args: ['-l'], clearEnv: true, env: { A: '1' } })
  expect(faultText(() => callBuiltin(m, 'host_call', 'process.exec', v('{}')))).toBe(
    "host_call: missing required parameter 'command'",
  )
  expect(faultText(() => callBuiltin(m, 'host_call', 'process.exec', v('{"command": "x"}')))).toBe(
    'Runtime error: host_call process.exec: shell mode requires `shell` or `shell_id`',
  )
  expect(faultText(() => callBuiltin(m, 'host_call', 'process.exec', v('{"mode": "argv", "argv": []}')))).toBe(
    'Runtime error: host_call process.exec argv must not be empty',
  )
})

test('host_tool_list normalises what hosts answer', () => {
  const m = makeMachine()
  const list = (answer: unknown): string => {
    m.perform = () => ({ ok: true, value: { attached: true, value: answer as null } })
    return display(callBuiltin(m, 'host_tool_list'))
  }
  expect(list([{ name: 'a', short_description: 'A', parameters: { p: 'int' } }])).toBe(
    '[{deprecated: false, description: A, name: a, schema: {p: int}}]',
  )
  expect(list({ result: { tools: [{ name: 'b', deprecated: true }] } })).toBe(
    '[{deprecated: true, description: , name: b, schema: nil}]',
  )
  expect(faultText(() => list('x'))).toBe('Runtime error: host/tools/list: unexpected response shape')
  expect(faultText(() => list({ x: 1 }))).toBe(
    'Runtime error: host/tools/list: host response must be an array or { tools: [...] }',
  )
  expect(faultText(() => list([1]))).toBe('Runtime error: host/tools/list: every tool must be an object')
  m.perform = () => ({ ok: true, value: { attached: false } })
  expect(display(callBuiltin(m, 'host_tool_list'))).toBe('[]')
})

test('a failing host tool is caught as the full error dict', () => {
  const m = makeMachine()
  m.perform = () => ({
    ok: false,
    error: { kind: 'thrown', message: 'late', value: { name: 'ToolError', code: 'timeout', message: 'late' } },
  })
  let caught: Value = null
  try {
    callBuiltin(m, 'host_tool_call', 'slow', v('{}'))
  } catch (error) {
    caught = (error as { caught: Value }).caught
  }
  expect(display(caught)).toBe(
    '{attempt: 1, call_id: nil, category: timeout, code: timeout, details: nil, message: late, name: ToolError, retryable: true, severity: error, tool: slow}',
  )
})

test('a float result keeps its point in an id text', () => {
  expect(stringifySorted(HarnDict.of({ x: new HarnFloat(2) }))).toBe('{"x":2.0}')
})
