// Shared by the parts of the pass: where to report, the meaning of names, and the scopes of the walk.

import { type Diagnostic, report, type SourceFile, type Span, type Stmt } from '@bridle/parser'
import type { Contents } from '../contents.js'
import { type Bound, type FileNames, readKind, type Structs } from './names.js'
import type { Purity } from './purity.js'
import { MISTAKE_CATALOG, type MistakeArgs, type MistakeCode } from './catalog.js'

export type Fix = NonNullable<Diagnostic['fix']>

export interface MistakeContext {
  readonly file: SourceFile
  readonly contents: Contents
  readonly names: FileNames
  readonly scopes: Scopes
  readonly purity: Purity
  /** Whether the signature of a builtin has a result. */
  readonly hasResult: (builtin: string) => boolean
  readonly isBuiltin: (name: string) => boolean
  /** Whether scripts can use the name without declaring it. */
  readonly isGlobal: (name: string) => boolean
  /** Whether the position is in text of another language: a command, a pattern, a template. */
  readonly inForeignText: () => boolean
  readonly asForeignText: (visit: () => void) => void
  readonly report: <C extends MistakeCode>(code: C, span: Span, args: MistakeArgs<C>, fix?: Fix | null) => void
}

export function mistakeReporter(diagnostics: Diagnostic[]): MistakeContext['report'] {
  return <C extends MistakeCode>(code: C, span: Span, args: MistakeArgs<C>, fix: Fix | null = null): void => {
    diagnostics.push(report(MISTAKE_CATALOG, code, span, args, { fix }))
  }
}

/** Names by block, the innermost last. */
export class Scopes {
  /** Tables are created on the first binding: most blocks bind nothing. */
  private readonly stack: (Map<string, Bound> | null)[] = [null]
  private readonly structs: Structs

  constructor(structs: Structs) {
    this.structs = structs
  }

  open(): void {
    this.stack.push(null)
  }

  close(): void {
    this.stack.pop()
  }

  bind(name: string, bound: Bound): void {
    const { stack } = this
    const table = (stack[stack.length - 1] ??= new Map())
    table.set(name, bound)
  }

  find(name: string): Bound | null {
    const { stack } = this
    for (let at = stack.length - 1; at >= 0; at--) {
      const found = stack[at]?.get(name)
      if (found !== undefined) return found
    }
    return null
  }

  declare({ binding, mutable, value, span: declaredAt }: Extract<Stmt, { kind: 'Let' }>): void {
    if (binding.kind === 'NameBinding') this.bind(binding.name.text, { mutable, kind: readKind(value, this.structs), declaredAt })
    else this.bindParts(binding, mutable)
  }

  declareLoop({ binding }: Extract<Stmt, { kind: 'For' }>): void {
    if (binding.kind === 'NameBinding') this.bind(binding.name.text, { mutable: false, kind: null })
    else this.bindParts(binding, false)
  }

  private bindParts(
    binding: Exclude<Extract<Stmt, { kind: 'For' }>['binding'], { kind: 'NameBinding' }>,
    mutable: boolean,
  ): void {
    const bound = { mutable, kind: null }
    if (binding.kind === 'PairBinding') {
      this.bind(binding.first.text, bound)
      this.bind(binding.second.text, bound)
      return
    }
    if (binding.kind === 'DictBinding') for (const { key, alias } of binding.fields) this.bind((alias ?? key).text, bound)
    else for (const { name } of binding.items) this.bind(name.text, bound)
    if (binding.rest !== null) this.bind(binding.rest.text, bound)
  }
}
