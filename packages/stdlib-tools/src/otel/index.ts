// `@bridle/stdlib-tools/otel`: runs as trees of OpenTelemetry spans, while they go on. The host passes its own tracer, so nothing of
// OpenTelemetry is loaded here: the types below are the part of `@opentelemetry/api` that is used.
//
//   const sink = otelTrace(trace.getTracer('my-host'), { context: context.active(), setSpan: trace.setSpan })
//   createRuntime({ tracing: () => ({ sinks: [sink] }) })
//
//   invoke_script                     the run
//     invoke_agent                    an agent loop
//       agent_turn N                  one of its turns
//         chat MODEL                  a call of a model
//         execute_tool NAME           a call of a tool, or of the world by a builtin (execute_tool http.get)
//           attempt N                 one try of a tool outside the script
//     task NAME                       a task, below the work that started it
//
// Names and attributes follow the semantic conventions for generative AI. A sink is for one run at a time: make one in `tracing`.

import type { SpanMark } from '@bridle/vm'
import type { TraceEvent } from '../host/trace/event.js'
import type { TraceSink } from '../host/trace/recorder.js'

type AttributeValue = string | number | boolean

export interface OtelSpan {
  setAttribute(name: string, value: AttributeValue): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  end(endTime?: number): void
  /** Needed for `propagate` only. */
  spanContext?(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }
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
  /**
   * Whom the context is sent to, as W3C Trace Context: `http`, the header `traceparent` of requests; `mcp`, the key of that name in `_meta`
   * of what servers are asked. Nobody by default: it tells others that requests belong together.
   */
  readonly propagate?: readonly ('http' | 'mcp')[]
}

/** SpanStatusCode of OpenTelemetry. */
const OK = 1
const ERROR = 2

type Begin = Extract<SpanMark, { at: 'begin' }>

/** Work that is under way. */
interface Open {
  readonly span: OtelSpan
  readonly work: SpanMark['work']
  readonly id: string | null
  readonly startMs: number
  /** Whether its status is set. */
  settled: boolean
}

export function otelTrace<Context = unknown>(tracer: OtelTracer<Context>, options: OtelOptions<Context> = {}): TraceSink {
  return new OtelSink(tracer, options)
}

class OtelSink<Context> implements TraceSink {
  private readonly tracer: OtelTracer<Context>
  private readonly options: OtelOptions<Context>
  private run: OtelSpan | null = null
  /** By task, outermost first; a task's own span is the first of its stack. */
  private readonly stacks = new Map<number, Open[]>()

  constructor(tracer: OtelTracer<Context>, options: OtelOptions<Context>) {
    this.tracer = tracer
    this.options = options
  }

  mark(mark: SpanMark): void {
    if (mark.at === 'begin') this.begin(mark)
    else this.end(mark)
  }

