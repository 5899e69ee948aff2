import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fromPlain, writeDocument } from '@bridle/vm'
import type { EffectKind } from '@bridle/vm'
import { VirtualClock } from '../library/time/host-clock.js'
import type { DriveEnd } from './machine-driver.js'
import type { RunEvent } from './events.js'
import { MemoryJournal, decodeJournal, encodeEntry } from './journal.js'
import { memoryModules } from './modules.js'
import { seededRandom } from './providers/basics.js'
import { MemoryFs, MemoryStore, MemoryTerminal, memoryProcess, scriptedHttp } from './providers/memory.js'
import type { Provider } from '../tools/executors/provider.js'
import { listCalls } from './replay.js'
import { ScriptError } from './run.js'
import { CompileError } from './compile-errors.js'
import { RunStopped, createRuntime } from './runtime.js'
import type { RuntimeOptions } from './runtime-options.js'
import { defineTool, pending, pureFunction } from '../tools/host-tools/define.js'
import { ToolError } from '../tools/host-tools/errors.js'

const makeRuntime = (options: RuntimeOptions = {}) =>
  createRuntime({ clock: new VirtualClock(1_700_000_000_000), random: seededRandom(1), ...options })

/** What a script prints, and how it ended. */
async function runToOutput(source: string, options: RuntimeOptions = {}): Promise<string> {
  const host = makeRuntime(options)
  const result = await host.start(host.compile(source)).result
  if (result.status === 'failed') return `${result.output}! ${result.error.message}`
  return result.status === 'done' ? result.output : `${result.output}! ${result.status}`
}

const double = defineTool({
  name: 'math.double',
  description: 'Twice a number',
  input: z.object({ n: z.number() }),
  output: z.object({ result: z.number() }),
  sideEffect: 'none',
  execute: ({ n }) => ({ result: n * 2 }),
})
const save = defineTool({
  name: 'save',
  input: z.object({ text: z.string() }),
  sideEffect: 'workspace_write',
  execute: ({ text }) => `saved ${text}`,
})
const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new Error('kaput')
  },
})

