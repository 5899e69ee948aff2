// One function under construction: scopes, slots, captures and the constructs that a jump must clean up.
//
// Closures capture by value: a captured variable is a value of the closure, and a function that assigns
// one works on a private copy made at entry. The exception are callables bound after the closure was made: the scope that
// declares such a name later makes a cell on entry, closures capture the cell, and the declaration fills it.

import { suggest } from '@bridle/parser'
import type { Expr, Name, Span, Stmt } from '@bridle/parser'
import { Assembler } from '../bytecode/assembler.js'
import type { Label } from '../bytecode/assembler.js'
import type { FunctionChunk, FunctionKind } from '../bytecode/chunk.js'
import type { OpcodeName, RaiseKind } from '../bytecode/opcodes.js'
import { RAISE_KINDS } from '../bytecode/opcodes.js'
import type { Assignments } from './names.js'
import type { ModuleEmitter } from './module.js'

export type Place =
  | { readonly kind: 'local'; readonly slot: number }
  | { readonly kind: 'module'; readonly index: number }
  | { readonly kind: 'capture'; readonly index: number }
  | { readonly kind: 'self' }

export interface Variable {
  readonly name: string
  readonly mutable: boolean
  readonly place: Place
  /** The slot holds a cell; the variable is the callable in it. */
  readonly isCell: boolean
  /** Cell to fill when the variable is bound, for closures made earlier. */
  readonly cell: number | null
  /** Updated in place somewhere in this function, or lent to it, so loads that share it must be marked. */
  readonly updated: boolean
  /** Bound once, to a function: calls need no look-up of a builtin of that name. */
  readonly isFunction: boolean
}

interface Scope {
  readonly variables: Map<string, Variable>
  /** Names declared later in this scope that closures made earlier mention → slot of their cell. */
  readonly late: Map<string, number>
  readonly firstSlot: number
  readonly firstLocal: number
}

/** A construct with clean-up at its exits. `emit` runs after the entry itself was left. */
export interface Cleanup {
  readonly emit: () => void
  /** Protected code ranges of its handler; split where the clean-up is emitted inline. */
  readonly region: Region | null
}

export interface Region {
  start: number
  readonly ranges: { start: number; end: number }[]
  readonly depth: number
}

export interface Loop {
  readonly breakLabel: Label
  readonly continueLabel: Label
  /** Operand depth at the two labels. */
  readonly depth: number
  readonly cleanups: number
  /** Number of scopes around the loop. */
  readonly scopes: number
}

/** Ownership at a call: of arguments that are not used again, and of its result. */
export interface Moving {
  readonly call: Expr
  /** Its result is stored in a variable that is updated in place. */
  readonly takes: boolean
  /** The variable that the result overwrites; null for none, '' for any if the function ends with the call. */
  readonly gives: string | null
}

export interface FunctionOptions {
  readonly name: string
  readonly kind: FunctionKind
  readonly params: readonly string[]
  readonly firstDefault: number
  readonly rest: number
  readonly selfName: string | null
  readonly assignments: Assignments
  /** Reads of fields of parameters that take what they read (names.ts). */
  readonly takenParts: Set<Expr>
  readonly keepSlots: boolean
  /** Tail calls are allowed: no defer in the function. */
  readonly tailCalls: boolean
}

export class FunctionEmitter {
  readonly asm = new Assembler()
  readonly module: ModuleEmitter
  readonly parent: FunctionEmitter | null
  readonly options: FunctionOptions
  readonly captures: { readonly name: string; readonly source: Variable }[] = []
  private readonly captured = new Map<string, Variable>()
  private readonly scopes: Scope[] = []
  private nextSlot: number
  private slotCount: number
  readonly cleanups: Cleanup[] = []
  readonly loops: Loop[] = []
  /** Ownership transfers of the call that is emitted next. */
  moving: Moving | null = null
  /** Set in a function with defers: the target of `return`, and the slots of the value and of the list of defers. */
  epilogue: {
    readonly label: Label
    readonly value: number
    readonly defers: number
    readonly sites: { readonly stmt: Extract<Stmt, { kind: 'Defer' }>; readonly scopes: Scope[]; readonly saved: Variable[] }[]
  } | null = null

  constructor(module: ModuleEmitter, parent: FunctionEmitter | null, options: FunctionOptions) {
    this.module = module
    this.parent = parent
    this.options = options
    this.nextSlot = 0
    this.slotCount = 0
    this.pushScope()
    if (options.selfName !== null) {
      this.scopes[0]!.variables.set(options.selfName, {
        name: options.selfName,
        mutable: false,
        place: { kind: 'self' },
        isCell: false,
        cell: null,
        updated: false,
        isFunction: true,
      })
      this.pushScope()
    }
  }

