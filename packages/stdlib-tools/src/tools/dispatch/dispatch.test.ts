import {
  Fault,
  HarnBuiltin,
  HarnDict,
  HarnFloat,
  HarnList,
  makeCategorized,
  display,
  parseJson,
  makeRuntimeFault,
  makeThrown,
} from '@bridle/vm/families'
import type { EffectOutcome, Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { policyGateFamily } from '../policy/gate.js'
import { toolDispatchFamily } from './dispatch.js'
import { computeBackoff } from './retry.js'
import { toolsFamily } from '../definitions/tools.js'
import { validateSchema } from '../definitions/validate.js'
import type { FakeMachine } from '../../../../vm/src/builtins/test-support/fake-machine.js'

function v(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(`bad JSON in a test: ${json}`)
  return parsed.value
}

/** A machine whose bound registry has one tool `t`; its handler is the function, when there is one. */
function makeMachineWith(config: string, handler?: (args: Value) => Value): FakeMachine {
  const m = makeFakeMachine(toolsFamily, toolDispatchFamily, policyGateFamily)
  const dict = v(config) as HarnDict
  if (handler !== undefined) {
    m.functions.set('handler', handler)
    dict.set('handler', new HarnBuiltin('handler'))
  }
  callBuiltin(m, 'tool_bind', callBuiltin(m, 'tool_define', callBuiltin(m, 'tool_registry'), 't', 'T', dict))
  return m
}

function call(m: FakeMachine, args: Value = null, options: Value = null): Value {
  return callBuiltin(m, '__tool_call', null, 't', args, options)
}

function catchFailure(run: () => Value): HarnDict {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault && error.value instanceof HarnDict) return error.value
    throw error
  }
  throw new Error('no fault')
}

const formatBrief = (error: HarnDict): string =>
  `${String(error.get('code'))} ${String(error.get('category'))}: ${display(error.get('message') ?? null)}`

test('a handler gets one dict with defaults filled in, and its value is the result', () => {
  const m = makeMachineWith('{"parameters": {"a": "int", "b": {"type": "int", "default": 2}}}', (args) => args)
  expect(display(call(m, v('{"a": 1}')))).toBe('{a: 1, b: 2}')
  expect(display(call(m, v('{"a": 1, "b": 5, "extra": true}')))).toBe('{a: 1, b: 5, extra: true}')
})

test.each<[string, string]>([
  ['{}', 'invalid_args tool_error: Missing required parameter: path'],
  ['{"pth": "x"}', "invalid_args tool_error: Missing required parameter: path (did you mean 'path' instead of 'pth'?)"],
  ['{"path": 3}', "invalid_args tool_error: Invalid type for parameter 'path': expected type string, got integer"],
  ['{"path": "x", "mode": "z"}', "invalid_args tool_error: Invalid type for parameter 'mode': value is not in enum"],
  ['[1]', 'invalid_args tool_error: Parameters must be an object, got list'],
])('arguments %s are refused before the handler runs', (args, text) => {
  const m = makeMachineWith(
    '{"parameters": {"path": "string", "mode": {"type": "string", "enum": ["r", "w"], "required": false}}}',
    () => {
      throw new Error('must not run')
    },
  )
  expect(formatBrief(catchFailure(() => call(m, v(args))))).toBe(text)
})

test('an optional parameter may be nil', () => {
  const m = makeMachineWith('{"parameters": {"p": {"type": "string", "required": false}}}', () => 'fine')
  expect(call(m, v('{"p": null}'))).toBe('fine')
})

test('the error dict carries the call', () => {
  const m = makeMachineWith('{}', () => {
    throw makeThrown('boom')
  })
  const error = catchFailure(() => call(m))
  expect(display(error)).toBe(
    '{attempt: 1, call_id: call_1, category: tool_error, cause: boom, code: execution_failed, details: nil, message: boom, ' +
      'name: ToolError, retryable: false, severity: error, tool: t}',
  )
  expect(catchFailure(() => call(m)).get('call_id')).toBe('call_2')
})

test.each<[Fault, string]>([
  [makeRuntimeFault('bad'), 'execution_failed tool_error: Runtime error: bad'],
  [makeCategorized('timeout', 'slow'), 'timeout timeout: slow'],
  [makeThrown(HarnDict.of({ category: 'rate_limit', message: 'later' })), 'rate_limit rate_limit: later'],
  [makeThrown(HarnDict.of({ x: 1 })), 'execution_failed tool_error: {x: 1}'],
])('the fault %o of a handler becomes a tool error', (fault, text) => {
  const m = makeMachineWith('{}', () => {
    throw fault
  })
  expect(formatBrief(catchFailure(() => call(m)))).toBe(text)
})

