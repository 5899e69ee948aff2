import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
  ['[logging]\nlevel = "${NOBODY_SETS_THIS}"', 'logging.level', /NOBODY_SETS_THIS is not set/],
  ['[cache', '', /bridle\.toml: /],
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
