// Destructuring and match patterns → code.

import type { Binding, Block, DictEntry, Expr, ExprOf, MatchArm, Name } from '@bridle/parser'
import type { Label } from '../bytecode/assembler.js'
import { emitCount } from './count.js'
import { emitBorrowed, emitExpr, emitJumpUnless } from './expressions.js'
import { emitBody } from './statements.js'
import type { FunctionEmitter } from './function.js'
import { CompileError } from './module.js'

const STRAY_SPREAD = 'spread (...) can only be used inside list literals, dict literals, or function call arguments'

/** Pops the value on top of the stack into a binding. */
export function emitBinding(fn: FunctionEmitter, binding: Binding, mutable: boolean): void {
  fn.at(binding.span)
  switch (binding.kind) {
    case 'NameBinding':
      return bindName(fn, binding.name, mutable)
    case 'PairBinding':
      for (const [name, property] of [
        [binding.first, 'first'],
        [binding.second, 'second'],
      ] as const) {
        fn.emit('DUP')
        fn.emit('GET_PROP', fn.module.name(property))
        bindName(fn, name, mutable)
      }
      return fn.emit('POP')
    case 'DictBinding':
      fn.emit('CHECK_DICT')
      for (const field of binding.fields) {
        fn.emit('DUP')
        fn.emit('FIELD', fn.module.name(field.key.text))
        emitDefault(fn, field.defaultValue)
        bindName(fn, field.alias ?? field.key, mutable)
      }
      if (binding.rest !== null) {
        fn.emit('DUP')
        fn.emit('DICT_REST', fn.module.data(binding.fields.map((field) => field.key.text)))
        bindName(fn, binding.rest, mutable)
      }
      return fn.emit('POP')
    case 'ListBinding':
      fn.emit('CHECK_LIST')
      binding.items.forEach((item, at) => {
        fn.emit('DUP')
        fn.emit('ITEM', at)
        emitDefault(fn, item.defaultValue)
        bindName(fn, item.name, mutable)
      })
      if (binding.rest !== null) {
        fn.emit('DUP')
        fn.emit('LIST_REST', binding.items.length)
        bindName(fn, binding.rest, mutable)
      }
      return fn.emit('POP')
  }
}

/** Replaces nil on top of the stack by the default. */
function emitDefault(fn: FunctionEmitter, value: Expr | null): void {
  if (value === null) return
  const end = fn.asm.label()
  fn.asm.jump('JUMP_IF_NOT_NIL', end)
  fn.emit('POP')
  emitExpr(fn, value)
  fn.asm.place(end)
}

function bindName(fn: FunctionEmitter, name: Name, mutable: boolean): void {
  if (name.text === '_') return fn.emit('POP')
  const variable = fn.declareName(name, mutable)
  if (variable !== null) fn.bindTop(variable)
}

// ---- match

export function emitMatch(fn: FunctionEmitter, expr: ExprOf<'Match'>, wanted: boolean): void {
  const end = fn.asm.label()
  fn.pushScope()
  const subject = fn.temporary()
  if (expr.arms.every((arm) => looksOnly(fn, arm))) emitBorrowed(fn, expr.subject)
  else emitExpr(fn, expr.subject)
  fn.emit('STORE', subject)
  for (const [number, arm] of expr.arms.entries()) {
    emitArm(fn, subject, arm, {
      end,
      wanted,
      count: () => emitCount(fn, { kind: 'branch', branch: 'match', span: expr.span, arm: number }),
    })
  }
  fn.emit('CONST', fn.module.constant('No match arm matched the value'))
  fn.at(expr.span)
  fn.emit('THROW')
  fn.popScope()
  fn.asm.place(end)
}

/**
 * Whether an arm keeps neither the subject nor a part of it that a variable may own, and runs nothing before it is chosen: then the
 * subject is read like an operand. The payload of an enum was shared when the enum was made.
 */
function looksOnly(fn: FunctionEmitter, { patterns, guard }: MatchArm): boolean {
  return guard === null && patterns.every((pattern) => isLiteral(pattern) || findEnumPattern(fn, pattern) !== null)
}

function isLiteral(pattern: Expr): boolean {
  switch (pattern.kind) {
    case 'Int':
    case 'Float':
    case 'Bool':
    case 'Nil':
    case 'String':
    case 'Duration':
      return true
    default:
      return pattern.kind === 'Identifier' && pattern.name === '_'
  }
}

interface ArmEnds {
  readonly end: Label
  readonly wanted: boolean
  /** Counts the arm for coverage. */
  readonly count: () => void
}

