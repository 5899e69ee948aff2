// The one gate in front of every tool, for all executors and routes: dispatch, host calls, calls of MCP
// clients, agent loops, calls that tools of the host make. It judges the identity of what will be carried out (tool-identity.ts), in this
// order, and what cannot be judged is refused:
//
//   pins        the lock file knows the tool, and it is what it was
//   level       the run's security level is as high as what is carried out needs
//   grants      of the host, of imports, of scopes, of the alias, of the entry; the version they ask for
//   ceilings    of the importing modules, by the effects that carrying it out entails
//   arguments   filled in from grants and checked by them
//   policy      capability policy, permissions, approval, hooks (policy-gate.ts); arguments that changed are checked again
//   budgets     counted once for each call
//
// Effects that passed carry the key of the identity, and drivers refuse those that do not (identity-guard.ts of stdlib-tools).

import { HAS_OTHER_HOST_TOOLS, HOST_TOOLS } from '../definitions/entry.js'
import { RUNTIME_TOOLS } from '../definitions/runtime-tools.js'
import { TOOL_PINS, HOST_NAMES } from '../host-slots.js'
import { HOST_CAPABILITIES } from '../host-slots.js'
import { GRANT_CEILING } from '../policy/grant-ceiling.js'
import { HarnDict, HarnList, display, toPlain } from '@bridle/vm/families'
import type { Context, PlainRecord } from '@bridle/vm/families'
import { findIdentity, keyKind, listLevelEffects, satisfiesVersion } from '@bridle/compiler/grants'
import type { GrantedTool } from '@bridle/compiler/grants'
import {
  listAliasGrants,
  makeBeyondCeiling,
  findEffectBeyondImport,
  findGrantProblem,
  listGrantsFor,
  toRecord,
  refuseByGrants,
  withPins,
} from '../policy/grants.js'
import type { AppliedGrant } from '../policy/grants.js'
import { isAbove, findRunLevel } from '../policy/level-order.js'
import { describeBeyondLevel, findEntryLevel, findIdentityLevel } from '../policy/security-level.js'
import { STANDARD_TOOLS } from '../definitions/standard-tools.js'
import { checkArguments, knowsParameter, withDefaults } from '../definitions/arguments.js'
import { getEntryFacts, toHostEntry } from '../definitions/entry.js'
import { makeToolError } from '../../library/tool-errors.js'
import type { CallFacts } from '../../library/tool-errors.js'
import { makeBridgedIdentity, makeInsideIdentity, makeMcpIdentity, mcpKey } from './identity.js'
import type { HostNames, ToolIdentity } from './identity.js'
import { hashEntryDescription, pinText, describePinnedChange, hashEntrySchemas } from '../definitions/pins.js'
import { readName, getOrNil, readText } from '../definitions/registry.js'
import { isServerAddress } from '../../library/effects/index.js'

// ---------------------------------------------------------------------------------------------------------------- resolving

const NO_HOST: HostNames = { aliases: null, hasOperation: () => false }

export function findHostNames(ctx: Context): HostNames {
  return ctx.machine.hostData(HOST_NAMES) ?? NO_HOST
}

/** Of any registry entry; `alias` is the script's own name for it, if any. */
export function identifyEntry(ctx: Context, entry: HarnDict, alias: string | null = null): ToolIdentity {
  const name = readName(entry)
  const given = alias === null ? [name] : [name, alias]
  const facts = getEntryFacts(entry)
  switch (findIdentity(facts.executor)) {
    case 'script': {
      // Their builtins are judged under the names of the standard tools that do the same.
      const standard = getOrNil(entry, 'handler') === null ? (RUNTIME_TOOLS.get(name)?.standard ?? null) : null
      return standard === null ? makeInsideIdentity('script', name, given) : makeInsideIdentity('builtin', standard, given)
    }
    case 'builtin':
      return STANDARD_IDS.has(name) ? makeInsideIdentity('builtin', name, given) : makeInsideIdentity('none', name, given)
    case 'host':
      return makeBridgedIdentity(findHostNames(ctx), { tool: name, capability: facts.target.host_capability }, given)
    case 'mcp':
      return makeMcpIdentity(facts.target.mcp_server ?? '', facts.target.mcp_tool ?? name, given)
    case 'native':
      return makeInsideIdentity('native', name, given)
    case null:
      return makeInsideIdentity('none', name, given)
  }
}

const STANDARD_IDS: ReadonlySet<string> = new Set(STANDARD_TOOLS.map(({ id }) => id))