describe('running', () => {
  test('a value, output and input', async () => {
    const host = makeRuntime()
    const run = host.start(
      host.compile(
        'import "std/tools"\nlet x = host_call("runtime.pipeline_input")\nprintln(x.name)\nreturn {n: x.n + 1, f: 1.5}',
      ),
      { input: { name: 'Ada', n: 1 } },
    )
    expect(await run.result).toMatchObject({ status: 'done', output: 'Ada\n', value: { n: 2, f: 1.5 } })
    expect(await host.run('return [1, "two"]')).toEqual([1, 'two'])
  })

  test('an error of the script, with its trace', async () => {
    const host = makeRuntime()
    const result = await host.start(host.compile('fn f() { throw {code: 7} }\nf()', { file: 'job.harn' })).result
    expect(result).toMatchObject({ status: 'failed', error: { value: { code: 7 } } })
    expect(result.status === 'failed' && result.error.trace.map((entry) => `${entry.function}:${entry.line}`)).toContain('f:1')
    await expect(host.run('throw "no"')).rejects.toThrow(ScriptError)
    await expect(host.run('throw "no"')).rejects.toThrow('Thrown: no')
  })

  test('source that does not compile', () => {
    const host = makeRuntime()
    expect(() => host.compile('let x = )')).toThrow(CompileError)
    try {
      host.compile('let x: int = "a"', { file: 'job.harn' })
      expect.unreachable()
    } catch (cause) {
      expect(cause).toBeInstanceOf(CompileError)
      expect((cause as CompileError).render()).toContain('job.harn:1')
      expect((cause as CompileError).message).toBe("'x' declared as int, but assigned string (job.harn:1:1)")
    }
  })

  test('an endless loop stops on fuel, and scripts cannot catch that', async () => {
    const host = makeRuntime({ limits: { fuel: 100_000 } })
    const result = await host.start(host.compile('try { while true { } } catch (e) { println("caught") }')).result
    expect(result).toMatchObject({ status: 'limit', limit: 'fuel', output: '' })
    await expect(host.run('while true { }')).rejects.toThrow(RunStopped)
  })

  test('an endless loop gives way, and can be cancelled', async () => {
    const host = makeRuntime()
    const abort = new AbortController()
    const run = host.start(host.compile('println("on"); while true { }'), { signal: abort.signal })
    setImmediate(() => abort.abort(new Error('enough')))
    expect(await run.result).toMatchObject({ status: 'cancelled', reason: 'enough', output: 'on\n' })
    const other = host.start(host.compile('sleep(1h)\nsleep(1h)'))
    other.cancel()
    expect(await other.result).toMatchObject({ status: 'cancelled', reason: 'cancelled by host' })
  })

  test('events', async () => {
    const host = makeRuntime({ tools: [double] })
    const run = host.start(host.compile('import { double } from "host/math"\nprintln(double({n: 1}).result)\neprintln("note")'))
    const events: RunEvent[] = []
    for await (const event of run.events()) events.push(event)
    expect(events.map((event) => event.type)).toEqual(['effect', 'outcome', 'effect', 'stderr', 'outcome', 'output', 'end'])
  })

  test('the script sets the status', async () => {
    const fs = memoryProcess({ args: ['a'] })
    const host = makeRuntime({ providers: [fs], grants: ['process'] })
    expect(await host.start(host.compile('println("bye")\nexit(3)\nprintln("never")')).result).toMatchObject({
      status: 'exit',
      code: 3,
      output: 'bye\n',
    })
  })

  test('virtual time passes at once', async () => {
    const clock = new VirtualClock(1000)
    const host = makeRuntime({ clock })
    await host.run('sleep(1h)')
    expect(clock.now()).toBe(3_601_000)
  })

  test('runs share nothing', async () => {
    const host = makeRuntime()
    const module = host.compile('var n = 0\nn = n + 1\nhost_mock("a", "b", n)\nreturn host_call("a.b")')
    expect(await Promise.all([1, 2, 3].map(() => host.run(module)))).toEqual([1, 1, 1])
  })
})

describe('functions of the host', () => {
  const hostFunctions = {
    calc: {
      add: pureFunction({ params: [z.int(), z.int()], returns: z.int(), run: (a, b) => a + b }),
      half: pureFunction({ params: [z.number()], returns: z.number(), run: (x) => x / 2 }),
      words: pureFunction({ params: [z.string()], run: (text) => text.split(' ') }),
      sum: pureFunction({ params: [z.array(z.number())], returns: z.number(), run: (xs) => xs.reduce((a, b) => a + b, 0) }),
      fail: pureFunction({
        params: [],
        run: () => {
          throw new Error('pure failure')
        },
      }),
      late: pureFunction({ params: [], run: () => Promise.resolve(1) }),
      greet: pureFunction({ params: [z.object({ name: z.string() })], names: ['who'], run: ({ name }) => ({ hello: name }) }),
    },
  }

  test.each<[string, string, string]>([
    ['ints stay ints', 'add(2, 3)', '5\n'],
    ['floats stay floats', 'half(4)', '2.0\n'],
    ['lists', 'words("a b")', '[a, b]\n'],
    ['lists of floats', 'sum([1, 2.5])', '3.5\n'],
    ['dicts', 'greet({name: "Ada"})', '{hello: Ada}\n'],
    ['as a callback', '[1, 2].map({ x -> add(x, 1) })', '[2, 3]\n'],
  ])('%s', async (_, call, expected) => {
    expect(
      await runToOutput(`import { add, half, words, sum, greet } from "host/calc"\nprintln(${call})`, { hostFunctions }),
    ).toBe(expected)
  })

  test('what they throw can be caught', async () => {
    const source =
      'import "host/calc"\ntry { fail() } catch (e) { println(e.code + ": " + e.message) }\ntry { late() } catch (e) { println(e.message) }'
    expect(await runToOutput(source, { hostFunctions })).toBe(
      'execution_failed: pure failure\nit returned a promise, but is declared as pure\n',
    )
  })

  test('their types are checked where they are called', async () => {
    expect(
      await runToOutput('import { add } from "host/calc"\nlet x = json_parse("\\"x\\"")\nadd(x, 1)', { hostFunctions }),
    ).toContain("TypeError: parameter 'a' expected int, got string (x)")
    expect(await runToOutput('__host_calc_add("x", 1)', { hostFunctions })).toContain(
      "host function calc.add: argument 'a' must be int, got string",
    )
  })

  test('nothing under that name', async () => {
    expect(await runToOutput('import "host/nothing"', { link: 'lazy' })).toBe(
      "! Runtime error: Import error: cannot read 'host/nothing': the host offers nothing under this name (line 1)",
    )
  })
})

