// The execution graph of a trace: derived from the events alone, so it works on any stored run. Nodes are the
// run and its calls; edges say who called whom, what followed what in one task, and whose output was whose argument.

import type { TraceEvent, TraceJson } from './event.js'

export interface GraphNode {
  /** `run`, or the id of the call. */
  readonly id: string
  readonly kind: 'run' | 'tool' | 'error'
  readonly name: string
  readonly status: 'completed' | 'failed' | 'denied'
  readonly task: number
  readonly durationMs: number
  readonly seq: number
}

export interface GraphEdge {
  readonly kind: 'call' | 'temporal' | 'data' | 'error'
  readonly from: string
  readonly to: string
}

export interface TraceGraph {
  readonly runId: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** From the run inwards, by the longest total duration along call edges. */
  readonly criticalPath: () => { readonly path: readonly GraphNode[]; readonly durationMs: number }
  /** Calls that took at least so long, longest first. */
  readonly bottlenecks: (thresholdMs: number) => readonly GraphNode[]
  readonly children: (id: string) => readonly GraphNode[]
  readonly parents: (id: string) => readonly GraphNode[]
  readonly descendants: (id: string) => readonly GraphNode[]
  readonly depth: () => number
  readonly toJSON: () => { readonly [key: string]: unknown }
  readonly toMermaid: () => string
  readonly toDot: () => string
  readonly toText: () => string
}

/** A data edge needs an output that could not be there by chance. */
const MIN_DATA_TEXT = 4

export function buildGraph(events: readonly TraceEvent[]): TraceGraph {
  const nodes: GraphNode[] = []
  const edges: GraphEdge[] = []
  const start = events[0]
  const runId = start?.run_id ?? ''
  const end = events.findLast((event) => event.kind === 'run_end')
  const total =
    start === undefined || end === undefined ? 0 : Math.max(0, Date.parse(end.timestamp) - Date.parse(start.timestamp))
  const failed = events.some((event) => event.kind === 'error')
  const label = readText(start?.details?.['file']) || 'run'
  nodes.push({ id: 'run', kind: 'run', name: label, status: failed ? 'failed' : 'completed', task: 0, durationMs: total, seq: 1 })
  const lastOfTask = new Map<string, string>()
  const outputs: { readonly id: string; readonly value: TraceJson }[] = []
  for (const event of events) {
    if (event.kind === 'error') {
      const id = `error_${event.seq}`
      nodes.push({ id, kind: 'error', name: event.message ?? 'error', status: 'failed', task: 0, durationMs: 0, seq: event.seq })
      edges.push({ kind: 'error', from: 'run', to: id })
    }
    if (event.kind !== 'tool_call') continue
    const details = event.details ?? {}
    const id = readText(details['call_id'])
    const task = typeof details['task'] === 'number' ? details['task'] : 0
    const status = details['success'] === true ? 'completed' : details['denied'] === true ? 'denied' : 'failed'
    nodes.push({
      id,
      kind: 'tool',
      name: readText(details['name']),
      status,
      task,
      durationMs: event.latency_ms ?? 0,
      seq: event.seq,
    })
    const parent = readText(details['parent']) || 'run'
    edges.push({ kind: 'call', from: parent, to: id })
    const place = `${parent}/${task}`
    const before = lastOfTask.get(place)
    if (before !== undefined) edges.push({ kind: 'temporal', from: before, to: id })
    lastOfTask.set(place, id)
    const args = listArguments(details['args'])
    for (const output of outputs) {
      if (args.some((arg) => isSameData(arg, output.value))) edges.push({ kind: 'data', from: output.id, to: id })
    }
    if (details['output'] !== undefined && isTelling(details['output'])) outputs.push({ id, value: details['output'] })
  }
  return makeGraph(runId, nodes, edges)
}

function readText(value: TraceJson | undefined): string {
  return typeof value === 'string' ? value : ''
}

function listArguments(args: TraceJson | undefined): readonly TraceJson[] {
  return typeof args === 'object' && args !== null ? (Object.values(args) as TraceJson[]) : []
}

function isTelling(value: TraceJson): boolean {
  return typeof value === 'string'
    ? value.length >= MIN_DATA_TEXT && value !== '[redacted]'
    : typeof value === 'object' && value !== null
}

function isSameData(a: TraceJson, b: TraceJson): boolean {
  return a === b || (typeof a === 'object' && a !== null && JSON.stringify(a) === JSON.stringify(b))
}

