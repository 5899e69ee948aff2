// Postgres for scripts: statements against a handle. Handles are mock pools, whose fixtures answer by the text of the statement, or pools
// of connections that the host opens by its tools `postgres.…` under grants (postgres.harn, node/postgres.ts).

import {
  builtinTaking,
  HarnClosure,
  HarnDict,
  HarnDuration,
  HarnList,
  toMillis,
  builtin,
  display,
  family,
  isInt,
  makeStructuralKey,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Demands } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'

interface MockPool {
  /** Dicts `{sql, params?, rows?, rows_affected?, error?}`; the first that matches answers. */
  readonly fixtures: readonly HarnDict[]
  /** Dicts `{sql, params, execute}`, also of statements that failed. */
  readonly calls: HarnDict[]
}

const postgresState = family('postgres', () => ({ mocks: new Map<string, MockPool>(), handles: 0 }))

const MODULE = 'library/databases/postgres'

/** What a connection of the host may ask for. */
const EFFECTS = ['db', 'host.tool', 'callback']

/** One counter for all handles. */
function nameHandle(ctx: Context, kind: string): string {
  return `${kind}-${++ctx.state(postgresState).handles}`
}

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
  const id = nameHandle(ctx, 'pgmock')
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
    { doc, effects: EFFECTS },
    demands,
    (ctx, handle: Value = null, sql: Value = null, given: Value = null) => {
      const params = given ?? new HarnList([])
      const text = display(sql)
      if (!(params instanceof HarnList)) return ctx.runtime(`${name}: params must be a list when provided`)
      const problem = describeHandleProblem(name, handle)
      if (problem !== null) return ctx.runtime(problem)
      if (readHandleType(handle) !== MOCK_POOL) {
        return ctx.library({ module: MODULE, function: name.slice('pg_'.length), output: 'keep' }, [handle, text, params])
      }
      const pool = ctx.state(postgresState).mocks.get(display(readId(handle)))
      if (pool === undefined) return ctx.runtime(`pg_mock: unknown mock pool \`${display(readId(handle))}\``)
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

const HANDLES = new Set<string | null>([MOCK_POOL, 'pg_pool', 'pg_tx'])

function describeHandleProblem(name: string, handle: Value): string | null {
  if (!HANDLES.has(readHandleType(handle))) return `${name}: expected pg_pool handle`
  return readId(handle) === null ? `${name}: handle is missing id` : null
}

function countAffected(_ctx: Context, fixture: HarnDict, rows: HarnList): HarnDict {
  const given = fixture.get('rows_affected') ?? null
  return HarnDict.of({ rows_affected: isInt(given) ? (given < 0 ? 0 : given) : rows.length })
}

// --------------------------------------------------------------------------------------------------------- connections

const SOURCES = ['url', 'env', 'secret'] as const

const NEEDS_SOURCE = { raise: 'runtime', fewer: '{f}: url, env:, secret:, or {url|env|secret} is required' } as const

/** Opens connections by the tools of the host. */
const connectBy =
  (name: string) =>
  (ctx: Context, source: Value, options: Value = null): Result => {
    if (source instanceof HarnDict) {
      if (!SOURCES.some((key) => source.has(key))) {
        return ctx.runtime('pg_pool: connection dict must contain url, env, or secret')
      }
    } else if (typeof source !== 'string') {
      return ctx.runtime('pg_pool: connection source must be a string or dict')
    } else if (source.trim() === '') {
      return ctx.runtime('pg_pool: url must be a non-empty string')
    }
    return ctx.library({ module: MODULE, function: name, output: 'drop' }, [source, options])
  }

export const postgresFamily: BuiltinFamily = {
  name: 'postgres',
  modules: findHarnModule,
  primitives: [
    definePrimitive(
      '__in_millis(value: any) -> any',
      'A duration as its milliseconds; other values as they are.',
      (_ctx, value) => (value instanceof HarnDuration ? toMillis(value) : value!),
    ),
    definePrimitive('__next_database_handle(kind: string) -> string', 'A new name of a handle.', (ctx, kind) =>
      nameHandle(ctx, kind as string),
    ),
  ],
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
      { doc: 'A pool of connections; fails on hosts that open none.', effects: EFFECTS },
      NEEDS_SOURCE,
      connectBy('pg_pool'),
    ),
    builtinTaking(
      'pg_connect(source: string|dict, options?: dict) -> dict',
      { doc: 'A connection; fails on hosts that open none.', effects: EFFECTS },
      NEEDS_SOURCE,
      connectBy('pg_connect'),
    ),
    builtin(
      'pg_transaction(pool: dict, callback: closure, options?: dict)',
      { doc: 'Runs the callback within a transaction of a pool; a mock pool has none.', effects: EFFECTS },
      (ctx, pool = null, callback = null, options = null) => {
        if (readHandleType(pool) !== 'pg_pool') return ctx.runtime('pg_transaction: expected pg_pool handle')
        if (readId(pool) === null) return ctx.runtime('pg_transaction: handle is missing id')
        if (!(callback instanceof HarnClosure)) return ctx.runtime('pg_transaction: second argument must be a closure')
        return ctx.library({ module: MODULE, function: 'pg_transaction', output: 'keep' }, [pool, callback, options])
      },
    ),
    builtin(
      'pg_close(pool: dict) -> bool',
      { doc: 'Closes a pool; whether it was open.', effects: EFFECTS },
      (ctx, pool = null) => {
        if (readHandleType(pool) !== 'pg_pool') return ctx.runtime('pg_close: expected pg_pool handle')
        if (readId(pool) === null) return ctx.runtime('pg_close: handle is missing id')
        return ctx.library({ module: MODULE, function: 'pg_close', output: 'drop' }, [pool])
      },
    ),
  ],
}