describe('tools', () => {
  test.each<[string, string, string]>([
    ['imported', 'import { double } from "host/math"\nprintln(double({n: 2}).result)', '4.0\n'],
    ['by name', 'println(host_tool_call("math.double", {n: 2}))', '{result: 4.0}\n'],
    ['through std/tools', 'import { tool_call } from "std/tools"\nprintln(tool_call("math.double", {n: 2}))', '{result: 4.0}\n'],
    ['as a capability', 'println(host_call("math.double", {n: 2}))', '{result: 4.0}\n'],
    ['listed', 'println(host_tool_list().map({ t -> t.name }))', '[math.double, save, broken]\n'],
    [
      'errors',
      'import { broken } from "host/tools"\ntry { broken() } catch (e) { println(e.code + " " + e.message + " " + e.tool) }',
      'execution_failed kaput broken\n',
    ],
    ['bad arguments', 'try { host_tool_call("math.double", {n: "x"}) } catch (e) { println(e.code) }', 'invalid_args\n'],
    ['an unknown name', 'try { host_tool_call("none", {}) } catch (e) { println(e.message) }', "Tool 'none' not found\n"],
    ['as a Result', 'import { tool_try } from "std/tools"\nprintln(is_err(tool_try("broken", {})))', 'true\n'],
  ])('%s', async (_, source, expected) => expect(await runToOutput(source, { tools: [double, save, broken] })).toBe(expected))

  test('without a host there is none', async () => {
    expect(await runToOutput('println(host_tool_list())\ntry { host_tool_call("x", {}) } catch (e) { println(e) }')).toBe(
      '[]\nhost_tool_call: no host bridge is attached\n',
    )
  })

  test('capability operations', async () => {
    const capabilities = {
      box: {
        open: (params: unknown) => ({ opened: params }),
        fail: () => {
          throw new ToolError('rate_limit', 'slow down')
        },
      },
    }
    expect(await runToOutput('println(host_call("box.open", {x: 1}))', { capabilities })).toBe('{opened: {x: 1}}\n')
    expect(await runToOutput('try { host_call("box.fail") } catch (e) { println(e.code) }', { capabilities })).toBe(
      'rate_limit\n',
    )
    expect(await runToOutput('host_call("box.none")', { capabilities })).toBe(
      '! Thrown: host_call: unsupported operation box.none',
    )
  })

  test('several at once, answers in order of arrival', async () => {
    const order: string[] = []
    const gates = new Map<string, () => void>()
    const wait = defineTool({
      name: 'wait',
      input: z.object({ id: z.string() }),
      execute: ({ id }) =>
        new Promise((resolve) => {
          gates.set(id, () => {
            order.push(id)
            resolve(id)
          })
          if (gates.size === 3) for (const each of ['c', 'a', 'b']) gates.get(each)!()
        }),
    })
    const source =
      'let r = parallel each ["a", "b", "c"] { id -> let v = host_tool_call("wait", {id: id})\nprintln(v)\nv }\nprintln(r)'
    const output = await runToOutput(source, { tools: [wait] })
    expect(order).toEqual(['c', 'a', 'b'])
    expect(output).toContain('[a, b, c]')
  })

  test('a result that comes later', async () => {
    const host = makeRuntime({ tools: [defineTool({ name: 'ask', execute: () => pending('t1') })] })
    const run = host.start(host.compile('return host_tool_call("ask", {})'))
    setImmediate(() => host.completeTool('t1', { ok: 'yes' }))
    expect(await run.result).toMatchObject({ value: 'yes' })
  })

  test('progress', async () => {
    const tool = defineTool({
      name: 'slow',
      execute: (_, context) => {
        context.progress({ done: 1 })
        return context.callId
      },
    })
    const host = makeRuntime({ tools: [tool] })
    const events: RunEvent[] = []
    await host.start(host.compile('host_tool_call("slow", {})'), { onEvent: (event) => events.push(event) }).result
    expect(events.find((event) => event.type === 'progress')).toMatchObject({ tool: 'slow', data: { done: 1 } })
  })
})

