// Facts about names that the emitter needs in advance: the free names of the functions in a statement, the names that
// a function assigns, whether it yields or defers. One walk over the file finds the free names, one walk over each
// function's own body the rest. So compile time is linear in the source, at any nesting depth.

import { forEachChild } from '@bridle/parser'
import type { Binding, Block, DictEntry, Expr, ExprOf, Node, Param, Program, Stmt } from '@bridle/parser'

/** Nodes whose body becomes a separate function. */
const FUNCTION_KINDS: ReadonlySet<Node['kind']> = new Set(['Closure', 'FnDecl', 'ToolDecl', 'Spawn', 'Parallel', 'ImplDecl'])

export function isFunctionNode(node: Node): boolean {
  return FUNCTION_KINDS.has(node.kind)
}

/** One function while `Nesting` walks it; the file itself is the outermost. */
interface Walked {
  /** Its parameters and the variables bound so far in the enclosing blocks, with their counts. */
  readonly bound: Map<string, number>
  readonly free: Set<string>
  /** Enclosing statements within the function. */
  readonly around: Stmt[]
}

/** The functions of a file by their enclosing statements. */
export class Nesting {
  readonly enums: Extract<Stmt, { kind: 'EnumDecl' }>[] = []
  readonly structs: Extract<Stmt, { kind: 'StructDecl' }>[] = []
  private readonly inside = new Map<Stmt, ReadonlySet<string>[]>()
  private current: Walked = { bound: new Map(), free: new Set(), around: [] }
  private readonly visit = (node: Node): void => this.enter(node)

  constructor(program: Program) {
    this.statements(program.items)
  }

  /**
   * Free names of the functions in a statement, or of the statement itself if it is a function. A name
   * that a function binds only after mentioning it counts too.
   */
  freeIn(statement: Stmt): readonly ReadonlySet<string>[] {
    return this.inside.get(statement) ?? []
  }

  private enter(node: Node): void {
    switch (node.kind) {
      case 'Identifier':
        this.mention(node.name)
        return
      case 'Call':
        this.mention(node.callee.text)
        break
      case 'StructLiteral':
        this.mention(node.name.text)
        break
      case 'Block':
        this.block(node)
        return
      case 'Closure':
      case 'FnDecl':
      case 'ToolDecl':
        this.function(
          node,
          node.params.map((param: Param) => param.name.text),
        )
        return
      case 'Parallel':
        this.function(node, node.variable === null ? [] : [node.variable.text])
        return
      case 'Spawn':
      case 'ImplDecl':
        this.function(node, [])
        return
      case 'EvalPackDecl':
        for (const field of node.fields) this.enter(field.value)
        this.statements(node.body)
        if (node.summarize !== null) this.enter(node.summarize)
        return
      case 'EnumDecl':
        this.enums.push(node)
        break
      case 'StructDecl':
        this.structs.push(node)
        break
    }
    forEachChild(node, this.visit)
  }

  private mention(name: string): void {
    if (!this.current.bound.has(name)) this.current.free.add(name)
  }

  private block(block: Block): void {
    const { bound } = this.current
    const names = this.statements(block.body)
    for (const name of names) {
      const times = bound.get(name)! - 1
      if (times === 0) bound.delete(name)
      else bound.set(name, times)
    }
  }

  /** Returns the names that they bind, which stay bound. */
  private statements(statements: readonly Stmt[]): readonly string[] {
    const { bound, around } = this.current
    const names: string[] = []
    for (const statement of statements) {
      around.push(statement)
      this.enter(statement)
      around.pop()
      if (statement.kind !== 'Let') continue
      for (const name of bindingNames(statement.binding)) {
        if (name === '_') continue
        names.push(name)
        bound.set(name, (bound.get(name) ?? 0) + 1)
      }
    }
    return names
  }

  private function(node: Node, params: readonly string[]): void {
    const outer = this.current
    const inner: Walked = { bound: new Map(), free: new Set(), around: [] }
    // `_` binds no variable, so a mention of it is a free name.
    for (const name of params) if (name !== '_') inner.bound.set(name, 1)
    this.current = inner
    forEachChild(node, this.visit)
    this.current = outer
    if (inner.free.size === 0) return
    for (const name of inner.free) this.mention(name)
    for (const statement of outer.around) {
      const known = this.inside.get(statement)
      if (known === undefined) this.inside.set(statement, [inner.free])
      else known.push(inner.free)
    }
  }
}

/** Names that a binding binds, in order. */
export function bindingNames(binding: Binding): readonly string[] {
  switch (binding.kind) {
    case 'NameBinding':
      return [binding.name.text]
    case 'PairBinding':
      return [binding.first.text, binding.second.text]
    case 'DictBinding':
      return [
        ...binding.fields.map((field) => (field.alias ?? field.key).text),
        ...(binding.rest === null ? [] : [binding.rest.text]),
      ]
    case 'ListBinding':
      return [...binding.items.map((item) => item.name.text), ...(binding.rest === null ? [] : [binding.rest.text])]
  }
}

