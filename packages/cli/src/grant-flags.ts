// Parses `--grant`: `NAME`, or `NAME:key=value,key=value`. Separate from authority.ts, because most runs have no such flag.

import { resolve } from 'node:path'
import { EFFECTS, GrantError, STANDARD_TOOLS, grantScope } from '@bridle/stdlib-tools'
import type { Grant, RuntimeOptions, ToolGrant } from '@bridle/stdlib-tools'
import { findClosest } from '@bridle/parser'
import { lookup } from '@bridle/vm'
import { UsageError } from './errors.js'

export interface Spec {
  readonly name: string
  readonly constraints: ToolGrant
}

/** `NAME`, or `NAME:key=value,key=value`; a repeated key has both values. */
export function readSpec(spec: string): Spec {
  const [, name, rest] = /^([^:=,\s]+)(?::(.*))?$/.exec(spec) ?? []
  if (name === undefined) throw new UsageError(`--grant ${spec}: write NAME or NAME:key=value,key=value`)
  const constraints: { [key: string]: string | number | boolean | (string | number | boolean)[] } = {}
  for (const part of (rest ?? '').split(',').filter((each) => each !== '')) {
    const at = part.indexOf('=')
    if (at < 1) throw new UsageError(`--grant ${spec}: "${part}" is not of the form key=value`)
    const key = part.slice(0, at)
    checkConstraint(spec, name, key)
    const value = parseValue(key, part.slice(at + 1))
    for (const each of value) {
      const before = constraints[key]
      constraints[key] = before === undefined ? each : [...[before].flat(), each]
    }
  }
  return { name, constraints }
}

function parseValue(key: string, text: string): readonly (string | number | boolean)[] {
  // Scripts may write a path either way.
  if (key === 'path' || key === 'paths') return text.startsWith('/') ? [text] : [text, resolve(text)]
  if (key === 'domain' || key === 'version') return [text]
  if (text === 'true' || text === 'false') return [text === 'true']
  return [/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text]
}

/** Throws UsageError for an unknown power, and for a constraint that no call can be checked against. */
export function readGrants(specs: readonly string[]): Pick<RuntimeOptions, 'grants' | 'toolGrants' | 'defaultDeny'> {
  const powers = new Set<Grant>()
  const tools: { [tool: string]: ToolGrant } = {}
  for (const spec of specs) {
    const { name, constraints } = readSpec(spec)
    for (const power of listPowers(name)) powers.add(power)
    tools[name] = { ...tools[name], ...constraints }
  }
  try {
    grantScope(tools)
  } catch (cause) {
    throw cause instanceof GrantError ? new UsageError(`--grant: ${cause.message}`) : cause
  }
  return { grants: [...powers], toolGrants: tools, defaultDeny: 'effects' }
}

/** Powers of the families of tool ids; an id has that of its family, or the one listed for it. */
const FAMILY_POWERS: Readonly<Record<string, readonly Grant[]>> = lookup({
  fs: ['fs'],
  http: ['http', 'net'],
  process: ['process'],
  env: ['process.info'],
  llm: ['llm'],
  mcp: ['mcp', 'process.exec', 'http'],
  store: ['store'],
  approval: ['approval'],
  terminal: ['terminal'],
})

const ID_POWERS: Readonly<Record<string, readonly Grant[]>> = lookup({
  'fs.read': ['fs.read'],
  'fs.exists': ['fs.query'],
  'fs.stat': ['fs.query'],
  'fs.list': ['fs.query'],
  'fs.glob': ['fs.query'],
  'fs.walk': ['fs.query'],
  'process.exec': ['process.exec', 'process.info'],
  'env.get': ['process.info'],
  'env.set': ['process.set'],
})

function listPowers(name: string): readonly Grant[] {
  if (name === '*') return ['*']
  const own = ID_POWERS[name]
  if (own !== undefined) return own
  const family = name.split('.')[0]!
  const powers = FAMILY_POWERS[family]
  if (powers === undefined || !isGrantable(name, family))
    throw new UsageError(
      `--grant ${name}: unknown power${formatSuggestion(name, listGrantable())}; the families are ${Object.keys(FAMILY_POWERS).join(', ')}`,
    )
  // All other file operations write.
  return family === 'fs' && name !== 'fs' && name !== 'fs.*' ? ['fs.write'] : powers
}

