// Turns what a machine tells (TraceRecord) into the events of one trace: redacted, large texts set aside, numbered, chained.
// Recording never fails a call: a sink that throws is let go of, and the run is told once.

import type { Plain, TraceRecord } from '@bridle/vm'
import { plainToJson } from '../journal-codec.js'
import { GENESIS, TRACE_FORMAT, canonicalJson, hashOfEvent, sha256Text } from './event.js'
import type { TraceEvent, TraceJson } from './event.js'
import { Redactor } from './redact.js'
import type { RedactOptions } from './redact.js'

/** Where the events of one run go. */
export interface TraceSink {
  append(event: TraceEvent): void
  /** Keeps a text that is too large for an event; called once for each hash, before the event that names it. */
  blob?(hash: string, text: string): void
  /** The last event of a trace that goes on, as a run does that is resumed; null for a new one. */
  last?(): { readonly seq: number; readonly hash: string } | null
  close?(): void
}

export interface TraceOptions {
  readonly sinks: readonly TraceSink[]
  readonly redact?: RedactOptions
}

export interface TracedRun {
  readonly runId: string
  /** Text of the program's main file. */
  readonly source: string
  readonly label: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly resumed: boolean
}

/** Texts up to this stay in their event. */
const INLINE_BYTES = 4096

export class TraceRecorder {
  private readonly redactor: Redactor
  private readonly run: TracedRun
  private readonly docHash: string
  private readonly blobs = new Set<string>()
  private readonly listener: ((event: TraceEvent) => void) | null
  private sinks: readonly TraceSink[]
  private seq = 0
  private previous = GENESIS
  /** What the first failing sink threw. */
  failure: unknown = null

  constructor(options: TraceOptions, run: TracedRun, listener: ((event: TraceEvent) => void) | null = null) {
    this.listener = listener
    this.redactor = new Redactor(options.redact)
    this.run = run
    this.docHash = sha256Text(run.source)
    this.sinks = options.sinks
    const last = run.resumed ? (options.sinks.map((sink) => sink.last?.() ?? null).find((each) => each !== null) ?? null) : null
    if (last !== null) {
      this.seq = last.seq
      this.previous = last.hash
    }
    this.append('run_start', { run_id: run.runId, details: { format: TRACE_FORMAT, file: run.label, resumed: run.resumed } })
  }

  /** One call, at the moment the script learns its outcome. */
  call(record: TraceRecord): void {
    const secret = record.secret
    if (record.tool === 'env.get' && record.outcome.ok) this.learnVariable(record.args, record.outcome.value)
    const args = this.redactor.clean(jsonOf(record.args), secret)
    const { outcome } = record
    const output = outcome.ok ? this.redactor.clean(this.outputOf(record, outcome.value), secret) : null
    const policy = record.policy === null ? null : jsonOf(record.policy)
    const details: { [key: string]: TraceJson } = {
      name: record.alias ?? record.tool,
      call_id: record.callId,
      task: record.task,
      executor: record.executor,
      attempts: record.attempts,
      success: outcome.ok,
      args: this.inline(args),
    }
    if (record.parent !== null) details['parent'] = record.parent
    if (outcome.ok) details['output'] = this.inline(output)
    else {
      details['error'] = { code: outcome.code, message: this.redactor.text(outcome.message) }
      details['denied'] = outcome.denied
    }
    this.append('tool_call', {
      tool_id: record.tool,
      ...(record.version === null ? {} : { tool_version: record.version }),
      inputs_hash: sha256Text(canonicalJson(args)),
      ...(outcome.ok ? { outputs_hash: sha256Text(canonicalJson(output)) } : {}),
      ...(policy === null ? {} : { policy_hash: sha256Text(canonicalJson(policy)) }),
      latency_ms: !outcome.ok && outcome.denied ? 0 : Math.max(0, record.endedMs - record.startedMs),
      cached: false,
      details,
    })
  }

  /** Ends the trace. `message` is the error that ended the run, if one did. */
  end(status: string, message: string | null): void {
    if (message !== null) this.append('error', { message: this.redactor.text(message) })
    this.append('run_end', { details: { status } })
    for (const sink of this.sinks) {
      try {
        sink.close?.()
      } catch (cause) {
        this.failure ??= cause
      }
    }
    this.sinks = []
  }

  /** The value of a variable whose name looks secret is one from then on. */
  private learnVariable(args: Plain, value: Plain): void {
    const name = (args as { readonly name?: unknown } | null)?.name
    if (typeof name === 'string' && this.redactor.isSecretName(name)) this.redactor.rememberAll(jsonOf(value))
  }

  private outputOf(record: TraceRecord, value: Plain): TraceJson {
    const json = jsonOf(value)
    const name = (record.args as { readonly name?: unknown } | null)?.name
    return record.tool === 'env.get' && typeof name === 'string' && this.redactor.isSecretName(name) ? '[redacted]' : json
  }

  /** Small data as it is; of large data the hash, with the text in the sinks. */
  private inline(value: TraceJson): TraceJson {
    const text = canonicalJson(value)
    if (text.length <= INLINE_BYTES) return value
    const hash = sha256Text(text)
    if (!this.blobs.has(hash)) {
      this.blobs.add(hash)
      this.each((sink) => sink.blob?.(hash, text))
    }
    return { $blob: hash, size: text.length }
  }

  private append(kind: TraceEvent['kind'], fields: Partial<TraceEvent>): void {
    this.seq++
    const event = {
      seq: this.seq,
      kind,
      prev_hash: this.previous,
      timestamp: new Date(this.run.now()).toISOString(),
      doc_hash: this.docHash,
      ...fields,
    }
    const hash = hashOfEvent(event)
    const full: TraceEvent = { ...event, hash }
    this.previous = hash
    this.each((sink) => sink.append(full))
    this.listener?.(full)
  }

  private each(use: (sink: TraceSink) => void): void {
    for (const sink of this.sinks) {
      try {
        use(sink)
      } catch (cause) {
        this.failure ??= cause
        this.sinks = this.sinks.filter((other) => other !== sink)
      }
    }
  }
}

function jsonOf(value: Plain): TraceJson {
  return plainToJson(value) as TraceJson
}

/** Keeps the events of one run in memory. */
export class MemoryTrace implements TraceSink {
  readonly events: TraceEvent[] = []
  readonly blobs = new Map<string, string>()

  append(event: TraceEvent): void {
    this.events.push(event)
  }

  blob(hash: string, text: string): void {
    this.blobs.set(hash, text)
  }

  last(): { readonly seq: number; readonly hash: string } | null {
    return this.events.at(-1) ?? null
  }
}
