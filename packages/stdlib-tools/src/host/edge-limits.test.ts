// What crosses the edge of a run, in either direction, is bounded by its expanded size and its depth, and what cannot cross ends as a
// status of the run or as an error that the script can catch; never as an error of JavaScript.

import { describe, expect, test } from 'vitest'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { VirtualClock } from '../library/time/host-clock.js'
import { MemoryJournal } from './journal.js'
import { MemoryFs, MemoryStore, MemoryTree } from './providers/memory.js'
import { createRuntime } from './runtime.js'
import type { RuntimeOptions, StartOptions } from './runtime-options.js'
import type { RunResult } from './run.js'
import { defineTool } from '../tools/host-tools/define.js'
import { NotDataError, plainFromHost } from '../tools/host-tools/edge.js'

/** Forty dicts, each of which holds the one before twice: 2^40 values when copied. */
const SHARED = 'var x: any = 1\nfor i in 1 to 40 { x = {a: x, b: x} }\n'
/** Few objects, and one long text a thousand times. */
const LONG_TEXTS = 'let s = "0123456789" * 100000\nvar x: any = []\nfor i in 1 to 1000 { x = x.push(s) }\n'
const DEEP = 'var x: any = 1\nfor i in 1 to 20000 { x = [x] }\n'
const HEAP = 1 << 22

function runToResult(source: string, options: RuntimeOptions = {}, start: StartOptions = {}): Promise<RunResult> {
  const runtime = createRuntime({ grants: ['*'], limits: { heap: HEAP }, ...options })
  return runtime.start(runtime.compile(source, { strict: false }), start).result
}

/** Status and message of how a run ended. */
async function runToEnd(...args: Parameters<typeof runToResult>): Promise<string> {
  const result = await runToResult(...args)
  if (result.status === 'failed') return `failed: ${result.error.message}`
  return result.status === 'limit' ? `${result.limit}: ${result.message}` : result.status
}

function makeHost(execute: () => unknown): RuntimeOptions {
  return { tools: [defineTool({ name: 't', execute })], capabilities: { shop: { order: () => 1 } } }
}

function nestList(levels: number): unknown {
  let x: unknown = 1
  for (let level = 0; level < levels; level++) x = [x]
  return x
}

function shareDict(levels: number): unknown {
  let x: unknown = 1
  for (let level = 0; level < levels; level++) x = { a: x, b: x }
  return x
}

describe('a result', () => {
  test.each([
    ['shared', SHARED],
    ['of long texts', LONG_TEXTS],
  ])('%s is counted at its expanded size', async (_name, source) => {
    expect(await runToEnd(`${source}return x`)).toMatch(/^heap: out of memory: /)
  })

  test('that is too deep is a failure that says so', async () => {
    expect(await runToEnd(`${DEEP}return x`)).toBe('failed: Runtime error: the result is data nested deeper than 500')
  })

  test('of which only the raw value is asked is not converted', async () => {
    const result = await runToResult(`${SHARED}return x`, {}, { rawResult: true })
    expect(result).toMatchObject({ status: 'done', value: null })
  })

  test('that is large and not shared arrives whole', async () => {
    const result = await runToResult('return (1 to 100000).to_list()')
    expect(result.status === 'done' && (result.value as unknown[]).length).toBe(100_000)
  })
})

describe('arguments on their way out', () => {
  test.each([
    ['of an operation', 'host_call("shop.order", {x: x})'],
    ['of a tool', 'host_tool_call("t", {x: x})'],
  ])('%s end the run when they are shared without end', async (_name, call) => {
    for (const journal of [false, true])
      expect(
        await runToEnd(
          `${SHARED}return ${call}`,
          makeHost(() => 1),
          journal ? { journal: new MemoryJournal() } : {},
        ),
      ).toMatch(/^(work: too much work at once|heap: out of memory)/)
    expect(
      await runToEnd(
        `${LONG_TEXTS}return ${call}`,
        makeHost(() => 1),
      ),
    ).toMatch(/^(work|heap): /)
  })

  test.each([
    ['of an operation', 'host_call("shop.order", {x: x})'],
    ['of a tool', 'host_tool_call("t", {x: x})'],
  ])('%s that are too deep are an error to catch', async (_name, call) => {
    const source = `${DEEP}try { ${call} } catch (e) { return to_string(e).contains("nested") }`
    expect(
      await runToResult(
        source,
        makeHost(() => 1),
      ),
    ).toMatchObject({ status: 'done', value: true })
  })
})

