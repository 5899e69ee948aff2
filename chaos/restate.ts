// A separate Restate server for disrupted runs: installed from the registry into the cache of the checkout, on free loopback ports, with its
// data in the folder of the test.

import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RestateStore } from '@bridle/stdlib-tools/restate'
import { startLedgerProcess } from './engine.js'
import type { Engine, EngineOptions } from './engine.js'
import { findPort, waitFor } from './ports.js'
import type { Doomed } from './processes.js'

const SERVER_VERSION = '1.7.12'

/** The server's program; null if the registry has none for this machine. Its package reports installations unless that is disabled. */
export function findServer(): string | null {
  const folder = fileURLToPath(new URL(`../.cache/restate-${SERVER_VERSION}`, import.meta.url))
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  if (!existsSync(join(folder, 'node_modules', name))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${SERVER_VERSION}`]
    const { status } = spawnSync('npm', install, {
      cwd: folder,
      env: { ...process.env, SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) return null
  }
  const manifest = createRequire(join(folder, 'package.json')).resolve(`${name}/package.json`)
  return join(manifest, '..', 'bin', 'restate-server')
}

export async function openRestateEngine(options: EngineOptions): Promise<Engine> {
  const program = findServer()
  if (program === null) throw new Error('the Restate server cannot be installed here')
  const [node, admin, ingress, worker] = [await findPort(), await findPort(), await findPort(), await findPort()]
  const file = join(options.folder, 'restate.toml')
  writeFileSync(file, makeConfig({ node, admin, ingress }))
  const errors = openSync(options.log, 'a')
  const serverLog = openSync(join(options.folder, 'server.log'), 'a')
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(program, ['--no-logo', '-c', file, '--base-dir', join(options.folder, 'data')], {
      stdio: ['ignore', serverLog, serverLog],
    })
    await waitFor(async () => (await fetch(`http://127.0.0.1:${admin}/health`)).ok)
    return child
  }
  let server = await start()
  const startWorker = (): Doomed => {
    const started = startLedgerProcess('restate-worker', [String(worker)], options.onLine, errors)
    const register = (): Promise<void> => waitFor(() => registerWorker(admin, worker))
    return { ...started, up: started.up.then(register) }
  }
  return {
    store: new RestateStore({ ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` }),
    workers: 1,
    calmMs: 4000,
    canFillDisk: false,
    start: startWorker,
    async killServer() {
      const gone = new Promise((resolve) => server.once('close', resolve))
      server.kill('SIGKILL')
      await gone
      server = await start()
    },
    close() {
      server.kill('SIGKILL')
      return Promise.resolve()
    },
  }
}

async function registerWorker(admin: number, worker: number): Promise<boolean> {
  const { ok } = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${worker}`, force: true }),
  })
  return ok
}

/** Configuration of a single node: loopback only, small memory, no telemetry. */
function makeConfig({ node, admin, ingress }: Record<'node' | 'admin' | 'ingress', number>): string {
  return `roles = ["http-ingress", "admin", "worker", "log-server", "metadata-server"]
node-name = "node"
cluster-name = "bridle-chaos"
default-num-partitions = 2
disable-telemetry = true
bind-ip = "127.0.0.1"
bind-port = ${node}
log-filter = "warn"
log-disable-ansi-codes = true
rocksdb-total-memory-size = "256.0 MiB"
[admin]
bind-address = "127.0.0.1:${admin}"
disable-web-ui = true
[ingress]
bind-address = "127.0.0.1:${ingress}"
[worker.invoker]
inactivity-timeout = "5s"
abort-timeout = "10s"
`
}
