// Checks of an HTTP request before the protocol sees it, for all servers: the path, a Host and an Origin that are not a trick of a web page, a
// size, a key or a token (OAuth 2.0 resource server as the protocol defines it: RFC 9728 metadata, RFC 6750 refusals).

import { isSameText } from './constant-time.js'

export const HTTP_DEFAULTS = { maxSessions: 1000, sessionIdleMs: 30 * 60_000, maxBodyBytes: 4 << 20 }

/** The client of a token. */
export interface TokenHolder {
  /** One client has one of these: budgets and sessions belong to it. */
  readonly client: string
  readonly scopes?: readonly string[]
}

export interface ResourceServer {
  /** The URL under which clients know this server; tokens are for it. */
  readonly resource: string
  /** Issuers of tokens. */
  readonly authorizationServers: readonly string[]
  /** What a token must have. */
  readonly scopes?: readonly string[]
  /** Null for a token that is not good. Expiry, issuer and audience are its affair. */
  readonly verify: (token: string) => Promise<TokenHolder | null> | TokenHolder | null
}

export interface AccessRules {
  /** That it listens on, or null where the host around it has seen to that. */
  readonly host: string | null
  readonly path: string
  readonly apiKeys: readonly string[]
  readonly allowedOrigins: readonly string[]
  readonly maxBodyBytes: number
  readonly auth?: ResourceServer | undefined
}

export interface RequestFacts {
  readonly path: string
  /** Of a name in lower case. */
  readonly header: (name: string) => string | undefined
}

export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: { readonly [name: string]: string }
}

/** Whether a request is admitted, and its client; null for unauthenticated clients. */
export type Access = { readonly ok: true; readonly client: string | null } | { readonly ok: false; readonly refusal: Refusal }

export const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The metadata document of the token issuer; null for other paths, or without an issuer. */
export function findResourceMetadata({ path, auth }: AccessRules, asked: string): object | null {
  if (auth === undefined || (asked !== WELL_KNOWN && asked !== `${WELL_KNOWN}${path}`)) return null
  return {
    resource: auth.resource,
    authorization_servers: auth.authorizationServers,
    bearer_methods_supported: ['header'],
    ...(auth.scopes === undefined ? {} : { scopes_supported: auth.scopes }),
  }
}

export async function judgeAccess(rules: AccessRules, request: RequestFacts): Promise<Access> {
  const refuse = (status: number, message: string, headers?: Refusal['headers']): Access => ({
    ok: false,
    refusal: { status, message, ...(headers === undefined ? {} : { headers }) },
  })
  if (request.path !== rules.path) return refuse(404, 'Not found')
  if (rules.host !== null && LOOPBACK.has(rules.host) && !LOOPBACK.has(readHostName(request.header('host') ?? '')))
    return refuse(403, 'Invalid Host header')
  // Only browsers say where a request comes from, and a page of a stranger is no client.
  const origin = request.header('origin')
  if (origin !== undefined && !isAllowedOrigin(origin, rules)) return refuse(403, 'Invalid Origin header')
  if (Number(request.header('content-length') ?? 0) > rules.maxBodyBytes)
    return refuse(413, `The request is longer than ${rules.maxBodyBytes} bytes`)
  const bearer = readBearer(request.header('authorization'))
  const key = findKey(rules.apiKeys, [request.header('x-api-key'), bearer])
  if (key !== null) return { ok: true, client: `key-${key}` }
  const { auth } = rules
  if (auth === undefined) return rules.apiKeys.length === 0 ? { ok: true, client: null } : refuse(401, 'Unauthorized')
  const challenge = (error: string | null): Refusal['headers'] => ({
    'www-authenticate': [
      `Bearer resource_metadata="${new URL(`${WELL_KNOWN}${rules.path}`, auth.resource).href}"`,
      ...(error === null ? [] : [`error="${error}"`]),
      ...(auth.scopes === undefined ? [] : [`scope="${auth.scopes.join(' ')}"`]),
    ].join(', '),
  })
  if (bearer === undefined) return refuse(401, 'Unauthorized', challenge(null))
  const holder = await auth.verify(bearer)
  if (holder === null) return refuse(401, 'Unauthorized', challenge('invalid_token'))
  const missing = (auth.scopes ?? []).filter((scope) => holder.scopes?.includes(scope) !== true)
  if (missing.length > 0) return refuse(403, `The token has no scope ${missing.join(', ')}`, challenge('insufficient_scope'))
  return { ok: true, client: `token-${holder.client}` }
}

function isAllowedOrigin(origin: string, { host, allowedOrigins }: AccessRules): boolean {
  if (allowedOrigins.includes(origin)) return true
  const name = /^https?:\/\/([^/]+)$/.exec(origin)?.[1]
  return name !== undefined && host !== null && LOOPBACK.has(host) && LOOPBACK.has(readHostName(name))
}

export function readHostName(header: string): string {
  const bracketed = /^\[([^\]]+)\]/.exec(header)
  return (bracketed?.[1] ?? header.replace(/:\d+$/, '')).toLowerCase()
}

const readBearer = (header: string | undefined): string | undefined => /^Bearer (.+)$/i.exec(header ?? '')?.[1]

/** The number of the key that was given. Every key is compared in full, so that the time reveals nothing. */
function findKey(keys: readonly string[], given: readonly (string | undefined)[]): number | null {
  const found = given.flatMap((key) => (key === undefined ? [] : keys.map((known, at) => (isSameText(key, known) ? at : -1))))
  return found.find((at) => at >= 0) ?? null
}
