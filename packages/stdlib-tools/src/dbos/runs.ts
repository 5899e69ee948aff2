// The workflow of a run. It stays in memory while it waits; after a crash DBOS starts it again in a worker of the same name and version, and the
// steps that are in the database are not made again.

import { DBOS } from '@dbos-inc/dbos-sdk'
import { DurableDriver } from '../host/durable/driver.js'
import { EngineFailed } from '../host/durable/host.js'
import { answerUnknown } from '../host/durable/pieces.js'
import { summarizeResult } from '../host/durable/ended.js'
import type { EndedRun } from '../host/durable/ended.js'
import { judgeCall } from '../host/durable/worker.js'
import type { DurableWorkerOptions } from '../host/durable/worker.js'
import type { NewProgram, NewRun } from '../host/durable/store.js'
import type { Module } from '../host/module.js'
import type { Runtime } from '../host/runtime.js'
import { DbosHost } from './dbos-host.js'
import { QUEUE, WORKFLOW } from './names.js'

/** What the workflow is given: what a store keeps of a new run. */
export type DbosRun = Pick<NewRun, 'program' | 'head' | 'startedAt'>

export interface DbosRunsOptions extends Pick<
  DurableWorkerOptions,
  'onUnknownOutcome' | 'start' | 'readStatus' | 'onEnd' | 'onStuck'
> {
  readonly runtime: Runtime
  /** Runs at once in this process; as many as come when absent. */
  readonly capacity?: number
}

export interface DbosRuns {
  /** After `DBOS.launch()`: this process takes runs. */
  readonly listen: () => Promise<void>
}

/** Each recovery counts as an attempt; a run that waits for months sees many processes. */
const MOST_RECOVERIES = 1_000_000

/** Registers the workflow of runs: call it before `DBOS.launch()`, once in a process. */
export function dbosRuns(options: DbosRunsOptions): DbosRuns {
  const modules = new Map<string, Module>()
  const load = ({ hash, sources }: NewProgram): Module => {
    const known = modules.get(hash)
    if (known !== undefined) return known
    const module = options.runtime.loadProgram(sources)
    modules.set(hash, module)
    return module
  }
  DBOS.registerWorkflow((run: DbosRun) => drive(run, DBOS.workflowID!, load, options), {
    name: WORKFLOW,
    maxRecoveryAttempts: MOST_RECOVERIES,
  })
  return {
    async listen() {
      const { capacity } = options
      await DBOS.registerQueue(QUEUE, capacity === undefined ? {} : { workerConcurrency: capacity })
    },
  }
}

async function drive(
  { program, head, startedAt }: DbosRun,
  runId: string,
  load: (program: NewProgram) => Module,
  { runtime, onUnknownOutcome: decide = () => 'fail' as const, start, readStatus, onEnd, onStuck }: DbosRunsOptions,
): Promise<EndedRun> {
  const host = new DbosHost(startedAt, globalThis.crypto.randomUUID())
  try {
    const piece = { module: load(program), head, snapshot: null, lines: [] }
    const opened = runtime.openPiece(piece, { ...start?.(runId), decide })
    if (opened.kind === 'lacking') throw new Error(`this worker lacks the tool ${JSON.stringify(opened.tool)}`)
    if (opened.kind !== 'open') throw new Error(opened.kind === 'stuck' ? opened.reason : 'its journal says that it has ended')
    const run = opened.begin(
      (driven, pack) =>
        new DurableDriver(driven, host, {
          pack,
          judge: (effect) => judgeCall(effect, runtime),
          unknown: (id, effect) => answerUnknown(runId, id, effect, decide),
        }),
    )
    const ended = summarizeResult(runId, await run.result, readStatus)
    await host.end(runId)
    onEnd?.(ended)
    return ended
  } catch (cause) {
    if (cause instanceof EngineFailed) throw cause.cause
    onStuck?.(runId, cause instanceof Error ? cause.message : String(cause))
    throw cause
  }
}
