// Walking the tree without knowing every node: the children of a node in source order, and a walk that uses no recursion, so that
// the depth of a tree does not matter to it. Types, names and attributes are no nodes and are not visited.

import type { Argument, Binding, DictEntry, Node, Param, Stmt } from './ast.js'

/** Direct children in source order. */
export function childrenOf(node: Node): Node[] {
  const found: Node[] = []
  forEachChild(node, (child) => found.push(child))
  return found
}

export interface Visitor {
  /** Called before the children; returning false skips them. */
  readonly enter: (node: Node, parent: Node | null) => boolean | void
  /** Called after the children, also when they were skipped. */
  readonly leave?: (node: Node) => void
}

/** Visits `root` and everything below it, in source order. */
export function walk(root: Node, visitor: Visitor): void {
  const work: ({ readonly node: Node; readonly parent: Node | null } | { readonly left: Node })[] = [{ node: root, parent: null }]
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if ('left' in item) {
      visitor.leave?.(item.left)
      continue
    }
    const { node, parent } = item
    const goOn = visitor.enter(node, parent)
    work.push({ left: node })
    if (goOn === false) continue
    for (const child of childrenOf(node).toReversed()) work.push({ node: child, parent: node })
  }
}

export function forEachChild(node: Node, visit: (child: Node) => void): void {
  const some = (child: Node | null): void => {
    if (child !== null) visit(child)
  }
  const all = (list: readonly Node[]): void => {
    for (const child of list) visit(child)
  }
  const args = (list: readonly Argument[]): void => {
    for (const arg of list) visit(arg.value)
  }
  const params = (list: readonly Param[]): void => {
    for (const param of list) some(param.defaultValue)
  }
  switch (node.kind) {
    case 'Program':
      return all(node.items)
    case 'Block':
      return all(node.body)
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
      return args(node.items)
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
      return all([node.condition, node.whenTrue, node.whenFalse])
    case 'Range':
      return all([node.from, node.to])
    case 'Pipe':
      return all([node.value, node.callee])
    case 'Member':
      return visit(node.object)
    case 'MethodCall':
      visit(node.object)
      return args(node.args)
    case 'Index':
      return all([node.object, node.index])
    case 'Slice':
      visit(node.object)
      some(node.start)
      return some(node.end)
    case 'Call':
      return args(node.args)
    case 'Closure':
    case 'FnDecl':
    case 'ToolDecl':
      params(node.params)
      return visit(node.body)
    case 'If':
      visit(node.condition)
      visit(node.then)
      return some(node.otherwise)
    case 'Match':
      visit(node.subject)
      for (const arm of node.arms) {
        all(arm.patterns)
        some(arm.guard)
        visit(arm.body)
      }
      return
    case 'Try':
      visit(node.body)
      some(node.handler?.body ?? null)
      return some(node.finalizer)
    case 'Retry':
      return all([node.count, node.body])
    case 'Deadline':
      return all([node.duration, node.body])
    case 'Spawn':
    case 'Defer':
    case 'Mutex':
    case 'PipelineDecl':
    case 'OverrideDecl':
      return visit(node.body)
    case 'Parallel':
      visit(node.subject)
      some(node.maxConcurrent)
      return visit(node.body)
    case 'ExprStmt':
    case 'Throw':
    case 'Emit':
      return visit(node.value)
    case 'Return':
    case 'Yield':
      return some(node.value)
    case 'Let':
      forEachDefault(node.binding, visit)
      return visit(node.value)
    case 'Assign':
      return all([node.target, node.value])
    case 'While':
      return all([node.condition, node.body])
    case 'For':
      forEachDefault(node.binding, visit)
      return all([node.iterable, node.body])
    case 'Guard':
      return all([node.condition, node.otherwise])
    case 'Require':
      visit(node.condition)
      return some(node.message)
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
      all(node.body)
      return some(node.summarize)
    case 'EnumDecl':
      for (const variant of node.variants) params(variant.params)
      return
    case 'InterfaceDecl':
      for (const method of node.methods) params(method.params)
      return
    case 'ImplDecl':
      return all(node.methods)
    default:
      return unreachable(node)
  }
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

/** Whether a statement is a declaration, and so binds its name for more than the code after it. */
export function isDeclaration(stmt: Stmt): boolean {
  return stmt.kind.endsWith('Decl')
}

function unreachable(node: never): never {
  throw new Error(`unknown node ${JSON.stringify(node)}`)
}
