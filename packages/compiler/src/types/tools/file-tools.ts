// Tools of the host in one file: the declarations it is checked against, its aliases, the tools that it defines itself.

import type { Expr, ExprOf, Program } from '@bridle/parser'
import { nodesWithin } from '../walk.js'
import type { ToolType, ToolTypes } from './declaration.js'

export class FileTools {
  readonly types: ToolTypes
  /** Names of `std/tools` and `std/grants` in this file. */
  private readonly byName = new Set<string>()
  private readonly aliases: ReadonlyMap<string, string>
  private readonly program: Program
  private own: ReadonlySet<string> | null = null
  private constants: ReadonlyMap<string, Expr> | null = null

  constructor(types: ToolTypes, aliases: ReadonlyMap<string, string>, program: Program) {
    this.types = types
    this.aliases = aliases
    this.program = program
  }

  /** Whether a function of `std/tools` or `std/grants` of that name is imported. */
  addByName(name: string): void {
    this.byName.add(name)
  }

  isByName(name: string): boolean {
    return this.byName.has(name)
  }

  /** The value of a top-level `let`, whose type the checker does not record. */
  constant(name: string): Expr | null {
    this.constants ??= new Map(
      this.program.items.flatMap((item) =>
        item.kind === 'Let' && !item.mutable && item.binding.kind === 'NameBinding' ? [[item.binding.name.text, item.value]] : [],
      ),
    )
    return this.constants.get(name) ?? null
  }

  /** The tool that `use tool … as NAME` declares. */
  aliased(name: string): ToolType | null {
    const tool = this.aliases.get(name)
    return tool === undefined ? null : this.types.find(tool)
  }

  /** Whether the script defines a tool of that name itself, which has precedence over the host's. */
  isOwn(name: string): boolean {
    this.own ??= listOwnTools(this.program)
    return this.own.has(name)
  }
}

export function listOwnTools(program: Program): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of nodesWithin(program, () => true)) {
    if (isToolDecl(node)) names.add(node.name.text)
    else if (isDefinition(node)) {
      const name = node.args[1]?.value
      if (name?.kind === 'String') names.add(name.value)
    }
  }
  return names
}

function isToolDecl(node: { readonly kind: string }): node is Extract<Program['items'][number], { kind: 'ToolDecl' }> {
  return node.kind === 'ToolDecl'
}

function isDefinition(node: { readonly kind: string }): node is ExprOf<'Call'> {
  return node.kind === 'Call' && (node as ExprOf<'Call'>).callee.text.startsWith('tool_define')
}
