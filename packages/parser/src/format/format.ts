// The formatter: source → the same program, formatted; and tree → source for programs without source. The rules are in
// docs/language/formatting.md; `formatted` says whether the result still is the same program.
//
// The output is printed from the tree. What the tree lacks (comments, line breaks, spelling of literals) is
// taken from the old source. Formatting twice equals formatting once.

import type { Program, Stmt } from '../ast.js'
import type { Diagnostic } from '../diagnostics/diagnostic.js'
import type { Comment } from '../lexer.js'
import { PRAGMA } from '../grant-syntax.js'
import { parse } from '../parse.js'
import type { SourceFile } from '../source.js'
import { bar, barTitle, commentParagraphs, isBar, splitTrailing } from './comments.js'
import { compareText } from './declarations.js'
import { type FormatOptions, Layout } from './layout.js'
import { walk } from '../visit.js'
import { printStmt } from './statements.js'

export type { FormatOptions } from './layout.js'

export type FormatResult =
  | { readonly kind: 'formatted'; readonly text: string }
  /** The source has syntax errors. */
  | { readonly kind: 'failed'; readonly diagnostics: readonly Diagnostic[] }

export function format(source: SourceFile, options: FormatOptions = {}): FormatResult {
  const { program, diagnostics } = parse(source)
  if (program === null) return { kind: 'failed', diagnostics }
  return { kind: 'formatted', text: printProgram(new Layout(source, options), program) }
}

/** Prints a tree. Parsing the result gives the same tree, except for spans. Files of the grants extension start with its comment. */
export function print(program: Program, options: FormatOptions = {}): string {
  const text = printProgram(new Layout(null, options), program)
  return usesGrants(program) ? `// @bridle grants\n\n${text}` : text
}

function usesGrants(program: Program): boolean {
  let found = false
  walk(program, {
    enter: ({ kind }) => {
      found ||= kind === 'UseTool' || kind === 'Grant' || kind === 'BindEffect'
      return !found
    },
  })
  return found
}

