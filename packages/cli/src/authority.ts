// What a run of the command may do, from its flags. Without any it is what whoever started it may
// do. Flags only take away:
//
//   --allow, --deny   builtins that may, or may not, be called
//   --root DIR        files below these folders only; no programs, no private addresses, of the environment a short list of plain variables
//   --env NAME        this variable as well, for a run that is confined
//   --secret NAME     this variable as a secret: used by name, seen by no script; NAME@ORIGIN says where it may be sent
//   --grant SPEC      these powers only: an area (`fs`), a tool id (`http.get`), with constraints behind a colon
//   --sandbox         no power at all, but those of --grant

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
  /** Where skills are looked for first. */
  readonly skillDir?: readonly string[]
  /** Variables that a confined run sees beside the plain ones. */
  readonly env?: readonly string[]
  /** Variables that are lent by name: `NAME`, or `NAME@ORIGIN`. */
  readonly secret?: readonly string[]
  /** Tools must be as the lock file has them. */
  readonly locked?: boolean
  readonly lockFile?: string
  readonly verifyKey?: string
  /** Where traces go, and whether nothing happens that they cannot keep. */
  readonly trace?: string
  readonly traceRequired?: boolean
}

export interface Authority {
  readonly runtime: Pick<
    RuntimeOptions,
    'grants' | 'toolGrants' | 'defaultDeny' | 'builtins' | 'pins' | 'confinement' | 'tracing'
  >
  readonly providers: Pick<NodeProviderOptions, 'root' | 'sandbox' | 'env' | 'http' | 'secrets'>
  /** Where MCP servers, and the authorization servers they name, may be; null: anywhere. */
  readonly mcpNetwork: NetworkPolicy | null
  /** Folders of skills that whoever started the run named; they shadow all others. */
  readonly skillFolders: readonly string[]
  /** Folder that relative paths and imports count from. */
  readonly root: string
  /** What the providers do, as data. */
  readonly confined: Confined
  /** Whether servers of MCP may be reached, and those be started that are programs. */
  readonly mcp: { readonly isGranted: boolean; readonly mayStart: boolean }
}

/**
 * Of the flags alone, or, with `before`, of a run that goes on: then it is what both allow. Throws UsageError.
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
  // The first root is where relative paths begin; a run that goes on keeps its own.
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

/** Links are followed where they are: a root that is moved afterwards is another one. */
function resolveFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Roots as the flags have them: a script may name files by a path with links, as whoever started it does. */
function asWritten({ root = [] }: AuthorityFlags, roots: readonly string[]): readonly string[] {
  return root.map((path) => resolve(path)).filter((path) => !roots.includes(path) && roots.includes(resolveFolder(path)))
}

/** Of a script that is served: beside what the flags leave it, it may be served, and ask those that it is served to. */
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

/** Everything but starting programs, which no folder confines; `--grant process` gives that too. */
function listConfined(): readonly Grant[] {
  return (Object.keys(EFFECTS) as EffectKind[]).filter((kind) => !['process.exec', 'mcp.connect'].includes(kind))
}

/**
 * With what the lock file pins, and with traces, where the flags ask for them. `runs`: how many runs the command makes; many write a
 * file each, in a folder. Throws UsageError and CommandError.
 */
export async function withLock(
  authority: Authority,
  { locked, lockFile, verifyKey, trace, traceRequired }: AuthorityFlags,
  script: string,
  runs: 'one' | 'many' = 'one',
): Promise<Authority> {
  // Whoever gives the key means to call only what it signed.
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

/** What a program needs to find its way, and says nothing of its user's affairs. */
const PLAIN_VARIABLES: ReadonlySet<string> = new Set([
  ...['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  ...['COLORTERM', 'COLUMNS', 'FORCE_COLOR', 'LINES', 'NO_COLOR'],
  // How this command is set up; none of them is a secret.
  ...['HARN_EGRESS_ALLOW', 'HARN_EGRESS_DENY', 'HARN_EGRESS_DEFAULT', 'HARN_STATE_DIR', 'HARN_RUN_DIR', 'HARN_WORKTREE_DIR'],
  ...['HARN_LLM_PROVIDER', 'HARN_LLM_MODEL', 'HARN_DEFAULT_PROVIDER', 'HARN_LLM_CALLS_DISABLED', 'HARN_STRUCTURAL_EXPERIMENT'],
  ...['HARN_REQUIRE_SIGNED_SKILLS', 'HARN_DEFAULT_SHELL'],
])

function isPlainVariable(name: string): boolean {
  return PLAIN_VARIABLES.has(name) || name.startsWith('LC_')
}

/**
 * The environment of a run and the secrets that it is lent. Confined, it has the plain variables and those of --env: which of the
 * others are secrets, no name tells. What --secret names is no variable of the run, confined or not.
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
