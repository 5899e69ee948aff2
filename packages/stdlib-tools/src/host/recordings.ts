// Runs that continue from records: replays, runs whose process ended, pieces of durable runs. Apart from runtime.ts, because a
// run that begins needs none of it.

import type { RunBranch } from '../tools/dispatch/branches.js'
import { fromPlain } from '@bridle/vm'
import type { Limits, Plain } from '@bridle/vm'
import { openPiece } from './durable/pieces.js'
import type { OpenedPiece, Piece } from './durable/pieces.js'
import type { DryRunEntry } from './dry-run.js'
import { findLastAuthority } from './journal.js'
import type { JournalEntry } from './journal.js'
import { readNextNumbers } from './machine.js'
import type { BegunCalls } from './machine.js'
import type { Module } from './module.js'
import { replay } from './replay.js'
import type { Divergence, ReplayEnd } from './replay.js'
import type { RunAuthorities } from './run-authorities.js'
import { isSameData, joinAuthorities } from './run-authority.js'
import type { RunAuthority } from './run-authority.js'
import { DURABLE_SLICES, joinLimits, runLimits } from './run-limits.js'
import type { RunLimits } from './run-limits.js'
import type { MachineSettings, RunMachines, RunPerform } from './run-machines.js'
import type { Run, RunParts, RunState } from './run.js'
import type { KeeperParts, RunBeginning } from './runs/keeper.js'
import { findMissingTool, listBegunCalls } from './runs/worker.js'
import type { UnknownCall, UnknownDecision } from './runs/worker.js'
import type { MachineMakers, RecoverOptions, ReplayResult, ReplaySettings, StartOptions } from './runtime-options.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import type { Host } from '../tools/host-tools/host.js'
import { TraceRecorder } from './trace/recorder.js'
import type { TraceOptions } from './trace/recorder.js'

/** What continues with runs needs of the runtime. */
export interface RecordingParts {
  readonly host: Host
  readonly hashHex: (bytes: Uint8Array) => string
  readonly authorities: RunAuthorities
  readonly machines: RunMachines
  /** Raises ToolError where the host lacks what the program declares. */
  readonly checkDeclared: (module: Module, bridge: HostBridge | undefined) => void
  readonly moduleOfRecording: (entries: readonly JournalEntry[]) => Module
  readonly makeRunId: () => string
  readonly launch: (
    module: Module,
    begin: RunParts['begin'],
    from: Origin,
    options: StartOptions & Pick<RunParts, 'drive'>,
  ) => Run
  readonly pack: (
    module: Module,
    from: Pick<Origin, 'runId' | 'input' | 'branches'> & { readonly authority: RunAuthority | null },
    options: Pick<StartOptions, 'globals' | 'epilogue' | 'dryRun'>,
    state: RunState,
  ) => Uint8Array
}

/** What a run begins with: nothing, or what a snapshot holds. */
export interface Origin {
  readonly input: Plain
  readonly runId: string
  readonly output: string
  readonly entries: readonly DryRunEntry[]
  readonly startedAt: number | null
  /** The state of calls that were begun before. */
  readonly begun?: BegunCalls
  readonly machine: Uint8Array | null
  /** Where it was continued before, and now; none for a run that begins. */
  readonly branches?: readonly RunBranch[]
  readonly authority: RunAuthority
}

/** `most`: limits that those of the journal do not pass; null: they are believed. */
export function makeKeeperParts(
  parts: RecordingParts,
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
    const authority = recorded ?? withoutLimits(parts.authorities.make(options))
    const { runId, globals } = began
    const settings = { ...options, runId, globals, limits: chooseLimits(began), authority }
    return parts.machines.makers(parts.machines.narrow(module, authority), settings, answer)
  }
  return {
    host: parts.host,
    hashHex: parts.hashHex,
    moduleOf: (entries) => parts.moduleOfRecording(entries),
    findMissingTool: (effect) => (options.bridge === undefined ? findMissingTool(effect, parts.host) : null),
    check: ({ lastAuthority: last }, module) => {
      parts.authorities.resume(last, options, widen)
      parts.checkDeclared(module, options.bridge)
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
      return parts.launch(
        module,
        { kind: 'restored', arrived },
        { input, runId, output, entries: [], startedAt, machine, begun, authority: parts.authorities.resume(last, own, widen) },
        { ...own, globals, journal, dryRun },
      )
    },
  }
}

