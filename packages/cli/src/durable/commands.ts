// `bridle signal`, `bridle worker` and `bridle runs`: commands on the durable runs of a store, from any process.

import { DurableWorker, encodeAnswer, isToolError, migrateRun } from '@bridle/stdlib-tools'
import type { DurableStore, DurableWorkerOptions, EndedRun, Module, RunQuery, Runtime } from '@bridle/stdlib-tools'
import type { Value } from '@bridle/vm'
import { existsSync } from 'node:fs'
import { makeAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { readInput } from '../commands/run-options.js'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, makeSourceLookup, readScript } from '../load.js'
import type { PeopleFlags } from '../people/answers.js'
import { writeWhole } from '../perform.js'
import { complain, tell, tellJson } from '../printable.js'
import { renderDivergence } from '../render-divergence.js'
import { toStatus } from '../run-report.js'
import { Stop } from '../stop.js'
import { describeRun, findToken, requireRun, withStore } from './open.js'
import { LOCAL_RESTATE, isRestate, startEndpoint } from './restate.js'

export interface StoreFlags {
  readonly store: string
  readonly json?: boolean
}

/** 0: stored; 1: it was already answered, or the run has ended. */
export async function signalCommand(
  runId: string,
  token: string,
  value: string | undefined,
  { store: file, json, error }: StoreFlags & { readonly error?: string },
): Promise<number> {
  if ((value === undefined) === (error === undefined)) throw new UsageError('give either the answer as JSON, or --error MESSAGE')
  const line = encodeAnswer(
    error === undefined ? { ok: readInput(value!, 'the answer is not JSON', TEXT_HINT) } : { error, code: 'cancelled' },
  )
  return withStore(file, async (store) => {
    const row = await requireRun(store, runId)
    const found = findToken(row, token)
    const outcome = await store.signal(runId, found, line, Date.now())
    const isAwaited = row.waitsFor.some((each) => each === found || each.startsWith(`${found}#`))
    if (json === true) tellJson({ id: runId, token: found, outcome, awaited: isAwaited })
    else if (outcome === 'kept')
      tell(
        isAwaited || row.waitsFor.length === 0
          ? `${runId} has the answer to ${JSON.stringify(found)}\n`
          : `kept, but ${runId} does not wait for ${JSON.stringify(found)} now: it waits for ${quoteAll(row.waitsFor)}\n`,
      )
    else if (outcome === 'known')
      complain(`error: ${JSON.stringify(found)} of ${runId} was answered before; that answer stands\n`)
    else if (outcome === 'gone') complain(`error: ${runId} has ended: nobody waits for ${JSON.stringify(found)}\n`)
    return outcome === 'kept' ? 0 : EXIT_FAILURE
  })
}

const TEXT_HINT = 'a text is written with its quotes: \'"yes"\''

function quoteAll(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}

export interface WorkerFlags extends Omit<StoreFlags, 'store'>, AuthorityFlags, SizeFlags, PeopleFlags {
  readonly store?: string
  /** A durable execution server instead of a file. */
  readonly on?: 'restate'
  /** Of the endpoint that Restate calls. */
  readonly port?: number
  readonly untilIdle?: boolean
  /** Each event as JSON on its own line, as it happens; `json` is one document at the end. */
  readonly jsonl?: boolean
  readonly capacity?: number
  readonly perTenant?: number
  readonly lease?: number
}

/** 0 when it was told to stop, or had nothing to do with --until-idle. */
export async function workerCommand(options: WorkerFlags): Promise<number> {
  const events: { readonly [key: string]: unknown }[] = []
  const say = (event: { readonly [key: string]: unknown }, text: string): void => {
    if (options.json === true) events.push(event)
    else if (options.jsonl === true) process.stdout.write(`${JSON.stringify(event)}\n`)
    else tell(`${text}\n`)
  }
  const place = options.store ?? (options.on === 'restate' ? LOCAL_RESTATE : null)
  if (place === null) throw new UsageError('give --store FILE, or --on restate')
  if (options.on === 'restate' && !isRestate(place))
    throw new UsageError(`--store ${place} is not a Restate server: expected a URL such as ${LOCAL_RESTATE}`)
  const runtime = makeCommandRuntime({
    script: '<worker>',
    terminal: false,
    people: { ...options, outside: true },
    args: [],
    ...readSizes(options),
    authority: await withLock(makeAuthority(options), options, '<worker>'),
  })
  const stop = new Stop(null)
  const stopped = new Promise<void>((resolve) => {
    stop.onCancel = () => resolve()
  })
  const watching = {
    runtime,
    readStatus: (value: Value) => toStatus(value).code,
    onEnd: (ended: EndedRun) =>
      say(
        { event: 'ended', id: ended.runId, status: ended.status, error: ended.error },
        `${ended.runId} ${ended.status}${ended.error === null ? '' : `: ${ended.error}`}`,
      ),
    onParked: (id: string) => say({ event: 'parked', id }, `${id} waits`),
    onStuck: (id: string, reason: string) => say({ event: 'stuck', id, reason }, `${id} is stuck: ${reason}`),
  }
  const started = (): void => say({ event: 'started', store: place }, `bridle: works on ${place}`)
  try {
    if (isRestate(place)) await serveRestate(place, options, watching, { stopped, started })
    else await withStore(place, (store) => work(store, options, watching, { stopped, started }), { isNew: true })
    // The caller reports thrown errors as one document.
    if (options.json === true) tellJson({ status: 'done', exit_code: 0, store: place, events })
    return 0
  } finally {
    stop.end()
  }
}

