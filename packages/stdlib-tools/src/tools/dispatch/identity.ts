// What a call comes down to. A script names a tool as it likes: by an alias, by an entry that it made, by the name of a host operation. What
// is carried out is something else, and it is that which every judge asks about: grants, budgets, pins, effects, policies, approvals. So
// each route resolves its call to an identity first, and judges are given nothing but the identity.
//
// A target has the names of its provider (`names`), and those that the script gave it (`given`). Rules that
// refuse or narrow are looked up under all of them; rules that allow, under `names` alone: a name that a script gives selects, it never
// grants.

import { findIdentity } from '@bridle/compiler/grants'
import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Effect, Plain, Value } from '@bridle/vm/families'
import type { SideEffect } from '../../library/effects/index.js'
import type { SecurityLevel } from '../policy/level-order.js'

export type ToolKind =
  /** A closure of the script. What it does outside of the machine is judged where it does it. */
  | 'script'
  /** A standard tool or a tool of the runtime: a builtin, whose effects are judged too. */
  | 'builtin'
  /** A tool or an operation of the embedding program, or of a host behind a bridge. */
  | 'host'
  | 'mcp'
  /** The service of a model carries it out. */
  | 'native'
  /** It has no executor. */
  | 'none'

export interface ToolIdentity {
  readonly kind: ToolKind
  /** One text for each thing, `host:shop.order`, `mcp:files/read`: what effects carry and drivers compare. */
  readonly key: string
  /** The id of a host's tool, the name of a server's tool, the name of a script's. */
  readonly id: string
  /** The server, for `mcp`: the name by which the host declared it, or the address or program that the script spelled out. */
  readonly server: string | null
  /** Names of its provider, the most precise one first. */
  readonly names: readonly string[]
  readonly families: readonly string[]
  /** By which only the script knows it. */
  readonly given: readonly string[]
}

const NONE: readonly string[] = []

const familiesOfName = new Map<string, readonly string[]>()
/** Names may come from scripts; what was kept is dropped past this. */
const MOST_NAMES = 1000

/** `a`, `a.b` for `a.b.c`. */
function listFamilies(name: string): readonly string[] {
  if (!name.includes('.')) return NONE
  let found = familiesOfName.get(name)
  if (found !== undefined) return found
  found = []
  const families: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0 && families.length < 16; dot = name.indexOf('.', dot + 1))
    families.push(name.slice(0, dot))
  if (familiesOfName.size >= MOST_NAMES) familiesOfName.clear()
  familiesOfName.set(name, families)
  return families
}

/** A closure of the script, a builtin, or a target without an outside executor. */
export function makeInsideIdentity(
  kind: 'script' | 'builtin' | 'native' | 'none',
  id: string,
  given: readonly string[] = NONE,
): ToolIdentity {
  const names = [id]
  return {
    kind,
    key: `${kind === 'script' ? 'harn' : kind}:${id}`,
    id,
    server: null,
    names,
    families: listFamilies(id),
    given: without(given, names),
  }
}

/** The host is called with `name`; `aliases` are the host's other names for the tool. */
export function makeHostIdentity(
  name: string,
  aliases: ReadonlyMap<string, string> | null,
  given: readonly string[] = NONE,
): ToolIdentity {
  const known = findHostIdentity(name, aliases?.get(name) ?? name)
  const further = without(given, known.names)
  return further.length === 0 ? known : { ...known, given: further }
}

/** Host identities by the name that was asked for. They follow from name and id alone, so that none can be out of date. */
const hostIdentities = new Map<string, ToolIdentity>()

function findHostIdentity(name: string, id: string): ToolIdentity {
  const known = hostIdentities.get(name)
  if (known !== undefined && known.id === id) return known
  const names = id === name ? [id] : [id, name]
  const families = id === name ? listFamilies(id) : [...listFamilies(id), ...listFamilies(name)]
  const made: ToolIdentity = { kind: 'host', key: `host:${id}`, id, server: null, names, families, given: NONE }
  if (hostIdentities.size >= MOST_NAMES) hostIdentities.clear()
  hostIdentities.set(name, made)
  return made
}

