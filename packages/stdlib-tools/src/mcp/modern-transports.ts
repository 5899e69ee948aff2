// How a request of the newer revisions gets to a server and its answer back: one POST each, or a line of a pipe that all share.

import { listenForAbort } from '../library/abort.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { encodeHeader, isFields, readSubject } from './modern-wire.js'
import type { StdioTransport } from './stdio.js'

type Fields = { readonly [key: string]: unknown }

export interface ModernRequest {
  readonly id: number
  readonly method: string
  readonly params: Fields
}

/** An answer that is an error of the protocol. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code: number
  readonly data: unknown

  constructor(error: unknown) {
    const { code, message, data } = isFields(error) ? error : ({} as Fields)
    super(typeof message === 'string' ? message : 'Unknown MCP error')
    this.code = Number.isSafeInteger(code) ? (code as number) : -1
    this.data = data
  }
}

/** An answer of the web server that has no message of the protocol. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly code: number

  constructor(status: number, text: string) {
    super(`Error POSTing to endpoint: ${text}`)
    this.code = status
  }
}

export interface ModernTransport {
  /** Hears what the server says beside answers. */
  hear: (method: string, params: Fields) => void
  onclose: () => void
  /** The result; throws ServerError for an error of the protocol, and what the network threw. */
  readonly ask: (request: ModernRequest, headers: { readonly [name: string]: string }, signal: AbortSignal) => Promise<Fields>
  readonly close: () => Promise<void>
}

function readAnswer(message: Fields): Fields {
  const { error, result } = message
  if (error !== undefined && error !== null) throw new ServerError(error)
  return isFields(result) ? result : {}
}

const MOST_HOPS = 5

export class ModernHttp implements ModernTransport {
  hear: ModernTransport['hear'] = () => {}
  onclose = (): void => {}
  /** Where requests go: as given, or where the server sent us on its own ground. */
  private url: URL
  private readonly version: string
  private readonly options: { readonly requestInit: { readonly headers: Fields }; readonly fetch: typeof globalThis.fetch }
  private readonly stop = new AbortController()

  constructor(url: URL, version: string, options: ModernHttp['options']) {
    this.url = url
    this.version = version
    this.options = options
  }

  async ask(
    { id, method, params }: ModernRequest,
    given: { readonly [name: string]: string },
    signal: AbortSignal,
  ): Promise<Fields> {
    const headers = new Headers(this.options.requestInit.headers as Record<string, string>)
    for (const [name, value] of Object.entries(given)) headers.set(name, value)
    headers.set('content-type', 'application/json')
    headers.set('accept', 'application/json, text/event-stream')
    headers.set('mcp-protocol-version', this.version)
    headers.set('mcp-method', method)
    const subject = readSubject(method, params)
    if (subject !== null) headers.set('mcp-name', encodeHeader(subject))
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const response = await this.post({
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, this.stop.signal]),
    })
    const type = response.headers.get('content-type') ?? ''
    if (response.body !== null && /^text\/event-stream/i.test(type)) return this.readStream(response.body, id)
    const text = await response.text()
    const message = parseMessage(text)
    if (message !== null && (response.ok || isFields(message['error']))) return readAnswer(message)
    if (!response.ok) throw new HttpStatusError(response.status, text)
    throw new Error(`the answer to '${method}' is no message of the protocol`)
  }

  /** Follows a server to another path; what is sent has keys in it, which no other origin gets. */
  private async post(init: RequestInit): Promise<Response> {
    for (let hops = 0; ; hops++) {
      const response = await this.options.fetch(this.url, init)
      const location = response.headers.get('location')
      if ((response.status !== 307 && response.status !== 308) || location === null || hops === MOST_HOPS) return response
      const next = resolveUrl(location, this.url)
      if (next?.origin !== this.url.origin) return response
      await response.body?.cancel()
      this.url = next
    }
  }

  private async readStream(body: ReadableStream<Uint8Array>, id: number): Promise<Fields> {
    for await (const data of readEvents(body)) {
      const message = parseMessage(data)
      if (message === null) continue
      if (message['method'] === undefined && message['id'] === id) return readAnswer(message)
      // An error that is about no request in particular is about the only one of this stream.
      if (message['method'] === undefined && message['id'] === null) throw new ServerError(message['error'])
      if (typeof message['method'] === 'string' && message['id'] === undefined)
        this.hear(message['method'], isFields(message['params']) ? message['params'] : {})
    }
    throw new Error('server closed connection')
  }

  async close(): Promise<void> {
    this.stop.abort(new Error('the connection was closed'))
    this.onclose()
  }
}

function resolveUrl(location: string, base: URL): URL | null {
  try {
    return new URL(location, base)
  } catch {
    return null
  }
}

function parseMessage(text: string): Fields | null {
  try {
    const message: unknown = JSON.parse(text)
    return isFields(message) ? message : null
  } catch {
    return null
  }
}

/** The data of each event of a stream (WHATWG, section 9.2), without those that are cut off. Leaving the loop ends the stream. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
  }
}

interface Waiting {
  readonly resolve: (result: Fields) => void
  readonly reject: (cause: unknown) => void
}

export class ModernStdio implements ModernTransport {
  hear: ModernTransport['hear'] = () => {}
  onclose = (): void => {}
  private readonly pipe: StdioTransport
  private readonly waiting = new Map<number, Waiting>()

  /** Takes over a pipe that runs. */
  constructor(pipe: StdioTransport) {
    this.pipe = pipe
    pipe.onmessage = (message) => this.receive(message as unknown as Fields)
    pipe.onclose = () => {
      for (const { reject } of [...this.waiting.values()]) reject(new Error('server closed connection'))
      this.waiting.clear()
      this.onclose()
    }
  }

  ask(
    { id, method, params }: ModernRequest,
    _headers: { readonly [name: string]: string },
    signal: AbortSignal,
  ): Promise<Fields> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'))
      const settle = (): void => {
        ignore()
        this.waiting.delete(id)
      }
      const ignore = listenForAbort(signal, () => {
        settle()
        this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }).catch(() => {})
        reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'))
      })
      this.waiting.set(id, {
        resolve: (result) => {
          settle()
          resolve(result)
        },
        reject: (cause) => {
          settle()
          reject(cause instanceof Error ? cause : new Error(String(cause)))
        },
      })
      this.send({ jsonrpc: '2.0', id, method, params }).catch((cause: unknown) => this.waiting.get(id)?.reject(cause))
    })
  }

  close(): Promise<void> {
    return this.pipe.close()
  }

  private send(message: Fields): Promise<void> {
    return this.pipe.send(message as unknown as JSONRPCMessage)
  }

  private receive(message: Fields): void {
    const { id, method } = message
    if (typeof method === 'string') {
      // A server of these revisions asks nothing on its own; what it asks anyway is nothing.
      if (id === undefined) this.hear(method, isFields(message['params']) ? message['params'] : {})
      return
    }
    const waiting = typeof id === 'number' ? this.waiting.get(id) : undefined
    if (waiting === undefined) return
    try {
      waiting.resolve(readAnswer(message))
    } catch (cause) {
      waiting.reject(cause)
    }
  }
}
