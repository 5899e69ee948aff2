// `bridle trace`: traces that runs have written (`bridle run --trace`): list those of a folder, show one, verify its chain, compare
// two, and draw the graph of calls. A run is named by its file, or by its id within the folder (`--dir`).

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { buildGraph, diffTraces, verifyTrace } from '@bridle/stdlib-tools'
import type { TraceEvent, TraceJson } from '@bridle/stdlib-tools'
import { TraceFormatError, readTrace, readTraceBlob } from '@bridle/stdlib-tools/node'
import { CommandError, EXIT_FAILURE, UsageError, makeUnreadableError } from '../errors.js'
import { complain, tell, tellJson } from '../printable.js'

export interface TraceFlags {
  readonly dir: string
  readonly json?: boolean
  readonly format?: string
  readonly verify?: boolean
  readonly tool?: string
}

export async function traceListCommand(flags: TraceFlags): Promise<number> {
  const { dir } = flags
  if (!existsSync(dir))
    throw new UsageError(`there is no folder ${dir}; \`bridle run --trace ${dir}/ FILE\` writes a trace into it`, {
      code: 'unreadable_file',
      file: dir,
    })
  const problems: string[] = []
  const rows = runsIn(dir).flatMap((run) => {
    let events: readonly TraceEvent[]
    try {
      events = readEvents(join(dir, `${run}.jsonl`))
    } catch (cause) {
      // Show the others anyway.
      if (!(cause instanceof CommandError)) throw cause
      problems.push(cause.message)
      return []
    }
    const calls = events.filter(({ kind }) => kind === 'tool_call')
    const row = {
      run,
      file: String(events[0]?.details?.['file'] ?? ''),
      started: events[0]?.timestamp ?? '',
      calls: calls.length,
      failed: calls.filter(({ details }) => details?.['success'] !== true).length,
      status: String(events.findLast(({ kind }) => kind === 'run_end')?.details?.['status'] ?? 'unfinished'),
    }
    return [row]
  })
  if (flags.json === true) print(rows)
  else
    for (const { run, file, started, calls, failed, status } of rows)
      tell(
        `${run}  ${started}  ${status.padEnd(10)} ${String(calls).padStart(5)} calls ${String(failed).padStart(4)} failed  ${file}\n`,
      )
  if (flags.json !== true && rows.length === 0 && problems.length === 0) complain(`no traces in ${dir}\n`)
  for (const problem of problems) complain(`error: ${problem}\n`)
  return problems.length === 0 ? 0 : EXIT_FAILURE
}

/** Ids of the runs whose traces lie in a folder, oldest first. */
function runsIn(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .sort()
}

export async function traceShowCommand(run: string, flags: TraceFlags): Promise<number> {
  const path = findPath(run, flags)
  const all = readEvents(path)
  const events =
    flags.tool === undefined
      ? all
      : all.filter(({ tool_id, details }) => tool_id === flags.tool || details?.['name'] === flags.tool)
  switch (flags.json === true ? 'json' : (flags.format ?? 'pretty')) {
    case 'json':
      print(events.map((event) => withBlobs(path, event)))
      break
    case 'replay':
      for (const event of events) tell(`${replayLine(event)}\n`)
      break
    case 'pretty':
      for (const event of events) tell(`${formatLine(path, event)}\n`)
      break
    default:
      throw new UsageError(`--format ${flags.format}: pretty, replay or json`)
  }
  return flags.verify === true ? reportVerdict(path, all, false) : 0
}

export async function traceVerifyCommand(run: string, flags: TraceFlags): Promise<number> {
  const path = findPath(run, flags)
  return reportVerdict(path, readEvents(path), flags.json === true)
}

export async function traceDiffCommand(before: string, after: string, flags: TraceFlags): Promise<number> {
  const difference = diffTraces(readEvents(findPath(before, flags)), readEvents(findPath(after, flags)))
  if (flags.json === true) print(difference)
  else {
    switch (difference.kind) {
      case 'equal':
        tell(`equal: ${difference.events} events\n`)
        break
      case 'program':
        tell(`the same events, by different sources: ${difference.before} and ${difference.after}\n`)
        break
      case 'length':
        tell(
          `event ${difference.seq} is only in the ${difference.more === 'before' ? 'first' : 'second'}: ${replayLine(difference.event)}\n`,
        )
        break
      case 'event':
        tell(`event ${difference.seq} differs\n`)
        for (const { path, before: left, after: right } of difference.fields)
          tell(`  ${path}: ${formatJson(left)} → ${formatJson(right)}\n`)
    }
  }
  return difference.kind === 'equal' ? 0 : EXIT_FAILURE
}

export async function traceDagCommand(run: string, flags: TraceFlags): Promise<number> {
  const graph = buildGraph(readEvents(findPath(run, flags)))
  switch (flags.json === true ? 'json' : (flags.format ?? 'mermaid')) {
    case 'mermaid':
      tell(graph.toMermaid())
      return 0
    case 'dot':
      tell(graph.toDot())
      return 0
    case 'json':
      print(graph.toJSON())
      return 0
    case 'text':
      tell(`${graph.toText()}\n`)
      return 0
    default:
      throw new UsageError(`--format ${flags.format}: mermaid, dot, json or text`)
  }
}

