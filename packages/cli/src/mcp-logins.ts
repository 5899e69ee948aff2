// Servers of harn.toml that the user has logged in to (`bridle mcp login`) are called with the stored tokens, which are renewed as needed.
// A run never asks for consent: if that is needed, the error names the command for it.

import { parseUrl } from '@bridle/compiler/grants'
import type { McpAuth, McpServerDeclaration } from '@bridle/stdlib-tools/mcp'
import { AuthFileError, fileAuthStore, userAuthFile } from '@bridle/stdlib-tools/node'
import type { FileAuthStore } from '@bridle/stdlib-tools/node'
import { CommandError } from './errors.js'

type Servers = { readonly [name: string]: McpServerDeclaration }

/** Reads the user's file only when a server may need it. */
export function withLogins(servers: Servers, env: NodeJS.ProcessEnv = process.env): Servers {
  // A server with a configured secret may be logged in to as well; without a login the secret is used.
  const mayNeedLogin = ({ url, authToken }: McpServerDeclaration): boolean =>
    url !== undefined && parseUrl(url) !== null && authToken === undefined
  if (!Object.values(servers).some(mayNeedLogin)) return servers
  const store = fileAuthStore(userAuthFile(env))
  const known = readEntries(store)
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const key = mayNeedLogin(server) ? new URL(server.url!).href : ''
      if (!known.has(`${key} tokens`)) return [name, server]
      return [name, { ...server, auth: { ...server.auth, ...makeLogin(store, name, known.get(`${key} client`)) } }]
    }),
  )
}

function makeLogin(store: FileAuthStore, name: string, client: string | undefined): McpAuth {
  const { redirect_uris: back } = (client === undefined ? {} : JSON.parse(client)) as {
    readonly redirect_uris?: readonly string[]
  }
  return {
    store,
    redirectUrl: back?.[0] ?? 'http://127.0.0.1/callback',
    authorize: () => Promise.reject(new Error(`the login has ended; run \`bridle mcp login ${name}\``)),
  }
}

function readEntries(store: FileAuthStore): ReadonlyMap<string, string> {
  try {
    return store.entries()
  } catch (cause) {
    throw cause instanceof AuthFileError ? new CommandError(cause.message) : cause
  }
}
