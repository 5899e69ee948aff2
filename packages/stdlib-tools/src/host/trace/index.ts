// Traces: what a run called, with what and to what end, as chained events.

export { GENESIS, TRACE_FORMAT, stringifyCanonical, hashEvent, verifyTrace } from './event.js'
export type { TraceEvent, TraceJson, TraceKind, TraceVerdict } from './event.js'
export type { CallFacts, ModelCallFacts } from './call-facts.js'
export { MemoryTrace, TraceRecorder } from './recorder.js'
export type { TraceOptions, TraceSink, TracedRun } from './recorder.js'
export { Redactor, looksLikeKey } from './redact.js'
export type { RedactOptions } from './redact.js'
export { buildGraph } from './graph.js'
export type { GraphEdge, GraphNode, TraceGraph } from './graph.js'
export { diffTraces } from './diff.js'
export type { FieldDifference, TraceDifference } from './diff.js'
