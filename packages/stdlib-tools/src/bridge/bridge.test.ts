// Runs whose host is on the other side of a connection, with hosts that behave and hosts that do not.

import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import type { RuntimeOptions } from '../host/runtime-options.js'
import { defineTool } from '../tools/host-tools/define.js'
import { readCapabilities, remoteHost } from '../tools/executors/remote-host.js'
import { JsonRpcPeer, RequestError } from '../tools/executors/jsonrpc.js'
import type { Params, PeerOptions } from '../tools/executors/jsonrpc.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'

interface Wire {
  readonly peer: JsonRpcPeer
  /** What the peer sent, message by message. */
  readonly sent: Params[]
  /** Sends text to the peer as it is. */
  readonly say: (text: string) => void
  readonly hangUp: () => void
}

/** A peer and the raw other end of its connection. */
async function makeWire(
  answer: (message: Params, say: (text: string) => void) => void,
  options: PeerOptions & { readonly maxLineBytes?: number } = {},
): Promise<Wire> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const sent: Params[] = []
  const say = (text: string): void => void input.write(text)
  let rest = ''
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const message = JSON.parse(line) as Params
      sent.push(message)
      answer(message, say)
    }
  })
  const peer = new JsonRpcPeer(new StreamTransport(input, output, options), options)
  await peer.start()
  return { peer, sent, say, hangUp: () => input.end() }
}

const makeLine = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const catchFailure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (cause: unknown) => String(cause),
  )

describe('the connection', () => {
  test('ids from 1, answers by id in any order', async () => {
    const held: Params[] = []
    const { peer, sent } = await makeWire((message, say) => {
      held.push(message)
      if (held.length === 2) for (const { id, method } of held.reverse()) say(makeLine({ id, result: method }))
    })
    expect(await Promise.all([peer.request('a', { x: 1 }), peer.request('b', {})])).toEqual(['a', 'b'])
    expect(sent[0]).toEqual({ jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } })
  })

  test.each<[string, string]>([
    ['a late answer to nobody', makeLine({ id: 99, result: 'stray' })],
    ['text that is not JSON', 'hello\n{ broken\n'],
    ['JSON that is no message', '[1]\n"x"\nnull\n{}\n'],
    ['an id of another type', makeLine({ id: '1', result: 'stray' })],
    ['an answer in pieces', ''],
  ])('%s does no harm', async (_, noise) => {
    const { peer } = await makeWire(({ id }, say) => {
      say(noise)
      const text = makeLine({ id, result: 'right' })
      say(text.slice(0, 10))
      say(text.slice(10))
      say(makeLine({ id, result: 'a second answer' }))
    })
    expect([await peer.request('m', {}), await peer.request('m', {})]).toEqual(['right', 'right'])
  })

  test.each<[string, object, string]>([
    ['an error', { error: { code: -5, message: 'no' } }, 'no'],
    ['an error without anything', { error: {} }, 'Unknown error'],
    ['an error that is a text', { error: 'no' }, 'Unknown error'],
  ])('%s', async (_, answer, message) => {
    const { peer } = await makeWire(({ id }, say) => say(makeLine({ id, ...answer })))
    expect(await catchFailure(peer.request('m', {}))).toBe(`BridgeError: ${message}`)
  })

  test('an answer that is neither a result nor an error is nothing', async () => {
    const { peer } = await makeWire(({ id }, say) => say(makeLine({ id })))
    expect(await peer.request('m', {})).toBe(null)
  })

  test('silence, giving up, hanging up', async () => {
    const { peer, sent, hangUp } = await makeWire(() => {}, { timeoutMs: 5 })
    expect(await catchFailure(peer.request('slow', {}))).toBe("BridgeError: Bridge: host did not respond to 'slow' within 5ms")
    const abort = new AbortController()
    const given = catchFailure(peer.request('slow', {}, { signal: abort.signal, timeoutMs: 10_000 }))
    abort.abort()
    expect(await given).toBe('BridgeError: Bridge: operation cancelled')
    expect(sent.filter(({ method }) => method === '$/cancelRequest').map(({ params }) => params)).toEqual([{ id: 1 }, { id: 2 }])
    const last = catchFailure(peer.request('slow', {}, { timeoutMs: 10_000 }))
    hangUp()
    expect(await last).toBe('BridgeError: Bridge: host closed connection before responding')
    expect(await catchFailure(peer.request('after', {}))).toBe('BridgeError: Bridge: host closed connection before responding')
  })

  test('an answer that is too long ends the wait for it, and the connection continues', async () => {
    const { peer } = await makeWire(
      ({ id, method }, say) => say(makeLine({ id, result: method === 'huge' ? 'x'.repeat(5000) : 'small' })),
      { maxLineBytes: 1000 },
    )
    expect(await catchFailure(peer.request('huge', {}))).toBe('BridgeError: Bridge: a message longer than 1000 bytes was dropped')
    expect(await peer.request('m', {})).toBe('small')
  })

  test('requests of the other side', async () => {
    const answers: Params[] = []
    const { say } = await makeWire((message) => answers.push(message), {
      onRequest: async (method, params, signal) => {
        if (method === 'echo') return params
        if (method === 'coded') throw new RequestError(-7, 'coded', { more: 1 })
        if (method === 'wait') return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
        throw new Error('plain')
      },
    })
    say(
      makeLine({ id: 'a', method: 'echo', params: { x: 1 } }) +
        makeLine({ id: 'b', method: 'coded' }) +
        makeLine({ id: 'c', method: 'x' }),
    )
    say(makeLine({ id: 'd', method: 'wait' }) + makeLine({ method: '$/cancelRequest', params: { id: 'd' } }))
    while (answers.length < 4) await new Promise((resolve) => setImmediate(resolve))
    expect(answers.map(({ id, result, error }) => [id, result ?? error])).toEqual([
      ['a', { x: 1 }],
      ['b', { code: -7, message: 'coded', data: { more: 1 } }],
      ['c', { code: -32603, message: 'plain' }],
      ['d', 'stopped'],
    ])
  })
})

