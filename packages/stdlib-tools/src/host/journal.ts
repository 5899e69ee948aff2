// The journal: the ordered record of everything that entered a run from outside. With the program it determines the run, bit
// for bit, so a replay is: start the same program and hand it the recorded answers at the recorded places.
//
// Order is the whole point. `effect` is appended before the effect is performed (so that a crash shows what was under way),
// `answer` directly behind it when the provider answered at once, and `resume` when the machine is entered again: with the
// answer of a pending effect, in order of delivery, or with none for a timer or the next slice. `now` is what the machine
// was told, because timers fire by it.

import type { RunBranch } from '../tools/dispatch/branches.js'
import { DEFAULT_LIMITS, NOTE_KINDS, measureOutcome, measurePlain, EFFECT_ERROR_KINDS } from '@bridle/vm'
import type { EffectOutcome, Limits, NestedCall, NoteKind, Plain, EffectError } from '@bridle/vm'
import { JOURNAL_FORMAT } from './journal-format.js'
import { plainFromJson, plainToJson } from './journal-codec.js'
import { parseSources } from './modules.js'
import type { ProgramSources } from './modules.js'
import { authorityFromJson, authorityToJson } from './run-authority.js'
import type { RunAuthority } from './run-authority.js'
import type { NestedOutcome } from '../library/effects/index.js'
import type { TokenLimit } from '../tools/executors/provider.js'

export type JournalEntry =
  /** First entry. `program` identifies the code (hash of its sources), `label` is for people, `sources` are for who lost them. */
  | {
      readonly type: 'run'
      readonly format: number
      readonly runId: string
      readonly program: string
      readonly label: string
      readonly sources?: ProgramSources
      /** Where the run was continued from a snapshot, when it was: part of the keys of its calls. */
      readonly branches?: readonly RunBranch[]
      /** What the run may do; absent in journals of versions that did not say. */
      readonly authority?: RunAuthority
      /** Nothing was changed, and nothing is to be where it continues. */
      readonly dryRun?: boolean
    }
  /** `globals` and `limits` are what else decides how the run goes. */
  | {
      readonly type: 'start'
      readonly now: number
      readonly input: Plain
      readonly globals?: { readonly [name: string]: Plain }
      readonly limits?: Limits
    }
  /**
   * The run continues from a snapshot; only the part behind it can be replayed, from that snapshot. In the middle of a journal: in another
   * process, with the authority of there.
   */
  | { readonly type: 'restore'; readonly now: number; readonly authority?: RunAuthority }
  | { readonly type: 'effect'; readonly id: number; readonly kind: string; readonly args: Plain }
  | { readonly type: 'answer'; readonly id: number; readonly outcome: EffectOutcome }
  | { readonly type: 'resume'; readonly id: number | null; readonly outcome: EffectOutcome | null; readonly now: number }
  | NestedEntry
  /** A tool answered the call with `pending(token)`: its result comes from outside, and the call is not repeated. */
  | { readonly type: 'token'; readonly id: number; readonly token: string; readonly limit?: TokenLimit }
  | { readonly type: 'cancel'; readonly reason: string; readonly now: number }
  /** `trace`: journal-trace.ts. */
  | { readonly type: 'end'; readonly kind: string; readonly trace?: string }

/**
 * A call that a tool of the host makes while it answers the effect `id`, and its end: counted and traced where they stand. `inside`: while
 * the machine was asking for an effect, before the answer of that.
 */
export type NestedEntry =
  | { readonly type: 'nested'; readonly id: number; readonly inside: boolean; readonly call: NestedCall }
  | {
      readonly type: 'nested_end'
      readonly id: number
      readonly inside: boolean
      readonly call: string
      readonly outcome: NestedOutcome
      readonly now: number
    }

export interface Journal {
  /** Must be durable when it returns, as far as the implementation promises durability at all. May throw. */
  append(entry: JournalEntry): void
  close?(): void
}

/** Default limit of a journal in memory, in heap units. */
const MOST_UNITS = 1 << 28

const ENTRY_UNITS = 256

