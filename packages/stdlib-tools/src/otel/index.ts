// `@bridle/stdlib-tools/otel`: runs as trees of OpenTelemetry spans, while they go on, and metrics of their calls. The host passes its own
// tracer and meter, so nothing of OpenTelemetry is loaded here (api.ts).
//
//   const sink = otelTrace(trace.getTracer('my-host'), { context: context.active(), setSpan: trace.setSpan, meter: metrics.getMeter('my-host') })
//   createRuntime({ tracing: () => ({ sinks: [sink] }) })
//
//   invoke_workflow FILE              the run
//     invoke_agent                    an agent loop
//       agent_turn N                  one of its turns
//         chat MODEL                  a call of a model (embeddings MODEL)
//         execute_tool NAME           a call of a tool, or of the world by a builtin (execute_tool http.get)
//           attempt N                 one try of a tool outside the script; tools/call NAME where that is a tool of an MCP server
//     tools/call NAME                 a request of an MCP server: its method, and the tool or prompt
//     task NAME                       a task, below the work that started it
//
// Names and attributes follow the semantic conventions (conventions.ts, metrics.ts). A sink is for one run at a time: make one in `tracing`.

import type { SpanMark } from '@bridle/vm'
import type { CallFacts } from '../host/trace/call-facts.js'
import type { TraceEvent } from '../host/trace/event.js'
import type { TraceSink } from '../host/trace/recorder.js'
import { ERROR, INTERNAL } from './api.js'
import type { Attributes, OtelMeter, OtelSpan, OtelTracer } from './api.js'
import { describeConnection, describeLateCall, describeMark, describeOutcome } from './conventions.js'
import type { Begin, SpanStart } from './conventions.js'
import { Metrics } from './metrics.js'

export { ERROR } from './api.js'
export { describeServedRequest } from './conventions.js'
export { Metrics } from './metrics.js'
export { otelRuns } from './runs.js'
export type { RunMetrics } from './runs.js'
export type { OtelCounter, OtelHistogram, OtelMeter, OtelSpan, OtelTracer } from './api.js'

export interface OtelOptions<Context = unknown> {
  /** The context in which the run's span begins. */
  readonly context?: Context
  /** `trace.setSpan` of `@opentelemetry/api`; without it spans have no parents. */
  readonly setSpan?: (context: Context, span: never) => Context
  /** Where durations and tokens are counted; nowhere when absent. */
  readonly meter?: OtelMeter
  /**
   * Whom the context is sent to, as W3C Trace Context: `http`, the header `traceparent` of requests; `mcp`, the key of that name in `_meta`
   * of requests to servers. None by default, because it reveals which requests belong together.
   */
  readonly propagate?: readonly ('http' | 'mcp')[]
}

/** Work that is under way. */
interface Open {
  readonly span: OtelSpan
  readonly work: SpanMark['work']
  readonly id: string | null
  readonly startMs: number
  readonly attributes: Attributes
  /** Whether it is known how it ended. */
  settled: boolean
}

interface Session {
  readonly attributes: Attributes
  readonly startMs: number
}

export function otelTrace<Context = unknown>(tracer: OtelTracer<Context>, options: OtelOptions<Context> = {}): TraceSink {
  return new OtelSink(tracer, options)
}

class OtelSink<Context> implements TraceSink {
  private readonly tracer: OtelTracer<Context>
  private readonly options: OtelOptions<Context>
  private readonly metrics: Metrics | null
  private run: OtelSpan | null = null
  /** By task, outermost first; a task's own span is the first of its stack. */
  private readonly stacks = new Map<number, Open[]>()
  /** What is known of MCP servers since their handshakes, by their names. */
  private readonly servers = new Map<string, Attributes>()
  /** Connections to MCP servers, by their names. */
  private readonly sessions = new Map<string, Session>()

  constructor(tracer: OtelTracer<Context>, options: OtelOptions<Context>) {
    this.tracer = tracer
    this.options = options
    this.metrics = options.meter === undefined ? null : new Metrics(options.meter)
  }

  mark(mark: SpanMark): void {
    if (mark.at === 'begin') this.begin(mark)
    else this.end(mark)
  }

