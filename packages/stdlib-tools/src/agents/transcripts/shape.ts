// The shape of a transcript: messages as a model sees them, and events as a person reads them, which are
// made from the messages and followed by events of their own kinds.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { makeTimeOrderedId } from '../../library/time/identity.js'

export const TRANSCRIPT_VERSION = 2

export interface TranscriptParts {
  readonly id?: string
  readonly messages: readonly HarnDict[]
  /** Events besides those of the messages. */
  readonly events?: readonly HarnDict[]
  readonly assets?: readonly Value[]
  readonly summary?: Value
  readonly metadata?: Value
  readonly state?: string | null
}

export function isTranscript(value: Value | undefined): value is HarnDict {
  return value instanceof HarnDict && value.get('_type') === 'transcript'
}

export function listDicts(value: Value | undefined): HarnDict[] {
  return value instanceof HarnList ? value.view().filter((item): item is HarnDict => item instanceof HarnDict) : []
}

/** A transcript dict; events of messages get ids of their own. */
export function* makeTranscript(parts: TranscriptParts): Script<HarnDict> {
  const events: HarnDict[] = []
  for (const message of parts.messages) events.push(yield* makeMessageEvent(message))
  const dict = HarnDict.of({
    _type: 'transcript',
    version: TRANSCRIPT_VERSION,
    id: parts.id ?? (yield* makeTimeOrderedId()),
    messages: new HarnList([...parts.messages]),
    events: new HarnList([...events, ...(parts.events ?? [])]),
    assets: new HarnList([...(parts.assets ?? [])]),
  })
  if (parts.summary !== undefined && parts.summary !== null) dict.set('summary', parts.summary)
  if (parts.metadata !== undefined && parts.metadata !== null) dict.set('metadata', parts.metadata)
  if (parts.state !== undefined && parts.state !== null) dict.set('state', parts.state)
  return dict
}

// ------------------------------------------------------------------------------------------------------------------ events

function readRole(message: HarnDict): string {
  const role = message.get('role') ?? null
  return role === null ? 'user' : display(role)
}

function chooseVisibility(role: string): string {
  return role === 'tool_result' ? 'internal' : 'public'
}

function normalizeBlocks(content: Value, role: string): HarnDict[] {
  const visibility = chooseVisibility(role)
  const normalizeBlock = (item: Value): HarnDict => {
    if (!(item instanceof HarnDict)) return HarnDict.of({ type: 'text', text: display(item), visibility })
    const copy = item.copy()
    if (!copy.has('type')) copy.set('type', 'text')
    if (!copy.has('visibility')) copy.set('visibility', visibility)
    return copy
  }
  if (content === null) return []
  if (content instanceof HarnList) return content.view().map(normalizeBlock)
  return [normalizeBlock(content instanceof HarnDict ? content : display(content))]
}

function readField(block: HarnDict, ...keys: string[]): string | null {
  for (const key of keys) {
    const value = block.get(key) ?? null
    if (value !== null && display(value) !== '') return display(value)
  }
  return null
}

function formatBlock(block: HarnDict): string {
  const type = display(block.get('type') ?? 'text')
  switch (type) {
    case 'text':
    case 'output_text':
    case 'input_text':
      return readField(block, 'text', 'content') ?? ''
    case 'reasoning':
      return ''
    case 'tool_call':
    case 'tool_result':
      return `<${type}:${readField(block, 'name') ?? 'tool'}>`
    case 'image':
    case 'input_image':
      return `<image:${readField(block, 'name', 'title', 'path', 'asset_id') ?? 'image'}>`
    case 'file':
    case 'document':
    case 'attachment':
      return `<${type}:${readField(block, 'name', 'title', 'path', 'asset_id') ?? type}>`
    default:
      return `<${type}>`
  }
}

function findVisibility(blocks: readonly HarnDict[], role: string): string {
  const seen = new Set(blocks.map((block) => block.get('visibility')))
  return seen.has('public') ? 'public' : seen.has('internal') ? 'internal' : chooseVisibility(role)
}

export function* makeMessageEvent(message: HarnDict): Script<HarnDict> {
  return toMessageEvent(message, yield* makeTimeOrderedId())
}

export function toMessageEvent(message: HarnDict, id: string): HarnDict {
  const role = readRole(message)
  const blocks = normalizeBlocks(message.get('content') ?? null, role)
  const texts = blocks.map(formatBlock).filter((text) => text !== '')
  return HarnDict.of({
    id,
    kind: role === 'tool_result' ? 'tool_result' : 'message',
    role,
    visibility: findVisibility(blocks, role),
    text: texts.join(' '),
    blocks: new HarnList(blocks),
  })
}

/** An event of its own kind. */
export function* makeEvent(
  kind: string,
  role: string,
  visibility: string,
  text: string,
  metadata: HarnDict | null,
): Script<HarnDict> {
  const event = HarnDict.of({
    id: yield* makeTimeOrderedId(),
    kind,
    role,
    visibility,
    text,
    blocks: new HarnList([HarnDict.of({ type: 'text', text, visibility })]),
  })
  if (metadata !== null) event.set('metadata', metadata)
  return event
}

/** Whether an event was made from a message. */
export function isMessageEvent(event: HarnDict): boolean {
  const kind = event.get('kind')
  return kind === 'message' || kind === 'tool_result'
}

// ---------------------------------------------------------------------------------------------------------------- messages

/** A message as a transcript keeps it. */
export function toStoredMessage(message: HarnDict): HarnDict {
  if (message.get('role') === 'tool' || (message.get('tool_calls') ?? null) !== null) return message
  const content = message.get('content') ?? ''
  if (message.get('role') === 'user' && content instanceof HarnList) {
    const result = listDicts(content).find((block) => block.get('type') === 'tool_result')
    if (result !== undefined) {
      return HarnDict.of({
        role: 'tool_result',
        tool_use_id: result.get('tool_use_id') ?? '',
        content: result.get('content') ?? '',
      })
    }
  }
  const hasNoMore = message.size === 2 && message.has('role') && message.has('content')
  return hasNoMore ? message : HarnDict.of({ role: message.get('role') ?? 'user', content })
}