describe('authority', () => {
  const makeGated = () => new MemoryFs({ '/a.txt': 'text' })
  const attempt = 'try { println(read_file("/a.txt")) } catch (e) { println(e) }'

  test.each<[string, RuntimeOptions, string]>([
    ['no provider', { grants: ['*'] }, 'Error [tool_rejected]: fs.read is not available: this host provides no "fs"\n'],
    [
      'no grant',
      { providers: [makeGated()] },
      'Error [tool_rejected]: fs.read is not granted to this run: the host must grant "fs.read" or "fs"\n',
    ],
    [
      'another grant',
      { providers: [makeGated()], grants: ['fs.write', 'http'] },
      'Error [tool_rejected]: fs.read is not granted to this run: the host must grant "fs.read" or "fs"\n',
    ],
    ['both', { providers: [makeGated()], grants: ['fs.read'] }, 'text\n'],
    ['by area', { providers: [makeGated()], grants: ['fs'] }, 'text\n'],
    ['everything', { providers: [makeGated()], grants: ['*'] }, 'text\n'],
  ])('%s', async (_, options, expected) => expect(await runToOutput(attempt, options)).toBe(expected))

  test('a run can only narrow', async () => {
    const host = makeRuntime({ providers: [makeGated()], grants: ['fs.read'] })
    const narrowed = await host.start(host.compile(attempt), { grants: ['http'] }).result
    expect(narrowed.output).toContain('is not granted')
    const widened = await host.start(host.compile('try { write_file("/b", "x") } catch (e) { println(e) }'), { grants: ['*'] })
      .result
    expect(widened.output).toContain('fs.write is not granted')
  })

  test('an MCP server that the script names needs the power to start programs', async () => {
    const mcp: Provider = { kinds: ['mcp.connect', 'mcp.request'], perform: () => ({ ok: true, value: null }) }
    const source = 'try { mcp_connect("x") } catch (e) { println(e) }'
    expect(await runToOutput(source, { providers: [mcp], grants: ['mcp'] })).toContain(
      'the host must grant "process.exec" or "process"',
    )
    expect(await runToOutput(source, { providers: [mcp], grants: ['mcp', 'process.exec'] })).toBe('')
  })

  test('unknown grants are refused', () => {
    expect(() => makeRuntime({ grants: ['files' as EffectKind] })).toThrow('unknown grant "files"')
  })
})

describe('modules', () => {
  test('from the host, with state of their own', async () => {
    const resolve = memoryModules({
      'lib/counter.harn': 'var n = 0\npub fn next() { n = n + 1\n return n }',
      'lib/twice.harn': 'import { next } from "./counter"\npub fn twice() { next()\n return next() }',
    })
    expect(
      await runToOutput(
        'import { twice } from "./lib/twice"\nimport { next } from "lib/counter"\nprintln(twice())\nprintln(next())',
        { resolve },
      ),
    ).toBe('2\n3\n')
  })

  test('what is missing fails when it runs', async () => {
    expect(await runToOutput('import "./none"')).toContain("Import error: cannot read './none'")
    expect(await runToOutput('import "std/none"', { strictness: 'language' })).toBe(
      '! Runtime error: Unknown stdlib module: std/none (line 1)',
    )
  })

  test('hosts can add standard modules', async () => {
    expect(
      await runToOutput('import { f } from "std/mine"\nprintln(f())', { std: { mine: 'pub fn f() { return "mine" }' } }),
    ).toBe('mine\n')
  })
})

