// A `fetch` that keeps a network policy, for libraries that make requests of their own: MCP over HTTP, its authorization, model
// services. Each hop of a redirect is judged as its own request, by its address and by what that resolves to at the moment of
// connecting. To another origin go only headers that are known to hold no credentials: services have their own names for keys. What is refused rejects with EgressBlocked, before anything is sent.

import type { Agent, Response as UndiciResponse, fetch as UndiciFetch } from 'undici'
import { EgressBlocked, RateWindow, checkUrl, guardedLookup, judgesAddresses } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'

/** The library, which is loaded with the first request. */
interface Undici {
  readonly Agent: typeof Agent
  readonly fetch: typeof UndiciFetch
}

const DEFAULT_MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const WITHOUT_CREDENTIALS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'mcp-protocol-version',
  'range',
  'user-agent',
])

/** Sockets are kept for the next request and do not keep the process. */
export function guardedFetch(policy: NetworkPolicy): typeof globalThis.fetch {
  const rates = new RateWindow(policy.perHost)
  let made: Promise<{ readonly undici: Undici; readonly open: Agent; readonly judging: Agent }> | null = null
  const prepare = async () => {
    // The module is CommonJS: in a bundle only its default export has the members.
    const { default: undici } = (await import('undici')) as unknown as { readonly default: Undici }
    return { undici, open: new undici.Agent(), judging: new undici.Agent({ connect: { lookup: guardedLookup as never } }) }
  }
  return async (input, init) => {
    const request = new Request(input, init)
    made ??= prepare()
    const { undici, open, judging } = await made
    let url = new URL(request.url)
    let { method } = request
    const headers = new Headers(request.headers)
    let body: Uint8Array | null = request.body === null ? null : new Uint8Array(await request.arrayBuffer())
    for (let hops = 0; ; hops++) {
      checkUrl(url, policy)
      rates.admit(url)
      const response = await undici.fetch(url, {
        method,
        headers: [...headers],
        body: body as never,
        redirect: 'manual',
        signal: request.signal,
        dispatcher: judgesAddresses(url, policy) ? judging : open,
      })
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null || request.redirect === 'manual') return toStandard(response)
      await response.body?.cancel()
      if (request.redirect === 'error' || hops >= (policy.maxRedirects ?? DEFAULT_MAX_REDIRECTS))
        throw new EgressBlocked('redirect', url.href)
      const target = new URL(location, url)
      if (target.origin !== url.origin)
        for (const name of [...headers.keys()]) if (!WITHOUT_CREDENTIALS.has(name)) headers.delete(name)
      if (response.status === 303 || (response.status < 303 && method === 'POST')) {
        method = method === 'HEAD' ? 'HEAD' : 'GET'
        body = null
        for (const name of [...headers.keys()]) if (name.startsWith('content-')) headers.delete(name)
      }
      url = target
    }
  }
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** A response of this platform's own class, for callers who ask what they were given. */
function toStandard(response: UndiciResponse): Response {
  const { status, statusText } = response
  const body = WITHOUT_BODY.has(status) ? null : (response.body as ReadableStream<Uint8Array> | null)
  return new Response(body, { status, statusText, headers: [...response.headers] })
}
