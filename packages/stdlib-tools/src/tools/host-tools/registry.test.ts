import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryJournal } from '../../host/journal.js'
import { createRuntime } from '../../host/runtime.js'
import { defineTool, finish, pending } from './define.js'
import type { ToolContext, ToolDefinition } from './define.js'
import { ToolError } from './errors.js'
import { createRegistry } from './registry.js'
import { respond, unwrapStandard } from './response.js'

const hash = defineTool({
  name: 'crypto.hash',
  aliases: ['hash_calculator'],
  description: 'Computes the digest of a text',
  category: 'utility',
  sideEffect: 'none',
  input: z.object({ input: z.string(), rounds: z.int().default(1) }),
  output: z.object({ digest: z.string() }),
  execute: ({ input, rounds }) => ({ digest: `${input}×${rounds}` }),
})
const fetchPage = defineTool({
  name: 'http.getPage',
  description: 'Fetches a page from the web',
  category: 'web',
  effects: ['http'],
  execute: () => ({ status: 200 }),
})
const makeTool = (name: string, execute: ToolDefinition['execute'], more: Partial<ToolDefinition> = {}) =>
  defineTool({ name, execute, ...more })
const waitForAbort = (_: unknown, { signal }: ToolContext): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

const catchCode = async (promise: PromiseLike<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (cause: unknown) => (cause instanceof ToolError ? cause.code : String(cause)),
  )

describe('looking up', () => {
  const registry = createRegistry([hash, fetchPage])

  test('names, aliases, categories', () => {
    expect(registry.list().map(({ name, level }) => [name, level])).toEqual([
      ['crypto.hash', 'safe'],
      ['http.getPage', 'restricted'],
    ])
    expect([registry.has('hash_calculator'), registry.get('nothing'), registry.size]).toEqual([true, undefined, 2])
    expect(registry.categories()).toEqual(['utility', 'web'])
    expect(registry.toJsonSchema()[0]).toMatchObject({
      name: 'crypto.hash',
      inputSchema: { type: 'object', required: ['input'] },
      outputSchema: { properties: { digest: { type: 'string' } } },
    })
  })

  test.each<[Parameters<typeof registry.search>[0], string[]]>([
    [{}, ['crypto.hash', 'http.getPage']],
    [{ text: 'DIGEST' }, ['crypto.hash']],
    [{ text: 'a web page, or its text' }, ['http.getPage', 'crypto.hash']],
    [{ text: 'get' }, ['http.getPage']],
    [{ text: 'rounds' }, ['crypto.hash']],
    [{ text: 'hash_calculator' }, ['crypto.hash']],
    [{ text: 'digests' }, ['crypto.hash']],
    [{ text: 'calc' }, ['crypto.hash']],
    [{ text: 'nonsense' }, []],
    [{ category: 'web' }, ['http.getPage']],
    [{ effect: 'http', text: 'fetches' }, ['http.getPage']],
    [{ tag: 'digest of' }, ['crypto.hash']],
    [{ maxLevel: 'safe' }, ['crypto.hash']],
    [{ limit: 1 }, ['crypto.hash']],
  ])('search %j', (query, names) => expect(registry.search(query).map((each) => each.tool.name)).toEqual(names))

  test('a word of the name counts as much as several of the description', () => {
    const make = (name: string, description: string) =>
      defineTool({ name, description, input: z.object({}), execute: () => null })
    const tools = [
      make('repo.merge', 'Merges; the commit title and the commit message can be given'),
      make('repo.commit', `Records what is staged. ${'Long explanations of how messages are written. '.repeat(8)}`),
    ]
    expect(createRegistry(tools).search({ text: 'commit' })[0]!.tool.name).toBe('repo.commit')
  })

  test('two tools of one name', () => {
    expect(() => createRegistry([hash, hash])).toThrow('tool "crypto.hash" is defined twice')
    expect(() => defineTool({ name: 'x', sideEffect: 'process_exec', level: 'safe', execute: () => null })).toThrow(
      'tool "x" has side effect process_exec and cannot be of level safe; it is privileged at least',
    )
  })
})

