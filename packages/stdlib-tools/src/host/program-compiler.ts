// From texts to modules: what a caller gives, what snapshots and journals carry, and what was kept of earlier compilations.

import { LinkError, SnapshotError, collectSignatures, linkProgram } from '@bridle/vm'
import type { Registry } from '@bridle/vm'
import type { BuiltinSignatures, CompileResult, Strictness } from '@bridle/compiler'
import type { ConstraintRules } from '@bridle/compiler/grants'
import type { Diagnostic } from '@bridle/parser'
import { CompileError } from './compile-errors.js'
import { compileProgram, ToolTypes, withBuiltins } from './front-end.js'
import { hashTexts } from './hash.js'
import { Module } from './module.js'
import {
  SourceCollector,
  listRecordedFamilies,
  makeRecordedResolver,
  findStdChunk,
  findStdModule,
  listStdModules,
  stdModule,
  withoutStdTexts,
} from './modules.js'
import type { ModuleSource, ProgramSources } from './modules.js'
import { completeKept, decodeKept, encodeKept, makeKeptName } from './program-cache.js'
import type { ProgramCache } from './program-cache.js'
import type { CompileSettings, RuntimeOptions } from './runtime-options.js'
import { declareTools } from '../tools/host-tools/declarations.js'
import type { Host } from '../tools/host-tools/host.js'
import { makeImportCeilings } from '../tools/policy/host-grants.js'

/** How a text is compiled, whether a caller's or one that a snapshot or journal carries. */
interface SourceSettings extends Omit<CompileSettings, 'imports'> {
  readonly ceilings?: ProgramSources['ceilings'] | undefined
  readonly hostFamilies?: ReadonlySet<string>
  /** What calls of tools are held to. What snapshots and journals carry began under declarations that may be others. */
  readonly tools?: ToolTypes | null
  readonly findingsOnly?: boolean
}

interface Keeping {
  readonly cache: ProgramCache
  readonly settings: string
}

/** Settings of the runtime for the compiler. */
export interface CompilerParts {
  readonly options: RuntimeOptions
  readonly host: Host
  readonly registry: Registry
  readonly rules: ConstraintRules | undefined
  readonly hashHex: (bytes: Uint8Array) => string
}

export class ProgramCompiler {
  private readonly options: RuntimeOptions
  private readonly host: Host
  private readonly registry: Registry
  private readonly rules: ConstraintRules | undefined
  private readonly hashHex: (bytes: Uint8Array) => string
  private readonly std: ReadonlyMap<string, string>
  /** What the checker knows about builtins; the language's own table unless the host adds to it. */
  private readonly types: BuiltinSignatures | null
  private knownTools: ToolTypes | null = null

  constructor({ options, host, registry, rules, hashHex }: CompilerParts) {
    this.options = options
    this.host = host
    this.registry = registry
    this.rules = rules
    this.hashHex = hashHex
    this.std = new Map(Object.entries(options.std ?? {}))
    const added = (options.families ?? []).flatMap((family) => family.builtins)
    this.types = added.length === 0 ? null : withBuiltins(added)
  }

  /** What `compile` would find, errors as well as warnings, without making a program that can run: editors ask after each change. */
  diagnose(source: string, settings: CompileSettings = {}): readonly Diagnostic[] {
    const ceilings = settings.imports === undefined ? undefined : makeImportCeilings(settings.imports, this.rules)
    const tools = settings.checkTools === false ? null : this.toolTypes(settings.checkTools === 'complete')
    const entry: ModuleSource = { key: settings.file ?? 'script.harn', text: source }
    const strictness = this.chooseStrictness(settings)
    const found = this.compileSource(entry, this.makeCollector().resolve, {
      ...settings,
      strictness,
      ceilings,
      tools,
      findingsOnly: true,
    })
    return found.diagnostics
  }

