// Types of expressions that certainly hold at run time. The language's own inference (../infer.ts) decides what stops a run and must agree with
// the language, even where that is wrong; this one may return unknown at any time, but its results must be true. It
// resolves names by their declarations, also at the top level and in `${…}`. Conditions do not narrow: a type here
// covers every value that the expression can have anywhere.

import type { Argument, DictEntry, Expr, ExprOf, FnDecl, Node, Stmt } from '@bridle/parser'
import { forEachChild } from '@bridle/parser'
import { type FnSignature, makeNominal } from '../declarations.js'
import { structType } from '../infer-calls.js'
import {
  ANY,
  BOOL,
  CLOSURE,
  DICT,
  type Field,
  FLOAT,
  INT,
  isNamed,
  type Known,
  LIST,
  makeNamed,
  makeUnion,
  NIL,
  UNTYPED,
  RANGE,
  readType,
  sameType,
  STRING,
  type Type,
  withoutNil,
} from '../type.js'
import { type Kinds, listKinds } from './kinds.js'
import type { Decl, Names } from './scope.js'
import { type ExactSignature, findBuiltin, findMethod, isExactShape, makeExactShape } from './signatures.js'
import type { StrictWorld } from './world.js'

const DURATION = makeNamed('duration')
const TASK = makeNamed('task_handle')
/** The result of a `try` without `catch`. */
const RESULT = makeNamed('Result')
const NUMBER = makeUnion([INT, FLOAT])
const PAIR = makeNamed('pair')
/** What `parallel settle` gives. */
const SETTLED = makeExactShape({ results: LIST, succeeded: INT, failed: INT })
const MAX_DEPTH = 200
/** Maximum number of expressions examined per file; beyond it everything is unknown. */
const MAX_STEPS = 5_000_000
const MAX_ASSUMED = 3

/** Methods of lists that return some of the items, in some order. */
const SAME_ITEMS: ReadonlySet<string> = new Set([
  ...['filter', 'sort', 'sort_by', 'reverse', 'take', 'skip', 'slice', 'unique', 'pop'],
])

export class Types {
  private readonly world: StrictWorld
  private readonly names: Names
  private readonly known = new Map<Expr, Known>()
  private readonly declared = new Map<Decl, Known>()
  private readonly results = new Map<FnDecl, Known>()
  private imported: ReadonlyMap<string, ExactSignature | null> | null = null
  private depth = 0
  /** Variables whose type is assumed while it is being inferred: results computed meanwhile are not cached. */
  private assuming = 0
  private stepsLeft = MAX_STEPS
  /** Shapes of literals that cannot have been changed. */
  private readonly literals = new WeakSet<Type>()

  constructor(world: StrictWorld, names: Names) {
    this.world = world
    this.names = names
  }

  infer(expr: Expr): Known {
    const plain = this.depth > MAX_DEPTH ? null : literalType(expr)
    if (plain !== null) return plain
    const known = this.known.get(expr)
    if (known !== undefined) return known
    if (this.depth > MAX_DEPTH || --this.stepsLeft < 0) return null
    this.depth++
    const found = this.inferNew(expr)
    this.depth--
    if (this.assuming === 0) this.known.set(expr, found)
    return found
  }

  /** Whether values of a shape have only its keys. */
  isClosed(type: Type): boolean {
    return this.literals.has(type) || isExactShape(type)
  }

  target(node: object): Decl | undefined {
    return this.names.targets.get(node)
  }

  declType(decl: Decl): Known {
    const known = this.declared.get(decl)
    if (known !== undefined) return known
    this.declared.set(decl, null) // a type that depends on itself is unknown
    const found = this.declTypeNew(decl)
    if (this.assuming === 0) this.declared.set(decl, found)
    else this.declared.delete(decl)
    return found
  }

