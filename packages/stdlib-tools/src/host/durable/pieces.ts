// A piece of a durable run: what one worker does of it between taking it from the store and parking, ending or losing it. It begins at the last
// snapshot, or at the start; what is in the journal behind that is played again with nothing performed, and from there the run continues.

import { fromPlain } from '@bridle/vm'
import type { Effect, EffectOutcome, Limits, Plain, Value } from '@bridle/vm'
import type { UndoCall } from '../../tools/dispatch/note-state.js'
import type { RunBranch } from '../../tools/dispatch/branches.js'
import { describeCause } from '../../tools/executors/provider.js'
import type { Host } from '../../tools/host-tools/host.js'
import type { DriveEnd } from '../machine-driver.js'
import type { DryRunEntry } from '../dry-run.js'
import { decodeEntry, findLastAuthority } from '../journal.js'
import type { JournalEntry } from '../journal.js'
import type { HashHex } from '../journal-trace.js'
import type { AnswerEffect, ArrivedAnswer, BegunCalls } from '../machine.js'
import { replay } from '../replay.js'
import type { Divergence } from '../replay.js'
import type { Run, RunParts } from '../run.js'
import type { RunAuthority } from '../run-authority.js'
import type { MachineMakers } from '../runtime-options.js'
import { decideOutcome, findMissingTool, listBegunCalls, makeUnknownCall, mayRepeat } from '../runs/worker.js'
import type { UnknownCall, UnknownDecision } from '../runs/worker.js'
import { unpackSnapshot } from '../snapshot.js'

export interface Piece<M> {
  readonly module: M
  readonly head: readonly string[]
  readonly snapshot: Uint8Array | null
  readonly lines: readonly string[]
}

export type OpenedPiece =
  /** `begin` makes the run; `lastNow`: when it was last entered, null for one that begins. */
  | {
      readonly kind: 'open'
      readonly lastNow: number | null
      readonly globals: PieceOrigin['globals']
      readonly begin: (drive: RunParts['drive']) => Run
    }
  /** It had ended, and only that was not kept. */
  | { readonly kind: 'ended'; readonly end: DriveEnd; readonly output: string; readonly undos: readonly UndoCall[] }
  | { readonly kind: 'stuck'; readonly reason: string; readonly divergence?: Divergence }
  /** This host lacks a tool that the run has called. */
  | { readonly kind: 'lacking'; readonly tool: string }

/** What a run is made of, wherever it continues. */
export interface PieceOrigin {
  readonly runId: string
  readonly input: Plain
  readonly globals: { readonly [name: string]: Value }
  readonly limits: Partial<Limits>
  readonly epilogue: string | null
  readonly dryRun: boolean
  readonly startedAt: number
  readonly authority: RunAuthority | null
  readonly branches: readonly RunBranch[]
  readonly output: string
  readonly entries: readonly DryRunEntry[]
  readonly arrived: readonly ArrivedAnswer[]
  readonly begun: BegunCalls
  /** Null: from its beginning. */
  readonly machine: Uint8Array | null
}

/** The runtime, as far as it is needed here. */
export interface PieceTools<M> {
  readonly host: Host
  readonly hashHex: HashHex
  /** Raises SnapshotError where this host cannot say what the run may do, ToolError where it lacks a tool of the program. */
  readonly check: (module: M, authority: RunAuthority | null) => void
  /** Whether this host lets the run do just what it was allowed before. */
  readonly keeps: (authority: RunAuthority | null) => boolean
  readonly makers: (module: M, origin: PieceOrigin, authority: RunAuthority | null, answer: AnswerEffect) => MachineMakers
  readonly launch: (
    module: M,
    begin: RunParts['begin'],
    origin: PieceOrigin,
    last: RunAuthority | null,
    drive: RunParts['drive'],
  ) => Run
}

/** Raises what `check` and `decide` raise, SnapshotError and JournalFormatError. */
export function openPiece<M>(
  tools: PieceTools<M>,
  { module, head, snapshot, lines }: Piece<M>,
  decide: (call: UnknownCall) => UnknownDecision,
): OpenedPiece {
  const beginning = head.map((line) => decodeEntry(line))
  const tail = lines.map((line) => decodeEntry(line))
  const origin = snapshot === null ? readBeginning(beginning) : readSnapshot(snapshot)
  if (origin === null) return { kind: 'stuck', reason: 'the store has neither a beginning nor a snapshot of the run' }
  const last = findLastAuthority(tail) ?? origin.authority
  tools.check(module, last)
  // With less authority than in its record it starts as submitted and continues with the reduced authority, as a replay does.
  if (tail.length === 0 && origin.machine === null && tools.keeps(last)) {
    const start = beginning.find((entry) => entry.type === 'start')!
    const { type: _, now: _now, ...facts } = start
    return {
      kind: 'open',
      globals: origin.globals,
      lastNow: null,
      begin: (drive) => tools.launch(module, { kind: 'start', ...facts }, origin, last, drive),
    }
  }
  return tail.length === 0 && origin.machine !== null
    ? goOn(tools, module, origin, { last, lastNow: origin.startedAt }, decide)
    : playAgain(tools, module, origin, snapshot === null ? [...beginning, ...tail] : tail, { last, decide })
}

