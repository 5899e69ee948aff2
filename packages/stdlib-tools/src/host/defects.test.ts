// Defects that tool systems are known for, each shown not to be here.

import { describe, expect, test } from 'vitest'
import { MemoryTrace, VirtualClock, createRuntime, defineTool } from '../index.js'

describe('known defects', () => {
  test('defect 3: a time limit of a grant ends the call itself', async () => {
    const never = defineTool({ name: 'never', execute: () => new Promise(() => {}) })
    const runtime = createRuntime({ tools: [never], clock: new VirtualClock(), toolGrants: { never: { timeoutMs: 50 } } })
    const source = 'import { tool_try } from "std/tools"\nreturn unwrap_err(tool_try("never", {})).message'
    expect(await runtime.run(source)).toBe('timeout: elapsed 50ms, limit 50ms')
  })

  test('defect 5: versions are those of the tools, arguments are checked, hashes are there', async () => {
    const trace = new MemoryTrace()
    const tool = defineTool({
      name: 'double',
      version: '3.1.4',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      execute: (args) => (args as { n: number }).n * 2,
    })
    const runtime = createRuntime({ tools: [tool], tracing: () => ({ sinks: [trace] }) })
    await runtime.run('import { tool_try } from "std/tools"\ntool_try("double", {n: 2})\ntool_try("double", {n: "two"})')
    const [good, bad] = trace.events.filter(({ kind }) => kind === 'tool_call')
    const hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string
    expect(good).toMatchObject({ tool_version: '3.1.4', inputs_hash: hash, outputs_hash: hash })
    expect(bad?.details).toMatchObject({ denied: true, error: { code: 'invalid_args' } })
  })

  test('defect 6: nothing stands in for the result of a tool that is not there', async () => {
    const source =
      'import { tool_try } from "std/tools"\nreturn [is_ok(tool_try("llm.chatt", {})), unwrap_err(tool_try("llm.chatt", {})).code]'
    expect(await createRuntime().run(source)).toEqual([false, 'not_registered'])
  })

  test.each([
    ['{json: [1, 2.5], path: "[0]"}', 1],
    ['{json: [1, 2.5], path: "[1]"}', 2.5],
    ['{json: {a: [1, 2]}, path: "a"}', [1, 2]],
    ['{json: {a: true}, path: "a"}', true],
    ['{json: {a: nil}, path: "a"}', null],
  ])('defect 7: json.get of %s', async (args, expected) => {
    expect(await createRuntime().run(`import { tool_call } from "std/tools"\nreturn tool_call("json.get", ${args})`)).toEqual(
      expected,
    )
  })
})
