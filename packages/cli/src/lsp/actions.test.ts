import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CodeAction } from 'vscode-languageserver/node'
import { applyTo, readMarks, TestClient, toRangeIn } from './test-support/client.js'

let client: TestClient
beforeAll(async () => {
  client = new TestClient()
  await client.start()
})
afterAll(() => client.stop())

let files = 0

/** The actions for the marked part, by kind, with the resulting text. */
async function offer(marked: string, only?: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { text, spans } = readMarks(marked)
  const document = await client.open(`actions${++files}.harn`, text)
  const range = toRangeIn(document, spans[0] ?? { start: 0, end: 0 })
  const context = { diagnostics: [], ...(only === undefined ? {} : { only }) }
  const found = await client.ask<CodeAction[]>('codeAction', document, null, { range, context })
  return new Map(found.map(({ kind, edit }) => [kind!, applyTo(document, edit!)]))
}

describe('kinds', () => {
  const SCRIPT = 'import { tool_call, tool_bind } from "std/tools"\nvar ‹n› = 3\nprintln(tool_call("a", {}), n)\n'
  test.each<[readonly string[] | undefined, readonly string[]]>([
    [undefined, ['quickfix', 'refactor.inline.variable']],
    [['quickfix'], ['quickfix']],
    [['refactor'], ['refactor.inline.variable']],
    [['refactor.extract'], []],
    [['source'], ['source.fixAll', 'source.organizeImports']],
    [['source.fixAll'], ['source.fixAll']],
    [['source.organizeImports'], ['source.organizeImports']],
    [['refactorings'], []],
    [[], []],
  ])('%j', async (only, kinds) => {
    const script = SCRIPT.replace('var', only?.[0]?.startsWith('refactor') === true ? 'let' : 'var')
    const found = [...(await offer(script, only)).keys()].toSorted()
    expect(found).toEqual(only === undefined ? ['quickfix'] : kinds)
  })
})

