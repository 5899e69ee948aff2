// Style requirements for the Harn modules, because newcomers read them as examples of the language: they are formatted,
// without lint findings, begin with a comment about the purpose of the module, and document their public names.

import { lintProgram } from '../packages/compiler/src/index.js'
import type { ImportedInterface, LintOptions } from '../packages/compiler/src/index.js'
import { format, parse } from '../packages/parser/src/index.js'
import type { SourceFile, Stmt } from '../packages/parser/src/index.js'

export interface LibraryModule {
  /** As the generator names it: `std/text`, `agents/loop/turns`. */
  readonly name: string
  readonly file: SourceFile
  readonly types: LintOptions['signatures'] & {}
  readonly imports: (path: string) => ImportedInterface | null
}

type Declaration = Extract<Stmt, { readonly doc: string | null }>

/** Rules that do not apply to a module, with the reason. */
const EXEMPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  // Its methods have the names that scripts for llmspell use.
  ['std/llmspell', ['naming-convention']],
  // It is for tests: its assertions are made in their name.
  ['std/testing', ['assert-outside-test']],
])

/** A value of an untrusted dict may be a string: `signed == true` is not redundant there. */
const OFF = ['comparison-to-bool']

/** One line per problem; empty for a module that does not parse, which is reported elsewhere. */
export function findStyleProblems({ name, file, types, imports }: LibraryModule): readonly string[] {
  const { program } = parse(file)
  if (program === null) return []
  const disabled = [...OFF, ...(EXEMPTIONS.get(name) ?? [])]
  const findings = lintProgram(program, { file, signatures: types, imports, disabled })
  const problems = findings.map(({ span, message }) => `${place(file, span.start)} ${message}`)
  if (!file.text.startsWith('//')) problems.push(`${file.name}: begin the file with a comment that says what it is for`)
  if (name.startsWith('std/')) {
    for (const { what, decl } of program.items.flatMap(listDeclarations))
      if (decl.doc === null)
        problems.push(`${place(file, decl.span.start)} ${what} \`${decl.name.text}\` needs a \`/** */\` comment`)
  }
  const laidOut = format(file)
  if (laidOut.kind !== 'formatted' || laidOut.text !== file.text) problems.push(`${file.name}: run \`bridle fmt ${file.name}\``)
  return problems
}

function place(file: SourceFile, offset: number): string {
  return `${file.name}:${file.position(offset).line}`
}

/** Types and methods: importers see them whether they are public or not. Lint checks functions. */
function listDeclarations(item: Stmt): readonly { readonly what: string; readonly decl: Declaration }[] {
  switch (item.kind) {
    case 'TypeDecl':
    case 'StructDecl':
    case 'EnumDecl':
    case 'InterfaceDecl':
      return [{ what: 'type', decl: item }]
    case 'ImplDecl':
      return item.methods.map((method) => ({ what: 'method', decl: method }))
    default:
      return []
  }
}
