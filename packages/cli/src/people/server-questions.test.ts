// Requests of MCP servers to a command, with a server that sends them: people fill in forms, a model answers, folders are listed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRuntime } from '@bridle/stdlib-tools'
import { mcpProvider } from '@bridle/stdlib-tools/mcp'
import { afterAll, describe, expect, test } from 'vitest'
import { makeAuthority } from '../authority.js'
import { makeCommandProviders } from '../host-parts.js'
import type { PeopleFlags } from './answers.js'
import { People } from './provider.js'
import { makeServerHandlers } from './server-questions.js'
import type { ServerQuestions } from './server-questions.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-questions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Sends its client the request of the arguments `method` and `params`, and returns the client's answer and capabilities. */
const SERVER = `
const send = (m) => console.log(JSON.stringify({ jsonrpc: '2.0', ...m }));
let capabilities, waiting;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === 'initialize') { capabilities = params.capabilities; send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' } } }); }
  else if (method === 'tools/call') { waiting = id; send({ id: 'q1', method: params.arguments.method, params: params.arguments.params }); }
  else if (id === 'q1') send({ id: waiting, result: { content: [{ type: 'text', text: JSON.stringify({ capabilities: Object.keys(capabilities), result, error: error?.message }) }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});`

interface Answer {
  readonly capabilities: readonly string[]
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: string
}

async function ask(method: string, params: object, questions: Partial<ServerQuestions>): Promise<Answer> {
  const whole = { roots: [], people: null, sample: null, ...questions }
  const servers = { shop: { command: process.execPath, args: ['-e', SERVER], protocolVersion: '2025-11-25' } }
  const runtime = createRuntime({
    providers: [mcpProvider({ servers, handlers: (server) => makeServerHandlers(server, whole) })],
    grants: ['mcp'],
  })
  const source = `
import { runtime_pipeline_input } from "std/runtime"
return mcp_call(mcp_ensure_active("shop"), "ask", runtime_pipeline_input())`
  const result = await runtime.start(runtime.compile(source), { input: { method, params } as never }).result
  if (result.status !== 'done') throw new Error(JSON.stringify(result))
  return JSON.parse(String(result.value)) as Answer
}

const FORM = {
  message: 'How is it sent?',
  requestedSchema: {
    type: 'object',
    properties: {
      box: { type: 'string', title: 'Size', enum: ['s', 'l'], enumNames: ['small', 'large'] },
      count: { type: 'integer', default: 2 },
      extras: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'card', title: 'A card' },
            { const: 'bow', title: 'A bow' },
          ],
        },
      },
      gift: { type: 'boolean' },
    },
    required: ['box'],
  },
}

function makePeople(
  typed: readonly string[] | null,
  flags: PeopleFlags = {},
): { readonly people: People; readonly screen: () => string } {
  const lines = typed === null ? null : [...typed]
  let screen = ''
  const readLine = lines === null ? null : async () => lines.shift() ?? null
  return { people: new People({ ...flags, readLine, show: (text) => (screen += text) }), screen: () => screen }
}

function writeAnswers(rows: unknown): string {
  const path = join(folder, 'answers.json')
  writeFileSync(path, JSON.stringify(rows))
  return path
}

