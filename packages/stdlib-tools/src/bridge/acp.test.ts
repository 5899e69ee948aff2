// Scripts as agents that a client drives: sessions, prompts, notifications and requests to the client.

import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import type { Provider } from '../tools/executors/provider.js'
import { answered } from '../tools/executors/provider.js'
import { AcpServer, ACP_GLOBALS } from './acp.js'
import type { AcpOptions } from './acp.js'
import { JsonRpcPeer, RequestError } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'

const catchFailure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (cause: unknown) => String(cause),
  )

/** An answer that does not come. */
const NEVER = 'never'

/** Runs programs in this process; says what it was asked. */
const local: Provider = {
  kinds: ['process.exec'],
  perform: ({ args }) => answered({ stdout: `here: ${JSON.stringify(args['stdin'])}`, stderr: '', status: 0, timedOut: false }),
}

describe('an agent', () => {
  const startClient = async (
    source: string,
    answer: (message: Params, say: (text: string) => void) => void,
    options: Pick<AcpOptions, 'deltas'> = {},
  ) => {
    const [input, toClient] = [new PassThrough(), new PassThrough()]
    const runtime = createRuntime({ globals: ACP_GLOBALS, grants: ['approval', 'process'] })
    const module = runtime.compile(source)
    let made = 0
    const server = new AcpServer(
      { ...options, runtime, module: () => module, newId: () => `s${++made}`, start: () => ({ runId: 'r', providers: [local] }) },
      new StreamTransport(input, toClient),
    )
    await server.start()
    const peerSide = new JsonRpcPeer(new StreamTransport(toClient, input), {
      onRequest: (method, params) => {
        const given: { answer?: unknown } = {}
        answer({ method, params }, (text) => {
          given.answer = JSON.parse(text)
        })
        if (given.answer === NEVER) return new Promise(() => {})
        if (given.answer === undefined) throw new RequestError(-32601, 'Method not found')
        return given.answer
      },
      onNotification: (method, params) => answer({ method, params }, () => {}),
    })
    await peerSide.start()
    return { peer: peerSide, server }
  }

  test.each<[NonNullable<AcpOptions['deltas']> | undefined, string]>([
    [undefined, 'thought Hm|message Two words;'],
    ['none', 'message Two words;'],
    ['all', 'thought Hm|message Two wordsTwo words;'],
  ])('answers of models that come in pieces: %s', async (deltas, expected) => {
    const said: [string, string][] = []
    const source = `llm_mock({text: "Two words", thinking: "Hm"})
let r = agent_loop(prompt, nil, {provider: "mock", stream: true, done_sentinel: "words"})
print(r.visible_text + ";")`
    const { peer } = await startClient(
      source,
      ({ method, params }) => {
        const { sessionUpdate, content } = ((params as Params)['update'] ?? {}) as {
          readonly sessionUpdate?: string
          readonly content?: { readonly text: string }
        }
        if (method !== 'session/update' || content === undefined) return
        const kind = String(sessionUpdate).replace(/^agent_(.*)_chunk$/, '$1')
        const last = said.at(-1)
        if (last?.[0] === kind) last[1] += content.text
        else said.push([kind, content.text])
      },
      deltas === undefined ? {} : { deltas },
    )
    await peer.request('session/new', { cwd: '/work' })
    await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })
    expect(said.map((each) => each.join(' ')).join('|')).toBe(expected)
  })

  test('sessions, prompts, output, failures', async () => {
    const said: string[] = []
    const source = `
if prompt == "fail" { throw "no" }
println("you said " + prompt + " in " + cwd + " " + to_string(keys(mcp)))
println(host_call("box.open"))
`
    const { peer, server } = await startClient(source, ({ method, params }, say) => {
      const update = (params as Params)['update'] as { readonly content?: { readonly text: string } } | undefined
      if (method === 'session/update' && update?.content !== undefined) said.push(update.content.text)
      if (method === 'host/capabilities') say('{"box":["open"]}')
      if (method === 'host/call') say('"opened"')
    })
    expect(await peer.request('initialize', {})).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'bridle' } })
    expect(await peer.request('session/new', { cwd: '/work' })).toMatchObject({ sessionId: 's1', modes: [{ id: 'default' }] })
    const sendPrompt = (text: string) => peer.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text }] })
    expect(await sendPrompt('hi')).toEqual({ stopReason: 'completed' })
    expect(said.join('')).toBe('you said hi in /work []\nopened\n')
    expect(await catchFailure(sendPrompt('fail'))).toBe('BridgeError: Thrown: no')
    expect(said.at(-1)).toBe('Error: Thrown: no\n')
    expect(await peer.request('session/fork', { sessionId: 's1' })).toEqual({
      sessionId: 's2',
      state: 'forked',
      parent_id: 's1',
      branched_at: null,
    })
    expect(await peer.request('session/list', {})).toEqual({
      sessions: [
        { sessionId: 's1', cwd: '/work' },
        { sessionId: 's2', cwd: '/work', _meta: { state: 'forked', parent_id: 's1', branched_at: null } },
      ],
    })
    for (const [method, params, message] of [
      ['session/prompt', {}, 'Missing sessionId'],
      ['session/prompt', { sessionId: 'x' }, 'Unknown session: x'],
      ['session/load', {}, 'session/load requires sessionId'],
      ['session/load', { sessionId: 'x' }, 'Session not found: x'],
      ['nonsense', {}, 'Method not found: nonsense'],
    ] as const)
      expect(await catchFailure(peer.request(method, params))).toBe(`BridgeError: ${message}`)
    await server.close()
    await server.ended
  })

  test('words in the middle of a prompt are heard by the agent loop: soon, or when it would end', async () => {
    const said: string[] = []
    const source = `
let tools = tool_define(tool_registry(), "look", "", {handler: { args -> host_call("box.open") }})
llm_mock({text: "", tool_calls: [{name: "look", arguments: {}}]})
for answer in ["first ##DONE##", "second ##DONE##"] { llm_mock({text: answer}) }
let result = agent_loop("go", nil, {tools: tools, provider: "mock", session_id: "s", tool_format: "native", loop_until_done: true, max_iterations: 6})
println(result.status + " " + to_string(result.llm.iterations))
for message in result.transcript.messages { if message.role == "user" { println(message.content) } }
`
    const { peer, server } = await startClient(source, ({ method, params }, say) => {
      const update = (params as Params)['update'] as { readonly content?: { readonly text: string } } | undefined
      if (method === 'session/update' && update?.content !== undefined) said.push(update.content.text)
      if (method === 'host/capabilities') say('{"box":["open"]}')
      if (method !== 'host/call') return
      void peer.notify('session/input', { sessionId: 's1', content: 'thanks', mode: 'wait_for_completion' })
      void peer.notify('user_message', { content: [{ type: 'text', text: 'in metres' }], mode: 'finish_step' })
      void peer.notify('session/input', { sessionId: 'nobody', content: 'lost', mode: 'interrupt' })
      say('"opened"')
    })
    await peer.request('session/new', { cwd: '/' })
    expect(await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toEqual({ stopReason: 'completed' })
    expect(said.join('')).toBe('done 3\ngo\nin metres\nthanks\n')
    // Said between prompts: for the next one.
    expect(await peer.request('session/input', { sessionId: 's1', content: 'wait', mode: 'interrupt' })).toEqual({})
    expect(await catchFailure(peer.request('session/input', { sessionId: 'x', content: 'y' }))).toBe(
      'BridgeError: Unknown session: x',
    )
    said.length = 0
    await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })
    expect(said.join('')).toBe('done 3\ngo\nwait\nin metres\nthanks\n')
    await server.close()
  })

  test('a prompt that is cancelled', async () => {
    const { peer } = await startClient('println("started")\nhost_tool_call("never", {})', ({ method }) => {
      if (method === 'session/update') void peer.notify('session/cancel', { sessionId: 's1' })
    })
    await peer.request('session/new', { cwd: '/' })
    expect(await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toEqual({ stopReason: 'cancelled' })
    await peer.close()
  })

  test('a client that reads slowly is sent fewer and larger chunks, in order', async () => {
    const [input, toClient] = [new PassThrough(), new PassThrough({ highWaterMark: 64 })]
    const runtime = createRuntime({
      globals: ACP_GLOBALS,
      // The first stops the client's reading, the last lets it continue; those between only let the script stop.
      capabilities: {
        client: {
          busy: () => void toClient.pause(),
          tick: () => new Promise((resolve) => setImmediate(resolve, null)),
          back: () => void toClient.resume(),
        },
      },
    })
    const source = `
host_call("client.busy")
for i in range(300) {
  println("line \${i}")
  host_call("client.tick")
}
log_info("last")
println("end")
host_call("client.back")`
    const module = runtime.compile(source)
    const server = new AcpServer({ runtime, module: () => module }, new StreamTransport(input, toClient))
    await server.start()
    const ask = (id: number, method: string, params: object): void =>
      void input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const messages: Params[] = []
    const lines = createInterface({ input: toClient })
    const ended = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        const message = JSON.parse(line) as Params
        messages.push(message)
        if (message['id'] === 1 && message['method'] === undefined)
          ask(2, 'session/prompt', { sessionId: (message['result'] as Params)['sessionId'], prompt: 'x' })
        if (message['method'] === 'host/capabilities')
          input.write(`${JSON.stringify({ jsonrpc: '2.0', id: message['id'], result: {} })}\n`)
        if (message['id'] === 2) resolve()
      })
    })
    ask(1, 'session/new', { cwd: '/' })
    await ended
    const updates = messages.flatMap(({ method, params }) =>
      method === 'session/update' ? [(params as Params)['update'] as Params] : [],
    )
    const chunks = updates.flatMap(({ content }) => (content === undefined ? [] : [(content as { readonly text: string }).text]))
    expect(chunks.join('')).toBe(`${Array.from({ length: 300 }, (_, i) => `line ${i}\n`).join('')}end\n`)
    expect(chunks.length).toBeLessThan(60)
    expect(updates.map(({ sessionUpdate }) => sessionUpdate).slice(-2)).toEqual(['log', 'agent_message_chunk'])
    await server.close()
  })

  test.each<[string, unknown, string]>([
    ['allow-once', { outcome: { outcome: 'selected', optionId: 'allow-once' } }, 'ran\n'],
    ['reject-once', { outcome: { outcome: 'selected', optionId: 'reject-once' } }, 'approval_denied\n'],
    [
      'reject_always of a client of its own',
      { outcome: { outcome: 'selected', optionId: 'reject_always' } },
      'approval_denied\n',
    ],
    ['an option that was not offered', { outcome: { outcome: 'selected', optionId: 'option-7' } }, 'approval_denied\n'],
    ['cancelled', { outcome: { outcome: 'cancelled' } }, 'approval_denied\n'],
    ['no object', 'selected', 'approval_denied\n'],
  ])('a tool call that needs permission: %s', async (_name, answer, expected) => {
    const said: string[] = []
    let options: unknown = null
    const source = `
import { with_policies } from "std/policy"
import { tool_try, tool_call } from "std/tools"
tool_bind(tool_define(tool_registry(), "drop", "", {parameters: {}, handler: { a -> "ran" }}))
println(try { with_policies({approval_policy: {require_approval: ["*"]}}, { -> tool_call("drop", {}) }) } catch (e) { e.code })`
    const { peer } = await startClient(source, ({ method, params }, say) => {
      const update = (params as Params)['update'] as { readonly content?: { readonly text: string } } | undefined
      if (method === 'session/update' && update?.content !== undefined) said.push(update.content.text)
      if (method !== 'session/request_permission') return
      options = (params as Params)['options']
      say(JSON.stringify(answer))
    })
    await peer.request('session/new', { cwd: '/' })
    expect(await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toEqual({ stopReason: 'completed' })
    expect(said.join('')).toBe(expected)
    expect(options).toMatchObject([
      { optionId: 'allow-once', kind: 'allow_once' },
      { optionId: 'reject-once', kind: 'reject_once' },
    ])
    await peer.close()
  })

  test('people are asked through the client', async () => {
    const { peer } = await startClient('println(ask_user("your name?"))', ({ method, params }) => {
      if (method !== 'harn.hitl.requested') return
      void peer.request('harn.hitl.respond', { request_id: (params as Params)['request_id'], answer: 'Ada' })
    })
    await peer.request('session/new', { cwd: '/' })
    expect(await peer.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toEqual({ stopReason: 'completed' })
    await peer.close()
  })

  /** Answers by method; its own client for each test. */
  async function driveClient(
    source: string,
    answers: { readonly [method: string]: (params: Params) => unknown },
    capabilities: Params = {},
  ) {
    const asked: [string, Params][] = []
    const { peer, server } = await startClient(source, ({ method, params }, say) => {
      const name = String(method)
      if (name !== 'session/update') asked.push([name, params as Params])
      else updates.push((params as Params)['update'] as Params)
      const answer = answers[name]?.(params as Params)
      if (answer !== undefined) say(JSON.stringify(answer))
    })
    const updates: Params[] = []
    await peer.request('initialize', { clientCapabilities: capabilities })
    await peer.request('session/new', { cwd: '/work' })
    const sendPrompt = () => peer.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'go' }] })
    return { peer, server, prompt: sendPrompt, asked, updates }
  }

  test('progress and log lines are updates of their own; chunks carry what is visible', async () => {
    const { prompt, updates, server } = await driveClient(
      'println("a ")\nsleep(1ms)\nprogress("load", "half", 1, 2)\nlog_warn("careful", {n: 1})\nprintln("b")',
      {},
    )
    await prompt()
    const makeChunk = (words: string, visible: string, delta: string) => ({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: words, visible_text: visible, visible_delta: delta },
    })
    expect(updates).toEqual([
      makeChunk('a \n', 'a', 'a'),
      { sessionUpdate: 'progress', phase: 'load', message: 'half', progress: 1, total: 2 },
      { sessionUpdate: 'log', level: 'warn', message: 'careful', fields: { n: 1 } },
      makeChunk('b\n', 'a \nb', ' \nb'),
    ])
    await server.close()
  })

  test('operations are asked for by name; what the client does not know is looked for here', async () => {
    const { prompt, updates, server } = await driveClient(
      `
println(host_call("lamp.on", {n: 1}))
println(try { host_call("lamp.break") } catch (e) { to_string(e) })
println(try { host_call("lamp.unknown") } catch (e) { to_string(e) })`,
      {
        'host/capabilities': () => ({ lamp: ['break'] }),
        'host/call': ({ name, args }) => {
          if (name === 'lamp.on') return { on: args }
          throw name === 'lamp.break' ? new RequestError(4, 'broken') : new RequestError(-32601, 'Method not found')
        },
      },
    )
    await prompt()
    expect((updates.at(-1)!['content'] as Params)['visible_text']).toBe(
      '{on: {n: 1}}\nRuntime error: Client error: broken\nhost_call: unsupported operation lamp.unknown',
    )
    await server.close()
  })

  test('forks are told, questions of nobody are refused', async () => {
    const { peer, server, updates } = await driveClient('', {})
    await peer.request('session/fork', { sessionId: 's1', id: 'mine', branch_name: 'try', keep_first: 2 })
    expect(updates).toEqual([
      {
        sessionUpdate: 'session_info_update',
        title: 'try',
        _meta: { state: 'forked', parent_id: 's1', branched_at: 2, branch_name: 'try' },
      },
    ])
    expect(await catchFailure(peer.request('session/fork', { sessionId: 's1', id: 'mine' }))).toBe(
      'BridgeError: Session already exists: mine',
    )
    expect(await catchFailure(peer.request('harn.hitl.respond', { request_id: 'x' }))).toBe(
      "BridgeError: unknown HITL request id 'x'",
    )
    expect(await peer.request('session/load', { sessionId: 'mine' })).toMatchObject({
      session: { sessionId: 'mine', cwd: '/work' },
      replayed: [],
    })
    await server.close()
  })

  describe('programs', () => {
    const terminal = {
      'terminal/create': () => ({ terminalId: 't1' }),
      'terminal/wait_for_exit': () => ({ exitCode: 3 }),
      'terminal/output': () => ({ output: 'there\n', truncated: false }),
      'terminal/kill': () => ({}),
      'terminal/release': () => ({}),
    }
    const readShown = ({ updates }: { readonly updates: readonly Params[] }): unknown =>
      (updates.at(-1)!['content'] as Params)['visible_text']

    test('run in the terminal of a client that has one', async () => {
      const run = await driveClient('let r = exec("ls", "-l")\nprintln([r.status, r.stdout])\nshell("a | b")', terminal, {
        terminal: true,
      })
      await run.prompt()
      expect(readShown(run)).toBe('[3, there\n]')
      const created = { sessionId: 's1', env: [], cwd: '/work', outputByteLimit: 8 << 20 }
      const here = { sessionId: 's1', terminalId: 't1' }
      const rest = [
        ['terminal/wait_for_exit', here],
        ['terminal/output', here],
        ['terminal/release', here],
      ]
      expect(run.asked.filter(([method]) => method.startsWith('terminal/'))).toEqual([
        ['terminal/create', { ...created, command: 'ls', args: ['-l'] }],
        ...rest,
        ['terminal/create', { ...created, command: '/bin/sh', args: ['-c', 'a | b'] }],
        ...rest,
      ])
      await run.server.close()
    })

    test('run here when there is none, and when they read what a terminal cannot give them', async () => {
      const without = await driveClient('println(exec("ls").stdout)', terminal)
      await without.prompt()
      expect([readShown(without), without.asked.some(([method]) => method.startsWith('terminal/'))]).toEqual([
        'here: null',
        false,
      ])
      await without.server.close()
    })

    test('are ended when their time is over, and failures of the client can be caught', async () => {
      const slow = { ...terminal, 'terminal/wait_for_exit': () => NEVER }
      const late = await driveClient(
        'let r = host_call("process.exec", {mode: "argv", argv: ["ls"], timeout_ms: 20, env_mode: "merge"})\nprintln([r.timed_out, r.stdout])',
        { ...slow, 'host/capabilities': () => ({}) },
        { terminal: true },
      )
      await late.prompt()
      expect(readShown(late)).toBe('[true, there\n]')
      expect(late.asked.map(([method]) => method)).toContain('terminal/kill')
      await late.server.close()
      const refusing = {
        ...terminal,
        'terminal/create': () => {
          throw new RequestError(-32000, 'no more terminals')
        },
      }
      const refused = await driveClient('println(try { exec("ls") } catch (e) { to_string(e) })', refusing, { terminal: true })
      await refused.prompt()
      expect(readShown(refused)).toBe('Runtime error: Client error: no more terminals')
      await refused.server.close()
    })
  })
})
