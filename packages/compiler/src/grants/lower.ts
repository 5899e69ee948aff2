// The statements of the grants extension and the equivalent attributes → plain statements of the language:
//
//   use tool http.get as Fetch       let __alias_Fetch = __tool_binding({…}); let Fetch = __tool_alias(__alias_Fetch)
//   use tool http as *               the same for each standard tool of the family (families.ts), or import "host/http"
//   grant Fetch … in a block         let __alias_Fetch = __tool_narrowed(__alias_Fetch, {…}); let Fetch = __tool_alias(__alias_Fetch)
//   grant http.get …                 __grants_push!({"http.get": {…}}), ended by a `defer` in a function
//   @grant("Fetch", …) fn            the same push and `defer` at the start of the body
//
// `!` cannot occur in a name of a script: only the statement that opened a scope of grants can end it.
//
// A grant applies to its whole scope, wherever it is written in it. Violations that are known before the run are reported here.

import { copyWith, report, suggest, walk } from '@bridle/parser'
import { listContents } from '../contents.js'
import type {
  Attribute,
  AttributeValue,
  Block,
  Declaration,
  Diagnostic,
  Expr,
  GrantEntry,
  GrantStmt,
  GrantValue as WrittenValue,
  Name,
  Program,
  RowArgs,
  Span,
  Stmt,
} from '@bridle/parser'
import { GRANT_CATALOG } from './catalog.js'
import type { GrantCode } from './catalog.js'
import { addConstraint, checkGrant, constraintProblem, findEmptiedKey } from './constraints.js'
import type { ConstraintRules, GrantRecord, GrantScalar, GrantValue } from './constraints.js'
import { isWideDomain } from './domain.js'
import { listDeclaredNames, listFamilies, listFamilyTools } from './families.js'

/** A token budget limits the sum of all calls; a grant of `max_tokens` limits the argument of that name. */
function budgetKey(attribute: string, key: Name): Name {
  return attribute === 'budget' && key.text === 'max_tokens' ? copyWith(key, { text: 'max_total_tokens' }) : key
}

/** The tool declarations of a file, for code that shows or judges a script before it runs. */
export interface GrantDeclarations {
  readonly aliases: readonly ToolAlias[]
  /** Grants of tool ids and by attributes, with the name of the function they belong to; null for the whole file. */
  readonly scoped: readonly {
    readonly tool: string
    readonly within: string | null
    readonly grant: GrantRecord
    readonly span: Span
  }[]
  /** Each constraint where it is written. */
  readonly written: readonly WrittenConstraint[]
}

export interface WrittenConstraint {
  /** Tool id, pattern or family of the grant; null for MCP servers. */
  readonly tool: string | null
  readonly key: string
  readonly span: Span
}

export interface ToolAlias {
  readonly name: string
  /** Tool id, or the address of an MCP server. */
  readonly tool: string
  readonly server: boolean
  readonly version: string | null
  /** Effects of `bind effect`, else those of the grants; null when unknown. */
  readonly effects: readonly string[] | null
  /** For the whole file; blocks narrow it further. */
  readonly grant: GrantRecord
  readonly span: Span
}

export interface Lowered {
  readonly program: Program
  readonly declarations: GrantDeclarations
  readonly diagnostics: readonly Diagnostic[]
}

export const NO_GRANTS: GrantDeclarations = { aliases: [], scoped: [], written: [] }

const MENTIONED = /\b(?:use\s+tool|grant|bind\s+effect|budget)\b/

export interface LowerOptions {
  /** Constraints of the host. */
  readonly constraints?: ConstraintRules | undefined
  /** Families of tools that the host has, by the names of their modules `host/NAME`; undefined when unknown. */
  readonly hostFamilies?: ReadonlySet<string> | undefined
}

