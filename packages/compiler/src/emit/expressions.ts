// Expressions → code. Every function leaves exactly one value on the operand stack, unless its comment says otherwise.
//
// Two kinds of context matter for ownership (vm/values/list.ts): a *borrowed* value is read and dropped (operands, receivers,
// conditions), a *shared* one is stored, passed, captured or returned. Loads of variables that are updated in place record which.

import { walk } from '@bridle/parser'
import type { Argument, Expr, ExprOf, Span } from '@bridle/parser'
import type { Label } from '../bytecode/assembler.js'
import { emitDeadline, emitParallel, emitSpawn } from './concurrency.js'
import { emitCount } from './count.js'
import { emitRetry, emitTry, emitTryStar } from './errors.js'
import { emitClosure } from './functions.js'
import { CompileError } from './module.js'
import { assigns, countMentions, hasPlaceholder, listHeldEntries, mentions } from './names.js'
import { emitMatch } from './patterns.js'
import { emitBlock } from './statements.js'
import type { FunctionEmitter, Moving } from './function.js'

const BINARY = {
  '+': 'ADD',
  '-': 'SUB',
  '*': 'MUL',
  '/': 'DIV',
  '%': 'MOD',
  '**': 'POW',
  '==': 'EQ',
  '!=': 'NE',
  '<': 'LT',
  '<=': 'LE',
  '>': 'GT',
  '>=': 'GE',
  in: 'IN',
  'not in': 'NOT_IN',
} as const

const MAX_DURATION = 9223372036854775807n

/** Names that always mean the builtin. */
const RESERVED_CALLS: ReadonlySet<string> = new Set(['await', 'cancel', 'cancel_graceful', 'is_cancelled'])

/** Calls whose argument at this position may be a type alias. */
const SCHEMA_ARGUMENTS: Readonly<Record<string, number>> = {
  schema_of: 0,
  schema_is: 1,
  schema_expect: 1,
  schema_parse: 1,
  schema_check: 1,
  is_type: 1,
  json_validate: 1,
}

export function emitExpr(fn: FunctionEmitter, expr: Expr): void {
  emit(fn, expr, true)
}

/** For operands that are read and dropped. */
export function emitBorrowed(fn: FunctionEmitter, expr: Expr): void {
  emit(fn, expr, false)
}

