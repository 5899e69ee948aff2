// Converts the records of a machine (TraceRecord) to the events of one trace: redacted, large texts set aside, numbered, chained.
// Recording never fails a call: a sink that throws is removed, and the run is notified once. With a required trace it is the other way
// round: an effect is recorded before it is performed (`call_intent`), and is not performed if that fails.

import type { Effect, MachineOptions, NestedCall, Plain, SpanMark, TraceRecord } from '@bridle/vm'
import { plainToJson } from '../journal-codec.js'
import { GENESIS, TRACE_FORMAT, stringifyCanonical, hashEvent, hashSha256Text } from './event.js'
import type { TraceEvent, TraceJson } from './event.js'
import { readCallFacts } from './call-facts.js'
import type { CallFacts } from './call-facts.js'
import { REDACTED, Redactor, looksLikeKey } from './redact.js'
import type { RedactOptions } from './redact.js'

/** Where the events of one run go. */
export interface TraceSink {
  /** `facts` exists for an event `tool_call` and is not part of the chain. */
  append(event: TraceEvent, facts?: CallFacts): void
  /** Keeps a text that is too large for an event; called once for each hash, before the event that names it. */
  blob?(hash: string, text: string): void
  /** The last event of a trace that continues, as a run does that is resumed; null for a new one. */
  last?(): { readonly seq: number; readonly hash: string } | null
  /** Where pieces of work begin and end, while they do: for sinks that show a tree. Nothing of it is in the chain. */
  mark?(mark: SpanMark): void
  /** Headers by which a service outside joins what it does to the work that is under way (W3C Trace Context); null for none. */
  contextOf?(id: string, to: 'http' | 'mcp'): { readonly [header: string]: string } | null
  close?(): void
}

export interface TraceOptions {
  readonly sinks: readonly TraceSink[]
  readonly redact?: RedactOptions
  /** Nothing happens that the sinks do not keep: the run ends with `store_unavailable` when one of them fails. */
  readonly required?: boolean
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
  /** Texts of what is part of the next event, so that each is written once and hashed from there. */
  private readonly texts = new Map<unknown, string>()
  private timestamp = { ms: NaN, text: '' }
  private policy = { text: '', hash: '' }
  readonly isRequired: boolean
  /** Called once, when a required trace can no longer be kept. */
  onLost: () => void = () => {}
  /** What the first failing sink threw. */
  failure: unknown = null

  constructor(options: TraceOptions, run: TracedRun, listener: ((event: TraceEvent) => void) | null = null) {
    this.listener = listener
    this.redactor = new Redactor(options.redact)
    this.run = run
    this.docHash = hashSha256Text(run.source)
    this.sinks = options.sinks
    this.isRequired = options.required === true
    const last = run.resumed ? (options.sinks.map((sink) => sink.last?.() ?? null).find((each) => each !== null) ?? null) : null
    if (last !== null) {
      this.seq = last.seq
      this.previous = last.hash
    }
    this.append('run_start', { run_id: run.runId, details: { format: TRACE_FORMAT, file: run.label, resumed: run.resumed } })
  }

  /** Which records a machine must emit. */
  makeListeners(): Pick<MachineOptions, 'trace' | 'spans'> {
    const trace = (record: TraceRecord): void => this.call(record)
    const isMarked = this.sinks.some((sink) => sink.mark !== undefined)
    return isMarked ? { trace, spans: (mark) => this.mark(mark) } : { trace }
  }

  /** Texts that are not to appear from here on. */
  keepSecret(values: readonly string[]): void {
    for (const value of values) this.redactor.rememberAll(value)
  }

  private mark(mark: SpanMark): void {
    const shown = mark.at === 'begin' ? this.cleanMark(mark) : mark
    this.each((sink) => sink.mark?.(shown))
  }

  private cleanMark(mark: Extract<SpanMark, { at: 'begin' }>): SpanMark {
    const name = this.redactor.text(mark.name)
    if (mark.facts === undefined) return { ...mark, name }
    const facts = Object.entries(mark.facts).map(([key, fact]) => [
      key,
      typeof fact === 'string' ? this.redactor.text(fact) : fact,
    ])
    return { ...mark, name, facts: Object.fromEntries(facts) as typeof mark.facts }
  }

  /** Headers for the effect of that number; null when no sink gives any. */
  findContext(effect: number, to: 'http' | 'mcp'): { readonly [header: string]: string } | null {
    for (const sink of this.sinks) {
      const headers = sink.contextOf?.(`effect_${effect}`, to) ?? null
      if (headers !== null) return headers
    }
    return null
  }

  /** Whether a required trace has kept everything so far. */
  get isLost(): boolean {
    return this.isRequired && this.failure !== null
  }

  /** Writes down what is about to happen; false when that cannot be kept. */
  intend({ kind, args }: Effect, id: number, secret: readonly string[]): boolean {
    return this.isKept(args, secret, { effect: id, kind })
  }

  /** The same for a call that a tool makes of another one while it answers the effect. */
  intendNested({ id, tool, args }: NestedCall, effect: number, secret: readonly string[]): boolean {
    return !this.isRequired || this.isKept(args, secret, { call: id, effect, kind: 'tool.call', tool })
  }

