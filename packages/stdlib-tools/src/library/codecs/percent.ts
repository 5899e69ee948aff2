// Percent encoding of RFC 3986 and the form encoding of query strings.

import { decodeUtf8, encodeUtf8, work } from '@bridle/vm/families'

/** What encodeURIComponent leaves and RFC 3986 reserves. */
const RESERVED = /[!'()*]/g

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Everything but unreserved characters as `%XX` of its UTF-8. */
export function encodePercent(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd')).replace(
    RESERVED,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** `%XX` and `+` decoded; escapes that are none are copied, bytes that are not UTF-8 become U+FFFD. */
export function decodePercent(text: string): string {
  const source = encodeUtf8(text)
  const bytes = new Uint8Array(source.length)
  let filled = 0
  for (let at = 0; at < source.length; at++) {
    const digits = source[at] === 0x25 ? String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0) : ''
    if (/^[0-9A-Fa-f]{2}$/.test(digits)) {
      bytes[filled++] = Number.parseInt(digits, 16)
      at += 2
    } else bytes[filled++] = source[at] === 0x2b ? 0x20 : source[at]!
  }
  return decodeUtf8(bytes.subarray(0, filled))
}

/** Units of a pair that is decoded and put in its place. */
const UNITS_A_PAIR = 4

/** The pairs of a query string, with or without its question mark. They are paid before any is made. */
export function parseQuery(query: string): [key: string, value: string][] {
  work(UNITS_A_PAIR * countOccurrences(query, '&') + (query.length >> 6))
  return [...new URLSearchParams(query.startsWith('?') ? query.slice(1) : query).entries()]
}

function countOccurrences(text: string, char: string): number {
  let count = 0
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) count++
  return count
}