describe('what a tool of the host gives or throws is data or an error of the tool', () => {
  const evil: readonly (readonly [name: string, execute: () => unknown])[] = [
    ['a deep value', () => nestList(100_000)],
    ['a shared value', () => shareDict(40)],
    ['a cycle', () => Object.assign(Object.create(null) as object, { toJSON: () => evil })],
    ['a proxy that throws', () => new Proxy({}, { ownKeys: () => { throw new TypeError('no') } })], // prettier-ignore
    ['a revoked proxy', makeRevoked],
    ['a getter that throws', () => ({ get a(): never { throw new Error('no') } })], // prettier-ignore
    ['a thenable that throws', () => ({ then: () => { throw new Error('no') } })], // prettier-ignore
    ['a wide integer', () => 2n ** 100n],
    ['a symbol', () => Symbol('s')],
    ['a function', () => () => 1],
    ['an array of holes', () => Object.assign([], { length: 4e9 })],
    ['a long array', () => new Float64Array(1e6)],
    ['many bytes', () => new Uint8Array(1e8)],
    ['a throw of undefined', () => { throw undefined }], // prettier-ignore
    ['a throw of an object without a prototype', () => { throw Object.create(null) }], // prettier-ignore
    ['a throw of a symbol', () => { throw Symbol('s') }], // prettier-ignore
    ['a rejection with nothing', () => Promise.reject(undefined)],
    ['a throw of what throws', () => { throw { toString: () => { throw new Error('no') } } }], // prettier-ignore
  ]
  test.each(evil)('%s', async (_name, execute) => {
    const source = 'try { return host_tool_call("t", {}) } catch (e) { return "caught" }'
    const result = await runToResult(source, makeHost(execute))
    expect(result).toMatchObject({ status: 'done', value: 'caught' })
  })
})

function makeRevoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('what a provider answers', () => {
  const cycle: unknown[] = []
  cycle.push(cycle)
  test.each<readonly [name: string, outcome: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ok'],
    ['no error', { ok: false }],
    ['an error of an unknown kind', { ok: false, error: { kind: 'odd', message: 'm' } }],
    ['an error without a message', { ok: false, error: { kind: 'thrown' } }],
    ['a function', { ok: true, value: () => 1 }],
    ['a symbol', { ok: true, value: [Symbol('s')] }],
    ['a cycle', { ok: true, value: cycle }],
    ['an object of a class', { ok: true, value: new Map() }],
    ['a deep value', { ok: true, value: nestList(100_000) }],
    ['a shared value', { ok: true, value: shareDict(40) }],
  ])('%s is an error of the effect', async (_name, outcome) => {
    const source = 'try { return elapsed() } catch (e) { return "caught" }'
    for (const answer of [outcome, Promise.resolve(outcome)]) {
      const provider = { kinds: ['clock.monotonic' as const], perform: () => answer as EffectOutcome }
      const result = await runToResult(source, { providers: [provider] }, { journal: new MemoryJournal() })
      expect(result).toMatchObject({ status: 'done', value: 'caught' })
    }
  })
})

test('input that is not data is refused, for every reason', () => {
  const input: unknown[] = [nestList(100_000), shareDict(40), makeRevoked(), Symbol('s'), Object.assign([], { length: 4e9 })]
  for (const each of input) expect(() => plainFromHost(each)).toThrow(NotDataError)
})

test('a listener that throws makes a failed run with its error as cause', async () => {
  const cause = new TypeError('a listener')
  const onEvent = (): never => {
    throw cause
  }
  const result = await runToResult('println(1)', {}, { onEvent })
  expect(result.status === 'failed' && result.error.cause).toBe(cause)
})