  private declTypeNew(decl: Decl): Known {
    if (decl.type !== null) return this.read(decl.type)
    const { stmt } = decl
    switch (decl.kind) {
      case 'let':
        return decl.value === null ? null : this.updated(decl, this.infer(decl.value))
      case 'var':
        return decl.value === null ? null : this.updated(decl, this.variableType(decl, decl.value))
      case 'param':
        if (decl.owner !== null) return this.ownerType(decl.owner)
        return decl.items === null || decl.isUpdated ? null : this.itemType(this.infer(decl.items))
      case 'loop':
        return stmt?.kind === 'For' && decl.assigned.length === 0 && !decl.isUpdated
          ? this.itemType(this.infer(stmt.iterable))
          : null
      case 'fn':
        return CLOSURE
      default:
        return null
    }
  }

  /** If parts of a value are assigned, the types of its parts are unknown. */
  private updated(decl: Decl, type: Known): Known {
    if (type === null || !decl.isUpdated) return type
    switch (type.kind) {
      case 'list':
        return LIST
      case 'shape':
      case 'dict':
        return DICT
      case 'named':
        return type
      default:
        return null
    }
  }

  private ownerType(name: string): Known {
    const { root } = this.world
    const info = root.struct(name) ?? root.enumNamed(name)
    return info !== undefined && info.params.length === 0 ? makeNamed(name) : null
  }

  private variableType(decl: Decl, value: Expr): Known {
    const first = this.open(this.infer(value))
    if (first === null || this.assuming >= MAX_ASSUMED) return null
    if (decl.assigned.length === 0) return first
    // A variable that starts as a list and is pushed to in a loop is a list: this is assumed, and then confirmed.
    this.assuming++
    this.declared.set(decl, first)
    const found = this.assignedType(decl, first)
    this.assuming--
    return found
  }

  private assignedType(decl: Decl, first: Type): Known {
    const members: Type[] = [first]
    for (const { operator, value: next } of decl.assigned) {
      const right = this.open(this.infer(next))
      const type = operator === null ? right : arithmetic(operator, first, right)
      if (type === null) return null
      if (!members.some((member) => sameType(member, type))) members.push(type)
    }
    return makeUnion(members)
  }

  /** A variable can be assigned another dict. */
  private open(type: Known): Known {
    return type !== null && this.literals.has(type) ? DICT : type
  }

  private read(type: Parameters<typeof readType>[0]): Known {
    const found = readType(type)
    return isNamed(found, 'any') || isNamed(found, 'unknown') ? null : found
  }

  itemType(iterable: Known): Known {
    switch (iterable?.kind) {
      case 'list':
      case 'iter':
      case 'generator':
      case 'stream':
        return isNamed(iterable.element, 'any') ? null : iterable.element
      case 'named':
        return iterable.name === 'range' ? INT : null
      default:
        return null
    }
  }

  /** The type of a receiver: not nil, because a run does not get past a nil receiver. */
  receiverType(object: Expr): Known {
    const type = this.infer(object)
    if (type?.kind !== 'union') return type
    const members = withoutNil(type.members)
    return members.length === 0 ? type : makeUnion(members)
  }

  private inferNew(expr: Expr): Known {
    switch (expr.kind) {
      case 'Spawn':
        return TASK
      case 'Parallel':
        return expr.mode === 'settle' ? SETTLED : LIST
      case 'Try':
        return expr.handler === null && expr.finalizer === null ? RESULT : null
      case 'Identifier': {
        const decl = this.target(expr)
        if (decl !== undefined) return this.declType(decl)
        return this.isBuiltin(expr.name) ? CLOSURE : null
      }
      case 'List':
        return this.listType(expr.items)
      case 'Dict':
        return this.dictType(expr.entries)
      case 'StructLiteral':
        return structType(expr.name.text, expr.entries, this.world.root, (part) => this.infer(part))
      case 'Unary':
        return expr.operator === '!' ? BOOL : this.negated(this.infer(expr.operand))
      case 'Binary':
        return this.binaryType(expr)
      case 'Ternary':
        return this.union([this.infer(expr.whenTrue), this.infer(expr.whenFalse)])
      case 'Member':
        return this.memberType(expr)
      case 'Index':
        return this.indexType(expr)
      case 'Slice': {
        const type = this.infer(expr.object)
        return type !== null && (type.kind === 'list' || isNamed(type, 'list') || isNamed(type, 'string')) ? type : null
      }
      case 'MethodCall':
        return this.methodType(expr)
      case 'Call':
        return this.callType(expr)
      default:
        return null
    }
  }