function playAgain<M>(
  tools: PieceTools<M>,
  module: M,
  origin: PieceOrigin,
  entries: readonly JournalEntry[],
  { last, decide }: { readonly last: RunAuthority | null; readonly decide: (call: UnknownCall) => UnknownDecision },
): OpenedPiece {
  const end = replay({
    machine: (answer) => {
      const makers = tools.makers(module, origin, origin.authority, answer)
      return origin.machine === null ? makers.fresh() : makers.restored(origin.machine)
    },
    restored: (before, authority, answer) => tools.makers(module, origin, authority, answer).restored(before.snapshot()),
    entries,
    hashHex: tools.hashHex,
    isOpen: true,
    tailOf: origin.machine === null ? null : { authority: origin.authority },
  })
  if (end.kind === 'diverged') {
    const { divergence } = end
    return { kind: 'stuck', reason: divergence.message, divergence }
  }
  const output = origin.output + end.output
  if (end.kind === 'ended') return { kind: 'ended', end: end.end, output, undos: end.undos }
  const { machine } = end
  if (machine === null) return { kind: 'stuck', reason: 'the run stopped before its journal did' }
  const begun = listBegunCalls(entries, origin.begun)
  const now = entries.reduce((latest, entry) => ('now' in entry ? Math.max(latest, entry.now) : latest), origin.startedAt)
  const there = { ...origin, machine: machine.snapshot(), output, begun }
  return goOn(tools, module, there, { last, lastNow: now, pending: machine.pendingEffects?.() ?? [] }, decide)
}

function goOn<M>(
  tools: PieceTools<M>,
  module: M,
  origin: PieceOrigin,
  {
    last,
    lastNow,
    pending = tools
      .makers(module, origin, last, () => null)
      .restored(origin.machine!)
      .pendingEffects(),
  }: {
    readonly last: RunAuthority | null
    readonly lastNow: number
    readonly pending?: readonly { readonly id: number; readonly effect: Effect }[]
  },
  decide: (call: UnknownCall) => UnknownDecision,
): OpenedPiece {
  const wanted = new Set(pending.map(({ id }) => id))
  const arrived = origin.arrived.filter(({ id }) => wanted.has(id))
  const here = new Set(arrived.map(({ id }) => id))
  for (const { id, effect } of pending) {
    const tool = findMissingTool(effect, tools.host)
    if (tool !== null) return { kind: 'lacking', tool }
    const known = origin.begun.get(id)
    if (here.has(id) || known === undefined || known.token !== null || mayRepeat(effect, tools.host)) continue
    const call = makeUnknownCall(origin.runId, id, effect)
    const decision = decide(call)
    if (decision === 'hold')
      return { kind: 'stuck', reason: `the host holds it: nobody knows what became of ${call.name} (call ${id})` }
    const outcome = decideOutcome(call, decision)
    if (outcome !== null) arrived.push({ id, outcome })
  }
  return {
    kind: 'open',
    globals: origin.globals,
    lastNow,
    begin: (drive) => tools.launch(module, { kind: 'restored', arrived }, origin, last, drive),
  }
}

function readBeginning(entries: readonly JournalEntry[]): PieceOrigin | null {
  const run = entries.find((entry) => entry.type === 'run')
  const start = entries.find((entry) => entry.type === 'start')
  if (run === undefined || start === undefined) return null
  return {
    runId: run.runId,
    input: start.input,
    globals: Object.fromEntries(Object.entries(start.globals ?? {}).map(([name, value]) => [name, fromPlain(value)])),
    limits: { ...start.limits },
    epilogue: null,
    dryRun: run.dryRun === true,
    startedAt: start.now,
    authority: run.authority ?? null,
    branches: run.branches ?? [],
    output: '',
    entries: [],
    arrived: [],
    begun: new Map(),
    machine: null,
  }
}

function readSnapshot(bytes: Uint8Array): PieceOrigin {
  const { sources: _, next: _next, ...facts } = unpackSnapshot(bytes)
  return { ...facts, limits: {} }
}

/** The error of a call whose outcome the engine does not know. */
export function answerUnknown(
  runId: string,
  id: number,
  effect: Effect,
  decide: (call: UnknownCall) => UnknownDecision,
): EffectOutcome {
  const call = makeUnknownCall(runId, id, effect)
  const decision = decide(call)
  // It cannot be made again here, nor left for later.
  const chosen = decision === 'retry' || decision === 'hold' ? 'fail' : decision
  try {
    return decideOutcome(call, chosen)!
  } catch (cause) {
    return { ok: false, error: { kind: 'runtime', message: describeCause(cause) } }
  }
}