test('all repairs are applied at once', async () => {
  const made = await offer('var a = 1\nvar b = 2\nif a == b == true {\n  println(a)\n}\nprintln(a, b)\n', ['source.fixAll'])
  expect(made.get('source.fixAll')).toMatch(/let a = 1\n+let b = 2\nif \(a == b\) \{/)
})

describe('imports', () => {
  test.each<[string, string, string]>([
    [
      'are sorted, and unused names go',
      'import { b, a, unused } from "./x"\nimport { tool_call } from "std/tools"\nprintln(a(), b(), tool_call("t", {}))\n',
      'import { tool_call } from "std/tools"\nimport { a, b } from "./x"\nprintln(a(), b(), tool_call("t", {}))\n',
    ],
    [
      'of one module are one',
      'import { a } from "./x"\nimport { b } from "./x"\nprintln(a(), b())\n',
      'import { a, b } from "./x"\nprintln(a(), b())\n',
    ],
    ['that nobody uses go', 'import { a } from "./x"\nprintln(1)\n', 'println(1)\n'],
    ['keep what stands between them', 'import { b } from "./y"\n// why\nimport { a } from "./x"\nprintln(a(), b())\n', ''],
    ['that are passed on stay', 'pub import { a } from "./x"\n', ''],
  ])('%s', async (_name, before, after) => {
    expect((await offer(before, ['source.organizeImports'])).get('source.organizeImports') ?? '').toBe(after)
  })
})

describe('extract to a variable', () => {
  test.each<[string, string, string | undefined]>([
    [
      'an operand',
      'fn f(a) {\n  return a + ‹g(a) * 2›\n}\n',
      'fn f(a) {\n  let extracted = g(a) * 2\n  return a + extracted\n}\n',
    ],
    ['with spaces around it', 'println(1,‹ 2 + 3 ›)\n', 'let extracted = 2 + 3\nprintln(1, extracted )\n'],
    [
      'with a free name',
      'let extracted = 1\nprintln(extracted, ‹2 + 3›)\n',
      'let extracted = 1\nlet extracted2 = 2 + 3\nprintln(extracted, extracted2)\n',
    ],
    ['half of an expression', 'println(1 + ‹2 * 3 +› 4)\n', undefined],
    ['what is computed at times only', 'let a = [1]\nprintln(a.empty || ‹a[0]› == 1)\n', undefined],
    ['the condition of a loop', 'var a = 1\nwhile ‹a < 3› {\n  a = a + 1\n}\n', undefined],
    ['what is assigned', 'var a = {b: {c: 1}}\n‹a.b›.c = 2\nprintln(a)\n', undefined],
    ['nothing', 'println(1‹›)\n', undefined],
  ])('%s', async (_name, before, after) => {
    expect((await offer(before, ['refactor.extract'])).get('refactor.extract.variable')).toBe(after)
  })
})

describe('extract to a function', () => {
  test.each<[string, string, string | undefined]>([
    ['an expression', 'fn f(a, b) {\n  return a + ‹b * a + 1›\n}\n', undefined],
    [
      'a call with what it needs',
      'fn f(a, b) {\n  return a + ‹g(b, a)›\n}\n',
      'fn f(a, b) {\n  return a + extracted(a, b)\n}\n\nfn extracted(a, b) {\n  return g(b, a)\n}\n',
    ],
    [
      'statements that give a variable',
      'fn f(a) {\n  ‹let b = a + 1\n  let c = b * 2›\n  return c\n}\n',
      'fn f(a) {\n  let c = extracted(a)\n  return c\n}\n\nfn extracted(a) {\n  let b = a + 1\n  let c = b * 2\n  return c\n}\n',
    ],
    [
      'statements that assign a variable',
      'fn f(a) {\n  var sum = 0\n  ‹for x in a {\n    sum = sum + x\n  }›\n  return sum\n}\n',
      'fn f(a) {\n  var sum = 0\n  sum = extracted(a, sum)\n  return sum\n}\n\nfn extracted(a, sum_before) {\n  var sum = sum_before\n  for x in a {\n    sum = sum + x\n  }\n  return sum\n}\n',
    ],
    ['what returns', 'fn f(a) {\n  ‹if a {\n    return 1\n  }›\n  return 2\n}\n', undefined],
    ['what leaves a loop', 'fn f(a) {\n  for x in a {\n    ‹if x {\n      break\n    }›\n  }\n}\n', undefined],
    ['what gives two variables', 'fn f(a) {\n  ‹let b = a\n  let c = a›\n  return b + c\n}\n', undefined],
  ])('%s', async (_name, before, after) => {
    expect((await offer(before, ['refactor.extract'])).get('refactor.extract.function')).toBe(after)
  })
})

describe('inline a variable', () => {
  test.each<[string, string, string | undefined]>([
    ['a literal', 'let ‹›n = 3\nprintln(n, n)\n', 'println(3, 3)\n'],
    [
      'a value that acts, in the next statement',
      'fn f() {\n  let ‹›n = g()\n  return n + 1\n}\n',
      'fn f() {\n  return g() + 1\n}\n',
    ],
    ['with brackets', 'let ‹›n = 1 + 2\nprintln(n)\n', 'println((1 + 2))\n'],
    ['what acts, twice', 'let ‹›n = g()\nprintln(n, n)\n', undefined],
    ['what acts, later', 'let ‹›n = g()\nh()\nprintln(n)\n', undefined],
    ['what acts, behind another', 'let ‹›n = g()\nprintln(h(), n)\n', undefined],
    ['what acts, into a branch', 'let ‹›n = g()\nif h() {\n  println(n)\n}\n', undefined],
    ['what is assigned', 'var ‹›n = 1\nn = 2\nprintln(n)\n', undefined],
    ['what changes in between', 'var a = 1\nlet ‹›n = a\na = 2\nprintln(n)\n', undefined],
    ['what means something else there', 'let a = 1\nlet ‹›n = a\nfn f(a) {\n  return n\n}\nprintln(f(2))\n', undefined],
  ])('%s', async (_name, before, after) => {
    expect((await offer(before, ['refactor.inline'])).get('refactor.inline.variable')).toBe(after)
  })
})
