// Newline-delimited JSON over a pair of streams, such as the standard streams of this process: the transport of the host bridge
// and of a script that is served as an MCP server. Lines that are not JSON objects are skipped, because programs print.

import type { Readable, Writable } from 'node:stream'
import { markIntegers, unmarkIntegers } from './exact-json.js'

export type Damage = 'not JSON' | 'not an object'

/** What carries messages of JSON-RPC one way and the other. */
export interface MessageTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: object) => void
  /** A line that is not a message; skipped unless a listener is set. */
  ondamage?: ((why: Damage) => void) | undefined
  readonly start: () => Promise<void>
  /** Rejects when the connection is closed. */
  readonly send: (message: object) => Promise<void>
  readonly close: () => Promise<void>
}

/** A longer line is dropped, and reported as an error: no honest peer sends one. */
const MAX_LINE_BYTES = 64 << 20
const NEWLINE = 0x0a

export class StreamTransport implements MessageTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: object) => void
  ondamage?: ((why: Damage) => void) | undefined
  private readonly input: Readable
  private readonly output: Writable
  readonly keepsIntegers: boolean
  private readonly maxLineBytes: number
  private chunks: Buffer[] = []
  private size = 0
  private skipping = false
  private closed = false

  constructor(
    input: Readable,
    output: Writable,
    options: {
      readonly maxLineBytes?: number
      /** For MCP: integers of 64 bits stay exact. */ readonly keepsIntegers?: boolean
    } = {},
  ) {
    this.input = input
    this.output = output
    this.keepsIntegers = options.keepsIntegers ?? false
    this.maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES
  }

  async start(): Promise<void> {
    this.input.on('data', (chunk: Buffer | string) => this.take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
    this.input.once('end', () => void this.close())
    this.input.once('close', () => void this.close())
    this.input.on('error', (cause: Error) => this.fail(cause))
    this.output.on('error', (cause: Error) => this.fail(cause))
  }

  send(message: object): Promise<void> {
    if (this.closed) return Promise.reject(new Error('the connection is closed'))
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(message)
      this.output.write(`${this.keepsIntegers ? unmarkIntegers(text) : text}\n`, (cause) =>
        cause === null || cause === undefined ? resolve() : reject(cause),
      )
    })
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.chunks = []
    this.onclose?.()
  }

  private fail(cause: Error): void {
    this.onerror?.(cause)
    void this.close()
  }

  private take(chunk: Buffer): void {
    let rest = chunk
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      this.keep(rest.subarray(0, at))
      this.finishLine()
      rest = rest.subarray(at + 1)
    }
    this.keep(rest)
  }

  private keep(part: Buffer): void {
    this.size += part.length
    if (this.size > this.maxLineBytes) {
      this.skipping = true
      this.chunks = []
    } else if (part.length > 0) this.chunks.push(part)
  }

  private finishLine(): void {
    if (this.skipping) this.onerror?.(new Error(`a message longer than ${this.maxLineBytes} bytes was dropped`))
    const text = this.skipping ? '' : Buffer.concat(this.chunks).toString('utf8').trim()
    this.chunks = []
    this.size = 0
    this.skipping = false
    if (text === '') return
    let message: unknown
    try {
      message = JSON.parse(this.keepsIntegers ? markIntegers(text) : text)
    } catch {
      return this.ondamage?.('not JSON')
    }
    if (typeof message === 'object' && message !== null && !Array.isArray(message)) this.onmessage?.(message)
    else this.ondamage?.('not an object')
  }
}
