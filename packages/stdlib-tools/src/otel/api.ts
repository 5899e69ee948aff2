// The part of `@opentelemetry/api` that is used here, so that nothing of OpenTelemetry is loaded.

export type AttributeValue = string | number | boolean | string[]

export interface Attributes {
  [name: string]: AttributeValue
}

export interface OtelSpan {
  setAttribute(name: string, value: AttributeValue): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  updateName?(name: string): unknown
  end(endTime?: number): void
  /** Needed for `propagate` only. */
  spanContext?(): {
    readonly traceId: string
    readonly spanId: string
    readonly traceFlags: number
    readonly traceState?: { serialize(): string } | undefined
  }
}

export interface OtelTracer<Context = unknown> {
  startSpan(
    name: string,
    options?: { readonly startTime?: number; readonly kind?: number; readonly attributes?: Readonly<Attributes> },
    context?: Context,
  ): OtelSpan
}

export interface OtelHistogram {
  record(value: number, attributes?: Readonly<Attributes>): void
}

export interface OtelCounter {
  add(value: number, attributes?: Readonly<Attributes>): void
}

export interface OtelMeter {
  /** Needed for `otelRuns` only. */
  createCounter?(name: string, options?: { readonly unit?: string; readonly description?: string }): OtelCounter
  createHistogram(
    name: string,
    options?: {
      readonly unit?: string
      readonly description?: string
      readonly advice?: { readonly explicitBucketBoundaries?: number[] }
    },
  ): OtelHistogram
}

/** SpanKind of OpenTelemetry. */
export const INTERNAL = 0
export const SERVER = 1
export const CLIENT = 2

/** SpanStatusCode of OpenTelemetry; without a failure the status is unset. */
export const ERROR = 2
