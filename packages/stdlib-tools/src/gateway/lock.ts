// What a person has accepted of the tools of servers. The tools that a server has when the gateway meets it are accepted; one that is new or
// changed later is hidden until a person accepts it, because models obey tool descriptions.

import type { Plain } from '@bridle/vm'
import { mcpKey } from '../tools/dispatch/identity.js'
import { describePinnedChange, pinText, serverToolHashes } from '../tools/definitions/pins.js'
import type { ToolHashes } from '../tools/definitions/pins.js'
import type { JsonObject } from '../mcp/server-protocol.js'
import { hashHex } from '../node/hash.js'
import type { AcceptedStore, AcceptedTools, ToolChange } from './options.js'

export class ToolLock {
  private readonly store: AcceptedStore
  private accepted: AcceptedTools
  private readonly listeners = new Set<() => void>()

  constructor(store: AcceptedStore) {
    this.store = store
    this.accepted = store.load() ?? {}
  }

  onAccept(listener: () => void): void {
    this.listeners.add(listener)
  }

  /** Tools that differ from the accepted ones. All tools of a new server are accepted. */
  judge(server: string, listed: readonly JsonObject[]): { readonly changes: readonly ToolChange[] } {
    const prefix = mcpKey(server, '')
    const isKnown = Object.keys(this.accepted).some((key) => key.startsWith(prefix))
    if (!isKnown) {
      if (listed.length > 0) this.keep(listed.map((tool) => [mcpKey(server, String(tool['name'])), hashTool(tool)]))
      return { changes: [] }
    }
    const changes = listed.flatMap((tool): ToolChange[] => {
      const key = mcpKey(server, String(tool['name']))
      const pinned = Object.hasOwn(this.accepted, key) ? this.accepted[key] : undefined
      if (pinned === undefined) return [{ key, server, listed: tool, problem: 'is new' }]
      const changed = describePinnedChange(pinText(pinned.schema, pinned.description, pinned.hints), hashTool(tool))
      return changed === null ? [] : [{ key, server, listed: tool, problem: `has changed since it was accepted: its ${changed}` }]
    })
    return { changes }
  }

  accept(changes: readonly ToolChange[]): void {
    this.keep(changes.map(({ key, listed }) => [key, hashTool(listed)]))
    for (const listener of this.listeners) listener()
  }

  private keep(entries: readonly (readonly [string, ToolHashes])[]): void {
    const all = { ...this.accepted, ...Object.fromEntries(entries) }
    this.accepted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    this.store.save(this.accepted)
  }
}

const hashTool = (tool: JsonObject): Required<ToolHashes> => serverToolHashes(hashHex, tool as Plain)
