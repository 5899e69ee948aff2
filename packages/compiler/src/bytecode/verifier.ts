// Proves of a chunk what decoder and interpreter rely on: every instruction is whole and known, jumps land on instructions,
// table indices are in range, the operand stack never underflows, has one depth at each position and stays within the
// declared bound, and control never falls off the end. Chunks from outside (caches, snapshots) pass here before they run.

import { OPCODE_BY_CODE, RAISE_KINDS } from './opcodes.js'
import type { FunctionChunk, ModuleChunk } from './chunk.js'

/** Problems found, empty for a sound chunk; each names function and position. */
export function verify(chunk: ModuleChunk): string[] {
  const problems: string[] = []
  chunk.functions.forEach((fn, index) => {
    const report = (at: number, text: string): void => void problems.push(`function ${index} (${fn.name}) at ${at}: ${text}`)
    verifyFunction(chunk, fn, report)
  })
  for (const [name, slot] of Object.entries(chunk.exports)) {
    if (slot < 0 || slot >= chunk.moduleSlots.length) problems.push(`export ${name}: no module slot ${slot}`)
  }
  if (chunk.functions.length === 0) problems.push('no main function')
  return problems
}

function verifyFunction(chunk: ModuleChunk, fn: FunctionChunk, report: (at: number, text: string) => void): void {
  const starts = new Set<number>()
  for (let at = 0; at < fn.code.length; ) {
    starts.add(at)
    const entry = OPCODE_BY_CODE.get(fn.code[at]!)
    if (entry === undefined) return report(at, `unknown opcode ${fn.code[at]}`)
    at += 1 + entry.row.operands.length
    if (at > fn.code.length) return report(at, `${entry.name} is cut short`)
  }
  if (fn.params.length > fn.slots) report(0, 'fewer slots than parameters')

  const limits: Record<string, number> = {
    const: chunk.constants.length, slot: fn.slots, capture: fn.captures.length, module: chunk.moduleSlots.length,
    unit: chunk.units.length, name: chunk.names.length, builtin: chunk.builtins.length, function: chunk.functions.length,
    fault: RAISE_KINDS.length, flag: 2,
  }
  const depthAt = new Map<number, number>()
  const work: number[] = []
  const reach = (from: number, target: number, depth: number): void => {
    if (!starts.has(target)) return report(from, `jump to ${target}, which is not an instruction`)
    const known = depthAt.get(target)
    if (known === undefined) {
      depthAt.set(target, depth)
      work.push(target)
    } else if (known !== depth) report(from, `depth ${depth} meets depth ${known} at ${target}`)
  }
  reach(0, 0, 0)
  for (const handler of fn.handlers) {
    if (handler.start > handler.end || !starts.has(handler.start)) report(handler.start, 'bad handler range')
    reach(handler.start, handler.target, handler.depth + 1)
  }
  while (work.length > 0) {
    const at = work.pop()!
    const { name, row } = OPCODE_BY_CODE.get(fn.code[at]!)!
    const operands = fn.code.slice(at + 1, at + 1 + row.operands.length)
    let target = -1
    row.operands.forEach((kind, which) => {
      const value = operands[which]!
      if (kind === 'label') target = value
      const limit = limits[kind]
      if (!Number.isInteger(value) || (kind !== 'int' && value < 0) || (limit !== undefined && value >= limit)) report(at, `${name}: ${kind} ${value} is out of range`)
    })
    const before = depthAt.get(at)!
    const pops = typeof row.pops === 'number' ? row.pops : row.pops(operands)
    if (before < pops) {
      report(at, `${name} pops ${pops} of ${before}`)
      continue
    }
    const after = before - pops + row.pushes
    if (after > fn.stack) report(at, `${name}: stack ${after} exceeds the declared ${fn.stack}`)
    if (target >= 0) reach(at, target, after)
    if (row.flow === 'jump' || row.flow === 'end') continue
    const next = at + 1 + operands.length
    if (next >= fn.code.length) report(at, 'control falls off the end')
    else reach(at, next, after)
  }
}
