import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRuntime, defineProvider, defineTool } from '../index.js'
import { ConfigError, defineConfig, loadConfig } from './config.js'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bridle-config-'))
  mkdirSync(join(root, 'a', 'b'), { recursive: true })
  mkdirSync(join(root, 'home', '.config', 'bridle'), { recursive: true })
})

afterEach(() => rmSync(root, { recursive: true }))

const put = (path: string, text: string): void => writeFileSync(join(root, path), text)
const load = (env: { readonly [name: string]: string } = {}, overlay?: string) =>
  loadConfig({
    cwd: join(root, 'a', 'b'),
    env: { HOME: join(root, 'home'), ...env },
    ...(overlay === undefined ? {} : { overlay }),
  })

const FULL = `
[providers]
http.get = "builtin-http"
"llm.chat" = "anthropic"

[providers.config.anthropic]
api_key_env = "THE_KEY"
default_model = "\${MODEL:-small}"

[providers.config.builtin-http]
user_agent = "\${AGENT}"

[providers.mcp.notes]
uri = "stdio:node notes.js --fast"
env = { MODE = "x" }

[providers.mcp.remote]
uri = "https://example.com/mcp"

[cache]
enabled = true
ttl_ms = 500
`

test('what a file says, with defaults, texts of the environment and secrets by name', () => {
  put('a/bridle.toml', FULL)
  const config = load({ AGENT: 'me', THE_KEY: 's3cret' })
  expect(config.file).toBe(join(root, 'a', 'bridle.toml'))
  expect(config.providers).toEqual({ 'http.get': 'builtin-http', 'llm.chat': 'anthropic' })
  expect(config.settings['builtin-http']).toEqual({ user_agent: 'me', max_redirects: 5, timeout_ms: 30_000 })
  expect(config.settings.anthropic).toMatchObject({ default_model: 'small', max_retries: 3 })
  expect(config.mcpServers).toEqual({
    notes: { command: 'node', args: ['notes.js', '--fast'], env: { MODE: 'x' } },
    remote: { url: 'https://example.com/mcp' },
  })
  expect(config.cache).toEqual({ enabled: true, ttlMs: 500 })
  expect(config.logging).toEqual({ level: 'info' })
  expect(config.secret('anthropic.api_key_env')).toBe('s3cret')
  expect(JSON.stringify(config)).not.toContain('s3cret')
})

test.each(['constructor', 'toString', '__proto__'])('a secret in the unset variable %s is missing', (variable) => {
  put('a/bridle.toml', FULL.replaceAll('THE_KEY', variable))
  expect(() => load({ AGENT: 'me' }).secret('anthropic.api_key_env')).toThrow(
    expect.objectContaining({ code: 'secret_missing', variable }) as Error,
  )
})

test('a secret that is not there is missed at its first use, not before', () => {
  put('a/bridle.toml', FULL)
  const config = load({ AGENT: 'me' })
  expect(() => config.secret('anthropic.api_key_env')).toThrow(
    expect.objectContaining({ code: 'secret_missing', variable: 'THE_KEY' }) as Error,
  )
})

test('the nearest file counts, then a table of the manifest, then the file of the user', () => {
  expect(load().file).toBe(null)
  put('home/.config/bridle/config.toml', '[logging]\nlevel = "debug"')
  expect(load().logging.level).toBe('debug')
  put('harn.toml', '[package]\nname = "x"\n[tools.logging]\nlevel = "warn"')
  expect(load().logging.level).toBe('warn')
  put('a/b/bridle.toml', '[logging]\nlevel = "error"')
  expect(load().logging.level).toBe('error')
})

test('an overlay lies on top of it', () => {
  put('a/bridle.toml', '[cache]\nenabled = true\nttl_ms = 5\n[logging]\nlevel = "warn"')
  put('a/bridle.prod.toml', '[cache]\nttl_ms = 50')
  expect(load({}, 'prod').cache).toEqual({ enabled: true, ttlMs: 50 })
  expect(load({ BRIDLE_ENV: 'prod' })).toMatchObject({ cache: { ttlMs: 50 }, logging: { level: 'warn' } })
  expect(load({}, 'dev').cache.ttlMs).toBe(5)
})