describe('dry run', () => {
  const source = `
import { save } from "host/tools"
import { double } from "host/math"
println(double({n: 1}).result)
let r = save({text: "hi"})
println(r.status + " " + r.name)
println(read_file("/a.txt"))
write_file("/b.txt", "new")
append_file("/b.txt", "more")
delete_file("/a.txt")
println(http_get("https://example.com/").status)
println(host_call("runtime.dry_run"))
`

  test('reads, writes nothing, and has the list', async () => {
    const files = new MemoryFs({ '/a.txt': 'text' })
    let sent = 0
    const http = scriptedHttp(() => {
      sent++
      return {}
    })
    const host = makeRuntime({ tools: [double, save], providers: [files, http], grants: ['*'] })
    const result = await host.start(host.compile(source), { dryRun: true }).result
    expect(result.output).toBe('2.0\ndry_run save\ntext\n200\ntrue\n')
    expect(result.wouldHaveDone.map((entry) => `${entry.summary}${entry.performed ? ' (performed)' : ''}`)).toEqual([
      'call tool save',
      'write file /b.txt (3 characters)',
      'append to file /b.txt (4 characters)',
      'delete /a.txt',
      'GET https://example.com/',
    ])
    expect(files.files()).toEqual(['/a.txt'])
    expect(sent).toBe(0)
  })

  test('what is not granted is refused, not listed', async () => {
    const host = makeRuntime({ providers: [new MemoryFs()] })
    const result = await host.start(host.compile('try { write_file("/b", "x") } catch (e) { println(e) }'), { dryRun: true })
      .result
    expect(result.output).toContain('is not granted')
    expect(result.wouldHaveDone).toEqual([])
  })

  test('a store is read, not written', async () => {
    const store = new MemoryStore()
    expect(store.perform({ kind: 'store.op', args: { op: 'get', namespace: 'n', key: 'k' } })).toEqual({ ok: true, value: null })
  })
})