// ---- common --------------------------------------------------------------------------------------------------------------

function findPath(run: string, flags: TraceFlags): string {
  if (existsSync(run) && statSync(run).isFile()) return run
  const { dir } = flags
  if (!existsSync(dir)) throw makeMissingError(run, `no such file, and no folder ${dir} (--dir) to look for a run in`)
  const runs = runsIn(dir)
  const id = run.endsWith('.jsonl') ? run.slice(0, -'.jsonl'.length) : run
  // A unique prefix of an id is enough.
  const meant = runs.includes(id) ? [id] : runs.filter((each) => id !== '' && each.startsWith(id))
  const [only, other] = meant
  if (only !== undefined && other === undefined) return join(dir, `${only}.jsonl`)
  if (only !== undefined)
    throw new CommandError(`${run} is the beginning of ${meant.length} runs in ${dir}: ${meant.slice(0, 5).join(', ')}`)
  throw makeMissingError(run, `neither a file nor a run in ${dir}; \`bridle trace list --dir ${dir}\` names them`)
}

function makeMissingError(run: string, why: string): UsageError {
  return new UsageError(`there is no trace ${run}: ${why}`, { code: 'unreadable_file', file: run })
}

function readEvents(path: string): readonly TraceEvent[] {
  try {
    const events = readTrace(path)
    if (events.length === 0) throw new TraceFormatError(`${path} has no events; it is empty, or its first line was cut off`)
    return events
  } catch (cause) {
    throw cause instanceof TraceFormatError ? new CommandError(cause.message) : makeUnreadableError(path, cause)
  }
}

function reportVerdict(path: string, events: readonly TraceEvent[], json: boolean): number {
  const found = verifyTrace(events)
  if (json) print(found)
  else if (!found.ok) tell(`${path}: ${found.message}\n`)
  else tell(`${path}: ${found.events} events, chain intact${found.complete ? '' : ', the end of the run is missing'}\n`)
  return found.ok ? 0 : EXIT_FAILURE
}

function replayLine(event: TraceEvent): string {
  const { details } = event
  const parts = [String(event.seq).padStart(6, '0'), event.kind]
  if (event.kind === 'tool_call') {
    parts.push(`tool=${event.tool_id ?? ''}`)
    if (event.tool_version !== undefined) parts.push(`version=${event.tool_version}`)
    parts.push(
      `latency_ms=${event.latency_ms ?? 0}`,
      `cached=${event.cached === true}`,
      `success=${details?.['success'] === true}`,
    )
  }
  return [...parts, `hash=${event.hash}`].join(' ')
}

function formatLine(path: string, event: TraceEvent): string {
  const time = event.timestamp.slice(11, 23)
  const details = event.details ?? {}
  const number = String(event.seq).padStart(5)
  switch (event.kind) {
    case 'tool_call': {
      const name = details['name'] === event.tool_id ? event.tool_id : `${String(details['name'])} (${event.tool_id ?? ''})`
      const error = details['error'] as { readonly code: string; readonly message: string } | undefined
      const outcome =
        error === undefined
          ? formatJson(loadBlob(path, details['output']))
          : `${details['denied'] === true ? 'denied' : 'failed'}: ${error.code}: ${error.message}`
      const indent = typeof details['parent'] === 'string' ? '  ' : ''
      return `${number} ${time} ${indent}${name} ${formatJson(loadBlob(path, details['args']))} → ${outcome} (${event.latency_ms ?? 0} ms)`
    }
    case 'call_intent':
      return `${number} ${time} intent ${String(details['kind'])} ${formatJson(loadBlob(path, details['args']))}`
    case 'run_start':
      return `${number} ${time} run ${event.run_id ?? ''} of ${String(details['file'] ?? '')}`
    case 'run_end':
      return `${number} ${time} end: ${String(details['status'] ?? '')}`
    case 'error':
      return `${number} ${time} error: ${event.message ?? ''}`
  }
}

function loadBlob(path: string, value: TraceJson | undefined): TraceJson | undefined {
  const hash = (value as { readonly $blob?: unknown } | null | undefined)?.$blob
  if (typeof hash !== 'string') return value
  const text = readTraceBlob(path, hash)
  return text === null ? value : (JSON.parse(text) as TraceJson)
}

function withBlobs(path: string, event: TraceEvent): TraceEvent {
  const { details } = event
  if (details === undefined) return event
  const entries = Object.entries(details).map(([key, value]) => [key, loadBlob(path, value) ?? null] as const)
  return { ...event, details: Object.fromEntries(entries) }
}

const MAX_SHOWN = 120

function formatJson(value: TraceJson | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function print(value: unknown): void {
  tellJson(value)
}
