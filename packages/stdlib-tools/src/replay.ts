// Replay: the same program, fed from a journal instead of the world. Nothing is performed and nothing is awaited. The first
// place where the program asks for something else than it did then is reported with both calls; what the recording did not
// reach is reported as exhausted.

import { fromPlain } from '@bridle/vm'
import type { Effect, EffectOutcome, RunExit } from '@bridle/vm'
import { stuckFault } from './driver.js'
import type { AnswerEffect, DriveEnd, DrivenMachine } from './driver.js'
import type { JournalEntry } from './journal.js'
import { encodePlain } from './journal-codec.js'

export interface RecordedCall {
  readonly kind: string
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
}

export type ReplayEnd =
  | { readonly kind: 'ended'; readonly end: DriveEnd; readonly output: string }
  | { readonly kind: 'diverged'; readonly divergence: Divergence; readonly output: string }

export interface ReplayOptions {
  readonly machine: (answer: AnswerEffect) => DrivenMachine
  readonly entries: readonly JournalEntry[]
  /** Called with each piece of output. */
  readonly output?: (text: string) => void
  /** After each exit; the machine to go on with (the conformance runner swaps in a restored one). */
  readonly afterExit?: (machine: DrivenMachine, exit: RunExit, answer: AnswerEffect) => DrivenMachine
}

export function replay(options: ReplayOptions): ReplayEnd {
  return new Replayer(options).run()
}

class Replayer {
  private readonly options: ReplayOptions
  private readonly entries: readonly JournalEntry[]
  private at = 0
  private divergence: Divergence | null = null
  private exitCode: number | null = null
  private output = ''

  constructor(options: ReplayOptions) {
    this.options = options
    this.entries = options.entries
  }

  run(): ReplayEnd {
    const answer: AnswerEffect = (effect) => this.answer(effect)
    let machine = this.options.machine(answer)
    if (this.peek()?.type === 'run') this.at++
    const first = this.peek()
    if (first?.type !== 'start') return this.exhausted('the journal does not begin with a start')
    this.at++
    let exit = machine.start(fromPlain(first.input), first.now)
    for (;;) {
      this.output += exit.output
      if (exit.output !== '') this.options.output?.(exit.output)
      if (this.divergence !== null) return { kind: 'diverged', divergence: this.divergence, output: this.output }
      const next = this.peek()
      if (next?.type === 'cancel') {
        const rest = machine.cancel?.(next.reason).output ?? ''
        this.output += rest
        if (rest !== '') this.options.output?.(rest)
        return this.ended({ kind: 'cancelled', reason: next.reason })
      }
      if (next?.type === 'end' && this.exitCode !== null) return this.ended({ kind: 'exit', code: this.exitCode })
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
        return this.ended({ kind: 'failed', fault: stuckFault() })
      if (next === undefined || next.type !== 'resume')
        return this.exhausted(`the program waits, the journal has ${next === undefined ? 'ended' : `"${next.type}"`}`)
      machine = this.options.afterExit?.(machine, exit, answer) ?? machine
      this.at++
      exit = machine.resume(next.id === null ? null : { id: next.id, outcome: next.outcome! }, next.now)
    }
  }

  private answer(effect: Effect): EffectOutcome | null {
    // The machine may go on with other tasks after a mismatch; what it asks then is not answered and not judged.
    if (this.divergence !== null) return null
    const actual: RecordedCall = { kind: effect.kind, args: encodePlain(effect.args) }
    const next = this.peek()
    if (next?.type !== 'effect') {
      this.diverge(
        next === undefined ? 'replay_exhausted' : 'replay_mismatch',
        `${actual.kind} was called, but the recording has no call here`,
        null,
        actual,
      )
      return null
    }
    const expected: RecordedCall = { kind: next.kind, args: encodePlain(next.args) }
    if (expected.kind !== actual.kind) {
      this.diverge('replay_mismatch', `${actual.kind} was called where the recording has ${expected.kind}`, expected, actual)
      return null
    }
    if (expected.args !== actual.args) {
      this.diverge('replay_mismatch', `${actual.kind} was called with other arguments than recorded`, expected, actual)
      return null
    }
    this.at++
    const args = effect.args as { readonly op?: unknown; readonly code?: unknown }
    if (effect.kind === 'process.set' && args.op === 'exit')
      this.exitCode = Math.min(255, Math.max(0, Math.trunc(Number(args.code))))
    const behind = this.peek()
    if (behind?.type !== 'answer' || behind.id !== next.id) return null
    this.at++
    return behind.outcome
  }

  private peek(): JournalEntry | undefined {
    return this.entries[this.at]
  }

  private finish(end: DriveEnd): ReplayEnd {
    const next = this.peek()
    if (next !== undefined && next.type !== 'end') {
      const expected = next.type === 'effect' ? { kind: next.kind, args: encodePlain(next.args) } : null
      this.diverge(
        'replay_mismatch',
        `the program ended (${end.kind}) where the recording goes on with "${expected?.kind ?? next.type}"`,
        expected,
        null,
      )
    } else if (next !== undefined && next.kind !== end.kind) {
      this.diverge('replay_mismatch', `the program ended as "${end.kind}", the recording as "${next.kind}"`, null, null)
    }
    return this.divergence === null ? this.ended(end) : { kind: 'diverged', divergence: this.divergence, output: this.output }
  }

  private ended(end: DriveEnd): ReplayEnd {
    return { kind: 'ended', end, output: this.output }
  }

  private exhausted(message: string): ReplayEnd {
    this.diverge('replay_exhausted', message, null, null)
    return { kind: 'diverged', divergence: this.divergence!, output: this.output }
  }

  private diverge(code: Divergence['code'], message: string, expected: RecordedCall | null, actual: RecordedCall | null): void {
    this.divergence ??= { at: this.at, code, message, expected, actual }
  }
}