  // ---- slots and scopes

  newSlot(): number {
    const slot = this.nextSlot++
    if (this.nextSlot > this.slotCount) this.slotCount = this.nextSlot
    return slot
  }

  /** A slot for the emitter's own use, until the scope ends. */
  temporary(): number {
    return this.newSlot()
  }

  pushScope(): void {
    this.scopes.push({ variables: new Map(), late: new Map(), firstSlot: this.nextSlot, firstLocal: this.asm.locals.length })
  }

  popScope(): void {
    const scope = this.scopes.pop()!
    // Slots are not reused where deferred code may still read them.
    if (!this.options.keepSlots) this.nextSlot = scope.firstSlot
    const end = this.asm.position
    for (let at = scope.firstLocal; at < this.asm.locals.length; at++) {
      const local = this.asm.locals[at]!
      if (local.end < 0) this.asm.locals[at] = { ...local, end }
    }
  }

  get scopeDepth(): number {
    return this.scopes.length
  }

  scopesFrom(depth: number): Scope[] {
    return this.scopes.slice(depth)
  }

  /** Runs `body` with the scopes of another position; for deferred blocks. */
  withScopes(scopes: readonly Scope[], body: () => void): void {
    const before = this.scopes.splice(0, this.scopes.length, ...scopes)
    body()
    this.scopes.splice(0, this.scopes.length, ...before)
  }

  allScopes(): Scope[] {
    return [...this.scopes]
  }

  /** Makes cells for the names that this scope's statements declare after a closure mentions them. */
  prepareLate(statements: readonly Stmt[], declared: (stmt: Stmt) => readonly string[]): void {
    const scope = this.scopes.at(-1)!
    let mentioned: Set<string> | null = null
    for (const statement of statements) {
      const names = declared(statement)
      for (const free of this.module.nesting.freeIn(statement)) {
        mentioned ??= new Set()
        for (const name of free) {
          // A declared function reaches itself through SELF.
          if (!(names.includes(name) && selfReaching(statement))) mentioned.add(name)
        }
      }
      if (mentioned === null) continue
      for (const name of names) {
        if (mentioned.has(name) && !scope.late.has(name)) {
          const slot = this.newSlot()
          scope.late.set(name, slot)
          this.asm.emit('NEW_CELL', slot)
        }
      }
    }
  }

  // ---- variables

  /**
   * Binds a name in the innermost scope and returns it; its value must be stored next (see bindTop). Returns null after
   * raising the redeclaration fault when both the old and the new binding are immutable.
   */
  declare(
    name: string,
    mutable: boolean,
    options: { readonly isFunction?: boolean; readonly isUpdated?: boolean; readonly span: Span },
  ): Variable | null {
    const scope = this.scopes.at(-1)!
    const known = scope.variables.get(name)
    if (known !== undefined && !known.mutable && !mutable && known.place.kind !== 'self') {
      this.raise(
        'runtime',
        `Cannot redeclare immutable variable '${name}' in the same scope (use 'var' for mutable bindings)`,
        options.span,
      )
      return null
    }
    const variable: Variable = {
      name,
      mutable,
      isCell: false,
      place: this.topPlace(name, scope),
      cell: scope.late.get(name) ?? null,
      updated: options.isUpdated ?? this.options.assignments.updated.has(name),
      isFunction: (options.isFunction ?? false) && !mutable,
    }
    scope.variables.set(name, variable)
    if (variable.place.kind === 'local')
      this.asm.locals.push({ name, slot: variable.place.slot, start: this.asm.position, end: -1 })
    return variable
  }

  /** A function of an imported module, known to all its functions before it is made. */
  predeclareModuleSlot(name: string): void {
    const scope = this.scopes.at(-1)!
    if (scope.variables.has(name)) return
    // Mutable, so that the declaration itself may bind it; scripts cannot assign it before.
    scope.variables.set(name, {
      name,
      mutable: true,
      place: this.topPlace(name, scope),
      isCell: false,
      cell: null,
      updated: false,
      isFunction: false,
    })
  }

  isDeclaredHere(name: string): boolean {
    return this.scopes.at(-1)!.variables.has(name)
  }

