// Ceilings of imported modules: `@grant_import("./pkg", fs: read_only, network: "api.example.com")` on a declaration of the importing
// file, or `imports` of a host. A ceiling names the allowed effects and the constraints on them. It holds for
// every call that a function of the module makes, wherever that function is called, and for everything that the module imports: the
// loader (modules.ts) makes a separate instance of a module for each set of ceilings, so that each function has the
// ceilings of all importers on its path. Effects that need no grant (time, random, tasks …) are allowed unless named.

import { report } from '@bridle/parser'
import type { Attribute, AttributeValue, Diagnostic, Program, Span } from '@bridle/parser'
import { lookup } from '../bytecode/lookup.js'
import { findClosest } from '../signatures.js'
import { EFFECT_NAMES } from '../effects/kinds.js'
import { GRANT_CATALOG } from './catalog.js'
import { FREE_EFFECTS } from './ceilings.js'
import type { ImportCeiling } from './ceilings.js'
import { addConstraint, constraintProblem } from './constraints.js'
import type { GrantRecord, GrantValue } from './constraints.js'

/** A ceiling with its position; null for one of the host. */
export interface DeclaredCeiling {
  readonly ceiling: ImportCeiling
  readonly span: Span | null
}

interface Capability {
  readonly effects: readonly string[]
  readonly readOnly?: true
  /** For a string value: the constraint of these tools that gets it, and the effects that it allows. */
  readonly restricts?: { readonly tools: string; readonly key: string; readonly effects: readonly string[] }
}

const HOSTS = { tools: 'http', key: 'domain', effects: ['http'] }

/** THE table of keys other than names of effects. */
const CAPABILITIES: Readonly<Record<string, Capability>> = lookup({
  network: { effects: ['http', 'llm', 'mcp', 'email', 'db', 'database'], restricts: HOSTS },
  http: { effects: ['http'], restricts: HOSTS },
  fs: { effects: ['fs'], readOnly: true, restricts: { tools: 'fs', key: 'path', effects: ['fs'] } },
  process: { effects: ['process'], restricts: { tools: 'process', key: 'program', effects: ['process'] } },
  env: { effects: ['env'], restricts: { tools: 'env', key: 'name', effects: ['env'] } },
  crypto: { effects: ['crypto', 'random'] },
  timer: { effects: ['time'] },
})
const OTHER_SPELLINGS: Readonly<Record<string, string>> = lookup({
  filesystem: 'fs',
  files: 'fs',
  environment: 'env',
})
const ALL = 'all'

const ALL_EFFECTS = Object.keys(EFFECT_NAMES)

function findCapability(name: string): Capability | null {
  const own = OTHER_SPELLINGS[name] ?? name
  return CAPABILITIES[own] ?? (Object.hasOwn(EFFECT_NAMES, own) ? { effects: [own] } : null)
}

/** The ceilings of a file for its imports, by path. */
export function importCeilings(program: Program): {
  readonly ceilings: ReadonlyMap<string, DeclaredCeiling>
  readonly diagnostics: readonly Diagnostic[]
} {
  const found: Diagnostic[] = []
  const drafts = new Map<string, Draft>()
  const imported = program.items.flatMap((item) => (item.kind === 'ImportDecl' ? [item.path] : []))
  for (const item of program.items) {
    if (!('attributes' in item)) continue
    for (const attribute of item.attributes) {
      if (attribute.name.text !== 'grant_import') continue
      const path = readModule(attribute)
      if (path === null) {
        found.push(
          report(GRANT_CATALOG, 'G003', attribute.span, {
            alias: 'grant_import',
            key: 'module',
            problem: 'must come first: the path of an import, in quotes',
          }),
        )
      } else if (!imported.includes(path)) {
        found.push(report(GRANT_CATALOG, 'G010', attribute.span, { module: path, suggestion: findClosest(path, imported) }))
      } else {
        let draft = drafts.get(path)
        if (draft === undefined) drafts.set(path, (draft = { span: attribute.span, levels: new Map() }))
        readLevels(attribute, path, draft, found)
      }
    }
  }
  const ceilings = new Map([...drafts].map(([path, draft]) => [path, { ceiling: makeCeiling(path, draft), span: draft.span }]))
  return { ceilings, diagnostics: found }
}

type Level = 'none' | 'read_only' | 'full' | readonly string[]

interface Draft {
  readonly span: Span
  /** By name of the capability, or `all`. */
  readonly levels: Map<string, Level>
}