/** The host's own entry of one of its tools; null for operations, and for tools of a host behind a bridge. */
export function findHostEntry(ctx: Context, { kind, id }: ToolIdentity): HarnDict | null {
  const entry = kind === 'host' ? ctx.machine.hostData(HOST_TOOLS)?.get(id) : undefined
  return entry === undefined ? null : toHostEntry(entry)
}

/** Arguments of a host tool that are redacted in traces. */
export function listHostSecrets(ctx: Context, id: string): readonly string[] {
  const entry = ctx.machine.hostData(HOST_TOOLS)?.get(findHostNames(ctx).aliases?.get(id) ?? id)
  return entry === undefined ? [] : getEntryFacts(toHostEntry(entry)).secrets
}

/** Effects of a call, regardless of its entry: those that the host declares for its tool, else those of its executor. */
export function listEntailedEffects(ctx: Context, identity: ToolIdentity): readonly string[] {
  if (identity.kind === 'mcp') return ['mcp']
  if (identity.kind !== 'host') return []
  const own = findHostEntry(ctx, identity)
  return (own === null ? null : readDeclaredEffects(own)) ?? ['external']
}

/** Whether the host itself carries out what goes by that name, rather than a builtin in its place. */
export function isOfHost(ctx: Context, { kind, id }: ToolIdentity): boolean {
  if (kind !== 'host') return false
  const hostTools = ctx.machine.hostData(HOST_TOOLS)
  const hostCapabilities = ctx.machine.hostData(HOST_CAPABILITIES)
  const hasOtherHostTools = ctx.machine.hostData(HAS_OTHER_HOST_TOOLS)
  if (hostTools?.has(id) === true || findHostNames(ctx).hasOperation(id)) return true
  const dot = id.indexOf('.')
  const declared = hostCapabilities ?? {}
  const operations = Object.hasOwn(declared, id.slice(0, dot)) ? declared[id.slice(0, dot)]!.operations : {}
  return Object.hasOwn(operations, id.slice(dot + 1)) || hasOtherHostTools
}

/** The effects that an entry declares; null without a declaration. */
function readDeclaredEffects(entry: HarnDict): readonly string[] | null {
  const declared = entry.get('effects')
  if (declared instanceof HarnList) return declared.view().map((name) => display(name))
  const annotations = entry.get('annotations')
  const level = annotations instanceof HarnDict ? annotations.get('side_effect_level') : null
  return typeof level === 'string' ? listLevelEffects(level) : null
}

// ------------------------------------------------------------------------------------------------------------------- judging

export interface GateCall {
  readonly identity: ToolIdentity
  /** As the script has it; null for a call by name that needs none. */
  readonly entry: HarnDict | null
  /** The binding of the alias that the call is made by. */
  readonly binding: HarnDict | null
  /** Whether the entry is one that the program made, so that the lock file names it too. */
  readonly isOfScript: boolean
  /** For errors. */
  readonly facts: CallFacts
}

/** The error of a call that is refused for any arguments, or the grants that apply to it. */
export function admit(ctx: Context, call: GateCall, isCarriedOut = true): HarnDict | readonly AppliedGrant[] {
  return refuseByPins(ctx, call) ?? refuseByLevel(ctx, call) ?? collectGrants(ctx, call, isCarriedOut)
}

function makeRefusal(call: GateCall, code: string, message: string, details: HarnDict | null = null): HarnDict {
  return makeToolError(code, message, call.facts, details)
}

/** How lock files name what the call reaches. */
export function makePin({ identity, entry, isOfScript }: Pick<GateCall, 'identity' | 'entry' | 'isOfScript'>): string {
  if (isOfScript && entry !== null) return `script:${readName(entry)}`
  switch (identity.kind) {
    case 'host':
      return `host:${identity.id}`
    case 'mcp':
      return mcpKey(identity.server ?? '', identity.id)
    case 'builtin':
      return `bridle:${identity.id}`
    default:
      return `script:${identity.id}`
  }
}

