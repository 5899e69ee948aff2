// Entry point of effect analysis: from a loaded program to its manifest and the diagnostics about its contracts. The analysis is
// lazy, because most hosts do not need it.

import type { Diagnostic, Name, Program, Span } from '@bridle/parser'
import type { ConstraintRules } from '../grants/constraints.js'
import type { LoadedModule } from '../modules.js'
import type { Signatures } from '../signatures.js'
import { checkCeiling, checkEffects, checkImport } from './check.js'
import { collectModule, type ModuleNames } from './collect.js'
import { boundEffects, listGrants } from './declared.js'
import { type Cause, type HostToolEffects, Inference } from './infer.js'
import { decodeCeilingEffect, decodeEffect } from './kinds.js'
import { type EffectManifest, makeManifest } from './report.js'
import { emptyWorld, type Tracked, type Unit, type World } from './units.js'

interface AnalysisOptions {
  readonly signatures: Signatures
  /** The pipeline to run, instead of `default` or the first. */
  readonly pipeline: string | null
  /** Constraints of the host; null for none. */
  readonly constraints: ConstraintRules | null
  readonly hostTools: HostToolEffects
}

interface Analysis {
  readonly world: World
  readonly inference: Inference
  /** Units that run without a call. */
  readonly entries: readonly Unit[]
  /** Exports and loading unit of each module, by key. */
  readonly names: ReadonlyMap<string, ModuleNames>
  readonly loading: ReadonlyMap<string, Unit>
}

const HOST_PREFIX = 'host/'

/** An import of functions of the embedding program. */
export interface HostImport {
  /** Key of the importing module. */
  readonly from: string
  /** The name after `host/`. */
  readonly name: string
  /** Span of the path. */
  readonly span: Span
  /** Null for a wildcard import. */
  readonly names: readonly Name[] | null
  readonly isFound: boolean
}

export class EffectAnalysis {
  private readonly order: readonly LoadedModule[]
  private readonly main: LoadedModule
  private readonly options: AnalysisOptions
  private found: Analysis | null = null
  private shown: EffectManifest | null = null

  /** In `order`, every module follows those that it imports; the main one is last. */
  constructor(order: readonly LoadedModule[], main: LoadedModule, options: AnalysisOptions) {
    this.order = order
    this.main = main
    this.options = options
  }

  get manifest(): EffectManifest {
    const { world, inference, entries } = this.work()
    this.shown ??= makeManifest({ world, inference, main: this.main.file, entries, grants: listGrants(this.main.grants) })
    return this.shown
  }

  /** Diagnostics about contracts of the main file. */
  findings(strict: boolean): readonly Diagnostic[] {
    const { world, inference } = this.work()
    const { aliases: declared } = this.main.grants
    const aliases = new Map(declared.map(({ name, tool }) => [name, tool]))
    return checkEffects({ world, inference, main: this.main.key, grants: listGrants(this.main.grants), aliases, strict })
  }

  /** Imports of the main file with effects above their ceilings: of the imported names, and of loading the module. */
  importFindings(): readonly Diagnostic[] {
    const { world, inference, names, loading } = this.work()
    const { constraints: rules } = this.options
    const findings: Diagnostic[] = []
    for (const item of this.main.program.items) {
      if (item.kind !== 'ImportDecl') continue
      const found = this.main.imports.get(item.path)
      const ceilings = this.main.narrowed.get(item.path) ?? []
      if (ceilings.length === 0 || found?.kind !== 'module') continue
      const exported = names.get(found.key) ?? new Map<string, Tracked>()
      const wanted = item.names?.map(({ text }) => text) ?? [...exported.keys()]
      const units = wanted.flatMap((name): readonly (readonly [string, Unit])[] => {
        const value = exported.get(name)
        return value?.kind === 'unit' ? [[`'${name}'`, value.unit]] : []
      })
      const own = loading.get(found.key)
      const judged = own === undefined ? units : [['loading', own] as const, ...units]
      for (const narrowed of ceilings)
        findings.push(...checkImport({ world, inference, narrowed, span: item.pathSpan, units: judged, rules }))
    }
    return findings
  }

