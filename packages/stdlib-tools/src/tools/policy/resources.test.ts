// Every kind of effect, with every resource that it can name: none reaches its provider without having been judged. The samples are
// a record by kind, so a new kind does not compile until it has samples here, and the marks in them show what a row left out.

import type { PlainRecord } from '@bridle/vm'
import { effectOfData } from '../../test-support/effect-of-data.js'
import { describe, expect, test } from 'vitest'
import { Grants, refusal } from '../../host/authority.js'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { builtin } from '@bridle/vm'
import { identifyEffect } from '../dispatch/identity.js'
import type { Effect, EffectKind, Plain } from '@bridle/vm'
import type { Provider } from '../executors/provider.js'
import { EFFECTS, listUses } from '../../library/effects/index.js'

interface Sample {
  readonly args: PlainRecord
  /** Marked texts that are not a resource, with the reason. */
  readonly free?: readonly string[]
  /** Powers beside the kind's own. */
  readonly powers?: readonly EffectKind[]
}

/** A text that begins so is a resource: an address, a file, a program, a variable. */
const MARK = 'res-'
const makeAddress = (name: string): string => `https://${MARK}${name}.test/`

const STDIO = { transport: 'stdio', command: 'res-server', args: [] }
const PROXY = { noProxy: null, user: null, password: null }
const TLS = { caBundlePath: null, clientCertPath: null, clientKeyPath: null, clientIdentityPath: null, pinnedSha256: [] }
const NO_RESOURCE: readonly Sample[] = [{ args: {} }]