function emit(fn: FunctionEmitter, expr: Expr, shared: boolean): void {
  switch (expr.kind) {
    case 'Int':
      return emitInt(fn, expr.value)
    case 'Float':
      return fn.emit('CONST', fn.module.constant({ tag: 'float', value: expr.value }))
    case 'Bool':
      return fn.emit(expr.value ? 'TRUE' : 'FALSE')
    case 'Nil':
      return fn.emit('NIL')
    case 'String':
      return fn.emit('CONST', fn.module.constant(expr.value))
    case 'Duration':
      if (typeof expr.value === 'bigint' && expr.value > MAX_DURATION)
        throw new CompileError('duration literal is too large', expr.span)
      return fn.emit('CONST', fn.module.constant({ tag: 'duration', ms: expr.value }))
    case 'Interpolation':
      return emitInterpolation(fn, expr)
    case 'Identifier':
      return emitIdentifier(fn, expr.name, expr.span, shared)
    case 'List':
      return emitList(fn, expr.items)
    case 'Dict':
      return emitDict(fn, expr)
    case 'StructLiteral':
      return emitStruct(fn, expr)
    case 'Unary':
      if (expr.operator === '-' && expr.operand.kind === 'Int')
        return emitInt(fn, typeof expr.operand.value === 'bigint' ? -expr.operand.value : 0 - expr.operand.value)
      emitBorrowed(fn, expr.operand)
      fn.at(expr.span)
      return fn.emit(expr.operator === '-' ? 'NEG' : 'NOT')
    case 'Binary':
      return emitBinary(fn, expr)
    case 'Ternary': {
      const otherwise = fn.asm.label()
      const end = fn.asm.label()
      emitJumpUnless(fn, expr.condition, otherwise)
      emitCount(fn, { kind: 'branch', branch: 'ternary', span: expr.span, arm: 0 })
      emit(fn, expr.whenTrue, shared)
      fn.asm.jump('JUMP', end)
      fn.asm.place(otherwise)
      emitCount(fn, { kind: 'branch', branch: 'ternary', span: expr.span, arm: 1 })
      emit(fn, expr.whenFalse, shared)
      return fn.asm.place(end)
    }
    case 'Range':
      emitBorrowed(fn, expr.from)
      emitBorrowed(fn, expr.to)
      return fn.emit('BUILD_RANGE', expr.exclusive ? 1 : 0)
    case 'Pipe':
      return emitPipe(fn, expr, false)
    case 'Member':
      return emitMember(fn, expr, shared)
    case 'MethodCall':
      return emitMethodCall(fn, expr)
    case 'Index':
      emitBorrowed(fn, expr.object)
      emitBorrowed(fn, expr.index)
      fn.at(expr.span)
      return emitAccess(fn, expr, shared, 'GET_INDEX')
    case 'Slice':
      emitBorrowed(fn, expr.object)
      if (expr.start !== null) emitBorrowed(fn, expr.start)
      if (expr.end !== null) emitBorrowed(fn, expr.end)
      fn.at(expr.span)
      return fn.emit('SLICE', expr.start === null ? 0 : 1, expr.end === null ? 0 : 1)
    case 'Call':
      return emitCall(fn, expr, false)
    case 'Propagate':
      return emitPropagate(fn, expr)
    case 'TryStar':
      return emitTryStar(fn, expr)
    case 'Closure':
      return emitClosure(fn, expr)
    case 'If':
      return emitIf(fn, expr, true)
    case 'Match':
      return emitMatch(fn, expr, true)
    case 'Try':
      return emitTry(fn, expr, true)
    case 'Retry':
      return emitRetry(fn, expr)
    case 'Deadline':
      return emitDeadline(fn, expr)
    case 'Spawn':
      return emitSpawn(fn, expr)
    case 'Parallel':
      return emitParallel(fn, expr)
  }
}

function emitInt(fn: FunctionEmitter, value: number | bigint): void {
  // Literals past ±2^53 are bigints; negation may bring one back into range.
  const exact = typeof value === 'bigint' && value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
  if (typeof exact === 'number' && (exact | 0) === exact) fn.emit('INT', exact)
  else fn.emit('CONST', fn.module.constant(exact))
}

function emitInterpolation(fn: FunctionEmitter, expr: ExprOf<'Interpolation'>): void {
  const lastCall = expr.parts.findLastIndex((part) => typeof part !== 'string' && mayCall(part))
  for (const [at, part] of expr.parts.entries()) {
    if (typeof part === 'string') fn.emit('CONST', fn.module.constant(part))
    else {
      emitBorrowed(fn, part)
      // An iterator, a channel, an atomic: a later part may call code that changes how this one is formatted.
      if (at < lastCall && SHOWN_AT_ONCE.has(part.kind)) fn.emit('TEXT', 1)
    }
  }
  fn.emit('TEXT', expr.parts.length)
}

const SHOWN_AT_ONCE: ReadonlySet<Expr['kind']> = new Set(['Identifier', 'Member', 'Index'])
const CALLS: ReadonlySet<string> = new Set(['Call', 'MethodCall', 'Pipe'])

function mayCall(expr: Expr): boolean {
  let found = false
  walk(expr, {
    enter: (node) => {
      found ||= CALLS.has(node.kind)
      return !found
    },
  })
  return found
}

