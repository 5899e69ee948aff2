// Text files of a script through the client that drives it (Agent Client Protocol, `fs/*`): what a person has open and did not save is read,
// and what is written appears in the editor. The provider of this process judges every path first, so that the client opens no file that the
// run may not use; without one that can judge, files are used here.

import type { Effect, EffectOutcome } from '@bridle/vm'
import { answered, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider, ProviderSource } from '../tools/executors/provider.js'
import { BridgeError, isRecord } from '../tools/executors/jsonrpc.js'
import type { JsonRpcPeer } from '../tools/executors/jsonrpc.js'
import { toClientWords } from './terminal.js'

export interface ClientFiles {
  readonly peer: JsonRpcPeer
  readonly session: string
  /** What the client declared. */
  readonly reads: boolean
  readonly writes: boolean
  /** Called with a file before it is written. */
  readonly onWrite: (effect: number, path: string, before: string | null, after: string) => void
}

/** Puts the client in the place of what reads and writes text files here. */
export function withClientFiles(source: ProviderSource, files: ClientFiles): ProviderSource {
  return (info) => {
    const local = typeof source === 'function' ? source(info) : source
    if (!local.kinds.includes('fs.write')) return local
    const provider: Provider = {
      kinds: local.kinds,
      perform: (effect, call) => {
        if (effect.kind === 'fs.read' && effect.args.encoding === 'utf8' && files.reads) return read(local, files, effect, call)
        if (effect.kind === 'fs.write' && effect.args.op === 'write' && typeof effect.args.data === 'string')
          return write(local, files, effect, effect.args.data, call)
        return local.perform(effect, call)
      },
      isReadOnly: (effect, call) => local.isReadOnly?.(effect, call) ?? null,
      ...(local.locate === undefined ? {} : { locate: (effect: Effect) => local.locate!(effect) }),
      ...(local.secretValues === undefined ? {} : { secretValues: local.secretValues }),
      close: () => local.close?.(),
    }
    return provider
  }
}

async function read(local: Provider, files: ClientFiles, effect: Effect, call: EffectCall): Promise<EffectOutcome> {
  const path = local.locate?.(effect) ?? null
  if (typeof path !== 'string') return path ?? local.perform(effect, call)
  const content = await readThere(files, path, call.signal)
  // A file that the client cannot read is read here, and the refusal has the words of the system.
  return content === null ? local.perform(effect, call) : answered({ path, data: content })
}

/** null: the client has no text for it. */
async function readThere({ peer, session }: ClientFiles, path: string, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await peer.request('fs/read_text_file', { sessionId: session, path }, { signal })
    return isRecord(answer) && typeof answer['content'] === 'string' ? answer['content'] : null
  } catch {
    return null
  }
}

async function write(
  local: Provider,
  files: ClientFiles,
  effect: Effect,
  data: string,
  call: EffectCall,
): Promise<EffectOutcome> {
  const path = local.locate?.(effect) ?? null
  if (typeof path !== 'string') return path ?? local.perform(effect, call)
  const before = await readBefore(local, files, effect, path, call)
  files.onWrite(call.id, path, before, data)
  // What must not overwrite the work of another is compared and replaced in one step, here.
  const isGuarded = effect.kind === 'fs.write' && effect.args.op === 'write' && effect.args.expected !== undefined
  return files.writes && !isGuarded ? writeThere(files, path, data, call.signal) : local.perform(effect, call)
}

async function readBefore(
  local: Provider,
  files: ClientFiles,
  { args }: Effect,
  path: string,
  call: EffectCall,
): Promise<string | null> {
  if (files.reads) {
    const there = await readThere(files, path, call.signal)
    if (there !== null) return there
  }
  const outcome = await local.perform({ kind: 'fs.read', args: { path: String(args['path']), encoding: 'utf8' } }, call)
  const data = outcome.ok && isRecord(outcome.value) ? outcome.value['data'] : null
  return typeof data === 'string' ? data : null
}

async function writeThere(
  { peer, session }: ClientFiles,
  path: string,
  content: string,
  signal: AbortSignal,
): Promise<EffectOutcome> {
  try {
    await peer.request('fs/write_text_file', { sessionId: session, path, content }, { signal })
    return answered({ path })
  } catch (cause) {
    if (cause instanceof BridgeError && cause.fault.kind === 'answered')
      return runtimeError(`Client error: ${cause.fault.message}`)
    return runtimeError(cause instanceof Error ? toClientWords(cause.message) : String(cause))
  }
}
