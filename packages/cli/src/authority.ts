// What a run of the command may do, from its flags (reference 02 §22, 05 §3.10–3.13). Without any it is what whoever started it may
// do. Flags only take away:
//
//   --allow, --deny   builtins that may, or may not, be called
//   --root DIR        files below these folders only; no programs, no private addresses, no variables that look like secrets
//   --grant SPEC      these powers only: an area (`fs`), a tool id (`http.get`), with constraints behind a colon
//   --sandbox         no power at all, but those of --grant

import { resolve } from 'node:path'
import { GrantError, grantScope } from '@bridle/stdlib-tools'
import type { Grant, RuntimeOptions, ToolGrant } from '@bridle/stdlib-tools'
import type { NetworkPolicy, NodeProviderOptions } from '@bridle/stdlib-tools/node'
import { EFFECTS, isSecretVariable } from '@bridle/vm'
import type { EffectKind } from '@bridle/vm'
import { UsageError } from './errors.js'

export interface AuthorityFlags {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly grant?: readonly string[]
  readonly root?: readonly string[]
  readonly sandbox?: boolean
  /** Where skills are looked for first. */
  readonly skillDir?: readonly string[]
}

export interface Authority {
  readonly runtime: Pick<RuntimeOptions, 'grants' | 'toolGrants' | 'defaultDeny' | 'builtins'>
  readonly providers: Pick<NodeProviderOptions, 'root' | 'sandbox' | 'env' | 'http'>
  /** Where MCP servers, and the authorization servers they name, may be; null: anywhere. */
  readonly mcpNetwork: NetworkPolicy | null
  /** Folders of skills that whoever started the run named; they shadow all others. */
  readonly skillFolders: readonly string[]
  /** Folder that relative paths and imports count from. */
  readonly root: string
}

/** Throws UsageError. */
export function authorityOf(flags: AuthorityFlags, env: NodeJS.ProcessEnv = process.env): Authority {
  if (flags.allow !== undefined && flags.deny !== undefined) throw new UsageError('give either --allow or --deny')
  const roots = (flags.root ?? []).map((path) => resolve(path))
  const root = roots[0] ?? process.cwd()
  const confined = roots.length > 0 || flags.sandbox === true
  return {
    root,
    runtime: {
      ...powersOf(flags),
      ...(flags.allow === undefined ? {} : { builtins: { allow: namesIn(flags.allow) } }),
      ...(flags.deny === undefined ? {} : { builtins: { deny: namesIn(flags.deny) } }),
    },
    providers: {
      root,
      sandbox: confined ? { roots: roots.length > 0 ? roots : [root] } : 'none',
      env: confined ? plainVariables(env) : env,
      http: { policy: { denyPrivate: confined, privateHosts: namedHosts(flags.grant ?? []) } },
    },
    mcpNetwork: mcpNetwork(flags.grant ?? [], confined),
    skillFolders: flags.skillDir ?? [],
  }
}

/** Of a script that is served: beside what the flags leave it, it may be served, and ask those that it is served to. */
export function servingAuthority(flags: AuthorityFlags): Authority {
  const authority = authorityOf(flags)
  const serving: readonly Grant[] = ['mcp.serve', 'mcp.client', 'approval.ask']
  return { ...authority, runtime: { ...authority.runtime, grants: [...(authority.runtime.grants ?? []), ...serving] } }
}

