// `createRuntime`: what a program embeds. A runtime is the host's side of scripts: its tools and functions, the powers it
// gives, limits. It compiles modules and starts runs; a run never shares state with another.

import { DEFAULT_LIMITS, createRegistry, restrictRegistry, toPlain } from '@bridle/vm'
import { readApprove } from '../tools/policy/approval-options.js'
import { ApprovalDesk, approvalProvider } from '../tools/policy/host-approval.js'
import type { Diagnostic } from '@bridle/parser'
import { guardBuiltin } from '../tools/policy/guard.js'
import { SAME_POWER } from '../tools/policy/builtins.js'
import { findRunLevel } from '../tools/policy/level-order.js'
import { checkLevel } from './level-guard.js'
import { checkDeclarations, checkEffects } from './link-check.js'
import type { Plain, Registry } from '@bridle/vm'
import type { HostNames } from '../tools/dispatch/identity.js'
import { isGrant, makeGrants } from './authority.js'
import { GrantError } from '../tools/policy/grant-error.js'
import { coreFamilies, laterFamilies } from './families/all.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import { checkKeyRing, describeResolution, mintKey, readKey } from '../tools/executors/completion-keys.js'
import type { KeyRing, Resolution, Resolved } from '../tools/executors/completion-keys.js'
import { PendingResults, scopeToken } from '../tools/executors/pending.js'
import type { ToolOutcome } from '../tools/executors/index.js'
import { hashHex as nobleHash } from './hash.js'
import { JOURNAL_FORMAT } from './journal-format.js'
import { JournalFormatError, encodeEntry } from './journal.js'
import type { Journal, JournalEntry } from './journal.js'
import { withoutStd } from './modules.js'
import type { ProgramSources } from './modules.js'
import { joinProviders } from '../tools/executors/provider.js'
import type { ProviderSources } from '../tools/executors/provider.js'
import type { OpenedPiece, Piece } from './durable/pieces.js'
import type { NewRun } from './durable/store.js'
import { compileUndo } from './durable/undo-script.js'
import { Run, findComplaint } from './run.js'
import type { UndoCall } from '../tools/dispatch/note-state.js'
import { ProgramCompiler } from './program-compiler.js'
import { makeKeeperParts, openDurablePiece, replayRecording } from './recordings.js'
import type { Origin, RecordingParts } from './recordings.js'
import { RunAuthorities, requireLevel } from './run-authorities.js'
import { RunMachines } from './run-machines.js'
import type { RunParts, RunResult, RunState, SnapshotOptions } from './run.js'
import { makeBudgetScope } from '../tools/policy/host-budgets.js'
import { makeConstraintRules } from '../tools/policy/host-constraints.js'
import { RunKeeper, continueFrom } from './runs/keeper.js'
import type { Recovered } from './runs/keeper.js'
import { isSameData, listWidenings } from './run-authority.js'
import { DURABLE_SLICES } from './run-limits.js'
import type { RunAuthority } from './run-authority.js'
import { packSnapshot, unpackSnapshot } from './snapshot.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { compileSchema } from '../tools/host-tools/schema.js'
import type { CompiledSchema } from '../tools/host-tools/schema.js'
import { Host } from '../tools/host-tools/host.js'
import { EFFECTS } from '../library/effects/index.js'
import type { ProgramTypes, AnyProgram, InputOfProgram, OutputOfProgram, ProgramSchemas, TypesOf } from './module.js'
import type { Module } from './module.js'
import type {
  RuntimeOptions,
  ResumeOptions,
  RecoverOptions,
  ReplaySettings,
  ReplayResult,
  CompileSettings,
  StartOptions,
} from './runtime-options.js'

/** A run as it is submitted, but for what its store adds. */
export type PreparedRun = Pick<NewRun, 'runId' | 'program' | 'tools' | 'head' | 'startedAt'>

export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options)
}

export class Runtime {
  readonly host: Host
  readonly registry: Registry
  private readonly options: RuntimeOptions
  private readonly hashHex: (bytes: Uint8Array) => string
  private readonly hostNames: HostNames
  private readonly pendingResults = new PendingResults()
  private readonly keeper: RunKeeper | null
  private readonly approve: ReturnType<typeof readApprove> | null
  private desk: ApprovalDesk | null = null
  private ownKeys: KeyRing | null = null
  private readonly compiler: ProgramCompiler
  private readonly authorities: RunAuthorities
  private readonly machines: RunMachines
  private readonly recordings: RecordingParts

