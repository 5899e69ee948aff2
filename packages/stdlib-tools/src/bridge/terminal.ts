// Programs of a script in the terminal of the client that drives it: the person at an editor sees them run. A client
// that declares `terminal` gets them all but those that read standard input or replace the environment, which its terminal
// has no words for; these run here.

import type { Effect, EffectOutcome } from '@bridle/vm'
import { LONGEST_TIMER_MS, clampTimer } from '../library/time/host-clock.js'
import { answered, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider, ProviderSource } from '../tools/executors/provider.js'
import { isRecord } from '../tools/executors/jsonrpc.js'
import type { JsonRpcPeer, Params } from '../tools/executors/jsonrpc.js'

/** Older output is dropped by the client beyond this. */
const OUTPUT_BYTES = 8 << 20

/** Puts the terminal in the place of what runs programs here. */
export function withTerminal(
  source: ProviderSource,
  peer: JsonRpcPeer,
  session: string,
  cwd: string,
  onStart: (effect: number, terminalId: string) => void = () => {},
): ProviderSource {
  return (info) => {
    const local = typeof source === 'function' ? source(info) : source
    if (!local.kinds.includes('process.exec')) return local
    const provider: Provider = {
      kinds: local.kinds,
      perform: (effect, call) =>
        effect.kind === 'process.exec' && hasWords(effect)
          ? runInTerminal({ peer, session, cwd, onStart }, effect, call)
          : local.perform(effect, call),
      isReadOnly: (effect, call) => local.isReadOnly?.(effect, call) ?? null,
      close: () => local.close?.(),
    }
    return provider
  }
}

const hasWords = ({ args }: Effect): boolean => (args.stdin ?? null) === null && args.clearEnv !== true

interface ClientTerminal {
  readonly peer: JsonRpcPeer
  readonly session: string
  readonly cwd: string
  /** Called with each terminal when its program has started. */
  readonly onStart: (effect: number, terminalId: string) => void
}

async function runInTerminal(
  { peer, session, cwd, onStart }: ClientTerminal,
  { args }: Effect,
  { signal, id }: EffectCall,
): Promise<EffectOutcome> {
  const makeParams = (more: Params): Params => ({ sessionId: session, ...more })
  const env = Object.entries((args.env ?? {}) as { readonly [name: string]: string })
  const line =
    typeof args.shell === 'string'
      ? { command: '/bin/sh', args: ['-c', args.shell] }
      : { command: String(args.program), args: (args.args ?? []) as readonly string[] }
  let terminal: unknown = null
  try {
    const created = await peer.request(
      'terminal/create',
      makeParams({
        ...line,
        env: env.map(([name, value]) => ({ name, value })),
        cwd: typeof args.cwd === 'string' ? resolvePath(args.cwd, cwd) : cwd,
        outputByteLimit: OUTPUT_BYTES,
      }),
      { signal },
    )
    terminal = isRecord(created) ? created['terminalId'] : null
    if (typeof terminal !== 'string') return runtimeError('Client error: terminal/create gave no terminalId')
    onStart(id, terminal)
    const here = makeParams({ terminalId: terminal })
    const ended = await awaitExit(peer, here, typeof args.timeoutMs === 'number' ? args.timeoutMs : null, signal)
    const output = await peer.request('terminal/output', here, { signal })
    const text = isRecord(output) && typeof output['output'] === 'string' ? output['output'] : ''
    return answered({ stdout: text, stderr: '', status: ended ?? -1, timedOut: ended === null })
  } catch (cause) {
    return runtimeError(cause instanceof Error ? toClientWords(cause.message) : String(cause))
  } finally {
    // Also ends a program that still runs. The client may have gone.
    if (typeof terminal === 'string') peer.request('terminal/release', makeParams({ terminalId: terminal })).catch(() => {})
  }
}

/** The exit code, -1 for a signal; null when the time was over, and the program was ended. */
async function awaitExit(peer: JsonRpcPeer, here: Params, timeoutMs: number | null, signal: AbortSignal): Promise<number | null> {
  const limit = new AbortController()
  const timer = timeoutMs === null ? undefined : setTimeout(() => limit.abort(), clampTimer(timeoutMs))
  try {
    const ended = await peer.request('terminal/wait_for_exit', here, {
      signal: AbortSignal.any([signal, limit.signal]),
      timeoutMs: LONGEST_TIMER_MS,
    })
    const code = isRecord(ended) ? ended['exitCode'] : null
    return typeof code === 'number' ? code : -1
  } catch (cause) {
    if (!limit.signal.aborted || signal.aborted) throw cause
    await peer.request('terminal/kill', here, { signal }).catch(() => {})
    return null
  } finally {
    clearTimeout(timer)
  }
}

function resolvePath(path: string, cwd: string): string {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return path
  let end = cwd.length
  while (end > 0 && /[\\/]/.test(cwd[end - 1]!)) end--
  return `${cwd.slice(0, end)}/${path}`
}

/** Failures between an agent and its client. Scripts match on the wording. */
export function toClientWords(message: string): string {
  if (message === 'Bridge: host closed connection before responding') return 'Client closed connection'
  if (message === 'Bridge: operation cancelled') return 'Cancelled'
  const silent = /^Bridge: host did not respond to (.*)$/.exec(message)
  if (silent !== null) return `Client did not respond to ${silent[1]}`
  return `Client error: ${message.replace(/^Bridge: /, '')}`
}
