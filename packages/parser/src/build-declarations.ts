// Parse nodes of declarations → Declaration. Attributes, `pub` and doc comments precede a declaration and are passed in.
//
// Spans: a `pub` declaration starts after the word `pub`, an attributed one at its first `@`, because the language reports them so.

import type {
  Attribute,
  AttributeValue,
  Declaration,
  EvalPackDecl,
  Expr,
  FnDecl,
  ImplDecl,
  InterfaceDecl,
  Name,
  Stmt,
  ToolDecl,
  TypeExpr,
} from './ast.js'
import {
  type BuildContext,
  children,
  nameAt,
  nodeSpan,
  optional,
  listSeparated,
  trimSpan,
  stringAt,
  textAt,
} from './build-context.js'
import { buildExpr, buildLiteral, buildParams } from './build-expressions.js'
import { buildAnnotation, buildType, buildTypeParams } from './build-types.js'
import type { ParseNode } from './parse-tree.js'

/** The parts before a declaration. */
export interface Heading {
  readonly isPublic: boolean
  readonly attributes: readonly Attribute[]
  /** First token of the attributes, or null. */
  readonly attributeStart: number | null
  /** Tokens before which a doc comment belongs to the declaration. */
  readonly docTokens: readonly number[]
}

export const NO_HEADING: Heading = { isPublic: false, attributes: [], attributeStart: null, docTokens: [] }

/** `stmt` builds the statements of an `eval_pack`. */
export function buildDeclaration(
  context: BuildContext,
  node: ParseNode,
  heading: Heading,
  stmt: (node: ParseNode) => Stmt,
): Declaration {
  const base = declBase(context, node, heading)
  switch (node.rule) {
    case 'fnDecl':
      return buildFn(context, node, heading, false)
    case 'genFnDecl':
      return buildFn(context, node, heading, true)
    case 'toolDecl':
      return buildTool(context, node, base)
    case 'skillDecl':
      return { kind: 'SkillDecl', ...base, name: readName(context, node), fields: buildSkillFields(context, node) }
    case 'evalPackDecl':
      return buildEvalPack(context, node, base, stmt)
    case 'pipelineDecl':
      return {
        kind: 'PipelineDecl',
        ...base,
        name: readName(context, node),
        params: buildNames(context, node.child(5)),
        returns: optional(node.child(8), (type) => buildAnnotation(context, type)),
        parent: optional(node.child(9), (parent) => nameAt(context, parent.child(2).start)),
        body: context.block(node.child(10)),
      }
    case 'overrideDecl':
      return {
        kind: 'OverrideDecl',
        ...base,
        name: readName(context, node),
        params: buildNames(context, node.child(5)),
        body: context.block(node.child(8)),
      }
    case 'importDecl':
      return buildImport(context, node.child(0), base)
    case 'typeDecl':
      return {
        kind: 'TypeDecl',
        ...base,
        name: readName(context, node),
        typeParams: buildTypeParams(context, node.child(3)),
        type: buildType(context, node.child(6)),
      }
    case 'enumDecl':
      return {
        kind: 'EnumDecl',
        ...base,
        name: readName(context, node),
        typeParams: buildTypeParams(context, node.child(3)),
        variants: children(node.child(7)).map((variant) => ({
          name: nameAt(context, variant.start),
          params: optional(variant.child(1), (list) => buildParams(context, list.child(1))) ?? [],
        })),
      }
    case 'structDecl':
      return {
        kind: 'StructDecl',
        ...base,
        name: readName(context, node),
        typeParams: buildTypeParams(context, node.child(3)),
        fields: children(node.child(7)).map((field) => ({
          name: nameAt(context, field.start),
          optional: field.child(1).count > 0,
          type: optional(field.child(2), (annotation) => buildAnnotation(context, annotation)),
        })),
      }
    case 'interfaceDecl':
      return buildInterface(context, node, base)
    case 'implDecl':
      return buildImpl(context, node, base)
    default:
      throw new Error(`no declaration is made of the rule ${node.rule}`)
  }
}