/** A file without these statements is returned unchanged. */
export function lowerGrants(program: Program, text: string, options: LowerOptions = {}): Lowered {
  return MENTIONED.test(text) && declaresGrants(program)
    ? new Lowering(text, options).program(program)
    : { program, declarations: NO_GRANTS, diagnostics: [] }
}

/** The words are common in other scripts. Without these statements there are no named arguments either. */
function declaresGrants(program: Program): boolean {
  const { kinds, attributes } = listContents(program)
  if (kinds.has('UseTool') || kinds.has('Grant') || kinds.has('BindEffect')) return true
  return attributes.has('grant') || attributes.has('budget')
}

interface Alias {
  readonly name: Name
  readonly tool: string
  readonly server: boolean
  readonly version: string | null
  readonly span: Span
  grant: GrantRecord
  effects: string[]
}

/** Active grants by alias, outermost first. */
type Scopes = ReadonlyMap<string, readonly GrantRecord[]>

class Lowering {
  private readonly aliases = new Map<string, Alias>()
  private readonly scoped: { tool: string; within: string | null; grant: GrantRecord; span: Span }[] = []
  private readonly written: WrittenConstraint[] = []
  private readonly found: Diagnostic[] = []
  /** Families of `as *`, and the family of each name. */
  private readonly families = new Set<string>()
  private readonly familyOfName = new Map<string, string>()
  /** A module of the host declares unknown names. */
  private hasModules = false
  private readonly text: string
  private readonly rules: ConstraintRules
  private readonly hostFamilies: ReadonlySet<string> | undefined

  constructor(text: string, { constraints, hostFamilies }: LowerOptions) {
    this.text = text
    this.rules = constraints ?? new Map()
    this.hostFamilies = hostFamilies
  }

  program(program: Program): Lowered {
    const written = this.expandFamilies(program.items)
    for (const item of written) if (item.kind === 'UseTool') this.declare(item)
    let installed: GrantRecords = {}
    for (const item of written) {
      if (item.kind === 'BindEffect') this.bind(item)
      if (item.kind !== 'Grant') continue
      if (this.isToolKey(item.alias)) installed = this.add(installed, item)
      else this.narrowAlias(item)
    }
    const ofTool = (tool: string): readonly GrantRecord[] =>
      Object.entries(installed).flatMap(([key, grant]) => (tool === key || tool.startsWith(`${key}.`) ? [grant] : []))
    const scopes: Scopes = new Map(
      [...this.aliases.values()].map((alias) => [alias.name.text, [...ofTool(alias.tool), alias.grant]]),
    )
    for (const [tool, grant] of Object.entries(installed)) {
      const span = written.find((item) => item.kind === 'Grant' && item.alias.text === tool)!.span
      this.scoped.push({ tool, within: null, grant, span })
    }
    const items = written.flatMap((item): readonly Stmt[] => {
      if (item.kind === 'Grant' && this.isToolKey(item.alias)) {
        const all = installed
        installed = {}
        return Object.keys(all).length === 0 ? [] : [statement(call('__grants_push!', [makeRecord(all, item.span)], item.span))]
      }
      return isGrantStmt(item) ? this.topLevel(item) : [this.rewrite(item, scopes, null) as Stmt]
    })
    return {
      program: { ...program, items },
      declarations: {
        aliases: [...this.aliases.values()].map((alias) => ({
          name: alias.name.text,
          tool: alias.tool,
          server: alias.server,
          version: alias.version,
          effects: readEffects(alias),
          grant: alias.grant,
          span: alias.span,
        })),
        scoped: this.scoped,
        written: this.written,
      },
      diagnostics: this.found,
    }
  }

  // ---- declarations ------------------------------------------------------------------------------------------------------

  /** `use tool FAMILY as *` as one `use tool` for each tool. Names that the file declares keep their meaning. */
  private expandFamilies(items: readonly Stmt[]): readonly Stmt[] {
    const stars = items.filter((item): item is UseTool => item.kind === 'UseTool' && item.alias === null)
    if (stars.length === 0) return items
    const own = listDeclaredNames(items)
    return items.flatMap((item) => (item.kind === 'UseTool' && item.alias === null ? this.family(item, own) : [item]))
  }

