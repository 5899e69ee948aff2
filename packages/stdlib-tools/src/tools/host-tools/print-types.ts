// Tools as declarations that a person, a model or a compiler of TypeScript reads. Descriptions and schemas come from servers, too: a comment
// cannot be left, and a line stays one.

import type { ToolDeclaration } from '@bridle/compiler'
import { declareTool } from './declarations.js'
import type { Tool } from './define.js'
import { isSchema, resolveRef } from './edge.js'
import { harnType, isName } from './harn-types.js'
import type { JsonSchema } from './schema.js'

export interface HarnTypesOptions {
  /** One line per tool, without descriptions of its parameters. */
  readonly short?: boolean
}

/** Declarations of tools in the language of scripts, each with its documentation. */
export function harnTypes(tools: Iterable<Tool | ToolDeclaration>, { short = false }: HarnTypesOptions = {}): string {
  const declarations = Array.from(tools, readDeclaration)
  return short ? declarations.map(formatShortLine).join('') : declarations.map(renderDeclaration).join('\n')
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

function formatShortLine({ name, description = '', parameters = null, output = null }: ToolDeclaration): string {
  const about = cutLine(description)
  return `${toOneLine(name)}(${formatArguments(parameters, true)})${formatResult(output)}${about === '' ? '' : `  // ${about}`}\n`
}

function renderDeclaration(declaration: ToolDeclaration): string {
  const { name, description = '', parameters = null, output = null, effects } = declaration
  const { module, local } = splitName(name)
  const lines = [...splitText(description), ...listParameterLines(parameters)]
  if (effects !== undefined) lines.push(effects.length === 0 ? 'Effects: none' : `Effects: ${effects.map(toOneLine).join(', ')}`)
  const doc = lines.length === 0 ? '' : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
  const returns = formatResult(output)
  const optional = listRequired(parameters).size === 0 ? ' = {}' : ''
  if (!isName(local)) return `${doc}host_tool_call(${JSON.stringify(name)}, ${formatArguments(parameters, false)})${returns}\n`
  return `// import { ${local} } from ${JSON.stringify(`host/${module}`)}\n${doc}fn ${local}(args: ${formatArguments(parameters, false)}${optional})${returns}\n`
}

function formatResult(output: JsonSchema | null): string {
  return output === null ? '' : ` -> ${harnType(output)}`
}

/** The type of the dict; with the defaults of its parameters in the short form, which has no other place for them. */
function formatArguments(parameters: JsonSchema | null, withDefaults: boolean): string {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  const properties = found?.['properties']
  if (!isSchema(properties) || !Object.keys(properties).every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)))
    return parameters === null ? 'dict' : harnType(parameters)
  const required = listRequired(parameters)
  const fields = Object.entries(properties).map(([name, inner]) => {
    const type = isSchema(inner) ? harnType(inner, parameters!) : 'any'
    const value = withDefaults ? formatDefault(inner) : null
    return `${name}${required.has(name) ? '' : '?'}: ${type}${value === null ? '' : ` = ${value}`}`
  })
  return `{${fields.join(', ')}}`
}

function listRequired(parameters: JsonSchema | null): ReadonlySet<string> {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  return new Set(Array.isArray(found?.['required']) ? found['required'].map(String) : [])
}

function listParameterLines(parameters: JsonSchema | null): readonly string[] {
  const found = parameters === null ? undefined : resolveRef(parameters, parameters)
  const properties = found?.['properties']
  if (!isSchema(properties)) return []
  return Object.entries(properties).flatMap(([name, inner]) => {
    const schema = isSchema(inner) ? resolveRef(inner, parameters!) : undefined
    const about = cutLine(typeof schema?.['description'] === 'string' ? schema['description'] : '')
    const value = formatDefault(schema)
    if (about === '' && value === null) return []
    return [`- ${toOneLine(name)}: ${about}${value === null ? '' : `${about === '' ? '' : ' '}(default ${value})`}`]
  })
}

const LONGEST_DEFAULT = 60
const LONGEST_LINE = 160
const MOST_LINES = 20

function formatDefault(schema: unknown): string | null {
  if (!isSchema(schema) || !('default' in schema)) return null
  const text = JSON.stringify(schema['default'])
  return text === undefined || text.length > LONGEST_DEFAULT ? null : escapeComment(text)
}

/** Without what ends a comment, and without characters that a terminal obeys. */
function escapeComment(text: string): string {
  return text.replaceAll('*/', '*\u2215').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
}

function toOneLine(text: string): string {
  return escapeComment(text).trim()
}

function cutLine(text: string): string {
  const line = toOneLine(text.trimStart().split('\n', 1)[0]!)
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line
}

function splitText(text: string): readonly string[] {
  return text === '' ? [] : text.trim().split('\n').slice(0, MOST_LINES).map(toOneLine)
}

// ---- TypeScript ---------------------------------------------------------------------------------------------------------

/** `export interface Tools { 'shop.price': (args: …) => Promise<…> }`: the tools by name, for programs in TypeScript. */
export function tsTypes(tools: Iterable<Tool | ToolDeclaration>): string {
  const members = Array.from(tools, readDeclaration).map((declaration) => {
    const { name, description = '', parameters = null, output = null } = declaration
    const about = cutLine(description)
    const args = parameters === null ? '{ readonly [key: string]: unknown }' : formatTsType(parameters, parameters)
    const optional = listRequired(parameters).size === 0 ? '?' : ''
    const result = output === null ? 'unknown' : formatTsType(output, output)
    return `${about === '' ? '' : `  /** ${about} */\n`}  readonly ${quoteKey(name)}: (args${optional}: ${args}) => Promise<${result}>\n`
  })
  return `/** Tools by name: their arguments and what they give. */\nexport interface Tools {\n${members.join('')}}\n`
}

const MAX_DEPTH = 8
const MOST_SCHEMAS = 2_000

interface Budget {
  left: number
}

function formatTsType(schema: unknown, root: JsonSchema, depth = 0, budget: Budget = { left: MOST_SCHEMAS }): string {
  const found = isSchema(schema) && depth <= MAX_DEPTH && budget.left-- > 0 ? resolveRef(schema, root) : undefined
  if (found === undefined) return 'unknown'
  const inner = (each: unknown): string => formatTsType(each, root, depth + 1, budget)
  if (Array.isArray(found['enum'])) return formatUnion(found['enum'].map(formatLiteral))
  if ('const' in found) return formatLiteral(found['const'])
  const alternatives = found['anyOf'] ?? found['oneOf']
  if (Array.isArray(alternatives)) return formatUnion(alternatives.map(inner))
  if (Array.isArray(found['allOf'])) return found['allOf'].map((each) => `(${inner(each)})`).join(' & ')
  const { type } = found
  if (Array.isArray(type))
    return formatUnion(type.map((each: unknown) => formatTsType({ ...found, type: each }, root, depth + 1, budget)))
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
      return formatObjectType(found, inner)
    default:
      return isSchema(found['properties']) ? formatObjectType(found, inner) : 'unknown'
  }
}

function formatObjectType(schema: JsonSchema, inner: (schema: unknown) => string): string {
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

function formatUnion(types: readonly string[]): string {
  const members = [...new Set(types)]
  if (members.length === 0 || members.includes('unknown')) return 'unknown'
  return members.map((each) => (each.includes(' ') ? `(${each})` : each)).join(' | ')
}

function formatLiteral(value: unknown): string {
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