export function emitIdentifier(fn: FunctionEmitter, name: string, span: Span, shared: boolean): void {
  const variable = name === '_' ? placeholder(fn) : fn.lookup(name)
  if (variable === null) {
    // Only a value of that name has precedence over the alias.
    if (!fn.module.options.signatures.has(name) && emitAlias(fn, name)) return
    fn.at(span)
    fn.emit('LOAD_GLOBAL', fn.module.name(name), fn.suggestion(name))
    return
  }
  fn.load(variable, shared)
  if (variable.isCell) {
    fn.at(span)
    fn.emit('CELL_VARIABLE', fn.module.name(name), fn.suggestion(name))
  }
}

/** `_` is a value only on the right side of a pipe, which binds it to a name that no script can write. */
const PLACEHOLDER = '_ of the pipe'

function placeholder(fn: FunctionEmitter): ReturnType<FunctionEmitter['lookup']> {
  return fn.lookup(PLACEHOLDER)
}

function emitList(fn: FunctionEmitter, items: readonly Argument[]): void {
  let leading = 0
  while (leading < items.length && !items[leading]!.spread) leading++
  for (let at = 0; at < leading; at++) emitExpr(fn, items[at]!.value)
  fn.emit('BUILD_LIST', leading)
  for (let at = leading; at < items.length; at++) {
    const item = items[at]!
    if (item.spread) {
      emitBorrowed(fn, item.value)
      fn.at(item.span)
      fn.emit('LIST_EXTEND')
    } else {
      emitExpr(fn, item.value)
      fn.emit('LIST_PUSH')
    }
  }
}

/** Type aliases in an `output_schema` entry mean their schema. */
function emitEntryValue(fn: FunctionEmitter, key: string, value: Expr): void {
  if (key === 'output_schema' && emitSchemaAlias(fn, value)) return
  emitExpr(fn, value)
}

function emitSchemaAlias(fn: FunctionEmitter, value: Expr): boolean {
  return value.kind === 'Identifier' && fn.lookup(value.name) === null && emitAlias(fn, value.name)
}

/** A type alias as a value: its schema. */
function emitAlias(fn: FunctionEmitter, name: string): boolean {
  const schema = fn.module.options.schemaOfAlias(name)
  if (schema === null) return false
  fn.emit('CONST', fn.module.constant({ tag: 'data', json: schema }))
  return true
}

/** `held`: values of entries that are not shared. */
function emitDict(
  fn: FunctionEmitter,
  expr: { readonly entries: ExprOf<'Dict'>['entries'] },
  held: ReadonlySet<Expr> = NONE_HELD,
): void {
  let leading = 0
  while (leading < expr.entries.length && expr.entries[leading]!.kind !== 'spread') leading++
  const emitEntry = (entry: ExprOf<'Dict'>['entries'][number]): void => {
    if (entry.kind === 'named') {
      fn.emit('CONST', fn.module.constant(entry.key.text))
      if (held.has(entry.value)) emit(fn, entry.value, false)
      else emitEntryValue(fn, entry.key.text, entry.value)
    } else if (entry.kind === 'computed') {
      emitBorrowed(fn, entry.key)
      emitExpr(fn, entry.value)
    }
  }
  for (let at = 0; at < leading; at++) emitEntry(expr.entries[at]!)
  fn.emit('BUILD_DICT', leading)
  for (let at = leading; at < expr.entries.length; at++) {
    const entry = expr.entries[at]!
    if (entry.kind === 'spread') {
      emitBorrowed(fn, entry.value)
      fn.at(entry.span)
      fn.emit('DICT_EXTEND')
    } else {
      emitEntry(entry)
      fn.emit('DICT_PUT')
    }
  }
}

const NONE_HELD: ReadonlySet<Expr> = new Set()

/**
 * A literal that a function returns, as the sole owner of field values that come from variables whose scope ends with the function, and from
 * parts that it takes. Returns whether there are such fields; if not, nothing is emitted.
 */
