// What backends of all kinds need for what they offer: answers to completion, and URIs held against templates.

import type { Json, JsonObject } from './server-protocol.js'

/** Of the protocol. */
const MOST_COMPLETIONS = 100

/** Suggestions as the protocol has them. */
export function makeCompletion(all: readonly Json[]): JsonObject {
  const values = all.slice(0, MOST_COMPLETIONS).map(String)
  return { values, total: all.length, hasMore: all.length > values.length }
}

/** Variables of a level 1 template (`user://{id}`) for a URI, null when it does not match. A variable may be empty. */
export function matchTemplate(template: string, uri: string): { readonly [name: string]: string } | null {
  // Literal texts at even places, names at odd ones. A variable reaches to the next occurrence of the text behind it, the last
  // one to the end: one pass for any template.
  const parts = template.split(/\{(\w+)\}/)
  const last = parts.at(-1)!
  if (!uri.startsWith(parts[0]!)) return null
  if (parts.length === 1) return uri === template ? Object.create(null) : null
  const found: { [name: string]: string } = Object.create(null) as { [name: string]: string }
  let from = parts[0]!.length
  for (let at = 1; at < parts.length; at += 2) {
    const isLast = at === parts.length - 2
    const end = isLast ? uri.length - last.length : uri.indexOf(parts[at + 1]!, from)
    if (end < from || (isLast && !uri.endsWith(last))) return null
    found[parts[at]!] = uri.slice(from, end)
    from = end + parts[at + 1]!.length
  }
  return found
}
