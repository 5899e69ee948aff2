// Loops that call nothing on which the run's fuel depends: only inlined functions, and builtins that usually have a quick
// result. Such a loop counts its fuel in a variable, `u`, which is read from the machine at the loop's entry
// and written back wherever control leaves it; the few slow operations in it write it back before and read it again
// after. Whether calls would be too deep, `z`, is constant within it.
//
// A list that such a loop reads or assigns to by index, and that stays in its slot, is examined at the loop's entry and after
// each of those slow operations; between them its content (doubles or values), its length and its owner are in variables. That is
// a view. Nothing else in a quiet loop can change them: a quick assignment changes elements only.

import { LINKED, OPERATION_BY_CODE, unreachable } from '../interpreter/linked.js'
import { locateArguments, findWrite } from './operands.js'
import { ANY, COUNTER, FLOAT, LIST, LIST_ITER, NUMBER, RANGE, RANGE_ITER } from './entry-types.js'
import { applyAfter, applyBefore, guessesInts, guessesList, inferResultType } from './types.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Instr, LinkedOp, OpWith } from '../interpreter/linked.js'
import type { Block } from './graph.js'
import type { Region } from './region.js'
import type { Callee, Guesses, Types } from './types.js'

const L = LINKED

function isSometimesQuiet(op: LinkedOp): op is OpWith<'quiet', 'sometimes'> {
  return OPERATION_BY_CODE[op]!.quiet === 'sometimes'
}

function isQuiet(i: Instr, types: Types, guesses: Guesses): boolean {
  const { op } = i
  const { quiet } = OPERATION_BY_CODE[op]!
  if (quiet === true) return true
  if (guessesInts(i, types, guesses.allowed) || guessesList(i, types, guesses.allowed)) return true
  if (!isSometimesQuiet(op)) return false
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
      return inferResultType(i, types, guesses) === FLOAT
    case L.MODK:
      return types[i.b] === NUMBER && i.c !== 0
    case L.CHECK_PARAM:
      return types[i.b] !== ANY
    case L.BUILTIN1:
      return isQuick(i.k as BuiltinDef) || (types[i.b] === FLOAT && (i.k as BuiltinDef).real !== null)
    case L.BUILTIN2:
      return isQuick(i.k as BuiltinDef)
    case L.CALL:
    case L.CALL_NAMED:
    case L.CALL_METHOD: {
      const taken = guesses.inlined.get(i)
      return taken !== undefined && isQuietCall(taken.call, types, i)
    }
    case L.ITERATE:
      return types[i.b] === RANGE
    case L.NEXT:
      return types[i.b] === COUNTER || types[i.b] === RANGE_ITER || types[i.b] === LIST_ITER
    default:
      return unreachable(op)
  }
}

/** A builtin that usually has a quick result; when it has none, the fuel is written back to the machine for the call. */
function isQuick({ quick, rest }: BuiltinDef): boolean {
  return quick !== null && !rest
}

function isQuietCall(call: Callee, types: Types, i: Instr): boolean {
  return isQuietCallee(call, call.solve(types, locateArguments(i).from).states)
}

/** Whether a callee with these facts does not affect fuel. */
export function isQuietCallee(call: Callee, states: ReadonlyMap<Block, Types>): boolean {
  for (const block of call.region.order) {
    const state = states.get(block)
    if (state !== undefined && !isQuietBlock(block, state.slice(), call.guessed, () => false)) return false
  }
  return true
}

function isQuietBlock(block: Block, types: Types, guesses: Guesses, leaves: (i: Instr) => boolean): boolean {
  for (const i of block.instrs) {
    if (leaves(i)) return true
    applyBefore(i, types)
    if (!isQuiet(i, types, guesses)) return false
    if (findWrite(i) >= 0 && (i !== block.last || block.successors.length <= 1)) applyAfter(i, types, guesses)
  }
  return true
}

/** The blocks of quiet loops. `leaves`: whether the code of a block ends at an instruction. */
export function findQuietBlocks(
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

/** A list whose content is in variables while a loop runs. */
export interface View {
  readonly slot: number
  /** Doubles, or values of any kind. */
  readonly isReal: boolean
  /** The loop, and its header. */
  readonly loop: ReadonlySet<Block>
  readonly header: Block
  isWritten: boolean
  /** Whether the view is filled only for a list owned by this slot, so that an assignment needs no check. */
  isOwned: boolean
}

/** The views of quiet loops. */
export function listViews(
  region: Region,
  quiet: ReadonlySet<Block>,
  states: ReadonlyMap<Block, Types>,
  guesses: Guesses,
  leaves: (i: Instr) => boolean,
): View[] {
  const views: View[] = []
  const loops = [...region.loops].filter(([header, loop]) => quiet.has(header) && [...loop].every((block) => quiet.has(block)))
  loops.sort(([, one], [, other]) => other.size - one.size)
  const changed = new Map<Block, ReadonlySet<number>>(loops.map(([header, loop]) => [header, listChangedSlots(loop)]))
  for (const block of quiet) {
    const types = states.get(block)!.slice()
    for (const i of block.instrs) {
      if (leaves(i)) break
      applyBefore(i, types)
      if (guessesList(i, types, guesses.allowed) && (i.op === L.GET_INDEX || (i.a === i.b && i.k === true))) {
        const isWritten = i.op === L.SET_INDEX
        const isReal = isWritten ? types[i.c] === FLOAT : guesses.floatReads.has(i)
        // A slot whose value is in variables may still reference an old list.
        const isWhole = (header: Block): boolean => states.get(header)![i.b] === ANY || states.get(header)![i.b] === LIST
        const found = loops.find(([header, loop]) => loop.has(block) && !changed.get(header)!.has(i.b) && isWhole(header))
        if (found !== undefined) {
          const [header, loop] = found
          let view = views.find((each) => each.slot === i.b && each.isReal === isReal && each.header === header)
          if (view === undefined) {
            view = { slot: i.b, isReal, loop, header, isWritten: false, isOwned: false }
            views.push(view)
          }
          view.isWritten ||= isWritten
        }
      }
      if (findWrite(i) >= 0 && (i !== block.last || block.successors.length <= 1)) applyAfter(i, types, guesses)
    }
  }
  return views
}

/** Slots that are written by other instructions than an assignment by index to the list that they hold. */
function listChangedSlots(loop: ReadonlySet<Block>): ReadonlySet<number> {
  const changed = new Set<number>()
  for (const { instrs, faultSlot } of loop) {
    if (faultSlot >= 0) changed.add(faultSlot)
    for (const i of instrs) {
      if (i.op !== L.SET_INDEX || i.a !== i.b) changed.add(findWrite(i))
      if (i.op === L.NEXT) changed.add(i.d)
    }
  }
  return changed
}
