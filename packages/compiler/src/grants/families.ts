// Families of the standard tools, for `use tool FAMILY as *`: the names that it binds, and the names of a file that have precedence.

import type { Stmt } from '@bridle/parser'
import { boundNames } from '../types/infer.js'
import { STANDARD_TOOL_BUILTINS } from './standard.js'

export interface FamilyTool {
  readonly id: string
  /** The id without its family. */
  readonly name: string
}

/** Excludes `json`, a tool without a family. */
const STANDARD = Object.keys(STANDARD_TOOL_BUILTINS).flatMap((id) => {
  const dot = id.indexOf('.')
  return dot < 0 ? [] : [{ family: id.slice(0, dot), id, name: id.slice(dot + 1) }]
})

/** The standard tools of a family; none when there is no such family. */
export function listFamilyTools(family: string): readonly FamilyTool[] {
  return STANDARD.filter((tool) => tool.family === family)
}

/** Names of all families, including the host's. */
export function listFamilies(hostFamilies: Iterable<string> = []): readonly string[] {
  return [...new Set([...STANDARD.map(({ family }) => family), ...hostFamilies])].sort()
}

/** Names that a file declares at top level, in any way. */
export function listDeclaredNames(items: readonly Stmt[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const item of items) {
    switch (item.kind) {
      case 'FnDecl':
      case 'ToolDecl':
      case 'PipelineDecl':
      case 'StructDecl':
      case 'EnumDecl':
        names.add(item.name.text)
        break
      case 'UseTool':
        if (item.alias !== null) names.add(item.alias.text)
        break
      case 'ImportDecl':
        for (const name of item.names ?? []) names.add(name.text)
        break
      case 'Let':
        for (const name of boundNames(item)) names.add(name)
        break
      default:
        break
    }
  }
  return names
}
