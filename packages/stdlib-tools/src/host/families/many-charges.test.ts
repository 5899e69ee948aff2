// What one operation may take holds for the sum of its charges, however small each is; what others of the same slice took does not count.

import { Machine, builtin, createRegistry, linkProgram, collectSignatures, work } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { compileProgram } from '@bridle/compiler'
import { STANDARD_FAMILIES } from '../../test-support/standard-families.js'

const WORK = 10_000
const SLICE = 1000

const registry = createRegistry([
  ...STANDARD_FAMILIES,
  {
    name: 'many-charges',
    builtins: [
      builtin('charge_often(times: int) -> int', { doc: '', effects: [] }, (ctx, times) => {
        for (let at = 0; at < Number(times); at++) ctx.charge(1)
        return times ?? null
      }),
      builtin('scan_often(times: int) -> int', { doc: '', effects: [] }, (_ctx, times) => {
        for (let at = 0; at < Number(times); at++) work(1)
        return times ?? null
      }),
    ],
  },
])
const signatures = collectSignatures(registry)

function runToEnd(text: string, sliceFuel = SLICE): string {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    { signatures, globals: ['charge_often', 'scan_often'], resolve: (path) => ({ kind: 'error', message: `no module ${path}` }) },
  )
  if (program === null) throw new Error(diagnostics.map((each) => each.message).join('\n'))
  const limits = { work: WORK, sliceFuel }
  const machine = new Machine(linkProgram(program, registry), { hashHex: () => '', limits })
  let exit = machine.start(null, 0)
  let output = exit.output
  while (exit.kind === 'yielded') {
    exit = machine.resume(null, 0)
    output += exit.output
  }
  return exit.kind === 'limit' ? exit.message : output
}

test.each(['charge_often', 'scan_often'])('%s', (name) => {
  expect(runToEnd(`println(${name}(${WORK}))`)).toBe(`${WORK}\n`)
  expect(runToEnd(`println(${name}(1000000))`)).toMatch(
    /^too much work at once: an operation takes \d+ units, the limit is 10000$/,
  )
  expect(runToEnd(`for i in 1 to 5 { ${name}(${WORK}) }\nprintln("done")`)).toBe('done\n')
  // As a value, and called for each element of a list.
  expect(runToEnd(`let f = ${name}\nprintln([${WORK}, ${WORK}].map(f))`)).toBe(`[${WORK}, ${WORK}]\n`)
})

test('operators of one slice are not added up', () => {
  // A comparison takes 9,375 units.
  const text = `let t = "é" * 600000\nlet u = t + t + t + t\nlet a = u + u + "c"\nlet b = u + u + "d"\nlet n = charge_often(500)\n`
  expect(runToEnd(`${text}${'let _ = a == b\n'.repeat(20)}println(n)`)).toBe('500\n')
})
