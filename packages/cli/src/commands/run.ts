// `bridle run`: one script from start to end in this process. Output is written as it is produced; the outcome decides the exit code.

import { fromPlain } from '@bridle/vm'
import { complain } from '../printable.js'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { perform } from '../perform.js'
import { prepareRun } from '../prepare-run.js'
import { openJournal, makeTracing } from './run-options.js'
import type { RunCommandOptions } from '../run-flags.js'

export async function runCommand(file: string | undefined, options: RunCommandOptions): Promise<number> {
  const { store } = options
  if (store !== undefined) {
    if (options.copies === true)
      throw new UsageError('--copies is for runs without --store: a worker may go on with the run elsewhere')
    const { runDurably } = await import('../durable/run.js')
    return runDurably(file, { ...options, store })
  }
  if (options.id !== undefined || options.tenant !== undefined)
    throw new UsageError('--id and --tenant are for runs with --store')
  const { script, runtime, module, input } = await prepareRun(file, options, { isAnsweredLater: false })
  if (module === null) return EXIT_FAILURE
  const isWatched = options.record !== undefined || options.trace !== undefined || options.snapshot !== undefined
  const copies = options.copies === true ? new (await import('../copy-counts.js')).CopyCounts() : null
  const code = await perform({
    ...(options.print === undefined ? {} : { print: options.print }),
    signals: isWatched ? 'now' : 'firstYield',
    module,
    script,
    launch: (start) =>
      runtime.start(module, {
        ...start,
        input,
        globals: { argv: fromPlain([...options.scriptArguments]) },
        ...(options.trace === undefined ? {} : makeTracing(options.trace, options.traceRequired)),
        ...(options.record === undefined ? {} : { journal: openJournal(options.record) }),
        ...(copies === null ? {} : { copies: (copy) => copies.note(copy) }),
      }),
    json: options.json === true,
    dryRun: options.dryRun === true,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
  if (copies !== null) complain(copies.render())
  return code
}
