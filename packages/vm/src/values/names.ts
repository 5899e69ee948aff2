// Names as V8 likes them. Two texts that it has put into its table of keys are compared by their addresses; all others are compared
// by a call, even where they are one object. A name that was cut out of a source text or read from bytes is not in that table, one
// that stands in compiled text is.

/** Longer texts are no names. */
const LONGEST = 64

/** The same text, in a form that is compared quickly. */
export function toQuickName(text: string): string {
  return text.length > LONGEST ? text : toQuickKey(text)
}

/** As toQuickName, of any length: for what is compared all the time, such as the module that a struct comes from. */
export function toQuickKey(text: string): string {
  const table: Record<string, true> = Object.create(null)
  table[text] = true
  return Object.keys(table)[0]!
}
