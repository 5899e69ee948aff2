// Authorization of HTTP servers by OAuth 2.1, as the protocol has it: a server that answers 401 names its authorization server,
// which gives a token either to a person who agrees in a browser (code grant with PKCE) or to this program's own credentials
// (client credentials). Discovery, registration, tokens and their renewal are the SDK's; here are the hosts' own words for it,
// where the secrets are kept, and when a request is tried again. Scripts see nothing of it.

import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { parseUrl } from '@bridle/compiler/grants'
import { describeCause } from '../tools/executors/provider.js'
import { ProofKey, asBearerChallenge, asksForProof, proveTokenRequests } from './dpop.js'

/** Where tokens and registrations are kept between runs: texts under keys, secret all of them. */
export interface McpAuthStore {
  readonly get: (key: string) => string | undefined | Promise<string | undefined>
  /** undefined forgets. */
  readonly set: (key: string, value: string | undefined) => void | Promise<void>
}

export interface McpAuth {
  /** How this program is called on the page that a person agrees to. */
  readonly clientName?: string
  /** Scopes to ask for, with blanks between; what the server asks for when absent. */
  readonly scope?: string
  /** What this program is known by. Absent: `clientMetadataUrl`, or it registers itself. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** PKCS#8 PEM; signs the requests for tokens in place of a secret (`private_key_jwt`). */
  readonly privateKey?: string
  /** Of the signature; `ES256` by default. */
  readonly algorithm?: string
  /** URL of the authorization server that these credentials are for; they are sent to no other. */
  readonly issuer?: string
  /** An https URL with a description of this program, for authorization servers that take it as the client's id. */
  readonly clientMetadataUrl?: string
  /**
   * Sends a person to `url` and returns the URL of their redirect (`redirectUrl` with a code). Absent: no person is asked,
   * the credentials alone must do.
   */
  readonly authorize?: (url: URL, signal: AbortSignal) => Promise<string | URL>
  /** Where the authorization server sends people back to; a page of the host's. Needed with `authorize`. */
  readonly redirectUrl?: string
  /** The person has signed in at their organisation, which vouches for them: no further login is needed. */
  readonly crossApp?: CrossAppAccess
  /** What the platform says that this program runs on (RFC 7523), a signed token, asked for whenever a token is needed; in place of a secret. */
  readonly workload?: () => string | Promise<string>
  /**
   * Whether tokens are bound to a key of this program (DPoP, RFC 9449): `asked`, the default, where the server asks for it; `always` refuses
   * to send a token that anybody could use.
   */
  readonly dpop?: 'asked' | 'always'
  /** The memory of this process when absent. */
  readonly store?: McpAuthStore
}

/**
 * Cross-app access of the protocol (enterprise-managed authorization): the identity provider of an organisation exchanges its token of a
 * person for a grant (RFC 8693), which the authorization server of the MCP server takes (RFC 7523).
 */
export interface CrossAppAccess {
  /** Where the identity provider exchanges tokens. */
  readonly tokenEndpoint: string
  /** What this program is known by there. */
  readonly clientId: string
  readonly clientSecret?: string
  /** The OpenID Connect token of the person, asked for whenever a grant is needed. */
  readonly idToken: () => string | Promise<string>
}

/** After that many rounds of authorization the server's refusal stands. */
const MAX_ROUNDS = 2

type Fetch = typeof globalThis.fetch

/** A store that lasts as long as its holder. */
export function memoryAuthStore(): McpAuthStore {
  const values = new Map<string, string>()
  return {
    get: (key) => values.get(key),
    set: (key, value) => void (value === undefined ? values.delete(key) : values.set(key, value)),
  }
}