type Watching = Pick<DurableWorkerOptions, 'runtime' | 'readStatus' | 'onEnd' | 'onParked' | 'onStuck'>

interface WorkerLife {
  readonly stopped: Promise<void>
  readonly started: () => void
}

async function work(
  store: DurableStore,
  options: WorkerFlags,
  watching: Watching,
  { stopped, started }: WorkerLife,
): Promise<void> {
  const worker = new DurableWorker({
    ...watching,
    store,
    name: `bridle worker, process ${process.pid}`,
    ...(options.capacity === undefined ? {} : { capacity: options.capacity }),
    ...(options.perTenant === undefined ? {} : { perTenant: options.perTenant }),
    ...(options.lease === undefined ? {} : { leaseMs: options.lease }),
    onError: (cause) => complain(`warning: ${String(cause)}\n`),
  })
  try {
    worker.start()
    started()
    await (options.untilIdle === true ? Promise.race([stopped, worker.idle()]) : stopped)
  } finally {
    await worker.stop()
  }
}

async function serveRestate(
  place: string,
  options: WorkerFlags,
  watching: Watching,
  { stopped, started }: WorkerLife,
): Promise<void> {
  for (const [name, given] of Object.entries({
    'until-idle': options.untilIdle,
    capacity: options.capacity,
    'per-tenant': options.perTenant,
    lease: options.lease,
  }))
    if (given !== undefined) throw new UsageError(`--${name} is not for workers on Restate: the server says what they do`)
  const close = await refuseReadably(() =>
    startEndpoint(place, { ...watching, ...(options.port === undefined ? {} : { port: options.port }) }),
  )
  try {
    started()
    await stopped
  } finally {
    await close()
  }
}

async function refuseReadably<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (cause) {
    if (isToolError(cause)) throw new CommandError(cause.message, { code: cause.code })
    throw cause
  }
}

export interface ListFlags extends StoreFlags {
  readonly state?: string
  readonly tenant?: string
  readonly program?: string
  readonly waitsFor?: string
  readonly since?: string
  readonly after?: string
  readonly limit?: number
}

const LIST_LIMIT = 100

export async function listCommand({ store: file, json, ...flags }: ListFlags): Promise<number> {
  const since = flags.since === undefined ? null : Date.parse(flags.since)
  if (Number.isNaN(since)) throw new UsageError(`--since ${flags.since}: expected a time such as 2026-11-23T10:00:00Z`)
  const query: RunQuery = {
    most: flags.limit ?? LIST_LIMIT,
    ...(flags.state === undefined ? {} : { state: flags.state as NonNullable<RunQuery['state']> }),
    ...(flags.tenant === undefined ? {} : { tenant: flags.tenant }),
    ...(flags.program === undefined ? {} : { program: flags.program }),
    ...(flags.waitsFor === undefined ? {} : { waitsFor: flags.waitsFor }),
    ...(flags.after === undefined ? {} : { after: flags.after }),
    ...(since === null ? {} : { since }),
  }
  const rows = await withStore(file, (store) => store.list(query))
  if (json === true)
    tellJson({ runs: rows.map(describeRun), next: rows.length < query.most ? null : (rows.at(-1)?.runId ?? null) })
  else if (rows.length === 0) tell('no runs\n')
  else {
    for (const row of rows) {
      const waits = [...row.waitsFor, ...(row.wakeAt === null ? [] : [new Date(row.wakeAt).toISOString()])].join(', ')
      const more = row.state === 'parked' ? waits : row.state === 'ready' ? row.tools.join(', ') : (row.status ?? '')
      tell(`${row.runId}  ${row.state}${more === '' ? '' : `  ${more}`}\n`)
    }
  }
  return 0
}

