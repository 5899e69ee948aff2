// The paths through the body of a handler, as a graph of calls, assignments and branches. An expression's
// parts come before it. Closures are not entered, except the one that `dual_control` runs after approval.

import { type Argument, type Expr, type ExprOf, forEachChild, type Node, type Span, type Stmt } from '@bridle/parser'

export interface FlowNode {
  readonly label: string
  readonly span: Span
  readonly successors: number[]
  /** Name of the callee, for a tool its own name; null for other nodes. */
  readonly call: { readonly name: string; readonly call: ExprOf<'Call'> } | null
  /** The assigned path and the statement. */
  readonly assigned: { readonly target: string; readonly stmt: Stmt } | null
  /** After it, a person has approved. */
  readonly approves: boolean
  /** In a closure that runs only after approval. */
  readonly isApproved: boolean
}

/** Nodes without a successor yet. */
type Ends = readonly number[]

export class FlowGraph {
  readonly nodes: FlowNode[] = []
  private approvedDepth = 0

  constructor(span: Span, body: readonly Stmt[]) {
    this.body(body, this.add('enter handler', span, []))
  }

  /** Shortest path to a node that avoids nodes for which `stops` holds; null when there is none. */
  wayTo(target: number, stops: (node: FlowNode) => boolean = () => false): readonly FlowNode[] | null {
    const before = new Map<number, number | null>([[0, null]])
    const queue = [0]
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      if (at === target) {
        const steps: FlowNode[] = []
        for (let step: number | null = at; step !== null; step = before.get(step) ?? null) steps.unshift(this.nodes[step]!)
        return steps
      }
      if (stops(this.nodes[at]!)) continue
      for (const next of this.nodes[at]!.successors) {
        if (before.has(next)) continue
        before.set(next, at)
        queue.push(next)
      }
    }
    return null
  }

  private add(label: string, span: Span, from: Ends, more: Partial<Pick<FlowNode, 'call' | 'assigned' | 'approves'>> = {}): Ends {
    const id = this.nodes.length
    const isApproved = this.approvedDepth > 0
    this.nodes.push({ label, span, successors: [], call: null, assigned: null, approves: false, isApproved, ...more })
    for (const end of from) this.nodes[end]!.successors.push(id)
    return [id]
  }

  private body(body: readonly Stmt[], from: Ends): Ends {
    return body.reduce((ends, stmt) => this.node(stmt, ends), from)
  }

  private node(node: Node, from: Ends): Ends {
    switch (node.kind) {
      case 'Block':
        return this.body(node.body, from)
      case 'FnDecl':
      case 'ToolDecl':
      case 'Closure':
        return from
      case 'Call':
        return this.call(node, from)
      case 'Let': {
        const target = node.binding.kind === 'NameBinding' ? node.binding.name.text : 'pattern'
        return this.add(`assign ${target}`, node.span, this.node(node.value, from), { assigned: { target, stmt: node } })
      }
      case 'Assign': {
        const target = readPath(node.target) ?? '<computed>'
        return this.add(`assign ${target}`, node.span, this.node(node.value, from), { assigned: { target, stmt: node } })
      }
      case 'Return':
      case 'Throw':
        this.add(node.kind.toLowerCase(), node.span, node.value === null ? from : this.node(node.value, from))
        return []
      case 'If': {
        const condition = this.add('if condition', node.span, this.node(node.condition, from))
        const whenTrue = this.node(node.then, this.add('if true', node.span, condition))
        const otherwise = this.add('if false', node.span, condition)
        return [...whenTrue, ...(node.otherwise === null ? otherwise : this.node(node.otherwise, otherwise))]
      }
      case 'Ternary': {
        const condition = this.add('ternary condition', node.span, this.node(node.condition, from))
        const whenTrue = this.node(node.whenTrue, this.add('ternary true', node.span, condition))
        return [...whenTrue, ...this.node(node.whenFalse, this.add('ternary false', node.span, condition))]
      }
      case 'Guard': {
        const condition = this.add('guard condition', node.span, this.node(node.condition, from))
        const failed = this.node(node.otherwise, this.add('guard failed', node.span, condition))
        return [...failed, ...this.add('guard passed', node.span, condition)]
      }
      case 'For':
        return this.loop('for-in iteration', 'for-in', node, this.node(node.iterable, from))
      case 'While':
        return this.loop('while condition', 'while', node, this.node(node.condition, from))
      case 'Retry': {
        const start = this.add('retry attempt', node.span, this.node(node.count, from))
        const end = this.node(node.body, start)
        this.connect(end, start)
        return [...end, ...this.add('retry exhausted', node.span, start)]
      }
      case 'Match': {
        const dispatch = this.add('match dispatch', node.span, this.node(node.subject, from))
        return node.arms.flatMap((arm) => {
          const start = this.add('match arm', arm.span, dispatch)
          return this.node(arm.body, arm.guard === null ? start : this.node(arm.guard, start))
        })
      }
      case 'Try':
        return this.attempt(node, from)
      case 'Select': {
        const dispatch = this.add('select', node.span, from)
        return node.arms.flatMap((arm) => this.node(arm.body, this.add('select case', arm.span, dispatch)))
      }
      case 'Parallel': {
        const start = this.add('parallel', node.span, this.node(node.subject, from))
        return [...start, ...this.node(node.body, this.add('parallel body', node.span, start))]
      }
      default:
        return this.children(node, from)
    }
  }

  private children(node: Node, from: Ends): Ends {
    let ends = from
    forEachChild(node, (child) => {
      ends = this.node(child, ends)
    })
    return ends
  }

  private call(call: ExprOf<'Call'>, from: Ends): Ends {
    const name = call.callee.text
    if (name === 'dual_control') return this.dualControl(call, from)
    const ends = this.children(call, from)
    const tool = toolName(call) ?? name
    return this.add(`call ${tool}`, call.span, ends, { call: { name: tool, call }, approves: name === 'request_approval' })
  }

  private dualControl(call: ExprOf<'Call'>, from: Ends): Ends {
    const others = call.args.filter(({ value }) => value.kind !== 'Closure')
    const start = others.reduce((ends, arg) => this.node(arg.value, ends), from)
    const gate = this.add('dual_control approval gate', call.span, start)
    this.approvedDepth += 1
    let ends = gate
    for (const { value } of call.args) if (value.kind === 'Closure') ends = this.body(value.body.body, ends)
    this.approvedDepth -= 1
    return this.add('end dual_control', call.span, ends)
  }

  private loop(head: string, name: string, node: Extract<Stmt, { kind: 'For' | 'While' }>, from: Ends): Ends {
    const start = this.add(head, node.span, from)
    this.connect(this.node(node.body, this.add(`${name} body`, node.span, start)), start)
    return this.add(`${name} exit`, node.span, start)
  }

  private attempt(node: ExprOf<'Try'>, from: Ends): Ends {
    const dispatch = this.add('try dispatch', node.span, from)
    const tried = this.node(node.body, this.add('try body', node.span, dispatch))
    // The body may fail before its first step.
    const caught = node.handler === null ? [] : this.node(node.handler.body, this.add('catch body', node.span, dispatch))
    const ends = [...tried, ...caught]
    return node.finalizer === null ? ends : this.node(node.finalizer, this.add('finally body', node.span, ends))
  }

  private connect(from: Ends, to: Ends): void {
    for (const end of from) this.nodes[end]!.successors.push(...to)
  }
}

/** `a.b.c` of names; null for a computed path. */
export function readPath(expr: Expr): string | null {
  if (expr.kind === 'Identifier') return expr.name
  if (expr.kind !== 'Member') return null
  const object = readPath(expr.object)
  return object === null ? null : `${object}.${expr.property.text}`
}

/** The tool that `mcp_call(client, "tool", …)` or `host_tool_call("tool", …)` names by a literal. */
export function toolName(call: ExprOf<'Call'>): string | null {
  const arg = call.callee.text === 'mcp_call' ? call.args[1] : call.callee.text === 'host_tool_call' ? call.args[0] : undefined
  return arg === undefined ? null : readText(arg)
}

export function readText({ spread, value }: Argument): string | null {
  return !spread && value.kind === 'String' ? value.value : null
}
