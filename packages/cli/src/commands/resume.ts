// `bridle resume SNAPSHOT|RECORDING`: continues a stored run from where it waited. Pending effects are requested
// again, with the same idempotency key; earlier output is not printed again.

import { readFileSync } from 'node:fs'
import { CompileError, SnapshotError, describeSnapshot, findLastAuthority } from '@bridle/stdlib-tools'
import type { Module, RunAuthority, Runtime } from '@bridle/stdlib-tools'
import { LinkError } from '@bridle/vm'
import { CommandError, UsageError, makeUnreadableError } from '../errors.js'
import { readSizes } from '../further-limits.js'
import { makeCommandRuntime } from '../host.js'
import type { Script } from '../script.js'
import { perform } from '../perform.js'
import type { PeopleFlags } from '../people/answers.js'
import type { RunFlags } from '../run-flags.js'
import { makeResumingAuthority, tellWidened } from '../resuming.js'
import type { ResumingFlags } from '../resuming.js'
import { readRecording } from './replay.js'
import { openContinuedFile } from './run-options.js'

export interface ResumeFlags
  extends ResumingFlags, PeopleFlags, Pick<RunFlags, 'json' | 'fuel' | 'timeout' | 'maxHeap' | 'limit' | 'snapshot'> {
  /** What to do with calls of a recording that have no outcome and must not be repeated. */
  readonly unknown?: 'fail' | 'retry'
}

export async function resumeCommand(file: string, options: ResumeFlags): Promise<number> {
  if (readBytes(file)[0] !== SNAPSHOT_MARK) return resumeRecording(file, options)
  if (options.unknown !== undefined)
    throw new UsageError('--unknown is for recordings; a snapshot asks again for what was under way')
  const { bytes, runtime, module, script, widen } = await openSnapshot(file, options)
  return perform({
    module,
    script,
    launch: ({ dryRun: _, ...start }) => withRefusals(file, () => runtime.resume(bytes, { ...start, module, widen })),
    json: options.json === true,
    dryRun: false,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}

/** The first byte of a snapshot; scripts and recordings never begin with it. */
export const SNAPSHOT_MARK = 0x89

/**
 * Recovers a run whose process ended early, from its journal: replays it to its end without performing anything, and
 * continues normally from there. The journal is continued.
 */
async function resumeRecording(file: string, options: ResumeFlags): Promise<number> {
  const entries = readRecording(file)
  const [head] = entries
  const last = entries.at(-1)
  if (head?.type !== 'run')
    throw new CommandError(`${file} is refused (format): it is neither a snapshot nor the journal of a run`, { file })
  if (last?.type === 'end')
    throw new CommandError(`the run of ${file} has ended (${last.kind}); there is nothing to go on with`, { file })
  if (head.sources === undefined)
    throw new UsageError(`${file} has no sources; it can be gone on with by a program only`, { file })
  const { key, text } = head.sources.entry
  const before = findLastAuthority(entries)
  const { runtime, widen } = await makeResumingRuntime(options, before, key)
  const module = withRefusals(file, () => runtime.moduleOfRecording(entries))
  return perform({
    module,
    script: { key, shown: key, text },
    launch: ({ dryRun: _, ...start }) => {
      const found = withRefusals(file, () =>
        runtime.continueRecording(entries, {
          ...start,
          widen,
          journal: openContinuedFile(file),
          onUnknownOutcome: () => options.unknown ?? 'fail',
        }),
      )
      if (found.kind === 'resumed') return found.run
      if (found.kind === 'failed') throw new CommandError(`${file} cannot be gone on with: ${found.reason}`, { file })
      if (found.kind === 'held') throw new CommandError(`the run of ${file} is held for the call of ${found.call.name}`, { file })
      throw new CommandError(`the run of ${file} has ended (${found.status}); there is nothing to go on with`, { file })
    },
    json: options.json === true,
    dryRun: head.dryRun === true,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}

/** A runtime for a run that continues, with no more power than it had unless the flags say so. */
async function makeResumingRuntime(
  options: SnapshotFlags,
  before: RunAuthority | null,
  script: string,
): Promise<{ readonly runtime: Runtime; readonly widen: boolean }> {
  const { authority, isWidening: widen } = await makeResumingAuthority(options, { before, script })
  const runtime = makeCommandRuntime({ script, terminal: true, people: options, args: [], ...readSizes(options), authority })
  if (widen && before !== null) tellWidened(runtime, before, authority)
  return { runtime, widen }
}

type SnapshotFlags = ResumingFlags & PeopleFlags & Pick<RunFlags, 'fuel' | 'maxHeap' | 'limit'>

export interface OpenedSnapshot {
  readonly bytes: Uint8Array
  readonly runtime: Runtime
  readonly module: Module
  readonly script: Script
  readonly widen: boolean
}

/** Throws CommandError for bytes that are not a snapshot, or not one of this Bridle. */
export async function openSnapshot(file: string, options: SnapshotFlags): Promise<OpenedSnapshot> {
  const bytes = readBytes(file)
  const { file: key, authority: before } = withRefusals(file, () => describeSnapshot(bytes))
  if (key === null) throw new UsageError(`${file} was taken without its sources; it can be resumed by a program only`)
  const { runtime, widen } = await makeResumingRuntime(options, before, key)
  const module = withRefusals(file, () => runtime.moduleOfSnapshot(bytes))
  const text = module.files.get(key)?.text ?? ''
  return { bytes, runtime, module, script: { key, shown: key, text }, widen }
}

export function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw makeUnreadableError(file, cause)
  }
}

export function withRefusals<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof SnapshotError) throw new CommandError(`${file} is refused (${cause.reason}): ${cause.message}`)
    if (cause instanceof CompileError || cause instanceof LinkError)
      throw new CommandError(`${file} does not fit this version: ${cause.message}`)
    throw cause
  }
}
