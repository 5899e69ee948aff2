// The meaning of the names of a file, from its source alone: where each is bound and to what kind of value, what the
// file declares, and which members its own values have. It uses no types; what it does not know it leaves to the checker.

import { type Expr, findNameHabit, type Program, type Span, type Stmt, walk } from '@bridle/parser'
import { rememberItems } from '../items.js'
import type { ImportedInterface } from '../types/module-interface.js'

/** The kind of value that a name was bound to; null when the source does not show it. */
export type ValueKind = 'list' | 'dict' | 'string' | 'number' | 'bool' | 'set' | { readonly struct: string } | null

export interface Bound {
  readonly mutable: boolean
  /** Position of the `let` of a single name; absent for other bindings. */
  readonly declaredAt?: Span
  readonly kind: ValueKind
}

export interface FileNames {
  /** Everything that the file declares or binds anywhere, and what it imports by name. */
  readonly declared: ReadonlySet<string>
  readonly functions: ReadonlyMap<string, Extract<Stmt, { kind: 'FnDecl' }>>
  readonly structs: ReadonlyMap<string, Extract<Stmt, { kind: 'StructDecl' }>>
  readonly tools: ReadonlyMap<string, Extract<Stmt, { kind: 'ToolDecl' }>>
  /** Functions that are methods, and those that several things of the file have the name of. */
  readonly methods: ReadonlySet<string>
  readonly repeated: ReadonlySet<string>
  readonly enums: ReadonlySet<string>
  /** Members that values of the file's own making may have: methods of `impl`, fields, keys. */
  readonly ownMembers: ReadonlySet<string>
  /** Whether something is imported: its values may have any members. */
  readonly hasImports: boolean
  /** False when an import could not be resolved, so that it may declare any name. */
  readonly knowsImports: boolean
  /** Functions and methods whose results are used somewhere. */
  readonly used: ReadonlySet<string>
}

/** What one item says of it. */
interface ItemNames extends Pick<
  FileNames,
  'declared' | 'functions' | 'structs' | 'tools' | 'ownMembers' | 'methods' | 'repeated' | 'enums'
> {
  /** Paths of imports. */
  readonly imported: readonly string[]
  /** How often a name is called, and how often the result is unused. */
  readonly called: ReadonlyMap<string, number>
  readonly ignored: ReadonlyMap<string, number>
}

export function readNames(program: Program, imports: (path: string) => ImportedInterface | null): FileNames {
  const declared = new Set<string>()
  const functions = new Map<string, Extract<Stmt, { kind: 'FnDecl' }>>()
  const structs = new Map<string, Extract<Stmt, { kind: 'StructDecl' }>>()
  const tools = new Map<string, Extract<Stmt, { kind: 'ToolDecl' }>>()
  const ownMembers = new Set<string>()
  const methods = new Set<string>()
  const repeated = new Set<string>()
  const enums = new Set<string>()
  const called = new Map<string, number>()
  const ignored = new Map<string, number>()
  let hasImports = false
  let knowsImports = true
  for (const item of program.items) {
    const own = readItem(item, undefined)
    for (const name of own.declared) declared.add(name)
    for (const name of own.ownMembers) ownMembers.add(name)
    for (const name of own.repeated) repeated.add(name)
    for (const name of own.enums) enums.add(name)
    for (const name of own.methods) methods.add(name)
    for (const [name, decl] of own.functions) {
      if (functions.has(name)) repeated.add(name)
      functions.set(name, decl)
    }
    for (const [name, decl] of own.structs) structs.set(name, decl)
    for (const [name, decl] of own.tools) tools.set(name, decl)
    for (const [name, times] of own.called) called.set(name, (called.get(name) ?? 0) + times)
    for (const [name, times] of own.ignored) ignored.set(name, (ignored.get(name) ?? 0) + times)
    for (const path of own.imported) {
      hasImports = true
      const found = imports(path)
      if (found === null) knowsImports = false
      for (const name of found?.exports ?? []) declared.add(name)
      for (const table of found?.methods.values() ?? []) for (const name of table?.keys() ?? []) ownMembers.add(name)
    }
  }
  const used = new Set([...called].filter(([name, times]) => times > (ignored.get(name) ?? 0)).map(([name]) => name))
  return { declared, functions, structs, tools, methods, repeated, enums, ownMembers, hasImports, knowsImports, used }
}

