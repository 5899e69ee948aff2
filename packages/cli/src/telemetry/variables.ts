// What the standard variables of OpenTelemetry ask for, and what telemetry gives when they do.

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
  /** A sink for one run; below the request within which it is made. */
  readonly makeSink: () => TraceSink
  /** Answers a request in a span of its own. */
  readonly traceRequest: <T>(request: ServedRequest, work: () => Promise<T>, isFailed?: (result: T) => boolean) => Promise<T>
  /** Sends what is left. */
  readonly close: () => Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

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
