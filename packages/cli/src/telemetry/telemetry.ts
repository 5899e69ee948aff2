// Whether runs of this process are told to a collector of OpenTelemetry, as the standard variables say. The SDK is loaded for that only
// (sdk.ts).
//
// Nothing is sent unless a variable names an exporter or an endpoint: a command has no collector beside it by default.

import { isSecretVariable, looksLikeKey } from '@bridle/stdlib-tools'
import type { TraceOptions, TraceSink } from '@bridle/stdlib-tools'

/** A request of an MCP client. */
export interface ServedRequest {
  readonly method: string
  readonly tool?: string
  readonly prompt?: string
  readonly uri?: string
  /** With the context of the client, if it sent one. */
  readonly meta: { readonly [key: string]: string }
}

export interface Telemetry {
  /** A sink for one run; below the request within which it is made. */
  readonly makeSink: () => TraceSink
  /** Answers a request in a span of its own. */
  readonly traceRequest: <T>(request: ServedRequest, work: () => Promise<T>, isFailed?: (result: T) => boolean) => Promise<T>
  /** Sends what is left. */
  readonly close: () => Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

export type Signal = 'traces' | 'metrics'

export type Exporter = 'otlp' | 'console'

/** Where a signal goes; empty for nowhere. */
export function listExporters(env: Environment, signal: Signal): readonly Exporter[] {
  const upper = signal.toUpperCase()
  const named = readVariable(env, `OTEL_${upper}_EXPORTER`)
  if (named !== null)
    return named
      .split(',')
      .map((name) => name.trim())
      .filter((name): name is Exporter => name === 'otlp' || name === 'console')
  const endpoint = readVariable(env, `OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`) ?? readVariable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  return endpoint === null ? [] : ['otlp']
}

export function isTelemetryAsked(env: Environment): boolean {
  if (readVariable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false
  return listExporters(env, 'traces').length > 0 || listExporters(env, 'metrics').length > 0
}

/** An empty variable is one that is not set. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim() ?? ''
  return value === '' ? null : value
}

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

/** The same tracing with a sink for telemetry; as it is without telemetry. */
export function withTelemetry(tracing: TraceOptions): TraceOptions {
  return current === null ? tracing : { ...tracing, sinks: [...tracing.sinks, current.makeSink()] }
}

/** Tracing for telemetry alone; null without it. */
export function makeTelemetryTracing(): ((runId: string) => TraceOptions) | null {
  return current === null ? null : () => withTelemetry({ sinks: [], redact: { secrets: listSecretValues() } })
}

/**
 * Values of variables that no trace may have. Secrets that the host lends (--secret) are known by value. Beside them only what looks like a
 * key: a path, an address or a word that happens to stand in a variable such as KEYBOARD is taken out of no trace.
 */
export function listSecretValues(): readonly string[] {
  return Object.entries(process.env).flatMap(([name, value]) =>
    isSecretVariable(name) && value !== undefined && looksLikeKey(value) ? [value] : [],
  )
}
