// JSON with integers of 64 bits. The protocol's SDK reads and writes messages with the JSON of JavaScript, which rounds integers beyond
// 2^53. So on their way such integers become unforgeable texts, because they begin with a random word of this process;
// behind the SDK they become bigints again, and the other way round.

import { randomUUID } from 'node:crypto'

const MARK = `int:${randomUUID()}:`

/** Strings, so that digits in them are passed over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.?)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** The text of a message with its large integers as marked texts. */
export function markIntegers(text: string): string {
  if (!/\d{16}/.test(text)) return text
  return text.replace(TOKENS, (token) => {
    if (token.length < 16 || !/^-?\d{16,19}$/.test(token) || Number.isSafeInteger(Number(token))) return token
    const value = BigInt(token)
    return BigInt.asIntN(64, value) === value ? `"${MARK}${token}"` : token
  })
}

/** The text of a message with its marked texts as integers. */
export function unmarkIntegers(text: string): string {
  const parts = text.split(`"${MARK}`)
  return parts.map((part, at) => (at === 0 ? part : part.replace('"', ''))).join('')
}

/** Data with its bigints as marked texts. */
export const markInteger = (value: bigint): string => `${MARK}${value}`

/** Data of a message that was read, with bigints for marked texts. */
export function withIntegers<T>(value: T): T {
  if (typeof value === 'string') return (value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => withIntegers(item)) as T
  if (typeof value !== 'object' || value === null) return value
  const out: { [key: string]: unknown } = {}
  for (const [key, item] of Object.entries(value))
    if (key === '__proto__')
      Object.defineProperty(out, key, { value: withIntegers(item), enumerable: true, configurable: true, writable: true })
    else out[key] = withIntegers(item)
  return out as T
}

/** Whether a text, such as a message, has marked integers. */
export const hasMarks = (text: string): boolean => text.includes(MARK)

/** Data with what marked texts stand for as texts of digits, for those that cannot write such integers. */
export function withDigits<T>(value: T): T {
  if (typeof value === 'string') return (value.startsWith(MARK) ? value.slice(MARK.length) : value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => withDigits(item)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDigits(item as unknown)])) as T
}
