// Where the host forbids making functions from text, the base tier is the whole engine.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

const program = `
const { runText } = await import('./packages/stdlib-tools/test/machine/support.ts')
const { canGenerateCode } = await import('@bridle/vm')
const text = 'fn fib(n) { if n < 2 { return n }\\n return fib(n - 1) + fib(n - 2) }\\nprintln(fib(18))'
const { output, machine } = runText(text)
process.stdout.write(JSON.stringify({ output, can: canGenerateCode(), hasTier: machine.tier !== null }))
`

test.each([
  [['--disallow-code-generation-from-strings'], false],
  // That the flag makes the difference.
  ...(inject('isDense') ? [[[], true] as const] : []),
] as const)('with %j', (flags, can) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--import', 'tsx', '--input-type=module', '--eval', program],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  expect(stderr).toBe('')
  const seen = JSON.parse(stdout) as { readonly output: string; readonly can: boolean; readonly hasTier: boolean }
  expect(seen.output).toBe('2584\n')
  expect(seen.can).toBe(can)
  expect(seen.hasTier).toBe(can)
})
