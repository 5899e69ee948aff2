// `bridle replay RECORDING [FILE]`: runs a script from the journal of an earlier run. Nothing is performed. The first point where the
// script diverges is shown, with the call and its line. The script is the current version of the
// recorded one, or the recorded version if the file is gone.

import { existsSync } from 'node:fs'
import { JournalFormatError, decodePlain, listCalls } from '@bridle/stdlib-tools'
import type { JournalEntry, ListedCall, Module, ReplayResult, Runtime } from '@bridle/stdlib-tools'
import { readJournal } from '@bridle/stdlib-tools/node'
import type { EffectOutcome } from '@bridle/vm'
import type { AuthorityFlags } from '../authority.js'
import { CommandError, EXIT_FAILURE, UsageError, makeUnreadableError } from '../errors.js'
import { makeJsonError } from '../failure-document.js'
import { makeFaultError, renderFault } from '../fault-report.js'
import type { SourceLookup } from '../fault-report.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript, makeSourceLookup } from '../load.js'
import type { Script } from '../script.js'
import { writeWhole } from '../perform.js'
import { makeResumingAuthority, tellWidened } from '../resuming.js'
import { toStatus } from '../run-report.js'
import { complain, tell, tellJson } from '../printable.js'
import { formatCall, renderDivergence, renderPlace } from '../render-divergence.js'
import { readFurtherLimits } from '../further-limits.js'
import type { LimitFlags } from '../further-limits.js'

export interface ReplayFlags extends AuthorityFlags, LimitFlags {
  readonly widen?: boolean
  readonly eval?: string
  readonly recorded?: boolean
  readonly until?: number
  readonly edit?: readonly string[]
  readonly out?: string
  readonly list?: boolean
  readonly json?: boolean
}

export async function replayCommand(recording: string, file: string | undefined, options: ReplayFlags): Promise<number> {
  const entries = readRecording(recording)
  if (options.list === true) return list(listCalls(entries), options.json === true)
  if (options.out !== undefined && options.until === undefined) throw new UsageError('--out needs --until: a place to stop at')
  const edits = parseEdits(options.edit ?? [], listCalls(entries))
  const opened = await openProgram(recording, entries, file, options)
  if (opened === null) return EXIT_FAILURE
  const { runtime, module, script, isWidening } = opened
  // Other processes recovered it after a crash.
  const wasRecovered = entries.slice(2).some(({ type }) => type === 'restore')
  const result = runtime.replay(module, entries, {
    edits,
    ...(wasRecovered ? { isOpen: true } : {}),
    ...(isWidening ? { widen: true } : {}),
    ...(options.until === undefined ? {} : { until: options.until }),
    ...(options.json === true ? {} : { output: (text) => void process.stdout.write(text) }),
  })
  const sources = makeSourceLookup(module, script)
  const ending = judge(result, { sources, isEdited: edits.size > 0 })
  if (result.kind === 'stopped' && options.out !== undefined) {
    if (result.snapshot === null) throw new CommandError('the run ended without waiting for that call; there is nothing to write')
    writeWhole(options.out, result.snapshot())
  }
  if (options.json === true) tellJson(makeDocument(result, ending.code, { out: options.out, sources }))
  else complain(ending.text)
  if (options.out !== undefined && result.kind !== 'stopped')
    complain('bridle: the replay ended before that; no snapshot was written\n')
  return ending.code
}

// ---- the run

interface OpenedProgram {
  readonly runtime: Runtime
  readonly module: Module
  readonly script: Script
  readonly isWidening: boolean
}

async function openProgram(
  recording: string,
  entries: readonly JournalEntry[],
  file: string | undefined,
  options: ReplayFlags,
): Promise<OpenedProgram | null> {
  const [first] = entries
  if (first?.type !== 'run') throw new CommandError(`${recording} is not the journal of a run`)
  const named = file ?? (options.eval === undefined && existsSync(first.label) ? first.label : undefined)
  const before = first.authority ?? null
  // Only a snapshot continues for real; nothing else here performs anything.
  const isKept = options.out !== undefined
  const makeRuntime = async (key: string): Promise<{ readonly runtime: Runtime; readonly isWidening: boolean }> => {
    const { authority, isWidening } = await makeResumingAuthority(options, { before, script: key, isAsked: isKept })
    const made = makeCommandRuntime({
      script: key,
      terminal: false,
      args: [],
      authority,
      furtherLimits: readFurtherLimits(options),
    })
    if (isKept && isWidening && before !== null) tellWidened(made, before, authority)
    return { runtime: made, isWidening }
  }
  const asRecorded = options.recorded === true || (named === undefined && options.eval === undefined)
  if (asRecorded) {
    if (first.sources === undefined) throw new CommandError(`${recording} has no sources; name the script that was recorded`)
    const { key, text } = first.sources.entry
    const { runtime, isWidening } = await makeRuntime(key)
    return { runtime, module: runtime.moduleOfRecording(entries), script: { key, shown: key, text }, isWidening }
  }
  const script = await readScript(named, options.eval)
  const { runtime, isWidening } = await makeRuntime(script.key)
  const module = compileScript(runtime, script, options)
  if (module === null) return null
  if (first.program !== module.hash) complain(`warning: ${script.shown} has changed since ${recording} was recorded\n`)
  return { runtime, module, script, isWidening }
}

