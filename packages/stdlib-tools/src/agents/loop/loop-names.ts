// Whoever begins an agent loop gives it tools and policies together, and its policies name the tools as its entries do. Judges know what
// calls come down to and take no name from an entry (tool-identity.ts), so the lists that allow are brought into those names here. That
// widens nothing: policies around the loop are asked as well, under the names that tools really have.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { identityAtServer } from './servers.js'
import { identityOfEntry } from '../../tools/dispatch/gate.js'
import { globOne } from '../../tools/policy/tool-policy.js'
import { entriesOf, nameOf, textAt } from '../../tools/definitions/registry.js'
import type { ConnectedServer } from './servers.js'

interface Renamed {
  readonly matches: (pattern: string) => boolean
  /** The name of what a tool comes down to, for a list that has `pattern`. */
  readonly nameFor: (pattern: string) => string
}

/** The name that judges take for an entry: its own, where that is a name of what it leads to. */
function judgedName(ctx: Context, entry: HarnDict): string {
  const { names } = identityOfEntry(ctx, entry)
  const name = nameOf(entry)
  return names.includes(name) ? name : (names[0] ?? name)
}

/** Options of a loop whose allowing lists name what its tools come down to. */
export function withJudgedNames(ctx: Context, options: HarnDict, servers: readonly ConnectedServer[]): HarnDict {
  const renamed = [...entriesRenamed(ctx, options.get('tools') ?? null), ...servers.map(serverRenamed)]
  if (renamed.length === 0) return options
  let changed = options
  const policy = options.get('policy')
  const tools = policy instanceof HarnDict ? policy.get('tools') : null
  if (policy instanceof HarnDict && tools instanceof HarnList)
    changed = changed.with('policy', policy.with('tools', new HarnList(replaced(tools, renamed))))
  const permissions = options.get('permissions')
  const allow = permissions instanceof HarnDict ? permissions.get('allow') : null
  if (permissions instanceof HarnDict && (allow instanceof HarnList || allow instanceof HarnDict))
    changed = changed.with(
      'permissions',
      permissions.with('allow', allow instanceof HarnList ? added(allow, renamed) : rulesAdded(allow, renamed)),
    )
  const approval = options.get('approval_policy')
  const approve = approval instanceof HarnDict ? approval.get('auto_approve') : null
  if (approval instanceof HarnDict && approve instanceof HarnList)
    changed = changed.with('approval_policy', approval.with('auto_approve', added(approve, renamed)))
  return changed
}

function entriesRenamed(ctx: Context, tools: Value): readonly Renamed[] {
  const entries = tools instanceof HarnDict ? entriesOf(tools) : tools instanceof HarnList ? tools.view() : []
  return entries.flatMap((entry) => {
    if (!(entry instanceof HarnDict) || (textAt(entry, 'executor') ?? textAt(entry, '_mcp_server')) === null) return []
    const name = nameOf(entry)
    const judged = judgedName(ctx, entry)
    return judged === name ? [] : [{ matches: (pattern: string) => globOne(pattern, name), nameFor: () => judged }]
  })
}

function serverRenamed(server: ConnectedServer): Renamed {
  const prefix = `${server.name}__`
  return {
    matches: (pattern) => pattern.startsWith(prefix),
    nameFor: (pattern) => {
      const tool = HarnDict.of({ name: pattern.slice(prefix.length), mcp_server: server.name })
      return identityAtServer([server], tool)?.names[0] ?? pattern
    },
  }
}

const namesFor = (pattern: string, renamed: readonly Renamed[]): string[] =>
  renamed.filter(({ matches }) => matches(pattern)).map(({ nameFor }) => nameFor(pattern))

function replaced(list: HarnList, renamed: readonly Renamed[]): Value[] {
  return list.view().flatMap((name) => {
    const found = typeof name === 'string' ? namesFor(name, renamed) : []
    return found.length === 0 ? [name] : found
  })
}

function added(list: HarnList, renamed: readonly Renamed[]): HarnList {
  const items = list.view()
  return new HarnList([...items, ...items.flatMap((name) => (typeof name === 'string' ? namesFor(name, renamed) : []))])
}

function rulesAdded(rules: HarnDict, renamed: readonly Renamed[]): HarnDict {
  let all = rules
  for (const pattern of rules.keys())
    for (const name of namesFor(display(pattern), renamed)) if (!all.has(name)) all = all.with(name, rules.get(pattern)!)
  return all
}
