// What a host says to a runtime, and to each compilation, start, resume and replay.

import type { Approve } from '../tools/policy/approval-options.js'
import type { EventLogPlace } from '../library/logging/log-place.js'
import type { StandIns } from '../library/logging/stand-ins.js'
import type { CompileLimits, Strictness, StrictTypes } from '@bridle/compiler'
import type { Extension, Program } from '@bridle/parser'
import type { Machine, BuiltinFamily, BuiltinLists, Limits, CopyRecord, TierOptions, Value } from '@bridle/vm'
import type { LinkMode } from './link-check.js'
import type { DefinedTool, DriftWatch, ResultCache } from '../tools/host-slots.js'
import type { RequestDefaults } from '../library/http/request-defaults.js'
import type { SecurityLevel } from '../tools/policy/level-order.js'
import type { Grant } from './authority.js'
import type { Coverage } from './coverage.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import type { Clock } from '../library/time/host-clock.js'
import type { DrivenMachine } from './machine.js'
import type { RunEvent } from './events.js'
import type { KeyRing } from '../tools/executors/completion-keys.js'
import type { ScriptTool } from '../tools/executors/index.js'
import type { Journal } from './journal.js'
import type { ProgramCache } from './program-cache.js'
import type { ResolveModule } from './modules.js'
import type { RandomSource } from './providers/basics.js'
import type { ProviderSource, ProviderSources } from '../tools/executors/provider.js'
import type { ReplayEnd, ReplayOptions } from './replay.js'
import type { Wait } from './run.js'
import type { Budgets } from '../tools/policy/host-budgets.js'
import type { Constraint } from '../tools/policy/host-constraints.js'
import type { ImportGrants, ToolGrants } from '../tools/policy/host-grants.js'
import type { RunKeeping, UnknownCall, UnknownDecision } from './runs/worker.js'
import type { Confinement } from './run-authority.js'
import type { ToolProvider } from '../tools/host-tools/provider.js'
import type { TraceOptions } from './trace/recorder.js'
import type { HostParts } from '../tools/host-tools/host.js'
import type { Module } from './module.js'
import type { LogLevel } from '../library/effects/index.js'

/** A configuration that was read elsewhere, such as that of `loadConfig` of the `/node` entry. */
export interface RuntimeConfig {
  /** The options with what the configuration adds to them; what code says wins. */
  readonly settle: (options: RuntimeOptions) => RuntimeOptions
}

