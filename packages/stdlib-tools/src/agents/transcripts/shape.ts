// The shape of a transcript: messages as a model sees them, and events as a person reads them, which are made from the messages and followed
// by events of their own kinds. events.harn makes transcripts.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export function isTranscript(value: Value | undefined): value is HarnDict {
  return value instanceof HarnDict && value.get('_type') === 'transcript'
}

export function listDicts(value: Value | undefined): HarnDict[] {
  return value instanceof HarnList ? value.view().filter((item): item is HarnDict => item instanceof HarnDict) : []
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
