// Scopes of the checker: the meaning of a name at one position. Scopes form a chain, look-ups go outwards. Facts
// from control flow about a variable (narrowed type, ruled-out types, schema) are in the variable's own
// record, so that a shadowing declaration has none of them. Tables are created on first use: most blocks declare nothing.

import type { EnumDecl, InterfaceDecl } from '@bridle/parser'
import type { BuiltinSignatures } from './builtins.js'
import type { FnSignature } from './declarations.js'
import type { FileTools } from './tools/file-tools.js'
import type { Known, Type } from './type.js'

export interface Variable {
  readonly type: Known
  /** Type before narrowing; what an assignment is checked against. Equal to `type` unless `narrowed`. */
  readonly declared: Known
  readonly narrowed: boolean
  /** Bound by `var x = nil`: the first assignment widens it instead of failing. */
  readonly nilWidenable: boolean
  /** The type that this variable denotes when it is used as a schema. */
  readonly schema: Known
  /** Strict mode: the boundary call whose unvalidated result this is. */
  readonly source: string | null
  /** Concrete types that conditions have excluded for an `unknown` variable. */
  readonly ruledOut: readonly string[]
}

export interface AliasInfo {
  readonly params: readonly string[]
  readonly body: Type
}

export interface EnumInfo {
  readonly decl: EnumDecl
  readonly params: readonly string[]
  readonly variance: readonly Variance[]
}

export interface StructInfo {
  readonly params: readonly string[]
  readonly variance: readonly Variance[]
  readonly fields: readonly { readonly name: string; readonly optional: boolean; readonly type: Known }[]
}

export interface InterfaceInfo {
  readonly decl: InterfaceDecl
  readonly params: readonly string[]
  readonly variance: readonly Variance[]
  readonly assocTypes: readonly { readonly name: string; readonly type: Known }[]
  readonly methods: ReadonlyMap<string, FnSignature>
}

export type Variance = 'in' | 'out' | null

/** Methods of the last impl block of a type; null when the type comes from a module whose impl blocks are not known. */
export type MethodTable = ReadonlyMap<string, FnSignature> | null

/** The kind of the enclosing body; inherited by nested scopes, replaced at functions and closures. */
export interface Enclosing {
  /** Inside fn, tool, pipeline or closure: `try*` has somewhere to rethrow to. */
  readonly callable: boolean
  /** Directly in a `gen fn`; `element` is null when emitted values are not compared. */
  readonly stream: { readonly element: Known } | null
}

const OUTERMOST: Enclosing = { callable: false, stream: null }

interface Tables {
  functions: Map<string, FnSignature>
  aliases: Map<string, AliasInfo>
  enums: Map<string, EnumInfo>
  structs: Map<string, StructInfo>
  interfaces: Map<string, InterfaceInfo>
  methods: Map<string, MethodTable>
}

/** Raised when checking exceeds its limit; caught in `checkProgram`. */
export class TooMuchWork extends Error {}

/** Remaining steps for checking a file: visited expressions, compared types. */
export class Work {
  left = Infinity

  step(): void {
    if (--this.left < 0) throw new TooMuchWork()
  }
}

export class Scope {
  readonly parent: Scope | null
  readonly root: Scope
  readonly enclosing: Enclosing
  readonly builtins: BuiltinSignatures
  /** For the whole file: whether conditions narrow variables of an alias, and whether one did. See `checkProgram`. */
  readonly aliasNarrowing: { allowed: boolean; used: boolean }
  /** For the whole file: the remaining budget. */
  readonly work: Work
  /** For the whole file: tools of the host; null when they are unknown. */
  private hostTools: FileTools | null = null
  private variables: Map<string, Variable> | null = null
  private tables: Tables | null = null
  private mutable: Set<string> | null = null
  private typeParams: Set<string> | null = null
  private bounds: Map<string, string> | null = null
  /** Names passed to `ruleOut` in this scope, so that reading them does not visit every variable. */
  private excluded: Set<string> | null = null

  private constructor(parent: Scope | null, enclosing: Enclosing, builtins: BuiltinSignatures) {
    this.parent = parent
    this.root = parent === null ? this : parent.root
    this.enclosing = enclosing
    this.builtins = builtins
    this.aliasNarrowing = parent === null ? { allowed: true, used: false } : parent.aliasNarrowing
    this.work = parent === null ? new Work() : parent.work
  }

  static outermost(builtins: BuiltinSignatures): Scope {
    return new Scope(null, OUTERMOST, builtins)
  }

  child(enclosing: Enclosing = this.enclosing): Scope {
    return new Scope(this, enclosing, this.builtins)
  }

  get tools(): FileTools | null {
    return this.root.hostTools
  }

  /** Only in the outermost scope. */
  setTools(tools: FileTools): void {
    this.hostTools = tools
  }

  // ---- variables ----------------------------------------------------------------------------------------------------

