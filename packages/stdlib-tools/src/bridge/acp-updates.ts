// What a run does, as updates of the Agent Client Protocol: thoughts, calls of tools with their places and changes, plans.

import type { Plain } from '@bridle/vm'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { isRecord } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'
import type { RunEvent } from '../host/events.js'

const KINDS: ReadonlySet<unknown> = new Set([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
])
/** Arguments that tools commonly name files by. */
const PATH_KEYS = ['path', 'file_path', 'file', 'filename', 'target', 'source', 'destination']
const MOST_TEXT = 100_000

export interface CallReporterOptions {
  readonly send: (update: Params) => void
  readonly cwd: string
  readonly newId: () => string
}

export class CallReporter {
  private readonly options: CallReporterOptions
  /** Calls of agent loops that have begun and not ended, oldest first: the ids that clients know, by those of the loop. */
  private readonly open = new Map<string, string>()
  /** Ids that clients know; those of a loop may come again in its next turn. */
  private readonly used = new Set<string>()
  /** What calls have shown so far, since an update replaces all of it. */
  private readonly content = new Map<string, Params[]>()
  /** Of effects, by their number. */
  private readonly effects = new Map<number, string>()

  constructor(options: CallReporterOptions) {
    this.options = options
  }

  /** What an agent loop of the script says of itself. */
  takeAgentEvent(event: Params): void {
    switch (event['type']) {
      case 'thinking':
        return this.think(event['text'])
      case 'tool_call':
        return this.begin(event)
      case 'tool_call_update':
        return this.goOn(event)
      case 'plan':
        return this.options.send({ sessionUpdate: 'plan', entries: listPlanEntries(event['plan']) })
    }
  }

