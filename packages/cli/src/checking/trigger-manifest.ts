// `bridle check harn.toml`: checks the triggers of a manifest. The rules are in Harn (agents/triggers/manifest); this file resolves
// their references: modules, functions, predicates, personas.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ManifestError, readManifest } from '@bridle/stdlib-tools/node'
import type { Manifest } from '@bridle/stdlib-tools/node'
import { readInterface } from '@bridle/compiler'
import { report, SourceFile } from '@bridle/parser'
import type { FnDecl, Program, TypeExpr } from '@bridle/parser'
import { makeAuthority } from '../authority.js'
import type { Finding } from '../findings.js'
import { makeCommandRuntime } from '../host.js'
import { PREFLIGHT_CATALOG } from '../preflight/catalog.js'
import { makeUnreadableError } from '../errors.js'
import { ModuleFinder } from './imports.js'
import type { ResolvedModule } from './imports.js'

/** The problem of a reference, by field; null for none. */
interface ReferenceProblems {
  readonly handler: string | null
  readonly when: string | null
}

/** A trigger as `agents/triggers/manifest.harn` reads it. */
export interface ManifestTrigger {
  readonly id: string
  readonly kind: string
  readonly provider: string
  readonly match: { readonly [key: string]: unknown }
  readonly events: readonly string[]
  readonly handler: string
  readonly handler_kind: 'local' | 'a2a' | 'worker' | 'persona'
  readonly when: string | null
  readonly dedupe_key: string | null
  readonly retry: { readonly max: number; readonly backoff: string; readonly retention_days: number }
  readonly priority: string
  readonly flow_control: { readonly [rule: string]: { readonly key?: string | null; readonly [limit: string]: unknown } }
  readonly budget: { readonly [limit: string]: unknown }
  readonly secrets: { readonly [name: string]: string }
  readonly cron: { readonly schedule: string; readonly timezone: string; readonly catchup_mode: 'skip' | 'all' | 'latest' } | null
  readonly config: { readonly [key: string]: unknown }
}

export interface OrchestratorTable {
  readonly allowed_origins: readonly string[]
  readonly max_body_bytes: number
  readonly budget: { readonly daily_cost_usd: number | null; readonly hourly_cost_usd: number | null }
  readonly drain: { readonly max_items: number; readonly deadline_seconds: number }
  readonly pumps: { readonly max_outstanding: number }
}

export interface ManifestReport {
  readonly triggers: readonly ManifestTrigger[]
  readonly providers: { readonly [id: string]: { readonly connector: string | null } }
  readonly orchestrator: OrchestratorTable | null
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** Its triggers, providers and `[orchestrator]`; a manifest that does not parse is one finding. */
export async function checkManifest(path: string): Promise<readonly Finding[]> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
  const file = new SourceFile(path, text)
  let manifest: Manifest
  try {
    manifest = readManifest(resolve(path), text)
  } catch (cause) {
    if (!(cause instanceof ManifestError)) throw cause
    return [makeFinding(file, 'H018', cause.message)]
  }
  const { errors, warnings } = await readTriggers(manifest, path)
  return [
    ...errors.map((problem) => makeFinding(file, 'H018', problem)),
    ...warnings.map((problem) => makeFinding(file, 'H019', problem)),
  ]
}

/** The declarations of its tables, and their problems. `shown` is the name of the manifest in messages. */
export async function readTriggers(manifest: Manifest, shown: string): Promise<ManifestReport> {
  const facts = {
    path: shown,
    package_name: readPackageName(manifest),
    is_root: true,
    personas: listPersonas(manifest),
    references: lookUpReferences(manifest),
  }
  const runtime = makeCommandRuntime({ terminal: false, authority: makeAuthority({ sandbox: true }) })
  const program =
    'import { runtime_pipeline_input } from "std/runtime"\nlet given = runtime_pipeline_input()\nreturn trigger_manifest_native(given.tables, given.facts)'
  const input = { tables: toPlainTables(manifest.tables), facts }
  return (await runtime.run(program, { input, effects: 'off' })) as unknown as ManifestReport
}

/** The module and the name of a function that a handler or a predicate refers to; both exist. */
export function findReference(manifest: Manifest, text: string): { readonly module: string; readonly name: string } | null {
  const [module, name] = text.includes('::') ? text.split('::', 2) : [null, text]
  const place = findModule(manifest, module ?? null, new ModuleFinder())
  return typeof place === 'string' || name === undefined ? null : { module: place.key, name }
}

/** Scripts have no values for TOML dates, so they become strings. */
function toPlainTables(tables: Manifest['tables']): unknown {
  return JSON.parse(
    JSON.stringify({ triggers: tables['triggers'], providers: tables['providers'], orchestrator: tables['orchestrator'] }),
  )
}

function makeFinding(file: SourceFile, code: 'H018' | 'H019', problem: string): Finding {
  return { file, diagnostic: report(PREFLIGHT_CATALOG, code, findTable(file, problem), { problem }) }
}

