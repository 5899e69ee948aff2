// Parts of long texts. JavaScript engines make a part of 13 characters or more as a reference into the text it was cut from, which
// then stays in memory as long as the part does: twenty characters of a line of a log file keep the file. Heap units count the
// part. So a part that is much shorter than its text is copied here.
//
// "Much shorter" is one bit or more in the binary lengths. A part that is not copied then has as many bits as the text it refers to,
// also when it was cut in steps, so that less than twice its length is kept; and cutting a text down step by step copies no more than the
// text has, since each copy is less than half of the last. Texts below `SHORT` are left alone.

/** Length of texts that parts may keep. */
const SHORT = 256

/** Shorter parts are copied by the engine. */
const COPIED = 13

/** Whether a part of that length of a text that was `whole` long is to be copied. */
export function keepsWhole(length: number, whole: number): boolean {
  return whole >= SHORT && length >= COPIED && Math.clz32(length) !== Math.clz32(whole)
}

/** `part` of a text that was `whole` long, such that it does not keep that. */
export function detachPart(part: string, whole: number): string {
  return keepsWhole(part.length, whole) ? copyText(part) : part
}

/** The engine writes a text out that is put together when it is looked into, and the part refers to that. */
function copyText(part: string): string {
  return (' ' + part).slice(1)
}

/**
 * All parts of `text`, in order, each `between` characters behind the one before; changes `parts`. Neighbours share a copy of less
 * than `SHORT` characters, because a copy each takes longer than cutting them did.
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
