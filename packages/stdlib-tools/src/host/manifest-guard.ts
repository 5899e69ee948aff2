// Limits a run to the manifest of its program: an effect of a kind, or a tool by a name, that the analysis of the text did not
// find is refused before anybody looks at it. The analysis never finds less than what can happen, so a refusal means that the
// program that runs is not the one that a person or a host has read: bytes that were tampered with, or a bug of ours.

import type { EffectManifest, ToolUse, ToolVia } from '@bridle/compiler'
import { identifyEffect } from '../tools/dispatch/identity.js'
import type { Effect, EffectOutcome } from '@bridle/vm'
import type { HostNames } from '../tools/dispatch/identity.js'
import type { ToolIdentity } from '../tools/dispatch/identity.js'
import { categorizedError } from '../tools/executors/provider.js'
import type { PerformEffect } from '../tools/executors/provider.js'

export interface ManifestGuard {
  /** Asked for at the first effect, since most programs have none. */
  readonly manifest: () => EffectManifest
  /** Kinds that the host itself adds, such as those of a builtin that it lets the run continue with. */
  readonly added: readonly string[]
  readonly names: HostNames
}

export function withManifestGuard(guard: ManifestGuard, perform: PerformEffect): PerformEffect {
  let allowed: Allowed | null = null
  return (effect, call) => {
    allowed ??= listAllowed(guard)
    return findRefusal(effect, allowed, guard.names) ?? perform(effect, call)
  }
}

interface Allowed {
  readonly kinds: ReadonlySet<string>
  /** Names by the way that a call goes; `*` for any. */
  readonly tools: { readonly [Via in ToolVia]: ReadonlySet<string> }
  /** For tools that the program defines: the effects of their calls. */
  readonly reaches: ReadonlyMap<string, readonly string[]>
}

function listAllowed({ manifest, added }: ManifestGuard): Allowed {
  const { kinds, tools } = manifest().script
  const namesOf = (way: ToolVia): ReadonlySet<string> => new Set(tools.flatMap(({ via, name }) => (via === way ? [name] : [])))
  return {
    kinds: new Set([...kinds, ...added]),
    tools: { tool: namesOf('tool'), host: namesOf('host'), capability: namesOf('capability'), mcp: namesOf('mcp') },
    reaches: joinReaches(tools),
  }
}

/** The program and the host may each have a tool of one name. */
function joinReaches(tools: readonly ToolUse[]): ReadonlyMap<string, readonly string[]> {
  const joined = new Map<string, readonly string[]>()
  for (const { via, name, reaches } of tools) {
    if (via === 'tool' && reaches !== undefined) joined.set(name, [...(joined.get(name) ?? []), ...reaches])
  }
  return joined
}

/** What dispatch asks on its own account, to time, to name, to record and to ask a person; none of it widens anything. */
const OWN_ACCOUNT: ReadonlySet<string> = new Set(['clock', 'random', 'trace', 'approval'])

function findRefusal(effect: Effect, { kinds, tools, reaches }: Allowed, names: HostNames): EffectOutcome | null {
  if (!kinds.has(effect.kind) && !OWN_ACCOUNT.has(effect.kind.slice(0, effect.kind.indexOf('.')))) {
    return categorizedError('tool_rejected', `${effect.kind} is not in the manifest of this program`)
  }
  const tool = findTool(effect)
  if (tool === null) return null
  const allowedNames = tools[tool.via]
  if (tool.via === 'tool' && !allowedNames.has('*')) {
    const allowed = reaches.get(tool.name)
    const identity = allowed === undefined ? null : identifyEffect(effect, names)
    if (allowed !== undefined && identity !== null && !allowed.some((reach) => isReached(reach, identity)))
      return categorizedError(
        'tool_rejected',
        `tool '${tool.name}' leads to ${identity.key}, which is not in the manifest of this program`,
      )
  }
  if (allowedNames.has('*') || allowedNames.has(tool.name)) return null
  return categorizedError('tool_rejected', `tool '${tool.name}' is not in the manifest of this program`)
}

/** Whether a manifest says that a tool leads there: under any name that the host or the server knows it by. */
function isReached(reach: string, { kind, key, names }: ToolIdentity): boolean {
  if (reach === '*' || reach === key) return true
  if (kind === 'host') return reach === 'host:*' || names.some((name) => reach === `host:${name}`)
  if (kind !== 'mcp' || !reach.startsWith('mcp:')) return false
  const [server, tool] = [reach.slice(0, reach.lastIndexOf('/') + 1), reach.slice(reach.lastIndexOf('/') + 1)]
  return (server === 'mcp:*/' && (tool === '*' || key.endsWith(`/${tool}`))) || (tool === '*' && key.startsWith(server))
}

/** The tool that an effect reaches, as manifests name it; null for one that reaches none. */
function findTool({ kind, args }: Effect): { readonly via: ToolVia; readonly name: string } | null {
  switch (kind) {
    case 'tool.call':
      return { via: 'tool', name: String(args.tool) }
    case 'host.tool':
      return args.op === 'call' ? { via: 'host', name: String(args.name) } : null
    case 'host.call':
      return { via: 'capability', name: String(args.name) }
    case 'mcp.request': {
      if (args.method !== 'tools/call') return null
      const params = args.params
      const name = typeof params === 'object' && params !== null && 'name' in params ? params['name'] : null
      return { via: 'mcp', name: typeof name === 'string' ? name : '' }
    }
    default:
      return null
  }
}
