// Rules about the source outside of the tree: documentation, empty lines, commas, the order of imports, the header of a file.

import {
  type Comment,
  compareImports,
  docBlock,
  fitsBlock,
  docText,
  format,
  isDeclaration,
  type Program,
  SourceFile,
  type Stmt,
  TOKEN,
} from '@bridle/parser'
import type { Edit, LintContext } from './context.js'

export function lintText(program: Program, context: LintContext): void {
  lintDocumentation(program.items, context)
  lintEmptyLines(program, context)
  lintCommas(context)
  lintImportOrder(program, context)
}

// ---- documentation -------------------------------------------------------------------------------------------------

/** Width of a documentation block in one line. */
const DOC_WIDTH = 100

/** Declarations of the top level, public ones of bodies, methods; those with attributes are skipped. */
function lintDocumentation(items: readonly Stmt[], context: LintContext, nested = false): void {
  for (const item of items) {
    if (!isDeclaration(item) || item.kind === 'ImportDecl') continue
    if (item.attributes.length === 0 && (!nested || item.isPublic)) lintItemDocumentation(item, context)
    if (item.kind === 'ImplDecl') lintDocumentation(item.methods, context, true)
    else if ('body' in item && item.kind !== 'EvalPackDecl') lintDocumentation(item.body.body, context, true)
  }
}

function lintItemDocumentation(item: Stmt, context: LintContext): void {
  const { file, comments } = context
  const run: Comment[] = []
  let line = file.lineAt(item.span.start)
  for (let at = indexBefore(comments, item.span.start); at >= 0; at -= 1) {
    const comment = comments[at]!
    if (!isRemark(comment, file) || file.lineAt(comment.start) !== line - 1 || !standsAlone(comment, file)) break
    run.unshift(comment)
    line -= 1
  }
  const [first] = run
  if (first === undefined) return
  const last = run.at(-1)!
  const slashes = run.filter((comment) => comment.doc).length
  const indent = file.text.slice(file.text.lastIndexOf('\n', first.start) + 1, first.start)
  const lines = run.map((comment) => {
    const text = file.text.slice(comment.start, comment.end)
    return comment.doc ? docText(text) : text.slice(2).replace(/^ /, '').trimEnd()
  })
  const span = { start: first.start, end: last.end }
  const words = lines.join('\n')
  const fix = fitsBlock(words) ? [{ span, text: docBlock(words, indent.length / 2, DOC_WIDTH) }] : null
  const found = slashes === run.length ? '`///`' : slashes === 0 ? 'plain `//`' : 'adjacent `//` / `///`'
  const rewrite =
    slashes === run.length
      ? '/// lines'
      : slashes === 0
        ? '// lines adjacent to the definition'
        : 'line-comment block adjacent to the definition'
  context.report('L001', span, { found, rewrite }, fix)
}

/** A line comment for readers, as opposed to one that enables an extension of the language. */
function isRemark(comment: Comment, { text }: SourceFile): boolean {
  return text.startsWith('//', comment.start) && !/^\/\/+[ \t]*@bridle\b/.test(text.slice(comment.start, comment.end))
}

function standsAlone(comment: Comment, file: SourceFile): boolean {
  return file.text.slice(file.text.lastIndexOf('\n', comment.start) + 1, comment.start).trim() === ''
}

/** Index of the last comment that begins before `offset`. */
function indexBefore(comments: readonly Comment[], offset: number): number {
  let low = 0
  let high = comments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (comments[middle]!.start < offset) low = middle + 1
    else high = middle
  }
  return low - 1
}

// ---- empty lines ---------------------------------------------------------------------------------------------------

function lintEmptyLines({ items }: Program, context: LintContext): void {
  const { file, comments } = context
  for (const [at, item] of items.entries()) {
    const before = items[at - 1]
    if (before === undefined || !isItem(before) || !isItem(item)) continue
    if (before.kind === 'ImportDecl' && item.kind === 'ImportDecl') continue
    const end = before.span.end
    let start = findItemStart(item, file)
    // Comments on the lines directly above belong to the item.
    for (let index = indexBefore(comments, start); index >= 0; index -= 1) {
      const comment = comments[index]!
      const isGlued = file.lineAt(comment.end - 1) >= file.lineAt(start) - 1
      if (comment.start < end || !isGlued || file.lineAt(comment.start) === file.lineAt(end - 1)) break
      start = comment.start
    }
    const between = file.text.slice(end, start)
    if (/\n[ \t\r]*\n/.test(between)) continue
    const span = { start, end: start + 1 }
    // Two items on one line need two breaks.
    const text = between.includes('\n') ? '\n' : '\n\n'
    context.report('L002', span, {}, [{ span: { start, end: start }, text }])
  }
}

