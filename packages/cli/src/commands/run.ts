// `bridle run`: one script from start to end in this process. Its output goes out as it comes; how it ended decides the exit code
// (reference 01 §5).

import { readFileSync } from 'node:fs'
import type { Journal } from '@bridle/stdlib-tools'
import { plainFromHost } from '@bridle/stdlib-tools'
import { fileJournal } from '@bridle/stdlib-tools/node'
import { fromPlain } from '@bridle/vm'
import type { Limits, Plain } from '@bridle/vm'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { commandRuntime } from '../host.js'
import { compileScript, readScript, reasonOf } from '../load.js'
import { perform } from '../perform.js'
import type { RunFlags } from '../main.js'

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
}

export async function runCommand(file: string | undefined, options: RunCommandOptions): Promise<number> {
  const input = readInput(options.input)
  const script = await readScript(file, options.eval)
  const runtime = commandRuntime({ script: script.key, terminal: true, args: options.scriptArguments, limits: limitsOf(options) })
  const module = compileScript(runtime, script)
  if (module === null) return EXIT_FAILURE
  return perform({
    module,
    script,
    launch: (start) =>
      runtime.start(module, {
        ...start,
        input,
        globals: { argv: fromPlain([...options.scriptArguments]) },
        ...(options.record === undefined ? {} : { journal: openJournal(options.record) }),
      }),
    json: options.json === true,
    dryRun: options.dryRun === true,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}

export function readInput(text: string | undefined): Plain {
  if (text === undefined) return null
  let json = text
  if (text.startsWith('@')) {
    try {
      json = readFileSync(text.slice(1), 'utf8')
    } catch (cause) {
      throw new CommandError(`cannot read ${text.slice(1)}: ${reasonOf(cause)}`)
    }
  }
  try {
    return plainFromHost(JSON.parse(json))
  } catch (cause) {
    throw new UsageError(`--input is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

export function limitsOf(options: Pick<RunFlags, 'fuel' | 'maxHeap'>): Partial<Limits> {
  return {
    ...(options.fuel === undefined ? {} : { fuel: options.fuel }),
    ...(options.maxHeap === undefined ? {} : { heap: options.maxHeap }),
  }
}

function openJournal(path: string): Journal {
  try {
    return fileJournal(path)
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${reasonOf(cause)}`)
  }
}
