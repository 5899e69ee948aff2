// The end of a login at the authorization server (RFC 7009): revokes the stored tokens of an MCP server, so that they cannot be used any
// more, where the authorization server has an endpoint for that. They go to the server that gave them, and to no other.

import type { McpAuth, McpAuthStore } from './oauth.js'
import { AuthorizationError } from './oauth.js'

type Fetch = typeof globalThis.fetch

/** What is used of it (RFC 8414 §2). */
interface Metadata {
  readonly revocation_endpoint?: string | undefined
  readonly revocation_endpoint_auth_methods_supported?: readonly string[] | undefined
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined
}

export type Revocation =
  /** The authorization server has taken them back. */
  | 'revoked'
  /** It has no endpoint for that: they last as long as they last. */
  | 'unsupported'
  /** There were none. */
  | 'none'

interface KeptTokens {
  readonly access_token?: string
  readonly refresh_token?: string
  /** URL of the authorization server that gave them. */
  readonly issuer?: string
}

interface KeptClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly token_endpoint_auth_method?: string
}

/** Leaves the store as it is. Rejects when the authorization server cannot be reached or refuses. */
export async function revokeTokens(
  serverUrl: URL,
  auth: McpAuth & { readonly store: McpAuthStore },
  signal: AbortSignal,
  base: Fetch = globalThis.fetch,
): Promise<Revocation> {
  const tokens = await readKept<KeptTokens>(auth.store, serverUrl, 'tokens')
  if (tokens === null) return 'none'
  const fetchFn: Fetch = (input, init) => base(input, { ...init, signal })
  const metadata = await discoverMetadata(serverUrl, tokens.issuer, fetchFn)
  const endpoint = metadata?.revocation_endpoint
  if (metadata === undefined || typeof endpoint !== 'string') return 'unsupported'
  const client = await loadClient(serverUrl, auth)
  // The renewal first: with it the other could be had again.
  for (const kind of ['refresh_token', 'access_token'] as const) {
    const token = tokens[kind]
    if (token === undefined) continue
    const form = new URLSearchParams({ token, token_type_hint: kind })
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' })
    identify(client, metadata, form, headers)
    const response = await fetchFn(endpoint, { method: 'POST', headers, body: form })
    if (response.ok) {
      await response.body?.cancel()
      continue
    }
    const reason = readReason(await response.text())
    // Access tokens that run out by themselves need not be revocable (RFC 7009 §2.2.1).
    if (kind === 'access_token' && reason === 'unsupported_token_type') continue
    throw new AuthorizationError(`${endpoint} answered ${response.status}${reason === '' ? '' : ` (${reason})`}`)
  }
  return 'revoked'
}

async function discoverMetadata(serverUrl: URL, issuer: string | undefined, fetchFn: Fetch): Promise<Metadata | undefined> {
  const sdk = await import('@modelcontextprotocol/sdk/client/auth.js')
  const found =
    issuer === undefined
      ? (await sdk.discoverOAuthServerInfo(serverUrl, { fetchFn })).authorizationServerMetadata
      : await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn })
  // The type does not contain the additional keys of OpenID Connect discovery; values that are not text are refused below.
  return found as Metadata | undefined
}

async function loadClient(serverUrl: URL, { clientId, clientSecret, store }: McpAuth & { readonly store: McpAuthStore }) {
  if (clientId === undefined) return readKept<KeptClient>(store, serverUrl, 'client')
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
}

/** Client authentication, by the method of the authorization server. */
function identify(client: KeptClient | null, metadata: Metadata, form: URLSearchParams, headers: Headers): void {
  if (client === null) return
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: own } = client
  const taken = metadata.revocation_endpoint_auth_methods_supported ?? metadata.token_endpoint_auth_methods_supported
  const byForm = own === 'client_secret_post' || (taken !== undefined && !taken.includes('client_secret_basic'))
  if (secret !== undefined && !byForm) {
    const encodePart = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+')
    headers.set('authorization', `Basic ${btoa(`${encodePart(id)}:${encodePart(secret)}`)}`)
    return
  }
  form.set('client_id', id)
  if (secret !== undefined) form.set('client_secret', secret)
}

function readReason(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: unknown }
    return typeof error === 'string' ? error : ''
  } catch {
    return ''
  }
}

async function readKept<T>(store: McpAuthStore, server: URL, what: 'tokens' | 'client'): Promise<T | null> {
  const text = await store.get(`${server.href} ${what}`)
  return text === undefined ? null : (JSON.parse(text) as T)
}
