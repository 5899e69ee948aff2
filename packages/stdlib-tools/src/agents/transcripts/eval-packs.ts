// Evaluations as data: manifests of packs (what an `eval_pack` declaration makes) and suites, and the metrics that a script
// reports about itself.

import { builtinTaking, HarnDict, HarnList, builtin, family } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

const metricState = family<{ readonly metrics: HarnDict[] }>('eval_metrics', () => ({ metrics: [] }))

function runHarn(ctx: Context, name: string, payload: Value): Result {
  return ctx.library({ module: 'agents/workflows/evaluations', function: name, output: 'drop' }, [payload])
}

const EFFECTS = { effects: ['clock.now', 'random.bytes'] as const }

export const evalPacksFamily: BuiltinFamily = {
  name: 'eval_packs',
  modules: findHarnModule,
  builtins: [
    builtinTaking(
      'eval_pack_manifest(payload: dict) -> dict',
      { doc: 'The manifest of an evaluation pack with what it leaves open filled in.', ...EFFECTS },
      { raise: 'runtime', fewer: '{f}: missing payload' },
      (ctx, payload) => runHarn(ctx, 'eval_pack_manifest', payload),
    ),
    builtinTaking(
      'eval_suite_manifest(payload: dict) -> dict',
      { doc: 'The manifest of an evaluation suite in its one shape.', ...EFFECTS },
      { raise: 'runtime', fewer: '{f}: missing manifest payload' },
      (ctx, payload) => runHarn(ctx, 'eval_suite_manifest', payload),
    ),
    builtinTaking(
      'eval_metric(name: string, value: any, metadata?: dict) -> nil',
      { doc: 'Reports a figure about this run.', effects: [] },
      { raise: 'runtime', text: { name: '{f}: missing name' }, absent: { value: '{f}: missing value' } },
      (ctx, name, value, metadata) => {
        const metric = HarnDict.of({ name, value })
        ctx.charge(1, 64)
        ctx.state(metricState).metrics.push(metadata === null ? metric : metric.with('metadata', metadata))
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
