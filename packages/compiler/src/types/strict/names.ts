// The declaration that each name of a file means, found by walking the scopes as a run would see them: blocks, closures, parameters,
// patterns, loops, catch clauses, imports, globals. Unresolved names are reported. The passes about types use the result.
//
// Functions see the variables of enclosing scopes also if those are declared further down: a run may call them later.

import {
  type Argument,
  type Binding,
  type Block,
  type DictEntry,
  type Expr,
  type ExprOf,
  forEachTypeName,
  isDeclaration,
  type IfExpr,
  type Name,
  type Param,
  type Span,
  type Stmt,
  type TypeExpr,
  type TypeParam,
} from '@bridle/parser'
import { listContents } from '../../contents.js'
import { isReservedCallName } from '../builtins.js'
import { patternNames } from '../exhaustive.js'
import { TYPE_HABITS } from './facts.js'
import { checkImports } from './imports.js'
import { type Body, type Decl, type DeclKind, describeFixed, isDeclaredOnce, Lexical, listBound, type Names } from './scope.js'
import { type Candidate, suggestName } from './suggest.js'
import type { Fix } from '../context.js'
import { replaceWord, type StrictWorld } from './world.js'
import { ITEM_METHODS } from '../tools/calls.js'

/** What is known of the parameters of a body besides their annotations. */
interface Given {
  /** The first parameters that are items of a value. */
  readonly items?: { readonly of: Expr; readonly at: readonly number[] }
  /** The type of a first parameter `self`. */
  readonly owner?: string
}

/** Methods that call a function with the items of their receiver, and the indexes of those parameters. */
const ITEM_CALLBACKS: Readonly<Record<string, readonly number[] | undefined>> = {
  ...Object.fromEntries([...ITEM_METHODS, 'take_while', 'skip_while'].map((name) => [name, [0]])),
}

type StmtOf<K extends Stmt['kind']> = Extract<Stmt, { kind: K }>

export function resolveNames(world: StrictWorld): Names {
  return new Resolver(world).run()
}

const BUILTIN_TYPES: ReadonlySet<string> = new Set([
  ...['int', 'float', 'number', 'string', 'bool', 'nil', 'any', 'unknown', 'never', 'void', 'bytes', 'duration', 'decimal'],
  ...['list', 'dict', 'set', 'map', 'array', 'tuple', 'pair', 'Pair', 'range', 'iter', 'Iter', 'generator', 'Generator'],
  ...['stream', 'Stream', 'closure', 'fn', 'function', 'struct', 'enum', 'object', 'Self', 'Schema', 'Result', 'Option'],
  ...['channel', 'atomic', 'task', 'task_handle', 'handle', 'date', 'datetime', 'regex', 'error', 'Error', 'rng', 'builtin'],
])

/** The importable parts of a file: everything else of it is skipped there. */
function isOfModule(item: Stmt): boolean {
  return item.kind === 'Let' || isDeclaration(item)
}

/** A `catch` with one of these has no type. */
const ANY_TYPES: ReadonlySet<string> = new Set(['any', 'unknown'])

class Resolver {
  private readonly world: StrictWorld
  private readonly targets = new Map<object, Decl>()
  private readonly namespaces = new Set<string>()
  private readonly hasParents: boolean
  private scope = new Lexical(null, 0)
  private readonly bodies: Body[] = []
  private readonly isScript: boolean
  private inCondition = 0
  /** Whether variables of the file are initialised before its functions. */
  private readonly hasVariablesFirst: boolean
  private inVariable = false

  constructor(world: StrictWorld) {
    this.world = world
    const { items } = world.program
    this.hasParents = items.some((item) => item.kind === 'OverrideDecl' || (item.kind === 'PipelineDecl' && item.parent !== null))
    // The functions of an imported module share its variables.
    this.isScript = items.some((item) => item.kind === 'ExprStmt') && !items.some((item) => 'isPublic' in item && item.isPublic)
    const isModule = items.some((item) => 'isPublic' in item && item.isPublic) && items.every(isOfModule)
    this.hasVariablesFirst = isModule || items.some((item) => item.kind === 'PipelineDecl')
    for (const name of world.builtins.keys()) {
      const dot = name.indexOf('.')
      if (dot > 0) this.namespaces.add(name.slice(0, dot))
    }
  }