/** A fetch for one server that authorizes itself when the server asks for it, and sends the token with every request. */
export async function makeAuthorizedFetch(
  serverUrl: URL,
  options: McpAuth,
  signal: AbortSignal,
  base: Fetch = globalThis.fetch,
): Promise<Fetch> {
  const [{ auth, extractWWWAuthenticateParams }, { createPrivateKeyJwtAuth }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/auth.js'),
    import('@modelcontextprotocol/sdk/client/auth-extensions.js'),
  ])
  const session = new AuthSession(serverUrl, options, signal, base)
  if (options.privateKey !== undefined && options.clientId !== undefined) {
    session.addClientAuthentication = createPrivateKeyJwtAuth({
      issuer: options.clientId,
      subject: options.clientId,
      privateKey: options.privateKey,
      alg: options.algorithm ?? 'ES256',
      ...(options.issuer === undefined ? {} : { audience: options.issuer }),
    })
  }

  const authorize = async (response: Response): Promise<void> => {
    const { resourceMetadataUrl, scope: asked } = extractWWWAuthenticateParams(asBearerChallenge(response))
    const isBound = options.dpop === 'always' || asksForProof(response) || isBoundToKey(await session.tokens())
    const reach = isBound ? proveTokenRequests(base, await session.proofKey(true)) : base
    const scope = response.status === 403 ? await session.widenScope(asked) : asked
    // The SDK continues without some of what it asks for; a refusal of the host's network policy must be reported nevertheless.
    let refusal: unknown = null
    const fetchFn: Fetch = async (input, init) => {
      try {
        const answer = await reach(input, init)
        await session.noteMetadata(new URL(input instanceof Request ? input.url : input), answer)
        return answer
      } catch (cause) {
        if (cause instanceof AuthorizationError || (cause instanceof Error && cause.name === 'EgressBlocked')) refusal ??= cause
        throw cause
      }
    }
    const about = {
      serverUrl,
      fetchFn,
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    }
    try {
      if ((await auth(session, about)) === 'AUTHORIZED') return
      await auth(session, { ...about, authorizationCode: session.takeCode() })
    } catch (cause) {
      throw refusal ?? cause
    }
  }
  const send = async (input: Parameters<Fetch>[0], init: Parameters<Fetch>[1], tokens: Tokens): Promise<Response> => {
    const headers = new Headers(init?.headers)
    if (tokens === undefined) return base(input, { ...init, headers })
    const token = tokens.access_token
    if (!isBoundToKey(tokens)) {
      if (options.dpop === 'always')
        throw new AuthorizationError(
          'the authorization server gave a token that is not bound to a key, and the host wants such only',
        )
      headers.set('authorization', `Bearer ${token}`)
      return base(input, { ...init, headers })
    }
    const key = await session.proofKey(false)
    const url = new URL(input instanceof Request ? input.url : input)
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
    for (let isAgain = false; ; isAgain = true) {
      headers.set('authorization', `DPoP ${token}`)
      headers.set('dpop', await key.prove(method, url, token))
      const response = await base(input, { ...init, headers })
      if (!(await key.takeNonce(url, response)) || isAgain) return response
      await response.body?.cancel()
    }
  }
  // Requests that are refused side by side ask a person once.
  let running: Promise<void> | null = null

  return async (input, init) => {
    for (let round = 0; ; round++) {
      const tokens = await session.tokens()
      const token = tokens?.access_token
      const response = await send(input, init, tokens)
      const wanted =
        response.status === 401 ||
        (response.status === 403 && extractWWWAuthenticateParams(asBearerChallenge(response)).error === 'insufficient_scope')
      if (!wanted || round === MAX_ROUNDS) return response
      // Another request may have brought a new token since this one was sent.
      if (response.status === 401 && (await session.tokens())?.access_token !== token) continue
      running ??= authorize(response).finally(() => {
        running = null
      })
      try {
        await running
      } catch (cause) {
        // Of several processes that renew at once, one may lose again and again, but then has the tokens of the others.
        const renewed = (await session.tokens())?.access_token
        if (renewed === undefined || renewed === token)
          throw new AuthorizationError(`authorization failed: ${describeRefusal(cause)}`, { cause })
      }
      await response.body?.cancel()
    }
  }
}