  private family(item: UseTool, own: ReadonlySet<string>): readonly Stmt[] {
    const { text: family, span } = item.tool
    if (item.server || item.version !== null) {
      const [what, instead] = item.server
        ? ['`as *` for an MCP server', `give it a name: use tool mcp "${family}" as Name, then Name("tool", {…})`]
        : ['a version with `as *`', `name the tools: use tool ${family}.NAME@${item.version ?? ''} as …`]
      this.report('G008', item.span, { what, instead })
      return []
    }
    const tools = listFamilyTools(family)
    if (this.hostFamilies?.has(family) ?? tools.length === 0) {
      this.families.add(family)
      this.hasModules = true
      return [item]
    }
    if (tools.length === 0) {
      this.hasModules = true // one error is enough
      const known = listFamilies(this.hostFamilies)
      this.report('G011', span, { family, known, suggestion: suggest(family, known) })
      return []
    }
    if (this.families.has(family)) return []
    this.families.add(family)
    return tools.flatMap(({ id, name }): readonly Stmt[] => {
      if (own.has(name)) return []
      const before = this.familyOfName.get(name)
      if (before !== undefined) {
        this.report('G012', item.span, { name, before, now: family })
        return []
      }
      this.familyOfName.set(name, family)
      // Each gets a distinct span, because spans identify declarations.
      return [{ ...item, span: { ...item.span }, tool: { text: id, span }, alias: { text: name, span } }]
    })
  }

  /** A grant of a tool id, or of a family of `as *`: it applies to the tools, for every caller. */
  private isToolKey(name: Name): boolean {
    return name.text.includes('.') || (this.families.has(name.text) && !this.aliases.has(name.text))
  }

  private declare(item: UseTool): void {
    if (item.alias === null) return
    const name = item.alias.text
    if (this.aliases.has(name)) this.report('G002', item.alias.span, { alias: name })
    else {
      this.aliases.set(name, {
        name: item.alias,
        tool: item.tool.text,
        server: item.server,
        version: item.version,
        span: item.span,
        grant: {},
        effects: [],
      })
    }
  }

  private bind(item: Extract<GrantStmt, { kind: 'BindEffect' }>): void {
    const alias = this.findAlias(item.alias)
    const root = item.effect.text.split('.')[0]!.toLowerCase()
    if (alias !== null && !alias.effects.includes(root)) alias.effects.push(root)
  }

  private narrowAlias(item: Extract<GrantStmt, { kind: 'Grant' }>): void {
    const alias = this.findAlias(item.alias)
    if (alias !== null) alias.grant = this.constrain(alias.grant, item.alias.text, item.entries)
  }

  private findAlias(name: Name): Alias | null {
    const alias = this.aliases.get(name.text)
    if (alias === undefined)
      this.report('G001', name.span, { alias: name.text, suggestion: suggest(name.text, this.aliases.keys()) })
    return alias ?? null
  }

  private add(records: GrantRecords, item: Extract<GrantStmt, { kind: 'Grant' }>): GrantRecords {
    const tool = item.alias.text
    return { ...records, [tool]: this.constrain(records[tool] ?? {}, tool, item.entries) }
  }

  private constrain(grant: GrantRecord, alias: string, entries: readonly Constraint[]): GrantRecord {
    let merged = grant
    const named = this.aliases.get(alias)
    const tool = named === undefined ? alias : named.server ? null : named.tool
    for (const { key, value: written, valueSpan } of entries) {
      this.written.push({ tool, key: key.text, span: key.span })
      const value = toPlain(written)
      const problem =
        value === null ? 'constraint must be a scalar or a list of scalars' : constraintProblem(key.text, value, this.rules)
      if (value === null || problem !== null) {
        this.report('G003', valueSpan, { alias, key: key.text, problem: problem ?? '' })
        continue
      }
      if (key.text === 'domain')
        for (const pattern of [value].flat())
          if (isWideDomain(String(pattern))) this.report('G007', valueSpan, { alias, pattern: String(pattern) })
      const added = addConstraint(merged, key.text, value, this.rules)
      merged = added.grant
      const { conflict } = added
      if (conflict !== null)
        this.report('G004', valueSpan, {
          alias,
          key: key.text,
          before: formatText(conflict.before),
          now: formatText(conflict.now),
        })
    }
    return merged
  }

