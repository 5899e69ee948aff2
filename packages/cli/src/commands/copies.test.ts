// `bridle run --copies`: the position of each copy, how often it was made, and its bytes.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { begin } from '../begin.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-copies-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Positions as LINE:COLUMN with their copies and bytes, for a run that prints `out`. */
async function listCopies(text: string, out: string): Promise<string[]> {
  const file = join(folder, 'script.harn')
  writeFileSync(file, text)
  const said = await runBridle('run', '--copies', file)
  expect(said).toMatchObject({ code: 0, out })
  return [...said.err.matchAll(/^ *(\d+) +(\d+) {2}(.*)$/gm)].map(([, copies, bytes, place]) => {
    expect(place!.startsWith(`${file}:`), place).toBe(true)
    return `${place!.slice(file.length + 1)} ${copies} × ${Number(bytes) / Number(copies)}`
  })
}

async function runBridle(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => ((out += String(chunk)), true))
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => ((err += String(chunk)), true))
  const before = process.exitCode
  try {
    await begin(words)
    return { code: Number(process.exitCode), out, err }
  } finally {
    process.exitCode = before
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

// A container is copied when a variable first changes it, and again after it was shared.
const LOOP = 'for i in 0 to 400 exclusive {'

test.each<[string, string, string, readonly string[]]>([
  [
    'an element of a list that was kept',
    `var xs = [1, 2]\nvar kept = []\n${LOOP}\n  xs[0] = i\n  kept = [xs]\n}\nprintln(kept)`,
    '[[399, 2]]\n',
    ['4:3 400 × 80'],
  ],
  [
    'a field of a struct that was kept',
    `struct P { x: int }\nvar p = P {x: 0}\nvar kept = []\n${LOOP}\n  p.x = i\n  kept = [p]\n}\nprintln(kept[0].x)`,
    '399\n',
    ['5:3 400 × 48'],
  ],
  [
    'a container in a container',
    `var d = {a: {b: [0]}}\nvar kept = nil\n${LOOP}\n  d.a.b[0] = i\n  kept = d.a.b\n}\nprintln(kept)`,
    '[399]\n',
    ['4:3 402 × 48'],
  ],
  [
    'what lies in a function',
    `fn change(xs) {\n  var own = xs\n  own[0] = 7\n  return own\n}\nlet xs = [1, 2]\n${LOOP}\n  change(xs)\n}\nprintln(xs)`,
    '[1, 2]\n',
    ['3:3 400 × 80'],
  ],
  [
    'a builtin that may not change its receiver',
    `let xs = [1, 2]\n${LOOP}\n  xs.pop()\n}\nlet d = {a: 1}\nlet e = d.merge({b: 2})\nprintln(e)`,
    '{a: 1, b: 2}\n',
    ['3:3 400 × 48', '6:9 1 × 48'],
  ],
  [
    'nothing where changes are in place',
    `var xs = []\n${LOOP}\n  xs = xs.push(i)\n  xs[0] = i\n}\nprintln(len(xs))`,
    '400\n',
    [],
  ],
])('%s', async (_name, text, out, expected) => {
  expect(await listCopies(text, out)).toEqual(expected)
})

test('a script without copies is reported as such, and its exit code is kept', async () => {
  expect(await runBridle('run', '--copies', '-e', 'println(1)')).toMatchObject({ code: 0, out: '1\n', err: 'copies: none\n' })
  const failed = await runBridle('run', '--copies', '-e', 'var xs = [1]\nlet ys = xs\nxs[0] = 2\nthrow "no"')
  expect(failed.code).toBe(1)
  expect(failed.err).toMatch(/copies: 1, bytes: 48\n.*\n +1 +48 {2}.*:3:1\n$/s)
})

test('a durable run has no such list', async () => {
  const said = await runBridle('run', '--copies', '--store', join(folder, 'runs.db'), '-e', 'println(1)')
  expect(said.code).toBe(2)
  expect(said.err).toContain('--copies is for runs without --store')
})
