// The stdio transport: newline-delimited JSON over a child process. It replaces the SDK's own, which kills only the direct
// child and waits up to four seconds for it; here the whole process group goes. Lines that are not JSON objects are skipped,
// because many servers greet on standard output.

import type { ChildProcess } from 'node:child_process'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { endGroup, spawnGroup } from './process-group.js'
import type { SpawnOptions } from './process-group.js'
import { markIntegers, unmarkIntegers } from '../tools/executors/exact-json.js'
import { DEFAULT_LIMITS, makeLimitError } from './limits.js'

const GRACE = { closeMs: 300, termMs: 500 }
const EXIT_PATIENCE_MS = 200

/** What the other side may send. */
export interface TransportBounds {
  readonly server: string
  readonly maxMessageBytes: number
  readonly maxNotifications: number
}

/** Raised by `start` when the program could not be run; `cause` is the operating system's error. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError'
}

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  private readonly options: SpawnOptions
  private readonly bounds: TransportBounds
  /** Notifications since the last answer. */
  private unasked = 0
  private child: ChildProcess | null = null
  private chunks: Buffer[] = []
  private size = 0
  private closing: Promise<void> | null = null
  /** Why reading or writing failed, for the error text of requests that die with the connection. */
  failure: { readonly during: 'read' | 'write'; readonly cause: Error } | null = null

  constructor(options: SpawnOptions, bounds: TransportBounds = { server: options.command, ...DEFAULT_LIMITS }) {
    this.options = options
    this.bounds = bounds
  }

  /** Starts the program; a second call finds it running. */
  async start(): Promise<void> {
    if (this.child !== null) return
    let child: ChildProcess
    try {
      if (this.options.file === '') throw Object.assign(new Error(`spawn ${this.options.command} ENOENT`), { code: 'ENOENT' })
      child = await spawnGroup(this.options)
    } catch (cause) {
      throw new SpawnError(`failed to spawn ${this.options.command}`, { cause })
    }
    this.child = child
    child.stdout!.on('data', (chunk: Buffer) => this.take(chunk))
    child.stdout!.on('error', (cause: Error) => this.fail('read', cause))
    child.stdin!.on('error', (cause: Error) => this.fail('write', cause))
    // The end of its output is the end of the conversation, even when the process itself lingers. `close` comes once all
    // output has been read, so an answer written just before exiting still counts.
    child.stdout!.once('close', () => void this.close())
    // Something the server started may hold the pipe open forever; what is buffered gets a moment.
    child.once('exit', () => void setTimeout(() => void this.close(), EXIT_PATIENCE_MS).unref())
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin
    if (stdin === null || stdin === undefined || this.closing !== null)
      return Promise.reject(new Error('server closed connection'))
    const text = `${unmarkIntegers(JSON.stringify(message))}\n`
    return new Promise((resolve, reject) => {
      stdin.write(text, (cause) => (cause === null || cause === undefined ? resolve() : reject(cause)))
    })
  }

  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const child = this.child
    // Requests that wait learn at once; the process may take a moment.
    this.onclose?.()
    this.chunks = []
    if (child !== null) await endGroup(child, GRACE)
  }

  private fail(during: 'read' | 'write', cause: Error): void {
    this.failure ??= { during, cause }
    this.onerror?.(cause)
    void this.close()
  }

  private take(chunk: Buffer): void {
    let rest = chunk
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      this.chunks.push(rest.subarray(0, at))
      const line = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks)
      this.chunks = []
      this.size = 0
      rest = rest.subarray(at + 1)
      this.takeMessage(line.toString('utf8'))
      if (this.closing !== null) return
    }
    if (rest.length === 0) return
    this.chunks.push(rest)
    this.size += rest.length
    const { server, maxMessageBytes } = this.bounds
    if (this.size > maxMessageBytes)
      this.fail('read', makeLimitError(server, 'sent a message that is too long', 'maxMessageBytes', maxMessageBytes))
  }

  private takeMessage(line: string): void {
    if (line.trim() === '') return
    let message: unknown
    try {
      message = JSON.parse(markIntegers(line))
    } catch {
      return
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) return
    if (!('method' in message)) this.unasked = 0
    else if (!('id' in message) && ++this.unasked > this.bounds.maxNotifications) {
      const { server, maxNotifications } = this.bounds
      return this.fail(
        'read',
        makeLimitError(server, 'sends notifications and answers nothing', 'maxNotifications', maxNotifications),
      )
    }
    this.onmessage?.(repairMessage(message as Record<string, unknown>))
  }
}

/**
 * The SDK drops messages that are not exactly of the protocol, and the request behind one would wait until its timeout. What
 * servers of other hands get wrong is put right: no version field, an error without code or text, a result that is not an object.
 */
function repairMessage(message: Record<string, unknown>): JSONRPCMessage {
  const out: Record<string, unknown> = { ...message, jsonrpc: '2.0' }
  if (typeof message['method'] === 'string') return out as JSONRPCMessage
  const error = message['error']
  if (error !== undefined && error !== null) {
    const given = (typeof error === 'object' ? error : {}) as {
      readonly code?: unknown
      readonly message?: unknown
      readonly data?: unknown
    }
    out['error'] = {
      code: Number.isSafeInteger(given.code) ? given.code : -1,
      message: typeof given.message === 'string' ? given.message : 'Unknown MCP error',
      ...(given.data === undefined ? {} : { data: given.data }),
    }
    delete out['result']
  } else {
    delete out['error']
    const result = message['result']
    out['result'] = typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {}
  }
  return out as JSONRPCMessage
}
