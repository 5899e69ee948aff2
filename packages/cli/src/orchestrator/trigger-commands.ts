// `bridle trigger`: events of a log are dispatched again, or their dispatches are cancelled; one event, or all that an expression picks.

import { setTimeout as delay } from 'node:timers/promises'
import { makeAuthority } from '../authority.js'
import { CommandError, UsageError } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { complain } from '../printable.js'
import { withDesk } from './commands.js'
import type { Handle, LocalFlags } from './commands.js'
import { makeRecord } from './desk.js'
import type { Desk } from './desk.js'
import { makeTimeUuid } from './ids.js'
import { CANCEL_REQUESTS, INBOX, OUTBOX } from './pumps.js'
import { tellPretty } from './render.js'
import { withLog } from './trust-commands.js'

export interface BulkFlags extends LocalFlags {
  readonly where?: string
  readonly dryRun?: boolean
  readonly progress?: boolean
  /** Events a second. */
  readonly rateLimit?: number
}

export interface TriggerReplayFlags extends BulkFlags {
  readonly diff?: boolean
  readonly asOf?: string
}

interface DispatchFacts {
  readonly event_id?: string
  readonly binding_key?: string
  readonly replay_of_event_id?: string | null
  readonly result?: unknown
  readonly error?: string | null
  readonly attempt?: number
  readonly handler_kind?: string
  readonly target_uri?: string
  readonly is_last?: boolean
}

/** An event that was accepted or fired, and the binding that it was for. */
interface KnownEvent {
  readonly key: string
  readonly trigger: string
  readonly event: { readonly id: string; readonly tenant_id?: string | null; readonly [name: string]: unknown }
}

/** The event, or those that the expression picks. Throws UsageError when it is neither or both. */
async function chooseEvents(desk: Desk, eventId: string | undefined, { where }: BulkFlags): Promise<readonly KnownEvent[]> {
  if ((eventId === undefined) === (where === undefined)) throw new UsageError('give an event id, or --where with an expression')
  const known = listEvents(desk)
  if (where !== undefined) return pickEvents(desk, known, where)
  const found = known.filter(({ event }) => event.id === eventId)
  if (found.length === 0) throw new CommandError(`unknown event id '${eventId}'`)
  return found
}

function listEvents(desk: Desk): readonly KnownEvent[] {
  const found = new Map<string, KnownEvent>()
  const add = (trigger: string, version: number, event: KnownEvent['event']): void => {
    const key = `${trigger}@v${version}`
    if (!found.has(`${key}/${event.id}`)) found.set(`${key}/${event.id}`, { key, trigger, event })
  }
  for (const topic of desk.log.topics()) {
    if (topic !== INBOX && topic !== 'triggers.events' && !topic.endsWith(`.${INBOX}`)) continue
    for (const { payload } of desk.log.read({ topic })) {
      const { trigger_id, binding_id, binding_version: version, event } = payload as unknown as EventRecord
      const trigger = trigger_id ?? binding_id
      if (trigger !== undefined && event !== undefined) add(trigger, version, event)
    }
  }
  return [...found.values()]
}

interface EventRecord {
  readonly trigger_id?: string
  readonly binding_id?: string
  readonly binding_version: number
  readonly event?: KnownEvent['event']
}

