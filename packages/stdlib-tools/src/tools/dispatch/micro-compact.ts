// Shortening of long tool output: lines that look like diagnostics are kept when there are any, otherwise the
// beginning and the end. Sizes are bytes of UTF-8; cuts fall on whole lines where that leaves anything.

import { builtinTaking, isInt } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'

const DEFAULT_MAX_BYTES = 20_000
/** Below this a shortened text would not be worth reading. */
const LEAST_BYTES = 200
const MOST_DIAGNOSTICS = 32
/** Room for the headings around the diagnostic lines. */
const HEADINGS_BYTES = 64
const LEAST_HALF_BYTES = 80

const utf8 = new TextEncoder()
const text8 = new TextDecoder()
const countBytes = (text: string): number => utf8.encode(text).length

const TELLING_WORDS =
  /\b(error|undefined|expected|got|not found|missing|unused|mismatch|cannot|failed|invalid|unexpected|undeclared|unresolved)\b/i

function isDiagnostic(line: string): boolean {
  if (/FAIL|panic|Panic/.test(line)) return true
  if (/:\d/.test(line) && TELLING_WORDS.test(line)) return true
  const start = line.trimStart()
  return start.startsWith('error:') || start.startsWith('warning:') || start.startsWith('note:') || line.includes(' error ')
}

/** At most `bytes` from the beginning, without a part of a character. */
function cutHead(bytes: Uint8Array, most: number): string {
  let end = Math.min(most, bytes.length)
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  const text = text8.decode(bytes.subarray(0, end))
  const line = text.lastIndexOf('\n')
  return line < 0 ? text : text.slice(0, line + 1)
}

function cutTail(bytes: Uint8Array, most: number): string {
  let start = Math.max(0, bytes.length - most)
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++
  const text = text8.decode(bytes.subarray(start))
  if (start === 0 || bytes[start - 1] === 0x0a) return text
  const line = text.indexOf('\n')
  return line < 0 || line + 1 >= text.length ? text : text.slice(line + 1)
}

export function compactOutput(text: string, max: number = DEFAULT_MAX_BYTES): string {
  const bytes = utf8.encode(text)
  if (bytes.length <= max || max < LEAST_BYTES) return text
  const diagnostics = text.split('\n').filter(isDiagnostic).slice(0, MOST_DIAGNOSTICS)
  if (diagnostics.length > 0) {
    const lines = diagnostics.join('\n')
    const half = Math.floor((max - countBytes(lines) - HEADINGS_BYTES) / 2)
    if (half >= LEAST_HALF_BYTES) {
      return `${cutHead(bytes, half)}\n\n[diagnostic lines preserved]\n${lines}\n\n[... output compacted ...]\n\n${cutTail(bytes, half)}`
    }
  }
  const half = Math.floor(max / 2)
  const begin = cutHead(bytes, half)
  const end = cutTail(bytes, half)
  return `${begin}\n\n[... ${bytes.length - countBytes(begin) - countBytes(end)} characters snipped ...]\n\n${end}`
}

export const microCompactFamily: BuiltinFamily = {
  name: 'micro-compact',
  builtins: [
    builtinTaking(
      'microcompact(text: string, max_chars?: int) -> string',
      { doc: 'The text, shortened to about `max_chars` bytes: diagnostic lines, or the beginning and the end.', borrows: true },
      { text: { text: null } },
      (ctx, whole, max) => {
        ctx.charge(whole.length >> 4, whole.length)
        return compactOutput(whole, isInt(max) ? Number(max) : DEFAULT_MAX_BYTES)
      },
    ),
  ],
}