describe('snapshots', () => {
  /** A tool whose calls wait until the test lets them go. */
  function makeGated() {
    const calls: string[] = []
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => void (open = resolve))
    const tool = defineTool({
      name: 'gate',
      input: z.object({ n: z.int() }),
      execute: async ({ n }, context) => {
        calls.push(context.idempotencyKey)
        await gate
        return n * 10
      },
    })
    return { tool, calls, open }
  }

  const source = `
import { counter } from "lib"
import { gate } from "host/tools"
println("before " + to_string(counter()))
let state = {list: [1, 2.5, "x"], n: 2 ** 62}
let r = gate({n: 4})
println("after " + to_string(r) + " " + to_string(counter()) + " " + to_string(state))
return r
`
  const resolve = memoryModules({ lib: 'var n = 0\npub fn counter() { n = n + 1\n return n }' })

  test('a run is resumed elsewhere from where it waited', async () => {
    const first = makeGated()
    const host = makeRuntime({ tools: [first.tool], resolve })
    const run = host.start(host.compile(source), { runId: 'r1' })
    for (let turn = 0; turn < 20 && first.calls.length === 0; turn++) await new Promise((done) => setImmediate(done))
    const bytes = await run.snapshot()

    const second = makeGated()
    second.open()
    // Nothing of the first host is used: another runtime, no module resolver.
    const resumed = await makeRuntime({ tools: [second.tool] }).resume(bytes).result
    expect(resumed).toMatchObject({
      status: 'done',
      value: 40,
      output: 'before 1\nafter 40 2 {list: [1, 2.5, x], n: 4611686018427387904}\n',
    })
    expect(second.calls).toEqual(first.calls)

    first.open()
    expect(await run.result).toMatchObject({ status: 'done', value: 40, output: resumed.output })
  })

  test('one run can be forked many times', async () => {
    const first = makeGated()
    const host = makeRuntime({ tools: [first.tool], resolve })
    const run = host.start(host.compile(source))
    for (let turn = 0; turn < 20 && first.calls.length === 0; turn++) await new Promise((done) => setImmediate(done))
    const bytes = await run.snapshot()
    run.cancel()
    await run.result
    const forks = await Promise.all(
      [1, 2, 3].map((factor) => {
        const tool = defineTool({ name: 'gate', execute: () => factor })
        return makeRuntime({ tools: [tool] }).resume(bytes).result
      }),
    )
    expect(forks.map((fork) => fork.status === 'done' && fork.value)).toEqual([1, 2, 3])
  })

  test.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(0), 'format'],
    ['noise', new Uint8Array([1, 2, 3]), 'format'],
    ['a snapshot of the first version', new TextEncoder().encode('{"bridle":"run","format":1}'), 'format'],
    ['another version', writeDocument([], 99), 'version'],
    ['a cut one', writeDocument(['r', null, null, 0], 2).subarray(0, -1), 'damaged'],
    ['one that lacks its parts', writeDocument(['r'], 2), 'damaged'],
  ])('%s is refused with its reason', (_, bytes, reason) =>
    expect(() => makeRuntime().resume(bytes)).toThrow(expect.objectContaining({ name: 'SnapshotError', reason })),
  )

  test('a small script that waits for a tool takes less than a kilobyte beside its sources', async () => {
    const { tool, calls } = makeGated()
    const host = makeRuntime({ tools: [tool] })
    const small =
      'import { gate } from "host/tools"\nimport { filter_nil } from "std/collections"\nlet r = gate({n: 4})\nprintln(filter_nil({a: r, b: nil}))\n'
    const module = host.compile(small)
    const run = host.start(module, { runId: 'run_0123456789abcdef' })
    for (let turn = 0; turn < 20 && calls.length === 0; turn++) await new Promise((done) => setImmediate(done))
    const whole = await run.snapshot()
    const bare = await run.snapshot({ sources: 'omit' })
    run.cancel()
    expect(bare.length).toBeLessThan(1024)
    expect(whole.length).toBeGreaterThan(bare.length + small.length)
    // What is the same in every Bridle is not carried along.
    expect(new TextDecoder('latin1').decode(whole)).not.toContain('fn filter_nil')
    const second = makeGated()
    second.open()
    const other = makeRuntime({ tools: [second.tool] })
    expect(await other.resume(bare, { module: other.compile(small) }).result).toMatchObject({ output: '{a: 40}\n' })
    expect(() => other.resume(bare)).toThrow(expect.objectContaining({ reason: 'program' }))
    expect(() => other.resume(bare, { module: other.compile(small.replace('4', '5')) })).toThrow(/has changed/)
  })

  test('a run that has ended has none', async () => {
    const host = makeRuntime()
    const run = host.start(host.compile('1'))
    await run.result
    await expect(run.snapshot()).rejects.toThrow('the run has ended')
  })
})

