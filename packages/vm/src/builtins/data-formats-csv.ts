// CSV texts (RFC 4180, read leniently): rows of cells in, text out, and back (reference 03a §10.3).

/** Records of the text; blank lines are none. A quote inside an unquoted cell is an ordinary character. */
export function parseCsv(text: string, delimiter: string): string[][] {
  const records: string[][] = []
  let at = 0
  while (at < text.length) {
    const char = text[at]
    if (char === '\n' || char === '\r') {
      at++
      continue
    }
    const record: string[] = []
    for (;;) {
      const cell = readCell(text, at, delimiter)
      record.push(cell.text)
      at = cell.end
      if (!text.startsWith(delimiter, at) || at >= text.length) break
      at += delimiter.length
    }
    if (text[at] === '\r') at++
    if (text[at] === '\n') at++
    records.push(record)
  }
  return records
}

function readCell(text: string, start: number, delimiter: string): { text: string; end: number } {
  let at = start
  let out = ''
  if (text[at] === '"') {
    at++
    for (;;) {
      const quote = text.indexOf('"', at)
      if (quote < 0) return { text: out + text.slice(at), end: text.length }
      out += text.slice(at, quote)
      at = quote + 1
      if (text[at] !== '"') break
      out += '"'
      at++
    }
  }
  const from = at
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r' && !text.startsWith(delimiter, at)) at++
  return { text: out + text.slice(from, at), end: at }
}

/** One record with its line end. */
export function csvLine(cells: readonly string[], delimiter: string): string {
  if (cells.length === 0 || (cells.length === 1 && cells[0] === '')) return '""\n'
  const quoted = cells.map((cell) =>
    cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(delimiter)}\n`
}