  append(event: TraceEvent, facts?: CallFacts): void {
    const endMs = Date.parse(event.timestamp)
    switch (event.kind) {
      case 'run_start':
        this.startRun(event, endMs)
        return
      case 'tool_call':
        this.finishCall(event, endMs, facts ?? { model: null, isToolError: false })
        return
      case 'error':
        this.run?.setAttribute('error.type', 'execution_failed')
        this.run?.setStatus({ code: ERROR, message: event.message ?? '' })
        return
      case 'run_end':
        for (const stack of this.stacks.values()) this.cut(stack, 0, endMs)
        this.stacks.clear()
        for (const server of this.sessions.keys()) this.endSession(server, endMs)
        this.run?.end(endMs)
        this.run = null
    }
  }

  contextOf(id: string, to: 'http' | 'mcp'): { readonly [header: string]: string } | null {
    if (this.options.propagate?.includes(to) !== true) return null
    const span = this.findOpen(id)?.span ?? this.run
    const context = span?.spanContext?.()
    if (context === undefined) return null
    const flags = (context.traceFlags & 0xff).toString(16).padStart(2, '0')
    const state = context.traceState?.serialize() ?? ''
    return { traceparent: `00-${context.traceId}-${context.spanId}-${flags}`, ...(state === '' ? {} : { tracestate: state }) }
  }

  private startRun(event: TraceEvent, startTime: number): void {
    const path = String(event.details?.['file'] ?? '')
    const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    const attributes = {
      'gen_ai.operation.name': 'invoke_workflow',
      ...(file === '' ? {} : { 'gen_ai.workflow.name': file, 'bridle.script': path }),
      'bridle.run.id': event.run_id ?? '',
      'bridle.doc_hash': event.doc_hash,
    }
    const name = file === '' ? 'invoke_workflow' : `invoke_workflow ${file}`
    this.run = this.tracer.startSpan(name, { startTime, kind: INTERNAL, attributes }, this.options.context)
  }

  private begin(mark: Begin): void {
    const { work, id, task, ms } = mark
    const stack = this.getStack(task)
    // A turn ends where the next one begins.
    if (work === 'agent_turn') this.closeTurn(stack, ms)
    const above = work === 'task' ? this.getStack(mark.parentTask ?? 0) : stack
    const start = describeMark(mark)
    if (work === 'agent_turn') setMissing(above.at(-1), 'gen_ai.conversation.id', start.attributes)
    const { span, attributes } = this.open(start, ms, above)
    stack.push({ span, work, id, startMs: ms, attributes, settled: false })
  }

  /** Below the last of `above`; a call of a model belongs to the conversation of its agent. */
  private open(
    { name, kind, attributes }: SpanStart,
    startTime: number,
    above: readonly Open[],
  ): Pick<Open, 'span' | 'attributes'> {
    const agent = this.findAgent(above)
    if (agent !== undefined && isModelCall(attributes)) {
      const conversation = agent.attributes['gen_ai.conversation.id']
      if (conversation !== undefined) attributes['gen_ai.conversation.id'] ??= conversation
      for (const key of ['gen_ai.provider.name', 'gen_ai.request.model']) setMissing(agent, key, attributes)
    }
    Object.assign(attributes, this.servers.get(String(attributes['bridle.mcp.server'])))
    const span = this.tracer.startSpan(
      name,
      { startTime, kind, attributes },
      this.makeSpanContext(above.at(-1)?.span ?? this.run),
    )
    return { span, attributes }
  }

  private findAgent(stack: readonly Open[]): Open | undefined {
    return stack.findLast(({ work }) => work === 'agent_loop')
  }

  private end({ work, id, task, ms, failure, facts }: Extract<SpanMark, { at: 'end' }>): void {
    const stack = this.getStack(task)
    const at = stack.findLastIndex((open) => open.work === work && open.id === id)
    // Begun before a restore: its span went with the process that had it.
    if (at < 0) return
    const open = stack[at]!
    if (!open.settled && failure !== undefined) fail(open, failure)
    else if (!open.settled && work === 'tool_call') fail(open, 'cancelled', 'the call was given up')
    if (facts !== undefined && open.attributes['mcp.method.name'] === 'initialize') {
      const known = describeConnection(facts)
      this.servers.set(String(open.attributes['bridle.mcp.server']), known)
      for (const [name, value] of Object.entries(known)) setAttribute(open, name, value)
    }
    this.countRequest(open, ms)
    this.cut(stack, at, ms)
    if (work === 'task') this.stacks.delete(task)
  }