const SAMPLES: { readonly [Kind in EffectKind]: readonly Sample[] } = {
  'tool.call': [
    { args: { tool: 'a', mcp_server: 'declared' } },
    { args: { tool: 'a', mcp_server: makeAddress('tool') }, powers: ['mcp.request', 'http.request'] },
  ],
  'host.call': [{ args: { name: 'cap.op', params: { url: makeAddress('host') } } }],
  'host.tool': [{ args: { op: 'call', name: 'own', args: { path: '/res-host' } } }, { args: { op: 'list' } }],
  'mcp.connect': [
    { args: { op: 'open', name: 'a', spec: { server: 'declared' } } },
    { args: { op: 'open', name: 'a', spec: STDIO }, powers: ['process.exec'] },
    { args: { op: 'open', name: 'a', spec: { transport: 'http', url: makeAddress('mcp') } }, powers: ['http.request'] },
    { args: { op: 'close', client: 1 } },
    { args: { op: 'status' } },
  ],
  'mcp.request': [
    {
      args: {
        name: 'a',
        spec: { server: 'declared' },
        method: 'tools/call',
        params: { name: 't', arguments: { url: makeAddress('arg') } },
      },
    },
    { args: { name: 'a', spec: STDIO, method: 'tools/list', params: {} }, powers: ['process.exec'] },
    {
      args: { name: 'a', spec: { transport: 'http', url: makeAddress('mcp') }, method: 'ping', params: {} },
      powers: ['http.request'],
    },
    { args: { name: 'a', spec: { server: 'declared' }, method: 'resources/read', params: { uri: 'res-uri' } } },
  ],
  'mcp.serve': [{ args: { op: 'next' } }],
  'mcp.client': [{ args: { op: 'facts', task: '', method: '', params: {} } }],
  'clock.now': NO_RESOURCE,
  'clock.monotonic': NO_RESOURCE,
  'clock.zone': NO_RESOURCE,
  'random.bytes': [{ args: { count: 1 } }],
  'fs.read': [{ args: { path: '/res-read' } }],
  'fs.query': [{ args: { op: 'list', path: '/res-list' } }, { args: { op: 'find_up', path: '/res-up', name: 'harn.toml' } }],
  'fs.write': [
    { args: { op: 'write', path: '/res-write', data: '' } },
    { args: { op: 'move', path: '/res-from', to: '/res-to' } },
    { args: { op: 'copy', path: '/res-from', to: '/res-to' }, powers: ['fs.read'] },
  ],
  'process.exec': [
    { args: { program: 'res-program', args: [], shell: null, cwd: '/res-cwd', env: null } },
    { args: { program: null, args: [], shell: 'res-shell', cwd: null, env: null } },
    { args: { program: 'res-program', args: [], shell: null, cwd: null, env: { PATH: '/res-path' } }, free: ['/res-path'] },
  ],
  'process.info': [{ args: { op: 'env', name: 'res-VARIABLE' } }, { args: { op: 'env_set', name: 'res-VARIABLE' } }],
  'process.set': [{ args: { op: 'setenv', name: 'res-VARIABLE', value: 'x' } }, { args: { op: 'chdir', path: '/res-dir' } }],
  'http.request': [
    { args: { method: 'GET', url: makeAddress('get') } },
    { args: { method: 'GET', url: makeAddress('get'), proxy: { ...PROXY, url: makeAddress('proxy') } } },
    { args: { method: 'GET', url: makeAddress('get'), saveTo: '/res-download' }, powers: ['fs.write'] },
    ...['caBundlePath', 'clientCertPath', 'clientKeyPath', 'clientIdentityPath'].map((name) => ({
      args: { method: 'GET', url: makeAddress('get'), tls: { ...TLS, [name]: '/res-tls' } },
      powers: ['fs.read'] as const,
    })),
  ],
  'net.stream': [
    { args: { op: 'http_open', url: makeAddress('open'), proxy: { ...PROXY, url: makeAddress('proxy') } } },
    { args: { op: 'http_open', url: makeAddress('open'), tls: { ...TLS, caBundlePath: '/res-tls' } }, powers: ['fs.read'] },
    { args: { op: 'ws_connect', url: 'wss://res-socket.test/' } },
    { args: { op: 'ws_listen', host: 'res-host', port: 80 } },
    { args: { op: 'http_read', id: 's' } },
  ],
  'terminal.read': [{ args: { op: 'line' } }],
  'terminal.write': [{ args: { text: '' } }],
  'store.op': [{ args: { op: 'set', namespace: 'res-space', key: 'res-key', value: 'x' } }],
  'llm.call': [
    { args: { provider: 'a', model: 'res-model', base_url: makeAddress('official') } },
    {
      args: { provider: 'a', model: 'res-model', base_url: makeAddress('official'), config: { base_url: makeAddress('own') } },
      free: [makeAddress('official')],
      powers: ['http.request'],
    },
    {
      args: { provider: 'a', model: 'm', config: { base_url: makeAddress('own'), auth_env: 'res-KEY' } },
      powers: ['http.request', 'process.info'],
    },
  ],
  'durable.op': [{ args: { op: 'publish', name: 'n', value: 1 } }],
  'runs.op': [{ args: { op: 'signal', run: 'r', name: 'n', value: 1 } }],
  'approval.ask': [{ args: { kind: 'ask', payload: null } }],
  'event_log.op': [{ args: { op: 'read', topic: 'a', after: 0, last: null, kind: null, event_id: null } }],
  'trace.emit': [{ args: { name: '', attributes: {} } }],
  'compress.run': [{ args: { op: 'brotli_encode', data: new Uint8Array(0), level: 0 } }],
  'data.parse': [{ args: { format: 'yaml', op: 'parse', text: '' } }],
}

const KINDS = Object.keys(EFFECTS) as EffectKind[]

function listMarked(value: Plain | undefined): readonly string[] {
  if (typeof value === 'string') return value.includes(MARK) ? [value] : []
  if (Array.isArray(value)) return (value as readonly Plain[]).flatMap(listMarked)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.values(value as { readonly [key: string]: Plain }).flatMap(listMarked)
}

const cases = KINDS.flatMap((kind) => SAMPLES[kind].map((sample, at) => [`${kind} ${at + 1}`, kind, sample] as const))