/** Those for which the expression is true: over `event`, the last `attempt`, `trigger_id` and `binding_key`. Throws CommandError. */
async function pickEvents(desk: Desk, events: readonly KnownEvent[], where: string): Promise<readonly KnownEvent[]> {
  const attempts = new Map<string, unknown>()
  for (const { payload } of readAll(desk, 'trigger.attempts')) {
    const { binding_key: key, event_id: id } = payload as DispatchFacts
    if (payload !== null && (payload as { readonly outcome?: unknown }).outcome !== undefined)
      attempts.set(`${key}/${id}`, payload)
  }
  const given = events.map(({ key, trigger, event }) => ({
    event,
    attempt: attempts.get(`${key}/${event.id}`) ?? {},
    trigger_id: trigger,
    binding_key: key,
  }))
  const program = [
    'import { runtime_pipeline_input } from "std/runtime"',
    `let is_picked = { event, attempt, trigger_id, binding_key -> ${where}\n }`,
    'return runtime_pipeline_input().map({ each -> is_picked(each.event, each.attempt, each.trigger_id, each.binding_key) == true })',
  ].join('\n')
  const runtime = makeCommandRuntime({ terminal: false, authority: makeAuthority({ sandbox: true }) })
  let verdicts: readonly boolean[]
  try {
    verdicts = (await runtime.run(program, {
      input: given,
      effects: 'off',
      strictness: 'language',
    } as never)) as unknown as readonly boolean[]
  } catch (cause) {
    throw new CommandError(`--where '${where}': ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  return events.filter((_, at) => verdicts[at] === true)
}

/** Records of a topic, and of the same topic of every tenant. */
function readAll(desk: Desk, topic: string): ReturnType<Desk['log']['read']> {
  const topics = desk.log.topics().filter((each) => each === topic || (each.startsWith('tenant.') && each.endsWith(`.${topic}`)))
  return topics.flatMap((each) => desk.log.read({ topic: each }))
}

// ---------------------------------------------------------------------------------------------------------------------- replay

const ENDS = new Set(['dispatch_succeeded', 'dispatch_failed', 'dispatch_skipped'])

/** Dispatches recorded events again, and says what is not as it was. */
export async function triggerReplayCommand(eventId: string | undefined, flags: TriggerReplayFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const chosen = await chooseEvents(desk, eventId, flags)
    if (eventId !== undefined) {
      tellPretty(await replayOne(desk, eventId, flags))
      noteOperation(desk, 'trigger_replay', { event_id: eventId })
      return 0
    }
    const ids = [...new Set(chosen.map(({ event }) => event.id))]
    const results: object[] = []
    if (flags.dryRun !== true)
      for (const [at, id] of ids.entries()) {
        if (at > 0 && flags.rateLimit !== undefined) await delay(1000 / flags.rateLimit)
        results.push(await replayOne(desk, id, flags))
        if (flags.progress === true) complain(`[harn] replayed ${at + 1} of ${ids.length}: ${id}\n`)
      }
    const report = {
      operation: 'replay',
      where: flags.where,
      dry_run: flags.dryRun === true,
      matched: ids.length,
      event_ids: ids,
      results,
    }
    tellPretty(report)
    noteOperation(desk, 'trigger_replay', { where: flags.where, dry_run: report.dry_run, event_ids: ids })
    return 0
  })
}

async function replayOne(desk: Desk, eventId: string, flags: TriggerReplayFlags): Promise<object> {
  /** The last end of its own dispatches, or of those that replayed it. */
  const readEnd = (isReplay: boolean): DispatchFacts & { readonly status: string } => {
    const found = readAll(desk, OUTBOX).findLast(({ kind, payload }) => {
      const { event_id: id, replay_of_event_id: original = null } = payload as DispatchFacts
      return id === eventId && ENDS.has(kind) && (original !== null) === isReplay
    })
    const payload = (found?.payload ?? {}) as DispatchFacts
    return { ...payload, status: (found?.kind ?? 'unknown').slice('dispatch_'.length) }
  }
  const before = readEnd(false)
  const handle = (await desk.ask({ action: 'replay', event_id: eventId, as_of: flags.asOf ?? null })) as Handle
  const after = readEnd(true)
  const describe = (end: DispatchFacts & { readonly status: string }): { readonly [name: string]: unknown } => ({
    status: end.status,
    attempt_count: end.attempt ?? 0,
    handler_kind: end.handler_kind ?? null,
    target_uri: end.target_uri ?? null,
    result: end.result ?? null,
    error: end.error ?? null,
  })
  const replay = describe({ ...after, result: handle.result, error: handle.error })
  const original = describe(before)
  const fields = Object.keys(replay).filter((name) => JSON.stringify(replay[name]) !== JSON.stringify(original[name]))
  return {
    event_id: eventId,
    binding_id: handle.binding_id,
    binding_version: handle.binding_version,
    ...(flags.asOf === undefined ? {} : { as_of: flags.asOf }),
    replay,
    ...(flags.diff === true ? { original, drift: { changed: fields.length > 0, fields } } : {}),
  }
}

// ---------------------------------------------------------------------------------------------------------------------- cancel

/** Asks for the end of dispatches, wherever they run. */
export async function triggerCancelCommand(eventId: string | undefined, flags: BulkFlags): Promise<number> {
  return withLog(flags, async (desk) => {
    const chosen = await chooseEvents(desk, eventId, flags)
    const requested: KnownEvent[] = []
    const ended: KnownEvent[] = []
    for (const each of chosen) (hasEnded(desk, each) ? ended : requested).push(each)
    const isDry = flags.dryRun === true
    const scope = eventId === undefined ? { where: flags.where, dry_run: isDry } : { event_id: eventId }
    const auditId = noteOperation(desk, 'trigger_cancel', {
      ...scope,
      requested: requested.map(({ key, event }) => `${key}/${event.id}`),
    })
    if (!isDry)
      for (const [at, each] of requested.entries()) {
        if (at > 0 && flags.rateLimit !== undefined) await delay(1000 / flags.rateLimit)
        requestCancel(desk, each, auditId)
        if (flags.progress === true) complain(`[harn] requested ${at + 1} of ${requested.length}: ${each.event.id}\n`)
      }
    const name = ({ key, event }: KnownEvent): unknown => (eventId === undefined ? { event_id: event.id, binding_key: key } : key)
    tellPretty({
      ...(eventId === undefined ? { operation: 'cancel', matched: chosen.length } : {}),
      ...scope,
      requested: requested.map(name),
      already_finished: ended.map(name),
      audit_id: auditId,
    })
    return 0
  })
}

/** Whether nothing of it is to come: it succeeded or was skipped, or it failed and no attempt follows. */
function hasEnded(desk: Desk, { key, event }: KnownEvent): boolean {
  const prefix = event.tenant_id === null || event.tenant_id === undefined ? '' : `tenant.${event.tenant_id}.`
  const own = (topic: string): ReturnType<Desk['log']['read']> =>
    desk.log.read({ topic: `${prefix}${topic}`, eventId: event.id }).filter(({ payload }) => {
      const { binding_key: binding, replay_of_event_id: original = null } = payload as DispatchFacts
      return binding === key && original === null
    })
  const last = own(OUTBOX).at(-1)
  if (last === undefined || last.kind === 'dispatch_started' || last.kind === 'dispatch_waiting') return false
  if (last.kind !== 'dispatch_failed') return true
  return (last.payload as DispatchFacts).is_last === true || own('trigger.attempts').at(-1)?.kind !== 'retry_scheduled'
}

function requestCancel(desk: Desk, { key, event }: KnownEvent, auditId: string): void {
  const tenant = event.tenant_id ?? null
  const request = {
    binding_key: key,
    event_id: event.id,
    requested_at: new Date().toISOString(),
    requested_by: process.env['USER'] ?? 'cli',
    audit_id: auditId,
  }
  const headers = { event_id: event.id, binding_key: key, ...(tenant === null ? {} : { tenant_id: tenant }) }
  desk.log.write((transaction) => {
    // The one that dispatchers follow has those of all tenants.
    transaction.append(makeRecord(CANCEL_REQUESTS, 'dispatch_cancel_requested', request, headers))
    if (tenant !== null)
      transaction.append(makeRecord(`tenant.${tenant}.${CANCEL_REQUESTS}`, 'dispatch_cancel_requested', request, headers))
  })
}

function noteOperation(desk: Desk, kind: string, payload: object): string {
  const auditId = `audit_${makeTimeUuid()}`
  const facts = {
    audit_id: auditId,
    requested_at: new Date().toISOString(),
    requested_by: process.env['USER'] ?? 'cli',
    ...payload,
  }
  desk.append('trigger.operations.audit', kind, facts)
  return auditId
}
