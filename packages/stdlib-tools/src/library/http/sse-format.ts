// The text of server-sent events: writing one, and reading them from a stream of chunks.

import { HarnDict, display, isInt } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

function prefixLines(prefix: string, text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => `${prefix} ${line}`)
}

export function formatComment(comment: string): string {
  return `${prefixLines(':', comment).join('\n')}\n\n`
}

/** The frame of an event: a dict, or a value that is its data. Options fill in what the event leaves open. */
export function formatEvent(event: Value, options: Value): string | { readonly problem: string } {
  const given = event instanceof HarnDict ? event : HarnDict.of({ data: event === null ? 'nil' : display(event) })
  const fields = options instanceof HarnDict ? options.merged(given) : given
  const findText = (...names: readonly string[]): string | null => {
    for (const name of names) {
      const value = fields.get(name) ?? null
      if (value !== null) return display(value)
    }
    return null
  }
  const parts: string[] = []
  const comment = findText('comment') || null // an empty one is none
  if (comment !== null) parts.push(...prefixLines(':', comment))
  const id = findText('id')
  const name = findText('event', 'name')
  for (const [label, value] of [
    ['id', id],
    ['event', name],
  ] as const) {
    if (value === null) continue
    if (/[\r\n]/.test(value)) return { problem: `${label} must not contain newlines` }
    parts.push(`${label}: ${value}`)
  }
  const retry = fields.get('retry') ?? fields.get('retry_ms') ?? null
  if (retry !== null) {
    if (!isInt(retry) || retry < 0) return { problem: 'retry/retry_ms must be a non-negative integer' }
    parts.push(`retry: ${retry}`)
  }
  // An event without data would be none to its reader.
  const without = comment === null && parts.length > 0 ? '' : null
  const data = fields.has('data') ? display(fields.get('data')!) : without
  if (data !== null) parts.push(...prefixLines('data:', data))
  return `${parts.length === 0 ? ':' : parts.join('\n')}\n\n`
}

/** One frame as an event, or as a comment when it has nothing else. */
export function parseFrame(frame: string): HarnDict {
  const data: string[] = []
  const comments: string[] = []
  let id: Value = null
  let name = 'message'
  let retry: Value = null
  for (const line of frame.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':')
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    const field = colon < 0 ? line : line.slice(0, colon)
    if (line === '') continue
    if (colon === 0) comments.push(value)
    else if (field === 'data') data.push(value)
    else if (field === 'event') name = value
    else if (field === 'id') id = value
    else if (field === 'retry' && /^\d+$/.test(value)) retry = Number(value)
  }
  if (data.length === 0 && comments.length > 0) return HarnDict.of({ type: 'comment', comment: comments.join('\n') })
  return HarnDict.of({ type: 'event', event: name, data: data.join('\n'), id, retry_ms: retry })
}

const decoder = new TextDecoder()

/**
 * Takes chunks of bytes and gives whole events; comments are skipped. `rest` is what a later reader continues with: one character
 * a byte, since a chunk may end within a UTF-8 sequence.
 */
export class EventReader {
  rest: string

  constructor(rest: string) {
    this.rest = rest
  }

  append(chunk: Uint8Array): void {
    let text = ''
    for (const byte of chunk) text += String.fromCharCode(byte)
    this.rest += text
  }

  next(): HarnDict | null {
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(this.rest)
      if (end === null) return null
      const frame = decoder.decode(Uint8Array.from(this.rest.slice(0, end.index), (char) => char.charCodeAt(0)))
      this.rest = this.rest.slice(end.index + end[0].length)
      const event = parseFrame(frame)
      if (event.get('type') === 'event' && frame.trim() !== '') return event
    }
  }
}