test('an entry that claims to be a tool of the language is refused', async () => {
  const source =
    'import "std/tools"\ntry { tool_call({name: "constructor", executor: "builtin"}, {}) } catch (e) { return e.code }'
  expect(await runToResult(source)).toMatchObject({ status: 'done', value: 'not_registered' })
})

describe('worlds in memory are bounded', () => {
  const makeFs = (): RuntimeOptions => ({ providers: [new MemoryFs({}, '/', new MemoryTree(1 << 16))] })

  test.each([
    ['content', 'write_file("/f${i}", "0123456789" * 1000)'],
    ['one file', 'append_file("/f", "0123456789" * 1000)'],
    ['folders', 'mkdir("/f${i}")'],
    ['copies', 'write_file("/f", "0123456789" * 100)\ncopy_file("/f", "/f${i}")'],
  ])('files: %s', async (_name, line) => {
    const source = `try {\nfor i in 1 to 1000 {\n${line}\n}\n} catch (e) { return to_string(e).contains("No space left on device") }`
    expect(await runToResult(source, makeFs())).toMatchObject({ status: 'done', value: true })
  })

  test('files: what is deleted makes room, and a long path is refused', async () => {
    const rounds = 'for i in 1 to 100 {\nwrite_file("/d/f", "0123456789" * 1000)\ndelete_file("/d")\nmkdir("/d")\n}'
    expect(await runToResult(`mkdir("/d")\n${rounds}\nreturn list_dir("/")`, makeFs())).toMatchObject({
      status: 'done',
      value: ['d'],
    })
    const long = 'try { mkdir("/" + "a/" * 100000) } catch (e) { return to_string(e).contains("too long") }'
    expect(await runToResult(long, makeFs())).toMatchObject({ status: 'done', value: true })
  })

  test('a store', () => {
    const store = new MemoryStore(1000)
    const set = (key: string): EffectOutcome =>
      store.perform({ kind: 'store.op', args: { op: 'set', namespace: 'n', key, value: 'x'.repeat(500) } })
    expect(set('a').ok).toBe(true)
    expect(set('a').ok).toBe(true)
    expect(set('b')).toMatchObject({ ok: false, error: { message: expect.stringContaining('is full') as string } })
    store.perform({ kind: 'store.op', args: { op: 'delete', namespace: 'n', key: 'a' } })
    expect(set('b').ok).toBe(true)
  })

  test('a journal', async () => {
    const source = 'while true { host_call("shop.order", {x: 1}) }'
    const ended = runToResult(
      source,
      makeHost(() => 1),
      { journal: new MemoryJournal(1 << 16) },
    )
    await expect(ended).rejects.toThrow(/^the journal cannot be written: a journal in memory keeps 65536 heap units/)
  })
})

// The making of the argument takes less than the fuel that is left for the builtin.
test.each([
  ['a text as YAML', 'let t = "x" * 1000000\nyaml_stringify(t)'],
  ['a long key as YAML', 'let t = "x" * 1000000\nyaml_stringify({[t]: 1})'],
  ['a long pattern of paths', 'let t = "*" * 100000\nglob(t)'],
])('work goes by the size of its input: %s', async (_, source) => {
  const fuel = 40_000
  expect(await runToEnd(source, { providers: [new MemoryFs({})], limits: { heap: 1 << 28, fuel } })).toMatch(/^(?:fuel|work)/)
})

