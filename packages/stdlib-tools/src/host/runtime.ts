// `createRuntime`: what a program embeds. A runtime is the host's side of scripts: its tools and functions, the powers it
// gives, limits. It compiles modules and starts runs; a run never shares state with another.

import { RUN_BRANCHES } from '../tools/dispatch/branches.js'
import type { RunBranch } from '../tools/dispatch/branches.js'
import {
  HostData,
  DEFAULT_LIMITS,
  LinkError,
  Machine,
  SnapshotError,
  createRegistry,
  fromPlain,
  linkProgram,
  restrictRegistry,
  collectSignatures,
  toPlain,
} from '@bridle/vm'
import { HAS_INBOX } from '../agents/loop/inbox.js'
import { REQUEST_DEFAULTS } from '../library/http/request-defaults.js'
import { PRINTS_REPORTS, REPORT_LISTENER } from '../library/logging/reports.js'
import { STAND_INS } from '../library/logging/stand-ins.js'
import { HAS_OTHER_HOST_TOOLS, HOST_TOOLS } from '../tools/definitions/entry.js'
import {
  DRIFT_WATCH,
  HOST_CAPABILITIES,
  KEEPS_CALLS,
  RESULT_CACHE,
  TOOL_LISTENER,
  TOOL_PINS,
  HOST_NAMES,
} from '../tools/host-slots.js'
import { APPROVAL_SCOPES, CONSTRAINT_RULES, EFFECT_JUDGE, GRANT_CEILING } from '../tools/policy/grant-ceiling.js'
import type { ApprovalScope } from '../tools/policy/grant-ceiling.js'
import { readApprove } from '../tools/policy/approval-options.js'
import { ApprovalDesk, approvalProvider } from '../tools/policy/host-approval.js'
import type { ConstraintRules } from '@bridle/compiler/grants'
import type { BuiltinSignatures, CompileResult } from '@bridle/compiler'
import type { Diagnostic } from '@bridle/parser'
import { guardBuiltin } from '../tools/policy/guard.js'
import { SAME_POWER } from '../tools/policy/builtins.js'
import { isSecurityLevel, findRunLevel } from '../tools/policy/level-order.js'
import { checkLevel } from './level-guard.js'
import { checkDeclarations, checkEffects } from './link-check.js'
import { logLevelState } from '../library/logging/logging.js'
import { modelFixtures } from '../agents/models/mock.js'
import type { Limits, Plain, Registry } from '@bridle/vm'
import type { GrantCeiling, GrantScope } from '../tools/policy/grant-ceiling.js'
import type { HostNames } from '../tools/dispatch/identity.js'
import type { SecurityLevel } from '../tools/policy/level-order.js'
import { isGrant, makeGrants } from './authority.js'
import { GrantError } from '../tools/policy/grant-error.js'
import { coreFamilies, laterFamilies } from './families/all.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import { readNextNumbers } from './machine.js'
import type { BegunCalls } from './machine.js'
import type { DryRunEntry } from './dry-run.js'
import { PendingResults } from '../tools/executors/pending.js'
import type { ToolOutcome } from '../tools/executors/index.js'
import { compileProgram, ToolTypes, withBuiltins } from './front-end.js'
import { hashHex as nobleHash, hashTexts, hashSha256Hex } from './hash.js'
import { JOURNAL_FORMAT } from './journal-format.js'
import { JournalFormatError, encodeEntry, findLastAuthority } from './journal.js'
import type { Journal, JournalEntry } from './journal.js'
import { completeKept, decodeKept, encodeKept, makeKeptName } from './program-cache.js'
import type { ProgramCache } from './program-cache.js'
import {
  SourceCollector,
  listRecordedFamilies,
  makeRecordedResolver,
  findStdChunk,
  listStdModules,
  stdModule,
  withoutStd,
  withoutStdTexts,
} from './modules.js'
import type { ModuleSource, ProgramSources } from './modules.js'
import { joinProviders } from '../tools/executors/provider.js'
import type { ProviderSources } from '../tools/executors/provider.js'
import { replay } from './replay.js'
import { openPiece } from './durable/pieces.js'
import type { OpenedPiece, Piece } from './durable/pieces.js'
import type { NewRun } from './durable/store.js'
import type { UnknownCall, UnknownDecision } from './runs/worker.js'
import type { Divergence, ReplayEnd } from './replay.js'
import { Run } from './run.js'
import type { MachineListeners, RunParts, RunResult, RunState, SnapshotOptions } from './run.js'
import { makeBudgetScope } from '../tools/policy/host-budgets.js'
import { makeConstraintRules } from '../tools/policy/host-constraints.js'
import { grantScope, makeImportCeilings } from '../tools/policy/host-grants.js'
import { RunKeeper, continueFrom } from './runs/keeper.js'
import { findMissingTool, listBegunCalls } from './runs/worker.js'
import type { KeeperParts, Recovered, RunBeginning } from './runs/keeper.js'
import { readHeldScopes, isSameData, joinAuthorities, listWidenings } from './run-authority.js'
import { joinLimits, runLimits } from './run-limits.js'
import type { RunAuthority } from './run-authority.js'
import type { RunLimits } from './run-limits.js'
import { packSnapshot, unpackSnapshot } from './snapshot.js'
import type { Capabilities } from '../tools/host-tools/define.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { compileSchema } from '../tools/host-tools/schema.js'
import type { CompiledSchema } from '../tools/host-tools/schema.js'
import { TraceRecorder } from './trace/recorder.js'
import type { TraceOptions } from './trace/recorder.js'
import { declareTools } from '../tools/host-tools/declarations.js'
import { Host } from '../tools/host-tools/host.js'
import { EFFECTS } from '../library/effects/index.js'
import type { HostCapabilities } from '../library/effects/index.js'
import type { ProgramTypes, AnyProgram, InputOfProgram, OutputOfProgram, ProgramSchemas, TypesOf } from './module.js'
import { Module } from './module.js'
import type {
  RuntimeOptions,
  ResumeOptions,
  RecoverOptions,
  ReplaySettings,
  ReplayResult,
  CompileSettings,
  StartOptions,
  MachineMakers,
} from './runtime-options.js'
import { CompileError } from './compile-errors.js'

