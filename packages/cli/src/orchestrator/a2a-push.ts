// Authenticates a push of a task's state: by a JSON Web Token of the agent, or a shared token.

import { createHash, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import type { JsonWebKey } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export interface PushClaims {
  readonly jti?: unknown
  readonly exp?: unknown
  readonly iss?: unknown
  readonly [name: string]: unknown
}

export type PushOutcome =
  | { readonly ok: true; readonly claims: PushClaims; readonly isSigned: boolean }
  | { readonly ok: false; readonly reason: string }

interface PushConfig {
  readonly expected_iss?: string
  readonly expected_aud?: string
  readonly audience?: string
  readonly jwks_url?: string
  readonly inline_jwks?: unknown
  readonly auth_scheme?: string
  readonly expected_token?: string
  readonly token?: string
}

interface KeySet {
  readonly keys: readonly (JsonWebKey & { readonly kid?: string; readonly alg?: string })[]
}

const CLOCK_SKEW_S = 60
const DAY_MS = 86_400_000
const FETCH_MS = 10_000
const fetched = new Map<string, { readonly at: number; readonly keys: KeySet }>()

export async function verifyPush(config: PushConfig, headers: IncomingHttpHeaders, body: unknown): Promise<PushOutcome> {
  const hasKeys = ['expected_iss', 'expected_aud', 'audience', 'jwks_url', 'inline_jwks'].some(
    (name) => config[name as keyof PushConfig] !== undefined,
  )
  const scheme =
    config.auth_scheme ??
    (hasKeys ? 'jwt' : config.expected_token === undefined && config.token === undefined ? 'none' : 'bearer')
  const given = headers.authorization ?? ''
  const bearer = given.startsWith('Bearer ') ? given.slice(7).trim() : null
  const expected = config.expected_token ?? config.token
  const other = headers['x-a2a-notification-token']
  if (scheme === 'none') return { ok: true, claims: {}, isSigned: false }
  if (scheme === 'bearer') {
    const token = typeof other === 'string' ? other : bearer
    if (expected === undefined || token === null || !isSameText(token, expected))
      return { ok: false, reason: 'a2a-push bearer token did not match' }
    return { ok: true, claims: {}, isSigned: true }
  }
  if (bearer === null) return { ok: false, reason: 'missing required header `Authorization`' }
  let claims: PushClaims
  try {
    claims = readToken(bearer, await readKeys(config))
  } catch (cause) {
    return { ok: false, reason: `a2a-push JWT is invalid: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
  const problem = findClaimProblem(claims, config, body, expected)
  return problem === null ? { ok: true, claims, isSigned: true } : { ok: false, reason: problem }
}

function findClaimProblem(claims: PushClaims, config: PushConfig, body: unknown, token: string | undefined): string | null {
  const now = Date.now() / 1000
  const audience = config.expected_aud ?? config.audience
  if (config.expected_iss !== undefined && claims.iss !== config.expected_iss) return 'a2a-push JWT issuer did not match'
  if (audience !== undefined) {
    const { aud } = claims
    if (!(Array.isArray(aud) ? aud.includes(audience) : aud === audience)) return 'a2a-push JWT audience did not match'
  }
  if (typeof claims['iat'] !== 'number' || claims['iat'] > now + CLOCK_SKEW_S) return 'a2a-push JWT was issued in the future'
  if (typeof claims.exp !== 'number' || claims.exp <= now) return 'a2a-push JWT has expired'
  if (typeof claims.jti !== 'string' || claims.jti === '') return 'a2a-push JWT is missing jti'
  if (token !== undefined && claims['token'] !== token) return 'a2a-push JWT token did not match'
  const { taskId, task_id: taskIdToo } = (body ?? {}) as { readonly taskId?: unknown; readonly task_id?: unknown }
  const claimed = claims['taskId'] ?? claims['task_id']
  const task = taskId ?? taskIdToo
  if (claimed !== undefined && task !== undefined && claimed !== task) return 'a2a-push JWT task did not match the body'
  return null
}

async function readKeys({ inline_jwks: inline, jwks_url: url }: PushConfig): Promise<KeySet> {
  if (inline !== undefined) return (typeof inline === 'string' ? JSON.parse(inline) : inline) as KeySet
  if (url === undefined) throw new Error('there are no keys to verify it with: set jwks_url or inline_jwks')
  const known = fetched.get(url)
  if (known !== undefined && Date.now() - known.at < DAY_MS) return known.keys
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) })
  if (!response.ok) throw new Error(`${url} answered HTTP ${response.status}`)
  const keys = (await response.json()) as KeySet
  fetched.set(url, { at: Date.now(), keys })
  return keys
}

const ALGORITHMS: { readonly [alg: string]: { readonly hash: string | null; readonly raw: boolean } } = {
  RS256: { hash: 'sha256', raw: false },
  RS384: { hash: 'sha384', raw: false },
  RS512: { hash: 'sha512', raw: false },
  ES256: { hash: 'sha256', raw: true },
  ES384: { hash: 'sha384', raw: true },
  EdDSA: { hash: null, raw: false },
}

function readToken(token: string, { keys }: KeySet): PushClaims {
  const parts = token.split('.')
  const [head = '', payload = '', signature = ''] = parts
  if (parts.length !== 3) throw new Error('it has not three parts')
  const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as { readonly alg?: string; readonly kid?: string }
  const algorithm = ALGORITHMS[header.alg ?? '']
  if (algorithm === undefined) throw new Error(`algorithm ${String(header.alg)} is not supported`)
  const fitting = keys.filter(({ kid }) => header.kid === undefined || kid === undefined || kid === header.kid)
  const isSigned = fitting.some((jwk) => {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const options = algorithm.raw ? { key, dsaEncoding: 'ieee-p1363' as const } : key
    return verify(algorithm.hash, Buffer.from(`${head}.${payload}`), options, Buffer.from(signature, 'base64url'))
  })
  if (!isSigned) throw new Error('no key fits its signature')
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as PushClaims
}

function isSameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
