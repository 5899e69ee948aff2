// Tools as plain declarations: what the compiler checks calls against, what `bridle check --tools` reads and what other programs receive.

import type { ToolDeclaration } from '@bridle/compiler'
import { DefinitionError, listDeclaredEffects, defineTool } from './define.js'
import type { Tool } from './define.js'
import { ToolError } from './errors.js'
import type { JsonSchema } from './schema.js'
import type { SideEffect } from '../../library/effects/index.js'
import { SIDE_EFFECTS } from '../../library/effects/effects.js'

export function declareTools(tools: Iterable<Tool>): readonly ToolDeclaration[] {
  return Array.from(tools, declareTool)
}

export function declareTool(tool: Tool): ToolDeclaration {
  const effects = listDeclaredEffects(tool)
  return {
    name: tool.name,
    ...(tool.aliases.length === 0 ? {} : { aliases: tool.aliases }),
    ...(tool.description === '' ? {} : { description: tool.description }),
    version: tool.version,
    parameters: tool.input?.json ?? null,
    output: tool.output?.json ?? null,
    ...(effects === null ? {} : { effects }),
    sideEffect: tool.sideEffect,
  }
}

/**
 * Reads declarations from data: a list of them, or `{tools: […]}` as servers of MCP answer. Schemas may be called as MCP, models or scripts call
 * them. Throws DefinitionError.
 */
export function readToolDeclarations(data: unknown): readonly ToolDeclaration[] {
  const list = isRecord(data) && Array.isArray(data['tools']) ? data['tools'] : data
  if (!Array.isArray(list))
    throw new DefinitionError(
      `tool declarations must be a list, or {"tools": […]}, got ${describe(data)}: write [{"name": …, "parameters": {…}}]`,
    )
  return list.map((each: unknown, at) => readDeclaration(each, `tool ${at + 1}`))
}

const PARAMETERS = ['parameters', 'inputSchema', 'input_schema', 'input']
const OUTPUT = ['output', 'outputSchema', 'output_schema', 'returns']

function readDeclaration(data: unknown, place: string): ToolDeclaration {
  if (!isRecord(data)) throw new DefinitionError(`${place} must be an object with a name, got ${describe(data)}`)
  // The form of a model's list of tools.
  if (data['type'] === 'function' && isRecord(data['function'])) return readDeclaration(data['function'], place)
  const { name, description, version, effects, aliases } = data
  if (typeof name !== 'string' || name === '') throw new DefinitionError(`${place} needs a name, got ${describe(name)}`)
  const where = `tool ${JSON.stringify(name)}`
  const sideEffect = data['sideEffect'] ?? data['side_effect']
  const parameters = readSchema(data, PARAMETERS, where)
  if (parameters !== null && 'type' in parameters && parameters['type'] !== 'object')
    throw new DefinitionError(
      `the parameters of ${where} must describe an object, got type ${JSON.stringify(parameters['type'])}`,
    )
  return {
    name,
    ...(aliases === undefined ? {} : { aliases: readStrings(aliases, 'aliases', where) }),
    ...(description === undefined ? {} : { description: readString(description, 'description', where) }),
    ...(version === undefined ? {} : { version: readString(version, 'version', where) }),
    parameters,
    output: readSchema(data, OUTPUT, where),
    ...(effects === undefined ? {} : { effects: readStrings(effects, 'effects', where) }),
    ...(sideEffect === undefined ? {} : { sideEffect: readString(sideEffect, 'sideEffect', where) }),
  }
}

function readSchema(data: { readonly [key: string]: unknown }, keys: readonly string[], where: string): JsonSchema | null {
  const key = keys.find((each) => data[each] !== undefined && data[each] !== null)
  if (key === undefined) return null
  const schema = data[key]
  if (!isRecord(schema)) throw new DefinitionError(`${key} of ${where} must be a JSON Schema, got ${describe(schema)}`)
  return schema
}

function readString(value: unknown, key: string, where: string): string {
  if (typeof value !== 'string') throw new DefinitionError(`${key} of ${where} must be a string, got ${describe(value)}`)
  return value
}

function readStrings(value: unknown, key: string, where: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new DefinitionError(`${key} of ${where} must be a list of strings, got ${describe(value)}`)
  return value
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
}

/** Tools that have the given declarations and cannot be called: for programs that are compiled and not run. */
export function toolsOfDeclarations(declarations: Iterable<ToolDeclaration>): readonly Tool[] {
  return Array.from(declarations, ({ name, aliases, description, version, parameters, output, effects, sideEffect }) =>
    defineTool({
      name,
      ...(aliases === undefined ? {} : { aliases }),
      ...(description === undefined ? {} : { description }),
      ...(version === undefined ? {} : { version }),
      ...(parameters === undefined || parameters === null ? {} : { input: { ...parameters, type: 'object' } }),
      ...(output === undefined || output === null ? {} : { output }),
      ...(effects === undefined ? {} : { effects }),
      ...(sideEffect === undefined ? {} : { sideEffect: readSideEffect(sideEffect, name) }),
      execute: () => {
        throw new ToolError('not_registered', `tool '${name}' is declared and not defined`)
      },
    }),
  )
}

function readSideEffect(text: string, name: string): SideEffect {
  const found = SIDE_EFFECTS.find((each) => each === text)
  if (found === undefined)
    throw new DefinitionError(
      `sideEffect of tool ${JSON.stringify(name)} is ${JSON.stringify(text)}; it is one of ${SIDE_EFFECTS.join(', ')}`,
    )
  return found
}
