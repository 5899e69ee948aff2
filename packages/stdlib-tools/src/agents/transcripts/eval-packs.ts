// Evaluations as data: manifests of packs (what an `eval_pack` declaration makes) and suites, and the metrics that a script
// reports about itself.

import { HarnDict, HarnList, builtin, display, failRuntime, family, makeScripts } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { makeTimeOrderedId } from '../../library/time/identity.js'
import { readRecord } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'
import { toJsonData } from '../../library/files/state-files.js'

const TEXT = { type: 'text' } as const

const SUITE: RecordShape = {
  id: TEXT,
  name: TEXT,
  base_dir: TEXT,
  cases: {
    type: 'records',
    name: 'EvalSuiteCase',
    shape: { label: TEXT, run_path: TEXT, fixture_path: TEXT, compare_to: TEXT },
  },
}

const metricState = family<{ readonly metrics: HarnDict[] }>('eval_metrics', () => ({ metrics: [] }))

const LISTS = ['cases', 'fixtures', 'rubrics']

const machine = makeScripts('eval.script', {
  *suite(payload) {
    const suite = readRecord(toJsonData(payload!), 'eval_suite_manifest', 'EvalSuiteManifest', SUITE)
    const id = suite.get('id') ?? `eval_suite_${yield* makeTimeOrderedId()}`
    return suite.with('_type', 'eval_suite_manifest').with('id', id)
  },
  *pack(payload) {
    const data = toJsonData(payload!)
    if (!(data instanceof HarnDict)) return failRuntime('eval_pack_manifest: payload must be a dict')
    const id = data.get('id') ?? null
    const manifest = data.with('_type', 'eval_pack_manifest').with('version', data.get('version') ?? 1)
    manifest.set('id', id === null ? `eval_pack_${yield* makeTimeOrderedId()}` : display(id))
    if (!manifest.has('name')) manifest.set('name', null)
    if (!manifest.has('metadata')) manifest.set('metadata', new HarnDict())
    for (const name of LISTS) if (!manifest.has(name)) manifest.set(name, new HarnList([]))
    return manifest
  },
})

const EFFECTS = { effects: ['clock.now', 'random.bytes'] as const }

export const evalPacksFamily: BuiltinFamily = {
  name: 'eval_packs',
  frames: [machine.frame],
  builtins: [
    builtin(
      'eval_pack_manifest(payload: dict) -> dict',
      { doc: 'The manifest of an evaluation pack with what it leaves open filled in.', ...EFFECTS },
      (ctx, payload) =>
        ctx.argc === 0 ? ctx.runtime('eval_pack_manifest: missing payload') : machine.start(ctx, 'pack', payload!),
    ),
    builtin(
      'eval_suite_manifest(payload: dict) -> dict',
      { doc: 'The manifest of an evaluation suite in its one shape.', ...EFFECTS },
      (ctx, payload) =>
        ctx.argc === 0 ? ctx.runtime('eval_suite_manifest: missing manifest payload') : machine.start(ctx, 'suite', payload!),
    ),
    builtin(
      'eval_metric(name: string, value: any, metadata?: dict) -> nil',
      { doc: 'Reports a figure about this run.', effects: [] },
      (ctx, name, value, metadata) => {
        if (ctx.argc === 0 || name === '') return ctx.runtime('eval_metric: missing name')
        if (ctx.argc === 1) return ctx.runtime('eval_metric: missing value')
        const metric = HarnDict.of({ name: display(name!), value: value! })
        ctx.charge(1, 64)
        ctx.state(metricState).metrics.push((metadata ?? null) === null ? metric : metric.with('metadata', metadata!))
        return null
      },
    ),
    builtin(
      'eval_metrics() -> list',
      { doc: 'The figures reported so far.', effects: [] },
      (ctx) => new HarnList([...ctx.state(metricState).metrics]),
    ),
  ],
}
