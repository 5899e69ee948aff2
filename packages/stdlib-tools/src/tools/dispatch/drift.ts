// Drift of results: what a tool gave against the shape that it declares and the one that a lock file pinned. A tool
// says how to react to breaking drift (key `drift` of its entry), else the host does: `ignore`, `warn` (a report, and the value
// passes), `fail` (the call fails with `schema_drift`), `quarantine` (so do all later calls, until the script acknowledges it). Reports
// and quarantine are state of the run; `std/drift` reads them.

import { HarnDict, HarnFloat, HarnList, builtin, display, family, fromPlain, toPlain } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Plain, Value } from '@bridle/vm/families'
import {
  compareShapes,
  formatDrift,
  readShape,
  readSchemaShape,
  inferShape,
  showShape,
} from '../../library/formats/data-shapes.js'
import type { Drift, Shape } from '../../library/formats/data-shapes.js'
import { DRIFT_WATCH } from '../host-slots.js'
import type { DriftReaction } from '../host-slots.js'

/** Reports that a run keeps; older ones go. */
const MAX_REPORTS = 100

const driftState = family('drift', (): { reports: Value[]; quarantined: Map<string, string> } => ({
  reports: [],
  quarantined: new Map(),
}))

function isReaction(text: string | null): text is DriftReaction {
  return text === 'ignore' || text === 'warn' || text === 'fail' || text === 'quarantine'
}

/** Why a tool is not called any more, or null. */
export function findQuarantine(ctx: Context, tool: string): string | null {
  const line = ctx.state(driftState).quarantined.get(tool)
  return line === undefined
    ? null
    : `Tool '${tool}' is in quarantine, because its results changed: ${line}. drift_acknowledge("${tool}") of std/drift ends that`
}

/** Looks at a result; the report when it refuses the call. */
export function checkDrift(
  ctx: Context,
  call: {
    readonly tool: string
    /** What its entry says. */
    readonly reaction: string | null
    /** How lock files name it. */
    readonly key: () => string
    readonly schema: Value
  },
  value: Value,
): { readonly line: string; readonly report: HarnDict } | null {
  const watch = ctx.machine.hostData(DRIFT_WATCH)
  const reaction = isReaction(call.reaction) ? call.reaction : (watch?.onBreaking ?? 'ignore')
  if (reaction === 'ignore') return null
  const pinned = readShape(watch?.shapes.get(call.key()))
  const expected = [pinned, call.schema === null ? null : readSchemaShape(call.schema)].filter((shape) => shape !== null)
  if (expected.length === 0) return null
  const actual = inferShape(value)
  const drifts = removeDuplicates(expected.flatMap((shape) => compareShapes(shape, actual, { observed: true })))
  if (drifts.length === 0) return null
  const state = ctx.state(driftState)
  const report = makeReport(call.tool, Math.trunc(ctx.now), drifts)
  ctx.charge(drifts.length, drifts.length * 256)
  state.reports.push(report)
  if (state.reports.length > MAX_REPORTS) state.reports.shift()
  const worst = drifts.find(({ severity }) => severity === 'Breaking')
  if (worst === undefined || reaction === 'warn') return null
  const line = formatDrift(worst)
  if (reaction === 'quarantine') state.quarantined.set(call.tool, line)
  return { line, report }
}

/** The pinned and the declared shape mostly say the same. */
function removeDuplicates(drifts: readonly Drift[]): Drift[] {
  const seen = new Set<string>()
  return drifts.filter((drift) => {
    const line = formatDrift(drift)
    if (seen.has(line)) return false
    seen.add(line)
    return true
  })
}

function makeReport(name: string, timestampMs: number, drifts: readonly Drift[]): HarnDict {
  return HarnDict.of({
    schema_name: name,
    timestamp_ms: timestampMs,
    has_breaking: drifts.some(({ severity }) => severity === 'Breaking'),
    drifts: new HarnList(
      drifts.map((drift) => {
        const { kind, severity, path, expected, actual, similarity } = drift
        const dict = HarnDict.of({ kind, severity, path, expected, actual, text: formatDrift(drift) })
        if (similarity !== undefined) dict.set('similarity', new HarnFloat(similarity))
        return dict
      }),
    ),
  })
}

const SHAPE_KEYS = ['list', 'map', 'optional', 'union', 'record']

/** A shape as data, else a schema. */
function readExpectedShape(given: Value): Shape {
  if (given instanceof HarnDict && given.size === 1 && SHAPE_KEYS.some((key) => given.has(key)))
    return readShape(toPlain(given)) ?? 'Any'
  if (typeof given === 'string' && /^[A-Z]/.test(given)) return given
  return readSchemaShape(given)
}

/** The shape of results by an output schema, for lock files; null without one. */
export function readOutputShape(schema: Plain): unknown {
  const shape = readSchemaShape(fromPlain(schema))
  return schema === null || shape === 'Any' ? null : shape
}

/** What changed from one pinned shape to another, one line each, and whether it breaks callers. */
export function comparePinned(before: unknown, now: unknown): { readonly lines: readonly string[]; readonly breaking: boolean } {
  const drifts = compareShapes(readShape(before) ?? 'Any', readShape(now) ?? 'Any')
  return { lines: drifts.map(formatDrift), breaking: drifts.some(({ severity }) => severity === 'Breaking') }
}

export const toolDriftFamily: BuiltinFamily = {
  name: 'tool-drift',
  builtins: [
    builtin(
      '__drift_report(expected: any, value: any, name: string, unparseable?: string) -> dict',
      { doc: 'How a value differs from an expected shape or schema.', effects: [] },
      (ctx, expected, value, name, unparseable) => {
        const shape = readExpectedShape(expected ?? null)
        const drifts =
          typeof unparseable === 'string'
            ? [
                {
                  kind: 'TypeMismatch',
                  severity: 'Breaking',
                  path: 'root',
                  expected: showShape(shape),
                  actual: `unparseable: ${unparseable}`,
                } satisfies Drift,
              ]
            : compareShapes(shape, inferShape(value ?? null))
        return makeReport(display(name ?? ''), Math.trunc(ctx.now), drifts)
      },
    ),
    builtin('__shape_of(value: any) -> any', { doc: 'The shape of a value, as data.', effects: [] }, (_ctx, value) =>
      fromPlain(inferShape(value ?? null) as Plain),
    ),
    builtin('__shape_text(shape: any) -> string', { doc: 'A shape or schema as text.', effects: [] }, (_ctx, shape) =>
      showShape(readExpectedShape(shape ?? null)),
    ),
    builtin('__drift_reports() -> list', { doc: 'Reports on results of this run, oldest first.', effects: [] }, (ctx) => {
      const { reports } = ctx.state(driftState)
      ctx.charge(reports.length, reports.length * 16)
      return new HarnList([...reports])
    }),
    builtin(
      '__drift_acknowledge(tool: string) -> bool',
      { doc: 'Ends the quarantine of a tool; whether it was in one.', effects: [] },
      (ctx, tool) => ctx.state(driftState).quarantined.delete(display(tool ?? null)),
    ),
  ],
}