describe('calling', () => {
  test('arguments with defaults in, checked results out', async () => {
    const registry = createRegistry([hash, makeTool('wrong', () => ({ n: 'x' }), { output: z.object({ n: z.int() }) })])
    expect(await registry.call('hash_calculator', { input: 'a' })).toEqual({ digest: 'a×1' })
    expect(await catchCode(registry.call('crypto.hash', { input: 1 }))).toBe('invalid_args')
    expect(await catchCode(registry.call('wrong'))).toBe('output_validation_failed')
    await expect(registry.call('hash')).rejects.toThrow("Tool 'hash' not found; near it: crypto.hash")
    expect(await registry.tryCall('wrong')).toMatchObject({ ok: false, error: { code: 'output_validation_failed' } })
    expect(registry.metrics('wrong')).toMatchObject({ calls: 2, errors: 2, lastError: { code: 'output_validation_failed' } })
  })

  test('time, cancellation, results that come later', async () => {
    const registry = createRegistry([makeTool('never', waitForAbort, { timeoutMs: 5 }), makeTool('later', () => pending('t'))])
    expect(await catchCode(registry.call('never'))).toBe('timeout')
    const abort = new AbortController()
    const call = catchCode(registry.call('never', {}, { signal: abort.signal, timeoutMs: 10_000 }))
    abort.abort()
    expect(await call).toBe('cancelled')
    expect(await catchCode(registry.call('never', {}, { signal: AbortSignal.abort() }))).toBe('cancelled')
    expect(await catchCode(registry.call('later'))).toBe('execution_failed')
  })

  test('tools call tools: numbered, under one signal, not for ever', async () => {
    const seen: string[] = []
    const registry = createRegistry([
      hash,
      makeTool('outer', async (_, { tools }) => [
        await tools.call('crypto.hash', { input: 'x' }),
        await tools.batch([{ tool: 'inner' }, { tool: 'inner' }]),
      ]),
      makeTool('inner', (_, { callId, idempotencyKey }) => {
        seen.push(callId, idempotencyKey)
        return seen.length
      }),
      makeTool('loop', (_, { tools }) => tools.call('loop')),
      makeTool('stranger', (_, { tools }) => tools.call('unknown')),
    ])
    expect(await registry.call('outer')).toEqual([{ digest: 'x×1' }, [2, 4]])
    expect(seen).toEqual(['call_1/2', 'registry:call_1/2', 'call_1/3', 'registry:call_1/3'])
    expect(await catchCode(registry.call('loop'))).toBe('tool_recursion_limit')
    expect(await catchCode(registry.call('stranger'))).toBe('not_registered')
  })

  test('a prepare step fills in, attaches, answers or fails', async () => {
    const callPrepared = (prepare: ToolDefinition['prepare']) =>
      createRegistry([makeTool('t', (args, { payload }) => [args, payload], { prepare: prepare! })]).call('t', { a: 1 })
    expect(await callPrepared(() => ({ args: { b: 2 }, payload: 'p' }))).toEqual([{ b: 2 }, 'p'])
    expect(await callPrepared(async () => undefined)).toEqual([{ a: 1 }, null])
    expect(await callPrepared(() => finish('at once'))).toBe('at once')
    expect(
      await catchCode(
        callPrepared(() => {
          throw new Error('no')
        }),
      ),
    ).toBe('prepare_failed')
  })

  test('every attempt of a call sees what was prepared once', async () => {
    const seen: unknown[] = []
    let prepared = 0
    const flaky = makeTool(
      'flaky',
      (_, { attempt, maxAttempts, payload, idempotencyKey }) => {
        seen.push([attempt, maxAttempts, payload, idempotencyKey])
        if (attempt < 3) throw new ToolError('provider_unavailable', 'not yet')
        return 'done'
      },
      {
        prepare: () => ({ payload: ++prepared }),
        recovery: 'idempotent',
        retry: { maxRetries: 4, baseDelayMs: 0, jitter: false },
      },
    )
    const runtime = createRuntime({ tools: createRegistry([flaky]) })
    expect(await runtime.run('import { flaky } from "host/tools"\nreturn flaky()', { runId: 'r' })).toBe('done')
    expect(seen).toEqual([1, 2, 3].map((attempt) => [attempt, 5, 1, 'r:call_1']))
  })
})

describe('batches', () => {
  const log: string[] = []
  const registry = createRegistry([
    makeTool('slow', async (args) => {
      const { name, turns } = args as { name: string; turns: number }
      log.push(`+${name}`)
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      log.push(`-${name}`)
      return name
    }),
    makeTool('bad', () => {
      throw new Error('no')
    }),
    makeTool('never', waitForAbort),
  ])
  const makeSlow = (name: string, turns: number) => ({ tool: 'slow', args: { name, turns } })

  test('outcomes in order, so many at a time', async () => {
    log.length = 0
    expect(
      await registry.batch([makeSlow('a', 5), makeSlow('b', 1), { tool: 'bad' }, makeSlow('c', 1)], { concurrency: 2 }),
    ).toMatchObject([
      { ok: true, value: 'a' },
      { ok: true, value: 'b' },
      { ok: false, error: { code: 'execution_failed' } },
      { ok: true, value: 'c' },
    ])
    expect(log.slice(0, 4)).toEqual(['+a', '+b', '-b', '+c'])
  })

  test('the first failure may end all', async () => {
    expect(await catchCode(registry.batch([{ tool: 'never' }, { tool: 'bad' }], { failFast: true }))).toBe('execution_failed')
    expect(await registry.batch([makeSlow('a', 0), makeSlow('b', 0)], { failFast: true })).toEqual(['a', 'b'])
  })

  test('an unknown name refuses all', async () => {
    log.length = 0
    expect(await catchCode(registry.batch([makeSlow('a', 0), { tool: 'unknown' }]))).toBe('not_registered')
    expect(log).toEqual([])
  })
})