/** Every name that is read or called somewhere inside the node. */
export function mentions(node: Node): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (inner: Node): void => {
    if (inner.kind === 'Identifier') names.add(inner.name)
    else if (inner.kind === 'Call') names.add(inner.callee.text)
    else if (inner.kind === 'StructLiteral') names.add(inner.name.text)
    forEachChild(inner, visit)
  }
  visit(node)
  return names
}

export interface Assignments {
  /** Variables that are assigned in any form. */
  readonly assigned: ReadonlySet<string>
  /** Variables that are updated in place where they own their container: `x[i] = v`, `x.k = v`, `x = x + …`, `x += …`, `x = f(x)`. */
  readonly updated: ReadonlySet<string>
}

export interface OwnBody {
  readonly assignments: Assignments
  /** It is a generator: it contains a `yield` or `emit`. */
  readonly yields: boolean
  readonly hasDefer: boolean
}

/** What a function does in its own body, nested functions left out. */
export function ownBody(body: readonly Stmt[]): OwnBody {
  const assigned = new Set<string>()
  const updated = new Set<string>()
  let yields = false
  let hasDefer = false
  const visit = (node: Node): void => {
    switch (node.kind) {
      case 'Closure':
      case 'FnDecl':
      case 'ToolDecl':
      case 'Spawn':
      case 'Parallel':
      case 'ImplDecl':
        return
      case 'Assign': {
        const { target } = node
        const root = rootName(target)
        if (root !== null) {
          assigned.add(root)
          if (
            target.kind !== 'Identifier' ||
            node.operator === '+' ||
            extendsItself(root, node.value) ||
            passesOn(root, node.value)
          )
            updated.add(root)
        }
        break
      }
      case 'Yield':
      case 'Emit':
        yields = true
        break
      case 'Defer':
        hasDefer = true
        break
    }
    forEachChild(node, visit)
  }
  for (const statement of body) visit(statement)
  return { assignments: { assigned, updated }, yields, hasDefer }
}

/** Whether `name = value` is a call to which the variable is transferred, or a method call on the result of one. */
function passesOn(name: string, value: Expr): boolean {
  const isIt = (expr: Expr): boolean => expr.kind === 'Identifier' && expr.name === name
  if (value.kind === 'Call') return value.args.some((arg) => isIt(arg.value))
  if (value.kind !== 'MethodCall') return false
  return isIt(value.object) || value.args.some((arg) => isIt(arg.value)) || passesOn(name, value.object)
}

/** Methods that return a changed receiver, and change it in place if they get the only reference. */
const UPDATING_METHODS: ReadonlySet<string> = new Set(['push', 'pop', 'merge', 'remove'])

/** Whether `name = value` grows the variable's own container: `name + …`, possibly chained, or `name.push(…)` and similar methods. */
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

/** The call in `path = path.push(a)`, or of a similar method, if the path cannot change while it is evaluated; otherwise null. */
export function readPathExtension(path: Expr, value: Expr): ExprOf<'MethodCall'> | null {
  if (value.kind !== 'MethodCall' || value.optional || !UPDATING_METHODS.has(value.method.text)) return null
  if (!isSamePath(path, value.object) || value.args.some((arg) => arg.spread)) return null
  return value
}

/** Whether both are the same path from a variable, with constant or variable steps. */
function isSamePath(one: Expr, other: Expr): boolean {
  if (one.kind === 'Identifier') return other.kind === 'Identifier' && one.name === other.name
  if (one.kind === 'Member')
    return (
      other.kind === 'Member' &&
      !one.optional &&
      !other.optional &&
      one.property.text === other.property.text &&
      isSamePath(one.object, other.object)
    )
  return (
    one.kind === 'Index' &&
    other.kind === 'Index' &&
    !one.optional &&
    !other.optional &&
    isSameIndex(one.index, other.index) &&
    isSamePath(one.object, other.object)
  )
}

function isSameIndex(one: Expr, other: Expr): boolean {
  if (one.kind === 'Identifier') return other.kind === 'Identifier' && one.name === other.name
  return (one.kind === 'Int' || one.kind === 'String') && other.kind === one.kind && one.value === other.value
}

/**
 * Whether a function uses a parameter only to initialise a variable that it updates: `var own = param`, once, in its own
 * block. A transferred argument becomes that variable's.
 */
export function isTaken(
  param: string,
  { params, body }: { readonly params: readonly Param[]; readonly body: Block },
  { updated }: Assignments,
): boolean {
  if (param === '_' || params.filter(({ name }) => name.text === param).length !== 1) return false
  const moves = body.body.some(
    (stmt) =>
      stmt.kind === 'Let' &&
      stmt.mutable &&
      stmt.binding.kind === 'NameBinding' &&
      stmt.binding.name.text !== param &&
      updated.has(stmt.binding.name.text) &&
      stmt.value.kind === 'Identifier' &&
      stmt.value.name === param,
  )
  if (!moves) return false
  let count = countMentions(body, param)
  for (const { defaultValue } of params) if (defaultValue !== null) count += countMentions(defaultValue, param)
  return count === 1
}

