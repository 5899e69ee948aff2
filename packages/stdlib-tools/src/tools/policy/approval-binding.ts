// What the answer of a person is good for: one call of one tool in one version with one set of arguments, for a time. The request shows
// the arguments as the tool will get them, with a hash over all of that; an answer that names another hash, comes too late, or is not
// clearly a yes, is a no.

import { findIdentity } from '@bridle/compiler/grants'
import { HarnDict, HarnList, stringifySorted } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { listAliasGrants, listGrantsFor, toRecord, withPins } from './grants.js'
import { knowsParameter, withDefaults } from '../definitions/arguments.js'
import { getEntryFacts } from '../definitions/entry.js'
import type { CalledTool } from '../dispatch/identity.js'
import { hashEntrySchemas } from '../definitions/pins.js'
import type { AppliedGrant } from './grants.js'

/** What will execute, in words that do not depend on the name by which the script calls it. */
export function describeExecution({ shown: tool, identity }: CalledTool, entry: Value): string {
  if (identity.key !== undefined) return identity.key
  if (!(entry instanceof HarnDict)) return `tool:${tool}`
  const { executor, target } = getEntryFacts(entry)
  const judged = findIdentity(executor)
  if (judged === 'host') return `host:${target.host_capability ?? tool}`
  if (judged === 'mcp') return `mcp:${target.mcp_server ?? ''}.${target.mcp_tool ?? tool}`
  return `${executor}:${tool}`
}

/** SHA-256 over tool, version, schemas and arguments. */
export function computeBinding(ctx: Context, tool: CalledTool, entry: Value, args: HarnDict): string {
  const version = entry instanceof HarnDict ? getEntryFacts(entry).version : null
  const schemas = entry instanceof HarnDict ? hashEntrySchemas((bytes) => ctx.machine.hashHex(bytes), entry) : null
  const text = stringifySorted(new HarnList([describeExecution(tool, entry), version, schemas, args]))
  ctx.charge(text.length >> 6, text.length)
  return `sha256:${ctx.machine.sha256Hex(text)}`
}

/** Arguments with what the dispatch adds to them: pins of the grants, and defaults. */
export function completeArguments(ctx: Context, tool: CalledTool, entry: Value, args: HarnDict, alias: Value = null): HarnDict {
  if (!(entry instanceof HarnDict)) return args
  const { parameters, paths, urls, grants } = getEntryFacts(entry)
  const own: AppliedGrant[] = alias instanceof HarnDict ? [...listAliasGrants(alias)] : []
  if (grants instanceof HarnDict) own.push({ id: `tool:${tool.shown}`, scope: 'tool', grant: toRecord(grants) })
  const applied = listGrantsFor(ctx, { named: tool.identity, own })
  // A call that no grant allows is refused by the dispatch.
  if (typeof applied === 'string') return args
  const pinned =
    applied.length === 0
      ? args
      : withPins(ctx, applied, args, {
          knows: (name) => knowsParameter(parameters, name),
          pathArguments: paths,
          urlArguments: urls,
          base: null,
        })
  return withDefaults(parameters, pinned)
}

/** Where an answer says which of several options was chosen, at either level. */
const CHOICES = ['optionId', 'option_id', 'optionKind', 'option_kind', 'option', 'kind', 'choice'] as const

/** Options that let a call happen, as clients of the Agent Client Protocol name them; ids are ours (`remoteApproval`). */
const ALLOWING: ReadonlySet<string> = new Set(['allow', 'allow-once', 'allow-always', 'allowonce', 'allowalways'])

const normalizeWord = (value: Value): string => (typeof value === 'string' ? value.toLowerCase().replaceAll('_', '-') : '')

function isAllowing(choice: Value): boolean {
  if (!(choice instanceof HarnDict)) return ALLOWING.has(normalizeWord(choice))
  const named = [...CHOICES, 'id'].map((key) => choice.get(key) ?? null).filter((value) => value !== null)
  return named.length > 0 && named.every(isAllowing)
}

/** Whether an answer approves: it says so, and no member contradicts it. An unknown chosen option does not approve. */
export function isYes(answer: HarnDict): boolean {
  const outcome = answer.get('outcome') ?? null
  const said = outcome instanceof HarnDict ? (outcome.get('outcome') ?? null) : outcome
  const levels = outcome instanceof HarnDict ? [answer, outcome] : [answer]
  for (const level of levels) {
    for (const key of ['granted', 'approved'])
      if (level.has(key) && level.get(key) !== null && level.get(key) !== true) return false
    for (const key of CHOICES) {
      const choice = level.get(key) ?? null
      if (choice !== null && !isAllowing(choice)) return false
    }
  }
  if (outcome !== null) return said === 'selected' || said === 'allow'
  return answer.get('granted') === true
}

/** The hash that an answer says it is for; null when it names none. */
export function readBinding(answer: HarnDict): Value {
  return answer.get('binding') ?? null
}
