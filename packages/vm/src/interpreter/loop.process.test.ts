// The dispatch loop must stay within the limits of V8's optimising compiler: past 60 KB of bytecode it silently runs ten times slower.
// Measured in a separate process, which is started with V8's own switches.

import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** Bytes of bytecode past which V8 does not optimise. */
const LIMIT = 61_440
/** V8's kOptimized bit of %GetOptimizationStatus. */
const OPTIMIZED = 1 << 4

// A loop of 2,000 iterations in slices of 100, so that the loop function is left and entered often.
const program = `
const load = (path) => import('./packages/' + path + '.ts')
const { OPCODES: O } = await load('compiler/src/bytecode/index')
const { execute } = await load('vm/src/interpreter/loop')
const { Machine } = await load('vm/src/vm')
const { linkProgram } = await load('vm/src/interpreter/module')
const { createRegistry } = await load('vm/src/builtins/registry')
const code = [
  O.INT.code, 0, O.STORE.code, 0,
  O.LOAD.code, 0, O.INT.code, 2000, O.LT.code, O.JUMP_IF_FALSE.code, 20,
  O.LOAD.code, 0, O.INT.code, 1, O.ADD.code, O.STORE.code, 0,
  O.LOOP.code, 4,
  O.LOAD.code, 0, O.RETURN.code,
]
const main = { name: 'main', kind: 'main', params: [], firstDefault: 0, rest: -1, slots: 1, stack: 2, code, handlers: [], captures: [], lines: [], locals: [] }
const chunk = { key: 'm', functions: [main], constants: [], names: [], builtins: [], units: [], moduleSlots: [], exports: {} }
const linked = linkProgram({ modules: [chunk], main: 'm' }, createRegistry([]))
const run = () => {
  const machine = new Machine(linked, { hashHex: () => '', limits: { sliceFuel: 100 } })
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  return exit.value
}
const status = new Function('f', 'return %GetOptimizationStatus(f)')
let optimized = false
for (let round = 0; round < 200 && !optimized; round++) {
  run()
  optimized = (status(execute) & ${OPTIMIZED}) !== 0
}
process.stdout.write(JSON.stringify({ value: run(), optimized }))
`

function runProgram(flags: readonly string[]): { readonly written: string; readonly stderr: string } {
  const v8 = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--interrupt-budget=20000', ...flags]
  // To a file: V8 drops output when a pipe is full.
  const folder = mkdtempSync(join(tmpdir(), 'bridle-loop-'))
  const file = join(folder, 'written')
  const out = openSync(file, 'w')
  try {
    const { stderr } = spawnSync(process.execPath, [...v8, '--import', 'tsx', '--input-type=module', '--eval', program], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', out, 'pipe'],
    })
    return { written: readFileSync(file, 'utf8'), stderr }
  } finally {
    closeSync(out)
    rmSync(folder, { recursive: true })
  }
}

/** Whether the loop is optimised by a V8 that accepts functions of up to `bytes` of bytecode. */
function isOptimized(bytes: number): boolean {
  const { written, stderr } = runProgram([`--max-optimized-bytecode-size=${bytes}`])
  expect(stderr).toBe('')
  const { value, optimized } = JSON.parse(written) as { value: number; optimized: boolean }
  expect(value).toBe(2000)
  return optimized
}

test('the dispatch loop is optimised, even with nine tenths of the size limit of V8', () => {
  expect(isOptimized(LIMIT * 0.9)).toBe(true)
})

test('an iteration of the dispatch loop is short, and the function around it long', () => {
  const { written } = runProgram(['--print-bytecode', '--print-bytecode-filter=execute'])
  const turns = [...written.matchAll(/ JumpLoop(?:\.Wide)? \[(\d+)\]/g)].map(([, distance]) => Number(distance))
  // The number of iterations until V8 optimises it grows with the second of these and falls with the first.
  expect(turns).toHaveLength(1)
  expect(turns[0]).toBeLessThan(5000)
  expect(Number(/Bytecode length: (\d+)/.exec(written)?.[1])).toBeGreaterThan(40_000)
})

test.runIf(inject('isDense'))('a loop above the limit is detected', () => {
  expect(isOptimized(2000)).toBe(false)
})
