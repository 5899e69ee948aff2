// The project that an orchestrator works for: the triggers of its manifest, and one program with all their handlers, predicates and keys.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ManifestError, readManifest } from '@bridle/stdlib-tools/node'
import type { Manifest } from '@bridle/stdlib-tools/node'
import { SourceFile, parse } from '@bridle/parser'
import { findReference, readTriggers } from '../checking/trigger-manifest.js'
import type { ManifestTrigger, OrchestratorTable } from '../checking/trigger-manifest.js'
import { CommandError, readReason } from '../errors.js'

export interface Project {
  readonly manifest: Manifest
  readonly path: string
  readonly folder: string
  readonly packageName: string | null
  readonly triggers: readonly ManifestTrigger[]
  /** Modules of connectors in Harn, by provider: absolute paths. */
  readonly connectors: ReadonlyMap<string, string>
  readonly settings: OrchestratorTable
  readonly warnings: readonly string[]
  /** The program: the functions of all triggers, and the functions called on it. */
  readonly program: { readonly file: string; readonly text: string; readonly std: { readonly [name: string]: string } }
}

/** `given` is a manifest, or a folder with one. Throws CommandError. */
export async function loadProject(given: string): Promise<Project> {
  const named = resolve(given)
  const path = existsSync(named) && statSync(named).isDirectory() ? join(named, 'harn.toml') : named
  let manifest: Manifest
  try {
    manifest = readManifest(path, readFileSync(path, 'utf8'))
  } catch (cause) {
    if (cause instanceof ManifestError) throw new CommandError(cause.message)
    throw new CommandError(`failed to read ${path}: ${readReason(cause)}`)
  }
  const { triggers, orchestrator, errors, warnings, providers } = await readTriggers(manifest, path)
  if (errors.length > 0 || orchestrator === null) throw new CommandError(errors.join('\n'))
  const folder = dirname(path)
  const name = (manifest.tables['package'] as { readonly name?: unknown } | undefined)?.name
  const connectors = new Map<string, string>()
  for (const [id, { connector }] of Object.entries(providers))
    if (connector !== null && connector !== undefined) connectors.set(id, resolve(folder, connector))
  return {
    manifest,
    path,
    folder,
    packageName: typeof name === 'string' ? name : null,
    triggers,
    connectors,
    settings: orchestrator,
    warnings,
    program: writeProgram(manifest, folder, triggers, connectors),
  }
}

/** For commands that only read a log. */
export function makeEmptyProject(): Project {
  const folder = process.cwd()
  const path = join(folder, 'harn.toml')
  const manifest = readManifest(path, '')
  return {
    manifest,
    path,
    folder,
    packageName: null,
    triggers: [],
    connectors: new Map(),
    settings: {
      allowed_origins: [],
      max_body_bytes: 0,
      budget: { daily_cost_usd: null, hourly_cost_usd: null },
      drain: { max_items: 0, deadline_seconds: 0 },
      pumps: { max_outstanding: 1 },
    },
    warnings: [],
    program: writeProgram(manifest, folder, [], new Map()),
  }
}

/** Functions that a connector may have. */
const EXPORTS = [
  'provider_id',
  'kinds',
  'payload_schema',
  'normalize_inbound',
  'init',
  'activate',
  'poll_tick',
  'call',
  'shutdown',
]

const ARGUMENTS: { readonly [name: string]: string } = {
  normalize_inbound: 'raw',
  init: 'ctx',
  activate: 'bindings',
  poll_tick: 'ctx',
  call: 'method, args',
}

/**
 * Functions are imported by name if the names differ, and through a generated module if two modules have functions of the same name.
 */
function writeProgram(
  manifest: Manifest,
  folder: string,
  triggers: readonly ManifestTrigger[],
  connectors: Project['connectors'],
): Project['program'] {
  const imports = new Map<string, string>()
  const std: { [name: string]: string } = {}
  const lines: string[] = []
  const importFunction = (reference: string): string => {
    const found = findReference(manifest, reference)
    if (found === null) throw new CommandError(`handler '${reference}' is not exported by the resolved module`)
    const { module, name } = found
    const known = imports.get(name)
    if (known === module) return name
    if (known === undefined) {
      imports.set(name, module)
      lines.push(`import { ${name} } from ${JSON.stringify(module)}`)
      return name
    }
    const alias = `trigger_function_${Object.keys(std).length}`
    std[alias] = `import { ${name} } from ${JSON.stringify(module)}\npub fn ${alias}(event) { return ${name}(event) }\n`
    lines.push(`import { ${alias} } from "std/${alias}"`)
    return alias
  }
  const members: string[] = []
  for (const trigger of triggers) {
    const { id, handler, handler_kind: kind, when, flow_control: flow } = trigger
    if (kind === 'local') members.push(`[${quote(id)}]: ${importFunction(handler)}`)
    if (when !== null) members.push(`[${quote(`${id}|when`)}]: ${importFunction(when)}`)
    for (const [rule, { key }] of Object.entries(flow))
      if (typeof key === 'string') members.push(`[${quote(`${id}|${rule}`)}]: { event -> ${key} }`)
  }
  let number = 0
  for (const [provider, path] of connectors) {
    const names = listExports(path)
    for (const name of EXPORTS.filter((each) => names.has(each))) {
      const alias = `connector_${number++}_${name}`
      const args = ARGUMENTS[name] ?? ''
      std[alias] = `import { ${name} } from ${JSON.stringify(path)}\npub fn ${alias}(${args}) { return ${name}(${args}) }\n`
      lines.push(`import { ${alias} } from "std/${alias}"`)
      members.push(`[${quote(`connector|${provider}|${name}`)}]: ${alias}`)
    }
  }
  const text = [
    ...lines,
    'import { runtime_pipeline_input } from "std/runtime"',
    `return trigger_orchestrate_native(runtime_pipeline_input(), {${members.join(', ')}})`,
    '',
  ].join('\n')
  return { file: join(folder, '.orchestrator.harn'), text, std }
}

/** Throws CommandError. */
function listExports(path: string): ReadonlySet<string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CommandError(`connector module ${path} cannot be read: ${readReason(cause)}`)
  }
  const { program } = parse(new SourceFile(path, text))
  if (program === null) throw new CommandError(`connector module ${path} does not parse; \`bridle check\` of it says why`)
  return new Set(program.items.flatMap((item) => (item.kind === 'FnDecl' && item.isPublic ? [item.name.text] : [])))
}

/** A string of Harn without interpolation. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('${', '\\${')
}