  run(): Names {
    const { items } = this.world.program
    checkImports(this.world)
    this.hoist(items)
    // Code that runs at once comes first, so that functions know every variable of the file.
    for (const item of items) this.stmt(item)
    return { targets: this.targets }
  }

  // ---- scopes -------------------------------------------------------------------------------------------------------

  private within(depth: number, body: () => void): void {
    const outer = this.scope
    const condition = this.inCondition
    this.scope = new Lexical(outer, depth)
    this.inCondition = 0
    body()
    this.scope = outer
    this.inCondition = condition
  }

  /** A function body; assignments to enclosing variables that it does not read itself are lost. */
  private withinFunction(body: () => void): void {
    const own: Body = { depth: this.scope.depth + 1, assigned: new Map(), read: new Set() }
    this.bodies.push(own)
    this.within(own.depth, body)
    this.bodies.pop()
    for (const [decl, span] of own.assigned) {
      if (own.read.has(decl) || (decl.depth === 0 && !this.isScript)) continue
      this.world.report('N050', span, { name: decl.name })
    }
  }

  private declare(
    name: Name,
    kind: DeclKind,
    more: Partial<Pick<Decl, 'value' | 'type' | 'stmt' | 'items' | 'owner'>> = {},
  ): void {
    if (name.text === '_') return
    const known = this.scope.names.get(name.text)
    if (known !== undefined && isDeclaredOnce(known.kind) && isDeclaredOnce(kind) && known.stmt !== (more.stmt ?? null)) {
      this.world.report('N044', name.span, { name: name.text })
    }
    this.scope.later?.delete(name.text)
    this.put(name, kind, more)
  }

  private put(name: Name, kind: DeclKind, more: Partial<Pick<Decl, 'value' | 'type' | 'stmt' | 'items' | 'owner'>> = {}): void {
    this.scope.names.set(name.text, {
      name: name.text,
      kind,
      span: name.span,
      value: null,
      type: null,
      stmt: null,
      items: null,
      owner: null,
      depth: this.scope.depth,
      assigned: [],
      isUpdated: false,
      isTested: false,
      reads: 0,
      ...more,
    })
  }

  /** Declarations are visible in their whole block; variables are recorded as coming later. */
  private hoist(body: readonly Stmt[]): void {
    const { scope } = this
    for (const stmt of body) {
      switch (stmt.kind) {
        case 'FnDecl':
          this.hoistOne(stmt, 'fn')
          break
        case 'ToolDecl':
          this.hoistOne(stmt, 'tool')
          break
        case 'PipelineDecl':
          this.hoistOne(stmt, 'pipeline')
          break
        case 'SkillDecl':
        case 'EvalPackDecl':
          this.hoistOne(stmt, 'other')
          break
        case 'TypeDecl':
        case 'EnumDecl':
        case 'StructDecl':
        case 'InterfaceDecl':
          this.hoistOne(stmt, 'type')
          ;(scope.types ??= new Set()).add(stmt.name.text)
          break
        case 'UseTool':
          if (stmt.alias !== null) this.put(stmt.alias, 'other')
          break
        case 'ImportDecl':
          for (const name of stmt.names ?? []) this.put(name, 'import')
          break
        case 'Let':
          for (const name of listBound(stmt.binding)) (scope.later ??= new Set()).add(name.text)
          break
        default:
          break
      }
    }
  }