export async function showCommand(runId: string, { store: file, json }: StoreFlags): Promise<number> {
  const row = await withStore(file, (store) => requireRun(store, runId))
  const facts = describeRun(row)
  if (json === true) tellJson(facts)
  else
    for (const [name, value] of Object.entries(facts))
      if (value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
        tell(`${name.padEnd(14)} ${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)}\n`)
  return 0
}

/** A command that changes a run: exit code 1 when there was nothing to change. */
async function changeRun(
  runId: string,
  { store: file, json }: StoreFlags,
  change: (store: DurableStore) => Promise<boolean>,
  words: { readonly done: string; readonly not: string },
): Promise<number> {
  return withStore(file, async (store) => {
    await requireRun(store, runId)
    const isDone = await change(store)
    if (json === true) tellJson({ id: runId, changed: isDone })
    else if (isDone) tell(`${runId} ${words.done}\n`)
    else complain(`error: ${runId} ${words.not}\n`)
    return isDone ? 0 : EXIT_FAILURE
  })
}

export function cancelCommand(runId: string, flags: StoreFlags & { readonly reason?: string }): Promise<number> {
  return changeRun(runId, flags, (store) => store.cancel(runId, flags.reason ?? 'cancelled', Date.now()), {
    done: 'is cancelled',
    not: 'had ended before',
  })
}

export function retryCommand(runId: string, flags: StoreFlags): Promise<number> {
  return changeRun(runId, flags, (store) => store.retry(runId, Date.now()), {
    done: 'is tried again by the next worker',
    not: 'is not stuck',
  })
}

export async function forkCommand(runId: string, to: string, flags: StoreFlags): Promise<number> {
  return withStore(flags.store, async (store) => {
    await requireRun(store, runId)
    const worker = new DurableWorker({ store, runtime: makeCommandRuntime({ terminal: false }) })
    const outcome = await worker.fork(runId, to)
    if (flags.json === true) tellJson({ id: runId, fork: to, outcome })
    else if (outcome === 'forked') tell(`${to} goes on where ${runId} was kept last\n`)
    else
      complain(
        outcome === 'known'
          ? `error: the store has a run ${to} already\n`
          : `error: ${runId} has no snapshot: it has not waited yet, or has ended\n`,
      )
    return outcome === 'forked' ? 0 : EXIT_FAILURE
  })
}

export interface MigrateFlags extends StoreFlags, AuthorityFlags, SizeFlags {
  readonly to: string
}

/** `to` is a script, or the hash of a program in the store. 0: the next worker continues the run with that program. */
export async function migrateCommand(runId: string, options: MigrateFlags): Promise<number> {
  const script = existsSync(options.to) ? await readScript(options.to, undefined) : null
  const key = script?.key ?? '<program>'
  const runtime = makeCommandRuntime({
    script: key,
    terminal: false,
    args: [],
    ...readSizes(options),
    authority: await withLock(makeAuthority(options), options, key),
  })
  return withStore(options.store, async (store) => {
    await requireRun(store, runId)
    const module = script === null ? await loadStored(store, runtime, options.to) : compileScript(runtime, script, options)
    if (module === null) return EXIT_FAILURE
    const migration = await migrateRun({ store, runtime, now: Date.now() }, runId, module)
    const { outcome } = migration
    if (options.json === true) tellJson({ id: runId, program: module.file, program_hash: module.hash, ...migration })
    else if (outcome === 'migrated') tell(`${runId} goes on as ${script?.shown ?? module.file}\n`)
    else if (outcome === 'diverged') {
      const { divergence, reason } = migration
      const sources = makeSourceLookup(module, script ?? { key: module.file, shown: module.file })
      complain(divergence === null ? `error: ${reason}\n` : renderDivergence(divergence, sources))
      complain(`hint: edit only what ${runId} has not done yet; nothing of it was changed\n`)
    } else complain(`error: ${NOT_MIGRATED[outcome](runId)}\n`)
    return outcome === 'migrated' ? 0 : EXIT_FAILURE
  })
}

async function loadStored(store: DurableStore, runtime: Runtime, hash: string): Promise<Module> {
  const program = await store.program(hash)
  if (program === null)
    throw new CommandError(`there is no file ${hash}, and the store has no program of this hash`, { code: 'not_found' })
  return runtime.loadProgram(program.sources)
}

const NOT_MIGRATED = {
  changed: (id: string) => `a worker is at work on ${id}: stop it, or try again when the run waits`,
  no_journal: (id: string) => `the journal of ${id} is not kept: it was submitted without an archive`,
  gone: (id: string) => `${id} has ended`,
}

/** The journal, as `bridle replay` reads it. */
export async function exportCommand(runId: string, flags: StoreFlags & { readonly out?: string }): Promise<number> {
  const stored = await withStore(flags.store, async (store) => {
    await requireRun(store, runId)
    return store.read(runId)
  })
  if (stored === null) throw new CommandError(`the store has no run ${runId}`)
  if (!stored.isArchived) throw new CommandError(`the journal of ${runId} is not kept: it was submitted without an archive`)
  const { sources } = stored.program
  // The program is stored once for all its runs; an exported journal has it in its header.
  const lines = stored.journal.map((line, at) => (at === 0 ? JSON.stringify({ ...(JSON.parse(line) as object), sources }) : line))
  const text = lines.map((line) => `${line}\n`).join('')
  if (flags.out !== undefined) writeWhole(flags.out, text)
  if (flags.json === true) {
    const journal = flags.out === undefined ? { journal: lines.map((line) => JSON.parse(line) as unknown) } : { file: flags.out }
    tellJson({ id: runId, entries: lines.length, ...journal })
  } else if (flags.out === undefined) process.stdout.write(text)
  return 0
}

/** The values that a run has published, of all names or of one; does not wake the run. */
export async function queryCommand(runId: string, name: string | undefined, { store: file, json }: StoreFlags): Promise<number> {
  const { published = {} } = await withStore(file, (store) => requireRun(store, runId))
  if (name !== undefined && !Object.hasOwn(published, name))
    throw new CommandError(`${runId} has not published ${JSON.stringify(name)}`, { code: 'not_found' })
  const value = name === undefined ? published : published[name]
  if (json === true) tellJson({ id: runId, ...(name === undefined ? { published } : { name, value }) })
  else tell(`${JSON.stringify(value)}\n`)
  return 0
}

const EVENT_LIMIT = 1000

/** Events that a run has emitted, in order. */
export async function eventsCommand(
  runId: string,
  { store: file, json, after = 0, limit = EVENT_LIMIT }: StoreFlags & { readonly after?: number; readonly limit?: number },
): Promise<number> {
  const rows = await withStore(file, async (store) => {
    await requireRun(store, runId)
    return (await store.events?.(runId, { after, most: limit })) ?? []
  })
  const events = rows.map(({ sequence, type, line, at }) => ({
    sequence,
    type,
    payload: JSON.parse(line) as unknown,
    at: new Date(at).toISOString(),
  }))
  if (json === true) tellJson({ id: runId, events, next: events.length < limit ? null : (events.at(-1)?.sequence ?? null) })
  else if (events.length === 0) tell('no events\n')
  else for (const { sequence, type, payload, at } of events) tell(`${sequence}  ${at}  ${type}  ${JSON.stringify(payload)}\n`)
  return 0
}

/** Number of runs by tenant, who works on them, and errors. */
export async function statsCommand({ store: file, json }: StoreFlags): Promise<number> {
  const { tenants, workers, fenced, unknownOutcomes } = await withStore(file, (store) => store.summarize(Date.now()))
  if (json === true) {
    tellJson({
      tenants: tenants.map(({ tenant, runs, bytes, oldestReadyMs }) => ({
        tenant,
        ...runs,
        snapshot_bytes: bytes,
        queue_age_ms: oldestReadyMs,
      })),
      workers: workers.map(({ name, runs, leaseUntil, isGivenUp, commitMs = null }) => ({
        name,
        runs,
        commit_ms: commitMs,
        lease_until: new Date(leaseUntil).toISOString(),
        given_up: isGivenUp,
      })),
      fenced_commits: fenced,
      unknown_outcomes: unknownOutcomes,
    })
    return 0
  }
  if (tenants.length === 0) tell('no runs\n')
  for (const { tenant, runs, bytes, oldestReadyMs } of tenants) {
    const counts = Object.entries(runs).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]))
    const age = oldestReadyMs === null ? [] : [`the first ready one waits for ${(oldestReadyMs / 1000).toFixed(1)} s`]
    tell(`${tenant === '' ? '(no tenant)' : tenant}  ${[...counts, `${bytes} bytes of snapshots`, ...age].join(', ')}\n`)
  }
  for (const { name, runs, isGivenUp, commitMs = null } of workers) {
    const commits = commitMs === null ? '' : `, a commit takes ${commitMs.p50.toFixed(1)} ms (p95 ${commitMs.p95.toFixed(1)})`
    tell(`${name}  ${runs} runs${commits}${isGivenUp ? ', given up' : ''}\n`)
  }
  if (fenced > 0) tell(`${fenced} commits of workers that were given up were refused\n`)
  if (unknownOutcomes > 0) tell(`${unknownOutcomes} calls have an unknown outcome\n`)
  return 0
}
