// The content of messages, whichever form a script gave it, as a few kinds of parts; each wire writes them in its own words.

import { list, readText, readWord, record } from './json.js'
import type { Json } from './json.js'

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** With `data` in base64, or where it is. */
  | {
      readonly kind: 'image'
      readonly mediaType: string
      readonly data: string | null
      readonly url: string | null
      readonly detail: string | null
    }
  | { readonly kind: 'result'; readonly id: string; readonly content: unknown; readonly isError: boolean }
  /** In the words of a service; for scripts that know whom they ask. */
  | { readonly kind: 'other'; readonly block: Json }

const TEXTS: ReadonlySet<string> = new Set(['text', 'output_text', 'input_text'])

/** What the machine adds to answers for people: the calls of a message say the same, and thoughts are no part of a conversation. */
const OWN: ReadonlySet<string> = new Set(['tool_call', 'reasoning'])

export function readParts(content: unknown): readonly Part[] {
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) return [{ kind: 'text', text: readContentText(content) }]
  return list(content).flatMap((item): readonly Part[] => {
    if (typeof item === 'string') return [{ kind: 'text', text: item }]
    const { visibility: _, ...block } = record(item)
    const type = readWord(block['type'], 'text')
    if (TEXTS.has(type)) return [{ kind: 'text', text: readContentText(block['text'] ?? block['content'] ?? '') }]
    if (OWN.has(type)) return []
    if (type === 'image' || type === 'input_image') return [readImage(block)]
    if (type === 'tool_result')
      return [
        {
          kind: 'result',
          id: readWord(block['tool_use_id']),
          content: block['content'] ?? '',
          isError: block['is_error'] === true,
        },
      ]
    return [{ kind: 'other', block }]
  })
}

function readImage(block: Json): Part {
  const source = record(block['source'])
  const mediaType = readWord(block['media_type'] ?? block['mime_type'] ?? block['mimeType'] ?? source['media_type'])
  const data = readText(block['base64'] ?? block['data'] ?? source['data'])
  const url = readText(block['url'] ?? block['file_uri'] ?? source['url'] ?? record(block['image_url'])['url'])
  return { kind: 'image', mediaType, data, url, detail: readText(block['detail']) }
}

function readContentText(content: unknown): string {
  return typeof content === 'string' ? content : typeof content === 'object' ? JSON.stringify(content) : readWord(content)
}

export function joinTexts(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
}

/** Where an image is, with its bytes in the address when the script gave them. */
export function makeImageUrl({ mediaType, data, url }: Part & { readonly kind: 'image' }): string {
  return data === null ? (url ?? '') : `data:${mediaType};base64,${data}`
}

/** The result of a tool call as a message of a conversation. */
export interface ToolResult {
  readonly id: string
  readonly parts: readonly Part[]
  readonly isError: boolean
}

/** Texts of agent loops that mark a failed call. */
const FAILURES: readonly string[] = ['Error:', 'ERROR:', 'BLOCKED:', '{\n  "error": "permission_denied"']

export function isFailureText(text: string): boolean {
  return FAILURES.some((start) => text.startsWith(start))
}

function makeResult(id: string, content: unknown, isError: boolean): ToolResult {
  const parts = readParts(content)
  return { id, parts, isError: isError || isFailureText(joinTexts(parts)) }
}

/** A conversation as services see it: an entry for each message, where results of one turn are together. */
export type Turn =
  | { readonly kind: 'results'; readonly results: readonly ToolResult[] }
  | {
      readonly kind: 'message'
      readonly role: 'user' | 'assistant' | 'system'
      readonly parts: readonly Part[]
      readonly message: Json
    }

export function readTurns(messages: readonly Json[]): readonly Turn[] {
  const turns: Turn[] = []
  let results: ToolResult[] | null = null
  const addResult = (result: ToolResult): void => {
    if (results === null) turns.push({ kind: 'results', results: (results = []) })
    results.push(result)
  }
  for (const message of messages) {
    const role = readWord(message['role'], 'user')
    if (role === 'tool' || role === 'tool_result') {
      const id = readWord(message['tool_call_id'] ?? message['tool_use_id'])
      addResult(makeResult(id, message['content'] ?? '', message['is_error'] === true))
      continue
    }
    const parts = readParts(message['content'])
    for (const part of parts) if (part.kind === 'result') addResult(makeResult(part.id, part.content, part.isError))
    const rest = parts.filter((part) => part.kind !== 'result')
    if (rest.length === 0 && rest.length < parts.length) continue
    results = null
    const known = role === 'assistant' || role === 'system' ? role : role === 'developer' ? 'system' : 'user'
    turns.push({ kind: 'message', role: known, parts: rest, message })
  }
  return turns
}
