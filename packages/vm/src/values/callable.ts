// Callable values and user-defined structs.

import { Keyed, NO_SLOTS } from './keyed.js'
import { EMPTY } from './shape.js'
import type { Shape } from './shape.js'
import type { Code, Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnClosure: HarnClosure
    HarnBuiltin: HarnBuiltin
    HarnCell: HarnCell
    HarnStruct: HarnStruct
  }
}

/** A script function: shared code, the values it captured, and the module state it belongs to. */
export class HarnClosure {
  readonly code: Code
  readonly captures: Value[]
  /** See `mark` of lists. */
  mark = 0
  constructor(code: Code, captures: Value[]) {
    this.code = code
    this.captures = captures
  }
}

/** A builtin as a value; it is looked up by name in the registry of the calling machine. */
export class HarnBuiltin {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A callable name that is bound after a closure over it was made (self and mutual recursion). */
export class HarnCell {
  value: Value
  constructor(value: Value) {
    this.value = value
  }
}

/**
 * `home` names the module whose `impl` blocks are tried first. The keys are the fields that are set; their order is irrelevant,
 * because formatting sorts them.
 */
export class HarnStruct extends Keyed {
  readonly name: string
  readonly home: string
  /** As HarnDict's. */
  constructor(
    name: string,
    home: string,
    map: Map<string, Value> | null = null,
    shape: Shape = EMPTY,
    slots: Value[] = NO_SLOTS,
  ) {
    super(map, shape, slots)
    this.name = name
    this.home = home
  }

  copy(): HarnStruct {
    const copy = new HarnStruct(this.name, this.home)
    copy.setAll(this)
    return copy
  }
}
