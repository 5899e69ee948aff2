// Metrics of durable runs: commits of their store, how long runs of a tenant wait for a worker, what went wrong.

import type { WorkerMetric } from '../host/index.js'
import type { OtelMeter } from './api.js'

export interface RunMetrics {
  /** Of `openDurableStore`. */
  readonly onCommit: (ms: number, changes: number) => void
  /** Of a `DurableWorker`. */
  readonly onMetric: (metric: WorkerMetric) => void
}

const COMMIT_SECONDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1]
const QUEUE_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300]

/**
 * `const metrics = otelRuns(meter)`, `openDurableStore(file, { onCommit: metrics.onCommit })`,
 * `new DurableWorker({ …, onMetric: metrics.onMetric })`.
 */
export function otelRuns(meter: OtelMeter): RunMetrics {
  const makeHistogram = (name: string, description: string, boundaries: number[]) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: boundaries } })
  const commits = makeHistogram('bridle.runs.commit.duration', 'Duration of a commit of durable runs', COMMIT_SECONDS)
  const queued = makeHistogram('bridle.runs.queue.duration', 'How long a run was ready before a worker had room', QUEUE_SECONDS)
  const fenced = meter.createCounter?.('bridle.runs.fenced', { description: 'Commits of workers that had been given up' })
  const unknown = meter.createCounter?.('bridle.runs.unknown_outcomes', {
    description: 'Calls of which nobody knows whether they happened',
  })
  return {
    onCommit: (ms, changes) => commits.record(ms / 1000, { 'bridle.runs.changes': changes === 1 ? 'one' : 'several' }),
    onMetric(metric) {
      switch (metric.kind) {
        case 'queued':
          return queued.record(metric.ms / 1000, { 'bridle.tenant': metric.tenant })
        case 'fenced':
          return fenced?.add(1)
        case 'unknown_outcome':
          return unknown?.add(1, { 'bridle.tool': metric.tool })
      }
    },
  }
}