/** `server` as returned by `identifyServer`. */
export function makeMcpIdentity(server: string, tool: string, given: readonly string[] = NONE): ToolIdentity {
  const key = mcpKey(server, tool)
  const [dotted, joined] = [`mcp.${server}.${tool}`, `${server}__${tool}`]
  const names = [key]
  // `mcp.a.b.c` may be the tool `b.c` of `a`, or `c` of `a.b`, and so may `a__b__c`: a name that two tools could have allows neither.
  const isDotted = isSpelled(server) ? tool.includes('.') : server.includes('.')
  if (!isDotted) names.push(dotted)
  if (!server.includes('__') && !server.endsWith('_') && !(isSpelled(server) && isDotted)) names.push(joined)
  const families = isDotted && !isSpelled(server) ? ['mcp'] : ['mcp', `mcp.${server}`]
  return { kind: 'mcp', key, id: tool, server, names, families, given: without([...given, dotted, joined], names) }
}

/** One text for each pair: what comes behind the last `/` is the tool. The manifest writes the same (compiler: effects/tools.ts). */
export function mcpKey(server: string, tool: string): string {
  return `mcp:${server}/${tool.replaceAll('%', '%25').replaceAll('/', '%2F')}`
}

/** Whether a server is an address or a program, rather than the name of a declaration. */
function isSpelled(server: string): boolean {
  return server.includes(':')
}

function without(given: readonly string[], names: readonly string[]): readonly string[] {
  if (given.every((name) => name === '' || names.includes(name))) return NONE
  return [...new Set(given)].filter((name) => name !== '' && !names.includes(name))
}

/** Facts of the host that decide which of its tools a name is. */
export interface HostNames {
  /** Further names of tools, with their ids. */
  readonly aliases: ReadonlyMap<string, string> | null
  /** Whether the host has an operation `capability.operation` of that name; operations go before tools. */
  readonly hasOperation: (name: string) => boolean
  /** The host's declaration of its tool; null without one. */
  readonly levelOf?: (id: string) => SecurityLevel | null
  /** The same about what a tool changes. */
  readonly sideEffectOf?: (id: string) => SideEffect | null
}

/** Aliases of the host's tools, and names of its operations; null if the host did not provide them. */
/** Of a tool that something outside carries out: by a bridge identifier, or by the tool's own name. */
export function makeBridgedIdentity(
  host: HostNames,
  { tool, capability }: { readonly tool: string; readonly capability: string | null },
  given: readonly string[] = NONE,
): ToolIdentity {
  const asked = capability ?? tool
  const aliases = capability !== null && host.hasOperation(capability) ? null : host.aliases
  return makeHostIdentity(asked, aliases, given.length === 0 && tool === asked ? NONE : [...given, tool])
}

/** The identity behind an effect that reaches a tool; null for any other. This is what drivers compare with what was judged. */
export function identifyEffect({ kind, args }: Pick<Effect, 'kind' | 'args'>, host: HostNames): ToolIdentity | null {
  const readText = (value: Plain | undefined): string => (typeof value === 'string' ? value : '')
  switch (kind) {
    case 'tool.call': {
      const tool = readText(args.tool)
      const identity = findIdentity(readText(args.executor))
      if (identity === 'mcp')
        return makeMcpIdentity(readText(args.mcp_server), typeof args.mcp_tool === 'string' ? args.mcp_tool : tool, [tool])
      if (identity !== 'host') return makeInsideIdentity('none', tool)
      const capability = args.host_capability
      return makeBridgedIdentity(host, { tool, capability: typeof capability === 'string' ? capability : null })
    }
    case 'host.call':
      return makeBridgedIdentity(host, { tool: readText(args.name), capability: readText(args.name) })
    case 'host.tool':
      return args.op === 'call'
        ? makeBridgedIdentity(host, { tool: readText(args.name), capability: readDottedName(args.name) })
        : null
    case 'mcp.request': {
      const params = args.params as { readonly name?: Plain } | null | undefined
      if (args.method !== 'tools/call' || typeof params?.name !== 'string') return null
      const name = readText(args.name)
      return makeMcpIdentity(identifyServer(args.spec, name), params.name, [
        `mcp.${name}.${params.name}`,
        `${name}__${params.name}`,
      ])
    }
    default:
      return null
  }
}