test('deadlines and cancellation pass through unchanged', () => {
  const m = makeMachineWith('{}', () => {
    throw makeThrown('Deadline exceeded')
  })
  expect(faultText(() => call(m))).toBe('Deadline exceeded')
  expect(faultText(() => callBuiltin(m, '__tool_try', null, 't', null, null))).toBe('Deadline exceeded')
})

test('tool_try gives a Result', () => {
  const m = makeMachineWith('{"parameters": {"a": "int"}}', () => 7)
  expect(display(callBuiltin(m, '__tool_try', null, 't', v('{"a": 1}'), null))).toBe('Result.Ok(7)')
  expect(display(callBuiltin(m, '__tool_try', null, 't', v('{}'), null))).toMatch(
    /^Result\.Err\(\{attempt: 0, call_id: call_2, category: tool_error, code: invalid_args/,
  )
})

test('unknown names: refused in a given registry, asked of the host otherwise', () => {
  const m = makeMachineWith('{}', () => 1)
  const registry = callBuiltin(m, 'tool_registry')
  expect(formatBrief(catchFailure(() => callBuiltin(m, '__tool_call', registry, 'zz', null, null)))).toBe(
    "not_registered not_found: Tool 'zz' not found. Registered tools: (none registered)",
  )
  m.perform = () => ({ ok: true, value: 'from host' })
  expect(callBuiltin(m, '__tool_call', null, 'zz', v('{"q": 1}'), null)).toBe('from host')
  expect(m.effects[0]!.args).toEqual({
    executor: 'host_bridge',
    identity: 'host:zz',
    tool: 'zz',
    host_capability: null,
    mcp_server: null,
    mcp_tool: null,
    args: { q: 1 },
    call_id: 'call_1',
    attempt: 1,
    max_attempts: 1,
    idempotency_key: 'call_1',
    arg_hash: '6ae0f660046dadcf5fe8462c0e00a062db4c8d67be82f4098c5ea4208d19b076',
    timeout_ms: null,
  })
})

test('a registry of one tool and an entry name the tool themselves', () => {
  const m = makeMachineWith('{}', () => 'ran')
  const registry = callBuiltin(
    m,
    'tool_define',
    callBuiltin(m, 'tool_registry'),
    'solo',
    '',
    HarnDict.of({ handler: new HarnBuiltin('handler') }),
  )
  expect(callBuiltin(m, '__tool_call', null, registry, null, null)).toBe('ran')
  expect(callBuiltin(m, '__tool_call', null, callBuiltin(m, 'tool_find', registry, 'solo'), null, null)).toBe('ran')
  expect(formatBrief(catchFailure(() => callBuiltin(m, '__tool_call', null, callBuiltin(m, 'tool_registry'), null, null)))).toBe(
    'not_registered not_found: a registry of one tool is needed to call it, got 0 tools',
  )
})

test('provider-native tools are refused', () => {
  expect(formatBrief(catchFailure(() => call(makeMachineWith('{"executor": "provider_native"}'))))).toMatch(
    /^execution_failed tool_error: Tool 't' is executed by the model provider/,
  )
})

test('values that live in the machine do not cross to a host', () => {
  const m = makeMachineWith('{"executor": "host_bridge", "host_capability": "a.b"}')
  expect(formatBrief(catchFailure(() => call(m, HarnDict.of({ f: new HarnBuiltin('len') }))))).toBe(
    'invalid_args tool_error: Invalid arguments at $.f: a builtin cannot be passed to a tool outside the script',
  )
})

test('results from outside are decoded and checked by the output schema', () => {
  const m = makeMachineWith(
    '{"executor": "mcp_server", "mcp_server": "s", "returns": {"type": "object", "properties": {"n": {"type": "number"}, "i": {"type": "integer"}}, "required": ["n"]}}',
  )
  m.perform = () => ({ ok: true, value: { n: 2, i: 3 } })
  const result = call(m) as HarnDict
  expect(result.get('n')).toEqual(new HarnFloat(2))
  expect(result.get('i')).toBe(3)
  m.perform = () => ({ ok: true, value: { i: 3 } })
  const error = catchFailure(() => call(m))
  expect(formatBrief(error)).toBe(
    "output_validation_failed schema_validation: Tool 't' returned an invalid result at $: missing required property 'n'",
  )
  expect(display(error.get('details')!)).toBe(
    `{actual: {"i":3}, expected: property 'n', path: $, reason: missing required property 'n'}`,
  )
})

test('a dry run resolves and validates but calls nothing', () => {
  const m = makeMachineWith('{"executor": "host_bridge", "host_capability": "a.b", "parameters": {"p": "int"}}')
  const result = call(m, v('{"p": 1}'), v('{"dry_run": true}')) as HarnDict
  expect([result.get('status'), result.get('tool_id'), m.effects.length]).toEqual(['dry_run', 'call_1', 0])
  expect(formatBrief(catchFailure(() => call(m, v('{}'), v('{"dry_run": true}'))))).toContain('Missing required parameter: p')
})

const makeOutage = (code: string, extra: Record<string, number> = {}): EffectOutcome => ({
  ok: false,
  error: { kind: 'thrown', message: 'x', value: { name: 'ToolError', code, message: 'x', ...extra } },
})

test('a refusal that began no work is retried with the same call id until it succeeds', () => {
  const m = makeMachineWith('{"executor": "host_bridge", "host_capability": "a.b", "retry": {"max_retries": 3, "jitter": false}}')
  const answers = [
    makeOutage('rate_limit'),
    makeOutage('rate_limit', { retry_after_ms: 250 }),
    { ok: true, value: 'done' } as const,
  ]
  m.perform = () => answers.shift()!
  expect(call(m)).toBe('done')
  expect(m.effects.map((effect) => [effect.args['attempt'], effect.args['call_id']])).toEqual([
    [1, 'call_1'],
    [2, 'call_1'],
    [3, 'call_1'],
  ])
  expect(m.now).toBe(350)
})

test('retries end with the history of attempts', () => {
  const m = makeMachineWith('{"executor": "host_bridge", "host_capability": "a.b", "recovery": "safe"}')
  m.perform = () => makeOutage('timeout')
  const error = catchFailure(() => call(m, null, v('{"retry": {"max_retries": 1, "jitter": false}}')))
  expect(display(error.get('retry')!)).toBe(
    '{attempts: 2, history: [{attempt_number: 1, code: timeout, delay_ms: 100, error: x, timestamp_ms: 0}], state: exhausted}',
  )
})

test('work that may have happened is not repeated for a tool that does not allow it', () => {
  const m = makeMachineWith('{"executor": "host_bridge", "host_capability": "a.b", "retry": {"max_retries": 5}}')
  m.perform = () => makeOutage('timeout')
  expect(formatBrief(catchFailure(() => call(m)))).toBe('timeout timeout: x')
  expect(m.effects.length).toBe(1)
})

test.each<['constant' | 'linear' | 'exponential' | 'fibonacci', number[]]>([
  ['constant', [100, 100, 100, 100]],
  ['linear', [100, 200, 300, 400]],
  ['exponential', [100, 200, 400, 800, 1600, 3200, 6400, 10000]],
  ['fibonacci', [100, 100, 200, 300, 500, 800, 1300]],
])('%s backoff', (backoff, delays) => {
  const policy = { maxRetries: 9, baseDelayMs: 100, maxDelayMs: 10_000, backoff, jitter: false, retryOn: null }
  expect(delays.map((_, n) => computeBackoff(policy, n))).toEqual(delays)
})

test('an installed policy refuses the call', () => {
  const m = makeMachineWith('{}', () => 1)
  m.task.fields.set('policy.ceilings', new HarnList([v('{"tools": ["other"]}')]))
  expect(formatBrief(catchFailure(() => call(m)))).toBe("policy_violation tool_rejected: tool 't' exceeds tool ceiling")
})

test.each<[string, string, string | null]>([
  ['1', 'true', null],
  ['1', 'false', '$: schema is false'],
  ['1', '{"type": "int"}', null],
  ['1', '{"type": ["string", "null"]}', '$: expected type string or null, got integer'],
  ['"a"', '{"const": "b"}', '$: value does not match const'],
  [
    '{"a": {"b": 1}}',
    '{"properties": {"a": {"properties": {"b": {"type": "string"}}}}}',
    '$.a.b: expected type string, got integer',
  ],
  ['[1, "x"]', '{"items": {"type": "integer"}}', '$[1]: expected type integer, got string'],
  ['{"k": 1}', '{"properties": {}, "additionalProperties": false}', "$: additional property 'k' is not allowed"],
  ['{}', '{"required": ["x"]}', "$: missing required property 'x'"],
  ['5', '{"minimum": 6}', '$: value is not at least 6'],
  ['5', '{"exclusiveMaximum": 5}', '$: value is not below 5'],
  ['"abc"', '{"maxLength": 2}', '$: string is longer than 2'],
  ['"abc"', '{"pattern": "^b"}', '$: string does not match pattern ^b'],
  ['[1, 1]', '{"uniqueItems": true}', '$: array items are not unique'],
  ['3', '{"oneOf": [{"type": "integer"}, {"minimum": 1}]}', '$: value matches 2 schemas of oneOf'],
  ['3', '{"$defs": {"t": {"type": "string"}}, "$ref": "#/$defs/t"}', '$: expected type string, got integer'],
  ['3', '{"type": "mystery", "x-y": 1}', null],
  [
    '{"a": {}}',
    '{"$ref": "#", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}}',
    '$: schema nested deeper than 200',
  ],
])('%s against %s: %s', (value, schema, failing) => {
  const found = validateSchema(v(value), v(schema))
  expect(found === null ? null : `${found.path}: ${found.reason}`).toBe(failing)
})
