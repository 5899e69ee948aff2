// Replay: the same program, fed from a journal instead of the world. Nothing is performed and nothing is awaited. The first
// place where the program asks for something else than it did then is reported with both calls and the place in the source; what
// the recording did not reach is reported as exhausted.
//
// Calls are numbered from 1 in the order in which the program makes them, which is their id in the journal. A replay can stop
// in front of any call (`until`), and can give a call another answer than it had (`edits`), to see where the run goes then.

import { fromPlain } from '@bridle/vm'
import type { Effect, EffectOutcome, RunExit, ScriptPlace } from '@bridle/vm'
import { listUndos } from '../tools/dispatch/note-state.js'
import type { UndoCall } from '../tools/dispatch/note-state.js'
import { leaveNested } from '../tools/dispatch/nested-calls.js'
import { makeStuckFault } from './driver.js'
import { noteNested } from './performer.js'
import type { DriveEnd } from './machine-driver.js'
import type { AnswerEffect, DrivenMachine } from './machine.js'
import type { JournalEntry } from './journal.js'
import { encodePlain } from './journal-codec.js'
import { TraceHash } from './journal-trace.js'
import type { HashHex } from './journal-trace.js'
import { isSameData } from './run-authority.js'
import type { RunAuthority } from './run-authority.js'
import type { PlainRecord } from '@bridle/vm'

export interface RecordedCall {
  /** Number of the call within the run. */
  readonly id: number
  readonly kind: string
  /** What a person calls it: the tool, the operation of the host, or the kind. */
  readonly name: string
  /** Arguments in the tagged JSON of journal-codec.ts. */
  readonly args: string
}

export interface Divergence {
  /** Index of the journal entry that was expected next. */
  readonly at: number
  readonly code: 'replay_mismatch' | 'replay_exhausted'
  readonly message: string
  /** The recorded call, null when the recording has no further call here. */
  readonly expected: RecordedCall | null
  /** The call the program made, null when it made none where the recording has one. */
  readonly actual: RecordedCall | null
  /** Where the program made its call, null when it made none. */
  readonly place: ScriptPlace | null
}

export type ReplayEnd =
  | {
      readonly kind: 'ended'
      readonly end: DriveEnd
      readonly output: string
      /** See journal-trace.ts. */
      readonly trace: string
      /** What is to be called when the run did not end well. */
      readonly undos: readonly UndoCall[]
    }
  | { readonly kind: 'diverged'; readonly divergence: Divergence; readonly output: string }
  /** Where the journal of a run that was cut off ends; only with `isOpen`. The machine waits, or has a slice of work before it. */
  | { readonly kind: 'open'; readonly machine: DrivenMachine; readonly output: string }
  /** In front of the call `next`, which is not answered. `machine` is null when the run ended without waiting for it. */
  | {
      readonly kind: 'stopped'
      readonly next: RecordedCall
      readonly place: ScriptPlace | null
      readonly machine: DrivenMachine | null
      readonly output: string
    }

export interface ReplayOptions {
  readonly machine: (answer: AnswerEffect) => DrivenMachine
  readonly entries: readonly JournalEntry[]
  readonly hashHex: HashHex
  /** Called with each piece of output. */
  readonly output?: (text: string) => void
  /** After each exit; the machine to continue with (the conformance runner swaps in a restored one). */
  readonly afterExit?: (machine: DrivenMachine, exit: RunExit, answer: AnswerEffect) => DrivenMachine
  /** Answers this many calls and stops in front of the next. */
  readonly until?: number
  /** By number of the call: what it is answered instead of what was recorded. */
  readonly edits?: ReadonlyMap<number, EffectOutcome>
  /** The journal may end anywhere, and may have been continued by other processes (`restore` entries in its middle). */
  readonly isOpen?: boolean
  /** The machine was restored from a snapshot, and the entries are what came behind it. */
  readonly tailOf?: { readonly authority: RunAuthority | null } | null
  /** The machine as another process continued with it: under an authority that is not the one of before. */
  readonly restored?: (machine: DrivenMachine, authority: RunAuthority, answer: AnswerEffect) => DrivenMachine
}

export function replay(options: ReplayOptions & { readonly isOpen?: false }): Exclude<ReplayEnd, { readonly kind: 'open' }>
export function replay(options: ReplayOptions): ReplayEnd
export function replay(options: ReplayOptions): ReplayEnd {
  return new Replayer(options).run()
}

/** One call of a recording with its answer, for lists. */
export interface ListedCall extends RecordedCall {
  /** Null when the run ended before it was answered. */
  readonly outcome: EffectOutcome | null
}

export function listCalls(entries: readonly JournalEntry[]): ListedCall[] {
  const outcomes = new Map<number, EffectOutcome>()
  for (const entry of entries) {
    if (entry.type === 'answer') outcomes.set(entry.id, entry.outcome)
    else if (entry.type === 'resume' && entry.id !== null) outcomes.set(entry.id, entry.outcome!)
  }
  return entries.flatMap((entry) =>
    entry.type === 'effect' ? [{ ...makeCall(entry.id, entry), outcome: outcomes.get(entry.id) ?? null }] : [],
  )
}

