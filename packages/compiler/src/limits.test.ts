// Compiling a file has limits, and a finding says which limit was reached.

import { expect, test } from 'vitest'
import { compileProgram } from './compile.js'
import type { CompileLimits } from './compile.js'
import type { Signatures } from './signatures.js'

const NONE: Signatures = {
  has: () => false,
  borrows: () => false,
  borrowsMethod: () => false,
  effects: () => undefined,
  methodEffects: () => undefined,
  constants: [],
  names: [],
}

function findings(text: string, limits?: CompileLimits) {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    {
      signatures: NONE,
      resolve: (path) => ({ kind: 'error', message: `no module ${path}` }),
      ...(limits === undefined ? {} : { limits }),
    },
  )
  return { runs: program !== null, codes: diagnostics.map(({ code }) => code), last: diagnostics.at(-1) }
}

test('characters and tokens', () => {
  expect(findings('let a = 1\n', { characters: 10, tokens: 5 })).toMatchObject({ runs: true })
  expect(findings('let a = 12\n', { characters: 10 })).toMatchObject({
    runs: false,
    last: {
      code: 'P016',
      message: 'The file has 11 characters, the limit is 10',
      hint: expect.stringContaining('`limits`') as string,
    },
  })
  expect(findings('let a = 1 + 2\n', { tokens: 5 })).toMatchObject({ runs: false, codes: ['P016'] })
  // Without explicit limits.
  expect(findings(`let a = "${'x'.repeat(4 << 20)}"\n`)).toMatchObject({ runs: false, codes: ['P016'] })
})

test('findings', () => {
  const text = Array.from({ length: 30 }, (_, at) => `let a${at}: int = "x"\n`).join('')
  const { codes, last, runs } = findings(text, { findings: 10 })
  expect(runs).toBe(false)
  expect(codes).toHaveLength(11)
  expect(last).toMatchObject({ code: 'T070', severity: 'error', message: 'and 20 more findings: 10 are kept' })
  expect(findings(text, { findings: 30 }).codes).toHaveLength(30)
})

test('work of the checker', () => {
  const text = `type A = {a: int}\nlet x: A = {a: 1}\n${'let y: A = x\n'.repeat(100)}`
  expect(findings(text)).toMatchObject({ runs: true, codes: [] })
  expect(findings(text, { checkSteps: 100 })).toMatchObject({
    runs: false,
    last: { code: 'T071', severity: 'error', message: 'Checking the types of this file takes more than 100 steps' },
  })
})