describe('what one result of the host may have', () => {
  const MOST = 1000
  const wrapCatching = (call: string): string => `try { ${call} } catch (e) { return to_string(e) }`
  const runSaid = async (call: string, give: () => unknown): Promise<unknown> => {
    const options = { ...makeHost(give), capabilities: { shop: { order: give } }, maxResultBytes: MOST, limits: {} }
    const result = await runToResult(wrapCatching(call), options)
    return result.status === 'done' ? result.value : result.status
  }

  test.each([
    ['a tool', 'host_tool_call("t", {})'],
    ['an operation', 'host_call("shop.order", {})'],
  ])('%s', async (_name, call) => {
    expect(await runSaid(call, () => 'x'.repeat(MOST))).toBe(null)
    for (const later of [false, true]) {
      const makeGiven = (value: unknown) => () => (later ? Promise.resolve(value) : value)
      expect(await runSaid(call, makeGiven('x'.repeat(5000)))).toContain('5000 bytes')
      expect(await runSaid(call, makeGiven({ a: ['x'.repeat(5000)] }))).toContain(`the limit is ${MOST} (maxResultBytes)`)
      expect(await runSaid(call, makeGiven(new Uint8Array(5000)))).toContain(`the limit is ${MOST} (maxResultBytes)`)
    }
    const throwLong = () => {
      throw new Error('x'.repeat(5000))
    }
    expect(await runSaid(call, throwLong)).toContain(`the limit is ${MOST} (maxResultBytes)`)
  })

  test('a text of 32 MiB, by default', async () => {
    const give = () => 'x'.repeat(32 << 20)
    const result = await runToResult(wrapCatching('host_tool_call("t", {})'), { ...makeHost(give), limits: { heap: 1 << 30 } })
    expect(result).toMatchObject({
      status: 'done',
      value: expect.stringContaining(`${32 << 20} bytes or more is too large, the limit is ${16 << 20}`) as string,
    })
  })
})

test('a key of which each number is long is paid for before it is used', async () => {
  // SEQUENCE { INTEGER modulus, INTEGER exponent }, each of 20,000 bytes.
  const number = Buffer.concat([Buffer.from([0x02, 0x82, 0x4e, 0x20, 0x7f]), Buffer.alloc(19_999, 0xff)])
  const key = Buffer.concat([Buffer.from([0x30, 0x82, 0x9c, 0x48]), number, number])
  const pem = `-----BEGIN RSA PUBLIC KEY-----${key.toString('base64')}-----END RSA PUBLIC KEY-----`
  const encodePart = (text: string): string => Buffer.from(text).toString('base64url')
  const token = `${encodePart('{"alg":"RS256"}')}.${encodePart('{}')}.${Buffer.alloc(20_000, 1).toString('base64url')}`
  expect(await runToEnd(`jwt_verify("RS256", "${token}", "${pem}")`, { limits: {} })).toMatch(/^work: /)
})

test('a script of the library that asks the world for each element gives the thread back', async () => {
  let yields = 0
  const source = 'transcript_from_messages((1 to 3000).to_list().map({ i -> {role: "user", content: "a"} }))\nreturn 1'
  const result = await runToResult(source, { limits: {} }, { onYield: () => (yields += 1) })
  expect(result.status).toBe('done')
  expect(yields).toBeGreaterThan(5)
})

describe('the text of an enum', () => {
  const enums = 'var x: any = Ok(1)\nfor i in 1 to 40 { x = Ok([x, x]) }\n'

  test.each([
    ['alone', `${SHARED}return Err(x)`],
    ['in a list', `${SHARED}return [Ok(x)]`],
    ['in a dict', `${SHARED}return {a: Ok(x)}`],
    ['of enums', `${enums}return x`],
  ])('%s is counted at its length', async (_name, source) => {
    expect(await runToEnd(source)).toMatch(/^heap: out of memory: /)
  })

  test('is made in pieces, and the host has its thread between them', async () => {
    const source = 'let xs = (1 to 100000).to_list()\nreturn [1, Ok(xs), {a: Err(xs)}, 2]'
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    const runtime = createRuntime({ limits: { heap: 1 << 26 } })
    const run = runtime.start(runtime.compile(source, { strict: false }))
    let before = 0
    const machine = run.result
    const { value } = (await machine) as Extract<RunResult, { status: 'done' }>
    clearImmediate(timer)
    before = turns
    const [one, ok, { a }, two] = value as [number, string, { a: string }, number]
    expect([one, two]).toEqual([1, 2])
    expect(ok.startsWith('Result.Ok([1, 2, ')).toBe(true)
    expect(ok.endsWith(', 100000])')).toBe(true)
    expect(a).toBe(ok.replace('Ok', 'Err'))
    expect(before).toBeGreaterThan(10)
  })

  test('of few parts is what a script shows', async () => {
    const result = (await runToResult('return [Ok(1), Err("x"), Ok(nil), Ok([Ok({a: 1})]), Ok(Ok(2))]')) as { value: unknown }
    expect(result.value).toEqual([
      'Result.Ok(1)',
      'Result.Err(x)',
      'Result.Ok(nil)',
      'Result.Ok([Result.Ok({a: 1})])',
      'Result.Ok(Result.Ok(2))',
    ])
  })
})

