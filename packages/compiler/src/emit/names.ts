// What the emitter must know about names before it emits a function: which names nested functions mention, which a function
// assigns, and whether it yields. The walk is generic over the tree's fields, so a new node kind needs no entry here.

import type { Block, Expr, Node, Stmt } from '@bridle/parser'

type Tree = { readonly kind?: unknown } & Record<string, unknown>

/** Nodes whose body becomes a function of its own. */
const FUNCTION_KINDS: ReadonlySet<unknown> = new Set(['Closure', 'FnDecl', 'ToolDecl', 'Spawn', 'Parallel', 'ImplDecl'])

export function isFunctionNode(node: { readonly kind: string }): boolean {
  return FUNCTION_KINDS.has(node.kind)
}

/** Calls `visit` for every object of the tree with a string `kind`; a false answer skips what is below it. */
function walk(root: unknown, visit: (node: Tree) => boolean): void {
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const node = pending.pop()
    if (Array.isArray(node)) {
      for (let at = node.length - 1; at >= 0; at--) pending.push(node[at])
      continue
    }
    if (node === null || typeof node !== 'object') continue
    const tree = node as Tree
    if (typeof tree.kind === 'string' && !visit(tree)) continue
    for (const key of Object.keys(tree).reverse()) {
      const child = tree[key]
      if (key !== 'span' && child !== null && typeof child === 'object') pending.push(child)
    }
  }
}

const mentionCache = new WeakMap<object, ReadonlySet<string>>()

/** Every name that is read or called somewhere inside the node. */
export function mentions(node: object): ReadonlySet<string> {
  const known = mentionCache.get(node)
  if (known !== undefined) return known
  const names = new Set<string>()
  walk(node, (tree) => {
    if (tree.kind === 'Identifier') names.add(tree.name as string)
    else if (tree.kind === 'Call') names.add((tree.callee as { text: string }).text)
    else if (tree.kind === 'StructLiteral') names.add((tree.name as { text: string }).text)
    return true
  })
  mentionCache.set(node, names)
  return names
}

/** Names mentioned by functions nested in a statement, including the statement itself when it is a function. */
export function nestedMentions(statement: object): Set<string> {
  const names = new Set<string>()
  walk(statement, (tree) => {
    if (!FUNCTION_KINDS.has(tree.kind)) return true
    for (const name of mentions(tree)) names.add(name)
    return false
  })
  return names
}

export interface Assignments {
  /** Variables that are assigned in any form. */
  readonly assigned: ReadonlySet<string>
  /** Variables that are updated in place where they own their container: `x[i] = v`, `x.k = v`, `x = x + …`, `x += …`. */
  readonly updated: ReadonlySet<string>
}

/** Assignments in a function's own body, nested functions left out. */
export function assignments(body: readonly unknown[]): Assignments {
  const assigned = new Set<string>()
  const updated = new Set<string>()
  walk(body, (tree) => {
    if (FUNCTION_KINDS.has(tree.kind)) return false
    if (tree.kind === 'Assign') {
      const target = tree.target as Expr
      const root = rootName(target)
      if (root !== null) {
        assigned.add(root)
        if (target.kind !== 'Identifier' || tree.operator === '+' || extendsItself(root, tree.value as Expr)) updated.add(root)
      }
    }
    return true
  })
  return { assigned, updated }
}

/** Methods that give their receiver with a change, and make it in place where they get the only reference. */
const UPDATING_METHODS: ReadonlySet<string> = new Set(['push', 'pop', 'merge', 'remove'])

/** Whether `name = value` grows the variable's own container: `name + …`, possibly chained, or `name.push(…)` and its like. */
export function extendsItself(name: string, value: Expr): boolean {
  if (value.kind === 'MethodCall')
    return (
      !value.optional &&
      UPDATING_METHODS.has(value.method.text) &&
      value.object.kind === 'Identifier' &&
      value.object.name === name
    )
  let left: Expr = value
  while (left.kind === 'Binary' && left.operator === '+') left = left.left
  return left !== value && left.kind === 'Identifier' && left.name === name
}

/** The variable an assignment target starts from; null for other targets. */
export function rootName(target: Expr): string | null {
  let at = target
  while (at.kind === 'Member' || at.kind === 'Index') at = at.object
  return at.kind === 'Identifier' ? at.name : null
}

/** Whether a function body is a generator: any `yield` or `emit` of its own (reference 01 §14.1, recommendation). */
export function yields(body: Block | readonly Stmt[]): boolean {
  let found = false
  walk(body, (tree) => {
    if (found || FUNCTION_KINDS.has(tree.kind)) return false
    if (tree.kind === 'Yield' || tree.kind === 'Emit') found = true
    return !found
  })
  return found
}

export function containsDefer(body: readonly unknown[]): boolean {
  let found = false
  walk(body, (tree) => {
    if (found || FUNCTION_KINDS.has(tree.kind)) return false
    if (tree.kind === 'Defer') found = true
    return !found
  })
  return found
}

/** Declarations of one kind anywhere in the file. */
export function declarations<K extends Stmt['kind']>(root: Node, kind: K): Extract<Stmt, { kind: K }>[] {
  const found: Extract<Stmt, { kind: K }>[] = []
  walk(root, (tree) => {
    if (tree.kind === kind) found.push(tree as unknown as Extract<Stmt, { kind: K }>)
    return true
  })
  return found
}

/** Whether `_` stands where the pipe makes it a placeholder (reference 01 §3.2). */
export function hasPlaceholder(expr: Expr): boolean {
  switch (expr.kind) {
    case 'Identifier':
      return expr.name === '_'
    case 'Call':
      return expr.args.some((arg) => hasPlaceholder(arg.value))
    case 'MethodCall':
      return !expr.optional && (hasPlaceholder(expr.object) || expr.args.some((arg) => hasPlaceholder(arg.value)))
    case 'Member':
      return !expr.optional && hasPlaceholder(expr.object)
    case 'Index':
      return !expr.optional && (hasPlaceholder(expr.object) || hasPlaceholder(expr.index))
    case 'Slice':
      return hasPlaceholder(expr.object)
    case 'Binary':
      return hasPlaceholder(expr.left) || hasPlaceholder(expr.right)
    case 'Unary':
      return hasPlaceholder(expr.operand)
    case 'List':
      return expr.items.some((item) => hasPlaceholder(item.value))
    default:
      return false
  }
}
