// Builtins that go through much data do it in pieces: between two of them the host has its thread back. Each call is run over data
// that takes many pieces; no turn may use more than a few, and neither slices nor snapshots between the pieces change anything.

import { Machine, PIECE, createRegistry, linkProgram, collectSignatures } from '@bridle/vm/families'
import type { LinkedProgram } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { compileProgram } from '@bridle/compiler'
import { STANDARD_FAMILIES } from '../../test-support/standard-families.js'

const registry = createRegistry(STANDARD_FAMILIES)
const signatures = collectSignatures(registry)
const options = { hashHex: () => '00'.repeat(32) }

function link(text: string): LinkedProgram {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    { signatures, resolve: (path) => ({ kind: 'error', message: `no module ${path}` }) },
  )
  if (program === null) throw new Error(`${text}\n${diagnostics.map((each) => each.message).join('\n')}`)
  return linkProgram(program, registry)
}

const PRELUDE = `let n = 12000
let xs = (1 to n).to_list().map({ x -> (x * 7919) % 30011 })
let ws = xs.map({ x -> "word " + to_string(x) })
let rs = xs.map({ x -> {id: x, name: "n", tags: ["a", "b"]} })
let a = set(rs)
let b = set(rs.map({ r -> {id: r.id * 1.0, name: "n", tags: ["a", "b"]} }))
let c = set(ws)
`

interface Ran {
  readonly end: string
  readonly fuel: number
  /** Most units that one turn used. */
  readonly longest: number
}

function run(program: LinkedProgram, sliceFuel: number, restores: boolean): Ran {
  const limits = { sliceFuel, work: 2 * PIECE }
  let machine = new Machine(program, { ...options, limits })
  let exit = machine.start(null, 0)
  let output = ''
  let fuel = 0
  let longest = 0
  for (;;) {
    output += exit.output
    longest = Math.max(longest, machine.fuelUsed - fuel)
    fuel = machine.fuelUsed
    if (exit.kind !== 'yielded') break
    if (restores) machine = Machine.restore(machine.snapshot(), program, { ...options, limits })
    exit = machine.resume(null, 0)
  }
  const end = exit.kind === 'done' ? output : exit.kind === 'limit' ? exit.message : exit.kind
  return { end, fuel, longest }
}

const CALLS: Readonly<Record<string, string>> = {
  'list.unique': 'len(rs.unique())',
  'list.tally': 'len(rs.tally())',
  'list.join': 'len(rs.join(", "))',
  join: 'len(join(rs, ", "))',
  'list.contains': 'rs.contains({id: -1})',
  'list.index_of': 'rs.index_of({id: 30010, name: "n", tags: ["a", "c"]})',
  contains: 'contains(rs, {id: -1})',
  set: 'len(set(rs, ws))',
  'set.union': 'len(a.union(b))',
  'set.intersect': 'len(a.intersect(b))',
  'set.difference': 'len(a.difference(b))',
  'set.symmetric_difference': 'len(a.symmetric_difference(c))',
  'set.is_subset': 'a.is_subset(b)',
  'set.is_superset': 'b.is_superset(a)',
  'set.is_disjoint': 'a.is_disjoint(c)',
  'set.contains': 'a.contains({id: -1})',
  'set.add': 'len(a.add({id: -1}))',
  'set.add of a text': 'len(c.add("one more"))',
  'set.remove': 'len(a.remove({id: 5.0, name: "n", tags: ["a", "b"]}))',
  'set.map': 'len(c.map({ x -> [x] }))',
  'set.filter': 'len(c.filter({ x -> len(x) > 6 }))',
  set_union: 'len(set_union(a, b))',
  set_remove: 'len(set_remove(a, {id: 5, name: "n", tags: ["a", "b"]}))',
  set_add: 'len(set_add(c, 1))',
  'iter.to_set': 'len(iter(rs).to_set())',
  random_shuffle: 'len(random_shuffle(rng_seed(1), xs))',
  unicode_graphemes: 'len(unicode_graphemes("é" * 4000))',
  format: 'len(format("{a}" * 20000, {a: 1}))',
  csv_stringify: 'len(csv_stringify(rs))',
  'csv_stringify of rows without a common key': 'len(csv_stringify(xs.take(300).map({ x -> {["k" + to_string(x)]: 1} })))',
  yaml_stringify: 'len(yaml_stringify(rs))',
  sha256: 'len(sha256("é" * 1000000))',
  hmac_sha256: 'len(hmac_sha256("k", "é" * 1000000))',
  tar: 'len(tar_extract(tar_create(ws.take(1000).map({ w -> {path: w, content: w} }))))',
  zip: 'len(zip_extract(zip_create(ws.take(200).map({ w -> {path: w, content: w} }))))',
  'parallel each': 'len(parallel each xs.take(2000) { x -> x })',
}

const prelude = run(link(PRELUDE), PIECE, false)

test.each(Object.entries(CALLS))('%s', (_, call) => {
  const program = link(`${PRELUDE}println(${call})`)
  const inSlices = run(program, PIECE, false)
  expect(inSlices.end).toMatch(/^(?:\d+|true|false|-1)\n$/)
  expect(inSlices.fuel - prelude.fuel).toBeGreaterThan(PIECE)
  expect(inSlices.longest).toBeLessThan(3 * PIECE)
  const atOnce = run(program, 1e12, false)
  expect({ end: atOnce.end, fuel: atOnce.fuel }).toEqual({ end: inSlices.end, fuel: inSlices.fuel })
})

test('what is longer than a piece is one of its own', () => {
  const text =
    'let a = "a" * 220000\nlet z = zip_create([1, 2, 3, 4, 5].map({ i -> {path: "a${i}", content: a} }))\nprintln(len(zip_extract(z)))'
  const program = link(text)
  const inSlices = run(program, PIECE, false)
  expect(inSlices).toMatchObject({ end: '5\n', fuel: run(program, 1e12, false).fuel })
  expect(inSlices.longest).toBeLessThan(4 * PIECE)
})

test.each(['list.unique', 'set.union', 'set.add', 'set.map', 'iter.to_set', 'random_shuffle', 'format', 'sha256', 'tar'])(
  '%s through snapshots',
  (name) => {
    const program = link(`${PRELUDE.replace('12000', '3000')}println(${CALLS[name]})`)
    const whole = run(program, 1e12, false)
    expect(run(program, PIECE, true)).toMatchObject({ end: whole.end, fuel: whole.fuel })
  },
)

test('what a restored run does again has slices, and costs nothing', () => {
  const program = link(`${PRELUDE}let ys = rs + rs + rs\nprintln(len(ys.unique()))`)
  const limits = { sliceFuel: PIECE, work: 2 * PIECE }
  const first = new Machine(program, { ...options, limits })
  let exit = first.start(null, 0)
  while (exit.kind === 'yielded' && first.fuelUsed < prelude.fuel + 12 * PIECE) exit = first.resume(null, 0)
  expect(exit.kind).toBe('yielded')
  const second = Machine.restore(first.snapshot(), program, { ...options, limits })
  let turns = 0
  for (; second.fuelUsed === first.fuelUsed && turns < 100; turns++) exit = second.resume(null, 0)
  expect(turns).toBeGreaterThan(4)
  expect(turns).toBeLessThan(20)
  while (exit.kind === 'yielded') exit = second.resume(null, 0)
  const whole = run(program, 1e12, false)
  expect({ kind: exit.kind, output: exit.output, fuel: second.fuelUsed }).toEqual({
    kind: 'done',
    output: whole.end,
    fuel: whole.fuel,
  })
})