/** As the provider of the host reads it: a dotted name is that of an operation first. */
function readDottedName(name: Plain | undefined): string | null {
  return typeof name === 'string' && name.includes('.') ? name : null
}

/**
 * Which server a connection leads to: the name of a declaration of the host, else the address or program that the script spelled out,
 * marked so that no program can be called like a declaration. Reads a spec as the provider does (mcp/config.ts).
 */
export function identifyServer(spec: Plain | undefined, name: string): string {
  if (typeof spec !== 'object' || spec === null) return `unknown:${name}`
  const { server, transport, url, command, args } = spec as { readonly [key: string]: Plain | undefined }
  if (typeof server === 'string') return server
  if (transport === 'http') return `${String(url)}`
  return `program:${[command, ...(Array.isArray(args) ? args : [])].map((word) => String(word)).join(' ')}`
}

// ------------------------------------------------------------------------------------------------------------- looking up

/** What rules are looked up by. */
export type Named = Pick<ToolIdentity, 'names' | 'families' | 'given'>

/** Whether a key of grants (a name, a family, a pattern `a.*` or `*`) is about the thing by a name that it really has. */
export function isNamedBy(key: string, { names, families }: Pick<Named, 'names' | 'families'>): boolean {
  if (key === '*' || names.includes(key)) return true
  return families.length > 0 && families.includes(key.endsWith('.*') ? key.slice(0, -2) : key)
}

/** The same by any name, also one that the script gave. */
export function isMentionedBy(key: string, named: Named): boolean {
  if (isNamedBy(key, named)) return true
  if (named.given.length === 0) return false
  const family = key.endsWith('.*') ? key.slice(0, -2) : key
  return named.given.some((name) => name === key || listFamilies(name).includes(family))
}

/** All names. */
export function listEveryName({ names, given }: Pick<Named, 'names' | 'given'>): readonly string[] {
  return given.length === 0 ? names : [...names, ...given]
}

/** For those that know a thing by one name that it really has. */
export function makeNamed(name: string): Named {
  return { names: [name], families: listFamilies(name), given: NONE }
}

/** A call as policies see it: how it is called, for people, and what that comes down to. */
export interface CalledTool {
  readonly shown: string
  /** Without a key where nothing but a name is known. */
  readonly identity: Named & { readonly key?: string }
}

/** As a value, for frames. */
export function encodeCalled({ shown, identity }: CalledTool): HarnDict {
  const list = (texts: readonly string[]): HarnList => new HarnList([...texts])
  const { names, families, given, key = null } = identity
  return HarnDict.of({ shown, key, names: list(names), families: list(families), given: list(given) })
}

/** Reads such a value; a text is the name of a tool of which no more is known. */
export function readCalled(value: Value): CalledTool {
  if (!(value instanceof HarnDict)) return makeCalled(display(value))
  const readTexts = (key: string): string[] => {
    const list = value.get(key)
    return list instanceof HarnList ? list.view().map((each) => display(each)) : []
  }
  const key = value.get('key')
  const named = { names: readTexts('names'), families: readTexts('families'), given: readTexts('given') }
  return { shown: display(value.get('shown') ?? null), identity: typeof key === 'string' ? { ...named, key } : named }
}

/** A call of a tool of which nothing but a name is known. */
export function makeCalled(name: string): CalledTool {
  return { shown: name, identity: makeNamed(name) }
}
