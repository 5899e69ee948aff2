// Tools as declarations that a person, a model or a compiler of TypeScript reads. Descriptions and schemas come from servers, too: a comment
// cannot be left, and a line stays one.

import type { ToolDeclaration } from '@bridle/compiler'
import { declareTool } from './declarations.js'
import type { Tool } from './define.js'
import { isSchema, resolveRef } from './edge.js'
import { harnType, isName } from './harn-types.js'
import type { JsonSchema } from './schema.js'

export interface HarnTypesOptions {
  /** One line a tool, without what is said of its parameters. */
  readonly short?: boolean
}

/** Declarations of tools in the language of scripts, each with its documentation. */
export function harnTypes(tools: Iterable<Tool | ToolDeclaration>, { short = false }: HarnTypesOptions = {}): string {
  const declarations = Array.from(tools, readDeclaration)
  return short ? declarations.map(shortLine).join('') : declarations.map(fullText).join('\n')
}

function readDeclaration(tool: Tool | ToolDeclaration): ToolDeclaration {
  return 'kind' in tool ? declareTool(tool) : tool
}

interface Names {
  readonly module: string
  readonly local: string
}

function splitName(name: string): Names {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? { module: 'tools', local: name } : { module: name.slice(0, dot), local: name.slice(dot + 1) }
}

function shortLine({ name, description = '', parameters = null, output = null }: ToolDeclaration): string {
  const about = cutLine(description)
  return `${oneLine(name)}(${argumentsText(parameters, true)})${resultText(output)}${about === '' ? '' : `  // ${about}`}\n`
}

function fullText(declaration: ToolDeclaration): string {
  const { name, description = '', parameters = null, output = null, effects } = declaration
  const { module, local } = splitName(name)
  const lines = [...textLines(description), ...parameterLines(parameters)]
  if (effects !== undefined) lines.push(effects.length === 0 ? 'Effects: none' : `Effects: ${effects.map(oneLine).join(', ')}`)
  const doc = lines.length === 0 ? '' : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
  const returns = resultText(output)
  const optional = requiredNames(parameters).size === 0 ? ' = {}' : ''
  if (!isName(local)) return `${doc}host_tool_call(${JSON.stringify(name)}, ${argumentsText(parameters, false)})${returns}\n`
  return `// import { ${local} } from ${JSON.stringify(`host/${module}`)}\n${doc}fn ${local}(args: ${argumentsText(parameters, false)}${optional})${returns}\n`
}

function resultText(output: JsonSchema | null): string {
  return output === null ? '' : ` -> ${harnType(output)}`
}

/** The type of the dict; with the defaults of its parameters in the short form, which has no other place for them. */
function argumentsText(parameters: JsonSchema | null, withDefaults: boolean): string {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  const properties = found?.['properties']
  if (!isSchema(properties) || !Object.keys(properties).every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)))
    return parameters === null ? 'dict' : harnType(parameters)
  const required = requiredNames(parameters)
  const fields = Object.entries(properties).map(([name, inner]) => {
    const type = isSchema(inner) ? harnType(inner, parameters!) : 'any'
    const value = withDefaults ? defaultText(inner) : null
    return `${name}${required.has(name) ? '' : '?'}: ${type}${value === null ? '' : ` = ${value}`}`
  })
  return `{${fields.join(', ')}}`
}

function requiredNames(parameters: JsonSchema | null): ReadonlySet<string> {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  return new Set(Array.isArray(found?.['required']) ? found['required'].map(String) : [])
}

function parameterLines(parameters: JsonSchema | null): readonly string[] {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  const properties = found?.['properties']
  if (!isSchema(properties)) return []
  return Object.entries(properties).flatMap(([name, inner]) => {
    const schema = isSchema(inner) ? resolveRef(inner, parameters!) : undefined
    const about = cutLine(typeof schema?.['description'] === 'string' ? schema['description'] : '')
    const value = defaultText(schema)
    if (about === '' && value === null) return []
    return [`- ${oneLine(name)}: ${about}${value === null ? '' : `${about === '' ? '' : ' '}(default ${value})`}`]
  })
}

const LONGEST_DEFAULT = 60
const LONGEST_LINE = 160
const MOST_LINES = 20