  constructor(given: RuntimeOptions) {
    const options = given.config === undefined ? given : given.config.settle(given)
    this.options = options
    this.host = new Host(options)
    this.hostNames = this.host.names
    const counters = options.coverage === undefined ? [] : [options.coverage.family]
    const own = [...coreFamilies, this.host.family(), ...counters, ...(options.families ?? [])]
    const registry = createRegistry(own, laterFamilies, guardBuiltin)
    this.registry = options.builtins === undefined ? registry : restrictRegistry(registry, options.builtins, SAME_POWER)
    for (const name of options.grants ?? []) if (!isGrant(name)) throw new GrantError(`unknown grant ${JSON.stringify(name)}`)
    if (options.keys !== undefined) checkKeyRing(options.keys)
    if (options.securityLevel !== undefined) requireLevel(options.securityLevel)
    const rules = options.constraints === undefined ? undefined : makeConstraintRules(options.constraints)
    this.approve = options.approve === undefined ? null : readApprove(options.approve, rules)
    this.keeper = options.runs === undefined ? null : new RunKeeper(options.runs, `worker_${this.makeRunId()}`, options.clock)
    this.hashHex = options.hashHex ?? nobleHash
    const parts = { options, host: this.host, registry: this.registry, rules, hashHex: this.hashHex }
    this.compiler = new ProgramCompiler(parts)
    this.authorities = new RunAuthorities(options, rules, this.approve?.scope ?? null)
    this.machines = new RunMachines(parts)
    this.recordings = {
      host: this.host,
      hashHex: this.hashHex,
      authorities: this.authorities,
      machines: this.machines,
      checkDeclared: (module, bridge) => this.checkDeclared(module, bridge),
      moduleOfRecording: (entries) => this.moduleOfRecording(entries),
      makeRunId: () => this.makeRunId(),
      launch: (module, begin, from, more) => this.launch(module, begin, from, more),
      pack: (module, from, more, state) => this.pack(module, from, more, state),
    }
  }

  /** Waiting requests if `approve` has no function that asks. Answer them here, in any process that resumes the run. */
  get approvals(): ApprovalDesk {
    return (this.desk ??= new ApprovalDesk())
  }

  /** Throws CompileError; that is an EffectCeilingError for a program that is right and may do too much. */
  compile<Types extends ProgramTypes = AnyProgram>(source: string, settings?: CompileSettings): Module<Types>
  /** With schemas of input and result: starts are refused whose input does not fit, and a result that does not is a failure. */
  compile<const S extends ProgramSchemas>(source: string, settings: CompileSettings & S): Module<TypesOf<S>>
  compile(source: string, { input, output, ...settings }: CompileSettings & ProgramSchemas = {}): Module {
    const module = this.compiler.compile(source, settings)
    if (input === undefined && output === undefined) return module
    return module.withSchemas({
      input: input === undefined ? null : compileSchema(input),
      output: output === undefined ? null : compileSchema(output, 'output'),
    })
  }

