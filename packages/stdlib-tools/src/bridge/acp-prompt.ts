// What a client says in a prompt (Agent Client Protocol, content blocks): the text that scripts read, with files and other resources that
// the person mentioned, and the blocks themselves.

import { isRecord, RequestError } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'

const INVALID_PARAMS = -32602

export interface AcpPrompt {
  readonly text: string
  /** As the client sent them. */
  readonly blocks: readonly Params[]
}

/**
 * A link stands where it was written, as `[@name](uri)`. What was sent with a resource follows behind the text of the person, each in an
 * element that names its address.
 */
export function readPrompt(given: unknown): AcpPrompt {
  if (typeof given === 'string') return { text: given, blocks: [{ type: 'text', text: given }] }
  if (!Array.isArray(given)) return { text: '', blocks: [] }
  const lines: string[] = []
  const resources: string[] = []
  const blocks = given.filter(isRecord)
  for (const block of blocks) {
    const { type, text, uri, name, resource } = block
    if (type === 'text' && typeof text === 'string') lines.push(text)
    else if (type === 'resource_link' && typeof uri === 'string') lines.push(makeLink(uri, name))
    else if (type === 'resource' && isRecord(resource)) {
      const { uri: at, text: content, blob, mimeType } = resource
      if (typeof at !== 'string') throw new RequestError(INVALID_PARAMS, 'a resource of the prompt has no uri')
      lines.push(makeLink(at, null))
      if (typeof content === 'string') resources.push(`<resource uri="${at}">\n${content}\n</resource>`)
      else if (typeof blob === 'string') resources.push(`<resource uri="${at}" mimeType="${String(mimeType ?? '')}" />`)
    } else if (type === 'image' || type === 'audio')
      throw new RequestError(INVALID_PARAMS, `the agent does not take ${type} blocks: it declared no such prompt capability`)
  }
  return { text: [...lines, ...resources].join('\n'), blocks }
}

function makeLink(uri: string, name: unknown): string {
  const last = uri.slice(uri.lastIndexOf('/') + 1)
  return `[@${typeof name === 'string' && name !== '' ? name : last}](${uri})`
}
