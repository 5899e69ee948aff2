// Declarations → canonical source; see print.ts.

import type { Attribute, AttributeValue, Declaration, FnDecl, Name, TypeExpr, TypeParam } from './ast.js'
import { escape, writeFloat } from './literals.js'
import { pad, printBlock, printBody, printExpr, printParams, printType } from './print.js'

/** A declaration with its doc comment, attributes and `pub`. */
export function printDeclaration(decl: Declaration, depth: number): string {
  const doc = decl.doc === null ? [] : decl.doc.split('\n').map((line) => (line === '' ? '///' : `/// ${line}`))
  const lines = [...doc, ...decl.attributes.map(printAttribute)]
  return [...lines, `${decl.isPublic ? 'pub ' : ''}${printBare(decl, depth)}`].join(`\n${pad(depth)}`)
}

function printBare(decl: Declaration, depth: number): string {
  const name = decl.name.text
  switch (decl.kind) {
    case 'FnDecl':
      return printFn(decl, depth)
    case 'ToolDecl': {
      const description = decl.description === null ? '' : `${pad(depth + 1)}description "${escape(decl.description)}"\n`
      const head = `tool ${name}(${printParams(decl.params, depth)})${arrow(decl.returns)}`
      return `${head} {\n${description}${printBody(decl.body.body, depth + 1)}${pad(depth)}}`
    }
    case 'SkillDecl':
      return `skill ${name} ${lines(
        decl.fields.map((field) => `${field.name.text} ${printExpr(field.value, depth + 1)}`),
        depth,
      )}`
    case 'EvalPackDecl': {
      const id = decl.packId === name ? '' : ` "${escape(decl.packId)}"`
      const fields = decl.fields.map((field) => `${pad(depth + 1)}${field.name.text}: ${printExpr(field.value, depth + 1)}\n`)
      const summarize = decl.summarize === null ? '' : `${pad(depth + 1)}summarize ${printBlock(decl.summarize, depth + 1)}\n`
      return `eval_pack ${name}${id} {\n${fields.join('')}${printBody(decl.body, depth + 1)}${summarize}${pad(depth)}}`
    }
    case 'PipelineDecl': {
      const parent = decl.parent === null ? '' : ` extends ${decl.parent.text}`
      return `pipeline ${name}(${names(decl.params)})${arrow(decl.returns)}${parent} ${printBlock(decl.body, depth)}`
    }
    case 'OverrideDecl':
      return `override ${name}(${names(decl.params)}) ${printBlock(decl.body, depth)}`
    case 'ImportDecl': {
      const path = `"${escape(decl.path)}"`
      if (decl.names === null) return `import ${path}`
      return decl.names.length === 0 ? `import {} from ${path}` : `import { ${names(decl.names)} } from ${path}`
    }
    case 'TypeDecl':
      return `type ${name}${typeParams(decl.typeParams)} = ${printType(decl.type)}`
    case 'EnumDecl': {
      const variants = decl.variants.map((variant) =>
        variant.params.length === 0 ? variant.name.text : `${variant.name.text}(${printParams(variant.params, depth)})`,
      )
      return `enum ${name}${typeParams(decl.typeParams)} ${lines(variants, depth)}`
    }
    case 'StructDecl': {
      const fields = decl.fields.map((field) => `${field.name.text}${field.optional ? '?' : ''}${colon(field.type)}`)
      return `struct ${name}${typeParams(decl.typeParams)} ${lines(fields, depth)}`
    }
    case 'InterfaceDecl': {
      const types = decl.assocTypes.map(
        (type) => `type ${type.name.text}${type.type === null ? '' : ` = ${printType(type.type)}`}`,
      )
      const methods = decl.methods.map(
        (method) =>
          `fn ${method.name.text}${typeParams(method.typeParams)}(${printParams(method.params, depth)})${arrow(method.returns)}`,
      )
      return `interface ${name}${typeParams(decl.typeParams)} ${lines([...types, ...methods], depth)}`
    }
    case 'ImplDecl':
      return `impl ${name} ${lines(
        decl.methods.map((method) => printDeclaration(method, depth + 1)),
        depth,
      )}`
  }
}

function printFn(decl: FnDecl, depth: number): string {
  const where =
    decl.where.length === 0 ? '' : ` where ${decl.where.map((bound) => `${bound.param.text}: ${bound.bound.text}`).join(', ')}`
  const params = printParams(decl.params, depth)
  const head = `${decl.isStream ? 'gen ' : ''}fn ${decl.name.text}${typeParams(decl.typeParams)}(${params})`
  return `${head}${arrow(decl.returns)}${where} ${printBlock(decl.body, depth)}`
}

function printAttribute(attribute: Attribute): string {
  if (attribute.args.length === 0) return `@${attribute.name.text}`
  const args = attribute.args.map((arg) => `${arg.name === null ? '' : `${arg.name.text}: `}${printAttributeValue(arg.value)}`)
  return `@${attribute.name.text}(${args.join(', ')})`
}

/** Names in attributes are strings, so they are printed as such. */
function printAttributeValue(value: AttributeValue): string {
  if (typeof value === 'string') return `"${escape(value)}"`
  if (value === null) return 'nil'
  if (typeof value !== 'object') return String(value)
  return 'float' in value ? writeFloat(value.float) : `[${value.map(printAttributeValue).join(', ')}]`
}

function lines(items: readonly string[], depth: number): string {
  return `{\n${items.map((item) => `${pad(depth + 1)}${item}\n`).join('')}${pad(depth)}}`
}

function names(list: readonly Name[]): string {
  return list.map((name) => name.text).join(', ')
}

function typeParams(params: readonly TypeParam[]): string {
  if (params.length === 0) return ''
  return `<${params.map((param) => `${param.variance === null ? '' : `${param.variance} `}${param.name.text}`).join(', ')}>`
}

function arrow(type: TypeExpr | null): string {
  return type === null ? '' : ` -> ${printType(type)}`
}

function colon(type: TypeExpr | null): string {
  return type === null ? '' : `: ${printType(type)}`
}
