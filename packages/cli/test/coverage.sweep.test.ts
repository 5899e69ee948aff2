// Counting does not change the behaviour of scripts: scripts of the suite, run with and without it, in either tier. Each run of the sweep takes
// the same eighth of them, because all take four minutes.

import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { CompileError, Coverage } from '@bridle/stdlib-tools'
import { LinkError } from '@bridle/vm'
import type { TierOptions } from '@bridle/vm'
import { expect, test } from 'vitest'
import { discover } from '../src/conformance/discover.js'
import type { ConformanceTest } from '../src/conformance/discover.js'
import { judge } from '../src/conformance/judge.js'
import type { Outcome } from '../src/conformance/judge.js'
import { makeCommandRuntime } from '../src/host.js'

const suite = join(fileURLToPath(new URL('../../..', import.meta.url)), 'conformance')
const EVERY = 8
const tests = [...discover(join(suite, 'tests')), ...discover(join(suite, 'errors'))].filter(
  ({ kind, parked }, at) => kind !== 'static' && parked === null && at % EVERY === 0,
)

async function runScript(each: ConformanceTest, coverage: Coverage | null, tier: TierOptions | null): Promise<Outcome> {
  const file = realpathSync(each.file)
  try {
    const runtime = makeCommandRuntime({
      terminal: false,
      script: file,
      standIns: 'script',
      runtime: { ...(each.llmMock === null ? {} : { modelFixtures: each.llmMock }), ...(coverage === null ? {} : { coverage }) },
    })
    const module = runtime.compile(readFileSync(file, 'utf8'), { file })
    const warnings = module.warnings.map(({ message }) => `warning: ${message}\n`).join('')
    const result = await runtime.start(module, { tier }).result
    if (result.status === 'failed') return { kind: 'failed', output: warnings + result.output, error: result.error.fault.text }
    return { kind: 'finished', output: warnings + result.output }
  } catch (cause) {
    if (cause instanceof CompileError || cause instanceof LinkError) return { kind: 'failed', output: '', error: cause.message }
    throw cause
  }
}

test.each([
  ['base', null],
  ['compiled', { calls: 0, turns: 0 }],
] as const)('%s tier', { timeout: 600_000 }, async (_, tier) => {
  const changed: string[] = []
  let counted = 0
  for (const each of tests) {
    const kind = each.kind === 'positive' ? 'positive' : 'negative'
    const coverage = new Coverage()
    const verdict = judge(kind, each.wanted, await runScript(each, coverage, tier))
    counted += coverage.report().length
    // Some scripts need the suite's runner: they are skipped.
    if (verdict !== null && judge(kind, each.wanted, await runScript(each, null, tier)) === null)
      changed.push(`${each.name}: ${verdict}`)
  }
  expect(changed).toEqual([])
  expect(counted).toBeGreaterThan(tests.length / 2)
})
