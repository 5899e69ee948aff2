// The SDK of OpenTelemetry, configured by its standard variables. The exporters read endpoints, headers, time limits, compression and
// certificates, the tracer reads samplers and span limits. The rest is read here: exporters, protocol, resource, the interval of
// metrics, and the context that this process was started in.

import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, diag, trace } from '@opentelemetry/api'
import type { Context, TextMapGetter } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { ERROR, Metrics, describeServedRequest, otelTrace } from '@bridle/stdlib-tools/otel'
import type { OtelMeter, OtelTracer } from '@bridle/stdlib-tools/otel'
import { complain } from '../printable.js'
import { VERSION } from '../version.js'
import { listExporters, readVariable } from './variables.js'
import type { Exporter, Signal, Telemetry } from './variables.js'

type Environment = NodeJS.ProcessEnv

export function startTelemetry(env: Environment): Telemetry {
  complainOnce()
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'bridle', 'service.version': VERSION }))
    .merge(detectResources({ detectors: [envDetector] }))
  const processors = listExporters(env, 'traces').flatMap((name) => makeProcessor(name, env))
  const readers = listExporters(env, 'metrics').flatMap((name) => makeReader(name, env))
  const tracers = new BasicTracerProvider({ resource, spanProcessors: processors })
  const meters = new MeterProvider({ resource, readers })
  const tracer = tracers.getTracer('bridle', VERSION) as OtelTracer<Context>
  const options = {
    context: readStartContext(env),
    setSpan: (context: Context, span: never) => trace.setSpan(context, span),
    propagate: isPropagated(env) ? (['http', 'mcp'] as const) : [],
    ...(readers.length === 0 ? {} : { meter: meters.getMeter('bridle', VERSION) as OtelMeter }),
  }
  const started = options.context
  const within = new AsyncLocalStorage<Context>()
  const metrics = options.meter === undefined ? null : new Metrics(options.meter)
  return {
    makeSink: () => otelTrace(tracer, { ...options, context: within.getStore() ?? started }),
    traceRequest: async (request, work, isFailed = () => false) => {
      const { name, kind, attributes } = describeServedRequest(request)
      const parent = new W3CTraceContextPropagator().extract(started, request.meta, {
        keys: (carrier) => Object.keys(carrier),
        get: (carrier, key) => carrier[key],
      })
      const startMs = Date.now()
      const span = tracer.startSpan(name, { kind, attributes, startTime: startMs }, parent)
      const fail = (code: string, message?: string): void => {
        attributes['error.type'] = code
        span.setAttribute('error.type', code)
        span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message }) })
      }
      try {
        const result = await within.run(trace.setSpan(parent, span as never), work)
        if (isFailed(result)) fail('tool_error')
        return result
      } catch (cause) {
        const { code } = cause as { readonly code?: unknown }
        fail(typeof code === 'number' ? String(code) : '_OTHER', cause instanceof Error ? cause.message : String(cause))
        throw cause
      } finally {
        span.end()
        metrics?.countRequest('server', attributes, Date.now() - startMs)
      }
    },
    close: async () => {
      // The exporter reports a collector that cannot be reached; the command does not fail.
      await Promise.allSettled([tracers.shutdown(), meters.shutdown()])
    },
  }
}

/** Reports the first problem; the others are usually the same. */
function complainOnce(): void {
  let isTold = false
  const tell = (message: string): void => {
    if (isTold) return
    isTold = true
    complain(`warning: OpenTelemetry: ${message}\n`)
  }
  diag.setLogger(
    { error: tell, warn: tell, info: () => {}, debug: () => {}, verbose: () => {} },
    { suppressOverrideMessage: true },
  )
}

function makeProcessor(name: Exporter, env: Environment): readonly SpanProcessor[] {
  if (name === 'console') return [new SimpleSpanProcessor(new ConsoleSpanExporter())]
  const exporter = makeByProtocol<SpanExporter>(
    env,
    'traces',
    () => new OTLPTraceExporter(),
    () => new JsonTraceExporter(),
  )
  return exporter === null ? [] : [new BatchSpanProcessor(exporter, readBatch(env))]
}

function makeReader(name: Exporter, env: Environment): readonly PeriodicExportingMetricReader[] {
  const exporter =
    name === 'console'
      ? new ConsoleMetricExporter()
      : makeByProtocol<PushMetricExporter>(
          env,
          'metrics',
          () => new OTLPMetricExporter(),
          () => new JsonMetricExporter(),
        )
  if (exporter === null) return []
  const exportIntervalMillis = readCount(env, 'OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000
  const exportTimeoutMillis = Math.min(readCount(env, 'OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000, exportIntervalMillis)
  return [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })]
}

/** Null for an unsupported protocol. */
function makeByProtocol<T>(env: Environment, signal: Signal, protobuf: () => T, json: () => T): T | null {
  const variable = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`
  const protocol = readVariable(env, variable) ?? readVariable(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf'
  if (protocol === 'http/protobuf') return protobuf()
  if (protocol === 'http/json') return json()
  diag.warn(`the protocol ${protocol} is not spoken; use http/protobuf or http/json. No ${signal} are sent`)
  return null
}

function readBatch(env: Environment): object {
  const settings = {
    scheduledDelayMillis: readCount(env, 'OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: readCount(env, 'OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: readCount(env, 'OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: readCount(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
}

function readCount(env: Environment, name: string): number | null {
  const value = Number(readVariable(env, name) ?? NaN)
  return Number.isSafeInteger(value) && value > 0 ? value : null
}

function isPropagated(env: Environment): boolean {
  const named = readVariable(env, 'OTEL_PROPAGATORS')
  return named === null || named.split(',').some((name) => name.trim() === 'tracecontext')
}

/** The parent process may have a span: TRACEPARENT and TRACESTATE. */
function readStartContext(env: Environment): Context {
  const getter: TextMapGetter<Environment> = {
    keys: (carrier) => Object.keys(carrier),
    get: (carrier, key) => carrier[key.toUpperCase()],
  }
  return new W3CTraceContextPropagator().extract(ROOT_CONTEXT, env, getter)
}
