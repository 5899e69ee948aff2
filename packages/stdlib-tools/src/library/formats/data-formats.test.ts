import { HarnDict, HarnDuration, HarnFloat, display, parseJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { dataFormatsFamily } from './data-formats.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const machine = makeFakeMachine(dataFormatsFamily)
const readJson = (text: string): Value => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}
const call = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
const fault = (name: string, ...args: Value[]): string => faultText(() => call(name, ...args))

test('YAML in', () => {
  expect(call('yaml_parse', 'name: Ada\nage: 37\nf: 1.0\nxs: [1, two, ~, true]\n')).toBe(
    '{age: 37, f: 1.0, name: Ada, xs: [1, two, nil, true]}',
  )
  expect(call('yaml_parse', 'a: &x {k: 9007199254740993}\nb: *x\n1: one')).toBe(
    '{1: one, a: {k: 9007199254740993}, b: {k: 9007199254740993}}',
  )
  expect(call('yaml_parse', '__proto__: 1')).toBe('{__proto__: 1}')
  expect(call('yaml_parse', '')).toBe('nil')
  expect(fault('yaml_parse', 'a: [1')).toMatch(/^YAML parse error: /)
  expect(fault('yaml_parse', '&a [*a]')).toMatch(/^YAML parse error: /)
  expect(fault('yaml_parse', '['.repeat(100_000))).toMatch(/^YAML parse error: /)
})

test('YAML out', () => {
  expect(call('yaml_stringify', readJson('{"name":"Ada","age":37}'))).toBe('age: 37\nname: Ada\n')
  expect(call('yaml_stringify', readJson('{"a":{"b":[1,{"c":2,"d":[]},[3,4]],"e":{}},"f":null}'))).toBe(
    'a:\n  b:\n  - 1\n  - c: 2\n    d: []\n  - - 3\n    - 4\n  e: {}\nf: null\n',
  )
  expect(call('yaml_stringify', readJson('["true","1","","a: b","it\'s","- x","x\\ny","~","2024-01-01","#x"]'))).toBe(
    "- 'true'\n- '1'\n- ''\n- 'a: b'\n- it's\n- '- x'\n- |-\n  x\n  y\n- '~'\n- 2024-01-01\n- '#x'\n",
  )
  expect(call('yaml_stringify', new HarnFloat(1))).toBe('1.0\n')
  expect(call('yaml_stringify', new HarnDuration(1000))).toBe('1s\n')
  const nested = readJson('{"k":"a\\n b\\n","l":["x\\n"],"m":"\\u0001"}')
  expect(call('yaml_stringify', nested)).toBe('k: |\n  a\n   b\nl:\n- |\n  x\nm: "\\x01"\n')
  expect(display(callBuiltin(machine, 'yaml_parse', call('yaml_stringify', nested)))).toBe(display(nested))
})

test('TOML', () => {
  expect(call('toml_parse', 'a = 1\nb = 2.0\n[t.u]\nd = 1979-05-27T07:32:00Z\nxs = [1, 2]\n')).toBe(
    '{a: 1, b: 2.0, t: {u: {d: 1979-05-27T07:32:00Z, xs: [1, 2]}}}',
  )
  expect(fault('toml_parse', 'a = ')).toMatch(/^TOML parse error: /)
  expect(call('toml_stringify', readJson('{"b":{"y":1,"z":{"k":true}},"a":"q\\"","list":[1,2],"ts":[{"n":1},{"n":2}]}'))).toBe(
    "a = 'q\"'\nlist = [1, 2]\n\n[b]\ny = 1\n\n[b.z]\nk = true\n\n[[ts]]\nn = 1\n\n[[ts]]\nn = 2\n",
  )
  expect(fault('toml_stringify', readJson('{"a":null}'))).toBe('toml_stringify: unsupported unit type')
})

test('CSV', () => {
  expect(call('csv_parse', 'a,b\r\n"1,2","x""y"\n\n z ,\n')).toBe('[[a, b], [1,2, x"y], [ z , ]]')
  expect(call('csv_parse', 'a;b\n1\n1;2;3', HarnDict.of({ headers: true, delimiter: ';' }))).toBe('[{a: 1, b: }, {a: 1, b: 2}]')
  expect(call('csv_stringify', readJson('[["a","b,c"],["q\\"",""]]'))).toBe('a,"b,c"\n"q""",\n')
  expect(call('csv_stringify', readJson('[[""],["x"]]'))).toBe('""\nx\n')
  expect(call('csv_stringify', readJson('[{"b":1},{"a":2}]'), HarnDict.of({ headers: true }))).toBe('a,b\n,1\n2,\n')
  expect(fault('csv_stringify', 5)).toBe('csv_stringify: expected a list of rows')
  expect(fault('csv_stringify', readJson('[1]'))).toBe('csv_stringify: each row must be a list of cells (or use dict rows)')
  expect(fault('csv_stringify', readJson('[{},[1]]'))).toBe('csv_stringify: mixed list/dict rows are not supported')
  expect(fault('csv_stringify', readJson('[[1],[1,2]]'))).toContain('csv_stringify: ')
})

test('JUnit reports', () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite>
    <testcase classname="m.C" name="ok" time="0.0129"/>
    <testcase name="bad" time="1.5"><failure message="a &lt; b">trace <![CDATA[<x>]]> </failure><system-out>out</system-out></testcase>
    <testcase name="skip"><skipped/></testcase>
    <testcase name="err"><error/></testcase>
    <testcase name="cut"><failure>`
  expect(call('parse_junit_xml', xml)).toBe(
    '[{duration_ms: 12, message: nil, name: m.C::ok, status: passed, stderr: nil, stdout: nil}, ' +
      '{duration_ms: 1500, message: a < b\ntrace <x>, name: bad, status: failed, stderr: nil, stdout: out}, ' +
      '{duration_ms: 0, message: nil, name: skip, status: skipped, stderr: nil, stdout: nil}, ' +
      '{duration_ms: 0, message: , name: err, status: errored, stderr: nil, stdout: nil}]',
  )
  expect(call('parse_junit_xml', null)).toBe('[]')
  expect(fault('parse_junit_xml', 5)).toBe('parse_junit_xml: expected string or bytes, got int')
})
