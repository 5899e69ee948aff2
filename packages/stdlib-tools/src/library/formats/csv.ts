// CSV texts (RFC 4180, read leniently): rows of cells in, text out, and back.

import { HarnDict, HarnList, TextBuilder, detachPart } from '@bridle/vm/families'
import type { Cost, Value } from '@bridle/vm/families'

/** What a cell and a row take, in units and on the heap, beside the cell's text. */
const UNITS_A_ROW = 4
const CELL: Cost = { units: 2, heap: 16 }
/** Units of a key and its value in a row that is a dict. */
const UNITS_A_KEY = 2
/** Characters scanned one by one per unit, as a power of two; the end of a quoted cell is found faster. */
const PLAIN_BITS = 5
const QUOTED_BITS = 9
/** Units between two looks at the budget. */
const AT_ONCE = 256

/** Characters of a cell that is read in one go. */
const SHORT = 1024

const QUOTE = 0x22
const LINE_FEED = 0x0a
const RETURN = 0x0d

/** Reads a text in steps; blank lines are no records. */
export class CsvReading {
  private readonly text: string
  private readonly delimiter: string
  private at = 0
  private units = 0
  private heap = 0

  constructor(text: string, delimiter: string) {
    this.text = text
    this.delimiter = delimiter
  }

  /** Every record: a list of its cells or, with `headers`, a dict under the cells of the first one. */
  *readRows(headers: boolean): Generator<Cost, HarnList, void> {
    const { text, delimiter } = this
    const rows: Value[] = []
    let head: readonly string[] | null = null
    while (this.at < text.length) {
      const char = text.charCodeAt(this.at)
      if (char === LINE_FEED || char === RETURN) {
        this.at++
        if (this.spend(1, 0)) yield this.takeSpent()
        continue
      }
      const record: string[] = []
      for (;;) {
        record.push(this.readShortCell() ?? (yield* this.readCell()))
        if (this.units >= AT_ONCE) yield this.takeSpent()
        if (!text.startsWith(delimiter, this.at) || this.at >= text.length) break
        this.at += delimiter.length
      }
      if (text.charCodeAt(this.at) === RETURN) this.at++
      if (text.charCodeAt(this.at) === LINE_FEED) this.at++
      if (this.spend(UNITS_A_ROW, 64)) yield this.takeSpent()
      if (!headers) rows.push(new HarnList(record))
      else if (head === null) head = record
      else {
        const row = new HarnDict()
        for (let at = 0; at < head.length; at++) {
          row.set(head[at]!, record[at] ?? '')
          if (this.spend(UNITS_A_KEY, 32)) yield this.takeSpent()
        }
        rows.push(row)
      }
    }
    yield this.takeSpent()
    return new HarnList(rows)
  }

  /** A cell of the usual kind, without quotes inside and not long; null for others, with nothing read. */
  private readShortCell(): string | null {
    const { text, at } = this
    const isQuoted = text.charCodeAt(at) === QUOTE
    const first = this.delimiter.charCodeAt(0)
    const from = isQuoted ? at + 1 : at
    const most = Math.min(text.length, from + SHORT)
    let end = from
    for (; end < most; end++) {
      const char = text.charCodeAt(end)
      if (isQuoted) {
        if (char === QUOTE) break
      } else if (char === LINE_FEED || char === RETURN || (char === first && text.startsWith(this.delimiter, end))) break
    }
    if (end === most && (isQuoted || most < text.length)) return null
    if (isQuoted) {
      const next = text.charCodeAt(end + 1)
      const ends = next === LINE_FEED || next === RETURN || (next !== QUOTE && text.startsWith(this.delimiter, end + 1))
      if (end + 1 < text.length && !ends) return null
    }
    this.units += CELL.units + ((end - from) >> PLAIN_BITS)
    this.heap += CELL.heap + end - from
    this.at = isQuoted ? end + 1 : end
    return detachPart(text.slice(from, end), text.length)
  }

  /** Whether that is enough for a step. */
  private spend(units: number, heap: number): boolean {
    this.units += units
    this.heap += heap
    return this.units >= AT_ONCE
  }

  private takeSpent(): Cost {
    const { units, heap } = this
    this.units = this.heap = 0
    return { units, heap }
  }

  /** A quote inside an unquoted cell is an ordinary character. */
  private *readCell(): Generator<Cost, string, void> {
    const { text, delimiter } = this
    let quoted: TextBuilder | null = null
    if (text[this.at] === '"') {
      quoted = new TextBuilder()
      this.at++
      for (;;) {
        const quote = text.indexOf('"', this.at)
        const end = quote < 0 ? text.length : quote
        if (this.spend(1 + ((end - this.at) >> QUOTED_BITS), end - this.at)) yield this.takeSpent()
        quoted.add(detachPart(text.slice(this.at, end), text.length))
        this.at = end
        if (quote < 0) return quoted.toString()
        this.at++
        if (text[this.at] !== '"') break
        quoted.add('"')
        this.at++
      }
    }
    const first = delimiter.charCodeAt(0)
    const from = this.at
    let paid = from
    for (; this.at < text.length; this.at++) {
      const char = text.charCodeAt(this.at)
      if (char === LINE_FEED || char === RETURN || (char === first && text.startsWith(delimiter, this.at))) break
      if (this.at - paid >= AT_ONCE << PLAIN_BITS) {
        this.spend((this.at - paid) >> PLAIN_BITS, this.at - paid)
        paid = this.at
        yield this.takeSpent()
      }
    }
    this.spend((this.at - paid) >> PLAIN_BITS, this.at - paid)
    this.spend(CELL.units, CELL.heap)
    const plain = detachPart(text.slice(from, this.at), text.length)
    return quoted === null ? plain : quoted.toString() + plain
  }
}

/** One record with its line end. */
export function formatCsvLine(cells: readonly string[], delimiter: string): string {
  if (cells.length === 0 || (cells.length === 1 && cells[0] === '')) return '""\n'
  const quoted = cells.map((cell) =>
    cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(delimiter)}\n`
}