describe('journal and replay', () => {
  const source = `
import { double } from "host/math"
println(double({n: 3}).result)
let t = spawn { sleep(10ms)\n println("spawned")\n 5 }
println(random_int(1, 1000000) == random_int(1, 1000000))
println(read_file("/a.txt"))
println(await(t))
`
  async function makeRecorded() {
    const journal = new MemoryJournal()
    const host = makeRuntime({ tools: [double], providers: [new MemoryFs({ '/a.txt': 'text' })], grants: ['fs'] })
    const module = host.compile(source)
    const result = await host.start(module, { journal, input: { a: 1n } }).result
    return { journal, host, module, result }
  }

  test('a replay performs nothing and prints the same', async () => {
    const { journal, result } = await makeRecorded()
    expect(result.status).toBe('done')
    // The replaying host has no files and no tool that works.
    const other = makeRuntime({
      tools: [
        defineTool({
          name: 'math.double',
          input: z.object({ n: z.number() }),
          output: z.object({ result: z.number() }),
          sideEffect: 'none',
          description: 'Twice a number',
          execute: () => {
            throw new Error('performed')
          },
        }),
      ],
    })
    const lines = journal.entries.map(encodeEntry).join('\n')
    const end = other.replay(other.compile(source), decodeJournal(lines))
    expect(end).toMatchObject({ kind: 'ended', output: result.output, end: { kind: 'done' } satisfies Partial<DriveEnd> })
  })

  test('a changed program diverges, and the first difference is reported', async () => {
    const { journal, host } = await makeRecorded()
    const end = host.replay(host.compile(source.replace('"/a.txt"', '"/b.txt"')), journal.entries)
    expect(end).toMatchObject({
      kind: 'diverged',
      divergence: { code: 'replay_mismatch', actual: { kind: 'fs.read', args: '{"encoding":"utf8","path":"/b.txt"}' } },
    })
  })

  test('a cancelled run replays as cancelled', async () => {
    const journal = new MemoryJournal()
    const host = makeRuntime({ tools: [defineTool({ name: 'hang', execute: () => new Promise(() => {}) })] })
    const module = host.compile('println("on")\nhost_tool_call("hang", {})')
    const run = host.start(module, { journal })
    setImmediate(() => run.cancel('stop'))
    await run.result
    expect(host.replay(module, journal.entries)).toMatchObject({
      kind: 'ended',
      end: { kind: 'cancelled', reason: 'stop' },
      output: 'on\n',
    })
  })

  test('a recording replays from itself, with the globals and limits of the run, to the same trace hash', async () => {
    const journal = new MemoryJournal()
    const host = makeRuntime({ globals: ['argv'] })
    const text = 'println(argv)\nvar n = 0\nwhile true { n = n + 1 }'
    const result = await host.start(host.compile(text), {
      journal,
      globals: { argv: fromPlain(['a']) },
      limits: { fuel: 1000, sliceFuel: 70 },
    }).result
    expect(result).toMatchObject({ status: 'limit', output: '[a]\n' })
    const entries = decodeJournal(journal.entries.map(encodeEntry).join('\n'))
    const replayed = host.replay(host.moduleOfRecording(entries), entries)
    expect(replayed).toMatchObject({ kind: 'ended', end: { kind: 'limit', limit: 'fuel' }, output: '[a]\n' })
    expect(replayed.kind === 'ended' && replayed.trace).toBe((entries.at(-1) as { trace?: string }).trace)
  })

  test('a replay stops before any call and continues from there as a separate run', async () => {
    const { journal, host, module, result } = await makeRecorded()
    const calls = listCalls(journal.entries)
    expect(calls.map(({ id }) => id)).toEqual(calls.map((_, at) => at + 1))
    for (const { id, name } of calls) {
      const stopped = host.replay(module, journal.entries, { until: id - 1 })
      if (stopped.kind !== 'stopped') throw new Error(`${stopped.kind} in front of ${name}`)
      expect(stopped.next).toMatchObject({ id, name })
      expect(stopped.place).toMatchObject({ file: 'script.harn' })
      expect(result.output.startsWith(stopped.output)).toBe(true)
      const resumed = await host.resume(stopped.snapshot!()).result
      expect(resumed).toMatchObject({ status: 'done', output: result.output })
    }
  })

  test('an edited answer takes the run another way', async () => {
    const { journal, host, module } = await makeRecorded()
    const read = listCalls(journal.entries).find((call) => call.kind === 'fs.read')!
    const edits = new Map([[read.id, { ok: true as const, value: { data: 'edited', path: '/a.txt' } }]])
    expect(host.replay(module, journal.entries, { edits })).toMatchObject({
      kind: 'ended',
      output: expect.stringContaining('edited\n') as string,
    })
  })
})

test('a terminal in memory', async () => {
  const terminal = new MemoryTerminal(['Ada', 'rest'])
  await runToOutput('eprintln("name? ")', { providers: [terminal], grants: ['terminal'] })
  expect(terminal.written).toBe('name? \n')
})
