// Whether runs of this process are exported to an OpenTelemetry collector, by the standard variables. Only then is the SDK loaded
// (sdk.ts).
//
// Nothing is sent unless a variable names an exporter or an endpoint: by default a command has no collector.

import { isSecretVariable, looksLikeKey } from '@bridle/stdlib-tools'
import type { TraceOptions } from '@bridle/stdlib-tools'
import type { Telemetry } from './variables.js'

export { isTelemetryAsked } from './variables.js'

let current: Telemetry | null = null

export async function openTelemetry(): Promise<void> {
  const { startTelemetry } = await import('./sdk.js')
  current = startTelemetry(process.env)
}

export async function closeTelemetry(): Promise<void> {
  const closing = current
  current = null
  await closing?.close()
}

/** Null without telemetry. */
export function traceRequests(): Telemetry['traceRequest'] | null {
  return current?.traceRequest ?? null
}

/** The same tracing with a sink for telemetry; unchanged without telemetry. */
export function withTelemetry(tracing: TraceOptions): TraceOptions {
  return current === null ? tracing : { ...tracing, sinks: [...tracing.sinks, current.makeSink()] }
}

/** Tracing for telemetry alone; null without it. */
export function makeTelemetryTracing(): ((runId: string) => TraceOptions) | null {
  return current === null ? null : () => withTelemetry({ sinks: [], redact: { secrets: listSecretValues() } })
}

/**
 * Values of variables that traces must not contain. Lent secrets (--secret) are redacted by value. Beside them only values that look like a
 * key: a path, an address or a word of a variable such as KEYBOARD is not redacted.
 */
export function listSecretValues(): readonly string[] {
  return Object.entries(process.env).flatMap(([name, value]) =>
    isSecretVariable(name) && value !== undefined && looksLikeKey(value) ? [value] : [],
  )
}
