// `bridle mcp login` with a real authorization server: the command prints an address, the test opens it in place of a person, and the
// browser is redirected to the command's own page. Then runs use the tokens, renew them, and say what to do when that fails.

import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { startGuardedServer } from './authorization-server.js'
import type { Guarded } from './authorization-server.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

let command: Awaited<ReturnType<typeof bundledCommand>>
let folder: string
let server: Guarded
let tokens: string

beforeAll(async () => {
  command = await bundledCommand()
  folder = mkdtempSync(join(tmpdir(), 'bridle-login-'))
  tokens = join(folder, 'config', 'bridle', 'mcp-auth.json')
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'config'))
  server = await startGuardedServer()
  writeFileSync(join(folder, 'harn.toml'), `[[mcp]]\nname = "vault"\nurl = "${server.url}"\nlazy = true\n`)
  writeFileSync(join(folder, 'open.harn'), 'println(mcp_call(mcp_ensure_active("vault"), "open", {}))\n')
}, 60_000)

afterAll(() => {
  vi.unstubAllEnvs()
  server.close()
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true })
})

interface Child {
  readonly write: (text: string) => void
  readonly kill: () => void
}

/** Runs the command; `atAddress` plays the person, called with the first address on standard error. */
function runBridle(args: readonly string[], atAddress?: (page: URL) => void): Promise<Ended> {
  let isShown = false
  return runInProcess(folder, args, (stderr) => {
    const page = isShown ? null : findAddress(stderr)
    if (page === null) return
    isShown = true
    atAddress?.(page)
  })
}

/** In a separate process: several at once, one with input, one that is interrupted. */
function startBridle(args: readonly string[], atAddress?: (page: URL, child: Child) => void): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [command.path, ...args], { cwd: folder })
    let [stdout, stderr, isShown] = ['', '', false]
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const page = isShown ? null : findAddress(stderr)
      if (page === null) return
      isShown = true
      atAddress?.(page, { write: (text) => child.stdin.write(text), kill: () => child.kill('SIGINT') })
    })
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

function findAddress(stderr: string): URL | null {
  const address = /^(http:\S+)\n/m.exec(stderr)?.[1]
  return address === undefined || !/Waiting|paste/.test(stderr) ? null : new URL(address)
}

/** The redirect target after consent. */
async function agree(page: URL): Promise<string> {
  return (await fetch(page, { redirect: 'manual' })).headers.get('location')!
}

test('after consent, runs use the tokens and renew them, until a logout', { timeout: 120_000 }, async () => {
  expect(await runBridle(['run', 'open.harn'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('MCP authorization required'),
  })

  const pages: number[] = []
  const login = await runBridle(['mcp', 'login', 'vault', '--no-browser'], (page) => {
    void (async () => {
      const back = new URL(await agree(page))
      expect(back.hostname).toBe('127.0.0.1')
      // Unsolicited redirects change nothing.
      const forged = new URL(back)
      forged.searchParams.set('state', 'guessed')
      for (const url of [forged.href, new URL('/other', back).href]) pages.push((await fetch(url)).status)
      pages.push((await fetch(back)).status)
    })()
  })
  expect(login).toMatchObject({ code: 0, stdout: `logged in to vault at ${server.url}\n` })
  expect(pages).toEqual([400, 404, 200])
  expect(server.log).toEqual(['register', 'authorize', 'token authorization_code'])

  if (process.platform !== 'win32') {
    expect(statSync(tokens).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'config', 'bridle')).mode & 0o777).toBe(0o700)
  }
  expect(readFileSync(tokens, 'utf8')).not.toContain('verifier')

  expect(await runBridle(['run', 'open.harn'])).toEqual({ code: 0, stdout: 'opened\n', stderr: '' })
  server.revoke()
  expect(await runBridle(['run', 'open.harn'])).toEqual({ code: 0, stdout: 'opened\n', stderr: '' })
  expect(server.log.slice(3)).toEqual(['token refresh_token'])
  // Renewals replace each other; simultaneous renewals do not end the login.
  server.revoke()
  const together = await Promise.all([1, 2, 3].map(() => startBridle(['run', 'open.harn'])))
  expect(together.map(({ stdout, stderr }) => stdout + stderr)).toEqual(['opened\n', 'opened\n', 'opened\n'])

  expect(await runBridle(['mcp', 'login', 'vault'])).toMatchObject({
    code: 0,
    stdout: `already logged in to vault at ${server.url}\n`,
  })

  const listed = await runBridle(['mcp', 'list', '--json'])
  expect(JSON.parse(listed.stdout)).toEqual([
    { server: server.url, scope: 'read', expires: expect.stringMatching(/^20.*Z$/), renewable: true },
  ])
  expect((await runBridle(['mcp', 'list'])).stdout).toContain('then renewed')

  server.revoke(true)
  const stale = await runBridle(['run', 'open.harn'])
  expect(stale).toMatchObject({ code: 1, stdout: '' })
  expect(stale.stderr).toContain('the login has ended; run `bridle mcp login vault`')

  const again = await runBridle(['mcp', 'login', 'vault', '--no-browser'], (page) => void agree(page).then((back) => fetch(back)))
  expect(again).toMatchObject({ code: 0, stdout: `logged in to vault at ${server.url}\n` })

  expect(server.valid()).toEqual([1, 1])
  expect(await runBridle(['mcp', 'logout', server.url])).toEqual({ code: 0, stdout: `logged out of ${server.url}\n`, stderr: '' })
  expect(server.valid()).toEqual([0, 0])
  expect(server.log.slice(-2)).toEqual(['revoke refresh_token', 'revoke access_token'])
  expect(await runBridle(['mcp', 'logout', server.url])).toMatchObject({ code: 1 })
  expect(await runBridle(['mcp', 'list'])).toMatchObject({ stdout: 'logged in to no server\n' })
})

