// What identifies a tool to whoever pins it: the BLAKE3 hash of its name and schemas in canonical JSON. Descriptions and handlers
// are left out, because a better sentence must not break a locked run. A run with pins refuses tools that changed and tools that
// nobody pinned; `bridle tools lock` writes them.
//
//   script:NAME   defined by the program      bridle:ID   a standard tool
//   host:ID       of the embedding program    mcp:SERVER.TOOL   of an MCP server

import { sortedJson, utf8 } from './tools-json.js'
import { HarnDict } from '../values/dict.js'
import { fromPlain } from '../values/plain.js'
import type { Plain } from '../effects/effect.js'
import type { Value } from '../values/value.js'

export type ToolOrigin = 'script' | 'bridle' | 'host' | 'mcp'

/** A tool that a program defined, as its host is told. */
export interface DefinedTool {
  readonly name: string
  readonly hash: string
  /** The entry without its handler. */
  readonly entry: Plain
}

/** The form of what is hashed; a change of it is a new word here. */
const FORMAT = 'bridle-tool-1'

function hashOf(hashHex: (bytes: Uint8Array) => string, name: string, parameters: Value, output: Value): string {
  const text = sortedJson(HarnDict.of({ name, parameters, output }))
  return `blake3:${hashHex(utf8(`${FORMAT}\n${text}`))}`
}

/** Of a registry entry. */
export function schemaHashOf(hashHex: (bytes: Uint8Array) => string, entry: HarnDict): string {
  const name = entry.get('name')
  const parameters = entry.get('parameters') ?? entry.get('inputSchema') ?? entry.get('input_schema') ?? null
  return hashOf(hashHex, typeof name === 'string' ? name : '', parameters, entry.get('outputSchema') ?? null)
}

/** Of a tool as data, with JSON Schemas or null. */
export function toolSchemaHash(
  hashHex: (bytes: Uint8Array) => string,
  tool: { readonly name: string; readonly input: Plain; readonly output?: Plain },
): string {
  return hashOf(hashHex, tool.name, fromPlain(tool.input), fromPlain(tool.output ?? null))
}
