// Streaming tools of a host, pulled by a script: nothing is produced before it is requested, leaving the loop ends the tool, and a run goes
// on from a snapshot or a journal with the chunks it had.

import { expect, test } from 'vitest'
import { MemoryJournal } from '../../host/journal.js'
import { createRuntime } from '../../host/runtime.js'
import type { RunResult, Runtime } from '../../index.js'
import { defineTool } from '../host-tools/define.js'
import type { Tool } from '../host-tools/define.js'
import { ToolError } from '../host-tools/errors.js'

interface Counter {
  readonly tool: Tool
  readonly log: string[]
}

function makeCounter(recovery: 'safe' | 'once' = 'safe'): Counter {
  const log: string[] = []
  const tool = defineTool({
    name: 'count',
    recovery,
    sideEffect: 'read_only',
    input: { type: 'object', properties: { to: { type: 'integer' }, fail: { type: 'boolean' } }, required: ['to'] },
    output: { type: 'number' },
    async *execute(args) {
      const { to, fail } = args as { readonly to: number; readonly fail?: boolean }
      log.push('begin')
      try {
        for (let n = 1; n <= to; n++) {
          log.push(`make ${n}`)
          yield { n }
        }
        if (fail === true) throw new ToolError('server_error', 'broken off')
        return to
      } finally {
        log.push('end')
      }
    },
  })
  return { tool, log }
}

const HEAD = 'import { tool_stream, tool_stream_close } from "std/tools"\n'

