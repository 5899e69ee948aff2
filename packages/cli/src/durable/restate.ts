// Durable runs on a Restate server: `--store restate+http://127.0.0.1:8080`. Its library is an optional package, loaded on demand.

import type { DurableStore, Runtime } from '@bridle/stdlib-tools'
import type * as RestateEntry from '@bridle/stdlib-tools/restate'
import { CommandError, UsageError } from '../errors.js'

const SDK = '@restatedev/restate-sdk'
/** The default server address of `--on restate`. */
export const LOCAL_RESTATE = 'restate+http://127.0.0.1:8080'

export const isRestate = (place: string): boolean => place.startsWith('restate+')

export async function openRestateStore(place: string): Promise<DurableStore> {
  const { RestateStore } = await loadRestate()
  return new RestateStore(await readPlace(place))
}

/** Resolves when the endpoint listens and the server knows it; returns a function that stops it. */
export async function startEndpoint(
  place: string,
  options: RestateEntry.RestateRunsOptions & { readonly runtime: Runtime; readonly port?: number },
): Promise<() => Promise<void>> {
  const { startRestateWorker } = await loadRestate()
  const { admin } = await readPlace(place)
  const { close } = await startRestateWorker({ ...options, admin })
  return close
}

async function readPlace(place: string): Promise<{ readonly ingress: string; readonly admin: string }> {
  const { parseRestateUrl } = await loadRestate()
  const found = parseRestateUrl(place)
  if (found === null) throw new UsageError(`--store ${place}: expected a URL such as ${LOCAL_RESTATE}`)
  return found
}

async function loadRestate(): Promise<typeof RestateEntry> {
  try {
    return await import('@bridle/stdlib-tools/restate')
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new CommandError(`runs on Restate need the package ${SDK}`, { code: 'not_found', hint: `npm install ${SDK}@1.12` })
  }
}
