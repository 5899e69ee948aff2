// What the answer to an effect is to the task that waits for it: a value, or a fault of the kind that the provider named.

import { fromPlain } from '../values/plain.js'
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