function defaultText(schema: unknown): string | null {
  if (!isSchema(schema) || !('default' in schema)) return null
  const text = JSON.stringify(schema['default'])
  return text === undefined || text.length > LONGEST_DEFAULT ? null : safe(text)
}

/** Without what ends a comment, and without characters that a terminal obeys. */
function safe(text: string): string {
  return text.replaceAll('*/', '*\u2215').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
}

function oneLine(text: string): string {
  return safe(text).trim()
}

function cutLine(text: string): string {
  const line = oneLine(text.trimStart().split('\n', 1)[0]!)
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line
}

function textLines(text: string): readonly string[] {
  return text === '' ? [] : text.trim().split('\n').slice(0, MOST_LINES).map(oneLine)
}

// ---- TypeScript ---------------------------------------------------------------------------------------------------------

/** `export interface Tools { 'shop.price': (args: …) => Promise<…> }`: the tools by name, for programs in TypeScript. */
export function tsTypes(tools: Iterable<Tool | ToolDeclaration>): string {
  const members = Array.from(tools, readDeclaration).map((declaration) => {
    const { name, description = '', parameters = null, output = null } = declaration
    const about = cutLine(description)
    const args = parameters === null ? '{ readonly [key: string]: unknown }' : tsType(parameters, parameters)
    const optional = requiredNames(parameters).size === 0 ? '?' : ''
    const result = output === null ? 'unknown' : tsType(output, output)
    return `${about === '' ? '' : `  /** ${about} */\n`}  readonly ${quoteKey(name)}: (args${optional}: ${args}) => Promise<${result}>\n`
  })
  return `/** Tools by name: their arguments and what they give. */\nexport interface Tools {\n${members.join('')}}\n`
}

const MAX_DEPTH = 8
const MOST_SCHEMAS = 2_000

interface Budget {
  left: number
}

function tsType(schema: unknown, root: JsonSchema, depth = 0, budget: Budget = { left: MOST_SCHEMAS }): string {
  const found = isSchema(schema) && depth <= MAX_DEPTH && budget.left-- > 0 ? resolveRef(schema, root) : undefined
  if (found === undefined) return 'unknown'
  const inner = (each: unknown): string => tsType(each, root, depth + 1, budget)
  if (Array.isArray(found['enum'])) return union(found['enum'].map(literal))
  if ('const' in found) return literal(found['const'])
  const alternatives = found['anyOf'] ?? found['oneOf']
  if (Array.isArray(alternatives)) return union(alternatives.map(inner))
  if (Array.isArray(found['allOf'])) return found['allOf'].map((each) => `(${inner(each)})`).join(' & ')
  const { type } = found
  if (Array.isArray(type)) return union(type.map((each: unknown) => tsType({ ...found, type: each }, root, depth + 1, budget)))
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `readonly (${inner(found['items'])})[]`
    case 'object':
      return objectType(found, inner)
    default:
      return isSchema(found['properties']) ? objectType(found, inner) : 'unknown'
  }
}

function objectType(schema: JsonSchema, inner: (schema: unknown) => string): string {
  const { properties, additionalProperties } = schema
  if (!isSchema(properties) || Object.keys(properties).length === 0) {
    if (additionalProperties === false) return '{}'
    return `{ readonly [key: string]: ${isSchema(additionalProperties) ? inner(additionalProperties) : 'unknown'} }`
  }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : [])
  const fields = Object.entries(properties).map(([name, each]) => {
    return `readonly ${quoteKey(name)}${required.has(name) ? '' : '?'}: ${inner(each)}`
  })
  return `{ ${fields.join('; ')} }`
}

function union(types: readonly string[]): string {
  const members = [...new Set(types)]
  if (members.length === 0 || members.includes('unknown')) return 'unknown'
  return members.map((each) => (each.includes(' ') ? `(${each})` : each)).join(' | ')
}

function literal(value: unknown): string {
  const isSimple =
    value === null || ['string', 'boolean'].includes(typeof value) || (typeof value === 'number' && Number.isFinite(value))
  return isSimple ? quoteText(value) : 'unknown'
}

function quoteKey(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : quoteText(name)
}

/** JSON, without the two line ends that JavaScript had in strings only since 2019. */
function quoteText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
