// Comparing what must not be guessed.

/** Without telling by the time it takes where two strings differ. */
export function isSameText(a: string, b: string): boolean {
  const encoder = new TextEncoder()
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  let difference = left.length ^ right.length
  for (let at = 0; at < left.length; at++) difference |= left[at]! ^ (right[at % Math.max(1, right.length)] ?? 0)
  return difference === 0
}
