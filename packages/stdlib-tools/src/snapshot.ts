// The bytes of a suspended run: the machine's own snapshot with what only the driver knows (effects under way, text printed)
// and the sources, so that `resume` needs nothing else. JSON as UTF-8; the version is checked before anything is used.

import type { Effect, EffectKind, Plain } from '@bridle/vm'
import { EFFECTS } from '@bridle/vm'
import type { PendingCall } from './driver.js'
import type { DryRunEntry } from './dry-run.js'
import { plainFromJson, plainToJson } from './journal-codec.js'
import { outcomeFromJson, outcomeToJson } from './journal.js'
import type { ProgramSources } from './modules.js'

export const SNAPSHOT_FORMAT = 1

export interface RunSnapshot {
  readonly runId: string
  readonly sources: ProgramSources
  readonly input: Plain
  /** When the run began, milliseconds since 1970. */
  readonly startedAt: number
  readonly machine: string
  readonly pending: readonly PendingCall[]
  readonly output: string
  readonly dryRun: boolean
  readonly entries: readonly DryRunEntry[]
}

/** The bytes are not a snapshot that this version reads. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

export function packSnapshot(snapshot: RunSnapshot): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({
      bridle: 'run',
      format: SNAPSHOT_FORMAT,
      runId: snapshot.runId,
      sources: snapshot.sources,
      input: plainToJson(snapshot.input),
      startedAt: snapshot.startedAt,
      machine: snapshot.machine,
      pending: snapshot.pending.map(({ id, effect, outcome }) => ({
        id,
        kind: effect.kind,
        args: plainToJson(effect.args),
        outcome: outcome === null ? null : outcomeToJson(outcome),
      })),
      output: snapshot.output,
      dryRun: snapshot.dryRun,
      entries: snapshot.entries.map((entry) => ({ ...entry, args: plainToJson(entry.args) })),
    }),
  )
}

export function unpackSnapshot(bytes: Uint8Array): RunSnapshot {
  let raw: unknown
  try {
    raw = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new SnapshotError('the bytes are not a snapshot of a run', { cause })
  }
  const data = object(raw)
  if (data['bridle'] !== 'run') throw new SnapshotError('the bytes are not a snapshot of a run')
  if (data['format'] !== SNAPSHOT_FORMAT)
    throw new SnapshotError(`snapshot format ${JSON.stringify(data['format'])} is not ${SNAPSHOT_FORMAT}`)
  try {
    return {
      runId: text(data['runId']),
      sources: sourcesOf(data['sources']),
      input: plainFromJson(data['input'] ?? null),
      startedAt: number(data['startedAt']),
      machine: text(data['machine']),
      pending: list(data['pending']).map((item) => pendingOf(object(item))),
      output: text(data['output']),
      dryRun: data['dryRun'] === true,
      entries: list(data['entries']).map((item) => ({
        ...(item as DryRunEntry),
        args: plainFromJson((item as DryRunEntry).args) as DryRunEntry['args'],
      })),
    }
  } catch (cause) {
    throw cause instanceof SnapshotError
      ? cause
      : new SnapshotError(`damaged snapshot: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
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

function pendingOf(data: { readonly [key: string]: unknown }): PendingCall {
  const { id, kind } = data
  if (typeof id !== 'number' || typeof kind !== 'string' || !(kind in EFFECTS))
    throw new SnapshotError('damaged snapshot: a pending effect is malformed')
  return {
    id,
    effect: { kind: kind as EffectKind, args: plainFromJson(data['args']) as Effect['args'] },
    outcome: data['outcome'] === null ? null : outcomeFromJson(data['outcome']),
  }
}

function object(raw: unknown): { readonly [key: string]: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new SnapshotError('damaged snapshot: an object is missing')
  return raw as { readonly [key: string]: unknown }
}

function list(raw: unknown): readonly unknown[] {
  if (!Array.isArray(raw)) throw new SnapshotError('damaged snapshot: a list is missing')
  return raw
}

function number(raw: unknown): number {
  if (typeof raw !== 'number') throw new SnapshotError('damaged snapshot: a number is missing')
  return raw
}

function text(raw: unknown): string {
  if (typeof raw !== 'string') throw new SnapshotError('damaged snapshot: a text is missing')
  return raw
}
