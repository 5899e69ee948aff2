// Reads one module into units and call sites. Names are resolved as in the language (parameters and locals, then the
// module, then imports, then builtins). A callable value is tracked while that is simple. Otherwise it
// escapes: put into data, returned, or passed to a builtin that keeps it. Any code may call an escaped value.

import {
  listChildren,
  isStatement,
  type Attribute,
  type Block,
  type Expr,
  type ExprOf,
  type Node,
  type Param,
  type Span,
  type Stmt,
} from '@bridle/parser'
import type { LoadedModule } from '../modules.js'
import type { Signatures } from '../signatures.js'
import { boundNames } from '../types/infer.js'
import { patternNames } from '../types/exhaustive.js'
import { joinDefinitions, toolDefinition } from './tools.js'
import { type Site, type Target, type ToolDefinition, type Tracked, type Unit, type World } from './units.js'

const DATA: Tracked = { kind: 'data' }
const UNKNOWN: Tracked = { kind: 'unknown' }

/** Visible names at one position, and the unit of its code. */
class Names {
  readonly unit: Unit
  private readonly outer: Names | null
  private readonly own = new Map<string, Tracked>()

  constructor(unit: Unit, outer: Names | null) {
    this.unit = unit
    this.outer = outer
  }

  inner(unit: Unit = this.unit): Names {
    return new Names(unit, this)
  }

  bind(name: string, value: Tracked): void {
    this.own.set(name, value)
  }