test.each([
  ['[chache]\nenabled = true', 'chache', /unknown key chache; did you mean 'cache'\?/],
  [
    '[providers.config.anthropic]\napi_key = "x"',
    'providers.config.anthropic.api_key',
    /unknown key .*did you mean 'api_key_env'\?/,
  ],
  ['[providers.mcp.x]\nurl = "y"\nuri = "z"', 'providers.mcp.x.url', /did you mean 'uri'\?/],
  ['[cache]\nttl_ms = "soon"', 'cache.ttl_ms', /cache\.ttl_ms: /],
  ['[providers]\nhttp.get = 7', 'providers.http.get', /expected the name of a provider/],
  ['[logging]\nlevel = "${constructor}"', 'logging.level', /constructor is not set/],
  ['[logging]\nlevel = "${__proto__}"', 'logging.level', /__proto__ is not set/],
  ['[logging]\nlevel = "${NOBODY_SETS_THIS}"', 'logging.level', /NOBODY_SETS_THIS is not set/],
  ['[cache', '', /bridle\.toml:1: /],
])('%j is refused at %s', (text, path, message) => {
  put('a/bridle.toml', text)
  let caught: unknown = null
  try {
    load()
  } catch (cause) {
    caught = cause
  }
  expect(caught).toBeInstanceOf(ConfigError)
  expect(caught).toMatchObject({ code: 'config_invalid', path, message: expect.stringMatching(message) as string })
})

test('the same in code', () => {
  const config = defineConfig({ providers: { 'http.get': 'mine' }, cache: { enabled: true } }, { env: {} })
  expect(config).toMatchObject({ file: null, providers: { 'http.get': 'mine' }, cache: { enabled: true, ttlMs: null } })
})

test.each([
  ['[cache]\nenabled = true\n\n[logging]\nlevel = "loud"\n', 5],
  ['[providers]\nhttp.get = "builtin-http"\nhttp.post = 7\n', 3],
  ['[providers.config]\nanthropic.timeout_ms = 1\nanthropic.api_key = "x"\n', 3],
  ['[providers.config.anthropic]\ntimeout_ms = 1\n\napi_kye = "x"\n', 4],
])('a complaint about %j names line %i', (text, line) => {
  put('a/bridle.toml', text)
  const file = join(root, 'a', 'bridle.toml')
  expect(load).toThrow(
    expect.objectContaining({ line, message: expect.stringContaining(`${file}:${line}: `) as string }) as Error,
  )
})

test('a complaint about the overlay, or about the table of a manifest, names their lines', () => {
  put('a/bridle.toml', '[logging]\nlevel = "warn"')
  put('a/bridle.prod.toml', '# of the overlay\n[logging]\nlevel = "loud"')
  expect(() => load({}, 'prod')).toThrow(/bridle\.prod\.toml:3: logging\.level/)
  put('a/b/harn.toml', '[package]\nname = "x"\n\n[tools.logging]\nlevel = "loud"')
  expect(() => load()).toThrow(/harn\.toml:5: logging\.level/)
})