/** How a call is shown and compared. */
export function makeCall(id: number, effect: { readonly kind: string; readonly args: unknown }): RecordedCall {
  // A damaged journal may have anything here; a value that is not a record has no names, and differs from the program's request.
  const args = (typeof effect.args === 'object' && effect.args !== null ? effect.args : {}) as PlainRecord
  const { tool, name, op } = args as { readonly tool?: unknown; readonly name?: unknown; readonly op?: unknown }
  const named = [tool, name, op].find((each) => typeof each === 'string')
  return {
    id,
    kind: effect.kind,
    name: named === undefined ? effect.kind : `${effect.kind} ${String(named)}`,
    args: encodePlain(args),
  }
}

class Replayer {
  private readonly options: ReplayOptions
  private readonly entries: readonly JournalEntry[]
  private readonly trace: TraceHash
  private machine: DrivenMachine
  private at = 0
  private divergence: Divergence | null = null
  private stop: { readonly next: RecordedCall; readonly place: ScriptPlace | null } | null = null
  private exitCode: number | null = null
  /** What the recorded run was allowed at this place; null: the recording does not say. */
  private authority: RunAuthority | null = null
  /** By the journal. */
  private clock = 0
  private output = ''

  constructor(options: ReplayOptions) {
    this.options = options
    // The machine does not see which call waits for which.
    this.entries = options.entries.filter((entry) => entry.type !== 'token')
    this.trace = new TraceHash(options.hashHex)
    this.machine = options.machine((effect, id) => this.answer(effect, id))
  }

  run(): ReplayEnd {
    const answer: AnswerEffect = (effect, id) => this.answer(effect, id)
    const { tailOf = null } = this.options
    if (tailOf !== null) {
      this.authority = tailOf.authority
      return this.goOn({ kind: 'suspended', output: '', effects: [], wakeAt: null }, answer)
    }
    const head = this.peek()
    if (head?.type === 'run') {
      this.at++
      this.authority = head.authority ?? null
    }
    const first = this.peek()
    if (first?.type === 'restore') {
      return this.finishExhausted('the recording begins in the middle of a run, which was resumed from a snapshot')
    }
    if (first?.type !== 'start') return this.finishExhausted('the journal does not begin with a start')
    this.take(first)
    return this.goOn(this.machine.start(fromPlain(first.input), first.now), answer)
  }

  private goOn(entered: RunExit, answer: AnswerEffect): ReplayEnd {
    let exit = entered
    for (;;) {
      this.print(exit.output)
      if (this.divergence !== null) return { kind: 'diverged', divergence: this.divergence, output: this.output }
      const isOver = exit.kind !== 'suspended' && exit.kind !== 'yielded'
      if (this.stop !== null) return { kind: 'stopped', ...this.stop, machine: isOver ? null : this.machine, output: this.output }
      this.enterNested(false)
      this.skipRestores()
      const next = this.peek()
      if (next === undefined && !isOver && this.options.isOpen === true)
        return { kind: 'open', machine: this.machine, output: this.output }
      if (next?.type === 'cancel') {
        this.take(next)
        this.print(this.machine.cancel?.(next.reason).output ?? '')
        return this.finishEnded({ kind: 'cancelled', reason: next.reason })
      }
      if (next?.type === 'end' && this.exitCode !== null) return this.finishEnded({ kind: 'exit', code: this.exitCode })
      switch (exit.kind) {
        case 'done':
          return this.finish({ kind: 'done', value: exit.value })
        case 'failed':
          return this.finish({ kind: 'failed', fault: exit.fault })
        case 'limit':
          return this.finish({ kind: 'limit', limit: exit.limit, message: exit.message })
      }
      // A run that was found stuck was ended by the driver, not by the machine.
      if (next?.type === 'end' && next.kind === 'failed' && exit.kind === 'suspended')
        return this.finishEnded({ kind: 'failed', fault: makeStuckFault() })
      if (next === undefined || next.type !== 'resume')
        return this.finishExhausted(`the program waits, the journal has ${next === undefined ? 'ended' : `"${next.type}"`}`)
      this.machine = this.options.afterExit?.(this.machine, exit, answer) ?? this.machine
      const resume = next.id === null ? next : { ...next, outcome: this.chooseOutcome(next.id, next.outcome!) }
      this.at++
      this.clock = resume.now
      this.trace.add(resume)
      exit = this.machine.resume(resume.id === null ? null : { id: resume.id, outcome: resume.outcome! }, resume.now)
    }
  }

