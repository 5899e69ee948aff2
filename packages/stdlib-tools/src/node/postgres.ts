// Postgres for scripts: what `pg_pool`, `pg_query` and the other `pg_…` builtins call, as tools of the host, so that grants, journals and
// approvals hold for them as for any tool. The driver is `pg`, a peer that is loaded at the first connection. Statements go to the
// server by the extended protocol: one statement a call, values apart from its text.

import { HarnFloat } from '@bridle/vm/families'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { ToolError } from '../tools/host-tools/errors.js'

export interface PostgresOptions {
  /** Variables that `env:NAME` may name; none by default. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Connection strings that `secret:ID` may name. */
  readonly secrets?: { readonly [id: string]: string }
  /** Whether scripts may give addresses themselves; true by default. */
  readonly urls?: boolean
  /** Every statement runs in a transaction that the server holds to reading. */
  readonly readOnly?: boolean
  /** Tables that statements may touch, as `schema.table` with `*`; the server's own plan of the statement says which those are. */
  readonly tables?: readonly string[]
  /** Maximum connections of a pool, whatever a script requests; 10 by default. */
  readonly maxConnections?: number
  /** A statement that takes longer is cancelled by the server; 30 s by default. */
  readonly statementTimeoutMs?: number
  /** Loads the driver; `import('pg')` by default. */
  readonly load?: () => Promise<unknown>
}

interface QueryConfig {
  /** Without it the driver sends a statement without values by the simple protocol, which takes several. */
  readonly queryMode?: 'extended'
  readonly text: string
  readonly values: readonly unknown[]
}

interface QueryResult {
  readonly rows: readonly unknown[]
  readonly rowCount: number | null
}

interface Client {
  readonly query: (config: QueryConfig) => Promise<QueryResult>
  readonly release: (broken?: boolean) => void
}

interface Pool {
  readonly connect: () => Promise<Client>
  readonly end: () => Promise<void>
  readonly on: (event: 'error', listener: () => void) => void
}

interface Driver {
  readonly Pool: new (config: object) => Pool
}

interface Transaction {
  readonly client: Client
  readonly pool: string
}

// ----------------------------------------------------------------------------------------------------------------- values

const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  jsonb: 3802,
} as const

const readInt = (text: string): number | bigint => {
  const exact = BigInt(text)
  return exact >= BigInt(Number.MIN_SAFE_INTEGER) && exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact
}

const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [OID.bool, (text) => text === 't'],
  [OID.bytea, (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))],
  ...[OID.int2, OID.int4, OID.int8, OID.oid].map((oid) => [oid, readInt] as const),
  ...[OID.float4, OID.float8].map((oid) => [oid, (text: string) => new HarnFloat(Number(text))] as const),
  ...[OID.json, OID.jsonb].map((oid) => [oid, (text: string): unknown => JSON.parse(text)] as const),
])

/** Columns of other types – dates, UUIDs, exact decimals – are strings. */
const TYPES = { getTypeParser: (oid: number) => READERS.get(oid) ?? ((text: string) => text) }

