// One piece of source as reports show it: position, line and carets.

export interface Excerpt {
  readonly file: string
  /** From 1; 0 when unknown. */
  readonly line: number
  readonly column: number
  /** The line, null when the source is not available. */
  readonly text: string | null
  /** Number of carets; 0 for none. */
  readonly width: number
}

/** Lines without the header, with the indentation of further notes of the same report. */
export function renderExcerpt(excerpt: Excerpt): { readonly lines: readonly string[]; readonly pad: string } {
  const { file, line, column, text, width } = excerpt
  if (line === 0) return { lines: [`  --> ${file}`], pad: '  ' }
  const pad = ' '.repeat(String(line).length + 1)
  const lines = [`${pad}--> ${file}:${line}:${Math.max(column, 1)}`, `${pad} |`]
  if (text !== null) {
    lines.push(` ${line} | ${text}`)
    if (width > 0 && column > 0) lines.push(`${pad} | ${' '.repeat(column - 1)}${'^'.repeat(width)}`)
  }
  return { lines, pad }
}

/** Code points of the identifier at `column` (from 1, in code points), 1 when there is none. */
export function measureIdentifier(text: string, column: number): number {
  const rest = Array.from(text)
    .slice(Math.max(column, 1) - 1)
    .join('')
  const name = /^[\p{L}_][\p{L}\p{Nd}_]*/u.exec(rest)?.[0] ?? ''
  return Math.max(1, Array.from(name).length)
}
