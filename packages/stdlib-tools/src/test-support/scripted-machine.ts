// A machine that follows a script of steps instead of bytecode, for tests of the driver: each step says what the next entry
// into the machine does.

import type { Effect, EffectOutcome, RunExit, Value } from '@bridle/vm'
import type { AnswerEffect, DrivenMachine } from '../host/machine.js'

export interface Entered {
  readonly answer: { readonly id: number; readonly outcome: EffectOutcome } | null
  readonly now: number
  /** Asks for an effect; null when it is pending. */
  readonly ask: (effect: Effect) => EffectOutcome | null
  readonly input: Value
}

export type Step = (entered: Entered) => RunExit

export class ScriptedMachine implements DrivenMachine {
  readonly log: string[] = []
  private readonly steps: Step[]
  private readonly answer: AnswerEffect
  private nextId = 1
  private input: Value = null
  /** Effects that a restored machine still waits for. */
  private readonly wanted: readonly { readonly id: number; readonly effect: Effect }[]

  constructor(
    steps: readonly Step[],
    answer: AnswerEffect,
    wanted: readonly { readonly id: number; readonly effect: Effect }[] = [],
  ) {
    this.wanted = wanted
    this.steps = [...steps]
    this.answer = answer
  }

  start(input: Value, now: number): RunExit {
    this.input = input
    return this.step(null, now)
  }

  resume(answer: Entered['answer'], now: number): RunExit {
    this.log.push(
      answer === null
        ? `resume at ${now}`
        : `answer ${answer.id} ${answer.outcome.ok ? JSON.stringify(answer.outcome.value) : answer.outcome.error.message} at ${now}`,
    )
    return this.step(answer, now)
  }

  snapshot(): Uint8Array {
    return new TextEncoder().encode(`steps left: ${this.steps.length}`)
  }

  pendingEffects(): readonly { readonly id: number; readonly effect: Effect }[] {
    return this.wanted
  }

  private step(answer: Entered['answer'], now: number): RunExit {
    const step = this.steps.shift()
    if (step === undefined) throw new Error('the machine was entered once too often')
    return step({ answer, now, input: this.input, ask: (effect) => this.answer(effect, this.nextId++) })
  }
}

export const makeDone = (value: Value = null, output = ''): RunExit => ({ kind: 'done', output, value })
export const makeSuspended = (wakeAt: number | null = null, output = ''): RunExit => ({
  kind: 'suspended',
  output,
  effects: [],
  wakeAt,
})
export const makeYielded = (): RunExit => ({ kind: 'yielded', output: '', effects: [] })