  /** What `compile` would find, errors as well as warnings, without making a program that can run: editors ask after each change. */
  diagnose(source: string, settings: CompileSettings = {}): readonly Diagnostic[] {
    return this.compiler.diagnose(source, settings)
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
    const given = this.authorities.make(options)
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
   * Continues runs of the store without a worker: those whose process died, or gave them back. Each is replayed from
   * its journal, with nothing performed, to the place where that ends; then it is a run like any other, under the grants of now. Calls
   * that were under way then are made again when that does no harm, with the same idempotency key. Raises ToolError `store_unavailable`.
   */
  recover({ onUnknownOutcome = () => 'fail', runIds, ...options }: RecoverOptions = {}): readonly Recovered[] {
    if (this.keeper === null) throw new Error('this runtime keeps no runs: createRuntime({ runs: { store } })')
    return this.keeper.recover(makeKeeperParts(this.recordings, options, null), runIds, onUnknownOutcome)
  }

  /**
   * Continues one run from its journal, as `recover` does with those of a store. The entries that follow go to `options.journal`, which
   * is to stand behind the old ones.
   */
  continueRecording(
    entries: readonly JournalEntry[],
    { onUnknownOutcome = () => 'fail', ...options }: Omit<RecoverOptions, 'runIds'> & { readonly journal: Journal },
  ): Exclude<Recovered, { readonly kind: 'unavailable' }> {
    const { journal, ...others } = options
    // A store is the host's own; these entries may come from anyone.
    const most = options.widen === true ? null : this.authorities.make(options).limits
    return continueFrom(makeKeeperParts(this.recordings, others, most), entries, {
      decide: onUnknownOutcome,
      journal: () => journal,
    })
  }

  // ---------------------------------------------------------------------------------------------------------- durable runs

  /**
   * A run for a store of durable runs (durable/worker.ts): its input and authority are recorded here, and a worker
   * begins it. Raises what `start` raises.
   */
  /** `as`: with the powers of another run, instead of those that the host and the options give. */
  prepareRun(
    module: Module,
    { now, as, ...options }: StartOptions & { readonly now: number; readonly as?: RunAuthority | undefined },
  ): PreparedRun {
    const input = plainFromHost(checkedInput(module.schemas.input, options.input ?? null))
    const runId = options.runId ?? this.makeRunId()
    const globals = mapValues(options.globals ?? {}, (value) => toPlain(value))
    const authority = as ?? this.authorities.make(options)
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
    return this.compiler.compileSources(sources)
  }

  /** Names of the tools and operations of this host. */
  listToolNames(): readonly string[] {
    const operations = Object.entries(this.machines.capabilities).flatMap(([capability, { operations: own }]) =>
      Object.keys(own).map((operation) => `${capability}.${operation}`),
    )
    return [...this.host.entries.keys(), ...operations]
  }

  /** What a worker does of a run. Raises SnapshotError, JournalFormatError, and ToolError where the host lacks what the program declares. */
  openPiece(piece: Piece<Module>, options: Parameters<typeof openDurablePiece>[2]): OpenedPiece {
    return openDurablePiece(this.recordings, piece, options)
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

  /** Compiles when needed, runs to the end and gives the value; throws what ended the run otherwise. */
  async run<Types extends ProgramTypes = AnyProgram>(
    source: string | Module<Types>,
    options: StartOptions<InputOfProgram<Types>> & CompileSettings = {},
  ): Promise<OutputOfProgram<Types>> {
    const module = typeof source === 'string' ? (this.compiler.compile(source, options) as Module<Types>) : source
    return valueOf(await this.start(module, options).result)
  }

  /**
   * Continues from a snapshot, as often as wanted: each resume is its own run. Effects in progress are requested again, with the
   * same idempotency key. The bytes carry the program, unless they were taken with `sources: 'omit'`; then `module` is needed.
   * They carry what the run was allowed, too: it is allowed what both they and this runtime give, unless `widen` is set.
   * Raises SnapshotError for bytes that are damaged or do not fit the program, CompileError when the sources no longer compile.
   */
  resume(bytes: Uint8Array, { widen = false, ...options }: ResumeOptions = {}): Run {
    const snapshot = unpackSnapshot(bytes)
    const authority = this.authorities.resume(snapshot.authority, options, widen)
    const module = options.module ?? this.compiler.compileSources(snapshot.sources)
    const { dryRun, globals, epilogue } = snapshot
    const merged: StartOptions = { globals, ...(epilogue === null ? {} : { epilogue }), dryRun, ...options }
    const branches = [...snapshot.branches, { ...snapshot.next, name: this.makeName() }]
    return this.launch(module, { kind: 'restored', arrived: snapshot.arrived }, { ...snapshot, branches, authority }, merged)
  }

  /** The powers that `resume` would add to those of the snapshot, in words; only `widen` adds them. */
  widenings(before: RunAuthority, options: ResumeOptions = {}): readonly string[] {
    return listWidenings(before, this.authorities.make(options), Object.keys(EFFECTS))
  }

  /** The program of a snapshot, from the sources in it. Raises SnapshotError and CompileError. */
  moduleOfSnapshot(bytes: Uint8Array): Module {
    return this.compiler.compileSources(unpackSnapshot(bytes).sources)
  }

  /** The program of a recording, from the sources in it. Raises CompileError, and JournalFormatError when it has none. */
  moduleOfRecording(entries: readonly JournalEntry[]): Module {
    const [first] = entries
    if (first?.type !== 'run' || first.sources === undefined) throw new JournalFormatError('the journal has no sources')
    return this.compiler.compileSources(first.sources)
  }

  /** Runs a module from a journal: nothing is performed, and the first difference is reported. */
  replay(module: Module, entries: readonly JournalEntry[], options: ReplaySettings = {}): ReplayResult {
    return replayRecording(this.recordings, module, entries, options)
  }

  /** Delivers the result of a tool call that answered `pending(token)`. */
  completeTool(token: string, outcome: { readonly ok: unknown } | { readonly error: string; readonly code?: string }): void {
    const delivered: ToolOutcome =
      'ok' in outcome
        ? { kind: 'result', value: plainFromHost(outcome.ok) }
        : { kind: 'failed', error: { code: outcome.code ?? 'execution_failed', message: outcome.error } }
    this.pendingResults.complete(token, delivered)
  }

  /** Sends a run of this process a signal: `await_signal(name)` of std/durable gets them in order. */
  signal(runId: string, name: string, value: unknown = null): void {
    this.pendingResults.signal(runId, name, { kind: 'result', value: plainFromHost(value) })
  }

  /** The host's own secrets for keys; null: it named none. */
  get keys(): KeyRing | null {
    return this.options.keys ?? null
  }

  /** Keys of a host that named no secrets are good in this process only, as its runs are. */
  private readRing(): KeyRing {
    if (this.keys !== null) return this.keys
    this.ownKeys ??= { current: 'process', secrets: { process: crypto.getRandomValues(new Uint8Array(32)) } }
    return this.ownKeys
  }

  /**
   * Answers what a key of a run in this process was handed out for: an event that a tool waits for, or a call that returned `pending()`.
   * The first answer counts, also one that comes before the wait.
   */
  resolveEvent(key: string, resolution: Resolution): Resolved {
    const target = readKey(this.readRing(), key)
    if (target === null) return 'unknown'
    const { runId, token } = target
    let outcome: ToolOutcome
    if (typeof resolution === 'object' && 'ok' in resolution) outcome = { kind: 'result', value: plainFromHost(resolution.ok) }
    else {
      const { error, code } = describeResolution(token, resolution)
      outcome = { kind: 'failed', error: { code, message: error } }
    }
    return this.pendingResults.resolve(scopeToken(runId, token), outcome) === 'kept' ? 'accepted' : 'already_resolved'
  }

  private launch(given: Module, begin: RunParts['begin'], from: Origin, options: StartOptions & Pick<RunParts, 'drive'>): Run {
    const { options: own } = this
    const { input, runId, authority, branches = [] } = from
    const dryRun = options.dryRun ?? false
    const module = this.machines.narrow(given, authority)
    const budgets = options.budgets === undefined ? null : makeBudgetScope(options.budgets)
    return new Run({
      runId,
      program: { hash: () => module.hash, label: module.file, sources: module.sources },
      machine: (answer, listeners) => {
        // A caller with a custom machine checks its effects itself.
        const told = options.machine === undefined ? listeners : { ...listeners, keepsCalls: () => true }
        const makers = this.machines.makers(module, { ...options, runId, branches, authority }, answer, told)
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
      mint: (token) => mintKey(this.readRing(), { runId, token }),
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
      undo: (undos) => this.undo(`${runId}/undo`, undos, authority, options),
      outputBefore: from.output,
      dryRunBefore: from.entries,
      startedAt: from.startedAt,
      begun: from.begun,
      pack: (state, wanted) => this.pack(module, { runId, input, branches, authority }, options, state, wanted),
    })
  }

  /** What could not be undone, as text; null when all of it was. */
  private async undo(
    runId: string,
    undos: readonly UndoCall[],
    authority: RunAuthority,
    { providers, bridge, onEvent }: StartOptions,
  ): Promise<string | null> {
    const input = undos as unknown as Plain
    const run = this.launch(
      compileUndo(this),
      { kind: 'start', input, globals: {}, limits: { ...DEFAULT_LIMITS, ...this.options.limits } },
      { input, runId, output: '', entries: [], startedAt: null, machine: null, authority },
      {
        ...(providers === undefined ? {} : { providers }),
        ...(bridge === undefined ? {} : { bridge }),
        ...(onEvent === undefined ? {} : { onEvent }),
      },
    )
    return findComplaint(await run.result)
  }

  /** A function that asks goes before the providers of the host, and these before the desk. */
  private joinApprovers(providers: ProviderSources): ProviderSources {
    if (this.approve === null) return providers
    const { ask } = this.approve
    return ask === null
      ? joinProviders([this.approvals.provider()], providers)
      : joinProviders(providers, [approvalProvider(ask)])
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

  private listKinds(builtin: string | undefined): readonly string[] {
    const effects = builtin === undefined ? 'pure' : (this.registry.builtins.get(builtin)?.effects ?? 'pure')
    return effects === 'pure' ? [] : effects
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

function mapValues<Old, New>(record: { readonly [name: string]: Old }, change: (value: Old) => New): { [name: string]: New } {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
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