/** What it keeps is bounded: beyond `mostUnits` heap units the run ends with ToolError `store_unavailable`. Longer runs keep a file. */
export class MemoryJournal implements Journal {
  readonly entries: JournalEntry[] = []
  private readonly most: number
  private units = 0

  constructor(mostUnits: number = MOST_UNITS) {
    this.most = mostUnits
  }

  append(entry: JournalEntry): void {
    this.units += ENTRY_UNITS + measureEntry(entry, this.most)
    if (this.units > this.most)
      throw new Error(`a journal in memory keeps ${this.most} heap units; keep the journal of a longer run in a file`)
    this.entries.push(entry)
  }
}

/** Heap units of the data in an entry. */
export function measureEntry(entry: JournalEntry, most: number): number {
  switch (entry.type) {
    case 'start':
      return measurePlain(entry.input, most)
    case 'effect':
      return measurePlain(entry.args, most)
    case 'answer':
      return measureOutcome(entry.outcome, most)
    case 'resume':
      return entry.outcome === null ? 0 : measureOutcome(entry.outcome, most)
    case 'nested':
      return measurePlain(entry.call.args, most)
    case 'nested_end':
      return entry.outcome.ok && entry.outcome.value !== undefined ? measurePlain(entry.outcome.value, most) : 0
    default:
      return 0
  }
}

export class JournalFormatError extends Error {
  override readonly name = 'JournalFormatError'
}

/** One line of JSON without a line break. */
export function encodeEntry(entry: JournalEntry): string {
  switch (entry.type) {
    case 'run':
    case 'restore':
      return JSON.stringify({
        ...entry,
        ...(entry.authority === undefined ? {} : { authority: authorityToJson(entry.authority) }),
      })
    case 'start':
      return JSON.stringify({
        ...entry,
        input: plainToJson(entry.input),
        ...(entry.globals === undefined ? {} : { globals: plainToJson(entry.globals) }),
      })
    case 'effect':
      return JSON.stringify({ ...entry, args: plainToJson(entry.args) })
    case 'answer':
      return JSON.stringify({ ...entry, outcome: outcomeToJson(entry.outcome) })
    case 'resume':
      return JSON.stringify({ ...entry, outcome: entry.outcome === null ? null : outcomeToJson(entry.outcome) })
    case 'nested':
      return JSON.stringify({ ...entry, call: { ...entry.call, args: plainToJson(entry.call.args) } })
    case 'nested_end':
      return JSON.stringify({ ...entry, outcome: nestedOutcomeToJson(entry.outcome) })
    default:
      return JSON.stringify(entry)
  }
}

