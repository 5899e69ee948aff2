// Whether evaluating something does nothing but give a value. Builtins and methods that ask the world for nothing are listed in a
// generated table; functions of the file are not judged, because a function may be called for the error that it raises.

import type { Argument, Block, DictEntry, Expr, Stmt } from '@bridle/parser'
import { PURE_BUILTINS, PURE_METHODS } from '../types/builtins.generated.js'
import type { FileNames, ValueKind } from './names.js'

/** Called for the error that they raise as often as for their result. */
const CHECKING: ReadonlySet<string> = new Set(['unwrap', 'unwrap_err', 'schema_expect', 'iter', 'range'])

/** Methods that objects of libraries have as well, and there they may do anything. */
const OF_OBJECTS: ReadonlySet<string> = new Set([
  'add', 'delete', 'remove', 'push', 'pop', 'get', 'find', 'first', 'last', 'take', 'merge', 'join', 'count', 'has', 'filter',
  'reduce', 'split', 'values', 'entries', 'keys', 'all', 'any', 'empty', 'union', 'len', 'skip', 'contains', 'replace', 'chunk',
]) // prettier-ignore

/** They give another registry, and leave the one that they are given as it is. */
const REGISTRIES: ReadonlySet<string> = new Set(['tool_define', 'tool_remove', 'tool_select', 'skill_define', 'skill_remove'])

export class Purity {
  private readonly names: FileNames
  private readonly kind: (expr: Expr) => ValueKind

  constructor(names: FileNames, kind: (expr: Expr) => ValueKind) {
    this.names = names
    this.kind = kind
  }

  isPure(expr: Expr): boolean {
    switch (expr.kind) {
      case 'Int':
      case 'Float':
      case 'Bool':
      case 'Nil':
      case 'Duration':
      case 'String':
      case 'Identifier':
      case 'Closure':
        return true
      case 'Interpolation':
        return expr.parts.every((part) => typeof part === 'string' || this.isPure(part))
      case 'Unary':
        return this.isPure(expr.operand)
      case 'Binary':
        return this.isPure(expr.left) && this.isPure(expr.right)
      case 'Ternary':
        return this.isPure(expr.condition) && this.isPure(expr.whenTrue) && this.isPure(expr.whenFalse)
      case 'Range':
        return this.isPure(expr.from) && this.isPure(expr.to)
      case 'Member':
        return this.isPure(expr.object)
      case 'Index':
        return this.isPure(expr.object) && this.isPure(expr.index)
      case 'Slice':
        return [expr.object, expr.start, expr.end].every((part) => part === null || this.isPure(part))
      case 'List':
        return this.areArgumentsPure(expr.items)
      case 'Dict':
      case 'StructLiteral':
        return expr.entries.every((entry) => this.isEntryPure(entry))
      case 'Call':
        return this.isPureBuiltin(expr.callee.text) && this.areArgumentsPure(expr.args)
      case 'MethodCall':
        return this.isPureMethod(expr.object, expr.method.text) && this.isPure(expr.object) && this.areArgumentsPure(expr.args)
      case 'If':
        return (
          this.isPure(expr.condition) &&
          this.isBlockPure(expr.then) &&
          (expr.otherwise === null ||
            (expr.otherwise.kind === 'If' ? this.isPure(expr.otherwise) : this.isBlockPure(expr.otherwise)))
        )
      case 'Match':
        return (
          this.isPure(expr.subject) &&
          expr.arms.every(({ guard, body }) => (guard === null || this.isPure(guard)) && this.isBlockPure(body))
        )
      default:
        return false
    }
  }

  /** Whether `name` is a builtin here that does nothing but give a value. */
  isPureBuiltin(name: string): boolean {
    return (
      (PURE_BUILTINS.has(name) || REGISTRIES.has(name)) &&
      !CHECKING.has(name) &&
      !this.names.declared.has(name) &&
      this.names.knowsImports
    )
  }

  private isPureMethod(object: Expr, name: string): boolean {
    if (!PURE_METHODS.has(name) || this.names.ownMembers.has(name)) return false
    const kind = this.kind(object)
    if (kind !== null) return typeof kind === 'string'
    return !this.names.hasImports || !OF_OBJECTS.has(name)
  }

  private areArgumentsPure(args: readonly Argument[]): boolean {
    return args.every(({ value }) => (value.kind === 'Closure' ? this.isBlockPure(value.body) : this.isGivenPure(value)))
  }

  /** A function that is handed over by its name may do anything. */
  private isGivenPure(value: Expr): boolean {
    return value.kind === 'Identifier' ? !this.names.functions.has(value.name) : this.isPure(value)
  }

  private isEntryPure(entry: DictEntry): boolean {
    return (entry.kind !== 'computed' || this.isPure(entry.key)) && this.isPure(entry.value)
  }

  private isBlockPure(block: Block): boolean {
    return block.body.every((stmt) => this.isStmtPure(stmt))
  }

  private isStmtPure(stmt: Stmt): boolean {
    switch (stmt.kind) {
      case 'ExprStmt':
      case 'Let':
        return this.isPure(stmt.value)
      case 'Return':
        return stmt.value === null || this.isPure(stmt.value)
      default:
        return false
    }
  }
}