  private topPlace(name: string, scope: Scope): Place {
    if (this.parent === null && !this.module.options.isMain && this.scopes[0] === scope) {
      const known = this.module.moduleSlots.indexOf(name)
      return { kind: 'module', index: known >= 0 ? known : this.module.moduleSlots.push(name) - 1 }
    }
    return { kind: 'local', slot: this.newSlot() }
  }

  /** The visible variable, or null for a name that is undeclared or declared later. */
  lookup(name: string): Variable | null {
    for (let at = this.scopes.length - 1; at >= 0; at--) {
      const variable = this.scopes[at]!.variables.get(name)
      if (variable !== undefined) return variable
    }
    const captured = this.captured.get(name)
    if (captured !== undefined) return captured
    const source = this.parent?.lookupForCapture(name) ?? null
    return source === null ? null : this.capture(name, source)
  }

  private capture(name: string, source: Variable): Variable {
    if (source.place.kind === 'module') return source
    const variable: Variable = { ...source, place: { kind: 'capture', index: this.captures.length }, cell: null, updated: false }
    this.captures.push({ name, source })
    this.captured.set(name, variable)
    return variable
  }

  /** Like lookup, but finds the cell of a name that an enclosing scope declares later. */
  private lookupForCapture(name: string): Variable | null {
    let late: Variable | null = null
    for (let at = this.scopes.length - 1; at >= 0; at--) {
      const scope = this.scopes[at]!
      const variable = scope.variables.get(name)
      if (variable !== undefined) return variable
      const cell = scope.late.get(name)
      if (cell !== undefined && late === null)
        late = {
          name,
          mutable: false,
          place: { kind: 'local', slot: cell },
          isCell: true,
          cell: null,
          updated: false,
          isFunction: false,
        }
    }
    const captured = this.captured.get(name)
    if (captured !== undefined && !captured.isCell) return captured
    if (captured !== undefined) return late ?? captured
    const outer = this.parent?.lookupForCapture(name) ?? null
    if (outer === null) return late
    if (outer.isCell && late !== null) return late
    return this.capture(name, outer)
  }

  /** A parameter; a repeated name hides the earlier one. */
  declareParam(name: Name, isTaken: boolean): void {
    this.scopes.at(-1)!.variables.delete(name.text)
    // A caller may only have lent it: code that keeps it or a part of it must share it.
    this.declare(name.text, false, { span: name.span, isUpdated: !isTaken })
  }

  /** `work` sees the outer meaning of these names: a default sees only the parameters before its own. */
  hideParams(names: readonly string[], work: () => void): void {
    const { variables } = this.scopes.at(-1)!
    const hidden = names.flatMap((name) => {
      const variable = variables.get(name)
      variables.delete(name)
      return variable === undefined ? [] : [variable]
    })
    work()
    for (const variable of hidden) variables.set(variable.name, variable)
  }

  /** Private copies of the captured variables that this function assigns; once, at entry. */
  copyAssignedCaptures(paramNames: readonly string[]): void {
    for (const name of this.options.assignments.assigned) {
      if (paramNames.includes(name)) continue
      const variable = this.lookup(name)
      if (variable === null || variable.place.kind !== 'capture' || variable.isCell || !variable.mutable) continue
      this.load(variable, true)
      const copy: Variable = {
        ...variable,
        place: { kind: 'local', slot: this.newSlot() },
        updated: this.options.assignments.updated.has(name),
      }
      this.scopes[0]!.variables.set(name, copy)
      this.asm.locals.push({ name, slot: (copy.place as { slot: number }).slot, start: this.asm.position, end: -1 })
      this.storeRaw(copy)
    }
  }

  /** Whether the variable's ownership may be transferred: if its slot is not read again, nothing else reads it. */
  isMovable(variable: Variable): boolean {
    return variable.place.kind === 'local' && variable.mutable && variable.updated && !variable.isCell && variable.cell === null
  }

  /** Whether a fault or an exit of the function runs code of the function itself. */
  get isGuarded(): boolean {
    return this.cleanups.length > 0 || this.epilogue !== null
  }

  // ---- emission helpers

  emit(name: OpcodeName, ...operands: number[]): void {
    this.asm.emit(name, ...operands)
  }

  at(span: Span): void {
    const { line, column } = this.module.position(span)
    this.asm.mark(line, column)
  }

  raise(kind: RaiseKind, message: string, span: Span): void {
    this.at(span)
    this.emit('RAISE', RAISE_KINDS.indexOf(kind), this.module.constant(message))
  }