/** What a script prints whose host answers with `host`. */
async function runToOutput(
  source: string,
  host: Readonly<Record<string, (params: Params) => object>>,
  options: RuntimeOptions = {},
): Promise<string> {
  const { peer } = await makeWire(({ id, method, params }, say) => {
    const answer = host[String(method)]?.(params as Params) ?? { error: { code: -32601, message: 'Method not found' } }
    if (id !== undefined) say(makeLine({ id, ...answer }))
  })
  const capabilities = readCapabilities({
    box: ['open', 'fail'],
    files: { description: 'Files', operations: { read: { description: 'Reads' } } },
  })
  const runtime = createRuntime(options)
  const result = await runtime.start(runtime.compile(source), { bridge: remoteHost(peer, { capabilities }) }).result
  await peer.close()
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const wrapCaught = (call: string): string => `try { println(${call}) } catch (e) { println("caught: " + to_string(e)) }`

describe('a run and its remote host', () => {
  test('operations', async () => {
    const source = `
println(host_call("box.open", {a: 1}))
println([host_has("box"), host_has("box", "open"), host_has("box", "shut"), host_has("files", "read")])
println(host_capabilities().files)
${wrapCaught('host_call("box.fail")')}
${wrapCaught('host_call("box.shut")')}
host_mock("box", "open", "mocked")
println(host_call("box.open", {a: 1}))
`
    const host = {
      'host/call': (params: Params) =>
        params['name'] === 'box.open' ? { result: { opened: params['args'] } } : { error: { code: 4, message: 'stuck' } },
    }
    expect((await runToOutput(source, host)).split('\n')).toEqual([
      '{opened: {a: 1}}',
      '[true, true, false, true]',
      '{description: Files, operations: {read: {description: Reads}}, ops: [read]}',
      'caught: Runtime error: Host error (4): stuck',
      'caught: host_call: unsupported operation box.shut',
      'mocked',
      '',
    ])
  })

  test('tools', async () => {
    const own = defineTool({ name: 'own', description: 'Ours', execute: () => 'own tool' })
    const source = `
import { tool_call, tool_try } from "std/tools"
println(host_tool_list().map({ t -> t.name + ": " + t.description }))
println(host_tool_call("greet", {name: "Ada"}))
println(host_tool_call("own", {}))
println(tool_call("greet", {name: "Bob"}))
${wrapCaught('host_tool_call("forbidden", {})')}
println(unwrap_err(tool_try("forbidden", {})).code)
`
    const host = {
      'host/tools/list': () => ({ result: { tools: [{ name: 'greet', short_description: 'Greets' }] } }),
      builtin_call: ({ name, args }: Params) =>
        name === 'greet'
          ? { result: `hello ${(args as readonly { readonly name: string }[])[0]!.name}` }
          : { error: { code: -32001, message: 'not allowed' } },
    }
    expect((await runToOutput(source, host, { tools: [own] })).split('\n')).toEqual([
      '[own: Ours, greet: Greets]',
      'hello Ada',
      'own tool',
      'hello Bob',
      'caught: Error [tool_rejected]: not allowed',
      'policy_violation',
      '',
    ])
  })

  test.each<[string, object, string]>([
    ['a list', { result: [{ name: 'a' }] }, '[{deprecated: false, description: , name: a, schema: nil}]'],
    [
      'a wrapped list',
      { result: { result: { tools: [{ name: 'a' }] } } },
      '[{deprecated: false, description: , name: a, schema: nil}]',
    ],
    ['a dict', { result: {} }, 'caught: Runtime error: host/tools/list: host response must be an array or { tools: [...] }'],
    ['a text', { result: 'x' }, 'caught: Runtime error: host/tools/list: unexpected response shape'],
    ['texts', { result: ['x'] }, 'caught: Runtime error: host/tools/list: every tool must be an object'],
    ['no names', { result: [{}] }, 'caught: Runtime error: host/tools/list: every tool must include a string `name`'],
  ])('tools listed as %s', async (_, answer, expected) => {
    expect(await runToOutput(wrapCaught('host_tool_list()'), { 'host/tools/list': () => answer })).toBe(`${expected}\n`)
  })

  test.each<[string, object, string]>([
    ['five megabytes', { result: 'x'.repeat(5 << 20) }, String(5 << 20)],
    ['a list of a hundred thousand', { result: Array.from({ length: 100_000 }, (_, at) => at) }, '100000'],
    ['a depth of four hundred', { result: JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`) as object }, '1'],
    ['names of JavaScript', { result: JSON.parse('{"__proto__": 1, "constructor": 2}') as object }, '2'],
  ])('an answer of %s is data like any other', async (_, answer, length) => {
    expect(await runToOutput('println(len(host_tool_call("t", {})))', { builtin_call: () => answer })).toBe(`${length}\n`)
  })

  test('an answer deeper than anything that can be read ends its call', async () => {
    const { peer } = await makeWire(({ id, method }, say) => {
      if (method === 'builtin_call')
        say(`{"jsonrpc":"2.0","id":${String(id)},"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n`)
    })
    const runtime = createRuntime()
    const run = runtime.start(runtime.compile(wrapCaught('host_tool_call("t", {})')), { bridge: remoteHost(peer) })
    expect((await run.result).output).toMatch(/^caught: .*deep/)
  })

  test('a late answer is dropped, also when the call is repeated', async () => {
    const held: unknown[] = []
    const { peer } = await makeWire(
      ({ id, method }, say) => {
        if (method !== 'builtin_call') return
        held.push(id)
        if (held.length === 1) return
        say(makeLine({ id: held[0], result: 'late' }))
        say(makeLine({ id, result: 'in time' }))
        say(makeLine({ id, result: 'twice' }))
      },
      { timeoutMs: 20 },
    )
    const runtime = createRuntime()
    const source = `${wrapCaught('host_tool_call("t", {})')}\nprintln(host_tool_call("t", {}))\nprintln(host_tool_call("t", {}))`
    const { output: text } = await runtime.start(runtime.compile(source), { bridge: remoteHost(peer) }).result
    expect(text.split('\n')).toEqual([
      "caught: Runtime error: Bridge: host did not respond to 'builtin_call' within 20ms",
      'in time',
      'in time',
      '',
    ])
  })

  test('a host that dies in mid-call', async () => {
    const { peer, hangUp } = await makeWire(({ method }) => method === 'builtin_call' && hangUp())
    const runtime = createRuntime()
    const source = `${wrapCaught('host_tool_call("t", {})')}\n${wrapCaught('host_tool_call("t", {})')}`
    const run = runtime.start(runtime.compile(source), { bridge: remoteHost(peer) })
    expect((await run.result).output).toBe('caught: Runtime error: Bridge: host closed connection before responding\n'.repeat(2))
  })
})