/** How a text is compiled, whether a caller's or one that a snapshot or journal carries. */
interface SourceSettings extends Omit<CompileSettings, 'imports'> {
  readonly ceilings?: ProgramSources['ceilings'] | undefined
  readonly hostFamilies?: ReadonlySet<string>
  /** What calls of tools are held to. What snapshots and journals carry began under declarations that may be others. */
  readonly tools?: ToolTypes | null
  readonly findingsOnly?: boolean
}

/** A run as it is submitted, but for what its store adds. */
export type PreparedRun = Pick<NewRun, 'runId' | 'program' | 'tools' | 'head' | 'startedAt'>

/** Of all workers alike: a journal says where a slice ended, so the run of another worker has the same slices. */
const DURABLE_SLICES = { sliceFuel: DEFAULT_LIMITS.sliceFuel }

export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options)
}

export class Runtime {
  readonly host: Host
  readonly registry: Registry
  private readonly options: RuntimeOptions
  private readonly hashHex: (bytes: Uint8Array) => string
  private readonly std: ReadonlyMap<string, string>
  private readonly hostNames: HostNames
  /** What scripts are told about the operations of this host. */
  private readonly capabilities: HostCapabilities
  private readonly pendingResults = new PendingResults()
  private readonly keeper: RunKeeper | null
  private readonly states: (() => ReadonlyMap<string, unknown>) | null
  /** What the checker knows about builtins; the language's own table unless the host adds to it. */
  private readonly types: BuiltinSignatures | null
  private readonly rules: ConstraintRules | undefined
  private readonly approve: ReturnType<typeof readApprove> | null
  private readonly desk = new ApprovalDesk()
  private knownTools: ToolTypes | null = null

  constructor(given: RuntimeOptions) {
    const options = given.config === undefined ? given : given.config.settle(given)
    this.options = options
    this.host = new Host(options)
    this.hostNames = this.host.names
    this.states = makeStates(options)
    this.capabilities = describeCapabilities(options.capabilities ?? {})
    const own = [...coreFamilies, this.host.family(), ...(options.families ?? [])]
    const registry = createRegistry(own, laterFamilies, guardBuiltin)
    this.registry = options.builtins === undefined ? registry : restrictRegistry(registry, options.builtins, SAME_POWER)
    const added = (options.families ?? []).flatMap((family) => family.builtins)
    this.types = added.length === 0 ? null : withBuiltins(added)
    for (const name of options.grants ?? []) if (!isGrant(name)) throw new GrantError(`unknown grant ${JSON.stringify(name)}`)
    if (options.securityLevel !== undefined) requireLevel(options.securityLevel)
    this.rules = options.constraints === undefined ? undefined : makeConstraintRules(options.constraints)
    this.approve = options.approve === undefined ? null : readApprove(options.approve, this.rules)
    this.keeper = options.runs === undefined ? null : new RunKeeper(options.runs, `worker_${this.makeRunId()}`, options.clock)
    this.hashHex = options.hashHex ?? nobleHash
    this.std = new Map(Object.entries(options.std ?? {}))
  }

  /** Requests that wait for somebody, where `approve` has no function that asks: they are answered here, in any process that resumes the run. */
  get approvals(): ApprovalDesk {
    return this.desk
  }

  /** Throws CompileError and EffectCeilingError. */
  compile<Types extends ProgramTypes = AnyProgram>(source: string, settings?: CompileSettings): Module<Types>
  /** With schemas of input and result: starts are refused whose input does not fit, and a result that does not is a failure. */
  compile<const S extends ProgramSchemas>(source: string, settings: CompileSettings & S): Module<TypesOf<S>>
  compile(source: string, { input, output, ...settings }: CompileSettings & ProgramSchemas = {}): Module {
    const module = this.compileText(source, settings)
    if (input === undefined && output === undefined) return module
    return module.withSchemas({
      input: input === undefined ? null : compileSchema(input),
      output: output === undefined ? null : compileSchema(output, 'output'),
    })
  }

  /** What `compile` would find, errors as well as warnings, without making a program that can run: editors ask after each change. */
  diagnose(source: string, settings: CompileSettings = {}): readonly Diagnostic[] {
    const ceilings = settings.imports === undefined ? undefined : makeImportCeilings(settings.imports, this.rules)
    const tools = settings.checkTools === false ? null : this.toolTypes(settings.checkTools === 'complete')
    const entry: ModuleSource = { key: settings.file ?? 'script.harn', text: source }
    const found = this.compileSource(entry, this.makeCollector().resolve, { ...settings, ceilings, tools, findingsOnly: true })
    return found.diagnostics
  }

