// The interface of a module for the checker of an importing file: names, and declarations of types. Of functions only the name
// counts, since the language does not check calls of imported functions; their signatures are here for editors. The caller owns
// the module graph: it resolves paths, and passes the interfaces of re-exported modules to `readInterface`.

import type { Declaration, Program, Stmt } from '@bridle/parser'
import { type FnSignature, methodTable, readSignature, type TypeDeclaration } from './declarations.js'
import type { MethodTable } from './scope.js'
import { nodesWithin } from './walk.js'

export interface ImportedInterface {
  /** Names that a wildcard import declares. */
  readonly exports: ReadonlySet<string>
  /** Names that the checker accepts in a selective import: exports and all declarations of the module. */
  readonly declared: ReadonlySet<string>
  readonly functions: ReadonlyMap<string, FnSignature>
  /** Types of the module by name, exported or not. */
  readonly types: ReadonlyMap<string, TypeDeclaration>
  /** Method tables of the module's own types. */
  readonly methods: ReadonlyMap<string, MethodTable>
}

/** Interface of a path that a file imports; null when the path cannot be resolved or its module does not parse. */
export type Imports = (path: string) => ImportedInterface | null

export function readInterface(program: Program, imports: Imports = () => null): ImportedInterface {
  const exports = listExportedNames(program, imports)
  const declared = new Set([...exports, ...listDeclaredNames(program)])
  const functions = new Map<string, FnSignature>()
  const types = new Map<string, TypeDeclaration>()
  const methods = new Map<string, MethodTable>()
  for (const item of program.items) {
    if (item.kind === 'FnDecl') functions.set(item.name.text, readSignature(item))
    else if (item.kind === 'ImplDecl') methods.set(item.name.text, methodTable(item))
    else if (isTypeDeclaration(item)) types.set(item.name.text, item)
    else if (item.kind === 'ImportDecl' && item.isPublic) addReexports(item, imports, { functions, types, methods })
  }
  return { exports, declared, functions, types, methods }
}

/** An interface that consists of plain functions, such as those of a host. */
export function functionInterface(names: Iterable<string>): ImportedInterface {
  const exports = new Set(names)
  return { exports, declared: exports, functions: new Map(), types: new Map(), methods: new Map() }
}

type ImportDecl = Extract<Declaration, { kind: 'ImportDecl' }>

function listExportedNames(program: Program, imports: Imports): Set<string> {
  const names = new Set<string>()
  const publicFn = program.items.some((item) => item.kind === 'FnDecl' && item.isPublic)
  for (const item of program.items) {
    switch (item.kind) {
      case 'FnDecl':
        if (item.isPublic || !publicFn) names.add(item.name.text)
        break
      case 'PipelineDecl':
      case 'ToolDecl':
      case 'SkillDecl':
      case 'EvalPackDecl':
      case 'StructDecl':
      case 'EnumDecl':
        if (item.isPublic) names.add(item.name.text)
        break
      case 'TypeDecl':
      case 'InterfaceDecl':
        names.add(item.name.text)
        break
      case 'ImportDecl':
        if (item.isPublic) for (const name of listImported(item, imports)) names.add(name)
        break
      default:
        break
    }
  }
  return names
}

/** Names that an import declares in its file. A selective import of a missing name declares nothing. */
export function listImported(decl: ImportDecl, imports: Imports): readonly string[] {
  const source = imports(decl.path)
  if (source === null) return []
  if (decl.names === null) return [...source.exports]
  return decl.names.map((name) => name.text).filter((name) => source.declared.has(name))
}

interface Reexported {
  readonly functions: Map<string, FnSignature>
  readonly types: Map<string, TypeDeclaration>
  readonly methods: Map<string, MethodTable>
}

function addReexports(decl: ImportDecl, imports: Imports, into: Reexported): void {
  const source = imports(decl.path)
  if (source === null) return
  for (const name of listImported(decl, imports)) {
    const fn = source.functions.get(name)
    if (fn !== undefined) into.functions.set(name, fn)
    const type = source.types.get(name)
    if (type === undefined) continue
    into.types.set(name, type)
    into.methods.set(name, source.methods.get(name) ?? null)
  }
}

export function isTypeDeclaration(stmt: Stmt): stmt is TypeDeclaration {
  return stmt.kind === 'TypeDecl' || stmt.kind === 'EnumDecl' || stmt.kind === 'StructDecl' || stmt.kind === 'InterfaceDecl'
}

/** Every name that the source declares, including parameters and locals. */
function listDeclaredNames(program: Program): Set<string> {
  const names = new Set<string>()
  for (const node of nodesWithin(program, () => true)) {
    for (const name of namesDeclaredBy(node)) names.add(name)
  }
  return names
}

interface Named {
  readonly text: string
}

/** Declarations, bindings and parameters all carry what they bind under these keys. */
function namesDeclaredBy(node: object): readonly string[] {
  const names: string[] = []
  if ('kind' in node && (node.kind === 'Call' || node.kind === 'StructLiteral' || node.kind === 'NamedType')) return names
  if ('name' in node && isName(node.name)) names.push(node.name.text)
  if ('params' in node && Array.isArray(node.params)) {
    for (const param of node.params as readonly unknown[]) {
      if (isName(param)) names.push(param.text)
      else if (typeof param === 'object' && param !== null && 'name' in param && isName(param.name)) names.push(param.name.text)
    }
  }
  return names
}

function isName(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string'
}
