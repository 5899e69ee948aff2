// The command as a host: the powers of this process as providers, modules from files, and the input of a run.
// Scripts started here have the authority of the user, as in the reference; a folder is not a sandbox.

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
  /** Arguments of the script, `argv`. */
  readonly args?: readonly string[]
  /** Key of the script: the nearest `harn.toml` above it declares the MCP servers of its runs. */
  readonly script?: string
  /** Further names that the script can read everywhere; each run provides their values. */
  readonly globals?: readonly string[]
  /** Restrict runs to their effect manifests. Off: scripts started here may do what their user may. */
  readonly enforceManifest?: boolean
  /** The authority of the run; unrestricted when absent. */
  readonly authority?: Authority
  /** The build of the command, as a cache key; nothing is cached when absent. */
  readonly build?: string | undefined
  /** Documents of an editor, which override their files. */
  readonly findOpenText?: FindOpenText
  /** Further settings of the runtime. */
  readonly runtime?: Pick<
    RuntimeOptions,
    'eventLog' | 'extensions' | 'std' | 'onTool' | 'families' | 'modelFixtures' | 'tools' | 'coverage'
  >
  /** Whether the script reads and writes the terminal of this process. */
  readonly terminal: boolean
  /** Repeats earlier outcomes (repl/memory.ts). */
  readonly memory?: Memory
  /** Who may answer instead of people; by default a mock may, in an unconfined run. */
  readonly standIns?: RuntimeOptions['standIns']
  /** Answers given on the command line. With them, the person at the terminal is asked for the rest; otherwise nobody. */
  readonly people?: PeopleFlags
  /** Replacements for this process and its files, in a simulation. */
  readonly world?: (skills: DiscoveredSkills | null) => readonly ProviderSource[]
}

/** Nothing else needs the thread of a command, and the machine is not shared. */
export const COMMAND_LIMITS = { work: 1e9, heap: 2 ** 30 }

export function makeCommandRuntime(options: CommandHostOptions): Runtime {
  const runtime = createRuntime(makeCommandRuntimeOptions(options))
  const lists = options.authority?.runtime.builtins
  if (lists !== undefined) checkBuiltinNames(lists, runtime.registry.builtins)
  return runtime
}

/** The parts from which `makeCommandRuntime` makes its runtime. */
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
    // Servers that are not lazy start with the run, and unreadable answers are an error before it; the rest waits for the first effect.
    providers: world === undefined && (mcp !== null || options.people?.answers !== undefined) ? providers() : providers,
    ...(memory === undefined ? {} : { clock: memory.makeClock() }),
    enforceManifest: options.enforceManifest ?? false,
    // Whatever the reference accepts runs here; `check` and editors request all findings themselves.
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

/** A confined run imports from its roots and from its project, or the folder of its script; without flags from anywhere. */
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

/** The manifest above a script; a script that was not read from a file belongs to the working folder. */
export function loadManifest(script: string): Manifest | null {
  try {
    return findManifest(script.startsWith('<') ? process.cwd() : dirname(script))
  } catch (cause) {
    if (cause instanceof ManifestError) throw new CommandError(cause.message)
    throw cause
  }
}