  private topLevel(item: GrantStmt): readonly Stmt[] {
    if (item.kind !== 'UseTool') return []
    const { span } = item
    if (item.alias === null) {
      // The tools of a host family are in the host's module of that name.
      const path = `host/${item.tool.text}`
      return [
        {
          kind: 'ImportDecl',
          span,
          name: { text: path, span },
          path,
          pathSpan: item.tool.span,
          names: null,
          isPublic: false,
          attributes: [],
          doc: null,
        },
      ]
    }
    const alias = this.aliases.get(item.alias.text)!
    if (alias.span !== item.span) return []
    const effects = readEffects(alias)
    const spec = dict(span, {
      alias: literal(alias.name.text, span),
      tool: literal(alias.tool, span),
      server: literal(alias.server, span),
      version: literal(alias.version, span),
      effects: effects === null ? literal(null, span) : list(effects, span),
      grants: { kind: 'List', span, items: [argument(recordFields(alias.grant, span))] },
    })
    return [makeHiddenLet(alias.name, call('__tool_binding', [spec], span), span), aliasLet(alias.name, span)]
  }

  // ---- the rest of the file -----------------------------------------------------------------------------------------------

  /** Copies nodes that contain a grant; all others are shared. */
  private rewrite(node: unknown, scopes: Scopes, within: string | null): unknown {
    if (Array.isArray(node)) {
      const items = node.map((item: unknown) => this.rewrite(item, scopes, within))
      return items.some((item, at) => item !== node[at]) ? items : node
    }
    if (typeof node !== 'object' || node === null) return node
    const { kind } = node as { readonly kind?: unknown }
    if (kind === 'Call') this.checkCall(node as Extract<Expr, { kind: 'Call' }>, scopes)
    if (kind === 'FnDecl' || kind === 'ToolDecl' || kind === 'PipelineDecl') return this.declaration(node as FunctionDecl, scopes)
    if (kind === 'Closure') {
      const closure = node as Extract<Expr, { kind: 'Closure' }>
      return this.copyNode(closure, 'body', this.block(closure.body, scopes, within, true, []), scopes, within)
    }
    if (kind === 'Block') return this.block(node as Block, scopes, within, false, [])
    return this.copyNode(node as object, null, null, scopes, within)
  }