  append(event: TraceEvent): void {
    const endMs = Date.parse(event.timestamp)
    switch (event.kind) {
      case 'run_start': {
        const attributes = {
          'bridle.run.id': event.run_id ?? '',
          'bridle.script': String(event.details?.['file'] ?? ''),
          'bridle.doc_hash': event.doc_hash,
        }
        this.run = this.tracer.startSpan('invoke_script', { startTime: endMs, attributes }, this.options.context)
        return
      }
      case 'tool_call':
        this.finishCall(event, endMs)
        return
      case 'error':
        this.run?.setStatus({ code: ERROR, message: event.message ?? '' })
        return
      case 'run_end':
        for (const stack of this.stacks.values()) this.cut(stack, 0, endMs)
        this.stacks.clear()
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
    return { traceparent: `00-${context.traceId}-${context.spanId}-${flags}` }
  }

  private begin(mark: Begin): void {
    const { work, id, task, ms } = mark
    const stack = this.getStack(task)
    // A turn ends where the next one begins.
    if (work === 'agent_turn') this.closeTurn(stack, ms)
    const above = work === 'task' ? this.getStack(mark.parentTask ?? 0) : stack
    const span = this.tracer.startSpan(
      formatTitle(mark),
      { startTime: ms, attributes: makeMarkAttributes(mark) },
      this.makeSpanContext(above.at(-1)?.span ?? this.run),
    )
    stack.push({ span, work, id, startMs: ms, settled: false })
  }

  private end({ work, id, task, ms, failure }: Extract<SpanMark, { at: 'end' }>): void {
    const stack = this.getStack(task)
    const at = stack.findLastIndex((open) => open.work === work && open.id === id)
    // Begun before a restore: its span went with the process that had it.
    if (at < 0) return
    const open = stack[at]!
    if (!open.settled && failure !== undefined) {
      open.settled = true
      open.span.setAttribute('error.type', failure)
      open.span.setStatus({ code: ERROR })
    } else if (!open.settled && work === 'tool_call') {
      open.span.setAttribute('error.type', 'cancelled')
      open.span.setStatus({ code: ERROR, message: 'the call was given up' })
    }
    this.cut(stack, at, ms)
    if (work === 'task') this.stacks.delete(task)
  }

  /** What came out of a call: of the one that is open under its id, or of one of which nothing was told before. */
  private finishCall(event: TraceEvent, endMs: number): void {
    const details = event.details ?? {}
    const open = this.findOpen(String(details['call_id']))
    const attributes = makeAttributes(event)
    if (open !== null) {
      open.settled = true
      for (const [name, value] of Object.entries(attributes)) open.span.setAttribute(name, value)
      settle(open.span, event)
      return
    }
    const above = this.findOpen(String(details['parent'] ?? ''))?.span ?? this.getStack(Number(details['task'] ?? 0)).at(-1)?.span
    const startTime = endMs - (event.latency_ms ?? 0)
    const span = this.tracer.startSpan(
      formatEventTitle(event),
      { startTime, attributes },
      this.makeSpanContext(above ?? this.run),
    )
    settle(span, event)
    span.end(endMs)
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

function settle(span: OtelSpan, { details }: TraceEvent): void {
  if (details?.['success'] === true) {
    span.setStatus({ code: OK })
    return
  }
  const error = details?.['error'] as { readonly code: string; readonly message: string }
  span.setAttribute('error.type', error.code)
  span.setStatus({ code: ERROR, message: error.message })
}

function formatTitle({ work, name }: Begin): string {
  switch (work) {
    case 'agent_loop':
      return 'invoke_agent'
    case 'task':
      return `task ${name}`
    case 'tool_call':
      return `execute_tool ${name}`
    case 'effect':
      return name === 'llm.chat' ? 'chat' : name.startsWith('mcp ') ? name : `execute_tool ${name}`
    default:
      return name
  }
}

function formatEventTitle({ tool_id: tool, details }: TraceEvent): string {
  if (tool !== 'llm.chat') return `execute_tool ${String(details?.['name'])}`
  const model = readModel(details)
  return model === null ? 'chat' : `chat ${model}`
}

function readModel(details: TraceEvent['details']): string | null {
  const args = details?.['args']
  const model = typeof args === 'object' && args !== null && 'model' in args ? args['model'] : null
  return typeof model === 'string' && model !== '' ? model : null
}

function makeMarkAttributes({ work, facts = {} }: Begin): { readonly [name: string]: AttributeValue } {
  const own = Object.fromEntries(Object.entries(facts).map(([name, value]) => [`bridle.${work}.${name}`, value]))
  return work === 'agent_loop' ? { 'gen_ai.operation.name': 'invoke_agent', ...own } : own
}

function makeAttributes(event: TraceEvent): { readonly [name: string]: AttributeValue } {
  const details = event.details ?? {}
  const model = event.tool_id === 'llm.chat' ? readModel(details) : null
  const operation =
    event.tool_id === 'llm.chat'
      ? { 'gen_ai.operation.name': 'chat', ...(model === null ? {} : { 'gen_ai.request.model': model }) }
      : { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': event.tool_id ?? '', 'gen_ai.tool.type': 'function' }
  return {
    ...operation,
    'gen_ai.tool.call.id': String(details['call_id']),
    'bridle.tool.alias': String(details['name']),
    'bridle.tool.executor': String(details['executor']),
    'bridle.tool.attempts': Number(details['attempts'] ?? 1),
    'bridle.tool.cached': event.cached ?? false,
    'bridle.tool.denied': details['denied'] === true,
    'bridle.task': Number(details['task'] ?? 0),
    'bridle.trace.seq': event.seq,
    'bridle.trace.hash': event.hash,
    ...(event.tool_version === undefined ? {} : { 'bridle.tool.version': event.tool_version }),
    ...(event.inputs_hash === undefined ? {} : { 'bridle.inputs_hash': event.inputs_hash }),
    ...(event.outputs_hash === undefined ? {} : { 'bridle.outputs_hash': event.outputs_hash }),
    ...(event.policy_hash === undefined ? {} : { 'bridle.policy_hash': event.policy_hash }),
  }
}
