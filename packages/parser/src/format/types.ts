// Types → source, also for messages: `[T]` is printed as `list<T>`.

import type { ShapeField, TypeExpr, TypeParam } from '../ast.js'
import { escape, plainDecimal } from '../literals.js'

export function printType(type: TypeExpr): string {
  switch (type.kind) {
    case 'NamedType':
      return type.args.length === 0 ? type.name.text : `${type.name.text}<${type.args.map(printType).join(', ')}>`
    case 'ShapeType':
      return `{${type.fields.map(printShapeField).join(', ')}}`
    case 'ListType':
      return `list<${printType(type.element)}>`
    case 'FnType':
      return `fn(${type.params.map(printType).join(', ')}) -> ${printType(type.returns)}`
    case 'UnionType':
      return type.members.map(printType).join(' | ')
    case 'LiteralType':
      if (typeof type.value === 'string') return `"${escape(type.value)}"`
      return typeof type.value === 'number' ? plainDecimal(type.value) : String(type.value)
    case 'NilType':
      return 'nil'
  }
}

function printShapeField(field: ShapeField): string {
  return `${field.name.text}${field.optional ? '?' : ''}: ${printType(field.type)}`
}

export function printTypeParams(params: readonly TypeParam[]): string {
  if (params.length === 0) return ''
  return `<${params.map((param) => `${param.variance === null ? '' : `${param.variance} `}${param.name.text}`).join(', ')}>`
}

/** ` -> T`, or ''. */
export function printReturns(type: TypeExpr | null): string {
  return type === null ? '' : ` -> ${printType(type)}`
}

/** `: T`, or ''. */
export function printAnnotation(type: TypeExpr | null): string {
  return type === null ? '' : `: ${printType(type)}`
}