describe.each(cases)('%s', (_name, kind, { args, free = [], powers = [] }) => {
  const uses = listUses(effectOfData(kind, args))

  test('each resource is declared, under an argument that constraints know', () => {
    const declared = uses.flatMap((use) => [...listMarked(use.args), ...listMarked((use.unknown ?? {}) as Plain)])
    const toHttps = (text: string): string => text.replace(/^wss:/, 'https:')
    const missing = listMarked(args).filter(
      (text) => !free.includes(text) && !declared.some((each) => each.includes(toHttps(text))),
    )
    expect(missing).toEqual([])
  })

  test('each power is asked for', () => {
    const own: readonly EffectKind[] = EFFECTS[kind].needsGrant && !(kind === 'mcp.connect' && uses.length === 0) ? [kind] : []
    const needed = [...own, ...powers]
    const provider: Provider = { kinds: [kind], perform: () => ({ ok: true, value: null }) }
    const table = new Map([[kind, provider]])
    const judgeNames = (names: readonly EffectKind[]) =>
      refusal(table, { grants: new Grants(names), asksAboutCalls: false }, effectOfData(kind, args))
    expect(judgeNames(needed)).toBeNull()
    for (const without of needed) expect(judgeNames(needed.filter((name) => name !== without))).toMatchObject({ ok: false })
  })

  // The gate in front of tools judges what an effect calls, and says so; what the effect makes use of beside that is judged here.
  const identity = identifyEffect(effectOfData(kind, args), { aliases: null, hasOperation: () => false })
  const isJudged = identity !== null && kind !== 'host.call'
  const effect = effectOfData(kind, isJudged ? { ...args, identity: identity.key } : args)
  const left = !isJudged ? uses : uses.filter((use, at) => at > 0 || use.isCall === false)

  test('a constraint on each resource refuses the effect', async () => {
    expect(await reachesProvider(effect, {})).toBe(true)
    for (const use of left) {
      if (use.tool === null) continue
      for (const name of new Set([...Object.keys(use.args), ...Object.keys(use.unknown ?? {})])) {
        const value = use.args[name]
        if (value !== undefined && listMarked(value).length === 0) continue
        const key = name === 'url' ? 'domain' : name === 'to' ? 'path' : name
        const grant = { [key]: key === 'domain' ? 'elsewhere.test' : key === 'path' ? '/elsewhere' : 'elsewhere' }
        expect([use.tool, key, await reachesProvider(effect, { [use.tool]: grant })]).toEqual([use.tool, key, false])
      }
    }
  })

  test('a host that allows named tools only allows no use that it did not name', async () => {
    const named = left.filter((use) => use.tool !== null && use.implied !== true).map(({ tool }) => tool!)
    const all = Object.fromEntries(named.map((tool) => [tool, {}]))
    expect(await reachesProvider(effect, all, 'effects')).toBe(true)
    for (const tool of new Set(named)) {
      const rest = Object.fromEntries(named.filter((each) => each !== tool).map((each) => [each, {}]))
      expect([tool, await reachesProvider(effect, rest, 'effects')]).toEqual([tool, false])
    }
  })
})

/** Whether the effect reaches its provider from a script under these grants. */
async function reachesProvider(
  effect: Effect,
  toolGrants: NonNullable<RuntimeOptions['toolGrants']>,
  defaultDeny?: 'effects',
): Promise<boolean> {
  return (
    (await listReachingEffects(effect, { grants: ['*'], toolGrants, ...(defaultDeny === undefined ? {} : { defaultDeny }) }))
      .length > 0
  )
}

/** The effects of `effect`, asked for by a builtin of a script, that reach a provider. */
async function listReachingEffects(effect: Effect, options: RuntimeOptions): Promise<readonly Effect[]> {
  const reached: Effect[] = []
  const provider: Provider = {
    kinds: KINDS,
    perform: (asked) => {
      reached.push(asked)
      return { ok: true, value: null }
    },
  }
  const ask = builtin('ask_effect() -> any', { doc: 'Asks for the effect of the test.', effects: [] }, (ctx) =>
    ctx.perform(effect),
  )
  const runtime = createRuntime({
    ...options,
    enforceManifest: false,
    families: [{ name: 'ask_effect', builtins: [ask] }],
    providers: [provider],
  })
  await runtime.run('return try { ask_effect() } catch (e) { e }', { effects: 'off' })
  return reached.filter(({ kind }) => kind === effect.kind)
}

