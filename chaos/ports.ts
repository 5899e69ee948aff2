// Servers of tests: finding a free port, and waiting until a server listens.

import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const TRIES = 240
const TRY_MS = 250

/** A loopback port that was free a moment ago. */
export function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** Rejects after a minute with the error of the last attempt. */
export async function waitFor(isThere: () => Promise<boolean>): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      if (await isThere()) return
    } catch (cause) {
      if (left === 0) throw cause
    }
    if (left === 0) throw new Error('the server did not start')
    await delay(TRY_MS)
  }
}
