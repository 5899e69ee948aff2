// Calls of the host's tools against their declarations: each way in which a script reaches one, and each kind of schema.

import { describe, expect, test } from 'vitest'
import { parse, SourceFile } from '@bridle/parser'
import { lowerGrants } from '../../grants/lower.js'
import { readInterface } from '../module-interface.js'
import { diagnose } from '../test-support/check-source.js'
import { type ToolDeclaration, ToolTypes } from './declaration.js'
import { checkGrantedKeys } from './grants.js'

const TOOLS: readonly ToolDeclaration[] = [
  {
    name: 'shop.price',
    aliases: ['shop.cost'],
    parameters: {
      type: 'object',
      properties: {
        article: { type: 'string', minLength: 1 },
        size: { enum: ['small', 'large'] },
        count: { type: 'integer', minimum: 1, maximum: 99 },
        rate: { type: 'number' },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        to: { $ref: '#/$defs/place' },
        pay: {
          anyOf: [
            { type: 'object', properties: { by: { const: 'card' }, number: { type: 'string' } }, required: ['by', 'number'] },
            { type: 'object', properties: { by: { const: 'cash' } }, required: ['by'] },
          ],
        },
        note: { type: ['string', 'null'] },
        extra: { type: 'object', additionalProperties: { type: 'integer' } },
        open: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      },
      required: ['article'],
      $defs: {
        place: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'integer' } }, required: ['city'] },
      },
    },
    output: {
      type: 'object',
      properties: { cents: { type: 'integer' }, at: { $ref: '#/$defs/when' } },
      required: ['cents'],
      $defs: { when: { type: 'string' } },
    },
  },
  { name: 'shop.any' },
  {
    name: 'shop.all',
    parameters: { type: 'object', properties: { page: { type: 'integer' } } },
    output: { type: 'array', items: { type: 'string' } },
  },
]

const HOST = 'pub fn price(args) { return 1 }\npub fn any(args) { return 1 }\npub fn all(args) { return 1 }'
const STD =
  'pub fn tool_call(name, args = nil, options = nil) { return 1 }\npub fn tool_try(name, args = nil) { return 1 }\npub fn tool_batch(calls) { return 1 }'

function check(text: string, isComplete = true): readonly string[] {
  const modules: { readonly [path: string]: string } = { 'host/shop': HOST, 'std/tools': STD }
  const found = diagnose(text, {
    tools: new ToolTypes(TOOLS, { isComplete }),
    toolAliases: new Map([['Price', 'shop.price']]),
    imports: (path) => {
      const source = modules[path]
      return source === undefined ? null : readInterface(parse(new SourceFile(path, source)).program!) // it parses
    },
  })
  const file = new SourceFile('test.harn', text)
  return found.map(({ code, span, message }) => `${code} ${file.text.slice(span.start, span.end)}: ${message}`)
}

const IMPORT = 'import { all, any, price } from "host/shop"\n'

/** The arguments of `price(…)`, and the finding: its code and position. */
const WRONG: readonly (readonly [args: string, found: string])[] = [
  ['', 'A003 price()'],
  ['"tea"', 'A007 "tea"'],
  ['{article: "tea"}, 2', 'A007 2'],
  ['{}', 'A003 {}'],
  ['{article: 5}', 'A004 5'],
  ['{article: nil}', 'A004 nil'],
  ['{article: ""}', 'A006 ""'],
  ['{artcle: "tea"}', 'A002 artcle'],
  ['{article: "tea", colour: 1}', 'A002 colour'],
  ['{article: "tea", size: "huge"}', 'A005 "huge"'],
  ['{article: "tea", size: 1}', 'A005 1'],
  ['{article: "tea", count: "2"}', 'A004 "2"'],
  ['{article: "tea", count: 2.5}', 'A004 2.5'],
  ['{article: "tea", count: 0}', 'A006 0'],
  ['{article: "tea", count: -1}', 'A006 -1'],
  ['{article: "tea", rate: "x"}', 'A004 "x"'],
  ['{article: "tea", tags: "a"}', 'A004 "a"'],
  ['{article: "tea", tags: ["a", 2]}', 'A004 2'],
  ['{article: "tea", tags: ["a", "b", "c", "d"]}', 'A006 ["a", "b", "c", "d"]'],
  ['{article: "tea", to: {zip: 1}}', 'A003 {zip: 1}'],
  ['{article: "tea", to: {city: 1}}', 'A004 1'],
  ['{article: "tea", to: {city: "x", land: "y"}}', 'A002 land'],
  ['{article: "tea", to: "Bern"}', 'A004 "Bern"'],
  ['{article: "tea", pay: {by: "card"}}', 'A003 {by: "card"}'],
  ['{article: "tea", pay: {by: "gold"}}', 'A004 {by: "gold"}'],
  ['{article: "tea", note: 1}', 'A004 1'],
  ['{article: "tea", extra: {a: "x"}}', 'A004 "x"'],
  ['{article: [1].count > 1 ? 1 : 2}', 'A004 [1].count > 1 ? 1 : 2'],
  ['{article: 1 == 2}', 'A004 1 == 2'],
]

