// Runs on a Restate server as a store: submitting, answering, cancelling and reading work as with our own store, from any process, through
// the ingress of the server, which is plain HTTP and needs no SDK. Who works on the runs is an endpoint (objects.ts).

import { CANCEL_TOKEN } from '../host/durable/host.js'
import type { DurableStore, NewProgram, NewRun, RunQuery, RunRow } from '../host/durable/store.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { INBOX_OBJECT, RUN_OBJECT } from './names.js'
import type { RestateRunState } from './names.js'

export interface RestateStoreOptions {
  /** URL of the ingress, such as `http://127.0.0.1:8080`. */
  readonly ingress: string
  /** URL of the admin API, such as `http://127.0.0.1:9070`: `list` asks it. */
  readonly admin?: string
  /** For servers with authentication. */
  readonly headers?: { readonly [name: string]: string }
  readonly fetch?: typeof fetch
}

/**
 * Where a server is, as one text: `restate+http://127.0.0.1:8080`, with the admin API as `?admin=http://127.0.0.1:9070` (port 9070 of the same host
 * when absent). Null for what is no such text.
 */
export function parseRestateUrl(text: string): { readonly ingress: string; readonly admin: string } | null {
  const [, scheme] = /^restate\+(https?):\/\/./.exec(text) ?? []
  if (scheme === undefined) return null
  const url = new URL(text.slice('restate+'.length))
  const admin = url.searchParams.get('admin') ?? `${scheme}://${url.hostname}:9070`
  return { ingress: url.origin, admin }
}

/** Raises ToolError `store_unavailable` where the server does not answer, and for what only a store of our own can do. */
export class RestateStore implements DurableStore {
  private readonly options: RestateStoreOptions

  constructor(options: RestateStoreOptions) {
    this.options = options
  }

  async submit(runs: readonly NewRun[]): Promise<number> {
    const made = await Promise.all(
      runs.map(async ({ runId, ...run }) => {
        const { isNew } = (await this.ask(RUN_OBJECT, runId, 'submit', run)) as { readonly isNew: boolean }
        return isNew ? 1 : 0
      }),
    )
    return made.reduce<number>((sum, each) => sum + each, 0)
  }

  async signal(runId: string, token: string, line: string): Promise<'kept' | 'known' | 'gone'> {
    return (await this.ask(INBOX_OBJECT, runId, 'put', { token, line })) as 'kept' | 'known' | 'gone'
  }

  async cancel(runId: string, reason: string): Promise<boolean> {
    return (await this.signal(runId, CANCEL_TOKEN, reason)) === 'kept'
  }

  async retry(runId: string): Promise<boolean> {
    return (await this.ask(RUN_OBJECT, runId, 'retry', undefined)) as boolean
  }

  async get(runId: string): Promise<RunRow | null> {
    const found = (await this.ask(RUN_OBJECT, runId, 'get', undefined)) as RestateRunState | null
    return found === null ? null : makeRow(runId, found)
  }

  async list({ most, after = '', ...query }: RunQuery): Promise<readonly RunRow[]> {
    const rows: RunRow[] = []
    let last = after
    while (rows.length < most) {
      const ids = await this.listIds(last, most)
      const found = await Promise.all(ids.map((id) => this.get(id)))
      for (const row of found) if (row !== null && rows.length < most && fits(row, query)) rows.push(row)
      if (ids.length < most) break
      last = ids.at(-1)!
    }
    return rows
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  fork(): Promise<never> {
    return refuse('fork')
  }

  migrate(): Promise<never> {
    return refuse('migrate')
  }

  join(): Promise<never> {
    return refuse('join', 'an endpoint with restateRuns() works on its runs')
  }

  secret(): Promise<never> {
    return refuse('secret', 'give createRuntime({ keys }) for completion keys')
  }

  program(): Promise<NewProgram | null> {
    return refuse('program')
  }

  read(): Promise<never> {
    return refuse('read', 'the journal is in the server')
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

  private async listIds(after: string, most: number): Promise<readonly string[]> {
    const { admin } = this.options
    if (admin === undefined) return refuse('list', 'give the URL of the admin API')
    const quoted = after.replaceAll("'", "''")
    const query = `SELECT DISTINCT service_key FROM state WHERE service_name = '${RUN_OBJECT}' AND service_key > '${quoted}' ORDER BY service_key LIMIT ${most}`
    const answer = (await this.post(`${trimUrl(admin)}/query`, { query })) as {
      readonly rows?: readonly { readonly service_key: string }[]
    }
    return (answer.rows ?? []).map(({ service_key: id }) => id)
  }

  private ask(service: string, key: string, handler: string, input: unknown): Promise<unknown> {
    return this.post(`${trimUrl(this.options.ingress)}/${service}/${encodeURIComponent(key)}/${handler}`, input)
  }

  private async post(url: string, input: unknown): Promise<unknown> {
    const { headers = {}, fetch: send = fetch } = this.options
    const body = input === undefined ? {} : { body: JSON.stringify(input) }
    const type = input === undefined ? {} : { 'content-type': 'application/json' }
    let response: Response
    let text: string
    try {
      response = await send(url, { method: 'POST', headers: { accept: 'application/json', ...headers, ...type }, ...body })
      text = await response.text()
    } catch (cause) {
      throw new ToolError('store_unavailable', `the Restate server cannot be reached at ${new URL(url).origin}`, { cause })
    }
    if (!response.ok) throw new ToolError('store_unavailable', `Restate answered ${response.status}: ${text.slice(0, 500)}`)
    return text === '' ? null : JSON.parse(text)
  }
}

const trimUrl = (url: string): string => url.replace(/\/$/, '')

function refuse(what: string, hint?: string): Promise<never> {
  const more = hint === undefined ? '' : `: ${hint}`
  return Promise.reject(new ToolError('store_unavailable', `${what} is not available for runs on Restate${more}`))
}

function makeRow(runId: string, found: RestateRunState): RunRow {
  const { state, program, startedAt, wakeAt, waitsFor, reason, result } = found
  return {
    runId,
    tenant: '',
    program,
    state,
    worker: null,
    startedAt,
    updatedAt: startedAt,
    wakeAt,
    waitsFor,
    tools: [],
    status: result?.status ?? reason,
    result: result === null ? null : JSON.stringify(result),
    sizeBytes: found.sizeBytes,
  }
}

function fits(row: RunRow, { state, tenant, program, waitsFor, since }: Omit<RunQuery, 'most' | 'after'>): boolean {
  return (
    (state === undefined || row.state === state) &&
    (tenant === undefined || row.tenant === tenant) &&
    (program === undefined || row.program.hash === program || row.program.label === program) &&
    (waitsFor === undefined || row.waitsFor.includes(waitsFor)) &&
    (since === undefined || row.startedAt >= since)
  )
}
