import { HarnDict, HarnFloat, HarnList, beginSpan, display, endSpan } from '@bridle/vm/families'
import type { TracingState, Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { loggingFamily } from '../logging/logging.js'
import { terminalFamily } from './terminal.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { tracingFamily } from '../logging/tracing.js'

function setUp() {
  const machine = makeFakeMachine(terminalFamily, loggingFamily, tracingFamily)
  machine.perform = (effect) => ({ ok: true, value: effect.kind === 'clock.now' ? 5000 : null })
  const call = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
  const runPrinted = (name: string, ...args: Value[]): string => {
    machine.output = ''
    call(name, ...args)
    return machine.output
  }
  return { machine, call, printed: runPrinted, fault: (name: string, ...args: Value[]) => faultText(() => call(name, ...args)) }
}

test('mocked input', () => {
  const { call } = setUp()
  call('mock_stdin', 'a\r\nb\nc\n')
  expect([call('read_line'), call('read_stdin'), call('read_line'), call('read_stdin')]).toEqual(['a', 'b\nc\n', 'nil', ''])
  call('mock_stdin', 'x\n')
  expect([call('read_line'), call('read_line')]).toEqual(['x', 'nil'])
})

test('captured standard error', () => {
  const { call, machine } = setUp()
  call('eprintln', 'real')
  expect(machine.effects).toEqual([{ kind: 'terminal.write', args: { text: 'real\n' } }])
  call('capture_stderr_start')
  call('eprint', 1)
  call('eprintln', 'x')
  expect(call('capture_stderr_take')).toBe('1x\n')
})

test('colours', () => {
  const { call, fault, machine } = setUp()
  expect(call('color', 'x', 'red')).toBe('x')
  expect(machine.effects.length).toBe(3)
  call('bold', 'x')
  expect(machine.effects.length).toBe(3)
  call('mock_tty', 'stdout', true)
  expect(call('is_stdout_tty')).toBe('true')
  expect(call('bold', 'x')).toBe('\u001b[1mx\u001b[0m')
  call('set_color_mode', 'always')
  expect([call('color', 'x', 'bright_red'), call('color', 'x', 'gray'), call('color', 'x', 'mauve'), call('dim', 'x')]).toEqual([
    '\u001b[91mx\u001b[0m',
    '\u001b[90mx\u001b[0m',
    'x',
    '\u001b[2mx\u001b[0m',
  ])
  expect(fault('set_color_mode', 'x')).toBe("set_color_mode: invalid mode 'x'. Expected 'auto', 'always', or 'never'.")
  expect(fault('mock_tty', 'x', true)).toBe("mock_tty: invalid stream 'x'. Expected 'stdin', 'stdout', or 'stderr'.")
})

test('progress', () => {
  const { printed } = setUp()
  expect(printed('progress', 'load', 'files')).toBe('[load] files\n')
  expect(printed('progress', 'load', 'files', 40)).toBe('[load] files (40%)\n')
  expect(printed('progress', 'load', 'files', 4, 10)).toBe('[load] files (4/10)\n')
  expect(printed('progress', 'load', 'files', HarnDict.of({ mode: 'spinner', step: 5 }))).toBe('[load] / files\n')
  expect(printed('progress', 'load', 'files', HarnDict.of({ mode: 'bar', current: 4, total: 10 }))).toBe(
    '[load] [####------] files (4/10)\n',
  )
})

test('log lines', () => {
  const { printed, call, fault } = setUp()
  expect(printed('log_info', 'hi', HarnDict.of({ b: new HarnList([1]), a: new HarnFloat(NaN), c: null, d: 'q"' }))).toBe(
    '{"ts":"1970-01-01T00:00:00.000Z","level":"info","msg":"hi","a":null,"b":"[1]","c":null,"d":"q\\""}\n',
  )
  expect(printed('log_json', 'k', 1)).toBe('{"ts":"1970-01-01T00:00:00.000Z","key":"k","value":1}\n')
  call('log_set_level', 'warn')
  expect(printed('log_info', 'hi')).toBe('')
  expect(fault('log_set_level', 'x')).toBe("log_set_level: invalid level 'x'. Expected debug, info, warn, or error")
})

test('spans of scripts', () => {
  const { machine, call, printed, fault } = setUp()
  const outer = callBuiltin(machine, 'trace_start', 'outer') as HarnDict
  const inner = callBuiltin(machine, 'trace_start', 'inner') as HarnDict
  expect(inner.get('trace_id')).toBe(outer.get('trace_id'))
  expect(call('trace_id')).toBe(display(outer.get('trace_id')!))
  expect(printed('trace_end', inner)).toMatch(
    /"msg":"span_end","trace_id":"\w+","span_id":"\w+","duration_ms":0,"name":"inner","span_id":"\w+","trace_id":"\w+"\}\n$/,
  )
  expect(printed('trace_end', outer)).toMatch(/"msg":"span_end","duration_ms":0,"name":"outer"/)
  expect(call('trace_id')).toBe('nil')
  expect(fault('trace_end', 5)).toBe('trace_end: argument must be a span dict from trace_start')
})

test('spans of the machine', () => {
  const { machine, call } = setUp()
  expect(call('trace_summary')).toBe('No spans recorded.')
  call('enable_tracing')
  const state = machine.states.get('tracing') as TracingState
  const a = beginSpan(state, 'pipeline', 'main', 10)
  const b = beginSpan(state, 'fn_call', 'f', 12)
  endSpan(state, b, 15, { n: 1 })
  endSpan(state, a, 20)
  expect(call('trace_spans')).toBe(
    '[{duration_ms: 3, kind: fn_call, metadata: {n: 1}, name: f, parent_id: 1, span_id: 2, start_ms: 12}, {duration_ms: 10, kind: pipeline, name: main, parent_id: nil, span_id: 1, start_ms: 10}]',
  )
  expect(call('trace_summary')).toBe('Trace: 2 spans, 10ms total\n\npipeline main 10ms\n  fn_call f 3ms (n=1)')
  expect(call('llm_usage')).toBe('{call_count: 0, input_tokens: 0, output_tokens: 0, total_calls: 0, total_duration_ms: 0}')
})