const isModule = (arg: Attribute['args'][number], at: number): boolean =>
  arg.name === null ? at === 0 : arg.name.text === 'module'

function readModule(attribute: Attribute): string | null {
  const value = attribute.args.find(isModule)?.value
  return typeof value === 'string' ? value : null
}

function readLevels(attribute: Attribute, path: string, { levels }: Draft, found: Diagnostic[]): void {
  for (const [at, arg] of attribute.args.entries()) {
    if (isModule(arg, at)) continue
    const written = arg.name?.text ?? ALL
    const key = OTHER_SPELLINGS[written] ?? written
    const capability = key === ALL ? null : findCapability(key)
    const wrong = (problem: string): void => {
      found.push(report(GRANT_CATALOG, 'G003', attribute.span, { alias: path, key: written, problem }))
    }
    if (capability === null && key !== ALL) {
      const near = findClosest(key, [...Object.keys(CAPABILITIES), ...ALL_EFFECTS, ALL])
      wrong(`is nothing that an import can be given${near === null ? '' : `; did you mean '${near}'?`}`)
      continue
    }
    const level = readLevel(arg.value, capability)
    if (level === null) {
      wrong(`must be ${describeExpected(key, capability)}`)
      continue
    }
    const before = levels.get(key)
    const problem =
      typeof level === 'string' || capability?.restricts === undefined ? null : constraintProblem(capability.restricts.key, level)
    if (problem !== null) wrong(problem)
    else if (before === undefined) levels.set(key, level)
    else if (typeof before !== 'string' && typeof level !== 'string') levels.set(key, [...new Set([...before, ...level])])
    else if (before !== level)
      found.push(
        report(GRANT_CATALOG, 'G004', attribute.span, {
          alias: path,
          key: written,
          before: formatLevel(before),
          now: formatLevel(level),
        }),
      )
  }
}

const formatLevel = (level: Level): string => (typeof level === 'string' ? level : JSON.stringify(level))

function describeExpected(key: string, capability: Capability | null): string {
  if (key === ALL) return 'none, read_only or full'
  const levels = ['none', ...(capability?.readOnly === true ? ['read_only'] : [])]
  switch (capability?.restricts?.key) {
    case undefined:
      return `${levels.join(', ')} or full`
    case 'domain':
      return `${levels.join(', ')}, full or a host pattern`
    case 'path':
      return `${levels.join(', ')}, full or a path`
    default:
      return `${levels.join(', ')}, full or a name`
  }
}

function readLevel(value: AttributeValue, capability: Capability | null): Level | null {
  if (value === 'none' || value === 'full') return value
  if (value === 'read_only') return capability === null || capability.readOnly === true ? value : null
  if (capability?.restricts === undefined) return null
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string') ? value : null
}

function makeCeiling(module: string, { levels }: Draft): ImportCeiling {
  const left = new Set(FREE_EFFECTS)
  const rest = levels.get(ALL)
  if (rest === 'full') for (const name of ALL_EFFECTS) left.add(name)
  if (rest === 'read_only') left.add('fs.read').add('env')
  let grants: { [tool: string]: GrantRecord } = {}
  for (const [key, level] of levels) {
    if (key === ALL) continue
    const { effects, restricts } = findCapability(key)!
    for (const name of effects) left.delete(name)
    if (key === 'fs') left.delete('fs.read')
    if (level === 'none') continue
    if (level === 'read_only') left.add('fs.read')
    else if (level === 'full') for (const name of effects) left.add(name)
    else {
      const { tools, key: constraint, effects: kept } = restricts!
      for (const name of kept) left.add(name)
      grants = { ...grants, [tools]: addConstraint(grants[tools] ?? {}, constraint, level as GrantValue).grant }
    }
  }
  return { module, effects: [...left].sort(), grants }
}

/** A call inside an imported module whose literal arguments its import does not allow. */
export function findRefusalInImport(
  span: Span,
  args: { readonly module: string; readonly fn: string; readonly tool: string; readonly reason: string },
): Diagnostic {
  return report(GRANT_CATALOG, 'G006', span, { alias: args.tool, reason: `${args.reason} (in ${args.fn} of "${args.module}")` })
}

/** The diagnostic for an import whose inferred effects exceed its ceiling. */
export function findExceededImport(
  span: Span,
  args: { readonly module: string; readonly fn: string; readonly effect: string; readonly cause: string },
): Diagnostic {
  return report(GRANT_CATALOG, 'G009', span, args)
}