  private compileText(source: string, settings: CompileSettings): Module {
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
    const result = this.compileWith(entry, collector.resolve, { ...settings, ceilings, tools })
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
   * Raises ToolError `not_registered` or `version_mismatch` where the host does not have what the program declares, with `link: 'strict'`
   * `provider_unavailable` or `policy_violation` where it does not allow what the program can reach, and
   * `security_violation` where its manifest shows what `securityLevel` does not allow.
   */
  start<Types extends ProgramTypes = AnyProgram>(
    module: Module<Types>,
    options: StartOptions<InputOfProgram<Types>> = {},
  ): Run<OutputOfProgram<Types>> {
    const checked = checkedInput(module.schemas.input, options.input ?? null)
    const input = checked === null ? null : plainFromHost(checked)
    const runId = options.runId ?? this.makeRunId()
    const globals = mapValues(options.globals ?? {}, (value) => toPlain(value))
    const given = this.makeAuthority(options)
    const authority = module.hasCeiling ? { ...given, isHeld: true } : given
    const level = findRunLevel(authority.scopes)
    this.checkDeclared(module, options.bridge)
    if (level !== null && authority.isHeld) checkLevel(module.manifest, level, this.hostNames)
    const journal = this.keeper === null ? options.journal : this.keeper.begin(runId, options.journal)
    try {
      const run = this.launch(
        module,
        { kind: 'start', input, globals, limits: { ...DEFAULT_LIMITS, ...this.options.limits, ...options.limits } },
        { input, runId, output: '', entries: [], startedAt: null, machine: null, authority },
        journal === undefined ? options : { ...options, journal },
      )
      if (this.keeper !== null) run.keepStart()
      // The caller says the type, or a schema makes sure of it.
      return run as Run<OutputOfProgram<Types>>
    } catch (cause) {
      // A run that does not begin keeps no lease.
      if (this.keeper !== null) journal?.close?.()
      throw cause
    }
  }

  /**
   * Goes on with the runs of the store that nobody works on any more: those whose process died, or gave them back. Each is played from
   * its journal, with nothing performed, to the place where that ends; then it is a run like any other, under the grants of now. Calls
   * that were under way then are made again when that does no harm, with the same idempotency key. Raises ToolError `store_unavailable`.
   */
  recover({ onUnknownOutcome = () => 'fail', runIds, ...options }: RecoverOptions = {}): readonly Recovered[] {
    if (this.keeper === null) throw new Error('this runtime keeps no runs: createRuntime({ runs: { store } })')
    return this.keeper.recover(this.makeKeeperParts(options, null), runIds, onUnknownOutcome)
  }

  /**
   * Goes on with one run from its journal, as `recover` does with those of a store. The entries that follow go to `options.journal`, which
   * is to stand behind the old ones.
   */
  continueRecording(
    entries: readonly JournalEntry[],
    { onUnknownOutcome = () => 'fail', ...options }: Omit<RecoverOptions, 'runIds'> & { readonly journal: Journal },
  ): Exclude<Recovered, { readonly kind: 'unavailable' }> {
    const { journal, ...others } = options
    // A store is the host's own; these entries may come from anyone.
    const most = options.widen === true ? null : this.makeAuthority(options).limits
    return continueFrom(this.makeKeeperParts(others, most), entries, { decide: onUnknownOutcome, journal: () => journal })
  }

  // ---------------------------------------------------------------------------------------------------------- durable runs

  /**
   * A run for a store of durable runs (durable/worker.ts): what it is begun with, and what it may do, is written down here, and a worker
   * begins it. Raises what `start` raises.
   */
  prepareRun(module: Module, { now, ...options }: StartOptions & { readonly now: number }): PreparedRun {
    const input = plainFromHost(checkedInput(module.schemas.input, options.input ?? null))
    const runId = options.runId ?? this.makeRunId()
    const globals = mapValues(options.globals ?? {}, (value) => toPlain(value))
    const authority = this.makeAuthority(options)
    const level = findRunLevel(authority.scopes)
    this.checkDeclared(module, options.bridge)
    if (level !== null && authority.isHeld) checkLevel(module.manifest, level, this.hostNames)
    const limits = { ...DEFAULT_LIMITS, ...this.options.limits, ...options.limits, ...DURABLE_SLICES }
    const dryRun = options.dryRun === true ? { dryRun: true } : {}
    const head = { format: JOURNAL_FORMAT, runId, program: module.hash, label: module.file, authority, ...dryRun }
    return {
      runId,
      ...this.describeProgram(module),
      head: [encodeEntry({ type: 'run', ...head }), encodeEntry({ type: 'start', now, input, globals, limits })],
      startedAt: now,
    }
  }

  /** What a store keeps of a program, and the tools that its workers need. */
  describeProgram(module: Module): Pick<NewRun, 'program' | 'tools'> {
    return {
      program: { hash: module.hash, label: module.file, sources: withoutStd(module.sources) },
      tools: this.listImportedTools(module),
    }
  }

  /** The program of sources that a store keeps. Raises CompileError. */
  loadProgram(sources: ProgramSources): Module {
    return this.compileSources(sources)
  }

  /** Names of the tools and operations of this host. */
  listToolNames(): readonly string[] {
    const operations = Object.entries(this.capabilities).flatMap(([capability, { operations: own }]) =>
      Object.keys(own).map((operation) => `${capability}.${operation}`),
    )
    return [...this.host.entries.keys(), ...operations]
  }

  /** What a worker does of a run. Raises SnapshotError, JournalFormatError, and ToolError where the host lacks what the program declares. */
  openPiece(
    piece: Piece<Module>,
    {
      decide,
      ...options
    }: Pick<StartOptions, 'onEvent' | 'providers' | 'bridge' | 'latency' | 'tier' | 'grants'> & {
      readonly decide: (call: UnknownCall) => UnknownDecision
    },
  ): OpenedPiece {
    const narrow = (last: RunAuthority | null): RunAuthority => this.resumeAuthority(last, options, false)
    return openPiece<Module>(
      {
        host: this.host,
        hashHex: this.hashHex,
        check: (module, authority) => {
          narrow(authority)
          this.checkDeclared(module, options.bridge)
        },
        keeps: (authority) => authority !== null && isSameData(narrow(authority), authority),
        makers: (module, { runId, globals, limits, epilogue, branches }, authority, answer) => {
          const known = authority ?? narrow(authority)
          const settings = { runId, globals, branches, limits: { ...limits, ...DURABLE_SLICES } }
          const more = { ...options, ...settings, ...(epilogue === null ? {} : { epilogue }), authority: known }
          return this.makeMachineMakers(this.narrowModule(module, known), more, answer)
        },
        launch: (module, begin, { epilogue, ...origin }, last, drive) => {
          const { globals, limits, dryRun } = origin
          const more = { globals, limits: { ...limits, ...DURABLE_SLICES }, dryRun, ...(epilogue === null ? {} : { epilogue }) }
          return this.launch(module, begin, { ...origin, authority: narrow(last) }, { ...options, ...more, drive })
        },
      },
      piece,
      decide,
    )
  }

  /** Those that a worker must have: named in imports from the host. */
  private listImportedTools(module: Module): readonly string[] {
    if (!module.declaresTools) return []
    const known = new Set(this.listToolNames())
    const names = module.hostImports.flatMap(({ name, names: wanted }) =>
      (wanted ?? []).flatMap(({ text }) => [`${name}.${text}`, ...(name === 'tools' ? [text] : [])]),
    )
    return [...new Set(names)].filter((each) => known.has(each))
  }

  /** Raises ToolError `not_registered` or `version_mismatch`. */
  private checkDeclared(module: Module, bridge: HostBridge | undefined): void {
    // Most programs declare nothing; those that were compiled before are not compiled again to find that out.
    if (this.options.link === 'lazy' || !module.declaresTools) return
    const hasResolver = this.options.resolve !== undefined
    checkDeclarations(module, { host: this.host, hasBridge: bridge !== undefined, hasResolver })
  }

  /** `most`: limits that those of the journal do not pass; null: they are believed. */
  private makeKeeperParts(
    { widen = false, ...options }: Omit<RecoverOptions, 'onUnknownOutcome' | 'runIds'>,
    most: RunLimits | null,
  ): KeeperParts<Module> {
    const chooseLimits = ({ limits: began }: RunBeginning): Partial<Limits> => {
      const limits = { ...began, ...options.limits }
      return most === null ? limits : { ...limits, ...joinLimits(runLimits(limits), most) }
    }
    // What the run was refused then, it is refused again, or its journal would not fit.
    const chooseMakers = (
      module: Module,
      began: RunBeginning,
      answer: RunPerform,
      recorded: RunAuthority | null,
    ): MachineMakers => {
      const authority = recorded ?? withoutLimits(this.makeAuthority(options))
      const { runId, globals } = began
      const settings = { ...options, runId, globals, limits: chooseLimits(began), authority }
      return this.makeMachineMakers(this.narrowModule(module, authority), settings, answer)
    }
    return {
      host: this.host,
      hashHex: this.hashHex,
      moduleOf: (entries) => this.moduleOfRecording(entries),
      findMissingTool: (effect) => (options.bridge === undefined ? findMissingTool(effect, this.host) : null),
      check: ({ lastAuthority: last }, module) => {
        this.resumeAuthority(last, options, widen)
        this.checkDeclared(module, options.bridge)
      },
      // Those limits that it began with; its authority has the same.
      machine: (module, began, answer) =>
        chooseMakers(module, began, answer, began.authority && withoutLimits(began.authority)).fresh(),
      restored: (module, began, answer, { machine, authority }) =>
        chooseMakers(module, began, answer, {
          ...authority,
          limits: authority.limits === null ? null : joinLimits(authority.limits, most),
        }).restored(machine.snapshot()),
      launch: (module, began, state) => {
        const { runId, input, globals, startedAt, lastAuthority: last, dryRun } = began
        const { machine, output, arrived, begun, journal } = state
        const own = { ...options, limits: chooseLimits(began) }
        return this.launch(
          module,
          { kind: 'restored', arrived },
          { input, runId, output, entries: [], startedAt, machine, begun, authority: this.resumeAuthority(last, own, widen) },
          { ...own, globals, journal, dryRun },
        )
      },
    }
  }

  /** Compiles when needed, runs to the end and gives the value; throws what ended the run otherwise. */
  async run<Types extends ProgramTypes = AnyProgram>(
    source: string | Module<Types>,
    options: StartOptions<InputOfProgram<Types>> & CompileSettings = {},
  ): Promise<OutputOfProgram<Types>> {
    const module = typeof source === 'string' ? (this.compileText(source, options) as Module<Types>) : source
    return valueOf(await this.start(module, options).result)
  }

  /**
   * Goes on from a snapshot, as often as wanted: each resume is a run of its own. What was under way is asked for again, with the
   * same idempotency key. The bytes carry the program, unless they were taken with `sources: 'omit'`; then `module` is needed.
   * They carry what the run was allowed, too: it is allowed what both they and this runtime give, unless `widen` is set.
   * Raises SnapshotError for bytes that are damaged or do not fit the program, CompileError when the sources no longer compile.
   */
  resume(bytes: Uint8Array, { widen = false, ...options }: ResumeOptions = {}): Run {
    const snapshot = unpackSnapshot(bytes)
    const authority = this.resumeAuthority(snapshot.authority, options, widen)
    const module = options.module ?? this.compileSources(snapshot.sources)
    const { dryRun, globals, epilogue } = snapshot
    const merged: StartOptions = { globals, ...(epilogue === null ? {} : { epilogue }), dryRun, ...options }
    const branches = [...snapshot.branches, { ...snapshot.next, name: this.makeName() }]
    return this.launch(module, { kind: 'restored', arrived: snapshot.arrived }, { ...snapshot, branches, authority }, merged)
  }

  /** What `resume` would let a run do that it was not allowed when it was written down, in words; only `widen` lets it. */
  widenings(before: RunAuthority, options: ResumeOptions = {}): readonly string[] {
    return listWidenings(before, this.makeAuthority(options), Object.keys(EFFECTS))
  }

  /** The program of a snapshot, from the sources in it. Raises SnapshotError and CompileError. */
  moduleOfSnapshot(bytes: Uint8Array): Module {
    return this.compileSources(unpackSnapshot(bytes).sources)
  }

  /** The program of a recording, from the sources in it. Raises CompileError, and JournalFormatError when it has none. */
  moduleOfRecording(entries: readonly JournalEntry[]): Module {
    const [first] = entries
    if (first?.type !== 'run' || first.sources === undefined) throw new JournalFormatError('the journal has no sources')
    return this.compileSources(first.sources)
  }

  /** Runs a module from a journal: nothing is performed, and the first difference is reported. */
  replay(module: Module, entries: readonly JournalEntry[], options: ReplaySettings = {}): ReplayResult {
    const first = entries.find((entry) => entry.type === 'start')
    const recorded = first?.type === 'start' ? first : null
    const run = entries.find((entry) => entry.type === 'run')
    // Nothing is performed: what counts is what the run was refused then. Without a word about that, it is what the host says.
    const began = run?.type === 'run' ? (run.authority ?? null) : null
    const own = this.makeAuthority(options)
    const authority = withoutLimits(began ?? own)
    const branches = run?.type === 'run' ? (run.branches ?? []) : []
    const settings: MachineSettings = {
      authority,
      branches,
      ...(run?.type === 'run' ? { runId: run.runId } : {}),
      ...(options.tier === undefined ? {} : { tier: options.tier }),
      globals: options.globals ?? mapValues(recorded?.globals ?? {}, fromPlain),
      limits: { ...recorded?.limits, ...options.limits },
    }
    const program = this.narrowModule(module, authority)
    const recorder = options.tracing === undefined ? null : replayRecorder(options.tracing, module, entries)
    const end = replay({
      ...options,
      machine: (answer) => {
        const makers = this.makeMachineMakers(
          program,
          settings,
          answer,
          recorder === null ? {} : { trace: (record) => recorder.call(record) },
        )
        return options.machine?.(makers) ?? makers.fresh()
      },
      restored: (machine, now, answer) =>
        this.makeMachineMakers(
          this.narrowModule(module, now),
          { ...settings, authority: { ...now, limits: now.limits === null ? null : { ...now.limits, ...options.limits } } },
          answer,
        ).restored(machine.snapshot()),
      entries,
      hashHex: this.hashHex,
    })
    recorder?.end(...describeReplayEnd(end))
    if (end.kind === 'open') return { kind: 'diverged', divergence: makeUnfinished(entries.length), output: end.output }
    if (end.kind !== 'stopped') return end
    const { machine, ...stopped } = end
    const state = { arrived: [], begun: listBegunCalls(entries), startedAt: recorded?.now ?? 0, output: end.output, dryRun: [] }
    const before = findLastAuthority(entries)
    const resumed = options.widen === true ? own : before === null ? null : joinAuthorities(before, own)
    const from = {
      runId: run?.type === 'run' ? run.runId : this.makeRunId(),
      input: recorded?.input ?? null,
      branches,
      authority: resumed,
    }
    const whole = { ...settings, dryRun: run?.type === 'run' && run.dryRun === true }
    return {
      ...stopped,
      snapshot:
        machine === null
          ? null
          : () => this.pack(module, from, whole, { ...state, machine: machine.snapshot(), next: readNextNumbers(machine) }),
    }
  }

  /** Delivers the result of a tool call that answered `pending(token)`. */
  completeTool(token: string, outcome: { readonly ok: unknown } | { readonly error: string; readonly code?: string }): void {
    const delivered: ToolOutcome =
      'ok' in outcome
        ? { kind: 'result', value: plainFromHost(outcome.ok) }
        : { kind: 'failed', error: { code: outcome.code ?? 'execution_failed', message: outcome.error } }
    this.pendingResults.complete(token, delivered)
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
      ...(settings.strictness === 'full' ? { standardModules: listStdModules(this.std) } : {}),
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
  private compileSources(sources: ProgramSources | null): Module {
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

  /** Where a program of these settings is kept; null where more goes into it than an entry tells. */
  private findKeeping(settings: CompileSettings): Keeping | null {
    const { programs, globals, globalValues, extensions, families, builtins, prelude, std, constraints } = this.options
    const { file, ...others } = settings
    const isPlain =
      file !== undefined &&
      Object.values(others).every((each) => each === undefined) &&
      [families, builtins, prelude, std, constraints].every((each) => each === undefined) &&
      !this.host.isAttached &&
      Object.keys(this.host.functions).length === 0
    if (programs === undefined || !isPlain) return null
    const names = [...(globals ?? []), ...Object.keys(globalValues ?? {})]
    return { cache: programs, settings: JSON.stringify([names, extensions ?? []]) }
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

  private launch(given: Module, begin: RunParts['begin'], from: Origin, options: StartOptions & Pick<RunParts, 'drive'>): Run {
    const { options: own } = this
    const { input, runId, authority, branches = [] } = from
    const dryRun = options.dryRun ?? false
    const module = this.narrowModule(given, authority)
    const budgets = options.budgets === undefined ? null : makeBudgetScope(options.budgets)
    return new Run({
      runId,
      program: { hash: () => module.hash, label: module.file, sources: module.sources },
      machine: (answer, listeners) => {
        // Whoever brings a machine of his own looks at its effects.
        const told = options.machine === undefined ? listeners : { ...listeners, keepsCalls: () => true }
        const makers = this.makeMachineMakers(module, { ...options, runId, branches, authority }, answer, told)
        if (options.machine !== undefined) return options.machine(makers)
        return from.machine === null ? makers.fresh() : makers.restored(from.machine)
      },
      begin,
      input,
      branches,
      tracing: options.tracing ?? own.tracing?.(runId),
      host: this.host,
      bridge: options.bridge,
      providers: this.joinApprovers(joinProviders(own.providers ?? [], options.providers ?? [])),
      authority,
      ceiling: authority.scopes,
      guard: !authority.isHeld
        ? null
        : { manifest: () => module.manifest, added: this.listKinds(options.epilogue), names: this.hostNames },
      ...(begin.kind !== 'start' || own.link !== 'strict'
        ? {}
        : { checkProviders: (provided) => checkEffects(module, provided, makeGrants(authority)) }),
      pendingResults: this.pendingResults,
      scripts: own.scripts ?? {},
      dryRun,
      budgets: {
        budgets: options.budgets ?? {},
        scope: budgets === null ? -1 : authority.scopes.findLastIndex((each) => isSameData(each, budgets)),
      },
      clock: own.clock,
      random: own.random,
      trace: own.trace,
      journal: options.journal,
      hashHex: this.hashHex,
      signal: options.signal,
      onEvent: options.onEvent,
      onWaiting: options.onWaiting,
      onYield: options.onYield,
      rawResult: options.rawResult,
      integers: options.integers ?? own.integers,
      output: module.schemas.output,
      heapLimit: authority.limits?.heap ?? options.limits?.heap ?? own.limits?.heap,
      holdFrom: options.holdFrom,
      latency: options.latency,
      drive: options.drive,
      outputBefore: from.output,
      dryRunBefore: from.entries,
      startedAt: from.startedAt,
      begun: from.begun,
      pack: (state, wanted) => this.pack(module, { runId, input, branches, authority }, options, state, wanted),
    })
  }

  /** A function that asks goes before the providers of the host, and these before the desk. */
  private joinApprovers(providers: ProviderSources): ProviderSources {
    if (this.approve === null) return providers
    const { ask } = this.approve
    return ask === null ? joinProviders([this.desk.provider()], providers) : joinProviders(providers, [approvalProvider(ask)])
  }

  private pack(
    module: Module,
    from: Pick<Origin, 'runId' | 'input' | 'branches'> & { readonly authority: RunAuthority | null },
    { globals = {}, epilogue, dryRun = false }: Pick<StartOptions, 'globals' | 'epilogue' | 'dryRun'>,
    { machine, next, arrived, begun, startedAt, output, dryRun: entries }: RunState,
    { sources = 'embed' }: SnapshotOptions = {},
  ): Uint8Array {
    const embedded = sources === 'embed' ? withoutStd(module.sources) : null
    const { runId, input, authority, branches = [] } = from
    return packSnapshot({
      runId,
      sources: embedded,
      input,
      startedAt,
      machine,
      arrived,
      output,
      dryRun,
      entries,
      globals,
      epilogue: epilogue ?? null,
      authority,
      branches,
      next,
      begun,
    })
  }

  private makeMachineMakers(
    module: Module,
    options: MachineSettings,
    answer: RunPerform,
    listeners: MachineListeners = {},
  ): MachineMakers {
    return {
      fresh: (limits) => new Machine(module.program, this.makeMachineOptions(options, answer, limits, listeners)),
      restored: (bytes, limits) =>
        Machine.restore(bytes, module.program, this.makeMachineOptions(options, answer, limits, listeners)),
    }
  }

  private makeMachineOptions(
    options: MachineSettings,
    perform: RunPerform,
    limits?: Partial<Limits>,
    { trace, spans, report, keepsCalls }: MachineListeners = {},
  ): ConstructorParameters<typeof Machine>[1] {
    return {
      limits: { ...this.options.limits, ...options.limits, ...options.authority.limits, ...limits },
      perform,
      hashHex: this.hashHex,
      sha256Hex: hashSha256Hex,
      ...(options.runId === undefined ? {} : { runId: options.runId }),
      ...(this.states === null ? {} : { states: this.states }),
      ...(trace === undefined ? {} : { trace }),
      ...(spans === undefined ? {} : { spans }),
      judge: EFFECT_JUDGE,
      hostData: this.makeHostData(options, { report, keepsCalls }),
      ...(options.tier === undefined ? {} : { tier: options.tier }),
      ...(options.epilogue === undefined ? {} : { epilogue: options.epilogue }),
      ...(options.globals === undefined && this.options.globalValues === undefined
        ? {}
        : { globals: new Map(Object.entries({ ...this.options.globalValues, ...options.globals })) }),
    }
  }

  /** What families of builtins are told. */
  private makeHostData(
    { authority, branches, bridge, reportsOnly, hasInbox }: MachineSettings,
    { report, keepsCalls }: { readonly [Name in 'report' | 'keepsCalls']: MachineListeners[Name] | undefined },
  ): HostData {
    const { scopes, pins } = authority
    const { resultCache, requestDefaults, drift, onTool, standIns } = this.options
    return new HostData()
      .set(GRANT_CEILING, scopes.length === 0 ? undefined : scopes)
      .set(CONSTRAINT_RULES, this.rules)
      .set(APPROVAL_SCOPES, listApprovalScopes(scopes))
      .set(TOOL_PINS, pins === null ? undefined : new Map(Object.entries(pins)))
      .set(TOOL_LISTENER, onTool)
      .set(DRIFT_WATCH, drift)
      .set(RESULT_CACHE, resultCache)
      .set(REQUEST_DEFAULTS, requestDefaults)
      .set(STAND_INS, standIns)
      .set(HAS_INBOX, hasInbox)
      .set(RUN_BRANCHES, branches)
      .set(PRINTS_REPORTS, reportsOnly === true ? false : undefined)
      .set(REPORT_LISTENER, report)
      .set(KEEPS_CALLS, keepsCalls)
      .set(HOST_TOOLS, this.host.entries)
      .set(HAS_OTHER_HOST_TOOLS, bridge !== undefined)
      .set(HOST_NAMES, this.hostNames)
      .set(HOST_CAPABILITIES, { ...this.capabilities, ...bridge?.capabilities })
  }

  private listKinds(builtin: string | undefined): readonly string[] {
    const effects = builtin === undefined ? 'pure' : (this.registry.builtins.get(builtin)?.effects ?? 'pure')
    return effects === 'pure' ? [] : effects
  }

  /** What the runtime and these options give. */
  private makeAuthority(
    options: Pick<StartOptions, 'grants' | 'toolGrants' | 'defaultDeny' | 'securityLevel' | 'budgets' | 'limits'>,
  ): RunAuthority {
    const { grants, builtins, pins, enforceManifest, confinement, limits } = this.options
    return {
      grants: [[...(grants ?? [])], ...(options.grants === undefined ? [] : [[...options.grants]])],
      scopes: this.makeCeiling(options),
      builtins: builtins === undefined ? [] : [builtins],
      pins: pins === undefined ? null : Object.fromEntries(pins),
      isHeld: enforceManifest !== false,
      confinement: confinement?.facts ?? null,
      limits: runLimits({ ...limits, ...options.limits }),
    }
  }

  /** What a run that goes on may do. Raises SnapshotError where that cannot be said. */
  private resumeAuthority(before: RunAuthority | null, options: StartOptions, widen: boolean): RunAuthority {
    const now = this.makeAuthority(options)
    if (widen) return now
    if (before === null) {
      // Whoever says what the run may do has looked; a host that says nothing would give it everything that the host has.
      if (options.grants !== undefined) return now
      throw new SnapshotError(
        'authority',
        'it was written by a version that did not write down what the run may do: name its grants, or set widen',
      )
    }
    if (before.confinement !== null && this.options.confinement?.isWithin(before.confinement) !== true)
      throw new SnapshotError(
        'authority',
        'the run was confined further than this host confines it: give the runtime the same confinement, or set widen',
      )
    return joinAuthorities({ ...before, scopes: readHeldScopes(before, this.rules) }, now)
  }

  /** With builtins that refuse where the authority denies them and the runtime does not. */
  private narrowModule(module: Module, { builtins }: RunAuthority): Module {
    const own = JSON.stringify(this.options.builtins)
    const further = builtins.filter((list) => JSON.stringify(list) !== own)
    return further.length === 0
      ? module
      : module.linkedTo(further.reduce((registry, list) => restrictRegistry(registry, list, SAME_POWER), this.registry))
  }

  /** The runtime's grants of tools, and those that the start adds. */
  private makeCeiling(options: Pick<StartOptions, 'toolGrants' | 'defaultDeny' | 'securityLevel' | 'budgets'>): GrantCeiling {
    const ceiling: GrantScope[] = [this.options, options].flatMap(({ toolGrants, defaultDeny, securityLevel: level }) => [
      ...(toolGrants === undefined && (defaultDeny ?? false) === false
        ? []
        : [grantScope(toolGrants ?? {}, defaultDeny, this.rules)]),
      ...(level === undefined ? [] : [{ grants: {}, level: requireLevel(level) }]),
    ])
    if (this.approve !== null) ceiling.push({ grants: {}, approve: this.approve.scope })
    return options.budgets === undefined ? ceiling : [...ceiling, makeBudgetScope(options.budgets)]
  }

  /** A name that no other run has, and no secret: asking the system for its randomness loads 3 ms of Node at every start. */
  private makeRunId(): string {
    return `run_${this.makeName()}`
  }

  private makeName(): string {
    const bytes = this.options.random?.(8) ?? Uint8Array.from({ length: 8 }, () => Math.random() * 256)
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

/** Raises ToolError `invalid_args`. */
function checkedInput(schema: CompiledSchema | null, input: unknown): unknown {
  if (schema === null) return input
  const found = schema.check(input)
  if (found instanceof Promise) throw new Error('the schema of an input must check at once: it gives a promise')
  if (!found.ok) throw new ToolError('invalid_args', `the input is not as declared: ${found.path}: ${found.reason}`)
  return found.value
}

/** What machines of these options begin with. */
function makeStates({ modelFixtures: fixtures, logLevel }: RuntimeOptions): (() => ReadonlyMap<string, unknown>) | null {
  const models = fixtures === undefined ? null : modelFixtures(fixtures)
  if (logLevel === undefined) return models
  return () => new Map([...(models?.() ?? []), logLevelState(logLevel)])
}

/** Null for a run that asks nobody. */
function listApprovalScopes(scopes: GrantCeiling): readonly ApprovalScope[] | null {
  const found = scopes.flatMap(({ approve }) => (approve === undefined ? [] : [approve]))
  return found.length === 0 ? null : found
}

/** Raises GrantError: a misspelt level must not be a missing one. */
function requireLevel(level: unknown): SecurityLevel {
  if (isSecurityLevel(level)) return level
  throw new GrantError(`securityLevel: expected "safe", "restricted" or "privileged", got ${JSON.stringify(level)}`)
}

/** For a machine that has the limits that are given beside its authority. */
function withoutLimits(authority: RunAuthority): RunAuthority {
  return { ...authority, limits: null }
}

interface Keeping {
  readonly cache: ProgramCache
  readonly settings: string
}

type MachineSettings = Pick<
  StartOptions,
  'reportsOnly' | 'hasInbox' | 'runId' | 'limits' | 'globals' | 'epilogue' | 'bridge' | 'tier'
> & { readonly authority: RunAuthority; readonly branches?: readonly RunBranch[] }

function mapValues<Old, New>(record: { readonly [name: string]: Old }, change: (value: Old) => New): { [name: string]: New } {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

type RunPerform = NonNullable<ConstructorParameters<typeof Machine>[1]['perform']>

/** What a run begins with: nothing, or what a snapshot holds. */
interface Origin {
  readonly input: Plain
  readonly runId: string
  readonly output: string
  readonly entries: readonly DryRunEntry[]
  readonly startedAt: number | null
  /** What is known of calls that were begun before. */
  readonly begun?: BegunCalls
  readonly machine: Uint8Array | null
  /** Where it was gone on with before, and now; none for a run that begins. */
  readonly branches?: readonly RunBranch[]
  readonly authority: RunAuthority
}

/** A trace of a recorded run, with the run's own id and start. */
function replayRecorder(tracing: TraceOptions, module: Module, entries: readonly JournalEntry[]): TraceRecorder {
  const run = entries.find((entry) => entry.type === 'run')
  const began = entries.find((entry) => entry.type === 'start' || entry.type === 'restore')
  return new TraceRecorder(tracing, {
    runId: run?.runId ?? '',
    source: module.sources.entry.text,
    label: module.file,
    now: () => began?.now ?? 0,
    resumed: false,
  })
}

function makeUnfinished(at: number): Divergence {
  const message = 'the journal ends in the middle of the run'
  return { at, code: 'replay_exhausted', message, expected: null, actual: null, place: null }
}

function describeReplayEnd(end: ReplayEnd): [status: string, message: string | null] {
  if (end.kind !== 'ended') return ['diverged', end.kind === 'diverged' ? end.divergence.message : null]
  switch (end.end.kind) {
    case 'failed':
      return ['failed', end.end.fault.text]
    case 'limit':
      return ['limit', end.end.message]
    case 'cancelled':
      return ['cancelled', end.end.reason]
    default:
      return [end.end.kind, null]
  }
}

/** The value of a finished run; throws what ended it otherwise. */
export function valueOf<Output = Plain>(result: RunResult<Output>): Output {
  switch (result.status) {
    case 'done':
      return result.value
    case 'failed':
      throw result.error
    case 'limit':
      throw new RunStopped(result.message, result)
    case 'exit':
      throw new RunStopped(`the script ended with exit(${result.code})`, result)
    case 'cancelled':
      throw new RunStopped(`the run was cancelled: ${result.reason}`, result)
  }
}

/** A run that ended neither with a value nor with an error of its script. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped'
  readonly result: RunResult<unknown>

  constructor(message: string, result: RunResult<unknown>) {
    super(message)
    this.result = result
  }
}

function describeCapabilities(capabilities: Capabilities): HostCapabilities {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, operations]) => [
      name,
      { description: '', operations: Object.fromEntries(Object.keys(operations).map((operation) => [operation, ''])) },
    ]),
  )
}
