// Clients of both lines of the TypeScript SDKs, as peers of `bridle serve mcp`: each returns what run.ts compares.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { root } from '../workspace.mjs'

type Fields = { readonly [key: string]: unknown }

/** The common interface of the clients of all lines, as far as it is used here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>
  close(): Promise<void>
  listTools(): Promise<{ readonly tools: readonly Fields[] }>
  callTool(call: Fields, ...more: readonly unknown[]): Promise<Fields>
  readResource(params: Fields): Promise<{ readonly contents: readonly Fields[] }>
  getPrompt(params: Fields): Promise<{ readonly messages: readonly { readonly content: Fields }[] }>
  setRequestHandler(what: unknown, handler: (request: Fields) => Fields): void
  setNotificationHandler(what: unknown, handler: (notification: { readonly params: Fields }) => void): void
  setLoggingLevel(level: string): Promise<unknown>
}

export interface Line {
  readonly program: string
  readonly version: string
  readonly revision: string
  /** A client, and the names of requests and notifications. */
  readonly make: () => { readonly client: AnyClient; readonly elicit: unknown; readonly log: unknown }
  readonly stdio: (command: string, args: readonly string[]) => unknown
  readonly http: (url: string) => unknown
  /** Whether calls take a result schema between arguments and options. */
  readonly hasResultSchema: boolean
}

const INFO = { name: 'interop', version: '1' }
const OFFER = { capabilities: { elicitation: {} } }

function readVersion(require: NodeJS.Require, name: string): string {
  // Packages hide their manifests; the folder of an entry leads to them.
  const entry = require.resolve(name)
  const mark = join('node_modules', ...name.split('/').slice(0, 2))
  const folder = entry.slice(0, entry.lastIndexOf(mark) + mark.length)
  return (require(join(folder, 'package.json')) as { readonly version: string }).version
}

/** The installed lines. */
export async function listLines(): Promise<readonly Line[]> {
  const fromTools = createRequire(join(root, 'packages', 'stdlib-tools', 'package.json'))
  const load = async <T>(name: string): Promise<T> => (await import(fromTools.resolve(name))) as T
  const old = await load<{ readonly Client: new (info: object, options: object) => AnyClient }>(
    '@modelcontextprotocol/sdk/client/index.js',
  )
  const stdio = await load<{ readonly StdioClientTransport: new (options: object) => unknown }>(
    '@modelcontextprotocol/sdk/client/stdio.js',
  )
  const http = await load<{ readonly StreamableHTTPClientTransport: new (url: URL) => unknown }>(
    '@modelcontextprotocol/sdk/client/streamableHttp.js',
  )
  const types = await load<{ readonly ElicitRequestSchema: unknown; readonly LoggingMessageNotificationSchema: unknown }>(
    '@modelcontextprotocol/sdk/types.js',
  )
  const fromRoot = createRequire(join(root, 'package.json'))
  const makeNew = (revision: string): Line => ({
    program: '@modelcontextprotocol/client',
    version: readVersion(fromRoot, '@modelcontextprotocol/client'),
    revision,
    make: () => {
      const mode = revision === '2026-07-28' ? { pin: revision } : ('legacy' as const)
      const client = new NewClient(INFO, { ...OFFER, versionNegotiation: { mode } })
      return { client: client as unknown as AnyClient, elicit: 'elicitation/create', log: 'notifications/message' }
    },
    stdio: (command, args) => new NewStdio({ command, args: [...args], stderr: 'ignore' }),
    http: (url) => new NewHttp(new URL(url)),
    hasResultSchema: false,
  })
  return [
    {
      program: '@modelcontextprotocol/sdk',
      version: readVersion(fromTools, '@modelcontextprotocol/sdk/types.js'),
      revision: '2025-11-25',
      make: () => ({
        client: new old.Client(INFO, OFFER),
        elicit: types.ElicitRequestSchema,
        log: types.LoggingMessageNotificationSchema,
      }),
      stdio: (command, args) => new stdio.StdioClientTransport({ command, args: [...args], stderr: 'ignore' }),
      http: (url) => new http.StreamableHTTPClientTransport(new URL(url)),
      hasResultSchema: true,
    },
    makeNew('2025-11-25'),
    makeNew('2026-07-28'),
  ]
}

/** What a client sees of server.harn. */
export async function useRegistered(line: Line, transport: unknown): Promise<Fields> {
  const { client, elicit } = line.make()
  client.setRequestHandler(elicit, () => ({ action: 'accept', content: { name: 'Ada' } }))
  await client.connect(transport)
  const call = (name: string, args: Fields = {}): Promise<Fields> => client.callTool({ name, arguments: args })
  const readText = (result: Fields): unknown => (result['content'] as readonly Fields[])[0]!['text']
  try {
    const failed = await call('fail')
    return {
      tools: (await client.listTools()).tools.map(({ name }) => name),
      call: (await call('add', { a: 2, b: 3 }))['structuredContent'],
      error: [failed['isError'], readText(failed)],
      ask: readText(await call('ask')),
      resource: (await client.readResource({ uri: 'tea://green' })).contents[0]!['text'],
      prompt: (await client.getPrompt({ name: 'brew', arguments: { leaf: 'green' } })).messages[0]!.content['text'],
    }
  } finally {
    await client.close()
  }
}

/** What a client sees of exports.harn. */
export async function useExported(line: Line, transport: unknown): Promise<Fields> {
  const { client, log } = line.make()
  const lines: unknown[] = []
  client.setNotificationHandler(log, ({ params }) => lines.push([params['level'], params['data']]))
  await client.connect(transport)
  try {
    const { tools } = await client.listTools()
    const find = (name: string): Fields => tools.find((tool) => tool['name'] === name) ?? {}
    const { description, inputSchema, outputSchema } = find('find_place')
    if (line.revision !== '2026-07-28') await client.setLoggingLevel('info')
    const progress = await listProgress(line, client, 'find_place', { name: 'pond' })
    const result = await client.callTool({ name: 'find_place', arguments: { name: 'pond' } })
    return {
      'descriptions and defaults': [description, (inputSchema as Fields)['properties']],
      'hints of annotations': ['find_place', 'forget_place'].map((name) => find(name)['annotations'] ?? null),
      'structured results with their schema': [
        (outputSchema as Fields | undefined)?.['required'],
        Object.keys(result['structuredContent'] as Fields),
      ],
      'progress of a function': progress.at(-1),
      ...(line.revision === '2026-07-28' ? {} : { logging: lines[0] }),
    }
  } finally {
    await client.close()
  }
}

async function listProgress(
  { hasResultSchema }: Line,
  client: AnyClient,
  name: string,
  args: Fields,
): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  const options = {
    onprogress: ({ progress, total, message }: Fields) => seen.push([progress, total ?? null, message ?? null]),
  }
  await client.callTool({ name, arguments: args }, ...(hasResultSchema ? [undefined, options] : [options]))
  return seen
}
