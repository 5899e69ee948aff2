// Scripts as a model sends them: a whole one, or only the declarations that it changed since an earlier attempt.

import { SourceFile, parse } from '@bridle/parser'
import type { Program } from '@bridle/parser'

export const SCRIPT_FILE = 'script.harn'

type TopLevel = Program['items'][number]

/** By which a later declaration replaces an earlier one; null for a statement. */
function nameDeclaration(item: TopLevel): string | null {
  switch (item.kind) {
    case 'FnDecl':
    case 'PipelineDecl':
    case 'ToolDecl':
    case 'StructDecl':
    case 'EnumDecl':
    case 'TypeDecl':
    case 'InterfaceDecl':
      return item.name.text
    case 'ImportDecl':
      return `import ${item.path}`
    default:
      return null
  }
}

/**
 * The base with the declarations of the change in place of those of the same names; imports come first, others last. The text instead that
 * says why that cannot be done.
 */
export function replaceDeclarations(base: string, change: string): { readonly text: string } | { readonly problem: string } {
  const [before, after] = [base, change].map((text) => parse(new SourceFile(SCRIPT_FILE, text)).program)
  if (after === null || after === undefined) return { problem: 'the change has an error of syntax: send the whole script' }
  if (before === null || before === undefined)
    return { problem: 'the script before has an error of syntax: send the whole script' }
  const known = new Map(before.items.map((item) => [nameDeclaration(item), item]))
  const edits: { start: number; end: number; text: string }[] = []
  const imports: string[] = []
  const added: string[] = []
  for (const item of after.items) {
    const name = nameDeclaration(item)
    if (name === null)
      return { problem: 'a change has only functions and other declarations: send the whole script to change its statements' }
    const text = change.slice(item.span.start, item.span.end)
    const old = known.get(name)
    if (old !== undefined) edits.push({ start: old.span.start, end: old.span.end, text })
    else if (item.kind === 'ImportDecl') imports.push(text)
    else added.push(text)
  }
  let text = base
  for (const { start, end, text: replacement } of edits.sort((a, b) => b.start - a.start))
    text = text.slice(0, start) + replacement + text.slice(end)
  return { text: [...imports, text.trimEnd(), ...added.map((each) => `\n${each}`), ''].join('\n') }
}