/** An authorization server need not say more than a code. */
function describeRefusal(cause: unknown): string {
  const said = describeCause(cause)
  if (said !== '' || typeof cause !== 'object' || cause === null || !('errorCode' in cause)) return said
  return String(cause.errorCode)
}

/** The server asks for authorization, and there is none to be had. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError'
}

interface ServerClaims {
  readonly issuer: string
  /** It puts its name into its answers. */
  readonly namesItself: boolean
}

/** Of OpenID Connect Dynamic Client Registration 1.0, section 2: programs on a person's machine come back to that machine. */
function isLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol !== 'https:' || hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The identity assertion that cross-app access exchanges. */
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'

const METADATA: ReadonlySet<string> = new Set(['oauth-authorization-server', 'openid-configuration'])
const WELL_KNOWN = '/.well-known/'

/** The authorization server whose metadata are at this address (RFC 8414, section 3.1; OpenID Connect Discovery 1.0, section 4); null for other addresses. */
function findIssuer({ origin, pathname }: URL): string | null {
  const at = pathname.indexOf(WELL_KNOWN)
  if (at < 0) return null
  const [document = '', ...path] = pathname.slice(at + WELL_KNOWN.length).split('/')
  return METADATA.has(document) ? origin + pathname.slice(0, at) + path.map((part) => `/${part}`).join('') : null
}

/** A slash at the end makes no difference: servers write their names with and without. */
function isSameIssuer(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => (text.endsWith('/') ? text.slice(0, -1) : text))
  return x === y
}

function isBoundToKey(tokens: Tokens): boolean {
  return tokens?.token_type.toLowerCase() === 'dpop'
}

type Kept = 'client' | 'tokens' | 'key'
type Client = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** Polls the store every 50 ms, for two seconds: the time for another process to store its tokens. */
const MOST_WAITS = 40

class AuthSession implements OAuthClientProvider {
  private readonly options: McpAuth
  private readonly store: McpAuthStore
  private readonly server: string
  private readonly signal: AbortSignal
  private readonly base: Fetch
  private code: string | null = null
  private key: ProofKey | null = null
  /** State parameter of the request in progress; the response must contain it. */
  private verifier = ''
  /** The tokens that were last taken from the store, as they stood there. */
  private tried: string | null = null
  private expectedState: string | null = null
  /** The scopes that a person was last asked for. */
  private requested = ''
  /** What the authorization server says of itself; null before it was asked. */
  private says: ServerClaims | null = null
  /** What the server calls itself in its metadata; null where it has none, as before the revision 2025-06-18. */
  private resource: string | null = null
  addClientAuthentication?: NonNullable<OAuthClientProvider['addClientAuthentication']>
  readonly clientMetadataUrl?: string

  constructor(server: URL, options: McpAuth, signal: AbortSignal, base: Fetch) {
    this.options = options
    this.signal = signal
    this.base = base
    this.server = server.href
    this.store = options.store ?? memoryAuthStore()
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl
  }

  get redirectUrl(): string | undefined {
    const { authorize, crossApp, workload, redirectUrl } = this.options
    return authorize === undefined || crossApp !== undefined || workload !== undefined ? undefined : redirectUrl
  }

  get clientMetadata(): OAuthClientProvider['clientMetadata'] {
    const { redirectUrl } = this
    const { clientName = 'bridle', scope, clientSecret, privateKey, clientId } = this.options
    const { crossApp, workload } = this.options
    const alone = crossApp === undefined && workload === undefined ? 'client_credentials' : JWT_BEARER
    const grants = redirectUrl === undefined ? [alone] : ['authorization_code', 'refresh_token']
    const method = privateKey !== undefined ? 'private_key_jwt' : clientSecret !== undefined ? 'client_secret_basic' : 'none'
    return {
      client_name: clientName,
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      grant_types: grants,
      response_types: redirectUrl === undefined ? [] : ['code'],
      ...(redirectUrl === undefined ? {} : { application_type: isLoopback(redirectUrl) ? 'native' : 'web' }),
      ...(scope === undefined ? {} : { scope }),
      // A program that registers itself takes what the authorization server prefers.
      ...(clientId === undefined ? {} : { token_endpoint_auth_method: method }),
    }
  }