/** Ids of tools, and kinds of effects; below `mcp`, the names are those of servers. */
function isGrantable(name: string, family: string): boolean {
  return name === family || name === `${family}.*` || family === 'mcp' || listGrantable().includes(name)
}

function listGrantable(): readonly string[] {
  const families = Object.keys(FAMILY_POWERS)
  const below = [...STANDARD_TOOLS.map(({ id }) => id), ...Object.keys(EFFECTS), ...Object.keys(ID_POWERS)]
  return [...families, ...below.filter((name) => families.includes(name.split('.')[0]!))]
}

function formatSuggestion(name: string, known: Iterable<string>): string {
  const near = findClosest(name, known)
  return near === null ? '' : `; did you mean ${near}?`
}

/** Constraints that every grant accepts; other keys are arguments of the granted tools. */
const CONSTRAINTS = [
  'domain',
  'domains',
  'path',
  'paths',
  'timeout_ms',
  'max_retries',
  'max_calls',
  'max_cost_usd',
  'max_total_tokens',
  'version',
  'effect',
  'effects',
]

/** Throws UsageError for a constraint that no call can be checked against: a misspelt one would restrict nothing. */
function checkConstraint(spec: string, name: string, key: string): void {
  if (CONSTRAINTS.includes(key)) return
  const family = name.replace(/\.\*$/, '')
  const tools = STANDARD_TOOLS.filter(({ id }) => name === '*' || id === family || id.startsWith(`${family}.`))
  // The arguments of tools that only a server or a host knows cannot be checked here.
  if (tools.length === 0) return
  const known = [
    ...CONSTRAINTS,
    ...new Set(tools.flatMap(({ schema }) => Object.keys((schema as { readonly properties?: object }).properties ?? {}))),
  ]
  if (known.includes(key)) return
  throw new UsageError(
    `--grant ${spec}: ${name} has no constraint or argument "${key}"${formatSuggestion(key, known)}; it may be one of ${known.join(', ')}`,
  )
}

/** A pattern matches a domain and all below it; null if no host is named. */
export function listMcpHosts(specs: readonly Spec[]): readonly string[] | null {
  const domains = specs
    .filter(({ name }) => name === 'mcp' || name === 'mcp.*')
    .flatMap(({ constraints }) => [constraints['domain'] ?? []].flat() as readonly string[])
    .flatMap((domain) => (/^\*\*?\./.test(domain) ? [domain.replace(/^\*+\./, ''), domain.replace(/^\*+/, '*')] : [domain]))
  return domains.length === 0 ? null : domains
}

/** Hosts that grants of HTTP and WebSockets name individually: `--grant http:domain=localhost` permits that private host. */
export function listNamedHosts(specs: readonly Spec[]): readonly string[] {
  return specs
    .filter(({ name }) => /^(?:http|net)(?:\.|$)/.test(name))
    .flatMap(({ constraints }) => [constraints['domain'] ?? []].flat() as readonly string[])
    .filter((domain) => !domain.includes('*'))
}

/** Throws UsageError for a name in `--allow` or `--deny` that is not a builtin: a misspelt one would deny nothing. */
export function checkBuiltinNames(lists: NonNullable<RuntimeOptions['builtins']>, builtins: ReadonlyMap<string, unknown>): void {
  const [option, names] = 'allow' in lists ? ['allow', lists.allow] : ['deny', lists.deny]
  const name = names.find((each) => !builtins.has(each))
  if (name === undefined) return
  const said = formatSuggestion(
    name,
    [...builtins.keys()].filter((each) => !each.startsWith('__')),
  )
  const help = said === '' ? '; `bridle builtins` lists them' : said
  throw new UsageError(`--${option} ${name}: there is no builtin of that name${help}`)
}