/** Node of rule `attribute`. */
export function buildAttribute(context: BuildContext, node: ParseNode): Attribute {
  const args = optional(node.child(3), (list) =>
    optional(list.child(2), (items) => [items.child(0), ...children(items.child(2)).map((more) => more.child(2))]),
  )
  return {
    name: nameAt(context, node.child(2).start),
    args: (args ?? []).map((arg) => {
      const inner = arg.child(0)
      return inner.rule === 'namedAttrArg'
        ? { name: nameAt(context, inner.start), value: buildAttributeValue(context, inner.child(3)) }
        : { name: null, value: buildAttributeValue(context, inner) }
    }),
    span: nodeSpan(context, node),
  }
}

function buildAttributeValue(context: BuildContext, node: ParseNode): AttributeValue {
  const outer = node.child(0)
  const inner = outer.rule === 'attrPlain' ? outer.child(0) : outer
  switch (inner.rule) {
    case 'ident':
      return textAt(context, inner.start)
    case 'attrNumber': {
      const value = literalValue(buildLiteral(context, inner.start + 1, nodeSpan(context, inner)))
      if (typeof value === 'object' && value !== null && 'float' in value) return { float: -value.float }
      return typeof value === 'bigint' ? -value : -(value as number) || 0 // never -0: an int literal has no sign of its own
    }
    case 'attrValueList': {
      const values = optional(inner.child(2), (list) => [list.child(0), ...children(list.child(2)).map((more) => more.child(2))])
      return (values ?? []).map((value) => buildAttributeValue(context, value))
    }
    default:
      return literalValue(buildLiteral(context, inner.start, nodeSpan(context, inner)))
  }
}

function literalValue(literal: Expr): AttributeValue {
  switch (literal.kind) {
    case 'Float':
      return { float: literal.value }
    case 'Int':
    case 'String':
    case 'Bool':
      return literal.value
    default:
      return null
  }
}

type Base = Pick<Declaration, 'span' | 'isPublic' | 'attributes' | 'doc'>

function declBase(context: BuildContext, node: ParseNode, heading: Heading): Base {
  const span = nodeSpan(context, node)
  const start = heading.attributeStart === null ? span.start : trimSpan(context, heading.attributeStart, node.end).start
  const docs = [...heading.docTokens, node.start].flatMap((token) => context.tokens.docs.get(token) ?? [])
  return {
    span: { start, end: span.end },
    isPublic: heading.isPublic,
    attributes: heading.attributes,
    doc: docs.at(-1) ?? null,
  }
}

/** Most declarations are a keyword, an optional line break and the name. */
function readName(context: BuildContext, node: ParseNode): Name {
  return nameAt(context, node.child(2).start)
}

function buildNames(context: BuildContext, node: ParseNode): readonly Name[] {
  return children(node.child(0)).map((item) => nameAt(context, item.child(1).start))
}

function buildFn(context: BuildContext, outer: ParseNode, heading: Heading, isStream: boolean): FnDecl {
  const node = isStream ? outer.child(1) : outer
  const where = optional(node.child(10), (clause) =>
    children(clause.child(1)).map((bound) => ({
      param: nameAt(context, bound.child(1).start),
      bound: nameAt(context, bound.child(5).start),
    })),
  )
  return {
    kind: 'FnDecl',
    ...declBase(context, outer, heading),
    name: readName(context, node),
    isStream,
    typeParams: buildTypeParams(context, node.child(3)),
    params: buildParams(context, node.child(6)),
    returns: optional(node.child(9), (type) => buildAnnotation(context, type)),
    where: where ?? [],
    body: context.block(node.child(11)),
  }
}

function buildTool(context: BuildContext, node: ParseNode, base: Base): ToolDecl {
  return {
    kind: 'ToolDecl',
    ...base,
    name: readName(context, node),
    params: buildParams(context, node.child(5)),
    returns: optional(node.child(8), (type) => buildAnnotation(context, type)),
    description: optional(node.child(12), (line) => stringAt(context, line.child(2).start)),
    body: { kind: 'Block', span: trimSpan(context, node.child(10).start, node.end), body: context.body(node.child(13)) },
  }
}

function buildSkillFields(context: BuildContext, node: ParseNode): readonly { readonly name: Name; readonly value: Expr }[] {
  const fields = optional(node.child(6), listSeparated) ?? []
  return fields.map((field) => ({ name: nameAt(context, field.start), value: buildExpr(context, field.child(2)) }))
}

