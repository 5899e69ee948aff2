// What a host sees of builtins that are written in Harn: restrictions of builtins are about what scripts call, errors name the script's own
// lines, and a run that stopped in the middle of one continues in its own runtime.

import { expect, test } from 'vitest'
import { MemoryFs, createRuntime, defineTool, memoryProcess } from '../../index.js'
import type { RuntimeOptions, Tool } from '../../index.js'
import { VirtualClock, seededRandom } from '../../index.js'

const makeRuntime = (options: RuntimeOptions = {}) =>
  createRuntime({ clock: new VirtualClock(1_700_000_000_000), random: seededRandom(1), ...options })

const WAITING = `
import { wait_for } from "std/monitors"
import { gate } from "host/tools"
let done = wait_for({
  timeout: 10s, poll_interval: 1ms, wait_id: "w",
  source: { asked -> gate({n: asked.poll_count}) },
  condition: { n -> n >= 2 },
})
println([done.status, done.poll_count, done.state])
`

/** Answers once it may; counts its calls. */
function makeGated(): { readonly tool: Tool; readonly calls: unknown[]; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((done) => {
    open = done
  })
  const calls: unknown[] = []
  const tool = defineTool({
    name: 'gate',
    input: { type: 'object', properties: { n: { type: 'integer' } } },
    execute: async (input) => {
      const { n } = input as { n: number }
      calls.push(n)
      await opened
      return n
    },
  })
  return { tool, calls, open: () => open() }
}

test('a run resumes in the middle of a builtin, in another runtime, and repeats no effect', async () => {
  const first = makeGated()
  const host = makeRuntime({ tools: [first.tool] })
  const run = host.start(host.compile(WAITING))
  while (first.calls.length === 0) await new Promise((done) => setImmediate(done))
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  const second = makeGated()
  second.open()
  expect(await makeRuntime({ tools: [second.tool] }).resume(bytes).result).toMatchObject({ output: '[matched, 3, 2]\n' })
  expect(second.calls).toEqual([0, 1, 2])
})

const WORKING = `
import { gate } from "host/tools"
llm_mock({text: "<tool_call>look({})</tool_call>"})
llm_mock({text: "all seen"})
let tools = tool_define(tool_registry(), "look", "Looks", {parameters: {}, handler: { args -> gate({n: 1}) }})
let worker = sub_agent_run("look around", {provider: "mock", background: true, tools: tools, carry: {persist_state: false}})
let ended = wait_agent(worker)
println([ended.id == worker.id, ended.created_at == worker.created_at, ended.status, ended.result.summary])
println(ended.result.transcript.id == ended.result.session_id)
`

test('a worker resumes in the middle of a tool call, in another runtime', async () => {
  const world: RuntimeOptions = { grants: ['*'], providers: [memoryProcess({})] }
  const first = makeGated()
  const host = makeRuntime({ ...world, tools: [first.tool] })
  const run = host.start(host.compile(WORKING))
  while (first.calls.length === 0) await new Promise((done) => setImmediate(done))
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  const second = makeGated()
  second.open()
  const resumed = makeRuntime({ ...world, tools: [second.tool] }).resume(bytes)
  expect(await resumed.result).toMatchObject({ output: '[true, true, completed, all seen]\ntrue\n' })
  expect(second.calls).toEqual([1])
})

test('a builtin that scripts may not call serves the library', async () => {
  const host = makeRuntime({
    builtins: { deny: ['now_ms', 'sha256', 'path_parent'] },
    grants: ['*'],
    providers: [new MemoryFs({}, '/app'), memoryProcess({})],
  })
  const source = 'store_set("a", 1)\nprintln(store_get("a"))\nprintln(try { now_ms() } catch (e) { "refused" })\n'
  expect(await host.start(host.compile(source, { file: '/app/main.harn' })).result).toMatchObject({ output: '1\nrefused\n' })
})

test('an error names lines of the script alone', async () => {
  const host = makeRuntime()
  const source = 'import { wait_for } from "std/monitors"\nfn f() {\n  wait_for({source: 7, timeout: 1})\n}\nf()\n'
  const result = await host.start(host.compile(source, { file: 'main.harn' })).result
  expect(JSON.stringify(result)).not.toContain('<library>')
  expect(result).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('source must be a closure or dict, got int') },
  })
})
