// A caller that needs only findings gets the same ones as one that needs a program, and no code is emitted if the emitter has no findings.

import { expect, test } from 'vitest'
import { parse, SourceFile } from '@bridle/parser'
import { compileProgram } from '../compile.js'
import type { CompileResult } from '../compile.js'
import type { Signatures } from '../signatures.js'
import { listContents } from '../contents.js'

const NONE: Signatures = {
  has: () => false,
  borrows: () => false,
  borrowsMethod: () => false,
  effects: () => undefined,
  methodEffects: () => undefined,
  constants: [],
  names: [],
}

function compile(text: string, findingsOnly: boolean): CompileResult {
  const resolve = (path: string) => ({ kind: 'error', message: `no module ${path}` }) as const
  return compileProgram({ key: 'main.harn', text }, { signatures: NONE, resolve, findingsOnly })
}

const chain = (length: number): string => `let x = 1${' + 1'.repeat(length)}\n`

test.each([
  ['a loop without a way out', 'var n = 0\nwhile n < 3 {\n  n = n + 1\n}\n'],
  ['ways out of a loop', 'for x in [1] {\n  if x == 1 {\n    continue\n  }\n  match x {\n    1 -> { break }\n  }\n}\n'],
  ['a duration', 'let d = 5s\n'],
  ['a pattern of a list', 'match [1] {\n  [a] -> { a }\n}\n'],
])('%s needs no code', (_, text) => {
  expect(compile(text, true)).toMatchObject({ program: null, diagnostics: [] })
  expect(compile(text, false).program).not.toBeNull()
})

test.each([
  ['break', 'break\n'],
  ['continue in a condition', 'if true {\n  continue\n}\n'],
  ['break in a closure in a loop', 'for x in [1] {\n  let f = { y -> break }\n}\n'],
  ['break in a function in a loop', 'for x in [1] {\n  fn f() {\n    break\n  }\n}\n'],
  ['break in a block that is put off', 'for x in [1] {\n  defer {\n    break\n  }\n}\n'],
  ['break in a task', 'for x in [1] {\n  let t = spawn {\n    break\n  }\n}\n'],
  ['a duration that is too long', 'let d = 9223372036854775808ms\n'],
  ['a spread in a pattern', 'match [1] {\n  [...a] -> { a }\n}\n'],
  ['an attribute that is out of place', '@acp_tool\nstruct S {\n  a: int\n}\n'],
  ['a list in an attribute', '@acp_tool(tags: ["a"])\nfn f() {\n  return 1\n}\n'],
  ['a tree that is deep', chain(300)],
])('%s has the findings of the emitter', (_, text) => {
  const { program } = parse(new SourceFile('main.harn', text))
  expect(program).not.toBeNull()
  expect(listContents(program!).isSureToEmit).toBe(false)
  expect(compile(text, true).diagnostics).toEqual(compile(text, false).diagnostics)
})