describe('forms', () => {
  test.each<[string, readonly string[], object]>([
    [
      'every field',
      ['huge', 'large', '3', 'card, 2', 'yes'],
      { action: 'accept', content: { box: 'l', count: 3, gift: true, extras: ['card', 'bow'] } },
    ],
    ['what is left empty', ['1', '', '', ''], { action: 'accept', content: { box: 's', count: 2 } }],
    ['a required field left empty', [''], { action: 'decline' }],
    ['the end of input', ['s'], { action: 'cancel' }],
  ])('%s', async (_name, typed, expected) => {
    const { people, screen } = makePeople(typed)
    const { capabilities, result } = await ask('elicitation/create', FORM, { people })
    expect(capabilities).toContain('elicitation')
    expect(result).toEqual(expected)
    expect(screen()).toContain('An MCP server asks: shop: How is it sent?\n  Size (one of 1 small, 2 large; empty: decline)\n')
  })

  test.each<[string, unknown, object]>([
    ['as a whole', { box: 's', count: 1 }, { action: 'accept', content: { box: 's', count: 1 } }],
    ['of another type', { box: 'none' }, { action: 'decline' }],
  ])('answers given with the command, %s', async (_name, answer, expected) => {
    const { people } = makePeople(null, { answers: writeAnswers([{ match: 'shop: How*', answer }]) })
    expect((await ask('elicitation/create', FORM, { people })).result).toEqual(expected)
  })

  test('a form without fields, and a URL to open, are accepted or declined', async () => {
    const empty = { message: 'Go on?', requestedSchema: { type: 'object', properties: {} } }
    expect((await ask('elicitation/create', empty, makePeople(['y']))).result).toEqual({ action: 'accept', content: {} })
    expect((await ask('elicitation/create', empty, makePeople(['n']))).result).toEqual({ action: 'decline' })
    expect((await ask('elicitation/create', empty, makePeople(null, { denyAll: true }))).result).toEqual({ action: 'decline' })
    const { people, screen } = makePeople(['yes'])
    const address = { mode: 'url', message: 'Log in', url: 'https://shop.test/login', elicitationId: 'e1' }
    expect((await ask('elicitation/create', address, { people })).result).toEqual({ action: 'accept' })
    expect(screen()).toContain('https://shop.test/login')
  })

  test('without a person, forms are not offered', async () => {
    expect(makePeople(null).people.isThere).toBe(false)
    const { capabilities, error } = await ask('elicitation/create', FORM, {})
    expect(capabilities).toEqual(['roots'])
    expect(error).toContain('Unsupported MCP method: elicitation/create')
  })
})

test('folders of the run', async () => {
  const { result } = await ask('roots/list', {}, { roots: [folder] })
  expect(result).toEqual({ roots: [{ uri: pathToFileURL(folder).href, name: folder.split('/').at(-1) }] })
})

test('a server that must not ask for folders does not see the capability', async () => {
  expect(await ask('roots/list', {}, { roots: null })).toMatchObject({
    capabilities: [],
    error: expect.stringContaining('roots/list') as string,
  })
})

describe('models', () => {
  const REQUEST = {
    systemPrompt: 'Be brief.',
    messages: [{ role: 'user', content: { type: 'text', text: 'A name for tea?' } }],
    maxTokens: 20,
    temperature: 0.5,
    stopSequences: ['END'],
  }

  /** As the command creates them. */
  async function askCommand(flags: Parameters<typeof makeAuthority>[0], fixtures?: string): Promise<Answer> {
    const manifest = { shop: { command: process.execPath, args: ['-e', SERVER], protocolVersion: '2025-11-25' } }
    const authority = makeAuthority(flags)
    const providers = makeCommandProviders({
      ...{ authority, args: [], findSkill: null, servers: manifest, terminal: false, people: null, memory: null },
      models: fixtures === undefined ? {} : { modelFixtures: fixtures, standIns: 'mocks' },
    })
    const runtime = createRuntime({ providers, ...authority.runtime })
    const asked = JSON.stringify(JSON.stringify({ method: 'sampling/createMessage', params: REQUEST }))
    const source = `return mcp_call(mcp_ensure_active("shop"), "ask", json_parse(${asked}))`
    const result = await runtime.start(runtime.compile(source)).result
    if (result.status !== 'done') throw new Error(JSON.stringify(result))
    return JSON.parse(String(result.value)) as Answer
  }

  test('the model of the run answers', async () => {
    const { capabilities, result } = await askCommand({}, '{"text": "Morning Mist", "model": "m"}\n')
    expect(capabilities).toContain('sampling')
    expect(result).toMatchObject({ role: 'assistant', content: { type: 'text', text: 'Morning Mist' }, stopReason: 'endTurn' })
  })

  test.each<[string, Parameters<typeof makeAuthority>[0]]>([
    ['without models', { grant: ['mcp'] }],
    ['with limited models', { grant: ['mcp', 'llm.chat:max_tokens=5'] }],
  ])('%s it is not offered', async (_name, flags) => {
    const { capabilities, error } = await askCommand(flags)
    expect(capabilities).not.toContain('sampling')
    expect(error).toContain('Unsupported MCP method: sampling/createMessage')
  })
})
