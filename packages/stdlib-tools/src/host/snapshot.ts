// The bytes of a suspended run: the machine's own snapshot with what only the driver knows (answers that arrived and were not
// delivered yet, text printed) and the sources, so that `resume` needs nothing else. Modules of the standard library go by name:
// every Bridle has them, and the machine refuses a snapshot whose code has changed.
//
// What the bytes look like is the vm's affair (snapshot/envelope.ts there); this is what they say. Fields are checked one by one,
// because the seal shows damage and no intent.

import type { RunBranch } from '../tools/dispatch/branches.js'
import { readDocumentVersion, readDocument, SnapshotError, writeDocument } from '@bridle/vm'
import type { EffectOutcome, Plain, Value } from '@bridle/vm'
import type { ArrivedAnswer, BegunCalls, NextNumbers } from './machine.js'
import type { DryRunEntry } from './dry-run.js'
import { parseSources } from './modules.js'
import type { ProgramSources } from './modules.js'
import { authorityFromPlain, authorityToPlain } from './run-authority.js'
import type { RunAuthority } from './run-authority.js'

/** Of the bytes that `Run.snapshot` gives. Version 1 was JSON, version 2 had no authority. */
export const RUN_SNAPSHOT_VERSION = 3
const WITHOUT_AUTHORITY = 2

export interface RunSnapshot {
  readonly runId: string
  /** Null if the module is passed to `resume`. */
  readonly sources: ProgramSources | null
  readonly input: Plain
  /** When the run began, milliseconds since 1970. */
  readonly startedAt: number
  readonly machine: Uint8Array
  /** In order of arrival. */
  readonly arrived: readonly ArrivedAnswer[]
  readonly output: string
  readonly dryRun: boolean
  readonly entries: readonly DryRunEntry[]
  /** What the run was started with beside its input. */
  readonly globals: { readonly [name: string]: Value }
  readonly epilogue: string | null
  /** The authority of the run; null in records of versions without it. */
  readonly authority: RunAuthority | null
  /** Earlier resumes, and the numbers that the next one begins with. */
  readonly branches: readonly RunBranch[]
  readonly next: NextNumbers
  /** The state of calls that were begun; empty in snapshots of versions without it. */
  readonly begun: BegunCalls
}

export function packSnapshot(snapshot: RunSnapshot): Uint8Array {
  const { runId, sources, input, startedAt, machine, arrived, output, dryRun, entries, globals, epilogue, authority } = snapshot
  const { branches, next, begun } = snapshot
  return writeDocument(
    [
      runId,
      sources,
      input,
      startedAt,
      machine,
      arrived.map(({ id, outcome }) => [id, outcome]),
      output,
      dryRun,
      entries,
      globals,
      epilogue,
      authority === null ? null : authorityToPlain(authority),
      branches.map(({ name, effect, call }) => [name, effect, call]),
      [next.effect, next.call],
      // Since the start, which takes fewer bytes.
      [...begun].map(([id, { askedAt, token }]) => [id, askedAt - startedAt, ...(token === null ? [] : [token])]),
    ],
    RUN_SNAPSHOT_VERSION,
  )
}

/** Raises SnapshotError with the reason of a refusal. */
export function unpackSnapshot(bytes: Uint8Array): RunSnapshot {
  const version = readDocumentVersion(bytes) === WITHOUT_AUTHORITY ? WITHOUT_AUTHORITY : RUN_SNAPSHOT_VERSION
  const [
    runId,
    sources,
    input,
    startedAt,
    machine,
    arrived,
    output,
    dryRun,
    entries,
    globals,
    epilogue,
    authority,
    branches,
    next,
    begun,
  ] = list(readDocument(bytes, version))
  if (!(machine instanceof Uint8Array)) throw makeMissingError('the machine')
  return {
    runId: readText(runId),
    sources: sources === null ? null : readSources(sources),
    input: input as Plain,
    startedAt: readNumber(startedAt),
    machine,
    arrived: list(arrived).map(readAnswer),
    output: readText(output),
    dryRun: dryRun === true,
    entries: list(entries).map((item) => readObject(item) as unknown as DryRunEntry),
    globals: readObject(globals) as { readonly [name: string]: Value },
    epilogue: epilogue === null ? null : readText(epilogue),
    authority: version === WITHOUT_AUTHORITY || authority === null ? null : authorityFromPlain(authority),
    // Written before there were branches: all output belongs to the continuing run.
    branches: branches === undefined ? [] : list(branches).map(readBranch),
    next: next === undefined ? { effect: 1, call: 1 } : readNumbers(next),
    begun: new Map(begun === undefined ? [] : list(begun).map((each) => readBegun(each, readNumber(startedAt)))),
  }
}

/** The same run under another name; its calls from here on have their own keys. */
export function renameSnapshot(bytes: Uint8Array, runId: string): Uint8Array {
  const snapshot = unpackSnapshot(bytes)
  return packSnapshot({ ...snapshot, runId })
}

function readBranch(raw: unknown): RunBranch {
  const [name, effect, call] = list(raw)
  return { name: readText(name), effect: readNumber(effect), call: readNumber(call) }
}

function readBegun(
  raw: unknown,
  startedAt: number,
): readonly [number, { readonly askedAt: number; readonly token: string | null }] {
  const [id, askedAt, token] = list(raw)
  return [readNumber(id), { askedAt: startedAt + readNumber(askedAt), token: token === undefined ? null : readText(token) }]
}

function readNumbers(raw: unknown): NextNumbers {
  const [effect, call] = list(raw)
  return { effect: readNumber(effect), call: readNumber(call) }
}

/** Description of a snapshot, for stores of snapshots. */
export interface SnapshotFacts {
  readonly runId: string
  /** The script, null when the sources were left out. */
  readonly file: string | null
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Printed before. */
  readonly output: string
  readonly dryRun: boolean
  readonly sizeBytes: number
  /** The authority of the run; null in records of versions without it. */
  readonly authority: RunAuthority | null
}

/** Without compiling or restoring anything. Raises SnapshotError. */
export function describeSnapshot(bytes: Uint8Array): SnapshotFacts {
  const { runId, sources, startedAt, output, dryRun, authority } = unpackSnapshot(bytes)
  return { runId, file: sources?.entry.key ?? null, startedAt, output, dryRun, sizeBytes: bytes.length, authority }
}

function readAnswer(raw: unknown): ArrivedAnswer {
  const [id, outcome] = list(raw)
  const data = readObject(outcome)
  if (data['ok'] !== true) readText(readObject(data['error'])['message'])
  return { id: readNumber(id), outcome: outcome as EffectOutcome }
}

function readSources(raw: unknown): ProgramSources {
  const sources = parseSources(raw)
  if (sources === null) throw makeMissingError('the program')
  return sources
}

function readObject(raw: unknown): { readonly [key: string]: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw makeMissingError('a object')
  return raw as { readonly [key: string]: unknown }
}

function list(raw: unknown): readonly unknown[] {
  if (!Array.isArray(raw)) throw makeMissingError('a list')
  return raw
}

function readNumber(raw: unknown): number {
  if (typeof raw !== 'number') throw makeMissingError('a number')
  return raw
}

function readText(raw: unknown): string {
  if (typeof raw !== 'string') throw makeMissingError('a text')
  return raw
}

function makeMissingError(what: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${what} is missing`)
}