  async clientInformation(): Promise<Client> {
    const { clientId, clientSecret, issuer } = this.options
    if (clientId === undefined) return this.readKept<NonNullable<Client>>('client')
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
    }
  }

  async saveClientInformation(client: NonNullable<Client>): Promise<void> {
    if (this.options.clientId === undefined) await this.keep('client', client)
  }

  async tokens(): Promise<Tokens> {
    this.tried = (await this.store.get(this.makeKey('tokens'))) ?? null
    return this.tried === null ? undefined : (JSON.parse(this.tried) as NonNullable<Tokens>)
  }

  async saveTokens(tokens: NonNullable<Tokens>): Promise<void> {
    const { expires_in: seconds } = tokens
    await this.keep('tokens', seconds === undefined ? tokens : { ...tokens, expires_at: Date.now() + 1000 * seconds })
  }

  /** The key that tokens are bound to, which is kept with them. `isFresh`: tokens are asked for, so another one is as good. */
  async proofKey(isFresh: boolean): Promise<ProofKey> {
    if (this.key !== null) return this.key
    const kept = await this.store.get(this.makeKey('key'))
    if (kept !== undefined) return (this.key = await ProofKey.read(kept))
    if (!isFresh) throw new AuthorizationError('the key that the token is bound to is not in the store')
    const key = await ProofKey.generate()
    await this.store.set(this.makeKey('key'), key.write())
    return (this.key = key)
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier
  }

  codeVerifier(): string {
    return this.verifier
  }

  state(): string {
    this.expectedState = crypto.randomUUID()
    return this.expectedState
  }

  /** Scopes to request if a token has too few: the missing and the previous ones (SEP-2350). */
  async widenScope(asked: string | undefined): Promise<string | undefined> {
    if (asked === undefined) return undefined
    const before = [this.requested, (await this.tokens())?.scope ?? '', asked].join(' ').split(' ')
    return [...new Set(before.filter((each) => each !== ''))].join(' ')
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { authorize } = this.options
    this.requested = url.searchParams.get('scope') ?? ''
    if (authorize === undefined) throw new AuthorizationError('the server wants a person to agree, and there is nobody to ask')
    const back = new URL(await authorize(url, this.signal), this.redirectUrl)
    const error = back.searchParams.get('error')
    if (error !== null) throw new AuthorizationError(back.searchParams.get('error_description') ?? error)
    // A page that was not reached from here must not hand in its own code.
    if (back.searchParams.get('state') !== this.expectedState)
      throw new AuthorizationError('the state that came back is not ours')
    this.checkIssuer(back.searchParams.get('iss'))
    this.code = back.searchParams.get('code')
  }

  /** The answer must be from the server that was asked, not from another one that a person was led to (RFC 9207, section 2.4). */
  private checkIssuer(issuer: string | null): void {
    const { issuer: expected, namesItself } = this.says ?? { issuer: null, namesItself: false }
    if (issuer === null && !namesItself) return
    if (issuer === null) throw new AuthorizationError(`the answer does not name its authorization server (iss), ${expected} does`)
    // Letter by letter (RFC 9207): what may be written in two ways here can be two servers there.
    if (expected === null || issuer !== expected)
      throw new AuthorizationError(`the answer is from the authorization server ${issuer}, expected ${expected ?? 'none'}`)
  }

  /** A document with another issuer than the server it was fetched from is refused (RFC 8414, section 3.3). */
  async noteMetadata(url: URL, answer: Response): Promise<void> {
    const expected = findIssuer(url)
    const isResource = url.pathname.includes(`${WELL_KNOWN}oauth-protected-resource`)
    if ((expected === null && !isResource) || !answer.ok) return
    const says = (await answer
      .clone()
      .json()
      .catch(() => null)) as { readonly [key: string]: unknown } | null
    if (typeof says !== 'object' || says === null) return
    const { issuer, resource } = says
    if (expected === null) {
      this.resource = typeof resource === 'string' ? resource : null
      return
    }
    // A server that names no authorization server is its own, at any path of its origin.
    const isOwn = this.resource === null && typeof issuer === 'string' && parseUrl(issuer)?.origin === url.origin
    if (typeof issuer !== 'string' || !(isOwn || isSameIssuer(issuer, expected)))
      throw new AuthorizationError(
        `the metadata at ${url.href} is of the authorization server ${JSON.stringify(issuer ?? null)}, expected ${expected}`,
      )
    this.says = { issuer, namesItself: says['authorization_response_iss_parameter_supported'] === true }
  }

  takeCode(): string {
    const { code } = this
    this.code = null
    if (code === null) throw new AuthorizationError('no code came back')
    return code
  }

  prepareTokenRequest(scope?: string): URLSearchParams | Promise<URLSearchParams> | undefined {
    const { crossApp, workload } = this.options
    if (crossApp !== undefined) return this.exchangeForGrant(crossApp, scope)
    if (workload !== undefined) return this.presentWorkload(workload, scope)
    if (this.redirectUrl !== undefined) return undefined
    return new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) })
  }

  private async presentWorkload(workload: NonNullable<McpAuth['workload']>, scope?: string): Promise<URLSearchParams> {
    const assertion = await workload()
    return new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...(scope === undefined ? {} : { scope }) })
  }

  /** The grant of the identity provider, as a request for a token of the authorization server. */
  private async exchangeForGrant(access: CrossAppAccess, scope?: string): Promise<URLSearchParams> {
    if (this.says === null) throw new AuthorizationError('the authorization server has no metadata, which cross-app access needs')
    const wanted = scope === undefined ? {} : { scope }
    const answer = await this.base(access.tokenEndpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requested_token_type: ID_JAG,
        audience: this.says.issuer,
        resource: this.resource ?? this.server,
        subject_token: await access.idToken(),
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        client_id: access.clientId,
        ...(access.clientSecret === undefined ? {} : { client_secret: access.clientSecret }),
        ...wanted,
      }),
      signal: this.signal,
    })
    const given = (await answer.json().catch(() => null)) as { readonly [key: string]: unknown } | null
    const { access_token: grant, issued_token_type: type, error_description: why, error } = given ?? {}
    if (!answer.ok || typeof grant !== 'string' || type !== ID_JAG)
      throw new AuthorizationError(`the identity provider gives no grant: ${String(why ?? error ?? `HTTP ${answer.status}`)}`)
    return new URLSearchParams({ grant_type: JWT_BEARER, assertion: grant, ...wanted })
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const gone: readonly Kept[] = scope === 'all' ? ['client', 'tokens'] : scope === 'client' || scope === 'tokens' ? [scope] : []
    if (scope === 'tokens' && (await this.isRenewedElsewhere())) return
    for (const what of gone) await this.store.set(this.makeKey(what), undefined)
  }

  /**
   * Whether the store has other tokens than those that were refused: another process has renewed them, and its tokens are tried next.
   * It may have the answer and not have written it down yet, so it is given a moment.
   */
  private async isRenewedElsewhere(): Promise<boolean> {
    for (let waits = 0; waits < MOST_WAITS && this.options.store !== undefined; waits++) {
      if ((await this.store.get(this.makeKey('tokens'))) !== this.tried) return true
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return false
  }

  private makeKey(what: Kept): string {
    return `${this.server} ${what}`
  }

  private async keep(what: Kept, value: unknown): Promise<void> {
    await this.store.set(this.makeKey(what), JSON.stringify(value))
  }

  private async readKept<T>(what: Kept): Promise<T | undefined> {
    const text = await this.store.get(this.makeKey(what))
    return text === undefined ? undefined : (JSON.parse(text) as T)
  }
}
