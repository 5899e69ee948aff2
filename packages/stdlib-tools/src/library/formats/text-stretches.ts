// Pieces of a text between marks, as models write them. A model's answer is text of a stranger: each function reads it once from the
// left, for any number of unclosed marks.

/** From where a first mark begins to where a last one ends, and what stands between the two. */
interface Stretch {
  readonly start: number
  readonly end: number
  readonly inner: string
}

/** Stretches in which the marks follow each other, as near as they can; they do not overlap. */
export function* findStretches(text: string, ...marks: readonly string[]): Generator<Stretch, void> {
  for (let from = 0; ;) {
    const start = text.indexOf(marks[0]!, from)
    if (start < 0) return
    const opened = start + marks[0]!.length
    let at = opened
    let last = opened
    for (const mark of marks.slice(1)) {
      last = text.indexOf(mark, at)
      // What is not found behind this place is not found behind a later one.
      if (last < 0) return
      at = last + mark.length
    }
    yield { start, end: at, inner: text.slice(opened, last) }
    from = at
  }
}

/** The text without such stretches. */
export function withoutStretches(text: string, ...marks: readonly string[]): string {
  let out = ''
  let from = 0
  for (const { start, end } of findStretches(text, ...marks)) {
    out += text.slice(from, start)
    from = end
  }
  return out + text.slice(from)
}

const LINE_WORD = /[ \t]*([A-Za-z_]\w*)/y

/** Where heredocs of a text end: the lines that begin with a word, by that word. Made when the first heredoc is met. */
export class Heredocs {
  private readonly text: string
  private lines: Map<string, { readonly start: number; readonly end: number }[]> | null = null

  constructor(text: string) {
    this.text = text
  }

  /** The first line at or behind a place that begins with the tag: where it starts, and where the tag ends. */
  findClosing(tag: string, from: number): { readonly start: number; readonly end: number } | null {
    this.lines ??= this.read()
    const places = this.lines.get(tag) ?? []
    let low = 0
    let high = places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (places[middle]!.start < from) low = middle + 1
      else high = middle
    }
    return places[low] ?? null
  }

  private read(): Map<string, { readonly start: number; readonly end: number }[]> {
    const lines = new Map<string, { readonly start: number; readonly end: number }[]>()
    for (let start = 0; ;) {
      LINE_WORD.lastIndex = start
      const word = LINE_WORD.exec(this.text)?.[1]
      if (word !== undefined) {
        const places = lines.get(word) ?? []
        lines.set(word, places)
        places.push({ start, end: LINE_WORD.lastIndex })
      }
      const end = this.text.indexOf('\n', start)
      if (end < 0) return lines
      start = end + 1
    }
  }
}

/** `<<TAG` with or without quotes, at the end of a line. */
export const HEREDOC_OPEN = /^<<(?:'([A-Za-z_]\w*)'|"([A-Za-z_]\w*)"|([A-Za-z_]\w*))[ \t]*\r?\n/

/** Limit on failed scanning: a few times the text, so that answers which begin much and end nothing take linear time. */
export class Patience {
  private left: number

  constructor(text: string) {
    this.left = 8 * text.length + (64 << 10)
  }

  get isOver(): boolean {
    return this.left < 0
  }

  spend(characters: number): void {
    this.left -= characters
  }

  /** For what was begun and could not be read: finding that out costs more than its characters. */
  fail(characters: number): void {
    this.left -= characters + 1000
  }
}
