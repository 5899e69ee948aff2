import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findManifest } from './find-manifest.js'
import { readManifest, hookModules } from './manifest.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-manifest-')))
afterAll(() => rmSync(folder, { recursive: true }))

describe('harn.toml', () => {
  test('servers in the order of the file, others left alone', () => {
    const { mcpServers, tables } = readManifest(
      'harn.toml',
      `
[package]
name = "demo"
[[mcp]]
name = "notes"
command = "node"
args = ["server.js"]
env = { A = "1" }
[[mcp]]
name = "web"
transport = "http"
url = "http://127.0.0.1:1/mcp"
auth_token = "t"
auth = { client_id = "me", client_secret = "s", scope = "read" }
lazy = true
card = "card.json"
keep_alive = "30s"
`,
    )
    expect(Object.entries(mcpServers)).toEqual([
      ['notes', { lazy: false, command: 'node', args: ['server.js'], env: { A: '1' } }],
      [
        'web',
        {
          lazy: true,
          transport: 'http',
          url: 'http://127.0.0.1:1/mcp',
          authToken: 't',
          auth: { clientId: 'me', clientSecret: 's', scope: 'read' },
          card: 'card.json',
          keepAliveMs: 30_000,
        },
      ],
    ])
    expect(tables['package']).toEqual({ name: 'demo' })
  })

  test('values come from the environment; what is not there fails the server, not the manifest', () => {
    process.env['BRIDLE_TEST_KEY'] = 'k3y'
    const text = `[[mcp]]
name = "web"
url = "http://127.0.0.1:1/mcp"
headers = { "X-Key" = "\${env:BRIDLE_TEST_KEY}", "X-Plain" = "a" }
auth_token = "t-\${env:BRIDLE_TEST_KEY}-\${env:BRIDLE_TEST_KEY}"
connect_timeout_ms = 500
[[mcp]]
name = "local"
command = "node"
env = { A = "\${env:BRIDLE_TEST_NONE}" }
`
    const { mcpServers } = readManifest('harn.toml', text)
    delete process.env['BRIDLE_TEST_KEY']
    expect(mcpServers['web']).toMatchObject({
      headers: { 'X-Key': 'k3y', 'X-Plain': 'a' },
      authToken: 't-k3y-k3y',
      connectTimeoutMs: 500,
    })
    expect(mcpServers['local']?.problem).toBe('harn.toml: mcp[1].env.A: the environment has no variable BRIDLE_TEST_NONE')
  })

  test('roots of a server are relative to the manifest', () => {
    const text =
      '[[mcp]]\nname = "a"\ncommand = "x"\nroots = ["notes", "/srv"]\n\n[[mcp]]\nname = "b"\ncommand = "x"\nroots = false\n'
    const { mcpServers } = readManifest('/project/harn.toml', text)
    expect([mcpServers['a']?.roots, mcpServers['b']?.roots]).toEqual([['/project/notes', '/srv'], false])
  })

  test('a property of Object.prototype is not a variable', () => {
    const auth = 'auth = { client_id = "me", client_secret_env = "constructor" }'
    const { mcpServers } = readManifest('harn.toml', `[[mcp]]\nname = "a"\nurl = "http://127.0.0.1:1/mcp"\n${auth}\n`)
    expect(mcpServers['a']).toMatchObject({ auth: { clientId: 'me' } })
    expect(JSON.stringify(mcpServers)).not.toContain('clientSecret')
  })

  test.each([
    ['[[mcp]\n', /^harn\.toml:1:\d+: /],
    ['[[mcp]]\ncommand = "x"\n', /^harn\.toml: mcp\[0\]\.name: /],
    ['[[mcp]]\nname = "a"\nlazy = 1\n', /^harn\.toml: mcp\[0\]\.lazy: /],
    ['[[mcp]]\nname = "a"\n[[mcp]]\nname = "a"\n', /^harn\.toml: the MCP server "a" is declared twice$/],
    ['[[mcp]]\nname = "a"\n', /^harn\.toml: the MCP server "a" has no command: /],
    ['[[mcp]]\nname = "a"\ncomand = "x"\n', /^harn\.toml: mcp\[0\]: unknown key "comand"; did you mean "command"\?$/],
    ['[[mcp]]\nname = "a"\nfrobnicate = 1\n', /^harn\.toml: mcp\[0\]: unknown key "frobnicate"; known are name, .*command/],
    [
      '[[mcp]]\nname = "a"\nauth = { client_id = "a", scop = "x" }\n',
      /^harn\.toml: mcp\[0\]\.auth: unknown key "scop"; did you mean "scope"\?$/,
    ],
    ['[[mcp]]\nname = "a"\nconstructor = 1\n', /^harn\.toml: mcp\[0\]: unknown key "constructor"; /],
    ['[[mcp]]\nname = "a"\ncommand = ""\n', /^harn\.toml: the MCP server "a" has no command: /],
    ['[[mcp]]\nname = "a"\ntransport = "http"\n', /^harn\.toml: the MCP server "a" has no url: /],
    ['[[mcp]]\nname = "a"\nauth = { token = "x" }\n', /^harn\.toml: mcp\[0\]\.auth/],
    ['[[mcp]]\nname = "a"\nkeep_alive = "soon"\n', /keep_alive/],
    ['[[mcp]]\nname = "a"\ncommand = "${env:X"\n', /^harn\.toml: mcp\[0\]\.command: "\$\{env:" needs a name/],
  ])('%j is refused with its place', (text, message) => expect(() => readManifest('harn.toml', text)).toThrow(message))

  test('is looked for upwards', () => {
    const below = join(folder, 'a', 'b')
    mkdirSync(below, { recursive: true })
    writeFileSync(join(folder, 'harn.toml'), '[package]\nname = "top"\n')
    expect(findManifest(below)?.path).toBe(join(folder, 'harn.toml'))
    mkdirSync(join(folder, 'a', 'harn.toml'))
    expect(findManifest(below)?.path).toBe(join(folder, 'harn.toml'))
  })
})

describe('hooks', () => {
  const head = '[package]\nname = "mine"\n[exports]\nguard = "guards/g.harn"\n'
  const makeHook = (fields: string): string => `${head}[[hooks]]\n${fields}\n`

  test('name a function of the package or of an export', () => {
    const { hooks } = readManifest(
      '/p/harn.toml',
      `${makeHook('event = "PreToolUse"\nhandler = "mine::f"')}[[hooks]]\nevent = "PostToolUse"\npattern = "a*"\nhandler = "guard::g"\n`,
    )
    expect(hooks).toEqual([
      { event: 'PreToolUse', pattern: '*', module: '/p/lib.harn', fn: 'f' },
      { event: 'PostToolUse', pattern: 'a*', module: '/p/guards/g.harn', fn: 'g' },
    ])
    expect(hookModules(hooks)[1]).toContain('import { g } from "/p/guards/g.harn"')
  })

  test.each([
    ['event = "Nope"\nhandler = "mine::f"', /hooks\[0\]\.event/],
    ['event = "PreToolUse"\nhandler = "f"', /is not of the form <package or export>::<function>/],
    ['event = "PreToolUse"\nhandler = "other::f"', /there is no package or export "other"/],
    ['event = "PreToolUse"', /hooks\[0\]\.handler/],
  ])('%s is refused', (fields, message) => {
    expect(() => readManifest('/p/harn.toml', makeHook(fields))).toThrow(message)
  })
})
