// Postgres against a real server from the system's packages, in its own folder; without one the tests are skipped with a notice.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { postgresPools } from './postgres.js'
import type { PostgresOptions } from './postgres.js'

function findBinaries(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root) : []
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

const hasDriver = await import('pg' as string).then(
  () => true,
  () => false,
)
const binaries = findBinaries()
const isReady = binaries !== null && hasDriver
if (!isReady) console.warn(`skipped: ${binaries === null ? 'no Postgres server' : 'the package pg'} is not installed`)

/** The server refuses to run as root. */
function run(program: string, args: readonly string[]): void {
  const path = join(binaries!, program)
  if (process.getuid?.() === 0) execFileSync('runuser', ['-u', 'postgres', '--', path, ...args], { stdio: 'ignore', cwd: '/' })
  else execFileSync(path, args, { stdio: 'ignore' })
}

async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

let folder = ''
let url = ''

beforeAll(async () => {
  if (!isReady) return
  folder = mkdtempSync(join(tmpdir(), 'bridle-postgres-'))
  chmodSync(folder, 0o777)
  const data = join(folder, 'data')
  const port = await findPort()
  run('initdb', ['-D', data, '-U', 'bridle', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8'])
  // Without a socket in a folder: its path may be too long, or have spaces.
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`
  run('pg_ctl', ['-D', data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start'])
  url = `postgres://bridle@127.0.0.1:${port}/postgres`
}, 120_000)

afterAll(() => {
  if (folder === '') return
  run('pg_ctl', ['-D', join(folder, 'data'), '-m', 'immediate', 'stop'])
  spawnSync(process.getuid?.() === 0 ? 'rm' : 'true', ['-rf', folder])
  rmSync(folder, { recursive: true, force: true })
})

async function play(source: string, options: PostgresOptions = {}, extra: object = {}): Promise<string> {
  const runtime = createRuntime({ tools: postgresPools({ env: { DB: url }, ...options }), ...extra })
  const result = await runtime.start(runtime.compile(source)).result
  return result.output + (result.status === 'failed' ? `! ${result.error.message}` : '')
}

describe.skipIf(!isReady)('Postgres', () => {
  test('values go and come by their types, apart from the statement', async () => {
    const source = `
let db = pg_pool("env:DB", {max_connections: 2, application_name: "shop"})
println(db)
pg_execute(db, "create table if not exists teas (id int primary key, name text, price float8, fresh bool, facts jsonb, leaf bytea)")
pg_execute(db, "delete from teas")
println(pg_execute(db, "insert into teas values ($1, $2, $3, $4, $5, $6)", [1, "a'; drop table teas; --", 2.0, true, {origin: ["x"]}, bytes_from_string("ab")]))
println(pg_query(db, "select * from teas"))
println(pg_query_one(db, "select 9007199254740993::int8 as big, null as none, 1.50::numeric as exact, '2026-01-02'::date as day, $1::int8 as wait", [1500ms]))
println(pg_query_one(db, "select 1 where false"))
println(pg_query_one(db, "select current_setting('application_name') as name").name)
println(try { pg_query(db, "select nothing") })
println(try { pg_query(db, "select 1; select 2") })
println(pg_close(db))
println(pg_close(db))
println(try { pg_query(db, "select 1") })`
    expect(await play(source))
      .toBe(`{_type: pg_pool, application_name: shop, id: pgpool-1, max_connections: 2, single_connection: false}
{rows_affected: 1}
[{facts: {origin: [x]}, fresh: true, id: 1, leaf: b"6162", name: a'; drop table teas; --, price: 2.0}]
{big: 9007199254740993, day: 2026-01-02, exact: 1.50, none: nil, wait: 1500}
nil
shop
Result.Err(Runtime error: pg_query: column "nothing" does not exist)
Result.Err(Runtime error: pg_query: cannot insert multiple commands into a prepared statement)
true
false
Result.Err(Runtime error: pg_pool: unknown or closed pool \`pgpool-1\`)
`)
  })

  test('a transaction commits what its closure did, or none of it', async () => {
    const source = `
let db = pg_connect({env: "DB"})
pg_execute(db, "drop table if exists cups")
pg_execute(db, "create table cups (n int)")
println(pg_transaction(pg_pool("env:DB"), { tx ->
  pg_execute(tx, "insert into cups values (1)")
  return pg_query_one(tx, "select current_setting('app.user') as who").who
}, {settings: {"app.user": "ann"}}))
println(try { pg_transaction(db, { tx ->
  pg_execute(tx, "insert into cups values (2)")
  throw "no"
}) })
println(pg_query(db, "select n from cups"))
println(try { pg_transaction(db, { tx -> 1 }, {settings: {"bad name": 1}}) })
println(try { pg_query({_type: "pg_tx", id: "pgtx-9"}, "select 1") })`
    expect(await play(source)).toMatch(
      /^ann\nResult\.Err\(no\)\n\[\{n: 1\}\]\nResult\.Err\(Runtime error: pg_transaction: set_config\(bad name\) failed: .*\)\nResult\.Err\(Runtime error: pg_transaction: unknown transaction `pgtx-9`\)\n$/,
    )
  })

  test('a host that reads only, and names its tables, is obeyed by the server', async () => {
    await play(`let db = pg_pool("env:DB")
pg_execute(db, "create table if not exists open_a (n int)")
pg_execute(db, "create table if not exists shut_b (n int)")`)
    const source = `
let db = pg_pool("env:DB")
println(pg_query(db, "select count(*) as n from open_a"))
println(try { pg_query(db, "select * from open_a a join shut_b b on a.n = b.n") })
println(try { pg_execute(db, "insert into open_a values (1)") })
println(try { pg_query(db, "  COMMIT") })`
    const output = await play(source, { readOnly: true, tables: ['public.open_*'] })
    expect(output).toContain('[{n: 0}]\n')
    expect(output).toContain('table public.shut_b is not granted')
    expect(output).toContain('cannot execute INSERT in a read-only transaction')
    expect(output).toContain('read-only connections run statements that read')
  })

  test('sources, addresses and time have limits', async () => {
    const source = `
println(try { pg_pool("env:NONE") })
println(try { pg_pool("secret:none") })
println(try { pg_pool("postgres://x@127.0.0.1:1/x") })
println(try { pg_pool({env: "DB"}, {ssl_mode: "odd"}) })
println(try { pg_query(pg_pool("env:DB"), "select pg_sleep(30)") })`
    expect(await play(source, { urls: false, statementTimeoutMs: 50 }))
      .toBe(`Result.Err(Runtime error: pg_pool: environment variable \`NONE\` is not set)
Result.Err(Runtime error: pg_pool: secret \`none\` is not there)
Result.Err(Runtime error: pg_pool: the host lets scripts name its connections only by env: and secret:)
Result.Err(Runtime error: pg_pool: unsupported ssl_mode \`odd\`)
Result.Err(Runtime error: pg_query: canceling statement due to statement timeout)
`)
    expect(await play('println(try { pg_pool("postgres://x@127.0.0.1:1/x") })')).toMatch(
      /pg_pool: connect failed: .*ECONNREFUSED/,
    )
  })

  test('grants on postgres.query hold for pg_query', async () => {
    const source = 'let db = pg_pool("env:DB")\npg_query(db, "select 1")\nprintln("one")\npg_query(db, "select 1")'
    const output = await play(source, {}, { toolGrants: { 'postgres.*': {}, 'postgres.query': { max_calls: 1 } } })
    expect(output).toMatch(/^one\n! .*budget_exceeded/)
  })
})