  private copyNode<T extends object>(node: T, done: string | null, made: unknown, scopes: Scopes, within: string | null): T {
    const changes: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (typeof value !== 'object' || value === null || /span$/i.test(key)) continue
      const rewritten = key === done ? made : this.rewrite(value, scopes, within)
      if (rewritten !== value) changes[key] = rewritten
    }
    return Object.keys(changes).length === 0 ? node : copyWith(node, changes as Partial<T>)
  }

  private declaration(decl: FunctionDecl, scopes: Scopes): FunctionDecl {
    const start: Stmt[] = []
    let records: GrantRecords = {}
    for (const attribute of decl.attributes) records = this.attribute(records, attribute, decl)
    if (Object.keys(records).length > 0) {
      for (const [tool, grant] of Object.entries(records))
        this.scoped.push({ tool, within: decl.name.text, grant, span: decl.span })
      if (isGenerator(decl)) this.report('G008', decl.span, { what: 'a grant for a generator' })
      else start.push(...pushRecords(records, decl.span))
    }
    return this.copyNode(
      decl,
      'body',
      this.block(decl.body, scopes, decl.name.text, !isGenerator(decl), start),
      scopes,
      decl.name.text,
    )
  }

  /** `@grant("Fetch", key: value …)` and `@budget(effect: http, max_calls: 3)`. (`tool` is a keyword, not a name.) */
  private attribute(records: GrantRecords, attribute: Attribute, decl: Declaration): GrantRecords {
    const subject = attribute.name.text === 'grant' ? 'tool' : attribute.name.text === 'budget' ? 'effect' : null
    if (subject === null) return records
    const target = attribute.args.find((arg) => arg.name === null || arg.name.text === subject)?.value
    if (typeof target !== 'string') {
      this.report('G003', attribute.span, {
        alias: decl.name.text,
        key: attribute.name.text,
        problem: 'needs a first argument that says what it is about',
      })
      return records
    }
    const entries = attribute.args.flatMap((arg) =>
      arg.name === null || arg.name.text === subject
        ? []
        : [{ key: budgetKey(attribute.name.text, arg.name), value: arg.value, valueSpan: attribute.span }],
    )
    return { ...records, [target]: this.constrain(records[target] ?? {}, target, entries) }
  }

  /** `whole`: the block is the body of a function, so that a `defer` in it ends with the function. */
  private block(block: Block, scopes: Scopes, within: string | null, whole: boolean, before: readonly Stmt[]): Block {
    const own = new Map<string, GrantRecord>()
    let ids: GrantRecords = {}
    for (const item of block.body) {
      if (item.kind === 'UseTool') this.report('G008', item.span, { what: '`use tool` inside a block' })
      if (item.kind === 'BindEffect') this.report('G008', item.span, { what: '`bind effect` inside a block' })
      if (item.kind !== 'Grant') continue
      if (this.isToolKey(item.alias)) {
        if (whole) ids = this.add(ids, item)
        else this.report('G008', item.span, { what: `a grant of the tool id '${item.alias.text}' inside a nested block` })
      } else if (this.findAlias(item.alias) !== null) {
        own.set(item.alias.text, this.constrain(own.get(item.alias.text) ?? {}, item.alias.text, item.entries))
      }
    }
    const inner = new Map(scopes)
    const start: Stmt[] = [...before]
    if (Object.keys(ids).length > 0) {
      for (const [tool, grant] of Object.entries(ids)) this.scoped.push({ tool, within, grant, span: block.span })
      start.push(...pushRecords(ids, block.span))
    }
    for (const [name, grant] of own) {
      const outer = scopes.get(name) ?? []
      const stmt = block.body.find((item) => item.kind === 'Grant' && item.alias.text === name)!
      for (const each of outer) {
        const key = findEmptiedKey(each, grant, this.rules)
        if (key !== null) this.report('G005', stmt.span, { alias: name, key })
      }
      inner.set(name, [...outer, grant])
      const { name: declared } = this.aliases.get(name)!
      const { span } = stmt
      const narrowed = call('__tool_narrowed', [variable(hideAlias(declared.text), span), recordFields(grant, span)], span)
      start.push(makeHiddenLet(declared, narrowed, span), aliasLet(declared, span))
    }
    const body = block.body.flatMap((item): readonly Stmt[] =>
      isGrantStmt(item) ? [] : [this.rewrite(item, inner, within) as Stmt],
    )
    const changed = start.length > 0 || body.length !== block.body.length || body.some((item, at) => item !== block.body[at])
    return changed ? copyWith(block, { body: [...start, ...body] }) : block
  }

  // ---- calls -------------------------------------------------------------------------------------------------------------

  /** Judges the literal arguments of a call of an alias; computed arguments are judged at run time. */
  private checkCall(node: Extract<Expr, { kind: 'Call' }>, scopes: Scopes): void {
    const alias = this.aliases.get(node.callee.text)
    const [first] = node.args
    if (alias === undefined) this.checkNames(node)
    if (alias === undefined || alias.server || first === undefined || first.spread) return
    const args: Record<string, unknown> = {}
    const places = new Map<string, Span>()
    const give = (name: string, value: Expr): void => {
      args[name] = readConstant(value)
      places.set(name, value.span)
    }
    if (first.value.kind === 'Dict') {
      for (const entry of first.value.entries) {
        if (entry.kind !== 'named') return
        give(entry.key.text, entry.value)
      }
    } else {
      const parameter = FIRST_PARAMETER.get(alias.tool.split('.', 1)[0]!)
      if (parameter === undefined || node.args.length > 1) return
      give(parameter, first.value)
    }
    const known = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))
    // A constraint of the host may read any argument, so it is checked only if all arguments are literals.
    const isWhole = Object.keys(known).length === Object.keys(args).length
    for (const grant of scopes.get(alias.name.text) ?? []) {
      const judged = Object.fromEntries(
        Object.entries(grant).filter(([key]) => (this.rules.has(key) ? isWhole : isJudged(key, known))),
      )
      const at = { tool: alias.tool, alias: alias.name.text }
      const violation = checkGrant(judged, known, { knows: () => true, base: '/' }, { rules: this.rules, call: at })
      if (violation === null) continue
      const place = places.get(violation.constraint) ?? places.get('url') ?? places.get('path') ?? node.span
      this.report('G006', place, { alias: alias.name.text, reason: violation.reason })
      return
    }
  }

  /** With `as *` the parser does not know which names are tools, so it allows named arguments in every call. */
  private checkNames({ callee, args }: Extract<Expr, { kind: 'Call' }>): void {
    const last = args.at(-1)
    if (this.hasModules || last === undefined || last.spread || last.value.kind !== 'Dict') return
    if (this.text[last.span.start] !== '{') this.report('G013', last.span, { name: callee.text })
  }

  private report<C extends GrantCode>(code: C, span: Span, args: RowArgs<(typeof GRANT_CATALOG)[C]>): void {
    this.found.push(report(GRANT_CATALOG, code, span, args))
  }
}

