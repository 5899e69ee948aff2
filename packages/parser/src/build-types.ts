// Parse nodes of type expressions → TypeExpr.

import type { TypeExpr, TypeParam } from './ast.js'
import { type BuildContext, children, nameAt, nodeSpan, optional, stringAt, textAt, unitAt } from './build-context.js'
import type { ParseNode } from './parse-tree.js'
import { readInt } from './literals.js'
import { TOKEN } from './tokens.js'

/** Node of rule `type`. */
export function buildType(context: BuildContext, node: ParseNode): TypeExpr {
  const first = buildPrimary(context, node.child(1))
  const more = children(node.child(2))
  if (more.length === 0) return first
  const members = [first, ...more.map((member) => buildPrimary(context, member.child(2)))]
  return { kind: 'UnionType', span: { start: first.span.start, end: members.at(-1)!.span.end }, members }
}

/** Node of rule `typeAnnotation` or `returnType`: a mark and a type. */
export function buildAnnotation(context: BuildContext, node: ParseNode): TypeExpr {
  return buildType(context, node.child(1))
}

/** Option of `typeArgs`. */
export function buildTypeArgs(context: BuildContext, iteration: ParseNode): readonly TypeExpr[] {
  const args = optional(iteration, (node) => [
    buildType(context, node.child(1)),
    ...children(node.child(3)).map((more) => buildType(context, more.child(2))),
  ])
  return args ?? []
}

/** Option of `typeParams`. */
export function buildTypeParams(context: BuildContext, iteration: ParseNode): readonly TypeParam[] {
  const params = optional(iteration, (node) =>
    children(node.child(1)).map((param): TypeParam => {
      const variance = optional(param.child(1), (mark) =>
        unitAt(context, mark.start) === TOKEN.in ? ('in' as const) : ('out' as const),
      )
      return { name: nameAt(context, param.child(3).start), variance }
    }),
  )
  return params ?? []
}

function buildPrimary(context: BuildContext, wrapper: ParseNode): TypeExpr {
  const node = wrapper.child(0)
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'namedType':
      return { kind: 'NamedType', span, name: nameAt(context, node.start), args: buildTypeArgs(context, node.child(1)) }
    case 'shapeType':
      return {
        kind: 'ShapeType',
        span,
        fields: children(node.child(2)).map((field) => ({
          name: nameAt(context, field.start),
          optional: field.child(1).count > 0,
          type: buildType(context, field.child(4)),
        })),
      }
    case 'listType':
      return { kind: 'ListType', span, element: buildType(context, node.child(1)) }
    case 'fnType':
      return {
        kind: 'FnType',
        span,
        params: children(node.child(4)).map((param) => buildType(context, param.child(0))),
        returns: buildType(context, node.child(8)),
      }
    case 'negativeInt':
      return { kind: 'LiteralType', span, value: negate(intValue(textAt(context, node.start + 1))) }
    default:
      return buildLiteralType(context, node.start, span)
  }
}

function buildLiteralType(context: BuildContext, token: number, span: TypeExpr['span']): TypeExpr {
  switch (unitAt(context, token)) {
    case TOKEN.nil:
      return { kind: 'NilType', span }
    case TOKEN.true:
      return { kind: 'LiteralType', span, value: true }
    case TOKEN.false:
      return { kind: 'LiteralType', span, value: false }
    case TOKEN['<int>']:
      return { kind: 'LiteralType', span, value: intValue(textAt(context, token)) }
    default:
      return { kind: 'LiteralType', span, value: stringAt(context, token) }
  }
}

function intValue(digits: string): number | bigint {
  const value = readInt(digits)
  // No int is that large, except the smallest one with its sign. The literal type stays exact and matches no value.
  return typeof value === 'object' ? BigInt(digits) : value
}

function negate(value: number | bigint): number | bigint {
  return value === 0 ? 0 : -value
}