test.each(WRONG)('price(%s) is found', (args, found) => {
  const call = `price(${args})`
  const expected = found.replace('price()', call)
  expect(check(`${IMPORT}println(${call})`).map((each) => each.slice(0, expected.length + 1))).toEqual([`${expected}:`])
})

test.each([
  ['let f = price\nprintln(f({article: 5}))', 'A004 5'],
  ['let f = price\nlet g = f\nprintln(g({artcle: "x"}))', 'A002 artcle'],
  ['fn h() {\n  let f = price\n  return f({article: 5})\n}', 'A004 5'],
  ['println([{article: 5}].map(price))', 'A004 5'],
  ['println(["tea"].map(price))', 'A007 "tea"'],
  ['let xs = [{article: 5}]\nprintln(xs.map(price))', 'A004 5'],
  ['let f = price\nprintln([{article: 5}].map(f))', 'A004 5'],
  ['println(mcp_call(mcp_ensure_active("shop"), "price", {article: 5}))', 'A004 5'],
])('a call through a value: %s', (text, found) => {
  expect(check(IMPORT + text).map((each) => each.slice(0, found.length + 1))).toEqual([`${found}:`])
})

test.each([
  'let f = price\nprintln(f({article: "tea"}))',
  'println([{article: "tea"}].map(price))',
  'fn h(price) {\n  return price({article: 5})\n}',
  'fn h(f) {\n  return [5].map(f)\n}',
  'println(mcp_call(mcp_ensure_active("shop"), "other", {article: 5}))',
])('a call through a value that is right: %s', (text) => {
  expect(check(IMPORT + text)).toEqual([])
})

const RIGHT: readonly string[] = [
  'price({article: "tea"})',
  'price({article: "tea", size: "small", count: 2, rate: 1, tags: ["a"], note: nil})',
  'price({article: "tea", count: 2.0, rate: 1.5, to: {city: "Bern", zip: 3000}})',
  'price({article: "tea", pay: {by: "cash"}})',
  'price({article: "tea", pay: {by: "card", number: "1"}, open: {a: "x", b: 2}, extra: {a: 1}})',
  'price({...{}, size: "small"})',
  'price({article: "a" + "b", size: to_string(1)})',
  'price(json_parse("{}"))',
  'any()',
  'any({x: 1})',
  'all()',
  'all({page: 2})',
  'all({}).map({ x -> x.uppercase() })',
  'host_tool_call("shop.price", {article: "tea"})',
  'let Price = json_parse("1")\nPrice("tea")\nPrice({article: "tea"})',
  'let price = { x -> x }\nprice(5)',
]

test.each(RIGHT)('no finding in %s', (text) => {
  expect(check(`${IMPORT}fn f() {\n${text}\n}`)).toEqual([])
})

test('each way to a tool is checked', () => {
  expect(check('import "host/shop"\nprice({article: 5})')).toHaveLength(1)
  expect(check(`${IMPORT}{article: 5} |> price`)).toHaveLength(1)
  expect(check('host_tool_call("shop.price", {article: 5})')).toHaveLength(1)
  expect(check('host_tool_call("shop.cost", {article: 5})')).toHaveLength(1)
  expect(check('let Price = json_parse("1")\nPrice({article: 5})')).toHaveLength(1)
  expect(
    check('import { tool_call, tool_try } from "std/tools"\ntool_call("shop.price", {article: 5})\ntool_try("shop.price", {})'),
  ).toHaveLength(2)
  expect(
    check('import { tool_batch } from "std/tools"\ntool_batch([{tool: "shop.price", params: {article: 5}}, {tool: "x"}])'),
  ).toHaveLength(1)
  expect(check(`${IMPORT}let args = {article: 5}\nprice(args)`)).toEqual([
    'A004 args: argument `article` of tool `shop.price` must be string, got int',
  ])
})

test('results have types', () => {
  expect(check(`${IMPORT}let y: string = price({article: "tea"}).cents`)).toEqual([
    expect.stringContaining("'y' declared as string, but assigned int"),
  ])
  expect(check(`${IMPORT}let p = price({article: "tea"})\nlet y: string = p.cents`)).toHaveLength(1)
  expect(check(`${IMPORT}let y: int = all({})`)).toEqual([expect.stringContaining('list<string>')])
  expect(check('let y: int = host_tool_call("shop.all")')).toHaveLength(1)
  expect(check('import { tool_call } from "std/tools"\nlet y: int = tool_call("shop.all", {})')).toHaveLength(1)
  expect(check(`${IMPORT}let y: int = any({})`)).toEqual([])
})

test('a tool that the host does not have is found when all of them are known', () => {
  expect(check('host_tool_call("shop.prise", {})')).toEqual(['A001 "shop.prise": the host has no tool `shop.prise`'])
  expect(check('host_tool_call("shop.prise", {})', false)).toEqual([])
})

