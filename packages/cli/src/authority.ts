// What a run of the command may do, from its flags. Without any, it may do what the user may
// do. Flags only take away:
//
//   --allow, --deny   builtins that may, or may not, be called
//   --root DIR        files below these folders only; no programs, no private addresses, of the environment a short list of plain variables
//   --env NAME        this variable as well, for a confined run
//   --secret NAME     this variable as a secret: used by name, seen by no script; NAME@ORIGIN says where it may be sent
//   --grant SPEC      these powers only: an area (`fs`), a tool id (`http.get`), with constraints after a colon
//   --sandbox         no powers except those of --grant

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl } from '@bridle/compiler/grants'
import { makeGrants } from '@bridle/stdlib-tools'
import type { Grant, RunAuthority, RuntimeOptions } from '@bridle/stdlib-tools'
import type { NetworkPolicy, NodeProviderOptions } from '@bridle/stdlib-tools/node'
import type { EffectKind, Plain } from '@bridle/vm'
import { isWithin, narrowConfined, parseConfined } from './confinement.js'
import type { Confined } from './confinement.js'
import { UsageError } from './errors.js'
import { EFFECTS } from '@bridle/stdlib-tools'
import { listMcpHosts, listNamedHosts, readGrants, readSpec } from './grant-flags.js'

export interface AuthorityFlags {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly grant?: readonly string[]
  readonly root?: readonly string[]
  readonly sandbox?: boolean
  /** The folder where skills are searched for first. */
  readonly skillDir?: readonly string[]
  /** Variables that a confined run sees in addition to the plain ones. */
  readonly env?: readonly string[]
  /** Variables lent as secrets: `NAME`, or `NAME@ORIGIN`. */
  readonly secret?: readonly string[]
  /** Tools must match the lock file. */
  readonly locked?: boolean
  readonly lockFile?: string
  readonly verifyKey?: string
  /** Where traces go, and whether effects that cannot be traced are refused. */
  readonly trace?: string
  readonly traceRequired?: boolean
}

export interface Authority {
  readonly runtime: Pick<
    RuntimeOptions,
    'grants' | 'toolGrants' | 'defaultDeny' | 'builtins' | 'pins' | 'confinement' | 'tracing'
  >
  readonly providers: Pick<NodeProviderOptions, 'root' | 'sandbox' | 'env' | 'http' | 'secrets'>
  /** Hosts of MCP servers, and of the authorization servers they name; null: any. */
  readonly mcpNetwork: NetworkPolicy | null
  /** Folders of skills named on the command line; they shadow all others. */
  readonly skillFolders: readonly string[]
  /** Folder to which relative paths and imports are relative. */
  readonly root: string
  /** The confinement of the providers, as data. */
  readonly confined: Confined
  /** Whether MCP servers may be reached, and whether those that are programs may be started. */
  readonly mcp: { readonly isGranted: boolean; readonly mayStart: boolean }
}

/**
 * From the flags alone or, with `before`, for a run that continues: then only what both allow. Throws UsageError.
 */
export function makeAuthority(
  flags: AuthorityFlags,
  env: NodeJS.ProcessEnv = process.env,
  before: RunAuthority | null = null,
): Authority {
  if (flags.allow !== undefined && flags.deny !== undefined) throw new UsageError('give either --allow or --deny')
  const powers = readPowers(flags)
  const own = readConfinement(flags)
  const confined = before === null ? own : narrowConfined(parseConfined(before.confinement), own)
  const { roots, privateHosts, mcpHosts } = confined
  // Relative paths start in the first root; a run that continues keeps its own.
  const root = flags.root === undefined && roots !== null ? (roots[0] ?? process.cwd()) : resolve(flags.root?.[0] ?? '.')
  const isGranted =
    makeGrants({ grants: [powers.grants ?? []] }).allows('mcp.connect') &&
    (before === null || makeGrants(before).allows('mcp.connect'))
  return {
    root,
    confined,
    mcp: { isGranted, mayStart: isGranted && (roots === null || confined.mcpPrograms) },
    runtime: {
      ...powers,
      ...(flags.allow === undefined ? {} : { builtins: { allow: splitNames(flags.allow) } }),
      ...(flags.deny === undefined ? {} : { builtins: { deny: splitNames(flags.deny) } }),
      confinement: { facts: confined as unknown as Plain, isWithin: (facts) => isWithin(confined, parseConfined(facts)) },
    },
    providers: {
      root,
      sandbox: roots === null ? 'none' : { roots: [...asWritten(flags, roots), ...roots] },
      ...readVariables(flags, env, confined),
      http: { policy: { denyPrivate: roots !== null, privateHosts } },
    },
    mcpNetwork:
      roots === null && mcpHosts === null
        ? null
        : { denyPrivate: roots !== null, ...(mcpHosts === null ? {} : { allow: mcpHosts }) },
    skillFolders: flags.skillDir ?? [],
  }
}

// ---- confinement ---------------------------------------------------------------------------------------------------------

function readConfinement(flags: AuthorityFlags): Confined {
  const specs = (flags.grant ?? []).map((spec) => readSpec(spec))
  const mcp = specs.filter(({ name }) => name === '*' || name === 'mcp' || name.startsWith('mcp.'))
  const given = (flags.root ?? []).length > 0 ? flags.root! : flags.sandbox === true ? ['.'] : null
  return {
    roots: given === null ? null : given.map(resolveFolder),
    privateHosts: specs.length === 0 ? [] : listNamedHosts(specs),
    mcpHosts: specs.length === 0 ? null : listMcpHosts(specs),
    mcpPrograms: specs.length === 0 || mcp.some(({ constraints }) => constraints['domain'] === undefined),
    variables: given === null ? null : (flags.env ?? []),
    secrets: given === null ? null : (flags.secret ?? []),
    hidden: (flags.secret ?? []).map(readSecretName),
  }
}