  private hoistOne(
    stmt: StmtOf<
      | 'FnDecl'
      | 'ToolDecl'
      | 'PipelineDecl'
      | 'SkillDecl'
      | 'EvalPackDecl'
      | 'TypeDecl'
      | 'EnumDecl'
      | 'StructDecl'
      | 'InterfaceDecl'
    >,
    kind: DeclKind,
  ): void {
    const known = this.scope.names.get(stmt.name.text)?.kind
    if (known === 'import' || (known !== undefined && known === kind && (kind === 'fn' || kind === 'type'))) {
      this.world.report('N044', stmt.name.span, { name: stmt.name.text })
    }
    this.put(stmt.name, kind, { stmt })
  }

  // ---- mentions -----------------------------------------------------------------------------------------------------

  private find(name: string): Decl | 'later' | 'later-here' | null {
    let found: 'later' | 'later-here' | null = null
    for (let at: Lexical | null = this.scope; at !== null; at = at.parent) {
      const decl = at.names.get(name)
      if (decl !== undefined) return decl
      if (at.later?.has(name) === true && found === null) found = at.depth === this.scope.depth ? 'later-here' : 'later'
    }
    return found
  }

  private isKnownOutside(name: string): boolean {
    const { world } = this
    return (
      world.importedNames === null ||
      world.importedNames.has(name) ||
      world.globals.has(name) ||
      world.builtins.has(name) ||
      world.toleratedNames.has(name) ||
      this.namespaces.has(name) ||
      isReservedCallName(name) ||
      world.root.struct(name) !== undefined ||
      world.root.enumNamed(name) !== undefined ||
      world.root.alias(name) !== undefined ||
      world.root.interfaceNamed(name) !== undefined ||
      name === 'Result'
    )
  }

  /** Types declared in a function are known in the whole file once that has run. */
  private isNestedType(name: string): boolean {
    return listContents(this.world.program).types.has(name)
  }

  private mention(node: object, name: string, span: Span, isCall: boolean): void {
    if (name === '_' || name === '') return
    const found = this.find(name)
    if (found !== null && typeof found === 'object') {
      this.checkThere(found, span)
      found.reads++
      for (const body of this.bodies) if (body.depth > found.depth) body.read.add(found)
      if (this.inCondition > 0) found.isTested = true
      this.targets.set(node, found)
      return
    }
    if (found === 'later' || this.isKnownOutside(name) || this.hasParents || this.isNestedType(name)) return
    if (found === 'later-here') {
      if (!isCall) this.world.report('N041', span, { name })
      return
    }
    const suggestion = this.findVariant(name) ?? this.suggest(name, isCall)
    const module = suggestion === null && isCall ? this.world.findStandard(name) : null
    const fix = module === null ? replaceWord(span, suggestion) : this.importName(name, module)
    if (isCall) this.world.report('N001', span, { name, suggestion, module }, fix)
    else this.world.report('N040', span, { name, suggestion }, replaceWord(span, suggestion))
  }

  /** Whether a run finds a value under a declared name when it gets there. */
  private checkThere(found: Decl, span: Span): void {
    const { name } = found
    if (found.stmt?.kind === 'PipelineDecl' && found.kind === 'param') {
      const isBound = this.hasParents || this.isKnownOutside(name) || this.isOfFile(name)
      if (!isBound) this.world.report('N052', span, { name })
    } else if (this.inVariable && this.bodies.length === 0 && found.depth === 0 && (found.kind === 'fn' || found.kind === 'tool'))
      this.world.report('N053', span, { name })
  }

  private isOfFile(name: string): boolean {
    let at: Lexical = this.scope
    while (at.parent !== null) at = at.parent
    return at.names.has(name) || at.later?.has(name) === true
  }