function buildEvalPack(context: BuildContext, node: ParseNode, base: Base, stmt: (node: ParseNode) => Stmt): EvalPackDecl {
  const head = node.child(1).child(0)
  const isNamed = head.rule === 'evalPackNamed'
  const idToken = isNamed ? optional(head.child(1), (id) => id.start) : head.start
  const id = idToken === null ? null : stringAt(context, idToken)
  const name: Name = isNamed ? nameAt(context, head.start) : { text: bindId(id ?? ''), span: nodeSpan(context, head) }
  const fields: { name: Name; value: Expr }[] = []
  const body: Stmt[] = []
  let summarize: EvalPackDecl['summarize'] = null
  for (const item of optional(node.child(5), listSeparated) ?? []) {
    const inner = item.child(0)
    if (inner.rule === 'evalField') {
      fields.push({ name: nameAt(context, inner.start), value: buildExpr(context, inner.child(3)) })
    } else if (inner.rule === 'summarize') {
      if (summarize !== null) context.problems.push({ code: 'P011', token: inner.start })
      summarize = { kind: 'Block', span: trimSpan(context, inner.start + 1, inner.end), body: context.body(inner.child(2)) }
    } else {
      body.push(stmt(inner))
    }
  }
  return { kind: 'EvalPackDecl', ...base, name, packId: id ?? name.text, fields, body, summarize }
}

/** The name that an eval pack with only an id is bound to. */
export function bindId(id: string): string {
  return id.toLowerCase().replace(/[^\p{Alphabetic}\p{N}_]/gu, '_')
}

function buildImport(context: BuildContext, node: ParseNode, base: Base): Declaration {
  const isSelective = node.rule === 'importNames'
  const pathToken = isSelective ? node.child(7).start : node.child(1).start
  const path = stringAt(context, pathToken)
  const pathSpan = trimSpan(context, pathToken, pathToken + 1)
  const names = isSelective ? children(node.child(3)).map((item) => nameAt(context, item.start)) : null
  return { kind: 'ImportDecl', ...base, name: { text: path, span: pathSpan }, path, pathSpan, names }
}

function buildInterface(context: BuildContext, node: ParseNode, base: Base): InterfaceDecl {
  const assocTypes: { name: Name; type: TypeExpr | null }[] = []
  const methods: InterfaceDecl['methods'][number][] = []
  for (const item of children(node.child(7))) {
    const inner = item.child(0).child(0)
    if (inner.rule === 'assocType') {
      assocTypes.push({
        name: readName(context, inner),
        type: optional(inner.child(3), (value) => buildType(context, value.child(1))),
      })
    } else {
      methods.push({
        name: readName(context, inner),
        typeParams: buildTypeParams(context, inner.child(3)),
        params: buildParams(context, inner.child(6)),
        returns: optional(inner.child(9), (type) => buildAnnotation(context, type)),
        span: nodeSpan(context, inner),
      })
    }
  }
  return {
    kind: 'InterfaceDecl',
    ...base,
    name: readName(context, node),
    typeParams: buildTypeParams(context, node.child(3)),
    assocTypes,
    methods,
  }
}

function buildImpl(context: BuildContext, node: ParseNode, base: Base): ImplDecl {
  const methods = children(node.child(6)).map((method) => {
    const isPublic = method.child(0).count > 0
    return buildFn(context, method.child(1), { ...NO_HEADING, isPublic, docTokens: isPublic ? [method.start] : [] }, false)
  })
  return { kind: 'ImplDecl', ...base, name: readName(context, node), methods }
}

/** Whether a statement may have attributes: declarations, except imports and overrides. */
export function takesAttributes(node: ParseNode): boolean {
  return ATTRIBUTED_RULES.has(node.rule)
}

const ATTRIBUTED_RULES: ReadonlySet<ParseNode['rule']> = new Set([
  'fnDecl',
  'genFnDecl',
  'toolDecl',
  'skillDecl',
  'evalPackDecl',
  'pipelineDecl',
  'structDecl',
  'enumDecl',
  'typeDecl',
  'interfaceDecl',
  'implDecl',
] as const)