async function runToOutput(runtime: Runtime, source: string): Promise<string> {
  const result: RunResult = await runtime.start(runtime.compile(HEAD + source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

test('chunks in order, then the result with its type', async () => {
  const { tool, log } = makeCounter()
  const output = await runToOutput(
    createRuntime({ tools: [tool] }),
    'for c in tool_stream("count", {to: 2}) { println("${c.chunk_index} ${c.content} ${c.metadata.is_final}") }',
  )
  expect(output).toBe('0 {n: 1} false\n1 {n: 2} false\n2 2.0 true\n')
  expect(log).toEqual(['begin', 'make 1', 'make 2', 'end'])
})

test('a slow script slows the tool down', async () => {
  const { tool, log } = makeCounter()
  const said: string[] = []
  const say = defineTool({
    name: 'say',
    execute: (args) => {
      log.push(`got ${(args as { readonly n: number }).n}`)
      said.push('x')
    },
  })
  await runToOutput(
    createRuntime({ tools: [tool, say] }),
    'import { tool_call } from "std/tools"\nfor c in tool_stream("count", {to: 3}) { if !c.metadata.is_final { tool_call("say", c.content) } }',
  )
  expect(log).toEqual(['begin', 'make 1', 'got 1', 'make 2', 'got 2', 'make 3', 'got 3', 'end'])
  expect(said).toHaveLength(3)
})

test('ahead: so many may be made at once', async () => {
  const { tool, log } = makeCounter()
  await runToOutput(
    createRuntime({ tools: [tool] }),
    'for c in tool_stream("count", {to: 9}, {ahead: 4}) { if c.chunk_index == 0 { tool_stream_close(c) }\nbreak }',
  )
  expect(log).toEqual(['begin', 'make 1', 'make 2', 'make 3', 'make 4', 'end'])
})

test('leaving the loop makes no more, and the end of the run ends the tool', async () => {
  const { tool, log } = makeCounter()
  const output = await runToOutput(
    createRuntime({ tools: [tool] }),
    'for c in tool_stream("count", {to: 9}) { if c.content.n == 2 { break } }\nprintln("on")',
  )
  expect(output).toBe('on\n')
  expect(log).toEqual(['begin', 'make 1', 'make 2', 'end'])
})

test('a closure that answers false ends the tool at once', async () => {
  const { tool, log } = makeCounter()
  const output = await runToOutput(
    createRuntime({ tools: [tool] }),
    'println(tool_stream("count", {to: 9}, { c -> c.chunk_index < 1 }))\nprintln(tool_stream("count", {to: 1}, { c -> nil }))',
  )
  expect(output).toBe('nil\n1.0\n')
  expect(log).toEqual(['begin', 'make 1', 'make 2', 'end', 'begin', 'make 1', 'end'])
})

test('a failure comes behind what was delivered, with its code', async () => {
  const { tool } = makeCounter()
  const output = await runToOutput(
    createRuntime({ tools: [tool] }),
    'try { for c in tool_stream("count", {to: 2, fail: true}) { println(c.content) } } catch (e) { println("${e.code} ${e.tool} ${e.call_id}") }',
  )
  expect(output).toBe('{n: 1}\n{n: 2}\nserver_error count call_1\n')
})

test('what is refused, is refused when the stream is opened', async () => {
  const { tool, log } = makeCounter()
  const source =
    'try { tool_stream("count", {to: "x"}) } catch (e) { println(e.code) }\ntry { tool_stream("count", {to: 1}) } catch (e) { println(e.code) }'
  expect(await runToOutput(createRuntime({ tools: [tool], toolGrants: { count: { to: 2 } } }), source)).toBe(
    'invalid_args\npolicy_violation\n',
  )
  expect(log).toEqual([])
})

test('scripts cannot pull what they did not open', async () => {
  const { tool, log } = makeCounter()
  const output = await runToOutput(
    createRuntime({ tools: [tool] }),
    'try { __tool_stream_next("call_9", 1) } catch (e) { println(e.code) }',
  )
  expect(output).toBe('not_found\n')
  expect(log).toEqual([])
})

test('a replay delivers the same chunks without calling the tool', async () => {
  const { tool, log } = makeCounter()
  const runtime = createRuntime({ tools: [tool] })
  const module = runtime.compile(`${HEAD}for c in tool_stream("count", {to: 3}) { println(c.content) }`)
  const journal = new MemoryJournal()
  const { output } = await runtime.start(module, { journal }).result
  log.length = 0
  expect(runtime.replay(module, journal.entries)).toMatchObject({ kind: 'ended', output })
  expect(log).toEqual([])
})

const INTERRUPTED = `${HEAD}for c in tool_stream("count", {to: 3}) {\n  println(c.content)\n  if c.chunk_index == 1 { sleep(20ms) }\n}`

async function resumeStream(
  recovery: 'safe' | 'once',
  ahead = 1,
): Promise<{ readonly output: string; readonly log: readonly string[] }> {
  const first = makeCounter(recovery)
  const runtime = createRuntime({ tools: [first.tool] })
  const run = runtime.start(runtime.compile(INTERRUPTED.replace('{to: 3}', `{to: 3}, {ahead: ${ahead}}`)))
  let bytes = await run.snapshot()
  while (!run.output.includes('{n: 2}')) bytes = await run.snapshot()
  run.cancel()
  await run.result
  const second = makeCounter(recovery)
  const other = createRuntime({ tools: [second.tool] })
  const result = await other.resume(bytes).result
  return { output: result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output, log: second.log }
}

test('after a restore a tool that may is begun again, and what was delivered is passed over', async () => {
  expect(await resumeStream('safe')).toEqual({
    output: '{n: 1}\n{n: 2}\n{n: 3}\n3.0\n',
    log: ['begin', 'make 1', 'make 2', 'make 3', 'end'],
  })
})

test('chunks that came together count one by one', async () => {
  expect((await resumeStream('safe', 2)).output).toBe('{n: 1}\n{n: 2}\n{n: 3}\n3.0\n')
})

/** Produces one chunk and waits until no further one is requested. */
function makePatient(): Counter {
  const log: string[] = []
  const tool = defineTool({
    name: 'wait',
    sideEffect: 'read_only',
    async *execute(_, { signal }) {
      try {
        yield 1
        log.push('waits')
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      } finally {
        log.push(signal.aborted ? 'aborted' : 'not aborted')
      }
    },
  })
  return { tool, log }
}

test('the signal of a tool whose stream is closed aborts before the script continues', async () => {
  const { tool, log } = makePatient()
  const say = defineTool({ name: 'say', execute: async () => (await Promise.resolve(), log.push('said')) })
  const source = 'for c in tool_stream("wait", {}) { tool_stream_close(c)\nbreak }\ntool_call("say", {})'
  await runToOutput(createRuntime({ tools: [tool, say] }), `import { tool_call } from "std/tools"\n${source}`)
  expect(log).toEqual(['aborted', 'said'])
})

test('after a restore a tool that must not be done twice is not', async () => {
  const { output, log } = await resumeStream('once')
  expect(output).toContain('unknown_outcome')
  expect(log).toEqual([])
})

test('what a request is answered with is bounded before it is copied', async () => {
  let read = 0
  // Copying a chunk reads its last member.
  const makeChunk = (): unknown => {
    const chunk = Array.from({ length: 100 }, (_, at) => at)
    return Object.defineProperty(chunk, 99, { get: () => read++, enumerable: true })
  }
  const tool = defineTool({
    name: 'large',
    sideEffect: 'read_only',
    async *execute() {
      for (let n = 0; n < 3; n++) yield makeChunk()
      return 1
    },
  })
  const source = 'try { for c in tool_stream("large", {}) { println(len(c.content)) } } catch (e) { println(e.message) }'
  expect(await runToOutput(createRuntime({ tools: [tool], maxResultBytes: 1000 }), source)).toMatch(
    /^Tool 'large' gave data of \d+ bytes or more is too large, the limit is 1000 \(maxResultBytes\)\n$/,
  )
  expect(read).toBe(0)
})
