// `npm run bench:gateway`: tokens of twelve MCP servers in a model's context, directly and behind the gateway. No model is needed: tasks.ts contains
// the model's messages, the servers answer, and a tokenizer counts. Each request to a model contains the whole conversation, as model APIs
// require; caches of providers change the price of that, not the number.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { makeFixture } from './fixture.js'
import { SERVERS, installServers, listServers } from './servers.js'
import { TASKS } from './tasks.js'
import type { Task, Turn } from './tasks.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
interface Conversation {
  readonly task: string
  /** Requests to the model. */
  requests: number
  /** Tokens of all requests together, each with everything before it. */
  input: number
  output: number
  /** Tokens of the last request: the fill level of the context window. */
  context: number
}

/** Counts a conversation as it grows. */
class Counter {
  readonly totals: Conversation
  constructor(task: string, offered: number, prompt: string) {
    this.totals = { task, requests: 0, input: 0, output: 0, context: offered + countTokens(prompt) }
  }

  /** A request to the model, with this reply. */
  say(text: string): void {
    this.totals.requests++
    this.totals.input += this.totals.context
    const tokens = countTokens(text)
    this.totals.output += tokens
    this.totals.context += tokens
  }

  hear(text: string): void {
    this.totals.context += countTokens(text)
  }
}

async function connect(command: string, args: readonly string[], env: { readonly [name: string]: string }): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: { elicitation: { form: {} } } })
  // The gateway asks a person before files are moved; forms cost the model no tokens.
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { approved: true } }))
  await client.connect(new StdioClientTransport({ command, args: [...args], env, stderr: 'ignore' }), { timeout: 120_000 })
  return client
}

async function ask(client: Client, name: string, args: { readonly [name: string]: unknown }): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: args }, { timeout: 120_000 })
  const text = (content as readonly { readonly text?: string }[]).map((each) => each.text ?? '').join('\n')
  if (isError === true) throw new Error(`${name}: ${text}`)
  return text
}

/** The tool descriptions that a model receives. */
const render = (tools: readonly { name: string; description?: string | undefined; inputSchema: unknown }[]): string =>
  JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))

async function countSingle(name: string, task: Task, clients: ReadonlyMap<string, Client>, offered: number, folder: string) {
  const counter = new Counter(name, offered, task.prompt)
  const turn: Turn = async (...calls) => {
    counter.say(JSON.stringify(calls.map(({ tool, args }) => ({ name: tool, arguments: args }))))
    const texts: string[] = []
    for (const { server, tool, args } of calls) texts.push(await ask(clients.get(server)!, tool, args))
    for (const text of texts) counter.hear(text)
    return texts
  }
  const value = await task.single(turn, folder)
  counter.say(JSON.stringify(value))
  return { value, counted: counter.totals }
}

async function countScript(name: string, task: Task, gateway: Client, offered: number, folder: string) {
  const counter = new Counter(name, offered, task.prompt)
  const call = async (tool: string, args: { readonly [name: string]: unknown }): Promise<void> =>
    counter.hear(await ask(gateway, tool, args))
  const searches = task.search.map((query) => ({ query }))
  counter.say(JSON.stringify(searches.map((args) => ({ name: 'search_tools', arguments: args }))))
  for (const args of searches) await call('search_tools', args)
  if (task.describe.length > 0) {
    counter.say(JSON.stringify([{ name: 'describe_tools', arguments: { names: task.describe } }]))
    await call('describe_tools', { names: task.describe })
  }
  const script = task.script(folder)
  counter.say(JSON.stringify([{ name: 'run_script', arguments: { script } }]))
  const reply = await gateway.callTool({ name: 'run_script', arguments: { script } }, { timeout: 120_000 })
  counter.hear((reply.content as readonly { readonly text?: string }[]).map((each) => each.text ?? '').join('\n'))
  const { status, value, ...rest } = reply.structuredContent as { status: string; value?: unknown }
  if (status !== 'done') throw new Error(`${name}: ${JSON.stringify(rest)}`)
  counter.say(JSON.stringify(value))
  return { value, counted: counter.totals }
}

const round = (count: number): string => count.toLocaleString('en-US')