  private isKept(data: Plain, secret: readonly string[], facts: { readonly [key: string]: TraceJson }): boolean {
    if (this.isLost) return false
    const args = this.makePart(this.redactor.clean(toJson(data), secret))
    this.append('call_intent', { inputs_hash: args.hash, details: { args: this.inlinePart(args), ...facts } })
    return !this.isLost
  }

  /** One call, at the moment the script learns its outcome. */
  call(record: TraceRecord): void {
    const secret = record.secret
    if (record.tool === 'env.get' && record.outcome.ok) this.learnVariable(record.args, record.outcome.value)
    const args = this.makePart(this.redactor.clean(toJson(record.args), secret))
    const { outcome } = record
    const output = outcome.ok ? this.makePart(this.redactor.clean(this.readOutput(record, outcome.value), secret)) : null
    // In the order of canonical JSON, so that nothing is sorted.
    const details: { [key: string]: TraceJson } = {
      args: this.inlinePart(args),
      attempts: record.attempts,
      call_id: record.callId,
    }
    if (!outcome.ok) {
      details['denied'] = outcome.denied
      details['error'] = { code: outcome.code, message: this.redactor.text(outcome.message) }
    }
    details['executor'] = record.executor
    details['name'] = record.alias ?? record.tool
    if (output !== null) details['output'] = this.inlinePart(output)
    if (record.parent !== null) details['parent'] = record.parent
    details['success'] = outcome.ok
    details['task'] = record.task
    const fields: { -readonly [Key in keyof TraceEvent]?: TraceEvent[Key] } = { tool_id: record.tool }
    if (record.version !== null) fields.tool_version = record.version
    fields.inputs_hash = args.hash
    if (output !== null) fields.outputs_hash = output.hash
    if (record.policy !== null) fields.policy_hash = this.hashPolicy(record.policy)
    fields.latency_ms = !outcome.ok && outcome.denied ? 0 : Math.max(0, record.endedMs - record.startedMs)
    fields.cached = record.cached ?? false
    fields.details = details
    this.append('tool_call', fields, readCallFacts(record))
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

  /** A variable that a script was given is secret when its name says so and its value may be a key; from then on wherever it turns up. */
  private learnVariable(args: Plain, value: Plain): void {
    if (this.isKeyOf(args, value)) this.redactor.rememberAll(value as string)
  }

  private isKeyOf(args: Plain, value: Plain): boolean {
    const name = (args as { readonly name?: unknown } | null)?.name
    return typeof name === 'string' && typeof value === 'string' && this.redactor.isSecretName(name) && looksLikeKey(value)
  }

  private readOutput(record: TraceRecord, value: Plain): TraceJson {
    return record.tool === 'env.get' && this.isKeyOf(record.args, value) ? REDACTED : toJson(value)
  }

  private makePart(value: TraceJson): Part {
    const text = stringifyCanonical(value)
    if (typeof value === 'object' && value !== null) this.texts.set(value, text)
    return { value, text, hash: hashSha256Text(text) }
  }

  /** Small data as it is; of large data the hash, with the text in the sinks. */
  private inlinePart({ value, text, hash }: Part): TraceJson {
    if (text.length <= INLINE_BYTES) return value
    if (!this.blobs.has(hash)) {
      this.blobs.add(hash)
      this.each((sink) => sink.blob?.(hash, text))
    }
    return { $blob: hash, size: text.length }
  }

  /** Mostly that of the call before. */
  private hashPolicy(policy: Plain): string {
    const text = stringifyCanonical(toJson(policy))
    if (text !== this.policy.text) this.policy = { text, hash: hashSha256Text(text) }
    return this.policy.hash
  }

  private formatNow(): string {
    const ms = this.run.now()
    if (ms !== this.timestamp.ms) this.timestamp = { ms, text: new Date(ms).toISOString() }
    return this.timestamp.text
  }

  private append(kind: TraceEvent['kind'], fields: Partial<TraceEvent>, facts?: CallFacts): void {
    this.seq++
    const event: { -readonly [Key in keyof TraceEvent]: TraceEvent[Key] } = {
      seq: this.seq,
      kind,
      prev_hash: this.previous,
      hash: '',
      timestamp: this.formatNow(),
      doc_hash: this.docHash,
      ...fields,
    }
    event.hash = hashEvent(event, this.texts)
    this.texts.clear()
    this.previous = event.hash
    this.each((sink) => (facts === undefined ? sink.append(event) : sink.append(event, facts)))
    this.listener?.(event)
  }

  private each(use: (sink: TraceSink) => void): void {
    for (const sink of this.sinks) {
      try {
        use(sink)
      } catch (cause) {
        const isFirst = this.failure === null
        this.failure ??= cause
        this.sinks = this.sinks.filter((other) => other !== sink)
        if (isFirst && this.isRequired) this.onLost()
      }
    }
  }
}

/** Redacted data with its canonical text. */
interface Part {
  readonly value: TraceJson
  readonly text: string
  readonly hash: string
}

function toJson(value: Plain): TraceJson {
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
