// The bytes of a suspended run: the machine's own snapshot with what only the driver knows (answers that arrived and were not
// delivered yet, text printed) and the sources, so that `resume` needs nothing else. Modules of the standard library go by name:
// every Bridle has them, and the machine refuses a snapshot whose code has changed.
//
// What the bytes look like is the vm's affair (snapshot/envelope.ts there); this is what they say. Fields are checked one by one,
// because the seal shows damage and no intent.

import { readDocument, SnapshotError, writeDocument } from '@bridle/vm'
import type { EffectOutcome, Plain } from '@bridle/vm'
import type { ArrivedAnswer } from './driver.js'
import type { DryRunEntry } from './dry-run.js'
import type { ProgramSources } from './modules.js'

/** Of the bytes that `Run.snapshot` gives. Version 1 was JSON. */
export const RUN_SNAPSHOT_VERSION = 2

export interface RunSnapshot {
  readonly runId: string
  /** Null when whoever resumes brings the module. */
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
}

export function packSnapshot(snapshot: RunSnapshot): Uint8Array {
  const { runId, sources, input, startedAt, machine, arrived, output, dryRun, entries } = snapshot
  return writeDocument(
    [runId, sources, input, startedAt, machine, arrived.map(({ id, outcome }) => [id, outcome]), output, dryRun, entries],
    RUN_SNAPSHOT_VERSION,
  )
}

/** Raises SnapshotError with the reason of a refusal. */
export function unpackSnapshot(bytes: Uint8Array): RunSnapshot {
  const [runId, sources, input, startedAt, machine, arrived, output, dryRun, entries] = list(
    readDocument(bytes, RUN_SNAPSHOT_VERSION),
  )
  if (!(machine instanceof Uint8Array)) throw missing('the machine')
  return {
    runId: text(runId),
    sources: sources === null ? null : sourcesOf(sources),
    input: input as Plain,
    startedAt: number(startedAt),
    machine,
    arrived: list(arrived).map(answerOf),
    output: text(output),
    dryRun: dryRun === true,
    entries: list(entries).map((item) => object(item) as unknown as DryRunEntry),
  }
}

function answerOf(raw: unknown): ArrivedAnswer {
  const [id, outcome] = list(raw)
  const data = object(outcome)
  if (data['ok'] !== true) text(object(data['error'])['message'])
  return { id: number(id), outcome: outcome as EffectOutcome }
}

function sourcesOf(raw: unknown): ProgramSources {
  const data = object(raw)
  const source = (item: unknown): { key: string; text: string } => ({
    key: text(object(item)['key']),
    text: text(object(item)['text']),
  })
  return {
    entry: source(data['entry']),
    ...(data['pipeline'] === undefined ? {} : { pipeline: text(data['pipeline']) }),
    modules: list(data['modules']).map(source),
    imports: list(data['imports']).map((item) => {
      const [from, path, key, message] = list(item)
      return [text(from), text(path), key === null ? null : text(key), text(message)] as const
    }),
  }
}

function object(raw: unknown): { readonly [key: string]: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw missing('a object')
  return raw as { readonly [key: string]: unknown }
}

function list(raw: unknown): readonly unknown[] {
  if (!Array.isArray(raw)) throw missing('a list')
  return raw
}

function number(raw: unknown): number {
  if (typeof raw !== 'number') throw missing('a number')
  return raw
}

function text(raw: unknown): string {
  if (typeof raw !== 'string') throw missing('a text')
  return raw
}

function missing(what: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${what} is missing`)
}
