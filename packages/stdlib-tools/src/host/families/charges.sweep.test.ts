// Every builtin pays for what it is given before it works on it. Each parameter that can hold much gets once a value of
// 2,048 and once one of 8,192 elements, of each kind that it may be of, with all others small, and the fuel must grow with it. What need not pay is in the table at
// the end with the reason; a new builtin is in neither, and fails here.

import { Machine, createRegistry, linkProgram, collectSignatures } from '@bridle/vm/families'
import type { BuiltinDef } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { compileProgram } from '@bridle/compiler'
import { STANDARD_FAMILIES } from '../../test-support/standard-families.js'
import { FREE } from './test-support/charges-free.js'
import { listCalls, findKind, makePrelude, SPELLED } from '../../../../vm/src/builtins/test-support/large-calls.js'

const registry = createRegistry(STANDARD_FAMILIES)
const signatures = collectSignatures(registry)

const SMALL_SIZE = 2048
const LARGE_SIZE = 4 * SMALL_SIZE

/** What the fuel must grow by between the two sizes: a unit for 512 characters or elements. */
const LEAST_GROWTH = (LARGE_SIZE - SMALL_SIZE) >> 9

/** Units that a script uses until it ends or has to wait. */
function measureFuel(text: string): number {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    { signatures, resolve: (path) => ({ kind: 'error', message: `no module ${path}` }) },
  )
  if (program === null) throw new Error(`${text}\n${diagnostics.map((each) => each.message).join('\n')}`)
  const machine = new Machine(linkProgram(program, registry), {
    hashHex: () => '00'.repeat(32),
    limits: { fuel: 50_000_000 },
  })
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  // Refusing is paying.
  return exit.kind === 'limit' ? Infinity : machine.fuelUsed
}

const preludes = new Map([SMALL_SIZE, LARGE_SIZE].map((n) => [n, measureFuel(makePrelude(n))]))

function measureGrowth(call: string): number {
  const [small, large] = [SMALL_SIZE, LARGE_SIZE].map(
    (n) => measureFuel(`${makePrelude(n)}try { ${call} } catch (e) { }`) - preludes.get(n)!,
  )
  return large === Infinity ? Infinity : large! - small!
}

/** Functions by family, methods by receiver: a test for each. No script can spell a name with a `!`. */
const groups: readonly (readonly [name: string, defs: readonly BuiltinDef[]])[] = [
  ...STANDARD_FAMILIES.map(
    ({ name, builtins }) =>
      [name, builtins.filter(({ name, receiver }) => receiver === null && !name.includes('!'))] as [string, BuiltinDef[]],
  ),
  ...[...registry.methods].map(
    ([receiver, methods]) => [`methods of ${receiver}`, [...methods.values()]] as [string, BuiltinDef[]],
  ),
].filter(([, defs]) => defs.length > 0)

/** The name of a parameter in the table of those that need not pay. */
function nameRow(def: BuiltinDef, parameter: string): string {
  return `${def.receiver === null ? '' : `${def.receiver}.`}${def.name} ${parameter}`
}

test.each(groups)('%s: every builtin pays for its arguments', { timeout: 300_000 }, (_group, defs) => {
  const unpaid: string[] = []
  const free: string[] = []
  for (const def of defs) {
    for (const [parameter, calls] of listCalls(def)) {
      const name = nameRow(def, parameter)
      const spelled = SPELLED[name]
      const tried = spelled === undefined ? calls : [spelled]
      const unpaidCalls = tried.filter((call) => measureGrowth(call) < LEAST_GROWTH)
      const kinds = unpaidCalls.map((call) => `${name}: ${findKind(call)}`)
      // A builtin that pays for texts may have forgotten lists.
      unpaid.push(...(unpaidCalls.length === tried.length ? [name] : kinds))
      free.push(...[name, ...tried.map((call) => `${name}: ${findKind(call)}`)].filter((row) => FREE.has(row)))
    }
  }
  // Remove rows of the table whose builtins do charge.
  expect(unpaid.sort()).toEqual([...new Set(free)].sort())
})

test('the table names parameters that there are', () => {
  const names = new Set(
    groups.flatMap(([, defs]) => defs.flatMap((def) => [...listCalls(def).keys()].map((each) => nameRow(def, each)))),
  )
  expect([...FREE.keys()].filter((row) => !names.has(row.replace(/: [^:]*$/, '')))).toEqual([])
})
