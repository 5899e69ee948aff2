// Declarations → the checker's records of them: signatures, aliases, structs, enums, interfaces, method tables.
// Registering reports nothing; check-declarations.ts checks the declarations themselves.

import { forEachChild } from '@bridle/parser'
import type {
  Block,
  Declaration,
  EnumDecl,
  FnDecl,
  ImplDecl,
  InterfaceDecl,
  Node,
  Param,
  StructDecl,
  ToolDecl,
  TypeParam,
} from '@bridle/parser'
import type { EnumInfo, InterfaceInfo, Scope, StructInfo, Variance } from './scope.js'
import type { ToolType } from './tools/declaration.js'
import { ANY, type Known, nominal, type Type, readType, typeOrNull } from './type.js'

export interface ParamInfo {
  readonly name: string
  readonly type: Known
  readonly optional: boolean
  readonly rest: boolean
}

export interface FnSignature {
  readonly params: readonly ParamInfo[]
  readonly required: number
  readonly hasRest: boolean
  /** Effective return type; null when nothing is declared. */
  readonly returns: Known
  readonly typeParams: readonly string[]
  readonly bounds: readonly { readonly param: string; readonly bound: string }[]
  /** Called like a function, but as a value it is a registry of tools. */
  readonly isTool?: boolean
  /** A function of the host that calls this tool. */
  readonly tool?: ToolType
}

export type TypeDeclaration = Extract<Declaration, { kind: 'TypeDecl' | 'EnumDecl' | 'StructDecl' | 'InterfaceDecl' }>

/** Placeholder for a tool or a pipeline: callable without arguments, result unknown. */
export const PLACEHOLDER: FnSignature = { params: [], required: 0, hasRest: false, returns: null, typeParams: [], bounds: [] }

export function readSignature(decl: FnDecl): FnSignature {
  return {
    ...signature(decl.params, decl.typeParams, effectiveReturn(decl)),
    bounds: decl.where.map((clause) => ({ param: clause.param.text, bound: clause.bound.text })),
  }
}

/** A tool that is declared in a block; one of the file is a PLACEHOLDER. */
export function toolSignature(decl: ToolDecl): FnSignature {
  return { ...signature(decl.params, [], typeOrNull(decl.returns)), isTool: true }
}

function signature(params: readonly Param[], typeParams: readonly TypeParam[], returns: Known): FnSignature {
  return {
    params: params.map((param) => ({
      name: param.name.text,
      type: typeOrNull(param.type),
      optional: param.defaultValue !== null,
      rest: param.rest,
    })),
    required: params.filter((param) => param.defaultValue === null && !param.rest).length,
    hasRest: params.some((param) => param.rest),
    returns,
    typeParams: typeParams.map((param) => param.name.text),
    bounds: [],
  }
}

/** The written return type; without one `Stream<any>` for a `gen fn` and `Generator<any>` for a body that yields. */
export function effectiveReturn(decl: FnDecl): Known {
  if (decl.returns !== null) return readType(decl.returns)
  if (decl.isStream) return { kind: 'stream', element: ANY }
  return yields(decl.body) ? { kind: 'generator', element: ANY } : null
}

const OWN_BODY = new Set(['FnDecl', 'ToolDecl', 'PipelineDecl', 'ImplDecl', 'OverrideDecl', 'Closure', 'Interpolation'])

function yields(body: Block): boolean {
  let found = false
  const visit = (node: Node): void => {
    if (node.kind === 'Yield') found = true
    else if (!found && !OWN_BODY.has(node.kind)) forEachChild(node, visit)
  }
  visit(body)
  return found
}

/** Registers a type-like declaration or an impl block; false for anything else. */
export function registerType(scope: Scope, decl: Declaration): boolean {
  switch (decl.kind) {
    case 'TypeDecl':
      scope.declareAlias(decl.name.text, { params: decl.typeParams.map((param) => param.name.text), body: readType(decl.type) })
      return true
    case 'EnumDecl':
      scope.declareEnum(decl.name.text, enumInfo(decl))
      return true
    case 'StructDecl':
      scope.declareStruct(decl.name.text, structInfo(decl))
      return true
    case 'InterfaceDecl':
      scope.declareInterface(decl.name.text, interfaceInfo(decl))
      return true
    case 'ImplDecl':
      scope.declareMethods(decl.name.text, methodTable(decl))
      return true
    default:
      return false
  }
}

export function methodTable(decl: ImplDecl): ReadonlyMap<string, FnSignature> {
  return new Map(decl.methods.map((method) => [method.name.text, readSignature(method)]))
}

function enumInfo(decl: EnumDecl): EnumInfo {
  return { decl, params: decl.typeParams.map((param) => param.name.text), variance: variances(decl.typeParams) }
}

function structInfo(decl: StructDecl): StructInfo {
  return {
    params: decl.typeParams.map((param) => param.name.text),
    variance: variances(decl.typeParams),
    fields: decl.fields.map((field) => ({ name: field.name.text, optional: field.optional, type: typeOrNull(field.type) })),
  }
}

function interfaceInfo(decl: InterfaceDecl): InterfaceInfo {
  return {
    decl,
    params: decl.typeParams.map((param) => param.name.text),
    variance: variances(decl.typeParams),
    assocTypes: decl.assocTypes.map((assoc) => ({ name: assoc.name.text, type: typeOrNull(assoc.type) })),
    methods: new Map(
      decl.methods.map((method) => {
        return [method.name.text, signature(method.params, method.typeParams, typeOrNull(method.returns))]
      }),
    ),
  }
}

function variances(params: readonly TypeParam[]): readonly Variance[] {
  return params.map((param) => param.variance)
}

/** Type of a value of a declared enum or struct whose type arguments are unknown. */
export function makeNominal(name: string, info: { readonly params: readonly string[] }): Type {
  return nominal(name, info.params.length)
}

const NOWHERE = { start: 0, end: 0 }

function name(text: string): { readonly text: string; readonly span: typeof NOWHERE } {
  return { text, span: NOWHERE }
}

function payload(field: string, param: string): Param {
  const type = { kind: 'NamedType', span: NOWHERE, name: name(param), args: [] } as const
  return { name: name(field), type, defaultValue: null, rest: false, span: NOWHERE }
}

/** The predefined enum: `enum Result<out T, out E> { Ok(value: T), Err(error: E) }`. */
export const RESULT: EnumDecl = {
  kind: 'EnumDecl',
  span: NOWHERE,
  name: name('Result'),
  isPublic: false,
  attributes: [],
  doc: null,
  typeParams: [
    { name: name('T'), variance: 'out' },
    { name: name('E'), variance: 'out' },
  ],
  variants: [
    { name: name('Ok'), params: [payload('value', 'T')] },
    { name: name('Err'), params: [payload('error', 'E')] },
  ],
}
