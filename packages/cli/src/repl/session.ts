// A REPL session: the accepted entries, and the effect of the next one. The session is one program, a
// growing pipeline: every entry runs it again from the start with the earlier outcomes (memory.ts) and without
// repeating earlier output. No machine state has to be kept between entries, and a failing entry leaves no
// trace in the session.

import { checkProgram, disassemble, readInterface, loadModules } from '@bridle/compiler'
import type { ImportedInterface } from '@bridle/compiler'
import { parse, SourceFile } from '@bridle/parser'
import type { Diagnostic, Program, Stmt } from '@bridle/parser'
import { CompileError, valueOf } from '@bridle/stdlib-tools'
import type { Module, Runtime } from '@bridle/stdlib-tools'
import { display } from '@bridle/vm'
import type { Value } from '@bridle/vm'
import { renderManifest } from '../commands/effects.js'
import { toPrintable, renderFinding } from '../printable.js'
import type { Memory } from './memory.js'

export interface SessionParts {
  /** `memory` wraps its providers and supplies its clock. */
  readonly runtime: Runtime
  readonly memory: Memory
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const NAME = '<repl>'
const HEAD = 'pipeline repl(task) {\n'

/** The state of an entry: valid, invalid, or incomplete. */
export type Standing = 'complete' | 'incomplete' | 'wrong'

export class Session {
  private readonly parts: SessionParts
  /** Lines that must precede everything else. */
  private imports = ''
  private body = ''
  private printed = 0

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  reset(): void {
    this.imports = ''
    this.body = ''
    this.printed = 0
    this.parts.memory.forget()
  }

  judgeEntry(entry: string): Standing {
    const text = wrapEntry('', '', entry).text
    const { program, diagnostics } = parse(new SourceFile(NAME, text))
    if (program !== null && isOnePipeline(program)) return 'complete'
    // Without the brace that ends the pipeline, incomplete text fails at its very end.
    const open = parse(new SourceFile(NAME, HEAD + entry))
    const first = open.diagnostics.find((each) => each.severity === 'error')
    if (isFile(entry)) return 'complete'
    if (first === undefined) return diagnostics.length > 0 ? 'wrong' : 'complete'
    const unfinished = first.span.start >= HEAD.length + entry.trimEnd().length || /^Unterminated/.test(first.message)
    return unfinished && isOpen(entry) ? 'incomplete' : 'wrong'
  }

  /** Runs an entry; true when it became part of the session. */
  async run(entry: string, signal?: AbortSignal): Promise<boolean> {
    const next = this.with(entry)
    if (next === null) return false
    const module = this.compile(next)
    if (module === null) return false
    const { memory, runtime, print, complain } = this.parts
    memory.begin()
    let seen = 0
    const run = runtime.start(module, {
      rawResult: true,
      ...(signal === undefined ? {} : { signal }),
      onEvent: (event) => {
        if (event.type === 'stderr') complain(event.text)
        if (event.type !== 'output') return
        const skipped = Math.max(0, Math.min(event.text.length, this.printed - seen))
        seen += event.text.length
        if (skipped < event.text.length) print(event.text.slice(skipped))
      },
    })
    const result = await run.result
    if (result.status !== 'done') {
      complain(toPrintable(`error: ${catchMessage(() => valueOf(result))}\n`))
      return false
    }
    if (next.leaves) return false
    memory.keep()
    this.imports = next.imports
    this.body = next.body
    this.printed = result.output.length
    if (next.hasValue && result.raw !== null) print(`${formatValue(result.raw)}\n`)
    return true
  }

  /** The type of an expression at the end of the session, by the checker. */
  inferType(expression: string): string | null {
    const next = this.with(expression)
    if (next === null) return null
    const file = new SourceFile(NAME, next.text)
    const loaded = loadModules({ key: NAME, text: next.text }, () => ({ kind: 'error', message: '' }))
    const program = loaded.graph?.order.at(-1)?.program
    const stmt = program === undefined ? undefined : findLastStatement(program)
    if (program === undefined || stmt?.kind !== 'ExprStmt') {
      this.parts.complain('error: `:type` takes an expression\n')
      return null
    }
    let found: string | null = null
    const imports = (): ImportedInterface => readInterface({ kind: 'Program', span: { start: 0, end: 0 }, items: [] })
    const probe = { stmt, found: (type: string | null) => (found = type) }
    this.show(
      checkProgram(program, { file, imports, probe }).filter((each) => !/^call target/.test(each.message)),
      file,
      next.start,
    )
    return found ?? 'unknown'
  }

  disassembleEntry(entry: string): string | null {
    const next = this.with(entry)
    const module = next === null ? null : this.compile(next)
    return module === null ? null : disassemble(module.program.main.chunk)
  }

  /** What the session, or the session with a further entry, can reach. */
  renderEffects(entry: string): string | null {
    const next = this.with(entry)
    const module = next === null ? null : this.compile(next)
    return module === null ? null : renderManifest('the session', module.manifest)
  }

  /** Names that the session has bound or imported. */
  names(): readonly string[] {
    const found = `${this.imports}\n${this.body}`.matchAll(
      /\b(?:let|var|fn|tool|struct|enum|type|interface|import|for)\b[^=\n]*/g,
    )
    const words = [...found].flatMap(([text]) => text.match(/[A-Za-z_]\w*/g) ?? [])
    return [...new Set(words)].filter(
      (word) => !/^(let|var|fn|tool|struct|enum|type|interface|import|from|for|in|std)$/.test(word),
    )
  }

  // ---- the program ----------------------------------------------------------------------------------------------------

