// `bridle serve acp` as its client sees it: sessions that outlive the process, and misbehaving clients.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

type Message = { readonly [key: string]: unknown }

let command: Awaited<ReturnType<typeof bundledCommand>>
let folder: string

beforeAll(async () => {
  command = await bundledCommand()
  folder = mkdtempSync(join(tmpdir(), 'bridle-acp-'))
  writeFileSync(
    join(folder, 'agent.harn'),
    `
if prompt == "fail" { throw "no" }
if prompt == "hang" { exec("sleep", "60") }
if prompt == "flood" { for i in range(20000) { println("line " + to_string(i) + " " + "x".repeat(200)) } }
if prompt == "wait" { host_call("never.comes") }
println("heard " + prompt)
`,
  )
}, 60_000)

afterAll(() => {
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true })
})

class Agent {
  readonly heard: Message[] = []
  readonly ended: Promise<number | null>
  readonly child
  private readonly waiting = new Map<number, (message: Message) => void>()
  private text = ''
  private made = 0

  constructor(args: readonly string[] = []) {
    this.child = spawn(process.execPath, [command.path, 'serve', 'acp', 'agent.harn', ...args], { cwd: folder })
    this.child.stdin.on('error', () => {})
    this.child.stdout.on('data', (chunk: Buffer) => this.take(chunk.toString()))
    this.ended = new Promise((resolve) => this.child.on('close', resolve))
  }

  private take(chunk: string): void {
    this.text += chunk
    const lines = this.text.split('\n')
    this.text = lines.pop()!
    for (const line of lines) {
      const message = JSON.parse(line) as Message
      this.heard.push(message)
      if (message['method'] === 'host/capabilities')
        this.send({ jsonrpc: '2.0', id: message['id'], result: { never: ['comes'] } })
      if (typeof message['id'] === 'number' && message['method'] === undefined) this.waiting.get(message['id'])?.(message)
    }
  }