type GrantRecords = { readonly [tool: string]: GrantRecord }
type FunctionDecl = Extract<Declaration, { kind: 'FnDecl' | 'ToolDecl' | 'PipelineDecl' }>
type UseTool = Extract<GrantStmt, { kind: 'UseTool' }>
type Constraint = Pick<GrantEntry, 'key' | 'valueSpan'> & { readonly value: WrittenValue | AttributeValue }

function isGrantStmt(item: Stmt): item is GrantStmt {
  return item.kind === 'UseTool' || item.kind === 'Grant' || item.kind === 'BindEffect'
}

function isGenerator(decl: FunctionDecl): boolean {
  if (decl.kind !== 'FnDecl') return false
  let found = decl.isStream
  walk(decl.body, {
    enter: (node) => {
      if (node.kind === 'Yield') found = true
      return node.kind !== 'Closure' && node.kind !== 'FnDecl'
    },
  })
  return found
}

/** Only relative paths and present arguments can be judged statically; a missing one may come from a pin or a default. */
function isJudged(key: string, known: Readonly<Record<string, unknown>>): boolean {
  if (key === 'domain') return typeof known['url'] === 'string'
  if (key === 'path' || key === 'paths') return false
  return Object.hasOwn(known, key)
}

function readEffects(alias: Alias): readonly string[] | null {
  if (alias.effects.length > 0) return alias.effects
  const named = [alias.grant['effect'], alias.grant['effects']].flatMap((value) => (value === undefined ? [] : [value].flat()))
  const roots = named.flatMap((text) => String(text).split(',')).map((text) => text.trim().split('.')[0]!.toLowerCase())
  return roots.length === 0 ? null : [...new Set(roots)]
}

