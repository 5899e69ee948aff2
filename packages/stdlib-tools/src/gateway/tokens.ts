// Tokens of an authorization server (JWT, RFC 9068): signed by one of its keys, for this gateway, and not expired. Keys are fetched from the issuer's
// metadata (RFC 8414, or OpenID Connect) and again when a token names one that is not known.

import { createPublicKey, verify as verifySignature } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import type { ResourceServer, TokenHolder } from '../mcp/http-rules.js'
import type { GatewayAuth } from './config.js'

type JsonRecord = { readonly [key: string]: unknown }

/** What signs, by `alg`. None and the symmetric ones are not among them. */
const ALGORITHMS: { readonly [alg: string]: { readonly hash: string | null; readonly type: string; readonly isDsa?: true } } = {
  RS256: { hash: 'sha256', type: 'rsa' },
  RS384: { hash: 'sha384', type: 'rsa' },
  RS512: { hash: 'sha512', type: 'rsa' },
  ES256: { hash: 'sha256', type: 'ec', isDsa: true },
  ES384: { hash: 'sha384', type: 'ec', isDsa: true },
  EdDSA: { hash: null, type: 'ed25519' },
}

/** Clocks of two machines differ. */
const LEEWAY_S = 30
/** Tokens with unknown keys must not make us fetch the keys each time. */
const REFETCH_MS = 60_000
const TIMEOUT_MS = 10_000

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

export interface TokenOptions {
  readonly fetch?: typeof globalThis.fetch
  readonly now?: () => number
  /** Called with the reason why a token is refused. */
  readonly onRefusal?: (reason: string) => void
}

export function makeResourceServer(auth: GatewayAuth, resource: string, options: TokenOptions = {}): ResourceServer {
  const keys = new IssuerKeys(auth.issuer, options)
  const { now = Date.now, onRefusal } = options
  return {
    resource,
    authorizationServers: [auth.issuer],
    ...(auth.scopes === undefined ? {} : { scopes: auth.scopes }),
    async verify(token): Promise<TokenHolder | null> {
      try {
        return await verifyToken(token, { issuer: auth.issuer, resource, keys, now: now() })
      } catch (cause) {
        onRefusal?.(cause instanceof Error ? cause.message : String(cause))
        return null
      }
    },
  }
}

async function verifyToken(
  token: string,
  {
    issuer,
    resource,
    keys,
    now,
  }: { readonly issuer: string; readonly resource: string; readonly keys: IssuerKeys; readonly now: number },
): Promise<TokenHolder> {
  const [head, body, signature, ...rest] = token.split('.')
  if (head === undefined || body === undefined || signature === undefined || rest.length > 0)
    throw new Error('the token is no JWT')
  const header = readPart(head)
  const claims = readPart(body)
  const algorithm = Object.hasOwn(ALGORITHMS, String(header['alg'])) ? ALGORITHMS[String(header['alg'])] : undefined
  if (algorithm === undefined) throw new Error(`tokens signed by ${String(header['alg'])} are not taken`)
  const key = await keys.find(typeof header['kid'] === 'string' ? header['kid'] : null)
  if (key === null || key.asymmetricKeyType !== algorithm.type) throw new Error('the token names no key of its issuer')
  const isSigned = verifySignature(
    algorithm.hash,
    Buffer.from(`${head}.${body}`),
    algorithm.isDsa === true ? { key, dsaEncoding: 'ieee-p1363' } : key,
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) throw new Error('the signature of the token is wrong')
  const { iss, aud, exp, nbf, sub, client_id: client, scope, scp } = claims
  const seconds = now / 1000
  if (iss !== issuer) throw new Error('the token is of another issuer')
  const audience: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (!audience.includes(resource)) throw new Error('the token is for another server')
  if (typeof exp !== 'number' || exp + LEEWAY_S < seconds) throw new Error('the token has expired')
  if (typeof nbf === 'number' && nbf - LEEWAY_S > seconds) throw new Error('the token is not good yet')
  if (typeof sub !== 'string' && typeof client !== 'string') throw new Error('the token says not of whom it is')
  const scopes = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scp) ? scp.map(String) : []
  return { client: JSON.stringify([sub ?? null, client ?? null]), scopes }
}

function readPart(part: string): JsonRecord {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  if (!isRecord(value)) throw new Error('the token is no JWT')
  return value
}

class IssuerKeys {
  private readonly issuer: string
  private readonly options: TokenOptions
  private keys: ReadonlyMap<string | null, KeyObject> = new Map()
  private fetchedAt = -Infinity
  private fetching: Promise<void> | null = null

  constructor(issuer: string, options: TokenOptions) {
    this.issuer = issuer
    this.options = options
  }

  async find(id: string | null): Promise<KeyObject | null> {
    const known = this.keys.get(id)
    if (known !== undefined) return known
    const { now = Date.now } = this.options
    if (now() - this.fetchedAt > REFETCH_MS) {
      this.fetching ??= this.fetch().finally(() => (this.fetching = null))
      await this.fetching
      this.fetchedAt = now()
    }
    return this.keys.get(id) ?? null
  }

  private async fetch(): Promise<void> {
    const metadata = await this.findMetadata()
    // The document must say that it is of this issuer (RFC 8414, section 3.3).
    if (metadata['issuer'] !== this.issuer) throw new Error(`the metadata of ${this.issuer} are of another issuer`)
    const address = metadata['jwks_uri']
    if (typeof address !== 'string') throw new Error(`${this.issuer} has no jwks_uri`)
    const { keys } = await this.read(new URL(address))
    const found = new Map<string | null, KeyObject>()
    for (const each of Array.isArray(keys) ? (keys as readonly unknown[]) : []) {
      if (!isRecord(each) || each['use'] === 'enc') continue
      const key = createPublicKey({ key: each as JsonWebKey, format: 'jwk' })
      found.set(typeof each['kid'] === 'string' ? each['kid'] : null, key)
    }
    this.keys = found
  }

  private async findMetadata(): Promise<JsonRecord> {
    const { origin, pathname } = new URL(this.issuer)
    const path = pathname === '/' ? '' : pathname.replace(/\/$/, '')
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
    ]
    let failure: unknown = null
    for (const place of places) {
      try {
        return await this.read(new URL(place))
      } catch (cause) {
        failure ??= cause
      }
    }
    throw failure
  }

  private async read(url: URL): Promise<JsonRecord> {
    const fetch = this.options.fetch ?? globalThis.fetch
    const response = await fetch(url.href, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' })
    if (!response.ok) throw new Error(`${url.href} answers ${response.status}`)
    const value: unknown = await response.json()
    if (!isRecord(value)) throw new Error(`${url.href} is no object`)
    return value
  }
}