export function emitHolding(fn: FunctionEmitter, expr: Expr): boolean {
  const names: string[] = []
  const values = new Set<Expr>()
  const entries = listHeldEntries(expr)
  for (const [at, { key, value }] of entries.entries()) {
    const part = value.kind === 'MethodCall' ? value.object : value
    const variable = value.kind === 'Identifier' && value.name !== '_' ? fn.lookup(value.name) : null
    const isMoved =
      variable !== null &&
      fn.isMovable(variable) &&
      entries.slice(at + 1).every((entry) => countMentions(entry.value, variable.name) === 0)
    if (!isMoved && !fn.options.takenParts.has(part)) continue
    names.push(key.text)
    values.add(value)
  }
  if (names.length === 0) return false
  if (expr.kind === 'StructLiteral') emitStruct(fn, expr, values)
  else if (expr.kind === 'Dict') emitDict(fn, expr, values)
  for (const name of names) fn.emit('HOLD', fn.module.name(name))
  return true
}

function emitStruct(fn: FunctionEmitter, expr: ExprOf<'StructLiteral'>, held: ReadonlySet<Expr> = NONE_HELD): void {
  emitDict(fn, expr, held)
  fn.at(expr.span)
  fn.emit('BUILD_STRUCT', structConstant(fn, expr.name.text))
}

export function structConstant(fn: FunctionEmitter, name: string): number {
  return fn.module.constant({ tag: 'struct', name, fields: fn.module.structFields.get(name) ?? null })
}

function emitBinary(fn: FunctionEmitter, expr: ExprOf<'Binary'>): void {
  if (expr.operator === '&&' || expr.operator === '||') {
    const otherwise = fn.asm.label()
    const end = fn.asm.label()
    emitJumpUnless(fn, expr, otherwise)
    fn.emit('TRUE')
    fn.asm.jump('JUMP', end)
    fn.asm.place(otherwise)
    // The two branches join with one value each.
    fn.emit('FALSE')
    return fn.asm.place(end)
  }
  if (expr.operator === '??') {
    const end = fn.asm.label()
    emitExpr(fn, expr.left)
    fn.asm.jump('JUMP_IF_NOT_NIL', end)
    fn.emit('POP')
    emitExpr(fn, expr.right)
    return fn.asm.place(end)
  }
  emitBorrowed(fn, expr.left)
  emitBorrowed(fn, expr.right)
  fn.at(expr.span)
  fn.emit(BINARY[expr.operator])
}

/** Jumps to `target` when the condition is falsy, otherwise falls through; leaves nothing on the stack. */
export function emitJumpUnless(fn: FunctionEmitter, condition: Expr, target: Label): void {
  if (condition.kind === 'Unary' && condition.operator === '!') return emitJumpIf(fn, condition.operand, target)
  if (condition.kind === 'Binary' && condition.operator === '&&') {
    emitJumpUnless(fn, condition.left, target)
    return emitJumpUnless(fn, condition.right, target)
  }
  if (condition.kind === 'Binary' && condition.operator === '||') {
    const through = fn.asm.label()
    emitJumpIf(fn, condition.left, through)
    emitJumpUnless(fn, condition.right, target)
    return fn.asm.place(through)
  }
  emitBorrowed(fn, condition)
  fn.asm.jump('JUMP_IF_FALSE', target)
}

export function emitJumpIf(fn: FunctionEmitter, condition: Expr, target: Label): void {
  if (condition.kind === 'Unary' && condition.operator === '!') return emitJumpUnless(fn, condition.operand, target)
  if (condition.kind === 'Binary' && condition.operator === '||') {
    emitJumpIf(fn, condition.left, target)
    return emitJumpIf(fn, condition.right, target)
  }
  if (condition.kind === 'Binary' && condition.operator === '&&') {
    const through = fn.asm.label()
    emitJumpUnless(fn, condition.left, through)
    emitJumpIf(fn, condition.right, target)
    return fn.asm.place(through)
  }
  emitBorrowed(fn, condition)
  fn.asm.jump('JUMP_IF_TRUE', target)
}

