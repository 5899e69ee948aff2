// A separate Postgres server for disrupted runs on DBOS: a fresh cluster in the folder of the test, on a free loopback port, run by an ordinary
// user, since it refuses to run as root.

import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDbosStore } from '@bridle/stdlib-tools/dbos'
import { startLedgerProcess } from './engine.js'
import type { Engine, EngineOptions } from './engine.js'
import { findPort, waitFor } from './ports.js'

const VERSIONS_FOLDER = '/usr/lib/postgresql'

/** The program folder of the newest installed server; null without one. */
export function findPostgres(): string | null {
  const versions = existsSync(VERSIONS_FOLDER) ? readdirSync(VERSIONS_FOLDER) : []
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0]
  const folder = newest === undefined ? null : join(VERSIONS_FOLDER, newest, 'bin')
  return folder !== null && existsSync(join(folder, 'initdb')) ? folder : null
}

export async function openDbosEngine(options: EngineOptions): Promise<Engine> {
  const programs = findPostgres()
  if (programs === null) throw new Error('there is no Postgres here')
  const port = await findPort()
  const data = join(options.folder, 'postgres')
  mkdirSync(data)
  chmodSync(options.folder, 0o755)
  const who = findUser()
  if (who !== null) chownSync(data, who.uid, who.gid)
  const user = who === null ? {} : { uid: who.uid, gid: who.gid }
  const made = spawnSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bridle'], { ...user, cwd: data })
  if (made.status !== 0) throw new Error(`initdb: ${String(made.stderr)}`)
  const serverLog = openSync(join(options.folder, 'server.log'), 'a')
  const errors = openSync(options.log, 'a')
  const databaseUrl = `postgres://bridle@127.0.0.1:${port}/bridle`
  const flags = ['-D', data, '-p', String(port), '-k', data, '-c', 'listen_addresses=127.0.0.1']
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(programs, 'postgres'), flags, { ...user, cwd: data, stdio: ['ignore', serverLog, serverLog] })
    await waitFor(() =>
      Promise.resolve(spawnSync(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0),
    )
    return child
  }
  let server = await start()
  // The first worker creates the database and its tables, which the client needs.
  const startWorker = (): ReturnType<Engine['start']> => startLedgerProcess('dbos-worker', [databaseUrl], options.onLine, errors)
  const first = startWorker()
  await first.up
  first.child.kill('SIGKILL')
  await first.gone
  const store = await openDbosStore({ databaseUrl, applicationName: 'chaos', applicationVersion: 'chaos' })
  return {
    store,
    workers: 1,
    calmMs: 3000,
    canFillDisk: false,
    start: startWorker,
    async killServer() {
      const gone = new Promise((resolve) => server.once('close', resolve))
      server.kill('SIGKILL')
      await gone
      server = await start()
    },
    async close() {
      await store.close()
      server.kill('SIGINT')
    },
  }
}

/** Null when this process already runs as an ordinary user. */
function findUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout))
  return { uid: uid!, gid: gid! }
}