export function decodeEntry(line: string): JournalEntry {
  let raw: Record<string, unknown>
  try {
    raw = JSON.parse(line) as Record<string, unknown>
  } catch {
    throw new JournalFormatError('journal line is not JSON')
  }
  if (typeof raw !== 'object' || raw === null) throw new JournalFormatError('journal line is not a JSON object')
  const readNumber = (key: string): number => {
    const value = raw[key]
    if (typeof value !== 'number')
      throw new JournalFormatError(`journal entry ${JSON.stringify(raw['type'])} has no number "${key}"`)
    return value
  }
  const readText = (key: string): string => {
    const value = raw[key]
    if (typeof value !== 'string')
      throw new JournalFormatError(`journal entry ${JSON.stringify(raw['type'])} has no text "${key}"`)
    return value
  }
  switch (raw['type']) {
    case 'run': {
      if (readNumber('format') !== JOURNAL_FORMAT)
        throw new JournalFormatError(`journal format ${readNumber('format')} is not ${JOURNAL_FORMAT}`)
      const sources = parseSources(raw['sources'])
      const known = { runId: readText('runId'), program: readText('program'), label: readText('label') }
      return {
        type: 'run',
        format: JOURNAL_FORMAT,
        ...known,
        ...(sources === null ? {} : { sources }),
        ...(Array.isArray(raw['branches']) ? { branches: (raw['branches'] as unknown[]).map(readBranch) } : {}),
        ...readAuthority(raw),
        ...(raw['dryRun'] === true ? { dryRun: true } : {}),
      }
    }
    case 'start':
      return {
        type: 'start',
        now: readNumber('now'),
        input: plainFromJson(raw['input'] ?? null),
        ...(raw['globals'] === undefined
          ? {}
          : {
              globals: readRecord(plainFromJson(raw['globals']), 'the globals of a journal') as {
                readonly [name: string]: Plain
              },
            }),
        ...(raw['limits'] === undefined ? {} : { limits: readLimits(raw['limits']) }),
      }
    case 'restore':
      return { type: 'restore', now: readNumber('now'), ...readAuthority(raw) }
    case 'effect':
      return { type: 'effect', id: readNumber('id'), kind: readText('kind'), args: plainFromJson(raw['args'] ?? null) }
    case 'answer':
      return { type: 'answer', id: readNumber('id'), outcome: outcomeFromJson(raw['outcome']) }
    case 'resume': {
      const id = raw['id'] === null ? null : readNumber('id')
      return { type: 'resume', id, outcome: id === null ? null : outcomeFromJson(raw['outcome']), now: readNumber('now') }
    }
    case 'nested':
      return { type: 'nested', id: readNumber('id'), inside: raw['inside'] === true, call: nestedCallFromJson(raw['call']) }
    case 'nested_end': {
      const outcome = nestedOutcomeFromJson(raw['outcome'])
      const facts = { id: readNumber('id'), inside: raw['inside'] === true, call: readText('call'), now: readNumber('now') }
      return { type: 'nested_end', ...facts, outcome }
    }
    case 'token':
      return { type: 'token', id: readNumber('id'), token: readText('token'), ...readLimit(raw['limit']) }
    case 'cancel':
      return { type: 'cancel', reason: readText('reason'), now: readNumber('now') }
    case 'end':
      return { type: 'end', kind: readText('kind'), ...(raw['trace'] === undefined ? {} : { trace: readText('trace') }) }
    default:
      throw new JournalFormatError(`unknown journal entry ${JSON.stringify(raw['type'])}`)
  }
}

function readLimit(raw: unknown): { readonly limit?: TokenLimit } {
  if (raw === undefined) return {}
  const { dueAt, error } = readRecord(raw, 'the time limit of a journal entry') as Partial<Record<keyof TokenLimit, unknown>>
  const { code, message } = readRecord(error, 'the time limit of a journal entry') as Record<string, unknown>
  if (typeof dueAt !== 'number' || typeof code !== 'string' || typeof message !== 'string')
    throw new JournalFormatError('the time limit of a journal entry is none')
  const isEnd = (raw as { readonly endsRun?: unknown }).endsRun === true
  return { limit: { dueAt, error: error as TokenLimit['error'], ...(isEnd ? { endsRun: true } : {}) } }
}

