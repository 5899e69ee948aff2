// What every phase before execution reports with. A diagnostic is data; render.ts turns it into text.

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
  /** A mechanical repair: replace the spans by the texts. */
  readonly fix: { readonly title: string; readonly edits: readonly { readonly span: Span; readonly text: string }[] } | null
}
