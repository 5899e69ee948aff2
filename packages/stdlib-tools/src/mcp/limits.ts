// What a server may send us, and what of its tools we keep. A server is a stranger: it may hand out cursors forever, list a hundred
// thousand tools, describe one in megabytes, or give two the same name. Past a limit there is an error that names the server and the limit;
// an unusable tool is omitted and reported, so that the others remain.

import type { Plain } from '@bridle/vm'
import { runtimeError } from '../tools/executors/provider.js'
import type { EffectOutcome } from '@bridle/vm'

export interface McpLimits {
  /** Bytes of one message; 16 MiB by default. */
  readonly maxMessageBytes?: number
  /** Pages of one list; 100 by default. */
  readonly maxPages?: number
  /** Tools of one server; 2,000 by default. */
  readonly maxTools?: number
  /** Characters of a tool's description; 32,768 by default. */
  readonly maxDescriptionLength?: number
  /** Characters of a tool's schemas as JSON; 262,144 by default. */
  readonly maxSchemaLength?: number
  /** Notifications in a row, without the answer to any request between them; 100,000 by default. */
  readonly maxNotifications?: number
}

export const DEFAULT_LIMITS: Required<McpLimits> = {
  maxMessageBytes: 16 << 20,
  maxPages: 100,
  maxTools: 2_000,
  maxDescriptionLength: 32_768,
  maxSchemaLength: 262_144,
  maxNotifications: 100_000,
}

/** A limit that was met; the message names the server. */
export class McpLimitError extends Error {
  override readonly name = 'McpLimitError'
}

export const makeLimitError = (server: string, what: string, limit: keyof McpLimits, most: number): McpLimitError =>
  new McpLimitError(`MCP server '${server}' ${what} (${limit} is ${most})`)

const LISTS: { readonly [method: string]: string } = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'skills/list': 'skills',
  'resources/directory/read': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
}

interface Listing {
  pages: number
  tools: number
  readonly names: Set<string>
  readonly cursors: Set<string>
}

/** The lists of one connection, page by page. */
export class Listings {
  private readonly server: string
  private readonly limits: Required<McpLimits>
  private readonly warn: (message: string) => void
  private readonly open = new Map<string, Listing>()

  constructor(server: string, limits: Required<McpLimits>, warn: (message: string) => void) {
    this.server = server
    this.limits = limits
    this.warn = warn
  }

  /** A page as it continues: without tools that cannot be used; or the failure that ends the list. */
  checkPage(method: string, cursor: Plain, outcome: EffectOutcome): EffectOutcome {
    if (LISTS[method] === undefined || !outcome.ok || !isRecord(outcome.value)) return outcome
    const listing = (typeof cursor === 'string' && this.open.get(method)) || {
      pages: 0,
      tools: 0,
      names: new Set(),
      cursors: new Set(),
    }
    this.open.set(method, listing)
    const { maxPages, maxTools } = this.limits
    const { nextCursor, tools } = outcome.value
    if (++listing.pages >= maxPages && typeof nextCursor === 'string' && nextCursor !== '')
      return this.fail(`has more pages of ${method} than it may`, 'maxPages', maxPages)
    if (typeof nextCursor === 'string') {
      if (listing.cursors.has(nextCursor))
        return runtimeError(`MCP server '${this.server}' gave the same cursor of ${method} twice: its list would never end`)
      listing.cursors.add(nextCursor)
    }
    if (method !== 'tools/list' || !Array.isArray(tools)) return outcome
    listing.tools += tools.length
    if (listing.tools > maxTools) return this.fail('lists more tools than it may', 'maxTools', maxTools)
    const kept = (tools as readonly Plain[]).filter((tool) => {
      const problem = this.findProblem(tool, listing.names)
      if (problem !== null) this.warn(`MCP server '${this.server}': ${problem}; the tool is left out`)
      return problem === null
    })
    return { ok: true, value: { ...outcome.value, tools: kept } }
  }

  private fail(what: string, limit: keyof McpLimits, most: number): EffectOutcome {
    return runtimeError(makeLimitError(this.server, what, limit, most).message)
  }

  private findProblem(tool: Plain, names: Set<string>): string | null {
    if (!isRecord(tool)) return 'it lists a tool that is no object'
    const { name, description, inputSchema, outputSchema } = tool
    if (typeof name !== 'string') return 'it lists a tool without a name'
    const shown = JSON.stringify(name.slice(0, 80))
    if (!/^[^\s"'`\\]{1,200}$/.test(name))
      return `tool name ${shown} is not usable (1 to 200 characters without blanks and quotes)`
    if (names.has(name)) return `tool ${shown} is listed twice`
    const { maxDescriptionLength, maxSchemaLength } = this.limits
    if (typeof description === 'string' && description.length > maxDescriptionLength)
      return `the description of tool ${shown} is too long (maxDescriptionLength is ${maxDescriptionLength})`
    const length = measureJson(inputSchema, maxSchemaLength) + measureJson(outputSchema, maxSchemaLength)
    if (length > maxSchemaLength) return `the schemas of tool ${shown} are too long (maxSchemaLength is ${maxSchemaLength})`
    names.add(name)
    return null
  }
}

function isRecord(value: Plain | undefined): value is { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}

/** About the length of data as JSON; more than `most` is not counted further. */
function measureJson(value: Plain | undefined, most: number): number {
  const pending: (Plain | undefined)[] = [value]
  let length = 0
  while (pending.length > 0 && length <= most) {
    const next = pending.pop()
    if (typeof next === 'string') length += next.length + 2
    else if (Array.isArray(next) || isRecord(next))
      for (const [key, inner] of Object.entries(next)) {
        length += key.length + 4
        pending.push(inner as Plain)
      }
    else length += 4
  }
  return length
}
