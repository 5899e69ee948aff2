// Declarations → source. Documentation comes from comments of the old source, or from the tree if there is none.

import type { Attribute, AttributeValue, Declaration, FnDecl, Name, Param } from '../ast.js'
import { lex } from '../lexer.js'
import { escape, writeFloat } from '../literals.js'
import type { Span } from '../source.js'
import { TOKEN } from '../tokens.js'
import { commentLines, documentation } from './comments.js'
import { printExpr, printParam } from './expressions.js'
import { byteLength, type Layout, pad } from './layout.js'
import { layOutBraced, type Item, sequence } from './lines.js'
import { printBlock, statementItems } from './statements.js'
import { printAnnotation, printReturns, printType, printTypeParams } from './types.js'

/** A declaration with its attributes and `pub`. */
export function printDeclaration(layout: Layout, decl: Declaration, depth: number): string {
  const doc =
    layout.source !== null || decl.doc === null ? '' : `${documentation(decl.doc, depth, layout.lineWidth)}\n${pad(depth)}`
  const attributes = decl.attributes.map((attribute, at) => {
    const next = decl.attributes[at + 1]?.span.start ?? Math.max(decl.name.span.start, attribute.span.end)
    const between = commentLines(layout, layout.gap(attribute.span.end, next), depth)
    return `${printAttribute(layout, attribute)}\n${between}${pad(depth)}`
  })
  return `${doc}${attributes.join('')}${decl.isPublic ? 'pub ' : ''}${printBare(layout, decl, depth)}`
}