test('the address can be pasted by hand, and a second login registers anew', { timeout: 60_000 }, async () => {
  const login = await startBridle(['mcp', 'login', server.url, '--paste', '--json'], (page, { write }) => {
    void agree(page).then((back) => write(`${back}\n`))
  })
  expect(JSON.parse(login.stdout)).toEqual({ server: server.url, name: 'vault', loggedIn: true, asked: true })
  if (process.platform === 'win32') return
  chmodSync(tokens, 0o644)
  await runBridle(['mcp', 'list'])
  expect(statSync(tokens).mode & 0o777).toBe(0o600)
  // A confined run must not use the user's tokens because of a file in its folder.
  const confined = await runBridle(['run', '--root', folder, '--grant', 'http', 'open.harn'])
  expect(confined.code).toBe(1)
})

test('the client id of a login is stored for later renewals', { timeout: 60_000 }, async () => {
  await runBridle(['mcp', 'logout', '--all'])
  const port = await freePort()
  const resource = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', server.url))
  const { authorization_servers: issuers } = (await resource.json()) as { readonly authorization_servers: readonly string[] }
  const answer = await fetch(new URL('/register', issuers[0]), {
    method: 'POST',
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  })
  const { client_id: id } = (await answer.json()) as { readonly client_id: string }
  const given = ['--client-id', id, '--port', String(port)]
  const login = await runBridle(['mcp', 'login', server.url, '--no-browser', ...given], (page) => {
    void agree(page).then((back) => fetch(back))
  })
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining(`client_id=${id}`) })
  server.log.length = 0
  // Tokens are revoked by the client that they were issued to.
  expect(await runBridle(['mcp', 'logout', server.url])).toMatchObject({ code: 0, stderr: '' })
  expect(server.log).toEqual(['revoke refresh_token', 'revoke access_token'])
})

