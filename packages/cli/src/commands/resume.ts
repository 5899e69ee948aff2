// `bridle resume SNAPSHOT`: goes on with a run that was written down, from where it waited. What was under way then is asked for
// again, with the same idempotency key; what was printed before is not printed again.

import { readFileSync } from 'node:fs'
import { CompileError, SnapshotError, describeSnapshot } from '@bridle/stdlib-tools'
import type { Module, Runtime } from '@bridle/stdlib-tools'
import { LinkError } from '@bridle/vm'
import { CommandError, UsageError } from '../errors.js'
import { commandRuntime } from '../host.js'
import { reasonOf } from '../load.js'
import type { Script } from '../load.js'
import { perform } from '../perform.js'
import type { RunFlags } from '../program.js'
import { limitsOf } from './run.js'

export type ResumeFlags = Pick<RunFlags, 'json' | 'fuel' | 'timeout' | 'maxHeap' | 'snapshot'>

export async function resumeCommand(file: string, options: ResumeFlags): Promise<number> {
  const { bytes, runtime, module, script } = openSnapshot(file, options)
  return perform({
    module,
    script,
    launch: ({ dryRun: _, ...start }) => refusing(file, () => runtime.resume(bytes, { ...start, module })),
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
}

/** Raises CommandError for bytes that are no snapshot, or that do not fit this Bridle. */
export function openSnapshot(file: string, options: Pick<RunFlags, 'fuel' | 'maxHeap'>): OpenedSnapshot {
  const bytes = readBytes(file)
  return refusing(file, () => {
    const facts = describeSnapshot(bytes)
    if (facts.file === null) throw new UsageError(`${file} was taken without its sources; it can be resumed by a program only`)
    const runtime = commandRuntime({ script: facts.file, terminal: true, args: [], limits: limitsOf(options) })
    const module = runtime.moduleOfSnapshot(bytes)
    const text = module.files.get(facts.file)?.text ?? ''
    return { bytes, runtime, module, script: { key: facts.file, shown: facts.file, text } }
  })
}

export function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new CommandError(`cannot read ${file}: ${reasonOf(cause)}`)
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