/** Throws UsageError and CommandError. */
export function readRecording(path: string): JournalEntry[] {
  try {
    return readJournal(path)
  } catch (cause) {
    if (cause instanceof JournalFormatError) throw new CommandError(`${path} is not a journal: ${cause.message}`)
    throw makeUnreadableError(path, cause)
  }
}

/** `N=JSON`, in the tagged JSON of journals. */
function parseEdits(texts: readonly string[], calls: readonly ListedCall[]): Map<number, EffectOutcome> {
  const edits = new Map<number, EffectOutcome>()
  for (const text of texts) {
    const match = /^(\d+)=(.*)$/s.exec(text)
    if (match === null) throw new UsageError(`--edit takes N=JSON, not ${JSON.stringify(text)}`)
    const id = Number(match[1])
    const call = calls.find((each) => each.id === id)
    if (call === undefined)
      throw new UsageError(`--edit ${id}: the recording has ${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`)
    try {
      const value = decodePlain(match[2]!)
      edits.set(id, { ok: true, value })
      const recorded = readAnswer(call.outcome)
      if (describeShape(recorded) !== describeShape(value))
        complain(
          `warning: --edit ${id}: the recorded answer is ${describeShape(recorded)}: ${shortenText(JSON.stringify(recorded, toJsonValue))}\n`,
        )
    } catch (cause) {
      throw new UsageError(`--edit ${id}: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }
  return edits
}

// ---- the report

function judge(
  result: ReplayResult,
  { sources, isEdited }: { readonly sources: SourceLookup; readonly isEdited: boolean },
): { readonly code: number; readonly text: string } {
  switch (result.kind) {
    case 'diverged':
      return { code: EXIT_FAILURE, text: renderDivergence(result.divergence, sources, isEdited) }
    case 'stopped':
      return { code: 0, text: `bridle: stopped in front of ${formatCall(result.next)}\n${renderPlace(result.place, sources)}` }
    case 'ended': {
      const { end } = result
      switch (end.kind) {
        case 'done': {
          const { code, complaint } = toStatus(end.value)
          return { code, text: complaint }
        }
        case 'exit':
          return { code: end.code, text: '' }
        case 'failed':
          return { code: EXIT_FAILURE, text: renderFault(end.fault, sources) }
        case 'limit':
          return { code: EXIT_FAILURE, text: `error: ${end.message}\n` }
        case 'cancelled':
          return { code: EXIT_FAILURE, text: `error: the recorded run was cancelled here: ${end.reason}\n` }
      }
    }
  }
}

function list(calls: readonly ListedCall[], json: boolean): number {
  if (json) {
    const answers = calls.map(({ outcome, ...call }) => ({
      ...call,
      args: JSON.parse(call.args) as unknown,
      answer: readAnswer(outcome),
    }))
    tellJson({ calls: answers }, toJsonValue)
    return 0
  }
  for (const call of calls) {
    const answer = JSON.stringify(readAnswer(call.outcome), toJsonValue)
    tell(`${String(call.id).padStart(4)}  ${call.name} ${shortenText(call.args)}\n      ${shortenText(answer)}\n`)
  }
  return 0
}

/** What the builtin of a call reads from its outcome. */
function describeShape(answer: unknown): string {
  if (answer === null) return 'nil'
  if (Array.isArray(answer)) return 'a list'
  if (answer instanceof Uint8Array) return 'bytes'
  if (typeof answer !== 'object')
    return typeof answer === 'string' ? 'a text' : typeof answer === 'boolean' ? 'a bool' : 'a number'
  return `a record of ${Object.keys(answer).toSorted().join(', ')}`
}

function readAnswer(outcome: EffectOutcome | null): unknown {
  if (outcome === null) return { unanswered: true }
  return outcome.ok ? outcome.value : { error: outcome.error.message }
}

function toJsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

const LONGEST_SHOWN = 200

function shortenText(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}… (${text.length} characters)`
}

function makeDocument(
  result: ReplayResult,
  code: number,
  { out, sources }: { readonly out: string | undefined; readonly sources: SourceLookup },
): Readonly<Record<string, unknown>> {
  const common = { exit_code: code, output: result.output }
  switch (result.kind) {
    case 'diverged':
      return { status: 'diverged', ...common, divergence: result.divergence }
    case 'stopped':
      return {
        status: 'stopped',
        ...common,
        next: result.next,
        place: result.place,
        ...(out === undefined ? {} : { snapshot: out }),
      }
    case 'ended': {
      const { end, trace } = result
      const error =
        end.kind === 'failed'
          ? makeFaultError(end.fault, sources)
          : end.kind === 'limit'
            ? makeJsonError('limit', end.message)
            : null
      return { status: end.kind, ...common, trace, ...(error === null ? {} : { error, errors: [error] }) }
    }
  }
}
