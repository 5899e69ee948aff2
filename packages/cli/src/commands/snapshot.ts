// `bridle snapshot FILE -o SNAPSHOT`: runs a script, or continues a snapshot, until it waits, and stores it.
// `bridle resume` continues from the file, any number of times.

import { fromPlain } from '@bridle/vm'
import { makeAuthority, withLock } from '../authority.js'
import { readSizes } from '../further-limits.js'
import { EXIT_FAILURE } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript } from '../load.js'
import { performUntil, formatSaved } from '../perform.js'
import type { Performance } from '../perform.js'
import type { PeopleFlags } from '../people/answers.js'
import type { RunFlags } from '../run-flags.js'
import type { ResumingFlags } from '../resuming.js'
import { SNAPSHOT_MARK, openSnapshot, readBytes, withRefusals } from './resume.js'
import { readInput } from './run-options.js'
import { complain, tellJson } from '../printable.js'

export interface SnapshotFlags
  extends ResumingFlags, PeopleFlags, Pick<RunFlags, 'eval' | 'input' | 'json' | 'fuel' | 'timeout' | 'maxHeap' | 'limit'> {
  readonly out: string
  /** Number of the call before which to stop. */
  readonly at?: number
  readonly onInterrupt?: boolean
  readonly scriptArguments: readonly string[]
}

export async function snapshotCommand(file: string | undefined, options: SnapshotFlags): Promise<number> {
  const begun = isSnapshot(file) ? await beginContinued(file!, options) : await beginFresh(file, options)
  if (begun === null) return EXIT_FAILURE
  const { code, saved } = await performUntil(
    { ...begun, dryRun: false, json: options.json === true, timeoutMs: options.timeout ?? null, snapshotFile: options.out },
    { holdFrom: options.at ?? null, untilInterrupted: options.onInterrupt === true },
  )
  if (saved === null) {
    if (options.json !== true) complain('bridle: the run ended before that; no snapshot was written\n')
    return code
  }
  if (options.json === true) {
    const document = {
      status: 'suspended',
      exit_code: code,
      snapshot: options.out,
      size_bytes: saved.sizeBytes,
      calls: saved.calls,
    }
    tellJson(document)
  } else complain(formatSaved(options.out, saved))
  return code
}

type Begun = Pick<Performance, 'module' | 'script' | 'launch'>

async function beginFresh(file: string | undefined, options: SnapshotFlags): Promise<Begun | null> {
  const input = options.input === undefined ? null : readInput(options.input)
  const script = await readScript(file, options.eval)
  const { scriptArguments } = options
  const authority = await withLock(makeAuthority(options), options, script.key)
  const runtime = makeCommandRuntime({
    script: script.key,
    terminal: true,
    people: options,
    args: scriptArguments,
    ...readSizes(options),
    authority,
  })
  const module = compileScript(runtime, script, options)
  if (module === null) return null
  const globals = { argv: fromPlain([...scriptArguments]) }
  return { module, script, launch: (start) => runtime.start(module, { ...start, input, globals }) }
}

async function beginContinued(file: string, options: SnapshotFlags): Promise<Begun> {
  const { bytes, runtime, module, script, widen } = await openSnapshot(file, options)
  return {
    module,
    script,
    launch: ({ dryRun: _, ...start }) => withRefusals(file, () => runtime.resume(bytes, { ...start, module, widen })),
  }
}

function isSnapshot(file: string | undefined): boolean {
  return file !== undefined && file !== '-' && readBytes(file)[0] === SNAPSHOT_MARK
}
