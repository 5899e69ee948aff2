// Values on their way to a tool and back, and malformed arguments from a model.

import { answered, createRuntime, defineTool } from '@bridle/stdlib-tools'
import type { Provider } from '@bridle/stdlib-tools'
import { must, makeCases } from '../../attempt.js'

/** Each must return unchanged: `echo` returns its argument, and the script compares. */
const VALUES: Readonly<Record<string, string>> = {
  'an int beyond 2^53': '9007199254740993',
  'the least int': '(0 - 9223372036854775807 - 1)',
  'a float without a fraction, small': '0.5',
  'a text of all planes': '"a\\u{0}é😀\\u{202e}"',
  'an empty key': '{"": 1}',
  'names of objects': '{"__proto__": {"a": 1}, "constructor": 2, "toString": "x"}',
  'nil inside': '[nil, {a: nil}]',
  'a long list': '(1 to 5000).to_list()',
  'ints in lists in dicts': '{a: [9007199254740993, [1, 9223372036854775807]]}',
}

async function cameBack(value: string): Promise<void> {
  const echo = defineTool({ name: 'echo', execute: (args) => (args as { readonly value: never }).value })
  const runtime = createRuntime({ tools: [echo], grants: ['*'], enforceManifest: false })
  const source = `import "std/tools"\nlet v: any = ${value}\nlet back = tool_call("echo", {value: v})\nprintln(back == v)\nprintln(host_tool_call("echo", {value: v}) == v)`
  const result = await runtime.start(runtime.compile(source, { strict: false })).result
  must(
    result.output === 'true\ntrue\n',
    `${result.status}: ${result.output}${result.status === 'failed' ? result.error.message : ''}`,
  )
}

/** Arguments of a call as a model wrote them; the tool must not run with other ones. */
const BAD: readonly string[] = [
  '{"path": "/tm',
  'wipe',
  '["/tmp"]',
  '7',
  '"{}"',
  '{} {}',
  '{"a": 1,}',
  "{'a': 1}",
  '{"a": NaN}',
  'null x',
]

async function mayNotRun(written: string): Promise<void> {
  let ran = 0
  let asked = 0
  const model: Provider = {
    kinds: ['llm.call'],
    perform: () =>
      asked++ > 0
        ? answered({ model: 'm', text: 'done ##DONE##', tool_calls: [] })
        : answered({ model: 'm', text: '', tool_calls: [{ id: 'c', type: 'tool_call', name: 'wipe', arguments: written }] }),
  }
  const wipe = defineTool({ name: 'wipe', execute: () => ++ran })
  const runtime = createRuntime({ providers: [model], tools: [wipe], grants: ['*'], enforceManifest: false })
  const source = `let tools = tool_define(tool_registry(), "wipe", "", {parameters: {}, handler: { a -> host_tool_call("wipe", a) }})
agent_loop("go", nil, {tools: tools, provider: "openai", model: "gpt-4o", tool_format: "native", max_iterations: 2})`
  await runtime.start(runtime.compile(source, { strict: false })).result
  must(ran === 0, `the tool ran with what was made of ${written}`)
}

export const cases = [
  ...makeCases(
    'arguments-arrive-unchanged',
    Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [name, () => cameBack(value)])),
  ),
  ...makeCases(
    'arguments-arrive-unchanged',
    Object.fromEntries(BAD.map((text) => [`a model wrote ${text}`, () => mayNotRun(text)])),
  ),
]
