// A worker on Restate: an endpoint that the server calls when a run can continue. Needs Node.

import { createServer } from 'node:http2'
import { endpoint } from '@restatedev/restate-sdk'
import { describeCause } from '../tools/executors/provider.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { restateRuns } from './objects.js'
import type { RestateRunsOptions } from './objects.js'

export interface RestateWorkerOptions extends RestateRunsOptions {
  /** 9080 when absent. */
  readonly port?: number
  /** Default loopback, because anyone who reaches the endpoint can give it work. */
  readonly host?: string
  /** URL of the admin API of the server, such as `http://127.0.0.1:9070`: the endpoint is registered there. */
  readonly admin?: string
  /** Where the server reaches the endpoint; made of host and port when absent. */
  readonly url?: string
  /** Keys of requests, for servers that sign them (`publickeyv1_…`). */
  readonly identityKeys?: readonly string[]
}

export interface RestateWorker {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Resolves when the endpoint listens, and is registered. Raises ToolError `store_unavailable` when the server refuses it. */
export async function startRestateWorker(options: RestateWorkerOptions): Promise<RestateWorker> {
  const { port = 9080, host = '127.0.0.1', admin, identityKeys = [] } = options
  const bare = endpoint().setLogger(() => {})
  if (identityKeys.length > 0) bare.withIdentityV1(...identityKeys)
  const bound = restateRuns(options).reduce((all, each) => all.bind(each), bare)
  const server = createServer(bound.http2Handler())
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const session of sessions) session.destroy()
    })
  if (admin === undefined) return { port: actual, close }
  try {
    await register(admin, options.url ?? `http://${host}:${actual}`)
  } catch (cause) {
    await close()
    throw cause
  }
  return { port: actual, close }
}

async function register(admin: string, uri: string): Promise<void> {
  let response: Response
  try {
    response = await fetch(new URL('/deployments', admin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri, force: true }),
    })
  } catch (cause) {
    throw new ToolError('store_unavailable', `the Restate server cannot be reached at ${admin}: ${describeCause(cause)}`, {
      cause,
    })
  }
  if (!response.ok)
    throw new ToolError(
      'store_unavailable',
      `Restate does not take the endpoint ${uri}: ${(await response.text()).slice(0, 500)}`,
    )
}