function printBare(layout: Layout, decl: Declaration, depth: number): string {
  const name = decl.name.text
  const { end } = decl.span
  const printBraced = (items: readonly Item[], from: number): string =>
    layOutBraced(layout, items, layout.behind(from, '{'), end, depth)
  switch (decl.kind) {
    case 'FnDecl':
      return printFn(layout, decl, depth)
    case 'ToolDecl': {
      const head = `tool ${name}(`
      const prefix = 2 * depth + (decl.isPublic ? 4 : 0) + 5 + byteLength(name) + 1
      const signature = `${printParams(layout, head, decl.params, decl.name, prefix, depth)}${printReturns(decl.returns)}`
      const body = statementItems(layout, decl.body.body, depth + 1)
      if (decl.description === null) return `${signature} ${layOutBraced(layout, body, decl.body.span.start + 1, end, depth)}`
      const description = descriptionToken(layout, decl.body.span.start + 1)
      const from = description?.end ?? decl.body.span.start + 1
      const written = description === null ? '' : (layout.text(description) ?? '')
      const text = written.includes('\n') ? written : `"${escape(decl.description)}"`
      const rest = layOutBraced(layout, body, from, end, depth)
      const above = commentLines(layout, layout.gap(decl.body.span.start + 1, from), depth + 1)
      return `${signature} {\n${above}${pad(depth + 1)}description ${text}${rest.slice(1)}`
    }
    case 'SkillDecl':
      return `skill ${name} ${printBraced(
        decl.fields.map((field) => ({
          span: { start: field.name.span.start, end: field.value.span.end },
          render: () => `${field.name.text} ${printExpr(layout, field.value, depth + 1)}`,
        })),
        decl.name.span.end,
      )}`
    case 'EvalPackDecl':
      return printEvalPack(layout, decl, depth)
    case 'PipelineDecl': {
      const parent = decl.parent === null ? '' : ` extends ${decl.parent.text}`
      const head = printNameList(layout, decl, decl.params, 'pipeline', depth)
      return `${head}${printReturns(decl.returns)}${parent} ${printBlock(layout, decl.body, depth)}`
    }
    case 'OverrideDecl':
      return `${printNameList(layout, decl, decl.params, 'override', depth)} ${printBlock(layout, decl.body, depth)}`
    case 'ImportDecl':
      return printImport(layout, decl)
    case 'TypeDecl':
      return `type ${name}${printTypeParams(decl.typeParams)} = ${printType(decl.type)}`
    case 'EnumDecl':
      return `enum ${name}${printTypeParams(decl.typeParams)} ${printBraced(
        decl.variants.map((variant) => ({
          span: { start: variant.name.span.start, end: findVariantEnd(layout, variant) },
          render: () => {
            if (variant.params.length === 0) return variant.name.text
            const prefix = 2 * (depth + 1) + byteLength(variant.name.text) + 1
            return printParams(layout, `${variant.name.text}(`, variant.params, variant.name, prefix, depth + 1)
          },
        })),
        findHeadEnd(decl),
      )}`
    case 'StructDecl':
      return `struct ${name}${printTypeParams(decl.typeParams)} ${printBraced(
        decl.fields.map((field) => ({
          span: { start: field.name.span.start, end: field.type?.span.end ?? field.name.span.end },
          render: () => `${field.name.text}${field.optional ? '?' : ''}${printAnnotation(field.type)}`,
        })),
        findHeadEnd(decl),
      )}`
    case 'InterfaceDecl':
      return printInterface(layout, decl, depth)
    case 'ImplDecl':
      return `impl ${name} ${printBraced(
        decl.methods.map((method) => ({ span: method.span, render: () => printDeclaration(layout, method, depth + 1) })),
        decl.name.span.end,
      )}`
  }
}

function printFn(layout: Layout, decl: FnDecl, depth: number): string {
  const bounds = decl.where.map((bound) => `${bound.param.text}: ${bound.bound.text}`).join(', ')
  const generics = printTypeParams(decl.typeParams)
  const head = `${decl.isStream ? 'gen ' : ''}fn ${decl.name.text}${generics}(`
  const prefix = 2 * depth + (decl.isPublic ? 4 : 0) + byteLength(head)
  const signature = `${printParams(layout, head, decl.params, decl.name, prefix, depth)}${printReturns(decl.returns)}`
  return `${signature}${bounds === '' ? '' : ` where ${bounds}`} ${printBlock(layout, decl.body, depth)}`
}

/** `open` is the head including its parenthesis; `name` precedes the type parameters. */
function printParams(layout: Layout, open: string, params: readonly Param[], name: Name, prefix: number, depth: number): string {
  const items = params.map((param) => ({ span: param.span, render: () => printParam(layout, param, depth + 1) }))
  const last = params.at(-1)
  const to = last === undefined ? name.span.end : layout.behind(last.span.end, ')')
  return sequence(layout, { open, close: ')', items, from: name.span.end, to, prefix, depth })
}

function printNameList(
  layout: Layout,
  decl: Declaration,
  names: readonly Name[],
  keyword: 'pipeline' | 'override',
  depth: number,
): string {
  const items = names.map((name) => ({ span: name.span, render: () => name.text }))
  const last = names.at(-1)
  const { text, span } = decl.name
  const to = last === undefined ? span.end : layout.behind(last.span.end, ')')
  const prefix = 2 * depth + (decl.isPublic ? 4 : 0) + keyword.length + 1 + byteLength(text) + 1
  return sequence(layout, { open: `${keyword} ${text}(`, close: ')', items, from: span.end, to, prefix, depth })
}

function printEvalPack(layout: Layout, decl: Extract<Declaration, { kind: 'EvalPackDecl' }>, depth: number): string {
  const name = decl.name.text
  // A pack with only an id gets its name from the id.
  const isUnnamed = layout.text(decl.name.span)?.startsWith('"') === true
  const id = isUnnamed || decl.packId === name ? '' : ` "${escape(decl.packId)}"`
  const head = isUnnamed ? `"${escape(decl.packId)}"` : `${name}${id}`
  const items: Item[] = [
    ...decl.fields.map((field) => ({
      span: { start: field.name.span.start, end: field.value.span.end },
      render: () => `${field.name.text}: ${printExpr(layout, field.value, depth + 1)}`,
    })),
    ...statementItems(layout, decl.body, depth + 1),
  ]
  const { summarize } = decl
  if (summarize !== null)
    items.push({ span: summarize.span, render: () => `summarize ${printBlock(layout, summarize, depth + 1)}` })
  return `eval_pack ${head} ${layOutBraced(layout, items, layout.behind(decl.name.span.end, '{'), decl.span.end, depth)}`
}

function printInterface(layout: Layout, decl: Extract<Declaration, { kind: 'InterfaceDecl' }>, depth: number): string {
  const types = decl.assocTypes.map(({ name, type }) => ({
    span: { start: name.span.start, end: type?.span.end ?? name.span.end },
    render: () => `type ${name.text}${type === null ? '' : ` = ${printType(type)}`}`,
  }))
  const methods = decl.methods.map((method) => ({
    span: method.span,
    render: () => {
      const head = `fn ${method.name.text}${printTypeParams(method.typeParams)}(`
      const prefix = 2 * (depth + 1) + byteLength(head)
      const params = printParams(layout, head, method.params, method.name, prefix, depth + 1)
      return `${params}${printReturns(method.returns)}`
    },
  }))
  const from = layout.behind(findHeadEnd(decl), '{')
  const head = `interface ${decl.name.text}${printTypeParams(decl.typeParams)}`
  return `${head} ${layOutBraced(layout, [...types, ...methods], from, decl.span.end, depth)}`
}

/** Names are sorted; the list is broken if it does not fit on a line. */
function printImport(layout: Layout, decl: Extract<Declaration, { kind: 'ImportDecl' }>): string {
  const path = `"${escape(decl.path)}"`
  if (decl.names === null) return `import ${path}`
  const names = decl.names.map((name) => name.text).sort(compareText)
  if (names.length === 0) return `import {} from ${path}`
  const joined = names.join(', ')
  if (9 + byteLength(joined) + 9 + byteLength(decl.path) + 1 <= layout.lineWidth) return `import { ${joined} } from ${path}`
  return `import {\n${names.map((name) => `  ${name},\n`).join('')}} from ${path}`
}

export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

// ---- offsets that the tree does not have -----------------------------------------------------------------------------

/** Offset after the name and the type parameters. */
function findHeadEnd(decl: Extract<Declaration, { kind: 'EnumDecl' | 'StructDecl' | 'InterfaceDecl' }>): number {
  const last = decl.typeParams.at(-1)
  return last === undefined ? decl.name.span.end : last.name.span.end + 1
}

function findVariantEnd(layout: Layout, variant: { readonly name: Name; readonly params: readonly Param[] }): number {
  const last = variant.params.at(-1)
  return last === undefined ? variant.name.span.end : layout.behind(last.span.end, ')')
}

/** The `description` that starts at `offset`. */
function descriptionToken(layout: Layout, offset: number): Span | null {
  if (layout.source === null) return null
  const { text } = layout.source
  const keyword = layout.behind(offset, 'd') + 'escription'.length - 1
  const literal = /^\s*("""[\s\S]*?"""|"(?:[^"\\]|\\[\s\S])*")/.exec(text.slice(keyword))
  if (literal === null) return null
  const end = keyword + literal[0].length
  return { start: end - literal[1]!.length, end }
}