function toParameter(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (value instanceof HarnFloat) return value.v
  if (typeof value === 'bigint') return value.toString()
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

// ------------------------------------------------------------------------------------------------------------ connections

const SSL_MODES: { readonly [mode: string]: object | false } = {
  disable: false,
  disabled: false,
  prefer: false,
  require: { rejectUnauthorized: false },
  required: { rejectUnauthorized: false },
  'verify-ca': { rejectUnauthorized: true, checkServerIdentity: () => undefined },
  'verify-full': { rejectUnauthorized: true },
}

type Settings = { readonly [name: string]: unknown }

function refuse(message: string): never {
  throw new ToolError('execution_failed', message)
}

function readNumber(settings: Settings, ...names: readonly string[]): number | null {
  const value = names.map((name) => settings[name]).find((each) => typeof each === 'number')
  return typeof value === 'number' && value >= 0 ? value : null
}

function findAddress(source: unknown, options: PostgresOptions): string {
  const given = typeof source === 'string' ? readSource(source) : (source as Settings)
  if (given['env'] != null) {
    const name = String(given['env'])
    return options.env?.[name] ?? refuse(`environment variable \`${name}\` is not set`)
  }
  if (given['secret'] != null) {
    const id = String(given['secret'])
    return options.secrets?.[id] ?? refuse(`secret \`${id}\` is not there`)
  }
  const url = given['url']
  if (typeof url !== 'string' || url.trim() === '') return refuse('url must be a non-empty string')
  if (options.urls === false) return refuse('the host lets scripts name its connections only by env: and secret:')
  return url
}

function readSource(text: string): Settings {
  if (text.startsWith('env:')) return { env: text.slice(4) }
  return text.startsWith('secret:') ? { secret: text.slice(7) } : { url: text }
}

function matchesTable(pattern: string, table: string): boolean {
  const parts = pattern.split('*')
  const last = parts.pop()!
  let at = 0
  if (parts.length === 0) return table === pattern
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (table.startsWith(part) ? 0 : -1) : table.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return table.length - last.length >= at && table.endsWith(last)
}

/** Tables that a plan of the server names. */
function listTables(plan: unknown, found: string[] = []): readonly string[] {
  if (Array.isArray(plan)) for (const each of plan) listTables(each, found)
  else if (typeof plan === 'object' && plan !== null) {
    const node = plan as Settings
    if (typeof node['Relation Name'] === 'string') found.push(`${String(node['Schema'] ?? 'public')}.${node['Relation Name']}`)
    for (const value of Object.values(node)) listTables(value, found)
  }
  return found
}

/** One host's connections, by the names that the machine gives them. */
class Connections {
  private readonly pools = new Map<string, Pool>()
  private readonly transactions = new Map<string, Transaction>()
  private driver: Promise<Driver> | null = null

  private readonly options: PostgresOptions

  constructor(options: PostgresOptions) {
    this.options = options
  }

  private load(): Promise<Driver> {
    const name = 'pg'
    const load = this.options.load ?? ((): Promise<unknown> => import(name))
    this.driver ??= load().then(
      (module) => ((module as { readonly default?: Driver }).default ?? module) as Driver,
      () => refuse('the driver is not installed; add the package pg'),
    )
    return this.driver
  }

  async open(id: string, source: unknown, settings: Settings): Promise<null> {
    const mode = settings['ssl_mode'] ?? settings['tls_mode'] ?? null
    if (mode !== null && !Object.hasOwn(SSL_MODES, String(mode))) refuse(`unsupported ssl_mode \`${String(mode)}\``)
    const address = findAddress(source, this.options)
    const { Pool } = await this.load()
    const most = this.options.maxConnections ?? 10
    const lifetimeMs = readNumber(settings, 'max_lifetime_ms')
    const pool = new Pool({
      connectionString: address,
      ...(mode === null ? {} : { ssl: SSL_MODES[String(mode)] }),
      application_name: settings['application_name'] ?? 'bridle',
      max: Math.min(most, Math.max(1, readNumber(settings, 'max_connections') ?? 5)),
      min: Math.min(most, readNumber(settings, 'min_connections') ?? 0),
      connectionTimeoutMillis: readNumber(settings, 'acquire_timeout_ms', 'timeout_ms') ?? 10_000,
      idleTimeoutMillis: readNumber(settings, 'idle_timeout_ms') ?? 10_000,
      ...(lifetimeMs === null ? {} : { maxLifetimeSeconds: Math.ceil(lifetimeMs / 1000) }),
      statement_timeout: this.options.statementTimeoutMs ?? 30_000,
      allowExitOnIdle: true,
      types: TYPES,
    })
    // An idle connection that breaks is replaced at the next statement.
    pool.on('error', () => undefined)
    try {
      const client = await pool.connect()
      client.release()
    } catch (cause) {
      await pool.end()
      throw mapFailure(cause, 'connect failed: ')
    }
    this.pools.set(id, pool)
    return null
  }

  async close(id: string): Promise<boolean> {
    const pool = this.pools.get(id)
    if (pool === undefined) return false
    this.pools.delete(id)
    for (const [name, { client, pool: owner }] of this.transactions) {
      if (owner !== id) continue
      this.transactions.delete(name)
      client.release(true)
    }
    await pool.end()
    return true
  }

  private findPool(id: string): Pool {
    return this.pools.get(id) ?? refuse(`unknown or closed pool \`${id}\``)
  }

  async begin(id: string, name: string, settings: Settings): Promise<null> {
    const client = await this.findPool(id)
      .connect()
      .catch((cause: unknown) => {
        throw mapFailure(cause, 'begin failed: ')
      })
    try {
      await client.query({ text: this.options.readOnly === true ? 'BEGIN READ ONLY' : 'BEGIN', values: [] })
      for (const [key, value] of Object.entries(settings)) {
        await client.query({ text: 'SELECT set_config($1, $2, true)', values: [key, String(value)] }).catch((cause: unknown) => {
          throw mapFailure(cause, `set_config(${key}) failed: `)
        })
      }
    } catch (cause) {
      client.release(true)
      throw cause instanceof ToolError ? cause : mapFailure(cause, 'begin failed: ')
    }
    this.transactions.set(name, { client, pool: id })
    return null
  }

  async end(name: string, commits: boolean): Promise<null> {
    const transaction = this.transactions.get(name)
    if (transaction === undefined) return refuse(`unknown transaction \`${name}\``)
    this.transactions.delete(name)
    try {
      await transaction.client.query({ text: commits ? 'COMMIT' : 'ROLLBACK', values: [] })
      transaction.client.release()
      return null
    } catch (cause) {
      transaction.client.release(true)
      throw mapFailure(cause, commits ? 'commit failed: ' : 'rollback failed: ')
    }
  }

  async run({ pool, transaction, sql, params = [] }: Statement): Promise<QueryResult> {
    const statement: QueryConfig = { text: sql, values: params.map(toParameter), queryMode: 'extended' }
    try {
      if (transaction !== undefined) {
        const { client } = this.transactions.get(transaction) ?? refuse(`unknown transaction \`${transaction}\``)
        return await this.runWith(client, statement)
      }
      const client = await this.findPool(pool ?? '').connect()
      try {
        const result = await this.runAlone(client, statement)
        client.release()
        return result
      } catch (cause) {
        // State that the statement left behind is dropped with its connection.
        client.release(true)
        throw cause
      }
    } catch (cause) {
      throw cause instanceof ToolError ? cause : mapFailure(cause, '')
    }
  }

  private async runAlone(client: Client, statement: QueryConfig): Promise<QueryResult> {
    if (this.options.readOnly !== true) return this.runWith(client, statement)
    await client.query({ text: 'BEGIN READ ONLY', values: [] })
    const result = await this.runWith(client, statement)
    await client.query({ text: 'COMMIT', values: [] })
    return result
  }

  private async runWith(client: Client, statement: QueryConfig): Promise<QueryResult> {
    const { readOnly, tables } = this.options
    // An end of the transaction within the statement would lift what holds the rest of it.
    if (readOnly === true && /^\s*(?:commit|end|rollback|abort|begin|start|set|reset|discard)\b/i.test(statement.text)) {
      throw new ToolError('policy_violation', 'read-only connections run statements that read')
    }
    if (tables !== undefined) {
      const planned = await client.query({ ...statement, text: `EXPLAIN (VERBOSE, FORMAT JSON) ${statement.text}` })
      const refused = listTables(planned.rows).find((table) => !tables.some((pattern) => matchesTable(pattern, table)))
      if (refused !== undefined) throw new ToolError('policy_violation', `table ${refused} is not granted`)
    }
    return client.query(statement)
  }
}

function mapFailure(cause: unknown, prefix: string): ToolError {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  const isConnection = typeof code === 'string' && /^(E[A-Z]+|08\w{3}|57P0\d)$/.test(code)
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? cause)
  return new ToolError(isConnection ? 'connection' : 'execution_failed', `${prefix}${text}`, { cause })
}