function readAuthority({ type, authority }: Record<string, unknown>): { readonly authority?: RunAuthority } {
  if (authority === undefined) return {}
  try {
    return { authority: authorityFromJson(authority) }
  } catch (cause) {
    throw new JournalFormatError(
      `journal entry ${JSON.stringify(type)}: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
}

/** What the run of a journal may do where that ends; null: it does not say. */
export function findLastAuthority(entries: readonly JournalEntry[]): RunAuthority | null {
  const last = entries.findLast((entry) => (entry.type === 'run' || entry.type === 'restore') && entry.authority !== undefined)
  return last?.type === 'run' || last?.type === 'restore' ? (last.authority ?? null) : null
}

function readRecord(data: unknown, what: string): { readonly [name: string]: unknown } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new JournalFormatError(`no record: ${what}`)
  return data as { readonly [name: string]: unknown }
}

function readLimits(raw: unknown): Limits {
  const limits: Record<string, number> = { ...DEFAULT_LIMITS }
  for (const name of Object.keys(DEFAULT_LIMITS)) {
    const value = (raw as { readonly [name: string]: unknown } | null)?.[name]
    if (typeof value === 'number') limits[name] = value
  }
  return limits as unknown as Limits
}

/** A half-written last line is what a crash leaves: it was never acted upon, so it is dropped. */
export function decodeJournal(text: string): JournalEntry[] {
  const lines = text.split('\n')
  const entries: JournalEntry[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (line.trim() === '') continue
    try {
      entries.push(decodeEntry(line))
    } catch (cause) {
      if (at === lines.length - 1 && cause instanceof JournalFormatError) break
      throw cause
    }
  }
  return entries
}

function outcomeToJson(outcome: EffectOutcome): unknown {
  if (outcome.ok) return { ok: true, value: plainToJson(outcome.value) }
  const { value, ...rest } = outcome.error
  return { ok: false, error: value === undefined ? rest : { ...rest, value: plainToJson(value) } }
}

function outcomeFromJson(json: unknown): EffectOutcome {
  const raw = json as { ok?: unknown; value?: unknown; error?: Record<string, unknown>; nested?: unknown } | null
  // Versions before wrote calls of tools by tools with the answer. Passing over them would give their budgets back.
  if (raw?.nested !== undefined)
    throw new JournalFormatError('the journal notes calls of tools by tools as older versions did: record the run again')
  if (raw?.ok === true) return { ok: true, value: plainFromJson(raw.value ?? null) }
  const error = raw?.error
  const kind = error?.['kind']
  if (error === undefined || typeof error['message'] !== 'string' || !isErrorKind(kind))
    throw new JournalFormatError('journal outcome is malformed')
  return {
    ok: false,
    error: {
      kind,
      message: error['message'],
      ...(typeof error['category'] === 'string' ? { category: error['category'] } : {}),
      ...(typeof error['code'] === 'string' ? { code: error['code'] } : {}),
      ...('value' in error ? { value: plainFromJson(error['value']) } : {}),
    },
  }
}

function nestedOutcomeToJson(outcome: NestedOutcome): unknown {
  if (outcome.ok) return outcome.value === undefined ? { ok: true } : { ok: true, value: plainToJson(outcome.value) }
  const { details, ...rest } = outcome
  return details === undefined ? rest : { ...rest, details: plainToJson(details) }
}

function nestedOutcomeFromJson(json: unknown): NestedOutcome {
  const raw = readRecord(json, 'the outcome of a call by a tool')
  if (raw['ok'] === true) return 'value' in raw ? { ok: true, value: plainFromJson(raw['value']) } : { ok: true }
  const { code, message, denied } = raw
  if (typeof code !== 'string' || typeof message !== 'string')
    throw new JournalFormatError('journal entry "nested_end" has an outcome without its code or message')
  const more = 'details' in raw ? { details: plainFromJson(raw['details']) } : {}
  return { ok: false, code, message, ...more, denied: denied === true }
}

function nestedCallFromJson(json: unknown): NestedCall {
  const raw = readRecord(json, 'a call by a tool')
  const { id, tool, args, parent, task, startedMs } = raw
  const counts = readRecord(raw['counts'], 'what a call by a tool counts')
  if (typeof id !== 'string' || typeof tool !== 'string' || typeof task !== 'number' || typeof startedMs !== 'number')
    throw new JournalFormatError('journal entry "nested" has a call without its id, tool, task or time')
  // A negative count would give a budget back.
  if (!Object.values(counts).every((amount) => typeof amount === 'number' && amount >= 0))
    throw new JournalFormatError('journal entry "nested" has a count that is no amount')
  return {
    id,
    tool,
    args: plainFromJson(args ?? null),
    parent: typeof parent === 'string' ? parent : null,
    task,
    counts: counts as { readonly [counter: string]: number },
    startedMs,
    ...readNoteKind(raw['kind']),
  }
}

function readNoteKind(kind: unknown): { readonly kind?: NoteKind } {
  if (kind === undefined) return {}
  const found = NOTE_KINDS.find((each) => each === kind)
  if (found === undefined) throw new JournalFormatError(`journal entry "nested" is of the unknown kind ${JSON.stringify(kind)}`)
  return { kind: found }
}

function isErrorKind(kind: unknown): kind is EffectError['kind'] {
  return EFFECT_ERROR_KINDS.includes(kind as EffectError['kind'])
}

function readBranch(raw: unknown): RunBranch {
  const { name, effect, call } = (raw ?? {}) as { readonly [key: string]: unknown }
  if (typeof name !== 'string' || typeof effect !== 'number' || typeof call !== 'number')
    throw new JournalFormatError('journal entry "run" has a branch without its name or numbers')
  return { name, effect, call }
}
