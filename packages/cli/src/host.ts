// The host that the command is: the powers of this process as providers, modules from files, and what a run is started with.
// Scripts started here have the authority of whoever started them, as in the reference; a folder is not a sandbox.

import { dirname, join } from 'node:path'
import { createRuntime } from '@bridle/stdlib-tools'
import type { ProviderSource, ResolveModule, Runtime, RuntimeOptions } from '@bridle/stdlib-tools'
import {
  FileSandbox,
  ManifestError,
  discoverSkills,
  fileModules,
  findManifest,
  hashHex,
  programFiles,
} from '@bridle/stdlib-tools/node'
import type { DiscoveredSkills, Manifest } from '@bridle/stdlib-tools/node'
import { makeAuthority } from './authority.js'
import { checkBuiltinNames } from './grant-flags.js'
import { findCacheFolder } from './cache-folder.js'
import { type FindOpenText, overlayModules } from './checking/overlay.js'
import type { Authority } from './authority.js'
import { CommandError } from './errors.js'
import type { FurtherLimits } from './further-limits.js'
import { makeCommandProviders, readDeclared } from './host-parts.js'
import type { Declared } from './host-parts.js'
import { guardStreams } from './output.js'
import type { PeopleFlags } from './people/answers.js'
import type { Memory } from './repl/memory.js'
import { complain } from './printable.js'
import { makeTelemetryTracing } from './telemetry/telemetry.js'

export interface CommandHostOptions {
  /** Of compiling, and of what servers of MCP may send. */
  readonly furtherLimits?: FurtherLimits
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
  /** Which build of the command this is, for what it keeps between runs; nothing is kept when absent. */
  readonly build?: string | undefined
  /** Documents of an editor, which go before the files that they were opened from. */
  readonly findOpenText?: FindOpenText
  /** Further settings of the runtime. */
  readonly runtime?: Pick<
    RuntimeOptions,
    'eventLog' | 'extensions' | 'std' | 'onTool' | 'families' | 'modelFixtures' | 'tools' | 'coverage'
  >
  /** Whether the script reads and writes the terminal of this process. */
  readonly terminal: boolean
  /** Answers again what was asked before (repl/memory.ts). */
  readonly memory?: Memory
  /** What may answer in place of people; by default a mock may, in a run that nothing confines. */
  readonly standIns?: RuntimeOptions['standIns']
  /** Answers that were given with the command; with them, whoever sits at the terminal is asked for the rest. Nobody by default. */
  readonly people?: PeopleFlags
  /** What runs have in place of this process and its files. */
  readonly world?: (skills: DiscoveredSkills | null) => readonly ProviderSource[]
}

/** Nobody waits for the thread of a command, and the machine is its own. */
export const COMMAND_LIMITS = { work: 1e9, heap: 2 ** 30 }

export function makeCommandRuntime(options: CommandHostOptions): Runtime {
  const runtime = createRuntime(makeCommandRuntimeOptions(options))
  const lists = options.authority?.runtime.builtins
  if (lists !== undefined) checkBuiltinNames(lists, runtime.registry.builtins)
  return runtime
}

/** What `makeCommandRuntime` makes its runtime of. */
export function makeCommandRuntimeOptions(options: CommandHostOptions): RuntimeOptions {
  const authority = options.authority ?? makeAuthority({})
  const { root } = authority
  const manifest = options.script === undefined ? null : loadManifest(options.script)
  const declared = manifest === null ? NOTHING_DECLARED : readDeclared(manifest, authority)
  const skills = options.script === undefined ? null : discoverSkills({ manifest, folders: authority.skillFolders })
  const problems = options.terminal ? (skills?.problems ?? []) : []
  if (problems.length > 0) guardStreams()
  for (const problem of problems) complain(`warning: ${problem}\n`)
  const globalValues: { [name: string]: NonNullable<RuntimeOptions['globalValues']>[string] } = {}
  const { servers, mcp, hooks } = declared
  if (mcp !== null && options.globals?.includes('mcp') !== true) globalValues['mcp'] = mcp
  if (skills !== null && skills.registry !== null) globalValues['skills'] = skills.registry
  const { memory, world } = options
  const telemetry = makeTelemetryTracing()
  const providers = (): readonly ProviderSource[] =>
    world?.(skills) ??
    makeCommandProviders({
      authority,
      mcpLimits: options.furtherLimits?.mcp,
      args: options.args ?? [],
      findSkill: skills?.find ?? null,
      servers,
      terminal: options.terminal,
      people: options.people ?? null,
      memory: memory ?? null,
      models:
        options.runtime?.modelFixtures === undefined ? {} : { modelFixtures: options.runtime.modelFixtures, standIns: 'mocks' },
    })
  let resolve: ResolveModule | null = null
  const makeResolver = (): ResolveModule => {
    const files = fileModules({ root, sandbox: makeModuleSandbox(authority, options.script, manifest) })
    return options.findOpenText === undefined ? files : overlayModules(files, options.findOpenText)
  }
  return {
    // Servers that are not lazy begin with the run, and answers that cannot be read are an error before it; the rest waits for the first effect.
    providers: world === undefined && (mcp !== null || options.people?.answers !== undefined) ? providers() : providers,
    ...(memory === undefined ? {} : { clock: memory.makeClock() }),
    enforceManifest: options.enforceManifest ?? false,
    // What a script of the reference may contain runs here; `check` and editors ask for all findings themselves.
    strictness: 'language',
    standIns: options.standIns ?? (authority.runtime.grants?.includes('*') === true ? 'mocks' : 'none'),
    ...(telemetry === null || world !== undefined ? {} : { tracing: telemetry }),
    ...authority.runtime,
    ...options.runtime,
    resolve: (path, from) => (resolve ??= makeResolver())(path, from),
    ...(hooks.length === 0
      ? {}
      : { std: { ...options.runtime?.std, ...Object.fromEntries(hooks) }, prelude: hooks.map(([name]) => `std/${name}`) }),
    hashHex,
    ...openProgramCache(options.build),
    ...(Object.keys(globalValues).length === 0 ? {} : { globalValues }),
    globals: [...(options.args === undefined ? [] : ['argv']), ...(options.globals ?? [])],
    limits: { ...COMMAND_LIMITS, ...options.limits },
    ...(options.furtherLimits === undefined ? {} : { compileLimits: options.furtherLimits.compile }),
  }
}

/** A confined run imports from its roots and from the project that it belongs to, or the folder of its script; anything without flags. */
function makeModuleSandbox(
  { providers: { sandbox } }: Authority,
  script: string | undefined,
  manifest: Manifest | null,
): FileSandbox | undefined {
  if (sandbox === undefined || typeof sandbox === 'string') return undefined
  const project =
    manifest !== null ? [dirname(manifest.path)] : script === undefined || script.startsWith('<') ? [] : [dirname(script)]
  return new FileSandbox({ roots: [...sandbox.roots, ...project] })
}

const NOTHING_DECLARED: Declared = { servers: {}, mcp: null, hooks: [] }

function openProgramCache(build: string | undefined): Pick<RuntimeOptions, 'programs'> {
  const folder = findCacheFolder(process.env)
  return build === undefined || folder === null ? {} : { programs: programFiles(join(folder, 'scripts'), build) }
}

/** The manifest above a script; one that was not read from a file belongs to the working folder. */
export function loadManifest(script: string): Manifest | null {
  try {
    return findManifest(script.startsWith('<') ? process.cwd() : dirname(script))
  } catch (cause) {
    if (cause instanceof ManifestError) throw new CommandError(cause.message)
    throw cause
  }
}