  compile(source: string, settings: CompileSettings): Module {
    const entry: ModuleSource = { key: settings.file ?? 'script.harn', text: source }
    const keeping = this.findKeeping(settings)
    const kept = keeping === null ? null : this.findKeptModule(entry, keeping)
    if (kept !== null) return kept
    const collector = this.makeCollector()
    const ceilings = settings.imports === undefined ? undefined : makeImportCeilings(settings.imports, this.rules)
    const recorded = {
      ...(settings.pipeline === undefined ? {} : { pipeline: settings.pipeline }),
      ...(ceilings === undefined ? {} : { ceilings }),
    }
    const tools = settings.checkTools === false ? null : this.toolTypes(settings.checkTools === 'complete')
    const strictness = this.chooseStrictness(settings)
    const result = this.compileWith(entry, collector.resolve, { ...settings, strictness, ceilings, tools })
    const sources = collector.sources(entry, recorded)
    const module = this.linkModule(result, sources)
    if (settings.allowEffects !== undefined) module.checkCeiling(settings.allowEffects)
    if (keeping !== null && result.diagnostics.length === 0) {
      const { modules, imports } = withoutStdTexts(sources)
      const facts = { engine: keeping.cache.engine, entry, settings: keeping.settings, modules, imports }
      keeping.cache.write(makeKeptName(entry.key, keeping.settings), encodeKept(facts, result.program!))
    }
    return module
  }

  /**
   * A text that a host compiles is checked fully, because a script that a model wrote is to be refused with its finding and not to run
   * without effect. What snapshots and journals carry was accepted before: `compileSources` asks only what the language asks.
   */
  private chooseStrictness(settings: CompileSettings): Strictness {
    return settings.strictness ?? this.options.strictness ?? 'full'
  }

  /** Throws CompileError. */
  private compileWith(entry: ModuleSource, resolve: SourceCollector['resolve'], settings: SourceSettings): CompileResult {
    const result = this.compileSource(entry, resolve, settings)
    if (result.program === null) throw new CompileError(result)
    return result
  }

  private compileSource(entry: ModuleSource, resolve: SourceCollector['resolve'], settings: SourceSettings): CompileResult {
    const { strict, pipeline, effects, parsed, ceilings, tools = null } = settings
    const limits = settings.compileLimits ?? this.options.compileLimits
    const globals = [...(this.options.globals ?? []), ...Object.keys(this.options.globalValues ?? {})]
    return compileProgram(entry, {
      resolve,
      signatures: collectSignatures(this.registry, globals),
      hostFamilies: settings.hostFamilies ?? this.host.families,
      hostTools: this.host.declaredEffects,
      ...(this.types === null ? {} : { types: this.types }),
      ...(globals.length === 0 ? {} : { globals }),
      ...(strict === undefined ? {} : { strict }),
      ...(settings.refuseMissing === undefined ? {} : { refuseMissing: settings.refuseMissing }),
      ...(settings.strictness === undefined ? {} : { strictness: settings.strictness }),
      ...(settings.strictness === 'full' ? { standardModules: listStdModules(this.std), findStandard: findStdModule } : {}),
      ...(pipeline === undefined ? {} : { pipeline }),
      ...(effects === undefined ? {} : { effects }),
      ...(parsed === undefined ? {} : { parsed }),
      ...(ceilings === undefined ? {} : { imports: ceilings }),
      ...(limits === undefined ? {} : { limits }),
      ...(tools === null ? {} : { tools }),
      ...(this.rules === undefined ? {} : { constraints: this.rules }),
      ...(this.options.prelude === undefined ? {} : { prelude: this.options.prelude }),
      ...(this.options.extensions === undefined ? {} : { extensions: this.options.extensions }),
      ...(settings.findingsOnly === true ? { findingsOnly: true } : {}),
      ...(this.options.coverage === undefined ? {} : { coverage: this.options.coverage }),
    })
  }