function makeGraph(runId: string, nodes: readonly GraphNode[], edges: readonly GraphEdge[]): TraceGraph {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const below = new Map<string, GraphNode[]>()
  const above = new Map<string, GraphNode[]>()
  for (const { kind, from, to } of edges) {
    if (kind !== 'call') continue
    const [outer, inner] = [byId.get(from), byId.get(to)]
    if (outer === undefined || inner === undefined) continue
    below.set(from, [...(below.get(from) ?? []), inner])
    above.set(to, [...(above.get(to) ?? []), outer])
  }
  const listChildren = (id: string): readonly GraphNode[] => below.get(id) ?? []
  const listDescendants = (id: string): readonly GraphNode[] =>
    listChildren(id).flatMap((node) => [node, ...listDescendants(node.id)])
  const findLongest = (id: string): { readonly path: readonly GraphNode[]; readonly durationMs: number } => {
    const own = byId.get(id)!
    let best: { readonly path: readonly GraphNode[]; readonly durationMs: number } = { path: [], durationMs: 0 }
    for (const child of listChildren(id)) {
      const found = findLongest(child.id)
      if (best.path.length === 0 || found.durationMs > best.durationMs) best = found
    }
    // The run lasts as long as everything in it; counting it would say nothing.
    return { path: [own, ...best.path], durationMs: (own.kind === 'run' ? 0 : own.durationMs) + best.durationMs }
  }
  const measureDepth = (id: string): number => 1 + Math.max(0, ...listChildren(id).map((node) => measureDepth(node.id)))
  const calls = nodes.filter((node) => node.kind === 'tool')
  return {
    runId,
    nodes,
    edges,
    children: listChildren,
    descendants: listDescendants,
    parents: (id) => above.get(id) ?? [],
    depth: () => measureDepth('run'),
    criticalPath: () => findLongest('run'),
    bottlenecks: (threshold) => calls.filter((node) => node.durationMs >= threshold).sort((a, b) => b.durationMs - a.durationMs),
    toJSON: () => ({
      run_id: runId,
      metadata: {
        total_duration_ms: byId.get('run')?.durationMs ?? 0,
        node_count: nodes.length,
        edge_count: edges.length,
        max_depth: measureDepth('run'),
      },
      nodes: nodes.map(({ durationMs, ...node }) => ({ ...node, duration_ms: durationMs })),
      edges,
    }),
    toMermaid: () => renderMermaid(nodes, edges),
    toDot: () => renderDot(nodes, edges),
    toText: () => {
      const { path, durationMs } = findLongest('run')
      const failures = calls.filter((node) => node.status !== 'completed').length
      return [
        `${calls.length} calls, ${failures} not successful, depth ${measureDepth('run')}`,
        `critical path: ${path.map((node) => node.name).join(' → ')} (${durationMs} ms)`,
      ].join('\n')
    },
  }
}

const formatLabel = (node: GraphNode): string => (node.kind === 'tool' ? `${node.name} ${node.durationMs}ms` : node.name)

function renderMermaid(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): string {
  const clean = (name: string): string => name.replaceAll('"', "'").replaceAll('\n', ' ')
  const arrows = { call: '-->', temporal: '-.->', data: '==>', error: '--x' } as const
  const lines = nodes.map(
    (node) => `  ${node.id}["${clean(formatLabel(node))}"]${node.status === 'completed' ? '' : `:::${node.status}`}`,
  )
  const links = edges.map(({ kind, from, to }) => `  ${from} ${arrows[kind]} ${to}`)
  const styles = ['  classDef failed stroke:#c00', '  classDef denied stroke:#c80,stroke-dasharray:4']
  return `${['graph TD', ...lines, ...links, ...styles].join('\n')}\n`
}

function renderDot(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): string {
  const styles = { call: 'solid', temporal: 'dotted', data: 'bold', error: 'dashed' } as const
  const lines = nodes.map(
    (node) =>
      `  ${JSON.stringify(node.id)} [label=${JSON.stringify(formatLabel(node))}${node.status === 'completed' ? '' : ', color=red'}];`,
  )
  const links = edges.map(({ kind, from, to }) => `  ${JSON.stringify(from)} -> ${JSON.stringify(to)} [style=${styles[kind]}];`)
  return `${['digraph run {', ...lines, ...links, '}'].join('\n')}\n`
}
