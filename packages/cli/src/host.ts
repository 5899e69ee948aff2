// The host that the command is: the powers of this process as providers, modules from files, and what a run is started with.
// Scripts started here have the authority of whoever started them, as in the reference; a folder is not a sandbox.

import { dirname } from 'node:path'
import { clockProvider, createRuntime, mcpGlobal, randomProvider } from '@bridle/stdlib-tools'
import type { ProviderSource, Runtime, RuntimeOptions } from '@bridle/stdlib-tools'
import {
  ManifestError,
  discoverSkills,
  fileModules,
  findManifest,
  guardedFetch,
  hashHex,
  hookModules,
  nodeProviders,
  lazyMcpProvider,
} from '@bridle/stdlib-tools/node'
import type { Manifest } from '@bridle/stdlib-tools/node'
import { authorityOf } from './authority.js'
import type { Authority } from './authority.js'
import { CommandError } from './errors.js'
import { withLogins } from './mcp-logins.js'
import type { Memory } from './repl/memory.js'

export interface CommandHostOptions {
  readonly limits?: NonNullable<RuntimeOptions['limits']>
  /** Words for the script, `argv`. */
  readonly args?: readonly string[]
  /** Key of the script: its `harn.toml`, the nearest one above it, declares the MCP servers of its runs. */
  readonly script?: string
  /** Further names that the script can read everywhere; their values come with each run. */
  readonly globals?: readonly string[]
  /** Hold runs to their manifests. Off: scripts started here may do what their user may. */
  readonly enforceManifest?: boolean
  /** What the run may do; everything when absent. */
  readonly authority?: Authority
  /** Further settings of the runtime. */
  readonly runtime?: Pick<RuntimeOptions, 'extensions' | 'pins' | 'onTool' | 'families' | 'modelFixtures'>
  /** Whether the script reads and writes the terminal of this process. */
  readonly terminal: boolean
  /** Answers again what was asked before (repl/memory.ts). */
  readonly memory?: Memory
}

/** Nobody waits for the thread of a command, and the machine is its own. */
export const COMMAND_LIMITS = { work: 1e9, heap: 2 ** 30 }

export function commandRuntime(options: CommandHostOptions): Runtime {
  const authority = options.authority ?? authorityOf({})
  const { root } = authority
  const manifest = options.script === undefined ? null : manifestOf(options.script)
  const declared = manifest?.mcpServers ?? {}
  // A confined run has the user's tokens only where MCP was granted to it.
  const isTrusted = authority.providers.sandbox === 'none' || authority.runtime.grants?.includes('mcp') === true
  const servers = isTrusted ? withLogins(declared) : declared
  const hooks = hookModules(manifest?.hooks ?? []).map((text, at) => [`manifest_hook_${at}`, text] as const)
  const isEager = Object.values(servers).some((server) => server.lazy === false)
  const skills = options.script === undefined ? null : discoverSkills({ manifest, folders: authority.skillFolders })
  if (options.terminal) for (const problem of skills?.problems ?? []) process.stderr.write(`warning: ${problem}\n`)
  const globalValues: { [name: string]: NonNullable<RuntimeOptions['globalValues']>[string] } = {}
  if (isEager && options.globals?.includes('mcp') !== true) globalValues['mcp'] = mcpGlobal(servers)
  if (skills !== null && skills.registry !== null) globalValues['skills'] = skills.registry
  const { memory } = options
  const providers: readonly ProviderSource[] = [
    ...nodeProviders({
      ...authority.providers,
      process: { args: options.args ?? [], ...(skills === null ? {} : { findSkill: skills.find }) },
      terminal: options.terminal,
    }),
    lazyMcpProvider({
      cwd: root,
      env: 'inherit',
      stderr: options.terminal ? 'inherit' : 'ignore',
      servers,
      // The protocol's library makes requests of its own, which are to keep the rules of the run as well.
      ...(authority.mcpNetwork === null ? {} : { fetch: guardedFetch(authority.mcpNetwork) }),
    }),
  ]
  return createRuntime({
    providers:
      memory === undefined
        ? providers
        : [clockProvider(), randomProvider(), ...providers].map((provider) => memory.wrap(provider)),
    ...(memory === undefined ? {} : { clock: memory.clock() }),
    enforceManifest: options.enforceManifest ?? false,
    ...authority.runtime,
    ...options.runtime,
    resolve: fileModules({ root }),
    ...(hooks.length === 0 ? {} : { std: Object.fromEntries(hooks), prelude: hooks.map(([name]) => `std/${name}`) }),
    hashHex,
    ...(Object.keys(globalValues).length === 0 ? {} : { globalValues }),
    globals: [...(options.args === undefined ? [] : ['argv']), ...(options.globals ?? [])],
    limits: { ...COMMAND_LIMITS, ...options.limits },
  })
}

/** The manifest above a script; one that was not read from a file belongs to the working folder. */
export function manifestOf(script: string): Manifest | null {
  try {
    return findManifest(script.startsWith('<') ? process.cwd() : dirname(script))
  } catch (cause) {
    if (cause instanceof ManifestError) throw new CommandError(cause.message)
    throw cause
  }
}