/** The line of the table with the number that a problem names, or the first line. */
function findTable(file: SourceFile, problem: string): { readonly start: number; readonly end: number } {
  const number = /\[\[triggers\]\] table #(\d+) /.exec(problem)?.[1]
  const { text } = file
  let at = 0
  let found = 0
  for (const line of text.split('\n')) {
    if (line.trim().startsWith('[[triggers]]') && ++found === Number(number))
      return { start: at, end: at + line.trimEnd().length }
    at += line.length + 1
  }
  return { start: 0, end: Math.max(0, text.indexOf('\n')) }
}

function readPackageName(manifest: Manifest): string | null {
  const name = (manifest.tables['package'] as { readonly name?: unknown } | undefined)?.name
  return typeof name === 'string' ? name : null
}

function listPersonas(manifest: Manifest): readonly string[] {
  const given = manifest.tables['personas']
  if (!Array.isArray(given)) return []
  return given.flatMap((each: unknown) => {
    const name = (each as { readonly name?: unknown } | null)?.name
    return typeof name === 'string' ? [name] : []
  })
}

/** Checks the references of all handlers and predicates. */
function lookUpReferences(manifest: Manifest): { readonly [reference: string]: ReferenceProblems } {
  const tables = manifest.tables['triggers']
  const given = Array.isArray(tables) ? (tables as readonly unknown[]) : []
  const texts = given.flatMap((table) => {
    const { handler, when, sources } = (table ?? {}) as { handler?: unknown; when?: unknown; sources?: unknown }
    const further = Array.isArray(sources)
      ? sources.flatMap((source: unknown) => {
          const own = (source ?? {}) as { handler?: unknown; when?: unknown }
          return [own.handler, own.when]
        })
      : []
    return [handler, when, ...further].filter((text) => typeof text === 'string').map((text) => text.trim())
  })
  const finder = new ModuleFinder()
  const problems = new Map<string, ReferenceProblems>()
  for (const text of new Set(texts)) if (!text.includes('://')) problems.set(text, lookUp(manifest, text, finder))
  return Object.fromEntries(problems)
}

function lookUp(manifest: Manifest, text: string, finder: ModuleFinder): ReferenceProblems {
  const [module, name] = text.includes('::') ? text.split('::', 2) : [null, text]
  const place = findModule(manifest, module ?? null, finder)
  if (typeof place === 'string') return { handler: place, when: place }
  const { program, key } = place
  if (program === null) {
    const problem = `${key} does not parse; \`bridle check\` of it says why`
    return { handler: `handler '${text}': ${problem}`, when: `when predicate '${text}': ${problem}` }
  }
  if (name === undefined || !readInterface(program).exports.has(name)) {
    return {
      handler: `handler '${text}' is not exported by the resolved module`,
      when: `when predicate '${text}' is not exported by the resolved module`,
    }
  }
  return { handler: null, when: findPredicateProblem(program, text, name) }
}

/** The module that a reference means, or its problem. */
function findModule(manifest: Manifest, name: string | null, finder: ModuleFinder): ResolvedModule | string {
  const folder = dirname(manifest.path)
  const open = (path: string): ResolvedModule | string => finder.find(path, manifest.path) ?? `${path} cannot be read`
  const lib = join(folder, 'lib.harn')
  if (name === null) return existsSync(lib) ? open(lib) : `no lib.harn found next to manifest in ${folder}`
  const exports = manifest.tables['exports']
  const alias =
    typeof exports === 'object' && exports !== null && Object.hasOwn(exports, name)
      ? (exports as { readonly [alias: string]: unknown })[name]
      : undefined
  if (typeof alias === 'string') {
    const path = resolve(folder, alias)
    return existsSync(path) ? open(path) : `export '${name}' resolves to ${path}, but that path does not exist`
  }
  if (name === readPackageName(manifest))
    return existsSync(lib) ? open(lib) : `module '${name}' resolves to local lib.harn, but ${lib} is missing`
  const relative = name.startsWith('.') || name.startsWith('/') ? name : `./${name}`
  return (
    finder.find(relative, manifest.path) ??
    finder.find(name, manifest.path) ??
    `module '${name}' could not be resolved from ${folder}`
  )
}

/** Checks that a predicate takes an event and returns a decision. */
function findPredicateProblem(program: Program, text: string, name: string): string | null {
  const found = program.items.find((item): item is FnDecl => item.kind === 'FnDecl' && item.name.text === name)
  if (found === undefined) return `when predicate '${text}' must resolve to a function declaration`
  const [param] = found.params
  if (found.params.length !== 1 || param === undefined || !isNamed(param.type, 'TriggerEvent'))
    return `when predicate '${text}' must have signature fn(TriggerEvent) -> bool`
  return isVerdict(found.returns)
    ? null
    : `when predicate '${text}' must have signature fn(TriggerEvent) -> bool or Result<bool, _>`
}

function isNamed(type: TypeExpr | null, name: string): boolean {
  return type !== null && type.kind === 'NamedType' && type.name.text === name
}

function isVerdict(type: TypeExpr | null): boolean {
  return (
    isNamed(type, 'bool') ||
    (isNamed(type, 'Result') && (type as { readonly args?: readonly TypeExpr[] }).args?.[0] !== undefined)
  )
}
