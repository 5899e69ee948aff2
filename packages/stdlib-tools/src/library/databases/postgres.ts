// Postgres for scripts: statements against a handle. Handles are mock pools, whose fixtures answer by the text of the
// statement; hosts with a database offer it as the tools `postgres.query` and `postgres.execute`, under grants, so a pool of
// connections is never opened here.

import { builtinTaking, HarnDict, HarnList, builtin, display, family, isInt, makeStructuralKey } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Demands } from '@bridle/vm/families'

interface MockPool {
  /** Dicts `{sql, params?, rows?, rows_affected?, error?}`; the first that matches answers. */
  readonly fixtures: readonly HarnDict[]
  /** Dicts `{sql, params, execute}`, also of statements that failed. */
  readonly calls: HarnDict[]
}

const postgresState = family('postgres', () => ({ mocks: new Map<string, MockPool>() }))

const MOCK_POOL = 'pg_mock_pool'

function readHandleType(handle: Value): string | null {
  const type = handle instanceof HarnDict ? (handle.get('_type') ?? null) : null
  return typeof type === 'string' ? type : null
}

function readId(handle: Value): Value {
  return handle instanceof HarnDict ? (handle.get('id') ?? null) : null
}

// --------------------------------------------------------------------------------------------------------------- mocks

function describeProblem(fixture: Value): string | null {
  if (!(fixture instanceof HarnDict)) return 'each fixture must be a dict'
  if (display(fixture.get('sql') ?? '') === '') return 'fixture.sql is required'
  const rows = fixture.get('rows') ?? null
  return rows === null || rows instanceof HarnList ? null : 'fixture.rows must be a list'
}

function makeMockPool(ctx: Context, fixtures: HarnList): Result {
  const list = [...fixtures.view()]
  ctx.charge(list.length, 64)
  const problem = list.map(describeProblem).find((each) => each !== null)
  if (problem !== undefined) return ctx.runtime(`pg_mock_pool: ${problem}`)
  const { mocks } = ctx.state(postgresState)
  const id = `pgmock-${mocks.size + 1}`
  mocks.set(id, { fixtures: list as HarnDict[], calls: [] })
  return HarnDict.of({ _type: MOCK_POOL, id })
}

function listMockCalls(ctx: Context, handle: Value): Result {
  if (readHandleType(handle) !== MOCK_POOL) return ctx.runtime('pg_mock_calls: expected pg_mock_pool handle')
  return new HarnList([...(ctx.state(postgresState).mocks.get(display(readId(handle)))?.calls ?? [])])
}

function matches(fixture: HarnDict, sql: string, params: HarnList): boolean {
  if (display(fixture.get('sql')!) !== sql) return false
  return !fixture.has('params') || makeStructuralKey(fixture.get('params')!) === makeStructuralKey(params)
}

// ---------------------------------------------------------------------------------------------------------- statements

type Answer = (ctx: Context, fixture: HarnDict, rows: HarnList) => Result

/** A statement against a handle; `answer` makes the result out of the fixture that matched. */
function defineStatement(signature: string, doc: string, execute: boolean, answer: Answer): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const demands: Demands = {
    raise: 'runtime',
    fewer: '{f}: pool or transaction handle is required',
    least: 1,
    fits: {
      handle: (handle, { name }) => (readHandleType(handle) === null ? `${name}: expected pg_pool handle` : null),
    },
    text: { sql: '{f}: sql is required' },
  }
  return builtinTaking(
    signature,
    { doc, effects: ['db'] },
    demands,
    (ctx, handle: Value = null, sql: Value = null, given: Value = null) => {
      const params = given ?? new HarnList([])
      const text = display(sql)
      if (!(params instanceof HarnList)) return ctx.runtime(`${name}: params must be a list when provided`)
      const pool = findPool(ctx, handle)
      if (typeof pool === 'string') return ctx.runtime(pool)
      ctx.charge(pool.fixtures.length, 128 + text.length)
      pool.calls.push(HarnDict.of({ sql: text, params, execute }))
      const fixture = pool.fixtures.find((each) => matches(each, text, params))
      if (fixture === undefined) return ctx.runtime(`pg_mock: no fixture matched \`${text}\``)
      const error = fixture.get('error') ?? null
      if (error !== null && display(error) !== '') return ctx.runtime(`pg_mock: ${display(error)}`)
      const rows = fixture.get('rows') ?? null
      return answer(ctx, fixture, rows instanceof HarnList ? rows : new HarnList([]))
    },
  )
}

