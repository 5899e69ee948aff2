// `bridle mcp login|logout|list`: access to MCP servers that require a person's consent (OAuth 2.1). Tokens are stored in a file that only the
// user can read; runs use those of the servers that harn.toml declares.

import { parseUrl } from '@bridle/compiler/grants'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { AuthFileError, fileAuthStore, userAuthFile } from '@bridle/stdlib-tools/node'
import type { FileAuthStore } from '@bridle/stdlib-tools/node'
import { McpConnection, McpFailure, loopbackRedirect, revokeTokens } from '@bridle/stdlib-tools/mcp'
import type { McpAuth } from '@bridle/stdlib-tools/mcp'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { loadManifest } from '../host.js'
import { LONGEST_MS, Stop } from '../stop.js'
import { complain } from '../printable.js'

export interface McpFlags {
  readonly json?: boolean
}

export interface McpLoginFlags extends McpFlags {
  readonly clientId?: string
  readonly clientSecretEnv?: string
  readonly scope?: string
  readonly port?: number
  readonly browser?: boolean
  readonly paste?: boolean
  readonly timeout?: number
}

/** Five minutes: a person may have to look up a password. */
const DEFAULT_TIMEOUT_S = 300

export async function mcpLoginCommand(server: string, flags: McpLoginFlags): Promise<number> {
  const { url, auth: declared } = findServer(server)
  const store = openUserStore()
  const { clientSecretEnv: variable } = flags
  const secret = variable !== undefined && Object.hasOwn(process.env, variable) ? process.env[variable] : undefined
  if (flags.clientSecretEnv !== undefined && (secret ?? '') === '')
    throw new UsageError(`--client-secret-env: the variable ${flags.clientSecretEnv} is not set`)
  if (secret !== undefined && flags.clientId === undefined) throw new UsageError('--client-secret-env needs --client-id')
  const redirect = await loopbackRedirect(flags.port).catch((cause: unknown) => {
    throw new CommandError(`cannot listen on port ${flags.port}: ${(cause as Error).message}`)
  })
  const stop = new Stop((flags.timeout ?? DEFAULT_TIMEOUT_S) * 1000)
  let asked = false
  const auth: McpAuth = {
    ...declared,
    ...(flags.clientId === undefined ? {} : { clientId: flags.clientId }),
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(flags.scope === undefined ? {} : { scope: flags.scope }),
    store,
    redirectUrl: redirect.redirectUrl,
    authorize: (page, signal) => {
      asked = true
      return askPerson(page, flags, (request) => redirect.answerTo(request, AbortSignal.any([signal, stop.signal])))
    },
  }
  try {
    const name = (await greetWithTokens(store, url, auth, stop.signal)) ?? (await greet(url, auth, stop.signal))
    const has = readEntries(store).get(url.href)?.['tokens'] !== undefined
    // Later renewals and revocations are not given the id again, so it is stored. The secret is not.
    if (has && flags.clientId !== undefined && secret === undefined && declared?.clientId === undefined)
      await store.set(`${url.href} client`, JSON.stringify({ client_id: flags.clientId, redirect_uris: [redirect.redirectUrl] }))
    if (flags.json === true) console.log(JSON.stringify({ server: url.href, name, loggedIn: has, asked }))
    else if (!has) console.log(`${url.href} asks for no authorization`)
    else console.log(`${asked ? 'logged in to' : 'already logged in to'} ${name} at ${url.href}`)
    return 0
  } catch (cause) {
    if (stop.signal.aborted) {
      complain(stop.complaint.replace('the run took', 'the login took'))
      return stop.code
    }
    complain(`error: ${(cause as Error).message}\n`)
    return EXIT_FAILURE
  } finally {
    stop.end()
    redirect.close()
  }
}

/** With the tokens of an earlier login. Tokens that do not work are deleted, as is a registration with another redirect address. */
async function greetWithTokens(store: FileAuthStore, url: URL, auth: McpAuth, signal: AbortSignal): Promise<string | null> {
  if (readEntries(store).get(url.href)?.['tokens'] !== undefined) {
    let wantsPerson = false
    const alone: McpAuth = {
      ...auth,
      authorize: () => {
        wantsPerson = true
        return Promise.reject(new Error('a person is to agree'))
      },
    }
    try {
      return await greet(url, alone, signal)
    } catch (cause) {
      if (!wantsPerson) throw cause
    }
  }
  forget(store, url.href)
  return null
}

function forget(store: FileAuthStore, server: string): void {
  for (const what of ['client', 'tokens', 'key']) void store.set(`${server} ${what}`, undefined)
}

/** Connects and lists the tools, since some servers accept any connection. Returns the server's name for itself. */
async function greet(url: URL, auth: McpAuth, signal: AbortSignal): Promise<string> {
  const config = {
    name: url.href,
    transport: 'http',
    url: url.href,
    authToken: null,
    headers: {},
    auth,
    proxyServerName: null,
  } as const
  // `stop` limits the total time.
  const limits = { timeoutMs: LONGEST_MS, signal }
  const connection = await McpConnection.open(
    { config, cwd: undefined, env: {}, stderr: 'ignore', connectTimeoutMs: LONGEST_MS, handlers: {}, fetch: undefined },
    signal,
  )
  try {
    const listed = await connection.request('tools/list', {}, limits)
    if (!listed.ok) throw new McpFailure(listed)
    const { server } = connection.facts() as { readonly server?: { readonly name?: string } | null }
    return server?.name ?? url.host
  } finally {
    await connection.close()
  }
}