  private negated(type: Known): Known {
    return isNamed(type, 'int') || isNamed(type, 'float') ? type : null
  }

  private union(types: readonly Known[]): Known {
    const members: Type[] = []
    for (const type of types) {
      if (type === null) return null
      for (const member of type.kind === 'union' ? type.members : [type]) {
        if (!members.some((other) => sameType(other, member))) members.push(member)
      }
    }
    return members.length === 0 ? null : makeUnion(members)
  }

  private listType(items: readonly Argument[]): Known {
    const types = items.map((item) => (item.spread ? null : this.infer(item.value)))
    const element = this.mergeLiterals(types) ?? this.union(types.map((type) => this.open(type)))
    return element === null ? LIST : { kind: 'list', element }
  }

  /** The shape of any of several dict literals; null if a type is something else, or a dict is empty and may be a placeholder. */
  private mergeLiterals(types: readonly Known[]): Known {
    const fields = new Map<string, Known[]>()
    for (const type of types) {
      if (type?.kind !== 'shape' || !this.literals.has(type) || type.fields.length === 0) return null
      for (const { name, type: value } of type.fields) {
        const known = fields.get(name)
        if (known === undefined) fields.set(name, [value])
        else known.push(value)
      }
    }
    if (types.length === 0) return null
    const merged: Type = {
      kind: 'shape',
      fields: Array.from(fields, ([name, values]) => ({
        name,
        type: values.some((value) => isNamed(value, 'any')) ? makeNamed('any') : (this.union(values) ?? makeNamed('any')),
        optional: values.length < types.length,
      })),
    }
    this.literals.add(merged)
    return merged
  }

  private dictType(entries: readonly DictEntry[]): Known {
    const fields: Field[] = []
    for (const entry of entries) {
      if (entry.kind !== 'named') return DICT
      const type = this.infer(entry.value)
      fields.push({ name: entry.key.text, type: type ?? makeNamed('any'), optional: false })
    }
    const shape: Type = { kind: 'shape', fields }
    this.literals.add(shape)
    return shape
  }

  private binaryType(expr: ExprOf<'Binary'>): Known {
    switch (expr.operator) {
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
      case '**':
        return arithmetic(expr.operator, this.infer(expr.left), this.infer(expr.right))
      case '??': {
        const left = this.infer(expr.left)
        if (left === null) return null
        const members = left.kind === 'union' ? left.members : [left]
        return this.union([...members.filter((member) => !isNamed(member, 'nil')), this.infer(expr.right)])
      }
      default:
        return BOOL
    }
  }

  private memberType(expr: ExprOf<'Member'>): Known {
    const { root } = this.world
    if (expr.optional) return null
    if (expr.object.kind === 'Identifier') {
      const decl = this.target(expr.object)
      const info = decl === undefined || decl.stmt?.kind === 'EnumDecl' ? root.enumNamed(expr.object.name) : undefined
      if (info !== undefined) return makeNominal(expr.object.name, info)
    }
    const type = this.receiverType(expr.object)
    if (type === null) return null
    const { text } = expr.property
    if (type.kind === 'list' || isNamed(type, 'list') || isNamed(type, 'string')) {
      if (text === 'count') return INT
      if (text === 'empty') return BOOL
      return type.kind === 'list' && (text === 'first' || text === 'last') ? this.union([type.element, NIL]) : null
    }
    if (type.kind === 'shape') {
      const field = type.fields.find(({ name }) => name === text)
      if (field === undefined || field.type === UNTYPED || isNamed(field.type, 'any')) return null
      return field.optional ? this.union([field.type, NIL]) : field.type
    }
    if (type.kind === 'named') {
      const field = root.struct(type.name)?.fields.find(({ name }) => name === text)
      if (field === undefined || field.type === null || isNamed(field.type, 'any')) return null
      // A struct can be made without the field.
      return this.union([field.type, NIL])
    }
    return null
  }