  find(name: string): Tracked | undefined {
    for (let at: Names | null = this; at !== null; at = at.outer) {
      const found = at.own.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** Exports of a module. */
export type ModuleNames = ReadonlyMap<string, Tracked>

export interface CollectOptions {
  readonly world: World
  readonly signatures: Signatures
  /** Names of an import path of this module; null if it cannot be resolved. */
  readonly imported: (path: string) => ModuleNames | null
}

/** Adds the units of a module to the world. The module's own unit comes first; its names are for importers. */
export function collectModule(
  module: LoadedModule,
  options: CollectOptions,
): { readonly unit: Unit; readonly names: ModuleNames } {
  return new Collector(module, options).run()
}

class Collector {
  private readonly closures = new Map<Expr, Unit>()
  private readonly module: LoadedModule
  private readonly world: World
  private readonly signatures: Signatures
  private readonly imported: CollectOptions['imported']
  /** The unit whose code is being read. */
  private owner: Unit

  constructor(module: LoadedModule, { world, signatures, imported }: CollectOptions) {
    this.module = module
    this.world = world
    this.signatures = signatures
    this.imported = imported
    this.owner = this.makeUnit('module', '', module.program.span, [], [], true)
  }

  run(): { readonly unit: Unit; readonly names: ModuleNames } {
    const { program } = this.module
    const unit = this.owner
    const imports = new Names(unit, null)
    const names = imports.inner()
    const exported = new Map<string, Tracked>()
    for (const item of program.items) {
      if (item.kind !== 'ImportDecl') continue
      const found = this.imported(item.path)
      for (const [name, value] of found ?? []) {
        if (item.names !== null && !item.names.some((wanted) => wanted.text === name)) continue
        imports.bind(name, value)
        if (item.isPublic) exported.set(name, value)
      }
      for (const name of item.names ?? []) if (imports.find(name.text) === undefined) imports.bind(name.text, UNKNOWN)
    }
    this.statements(program.items, names, true)
    for (const item of program.items) {
      const name =
        'name' in item
          ? item.name.text
          : item.kind === 'Let' && item.binding.kind === 'NameBinding'
            ? item.binding.name.text
            : null
      const value = name === null || item.kind === 'ImportDecl' ? undefined : names.find(name)
      if (name !== null && value !== undefined) exported.set(name, value)
    }
    return { unit, names: exported }
  }

  private makeUnit(
    kind: Unit['kind'],
    name: string,
    span: Span,
    params: readonly string[],
    attributes: readonly Attribute[],
    topLevel: boolean,
  ): Unit {
    const unit: Unit = {
      id: this.world.units.length,
      kind,
      name,
      module: this.module.key,
      span,
      params,
      attributes,
      topLevel,
      sites: [],
    }
    this.world.units.push(unit)
    return unit
  }

  // ---- statements -----------------------------------------------------------------------------------------------------

  private block(block: Block, names: Names): void {
    this.statements(block.body, names.inner(), false)
  }

  /** Declarations are visible in the whole block; bindings from their position on. */
  private statements(body: readonly Stmt[], names: Names, topLevel: boolean): void {
    const declared = new Map<Stmt, Unit>()
    for (const stmt of body) {
      switch (stmt.kind) {
        case 'FnDecl':
        case 'ToolDecl':
        case 'PipelineDecl': {
          const params = stmt.kind === 'PipelineDecl' ? stmt.params.map((param) => param.text) : paramNames(stmt.params)
          const kind = stmt.kind === 'FnDecl' ? 'fn' : stmt.kind === 'ToolDecl' ? 'tool' : 'pipeline'
          const unit = this.makeUnit(kind, stmt.name.text, stmt.span, params, stmt.attributes, topLevel)
          declared.set(stmt, unit)
          names.bind(stmt.name.text, { kind: 'unit', unit })
          if (stmt.kind === 'ToolDecl') this.defineTool(stmt.name.text, { kind: 'unit', unit }, stmt.span)
          break
        }
        case 'StructDecl':
          this.world.structs.add(stmt.name.text)
          break
        case 'EnumDecl':
          this.world.enums.add(stmt.name.text)
          break
        default:
          break
      }
    }
    // Functions last: they are called later, so they may use bindings further down.
    for (const stmt of body) if (!declared.has(stmt)) this.statement(stmt, names, null)
    for (const [stmt, unit] of declared) this.statement(stmt, names, unit)
  }

  private statement(stmt: Stmt, names: Names, unit: Unit | null): void {
    switch (stmt.kind) {
      case 'FnDecl':
      case 'ToolDecl':
        if (unit !== null) this.body(unit, stmt.params, stmt.body, names)
        return
      case 'PipelineDecl': {
        if (unit === null) return
        const inner = names.inner(unit)
        for (const param of stmt.params) inner.bind(param.text, DATA)
        if (stmt.parent !== null) this.site(inner, { kind: 'name', name: stmt.parent.text }, [], stmt.parent.span)
        this.within(unit, () => this.block(stmt.body, inner))
        return
      }
      case 'ImplDecl':
        for (const method of stmt.methods) {
          const made = this.makeUnit(
            'method',
            `${stmt.name.text}.${method.name.text}`,
            method.span,
            paramNames(method.params),
            method.attributes,
            true,
          )
          this.body(made, method.params, method.body, names)
        }
        return
      case 'OverrideDecl': {
        const made = this.makeUnit(
          'closure',
          stmt.name.text,
          stmt.span,
          stmt.params.map((param) => param.text),
          stmt.attributes,
          true,
        )
        const inner = names.inner(made)
        stmt.params.forEach((param, index) => inner.bind(param.text, { kind: 'param', param: { unit: made.id, index } }))
        this.within(made, () => this.block(stmt.body, inner))
        this.escape({ kind: 'unit', unit: made }, null)
        return
      }
      case 'Let':
        this.let(stmt, names)
        return
      case 'Assign':
        if (stmt.target.kind === 'Identifier') names.bind(stmt.target.name, UNKNOWN)
        else this.visit(stmt.target, names)
        this.escape(this.value(stmt.value, names), stmt.target.kind === 'Member' ? stmt.target.property.text : null)
        return
      case 'For': {
        this.visit(stmt.iterable, names)
        const inner = names.inner()
        for (const name of boundNames(stmt)) inner.bind(name, UNKNOWN)
        this.block(stmt.body, inner)
        return
      }
      case 'Return':
        if (stmt.value !== null) this.escape(this.value(stmt.value, names), null)
        return
      case 'Select':
        this.construct(names, 'async', 'select', stmt.span)
        for (const arm of stmt.arms) {
          const inner = names.inner()
          if (arm.kind === 'receive') {
            this.visit(arm.channel, names)
            inner.bind(arm.variable.text, UNKNOWN)
          } else if (arm.kind === 'timeout') this.visit(arm.duration, names)
          this.block(arm.body, inner)
        }
        return
      case 'SkillDecl':
        for (const field of stmt.fields) this.escape(this.value(field.value, names), field.name.text)
        return
      case 'EvalPackDecl':
        for (const field of stmt.fields) this.escape(this.value(field.value, names), field.name.text)
        this.statements(stmt.body, names.inner(), false)
        if (stmt.summarize !== null) this.block(stmt.summarize, names)
        return
      default:
        this.children(stmt, names)
    }
  }

  private let(stmt: Extract<Stmt, { kind: 'Let' }>, names: Names): void {
    if (stmt.binding.kind === 'NameBinding' && !stmt.mutable) {
      const name = stmt.binding.name.text
      const value = this.value(stmt.value, names, name)
      this.escape(value, null)
      const alias = isAlias(stmt.value) ? this.module.grants.aliases.find((each) => each.name === name) : undefined
      names.bind(name, alias === undefined ? value : { kind: 'tool', alias })
      return
    }
    const value = this.value(stmt.value, names)
    this.escape(value, null)
    if (stmt.binding.kind === 'DictBinding' || stmt.binding.kind === 'ListBinding') {
      const parts = stmt.binding.kind === 'DictBinding' ? stmt.binding.fields : stmt.binding.items
      for (const part of parts) if (part.defaultValue !== null) this.visit(part.defaultValue, names)
    }
    for (const name of boundNames(stmt)) names.bind(name, UNKNOWN)
  }

  private body(unit: Unit, params: readonly Param[], block: Block, names: Names): void {
    const inner = names.inner(unit)
    this.within(unit, () => {
      for (const [index, param] of params.entries()) {
        if (param.defaultValue !== null) this.escape(this.value(param.defaultValue, inner), null)
        inner.bind(param.name.text, param.rest ? UNKNOWN : { kind: 'param', param: { unit: unit.id, index } })
      }
      this.block(block, inner)
    })
  }

  private within(unit: Unit, read: () => void): void {
    const before = this.owner
    this.owner = unit
    read()
    this.owner = before
  }

  // ---- expressions ----------------------------------------------------------------------------------------------------

  /** Visits an expression whose value escapes. */
  private visit(expr: Expr, names: Names): void {
    this.escape(this.value(expr, names), null)
  }

  /** Visits an expression and returns what is known about its value; the caller tracks it or lets it escape. */
  private value(expr: Expr, names: Names, name = ''): Tracked {
    switch (expr.kind) {
      case 'Identifier':
        return names.find(expr.name) ?? (this.signatures.has(expr.name) ? { kind: 'builtin', name: expr.name } : UNKNOWN)
      case 'Closure': {
        const topLevel = name !== '' && names.unit.kind === 'module'
        const unit = this.makeUnit('closure', name, expr.span, paramNames(expr.params), [], topLevel)
        this.closures.set(expr, unit)
        this.body(unit, expr.params, expr.body, names)
        return { kind: 'unit', unit }
      }
      case 'String':
        return { kind: 'text', text: expr.value }
      case 'Int':
      case 'Float':
      case 'Bool':
      case 'Nil':
      case 'Duration':
        return DATA
      case 'Interpolation':
      case 'Unary':
      case 'Range':
      case 'List':
        this.children(expr, names)
        return DATA
      case 'Binary':
        this.children(expr, names)
        return expr.operator === '??' || expr.operator === '||' || expr.operator === '&&' ? UNKNOWN : DATA
      case 'Dict':
      case 'StructLiteral':
        for (const entry of expr.entries) {
          if (entry.kind === 'computed') this.visit(entry.key, names)
          this.escape(this.value(entry.value, names), entry.kind === 'named' ? entry.key.text : null)
        }
        return DATA
      case 'Call':
        return this.call(expr.callee.text, expr.args, expr, names)
      case 'MethodCall':
        return this.methodCall(expr, names)
      case 'Pipe':
        return this.pipe(expr, names)
      case 'Spawn':
      case 'Parallel':
        this.construct(names, 'async', expr.kind === 'Spawn' ? 'spawn' : 'parallel', expr.span)
        return this.trackScoped(expr, names)
      case 'Deadline':
        this.construct(names, 'async', 'deadline', expr.span)
        return this.trackScoped(expr, names)
      case 'Try':
      case 'Match':
        return this.trackScoped(expr, names)
      default:
        this.children(expr, names)
        return UNKNOWN
    }
  }

  /** Constructs that bind names of their own. */
  private trackScoped(expr: ExprOf<'Spawn' | 'Parallel' | 'Deadline' | 'Try' | 'Match'>, names: Names): Tracked {
    const inner = names.inner()
    switch (expr.kind) {
      case 'Parallel':
        this.visit(expr.subject, names)
        if (expr.maxConcurrent !== null) this.visit(expr.maxConcurrent, names)
        if (expr.variable !== null) inner.bind(expr.variable.text, UNKNOWN)
        this.block(expr.body, inner)
        return DATA
      case 'Try':
        this.block(expr.body, names)
        if (expr.handler !== null) {
          if (expr.handler.variable !== null) inner.bind(expr.handler.variable.text, UNKNOWN)
          this.block(expr.handler.body, inner)
        }
        if (expr.finalizer !== null) this.block(expr.finalizer, names)
        return UNKNOWN
      case 'Match':
        this.visit(expr.subject, names)
        for (const arm of expr.arms) {
          const own = names.inner()
          for (const pattern of arm.patterns) for (const name of patternNames(pattern)) own.bind(name, UNKNOWN)
          if (arm.guard !== null) this.visit(arm.guard, own)
          this.block(arm.body, own)
        }
        return UNKNOWN
      default:
        this.children(expr, names)
        return UNKNOWN
    }
  }

  private children(node: Node, names: Names): void {
    for (const child of listChildren(node)) {
      if (child.kind === 'Block') this.block(child, names)
      else if (isStatement(child)) this.statement(child, names, null)
      else if (child.kind !== 'Program') this.visit(child, names)
    }
  }

  // ---- calls ----------------------------------------------------------------------------------------------------------

  private call(
    name: string,
    written: ExprOf<'Call'>['args'],
    at: { readonly span: Span },
    names: Names,
    first: readonly Tracked[] = [],
  ): Tracked {
    const args = [...first, ...this.args(written, names)]
    const bound = names.find(name)
    if (name === 'tool_define' && bound === undefined) this.toolDefine(written, at.span, names)
    for (const target of this.targets(name, bound)) this.site(names, target, args, at.span)
    return this.constructs(name, bound) ? DATA : UNKNOWN
  }

  private targets(name: string, bound: Tracked | undefined): readonly Target[] {
    const builtin: readonly Target[] = this.signatures.has(name) ? [{ kind: 'builtin', name }] : []
    switch (bound?.kind) {
      case undefined:
        if (this.constructs(name, bound)) return []
        return builtin.length > 0 ? builtin : [{ kind: 'name', name }]
      case 'unit':
      case 'builtin':
      case 'tool':
        return [bound]
      case 'param':
        return [bound, ...builtin]
      case 'text':
      case 'data':
        return builtin
      case 'unknown':
        return [{ kind: 'unknown' }, ...builtin]
    }
  }

  private constructs(name: string, bound: Tracked | undefined): boolean {
    return bound === undefined && (CONSTRUCTORS.has(name) || this.world.structs.has(name))
  }

  private args(written: ExprOf<'Call'>['args'], names: Names): readonly Tracked[] {
    return written.map((arg) => {
      const value = this.value(arg.value, names)
      if (!arg.spread) return value
      this.escape(value, null)
      return UNKNOWN
    })
  }

  private methodCall(expr: ExprOf<'MethodCall'>, names: Names): Tracked {
    const { object, method } = expr
    if (object.kind === 'Identifier' && names.find(object.name) === undefined) {
      const dotted = `${object.name}.${method.text}`
      if (this.signatures.has(dotted)) {
        this.site(names, { kind: 'builtin', name: dotted }, this.args(expr.args, names), expr.span)
        return UNKNOWN
      }
      if (this.world.enums.has(object.name)) {
        for (const value of this.args(expr.args, names)) this.escape(value, null)
        return DATA
      }
    }
    this.visit(object, names)
    this.site(names, { kind: 'method', name: method.text }, this.args(expr.args, names), expr.span)
    return UNKNOWN
  }

  /** `value |> callee`; with a placeholder the value replaces it, without one it is the first argument. */
  private pipe(expr: ExprOf<'Pipe'>, names: Names): Tracked {
    const value = this.value(expr.value, names)
    const { callee } = expr
    const called = callee.kind === 'Identifier' ? names.find(callee.name) : this.peek(callee, names)
    // A string is the name of the callee.
    if (called?.kind === 'text') return this.call(called.text, [], expr, names, [value])
    if (callee.kind === 'Identifier') return this.call(callee.name, [], expr, names, [value])
    if (callee.kind === 'Call') {
      const inner = names.inner()
      inner.bind('_', value)
      const placed = callee.args.some((arg) => arg.value.kind === 'Identifier' && arg.value.name === '_')
      return this.call(callee.callee.text, callee.args, expr, inner, placed ? [] : [value])
    }
    if (callee.kind === 'Closure') {
      const target = this.value(callee, names)
      if (target.kind === 'unit') this.site(names, target, [value], expr.span)
      return UNKNOWN
    }
    const inner = names.inner()
    inner.bind('_', value)
    this.escape(value, null)
    this.visit(callee, inner)
    if (callee.kind !== 'MethodCall') this.site(names, { kind: 'unknown' }, [], expr.span)
    return UNKNOWN
  }

  private site(names: Names, target: Target, args: readonly Tracked[], span: Span): void {
    const site: Site = { target, args, span }
    names.unit.sites.push(site)
    // An argument may be kept, or found by its name; inference decides whether a parameter is called.
    for (const arg of args) this.escape(arg, null)
  }

  private construct(names: Names, effect: string, what: string, span: Span): void {
    names.unit.sites.push({ target: { kind: 'construct', effect, what }, args: [], span })
  }

  private escape(value: Tracked, field: string | null): void {
    if (isFunction(value)) this.world.mentions.push({ value, field, owner: this.owner })
  }

  // ---- tools ----------------------------------------------------------------------------------------------------------

  private toolDefine(args: ExprOf<'Call'>['args'], span: Span, names: Names): void {
    const name = args[1] === undefined ? UNKNOWN : this.peek(args[1].value, names)
    if (name.kind !== 'text') {
      this.world.dynamicTools.add(this.owner)
      return
    }
    const definition = toolDefinition(name.text, args[3]?.value, (expr) => this.peek(expr, names))
    this.addTool({ ...definition, name: name.text, span, module: this.module.key })
  }

  private addTool(definition: ToolDefinition): void {
    this.world.tools.set(definition.name, joinDefinitions(this.world.tools.get(definition.name), definition))
  }

  private defineTool(name: string, handler: Tracked, span: Span): void {
    this.addTool({ name, executor: 'harn', handler, effects: null, reaches: [], span, module: this.module.key })
  }

  /** Like `value`, without visiting the expression again. */
  private peek(expr: Expr, names: Names): Tracked {
    if (expr.kind === 'String') return { kind: 'text', text: expr.value }
    if (expr.kind === 'Identifier') return names.find(expr.name) ?? UNKNOWN
    if (expr.kind !== 'Closure') return UNKNOWN
    const unit = this.closures.get(expr)
    return unit === undefined ? UNKNOWN : { kind: 'unit', unit }
  }
}

function isFunction(value: Tracked): boolean {
  return value.kind === 'unit' || value.kind === 'builtin' || value.kind === 'tool'
}

const CONSTRUCTORS: ReadonlySet<string> = new Set(['Ok', 'Err', 'Some', 'None'])

function paramNames(params: readonly Param[]): readonly string[] {
  return params.map((param) => param.name.text)
}

/** The lowered form of `use tool … as Name`. */
function isAlias(expr: Expr): boolean {
  return expr.kind === 'Call' && expr.callee.text === '__tool_alias'
}
