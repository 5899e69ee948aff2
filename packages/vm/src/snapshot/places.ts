// Linked instructions ⇄ numbers. A place is the code position of an instruction in the function of a frame; the markers of native
// frames and of the end of a task have their own numbers.

import { HarnClosure } from '../values/callable.js'
import { NATIVE_RETURN, NATIVE_STEP, TASK_END } from '../interpreter/linked.js'
import { makeDamagedError } from './error.js'
import type { Instr } from '../interpreter/linked.js'
import type { NativeActivation } from '../scheduler/task.js'

const ENTRY = -1
const STEP = -2
const RETURN = -3
const END_OF_TASK = -4

export function encodePlace(instr: Instr, frame: HarnClosure | NativeActivation | undefined): number {
  if (instr === NATIVE_STEP) return STEP
  if (instr === NATIVE_RETURN) return RETURN
  if (instr === TASK_END) return END_OF_TASK
  if (!(frame instanceof HarnClosure)) throw new Error('snapshot: an instruction without a function')
  if (instr === frame.code.entry) return ENTRY
  if (frame.code.getInstrAt(instr.pc) !== instr)
    throw new Error(`snapshot: position ${instr.pc} of ${frame.code.chunk.name} cannot be resumed`)
  return instr.pc
}

export function decodePlace(place: number, frame: HarnClosure | NativeActivation | undefined): Instr {
  switch (place) {
    case STEP:
      return NATIVE_STEP
    case RETURN:
      return NATIVE_RETURN
    case END_OF_TASK:
      return TASK_END
  }
  if (!(frame instanceof HarnClosure)) throw makeDamagedError('a position without a function')
  if (place === ENTRY) return frame.code.entry
  try {
    return frame.code.getInstrAt(place)
  } catch {
    throw makeDamagedError(`no position ${place} in ${frame.code.chunk.name}`)
  }
}
