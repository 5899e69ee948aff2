// Constraints of grants that a host makes: in every place where grants are written, and asked wherever calls are judged.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryModules } from '../../host/modules.js'
import { CompileError } from '../../host/compile-errors.js'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { defineTool } from '../host-tools/define.js'
import { defineConstraint } from './host-constraints.js'

const rows = defineConstraint('maxRows', {
  schema: z.int().min(1),
  merge: 'min',
  check: (limit, { sql }) => {
    const asked = /limit (\d+)$/i.exec(String(sql))
    return asked !== null && Number(asked[1]) <= limit ? true : `more than ${limit} rows may come back`
  },
})
const tables = defineConstraint('tables', {
  schema: z.union([z.string(), z.array(z.string())]),
  merge: 'union',
  check: (allowed, { sql }) => [allowed].flat().some((name) => String(sql).includes(` ${name} `)),
})
const hours = defineConstraint('officeHours', {
  schema: z.boolean(),
  check: (_value, _args, { tool, alias }) => {
    throw new Error(`${tool} as ${alias}: no clock`)
  },
})

function makeSetup(more: RuntimeOptions = {}) {
  const asked: unknown[] = []
  const query = defineTool({
    name: 'db.query',
    input: { type: 'object', properties: { sql: { type: 'string' }, max_rows: { type: 'integer' } }, required: ['sql'] },
    execute: (args) => {
      asked.push((args as { sql: string }).sql)
      return 'rows'
    },
  })
  return {
    runtime: createRuntime({ tools: [query], constraints: [rows, tables, hours], extensions: ['grants'], ...more }),
    asked,
  }
}

const attempt = 'fn attempt(f) { return try { f() } catch (e) { "${e.code}: ${e.message}" } }\n'

describe('where grants are written', () => {
  test('statements: the smallest of a scope, and literal calls are judged when compiling', async () => {
    const { runtime, asked } = makeSetup()
    const head = 'use tool db.query as Query\ngrant Query max_rows 100\ngrant Query max_rows 50\n'
    const value = await runtime.run(`${head}${attempt}
      let n = 60
      return [Query(sql: "select a limit 50"), attempt({ -> Query(sql: "select a limit " + to_string(n)) })]`)
    expect(value).toEqual(['rows', "policy_violation: policy violation for 'Query': more than 50 rows may come back"])
    expect(asked).toEqual(['select a limit 50'])
    expect(() => runtime.compile(`${head}Query(sql: "select a limit 51")`)).toThrow(
      "policy violation for 'Query': more than 50 rows may come back",
    )
    expect(() => runtime.compile(`${head}grant Query max_rows 0`)).toThrow(/^grant_invalid: max_rows constraint is invalid: /)
    // Arguments that the run works out leave the judging to the run; the limit is no argument that is filled in.
    expect(runtime.compile(`${head}fn f(x) { return Query(sql: x, max_rows: 1000) }`)).toBeTruthy()
  })

  test('a union of what one scope allows, and no value fits two that must be equal', async () => {
    const { runtime } = makeSetup()
    const head = 'use tool db.query as Query\ngrant Query tables "users"\ngrant Query tables "teas"\n'
    const value = await runtime.run(`${head}${attempt}
      fn ask(table) { return attempt({ -> Query(sql: "select a from \${table} limit 5") }) }
      return ["users", "teas", "keys"].map(ask)`)
    expect(value).toEqual([
      'rows',
      'rows',
      `policy_violation: policy violation for 'Query': tables ["users","teas"] does not allow the call`,
    ])
    let found: unknown
    try {
      runtime.compile('use tool db.query as Query\ngrant Query office_hours true\ngrant Query office_hours false')
    } catch (cause) {
      found = cause
    }
    expect(found).toBeInstanceOf(CompileError)
    expect((found as CompileError).message).toContain("ConflictingGrant: 'Query' has office_hours")
  })

  test('attributes, std/grants and the host; what throws refuses', async () => {
    const { runtime, asked } = makeSetup({ toolGrants: { 'db.query': { maxRows: 10 } } })
    const value = await runtime.run(`
      import { tool_call } from "std/tools"
      import { with_grants } from "std/grants"
      ${attempt}
      fn ask(n) { return attempt({ -> tool_call("db.query", {sql: "select a limit " + to_string(n)}) }) }
      @grant("db.query", max_rows: 5)
      fn few(n) { return ask(n) }
      return [
        ask(10), ask(11), few(5), few(6), with_grants({"db.*": {max_rows: 2}}, { -> ask(3) }),
        with_grants({"db.*": {office_hours: true}}, { -> ask(3) }), attempt({ -> with_grants({db: {max_rows: "few"}}, { -> ask(1) }) }),
      ]`)
    expect(value).toEqual([
      'rows',
      "policy_violation: policy violation for 'db.query': more than 10 rows may come back",
      'rows',
      "policy_violation: policy violation for 'db.query': more than 5 rows may come back",
      "policy_violation: policy violation for 'db.query': more than 2 rows may come back",
      "policy_violation: policy violation for 'db.query': office_hours could not be checked: db.query as null: no clock",
      expect.stringContaining('grant_invalid: with_grants: max_rows constraint is invalid'),
    ])
    expect(asked).toEqual(['select a limit 10', 'select a limit 5'])
  })
})

