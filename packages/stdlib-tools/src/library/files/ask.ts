// The usual shape of a builtin that needs the world: issue an effect, then turn the answer into a value, or ask once more.
// One native frame a family carries that; what to do with an answer is a row in the family's table, named in the state, so
// that a snapshot taken while the answer is pending holds plain data only.

import { HarnDict, display, frame } from '@bridle/vm/families'
import type { Context, Effect, FrameDef, Result, Value } from '@bridle/vm/families'

/** What a finisher returns to ask again. */
export class Again {
  readonly effect: Effect
  readonly then: string
  readonly input: readonly Value[]
  constructor(effect: Effect, then: string, input: readonly Value[]) {
    this.effect = effect
    this.then = then
    this.input = input
  }
}

/** Turns an answer into the builtin's result; `input` is what the builtin laid aside when it asked. */
export type Finisher = (ctx: Context, answer: Value, input: readonly Value[]) => Result | Again

interface AskState {
  [key: string]: unknown
  effect: Effect
  then: string
  input: readonly Value[]
  asked: boolean
}

export interface Asker {
  readonly frame: FrameDef
  readonly ask: (ctx: Context, effect: Effect, then: string, ...input: Value[]) => Result
}

export function makeAsker(kind: string, finishers: Readonly<Record<string, Finisher>>): Asker {
  return {
    frame: frame<AskState>({
      kind,
      step: (ctx, state) => {
        if (!state.asked) {
          state.asked = true
          return ctx.request(state.effect)
        }
        const result = finishers[state.then]!(ctx, ctx.result, state.input)
        if (!(result instanceof Again)) return result
        state.effect = result.effect
        state.then = result.then
        state.input = result.input
        return ctx.request(state.effect)
      },
    }),
    ask: (ctx, effect, then, ...input) => ctx.frame(kind, { effect, then, input, asked: false } satisfies AskState),
  }
}

/** The facts of a `Refused` record (library/effects/records.ts); null for any other answer. */
export interface Refusal {
  readonly code: string
  readonly detail: string
  readonly path: string
  readonly readField: (name: string) => Value
}

export function findRefusal(answer: Value): Refusal | null {
  if (!(answer instanceof HarnDict) || answer.get('refused') !== true) return null
  const readField = (name: string): Value => answer.get(name) ?? null
  const readText = (name: string): string => display(answer.get(name) ?? '')
  return { code: readText('code'), detail: readText('detail'), path: readText('path'), readField }
}

/** A field of an answer that is a record. */
export function readAnswerField(answer: Value, name: string): Value {
  return answer instanceof HarnDict ? (answer.get(name) ?? null) : null
}

export function readTextField(answer: Value, name: string): string {
  return display(readAnswerField(answer, name) ?? '')
}