  private answer(effect: Effect, id: number): EffectOutcome | null {
    // The machine may continue with other tasks after a mismatch; what it asks then is not answered and not judged.
    if (this.divergence !== null || this.stop !== null) return null
    const actual = makeCall(id, effect)
    const place = this.machine.place ?? null
    if (id > (this.options.until ?? Infinity)) {
      this.stop = { next: actual, place }
      return null
    }
    const next = this.peek()
    // The process died before it had written the call down.
    if (this.options.isOpen === true && (next === undefined || next.type === 'restore')) return null
    if (next?.type !== 'effect') {
      this.diverge(
        next === undefined ? 'replay_exhausted' : 'replay_mismatch',
        `${actual.name} was called, but the recording has no call here`,
        null,
        actual,
        place,
      )
      return null
    }
    const expected = makeCall(next.id, next)
    if (expected.kind !== actual.kind) {
      const message = `${actual.name} was called where the recording has ${expected.name}`
      this.diverge('replay_mismatch', message, expected, actual, place)
      return null
    }
    if (expected.args !== actual.args) {
      this.diverge('replay_mismatch', `${actual.name} was called with other arguments than recorded`, expected, actual, place)
      return null
    }
    this.take(next)
    this.noteExit(effect.kind, effect.args)
    this.enterNested(true)
    const behind = this.peek()
    if (behind?.type !== 'answer' || behind.id !== next.id) return null
    const outcome = this.chooseOutcome(behind.id, behind.outcome)
    this.at++
    this.trace.add({ ...behind, outcome })
    return outcome
  }

  /** What another process asked for again when it took the run over is pending here already; its answers come by `resume`. */
  private skipRestores(): void {
    for (let entry = this.peek(); this.options.isOpen === true && entry?.type === 'restore'; entry = this.peek()) {
      this.at++
      const { authority } = entry
      if (authority !== undefined && this.authority !== null && !isSameData(authority, this.authority))
        this.machine = this.options.restored?.(this.machine, authority, (effect, id) => this.answer(effect, id)) ?? this.machine
      this.authority = authority ?? this.authority
      const pending = new Set(this.machine.pendingEffects?.().map(({ id }) => id))
      for (let next = this.peek(); next?.type === 'effect' && pending.has(next.id); next = this.peek()) {
        this.noteExit(next.kind, next.args as PlainRecord)
        this.at++
        this.enterNested(false)
      }
    }
  }

  /** Calls that tools made of other tools: nothing is performed, and they count where they counted. */
  private enterNested(inside: boolean): void {
    for (let entry = this.peek(); entry?.type === 'nested' || entry?.type === 'nested_end'; entry = this.peek()) {
      if (entry.inside !== inside) return
      this.take(entry)
      noteNested(this.machine, entry)
    }
  }

  private noteExit(kind: string, { op, code }: PlainRecord): void {
    if (kind === 'process.set' && op === 'exit') this.exitCode = Math.min(255, Math.max(0, Math.trunc(Number(code))))
  }

  private chooseOutcome(id: number, recorded: EffectOutcome): EffectOutcome {
    return this.options.edits?.get(id) ?? recorded
  }

  private peek(): JournalEntry | undefined {
    return this.entries[this.at]
  }

  private take(entry: JournalEntry): void {
    this.at++
    if ('now' in entry) this.clock = entry.now
    this.trace.add(entry)
  }

  private print(text: string): void {
    if (text === '') return
    this.output += text
    this.options.output?.(text)
  }

  private finish(end: DriveEnd): ReplayEnd {
    const next = this.peek()
    if (next !== undefined && next.type !== 'end') {
      const expected = next.type === 'effect' ? makeCall(next.id, next) : null
      this.diverge(
        'replay_mismatch',
        `the program ended (${end.kind}) where the recording goes on with "${expected?.name ?? next.type}"`,
        expected,
        null,
        null,
      )
    } else if (next !== undefined && next.kind !== end.kind) {
      this.diverge('replay_mismatch', `the program ended as "${end.kind}", the recording as "${next.kind}"`, null, null, null)
    }
    return this.divergence === null
      ? this.finishEnded(end)
      : { kind: 'diverged', divergence: this.divergence, output: this.output }
  }

  private finishEnded(end: DriveEnd): ReplayEnd {
    const { clock } = this
    this.machine.note?.((ctx) => leaveNested(ctx, clock))
    const trace = this.trace.finish(this.output)
    const last = this.peek()
    // All calls were the same, so it is the output that differs: the script prints something else than it did.
    const isWhole = (this.options.edits?.size ?? 0) === 0 && this.options.isOpen !== true
    if (last?.type === 'end' && last.trace !== undefined && last.trace !== trace && isWhole) {
      const message = 'every call was as recorded, but the program printed something else'
      this.diverge('replay_mismatch', message, null, null, null)
      return { kind: 'diverged', divergence: this.divergence!, output: this.output }
    }
    return { kind: 'ended', end, output: this.output, trace, undos: listUndos(this.machine.families ?? new Map()) }
  }

  private finishExhausted(message: string): ReplayEnd {
    this.diverge('replay_exhausted', message, null, null, null)
    return { kind: 'diverged', divergence: this.divergence!, output: this.output }
  }

  private diverge(
    code: Divergence['code'],
    message: string,
    expected: RecordedCall | null,
    actual: RecordedCall | null,
    place: ScriptPlace | null,
  ): void {
    this.divergence ??= { at: this.at, code, message, expected, actual, place }
  }
}
