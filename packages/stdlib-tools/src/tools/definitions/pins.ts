// The identity of a pinned tool: the BLAKE3 hash of its name and schemas in canonical JSON, and another one of what it says
// to a model: its description, its title, and those of its parameters. A model obeys these sentences, so a server that rewrites them
// after the lock was written has another tool. Handlers are left out: the code of a script is pinned by the script itself. A run with
// pins refuses changed and unpinned tools; `bridle tools lock` writes them.
//
//   script:NAME   defined by the program      bridle:ID   a standard tool
//   host:ID       of the embedding program    mcp:SERVER/TOOL   of an MCP server: also what it hints about its effects

import { mcpKey } from '../dispatch/identity.js'
import { HarnDict, HarnList, fromPlain, stringifySorted, toUtf8 } from '@bridle/vm/families'
import type { Plain, Value } from '@bridle/vm/families'

export type ToolOrigin = 'script' | 'bridle' | 'host' | 'mcp'

/** The form of what is hashed; a change of it is a new word here. */
const FORMAT = 'bridle-tool-1'
const TEXT_FORMAT = 'bridle-tool-text-1'
const HINTS_FORMAT = 'bridle-tool-hints-1'

function hashSchemas(hashHex: (bytes: Uint8Array) => string, name: string, parameters: Value, output: Value): string {
  const text = stringifySorted(HarnDict.of({ name, parameters, output }))
  return `blake3:${hashHex(toUtf8(`${FORMAT}\n${text}`))}`
}

/** Of a registry entry. */
export function hashEntrySchemas(hashHex: (bytes: Uint8Array) => string, entry: HarnDict): string {
  const name = entry.get('name')
  return hashSchemas(hashHex, typeof name === 'string' ? name : '', readParameters(entry), entry.get('outputSchema') ?? null)
}

function readParameters(entry: HarnDict): Value {
  return entry.get('parameters') ?? entry.get('inputSchema') ?? entry.get('input_schema') ?? null
}

/** Of what a registry entry, or a tool as servers list it, says to a model. */
export function hashEntryDescription(hashHex: (bytes: Uint8Array) => string, entry: HarnDict): string {
  const name = entry.get('name')
  const said = HarnDict.of({
    name: typeof name === 'string' ? name : '',
    description: entry.get('description') ?? '',
    title: entry.get('title') ?? '',
    parameters: pickSentences(readParameters(entry)),
    output: pickSentences(entry.get('outputSchema') ?? null),
  })
  return `blake3:${hashHex(toUtf8(`${TEXT_FORMAT}\n${stringifySorted(said)}`))}`
}

const SENTENCES: ReadonlySet<string> = new Set(['description', 'title', '$comment', 'examples'])
const DEEPEST = 100

/** What is written for readers in a schema, at its place; null where nothing is. */
function pickSentences(schema: Value, levels = DEEPEST): Value {
  // Below, all is kept, sentences and the rest: schemas may be of any depth, and the stack is not.
  if (levels === 0) return schema
  if (schema instanceof HarnList) {
    const items = schema.view().map((item) => pickSentences(item, levels - 1))
    return items.every((item) => item === null) ? null : new HarnList(items)
  }
  if (!(schema instanceof HarnDict)) return null
  const found = new HarnDict()
  for (const [key, value] of schema.entries()) {
    // A parameter may itself be called `description`; then its schema is kept, which is more than is needed.
    const kept = SENTENCES.has(key) ? value : pickSentences(value, levels - 1)
    if (kept !== null) found.set(key, kept)
  }
  return found.size === 0 ? null : found
}

/** Of a tool as data, as hashEntryDescription. */
export function toolDescriptionHash(
  hashHex: (bytes: Uint8Array) => string,
  tool: {
    readonly name: string
    readonly description: string
    readonly title?: string
    readonly input: Plain
    readonly output?: Plain
  },
): string {
  const { name, description, title = '', input, output = null } = tool
  return hashEntryDescription(
    hashHex,
    HarnDict.of({ name, description, title, parameters: fromPlain(input), outputSchema: fromPlain(output) }),
  )
}

/** Of the annotations of a server's tool (`readOnlyHint`, `destructiveHint` …): policies and dry runs go by them. */
export function toolHintsHash(hashHex: (bytes: Uint8Array) => string, annotations: Plain): string {
  return `blake3:${hashHex(toUtf8(`${HINTS_FORMAT}\n${stringifySorted(fromPlain(annotations))}`))}`
}

export interface ToolHashes {
  readonly schema: string
  readonly description: string
  /** Of tools of servers. */
  readonly hints?: string
}

/**
 * What a run is given for a tool: the hash of its schemas, and those of its descriptions and hints. It is one text, because snapshots and
 * journals carry pins as texts.
 */
export const pinText = (schema: string, description: string, hints?: string): string =>
  hints === undefined ? `${schema}+${description}` : `${schema}+${description}+${hints}`

/** The difference from the pin, for errors; null if there is none. Parts missing in a pin are not compared. */
export function describePinnedChange(pinned: string, found: ToolHashes): string | null {
  const [schema, description, hints] = pinned.split('+', 3)
  const changed = [
    ...(schema === found.schema ? [] : ['schemas']),
    ...(description === undefined || description === found.description ? [] : ['descriptions']),
    ...(hints === undefined || hints === found.hints ? [] : ['hints']),
  ]
  return changed.length === 0 ? null : changed.join(' and ')
}

/** Of a tool as a server lists it. */
export function serverToolHashes(hashHex: (bytes: Uint8Array) => string, listed: Plain): Required<ToolHashes> {
  const tool = (typeof listed === 'object' && listed !== null ? listed : {}) as { readonly [key: string]: Plain | undefined }
  const [name, input, output] = [String(tool['name'] ?? ''), tool['inputSchema'] ?? null, tool['outputSchema'] ?? null]
  const said = { description: String(tool['description'] ?? ''), title: String(tool['title'] ?? '') }
  return {
    schema: toolSchemaHash(hashHex, { name, input, output }),
    description: toolDescriptionHash(hashHex, { name, ...said, input, output }),
    hints: toolHintsHash(hashHex, tool['annotations'] ?? null),
  }
}

/** What a run with pins asks about a tool as its server lists it now. */
export interface PinnedTools {
  /** What is wrong with it, as the end of a sentence; null when it is what was pinned. */
  readonly changeOf: (server: string, listed: Plain) => string | null
}

export function makePinnedTools(hashHex: (bytes: Uint8Array) => string, pins: { readonly [key: string]: string }): PinnedTools {
  return {
    changeOf(server, listed) {
      const name = String((listed as { readonly name?: Plain } | null)?.name ?? '')
      const key = mcpKey(server, name)
      if (!Object.hasOwn(pins, key)) return `(${key}) is not in the lock file`
      const changed = describePinnedChange(pins[key]!, serverToolHashes(hashHex, listed))
      return changed === null ? null : `(${key}) has changed since it was locked: its ${changed}`
    },
  }
}

/** Of a tool as data, with JSON Schemas or null. */
export function toolSchemaHash(
  hashHex: (bytes: Uint8Array) => string,
  tool: { readonly name: string; readonly input: Plain; readonly output?: Plain },
): string {
  return hashSchemas(hashHex, tool.name, fromPlain(tool.input), fromPlain(tool.output ?? null))
}