test('a secret from the environment logs in and renews, and is never written', { timeout: 60_000 }, async () => {
  await runBridle(['mcp', 'logout', '--all'])
  const port = await freePort()
  const resource = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', server.url))
  const { authorization_servers: issuers } = (await resource.json()) as { readonly authorization_servers: readonly string[] }
  const answer = await fetch(new URL('/register', issuers[0]), {
    method: 'POST',
    body: JSON.stringify({
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: 'client_secret_basic',
    }),
  })
  const client = (await answer.json()) as { readonly client_id: string; readonly client_secret: string }
  const given = ['--client-id', client.client_id, '--client-secret-env', 'VAULT_SECRET', '--port', String(port)]
  const logIn = (words: readonly string[]): Promise<Ended> =>
    runBridle(['mcp', 'login', 'vault', '--no-browser', ...words], (page) => void agree(page).then((back) => fetch(back)))
  const manifest = join(folder, 'harn.toml')
  const before = readFileSync(manifest, 'utf8')
  try {
    process.env['VAULT_SECRET'] = 'a guess that is wrong'
    const wrong = await logIn(given)
    expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('invalid_client') })
    expect(wrong.stderr).not.toContain('a guess')
    process.env['VAULT_SECRET'] = client.client_secret
    expect(await runBridle(['mcp', 'login', 'vault', '--client-secret-env', 'VAULT_SECRET'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--client-secret-env needs --client-id'),
    })
    server.log.length = 0
    const login = await logIn(given)
    expect(login).toMatchObject({ code: 0, stdout: `logged in to vault at ${server.url}\n` })
    expect(server.log).toEqual(['authorize', 'token authorization_code'])
    for (const text of [login.stdout, login.stderr, readFileSync(tokens, 'utf8')])
      expect(text).not.toContain(client.client_secret)
    // Runs renew with the secret that the manifest names, and cannot without it.
    writeFileSync(manifest, `${before}auth = { client_id = "${client.client_id}", client_secret_env = "VAULT_SECRET" }\n`)
    server.revoke()
    expect(await runBridle(['run', 'open.harn'])).toEqual({ code: 0, stdout: 'opened\n', stderr: '' })
    expect(server.log.slice(2)).toEqual(['token refresh_token'])
    expect(readFileSync(tokens, 'utf8')).not.toContain(client.client_secret)
    delete process.env['VAULT_SECRET']
    server.revoke()
    expect(await runBridle(['run', 'open.harn'])).toMatchObject({ code: 1, stdout: '' })
  } finally {
    delete process.env['VAULT_SECRET']
    writeFileSync(manifest, before)
    await runBridle(['mcp', 'logout', '--all'])
  }
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

test('a logout without the authorization server', { timeout: 60_000 }, async () => {
  const logIn = async (): Promise<void> => {
    const login = await runBridle(
      ['mcp', 'login', 'vault', '--no-browser'],
      (page) => void agree(page).then((back) => fetch(back)),
    )
    expect(login.code).toBe(0)
    server.log.length = 0
  }
  const out = { loggedOut: [server.url], revoked: [] as string[], notRevoked: [] as object[] }
  await runBridle(['mcp', 'logout', '--all'])
  await logIn()
  server.offers.status = 503
  const refused = await runBridle(['mcp', 'logout', 'vault', '--json'])
  server.offers.status = 200
  expect(refused).toMatchObject({ code: 0, stderr: expect.stringContaining('forgotten here but could not be revoked') })
  const reason = expect.stringContaining('/revoke answered 503 (server_error)') as string
  expect(JSON.parse(refused.stdout)).toEqual({ ...out, notRevoked: [{ server: server.url, reason }] })
  expect(await runBridle(['mcp', 'list'])).toMatchObject({ stdout: 'logged in to no server\n' })

  await logIn()
  server.offers.revocation = false
  const without = await runBridle(['mcp', 'logout', '--all', '--json'])
  server.offers.revocation = true
  expect(without).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(without.stdout)).toEqual(out)

  await logIn()
  expect(await runBridle(['mcp', 'logout', 'vault', '--local'])).toMatchObject({ code: 0, stderr: '' })
  expect(server.log).toEqual([])
})

test('a person who refuses, gives up or does not respond', { timeout: 60_000 }, async () => {
  await runBridle(['mcp', 'logout', '--all'])
  const refused = await runBridle(['mcp', 'login', 'vault', '--no-browser'], (page) => {
    page.searchParams.set('person', 'no')
    void agree(page).then((back) => fetch(back))
  })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('access_denied') })
  const given = await startBridle(['mcp', 'login', 'vault', '--no-browser'], (_page, { kill }) => kill())
  expect(given).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted') })
  const late = await runBridle(['mcp', 'login', 'vault', '--no-browser', '--timeout', '1'])
  expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining('the login took longer than 1000 ms') })
  expect(await runBridle(['mcp', 'list'])).toMatchObject({ stdout: 'logged in to no server\n' })
})

test('failures are reported', { timeout: 60_000 }, async () => {
  const cases: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
    [['mcp', 'login', 'nowhere'], 2, 'nowhere is neither a URL nor a server of harn.toml (it declares vault)'],
    [['mcp', 'login', 'http://127.0.0.1:1/mcp'], 1, 'MCP HTTP request error'],
    [['mcp', 'login', 'vault', '--client-secret-env', 'NO_SUCH_VARIABLE'], 2, 'NO_SUCH_VARIABLE is not set'],
    [['mcp', 'logout'], 2, 'name a server, or give --all'],
  ]
  for (const [args, code, message] of cases)
    expect(await runBridle(args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
  writeFileSync(tokens, 'not JSON')
  expect(await runBridle(['mcp', 'list'])).toMatchObject({ code: 1, stderr: expect.stringContaining('is no store of tokens') })
  expect(await runBridle(['run', 'open.harn'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is no store of tokens'),
  })
  rmSync(tokens)
})
