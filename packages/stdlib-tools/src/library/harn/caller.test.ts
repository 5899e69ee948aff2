// What a host sees of builtins that are written in Harn: restrictions of builtins are about what scripts call, errors name the script's own
// lines, and a run that stopped in the middle of one goes on in a runtime of its own.

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

test('a run goes on in the middle of a builtin, in another runtime, and nothing is asked again', async () => {
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
