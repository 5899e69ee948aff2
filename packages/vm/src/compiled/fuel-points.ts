// Checks before operations that may take long: without fuel, the base tier continues there.

import type { Instr } from '../interpreter/linked.js'
import type { InstrWriter } from './instr-writer.js'

/** The fuel point of an operation whose time depends on its arguments: `Machine.refuelBefore` in the base tier. */
export function writeBeforeLong(w: InstrWriter, i: Instr): string {
  return `if(${w.fuel}<1){${w.exit(i)}}`
}

/** As writeBeforeLong, if `condition` says that it takes long. */
export function writeBeforeSlow(w: InstrWriter, i: Instr, condition: string): string {
  return `if(${w.fuel}<1&&${condition}){${w.exit(i)}}`
}