function namesIn(lists: readonly string[]): readonly string[] {
  return lists
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Private addresses only where they are named: `--grant mcp:domain=localhost`. A pattern is a domain with all below it. */
function mcpNetwork(specs: readonly string[], confined: boolean): NetworkPolicy | null {
  const domains = specs
    .map(readSpec)
    .filter(({ name }) => name === 'mcp' || name === 'mcp.*')
    .flatMap(({ constraints }) => [constraints['domain'] ?? []].flat() as readonly string[])
    .flatMap((domain) => (/^\*\*?\./.test(domain) ? [domain.replace(/^\*+\./, ''), domain.replace(/^\*+/, '*')] : [domain]))
  if (!confined && domains.length === 0) return null
  return { denyPrivate: confined, ...(domains.length === 0 ? {} : { allow: domains }) }
}

/** Hosts that grants of HTTP and WebSockets name one by one: whoever says `--grant http:domain=localhost` means that one. */
function namedHosts(specs: readonly string[]): readonly string[] {
  return specs
    .map(readSpec)
    .filter(({ name }) => /^(?:http|net)(?:\.|$)/.test(name))
    .flatMap(({ constraints }) => [constraints['domain'] ?? []].flat() as readonly string[])
    .filter((domain) => !domain.includes('*'))
}

// ---- powers --------------------------------------------------------------------------------------------------------------

function powersOf(flags: AuthorityFlags): Pick<RuntimeOptions, 'grants' | 'toolGrants' | 'defaultDeny'> {
  const specs = flags.grant ?? []
  if (specs.length === 0) return { grants: flags.sandbox === true ? [] : flags.root === undefined ? ['*'] : CONFINED }
  const powers = new Set<Grant>()
  const tools: { [tool: string]: ToolGrant } = {}
  for (const spec of specs) {
    const { name, constraints } = readSpec(spec)
    for (const power of powersFor(name)) powers.add(power)
    tools[name] = { ...tools[name], ...constraints }
  }
  try {
    grantScope(tools)
  } catch (cause) {
    throw cause instanceof GrantError ? new UsageError(`--grant: ${cause.message}`) : cause
  }
  return { grants: [...powers], toolGrants: tools, defaultDeny: 'effects' }
}

/** Everything but starting programs, which no folder confines; `--grant process` gives that too. */
const CONFINED: readonly Grant[] = (Object.keys(EFFECTS) as EffectKind[]).filter(
  (kind) => !['process.exec', 'mcp.connect'].includes(kind),
)

/** Powers behind the families of tool ids; an id has that of its family, or the one listed for it. */
const FAMILY_POWERS: Readonly<Record<string, readonly Grant[]>> = {
  fs: ['fs'],
  http: ['http', 'net'],
  process: ['process'],
  env: ['process.info'],
  llm: ['llm'],
  mcp: ['mcp', 'process.exec', 'http'],
  store: ['store'],
  approval: ['approval'],
  terminal: ['terminal'],
}

const ID_POWERS: Readonly<Record<string, readonly Grant[]>> = {
  'fs.read': ['fs.read'],
  'fs.exists': ['fs.query'],
  'fs.stat': ['fs.query'],
  'fs.list': ['fs.query'],
  'fs.glob': ['fs.query'],
  'fs.walk': ['fs.query'],
  'process.exec': ['process.exec', 'process.info'],
  'env.get': ['process.info'],
  'env.set': ['process.set'],
}

function powersFor(name: string): readonly Grant[] {
  if (name === '*') return ['*']
  const own = ID_POWERS[name]
  if (own !== undefined) return own
  const family = name.split('.')[0]!
  const powers = FAMILY_POWERS[family]
  if (powers === undefined)
    throw new UsageError(`--grant ${name}: unknown power; the families are ${Object.keys(FAMILY_POWERS).join(', ')}`)
  // Every other file operation writes.
  return family === 'fs' && name !== 'fs' && name !== 'fs.*' ? ['fs.write'] : powers
}

/** `NAME`, or `NAME:key=value,key=value`; a key that is given twice has both values. */
function readSpec(spec: string): { readonly name: string; readonly constraints: ToolGrant } {
  const [, name, rest] = /^([^:=,\s]+)(?::(.*))?$/.exec(spec) ?? []
  if (name === undefined) throw new UsageError(`--grant ${spec}: write NAME or NAME:key=value,key=value`)
  const constraints: { [key: string]: string | number | boolean | (string | number | boolean)[] } = {}
  for (const part of (rest ?? '').split(',').filter((each) => each !== '')) {
    const at = part.indexOf('=')
    if (at < 1) throw new UsageError(`--grant ${spec}: "${part}" is not of the form key=value`)
    const key = part.slice(0, at)
    const value = valueOf(key, part.slice(at + 1))
    for (const each of value) {
      const before = constraints[key]
      constraints[key] = before === undefined ? each : [...[before].flat(), each]
    }
  }
  return { name, constraints }
}

function valueOf(key: string, text: string): readonly (string | number | boolean)[] {
  // Scripts write paths either way.
  if (key === 'path' || key === 'paths') return text.startsWith('/') ? [text] : [text, resolve(text)]
  if (key === 'domain' || key === 'version') return [text]
  if (text === 'true' || text === 'false') return [text === 'true']
  return [/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text]
}

// ---- environment ---------------------------------------------------------------------------------------------------------

/** Variables that a confined run may see: all that do not look like secrets (05 §3.12). */
function plainVariables(env: NodeJS.ProcessEnv): { readonly [name: string]: string | undefined } {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretVariable(name)))
}
