// The client that the protocol's conformance package starts, one process per scenario: `client.ts URL`, with the scenario's
// name in MCP_CONFORMANCE_SCENARIO and its parameters in MCP_CONFORMANCE_CONTEXT. It does with our own client what the
// scenario expects of any client; the package observes from the server's side.

import { createRuntime } from '@bridle/stdlib-tools'
import { McpConnections, mcpProvider } from '@bridle/stdlib-tools/mcp'
import type { McpAuth } from '@bridle/stdlib-tools/mcp'
import type { Plain } from '@bridle/vm'

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as { readonly [key: string]: string }
type Call = { readonly name: string; readonly arguments: { readonly [name: string]: Plain } }
/** Calls that the scenario expects; each tool once if it expects none in particular. */
const wanted = (context as unknown as { readonly toolCalls?: readonly Call[] }).toolCalls
const url = process.argv.at(-1)!
/** The page that the package expects as the id of clients that have one. */
const CLIENT_PAGE = 'https://conformance-test.local/client-metadata.json'

const NEVER = new AbortController().signal

/** In place of a person: follows the link and returns the redirect target. */
async function agree(page: URL): Promise<string> {
  const response = await fetch(page, { redirect: 'manual' })
  return response.headers.get('location') ?? ''
}

function auth(): McpAuth | undefined {
  if (!scenario.startsWith('auth/')) return undefined
  const known = {
    ...(context['client_id'] === undefined ? {} : { clientId: context['client_id'] }),
    ...(context['client_secret'] === undefined ? {} : { clientSecret: context['client_secret'] }),
  }
  if (scenario.startsWith('auth/client-credentials')) {
    const key = context['private_key_pem']
    return key === undefined ? known : { ...known, privateKey: key, algorithm: context['signing_algorithm'] ?? 'ES256' }
  }
  const { valid_jwt: assertion } = context
  if (assertion !== undefined) return { ...known, workload: () => assertion }
  const { idp_id_token: idToken, idp_client_id: clientId, idp_token_endpoint: tokenEndpoint } = context
  if (idToken !== undefined && clientId !== undefined && tokenEndpoint !== undefined)
    return { ...known, crossApp: { tokenEndpoint, clientId, idToken: () => idToken } }
  return { ...known, authorize: agree, redirectUrl: 'http://127.0.0.1:1/callback', clientMetadataUrl: CLIENT_PAGE }
}

const given = auth()
const connections = new McpConnections({
  timeoutMs: 20_000,
  servers: { server: { url, ...(given === undefined ? {} : { auth: given }) } },
  handlers: {
    'elicitation/create': () => Promise.resolve({ action: 'accept', content: {} }),
    'sampling/createMessage': () =>
      Promise.resolve({ role: 'assistant', model: 'none', content: { type: 'text', text: 'a sample' } }),
  },
})

/** The tools of scenarios, with suitable arguments. */
const ARGUMENTS: { readonly [tool: string]: { readonly [name: string]: Plain } } = {
  add_numbers: { a: 5, b: 3 },
  valid_tool: { region: 'us-east1' },
}
/** Scenarios that only check how tools are listed: their servers do not answer calls. */
const LIST_ONLY: ReadonlySet<string> = new Set(['json-schema-ref-no-deref'])

interface Listed {
  readonly name: string
  readonly inputSchema: Plain
}

/** Scenarios about skills are for the functions of std/mcp: the skill is loaded, and its other file is read. */
const SKILLS = `
import { mcp_list_skills, mcp_load_skill, mcp_read_skill_file } from "std/mcp"
let server = mcp_ensure_active("server")
let skills = mcp_list_skills(server)
if !loads { return len(skills) }
let loaded = mcp_load_skill(server, skills[0])
return loaded.files.map({ file -> mcp_read_skill_file(server, skills[0], file) })`

if (scenario.startsWith('sep-2640-')) {
  const loads = scenario !== 'sep-2640-client-no-prefetch'
  const runtime = createRuntime({
    providers: [mcpProvider({ servers: { server: { url } } })],
    grants: ['mcp'],
    globals: ['loads'],
  })
  const run = runtime.start(runtime.compile(SKILLS), { globals: { loads } })
  const result = await run.result
  if (result.status === 'failed') process.stderr.write(`${result.error.message}\n`)
  process.exit(result.status === 'done' ? 0 : 1)
}

const listed = await connections.listTools('server', NEVER)
let failure = listed.ok ? null : listed.error.message
const tools = listed.ok ? (listed.value as unknown as readonly Listed[]) : []

function makeCalls(): readonly Call[] {
  if (LIST_ONLY.has(scenario)) return []
  if (scenario === 'json-schema-2020-12-preservation') {
    const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
    return [{ name: 'json_schema_echo', arguments: { schema: focal?.inputSchema ?? null } }]
  }
  return wanted ?? tools.map(({ name }) => ({ name, arguments: ARGUMENTS[name] ?? {} }))
}

for (const call of makeCalls()) {
  const called = await connections.callTool('server', call.name, call.arguments, NEVER)
  if (!called.ok) failure = called.error.message
}
if (scenario === 'http-standard-headers') {
  for (const [method, params] of [
    ['resources/list', {}],
    ['resources/read', { uri: 'file:///path/to/file%20name.txt' }],
    ['prompts/list', {}],
    ['prompts/get', { name: 'test_prompt' }],
  ] as const)
    await connections.ask('server', method, params, NEVER)
}
await connections.close()
if (failure !== null) {
  process.stderr.write(`${failure}\n`)
  process.exitCode = 1
}