export function emitIf(fn: FunctionEmitter, expr: ExprOf<'If'>, wanted: boolean): void {
  const end = fn.asm.label()
  let at: ExprOf<'If'> = expr
  for (;;) {
    const otherwise = fn.asm.label()
    emitJumpUnless(fn, at.condition, otherwise)
    emitCount(fn, { kind: 'branch', branch: 'if', span: at.span, arm: 0 })
    emitBlock(fn, at.then, wanted)
    fn.asm.jump('JUMP', end)
    fn.asm.place(otherwise)
    emitCount(fn, { kind: 'branch', branch: 'if', span: at.span, arm: 1 })
    if (at.otherwise === null) {
      if (wanted) fn.emit('NIL')
      break
    }
    if (at.otherwise.kind === 'Block') {
      emitBlock(fn, at.otherwise, wanted)
      break
    }
    at = at.otherwise
  }
  fn.asm.place(end)
}

// ---- access and calls

function findEnum(fn: FunctionEmitter, object: Expr): string | null {
  return object.kind === 'Identifier' && fn.module.enumNames.has(object.name) ? object.name : null
}

function emitMember(fn: FunctionEmitter, expr: ExprOf<'Member'>, shared: boolean): void {
  const enumName = expr.optional ? null : findEnum(fn, expr.object)
  if (enumName !== null) return fn.emit('BUILD_ENUM', fn.module.name(enumName), fn.module.name(expr.property.text), 0)
  emitBorrowed(fn, expr.object)
  fn.at(expr.span)
  if (fn.options.takenParts.has(expr)) return fn.emit('TAKE_PROP', fn.module.name(expr.property.text))
  emitAccess(fn, expr, shared, 'GET_PROP', fn.module.name(expr.property.text))
}

/** If a part of a container is shared, the container no longer owns it. */
function emitAccess(
  fn: FunctionEmitter,
  expr: ExprOf<'Member'> | ExprOf<'Index'>,
  shared: boolean,
  name: 'GET_PROP' | 'GET_INDEX',
  ...operands: number[]
): void {
  const isOut = shared && mayBeHeld(fn, expr)
  if (!expr.optional) return fn.emit(isOut ? `${name}_OUT` : name, ...operands)
  fn.emit(`${name}_OPT`, ...operands)
  if (!isOut) return
  const part = fn.temporary()
  fn.emit('STORE', part)
  fn.emit('LOAD_SHARED', part)
}

/** Whether the value that `expr` reads may be owned by the container it starts from. */
function mayBeHeld(fn: FunctionEmitter, expr: Expr): boolean {
  let at = expr
  while (at.kind === 'Member' || at.kind === 'Index') at = at.object
  switch (at.kind) {
    case 'Identifier': {
      const variable = fn.lookup(at.name)
      return variable !== null && (variable.updated || variable.place.kind === 'module')
    }
    // Results of calls are not owned.
    case 'Call':
    case 'MethodCall':
      return false
    default:
      return true
  }
}

/** Ownership transfers of the call `expr`: call this before anything in it is emitted. */
function readMoving(fn: FunctionEmitter, expr: Expr): Moving | null {
  const { moving } = fn
  fn.moving = null
  return moving?.call === expr ? moving : null
}

/** Whether the argument is a variable whose ownership is transferred. */
function isGiven(fn: FunctionEmitter, moving: Moving | null, arg: Expr): boolean {
  if (moving === null || moving.gives === null || arg.kind !== 'Identifier' || arg.name === '_') return false
  if (moving.gives !== '' && moving.gives !== arg.name) return false
  const variable = fn.lookup(arg.name)
  return variable !== null && fn.isMovable(variable)
}

/** Arguments after this many are neither transferred nor lent. */
const MOST_MOVED = 24

/** The variable that `arg` is, or is a part of, if it can be lent: the variable keeps ownership. */
function readLent(fn: FunctionEmitter, arg: Expr): string | null {
  let at = arg
  while ((at.kind === 'Member' || at.kind === 'Index') && !at.optional) at = at.object
  if (at.kind !== 'Identifier' || at.name === '_' || (arg !== at && findEnum(fn, at) !== null)) return null
  const variable = fn.lookup(at.name)
  return variable !== null && variable.updated && variable.place.kind === 'local' && !variable.isCell ? at.name : null
}

