// The outcome of an effect as its waiting task sees it: a value, or a fault of the kind that the provider named.

import { EdgeError, PlainSize, ValueWalk, fromPlain, measurePlain } from '../values/plain.js'
import type { Plain } from '../values/data.js'
import type { Value } from '../values/value.js'
import { makeCategorized, makeRuntimeFault, makeThrown, makeTypeFault } from '../interpreter/fault.js'
import type { Fault } from '../interpreter/fault.js'
import type { Delivery } from '../scheduler/task.js'
import type { EffectOutcome } from './effect.js'
import { EFFECT_ERROR_KINDS } from './effect.js'

export function makeEffectFault(outcome: Extract<EffectOutcome, { ok: false }>): Fault {
  const { error } = outcome
  switch (error.kind) {
    case 'thrown':
      return makeThrown(error.value === undefined ? error.message : fromPlain(error.value))
    case 'runtime':
      return makeRuntimeFault(error.message)
    case 'type':
      return makeTypeFault(error.message)
    case 'categorized':
      return makeCategorized(error.category ?? 'generic', error.message, error.code)
  }
}

export function makeDelivery(outcome: EffectOutcome): Delivery {
  return outcome.ok ? { kind: 'value', value: toValue(outcome) } : { kind: 'fault', fault: makeEffectFault(outcome) }
}

/** The value of an outcome; the prepared one, if there is one. */
export function toValue(outcome: Extract<EffectOutcome, { ok: true }>): Value {
  const made = prepared.get(outcome)
  if (made === undefined) return fromPlain(outcome.value)
  // A machine changes values in place that nothing else holds, so a second delivery makes its own.
  prepared.delete(outcome)
  return made.value
}

/** Heap units of an outcome in the machine. Throws EdgeError beyond `most`. */
export function measureOutcome(outcome: EffectOutcome, most: number): number {
  const made = prepared.get(outcome)
  if (made !== undefined && made.units <= most) return made.units
  if (outcome.ok) return measurePlain(outcome.value, most)
  const { message, value } = outcome.error
  return message.length + (value === undefined ? 0 : measurePlain(value, most))
}

const ERROR_KINDS: ReadonlySet<unknown> = new Set(EFFECT_ERROR_KINDS)

/**
 * Why a machine cannot accept an outcome, null if it can: it is not an outcome, contains values other than data, or is nested
 * too deeply or larger than `most` heap units.
 */
export function describeOutcomeProblem(outcome: unknown, most: number): string | null {
  const walk = new OutcomeWalk(outcome, most)
  walk.step(Infinity)
  return walk.problem
}

/** Values made before their delivery: a machine cannot return control to the host while it converts an outcome. */
const prepared = new WeakMap<EffectOutcome, { readonly value: Value; readonly units: number }>()

/**
 * `describeOutcomeProblem` in pieces. An outcome of several pieces is also converted to values, which its delivery uses. It must not change
 * between two pieces.
 */
export class OutcomeWalk {
  /** Set when everything is done. */
  problem: string | null = null
  private readonly outcome: unknown
  private size: PlainSize | null = null
  private value: ValueWalk | null = null
  private isLarge = false

  constructor(outcome: unknown, most: number) {
    this.outcome = outcome
    this.problem = describeShapeProblem(outcome, most)
    if (this.problem === null) this.runGuarded(() => (this.size = new PlainSize(readData(outcome as EffectOutcome), most)))
  }

  /** Does one piece; returns whether everything is done. */
  step(piece?: number): boolean {
    let isDone = true
    this.runGuarded(() => (isDone = this.go(piece)))
    return isDone
  }

  private go(piece: number | undefined): boolean {
    const { size } = this
    if (size === null) return true
    if (this.value === null) {
      if (size.step(piece)) return !this.isLarge || this.begin()
      this.isLarge = true
      return false
    }
    if (!this.value.step(piece)) return false
    prepared.set(this.outcome as EffectOutcome, { value: this.value.value, units: size.units })
    return true
  }

  private begin(): boolean {
    const outcome = this.outcome as EffectOutcome
    // The value of an error is small; if not, its size was reported as a problem.
    if (!outcome.ok) return true
    this.value = new ValueWalk(outcome.value ?? null)
    return false
  }

  private runGuarded(act: () => void): void {
    try {
      act()
    } catch (cause) {
      if (!(cause instanceof EdgeError)) throw cause
      this.problem = cause.message
      this.size = null
    }
  }
}

/** Whether any machine can accept an outcome, by a quick test: a number, a bool, nothing. */
export function isPlainAnswer(outcome: EffectOutcome): boolean {
  if ((outcome as { readonly ok?: unknown } | null)?.ok !== true) return false
  const { value } = outcome as { readonly value: unknown }
  return value === null || typeof value === 'number' || typeof value === 'boolean'
}

function readData(outcome: EffectOutcome): Plain | undefined {
  return outcome.ok ? outcome.value : outcome.error.value
}

function describeShapeProblem(outcome: unknown, most: number): string | null {
  if (typeof outcome !== 'object' || outcome === null)
    return `the answer is ${outcome === null ? 'null' : typeof outcome}, and must be { ok: true, value } or { ok: false, error }`
  const { ok, error } = outcome as { readonly ok?: unknown; readonly error?: unknown }
  if (ok === true) return null
  if (ok !== false || typeof error !== 'object' || error === null)
    return 'the answer must be { ok: true, value } or { ok: false, error }'
  const told = error as { readonly [key: string]: unknown }
  if (!ERROR_KINDS.has(told['kind'])) return `the kind of its error must be one of ${[...ERROR_KINDS].join(', ')}`
  if (typeof told['message'] !== 'string') return 'its error has no message'
  if (!isTextOrAbsent(told['category']) || !isTextOrAbsent(told['code'])) return 'category and code of its error must be strings'
  return told['message'].length > most ? `its message has more than ${most} characters` : null
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}
