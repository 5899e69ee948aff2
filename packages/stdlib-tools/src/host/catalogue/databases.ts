// Tools for databases over a client that the host brings: `postgres.query`, `postgres.execute`, `redis.get`,
// `redis.set`. No driver is a dependency of ours; parameters go to the client as parameters and never into the text of a statement.

import { defineTool } from '../../tools/host-tools/define.js'
import type { Tool } from '../../tools/host-tools/define.js'
import { ToolError } from '../../tools/host-tools/errors.js'

/** What is used of a client or pool of `pg`, and of everything that looks like it. */
export interface PostgresClient {
  readonly query: (
    statement: string,
    params: readonly unknown[],
  ) => Promise<{ readonly rows: readonly unknown[]; readonly rowCount?: number | null }>
}

/** What is used of a client of `redis` or `ioredis`. */
export interface RedisClient {
  readonly get: (key: string) => Promise<string | null>
  readonly set: (key: string, value: string) => Promise<unknown>
}

const statement = {
  type: 'object',
  properties: {
    sql: { type: 'string', description: 'One statement, with $1, $2 … where parameters go' },
    params: { type: 'array', description: 'Values of $1, $2 …' },
  },
  required: ['sql'],
  additionalProperties: false,
} as const

interface Statement {
  readonly sql: string
  readonly params?: readonly unknown[]
}

/** `postgres.query` gives rows, `postgres.execute` the number of rows that a statement changed. */
export function postgresTools(client: PostgresClient): readonly Tool[] {
  const ask = async (args: unknown) => {
    const { sql, params = [] } = args as Statement
    return mapFailures(() => client.query(sql, params))
  }
  return [
    defineTool({
      name: 'postgres.query',
      description: 'The rows that a statement gives',
      category: 'data',
      effects: ['db'],
      // A statement may call functions that write.
      sideEffect: 'network',
      level: 'restricted',
      input: statement,
      execute: async (args) => (await ask(args)).rows,
    }),
    defineTool({
      name: 'postgres.execute',
      description: 'Carries out a statement; gives the number of rows that it changed',
      category: 'data',
      effects: ['db'],
      sideEffect: 'network',
      level: 'restricted',
      input: statement,
      execute: async (args) => (await ask(args)).rowCount ?? 0,
    }),
  ]
}

/** `redis.get` gives a text or nil, `redis.set` nil. */
export function redisTools(client: RedisClient): readonly Tool[] {
  const text = { type: 'string' } as const
  const common = { category: 'data', effects: ['db'], level: 'restricted' } as const
  return [
    defineTool({
      ...common,
      name: 'redis.get',
      description: 'The text that is kept under a key',
      sideEffect: 'network',
      recovery: 'safe',
      input: { type: 'object', properties: { key: text }, required: ['key'], additionalProperties: false },
      execute: (args) => mapFailures(() => client.get((args as { readonly key: string }).key)),
    }),
    defineTool({
      ...common,
      name: 'redis.set',
      description: 'Keeps a text under a key',
      sideEffect: 'network',
      recovery: 'idempotent',
      input: { type: 'object', properties: { key: text, value: text }, required: ['key', 'value'], additionalProperties: false },
      execute: async (args) => {
        const { key, value } = args as { readonly key: string; readonly value: string }
        await mapFailures(() => client.set(key, value))
        return null
      },
    }),
  ]
}

/** Refused and broken connections are reported as such; errors of a statement are failures of the tool. */
async function mapFailures<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
    const isConnection = typeof code === 'string' && /^(E[A-Z]+|08\w{3}|57P0\d)$/.test(code)
    throw new ToolError(isConnection ? 'connection' : 'execution_failed', String(message ?? cause), { cause })
  }
}
