// The caller of an agent loop passes tools and policies together, and the policies use the names of its entries. Judges know what
// calls come down to and take no name from an entry (tool-identity.ts), so the lists that allow are brought into those names here. That
// widens nothing: policies around the loop are asked as well, under the names that tools really have.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { findIdentityAtServer } from './servers.js'
import { identifyEntry } from '../../tools/dispatch/gate.js'
import { matchesGlob } from '../../tools/policy/tool-policy.js'
import { listEntries, readName, readText } from '../../tools/definitions/registry.js'
import type { ConnectedServer } from './servers.js'

interface Renamed {
  readonly matches: (pattern: string) => boolean
  /** The name of what a tool comes down to, for a list that has `pattern`. */
  readonly nameFor: (pattern: string) => string
}

/** The name that judges take for an entry: its own, where that is a name of what it leads to. */
function findJudgedName(ctx: Context, entry: HarnDict): string {
  const { names } = identifyEntry(ctx, entry)
  const name = readName(entry)
  return names.includes(name) ? name : (names[0] ?? name)
}

/** Options of a loop whose allowing lists name what its tools come down to. */
export function withJudgedNames(ctx: Context, options: HarnDict, servers: readonly ConnectedServer[]): HarnDict {
  const renamed = [...listRenamedEntries(ctx, options.get('tools') ?? null), ...servers.map(makeServerRenaming)]
  if (renamed.length === 0) return options
  let changed = options
  const policy = options.get('policy')
  const tools = policy instanceof HarnDict ? policy.get('tools') : null
  if (policy instanceof HarnDict && tools instanceof HarnList)
    changed = changed.with('policy', policy.with('tools', new HarnList(replaceNames(tools, renamed))))
  const permissions = options.get('permissions')
  const allow = permissions instanceof HarnDict ? permissions.get('allow') : null
  if (permissions instanceof HarnDict && (allow instanceof HarnList || allow instanceof HarnDict))
    changed = changed.with(
      'permissions',
      permissions.with('allow', allow instanceof HarnList ? addNames(allow, renamed) : addRules(allow, renamed)),
    )
  const approval = options.get('approval_policy')
  const approve = approval instanceof HarnDict ? approval.get('auto_approve') : null
  if (approval instanceof HarnDict && approve instanceof HarnList)
    changed = changed.with('approval_policy', approval.with('auto_approve', addNames(approve, renamed)))
  return changed
}

function listRenamedEntries(ctx: Context, tools: Value): readonly Renamed[] {
  const entries = tools instanceof HarnDict ? listEntries(tools) : tools instanceof HarnList ? tools.view() : []
  return entries.flatMap((entry) => {
    if (!(entry instanceof HarnDict) || (readText(entry, 'executor') ?? readText(entry, '_mcp_server')) === null) return []
    const name = readName(entry)
    const judged = findJudgedName(ctx, entry)
    return judged === name ? [] : [{ matches: (pattern: string) => matchesGlob(pattern, name), nameFor: () => judged }]
  })
}

function makeServerRenaming(server: ConnectedServer): Renamed {
  const prefix = `${server.name}__`
  return {
    matches: (pattern) => pattern.startsWith(prefix),
    nameFor: (pattern) => {
      const tool = HarnDict.of({ name: pattern.slice(prefix.length), mcp_server: server.name })
      return findIdentityAtServer([server], tool)?.names[0] ?? pattern
    },
  }
}

const listNames = (pattern: string, renamed: readonly Renamed[]): string[] =>
  renamed.filter(({ matches }) => matches(pattern)).map(({ nameFor }) => nameFor(pattern))

function replaceNames(list: HarnList, renamed: readonly Renamed[]): Value[] {
  return list.view().flatMap((name) => {
    const found = typeof name === 'string' ? listNames(name, renamed) : []
    return found.length === 0 ? [name] : found
  })
}

function addNames(list: HarnList, renamed: readonly Renamed[]): HarnList {
  const items = list.view()
  return new HarnList([...items, ...items.flatMap((name) => (typeof name === 'string' ? listNames(name, renamed) : []))])
}

function addRules(rules: HarnDict, renamed: readonly Renamed[]): HarnDict {
  let all = rules
  for (const pattern of rules.keys())
    for (const name of listNames(display(pattern), renamed)) if (!all.has(name)) all = all.with(name, rules.get(pattern)!)
  return all
}
