// Walks the tree without a case for every node: the children of a node in source order, and a walk without recursion, which
// handles trees of any depth. Types, names and attributes are not nodes and are not visited.

import type { Argument, Binding, Declaration, DictEntry, Name, Node, Param, Stmt, TypeExpr } from './ast.js'

/** Direct children in source order. */
export function listChildren(node: Node): Node[] {
  const found: Node[] = []
  forEachChild(node, (child) => found.push(child))
  return found
}

export interface Visitor {
  /** Called before the children; returning false skips them. */
  readonly enter: (node: Node, parent: Node | null) => boolean | void
  /** Called after the children, even if they were skipped. */
  readonly leave?: (node: Node) => void
}

/** Visits `root` and everything below it, in source order. */
export function walk(root: Node, visitor: Visitor): void {
  // Two lists instead of one of pairs, because trees are large and walked often. Without a parent: the node is left.
  const nodes: Node[] = [root]
  const parents: (Node | null | undefined)[] = [null]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const parent = parents.pop()
    if (parent === undefined) {
      visitor.leave?.(node)
      continue
    }
    const goOn = visitor.enter(node, parent)
    if (visitor.leave !== undefined) {
      nodes.push(node)
      parents.push(undefined)
    }
    if (goOn === false) continue
    const above = node
    const first = nodes.length
    forEachChild(node, (child) => {
      nodes.push(child)
      parents.push(above)
    })
    for (let low = first, high = nodes.length - 1; low < high; low++, high--) {
      const child = nodes[low]!
      nodes[low] = nodes[high]!
      nodes[high] = child
    }
  }
}

export function forEachChild(node: Node, visit: (child: Node) => void): void {
  switch (node.kind) {
    case 'Program':
      return visitAll(visit, node.items)
    case 'Block':
      return visitAll(visit, node.body)
    case 'Int':
    case 'Float':
    case 'Bool':
    case 'Nil':
    case 'Duration':
    case 'String':
    case 'Identifier':
    case 'Break':
    case 'Continue':
    case 'ImportDecl':
    case 'TypeDecl':
    case 'StructDecl':
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return
    case 'Interpolation':
      for (const part of node.parts) if (typeof part !== 'string') visit(part)
      return
    case 'List':
      return visitArguments(visit, node.items)
    case 'Dict':
    case 'StructLiteral':
      for (const entry of node.entries) forEachEntryPart(entry, visit)
      return
    case 'Unary':
    case 'Propagate':
    case 'TryStar':
      return visit(node.operand)
    case 'Binary':
      visit(node.left)
      return visit(node.right)
    case 'Ternary':
      visit(node.condition)
      visit(node.whenTrue)
      return visit(node.whenFalse)
    case 'Range':
      visit(node.from)
      return visit(node.to)
    case 'Pipe':
      visit(node.value)
      return visit(node.callee)
    case 'Member':
      return visit(node.object)
    case 'MethodCall':
      visit(node.object)
      return visitArguments(visit, node.args)
    case 'Index':
      visit(node.object)
      return visit(node.index)
    case 'Slice':
      visit(node.object)
      visitSome(visit, node.start)
      return visitSome(visit, node.end)
    case 'Call':
      return visitArguments(visit, node.args)
    case 'Closure':
    case 'FnDecl':
    case 'ToolDecl':
      visitDefaults(visit, node.params)
      return visit(node.body)
    case 'If':
      visit(node.condition)
      visit(node.then)
      return visitSome(visit, node.otherwise)
    case 'Match':
      visit(node.subject)
      for (const arm of node.arms) {
        visitAll(visit, arm.patterns)
        visitSome(visit, arm.guard)
        visit(arm.body)
      }
      return
    case 'Try':
      visit(node.body)
      visitSome(visit, node.handler?.body ?? null)
      return visitSome(visit, node.finalizer)
    case 'Retry':
      visit(node.count)
      return visit(node.body)
    case 'Deadline':
      visit(node.duration)
      return visit(node.body)
    case 'Spawn':
    case 'Defer':
    case 'Mutex':
    case 'PipelineDecl':
    case 'OverrideDecl':
      return visit(node.body)
    case 'Parallel':
      visit(node.subject)
      visitSome(visit, node.maxConcurrent)
      return visit(node.body)
    case 'ExprStmt':
    case 'Throw':
    case 'Emit':
      return visit(node.value)
    case 'Return':
    case 'Yield':
      return visitSome(visit, node.value)
    case 'Let':
      forEachDefault(node.binding, visit)
      return visit(node.value)
    case 'Assign':
      visit(node.target)
      return visit(node.value)
    case 'While':
      visit(node.condition)
      return visit(node.body)
    case 'For':
      forEachDefault(node.binding, visit)
      visit(node.iterable)
      return visit(node.body)
    case 'Guard':
      visit(node.condition)
      return visit(node.otherwise)
    case 'Require':
      visit(node.condition)
      return visitSome(visit, node.message)
    case 'Select':
      for (const arm of node.arms) {
        if (arm.kind === 'receive') visit(arm.channel)
        else if (arm.kind === 'timeout') visit(arm.duration)
        visit(arm.body)
      }
      return
    case 'SkillDecl':
      for (const field of node.fields) visit(field.value)
      return
    case 'EvalPackDecl':
      for (const field of node.fields) visit(field.value)
      visitAll(visit, node.body)
      return visitSome(visit, node.summarize)
    case 'EnumDecl':
      for (const variant of node.variants) visitDefaults(visit, variant.params)
      return
    case 'InterfaceDecl':
      for (const method of node.methods) visitDefaults(visit, method.params)
      return
    case 'ImplDecl':
      return visitAll(visit, node.methods)
    default:
      return unreachable(node)
  }
}