// ---- attributes ----------------------------------------------------------------------------------------------------

function printAttribute(layout: Layout, attribute: Attribute): string {
  const written = layout.text(attribute.span)
  if (written !== null) return attributeFromText(written)
  if (attribute.args.length === 0) return `@${attribute.name.text}`
  const args = attribute.args.map((arg) => `${arg.name === null ? '' : `${arg.name.text}: `}${printAttributeValue(arg.value)}`)
  return `@${attribute.name.text}(${args.join(', ')})`
}

/** The tree does not distinguish names and strings here, so this prints the tokens. */
function attributeFromText(written: string): string {
  const tokens = lex(written, { whole: false })
  let text = ''
  for (let at = 0; at < tokens.units.length; at += 1) {
    const unit = tokens.units.charCodeAt(at)
    if (unit === TOKEN['\n']) continue
    if (unit === TOKEN[')'] || unit === TOKEN[']']) text = text.replace(/, $/, '')
    text += written.slice(tokens.starts[at], tokens.ends[at])
    if (unit === TOKEN[','] || unit === TOKEN[':']) text += ' '
  }
  return text.replace(/\(\)$/, '')
}

function printAttributeValue(value: AttributeValue): string {
  if (typeof value === 'string') return `"${escape(value)}"`
  if (value === null) return 'nil'
  if (typeof value !== 'object') return String(value)
  return 'float' in value ? writeFloat(value.float) : `[${value.map(printAttributeValue).join(', ')}]`
}