/** A locked run calls what was locked, as it was then: the entry of the script, and what that leads to. */
function refuseByPins(ctx: Context, call: GateCall): HarnDict | null {
  const pins = ctx.machine.hostData(TOOL_PINS)
  if (pins === null) return null
  const { identity, entry, isOfScript } = call
  const key = makePin(call)
  const hashHex = (bytes: Uint8Array): string => ctx.machine.hashHex(bytes)
  const hashEntry = (of: HarnDict): { readonly schema: string; readonly description: string } => ({
    schema: hashEntrySchemas(hashHex, of),
    description: hashEntryDescription(hashHex, of),
  })
  const judge = (name: string, of: HarnDict | null): HarnDict | null => {
    const pinned = pins.get(name)
    const shown = call.facts.tool
    if (pinned === undefined) {
      const found = of === null ? null : hashEntry(of).schema
      return makeRefusal(
        call,
        'schema_drift',
        `Tool '${shown}' (${name}) is not in the lock file`,
        HarnDict.of({ key: name, pinned: null, found }),
      )
    }
    if (of === null) return null
    const found = hashEntry(of)
    const changed = describePinnedChange(pinned, found)
    if (changed === null) return null
    const shownFound = pinned.includes('+') ? pinText(found.schema, found.description) : found.schema
    return makeRefusal(
      call,
      'schema_drift',
      `Tool '${shown}' (${name}) has changed since it was locked: its ${changed}`,
      HarnDict.of({ key: name, pinned, found: shownFound, changed }),
    )
  }
  // What servers list is compared where they are asked (mcp/provider.ts); here there is nothing to compare.
  const own = identity.kind === 'mcp' && !isOfScript ? null : (findHostEntry(ctx, identity) ?? entry)
  const refused = judge(key, isOfScript ? entry : own)
  if (refused !== null || !isOfScript) return refused
  if (identity.kind === 'mcp') return judge(makePin({ ...call, isOfScript: false }), null)
  const target = findHostEntry(ctx, identity)
  return identity.kind !== 'host' || (target === null && identity.id === entry?.get('name'))
    ? null
    : judge(makePin({ ...call, isOfScript: false }), target)
}

/** A run does what its security level allows, by what is carried out; an entry can only say that it does more. */
function refuseByLevel(ctx: Context, call: GateCall): HarnDict | null {
  const ceiling = ctx.machine.hostData(GRANT_CEILING)
  const most = ceiling === null ? null : findRunLevel(ceiling)
  if (most === null) return null
  const { identity, entry, facts } = call
  const ofIdentity = findIdentityLevel(identity, findHostNames(ctx))
  const ofEntry = entry === null ? 'safe' : findEntryLevel(entry)
  const needed = isAbove(ofEntry, ofIdentity) ? ofEntry : ofIdentity
  if (!isAbove(needed, most)) return null
  const details = HarnDict.of({ violation: 'level', required: needed, granted: most })
  return makeRefusal(
    call,
    'security_violation',
    describeBeyondLevel(`Tool '${facts.alias ?? facts.tool}'`, needed, most),
    details,
  )
}

const NO_GRANTS: readonly AppliedGrant[] = []

/** Collects the grants of the call and checks the version that its alias asks for. */
function collectGrants(ctx: Context, call: GateCall, isCarriedOut: boolean): HarnDict | readonly AppliedGrant[] {
  const { identity, entry, binding, facts } = call
  const ofAlias = binding === null ? NO_GRANTS : listAliasGrants(binding)
  const declared = entry === null ? null : getEntryFacts(entry).grants
  const problem = declared instanceof HarnDict ? findGrantProblem(ctx, facts.tool, declared) : null
  if (problem !== null) return makeRefusal(call, 'grant_invalid', problem)
  const own =
    declared instanceof HarnDict
      ? [...ofAlias, { id: `tool:${facts.tool}`, scope: 'tool' as const, grant: toRecord(declared) }]
      : ofAlias
  const grants = listGrantsFor(ctx, { named: identity, own })
  if (typeof grants === 'string')
    return makeRefusal(call, 'policy_violation', `policy violation for '${facts.alias ?? facts.tool}': ${grants}`)
  if (isCarriedOut) {
    const beyond = refuseByImports(ctx, call)
    if (beyond !== null) return beyond
  }
  if (binding === null && grants.length === 0) return grants
  const known = findHostEntry(ctx, identity) ?? entry
  const found = known === null ? null : getEntryFacts(known).version
  const required = [
    binding === null ? null : readText(binding, 'version'),
    ...grants.map(({ grant }) => grant['version'] ?? null),
  ]
  for (const version of required) {
    if (typeof version !== 'string' || (found !== null && satisfiesVersion(found, version))) continue
    const message = `Tool '${facts.tool}' has version ${found ?? '(unknown)'}, and ${version} is required`
    return makeRefusal(call, 'version_mismatch', message, HarnDict.of({ tool: facts.tool, required: version, found }))
  }
  return grants
}