/** In the operand of MOVES: a builtin may change the receiver. */
export const EXTENDS = 1 << 30

/** Ownership of the arguments of a call, as operands of MOVES. */
interface Moves {
  given: number
  lent: number
}

/** Which arguments are transferred, and which are lent: the callee shares those that it keeps. */
function chooseMoves(fn: FunctionEmitter, args: readonly Expr[], moving: Moving | null): Moves {
  const moves: Moves = { given: moving?.takes === true ? 1 : 0, lent: 0 }
  const given = new Set<string>()
  for (const [at, arg] of args.entries()) {
    if (at >= MOST_MOVED || !isGiven(fn, moving, arg)) continue
    const { name } = arg as ExprOf<'Identifier'>
    if (given.has(name)) continue
    given.add(name)
    moves.given |= 2 << at
  }
  for (const [at, arg] of args.entries()) {
    if (at >= MOST_MOVED || (moves.given & (2 << at)) !== 0) continue
    const root = readLent(fn, arg)
    // A transferred argument may be changed by the callee, and so may one that another argument assigns to.
    if (root === null || given.has(root) || args.some((each) => assigns(each, root))) continue
    moves.lent |= 2 << at
  }
  return moves
}

function emitMoves(fn: FunctionEmitter, { given, lent }: Moves): void {
  if (given !== 0 || lent !== 0) fn.emit('MOVES', given, lent)
}

/** Pushes the arguments of a call and emits what must precede it; as emitArgs. */
function emitMovedArgs(fn: FunctionEmitter, args: readonly Argument[], moving: Moving | null): number {
  if (args.some((arg) => arg.spread)) return emitArgs(fn, args)
  const values = args.map((arg) => arg.value)
  const moves = chooseMoves(fn, values, moving)
  for (const [at, value] of values.entries()) emit(fn, value, ((moves.given | moves.lent) & (2 << at)) === 0)
  emitMoves(fn, moves)
  return args.length
}

/** Pushes the arguments. Returns their number, or -1 when a spread makes them one list. */
export function emitArgs(fn: FunctionEmitter, args: readonly Argument[], shared = true): number {
  if (args.some((arg) => arg.spread)) {
    emitList(fn, args)
    return -1
  }
  for (const arg of args) emit(fn, arg.value, shared)
  return args.length
}

function emitMethodCall(fn: FunctionEmitter, expr: ExprOf<'MethodCall'>): void {
  const method = expr.method.text
  const enumName = expr.optional ? null : findEnum(fn, expr.object)
  if (enumName !== null) {
    const count = emitArgs(fn, expr.args)
    if (count < 0) fn.emit('BUILD_ENUM_LIST', fn.module.name(enumName), fn.module.name(method))
    else fn.emit('BUILD_ENUM', fn.module.name(enumName), fn.module.name(method), count)
    return
  }
  const member = namespaceMember(fn, expr)
  if (member !== null) {
    const count = emitArgs(fn, expr.args)
    fn.at(expr.span)
    if (count < 0) fn.emit('CALL_BUILTIN_SPREAD', fn.module.builtin(member))
    else fn.emit('CALL_BUILTIN', fn.module.builtin(member), count)
    return
  }
  const { signatures } = fn.module.options
  const moving = readMoving(fn, expr)
  // A transferred value is extended as a variable's would be.
  if (fn.options.takenParts.has(expr.object))
    return emitMethodOn(fn, expr, () => emitExpr(fn, expr.object), { given: EXTENDS | 3, lent: 0 })
  const values = [expr.object, ...expr.args.map((arg) => arg.value)]
  const mayMove = !expr.optional && !expr.args.some((arg) => arg.spread)
  const moves = mayMove ? chooseMoves(fn, values, moving) : null
  // A builtin of that name would get a shared receiver from the call, except one that it borrows; a struct's method borrows it, too.
  if (moves !== null && signatures.borrowsMethod(method)) moves.lent &= ~2
  const inner = moves === null ? null : findInnerMoving(fn, expr, moving)
  if (inner !== null) moves!.given |= 2
  const isMoved = moves !== null && ((moves.given | moves.lent) & 2) !== 0
  const receiver = (): void => {
    fn.moving = inner
    emit(fn, expr.object, !isMoved && !signatures.borrowsMethod(method))
    fn.moving = null
  }
  emitMethodOn(fn, expr, receiver, moves)
}

