// Tools of the host as the checker knows them: plain declarations with JSON Schemas, which may come from TypeScript, from an MCP server
// or from a file, and the types made from them when a script uses one.

import { show } from '../show.js'
import { ANY, type Known, substitute, type Type } from '../type.js'
import { argumentsType, isSchema, type JsonSchema, requiredKeys, resolveSchema, typeOfSchema } from './schema-type.js'

/** One tool. `bridle tools types --json` prints these, `bridle check --tools` reads them. */
export interface ToolDeclaration {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly description?: string
  readonly version?: string
  /** Schema of the arguments, an object; any dict when absent. */
  readonly parameters?: JsonSchema | null
  /** Schema of the result; unknown when absent. */
  readonly output?: JsonSchema | null
  /** Kinds of effect; unknown when absent. */
  readonly effects?: readonly string[]
  readonly sideEffect?: string
}

export interface ToolType {
  /** The name in scripts. */
  readonly name: string
  readonly declaration: ToolDeclaration
  readonly schema: JsonSchema | null
  /** Of the dict of arguments. */
  readonly args: Type
  /** Whether it can be called without a dict. */
  readonly isRequired: boolean
  readonly result: Known
}

export interface ToolTypesOptions {
  /** Whether these are all tools of the host, so that a call of any other one is a mistake. */
  readonly isComplete?: boolean
}

export class ToolTypes {
  readonly isComplete: boolean
  private readonly declarations = new Map<string, ToolDeclaration>()
  private readonly made = new Map<string, ToolType>()

  constructor(declarations: Iterable<ToolDeclaration>, { isComplete = false }: ToolTypesOptions = {}) {
    this.isComplete = isComplete
    for (const declaration of declarations) {
      this.declarations.set(declaration.name, declaration)
      for (const alias of declaration.aliases ?? []) if (!this.declarations.has(alias)) this.declarations.set(alias, declaration)
    }
  }

  get names(): Iterable<string> {
    return this.declarations.keys()
  }

  /** Names of the modules `host/NAME`. */
  get modules(): ReadonlySet<string> {
    const names = [...this.declarations.keys()].map((name) => (name.includes('.') ? name.slice(0, name.indexOf('.')) : 'tools'))
    return new Set(names)
  }

  find(name: string): ToolType | null {
    const known = this.made.get(name)
    if (known !== undefined) return known
    const declaration = this.declarations.get(name)
    if (declaration === undefined) return null
    const type = readTool(name, declaration)
    this.made.set(name, type)
    return type
  }

  /** The tool behind a function of the module `host/MODULE`. */
  ofModule(module: string, local: string): ToolType | null {
    return this.find(module === 'tools' ? local : `${module}.${local}`)
  }
}

function readTool(name: string, declaration: ToolDeclaration): ToolType {
  const { parameters = null, output = null } = declaration
  return {
    name,
    declaration,
    schema: parameters,
    ...argumentsType(parameters),
    result: output === null ? null : typeOfSchema(output, output),
  }
}

export interface ToolParameter {
  readonly name: string
  /** Formatted as a type. */
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

/** Parameters of a tool, or the keys of the nested dict at a path. */
export function listParameters({ schema: root }: ToolType, path: readonly string[] = []): readonly ToolParameter[] {
  let schema = root === null ? null : resolveSchema(root, root)
  for (const key of path) {
    const properties = schema?.['properties']
    schema = isSchema(properties) && Object.hasOwn(properties, key) ? resolveSchema(properties[key], root!) : null
  }
  const properties = schema?.['properties']
  if (schema === null || root === null || !isSchema(properties)) return []
  const required = requiredKeys(schema)
  return Object.entries(properties).map(([name, inner]) => {
    const type = typeOfSchema(inner, root)
    const description = resolveSchema(inner, root)?.['description']
    return {
      name,
      type: type === null ? 'any' : showType(type),
      isRequired: required.has(name),
      description: typeof description === 'string' ? description : '',
    }
  })
}

export function showType(type: Type): string {
  return show(substitute(type, new Map([['_', ANY]])))
}