  /** The record of a variable; undefined when no variable of that name is visible. */
  variable(name: string): Variable | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.variables?.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The scope that holds the visible variable of that name. */
  findOwner(name: string): Scope | null {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.variables?.has(name) === true) return scope
    }
    return null
  }

  define(name: string, type: Known, more: Partial<Variable> | null = null): void {
    if (name === '_') return
    const plain = { type, declared: type, narrowed: false, nilWidenable: false, schema: null, source: null, ruledOut: NOTHING }
    this.put(name, more === null ? plain : { ...plain, ...more })
  }

  put(name: string, variable: Variable): void {
    if (name === '_') return
    this.variables ??= new Map()
    this.variables.set(name, variable)
  }

  /** Changes the type of a visible variable from here on; its declared type is kept. */
  narrow(name: string, type: Type): void {
    const old = this.variable(name)
    if (old === undefined) return
    this.put(name, { ...old, type, declared: old.narrowed ? old.declared : old.type, narrowed: true })
  }

  ruleOut(name: string, typeName: string): void {
    const old = this.variable(name)
    if (old === undefined || old.ruledOut.includes(typeName)) return
    this.put(name, { ...old, ruledOut: [...old.ruledOut, typeName] })
    this.excluded ??= new Set()
    this.excluded.add(name)
  }

  /** Variables about which conditions have excluded something, sorted. */
  listRuledOut(): readonly string[] {
    const names = new Set<string>()
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      for (const name of scope.excluded ?? NO_NAMES) names.add(name)
    }
    return [...names].sort()
  }

  ownVariables(): ReadonlyMap<string, Variable> {
    return this.variables ?? NO_VARIABLES
  }

  hasOwnVariable(name: string): boolean {
    return this.variables?.has(name) === true
  }

  // ---- mutability ---------------------------------------------------------------------------------------------------

  markMutable(name: string): void {
    this.mutable ??= new Set()
    this.mutable.add(name)
  }

  /** True when any scope of the chain declares the name as `var`; an inner `let` does not hide that. */
  isMutable(name: string): boolean {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.mutable?.has(name) === true) return true
    }
    return false
  }

  ownMutable(): ReadonlySet<string> {
    return this.mutable ?? NO_NAMES
  }

  // ---- declarations -------------------------------------------------------------------------------------------------

  private own(): Tables {
    this.tables ??= {
      functions: new Map(),
      aliases: new Map(),
      enums: new Map(),
      structs: new Map(),
      interfaces: new Map(),
      methods: new Map(),
    }
    return this.tables
  }

  declareFunction(name: string, signature: FnSignature): void {
    this.own().functions.set(name, signature)
  }

  declareAlias(name: string, info: AliasInfo): void {
    this.own().aliases.set(name, info)
  }

  declareEnum(name: string, info: EnumInfo): void {
    this.own().enums.set(name, info)
  }

  declareStruct(name: string, info: StructInfo): void {
    this.own().structs.set(name, info)
  }

  declareInterface(name: string, info: InterfaceInfo): void {
    this.own().interfaces.set(name, info)
  }

  declareMethods(name: string, methods: MethodTable): void {
    this.own().methods.set(name, methods)
  }

  functionNamed(name: string): FnSignature | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.functions.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  alias(name: string): AliasInfo | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.aliases.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  enumNamed(name: string): EnumInfo | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.enums.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  struct(name: string): StructInfo | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.structs.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  interfaceNamed(name: string): InterfaceInfo | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.interfaces.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Method table of a type; undefined when no impl block is visible, null when the blocks are unknown. */
  findMethods(name: string): MethodTable | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.tables?.methods.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Every name of one kind that is visible from here, sorted: candidates for suggestions. */
  listNames(kind: 'functions' | 'structs'): readonly string[] {
    const names = new Set<string>()
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const table = scope.tables?.[kind]
      if (table !== undefined) for (const name of table.keys()) names.add(name)
    }
    return [...names].sort()
  }

  // ---- type parameters ----------------------------------------------------------------------------------------------

  declareTypeParam(name: string): void {
    this.typeParams ??= new Set()
    this.typeParams.add(name)
  }

  declareBound(param: string, bound: string): void {
    this.bounds ??= new Map()
    this.bounds.set(param, bound)
  }

  isTypeParam(name: string): boolean {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.typeParams?.has(name) === true) return true
    }
    return false
  }

  /** Interface that a type parameter is bound to by `where`. */
  findBound(param: string): string | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.bounds?.get(param)
      if (found !== undefined) return found
    }
    return undefined
  }

  hasBounds(): boolean {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      if (scope.bounds !== null) return true
    }
    return false
  }
}

const NO_VARIABLES: ReadonlyMap<string, Variable> = new Map()
const NO_NAMES: ReadonlySet<string> = new Set()
const NOTHING: readonly string[] = []
