// `bridle resume SNAPSHOT`: goes on with a run that was written down, from where it waited. What was under way then is asked for
// again, with the same idempotency key; what was printed before is not printed again.

import { readFileSync } from 'node:fs'
import { CompileError, SnapshotError, describeSnapshot } from '@bridle/stdlib-tools'
import type { Module, Runtime } from '@bridle/stdlib-tools'
import { LinkError } from '@bridle/vm'
import { CommandError, UsageError, unreadable } from '../errors.js'
import { commandRuntime } from '../host.js'
import type { Script } from '../load.js'
import { perform } from '../perform.js'
import type { RunFlags } from '../program.js'
import { resumingAuthority, tellWidened } from '../resuming.js'
import type { ResumingFlags } from '../resuming.js'
import { limitsOf } from './run.js'

export type ResumeFlags = ResumingFlags & Pick<RunFlags, 'json' | 'fuel' | 'timeout' | 'maxHeap' | 'snapshot'>

export async function resumeCommand(file: string, options: ResumeFlags): Promise<number> {
  const { bytes, runtime, module, script, widen } = await openSnapshot(file, options)
  return perform({
    module,
    script,
    launch: ({ dryRun: _, ...start }) => refusing(file, () => runtime.resume(bytes, { ...start, module, widen })),
    json: options.json === true,
    dryRun: false,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}

export interface OpenedSnapshot {
  readonly bytes: Uint8Array
  readonly runtime: Runtime
  readonly module: Module
  readonly script: Script
  readonly widen: boolean
}

/** Raises CommandError for bytes that are no snapshot, or that do not fit this Bridle. */
export async function openSnapshot(
  file: string,
  options: ResumingFlags & Pick<RunFlags, 'fuel' | 'maxHeap'>,
): Promise<OpenedSnapshot> {
  const bytes = readBytes(file)
  const { file: key, authority: before } = refusing(file, () => describeSnapshot(bytes))
  if (key === null) throw new UsageError(`${file} was taken without its sources; it can be resumed by a program only`)
  const { authority, isWidening: widen } = await resumingAuthority(options, { before, script: key })
  const runtime = commandRuntime({ script: key, terminal: true, args: [], limits: limitsOf(options), authority })
  if (widen && before !== null) tellWidened(runtime, before, authority)
  const module = refusing(file, () => runtime.moduleOfSnapshot(bytes))
  const text = module.files.get(key)?.text ?? ''
  return { bytes, runtime, module, script: { key, shown: key, text }, widen }
}

export function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

export function refusing<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof SnapshotError) throw new CommandError(`${file} is refused (${cause.reason}): ${cause.message}`)
    if (cause instanceof CompileError || cause instanceof LinkError)
      throw new CommandError(`${file} does not fit this version: ${cause.message}`)
    throw cause
  }
}