/** Opens the page, and waits for the browser's redirect, or for the address to be typed in. */
async function askPerson(page: URL, flags: McpLoginFlags, answered: (request: URL) => Promise<string>): Promise<string> {
  complain(`To allow access, open this page in a browser:\n\n${page.href}\n\n`)
  if (flags.paste === true) {
    complain('Then paste the address that the browser ends up at, and press Enter:\n')
    const lines = createInterface({ input: process.stdin, terminal: false })
    try {
      return (await lines.question('')).trim()
    } finally {
      lines.close()
      process.stdin.destroy()
    }
  }
  const answer = answered(page)
  if (flags.browser !== false && process.stderr.isTTY === true) openBrowser(page.href)
  complain('Waiting for the answer; Ctrl-C gives up.\n')
  return answer
}

/** A browser that cannot be started does not matter: the address is on the screen. */
function openBrowser(address: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', address]
        : ['xdg-open', address]
  spawn(program!, args, { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
}

export interface McpLogoutFlags extends McpFlags {
  readonly all?: boolean
  /** Only delete locally: do not ask the authorization server to revoke the tokens. */
  readonly local?: boolean
}

/** Time limit for revocation by an authorization server. */
const REVOKE_MS = 10_000

/** Deletes the tokens in any case, and reports if the server did not revoke them, since they stay valid until they expire. */
export async function mcpLogoutCommand(server: string | undefined, flags: McpLogoutFlags): Promise<number> {
  if ((server === undefined) === (flags.all !== true)) throw new UsageError('name a server, or give --all, not both')
  const store = openUserStore()
  const known = readEntries(store)
  const named = server === undefined ? null : findServer(server)
  const urls = named === null ? [...known.keys()] : [named.url.href]
  const gone = urls.filter((url) => known.has(url))
  const revoked: string[] = []
  const failed: { server: string; reason: string }[] = []
  for (const url of gone) {
    try {
      const auth = { ...named?.auth, store }
      if (flags.local !== true && (await revokeTokens(new URL(url), auth, AbortSignal.timeout(REVOKE_MS))) === 'revoked')
        revoked.push(url)
    } catch (cause) {
      failed.push({ server: url, reason: readReason(cause) })
    }
    forget(store, url)
  }
  if (flags.json === true) console.log(JSON.stringify({ loggedOut: gone, revoked, notRevoked: failed }))
  else for (const url of urls) console.log(known.has(url) ? `logged out of ${url}` : `not logged in to ${url}`)
  for (const each of failed)
    complain(`warning: the tokens of ${each.server} are forgotten here but could not be revoked: ${each.reason}\n`)
  return server !== undefined && gone.length === 0 ? EXIT_FAILURE : 0
}

/** Unwraps the cause of "fetch failed". */
function readReason(cause: unknown): string {
  const { cause: inner, message } = cause as Error
  return inner instanceof Error && inner.message !== '' ? inner.message : message
}

export function mcpListCommand(flags: McpFlags): number {
  const rows = [...readEntries(openUserStore())].flatMap(([server, { ['tokens']: tokens }]) =>
    tokens === undefined
      ? []
      : [
          {
            server,
            scope: typeof tokens['scope'] === 'string' ? tokens['scope'] : null,
            expires: typeof tokens['expires_at'] === 'number' ? new Date(tokens['expires_at']).toISOString() : null,
            renewable: typeof tokens['refresh_token'] === 'string',
          },
        ],
  )
  if (flags.json === true) console.log(JSON.stringify(rows))
  else if (rows.length === 0) console.log('logged in to no server')
  for (const { server, scope, expires, renewable } of flags.json === true ? [] : rows) {
    const until = expires === null ? '' : `  until ${expires}${renewable ? ', then renewed' : ''}`
    console.log(`${server}${scope === null ? '' : `  ${scope}`}${until}`)
  }
  return 0
}

type Kept = { readonly [what: string]: { readonly [key: string]: unknown } | undefined }

/** Stored logins, by server. */
function readEntries(store: FileAuthStore): ReadonlyMap<string, Kept> {
  const byServer = new Map<string, { [what: string]: { readonly [key: string]: unknown } }>()
  try {
    for (const [key, text] of store.entries()) {
      const at = key.lastIndexOf(' ')
      const server = key.slice(0, at)
      const own = byServer.get(server) ?? {}
      byServer.set(server, own)
      own[key.slice(at + 1)] = JSON.parse(text) as { readonly [key: string]: unknown }
    }
  } catch (cause) {
    throw cause instanceof AuthFileError ? new CommandError(cause.message) : cause
  }
  return byServer
}

function openUserStore(): FileAuthStore {
  return fileAuthStore(userAuthFile(process.env))
}

/** A URL, or the name of a server in the harn.toml of this folder. */
function findServer(server: string): { readonly url: URL; readonly auth: McpAuth } {
  if (/^https?:\/\//.test(server)) {
    const url = parseUrl(server)
    if (url === null) throw new UsageError(`${server} is no URL`)
    return { url, auth: {} }
  }
  const declared = loadManifest('<login>')?.mcpServers ?? {}
  const found = Object.hasOwn(declared, server) ? declared[server] : undefined
  if (found === undefined) {
    const names = Object.keys(declared)
    const known = names.length === 0 ? 'it declares none' : `it declares ${names.join(', ')}`
    throw new UsageError(`${server} is neither a URL nor a server of harn.toml (${known})`)
  }
  const url = found.url === undefined ? null : parseUrl(found.url)
  if (url === null) throw new UsageError(`the server ${server} is not reached over HTTP`)
  return { url, auth: found.auth ?? {} }
}
