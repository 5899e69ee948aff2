// The parse tree of the generated parser: records on one array of integers, read through short-lived nodes that are made on request.
// As objects, the nodes of a large file would outlive the young generation of the garbage collector, which then takes
// ten times as long as the parser.

import type { ParseNode } from './parse-tree.js'
import { RULES } from './parser.generated.js'

/**
 * A node on the tape of the generated parser. A record there is the number of its rule, first token, end, count of children,
 * and a reference for each: the index of a record, or `~token`.
 */
export class TreeNode implements ParseNode {
  private readonly tape: Int32Array
  private readonly reference: number

  constructor(tape: Int32Array, reference: number) {
    this.tape = tape
    this.reference = reference
  }

  get rule(): ParseNode['rule'] {
    return this.reference < 0 ? '_terminal' : RULES[this.tape[this.reference]!]!
  }

  get start(): number {
    return this.reference < 0 ? ~this.reference : this.tape[this.reference + 1]!
  }

  get end(): number {
    return this.reference < 0 ? -this.reference : this.tape[this.reference + 2]!
  }

  get count(): number {
    return this.reference < 0 ? 0 : this.tape[this.reference + 3]!
  }

  child(at: number): TreeNode {
    const { tape, reference } = this
    if (reference < 0 || at >= tape[reference + 3]!) throw this.noChild(at)
    return new TreeNode(tape, tape[reference + 4 + at]!)
  }

  private noChild(at: number): RangeError {
    return new RangeError(`${this.rule} has no child ${at}`)
  }
}