// ------------------------------------------------------------------------------------------------------------------ tools

interface Statement {
  readonly sql: string
  readonly params?: readonly unknown[]
  readonly pool?: string
  readonly transaction?: string
}

const text = { type: 'string' } as const

const STATEMENT = {
  type: 'object',
  properties: {
    sql: { type: 'string', description: 'One statement, with $1, $2 … where parameters go' },
    params: { type: 'array', description: 'Values of $1, $2 …' },
    pool: { type: 'string', description: 'The pool that runs it' },
    transaction: { type: 'string', description: 'The transaction that it belongs to' },
  },
  required: ['sql'],
  additionalProperties: false,
} as const

const COMMON = { category: 'data', effects: ['db'], sideEffect: 'network', level: 'restricted' } as const

const makeInput = (properties: { readonly [name: string]: object }, required: readonly string[]) => ({
  type: 'object' as const,
  properties,
  required: [...required],
  additionalProperties: false,
})

/** The tools behind `pg_pool`, `pg_connect`, `pg_query`, `pg_query_one`, `pg_execute`, `pg_transaction` and `pg_close`. */
export function postgresPools(options: PostgresOptions = {}): readonly Tool[] {
  const connections = new Connections(options)
  return [
    defineTool({
      ...COMMON,
      name: 'postgres.connect',
      description: 'Opens a pool of connections',
      input: makeInput({ pool: text, source: {}, options: { type: 'object' } }, ['pool', 'source']),
      execute: (args) => {
        const { pool, source, options: settings = {} } = args as { pool: string; source: unknown; options?: Settings }
        return connections.open(pool, source, settings)
      },
    }),
    defineTool({
      ...COMMON,
      name: 'postgres.close',
      description: 'Closes a pool; whether it was open',
      input: makeInput({ pool: text }, ['pool']),
      execute: (args) => connections.close((args as { pool: string }).pool),
    }),
    defineTool({
      ...COMMON,
      name: 'postgres.query',
      description: 'The rows that a statement gives',
      input: STATEMENT,
      execute: async (args) => (await connections.run(args as Statement)).rows,
    }),
    defineTool({
      ...COMMON,
      name: 'postgres.execute',
      description: 'Carries out a statement; gives the number of rows that it changed',
      input: STATEMENT,
      execute: async (args) => (await connections.run(args as Statement)).rowCount ?? 0,
    }),
    defineTool({
      ...COMMON,
      name: 'postgres.begin',
      description: 'Begins a transaction on a connection of its own, with settings that end with it',
      input: makeInput({ pool: text, transaction: text, settings: { type: 'object' } }, ['pool', 'transaction']),
      execute: (args) => {
        const { pool, transaction, settings = {} } = args as { pool: string; transaction: string; settings?: Settings }
        return connections.begin(pool, transaction, settings)
      },
    }),
    defineTool({
      ...COMMON,
      name: 'postgres.end',
      description: 'Commits a transaction, or rolls it back',
      input: makeInput({ transaction: text, commit: { type: 'boolean' } }, ['transaction', 'commit']),
      execute: (args) => {
        const { transaction, commit } = args as { transaction: string; commit: boolean }
        return connections.end(transaction, commit)
      },
    }),
  ]
}