  send(message: unknown): void {
    this.child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`)
  }

  /** The raw answer: `{id, result}` or `{id, error}`. */
  request(method: string, params: object): Promise<Message> {
    const id = ++this.made
    return new Promise((resolve) => {
      this.waiting.set(id, resolve)
      this.send({ jsonrpc: '2.0', id, method, params })
    })
  }

  async ask(method: string, params: object): Promise<{ readonly [key: string]: unknown }> {
    const { result } = await this.request(method, params)
    return result as { readonly [key: string]: unknown }
  }

  sendPrompt(sessionId: string, text: string): Promise<Message> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  listUpdates(sessionId: string): readonly string[] {
    return this.heard.flatMap((message) => {
      const params = message['params'] as {
        readonly sessionId?: string
        readonly update?: { sessionUpdate: string; content?: { text: string } }
      }
      if (message['method'] !== 'session/update' || params.sessionId !== sessionId) return []
      return [`${params.update!.sessionUpdate}: ${params.update!.content?.text ?? ''}`]
    })
  }

  async close(): Promise<number | null> {
    this.child.stdin.end()
    return this.ended
  }
}

async function openSession(args: readonly string[] = []): Promise<{ readonly agent: Agent; readonly id: string }> {
  const agent = new Agent(args)
  await agent.request('initialize', {})
  const { sessionId } = await agent.ask('session/new', { cwd: folder })
  return { agent, id: sessionId as string }
}

describe('sessions that outlive the process', () => {
  test('are loaded with their conversation, listed, forked and continued', { timeout: 60_000 }, async () => {
    const kept = join(folder, 'sessions')
    const first = await openSession(['--sessions', kept])
    expect(await first.agent.sendPrompt(first.id, 'one')).toMatchObject({ result: { stopReason: 'completed' } })
    expect(await first.agent.sendPrompt(first.id, 'fail')).toMatchObject({ error: { code: -32000 } })
    const fork = await first.agent.ask('session/fork', { sessionId: first.id, keep_first: 1, branch_name: 'short' })
    expect(await first.agent.close()).toBe(0)
    if (process.platform !== 'win32') {
      expect(statSync(kept).mode & 0o777).toBe(0o700)
      for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600)
    }

    const second = new Agent(['--sessions', kept])
    await second.request('initialize', {})
    const listed = (await second.ask('session/list', {})) as { readonly sessions: readonly Message[] }
    expect(listed.sessions).toHaveLength(2)
    expect(listed.sessions).toContainEqual({ sessionId: first.id, cwd: folder })
    expect(listed.sessions).toContainEqual({
      sessionId: fork['sessionId'],
      cwd: folder,
      title: 'short',
      _meta: { state: 'forked', parent_id: first.id, branched_at: 1, branch_name: 'short' },
    })
    expect(await second.sendPrompt(first.id, 'x')).toMatchObject({ error: { message: `Unknown session: ${first.id}` } })
    const loaded = await second.ask('session/load', { sessionId: first.id, cwd: folder })
    expect(loaded).toMatchObject({ sessionId: first.id, session: { cwd: folder } })
    const told = [
      'user_message_chunk: one',
      'agent_message_chunk: heard one\n',
      'user_message_chunk: fail',
      'agent_message_chunk: Error: Thrown: no\n',
    ]
    expect(second.listUpdates(first.id)).toEqual(told)
    expect(await second.sendPrompt(first.id, 'two')).toMatchObject({ result: { stopReason: 'completed' } })
    await second.request('session/load', { sessionId: fork['sessionId'] })
    expect(second.listUpdates(fork['sessionId'] as string)).toEqual(told.slice(0, 2))
    // A process that is killed in the middle of a turn has recorded its start.
    void second.sendPrompt(first.id, 'hang')
    await expect.poll(() => readFileSync(join(kept, `${first.id}.json`), 'utf8')).toContain('"prompt":"hang"')
    second.child.kill('SIGKILL')
    await second.ended

    const third = new Agent(['--sessions', kept])
    await third.request('session/load', { sessionId: first.id })
    expect(third.listUpdates(first.id)).toEqual([
      ...told,
      'user_message_chunk: two',
      'agent_message_chunk: heard two\n',
      'user_message_chunk: hang',
    ])
    await third.close()
  })

  test('no id leads out of the folder, and other files are not sessions', { timeout: 60_000 }, async () => {
    const kept = join(folder, 'odd')
    writeFileSync(
      join(folder, 'secret.json'),
      '{"id": "../secret", "cwd": "/", "parent": null, "branchedAt": null, "title": null, "turns": []}',
    )
    const { agent, id } = await openSession(['--sessions', kept])
    await agent.request('session/fork', { sessionId: id, id: '../../out' })
    writeFileSync(join(kept, 'broken.json'), '{"id": "broken"')
    for (const wanted of ['../secret', 'broken', '', 'x'.repeat(10_000), '\u0000'])
      expect(await agent.request('session/load', { sessionId: wanted })).toMatchObject({ error: { code: -32004 } })
    expect(existsSync(join(folder, '..', 'out.json'))).toBe(false)
    expect(readdirSync(kept).every((name) => /^[\w-]+\.json$/.test(name))).toBe(true)
    await agent.close()
  })

  test('do not exist without a folder', { timeout: 60_000 }, async () => {
    const { agent, id } = await openSession()
    await agent.sendPrompt(id, 'one')
    expect(await agent.ask('session/load', { sessionId: id })).toMatchObject({ replayed: [] })
    await agent.close()
    const other = await openSession()
    expect(await other.agent.request('session/load', { sessionId: id })).toMatchObject({ error: { code: -32004 } })
    await other.agent.close()
  })
})

describe('misbehaving clients', () => {
  test('nonsense is answered or skipped, and the agent continues', { timeout: 60_000 }, async () => {
    const { agent, id } = await openSession()
    agent.send('no JSON at all\n[1, 2]\n"text"\n{"jsonrpc": "2.0", "id": 900, "result": "for nobody"}\n{}\n\n')
    agent.send({ jsonrpc: '2.0', id: 'text', method: 'session/prompt', params: [1, 2] })
    agent.send({ jsonrpc: '2.0', id: { odd: true }, method: 'session/list', params: {} })
    expect(await agent.request('nonsense', {})).toMatchObject({ error: { code: -32601, message: 'Method not found: nonsense' } })
    expect(await agent.request('session/prompt', { sessionId: 7, prompt: 9 })).toMatchObject({ error: { code: -32602 } })
    expect(await agent.request('session/fork', { sessionId: id, id })).toMatchObject({
      error: { message: `Session already exists: ${id}` },
    })
    expect(await agent.sendPrompt(id, 'still there')).toMatchObject({ result: { stopReason: 'completed' } })
    const message = 'the parameters of session/prompt are given by name'
    expect(agent.heard.find((heard) => heard['id'] === 'text')).toMatchObject({ error: { code: -32602, message } })
    expect(await agent.close()).toBe(0)
  })

  test('two prompts at once in one session: the second is refused', { timeout: 60_000 }, async () => {
    const { agent, id } = await openSession()
    const both = [agent.sendPrompt(id, 'one'), agent.sendPrompt(id, 'two')]
    expect((await Promise.all(both)).map(({ result, error }) => result ?? error)).toMatchObject([
      { stopReason: 'completed' },
      { code: -32602, message: `Session is busy: ${id}` },
    ])
    await agent.close()
  })

  test(
    'a client that closes its end, or dies, in the middle of a prompt leaves nothing behind',
    { timeout: 60_000 },
    async () => {
      for (const end of ['stdin', 'stdout', 'cancelled', 'interrupted'] as const) {
        const { agent, id } = await openSession()
        const answer = agent.sendPrompt(id, 'hang')
        const countCapabilityRequests = (): number =>
          agent.heard.filter((message) => message['method'] === 'host/capabilities').length
        await expect.poll(countCapabilityRequests).toBe(1)
        if (end === 'cancelled') {
          agent.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: id } })
          expect(await answer).toMatchObject({ result: { stopReason: 'cancelled' } })
        }
        if (end === 'stdout') agent.child.stdout.destroy()
        // Ctrl-C reaches the parent and its children alike.
        if (end === 'interrupted') agent.child.kill('SIGINT')
        else agent.child.stdin.end()
        expect(await agent.ended).toBe(0)
      }
    },
  )

  test('a client that reads slowly gets all output', { timeout: 60_000 }, async () => {
    const { agent, id } = await openSession()
    const answer = agent.sendPrompt(id, 'flood')
    agent.child.stdout.pause()
    await new Promise((resolve) => setImmediate(resolve))
    agent.child.stdout.resume()
    expect(await answer).toMatchObject({ result: { stopReason: 'completed' } })
    const lines = agent.listUpdates(id).join('')
    expect(lines.match(/line \d+ x/g)).toHaveLength(20_000)
    await agent.close()
  })

  test('a client that does not answer blocks the prompt only until it is cancelled', { timeout: 60_000 }, async () => {
    const { agent, id } = await openSession()
    const answer = agent.sendPrompt(id, 'wait')
    await expect.poll(() => agent.heard.some((message) => message['method'] === 'host/call')).toBe(true)
    const asked = agent.heard.find((message) => message['method'] === 'host/call')!
    agent.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: id } })
    expect(await answer).toMatchObject({ result: { stopReason: 'cancelled' } })
    // Too late, twice, and for somebody else.
    for (const late of [asked['id'], asked['id'], 12345]) agent.send({ jsonrpc: '2.0', id: late, result: 'late' })
    expect(await agent.sendPrompt(id, 'next')).toMatchObject({ result: { stopReason: 'completed' } })
    await agent.close()
  })
})
