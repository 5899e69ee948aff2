// Loops that call nothing which the run's fuel depends on: no function whose code is not part of the text, and no builtin. Such a
// loop counts its fuel in a variable, `u`, which is read from the machine where the loop is entered and put back wherever control
// leaves it; the few slow operations in it put it back before and read it again behind them. The depth that calls may reach, `z`,
// does not change in it at all.

import { LINKED } from '../interpreter/linked.js'
import { writeOf } from './operands.js'
import {
  afterInstr,
  ANY,
  beforeInstr,
  COUNTER,
  FLOAT,
  guessesInts,
  guessesList,
  LIST_ITER,
  NUMBER,
  RANGE,
  RANGE_ITER,
  resultType,
} from './types.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { Block, Region } from './graph.js'
import type { InlinedCall } from './inline.js'
import type { Guesses, Types } from './types.js'

const L = LINKED

/** Operations that are quiet whatever they work on. */
const QUIET: ReadonlySet<number> = new Set([
  L.MOVE,
  L.LOADK,
  L.SHARE,
  L.LOAD_CAPTURE,
  L.NOT,
  L.EQ,
  L.NE,
  L.LT,
  L.LE,
  L.GT,
  L.GE,
  L.EQK,
  L.NEK,
  L.LTK,
  L.LEK,
  L.GTK,
  L.GEK,
  L.JUMP,
  L.LOOP,
  L.JF,
  L.JT,
  L.JNN,
  L.JPASSED,
  L.JEND,
  L.JNLT,
  L.JNLE,
  L.JNGT,
  L.JNGE,
  L.JNEQ,
  L.JNNE,
  L.JNLTK,
  L.JNLEK,
  L.JNGTK,
  L.JNGEK,
  L.JNEQK,
  L.JNNEK,
  L.BUILD_RANGE,
  L.GET_PROP,
  L.GET_PROP_OPT,
  L.FIELD,
  L.ITEM,
  L.IS_ENUM,
  L.ENUM_FIELD,
  L.IS_DICT,
  L.IS_LIST,
  L.CATCH_VALUE,
  L.CATCH_IS,
  L.RETURN,
  L.THROW,
  L.RETHROW,
  L.RAISE,
])

function isQuiet(i: Instr, types: Types, guesses: Guesses): boolean {
  const { op } = i
  if (QUIET.has(op)) return true
  if (guessesInts(i, types, guesses.allowed) || guessesList(i, types, guesses.allowed)) return true
  switch (op) {
    case L.ADD:
    case L.ADD_OWNED:
    case L.SUB:
    case L.MUL:
    case L.DIV:
    case L.ADDK:
    case L.SUBK:
    case L.MULK:
    case L.NEG:
      return resultType(i, types, guesses) === FLOAT
    case L.MODK:
      return types[i.b] === NUMBER && i.c !== 0
    case L.CHECK_PARAM:
      return types[i.b] !== ANY
    case L.BUILTIN1:
      return types[i.b] === FLOAT && (i.k as BuiltinDef).real !== undefined
    case L.CALL:
    case L.CALL_NAMED: {
      const taken = guesses.inlined.get(i)
      return taken !== undefined && isQuietCall(taken.call, types, i)
    }
    case L.ITERATE:
      return types[i.b] === RANGE
    case L.NEXT:
      return types[i.b] === COUNTER || types[i.b] === RANGE_ITER || types[i.b] === LIST_ITER
    default:
      return false
  }
}

function isQuietCall(call: InlinedCall, types: Types, i: Instr): boolean {
  const { states } = call.solve(types, i.d)
  for (const block of call.region.order) {
    const state = states.get(block)
    if (state !== undefined && !isQuietBlock(block, state.slice(), call.guessed, () => false)) return false
  }
  return true
}

function isQuietBlock(block: Block, types: Types, guesses: Guesses, leaves: (i: Instr) => boolean): boolean {
  for (const i of block.instrs) {
    if (leaves(i)) return true
    beforeInstr(i, types)
    if (!isQuiet(i, types, guesses)) return false
    if (writeOf(i) >= 0 && (i !== block.last || block.successors.length <= 1)) afterInstr(i, types, guesses)
  }
  return true
}

/** The blocks of loops that are quiet. `leaves`: where the text of a block ends. */
export function quietBlocks(
  region: Region,
  states: ReadonlyMap<Block, Types>,
  guesses: Guesses,
  leaves: (i: Instr) => boolean,
): ReadonlySet<Block> {
  const quiet = new Set<Block>()
  for (const loop of region.loops.values()) {
    const all = [...loop]
    if (all.every((block) => quiet.has(block) || isQuietBlock(block, states.get(block)!.slice(), guesses, leaves)))
      for (const block of all) quiet.add(block)
  }
  return quiet
}