const readSecretName = (spec: string): string => spec.split('@', 2)[0]!

/** Resolves links now: moving a root later does not change the confinement. */
function resolveFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Roots as the flags spell them: a script may use paths with links, as the user does. */
function asWritten({ root = [] }: AuthorityFlags, roots: readonly string[]): readonly string[] {
  return root.map((path) => resolve(path)).filter((path) => !roots.includes(path) && roots.includes(resolveFolder(path)))
}

/** For a served script: in addition to the powers that the flags leave, it may be served and may send requests to its clients. */
export function makeServingAuthority(flags: AuthorityFlags): Authority {
  const authority = makeAuthority(flags)
  const serving: readonly Grant[] = ['mcp.serve', 'mcp.client', 'approval.ask']
  return { ...authority, runtime: { ...authority.runtime, grants: [...(authority.runtime.grants ?? []), ...serving] } }
}

function splitNames(lists: readonly string[]): readonly string[] {
  return lists
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

// ---- powers --------------------------------------------------------------------------------------------------------------

function readPowers(flags: AuthorityFlags): Pick<RuntimeOptions, 'grants' | 'toolGrants' | 'defaultDeny'> {
  const specs = flags.grant ?? []
  if (specs.length === 0) return { grants: flags.sandbox === true ? [] : flags.root === undefined ? ['*'] : listConfined() }
  return readGrants(specs)
}

/** Everything except starting programs, which no folder confines; `--grant process` adds that. */
function listConfined(): readonly Grant[] {
  return (Object.keys(EFFECTS) as EffectKind[]).filter((kind) => !['process.exec', 'mcp.connect'].includes(kind))
}

/**
 * Adds the pins of the lock file and the traces that the flags request. `runs`: the number of runs of the command; several runs write one
 * file each, in a folder. Throws UsageError and CommandError.
 */
export async function withLock(
  authority: Authority,
  { locked, lockFile, verifyKey, trace, traceRequired }: AuthorityFlags,
  script: string,
  runs: 'one' | 'many' = 'one',
): Promise<Authority> {
  // A given key means that only tools with its signature may be called.
  if (locked !== true && verifyKey !== undefined)
    throw new UsageError('--verify-key needs --locked: without it no lock file is read')
  if (traceRequired === true && trace === undefined) throw new UsageError('--trace-required needs --trace FILE')
  let { runtime } = authority
  if (locked === true) {
    const { LOCK_FILE, readLockedPins } = await import('./lock.js')
    runtime = { ...runtime, pins: await readLockedPins(lockFile ?? LOCK_FILE, script, authority, verifyKey) }
  }
  if (trace !== undefined) {
    const { makeTracings } = await import('./commands/run-options.js')
    runtime = { ...runtime, tracing: makeTracings(trace, { isRequired: traceRequired === true, runs }) }
  }
  return runtime === authority.runtime ? authority : { ...authority, runtime }
}

// ---- environment ---------------------------------------------------------------------------------------------------------

/** Variables that programs need to work and that reveal nothing private. */
const PLAIN_VARIABLES: ReadonlySet<string> = new Set([
  ...['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  ...['COLORTERM', 'COLUMNS', 'FORCE_COLOR', 'LINES', 'NO_COLOR'],
  // Settings of this command; none of them is a secret.
  ...['HARN_EGRESS_ALLOW', 'HARN_EGRESS_DENY', 'HARN_EGRESS_DEFAULT', 'HARN_STATE_DIR', 'HARN_RUN_DIR', 'HARN_WORKTREE_DIR'],
  ...['HARN_LLM_PROVIDER', 'HARN_LLM_MODEL', 'HARN_DEFAULT_PROVIDER', 'HARN_LLM_CALLS_DISABLED', 'HARN_STRUCTURAL_EXPERIMENT'],
  ...['HARN_REQUIRE_SIGNED_SKILLS', 'HARN_DEFAULT_SHELL'],
])

function isPlainVariable(name: string): boolean {
  return PLAIN_VARIABLES.has(name) || name.startsWith('LC_')
}

/**
 * The environment of a run and the secrets that it is lent. A confined run has the plain variables and those of --env, because
 * names do not tell which of the others are secrets. A secret of --secret is never a variable of the run.
 */
function readVariables(
  flags: AuthorityFlags,
  env: NodeJS.ProcessEnv,
  { roots, variables, secrets: lendable, hidden }: Confined,
): Pick<NodeProviderOptions, 'env' | 'secrets'> {
  const named = new Set(variables)
  for (const name of flags.env ?? [])
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new UsageError(`--env ${name}: write the name of a variable`)
  const secrets = Object.create(null) as { [name: string]: { readonly value: string; readonly origins: readonly string[] } }
  for (const spec of flags.secret ?? []) {
    const at = spec.indexOf('@')
    const name = at < 0 ? spec : spec.slice(0, at)
    const origin = at < 0 ? null : spec.slice(at + 1)
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value === undefined || value === '') throw new UsageError(`--secret ${spec}: the variable ${name} is not set`)
    if (origin !== null && !/^https?:$/.test(parseUrl(origin)?.protocol ?? ''))
      throw new UsageError(`--secret ${spec}: write NAME or NAME@ORIGIN, with an origin such as https://api.example.com`)
    if (lendable !== null && !lendable.includes(spec)) continue
    secrets[name] = { value, origins: [...(secrets[name]?.origins ?? []), ...(origin === null ? [] : [origin])] }
  }
  const isSeen = (name: string): boolean => !hidden.includes(name) && (roots === null || isPlainVariable(name) || named.has(name))
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => isSeen(name))),
    ...(Object.keys(secrets).length === 0 ? {} : { secrets }),
  }
}
