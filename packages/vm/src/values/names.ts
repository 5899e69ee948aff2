// Interned names. V8 compares two interned strings by address; it compares all others
// by a call, even if they are one object. A name that was cut out of a source or read from bytes is not interned, a name
// in compiled code is.

/** Longer strings are not names. */
const LONGEST = 64

/** The same string, interned. */
export function toQuickName(text: string): string {
  return text.length > LONGEST ? text : toQuickKey(text)
}

/** As toQuickName, of any length: for strings that are compared all the time, such as the module of a struct. */
export function toQuickKey(text: string): string {
  const table: Record<string, true> = Object.create(null)
  table[text] = true
  return Object.keys(table)[0]!
}