/** What an entry says about itself adds to what its executor entails, and takes nothing away. */
function refuseByImports(ctx: Context, { identity, entry, facts }: GateCall): HarnDict | null {
  if (ctx.machine.importCeilings === null || (identity.kind !== 'host' && identity.kind !== 'mcp')) return null
  const said = entry === null ? [] : (readDeclaredEffects(entry) ?? [])
  const beyond = findEffectBeyondImport(ctx, [...listEntailedEffects(ctx, identity), ...said])
  return beyond === null ? null : makeBeyondCeiling(beyond.ceiling, beyond.name, facts)
}

/** The schema that grants use for the arguments: from the entry of the call, and from the host's own entry, which a script cannot weaken. */
interface GrantedFacts {
  readonly tool: GrantedTool
  readonly secret: ReadonlySet<string>
}

/** By the entry of the call, with the host's own that they hold for. Entries are never changed in place, so they are worked out once. */
const grantedFacts = new WeakMap<HarnDict, { readonly own: HarnDict | null; readonly facts: GrantedFacts }>()

function getGrantedFacts(ctx: Context, { entry, identity }: Pick<GateCall, 'entry' | 'identity'>): GrantedFacts {
  const own = findHostEntry(ctx, identity)
  const kept = entry === null ? undefined : grantedFacts.get(entry)
  if (kept !== undefined && kept.own === own) return kept.facts
  const facts = readGrantedFacts([entry, own === entry ? null : own].filter((each) => each !== null))
  if (entry !== null) grantedFacts.set(entry, { own, facts })
  return facts
}

function readGrantedFacts(entries: readonly HarnDict[]): GrantedFacts {
  const all = entries.map(getEntryFacts)
  const tool: GrantedTool = {
    knows: (name) => all.some(({ parameters }) => knowsParameter(parameters, name)),
    pathArguments: all.flatMap(({ paths }) => paths),
    urlArguments: all.flatMap(({ urls }) => urls),
    base: null,
  }
  return { tool, secret: new Set(all.flatMap(({ secrets }) => secrets)) }
}

/** The arguments with what grants pin and the schema sets, or the error of arguments that the schema or a grant refuses. */
export function admitArguments(
  ctx: Context,
  grants: readonly AppliedGrant[],
  given: HarnDict,
  call: Pick<GateCall, 'entry' | 'identity' | 'facts'>,
): { readonly args: HarnDict } | { readonly error: HarnDict; /** As far as they were made. */ readonly args: HarnDict } {
  const { entry, facts } = call
  let args = grants.length === 0 ? given : withPins(ctx, grants, given, getGrantedFacts(ctx, call).tool)
  if (entry !== null) {
    const { parameters, hasDefaults } = getEntryFacts(entry)
    if (hasDefaults) args = withDefaults(parameters, args)
    const wrong = checkArguments(parameters, args)
    if (wrong !== null) return { error: makeToolError('invalid_args', wrong.message, facts, wrong.details), args: given }
  }
  const error = findBrokenGrant(ctx, grants, args, call)
  return error === null ? { args } : { error, args }
}

/** The same without the schema, for those that check it by themselves. */
export function makeGrantedArguments(
  ctx: Context,
  grants: readonly AppliedGrant[],
  given: HarnDict,
  call: Pick<GateCall, 'entry' | 'identity' | 'facts'>,
): { readonly args: HarnDict } | { readonly error: HarnDict; readonly args: HarnDict } {
  const args = withPins(ctx, grants, given, getGrantedFacts(ctx, call).tool)
  const error = findBrokenGrant(ctx, grants, args, call)
  return error === null ? { args } : { error, args }
}

/** The error for arguments that a grant does not allow, or null. */
export function findBrokenGrant(
  ctx: Context,
  grants: readonly AppliedGrant[],
  args: HarnDict,
  call: Pick<GateCall, 'entry' | 'identity' | 'facts'>,
): HarnDict | null {
  if (grants.length === 0) return null
  const { identity, facts } = call
  const { tool, secret } = getGrantedFacts(ctx, call)
  const plain = toPlain(args) as PlainRecord
  const judge = (applied: readonly AppliedGrant[], judged: PlainRecord): HarnDict | null =>
    refuseByGrants(ctx, applied, judged, tool, { ...facts, alias: facts.alias ?? null, secret })
  const { kind, server } = identity
  if (kind !== 'mcp' || server === null || !isServerAddress(server)) return judge(grants, plain)
  // The address of the server is judged by itself too: an argument that is called `url` does not stand for it (library/effects/uses.ts).
  const ofPlace = grants.map((each) => ({
    ...each,
    grant: Object.fromEntries(Object.entries(each.grant).filter(([key]) => key === 'url' || keyKind(key) === 'domain')),
  }))
  return judge(ofPlace, { url: server }) ?? judge(grants, { url: server, ...plain })
}
