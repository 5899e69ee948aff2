// Authorization of HTTP servers by OAuth 2.1, as the protocol has it: a server that answers 401 names its authorization server,
// which gives a token either to a person who agrees in a browser (code grant with PKCE) or to this program's own credentials
// (client credentials). Discovery, registration, tokens and their renewal are the SDK's; here are the hosts' own words for it,
// where the secrets are kept, and when a request is tried again. Scripts see nothing of it.

import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { describeCause } from '../tools/executors/provider.js'

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
   * Sends a person to `url` and gives the URL that they come back to (`redirectUrl` with a code). Absent: no person is asked,
   * the credentials alone must do.
   */
  readonly authorize?: (url: URL, signal: AbortSignal) => Promise<string | URL>
  /** Where the authorization server sends people back to; a page of the host's. Needed with `authorize`. */
  readonly redirectUrl?: string
  /** The memory of this process when absent. */
  readonly store?: McpAuthStore
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
  const session = new AuthSession(serverUrl, options, signal)
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
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    // The SDK goes on without some of what it asks for; a refusal of the host's network policy is to be told all the same.
    let refusal: unknown = null
    const fetchFn: Fetch = (input, init) =>
      base(input, init).catch((cause: unknown) => {
        if (cause instanceof Error && cause.name === 'EgressBlocked') refusal ??= cause
        throw cause
      })
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
  // Requests that are refused side by side ask a person once.
  let running: Promise<void> | null = null

  return async (input, init) => {
    for (let round = 0; ; round++) {
      const token = (await session.tokens())?.access_token
      const headers = new Headers(init?.headers)
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      const response = await base(input, { ...init, headers })
      const wanted =
        response.status === 401 ||
        (response.status === 403 && extractWWWAuthenticateParams(response).error === 'insufficient_scope')
      if (!wanted || round === MAX_ROUNDS) return response
      // Another request may have brought a new token since this one was sent.
      if (response.status === 401 && (await session.tokens())?.access_token !== token) continue
      running ??= authorize(response).finally(() => {
        running = null
      })
      try {
        await running
      } catch (cause) {
        // Of several processes that renew at once, one may lose again and again, and has the tokens of the others all the same.
        const renewed = (await session.tokens())?.access_token
        if (renewed === undefined || renewed === token)
          throw new AuthorizationError(`authorization failed: ${describeCause(cause)}`, { cause })
      }
      await response.body?.cancel()
    }
  }
}

/** The server asks for authorization, and there is none to be had. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError'
}

type Kept = 'client' | 'tokens'
type Client = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** Looks at the store, 50 ms apart: two seconds for a process that has to write down what it was given. */
const MOST_WAITS = 40

class AuthSession implements OAuthClientProvider {
  private readonly options: McpAuth
  private readonly store: McpAuthStore
  private readonly server: string
  private readonly signal: AbortSignal
  private code: string | null = null
  /** Of the request that is under way; whoever answers it proves that it was ours. */
  private verifier = ''
  /** The tokens that were last taken from the store, as they stood there. */
  private tried: string | null = null
  private expectedState: string | null = null
  addClientAuthentication?: NonNullable<OAuthClientProvider['addClientAuthentication']>
  readonly clientMetadataUrl?: string

  constructor(server: URL, options: McpAuth, signal: AbortSignal) {
    this.options = options
    this.signal = signal
    this.server = server.href
    this.store = options.store ?? memoryAuthStore()
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl
  }

  get redirectUrl(): string | undefined {
    return this.options.authorize === undefined ? undefined : this.options.redirectUrl
  }

  get clientMetadata(): OAuthClientProvider['clientMetadata'] {
    const { redirectUrl } = this
    const { clientName = 'bridle', scope, clientSecret, privateKey, clientId } = this.options
    const grants = redirectUrl === undefined ? ['client_credentials'] : ['authorization_code', 'refresh_token']
    const method = privateKey !== undefined ? 'private_key_jwt' : clientSecret !== undefined ? 'client_secret_basic' : 'none'
    return {
      client_name: clientName,
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      grant_types: grants,
      response_types: redirectUrl === undefined ? [] : ['code'],
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

  async redirectToAuthorization(url: URL): Promise<void> {
    const { authorize } = this.options
    if (authorize === undefined) throw new AuthorizationError('the server wants a person to agree, and there is nobody to ask')
    const back = new URL(await authorize(url, this.signal), this.redirectUrl)
    const error = back.searchParams.get('error')
    if (error !== null) throw new AuthorizationError(back.searchParams.get('error_description') ?? error)
    // A page that was not reached from here must not hand in a code of its own.
    if (back.searchParams.get('state') !== this.expectedState)
      throw new AuthorizationError('the state that came back is not ours')
    this.code = back.searchParams.get('code')
  }

  takeCode(): string {
    const { code } = this
    this.code = null
    if (code === null) throw new AuthorizationError('no code came back')
    return code
  }

  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.redirectUrl !== undefined) return undefined
    return new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) })
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