  private indexType(expr: ExprOf<'Index'>): Known {
    const type = this.receiverType(expr.object)
    if (type === null || expr.optional) return null
    if (type.kind === 'list') return this.union([type.element, NIL])
    return isNamed(type, 'string') ? makeUnion([STRING, NIL]) : null
  }

  private methodType(expr: ExprOf<'MethodCall'>): Known {
    const { root } = this.world
    if (expr.optional) return null
    if (expr.object.kind === 'Identifier') {
      const decl = this.target(expr.object)
      const info = decl === undefined || decl.stmt?.kind === 'EnumDecl' ? root.enumNamed(expr.object.name) : undefined
      if (info !== undefined) return makeNominal(expr.object.name, info)
    }
    const type = this.receiverType(expr.object)
    const kinds = listKinds(type, root)
    const items = this.itemsOf(type, kinds, expr.method.text)
    if (items !== null) return items
    if (type === null || kinds === null || kinds.size !== 1) return null
    const [kind] = kinds
    if (kind === undefined || kind === 'struct' || kind === 'dict') return null
    if (kind === 'list' && SAME_ITEMS.has(expr.method.text)) return type
    const method = findMethod(kind, expr.method.text)
    // A missing method returns nil.
    return method === null ? (kind === 'enum' ? null : NIL) : method.returns
  }

  /** Methods that return items of the value, with the form in which loops and closures destructure them. */
  private itemsOf(type: Known, kinds: Kinds | null, method: string): Known {
    if (type === null || kinds === null) return null
    const value = this.itemType(type) ?? ANY
    if (type.kind === 'shape' || type.kind === 'dict') {
      if (method === 'entries') return { kind: 'list', element: makeExactShape({ key: STRING, value: ANY }) }
      return method === 'iter' ? { kind: 'iter', element: PAIR } : null
    }
    if (kinds.size !== 1) return null
    if (kinds.has('list')) {
      if (method === 'enumerate') return { kind: 'list', element: makeExactShape({ index: INT, value }) }
      if (method === 'zip') return { kind: 'list', element: LIST }
    }
    if (method === 'iter' && (kinds.has('list') || kinds.has('range'))) return { kind: 'iter', element: value }
    const isPaired = method === 'enumerate' || method === 'zip'
    return isPaired && (kinds.has('iter') || kinds.has('range')) ? { kind: 'iter', element: PAIR } : null
  }

  private callType(expr: ExprOf<'Call'>): Known {
    const decl = this.target(expr)
    const name = expr.callee.text
    if (decl === undefined || decl.kind === 'import') {
      const imported = this.importedSignature(name)
      if (imported !== null) return imported.returns
      return decl === undefined && this.isBuiltin(name) ? (findBuiltin(name)?.returns ?? null) : null
    }
    if (decl.kind === 'fn' && decl.stmt?.kind === 'FnDecl') return this.resultType(decl.stmt)
    return null
  }

  /** Whether a name without a declaration in the file is a builtin. */
  isBuiltin(name: string): boolean {
    const { builtins, globals, importedNames } = this.world
    return importedNames !== null && !importedNames.has(name) && !globals.has(name) && builtins.has(name)
  }

  /** The signature of an imported function; null if it is not a function, or several imports declare it. */
  importedSignature(name: string): ExactSignature | null {
    this.imported ??= this.readImported()
    return this.imported.get(name) ?? null
  }

  private readImported(): ReadonlyMap<string, ExactSignature | null> {
    const found = new Map<string, ExactSignature | null>()
    for (const item of this.world.program.items) {
      if (item.kind !== 'ImportDecl') continue
      const source = this.world.imports(item.path)
      const names = item.names?.map(({ text }) => text) ?? source?.exports ?? []
      for (const name of names) {
        const signature = source?.functions.get(name)
        found.set(name, signature === undefined || found.has(name) ? null : exact(signature))
      }
    }
    return found
  }