/** Statements may be adjacent, and declarations with attributes are visually separate. */
function isItem(stmt: Stmt): boolean {
  return isDeclaration(stmt) ? stmt.attributes.length === 0 : stmt.kind === 'Let'
}

/** `pub` precedes the span. */
function findItemStart(item: Stmt, file: SourceFile): number {
  const { start } = item.span
  const before = file.text.slice(Math.max(0, start - 100), start)
  return start - (/\bpub\s*$/.exec(before)?.[0].length ?? 0)
}

// ---- commas --------------------------------------------------------------------------------------------------------

interface Bracket {
  readonly unit: number
  readonly token: number
  hasComma: boolean
}

const OPENING: ReadonlySet<number> = new Set((['(', '[', '{', '{->'] as const).map((name) => TOKEN[name]))
const CLOSING: ReadonlySet<number> = new Set(([')', ']', '}'] as const).map((name) => TOKEN[name]))

const BINDERS: ReadonlySet<number> = new Set((['let', 'var', 'for'] as const).map((name) => TOKEN[name]))

function lintCommas(context: LintContext): void {
  const { file, tokens } = context
  const unitAt = (at: number): number => tokens.units.charCodeAt(at)
  const open: Bracket[] = []
  for (let at = 0; at < tokens.units.length; at += 1) {
    const unit = unitAt(at)
    if (OPENING.has(unit)) open.push({ unit, token: at, hasComma: false })
    else if (unit === TOKEN[',']) {
      const bracket = open.at(-1)
      if (bracket !== undefined) bracket.hasComma = true
    } else if (CLOSING.has(unit)) {
      const bracket = open.pop()
      if (bracket === undefined || !bracket.hasComma || !isSequence(bracket)) continue
      const last = unitAt(at - 1) === TOKEN['\n'] ? at - 2 : at - 1
      const isLong = file.lineAt(tokens.starts[bracket.token]!) < file.lineAt(tokens.starts[at]!)
      if (!isLong || unitAt(last) === TOKEN[','] || endsInRest(bracket, last)) continue
      const end = tokens.ends[last]!
      context.report('L003', { start: end - 1, end }, {}, [{ span: { start: end, end }, text: ',' }])
    }
  }

  /** In `let [a, ...rest] =` nothing may follow the rest. */
  function endsInRest(bracket: Bracket, last: number): boolean {
    return unitAt(last - 1) === TOKEN['...'] && BINDERS.has(unitAt(bracket.token - 1))
  }

  /** Braces hold blocks and patterns too; a dict, struct or shape begins with a key and a colon. */
  function isSequence({ unit, token }: Bracket): boolean {
    if (unit === TOKEN['{->']) return false
    if (unit !== TOKEN['{']) return true
    const first = unitAt(token + 1) === TOKEN['\n'] ? token + 2 : token + 1
    const key = file.text.slice(tokens.starts[first], tokens.ends[first])
    return /^(?:[\p{Alphabetic}_]|")/u.test(key) && unitAt(first + 1) === TOKEN[':']
  }
}

// ---- imports and the header ----------------------------------------------------------------------------------------

function lintImportOrder({ items }: Program, context: LintContext): void {
  const other = items.findIndex((item) => item.kind !== 'ImportDecl')
  const imports = other < 0 ? items : items.slice(0, other)
  const sorted = imports.toSorted(compareImports)
  const [first] = imports
  if (first === undefined || sorted.every((item, at) => item === imports[at])) return
  context.report('L004', first.span, {}, orderImports(imports, context))
}

/** The block as the formatter would write it. Comments above the first import stay where they are. */
function orderImports(imports: readonly Stmt[], context: LintContext): readonly Edit[] | null {
  const span = { start: findItemStart(imports[0]!, context.file), end: imports.at(-1)!.span.end }
  const result = format(new SourceFile(context.file.name, context.file.text.slice(span.start, span.end)))
  return result.kind === 'failed' ? null : [{ span, text: result.text.trimEnd() }]
}

export function lintFileHeader(context: LintContext): void {
  const { name, text } = context.file
  // A shebang line stays first.
  const start = /^\ufeff?(?:#![^\n]*\n?)?/.exec(text)?.[0].length ?? 0
  if (text.slice(start).trimStart().startsWith('/**')) return
  const stem = (name.split(/[\\/]/).at(-1) ?? '').replace(/\.[^.]*$/, '')
  const words = stem.replace(/[-_]/g, ' ').toLowerCase()
  const title = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
  const at = { start, end: start }
  const before = start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\ufeff' ? '\n' : ''
  context.report('L005', at, {}, [{ span: at, text: `${before}/**\n * ${title}.\n */\n\n` }])
}