  /** Imports of modules `host/NAME`, in all files. */
  get hostImports(): readonly HostImport[] {
    return this.order.flatMap((module) => {
      // Reading the tree of a precompiled module would parse it, at every start of a program that imports it.
      if (module.compiled !== undefined && ![...module.imports.keys()].some((path) => path.startsWith(HOST_PREFIX))) return []
      return module.program.items.flatMap((item) => {
        if (item.kind !== 'ImportDecl' || !item.path.startsWith(HOST_PREFIX)) return []
        const found = module.imports.get(item.path)
        const isFound = found !== undefined && found.kind !== 'error'
        return [{ from: module.key, name: item.path.slice(HOST_PREFIX.length), span: item.pathSpan, names: item.names, isFound }]
      })
    })
  }

  /** Whether the program may put a tool of that name into a registry, as far as its source shows. */
  mayDefineTool(name: string): boolean {
    const { world, inference, entries } = this.work()
    if (world.tools.has(name)) return true
    const { units, tokens } = inference.reachable(entries)
    // Lists of servers become registries.
    return tokens.has('mcp.request') || [...world.dynamicTools].some((unit) => units.has(unit))
  }

  /** Why the program can reach a kind of effect: a position in the main file, null if the cause is not in this file. */
  findCause(kind: string): Cause | null {
    const { world, inference } = this.work()
    for (const unit of world.units) {
      const cause = unit.module === this.main.key ? inference.inferUnit(unit).tokens.get(kind) : undefined
      if (cause !== undefined) return cause
    }
    return null
  }

  /** Effects of the program above the host's ceiling. */
  above(ceiling: readonly string[]): readonly Diagnostic[] {
    const { inference, entries } = this.work()
    const causes = new Map<string, Cause>()
    for (const [token, cause] of inference.reachable(entries).tokens) {
      const effect = decodeCeilingEffect(token)
      if (effect !== null && !causes.has(effect)) causes.set(effect, this.ownCause(effect) ?? cause)
    }
    return checkCeiling(causes, ceiling)
  }

  /** A position in the main file that causes the effect: a direct request has precedence over a call of a unit with the effect. */
  private ownCause(effect: string): Cause | null {
    const { world, inference } = this.work()
    const causes = world.units.flatMap((unit) => (unit.module === this.main.key ? [...inference.inferUnit(unit).tokens] : []))
    const found = causes.flatMap(([token, cause]) => (decodeEffect(token) === effect ? [cause] : []))
    return found.find((cause) => this.options.signatures.has(cause.callee)) ?? found[0] ?? null
  }

  private work(): Analysis {
    this.found ??= this.analyze()
    return this.found
  }

  private analyze(): Analysis {
    const world = emptyWorld()
    const names = new Map<string, ModuleNames>()
    const loading = new Map<string, Unit>()
    const entries: Unit[] = []
    for (const module of this.order) {
      const collected = collectModule(module, {
        world,
        signatures: this.options.signatures,
        imported: (path) => {
          const found = module.imports.get(path)
          return found === undefined || found.kind === 'error' ? null : (names.get(found.key) ?? null)
        },
      })
      names.set(module.key, collected.names)
      loading.set(module.key, collected.unit)
      entries.push(collected.unit)
    }
    const entry = this.options.pipeline ?? entryPipeline(this.main.program)
    const pipeline = world.units.find((unit) => unit.module === this.main.key && unit.kind === 'pipeline' && unit.name === entry)
    if (pipeline !== undefined) entries.push(pipeline)
    const declared = this.order.flatMap((module) => module.grants.aliases)
    const aliases = new Map(declared.map(({ name, tool }) => [name, tool]))
    const bound = new Map(boundEffects(world).map(({ tool, effect }) => [tool, effect]))
    for (const { name, effects } of declared) if (effects !== null) bound.set(name, effects[0]!)
    const { signatures, hostTools } = this.options
    const inference = new Inference(world, { signatures, aliases, bound, hostTools })
    return { world, inference, entries, names, loading }
  }
}

/** Whether a file has contracts about effects. */
export function hasContracts({ program, grants }: LoadedModule): boolean {
  if (grants.aliases.length > 0 || grants.scoped.length > 0) return true
  return program.items.some((item) => 'attributes' in item && item.attributes.some(({ name }) => CONTRACTS.has(name.text)))
}

const CONTRACTS: ReadonlySet<string> = new Set(['effects', 'bind_effect'])

/** The entry pipeline of a file; null in script mode. */
function entryPipeline(program: Program): string | null {
  const names = program.items.flatMap((item) => (item.kind === 'PipelineDecl' ? [item.name.text] : []))
  return names.includes('default') ? 'default' : (names[0] ?? null)
}

export type { EffectManifest } from './report.js'