describe('streams', () => {
  const closed: string[] = []
  const registry = createRegistry([
    makeTool('count', async function* (args) {
      try {
        for (let n = 1; n <= (args as { to: number }).to; n++) yield n
        return 'counted'
      } finally {
        closed.push('count')
      }
    }),
    makeTool('breaks', async function* () {
      yield 1
      throw new ToolError('server_error', 'broke')
    }),
    makeTool('plain', () => 'all at once'),
  ])
  const takeChunks = async (name: string, args = {}, most = Infinity): Promise<unknown[]> => {
    const chunks: unknown[] = []
    for await (const { chunkIndex, content, metadata } of registry.stream(name, args)) {
      chunks.push([chunkIndex, content, metadata.isFinal])
      if (chunks.length >= most) break
    }
    return chunks
  }

  test('chunks, then the result', async () => {
    expect(await takeChunks('count', { to: 2 })).toEqual([
      [0, 1, false],
      [1, 2, false],
      [2, 'counted', true],
    ])
    expect(await takeChunks('plain')).toEqual([[0, 'all at once', true]])
    const stream = registry.stream('count', { to: 1 })
    for await (const _ of stream);
    expect(await stream.result).toBe('counted')
    expect(await registry.stream('count', { to: 3 }).result).toBe('counted')
    const both = registry.stream('count', { to: 2 })
    const last = Promise.resolve(both.result)
    const seen: unknown[] = []
    for await (const { content } of both) seen.push(content)
    expect([seen.length, await last]).toEqual([3, 'counted'])
    expect(await registry.call('count', { to: 3 })).toBe('counted')
  })

  test('leaving early ends the tool', async () => {
    closed.length = 0
    expect(await takeChunks('count', { to: 1_000_000 }, 2)).toHaveLength(2)
    expect(closed).toEqual(['count'])
  })

  test('a failure comes after the chunks before it', async () => {
    const chunks: unknown[] = []
    const stream = registry.stream('breaks')
    const takeAll = async (): Promise<void> => {
      for await (const chunk of stream) chunks.push(chunk.content)
    }
    expect(await catchCode(takeAll())).toBe('server_error')
    expect([chunks, await catchCode(stream.result)]).toEqual([[1], 'server_error'])
  })

  test('a script gets the result, its host the chunks', async () => {
    const events: unknown[] = []
    const runtime = createRuntime({ tools: registry })
    const source = 'import { count } from "host/tools"\nreturn count({to: 2})'
    const journal = new MemoryJournal()
    const module = runtime.compile(source)
    const run = runtime.start(module, { journal, onEvent: (event) => event.type === 'progress' && events.push(event.data) })
    expect(await run.result).toMatchObject({ status: 'done', value: 'counted' })
    expect(events).toEqual([
      { chunk: 1, index: 0 },
      { chunk: 2, index: 1 },
    ])
    expect(runtime.replay(module, journal.entries)).toMatchObject({ kind: 'ended' })
  })
})

describe('standard responses', () => {
  const convert = defineTool({
    name: 'file.convert',
    response: 'standard',
    input: z.object({ operation: z.enum(['up', 'fail', 'list', 'time']) }),
    output: z.union([z.string(), z.array(z.number())]),
    execute: ({ operation }) => {
      if (operation === 'fail') throw new ToolError('not_found', 'no such file', { details: { path: 'x' } })
      if (operation === 'time') throw new ToolError('timeout', 'too slow')
      return operation === 'list' ? respond.list(operation, [1, 2]) : 'UP'
    },
  })
  const registry = createRegistry([convert])

  test('what is returned and what is thrown', async () => {
    expect(await registry.call('file.convert', { operation: 'up' })).toEqual({ operation: 'up', success: true, result: 'UP' })
    expect(await registry.call('file.convert', { operation: 'list' })).toEqual({
      operation: 'list',
      success: true,
      message: 'Found 2 items',
      result: [1, 2],
      metadata: { count: 2 },
    })
    expect(await registry.call('file.convert', { operation: 'fail' })).toEqual({
      operation: 'fail',
      success: false,
      error: { message: 'no such file', code: 'not_found', details: { path: 'x' } },
    })
    expect(await catchCode(registry.call('file.convert', { operation: 'time' }))).toBe('timeout')
    expect(await catchCode(registry.call('file.convert', { operation: 'other' }))).toBe('invalid_args')
    expect(registry.toJsonSchema()[0]!.outputSchema).toMatchObject({ required: ['operation', 'success'] })
  })

  test('a script reads them as records', async () => {
    const runtime = createRuntime({ tools: registry })
    const source =
      'import { convert } from "host/file"\nlet r = convert({operation: "fail"})\nreturn [r.success, r.error?.code, convert({operation: "list"}).result]'
    expect(await runtime.run(source)).toEqual([false, 'not_found', [1, 2]])
  })

  test('unwrapping', () => {
    expect(unwrapStandard(respond.ok('x', 1, { durationMs: 2 }))).toBe(1)
    expect(() => unwrapStandard(respond.fail('x', { message: 'no', code: 'not_found' }))).toThrow('no')
    expect(respond.validation(['a'])).toEqual({ valid: false, errors: ['a'] })
  })
})
