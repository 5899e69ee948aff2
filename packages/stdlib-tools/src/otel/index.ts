// `@bridle/stdlib-tools/otel`: traces as OpenTelemetry spans. The host passes its own tracer, so nothing of OpenTelemetry is loaded
// here: the types below are the part of `@opentelemetry/api` that is used. A run is a span; a call becomes one as soon as the call
// at the top of it has ended, with those within it as children, at the times at which they really were.
//
//   const sink = otelTrace(trace.getTracer('my-host'), { context: context.active(), setSpan: trace.setSpan })
//   createRuntime({ tracing: { sinks: [sink] } })
//
// Names and attributes follow the semantic conventions for generative AI, `execute_tool`.

import type { TraceEvent } from '../trace/event.js'
import type { TraceSink } from '../trace/recorder.js'

type AttributeValue = string | number | boolean

export interface OtelSpan {
  setAttribute(name: string, value: AttributeValue): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  end(endTime?: number): void
}

export interface OtelTracer<Context = unknown> {
  startSpan(
    name: string,
    options?: { readonly startTime?: number; readonly attributes?: { readonly [name: string]: AttributeValue } },
    context?: Context,
  ): OtelSpan
}

export interface OtelOptions<Context = unknown> {
  /** The context in which the run's span begins. */
  readonly context?: Context
  /** `trace.setSpan` of `@opentelemetry/api`; without it spans have no parents. */
  readonly setSpan?: (context: Context, span: never) => Context
}

/** SpanStatusCode of OpenTelemetry. */
const OK = 1
const ERROR = 2

export function otelTrace<Context = unknown>(tracer: OtelTracer<Context>, options: OtelOptions<Context> = {}): TraceSink {
  let run: OtelSpan | null = null
  /** Calls that ended before the call around them, by its id. */
  const inner = new Map<string, TraceEvent[]>()

  const within = (span: OtelSpan, context: Context | undefined): Context | undefined =>
    options.setSpan === undefined || context === undefined ? context : options.setSpan(context, span as never)

  const emit = (event: TraceEvent, context: Context | undefined): void => {
    const details = event.details ?? {}
    const endMs = Date.parse(event.timestamp)
    const name = String(details['name'])
    const span = tracer.startSpan(
      `execute_tool ${name}`,
      { startTime: endMs - (event.latency_ms ?? 0), attributes: attributesOf(event) },
      context,
    )
    const id = String(details['call_id'])
    for (const child of inner.get(id) ?? []) emit(child, within(span, context))
    inner.delete(id)
    if (details['success'] === true) span.setStatus({ code: OK })
    else {
      const error = details['error'] as { readonly code: string; readonly message: string }
      span.setAttribute('error.type', error.code)
      span.setStatus({ code: ERROR, message: error.message })
    }
    span.end(endMs)
  }

  return {
    append(event) {
      switch (event.kind) {
        case 'run_start':
          run = tracer.startSpan(
            'invoke_script',
            {
              startTime: Date.parse(event.timestamp),
              attributes: {
                'bridle.run.id': event.run_id ?? '',
                'bridle.script': String(event.details?.['file'] ?? ''),
                'bridle.doc_hash': event.doc_hash,
              },
            },
            options.context,
          )
          return
        case 'tool_call': {
          const parent = event.details?.['parent']
          if (typeof parent === 'string') inner.set(parent, [...(inner.get(parent) ?? []), event])
          else emit(event, run === null ? options.context : within(run, options.context))
          return
        }
        case 'error':
          run?.setStatus({ code: ERROR, message: event.message ?? '' })
          return
        case 'run_end':
          // A call that never ended has left its inner calls here.
          for (const events of inner.values())
            for (const each of events) emit(each, run === null ? options.context : within(run, options.context))
          inner.clear()
          run?.end(Date.parse(event.timestamp))
          run = null
      }
    },
  }
}

function attributesOf(event: TraceEvent): { readonly [name: string]: AttributeValue } {
  const details = event.details ?? {}
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': event.tool_id ?? '',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': String(details['call_id']),
    'bridle.tool.alias': String(details['name']),
    'bridle.tool.executor': String(details['executor']),
    'bridle.tool.attempts': Number(details['attempts'] ?? 1),
    'bridle.trace.seq': event.seq,
    'bridle.trace.hash': event.hash,
    ...(event.tool_version === undefined ? {} : { 'bridle.tool.version': event.tool_version }),
    ...(event.inputs_hash === undefined ? {} : { 'bridle.inputs_hash': event.inputs_hash }),
    ...(event.outputs_hash === undefined ? {} : { 'bridle.outputs_hash': event.outputs_hash }),
  }
}
