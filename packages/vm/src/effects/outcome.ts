// What the answer to an effect is to the task that waits for it: a value, or a fault of the kind that the provider named.

import { EdgeError, fromPlain, plainUnits } from '../values/plain.js'
import { categorized, runtimeFault, thrown, typeFault } from '../interpreter/fault.js'
import type { Fault } from '../interpreter/fault.js'
import type { Delivery } from '../scheduler/task.js'
import type { EffectOutcome } from './effect.js'

export function effectFault(outcome: Extract<EffectOutcome, { ok: false }>): Fault {
  const { error } = outcome
  switch (error.kind) {
    case 'thrown':
      return thrown(error.value === undefined ? error.message : fromPlain(error.value))
    case 'runtime':
      return runtimeFault(error.message)
    case 'type':
      return typeFault(error.message)
    case 'categorized':
      return categorized(error.category ?? 'generic', error.message, error.code)
  }
}

export function outcomeDelivery(outcome: EffectOutcome): Delivery {
  return outcome.ok ? { kind: 'value', value: fromPlain(outcome.value) } : { kind: 'fault', fault: effectFault(outcome) }
}

/** Heap units that an answer takes in the machine. Raises EdgeError beyond `most`. */
export function outcomeUnits(outcome: EffectOutcome, most: number): number {
  if (outcome.ok) return plainUnits(outcome.value, most)
  const { message, value } = outcome.error
  return message.length + (value === undefined ? 0 : plainUnits(value, most))
}

const ERROR_KINDS: ReadonlySet<unknown> = new Set(['thrown', 'runtime', 'type', 'categorized'])

/**
 * Why an answer is none that a machine can take in, null when it is one: it is no outcome, it holds what is no data, or it is nested
 * too deeply or larger than `most` heap units.
 */
export function outcomeProblem(outcome: unknown, most: number): string | null {
  if (typeof outcome !== 'object' || outcome === null)
    return `the answer is ${outcome === null ? 'null' : typeof outcome}, and must be { ok: true, value } or { ok: false, error }`
  const { ok, value, error } = outcome as { readonly ok?: unknown; readonly value?: unknown; readonly error?: unknown }
  if (ok === true) return dataProblem(value, most)
  if (ok !== false || typeof error !== 'object' || error === null)
    return 'the answer must be { ok: true, value } or { ok: false, error }'
  const told = error as { readonly [key: string]: unknown }
  if (!ERROR_KINDS.has(told['kind'])) return `the kind of its error must be one of ${[...ERROR_KINDS].join(', ')}`
  if (typeof told['message'] !== 'string') return 'its error has no message'
  if (!isTextOrAbsent(told['category']) || !isTextOrAbsent(told['code'])) return 'category and code of its error must be strings'
  return told['message'].length > most ? `its message has more than ${most} characters` : dataProblem(told['value'], most)
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function dataProblem(value: unknown, most: number): string | null {
  try {
    plainUnits(value, most)
    return null
  } catch (cause) {
    if (cause instanceof EdgeError) return cause.message
    throw cause
  }
}
