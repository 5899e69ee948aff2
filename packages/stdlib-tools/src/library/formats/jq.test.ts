import { display, parseJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { jqFamily } from './jq.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const machine = makeFakeMachine(jqFamily)
const readJson = (text: string): Value => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}
const runJq = (input: string, query: string): string => display(callBuiltin(machine, 'jq', readJson(input), query))
const fault = (query: string): string => faultText(() => runJq('{}', query))

test('paths, pipes and selection', () => {
  expect(runJq('{"a":[{"n":1},{"n":5}]}', '.a[] | select(.n > 2) | .n')).toBe('[5]')
  expect(display(callBuiltin(machine, 'jq_first', readJson('{"a":[3,4]}'), '{s: .a[-1], t: (.a | length)}'))).toBe('{s: 4, t: 2}')
  expect(runJq('{"a":{"b c":[1,2,3]}}', '.a["b c"][1:]')).toBe('[[2, 3]]')
  expect(runJq('{"a":[[1],[2]]}', '.a.[].[0], .x')).toBe('[1, 2, nil]')
  expect(runJq('{"b":1,"a":[2]}', '..')).toBe('[{a: [2], b: 1}, [2], 2, 1]')
  expect(runJq('5', '.[]')).toBe('[]')
  expect(runJq('5', '.[1:2]')).toBe('[[]]')
  expect(runJq('[1,2]', 'map(., 10)')).toBe('[[1, 10, 2, 10]]')
  expect(runJq('{"a":1}', '{x: .a, "y z": .b | type}')).toBe('[{x: 1, y z: null}]')
})

test('logic and facts', () => {
  expect(runJq('{"a":1}', '.a == 1 and not .b or false')).toBe('[true]')
  expect(runJq('["a",1]', '.[0] < .[1], .[0] < "b", 1 < 1.5')).toBe('[false, true, true]')
  expect(runJq('[1,"x",null,true,{},[]]', '.[] | type')).toBe('[number, string, null, boolean, object, array]')
  expect(runJq('["abc",[1,2],{"a":1},null,7]', '.[] | length')).toBe('[3, 2, 1, 0, 1]')
  expect(runJq('{"b":1,"a":2}', 'keys, values')).toBe('[[a, b], [2, 1]]')
  expect(runJq('["x"]', 'keys')).toBe('[[0]]')
})

test('errors', () => {
  expect(fault('.a }')).toBe("jq: unexpected input near '}'")
  expect(fault('.a | ')).toBe("jq: expected expression near ''")
  expect(fault('foo')).toBe("jq: unknown identifier 'foo'")
  expect(fault('(.a')).toBe("jq: expected ')' near ''")
  expect(fault('.a >= 2')).toBe("jq: expected expression near '= 2'")
})