const readItem = rememberItems((item: Stmt): ItemNames => {
  const declared = new Set<string>()
  const functions = new Map<string, Extract<Stmt, { kind: 'FnDecl' }>>()
  const structs = new Map<string, Extract<Stmt, { kind: 'StructDecl' }>>()
  const tools = new Map<string, Extract<Stmt, { kind: 'ToolDecl' }>>()
  const ownMembers = new Set<string>()
  const methods = new Set<string>()
  const repeated = new Set<string>()
  const enums = new Set<string>()
  const imported: string[] = []
  const called = new Map<string, number>()
  const ignored = new Map<string, number>()
  const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
  const bind = (name: { readonly text: string } | null | undefined): void => {
    if (name !== null && name !== undefined) declared.add(name.text)
  }
  walk(item, {
    enter(node) {
      switch (node.kind) {
        case 'ImportDecl': {
          for (const name of node.names ?? []) declared.add(name.text)
          imported.push(node.path)
          return
        }
        case 'ImplDecl':
          for (const { name } of node.methods) methods.add(name.text)
          return
        case 'FnDecl':
          if (functions.has(node.name.text)) repeated.add(node.name.text)
          functions.set(node.name.text, node)
          declared.add(node.name.text)
          ownMembers.add(node.name.text)
          for (const param of node.params) bind(param.name)
          return
        case 'ToolDecl':
          tools.set(node.name.text, node)
          declared.add(node.name.text)
          for (const param of node.params) bind(param.name)
          return
        case 'PipelineDecl':
        case 'OverrideDecl':
          declared.add(node.name.text)
          for (const param of node.params) bind(param)
          return
        case 'StructDecl':
          structs.set(node.name.text, node)
          declared.add(node.name.text)
          for (const { name } of node.fields) ownMembers.add(name.text)
          return
        case 'SkillDecl':
        case 'EvalPackDecl':
        case 'EnumDecl':
          enums.add(node.name.text)
          declared.add(node.name.text)
          return
        case 'InterfaceDecl':
        case 'TypeDecl':
          declared.add(node.name.text)
          return
        case 'UseTool':
          bind(node.alias)
          return
        case 'Let':
        case 'For': {
          const { binding } = node
          if (binding.kind === 'NameBinding') bind(binding.name)
          else if (binding.kind === 'PairBinding') [binding.first, binding.second].forEach(bind)
          else if (binding.kind === 'DictBinding') {
            for (const { key, alias } of binding.fields) bind(alias ?? key)
            bind(binding.rest)
          } else {
            for (const { name } of binding.items) bind(name)
            bind(binding.rest)
          }
          return
        }
        case 'Closure':
          for (const param of node.params) bind(param.name)
          return
        case 'Try':
          bind(node.handler?.variable)
          return
        case 'Parallel':
          bind(node.variable)
          return
        case 'Select':
          for (const arm of node.arms) if (arm.kind === 'receive') bind(arm.variable)
          return
        case 'Match':
          // Names in patterns bind values.
          for (const { patterns } of node.arms)
            for (const pattern of patterns)
              walk(pattern, {
                enter(part) {
                  // `None` and similar names are not bindings.
                  if (part.kind === 'Identifier' && findNameHabit(part.name) === null) declared.add(part.name)
                },
              })
          return
        case 'Dict':
        case 'StructLiteral':
          for (const entry of node.entries) if (entry.kind === 'named') ownMembers.add(entry.key.text)
          return
        case 'Assign':
          if (node.target.kind === 'Member') ownMembers.add(node.target.property.text)
          return
        case 'Call':
          count(called, node.callee.text)
          return
        case 'MethodCall':
          count(called, node.method.text)
          return
        case 'ExprStmt':
          if (node.value.kind === 'Call') count(ignored, node.value.callee.text)
          else if (node.value.kind === 'MethodCall') count(ignored, node.value.method.text)
          return
        default:
          return
      }
    },
  })
  return { declared, functions, structs, tools, methods, repeated, enums, ownMembers, imported, called, ignored }
})

export type Structs = FileNames['structs']

/** The kind of value that a literal or a call of a well-known constructor makes. */
export function readKind(value: Expr, structs: Structs): ValueKind {
  switch (value.kind) {
    case 'List':
      return 'list'
    case 'Dict':
      return 'dict'
    case 'String':
    case 'Interpolation':
      return 'string'
    case 'Int':
    case 'Float':
      return 'number'
    case 'Bool':
      return 'bool'
    case 'StructLiteral':
      return { struct: value.name.text }
    case 'Call':
      if (structs.has(value.callee.text)) return { struct: value.callee.text }
      return value.callee.text === 'set' ? 'set' : null
    default:
      return null
  }
}