/**
 * Ownership transfers of a call on whose result a method is called: the result has no other reference. The inner call may transfer what the
 * outer call may, if nothing after it reads that again.
 */
function findInnerMoving(fn: FunctionEmitter, { object, args }: ExprOf<'MethodCall'>, moving: Moving | null): Moving | null {
  if (object.kind !== 'Call' && object.kind !== 'MethodCall') return null
  const names = listGivable(fn, object)
  const isRead = args.some(({ value }) => [...mentions(value)].some((name) => names.has(name)))
  return { call: object, takes: true, gives: isRead ? null : (moving?.gives ?? null) }
}

/** The variables whose ownership a call, or the call that makes its receiver, may transfer. */
function listGivable(fn: FunctionEmitter, call: Expr): Set<string> {
  const names = new Set<string>()
  for (let at: Expr | null = call; at?.kind === 'Call' || at?.kind === 'MethodCall';) {
    const given = at.args.map(({ value }) => value)
    if (at.kind === 'MethodCall') given.push(at.object)
    for (const each of given) {
      const variable = each.kind === 'Identifier' ? fn.lookup(each.name) : null
      if (variable !== null && fn.isMovable(variable)) names.add(variable.name)
    }
    at = at.kind === 'MethodCall' ? at.object : null
  }
  return names
}

/** `moves`: ownership of the receiver and the arguments; null if they are shared. */
export function emitMethodOn(
  fn: FunctionEmitter,
  expr: ExprOf<'MethodCall'>,
  receiver: () => void,
  moves: Moves | null = null,
): void {
  const method = expr.method.text
  receiver()
  let count: number
  if (moves === null) count = emitArgs(fn, expr.args)
  else {
    count = expr.args.length
    expr.args.forEach(({ value }, at) => emit(fn, value, ((moves.given | moves.lent) & (4 << at)) === 0))
    emitMoves(fn, moves)
  }
  fn.at(expr.span)
  if (count < 0) fn.emit('CALL_METHOD_SPREAD', fn.module.name(method), expr.optional ? 1 : 0)
  else fn.emit('CALL_METHOD', fn.module.name(method), count, expr.optional ? 1 : 0)
}

/**
 * The builtin of a call on a namespace constant, such as `stream.filter`. Only for these an entry has precedence over the
 * dict method of the same name.
 */
function namespaceMember(fn: FunctionEmitter, expr: ExprOf<'MethodCall'>): string | null {
  if (expr.object.kind !== 'Identifier') return null
  const { signatures } = fn.module.options
  const { name } = expr.object
  const member = `${name}.${expr.method.text}`
  return signatures.constants.includes(name) && signatures.has(member) && fn.lookup(name) === null ? member : null
}

