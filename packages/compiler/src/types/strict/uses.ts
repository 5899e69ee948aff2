// Uses of values whose types are known: methods, properties, arguments, options, comparisons, loops, calls. Each check is
// silent if the type is unknown.

import { type Expr, type ExprOf, type Node, forEachChild } from '@bridle/parser'
import { Types } from './infer.js'
import type { Names } from './scope.js'
import type { StrictWorld } from './world.js'
import { checkArms } from './uses/arms.js'
import { checkAssign, checkDefaults, checkLet } from './uses/bindings.js'
import { checkCall, checkPlainValue } from './uses/calls.js'
import { checkIndex, checkMember } from './uses/members.js'
import { checkMethod } from './uses/methods.js'
import {
  checkBinary,
  checkCondition,
  checkDeadline,
  checkFor,
  checkPipe,
  checkPropagate,
  checkRetry,
  checkUnary,
} from './uses/operators.js'
import { Uses } from './uses/context.js'

/** Visits every expression of the file. */
export function checkUses(world: StrictWorld, names: Names): void {
  const visitor = new Visitor(new Uses(world, new Types(world, names)))
  for (const item of world.program.items) visitor.visit(item, null)
}

class Visitor {
  private readonly uses: Uses
  /** Patterns are not expressions, and assignment targets are not read. */
  private readonly skipped = new Set<Node>()

  constructor(uses: Uses) {
    this.uses = uses
  }

  visit(node: Node, parent: Node | null): void {
    if (node.kind === 'Match') for (const arm of node.arms) for (const pattern of arm.patterns) this.skipped.add(pattern)
    if (node.kind === 'Binary') {
      this.visitChain(node)
      return
    }
    if (this.skipped.has(node)) return
    forEachChild(node, (child) => this.visit(child, node))
    this.check(node, parent)
  }

  /** The left spine of a chain may be thousands long. */
  private visitChain(expr: ExprOf<'Binary'>): void {
    const spine: ExprOf<'Binary'>[] = []
    let at: Expr = expr
    while (at.kind === 'Binary') {
      spine.push(at)
      at = at.left
    }
    spine.reverse()
    this.visit(at, spine[0]!)
    for (const node of spine) {
      this.visit(node.right, node)
      checkBinary(this.uses, node)
    }
  }

  private check(node: Node, parent: Node | null): void {
    switch (node.kind) {
      case 'Call':
        checkCall(this.uses, node, parent)
        return
      case 'MethodCall':
        checkMethod(this.uses, node)
        return
      case 'Member':
        checkMember(this.uses, node, parent)
        return
      case 'For':
        checkFor(this.uses, node)
        return
      case 'Interpolation':
        for (const part of node.parts) if (typeof part !== 'string') checkPlainValue(this.uses, part)
        return
      case 'Index':
        checkIndex(this.uses, node, parent)
        return
      case 'Assign':
        checkAssign(this.uses, node)
        return
      case 'Let':
        checkLet(this.uses, node)
        return
      case 'FnDecl':
      case 'ToolDecl':
      case 'Closure':
        checkDefaults(this.uses, node.params)
        return
      case 'Match':
        checkArms(this.uses, node)
        return
      case 'Unary':
        checkUnary(this.uses, node)
        return
      case 'Propagate':
        checkPropagate(this.uses, node)
        return
      case 'If':
      case 'While':
      case 'Ternary':
      case 'Guard':
        checkCondition(this.uses, node.condition)
        return
      case 'Retry':
        checkRetry(this.uses, node)
        return
      case 'Deadline':
        checkDeadline(this.uses, node)
        return
      case 'Pipe':
        checkPipe(this.uses, node)
        return
      default:
        return
    }
  }
}