/** The mock behind a handle, or what is wrong with the handle. */
function findPool(ctx: Context, handle: Value): MockPool | string {
  const id = readId(handle)
  switch (readHandleType(handle)) {
    case MOCK_POOL:
      if (id === null) return 'pg_mock: handle is missing id'
      return ctx.state(postgresState).mocks.get(display(id)) ?? `pg_mock: unknown mock pool \`${display(id)}\``
    case 'pg_tx':
      return `pg_transaction: unknown transaction \`${display(id)}\``
    default:
      return `pg_pool: unknown or closed pool \`${display(id)}\``
  }
}

function countAffected(_ctx: Context, fixture: HarnDict, rows: HarnList): HarnDict {
  const given = fixture.get('rows_affected') ?? null
  return HarnDict.of({ rows_affected: isInt(given) ? (given < 0 ? 0 : given) : rows.length })
}

// --------------------------------------------------------------------------------------------------------- connections

const SOURCES = ['url', 'env', 'secret'] as const

const NEEDS_SOURCE = { raise: 'runtime', fewer: '{f}: url, env:, secret:, or {url|env|secret} is required' } as const

function connect(ctx: Context, source: Value): Result {
  if (source instanceof HarnDict) {
    if (!SOURCES.some((key) => source.has(key))) {
      return ctx.runtime('pg_pool: connection dict must contain url, env, or secret')
    }
  } else if (typeof source !== 'string') {
    return ctx.runtime('pg_pool: connection source must be a string or dict')
  }
  return ctx.runtime('pg_pool: connect failed: this host opens no Postgres connections; use the tools postgres.*')
}

export const postgresFamily: BuiltinFamily = {
  name: 'postgres',
  builtins: [
    builtinTaking(
      'pg_mock_pool(fixtures: list) -> dict',
      { doc: 'A pool whose fixtures `{sql, params?, rows?, rows_affected?, error?}` answer statements.', effects: ['db'] },
      { raise: 'runtime', missing: { fixtures: new HarnList([]) }, not: '{f}: fixtures must be a list of dicts' },
      makeMockPool,
    ),
    builtin(
      'pg_mock_calls(mock: dict) -> list',
      { doc: 'The statements a mock pool was given: `{sql, params, execute}`.', effects: ['db'] },
      listMockCalls,
    ),
    defineStatement(
      'pg_query(handle: dict, sql: string, params?: list) -> list',
      'The rows that a statement gives.',
      false,
      (_ctx, _fixture, rows) => rows,
    ),
    defineStatement(
      'pg_query_one(handle: dict, sql: string, params?: list)',
      'The first row that a statement gives, or nil.',
      false,
      (_ctx, _fixture, rows) => rows.at(0) ?? null,
    ),
    defineStatement(
      'pg_execute(handle: dict, sql: string, params?: list) -> dict',
      'How many rows a statement changed: `{rows_affected}`.',
      true,
      countAffected,
    ),
    builtinTaking(
      'pg_pool(source: string|dict, options?: dict) -> dict',
      { doc: 'A pool of connections; fails on hosts that open none.', effects: ['db'] },
      NEEDS_SOURCE,
      connect,
    ),
    builtinTaking(
      'pg_connect(source: string|dict, options?: dict) -> dict',
      { doc: 'A connection; fails on hosts that open none.', effects: ['db'] },
      NEEDS_SOURCE,
      connect,
    ),
    builtin(
      'pg_transaction(pool: dict, callback: closure, options?: dict)',
      { doc: 'Runs the callback within a transaction of a pool; a mock pool has none.', effects: ['db'] },
      (ctx, pool) => {
        if (readHandleType(pool ?? null) !== 'pg_pool') return ctx.runtime('pg_transaction: expected pg_pool handle')
        return ctx.runtime(`pg_pool: unknown or closed pool \`${display(readId(pool!))}\``)
      },
    ),
    builtin('pg_close(pool: dict) -> bool', { doc: 'Closes a pool; whether it was open.', effects: ['db'] }, (ctx, pool) =>
      readHandleType(pool ?? null) === 'pg_pool' ? false : ctx.runtime('pg_close: expected pg_pool handle'),
    ),
  ],
}