/** `name(args)`. With `tail` it replaces a return, and may reuse the frame; returns whether it did. */
export function emitCall(fn: FunctionEmitter, expr: ExprOf<'Call'>, tail: boolean): void {
  const { signatures } = fn.module.options
  const name = expr.callee.text
  const moving = readMoving(fn, expr)
  const variable = RESERVED_CALLS.has(name) ? null : fn.lookup(name)
  if (variable === null && (signatures.has(name) || RESERVED_CALLS.has(name))) {
    const count = emitSchemaArgs(fn, expr) ?? emitArgs(fn, expr.args, !signatures.borrows(name))
    fn.at(expr.span)
    if (count < 0) fn.emit('CALL_BUILTIN_SPREAD', fn.module.builtin(name))
    else fn.emit('CALL_BUILTIN', fn.module.builtin(name), count)
    if (tail) fn.emit('RETURN')
    return
  }
  if (variable === null) fn.emit('NIL')
  else {
    fn.load(variable, true)
    if (variable.isCell) fn.emit('CELL_CALLABLE')
  }
  const count = emitSchemaArgs(fn, expr) ?? emitMovedArgs(fn, expr.args, moving)
  fn.at(expr.span)
  const nameIndex = fn.module.name(name)
  // A callable that is bound later, or never, may be missing at the call.
  const hint = variable === null || variable.isCell ? fn.callSuggestion(name) : fn.module.constant(null)
  if (count < 0) {
    fn.emit('CALL_NAMED_SPREAD', nameIndex, hint)
    if (tail) fn.emit('RETURN')
  } else if (tail) fn.emit('TAIL_NAMED', nameIndex, count, hint)
  else if (variable?.isFunction === true) fn.emit('CALL', count)
  else fn.emit('CALL_NAMED', nameIndex, count, hint)
}

/**
 * The arguments of a call that takes a schema, with aliases replaced, and their number; null for other calls. Only the name decides:
 * `is_type` of `std/schema` accepts aliases as the builtin does.
 */
function emitSchemaArgs(fn: FunctionEmitter, expr: ExprOf<'Call'>): number | null {
  const name = expr.callee.text
  const schemaAt = Object.hasOwn(SCHEMA_ARGUMENTS, name) ? SCHEMA_ARGUMENTS[name] : undefined
  if (schemaAt === undefined || expr.args.some((arg) => arg.spread)) return null
  expr.args.forEach((arg, at) => {
    if (at !== schemaAt || !emitSchemaAlias(fn, arg.value)) emitExpr(fn, arg.value)
  })
  return expr.args.length
}

export function emitPipe(fn: FunctionEmitter, expr: ExprOf<'Pipe'>, tail: boolean): void {
  emitExpr(fn, expr.value)
  if (hasPlaceholder(expr.callee)) {
    fn.pushScope()
    fn.bindTop(fn.declare(PLACEHOLDER, true, { span: expr.span }))
    emitExpr(fn, expr.callee)
    fn.popScope()
    if (tail) fn.emit('RETURN')
    return
  }
  emitExpr(fn, expr.callee)
  fn.at(expr.span)
  fn.emit(tail ? 'TAIL_PIPE' : 'PIPE')
}

/** `e?`: an Err leaves the function immediately, past any enclosing try. */
function emitPropagate(fn: FunctionEmitter, expr: ExprOf<'Propagate'>): void {
  const leave = fn.asm.label()
  const end = fn.asm.label()
  emitExpr(fn, expr.operand)
  fn.at(expr.span)
  fn.asm.jump('PROPAGATE', leave)
  fn.asm.jump('JUMP', end)
  fn.asm.place(leave)
  emitReturnTop(fn)
  fn.asm.place(end)
}

/** Returns the value on top of the stack through all cleanups. */
export function emitReturnTop(fn: FunctionEmitter): void {
  if (fn.epilogue !== null) {
    fn.emit('STORE', fn.epilogue.value)
    fn.runCleanups(0)
    while (fn.asm.reachable && fn.asm.depth > 0) fn.emit('POP')
    // In a deferred block the epilogue follows.
    fn.asm.jump(fn.epilogue.label.at >= 0 ? 'LOOP' : 'JUMP', fn.epilogue.label)
    return
  }
  if (fn.cleanups.length > 0) {
    const value = fn.temporary()
    fn.emit('STORE', value)
    fn.runCleanups(0)
    fn.emit('LOAD', value)
  }
  fn.emit('RETURN')
}