function printProgram(layout: Layout, program: Program): string {
  const shebang = /^\ufeff?(#![^\n]*)/.exec(layout.source?.text ?? '')?.[1] ?? null
  const sections = topLevel(layout, program)
  const text = sections.length === 0 ? '' : `${sections.join('\n\n')}\n`
  return shebang === null ? text : `${shebang.trimEnd()}\n${text}`
}

/** An item with its comments, or comments alone. Sections are separated by an empty line. */
type Section = string

function topLevel(layout: Layout, program: Program): Section[] {
  const { items } = program
  const end = layout.source?.text.length ?? 0
  const entries = items.map((item, at): TopItem => {
    const text = printStmt(layout, item, 0)
    const before = items[at - 1]?.span.end ?? 0
    const gap = layout.gap(before, item.span.start)
    const leading = at === 0 ? gap : splitTrailing(layout, gap, before).leading
    const after = layout.gap(item.span.end, items[at + 1]?.span.start ?? end)
    const { trailing } = splitTrailing(layout, after, item.span.end)
    return { item, comments: [...leading, ...layout.takeUnplaced(item.span)], text: `${text}${trailing}` }
  })
  const last = items.at(-1)
  const rest =
    last === undefined ? layout.gap(0, end) : splitTrailing(layout, layout.gap(last.span.end, end), last.span.end).leading

  const firstOther = entries.findIndex(({ item }) => item?.kind !== 'ImportDecl')
  const imports = firstOther < 0 ? entries : entries.slice(0, firstOther)
  const others = firstOther < 0 ? [] : entries.slice(firstOther)
  return [
    ...importSections(layout, imports),
    ...otherSections(layout, others),
    ...splitSections(layout, { item: null, comments: rest, text: '' }),
  ]
}

interface TopItem {
  readonly item: Stmt | null
  readonly comments: readonly Comment[]
  readonly text: string
}

/**
 * Imports in order, without empty lines. Comments above an import move with it. Comments followed by an empty line before the first import
 * belong to the file and stay at its start, and so does a comment that enables an extension. Where the first import moves, so do
 * documentation and a comment of several lines above it: they are about the file.
 */
function importSections(layout: Layout, entries: readonly TopItem[]): Section[] {
  const header: Section[] = []
  const first = entries.toSorted((one, other) => compareImports(one.item, other.item))[0]
  const isMoved = first !== entries[0]
  const sorted = entries
    .map((entry, at) => {
      if (at > 0) return { entry, text: splitSections(layout, entry).join('\n') }
      const pragma = entry.comments.findLastIndex((comment) => PRAGMA.test(layout.text(comment) ?? ''))
      header.push(...splitSections(layout, { item: null, comments: entry.comments.slice(0, pragma + 1), text: '' }))
      const sections = splitSections(layout, { ...entry, comments: entry.comments.slice(pragma + 1) })
      header.push(...sections.slice(0, -1))
      const above = entry.comments.slice(pragma + 1).filter(({ end }) => end <= (entry.item?.span.start ?? 0))
      if (!isMoved || sections.length > 1 || !isAboutFile(above)) return { entry, text: sections.at(-1)! }
      header.push(...splitSections(layout, { item: null, comments: above, text: '' }))
      return {
        entry,
        text: splitSections(layout, {
          ...entry,
          comments: entry.comments.filter((each) => each.start > above.at(-1)!.start),
        }).join('\n'),
      }
    })
    .sort((one, other) => compareImports(one.entry.item, other.entry.item))
  return sorted.length === 0 ? [] : [...header, sorted.map(({ text }) => text).join('\n')]
}

/** Whether comments above the first import introduce the file. */
function isAboutFile(comments: readonly Comment[]): boolean {
  return comments.length > 1 || comments[0]?.doc === true
}

/** The order of imports: the library first, then by path, plain before selective, then by names. Stable. */
export function compareImports(one: Stmt | null, other: Stmt | null): number {
  if (one?.kind !== 'ImportDecl' || other?.kind !== 'ImportDecl') return 0
  const isForeign = (path: string): number => (path.startsWith('std/') ? 0 : 1)
  const names = (decl: typeof one): string =>
    (decl.names ?? [])
      .map((name) => name.text)
      .sort(compareText)
      .join(',')
  return (
    isForeign(one.path) - isForeign(other.path) ||
    compareText(one.path, other.path) ||
    Number(one.names !== null) - Number(other.names !== null) ||
    compareText(names(one), names(other))
  )
}

/** Statements about grants need no empty line between them, like imports. */
function otherSections(layout: Layout, entries: readonly TopItem[]): Section[] {
  const sections: Section[] = []
  for (const [at, entry] of entries.entries()) {
    const own = splitSections(layout, entry)
    const before = entries[at - 1]?.item ?? null
    if (own.length === 1 && isGrant(before) && isGrant(entry.item)) sections.push(`${sections.pop()!}\n${own[0]!}`)
    else sections.push(...own)
  }
  return sections
}

function isGrant(item: Stmt | null): boolean {
  return item?.kind === 'UseTool' || item?.kind === 'Grant' || item?.kind === 'BindEffect'
}

/** Splits the comments above an item at empty lines and section bars; the item is the last section. */
function splitSections(layout: Layout, { item, comments, text }: TopItem): Section[] {
  const sections: Section[] = []
  let current = ''
  let line = 0
  const close = (): void => {
    if (current !== '') sections.push(current.trimEnd())
    current = ''
  }
  const paragraphs = commentParagraphs(layout, comments, 0)
  for (let at = 0; at < paragraphs.length; at += 1) {
    const heading = headingAt(paragraphs.slice(at).map((one) => one.text.trimEnd()))
    const last = paragraphs[at + heading.used - 1]!
    if (heading.text !== null || (line > 0 && layout.line(paragraphs[at]!.start) > line + 1)) close()
    current += heading.text ?? paragraphs[at]!.text
    line = layout.line(last.end)
    at += heading.used - 1
    if (heading.text !== null) close()
  }
  const isApart = item !== null && line > 0 && layout.line(findStart(layout, item)) > line + 1
  if (isApart) close()
  current += text
  close()
  return sections

  /** A section bar, with or without a title, at the start of `lines`; `used` counts the lines it takes. */
  function headingAt(lines: readonly string[]): { readonly text: string | null; readonly used: number } {
    const [first, second, third] = lines
    const rule = bar(layout.separatorWidth)
    const printTitle = (title: string): string => `${rule}\n// ${title}\n${rule}`
    if (first === undefined) return { text: null, used: 1 }
    const title = barTitle(first)
    if (title !== null) return { text: printTitle(title), used: 1 }
    if (!isBar(first)) return { text: null, used: 1 }
    const isTitle = second !== undefined && second.startsWith('// ') && !isBar(second) && barTitle(second) === null
    if (isTitle && third !== undefined && isBar(third)) return { text: printTitle(second.slice(3).trim()), used: 3 }
    return { text: rule, used: 1 }
  }
}

/** Offset of the start of an item, including `pub`, which its span excludes. */
function findStart(layout: Layout, item: Stmt): number {
  const { start } = item.span
  const before = layout.text({ start: Math.max(0, start - 100), end: start }) ?? ''
  return start - (/\bpub\s*$/.exec(before)?.[0].length ?? 0)
}
