// Code actions at a position: repairs of findings, all repairs of the file, organise imports, and refactorings.

import type { Program, Stmt } from '@bridle/parser'
import { compareImports, tokenize } from '@bridle/parser'
import { CodeActionKind } from 'vscode-languageserver/node'
import type { CodeAction, Range, TextEdit, WorkspaceEdit } from 'vscode-languageserver/node'
import { repairTarget } from '../checking/repair.js'
import { MOST_FINDINGS, toDiagnostic, toRange } from './answers.js'
import type { OpenDocument } from './document.js'
import { makeLineEdits } from './layout.js'
import { extractFunction, extractVariable, inlineVariable } from './refactor.js'

/** Kinds that are returned only on request: they concern the whole file. */
export const SOURCE_KINDS = [CodeActionKind.SourceFixAll, CodeActionKind.SourceOrganizeImports]
export const ACTION_KINDS = [
  CodeActionKind.QuickFix,
  CodeActionKind.RefactorExtract,
  CodeActionKind.RefactorInline,
  ...SOURCE_KINDS,
]

/** `only`: requested kinds, each including those below it. */
export function listCodeActions(document: OpenDocument, range: Range, only: readonly string[] | null): CodeAction[] {
  const wants = (kind: string): boolean =>
    only === null
      ? !SOURCE_KINDS.some((each) => each === kind)
      : only.some((each) => each === '' || kind === each || kind.startsWith(`${each}.`))
  const edit = (edits: readonly TextEdit[]): WorkspaceEdit => ({ changes: { [document.text.uri]: [...edits] } })
  const actions = wants(CodeActionKind.QuickFix) ? listRepairs(document, range) : []
  const add = (kind: CodeActionKind, title: string, make: () => readonly TextEdit[] | null): void => {
    const edits = wants(kind) ? make() : null
    if (edits !== null && edits.length > 0) actions.push({ title, kind, edit: edit(edits) })
  }
  const span = { start: document.text.offsetAt(range.start), end: document.text.offsetAt(range.end) }
  const { RefactorExtract } = CodeActionKind
  add(`${RefactorExtract}.variable`, 'Extract to a variable', () => extractVariable(document, span))
  add(`${RefactorExtract}.function`, 'Extract to a function', () => extractFunction(document, span))
  add(`${CodeActionKind.RefactorInline}.variable`, 'Inline the variable', () => inlineVariable(document, span))
  add(CodeActionKind.SourceFixAll, 'Repair everything that is mechanical', () => fixAll(document))
  add(CodeActionKind.SourceOrganizeImports, 'Organize imports', () => organizeImports(document))
  return actions.slice(0, MOST_FINDINGS)
}

/** Repairs of the findings that touch a range. */
function listRepairs(document: OpenDocument, range: Range): CodeAction[] {
  const { text } = document
  const from = text.offsetAt(range.start)
  const to = text.offsetAt(range.end)
  const touched = document.listFindings.filter(
    ({ file, diagnostic: { fix, span } }) =>
      file === document.parsed.file && fix !== null && span.end >= from && span.start <= to,
  )
  return touched.slice(0, MOST_FINDINGS).flatMap((finding) => {
    const { fix } = finding.diagnostic
    if (fix === null) return []
    const edits = fix.edits.map((edit) => ({ range: toRange(text, edit.span), newText: edit.text }))
    return [
      {
        title: fix.title,
        kind: CodeActionKind.QuickFix,
        isPreferred: true,
        diagnostics: [toDiagnostic(document, finding)],
        edit: { changes: { [text.uri]: edits } },
      },
    ]
  })
}

/** As `bridle check --fix`, including the style rules. */
function fixAll(document: OpenDocument): readonly TextEdit[] {
  const { parsed } = repairTarget(document.parsed, (each) => document.findIn(each))
  return makeLineEdits(document.text, parsed.target.text)
}

type ImportDecl = Extract<Stmt, { kind: 'ImportDecl' }>

/** Removes unused names, and sorts each group of imports as the formatter does. */
export function organizeImports(document: OpenDocument): readonly TextEdit[] {
  const { program } = document.parsed
  if (program === null) return []
  const source = document.text.getText()
  let made = source
  for (const group of groupImports(program, source).toReversed()) {
    const texts = mergeImports(document, group).toSorted((one, other) => compareImports(one.decl, other.decl))
    const start = group[0]!.span.start
    const end = group.at(-1)!.span.end
    const lines = texts.map(({ text }) => text).join('\n')
    // If the last import of a group is removed, so is the group's line break.
    const behind = lines === '' && made[end] === '\n' ? end + 1 : end
    made = made.slice(0, start) + lines + made.slice(behind)
  }
  return makeLineEdits(document.text, made)
}

/** Imports with nothing but white space between them. */
function groupImports(program: Program, source: string): readonly (readonly ImportDecl[])[] {
  const groups: ImportDecl[][] = []
  for (const item of program.items) {
    if (item.kind !== 'ImportDecl') continue
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && /^\s*$/.test(source.slice(last.span.end, item.span.start))) groups.at(-1)!.push(item)
    else groups.push([item])
  }
  return groups
}

interface ImportText {
  readonly decl: ImportDecl
  readonly text: string
}

/** Merges imports of the same module. */
function mergeImports(document: OpenDocument, group: readonly ImportDecl[]): readonly ImportText[] {
  const source = document.text.getText()
  const used = (decl: ImportDecl): readonly string[] | null => {
    if (decl.names === null) return null
    const kept = decl.isPublic ? decl.names : decl.names.filter(({ span }) => isUsed(document, span.start))
    return kept.map(({ text }) => text)
  }
  const byPath = new Map<string, { decl: ImportDecl; names: string[] | null }>()
  for (const decl of group) {
    const names = used(decl)
    const key = `${decl.isPublic} ${names === null} ${decl.path} ${decl.attributes.length === 0 ? '' : decl.span.start}`
    const known = byPath.get(key)
    if (known === undefined) byPath.set(key, { decl, names: names === null ? null : [...names] })
    else known.names?.push(...(names ?? []))
  }
  return [...byPath.values()].flatMap(({ decl, names }) => {
    const text = source.slice(decl.span.start, decl.span.end)
    if (names === null) return [{ decl, text }]
    if (names.length === 0) return []
    const list = [...new Set(names)].toSorted()
    const braces = listBraces(text)
    return [{ decl, text: `${text.slice(0, braces.open)}{ ${list.join(', ')} }${text.slice(braces.close + 1)}` }]
  })
}

/** The braces around the names. */
function listBraces(text: string): { readonly open: number; readonly close: number } {
  const operators = tokenize(text).filter(({ kind }) => kind === 'operator')
  const find = (char: string): number => operators.find(({ span }) => text[span.start] === char)?.span.start ?? 0
  return { open: find('{'), close: find('}') }
}

function isUsed(document: OpenDocument, start: number): boolean {
  const symbol = document.symbols!.topLevel.find(({ span }) => span.start === start)
  return symbol === undefined || symbol.references.length > 0
}