test('a call by name is a warning where a run may have further tools', () => {
  const severities = (isComplete: boolean): readonly string[] =>
    diagnose('host_tool_call("shop.price", {})', { tools: new ToolTypes(TOOLS, { isComplete }) }).map(({ severity }) => severity)
  expect([severities(true), severities(false)]).toEqual([['error'], ['warning']])
})

test('a tool that the script defines has precedence over that of the host', () => {
  const define = 'tool_define(tool_registry(), "shop.price", "", {parameters: {}, handler: { a -> 1 }})\n'
  const call = 'import { tool_call } from "std/tools"\ntool_call("shop.price", {article: 5})'
  expect(check(define + call)).toEqual([])
  expect(
    check('import { tool_call } from "std/tools"\ntool_call("shop.price", {article: 5}, {registry: tool_registry()})'),
  ).toEqual([])
})

test('repairs name the right word', () => {
  const { fix } = diagnose('host_tool_call("shop.price", {artcle: "tea"})', { tools: new ToolTypes(TOOLS) })[0]!
  expect(fix?.edits[0]?.text).toBe('article')
})

test('schemas that refer to themselves, and those that say nothing, allow anything', () => {
  const loop: ToolDeclaration = {
    name: 'loop',
    parameters: { type: 'object', properties: { next: { $ref: '#' }, v: { $ref: '#/nowhere' }, w: true, x: { type: 'odd' } } },
  }
  const told = (text: string): number => diagnose(text, { tools: new ToolTypes([loop]) }).length
  expect(told('host_tool_call("loop", {next: {next: {next: {v: 1, w: 2, x: 3}}}})')).toBe(0)
  expect(told('host_tool_call("loop", {next: {next: {next: {z: 1}}}})')).toBe(1)
})

describe('constraints of grants that match no argument', () => {
  const tools = new ToolTypes([
    { name: 'crm.find', parameters: { type: 'object', properties: { id: { type: 'integer' }, max_rows: { type: 'integer' } } } },
    { name: 'net.get', parameters: { type: 'object', properties: { url: { type: 'string' } } } },
  ])

  function statements(text: string): readonly string[] {
    const file = new SourceFile('test.harn', `// @bridle grants\n${text}`)
    const lowered = lowerGrants(parse(file, { extensions: ['grants'] }).program!, file.text)
    return checkGrantedKeys(lowered.declarations, tools, undefined).map(
      ({ code, span }) => `${code} ${file.text.slice(span.start, span.end)}`,
    )
  }

  test.each([
    ['use tool crm.find as Find\ngrant Find max_id 5', ['A008 max_id']],
    [
      'use tool crm.find as Find\nfn f() {\n  grant Find max_id 5 region "x"\n  return Find({id: 1})\n}',
      ['A008 max_id', 'A008 region'],
    ],
    ['grant crm.find max_id 5 domain "a.test"', ['A008 max_id', 'A009 domain']],
    ['@grant("crm.find", max_id: 5)\nfn f() {\n  return 1\n}', ['A008 max_id']],
    ['use tool crm.find as Find\n@grant("Find", id: 5, max_row: 5)\nfn f() {\n  return 1\n}', ['A008 max_row']],
    ['use tool crm.find as Find\ngrant Find max_rows 5 id 3 timeout_ms 5 max_calls 2 version "1"', []],
    ['use tool net.get as Get\ngrant Get domain "a.test"', []],
    ['grant crm.other max_id 5', []],
  ])('%s', (text, found) => {
    expect(statements(text)).toEqual(found)
  })

  test.each([
    ['println(tool_use("crm.find", {grants: {max_id: 5}})({id: 1}))', ['A008']],
    ['println(tool_use("crm.find", {grants: [{max_id: 5}, {domain: "a.test"}]})({id: 1}))', ['A008', 'A009']],
    ['println(with_grants({["crm.find"]: {max_id: 5}}, { -> 1 }))', ['A008']],
    ['println(with_grants({"crm.find": {max_rows: 5, ticket: "x"}, "crm.*": {max_id: 5}}, { -> 1 }))', []],
  ])('%s', (text, found) => {
    const module = 'pub fn tool_use(id, options = nil) { return 1 }\npub fn with_grants(grants, body) { return 1 }'
    const { program } = parse(new SourceFile('std', module))
    const told = diagnose(`import { tool_use, with_grants } from "std/grants"\n${text}`, {
      tools,
      strictness: 'full',
      imports: () => readInterface(program!, () => null),
    })
    expect(told.flatMap(({ code }) => (code.startsWith('A') ? [code] : []))).toEqual(found)
  })

  test('a limit for an argument without limits is reported with a fix', () => {
    const { hint } = diagnose('import { tool_use } from "std/grants"\nprintln(tool_use("crm.find", {grants: {max_id: 5}}))', {
      tools,
      strictness: 'full',
      imports: () =>
        readInterface(parse(new SourceFile('std', 'pub fn tool_use(id, options = nil) { return 1 }')).program!, () => null),
    })[0]!
    expect(hint).toContain('`id` can only be fixed')
  })
})