const installed = join(root, 'node_modules/.cache/bench-gateway')
mkdirSync(installed, { recursive: true })
installServers(installed)
const work = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-bench-gateway-')))
const folders = { single: join(work, 'single'), script: join(work, 'script') }
const open: Client[] = []
try {
  for (const folder of Object.values(folders)) {
    mkdirSync(folder)
    makeFixture(folder)
  }
  const clients = new Map<string, Client>()
  const lists: { readonly name: string; readonly tools: number; readonly tokens: number }[] = []
  for (const [name, { command, args, env }] of Object.entries(listServers(installed, folders.single))) {
    console.error(`gateway: connecting to ${name}`)
    const client = await connect(command, args, env)
    open.push(client)
    clients.set(name, client)
    const { tools } = await client.listTools()
    lists.push({ name, tools: tools.length, tokens: countTokens(render(tools)) })
  }
  const config = join(work, 'clients.json')
  writeFileSync(config, JSON.stringify({ mcpServers: listServers(installed, folders.script) }))
  const gateway = await connect(process.execPath, [join(root, 'packages/cli/dist/bridle.js'), 'gateway', config], {
    PATH: process.env['PATH'] ?? '',
  })
  open.push(gateway)
  const offered = {
    single: lists.reduce((sum, { tokens }) => sum + tokens, 0),
    script: countTokens(render((await gateway.listTools()).tools)),
  }
  const rows: { readonly single: Conversation; readonly script: Conversation }[] = []
  for (const [name, task] of Object.entries(TASKS)) {
    console.error(`gateway: ${name}`)
    const single = await countSingle(name, task, clients, offered.single, folders.single)
    const script = await countScript(name, task, gateway, offered.script, folders.script)
    if (!isDeepStrictEqual(single.value, script.value))
      throw new Error(`${name}: ${JSON.stringify(single.value)} by single calls, ${JSON.stringify(script.value)} by a script`)
    rows.push({ single: single.counted, script: script.counted })
  }
  const sum = (side: 'single' | 'script', key: 'input' | 'output' | 'requests'): number =>
    rows.reduce((all, row) => all + row[side][key], 0)
  const lines = [
    '# The gateway in tokens',
    '',
    '`npm run bench:gateway` makes this page. It installs the servers, connects to them directly and behind `bridle gateway`, and does ten tasks both ways with',
    'the same results. Tokens are those of `o200k_base`. No model takes part: the calls and scripts are written down in `tasks.ts`. What a model computes in its',
    'head between single calls is counted as free and right.',
    '',
    '## What a model is told before it begins',
    '',
    '| server | version | tools | tokens |',
    '| --- | --- | ---: | ---: |',
    ...lists.map(
      ({ name, tools, tokens }) => `| ${SERVERS[name]!.package} | ${SERVERS[name]!.version} | ${tools} | ${round(tokens)} |`,
    ),
    `| all twelve | | ${lists.reduce((all, { tools }) => all + tools, 0)} | **${round(offered.single)}** |`,
    `| the gateway, with the language | | 4 | **${round(offered.script)}** |`,
    '',
    '## Ten tasks',
    '',
    'Requests to the model, tokens of all requests together (each carries what was said before), and tokens that the model writes.',
    '',
    '| task | requests | | input | | output | |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    '| | single calls | script | single calls | script | single calls | script |',
    ...rows.map(
      ({ single, script }) =>
        `| ${single.task} | ${single.requests} | ${script.requests} | ${round(single.input)} | ${round(script.input)} | ${round(single.output)} | ${round(script.output)} |`,
    ),
    `| **all** | ${sum('single', 'requests')} | ${sum('script', 'requests')} | **${round(sum('single', 'input'))}** | **${round(sum('script', 'input'))}** | ${round(sum('single', 'output'))} | ${round(sum('script', 'output'))} |`,
    '',
    `Without the lists of tools, which a client may hold back by means of its own, single calls take ${round(sum('single', 'input') - offered.single * sum('single', 'requests'))} tokens of input, scripts ${round(sum('script', 'input') - offered.script * sum('script', 'requests'))}.`,
    '',
  ]
  console.log(lines.join('\n'))
  if (process.argv.includes('--write')) writeFileSync(join(root, 'bench/gateway/results.md'), lines.join('\n'))
} finally {
  await Promise.allSettled(open.map((client) => client.close()))
  rmSync(work, { recursive: true, force: true })
}
