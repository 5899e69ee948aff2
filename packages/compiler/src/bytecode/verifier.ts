// Proves the properties of a chunk that decoder and interpreter rely on. Chunks from outside (caches, other processes) pass here before
// they run. A verified chunk may be useless but is safe: it never reads beyond its tables, never runs forever
// without using fuel, and never finds a value of a wrong kind.
//
//   here            the chunk has the parts it should have; every instruction is complete and known; operands are in range; constants
//                   are of the kind that their instruction needs; only LOOP jumps backward; the stack has one depth at each position
//   flow.ts         kinds of values on all paths; for foreign chunks only. The emitter keeps these by construction, in ways that the
//                   analysis cannot always follow: a deferred block reads a variable that is set wherever the block is registered.

import { checkFlow } from './flow.js'
import { OPCODE_BY_CODE, RAISE_KINDS } from './opcodes.js'
import { chunkProblems, constantFits } from './shape.js'
import type { FunctionChunk, ModuleChunk } from './chunk.js'
import type { OperandKind } from './operands.js'

/** The origin of a chunk: this process's compiler, or outside (a file, another process). */
export type ChunkOrigin = 'compiler' | 'foreign'

/** Problems found, empty for a sound chunk; each names function and position. */
export function verify(chunk: ModuleChunk, origin: ChunkOrigin = 'compiler'): string[] {
  const problems = chunkProblems(chunk)
  if (problems.length > 0) return problems
  const report = (index: number, at: number, text: string): void => {
    problems.push(`function ${index} (${chunk.functions[index]!.name}) at ${at}: ${text}`)
  }
  chunk.functions.forEach((fn, index) => verifyFunction(chunk, fn, readLimits(chunk, fn), (at, text) => report(index, at, text)))
  if (problems.length === 0 && origin === 'foreign') checkFlow(chunk, report)
  return problems
}

const MOST_IDLE_SLOTS = 4096

type Report = (at: number, text: string) => void

/** Unknown, in the table of depths. */
const NOWHERE = -1

function verifyFunction(chunk: ModuleChunk, fn: FunctionChunk, limits: Limits, report: Report): void {
  const starts = verifyInstructions(chunk, fn, limits, report)
  if (starts === null) return
  const { code } = fn
  const depthAt = new Int32Array(code.length).fill(NOWHERE)
  const work: number[] = []
  const reach = (from: number, target: number, depth: number): void => {
    if (starts[target] !== 1) return report(from, `jump to ${target}, which is not an instruction`)
    const known = depthAt[target]!
    if (known === NOWHERE) {
      depthAt[target] = depth
      work.push(target)
    } else if (known !== depth) report(from, `depth ${depth} meets depth ${known} at ${target}`)
  }
  reach(0, 0, 0)
  for (const handler of fn.handlers) {
    const { start, end, target, depth } = handler
    if (start >= end || starts[start] !== 1 || (end !== code.length && starts[end] !== 1) || depth < 0)
      report(start, 'bad handler range')
    else if (target < end) report(start, 'a handler before the end of its range')
    else reach(start, target, depth + 1)
  }
  while (work.length > 0) {
    const at = work.pop()!
    const { name, row } = OPCODE_BY_CODE[code[at]!]!
    const count = row.operands.length
    const before = depthAt[at]!
    const pops = typeof row.pops === 'number' ? row.pops : row.pops(code.slice(at + 1, at + 1 + count))
    if (before < pops) {
      report(at, `${name} pops ${pops} of ${before}`)
      continue
    }
    const after = before - pops + row.pushes
    if (after > fn.stack) report(at, `${name}: stack ${after} exceeds the declared ${fn.stack}`)
    const label = row.operands.indexOf('label')
    if (label >= 0) {
      const target = code[at + 1 + label]!
      reach(at, target, after)
      if (target <= at !== (name === 'LOOP')) report(at, `${name} goes ${target <= at ? 'backward' : 'forward'} to ${target}`)
    }
    if (row.flow === 'jump' || row.flow === 'end') continue
    const next = at + 1 + count
    if (next >= code.length) report(at, 'control falls off the end')
    else reach(at, next, after)
  }
}

/** By kind of operand, the first value that is too large; Infinity where every value is allowed. */
type Limits = Readonly<Record<OperandKind, number>>

/** The limits of one function; those of the chunk are the same for all. */
function readLimits(chunk: ModuleChunk, fn: FunctionChunk): Limits {
  return {
    const: chunk.constants.length,
    slot: fn.slots,
    capture: fn.captures.length,
    module: chunk.moduleSlots.length,
    unit: chunk.units.length,
    name: chunk.names.length,
    builtin: chunk.builtins.length,
    function: chunk.functions.length,
    fault: RAISE_KINDS.length,
    flag: 2,
    int: Infinity,
    label: Infinity,
    count: Infinity,
  }
}

/** Marks the starts of instructions; null when the code cannot be split into instructions. */
function verifyInstructions(chunk: ModuleChunk, fn: FunctionChunk, limits: Limits, report: Report): Uint8Array | null {
  const { code } = fn
  const starts = new Uint8Array(code.length)
  for (let at = 0; at < code.length;) {
    starts[at] = 1
    const found = OPCODE_BY_CODE[code[at]!]
    if (found === undefined) {
      report(at, `unknown opcode ${code[at]}`)
      return null
    }
    const { name, row } = found
    const { operands } = row
    if (at + operands.length >= code.length) {
      report(at, `${name} is cut short`)
      return null
    }
    for (let which = 0; which < operands.length; which += 1) {
      const kind = operands[which]!
      const value = code[at + 1 + which]!
      if ((kind !== 'int' && value < 0) || value >= limits[kind]) report(at, `${name}: ${kind} ${value} is out of range`)
      else if (kind === 'const' && !constantFits(name, code.slice(at + 1, at + 1 + operands.length), chunk.constants[value]!))
        report(at, `${name}: constant ${value} is of another kind`)
    }
    at += 1 + operands.length
  }
  // Slots without code come from parameters, whose names the chunk lists, and from names that are never bound, such as those of failed
  // imports; a chunk may request only as many more slots as it has code.
  if (fn.slots > MOST_IDLE_SLOTS + fn.params.length + fn.code.length)
    report(0, `${fn.slots} slots for ${fn.code.length} words of code`)
  if (fn.params.length > fn.slots) report(0, 'fewer slots than parameters')
  return starts
}