describe('a runtime of a configuration', () => {
  const shop = defineProvider({
    manifests: () => [{ name: 'shop.price', sideEffect: 'none' }, { name: 'shop.other' }],
    contract: () => ({}),
    execute: ({ args }) => Number(args['id']) * 10,
  })

  test('has the tools that the file gives to providers of the host, and no others', async () => {
    put('a/bridle.toml', '[providers]\nshop.price = "shop"')
    const runtime = createRuntime({ config: load(), toolProviders: { shop } })
    const source =
      'import { tool_try } from "std/tools"\nreturn [unwrap(tool_try("shop.price", {id: 4})), unwrap_err(tool_try("shop.other", {})).code]'
    expect(await runtime.run(source)).toEqual([40, 'not_registered'])
  })

  test.each([
    ['[providers]\nshop.price = "shoq"', 2, /there is no provider 'shoq'; known are builtin-http/],
    ['[providers]\n\nshop.nothing = "shop"', 3, /provider 'shop' has no tool of that name/],
    ['[providers]\nfs.read = "builtin-http"', 2, /carries out tools of http only/],
  ])('%j is refused', (text, line, message) => {
    put('a/bridle.toml', text)
    expect(() => createRuntime({ config: load(), toolProviders: { shop } })).toThrow(
      expect.objectContaining({ code: 'config_invalid', line, message: expect.stringMatching(message) as string }) as Error,
    )
  })

  test('logs from the level of the file on, unless code says another', async () => {
    put('a/bridle.toml', '[logging]\nlevel = "warn"')
    const script = 'log_info("quiet")\nlog_warn("loud")'
    const runPrinted = async (runtime: ReturnType<typeof createRuntime>): Promise<readonly string[]> => {
      const { output } = await runtime.start(runtime.compile(script)).result
      return output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { msg: string }).msg)
    }
    expect(await runPrinted(createRuntime({ config: load() }))).toEqual(['loud'])
    expect(await runPrinted(createRuntime({ config: load(), logLevel: 'info' }))).toEqual(['quiet', 'loud'])
    expect(await runPrinted(createRuntime())).toEqual(['quiet', 'loud'])
  })

  test.each([
    ['[cache]\nenabled = false', 2],
    ['[cache]\nenabled = true\nttl_ms = 1000', 1],
    ['[logging]\nlevel = "info"', 1],
  ])('keeps results as the file says: %j', async (text, calls) => {
    put('a/bridle.toml', text)
    let made = 0
    const runtime = createRuntime({
      config: load(),
      tools: [defineTool({ name: 'count', cacheable: true, execute: () => ++made })],
    })
    await runtime.run('import { count } from "host/tools"\ncount({})\ncount({})')
    expect(made).toBe(calls)
  })

  const TOO_MANY = '^http: request failed: error following redirect for url .*: too many redirects$'
  test.each([
    ['[providers.config.builtin-http]\nmax_redirects = 1', [1, 2], ['last', TOO_MANY]],
    ['[providers.config.builtin-http]\ntimeout_ms = 7', [5, 6], ['last', TOO_MANY]],
    ['', [10, 11], ['last', TOO_MANY]],
  ])('follows as many redirects as %j says', async (text, hops, expected) => {
    put('a/bridle.toml', text)
    const source = `
fn follow(hops, options = {}) {
  http_mock_clear()
  for at in 0 to hops {
    let place = if at < hops - 1 { to_string(at + 1) } else { "end" }
    http_mock("GET", "http://x.test/\${at}", {status: 302, headers: {location: "http://x.test/\${place}"}})
  }
  http_mock("GET", "http://x.test/end", {body: "last"})
  return try { http_get("http://x.test/0", options).body } catch (e) { to_string(e) }
}
return [${hops.map((each) => `follow(${each})`).join(', ')}, follow(3, {max_redirects: 2})]`
    const runtime = createRuntime({ config: load(), grants: ['http'] })
    expect(await runtime.run(source)).toEqual(
      [...expected, TOO_MANY].map((each) => (each === 'last' ? each : (expect.stringMatching(each) as string))),
    )
  })

  test.each([
    ['llm_call("hi", nil, {llm_backoff_ms: 0}).text', 3],
    ['llm_call("hi", nil, {llm_backoff_ms: 0, llm_retries: 0}).text', 1],
    ['agent_loop("hi", nil, {llm_backoff_ms: 0}).text', 3],
    ['agent_loop("hi", nil, {llm_backoff_ms: 0, llm_retries: 1}).text', 2],
  ])('%s repeats what failed as often as the file says', async (ask, calls) => {
    put(
      'a/bridle.toml',
      '[providers]\nllm.chat = "openai-compatible"\n[providers.config.openai-compatible]\nbase_url = "https://models.test/v1"\napi_key_env = "THE_KEY"\nmax_retries = 2',
    )
    let asked = 0
    vi.stubGlobal('fetch', async () => {
      asked++
      return new Response('{}', { status: 503 })
    })
    try {
      const runtime = createRuntime({ config: load({ THE_KEY: 's3cret' }), grants: ['llm', 'process.info'] })
      expect(await runtime.run(`return try { ${ask} } catch (e) { "failed" }`)).toBe('failed')
      expect(asked).toBe(calls)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('gives servers their time and scripts their tools', () => {
    const { mcpServers } = defineConfig({
      providers: { mcp: { notes: { uri: 'stdio:node notes.js', tools: ['read'], timeout_ms: 50 } } },
    })
    expect(mcpServers).toEqual({ notes: { command: 'node', args: ['notes.js'], env: {}, tools: ['read'], timeoutMs: 50 } })
  })

  test('asks models where the file says, with the key that the file names', async () => {
    put(
      'a/bridle.toml',
      '[providers]\nllm.chat = "openai-compatible"\n[providers.config.openai-compatible]\nbase_url = "https://models.test/v1"\napi_key_env = "THE_KEY"\ndefault_model = "small"',
    )
    const asked: unknown[] = []
    vi.stubGlobal('fetch', async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
      asked.push([url, headers['authorization'] ?? headers['Authorization'], (JSON.parse(body) as { model: string }).model])
      return new Response(JSON.stringify({ choices: [{ message: { content: 'hello' } }], usage: {} }))
    })
    try {
      const ask = 'return try { llm_call("hi").text } catch (e) { to_string(e) }'
      const runtime = createRuntime({ config: load({ THE_KEY: 's3cret' }), grants: ['llm', 'process.info'] })
      expect(await runtime.run(ask)).toBe('hello')
      expect(asked).toEqual([['https://models.test/v1/chat/completions', 'Bearer s3cret', 'small']])
      expect(await runtime.run('return env("THE_KEY")')).toBe(null)
      const without = createRuntime({ config: load(), grants: ['llm', 'process.info'] })
      expect(await without.run(ask)).toMatch(/environment variable THE_KEY is not set/)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
