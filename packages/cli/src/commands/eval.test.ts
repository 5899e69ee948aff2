// `bridle eval` over run records, folders, suites and packs: exit codes, lines, JSON, refusals.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { CommandError, UsageError } from '../errors.js'
import { evalCommand } from './eval.js'
import type { EvalFlags } from './eval.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-eval-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, content: unknown): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const makeRun = (id: string, status: string): object => ({
  _type: 'run_record',
  id,
  workflow_id: 'w',
  status,
  stages: [
    {
      id: `${id}:a:1`,
      node_id: 'a',
      status,
      outcome: status === 'completed' ? 'success' : 'error',
      visible_text: status === 'completed' ? 'all fine' : 'no',
    },
  ],
  usage: { input_tokens: 30, output_tokens: 20, total_duration_ms: 400, call_count: 1, total_cost: 0.25, models: ['m'] },
})

const good = write('runs/good.json', makeRun('good', 'completed'))
const bad = write('runs/bad.json', makeRun('bad', 'failed'))
write('strict.json', { expected_status: 'completed' })

async function evaluate(path: string, flags: EvalFlags = {}): Promise<readonly [number, string]> {
  let text = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((part) => ((text += String(part)), true))
  try {
    return [await evalCommand(path, flags), text.replaceAll(folder, 'DIR')]
  } finally {
    spy.mockRestore()
  }
}

test('a run against its own fixture, and against a baseline', async () => {
  expect(await evaluate(bad)).toEqual([0, 'PASS  DIR/runs/bad.json  bad  1 stage\n1 case: 1 passed, 0 failed\n'])
  expect(await evaluate(good, { compare: good })).toEqual([
    0,
    'PASS  DIR/runs/good.json  good  1 stage\n1 case: 1 passed, 0 failed\n',
  ])
  expect(await evaluate(bad, { compare: good })).toEqual([
    1,
    'FAIL  DIR/runs/bad.json  bad  1 stage\n      run differs from baseline DIR/runs/good.json with 1 stage changes\n1 case: 0 passed, 1 failed\n',
  ])
})

test('a folder stands for all its records, sorted by name', async () => {
  const [code, text] = await evaluate(dirname(good))
  expect([code, text.split('\n')]).toEqual([
    0,
    ['PASS  DIR/runs/bad.json   bad  1 stage', 'PASS  DIR/runs/good.json  good  1 stage', '2 cases: 2 passed, 0 failed', ''],
  ])
  mkdirSync(join(folder, 'empty'))
  await expect(evaluate(join(folder, 'empty'))).rejects.toThrow(CommandError)
})

test('paths of a suite are relative to its folder, and a failing case fails it', async () => {
  const suite = write('suite.json', {
    id: 's',
    cases: [
      { label: 'one', run_path: 'runs/good.json' },
      { label: 'strict', run_path: 'runs/bad.json', fixture_path: 'strict.json' },
    ],
  })
  const [code, text] = await evaluate(suite)
  expect(code).toBe(1)
  expect(text.split('\n')).toEqual([
    'PASS  one     good  1 stage',
    'FAIL  strict  bad  1 stage',
    '      run status mismatch: expected completed, got failed',
    '2 cases: 1 passed, 1 failed',
    '',
  ])
  const [, json] = await evaluate(suite, { json: true })
  expect(JSON.parse(json)).toMatchObject({
    kind: 'suite',
    path: 'DIR/suite.json',
    pass: false,
    total: 2,
    passed: 1,
    failed: 1,
    cases: [
      { label: 'one', pass: true },
      { label: 'strict', pass: false, failures: ['run status mismatch: expected completed, got failed'] },
    ],
  })
})

const PACK = `version = 1
id = "nightly"

[defaults]
fixture-root = "runs"
thresholds = { max-tokens = 100 }

[[fixtures]]
id = "saved"
kind = "run"
path = "good.json"

[[rubrics]]
id = "status"
kind = "deterministic"
assertions = [{ kind = "run-status", expected = "completed" }, { kind = "visible-text-contains", contains = "fine" }]

[[rubrics]]
id = "soft"
kind = "llm-judge"
thresholds = { severity = "warning" }

[[cases]]
id = "fits"
run = "saved"
rubrics = ["status", "soft"]

[[cases]]
name = "too dear"
run-path = "runs/good.json"
severity = "warning"
thresholds = { max-cost-usd = 0.1 }
`

test('a pack: rubrics, thresholds, severities; only blocking findings fail it', async () => {
  const pack = write('harn.eval.toml', PACK)
  const lines = [
    'WARN  fits      blocking  good  1 stage',
    "      rubric 'soft' requires an external LLM judge and was not run locally",
    'WARN  too dear  warning  good  1 stage',
    '      cost $0.250000 exceeds threshold $0.100000',
    '2 cases: 2 passed, 0 failed (0 blocking, 2 with warnings, 0 informational)',
    '',
  ]
  expect(await evaluate(pack)).toEqual([0, lines.join('\n')])
  // A folder with a pack is the pack.
  expect(await evaluate(folder)).toEqual([0, lines.join('\n')])
  const [, json] = await evaluate(pack, { json: true })
  expect(JSON.parse(json)).toMatchObject({ kind: 'pack', pack_id: 'nightly', pass: true, warning_failed: 2 })
  const strict = write('strict.toml', PACK.replace('severity = "warning"\n', ''))
  expect((await evaluate(strict))[0]).toBe(1)
})

test.each([
  ['no.toml', 'version = ', 'failed to parse eval pack TOML: '],
  ['list.toml', 'version = 1\ncases = 5', 'failed to parse eval pack TOML: cases must be a list, got int'],
  ['pack.json', '{"version": 1, "cases": {}}', 'failed to parse eval pack JSON: cases must be a list, got dict'],
  ['suite2.json', '{"cases": 1}', 'failed to parse eval suite manifest: cases must be a list, got int'],
  ['broken.json', '{', 'failed to parse run record: '],
  ['text.json', '"x"', 'failed to parse run record: expected an object, got string'],
  ['lost.json', '{"cases": [{"run_path": "nowhere.json"}]}', 'failed to read run record: '],
])('%s is refused', async (name, content, message) => {
  const refused = evaluate(write(`refused/${name}`, content))
  await expect(refused).rejects.toThrow(CommandError)
  await expect(refused).rejects.toThrow(message)
})

test('missing files, and baselines where none is allowed', async () => {
  await expect(evaluate(join(folder, 'none.json'))).rejects.toThrow(UsageError)
  await expect(evaluate(good, { compare: join(folder, 'none.json') })).rejects.toThrow(UsageError)
  const pack = write('other.toml', PACK)
  await expect(evaluate(pack, { compare: good })).rejects.toThrow('a pack names its baselines itself')
})
