import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { ConformanceTest } from './discover.js'
import type { Mode, ModeChoice } from './mode-names.js'
import { runTest } from './modes.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-modes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const LOOP = 'fn twice(n) { return n * 2 }\nvar sum = 0\nfor i in 1 to 300 { sum = sum + twice(i) }\nprintln(sum)\n'

async function runIn(choice: ModeChoice, name: string, source: string, wanted: string) {
  const file = join(folder, `${name}.harn`)
  writeFileSync(file, source)
  const views: ConformanceTest['views'] = { findings: null, fixed: null, formatted: null }
  const one: ConformanceTest = { name, file, kind: 'positive', wanted, views, llmMock: null, parked: null }
  const modes: Mode[] = []
  let entered = 0
  const verdict = await runTest(one, [choice], {
    signal: new AbortController().signal,
    onMode: (mode) => modes.push(mode),
    onEntered: (count) => (entered += count),
  })
  return { verdict, modes, entered }
}

test('sample runs a script once, compiled from the journal of that run, and restored in one of two ways', async () => {
  const runs = await Promise.all(['a', 'b', 'c', 'd'].map((name) => runIn('sample', name, LOOP, '90300\n')))
  for (const { verdict, modes, entered } of runs) {
    expect(verdict).toBeNull()
    expect(modes.slice(0, 2)).toEqual(['base', 'compiled'])
    expect(entered).toBeGreaterThan(0)
  }
  expect([...new Set(runs.map(({ modes }) => modes[2]))].toSorted()).toEqual(['mixed', 'snapshot'])
})

test('sample reports the run in which a script diverged', async () => {
  // The replay reads the recorded value; the restored run reads it again.
  const source = 'let path = path_join(source_dir(), "here")\nprintln(file_exists(path))\nwrite_file(path, "")\n'
  const { verdict, modes } = await runIn('sample', 'leaves_a_file', source, 'false\n')
  expect(modes).toHaveLength(3)
  expect(verdict).toMatch(new RegExp(`^${modes[2]} mode: `))
  rmSync(join(folder, 'here'))
})

test('rest runs a script in the mode that sample leaves out', async () => {
  for (const name of ['a', 'b', 'c', 'd']) {
    const sample = await runIn('sample', name, LOOP, '90300\n')
    const rest = await runIn('rest', name, LOOP, '90300\n')
    expect(rest.verdict).toBeNull()
    expect([sample.modes[2], ...rest.modes].toSorted()).toEqual(['mixed', 'snapshot'])
  }
})
