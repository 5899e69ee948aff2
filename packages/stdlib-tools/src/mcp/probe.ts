// Detects the revision of a server: it is sent the newer request (`server/discover`), and an error for an unknown method shows that
// it is of the older ones, which begin with a handshake. Other failures, such as a refused connection, are left to the
// handshake to report.

import { clampTimer } from '../library/time/host-clock.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ModernTransport } from './modern-transports.js'
import { HttpStatusError, ServerError } from './modern-transports.js'
import { MODERN_VERSION, MODERN_VERSIONS, UNSUPPORTED_VERSION, isFields } from './modern-wire.js'
import type { StdioTransport } from './stdio.js'

type Fields = { readonly [key: string]: unknown }

export type Discovery = { readonly version: string; readonly discovered: Fields }

/** The revision of a result of `server/discover`, or of the list in a refusal; null if none is supported. */
function chooseVersion(listed: unknown): string | null {
  return Array.isArray(listed) ? (MODERN_VERSIONS.find((version) => listed.includes(version)) ?? null) : null
}

function readDiscovery(result: Fields): Discovery | null {
  const version = chooseVersion(result['supportedVersions'])
  return version === null || !isFields(result['capabilities']) ? null : { version, discovered: result }
}

/** What to send, with the id by which its answer is known. */
export function makeProbe(id: string | number, envelope: Fields): Fields {
  return { jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: envelope } }
}

/** Whether a failure is about who we are rather than about what we say. */
const isRefusedAccess = (cause: unknown): boolean =>
  cause instanceof HttpStatusError && (cause.code === 401 || cause.code === 403)

/** Null for a server of the older kind; throws what the handshake would meet just as well. */
export async function discoverOverHttp(
  transport: ModernTransport,
  envelope: Fields,
  signal: AbortSignal,
): Promise<Discovery | null> {
  try {
    return readDiscovery(await transport.ask({ id: 0, method: 'server/discover', params: { _meta: envelope } }, {}, signal))
  } catch (cause) {
    if (isRefusedAccess(cause) || isDecisive(cause)) throw cause
    if (cause instanceof ServerError && cause.code === UNSUPPORTED_VERSION && isFields(cause.data)) {
      // It is a newer server that refused for another reason; send our revisions again.
      if (chooseVersion(cause.data['supported']) !== null)
        return readDiscovery(await transport.ask({ id: 1, method: 'server/discover', params: { _meta: envelope } }, {}, signal))
    }
    return null
  }
}

/** Failures that would only be repeated: who may ask, where to, how much. */
function isDecisive(cause: unknown): boolean {
  for (let at = cause, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++) if (DECISIVE.has(at.name)) return true
  return false
}
const DECISIVE: ReadonlySet<string> = new Set(['AuthorizationError', 'EgressBlocked', 'McpLimitError', 'AbortError'])

const PROBE = `bridle-discover-${MODERN_VERSION}`

/** `silent`: it said nothing in the time that it had. */
export type PipeDiscovery = Discovery | 'older' | 'ended' | 'silent'

/** Starts the program and asks it; `ended` when it did not survive the question. */
export async function discoverOverPipe(
  pipe: StdioTransport,
  envelope: Fields,
  patienceMs: number,
  signal: AbortSignal,
): Promise<PipeDiscovery> {
  await pipe.start()
  return new Promise((resolve, reject) => {
    const settle = (found: PipeDiscovery): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      delete pipe.onmessage
      delete pipe.onclose
      resolve(found)
    }
    const onAbort = (): void => {
      settle('older')
      reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'))
    }
    const timer = setTimeout(() => settle('silent'), clampTimer(patienceMs))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    pipe.onclose = () => settle('ended')
    pipe.onmessage = (received) => {
      const message = received as unknown as Fields
      if (message['method'] !== undefined || message['id'] !== PROBE) return
      settle((isFields(message['result']) ? readDiscovery(message['result']) : null) ?? 'older')
    }
    pipe.send(makeProbe(PROBE, envelope) as unknown as JSONRPCMessage).catch(() => settle('ended'))
  })
}

/**
 * A pipe on which the question has no answer yet, lent for a handshake. A server that only starts slowly reads both: it answers the question,
 * and may refuse the handshake. So the pipe outlives a handshake that fails.
 */
export class LentPipe implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The answer that came after all. */
  late: Discovery | null = null
  private readonly pipe: StdioTransport
  private isKept = false

  constructor(pipe: StdioTransport) {
    this.pipe = pipe
    pipe.onclose = () => this.onclose?.()
    pipe.onerror = (cause) => this.onerror?.(cause)
    pipe.onmessage = (received) => {
      const message = received as unknown as Fields
      if (message['method'] !== undefined || message['id'] !== PROBE) return this.onmessage?.(received)
      if (isFields(message['result'])) this.late = readDiscovery(message['result'])
    }
  }

  /** The handshake was made: closing this closes the pipe. */
  keep(): void {
    this.isKept = true
  }

  async start(): Promise<void> {}

  send(message: JSONRPCMessage): Promise<void> {
    return this.pipe.send(message)
  }

  async close(): Promise<void> {
    if (this.isKept) await this.pipe.close()
    else this.onclose?.()
  }
}