test('the details of a refusal, after a restore too', async () => {
  const { runtime } = makeSetup()
  const source = `use tool db.query as Query\ngrant Query max_rows 5\nsleep(5ms)
    let n = 9
    return try { Query(sql: "select a limit " + to_string(n)) } catch (e) { e.details }`
  const run = runtime.start(runtime.compile(source))
  const bytes = await run.snapshot()
  const details = { alias: 'Query', constraint: 'max_rows', value: null, allowed: 5, scope: 'alias' }
  expect(await run.result).toMatchObject({ value: details })
  expect(await makeSetup().runtime.resume(bytes).result).toMatchObject({ value: details })
})

test('a ceiling of an import that has the name of an argument is left to the run, which asks the host', async () => {
  const program = defineConstraint('program', {
    schema: z.string(),
    check: (wanted, args) => String(args['program']).startsWith(wanted) || `${String(args['program'])} is no ${wanted}`,
  })
  const resolve = memoryModules({ 'lib.harn': 'pub fn f() { return exec("git-log") }' })
  const { runtime } = makeSetup({ constraints: [program], resolve })
  const imports = { lib: { grants: { process: { program: 'git' } } } }
  expect(() => runtime.compile('import { f } from "lib"\nf()', { imports })).not.toThrow()
  const others = { lib: { grants: { process: { program: 'ls' } } } }
  expect(await runtime.run(`import { f } from "lib"\n${attempt}return attempt(f)`, { imports: others })).toBe(
    "policy_violation: policy violation for 'process.exec': git-log is no ls",
  )
})

test('what a host may not define', () => {
  const check = () => true
  expect(() => defineConstraint('domain', { schema: z.string(), check })).toThrow(
    'constraint "domain": domain has a meaning of its own',
  )
  for (const name of ['MaxRows', '', '2rows', 'max-rows'])
    expect(() => defineConstraint(name, { schema: z.int(), check })).toThrow(
      `constraint "${name}": a name begins with a small letter; letters, digits and underscores follow`,
    )
  expect(() => defineConstraint('maxCalls', { schema: z.int(), check })).toThrow('max_calls has a meaning of its own')
  expect(() => defineConstraint('timeoutMs', { schema: z.int(), check })).toThrow('timeout_ms has a meaning of its own')
  expect(() => defineConstraint('no way', { schema: z.int(), check })).toThrow('letters, digits and underscores')
  expect(() => createRuntime({ constraints: [rows, rows] })).toThrow('constraint "max_rows" is defined twice')
  expect(() =>
    makeSetup({ toolGrants: { 'db.query': { maxRows: 'many' } } }).runtime.start(makeSetup().runtime.compile('1')),
  ).toThrow('grant of "db.query": max_rows constraint is invalid')
})

describe('a grant of what a tool has no argument for', () => {
  const open = defineConstraint('openOnly', { schema: z.boolean(), check: () => true })
  const order = defineTool({ name: 'shop.order', input: z.object({ id: z.int(), size: z.string() }), execute: () => 'ordered' })

  test.each([
    ['max_id 5', ['the grant of `max_id` limits nothing: tool `shop.order` has no argument of that name']],
    ['region "eu"', ['the grant of `region` limits nothing: tool `shop.order` has no argument of that name']],
    ['size "small"', []],
    ['max_calls 2', []],
    ['timeout_ms 100', []],
    ['open_only true', []],
  ])('%s', (grant, expected) => {
    const runtime = createRuntime({ tools: [order], constraints: [open], extensions: ['grants'] })
    const source = `use tool shop.order as Order\ngrant Order ${grant}\nprintln(Order({id: 9, size: "small"}))`
    expect(runtime.compile(source).warnings.map(({ message }) => message)).toEqual(expected)
    expect(runtime.compile(source, { strictness: 'language' }).warnings).toEqual([])
  })

  test('of a tool that takes anything says nothing', () => {
    const any = defineTool({ name: 'shop.any', execute: () => 'ordered' })
    const runtime = createRuntime({ tools: [any], extensions: ['grants'] })
    expect(runtime.compile('use tool shop.any as Any\ngrant Any max_id 5\nprintln(Any({id: 9}))').warnings).toEqual([])
  })
})