export interface RuntimeOptions extends HostParts {
  /**
   * What compiling may take of each file: `{characters, tokens, findings, checkSteps}`. More is a finding that names the limit; generous
   * by default. Holds for programs that snapshots carry, too.
   */
  readonly compileLimits?: CompileLimits
  /**
   * What `compile` refuses: `full` (the default) what is surely or nearly surely a mistake, as `bridle check` does; `language` only what the
   * language refuses (docs/embedding/runs.md). Programs that snapshots, journals and stores carry are held to `language`.
   */
  readonly strictness?: Strictness
  /** Providers, tools, servers, cache and logging of a configuration file. */
  readonly config?: RuntimeConfig
  /** Providers of tools that a configuration names. */
  readonly toolProviders?: { readonly [name: string]: ToolProvider }
  /** Log lines below it are dropped, until a script says otherwise; none are by default. */
  readonly logLevel?: LogLevel
  /** Whether, and how long by default, results of tools that say `cacheable` are kept. */
  readonly resultCache?: ResultCache
  /** Time limits, redirects and repetitions of requests whose script names none. */
  readonly requestDefaults?: RequestDefaults
  /** What answers effects: files, processes, HTTP, MCP … . None by default. A function is called at the first effect of each run. */
  readonly providers?: ProviderSources
  /** Which of these powers runs have: `['fs.read', 'http']`, `['*']`. None by default. */
  readonly grants?: readonly Grant[]
  /**
   * Whether runs are limited to the manifest of their program (module.manifest): an effect or tool that the analysis of its text
   * did not find is refused. True by default; false if the script has all the authority of the user who started it.
   */
  readonly enforceManifest?: boolean
  /**
   * What a start makes sure of before the first instruction: `declared` (the default) that every alias of a tool stands for a tool of the
   * version asked for, and that the host offers what is imported from it; `strict` also that every effect of the manifest has a provider
   * and a grant; `lazy` nothing (docs/embedding/host-tools.md).
   */
  readonly link?: LinkMode
  readonly limits?: Partial<Limits>
  /** Default type of ints beyond ±2^53 in results: `bigint` (the default, exact) or the nearest `number`. */
  readonly integers?: 'bigint' | 'number'
  /** Finds modules beside `std/` and `host/`. */
  readonly resolve?: ResolveModule
  /** Further standard modules, by the name behind `std/`. */
  readonly std?: { readonly [name: string]: string }
  /** Further builtins. */
  readonly families?: readonly BuiltinFamily[]
  /** Names that scripts can read everywhere, such as `argv`; their values come with each start. */
  readonly globals?: readonly string[]
  /** The same with values that every run has. */
  readonly globalValues?: { readonly [name: string]: Value }
  /** Answers of models, as JSON lines with the keys of `llm_mock`: while there are any, no model call leaves the run. */
  readonly modelFixtures?: string
  /** Keeps the journal of every run where `recover` finds it, so that runs outlive their process. */
  readonly runs?: RunKeeping
  readonly clock?: Clock
  readonly random?: RandomSource
  /**
   * Secrets that sign completion keys and keys of events. The same ones in every process that continues with the runs; a store of durable runs has
   * one of its own where the host names none.
   */
  readonly keys?: KeyRing
  /** BLAKE3 as lower-case hex; a faster one than the default is in the `/node` entry. */
  readonly hashHex?: (bytes: Uint8Array) => string
  readonly trace?: (name: string, attributes: unknown) => void
  /** Where the trace of each run goes (docs/tools/trace.md); none when absent. */
  readonly tracing?: (runId: string) => TraceOptions
  /** What tools may be used with, by alias, tool id, family or pattern (docs/tools/grants.md). Scripts can only narrow it. */
  readonly toolGrants?: ToolGrants
  /** Refuses every tool call that no key of `toolGrants` names; `effects`: only what reaches the world through builtins. */
  readonly defaultDeny?: boolean | 'effects'
  /**
   * Refuses tools, and what builtins do outside of the run, that need a higher one: `safe`, `restricted`, `privileged`
   * (docs/tools/grants.md). Starts can only lower it.
   */
  readonly securityLevel?: SecurityLevel
  /**
   * Which calls of scripts need approval, by tool, effect, side effect, level or arguments, and who asks
   * (docs/tools/approvals.md). Without a function the run waits for an answer through `runtime.approvals`. This option grants no power.
   */
  readonly approve?: Approve
  /**
   * What may answer in place of people: by default nothing does, so that no script approves what it asks for itself. `mocks` and
   * `script` are for scripts under test (docs/tools/approvals.md).
   */
  readonly standIns?: StandIns
  /** Whether a provider of `event_log.op` keeps the event log of runs; by default it is in the run alone. */
  readonly eventLog?: EventLogPlace
  /** Constraints of grants with a meaning of the host's own: defineConstraint. */
  readonly constraints?: readonly Constraint[]
  /** Builtins that refuse to run, or the only ones that do. */
  readonly builtins?: BuiltinLists
  /**
   * What the providers confine runs to, for hosts that make snapshots under one confinement and resume them under another: a snapshot
   * whose confinement is not known to be as wide is refused (docs/embedding/snapshots.md).
   */
  readonly confinement?: Confinement
  /** Hashes of the only tools that may be called, as `bridle tools lock` writes them. */
  readonly pins?: ReadonlyMap<string, string>
  /** What results of tools are watched for; driftGuard makes it of a lock file (docs/tools/lock.md). */
  readonly drift?: DriftWatch
  /** Receives every tool that a program defines. */
  readonly onTool?: (tool: DefinedTool) => void
  /** Modules that run before every program, such as `std/NAME` of `std`; they bind nothing in it. */
  readonly prelude?: readonly string[]
  /** Keeps compiled programs between processes (`programFiles` of the `/node` entry); none are kept when absent. */
  readonly programs?: ProgramCache
  /** Counts which statements, functions and branches run. Compiled programs are not taken from `programs` then. */
  readonly coverage?: Coverage
  /** Extensions of the language that all files may use without asking for them. */
  readonly extensions?: readonly Extension[]
  /** Tools with script bodies that are called from outside a run. */
  readonly scripts?: { readonly [name: string]: ScriptTool }
}

/** Of everything that continues a run: it has no more power than it had, unless the host says so. */
export interface ResumeAuthority {
  /** The run has what the runtime and these options give, also where it had less before. */
  readonly widen?: boolean
}

export interface ResumeOptions extends Omit<StartOptions, 'input' | 'runId'>, ResumeAuthority {
  readonly module?: Module
}

export interface RecoverOptions
  extends Omit<StartOptions, 'input' | 'runId' | 'journal' | 'machine' | 'dryRun' | 'globals'>, ResumeAuthority {
  /** Decides about calls that may have happened and may not be repeated; `fail` when absent. */
  readonly onUnknownOutcome?: (call: UnknownCall) => UnknownDecision
  /** Only these. */
  readonly runIds?: readonly string[]
}

export interface ReplaySettings
  extends
    Pick<
      StartOptions,
      | 'limits'
      | 'globals'
      | 'tier'
      | 'machine'
      | 'tracing'
      | 'grants'
      | 'toolGrants'
      | 'defaultDeny'
      | 'securityLevel'
      | 'budgets'
    >,
    Pick<ReplayOptions, 'until' | 'edits' | 'output' | 'isOpen'>,
    ResumeAuthority {}

/** As ReplayEnd; a replay that was stopped can continue as its own run: `runtime.resume(result.snapshot())`. */
export type ReplayResult =
  | Exclude<ReplayEnd, { readonly kind: 'stopped' | 'open' }>
  | (Omit<Extract<ReplayEnd, { readonly kind: 'stopped' }>, 'machine'> & {
      /** Null when the run ended without waiting for the call. */
      readonly snapshot: (() => Uint8Array) | null
    })