  /** Pushes a variable's value. `shared`: the value will be stored, passed or captured. */
  load(variable: Variable, shared: boolean): void {
    const place = variable.place
    switch (place.kind) {
      case 'local':
        this.emit(shared && variable.updated ? 'LOAD_SHARED' : 'LOAD', place.slot)
        break
      case 'module':
        this.emit(shared ? 'LOAD_MODULE_SHARED' : 'LOAD_MODULE', place.index)
        break
      case 'capture':
        this.emit('LOAD_CAPTURE', place.index)
        break
      case 'self':
        this.emit('SELF')
        break
    }
  }

  /** Pops into a variable that was just declared, filling its cell. */
  bindTop(variable: Variable | null): void {
    if (variable === null) return
    if (variable.cell !== null) this.emit('SET_CELL', variable.cell)
    this.storeRaw(variable)
  }

  storeRaw(variable: Variable): void {
    const place = variable.place
    if (place.kind === 'local') this.emit('STORE', place.slot)
    else if (place.kind === 'module') this.emit('STORE_MODULE', place.index)
    else throw new Error(`emitter: ${variable.name} cannot be stored to`)
  }

  /** Candidates for a misspelt name. */
  suggestion(name: string): number {
    const budget = this.module.suggestions
    if (budget.isSpent) return this.module.constant(null)
    const candidates = new Set<string>(this.module.options.signatures.names)
    for (const constant of this.module.options.signatures.constants) candidates.add(constant)
    for (let fn: FunctionEmitter | null = this; fn !== null; fn = fn.parent) {
      for (const scope of fn.scopes) for (const known of scope.variables.keys()) candidates.add(known)
    }
    candidates.delete(name)
    return this.module.constant(suggest(name, candidates, budget))
  }

  /** Candidates for a misspelt call: an unbound name can only mean a builtin function. */
  callSuggestion(name: string): number {
    const budget = this.module.suggestions
    if (budget.isSpent) return this.module.constant(null)
    return this.module.constant(
      suggest(
        name,
        this.module.options.signatures.names.filter((known) => known !== name),
        budget,
      ),
    )
  }

  declareName(name: Name, mutable: boolean, isFunction = false): Variable | null {
    return this.declare(name.text, mutable, { isFunction, span: name.span })
  }

  // ---- protected regions and exits

  openRegion(): Region {
    return { start: this.asm.position, ranges: [], depth: this.asm.depth }
  }

  closeRegion(region: Region): void {
    if (this.asm.position > region.start) region.ranges.push({ start: region.start, end: this.asm.position })
  }

  /** Starts the handler of a closed region, unless its code cannot fault; true when there is one. */
  enterHandler(region: Region): boolean {
    if (region.ranges.length === 0) {
      this.asm.reachable = false
      return false
    }
    for (const range of region.ranges) this.asm.handlers.push({ ...range, target: this.asm.position, depth: region.depth })
    this.asm.enterHandler(region.depth)
    return true
  }

  /** Emits the clean-ups above `keep`, inner first, for a jump out of them; they remain active for the following code. */
  runCleanups(keep: number): void {
    const left = this.cleanups.splice(keep)
    for (let at = left.length - 1; at >= 0; at--) {
      const entry = left[at]!
      // The code of the clean-up is outside all regions that it leaves.
      for (const inner of left.slice(at)) if (inner.region !== null) this.splitRegion(inner.region)
      this.cleanups.push(...left.slice(0, at))
      entry.emit()
      this.cleanups.splice(keep)
      for (const inner of left.slice(at)) if (inner.region !== null) inner.region.start = this.asm.position
    }
    this.cleanups.push(...left)
  }

  private splitRegion(region: Region): void {
    if (this.asm.position > region.start) region.ranges.push({ start: region.start, end: this.asm.position })
    region.start = this.asm.position
  }

  finish(): FunctionChunk {
    while (this.scopes.length > 0) this.popScope()
    return {
      name: this.options.name,
      kind: this.options.kind,
      params: this.options.params,
      firstDefault: this.options.firstDefault,
      rest: this.options.rest,
      slots: this.slotCount,
      stack: this.asm.maxDepth,
      code: this.asm.code,
      handlers: this.asm.handlers,
      captures: this.captures.map((capture) => capture.name),
      lines: this.asm.lines,
      locals: this.asm.locals,
    }
  }
}

/** A declaration whose function reaches itself without a cell. */
function selfReaching(statement: Stmt): boolean {
  if (statement.kind === 'FnDecl') return true
  return (
    statement.kind === 'Let' &&
    !statement.mutable &&
    statement.binding.kind === 'NameBinding' &&
    statement.value.kind === 'Closure'
  )
}