  /** For an answer that was not streamed; pieces of streams are events of the run. */
  private think(words: unknown): void {
    if (typeof words === 'string' && words !== '')
      this.options.send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: words } })
  }

  private begin({ tool_call_id: id, tool_name: name, kind, raw_input: input }: Params): void {
    if (typeof id !== 'string') return
    const own = this.used.has(id) ? `${id}-${this.used.size}` : id
    this.used.add(own)
    this.open.set(id, own)
    this.options.send({
      sessionUpdate: 'tool_call',
      toolCallId: own,
      title: String(name),
      kind: KINDS.has(kind) ? kind : 'other',
      status: 'pending',
      rawInput: plainFromHost(input),
      ...this.locate(input),
    })
  }

  private goOn({ tool_call_id: id, status, raw_output: output, error }: Params): void {
    if (typeof id !== 'string') return
    const own = this.open.get(id) ?? id
    const isOver = status === 'completed' || status === 'failed'
    const text = readOutput(output) ?? (typeof error === 'string' ? error : null)
    const content = [...(this.content.get(own) ?? []), ...(text === null ? [] : [makeText(text)])]
    if (isOver) {
      this.open.delete(id)
      this.content.delete(own)
    }
    this.options.send({
      sessionUpdate: 'tool_call_update',
      toolCallId: own,
      status: isOver || status === 'pending' ? status : 'in_progress',
      ...(isOver && content.length > 0 ? { content } : {}),
      ...(output === null || output === undefined ? {} : { rawOutput: plainFromHost(output) }),
    })
  }

  /** Calls that leave the run outside of agent loops, which report their own calls. */
  takeRunEvent(event: RunEvent): void {
    if (event.type === 'effect') {
      const facts = this.open.size > 0 ? null : describeEffect(event.kind, event.args)
      if (facts === null) return
      const id = this.options.newId()
      this.effects.set(event.id, id)
      this.options.send({
        sessionUpdate: 'tool_call',
        toolCallId: id,
        status: 'in_progress',
        ...facts,
        ...this.locate(facts['rawInput']),
      })
    } else if (event.type === 'outcome') {
      const id = this.effects.get(event.id)
      if (id === undefined) return
      this.effects.delete(event.id)
      const shown = this.content.get(id) ?? []
      this.content.delete(id)
      this.options.send({
        sessionUpdate: 'tool_call_update',
        toolCallId: id,
        status: event.ok ? 'completed' : 'failed',
        ...(event.message === null ? {} : { content: [...shown, makeText(event.message)] }),
      })
    }
  }

  /** Adds what happens to the call of an effect, or to that of an agent that is under way. */
  attach(effect: number, part: Params): void {
    const id = this.effects.get(effect) ?? [...this.open.values()].at(-1)
    if (id === undefined) return
    const content = this.content.get(id) ?? []
    content.push(part)
    this.content.set(id, content)
    this.options.send({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress', content: [...content] })
  }

  /** The id under which a call of an agent is known to the client. */
  findCallId(id: string): string {
    return this.open.get(`tool-${id}`) ?? id
  }

  /** Files that arguments name, absolute as the protocol wants them. */
  private locate(input: unknown): Params {
    if (!isRecord(input)) return {}
    const paths = PATH_KEYS.flatMap((key) => (typeof input[key] === 'string' && input[key] !== '' ? [input[key]] : []))
    const line = Number.isSafeInteger(input['line']) ? { line: input['line'] } : {}
    return paths.length === 0 ? {} : { locations: paths.map((path) => ({ path: toAbsolute(path, this.options.cwd), ...line })) }
  }
}

function toAbsolute(path: string, cwd: string): string {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return path
  return `${cwd === '/' ? '' : cwd}/${path}`
}

const makeText = (text: string): Params => ({
  type: 'content',
  content: { type: 'text', text: text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text },
})

function readOutput(output: unknown): string | null {
  if (typeof output === 'string') return output
  return isRecord(output) && typeof output['text'] === 'string' ? output['text'] : null
}

/** null for effects that are not a call of a tool. */
function describeEffect(kind: string, args: { readonly [key: string]: Plain }): Params | null {
  const make = (title: unknown, of: string, input: Plain | undefined): Params => ({
    title: String(title),
    kind: of,
    rawInput: plainFromHost(input ?? null),
  })
  switch (kind) {
    case 'tool.call':
      return make(args['tool'], 'other', args['args'])
    case 'host.tool':
      return args['op'] === 'call' ? make(args['name'], 'other', args['args']) : null
    case 'mcp.request': {
      const params = isRecord(args['params']) ? args['params'] : {}
      return args['method'] === 'tools/call' ? make(params['name'], 'other', params['arguments'] as Plain) : null
    }
    case 'process.exec': {
      const line = typeof args['shell'] === 'string' ? args['shell'] : [args['program'], ...(args['args'] as Plain[])].join(' ')
      return make(line, 'execute', { command: line })
    }
    case 'http.request':
      return make(`${String(args['method'] ?? 'GET')} ${String(args['url'])}`, 'fetch', { url: args['url'] ?? null })
    case 'fs.read':
      return make(`Read ${String(args['path'])}`, 'read', { path: args['path'] ?? null })
    case 'fs.write':
      if (args['op'] === 'delete') return make(`Delete ${String(args['path'])}`, 'delete', { path: args['path'] ?? null })
      if (args['op'] === 'move')
        return make(`Move ${String(args['path'])}`, 'move', { path: args['path'] ?? null, to: args['to'] ?? null })
      if (args['op'] === 'write' || args['op'] === 'append')
        return make(`Write ${String(args['path'])}`, 'edit', { path: args['path'] ?? null })
      return null
    default:
      return null
  }
}

/** Entries of a plan as the protocol has them. */
export function listPlanEntries(plan: unknown): readonly Params[] {
  const steps = isRecord(plan) ? (plan['steps'] ?? plan['tasks'] ?? plan['plan']) : plan
  if (!Array.isArray(steps)) return []
  return steps.flatMap((step) => {
    const facts: Params = isRecord(step) ? step : { content: step }
    const content = facts['content'] ?? facts['step'] ?? facts['title'] ?? facts['description']
    if (typeof content !== 'string') return []
    const { priority, status } = facts
    return [
      {
        content,
        priority: priority === 'high' || priority === 'low' ? priority : 'medium',
        status: status === 'completed' || status === 'in_progress' ? status : 'pending',
      },
    ]
  })
}
