// The standard variables of OpenTelemetry, and the telemetry that they configure.

import type { TraceSink } from '@bridle/stdlib-tools'

/** A request of an MCP client. */
export interface ServedRequest {
  readonly method: string
  readonly tool?: string
  readonly prompt?: string
  readonly uri?: string
  /** Of the protocol. */
  readonly revision?: string
  readonly transport?: 'pipe' | 'tcp'
  /** With the context of the client, if it sent one. */
  readonly meta: { readonly [key: string]: string }
}

export interface Telemetry {
  /** A sink for one run; its spans are below the current request. */
  readonly makeSink: () => TraceSink
  /** Answers a request in its own span. */
  readonly traceRequest: <T>(request: ServedRequest, work: () => Promise<T>, isFailed?: (result: T) => boolean) => Promise<T>
  /** Sends the remaining data. */
  readonly close: () => Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

export type Signal = 'traces' | 'metrics'

export type Exporter = 'otlp' | 'console'

/** The exporters of a signal; empty for none. */
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

/** An empty variable counts as unset. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim() ?? ''
  return value === '' ? null : value
}