  /** What calls of the host's tools and functions are held to; null when it has none. */
  private toolTypes(isComplete: boolean): ToolTypes | null {
    const { tools, functions } = this.host
    if (tools.size === 0 && Object.keys(functions).length === 0) return null
    if (isComplete) return new ToolTypes(declareTools(tools.values()), { isComplete })
    return (this.knownTools ??= new ToolTypes(declareTools(tools.values())))
  }

  /** Compiles what a snapshot or a journal carries. */
  compileSources(sources: ProgramSources | null): Module {
    if (sources === null)
      throw new SnapshotError('program', 'the snapshot was taken without its sources; it can be resumed with the module only')
    const result = this.compileWith(
      sources.entry,
      makeRecordedResolver(sources, (path) => stdModule(path, this.std)),
      {
        ...(sources.pipeline === undefined ? {} : { pipeline: sources.pipeline }),
        ...(sources.ceilings === undefined ? {} : { ceilings: sources.ceilings }),
        hostFamilies: listRecordedFamilies(sources),
      },
    )
    return this.linkModule(result, sources)
  }

  private linkModule(result: CompileResult, sources: ProgramSources): Module {
    return new Module({
      warnings: result.diagnostics.filter((each) => each.severity !== 'error'),
      program: linkProgram(result.program!, this.registry),
      sources,
      hashOf: (of) => this.hashSources(of),
      compiled: () => result,
    })
  }

  private hashSources(sources: ProgramSources): string {
    return hashTexts(this.hashHex, [
      sources.entry.text,
      ...(sources.pipeline === undefined ? [] : [sources.pipeline]),
      ...(sources.ceilings === undefined ? [] : [JSON.stringify(sources.ceilings)]),
      ...sources.modules.flatMap((module) => [module.key, module.hash ?? module.text]),
    ])
  }

  private makeCollector(): SourceCollector {
    return new SourceCollector(this.host, this.std, this.options.resolve ?? null)
  }

  /** The cache entry for these settings; null if the program depends on more than an entry records. */
  private findKeeping(settings: CompileSettings): Keeping | null {
    const { programs, globals, globalValues, extensions, families, builtins, prelude, std, constraints, coverage } = this.options
    const { file, ...others } = settings
    const isPlain =
      file !== undefined &&
      Object.values(others).every((each) => each === undefined) &&
      [families, builtins, prelude, std, constraints, coverage].every((each) => each === undefined) &&
      !this.host.isAttached &&
      Object.keys(this.host.functions).length === 0
    if (programs === undefined || !isPlain) return null
    const names = [...(globals ?? []), ...Object.keys(globalValues ?? {})]
    return { cache: programs, settings: JSON.stringify([names, extensions ?? [], this.chooseStrictness({})]) }
  }

  /** A program that was compiled before, of the same texts. */
  private findKeptModule(entry: ModuleSource, { cache, settings }: Keeping): Module | null {
    const bytes = cache.read(makeKeptName(entry.key, settings))
    const kept = bytes === null ? null : decodeKept(bytes, { engine: cache.engine, entry, settings })
    if (kept === null) return null
    const { modules, imports } = kept.facts
    let sources: ProgramSources = { entry, modules: [], imports: [] }
    if (imports.length > 0) {
      const collector = this.makeCollector()
      for (const [from, path] of imports) collector.resolve(path, from)
      sources = collector.sources(entry, {})
      const now = withoutStdTexts(sources)
      if (JSON.stringify([now.modules, now.imports]) !== JSON.stringify([modules, imports])) return null
    }
    const program = completeKept(kept, (key) => findStdChunk(key, this.std))
    if (program === null) return null
    try {
      return new Module({
        warnings: [],
        program: linkProgram(program, this.registry),
        sources,
        hashOf: (of) => this.hashSources(of),
        compiled: () =>
          this.compileWith(
            sources.entry,
            makeRecordedResolver(sources, (path) => stdModule(path, this.std)),
            {},
          ),
      })
    } catch (cause) {
      if (cause instanceof LinkError) return null
      throw cause
    }
  }
}
