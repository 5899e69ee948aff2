// Checks that type parameters marked `in` or `out` are used that way. Declarations without a marker are skipped.
// Types are walked with the polarity of their position; a writable container makes it invariant.

import type { Declaration, EnumDecl, FnDecl, InterfaceDecl, StructDecl, TypeParam } from '@bridle/parser'
import type { CheckContext } from './context.js'
import { readVariance } from './relate.js'
import type { Scope, Variance } from './scope.js'
import { type Type, readType, typeOrNull } from './type.js'

type Polarity = 'covariant' | 'contravariant' | 'invariant'
type TypeDecl = Extract<Declaration, { kind: 'TypeDecl' }>
type Variant = FnDecl | TypeDecl | EnumDecl | StructDecl | InterfaceDecl

const OWNERS: Readonly<Record<Variant['kind'], string>> = {
  FnDecl: 'function',
  TypeDecl: 'type alias',
  EnumDecl: 'enum',
  StructDecl: 'struct',
  InterfaceDecl: 'interface',
}

export function checkVariance(decl: Variant, scope: Scope, context: CheckContext): void {
  const markers = readMarkers(decl.typeParams)
  if (markers.size === 0) return
  for (const { type, polarity } of positions(decl)) {
    walk(type, polarity, scope, (param, position) => {
      const marker = markers.get(param) ?? null
      if (marker === null || position === (marker === 'out' ? 'covariant' : 'contravariant')) return
      context.report('T043', decl.span, { param, marker, position, owner: OWNERS[decl.kind], name: decl.name.text })
    })
  }
}

function readMarkers(params: readonly TypeParam[]): ReadonlyMap<string, Variance> {
  return new Map(params.flatMap((param) => (param.variance === null ? [] : [[param.name.text, param.variance] as const])))
}

interface Position {
  readonly type: Type
  readonly polarity: Polarity
}

function positions(decl: Variant): readonly Position[] {
  switch (decl.kind) {
    case 'TypeDecl':
      return [{ type: readType(decl.type), polarity: 'covariant' }]
    case 'EnumDecl':
      return decl.variants.flatMap((variant) =>
        at(
          variant.params.map((param) => typeOrNull(param.type)),
          'covariant',
        ),
      )
    case 'StructDecl':
      return at(
        decl.fields.map((field) => typeOrNull(field.type)),
        'invariant',
      )
    case 'FnDecl':
      return signature(decl)
    case 'InterfaceDecl':
      return decl.methods.flatMap(signature)
  }
}

function signature(fn: Pick<FnDecl, 'params' | 'returns'>): readonly Position[] {
  return [
    ...at(
      fn.params.map((param) => typeOrNull(param.type)),
      'contravariant',
    ),
    ...at([typeOrNull(fn.returns)], 'covariant'),
  ]
}

function at(types: readonly (Type | null)[], polarity: Polarity): readonly Position[] {
  return types.flatMap((type) => (type === null ? [] : [{ type, polarity }]))
}

function walk(type: Type, polarity: Polarity, scope: Scope, found: (name: string, polarity: Polarity) => void): void {
  switch (type.kind) {
    case 'named':
      found(type.name, polarity)
      return
    case 'never':
    case 'string-literal':
    case 'int-literal':
      return
    case 'list':
      walk(type.element, 'invariant', scope, found)
      return
    case 'dict':
      walk(type.key, 'invariant', scope, found)
      walk(type.value, 'invariant', scope, found)
      return
    case 'iter':
    case 'generator':
    case 'stream':
      walk(type.element, polarity, scope, found)
      return
    case 'shape':
      for (const field of type.fields) walk(field.type, polarity, scope, found)
      return
    case 'union':
      for (const member of type.members) walk(member, polarity, scope, found)
      return
    case 'fn':
      for (const param of type.params) walk(param, flip(polarity), scope, found)
      walk(type.returns, polarity, scope, found)
      return
    case 'applied': {
      const declared = readVariance(type.name, scope)
      for (const [index, arg] of type.args.entries()) walk(arg, compose(polarity, declared?.[index] ?? null), scope, found)
    }
  }
}

function flip(polarity: Polarity): Polarity {
  if (polarity === 'invariant') return polarity
  return polarity === 'covariant' ? 'contravariant' : 'covariant'
}

function compose(polarity: Polarity, declared: Variance): Polarity {
  if (declared === null) return 'invariant'
  return declared === 'out' ? polarity : flip(polarity)
}