  private with(entry: string): Next | null {
    const asFile = isFile(entry) ? parse(new SourceFile(NAME, entry)).program : null
    if (asFile !== null && asFile.items.some((item) => item.kind === 'PipelineDecl')) {
      this.parts.complain('error: a pipeline cannot be declared here; put it into a file and use `bridle run`\n')
      return null
    }
    const isImport = asFile !== null && asFile.items.length > 0 && asFile.items.every((item) => item.kind === 'ImportDecl')
    const imports = isImport ? `${this.imports}${entry}\n` : this.imports
    const added = isImport ? '' : `${entry}\n`
    const { text, start } = wrapEntry(imports, this.makeRedeclarable(added), added)
    const stmts = parseStatements(added)
    const last = stmts.at(-1)
    return {
      imports,
      body: this.makeRedeclarable(added) + added,
      text,
      start,
      hasValue: last?.kind === 'ExprStmt',
      // Nothing could follow it.
      leaves: stmts.some((stmt) => stmt.kind === 'Return' || stmt.kind === 'Throw'),
    }
  }

  /** The session with `var` for each `let` whose name the entry binds again: at the prompt a name may be rebound. */
  private makeRedeclarable(entry: string): string {
    const names = new Set(
      parseStatements(entry).flatMap((stmt) =>
        stmt.kind === 'Let' && stmt.binding.kind === 'NameBinding' ? [stmt.binding.name.text] : [],
      ),
    )
    if (names.size === 0) return this.body
    let body = this.body
    const earlier = parseStatements(this.body)
    for (const stmt of earlier.toReversed()) {
      if (stmt.kind !== 'Let' || stmt.mutable || stmt.binding.kind !== 'NameBinding' || !names.has(stmt.binding.name.text))
        continue
      const at = stmt.span.start - HEAD.length
      if (body.startsWith('let', at)) body = `${body.slice(0, at)}var${body.slice(at + 3)}`
    }
    return body
  }

  private compile(next: Next): Module | null {
    try {
      const module = this.parts.runtime.compile(next.text, { file: NAME })
      const file = module.files.get(NAME)
      if (file !== undefined) this.show(module.warnings, file, next.start)
      return module
    } catch (cause) {
      if (!(cause instanceof CompileError)) {
        this.parts.complain(toPrintable(`error: ${cause instanceof Error ? cause.message : String(cause)}\n`))
        return null
      }
      this.show(cause.diagnostics, cause.file, next.start)
      return null
    }
  }

  /** Findings in the new entry; errors elsewhere are shown too, since they block it. */
  private show(diagnostics: readonly Diagnostic[], file: SourceFile, start: number): void {
    for (const each of diagnostics) {
      if (each.span.start < start && each.severity !== 'error') continue
      this.parts.complain(
        each.span.start < start ? toPrintable(`${each.severity}: ${each.message}\n`) : renderEntryDiagnostic(each, file, start),
      )
    }
  }
}

interface Next {
  readonly imports: string
  readonly body: string
  readonly text: string
  /** Where the entry begins in the text. */
  readonly start: number
  readonly hasValue: boolean
  readonly leaves: boolean
}

function wrapEntry(imports: string, body: string, entry: string): { readonly text: string; readonly start: number } {
  const before = `${imports}${HEAD}${body}`
  return { text: `${before}${entry}\n}\n`, start: before.length }
}

function parseStatements(text: string): readonly Stmt[] {
  const { program } = parse(new SourceFile(NAME, `${HEAD}${text}\n}\n`))
  const pipeline = program?.items[0]
  return pipeline?.kind === 'PipelineDecl' ? pipeline.body.body : []
}

function findLastStatement(program: Program): Stmt | undefined {
  const pipeline = program.items.find((item) => item.kind === 'PipelineDecl')
  return pipeline?.kind === 'PipelineDecl' ? pipeline.body.body.at(-1) : undefined
}

function isOnePipeline(program: Program): boolean {
  return program.items.length === 1 && program.items[0]?.kind === 'PipelineDecl'
}

/** Whether text is only legal at the top of a file: imports and pipelines. */
function isFile(text: string): boolean {
  return /^[ \t]*(?:pub[ \t]+)?(?:import|pipeline)\b/m.test(text) && parse(new SourceFile(NAME, text)).program !== null
}

/** Whether open brackets, an open string or a trailing operator make the entry incomplete. */
function isOpen(entry: string): boolean {
  const { diagnostics } = parse(new SourceFile(NAME, `${HEAD}${entry}`))
  const message = diagnostics.find((each) => each.severity === 'error')?.message ?? ''
  if (/^Unterminated/.test(message)) return /"""|\/\*/.test(entry)
  const depth = [...entry.replaceAll(/"(?:\\.?|[^"\\\n])*"?|\/\/.*/g, '')].reduce(
    (sum, char) => sum + ('([{'.includes(char) ? 1 : ')]}'.includes(char) ? -1 : 0),
    0,
  )
  return depth > 0 || /(?:[-+*/%=,.&|?:]|\b(?:in|else|to))\s*$/.test(entry.trimEnd())
}

/** The entry alone, as the person wrote it. */
function renderEntryDiagnostic(diagnostic: Diagnostic, file: SourceFile, start: number): string {
  const own = new SourceFile(NAME, file.text.slice(start).replace(/\n\}\n$/, ''))
  const shift = (at: number): number => Math.min(Math.max(0, at - start), own.text.length)
  const span = { start: shift(diagnostic.span.start), end: shift(diagnostic.span.end) }
  return renderFinding({ ...diagnostic, span, related: [] }, own)
}

function catchMessage(raise: () => unknown): string {
  try {
    raise()
    return ''
  } catch (cause) {
    return (cause instanceof Error ? cause.message : String(cause)).replace(/ \(line \d+\)$/, '')
  }
}

function formatValue(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : display(value)
}