  /** After the imports, or at the start of the file. */
  private importName(name: string, module: string): Fix {
    const line = `import { ${name} } from "${module}"`
    const { file, program } = this.world
    const last = program.items.findLast((item) => item.kind === 'ImportDecl')
    const first = /^\ufeff?(?:(?:#!|\/\/+[ \t]*@bridle\b)[^\n]*\n)?/.exec(file.text)?.[0].length ?? 0
    const at = last === undefined ? first : last.span.end
    const text = last === undefined ? `${line}\n\n` : `\n${line}`
    return { title: `add \`${line}\``, edits: [{ span: { start: at, end: at }, text }] }
  }

  /** A variant that is named without its enum; null when several enums have it. */
  private findVariant(name: string): string | null {
    const enums = this.world.program.items.flatMap((item) =>
      item.kind === 'EnumDecl' && item.variants.some((variant) => variant.name.text === name) ? [item.name.text] : [],
    )
    return enums.length === 1 ? `${enums[0]}.${name}` : null
  }

  /** Names of the script come before those of the language. A name that is not called is a builtin only if its spelling says so. */
  private suggest(name: string, isCall: boolean): string | null {
    return suggestName(name, this.candidates(isCall), this.world.budget)
  }

  private *candidates(isCall: boolean): Generator<Candidate> {
    for (let at: Lexical | null = this.scope; at !== null; at = at.parent) {
      for (const decl of at.names.values()) yield { name: decl.name, distance: 0 }
    }
    for (const name of this.world.importedNames ?? []) yield { name, distance: 0 }
    for (const name of this.world.globals) yield { name, distance: 1 }
    if (!isCall) return
    for (const name of this.world.builtins.keys()) if (!name.includes('.')) yield { name, distance: 1 }
  }

  // ---- types --------------------------------------------------------------------------------------------------------

  private type(type: TypeExpr | null): void {
    if (type === null || this.world.importedNames === null) return
    forEachTypeName(type, (name) => this.typeName(name))
  }

  /** Only variants of an enum are caught by a type; without one everything is. */
  private catchesNothing({ type, variable }: NonNullable<ExprOf<'Try'>['handler']>): boolean {
    if (type?.kind !== 'NamedType' || variable === null) return false
    const { text } = type.name
    const { root, importedNames } = this.world
    const mayBeEnum = root.enumNamed(text) !== undefined || root.alias(text) !== undefined || text === 'Result'
    if (mayBeEnum || importedNames === null || importedNames.has(text) || ANY_TYPES.has(text)) return false
    const isKnown = BUILTIN_TYPES.has(text) || this.isKnownType(text)
    // A misspelt name is another finding.
    if (!isKnown && TYPE_HABITS[text] === undefined && suggestName(text, this.typeCandidates(), this.world.budget) !== null)
      return false
    const fix = { title: 'catch everything', edits: [{ span: { start: variable.span.end, end: type.span.end }, text: '' }] }
    this.world.report('T105', type.span, { type: text, isKnown }, fix)
    return true
  }

  private typeName({ text, span }: Name): void {
    if (BUILTIN_TYPES.has(text) || this.isKnownType(text)) return
    const suggestion = TYPE_HABITS[text] ?? suggestName(text, this.typeCandidates(), this.world.budget)
    this.world.report('N046', span, { name: text, suggestion }, replaceWord(span, suggestion))
  }

  private isKnownType(name: string): boolean {
    for (let at: Lexical | null = this.scope; at !== null; at = at.parent) {
      if (at.types?.has(name) === true || at.names.has(name)) return true
    }
    const { root, importedNames } = this.world
    return (
      root.struct(name) !== undefined ||
      root.enumNamed(name) !== undefined ||
      root.alias(name) !== undefined ||
      root.interfaceNamed(name) !== undefined ||
      importedNames?.has(name) === true
    )
  }

  private *typeCandidates(): Generator<Candidate> {
    for (let at: Lexical | null = this.scope; at !== null; at = at.parent) {
      for (const name of at.types ?? []) yield { name, distance: 0 }
    }
    for (const name of BUILTIN_TYPES) yield { name, distance: 1 }
  }

  private typeParams(params: readonly TypeParam[]): void {
    if (params.length === 0) return
    this.scope.types ??= new Set()
    for (const param of params) this.scope.types.add(param.name.text)
  }

  private checkTwice(parts: readonly { readonly name: Name }[]): void {
    const seen = new Set<string>()
    for (const { name } of parts) {
      if (seen.has(name.text)) this.world.report('N044', name.span, { name: name.text })
      seen.add(name.text)
    }
  }

  // ---- statements ---------------------------------------------------------------------------------------------------

  private block(block: Block, before: () => void = nothing): void {
    this.within(this.scope.depth, () => {
      before()
      this.body(block.body)
    })
  }

  private body(body: readonly Stmt[]): void {
    this.hoist(body)
    for (const stmt of body) this.stmt(stmt)
  }

  private stmt(stmt: Stmt): void {
    switch (stmt.kind) {
      case 'ExprStmt':
        this.expr(stmt.value)
        return
      case 'Let':
        this.inVariable = this.hasVariablesFirst && this.scope.parent === null
        this.expr(stmt.value)
        this.inVariable = false
        this.bind(stmt.binding, stmt.mutable ? 'var' : 'let', stmt.value, stmt)
        return
      case 'Assign':
        this.assign(stmt)
        return
      case 'While':
        this.condition(stmt.condition)
        this.block(stmt.body)
        return
      case 'For':
        this.expr(stmt.iterable)
        this.block(stmt.body, () => this.bind(stmt.binding, 'loop', null, stmt))
        return
      case 'Return':
      case 'Yield':
        if (stmt.value !== null) this.expr(stmt.value)
        return
      case 'Throw':
      case 'Emit':
        this.expr(stmt.value)
        return
      case 'Guard':
        this.condition(stmt.condition)
        this.block(stmt.otherwise)
        return
      case 'Require':
        this.condition(stmt.condition)
        if (stmt.message !== null) this.expr(stmt.message)
        return
      case 'Defer':
      case 'Mutex':
        this.block(stmt.body)
        return
      case 'Select':
        for (const arm of stmt.arms) {
          if (arm.kind === 'receive') this.expr(arm.channel)
          else if (arm.kind === 'timeout') this.expr(arm.duration)
          this.block(arm.body, () => {
            if (arm.kind === 'receive') this.declare(arm.variable, 'pattern')
          })
        }
        return
      case 'FnDecl':
        this.function(stmt)
        return
      case 'ToolDecl':
        this.callable(stmt.params, [], stmt.returns, stmt.body)
        return
      case 'PipelineDecl':
        this.withinFunction(() => {
          for (const param of stmt.params) this.declare(param, 'param', { stmt })
          this.type(stmt.returns)
          this.body(stmt.body.body)
        })
        return
      case 'OverrideDecl':
        this.withinFunction(() => {
          for (const param of stmt.params) this.declare(param, 'param')
          this.body(stmt.body.body)
        })
        return
      case 'SkillDecl':
        for (const field of stmt.fields) this.expr(field.value)
        return
      case 'EvalPackDecl':
        for (const field of stmt.fields) this.expr(field.value)
        this.withinFunction(() => {
          for (const text of ['id', 'version', ...stmt.fields.map((field) => field.name.text)]) {
            this.put({ text, span: stmt.name.span }, 'other')
          }
          this.body(stmt.body)
          if (stmt.summarize !== null) this.block(stmt.summarize)
        })
        return
      case 'ImplDecl':
        if (this.world.importedNames !== null) this.typeName(stmt.name)
        for (const method of stmt.methods) {
          this.callable(method.params, method.typeParams, method.returns, method.body, { owner: stmt.name.text })
        }
        return
      case 'TypeDecl':
        this.within(this.scope.depth, () => {
          this.typeParams(stmt.typeParams)
          this.type(stmt.type)
        })
        return
      case 'StructDecl':
        this.within(this.scope.depth, () => {
          this.typeParams(stmt.typeParams)
          for (const field of stmt.fields) this.type(field.type)
          this.checkTwice(stmt.fields)
        })
        return
      case 'EnumDecl':
        this.within(this.scope.depth, () => {
          this.typeParams(stmt.typeParams)
          for (const variant of stmt.variants) for (const param of variant.params) this.type(param.type)
          this.checkTwice(stmt.variants)
        })
        return
      default:
        return
    }
  }

  private function(decl: StmtOf<'FnDecl'>): void {
    this.callable(decl.params, decl.typeParams, decl.returns, decl.body)
  }

  private callable(
    params: readonly Param[],
    typeParams: readonly TypeParam[],
    returns: TypeExpr | null,
    body: Block,
    given: Given = {},
  ): void {
    this.withinFunction(() => {
      this.typeParams(typeParams)
      for (const [at, param] of params.entries()) {
        this.type(param.type)
        if (param.defaultValue !== null) this.expr(param.defaultValue)
        const items = given.items?.at.includes(at) === true ? given.items.of : null
        const owner = at === 0 && param.name.text === 'self' ? (given.owner ?? null) : null
        this.param(param, items, owner)
      }
      this.type(returns)
      this.body(body.body)
    })
  }

  private param(param: Param, items: Expr | null, owner: string | null): void {
    if (this.scope.names.has(param.name.text)) {
      this.world.report('N045', param.name.span, { name: param.name.text })
      return
    }
    if (param.name.text !== '_') this.put(param.name, 'param', { type: param.rest ? null : param.type, items, owner })
  }

  private bind(binding: Binding, kind: DeclKind, value: Expr | null, stmt: Stmt): void {
    switch (binding.kind) {
      case 'NameBinding':
        this.type(binding.type)
        this.declare(binding.name, kind, { value, type: binding.type, stmt })
        return
      case 'PairBinding':
        this.declare(binding.first, kind, {})
        this.declare(binding.second, kind, {})
        return
      case 'DictBinding':
        for (const field of binding.fields) {
          if (field.defaultValue !== null) this.expr(field.defaultValue)
          this.declare(field.alias ?? field.key, kind)
        }
        if (binding.rest !== null) this.declare(binding.rest, kind)
        return
      case 'ListBinding':
        for (const item of binding.items) {
          if (item.defaultValue !== null) this.expr(item.defaultValue)
          this.declare(item.name, kind)
        }
        if (binding.rest !== null) this.declare(binding.rest, kind)
    }
  }

  private assign(stmt: StmtOf<'Assign'>): void {
    const { target } = stmt
    this.assignedValue(stmt.value, target)
    if (target.kind !== 'Identifier') {
      const root = this.rootOf(target)
      this.expr(target)
      if (root !== null) this.update(root, stmt)
      return
    }
    const { name, span } = target
    if (name === '_') return
    const found = this.find(name)
    if (found !== null && typeof found === 'object') {
      found.assigned.push(stmt)
      const body = this.bodies.at(-1)
      if (found.kind === 'var' && body !== undefined && body.depth > found.depth && !body.assigned.has(found)) {
        body.assigned.set(found, stmt.span)
      }
      this.targets.set(target, found)
      this.checkAssignable(found, span)
      return
    }
    if (found === 'later') return
    if (found === 'later-here') {
      this.world.report('N041', span, { name })
      return
    }
    if (this.world.importedNames === null || this.world.globals.has(name) || this.hasParents) return
    const suggestion = suggestName(name, this.variables(), this.world.budget)
    this.world.report('N042', span, { name, suggestion }, replaceWord(span, suggestion))
  }

  /** Reading a variable only to assign it another value is not a use of it. */
  private assignedValue(value: Expr, target: Expr): void {
    const own = target.kind === 'Identifier' ? this.find(target.name) : null
    const before = own === null || typeof own !== 'object' ? [] : this.bodies.filter((body) => !body.read.has(own))
    this.expr(value)
    for (const body of before) body.read.delete(own as Decl) // exists if there are bodies
  }

  /** Assigning a part of a value assigns the value's own variable. */
  private update(decl: Decl, { target }: StmtOf<'Assign'>): void {
    decl.isUpdated = true
    // Parts of a function's name and of an import may belong to something other than a variable.
    if (decl.kind === 'let' || decl.kind === 'param' || decl.kind === 'catch') this.checkAssignable(decl, target.span)
  }

  private checkAssignable(decl: Decl, span: Span): void {
    const what = describeFixed(decl.kind)
    if (what === null) return
    const word = decl.kind === 'let' && decl.stmt?.kind === 'Let' ? decl.stmt.span : null
    const isLet = word !== null && this.world.file.text.startsWith('let', word.start)
    const fix = isLet ? replaceWord({ start: word.start, end: word.start + 3 }, 'var') : undefined
    this.world.report('N043', span, { name: decl.name, what }, fix)
  }

  private *variables(): Generator<Candidate> {
    for (let at: Lexical | null = this.scope; at !== null; at = at.parent) {
      for (const decl of at.names.values()) if (decl.kind === 'var') yield { name: decl.name, distance: 0 }
    }
  }

  private rootOf(target: Expr): Decl | null {
    let at = target
    while (at.kind === 'Member' || at.kind === 'Index' || at.kind === 'Slice') at = at.object
    if (at.kind !== 'Identifier') return null
    const found = this.find(at.name)
    return found !== null && typeof found === 'object' ? found : null
  }

  // ---- expressions --------------------------------------------------------------------------------------------------

  private condition(expr: Expr): void {
    this.inCondition++
    this.expr(expr)
    this.inCondition--
  }

  private exprs(args: readonly Argument[]): void {
    for (const arg of args) this.expr(arg.value)
  }

  private methodArgs({ object, method, args }: ExprOf<'MethodCall'>): void {
    const at = Object.hasOwn(ITEM_CALLBACKS, method.text) ? ITEM_CALLBACKS[method.text] : undefined
    for (const { value } of args) {
      if (value.kind !== 'Closure' || at === undefined) this.expr(value)
      else this.callable(value.params, [], null, value.body, { items: { of: object, at } })
    }
  }

  private entries(entries: readonly DictEntry[]): void {
    for (const entry of entries) {
      if (entry.kind === 'computed') this.expr(entry.key)
      this.expr(entry.value)
    }
  }

  private expr(expr: Expr): void {
    switch (expr.kind) {
      case 'Identifier':
        this.mention(expr, expr.name, expr.span, false)
        return
      case 'Interpolation':
        for (const part of expr.parts) if (typeof part !== 'string') this.expr(part)
        return
      case 'List':
        this.exprs(expr.items)
        return
      case 'Dict':
      case 'StructLiteral':
        this.entries(expr.entries)
        return
      case 'Unary':
        this.expr(expr.operand)
        return
      case 'Propagate':
      case 'TryStar':
        this.expr(expr.operand)
        return
      case 'Binary':
        this.chain(expr)
        return
      case 'Ternary':
        this.condition(expr.condition)
        this.expr(expr.whenTrue)
        this.expr(expr.whenFalse)
        return
      case 'Range':
        this.expr(expr.from)
        this.expr(expr.to)
        return
      case 'Pipe':
        this.expr(expr.value)
        this.expr(expr.callee)
        return
      case 'Member':
        this.expr(expr.object)
        if (expr.object.kind === 'Identifier') this.variant(expr.object, expr.property)
        return
      case 'MethodCall':
        this.expr(expr.object)
        this.methodArgs(expr)
        if (expr.object.kind === 'Identifier') this.variant(expr.object, expr.method)
        return
      case 'Index':
        this.expr(expr.object)
        this.expr(expr.index)
        return
      case 'Slice':
        this.expr(expr.object)
        if (expr.start !== null) this.expr(expr.start)
        if (expr.end !== null) this.expr(expr.end)
        return
      case 'Call':
        this.mention(expr, expr.callee.text, expr.callee.span, true)
        this.exprs(expr.args)
        return
      case 'Closure':
        this.callable(expr.params, [], null, expr.body)
        return
      case 'If':
        this.if(expr)
        return
      case 'Match':
        this.match(expr)
        return
      case 'Try':
        this.block(expr.body)
        if (expr.handler !== null) {
          const { handler } = expr
          if (!this.catchesNothing(handler)) this.type(handler.type)
          this.block(handler.body, () => {
            if (handler.variable !== null) this.declare(handler.variable, 'catch')
          })
        }
        if (expr.finalizer !== null) this.block(expr.finalizer)
        return
      case 'Retry':
        this.expr(expr.count)
        this.block(expr.body)
        return
      case 'Deadline':
        this.expr(expr.duration)
        this.block(expr.body)
        return
      case 'Spawn':
        this.withinFunction(() => this.body(expr.body.body))
        return
      case 'Parallel':
        this.expr(expr.subject)
        if (expr.maxConcurrent !== null) this.expr(expr.maxConcurrent)
        this.withinFunction(() => {
          const items = expr.mode === 'count' ? null : expr.subject
          if (expr.variable !== null) this.declare(expr.variable, 'param', { items })
          this.body(expr.body.body)
        })
        return
      default:
        return
    }
  }

  /** The left spine of a chain may be thousands long. */
  private chain(expr: ExprOf<'Binary'>): void {
    const right: ExprOf<'Binary'>[] = []
    let at: Expr = expr
    while (at.kind === 'Binary') {
      right.push(at)
      at = at.left
    }
    const logical = right.some(({ operator }) => operator === '&&' || operator === '||' || operator === '??')
    if (logical) this.inCondition++
    this.expr(at)
    for (const node of right.reverse()) this.expr(node.right)
    if (logical) this.inCondition--
  }

  private if(expr: IfExpr): void {
    for (let at: IfExpr | Block | null = expr; at !== null;) {
      if (at.kind === 'Block') {
        this.block(at)
        return
      }
      this.condition(at.condition)
      this.block(at.then)
      at = at.otherwise
    }
  }

  private match(expr: ExprOf<'Match'>): void {
    this.condition(expr.subject)
    for (const arm of expr.arms) {
      this.within(this.scope.depth, () => {
        for (const pattern of arm.patterns) this.pattern(pattern)
        if (arm.guard !== null) this.condition(arm.guard)
        this.block(arm.body)
      })
    }
  }

  private pattern(pattern: Expr): void {
    if (pattern.kind === 'Member' && pattern.object.kind === 'Identifier') this.expr(pattern)
    if (pattern.kind === 'MethodCall' && pattern.object.kind === 'Identifier') {
      this.expr(pattern.object)
      this.variant(pattern.object, pattern.method)
    }
    const computed = pattern.kind === 'Dict' ? pattern.entries.filter((entry) => entry.kind === 'computed') : []
    for (const { value } of computed) {
      if (value.kind === 'Identifier') this.put({ text: value.name, span: value.span }, 'pattern')
    }
    for (const text of patternNames(pattern)) {
      if (text !== '_') this.put({ text, span: pattern.span }, 'pattern')
    }
  }

  private variant(object: ExprOf<'Identifier'>, variant: Name): void {
    const decl = this.targets.get(object)
    if (decl !== undefined && decl.stmt?.kind !== 'EnumDecl') return
    const found = decl?.stmt?.kind === 'EnumDecl' ? decl.stmt : this.world.root.enumNamed(object.name)?.decl
    if (found === undefined || found.variants.some(({ name }) => name.text === variant.text)) return
    const candidates = found.variants.map(({ name }): Candidate => ({ name: name.text, distance: 0 }))
    const suggestion = suggestName(variant.text, candidates, this.world.budget)
    this.world.report(
      'N047',
      variant.span,
      { enum: object.name, variant: variant.text, suggestion },
      replaceWord(variant.span, suggestion),
    )
  }
}

function nothing(): void {}
