// Where a browser comes back to after a person agreed: a page of this process on the loopback address (RFC 8252 §7.3). It takes one
// answer, with the state that the request was sent out with; what else calls there is turned away and changes nothing.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from './server-http.js'

export interface LoopbackRedirect {
  /** The redirect URL for authorization servers: `redirectUrl` of an McpAuth. */
  readonly redirectUrl: string
  /** The URL that the browser came back with, for the request that a person was sent to. Rejects when the signal aborts. */
  readonly answerTo: (request: URL, signal: AbortSignal) => Promise<string>
  readonly close: () => void
}

const renderPage = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>bridle</title><p style="font-family:sans-serif">${text}</p>`

/** Listens on 127.0.0.1, at any free port by default. */
export async function loopbackRedirect(port = 0): Promise<LoopbackRedirect> {
  let waiting: { readonly state: string | null; readonly take: (url: string) => void } | null = null
  const server = createServer((request, response) => {
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(renderPage(text))
    }
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`
    // Another name in the request is a page that had its name point here.
    if (request.headers.host !== own) return answer(403, 'This address is for this computer.')
    const url = new URL(request.url ?? '/', `http://${own}`)
    if (request.method !== 'GET' || url.pathname !== '/callback') return answer(404, 'Nothing is here.')
    if (waiting === null || url.searchParams.get('state') !== waiting.state)
      return answer(400, 'Nobody is waiting for this answer. Start the login again.')
    const { take } = waiting
    waiting = null
    answer(200, url.searchParams.has('error') ? 'Access was refused. You can close this page.' : 'Done. You can close this page.')
    take(url.href)
  })
  await listen(server, port, '127.0.0.1')
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    answerTo: (request, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting = null
          reject(signal.reason instanceof Error ? signal.reason : new Error('given up'))
        }
        if (signal.aborted) return onAbort()
        signal.addEventListener('abort', onAbort, { once: true })
        waiting = {
          state: request.searchParams.get('state'),
          take: (url) => {
            signal.removeEventListener('abort', onAbort)
            resolve(url)
          },
        }
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