  /** The result of a function; unknown for a generator or a generic function. */
  resultType(decl: FnDecl): Known {
    if (decl.typeParams.length > 0 || decl.isStream) return null
    // Of a `dict` the body says more.
    const declared = decl.returns === null ? null : this.read(decl.returns)
    if (decl.returns !== null && !isNamed(declared, 'dict')) return declared
    const known = this.results.get(decl)
    if (known !== undefined) return known
    this.results.set(decl, declared)
    const body = readBody(decl)
    const found: Known = body.yields
      ? { kind: 'generator', element: makeNamed('any') }
      : this.union([...body.returned.map((value) => this.infer(value)), ...(body.mayGiveNil ? [NIL] : [])])
    const result = declared !== null && found?.kind !== 'shape' ? declared : found
    this.results.set(decl, result)
    return result
  }
}

/** For nodes whose kind determines the type. */
function literalType(expr: Expr): Known {
  switch (expr.kind) {
    case 'Int':
      return INT
    case 'Float':
      return FLOAT
    case 'Bool':
      return BOOL
    case 'Nil':
      return NIL
    case 'String':
    case 'Interpolation':
      return STRING
    case 'Duration':
      return DURATION
    case 'Range':
      return RANGE
    case 'Closure':
      return CLOSURE
    default:
      return null
  }
}

function exact({ params, required, hasRest, returns, typeParams }: FnSignature): ExactSignature {
  const isKnown = typeParams.length === 0 && !isNamed(returns, 'any')
  const untyped = params.map((param) => ({ ...param, type: null }))
  return { params: isKnown ? params : untyped, required, most: hasRest ? null : params.length, returns: isKnown ? returns : null }
}

interface OwnBody {
  readonly returned: readonly Expr[]
  readonly yields: boolean
  /** Whether it may end without a value. */
  readonly mayGiveNil: boolean
}

const OWN_BODY: ReadonlySet<string> = new Set([
  ...['FnDecl', 'ToolDecl', 'PipelineDecl', 'ImplDecl', 'OverrideDecl', 'Closure', 'Spawn', 'Parallel', 'EvalPackDecl'],
])

const bodies = new WeakMap<FnDecl, OwnBody>()

/** Cached, because every call of a function needs it. */
export function readBody(decl: FnDecl): OwnBody {
  let found = bodies.get(decl)
  if (found === undefined) bodies.set(decl, (found = collectBody(decl)))
  return found
}

function collectBody(decl: FnDecl): OwnBody {
  const returned: Expr[] = []
  let yields = false
  let mayGiveNil = decl.body.body.at(-1)?.kind !== 'Return'
  const visit = (node: Node): void => {
    if (OWN_BODY.has(node.kind)) return
    if (node.kind === 'Yield' || node.kind === 'Emit') yields = true
    if (node.kind === 'Propagate' || node.kind === 'TryStar') mayGiveNil = false // returns an error value
    if (node.kind === 'Propagate') returned.push(node)
    if (node.kind === 'Return') {
      if (node.value === null) mayGiveNil = true
      else returned.push(node.value)
    }
    forEachChild(node, visit)
  }
  visit(decl.body)
  return { returned, yields, mayGiveNil }
}

/** A function whose result is certainly nil. */
export function givesNothing(decl: FnDecl): boolean {
  if (decl.returns !== null || decl.isStream) return false
  const { returned, yields } = readBody(decl)
  return returned.length === 0 && !yields && !endsInThrow(decl.body.body)
}

function endsInThrow(body: readonly Stmt[]): boolean {
  const last = body.at(-1)
  // A function with an empty body, or one that never returns.
  return last === undefined || last.kind === 'Throw'
}

function arithmetic(operator: string, left: Known, right: Known): Known {
  const l = plain(left)
  const r = plain(right)
  if (l === null || r === null) return null
  const isNumeric = (name: string): boolean => name === 'int' || name === 'float'
  if (isNumeric(l) && isNumeric(r)) {
    if (l === 'float' || r === 'float') return FLOAT
    return operator === '**' || operator === '/' ? NUMBER : INT
  }
  if (operator === '+' && l === r && (l === 'string' || l === 'list')) return l === 'list' ? LIST : STRING
  if (operator === '*' && ((l === 'string' && r === 'int') || (l === 'int' && r === 'string'))) return STRING
  return null
}

function plain(type: Known): string | null {
  if (type === null) return null
  return type.kind === 'named' ? type.name : type.kind === 'list' ? 'list' : null
}
