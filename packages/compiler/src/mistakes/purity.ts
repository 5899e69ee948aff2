// Whether evaluating something does nothing but give a value. Builtins and methods that ask the world for nothing are listed in a
// generated table. A function of the file may be called for the error that it raises: only one that throws nothing itself counts.

import type { Argument, Block, DictEntry, Expr, FnDecl, Stmt } from '@bridle/parser'
import { forEachChild } from '@bridle/parser'
import { PURE_BUILTINS, PURE_METHODS } from '../types/builtins.generated.js'
import type { FileNames, ValueKind } from './names.js'

/** Called for the errors that they raise as often as for their results. */
const CHECKING: ReadonlySet<string> = new Set(['unwrap', 'unwrap_err', 'schema_expect', 'iter', 'range'])

/** Names of methods that objects of libraries may have as well, with any effect. */
const OF_OBJECTS: ReadonlySet<string> = new Set([
  'add', 'delete', 'remove', 'push', 'pop', 'get', 'find', 'first', 'last', 'take', 'merge', 'join', 'count', 'has', 'filter',
  'reduce', 'split', 'values', 'entries', 'keys', 'all', 'any', 'empty', 'union', 'len', 'skip', 'contains', 'replace', 'chunk',
]) // prettier-ignore

/** They return another registry, and leave their argument unchanged. */
const REGISTRIES: ReadonlySet<string> = new Set(['tool_define', 'tool_remove', 'tool_select', 'skill_define', 'skill_remove'])

export class Purity {
  private readonly names: FileNames
  private readonly bodies = new Map<FnDecl, boolean>()
  /** Variables of the function whose body is looked at. */
  private locals: ReadonlySet<string> = new Set()
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
        return (this.isPureBuiltin(expr.callee.text) || this.isPureFunction(expr.callee.text)) && this.areArgumentsPure(expr.args)
      case 'MethodCall':
        return (
          (this.isPureMethod(expr.object, expr.method.text) ||
            this.isOwnPureMethod(expr.method.text) ||
            this.isEnum(expr.object)) &&
          this.isPure(expr.object) &&
          this.areArgumentsPure(expr.args)
        )
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

  /** Whether `name` is a builtin without effects here. */
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

  /** A function of the file that gives a value and does nothing else. */
  isPureFunction(name: string): boolean {
    const decl = this.names.functions.get(name)
    return decl !== undefined && !this.names.repeated.has(name) && !this.names.methods.has(name) && this.isBodyPure(decl)
  }

  /** A method of one struct of the file, which no other value can have. */
  private isOwnPureMethod(name: string): boolean {
    const { functions, repeated, methods, hasImports } = this.names
    const decl = functions.get(name)
    return decl !== undefined && methods.has(name) && !repeated.has(name) && !hasImports && this.isBodyPure(decl)
  }

  /** `Shape.Circle(2)` makes a value. */
  private isEnum(object: Expr): boolean {
    return object.kind === 'Identifier' && this.names.enums.has(object.name)
  }

  private isBodyPure(decl: FnDecl): boolean {
    const known = this.bodies.get(decl)
    if (known !== undefined) return known
    // One that calls itself is not judged.
    this.bodies.set(decl, false)
    const { locals } = this
    this.locals = new Set(decl.isStream ? [] : listVariables(decl.body))
    const isPure = !decl.isStream && decl.params.every(({ defaultValue }) => defaultValue === null) && this.isBlockPure(decl.body)
    this.locals = locals
    this.bodies.set(decl, isPure)
    return isPure
  }

  private areArgumentsPure(args: readonly Argument[]): boolean {
    return args.every(({ value }) => (value.kind === 'Closure' ? this.isBlockPure(value.body) : this.isGivenPure(value)))
  }

  /** A function that is passed by name may have any effect. */
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
      case 'Assign':
        return this.isLocal(stmt.target) && this.isPure(stmt.target) && this.isPure(stmt.value)
      case 'For':
        return this.locals.size > 0 && this.isPure(stmt.iterable) && this.isBlockPure(stmt.body)
      case 'Guard':
        return this.isPure(stmt.condition) && this.isBlockPure(stmt.otherwise)
      case 'Continue':
      case 'Break':
        return true
      default:
        return false
    }
  }

  /** Whether what is assigned is a variable of the function, or a part of one. */
  private isLocal(target: Expr): boolean {
    let at = target
    while (at.kind === 'Member' || at.kind === 'Index') at = at.object
    return at.kind === 'Identifier' && this.locals.has(at.name)
  }
}

/** The variables that a body declares itself; none of functions within it. */
function listVariables(body: Block): readonly string[] {
  const found: string[] = []
  const visit = (node: Parameters<typeof forEachChild>[0]): void => {
    if (node.kind === 'FnDecl' || node.kind === 'Closure') return
    if (node.kind === 'Let' && node.mutable && node.binding.kind === 'NameBinding') found.push(node.binding.name.text)
    forEachChild(node, visit)
  }
  visit(body)
  return found
}
