// Callable values and user-defined structs.

import type { FunctionCode } from '../interpreter/module.js'
import type { Value } from './value.js'

/** A script function: shared code, the values it captured, and the module state it belongs to. */
export class HarnClosure {
  readonly code: FunctionCode
  readonly captures: Value[]
  constructor(code: FunctionCode, captures: Value[]) {
    this.code = code
    this.captures = captures
  }
}

/** A builtin as a value; it is looked up by name in the registry of the machine that calls it. */
export class HarnBuiltin {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A callable name that is bound after a closure over it was made (self and mutual recursion, design §8.3). */
export class HarnCell {
  value: Value
  constructor(value: Value) {
    this.value = value
  }
}

/**
 * `home` names the module whose `impl` blocks are tried first. `fields` holds the set fields only; order is irrelevant,
 * display sorts. `owned` as for lists.
 */
export class HarnStruct {
  readonly name: string
  readonly home: string
  readonly fields: Map<string, Value>
  owned = false
  constructor(name: string, home: string, fields: Map<string, Value>) {
    this.name = name
    this.home = home
    this.fields = fields
  }
}
