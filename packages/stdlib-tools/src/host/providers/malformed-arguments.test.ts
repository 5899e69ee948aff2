// If a model writes arguments that are not a JSON object, it gets an error and the tool does not run.

import { expect, test } from 'vitest'
import { createRuntime } from '../runtime.js'
import type { Provider } from '../../tools/executors/provider.js'
import { answered } from '../../tools/executors/provider.js'
import type { Plain } from '@bridle/vm'

const SCRIPT = `
let tools = tool_define(tool_registry(), "wipe", "", {parameters: {}, handler: { a -> "ran with \${a}" }})
let result = agent_loop("go", nil, {tools: tools, provider: "openai", model: "gpt-4o", tool_format: "native", max_iterations: 2})
for message in result.transcript.messages { if message.role == "tool" { println(message.content) } }
`

/** A model whose first answer is a call with these arguments. */
function makeModel(args: Plain): Provider {
  let asked = 0
  const usage = { model: 'gpt-4o', input_tokens: 1, output_tokens: 1 }
  return {
    kinds: ['llm.call'],
    perform: () =>
      asked++ > 0
        ? answered({ ...usage, text: 'done ##DONE##', tool_calls: [] })
        : answered({ ...usage, text: '', tool_calls: [{ id: 'c1', type: 'tool_call', name: 'wipe', arguments: args }] }),
  }
}

async function runToOutput(args: Plain): Promise<string> {
  const runtime = createRuntime({ providers: [makeModel(args)], grants: ['llm'] })
  const result = await runtime.start(runtime.compile(SCRIPT)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

test.each<[string, Plain, string]>([
  ['cut off', '{"path": "/tm', 'they are not JSON'],
  ['prose', 'wipe everything', 'they are not JSON'],
  ['a list', '["/tmp"]', 'they are a list'],
  ['a number', '7', 'they are a int'],
  ['a text', '"{}"', 'they are a string'],
  ['a list as data', ['/tmp'], 'they are a list'],
  ['two objects', '{} {}', 'they are not JSON'],
])('%s', async (_name, args, problem) => {
  const output = await runToOutput(args)
  expect(output).not.toContain('ran with')
  expect(output).toContain(problem)
})

test.each<[string, Plain, string]>([
  ['an object', { path: 'a' }, 'ran with {path: a}'],
  ['its JSON', '{"path": "a"}', 'ran with {path: a}'],
  ['large ints', '{"n": 9007199254740993}', 'ran with {n: 9007199254740993}'],
  ['nothing, for a tool without parameters', '', 'ran with {}'],
  ['null', null, 'ran with {}'],
])('%s runs', async (_name, args, text) => {
  expect(await runToOutput(args)).toContain(text)
})
