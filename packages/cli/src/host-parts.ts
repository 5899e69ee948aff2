// The parts of the command's host that a run needs at its first effect, or when a manifest declares something. Separate from host.ts,
// because a script that only computes needs none of them.

import { isatty } from 'node:tty'
import { clockProvider, makeGrants, mcpGlobal, randomProvider } from '@bridle/stdlib-tools'
import type { Provider, ProviderSource, RuntimeOptions } from '@bridle/stdlib-tools'
import {
  environmentRules,
  guardedFetch,
  hookModules,
  lazyMcpProvider,
  nodeProviders,
  terminalProvider,
} from '@bridle/stdlib-tools/node'
import type { DiscoveredSkills, Manifest } from '@bridle/stdlib-tools/node'
import type { Authority } from './authority.js'
import type { FurtherLimits } from './further-limits.js'
import { withLogins } from './mcp-logins.js'
import { complain } from './printable.js'
import { guardStreams } from './output.js'
import type { PeopleFlags } from './people/answers.js'
import { People } from './people/provider.js'
import { makeSampling, makeServerHandlers } from './people/server-questions.js'
import type { ReadLine } from './people/provider.js'
import type { Memory } from './repl/memory.js'

/** What a manifest adds to the runs of its scripts. */
export interface Declared {
  readonly servers: Manifest['mcpServers']
  /** The global `mcp`, if a server starts with the run; otherwise null. */
  readonly mcp: NonNullable<RuntimeOptions['globalValues']>[string] | null
  /** Modules that run before the script, with their names. */
  readonly hooks: readonly (readonly [name: string, text: string])[]
}

export function readDeclared(manifest: Manifest, authority: Authority): Declared {
  const { providers, runtime } = authority
  // A confined run may use the user's tokens only if MCP was granted to it.
  const isTrusted = providers.sandbox === 'none' || runtime.grants?.includes('mcp') === true
  const reachable = pickReachableServers(manifest, authority)
  const servers = isTrusted ? withLogins(reachable) : reachable
  return {
    servers,
    mcp: Object.values(servers).some((server) => server.lazy === false) ? mcpGlobal(servers) : null,
    hooks: hookModules(manifest.hooks).map((text, at) => [`manifest_hook_${at}`, text] as const),
  }
}

/**
 * The servers of a manifest that a run may reach. A manifest is an ordinary file: a confined run may have written the one that the
 * next run reads. So a run without a grant for MCP has none of its servers, and programs that it names are started only if
 * MCP was granted without hosts.
 */
export function pickReachableServers(
  { mcpServers }: Pick<Manifest, 'mcpServers'>,
  { mcp }: Pick<Authority, 'mcp'>,
): Manifest['mcpServers'] {
  if (!mcp.isGranted) return {}
  if (mcp.mayStart) return mcpServers
  return Object.fromEntries(
    Object.entries(mcpServers).filter(([, server]) => server.command === undefined && server.url !== undefined),
  )
}

export interface CommandProviders {
  readonly authority: Authority
  readonly mcpLimits?: FurtherLimits['mcp'] | undefined
  readonly args: readonly string[]
  readonly findSkill: DiscoveredSkills['find'] | null
  readonly servers: Manifest['mcpServers']
  readonly terminal: boolean
  /** Answers questions and approvals; null if no person is present. */
  readonly people: PeopleFlags | null
  readonly memory: Memory | null
  /** The mock that replaces models, if any. */
  readonly models: Pick<RuntimeOptions, 'modelFixtures' | 'standIns'>
}

export function makeCommandProviders({
  authority,
  mcpLimits = {},
  args,
  findSkill,
  servers,
  terminal,
  people,
  memory,
  models,
}: CommandProviders): readonly ProviderSource[] {
  // Some of them write to the streams.
  guardStreams()
  const rules = environmentRules(authority.providers.env ?? {})
  const network =
    rules === null ? authority.mcpNetwork : { ...(authority.mcpNetwork ?? { denyPrivate: false }), alsoWithin: rules }
  const keyboard = terminal ? terminalProvider() : null
  const persons =
    people === null
      ? null
      : new People({ ...people, readLine: keyboard === null || people.outside === true ? null : lineReader(keyboard) })
  const listWorld = (): readonly ProviderSource[] =>
    nodeProviders({ ...authority.providers, process: { args, ...(findSkill === null ? {} : { findSkill }) } })
  const questions = {
    people: persons?.isThere === true ? persons : null,
    sample: mayAskModels(authority) ? makeSampling(listWorld, models) : null,
  }
  const providers: readonly ProviderSource[] = [
    ...(keyboard === null ? [] : [keyboard]),
    ...(persons === null ? [] : [persons.provider]),
    ...listWorld(),
    lazyMcpProvider({
      limits: mcpLimits,
      cwd: authority.root,
      env: 'inherit',
      stderr: terminal ? 'inherit' : 'ignore',
      servers,
      handlers: (name) => makeServerHandlers(name, { ...questions, roots: chooseRoots(authority, servers[name]?.roots) }),
      ...(terminal ? { onWarning: warnOnce() } : {}),
      // The protocol's library makes its own requests, which must follow the rules of the run as well.
      ...(network === null ? {} : { fetch: guardedFetch(network) }),
    }),
  ]
  return memory === null ? providers : [clockProvider(), randomProvider(), ...providers].map((provider) => memory.wrap(provider))
}

/** A confined run has its own folders only, whatever its manifest says. */
function chooseRoots({ confined, root }: Authority, declared: readonly string[] | false | undefined): readonly string[] | null {
  if (declared === false) return null
  return confined.roots ?? declared ?? [root]
}

/** A model answers a server's request only if the run may ask any model: limits on the run's models do not apply to the server's requests. */
function mayAskModels({ runtime }: Authority): boolean {
  const isLimited = [runtime.toolGrants ?? {}]
    .flat()
    .some((grants) => Object.keys(grants).some((name) => name === '*' || name === 'llm' || name.startsWith('llm.')))
  return !isLimited && runtime.defaultDeny !== true && makeGrants({ grants: [runtime.grants ?? []] }).allows('llm.call')
}

/** Null if no person is present to see the question. */
function lineReader(keyboard: Provider): ReadLine | null {
  if (!isatty(0) || !isatty(2)) return null
  return async ({ signal }) => {
    const call = { id: 0, runId: '', idempotencyKey: '', now: Date.now(), signal, exit: () => {} }
    const outcome = await keyboard.perform({ kind: 'terminal.read', args: { op: 'line' } }, call)
    return outcome.ok && typeof outcome.value === 'string' ? outcome.value : null
  }
}

/** Reported once: the same tools are wrong each time the server lists them. */
function warnOnce(): (message: string) => void {
  const told = new Set<string>()
  return (message) => {
    if (told.has(message) || told.size >= MOST_WARNINGS) return
    told.add(message)
    complain(`warning: ${message}\n`)
  }
}

const MOST_WARNINGS = 100