describe('a large answer', () => {
  const rows = (): unknown => Array.from({ length: 12_000 }, (_, id) => ({ id, tags: ['a'], at: { x: id / 2 } }))
  const SUM = 'len(x) + x[11999].id + to_int(x[11999].at.x * 2) + len(x[7].tags)'
  const plainRows = rows() as Plain

  /** Turns of the event loop between the begin and the end of a run, and its result. */
  async function countTurns(source: string, options: RuntimeOptions): Promise<{ turns: number; result: RunResult }> {
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    const runtime = createRuntime({ grants: ['*'], ...options })
    const run = runtime.start(runtime.compile(source, { strict: false }))
    let timer = setImmediate(count)
    const result = await run.result
    clearImmediate(timer)
    return { turns, result }
  }

  test.each<[string, string, RuntimeOptions]>([
    [
      'of a tool',
      `let x = host_tool_call("t", {})\nreturn ${SUM}`,
      { tools: [defineTool({ name: 't', response: 'direct', execute: rows })] },
    ],
    [
      'of a tool that waits',
      `let x = host_tool_call("t", {})\nreturn ${SUM}`,
      { tools: [defineTool({ name: 't', response: 'direct', execute: () => Promise.resolve(rows()) })] },
    ],
    [
      'of an operation of the host',
      `let x = host_call("shop.order", {})\nreturn ${SUM}`,
      { capabilities: { shop: { order: rows } } },
    ],
    [
      'of a provider at once',
      `let x: any = cwd()\nreturn ${SUM}`,
      { providers: [{ kinds: ['process.info'], perform: () => ({ ok: true, value: plainRows }) }] },
    ],
    [
      'of a provider later',
      `let x: any = cwd()\nreturn ${SUM}`,
      { providers: [{ kinds: ['process.info'], perform: () => Promise.resolve({ ok: true, value: plainRows }) }] },
    ],
  ])('%s is taken in in pieces, and a replay takes it in again', async (_name, source, options) => {
    const journal = new MemoryJournal()
    const runtime = createRuntime({ grants: ['*'], ...options })
    const { turns, result } = await countTurns(source, options)
    expect(result).toMatchObject({ status: 'done', value: 36_000 - 1 })
    expect(turns).toBeGreaterThan(15)
    const module = runtime.compile(source, { strict: false })
    await runtime.start(module, { journal }).result
    expect(runtime.replay(module, journal.entries)).toMatchObject({ end: { kind: 'done', value: 36_000 - 1 } })
  })

  const ITEM = { type: 'object', properties: { id: { type: 'integer' } }, required: ['tags'] }
  const tool = (output: object, give = rows): RuntimeOptions => ({
    tools: [defineTool({ name: 't', response: 'direct', output: output as { readonly [key: string]: unknown }, execute: give })],
  })
  const call = 'let x = tool_call("t", {})\nreturn x[11999].id'
  const caught = 'return try { tool_call("t", {}) } catch (e) { e.code + " " + e.message }'
  const source = (body: string): string => `import "std/tools"\n${body}`

  test('is checked against a schema in pieces', async () => {
    const before = await countTurns(source(call), tool({}))
    const { turns, result } = await countTurns(source(call), tool({ type: 'array', items: ITEM }))
    expect(result).toMatchObject({ status: 'done', value: 11_999 })
    expect(turns).toBeGreaterThan(before.turns + 3)
  })

  test('of which the last member is wrong is refused, with its place', async () => {
    const wrong = (): unknown => [...(rows() as unknown[]), { id: 'x' }]
    const { result } = await countTurns(source(caught), tool({ type: 'array', items: ITEM }, wrong))
    expect(JSON.stringify(result.status === 'done' && result.value)).toMatch(/^"output_validation_failed .*\$\.12000/)
  })

  test('of a handler is checked in pieces, by a machine that was restored in the middle too', async () => {
    const define = `let tools = tool_define(tool_registry(), "t", "d", {parameters: {}, returns: {type: "array", items: {type: "object", properties: {id: {type: "integer"}}, required: ["id"]}}, handler: { args -> (1 to 12000).to_list().map({ id -> {id: id} }) }})\ntool_bind(tools)`
    const runtime = createRuntime({ grants: ['*'], limits: { sliceFuel: 20_000 } })
    const module = runtime.compile(source(`${define}\n${call}`), { strict: false })
    const taken: Promise<Uint8Array>[] = []
    let yields = 0
    const run = runtime.start(module, {
      onYield: () => {
        if (yields++ % 3 === 0) taken.push(run.snapshot())
      },
    })
    expect(await run.result).toMatchObject({ status: 'done', value: 12_000 })
    const snapshots = (await Promise.allSettled(taken)).filter((each) => each.status === 'fulfilled').map((each) => each.value)
    const isChecking = (bytes: Uint8Array): boolean => Buffer.from(bytes).includes('tool.check_result')
    expect(snapshots.filter(isChecking).length).toBeGreaterThan(0)
    for (const bytes of snapshots.filter(isChecking))
      expect(await runtime.resume(bytes).result).toMatchObject({ status: 'done', value: 12_000 })
  })

  test('of a start is made into values in pieces', async () => {
    const runtime = createRuntime({ grants: ['*'] })
    const module = runtime.compile(
      'import { runtime_pipeline_input } from "std/runtime"\nreturn runtime_pipeline_input()[11999].id',
      {
        strict: false,
      },
    )
    let turns = 0
    const count = (): void => {
      turns++
      timer = setImmediate(count)
    }
    const journal = new MemoryJournal()
    const run = runtime.start(module, { input: plainRows, journal })
    let timer = setImmediate(count)
    const early = run.snapshot()
    expect(await run.result).toMatchObject({ status: 'done', value: 11_999 })
    clearImmediate(timer)
    // Taken when the machine had its input.
    expect(await runtime.resume(await early).result).toMatchObject({ status: 'done', value: 11_999 })
    expect(turns).toBeGreaterThan(5)
    expect(runtime.replay(module, journal.entries)).toMatchObject({ end: { kind: 'done', value: 11_999 } })
  })

  test('of a start ends at once when the run is cancelled', async () => {
    const runtime = createRuntime({ grants: ['*'] })
    const abort = new AbortController()
    const run = runtime.start(runtime.compile('println("ran")', { strict: false }), { input: plainRows, signal: abort.signal })
    abort.abort(new Error('no'))
    expect(await run.result).toMatchObject({ status: 'cancelled', output: '' })
  })

  test('that is too deep behind many members is refused', async () => {
    const deep = [...(plainRows as readonly Plain[]), nestList(600)] as never
    const provider = { kinds: ['process.info'] as const, perform: () => ({ ok: true, value: deep }) as EffectOutcome }
    const source = 'return try { cwd() } catch (e) { to_string(e) }'
    const { result } = await countTurns(source, { providers: [provider] })
    expect(JSON.stringify(result.status === 'done' && result.value)).toContain('data nested deeper than 500')
  })

  test('is not waited for by a clock that is virtual', async () => {
    const source = `let a = spawn { len(host_tool_call("t", {})) }\nsleep(60000)\nreturn await(a)`
    const { result } = await countTurns(source, {
      tools: [defineTool({ name: 't', response: 'direct', execute: rows })],
      clock: new VirtualClock(0),
    })
    expect(result).toMatchObject({ status: 'done', value: 12_000 })
  })
})