export interface CompileSettings {
  /** Name in messages and base of relative imports; a path for hosts with files. */
  readonly file?: string
  readonly strict?: StrictTypes
  /** Whether calls of builtins of the language that Bridle does not have are errors; a run that never makes them needs none. */
  readonly refuseMissing?: boolean
  /** That of the runtime when absent. */
  readonly strictness?: Strictness
  /** The pipeline to run, instead of `default` or the first one. */
  readonly pipeline?: string
  /** `declared-only` (the default) checks the effect rows and grants that the file declares; `strict` also gives advice. */
  readonly effects?: 'strict' | 'declared-only' | 'off'
  /** The effects that the program may reach (`['http', 'time']`). A program that can do more is refused: EffectCeilingError. */
  readonly allowEffects?: readonly string[]
  /**
   * What imported modules may do, by the path of the import as it is written, or by the key of the module: `{ './pkg': { allowEffects:
   * ['fs.read'], grants: { 'fs.*': { path: 'data' } } } }`. Holds for all that the module imports, too; `@grant_import` narrows further.
   */
  readonly imports?: ImportGrants
  /**
   * Whether calls of the host's tools and functions are held to their schemas: `price({article: 5})` is an error of compiling then. True by
   * default; false leaves all of it to the run (docs/embedding/host-tools.md). `complete`: runs have no tools beside these, so that a call of
   * another one is an error, too.
   */
  readonly checkTools?: boolean | 'complete'
  /** The tree of the source, when the caller has parsed it already. */
  readonly parsed?: Program
  /** As in RuntimeOptions, for this program. */
  readonly compileLimits?: CompileLimits
}

export interface StartOptions<Input = unknown> {
  /** Read by `runtime_pipeline_input()`; any data. */
  readonly input?: Input
  /** What ints beyond ±2^53 are in the result: `bigint` (the default, exact) or the nearest `number`. */
  readonly integers?: 'bigint' | 'number'
  /** Narrows the grants of the runtime. */
  readonly grants?: readonly Grant[]
  /** Narrow what tools may be used with, as in RuntimeOptions. */
  readonly toolGrants?: ToolGrants
  readonly defaultDeny?: boolean | 'effects'
  /** Lowers that of the runtime, as in RuntimeOptions. */
  readonly securityLevel?: SecurityLevel
  /** Limits on the number and cost of tool calls; `run.budgets` has the rest. */
  readonly budgets?: Budgets
  readonly limits?: Partial<Limits>
  readonly signal?: AbortSignal
  readonly journal?: Journal
  /** Traces the run, in place of what the runtime says. */
  readonly tracing?: TraceOptions
  /** Performs reading effects and records the others; the list is `result.wouldHaveDone`. */
  readonly dryRun?: boolean
  readonly onEvent?: (event: RunEvent) => void
  /** `progress(…)` and the log functions are events of type `report` only, and print nothing. */
  readonly reportsOnly?: boolean
  /**
   * A person may send messages to agent loops while they work: a provider of `approval.ask` answers the kind `messages`,
   * payload {session_id, at: turn | end}, with a list of texts. Given again with a replay.
   */
  readonly hasInbox?: boolean
  /** Called whenever no task can continue before an answer or a timer: the place to take a snapshot. */
  readonly onWaiting?: (wait: Wait) => void
  /** Called whenever the machine stops and the run is not over, before its output is delivered. */
  readonly onYield?: () => void
  /** The host reads only `raw` of the result: `value` is null then, and a value that cannot leave the machine is no failure. */
  readonly rawResult?: boolean
  /** Calls from this number on are not performed: the run waits in front of them, for a snapshot to be taken. */
  readonly holdFrom?: number
  /** What the answer of a call waits for before it is delivered; for simulations of slow and fast services. */
  readonly latency?: (id: number) => Promise<void>
  readonly globals?: { readonly [name: string]: Value }
  /** A builtin that the run continues with when the program has ended well (vm.ts). */
  readonly epilogue?: string
  /** A host in another process (the `/bridge` entry), for tools and operations that this one does not define. */
  readonly bridge?: HostBridge
  /** Replaces or adds providers for this run. */
  readonly providers?: readonly ProviderSource[]
  readonly runId?: string
  /** When code is compiled to JavaScript; null: never. By default hot code is, where the host allows it. */
  readonly tier?: TierOptions | null
  /** Receives every copy of a container that may be shared. The whole run is then in the base tier. */
  readonly copies?: (copy: CopyRecord) => void
  /** Puts another machine in the place of the plain one: for tools that stop, restore or watch it at every step. */
  readonly machine?: (makers: MachineMakers) => DrivenMachine
}

/** Makes machines of one run, all with the same program, options and answers. */
export interface MachineMakers {
  readonly fresh: (limits?: Partial<Limits>) => Machine
  readonly restored: (bytes: Uint8Array, limits?: Partial<Limits>) => Machine
}