describe('from a script', () => {
  const ONLY_ECHO: RuntimeOptions = { grants: ['*'], toolGrants: { 'process.exec': { program: ['echo'] } } }

  /** What programs and connections a script got to, under grants. */
  async function runReached(
    source: string,
    options: RuntimeOptions,
  ): Promise<{ readonly kinds: readonly string[]; readonly value: unknown }> {
    const reached: Effect[] = []
    const provider: Provider = {
      kinds: KINDS.filter((kind) => !kind.startsWith('clock') && !kind.startsWith('random')),
      perform: (effect) => {
        reached.push(effect)
        return { ok: true, value: effect.kind === 'process.exec' ? { stdout: '', stderr: '', status: 0, pid: 1 } : null }
      },
    }
    const runtime = createRuntime({ ...options, providers: [provider] })
    const value = await runtime.run(`return try { ${source} } catch (e) { e?.message ?? e }`, { effects: 'off' })
    return { kinds: reached.filter(({ args }) => args['op'] !== 'env' && args['op'] !== 'shells').map(({ kind }) => kind), value }
  }

  test.each([
    ['exec("sh", "-c", "id")', 'violates required "echo"'],
    ['shell("id")', 'a shell text may start any program'],
    ['shell_at("/", "id")', 'a shell text may start any program'],
    ['mcp_connect("sh")', 'violates required "echo"'],
    ['agent_loop("go", nil, {provider: "mock", mcp_servers: [{name: "a", command: "sh"}]})', 'violates required "echo"'],
    [
      'agent_loop("go", nil, {provider: "mock", mcp_servers: [{name: "echo", command: ["sh", "-c", "id"]}]})',
      'violates required "echo"',
    ],
    ['host_call("process.exec", {mode: "argv", argv: ["echo"], env: {LD_PRELOAD: "./x.so"}})', 'variables of the environment'],
    ['__env_set("PATH", "/evil")', 'variables of the environment'],
  ])('%s starts no program that the host did not name', async (call, reason) => {
    const { kinds, value } = await runReached(call, ONLY_ECHO)
    expect(kinds).toEqual([])
    expect(String(value)).toContain(reason)
  })

  test('the named program runs', async () => {
    expect((await runReached('exec("echo", "x")', ONLY_ECHO)).kinds).toEqual(['process.exec'])
    const call = 'host_call("process.exec", {mode: "argv", argv: ["echo"]})'
    expect((await runReached(call, ONLY_ECHO)).kinds).toContain('host.call')
  })

  test.each([
    ['http_download("https://a.test/", "f.txt")', 'fs.write'],
    ['http_get("https://a.test/", {tls: {client_identity_path: "/id.pem"}})', 'fs.read'],
    ['http_get("https://a.test/", {tls: {ca_bundle_path: "/ca.pem"}})', 'fs.read'],
    ['copy_file("/a", "/b")', 'fs.read'],
  ])('%s takes the power over files', async (call, power) => {
    const grants: RuntimeOptions['grants'] = call.startsWith('copy') ? ['fs.write'] : ['http', 'process.info']
    const { kinds, value } = await runReached(call, { grants })
    expect(kinds).toEqual([])
    expect(String(value)).toContain(`must grant "${power}"`)
    expect((await runReached(call, { grants: [...grants, power as EffectKind] })).kinds.length).toBe(1)
  })

  test('a limit of time is put in where a builtin says none', async () => {
    const asked: Plain[] = []
    const provider: Provider = {
      kinds: ['process.exec'],
      perform: ({ args }) => {
        asked.push(args['timeoutMs'] ?? null)
        return { ok: true, value: { stdout: '', stderr: '', status: 0, pid: 1 } }
      },
    }
    const runtime = createRuntime({ grants: ['process'], toolGrants: { process: { timeout_ms: 500 } }, providers: [provider] })
    await runtime.run('exec("sleep", "9")', { effects: 'off' })
    expect(asked).toEqual([500])
  })

  test.each([
    ['http_get("https://a.test/")', 'http.request'],
    ['http_request("POST", "https://a.test/", {body: "x"})', 'http.request'],
    ['http_download("https://a.test/", "f")', 'http.request'],
    ['http_stream_open("https://a.test/")', 'net.stream'],
    ['websocket_connect("wss://a.test/")', 'net.stream'],
  ])('%s takes the least limit of time where the script says none', async (call, kind) => {
    const asked: Plain[] = []
    const provider: Provider = {
      kinds: ['http.request', 'net.stream', 'fs.write', 'process.info'],
      perform: (effect) => {
        if (effect.kind === kind) asked.push(effect.args['timeoutMs'] ?? null)
        return { ok: true, value: null }
      },
    }
    const toolGrants = { http: { timeout_ms: 500 }, '*': { timeout_ms: 700 } }
    const runtime = createRuntime({ grants: ['*'], toolGrants, providers: [provider] })
    const value = await runtime.run(`return try { ${call} } catch (e) { e?.message ?? e }`, { effects: 'off' })
    expect([value, asked[0]]).toEqual([value, 500])
  })
})
