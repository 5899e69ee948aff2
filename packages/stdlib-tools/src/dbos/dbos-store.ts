// Runs on DBOS as a store: submitting, answering, cancelling and reading go through the database, from any process. Who works on the runs is a
// process with `dbosRuns` (runs.ts).

import { DBOSClient } from '@dbos-inc/dbos-sdk'
import type { WorkflowStatus } from '@dbos-inc/dbos-sdk'
import { CANCEL_TOKEN } from '../host/durable/host.js'
import type { DurableStore, NewRun, RunQuery, RunRow, RunState } from '../host/durable/store.js'
import type { EndedRun } from '../host/durable/ended.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { describeCause } from '../tools/executors/provider.js'
import { ANSWERS, QUEUE, WAITS_FOR, WORKFLOW } from './names.js'
import type { SentAnswer } from './names.js'
import type { DbosRun } from './runs.js'

export interface DbosStoreOptions {
  /** Of the system database of DBOS, such as `postgres://user@127.0.0.1:5432/bridle`. */
  readonly databaseUrl: string
  /** The name that the workers give DBOS. */
  readonly applicationName?: string
  /** The version that the workers give DBOS; the newest of them when absent. */
  readonly applicationVersion?: string
}

const STATES: { readonly [status: string]: RunState } = {
  ENQUEUED: 'ready',
  DELAYED: 'ready',
  PENDING: 'running',
  SUCCESS: 'ended',
  CANCELLED: 'ended',
  ERROR: 'stuck',
  MAX_RECOVERY_ATTEMPTS_EXCEEDED: 'stuck',
}

/** Raises ToolError `store_unavailable` where the database does not answer, and for what only a store of our own can do. */
export async function openDbosStore(options: DbosStoreOptions): Promise<DurableStore> {
  const { databaseUrl, applicationName, applicationVersion } = options
  const more = applicationName === undefined ? {} : { applicationName }
  const client = await guard(DBOSClient.create({ systemDatabaseUrl: databaseUrl, ...more }))
  return new DbosStore(client, applicationVersion)
}

class DbosStore implements DurableStore {
  private readonly client: DBOSClient
  private readonly version: { readonly appVersion?: string }

  constructor(client: DBOSClient, version: string | undefined) {
    this.client = client
    this.version = version === undefined ? {} : { appVersion: version }
  }

  async submit(runs: readonly NewRun[]): Promise<number> {
    let made = 0
    for (const { runId, program, head, startedAt } of runs) {
      if ((await this.find(runId)) !== null) continue
      const place = { workflowName: WORKFLOW, queueName: QUEUE, workflowID: runId, ...this.version }
      await guard(this.client.enqueue<(run: DbosRun) => Promise<EndedRun>>(place, { program, head, startedAt }))
      made++
    }
    return made
  }

  /** A second answer for a token is `kept`, too, and is not used: the run alone knows which one was the first. */
  async signal(runId: string, token: string, line: string, now: number): Promise<'kept' | 'known' | 'gone'> {
    const status = await this.find(runId)
    if (status === null || STATES[status.status] === 'ended') return 'gone'
    const message: SentAnswer = { token, line, now }
    await guard(this.client.send(runId, message, ANSWERS))
    return 'kept'
  }

  async cancel(runId: string, reason: string, now: number): Promise<boolean> {
    return (await this.signal(runId, CANCEL_TOKEN, reason, now)) === 'kept'
  }

  async retry(runId: string): Promise<boolean> {
    const status = await this.find(runId)
    if (status === null || STATES[status.status] !== 'stuck') return false
    await guard(this.client.resumeWorkflow(runId, { queueName: QUEUE }))
    return true
  }

  async get(runId: string): Promise<RunRow | null> {
    const status = await this.find(runId)
    return status === null ? null : this.makeRow(status)
  }

  async list({ state, waitsFor, program, since, after, most }: RunQuery): Promise<readonly RunRow[]> {
    const rows: RunRow[] = []
    const from = since === undefined ? {} : { startTime: new Date(since).toISOString() }
    let isPast = after === undefined
    for (let offset = 0; rows.length < most; offset += most) {
      const page = await guard(this.client.listWorkflows({ workflowName: WORKFLOW, ...from, limit: most, offset }))
      for (const status of page) {
        if (!isPast) {
          isPast = status.workflowID === after
          continue
        }
        if (state !== undefined && STATES[status.status] !== state) continue
        const row = await this.makeRow(status)
        if (waitsFor !== undefined && !row.waitsFor.includes(waitsFor)) continue
        if (program !== undefined && row.program.hash !== program && row.program.label !== program) continue
        if (rows.length < most) rows.push(row)
      }
      if (page.length < most) break
    }
    return rows
  }

  close(): Promise<void> {
    return this.client.destroy()
  }

  fork(): Promise<never> {
    return refuse('fork')
  }

  migrate(): Promise<never> {
    return refuse('migrate')
  }

  join(): Promise<never> {
    return refuse('join', 'a process with dbosRuns() works on its runs')
  }

  secret(): Promise<never> {
    return refuse('secret', 'give createRuntime({ keys }) for completion keys')
  }

  program(): Promise<never> {
    return refuse('program')
  }

  read(): Promise<never> {
    return refuse('read', 'the steps are in the database')
  }

  summarize(): Promise<never> {
    return refuse('summarize')
  }

  count(): Promise<void> {
    // `summarize` is not there to show it.
    return Promise.resolve()
  }

  expire(): Promise<never> {
    return refuse('expire')
  }

  private async find(runId: string): Promise<WorkflowStatus | null> {
    return guard(this.client.retrieveWorkflow(runId).getStatus())
  }

  private async makeRow(status: WorkflowStatus): Promise<RunRow> {
    const run = status.input?.[0] as DbosRun | undefined
    const ended = status.status === 'SUCCESS' ? (status.output as EndedRun) : null
    const state = STATES[status.status] ?? 'stuck'
    const waits =
      state === 'running'
        ? await guard(this.client.getEvent<readonly string[]>(status.workflowID, WAITS_FOR, { timeoutSeconds: 0 }))
        : null
    return {
      runId: status.workflowID,
      tenant: '',
      program: { hash: run?.program.hash ?? '', label: run?.program.label ?? '' },
      state: waits === null || waits.length === 0 ? state : 'parked',
      worker: status.executorId ?? null,
      startedAt: status.createdAt,
      updatedAt: status.updatedAt ?? status.createdAt,
      wakeAt: null,
      waitsFor: waits ?? [],
      tools: [],
      status: ended?.status ?? (state === 'stuck' ? describeCause(status.error) : state === 'ended' ? 'cancelled' : null),
      result: ended === null ? null : JSON.stringify(ended),
      sizeBytes: 0,
    }
  }
}

async function guard<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    throw new ToolError('store_unavailable', `the database of DBOS does not answer: ${describeCause(cause)}`, { cause })
  }
}

function refuse(what: string, hint?: string): Promise<never> {
  const more = hint === undefined ? '' : `: ${hint}`
  return Promise.reject(new ToolError('store_unavailable', `${what} is not available for runs on DBOS${more}`))
}
