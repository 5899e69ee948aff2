// Substrings of long strings. JavaScript engines represent a substring of 13 characters or more as a reference into the whole string, which
// then stays in memory as long as the substring does: twenty characters of a line of a log file keep the file. Heap units count only the
// substring. So a substring that is much shorter than its string is copied here.
//
// "Much shorter" is one bit or more in the binary lengths. A substring that is not copied has as many bits as the string it refers to,
// even if it was cut in steps, so that less than twice its length is kept. Cutting a string down step by step copies no more than the
// string's length, since each copy is less than half of the previous one. Strings below `SHORT` are not copied.

/** Length of strings that substrings may keep alive. */
const SHORT = 256

/** The engine copies shorter substrings. */
const COPIED = 13

/** Whether a substring of that length of a string of length `whole` is copied. */
export function keepsWhole(length: number, whole: number): boolean {
  return whole >= SHORT && length >= COPIED && Math.clz32(length) !== Math.clz32(whole)
}

/** `part` of a string of length `whole`, without a reference to that. */
export function detachPart(part: string, whole: number): string {
  return keepsWhole(part.length, whole) ? copyText(part) : part
}

/** The engine flattens a concatenated string when it is read, and the substring refers to the flat one. */
function copyText(part: string): string {
  return (' ' + part).slice(1)
}

/**
 * All parts of `text`, in order, each `between` characters after the previous one; changes `parts`. Neighbours share a copy of less
 * than `SHORT` characters, because one copy each takes longer than the split did.
 */
export function detachParts(text: string, parts: string[], between: number): string[] {
  if (text.length < SHORT) return parts
  let from = 0
  let first = 0
  while (first < parts.length) {
    const start = from
    let end = from + parts[first]!.length
    let next = first + 1
    while (next < parts.length && end + between + parts[next]!.length - start < SHORT - 1) end += between + parts[next++]!.length
    if (next - first > 1) {
      const shared = copyText(text.slice(start, end))
      for (let at = first, offset = 0; at < next; at++) {
        const { length } = parts[at]!
        if (length >= COPIED) parts[at] = shared.slice(offset, offset + length)
        offset += length + between
      }
    } else parts[first] = detachPart(parts[first]!, text.length)
    first = next
    from = end + between
  }
  return parts
}
