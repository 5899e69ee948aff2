// Builds the code of one function: emits instructions, patches labels, tracks the stack depth by the opcode table.

import { OPCODES } from './opcodes.js'
import type { Handler, LocalName } from './chunk.js'
import type { OpcodeName, OpcodeRow } from './opcodes.js'

/** A position in the code. `at` is -1 until the label is placed. */
export interface Label {
  at: number
  readonly uses: number[]
  /** Operand stack depth at the label, -1 until a jump or the placement fixes it. */
  depth: number
}

export class Assembler {
  readonly code: number[] = []
  readonly handlers: Handler[] = []
  readonly lines: number[] = []
  readonly locals: LocalName[] = []
  /** Operand stack depth after the last instruction; meaningless when `reachable` is false. */
  depth = 0
  maxDepth = 0
  reachable = true

  get position(): number {
    return this.code.length
  }

  /** Unreachable code is not emitted, so the depth is known at every instruction. */
  emit(name: OpcodeName, ...operands: number[]): void {
    if (!this.reachable) return
    const row: OpcodeRow = OPCODES[name]
    this.code.push(row.code, ...operands)
    const pops = typeof row.pops === 'number' ? row.pops : row.pops(operands)
    this.depth += row.pushes - pops
    if (this.depth < 0) throw new Error(`assembler: operand stack underflow at ${name}`)
    if (this.depth > this.maxDepth) this.maxDepth = this.depth
    if (row.flow === 'jump' || row.flow === 'end') this.reachable = false
  }

  label(): Label {
    return { at: -1, uses: [], depth: -1 }
  }

  /** Emits a jump to `label`; if the opcode has a slot operand, it comes before. */
  jump(name: OpcodeName, label: Label, ...before: number[]): void {
    if (!this.reachable) return
    this.emit(name, ...before, label.at)
    if (label.at < 0) label.uses.push(this.code.length - 1)
    label.depth = this.depth
  }

  /** Places a label here. After unreachable code the depth is that of the jumps to it. */
  place(label: Label): void {
    label.at = this.code.length
    for (const use of label.uses) this.code[use] = label.at
    if (!this.reachable && label.depth >= 0) {
      this.depth = label.depth
      this.reachable = true
    }
    if (this.reachable) label.depth = this.depth
  }

  /** A handler entry: code here runs with `depth` operands and the fault on top. */
  enterHandler(depth: number): void {
    this.depth = depth + 1
    this.reachable = true
    if (this.depth > this.maxDepth) this.maxDepth = this.depth
  }

  /** Records the source position of the following instructions. */
  mark(line: number, column: number): void {
    const count = this.lines.length
    if (count > 0 && this.lines[count - 2] === line && this.lines[count - 1] === column) return
    if (count > 0 && this.lines[count - 3] === this.code.length) this.lines.length = count - 3
    this.lines.push(this.code.length, line, column)
  }
}