type Visit = (child: Node) => void

function visitSome(visit: Visit, child: Node | null): void {
  if (child !== null) visit(child)
}

function visitAll(visit: Visit, list: readonly Node[]): void {
  for (const child of list) visit(child)
}

function visitArguments(visit: Visit, list: readonly Argument[]): void {
  for (const arg of list) visit(arg.value)
}

function visitDefaults(visit: Visit, list: readonly Param[]): void {
  for (const param of list) if (param.defaultValue !== null) visit(param.defaultValue)
}

function forEachEntryPart(entry: DictEntry, visit: (child: Node) => void): void {
  if (entry.kind === 'computed') visit(entry.key)
  visit(entry.value)
}

function forEachDefault(binding: Binding, visit: (child: Node) => void): void {
  if (binding.kind !== 'DictBinding' && binding.kind !== 'ListBinding') return
  for (const part of binding.kind === 'DictBinding' ? binding.fields : binding.items) {
    if (part.defaultValue !== null) visit(part.defaultValue)
  }
}

/** Whether a statement is a declaration, which binds its name for the code before it too. */
export function isDeclaration(stmt: Stmt): stmt is Declaration {
  return stmt.kind.endsWith('Decl')
}

/** Statements other than declarations, by kind: a list that lacks one does not compile. */
const PLAIN_STATEMENTS: Readonly<Record<Exclude<Stmt, Declaration>['kind'], true>> = {
  ExprStmt: true,
  Let: true,
  Assign: true,
  While: true,
  For: true,
  Return: true,
  Throw: true,
  Yield: true,
  Emit: true,
  Guard: true,
  Require: true,
  Defer: true,
  Mutex: true,
  Select: true,
  Break: true,
  Continue: true,
  UseTool: true,
  Grant: true,
  BindEffect: true,
}

/** Whether a node is used as a statement. */
export function isStatement(node: Node): node is Stmt {
  return Object.hasOwn(PLAIN_STATEMENTS, node.kind) || node.kind.endsWith('Decl')
}

/** The names that a binding binds, in source order. */
export function boundNames(binding: Binding): readonly Name[] {
  switch (binding.kind) {
    case 'NameBinding':
      return [binding.name]
    case 'PairBinding':
      return [binding.first, binding.second]
    case 'ListBinding':
      return [...binding.items.map((item) => item.name), ...(binding.rest === null ? [] : [binding.rest])]
    case 'DictBinding':
      return [...binding.fields.map((field) => field.alias ?? field.key), ...(binding.rest === null ? [] : [binding.rest])]
  }
}

function unreachable(node: never): never {
  throw new Error(`unknown node ${JSON.stringify(node)}`)
}

/** Names of types that a type mentions, in source order. */
export function forEachTypeName(type: TypeExpr | null, visit: (name: Name) => void): void {
  switch (type?.kind) {
    case 'NamedType':
      visit(type.name)
      for (const arg of type.args) forEachTypeName(arg, visit)
      return
    case 'ShapeType':
      for (const field of type.fields) forEachTypeName(field.type, visit)
      return
    case 'ListType':
      return forEachTypeName(type.element, visit)
    case 'FnType':
      for (const param of type.params) forEachTypeName(param, visit)
      return forEachTypeName(type.returns, visit)
    case 'UnionType':
      for (const member of type.members) forEachTypeName(member, visit)
      return
    default:
      return
  }
}