  private countRequest({ attributes, startMs }: Open, ms: number): void {
    const method = attributes['mcp.method.name']
    if (method === undefined) return
    this.metrics?.countRequest('client', attributes, ms - startMs)
    const server = String(attributes['bridle.mcp.server'])
    if (method === 'initialize' && attributes['error.type'] === undefined && !this.sessions.has(server))
      this.sessions.set(server, { attributes, startMs: ms })
    else if (method === 'close') this.endSession(server, ms)
  }

  private endSession(server: string, ms: number): void {
    const session = this.sessions.get(server)
    if (session === undefined) return
    this.sessions.delete(server)
    this.metrics?.countSession(session.attributes, ms - session.startMs)
  }

  /** The end of a call: of the span open under its id, or of a call without a start mark. */
  private finishCall(event: TraceEvent, endMs: number, { model, isToolError }: CallFacts): void {
    const details = event.details ?? {}
    const known = this.findOpen(String(details['call_id']))
    const above = this.findStackAbove(event)
    const startMs = known?.startMs ?? endMs - (event.latency_ms ?? 0)
    const start = describeLateCall(event, model)
    const outcome = describeOutcome(event, model)
    const open: Open =
      known ??
      ({
        ...this.open({ ...start, attributes: { ...start.attributes, ...outcome } }, startMs, above),
        work: 'effect',
        id: null,
        startMs,
        settled: true,
      } satisfies Open)
    if (known !== null) {
      known.settled = true
      for (const [name, value] of Object.entries(outcome)) setAttribute(known, name, value)
    }
    if (details['success'] !== true) {
      const error = details['error'] as { readonly code: string; readonly message: string }
      fail(open, error.code, error.message)
    } else if (isToolError) fail(open, 'tool_error')
    if (model !== null) this.countModelCall(open, event, endMs)
    if (known === null) open.span.end(endMs)
  }

  private countModelCall({ attributes, startMs }: Open, event: TraceEvent, endMs: number): void {
    // A refused or cached call made no request.
    if (event.details?.['denied'] === true || event.cached === true) return
    this.metrics?.countModelCall(attributes, endMs - startMs)
    const agent = this.findAgent(this.findStackAbove(event))
    if (agent === undefined) return
    for (const key of ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens']) {
      const count = attributes[key]
      if (typeof count === 'number') setAttribute(agent, key, Number(agent.attributes[key] ?? 0) + count)
    }
  }

  /** Work around a call, the innermost last. */
  private findStackAbove({ details }: TraceEvent): readonly Open[] {
    const stack = this.getStack(Number(details?.['task'] ?? 0))
    const parent = String(details?.['parent'] ?? '')
    for (const each of this.stacks.values()) {
      const at = each.findLastIndex((open) => open.id === parent)
      if (at >= 0) return each === stack ? stack : each.slice(0, at + 1)
    }
    return stack
  }

  private makeSpanContext(span: OtelSpan | null): Context | undefined {
    const { context, setSpan } = this.options
    return span === null || setSpan === undefined || context === undefined ? context : setSpan(context, span as never)
  }

  private getStack(task: number): Open[] {
    let stack = this.stacks.get(task)
    if (stack === undefined) this.stacks.set(task, (stack = []))
    return stack
  }

  private findOpen(id: string): Open | null {
    for (const stack of this.stacks.values()) {
      const found = stack.findLast((open) => open.id === id)
      if (found !== undefined) return found
    }
    return null
  }

  private closeTurn(stack: Open[], ms: number): void {
    const at = stack.findLastIndex(({ work }) => work === 'agent_turn' || work === 'agent_loop')
    if (at >= 0 && stack[at]!.work === 'agent_turn') this.cut(stack, at, ms)
  }

  /** Ends what is at or above a place of a stack, innermost first. */
  private cut(stack: Open[], from: number, ms: number): void {
    while (stack.length > from) stack.pop()!.span.end(ms)
  }
}

function isModelCall(attributes: Attributes): boolean {
  const operation = attributes['gen_ai.operation.name']
  return operation === 'chat' || operation === 'embeddings'
}

function setAttribute({ span, attributes }: Open, name: string, value: Attributes[string]): void {
  attributes[name] = value
  span.setAttribute(name, value)
}

function setMissing(open: Open | undefined, name: string, from: Attributes): void {
  const value = from[name]
  if (open !== undefined && value !== undefined && open.attributes[name] === undefined) setAttribute(open, name, value)
}

function fail(open: Open, code: string, message?: string): void {
  open.settled = true
  setAttribute(open, 'error.type', code)
  open.span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message }) })
}