/** What a worker does of a run. Raises SnapshotError, JournalFormatError, and ToolError where the host lacks what the program declares. */
export function openDurablePiece(
  parts: RecordingParts,
  piece: Piece<Module>,
  {
    decide,
    ...options
  }: Pick<StartOptions, 'onEvent' | 'providers' | 'bridge' | 'latency' | 'tier' | 'grants'> & {
    readonly decide: (call: UnknownCall) => UnknownDecision
  },
): OpenedPiece {
  const narrow = (last: RunAuthority | null): RunAuthority => parts.authorities.resume(last, options, false)
  return openPiece<Module>(
    {
      host: parts.host,
      hashHex: parts.hashHex,
      check: (module, authority) => {
        narrow(authority)
        parts.checkDeclared(module, options.bridge)
      },
      keeps: (authority) => authority !== null && isSameData(narrow(authority), authority),
      makers: (module, { runId, globals, limits, epilogue, branches }, authority, answer) => {
        const known = authority ?? narrow(authority)
        const settings = { runId, globals, branches, limits: { ...limits, ...DURABLE_SLICES } }
        const more = { ...options, ...settings, ...(epilogue === null ? {} : { epilogue }), authority: known }
        return parts.machines.makers(parts.machines.narrow(module, known), more, answer)
      },
      launch: (module, begin, { epilogue, ...origin }, last, drive) => {
        const { globals, limits, dryRun } = origin
        const more = { globals, limits: { ...limits, ...DURABLE_SLICES }, dryRun, ...(epilogue === null ? {} : { epilogue }) }
        return parts.launch(module, begin, { ...origin, authority: narrow(last) }, { ...options, ...more, drive })
      },
    },
    piece,
    decide,
  )
}

/** Runs a module from a journal: nothing is performed, and the first difference is reported. */
export function replayRecording(
  parts: RecordingParts,
  module: Module,
  entries: readonly JournalEntry[],
  options: ReplaySettings,
): ReplayResult {
  const first = entries.find((entry) => entry.type === 'start')
  const recorded = first?.type === 'start' ? first : null
  const run = entries.find((entry) => entry.type === 'run')
  // Nothing is performed: what counts is what the run was refused then. Without a word about that, it is what the host says.
  const began = run?.type === 'run' ? (run.authority ?? null) : null
  const own = parts.authorities.make(options)
  const authority = withoutLimits(began ?? own)
  const branches = run?.type === 'run' ? (run.branches ?? []) : []
  const settings: MachineSettings = {
    authority,
    branches,
    ...(run?.type === 'run' ? { runId: run.runId } : {}),
    ...(options.tier === undefined ? {} : { tier: options.tier }),
    globals:
      options.globals ??
      Object.fromEntries(Object.entries(recorded?.globals ?? {}).map(([name, value]) => [name, fromPlain(value)])),
    limits: { ...recorded?.limits, ...options.limits },
  }
  const program = parts.machines.narrow(module, authority)
  const recorder = options.tracing === undefined ? null : replayRecorder(options.tracing, module, entries)
  const end = replay({
    ...options,
    machine: (answer) => {
      const makers = parts.machines.makers(
        program,
        settings,
        answer,
        recorder === null ? {} : { trace: (record) => recorder.call(record) },
      )
      return options.machine?.(makers) ?? makers.fresh()
    },
    restored: (machine, now, answer) =>
      parts.machines
        .makers(
          parts.machines.narrow(module, now),
          { ...settings, authority: { ...now, limits: now.limits === null ? null : { ...now.limits, ...options.limits } } },
          answer,
        )
        .restored(machine.snapshot()),
    entries,
    hashHex: parts.hashHex,
  })
  recorder?.end(...describeReplayEnd(end))
  if (end.kind === 'open') return { kind: 'diverged', divergence: makeUnfinished(entries.length), output: end.output }
  if (end.kind !== 'stopped') return end
  const { machine, ...stopped } = end
  const state = { arrived: [], begun: listBegunCalls(entries), startedAt: recorded?.now ?? 0, output: end.output, dryRun: [] }
  const before = findLastAuthority(entries)
  const resumed = options.widen === true ? own : before === null ? null : joinAuthorities(before, own)
  const from = {
    runId: run?.type === 'run' ? run.runId : parts.makeRunId(),
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
        : () => parts.pack(module, from, whole, { ...state, machine: machine.snapshot(), next: readNextNumbers(machine) }),
  }
}

/** For a machine that has the limits that are given beside its authority. */
function withoutLimits(authority: RunAuthority): RunAuthority {
  return { ...authority, limits: null }
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