function isMention(node: Node, name: string): boolean {
  return (
    (node.kind === 'Identifier' && node.name === name) ||
    (node.kind === 'Call' && node.callee.text === name) ||
    (node.kind === 'StructLiteral' && node.name.text === name)
  )
}

/** How often a name is read or called inside the node. */
export function countMentions(node: Node, name: string): number {
  let count = 0
  const visit = (inner: Node): void => {
    if (isMention(inner, name)) count++
    forEachChild(inner, visit)
  }
  visit(node)
  return count
}

/**
 * The reads `param.field` by which a function takes a part out of its argument in order to return it in a new dict or struct: as the value of
 * a variable that is a field of the literal, or directly. An updating method may be called on it. The same part, or the whole parameter,
 * is not read after it.
 */
export function listTakenParts(
  param: string,
  { params, body }: { readonly params: readonly Param[]; readonly body: Block },
  { updated }: Assignments,
): ReadonlySet<Expr> {
  const taken = new Set<Expr>()
  if (param === '_' || params.filter(({ name }) => name.text === param).length !== 1) return taken
  if (params.some(({ defaultValue }) => defaultValue !== null && mentions(defaultValue).has(param))) return taken
  /** Fields in the order of their reads; null for a use of the whole parameter. */
  const uses: { readonly field: string | null; readonly node: Node }[] = []
  /** Candidates by the number of uses after which nothing of the call remains. */
  const ends = new Map<ExprOf<'Member'>, number>()
  const kept = new Set<string>()
  const once = new Set(listOnce(body.body))
  const begun: { readonly read: ExprOf<'Member'>; readonly variable: string }[] = []
  let isHidden = false
  const visit = (node: Node): void => {
    if (isFunctionNode(node)) {
      if (mentions(node).has(param)) isHidden = true
      return
    }
    if (node.kind === 'Member' && node.object.kind === 'Identifier' && node.object.name === param) {
      uses.push({ field: node.property.text, node })
      return
    }
    if (isMention(node, param)) uses.push({ field: null, node })
    forEachChild(node, visit)
    if (node.kind === 'Let') {
      const names = bindingNames(node.binding)
      if (names.includes(param)) isHidden = true
      const read = node.mutable && names.length === 1 && updated.has(names[0]!) ? readPart(node.value, param) : null
      if (read !== null && node.binding.kind === 'NameBinding' && once.has(node)) begun.push({ read, variable: names[0]! })
    } else if (node.kind === 'Return') {
      for (const { value } of listHeldEntries(node.value)) {
        if (value.kind === 'Identifier') kept.add(value.name)
        const read = readPart(value, param)
        if (read !== null) ends.set(read, uses.length)
      }
    }
  }
  visit(body)
  if (isHidden) return taken
  for (const { read, variable } of begun) if (kept.has(variable)) ends.set(read, uses.length)
  for (const [read, end] of ends) {
    const behind = uses.slice(uses.findIndex(({ node }) => node === read) + 1, end)
    if (behind.every(({ field }) => field !== null && field !== read.property.text)) taken.add(read)
  }
  return taken
}

/** The read `param.field` in `param.field` or `param.field.push(…)`, or with another updating method; otherwise null. */
function readPart(value: Expr, param: string): ExprOf<'Member'> | null {
  const isUpdate = value.kind === 'MethodCall' && !value.optional && UPDATING_METHODS.has(value.method.text)
  if (isUpdate && value.args.some((arg) => arg.spread)) return null
  const read = isUpdate ? value.object : value
  return read.kind === 'Member' && !read.optional && read.object.kind === 'Identifier' && read.object.name === param ? read : null
}

/** The entries of a dict or struct literal if all have names. */
export function listHeldEntries(value: Expr | null): readonly Extract<DictEntry, { kind: 'named' }>[] {
  if (value?.kind !== 'StructLiteral' && value?.kind !== 'Dict') return []
  const named = value.entries.filter((entry) => entry.kind === 'named')
  return named.length === value.entries.length ? named : []
}

/** Statements of a function that run at most once per call, because no loop or handler encloses them. */
function* listOnce(body: readonly Stmt[]): Generator<Stmt> {
  for (const stmt of body) {
    yield stmt
    for (let at = stmt.kind === 'ExprStmt' ? stmt.value : null; at?.kind === 'If';) {
      yield* listOnce(at.then.body)
      if (at.otherwise?.kind === 'Block') yield* listOnce(at.otherwise.body)
      at = at.otherwise?.kind === 'If' ? at.otherwise : null
    }
  }
}

/** Whether evaluating it may assign to a variable of this name. */
export function assigns(expr: Expr, name: string): boolean {
  let found = false
  const visit = (node: Node): void => {
    if (found || isFunctionNode(node)) return
    if (node.kind === 'Assign' && rootName(node.target) === name) found = true
    else forEachChild(node, visit)
  }
  visit(expr)
  return found
}

/** The variable an assignment target starts from; null for other targets. */
export function rootName(target: Expr): string | null {
  let at = target
  while (at.kind === 'Member' || at.kind === 'Index') at = at.object
  return at.kind === 'Identifier' ? at.name : null
}

/** Whether `_` is the placeholder of a pipe. */
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