/** Null for values that no constraint can have: nil and nested lists. */
function toPlain(value: WrittenValue | AttributeValue): GrantValue | null {
  const scalar = (item: WrittenValue | AttributeValue): GrantScalar | null => {
    if (item === null || Array.isArray(item)) return null
    return typeof item === 'object' ? ((item as { readonly float: number }).float ?? null) : item
  }
  if (!Array.isArray(value)) return scalar(value)
  const items = (value as readonly (WrittenValue | AttributeValue)[]).map(scalar)
  return items.some((item) => item === null) ? null : (items as GrantScalar[])
}

/** The parameter of a single positional argument, by family, if all tools of the family agree. */
const FIRST_PARAMETER: ReadonlyMap<string, string> = new Map([
  ['http', 'url'],
  ['env', 'name'],
])

function readConstant(value: Expr): unknown {
  switch (value.kind) {
    case 'String':
    case 'Int':
    case 'Float':
    case 'Bool':
      return value.value
    default:
      return undefined
  }
}

const formatText = (value: GrantValue): string => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))

// ---- nodes -----------------------------------------------------------------------------------------------------------------

const hideAlias = (alias: string): string => `__alias_${alias}`

const variable = (name: string, span: Span): Expr => ({ kind: 'Identifier', span, name })

const statement = (value: Expr): Stmt => ({ kind: 'ExprStmt', span: value.span, value })

const argument = (value: Expr): { readonly spread: false; readonly value: Expr; readonly span: Span } => ({
  spread: false,
  value,
  span: value.span,
})

function call(name: string, args: readonly Expr[], span: Span): Expr {
  return { kind: 'Call', span, callee: { text: name, span }, typeArgs: [], args: args.map(argument) }
}

function letStmt(name: string, value: Expr, span: Span): Stmt {
  return {
    kind: 'Let',
    span,
    mutable: false,
    binding: { kind: 'NameBinding', span, name: { text: name, span }, type: null },
    value,
  }
}

const makeHiddenLet = (alias: Name, value: Expr, span: Span): Stmt => letStmt(hideAlias(alias.text), value, span)

const aliasLet = (alias: Name, span: Span): Stmt =>
  letStmt(alias.text, call('__tool_alias', [variable(hideAlias(alias.text), span)], span), span)

function pushRecords(records: GrantRecords, span: Span): readonly Stmt[] {
  const pop: Block = { kind: 'Block', span, body: [statement(call('__grants_pop!', [], span))] }
  return [statement(call('__grants_push!', [makeRecord(records, span)], span)), { kind: 'Defer', span, body: pop }]
}

function literal(value: GrantScalar | null, span: Span): Expr {
  if (value === null) return { kind: 'Nil', span }
  switch (typeof value) {
    case 'string':
      return { kind: 'String', span, value, quote: 'double' }
    case 'boolean':
      return { kind: 'Bool', span, value }
    case 'bigint':
      return { kind: 'Int', span, value }
    case 'number':
      return Number.isSafeInteger(value) ? { kind: 'Int', span, value } : { kind: 'Float', span, value }
  }
}

function list(items: readonly GrantScalar[], span: Span): Expr {
  return { kind: 'List', span, items: items.map((item) => argument(literal(item, span))) }
}

function dict(span: Span, fields: Readonly<Record<string, Expr>>): Expr {
  return {
    kind: 'Dict',
    span,
    entries: Object.entries(fields).map(([key, value]) => ({
      kind: 'named',
      span,
      key: { text: key, span },
      quoted: true,
      value,
    })),
  }
}

function recordFields(grant: GrantRecord, span: Span): Expr {
  const fields = Object.entries(grant).map(
    ([key, value]) =>
      [key, Array.isArray(value) ? list(value as readonly GrantScalar[], span) : literal(value as GrantScalar, span)] as const,
  )
  return dict(span, Object.fromEntries(fields))
}

function makeRecord(records: GrantRecords, span: Span): Expr {
  return dict(span, Object.fromEntries(Object.entries(records).map(([tool, grant]) => [tool, recordFields(grant, span)])))
}