function emitArm(fn: FunctionEmitter, subject: number, arm: MatchArm, { end, wanted, count }: ArmEnds): void {
  const next = fn.asm.label()
  fn.pushScope()
  if (arm.patterns.length === 1) {
    const bindings: (() => void)[] = []
    emitTest(fn, subject, arm.patterns[0]!, next, bindings)
    // All comparisons of an arm happen before its bindings.
    for (const bind of bindings) bind()
  } else {
    const matched = fn.asm.label()
    for (const pattern of arm.patterns) {
      fn.emit('LOAD', subject)
      emitBorrowed(fn, pattern)
      fn.emit('EQ')
      fn.asm.jump('JUMP_IF_TRUE', matched)
    }
    fn.asm.jump('JUMP', next)
    fn.asm.place(matched)
  }
  if (arm.guard !== null) emitJumpUnless(fn, arm.guard, next)
  count()
  emitArmBody(fn, arm.body, wanted)
  fn.popScope()
  fn.asm.jump('JUMP', end)
  fn.asm.place(next)
}

function emitArmBody(fn: FunctionEmitter, body: Block, wanted: boolean): void {
  fn.pushScope()
  emitBody(fn, body.body, wanted)
  fn.popScope()
}

/** Tests the subject against one pattern, jumping to `miss`; bindings are collected for later. */
function emitTest(fn: FunctionEmitter, subject: number, pattern: Expr, miss: Label, bindings: (() => void)[]): void {
  const bindFrom = (name: string, span: Expr['span'], read: () => void): void => {
    if (name === '_') return
    bindings.push(() => {
      read()
      const variable = fn.declare(name, false, { span })
      if (variable !== null) fn.bindTop(variable)
    })
  }
  const enumPattern = findEnumPattern(fn, pattern)
  if (enumPattern !== null) {
    fn.emit('LOAD', subject)
    fn.emit('IS_ENUM', fn.module.name(enumPattern.enumName), fn.module.name(enumPattern.variant))
    fn.asm.jump('JUMP_IF_FALSE', miss)
    enumPattern.fields.forEach((field, at) => {
      if (field?.kind !== 'Identifier') return
      bindFrom(field.name, field.span, () => {
        fn.emit('LOAD', subject)
        fn.emit('ENUM_FIELD', at)
      })
    })
    return
  }
  switch (pattern.kind) {
    case 'Identifier':
      return bindFrom(pattern.name, pattern.span, () => fn.emit('LOAD', subject))
    case 'Dict': {
      // With a computed key or a spread it is an ordinary value to compare with.
      const keys = pattern.entries.map(patternKey)
      if (keys.includes(null)) return emitComparison(fn, () => fn.emit('LOAD', subject), pattern, miss)
      fn.emit('LOAD', subject)
      fn.emit('IS_DICT')
      fn.asm.jump('JUMP_IF_FALSE', miss)
      for (const [at, entry] of pattern.entries.entries()) {
        const read = (): void => {
          fn.emit('LOAD', subject)
          fn.emit('FIELD', fn.module.name(keys[at] ?? ''))
        }
        if (entry.value.kind === 'Identifier') bindFrom(entry.value.name, entry.value.span, read)
        else emitComparison(fn, read, entry.value, miss)
      }
      return
    }
    case 'List': {
      const spread = pattern.items.find((item) => item.spread)
      if (spread !== undefined) throw new CompileError(STRAY_SPREAD, spread.value.span)
      fn.emit('LOAD', subject)
      fn.emit('IS_LIST', pattern.items.length)
      fn.asm.jump('JUMP_IF_FALSE', miss)
      pattern.items.forEach((item, at) => {
        const read = (): void => {
          fn.emit('LOAD', subject)
          fn.emit('ITEM', at)
        }
        if (item.value.kind === 'Identifier') bindFrom(item.value.name, item.value.span, read)
        else emitComparison(fn, read, item.value, miss)
      })
      return
    }
    default:
      return emitComparison(fn, () => fn.emit('LOAD', subject), pattern, miss)
  }
}

/** The key of a dict pattern's entry; null for a computed one. */
function patternKey(entry: DictEntry): string | null {
  if (entry.kind === 'named') return entry.key.text
  return entry.kind === 'computed' && entry.key.kind === 'String' ? entry.key.value : null
}

function emitComparison(fn: FunctionEmitter, read: () => void, value: Expr, miss: Label): void {
  read()
  emitBorrowed(fn, value)
  fn.emit('EQ')
  fn.asm.jump('JUMP_IF_FALSE', miss)
}

function findEnumPattern(
  fn: FunctionEmitter,
  pattern: Expr,
): { enumName: string; variant: string; fields: readonly (Expr | null)[] } | null {
  if ((pattern.kind !== 'Member' && pattern.kind !== 'MethodCall') || pattern.object.kind !== 'Identifier') return null
  if (!fn.module.enumNames.has(pattern.object.name)) return null
  return pattern.kind === 'Member'
    ? { enumName: pattern.object.name, variant: pattern.property.text, fields: [] }
    : {
        enumName: pattern.object.name,
        variant: pattern.method.text,
        fields: pattern.args.map((arg) => (arg.spread ? null : arg.value)),
      }
}
