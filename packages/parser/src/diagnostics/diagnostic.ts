// The form in which every phase before execution reports. A diagnostic is data; render.ts renders it.

import type { Span } from '../source.js'

export type Severity = 'error' | 'warning' | 'info'

export interface Diagnostic {
  /** A row of catalog.ts: P parsing, N names, T types, C compiling, L lint. */
  readonly code: string
  readonly severity: Severity
  /** One line, in the language's wording: scripts and suites match on it. */
  readonly message: string
  readonly span: Span
  readonly hint: string | null
  readonly related: readonly { readonly span: Span; readonly message: string }[]
  /** A mechanical repair: replacements for spans. */
  readonly fix: { readonly title: string; readonly edits: readonly { readonly span: Span; readonly text: string }[] } | null
}
