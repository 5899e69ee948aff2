// Commands that need no running server: each opens the state folder and the manifest itself.

import type { Plain } from '@bridle/vm'
import { CommandError, UsageError } from '../errors.js'
import { Desk } from './desk.js'
import type { Binding, DeskFlags } from './desk.js'
import { formatAge, parseDuration } from './durations.js'
import { OUTBOX, listStranded } from './pumps.js'
import { joinFields, orDash, renderFields, renderList, tellBlocks, tellPretty } from './render.js'
import { readMetrics, readSnapshot } from './snapshot.js'

export interface LocalFlags extends DeskFlags {
  readonly json?: boolean
}

/** A handle of a dispatch, as `trigger_fire` returns it. */
export interface Handle {
  readonly event_id: string
  readonly binding_id: string
  readonly binding_version: number
  readonly status: string
  readonly replay_of_event_id: string | null
  readonly dlq_entry_id: string | null
  readonly error: string | null
  readonly result: unknown
}

interface DeadLetter {
  readonly id: string
  readonly event_id: string
  readonly binding_id: string
  readonly error: string
  readonly [name: string]: unknown
}

/** With the project installed as the server does. */
export async function withDesk<T>(flags: DeskFlags, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await Desk.open(flags)
  try {
    await desk.installLocally()
    return await work(desk)
  } finally {
    await desk.close()
  }
}

function describeHandle(handle: Handle): { readonly [name: string]: unknown } {
  return {
    binding_id: handle.binding_id,
    binding_version: handle.binding_version,
    event_id: handle.event_id,
    status: handle.status,
    replay_of_event_id: handle.replay_of_event_id,
    dlq_entry_id: handle.dlq_entry_id,
    error: handle.error,
    result: handle.result,
  }
}

export async function fireCommand(id: string, flags: LocalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const handle = (await desk.ask({ action: 'fire', id })) as Handle
    if (flags.json === true) tellPretty(handle)
    else tellBlocks(renderFields('Synthetic event dispatched:', describeHandle(handle)))
    return 0
  })
}

export async function replayCommand(eventId: string, flags: LocalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const handle = (await desk.ask({ action: 'replay', event_id: eventId })) as Handle
    if (flags.json === true) tellPretty(handle)
    else tellBlocks(renderFields('Replay result:', describeHandle(handle)))
    return 0
  })
}

// ---------------------------------------------------------------------------------------------------------------- dead letters

export interface DlqFlags extends LocalFlags {
  readonly list?: boolean
  readonly replay?: string
  readonly discard?: string
}

/** Events that the dispatcher gave up on and that were not resolved since. */
export async function describeDeadLetters(desk: Desk): Promise<{
  readonly dispatcher_dlq_depth: number
  readonly pending_entries: number
  readonly entries: readonly DeadLetter[]
}> {
  const entries = (await desk.ask({ action: 'dead_letters' })) as readonly DeadLetter[]
  return { dispatcher_dlq_depth: countDeadLetters(desk), pending_entries: entries.length, entries }
}

function countDeadLetters(desk: Desk): number {
  return desk.log.read({ topic: 'trigger.dlq', kind: 'dlq_moved' }).length
}

export async function dlqCommand(flags: DlqFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    if (flags.replay !== undefined) return replayLetter(desk, flags.replay, flags.json === true)
    if (flags.discard !== undefined) {
      const outcome = (await desk.ask({ action: 'discard_letter', entry_id: flags.discard })) as { readonly entry: DeadLetter }
      if (flags.json === true) tellPretty(outcome)
      else {
        const { id, event_id } = outcome.entry
        tellBlocks(renderFields('DLQ entry discarded:', { entry_id: id, event_id, state: 'discarded' }))
      }
      return 0
    }
    const found = await describeDeadLetters(desk)
    if (flags.json === true) tellPretty(found)
    else {
      const lines = found.entries.map(
        (each) => `${each.id} binding=${each.binding_id} event=${each.event_id} error=${each.error}`,
      )
      tellBlocks(
        renderList('DLQ:', [
          `dispatcher_dlq_depth=${found.dispatcher_dlq_depth}`,
          `pending_entries=${found.pending_entries}`,
          ...(lines.length === 0 ? ['none'] : lines),
        ]),
      )
    }
    return 0
  })
}

async function replayLetter(desk: Desk, entryId: string, json: boolean): Promise<number> {
  const outcome = (await desk.ask({ action: 'replay_letter', entry_id: entryId })) as {
    readonly entry_id: string
    readonly handle: Handle
  }
  if (json) tellPretty(outcome)
  else {
    const { event_id, status, error, replay_of_event_id } = outcome.handle
    tellBlocks(renderFields('DLQ replay:', { entry_id: outcome.entry_id, event_id, status, error, replay_of_event_id }))
  }
  return 0
}

// --------------------------------------------------------------------------------------------------------------------- inspect

const RECENT = new Set(['dispatch_succeeded', 'dispatch_failed', 'dispatch_skipped'])
const MOST_RECENT = 20
const SHOWN_RECENT = 5
const MICROS = 1_000_000

interface Recent {
  readonly kind: string
  readonly trigger_id: string | null
  readonly event_id: string | null
  readonly attempt: number | null
  readonly replay_of_event_id: string | null
  readonly [name: string]: unknown
}

function listRecent(desk: Desk): readonly Recent[] {
  return desk.log
    .read({ topic: OUTBOX })
    .filter(({ kind }) => RECENT.has(kind))
    .slice(-MOST_RECENT)
    .reverse()
    .map(({ kind, payload, headers, occurredAtMs }) => {
      const facts = payload as { readonly [name: string]: Plain }
      const isSkipped = kind === 'dispatch_skipped'
      return {
        kind,
        status: kind.slice('dispatch_'.length),
        occurred_at_ms: occurredAtMs,
        trigger_id: (facts['trigger_id'] ?? headers['trigger_id'] ?? null) as string | null,
        event_id: (facts['event_id'] ?? null) as string | null,
        attempt: (facts['attempt'] ?? null) as number | null,
        replay_of_event_id: (facts['replay_of_event_id'] ?? null) as string | null,
        handler_kind: facts['handler_kind'] ?? null,
        target_uri: facts['target_uri'] ?? null,
        error: facts['error'] ?? null,
        result: facts['result'] ?? null,
        ...(isSkipped ? { skip_stage: facts['skip_stage'], detail: facts['detail'] } : {}),
      }
    })
}

/** Cost of the predicates of all bindings, against the limits of the orchestrator. */
function describeBudget(desk: Desk): { readonly [name: string]: number | null } {
  const { daily_cost_usd: daily, hourly_cost_usd: hourly } = desk.project.settings.budget
  const now = Date.now()
  let day = 0
  let hour = 0
  for (const { id, version } of desk.bindings) {
    const window = desk.log.get('trigger_windows', `${id}@v${version}`).value as {
      readonly hour: number
      readonly day: number
      readonly cost_hour: number
      readonly cost_day: number
    } | null
    if (window?.day === Math.floor(now / 86_400_000)) day += window.cost_day / MICROS
    if (window?.hour === Math.floor(now / 3_600_000)) hour += window.cost_hour / MICROS
  }
  return {
    daily_limit_usd: daily,
    hourly_limit_usd: hourly,
    used_today_usd: day,
    used_hour_usd: hour,
    remaining_today_usd: daily === null ? null : Math.max(0, daily - day),
    remaining_hour_usd: hourly === null ? null : Math.max(0, hourly - hour),
  }
}

function describeFlow(desk: Desk, binding: Binding): { readonly [rule: string]: unknown } {
  const rules = Object.entries(binding.flow_control).map(([rule, limits]) => [
    rule,
    { ...limits, key: limits.key ?? null, queue_depth_by_key: {} },
  ])
  const { daily_cost_usd, hourly_cost_usd } = binding.budget
  const cost = daily_cost_usd === null && hourly_cost_usd === null ? null : { daily_cost_usd, hourly_cost_usd }
  return { ...(Object.fromEntries(rules) as object), cost_budget: cost }
}

export async function inspectDesk(desk: Desk): Promise<{
  readonly triggers: readonly InspectedTrigger[]
  readonly budget: { readonly [name: string]: number | null }
  readonly connectors: readonly string[]
  readonly activations: readonly { readonly provider: string; readonly binding_count: number }[]
  readonly snapshot: object | null
  readonly recent_dispatches: readonly Recent[]
}> {
  const snapshot = readSnapshot(desk)
  return {
    triggers: desk.bindings.map((binding) => {
      const { id, provider, kind, handler } = binding
      const kept = snapshot?.triggers.find((each) => each.id === id)
      const version = kept?.version ?? binding.version
      const metrics = readMetrics(desk, { ...binding, version })
      const count = (name: string): number => metrics[name] ?? 0
      return {
        id,
        provider,
        kind,
        handler,
        version,
        state: kept?.state ?? binding.state,
        metrics: {
          received: count('received'),
          dispatched: count('dispatched'),
          failed: count('failed'),
          in_flight: count('in_flight'),
          autonomous_decisions_total: count('autonomous_decisions_total'),
          autonomous_decisions_hour: count('autonomous_decisions_hour'),
          autonomous_decisions_today: count('autonomous_decisions_today'),
        },
        flow_control: describeFlow(desk, binding),
      }
    }),
    budget: describeBudget(desk),
    connectors: snapshot?.connectors ?? [],
    activations: snapshot?.activations ?? [],
    snapshot,
    recent_dispatches: listRecent(desk),
  }
}

interface InspectedTrigger {
  readonly id: string
  readonly provider: string
  readonly kind: string
  readonly handler: string
  readonly version: number
  readonly state: string
  readonly metrics: { readonly [name: string]: number }
  readonly flow_control: object
}

export async function inspectCommand(flags: LocalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const found = await inspectDesk(desk)
    if (flags.json === true) {
      tellPretty(found)
      return 0
    }
    const snapshot = readSnapshot(desk)
    const { budget } = found
    const limits = [
      ['daily', budget['used_today_usd'], budget['remaining_today_usd'], budget['daily_limit_usd']] as const,
      ['hourly', budget['used_hour_usd'], budget['remaining_hour_usd'], budget['hourly_limit_usd']] as const,
    ].filter(([, , , limit]) => limit !== null)
    const usd = (value: number | null | undefined): string => `$${(value ?? 0).toFixed(6)}`
    tellBlocks(
      renderList(
        'Triggers:',
        found.triggers.map(({ id, provider, kind, state, version, metrics: { received, dispatched, failed, in_flight } }) => {
          const counts = `received:${received} dispatched:${dispatched} failed:${failed} in_flight:${in_flight}`
          return `${id} provider=${provider} kind=${kind} state=${state} version=${version} metrics=${counts}`
        }),
      ),
      ...(limits.length === 0
        ? []
        : [
            renderList(
              'Budget:',
              limits.map(([name, used, left, limit]) => `${name} used=${usd(used)} remaining=${usd(left)} limit=${usd(limit)}`),
            ),
          ]),
      renderList(
        'Connectors:',
        found.activations.map(({ provider, binding_count: count }) => `${provider} bindings=${count}`),
      ),
      renderFields('Snapshot:', { status: snapshot?.status, bind: snapshot?.bind }),
      renderList(
        'Recent dispatches:',
        found.recent_dispatches
          .slice(0, SHOWN_RECENT)
          .map((each) =>
            [
              each.kind,
              `trigger=${orDash(each.trigger_id)}`,
              `event=${orDash(each.event_id)}`,
              `attempt=${orDash(each.attempt)}`,
              `replay_of=${orDash(each.replay_of_event_id)}`,
            ].join(' '),
          ),
      ),
    )
    return 0
  })
}

// -------------------------------------------------------------------------------------------------------------------- recovery

export interface RecoverFlags extends LocalFlags {
  readonly envelopeAge: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export interface StrandedFacts {
  readonly inbox_offset: number
  readonly event_id: string
  readonly trigger_id: string
  readonly binding_version: number
  readonly provider: string
  readonly kind: string
  readonly received_at: string
  readonly age: string
}

export function describeStranded(desk: Desk, minAgeMs = 0): readonly StrandedFacts[] {
  return listStranded(desk, minAgeMs).map(({ offset, envelope: { trigger_id, binding_version, event }, ageMs }) => ({
    inbox_offset: offset,
    event_id: event.id,
    trigger_id,
    binding_version,
    provider: event.provider,
    kind: event.kind,
    received_at: event.received_at,
    age: formatAge(ageMs),
  }))
}

export function renderStranded({ inbox_offset, received_at, age, ...facts }: StrandedFacts): string {
  return joinFields({ ...facts, age, received_at, inbox_offset })
}

export async function recoverCommand(flags: RecoverFlags): Promise<number> {
  const minAge = parseDuration(flags.envelopeAge)
  if (flags.dryRun !== true && flags.yes !== true)
    throw new CommandError('refusing to replay stranded envelopes without --yes; pass --dry-run to inspect first')
  return withDesk(flags, async (desk) => {
    const candidates = describeStranded(desk, minAge)
    const isDry = flags.dryRun === true
    const results =
      isDry || candidates.length === 0
        ? []
        : ((await desk.ask({
            action: 'recover',
            envelopes: listStranded(desk, minAge).map(({ envelope }) => envelope),
          })) as readonly Handle[])
    if (flags.json === true) {
      tellPretty({ dry_run: isDry, min_envelope_age: flags.envelopeAge, stranded_envelopes: candidates, results })
      return 0
    }
    tellBlocks(
      renderFields('Recovery:', {
        dry_run: isDry,
        min_envelope_age: flags.envelopeAge,
        stranded_envelopes: candidates.length,
      }),
      renderList('Candidates:', candidates.map(renderStranded)),
      ...(isDry
        ? []
        : [
            renderList(
              'Replay results:',
              results.map(({ event_id, status, replay_of_event_id, binding_id, binding_version, dlq_entry_id, error }) =>
                joinFields({ event_id, status, replay_of_event_id, binding_id, binding_version, dlq_entry_id, error }),
              ),
            ),
          ]),
    )
    return 0
  })
}

// ---------------------------------------------------------------------------------------------------------- people and reloads

export interface ResumeFlags extends LocalFlags {
  readonly reviewer?: string
  readonly reason?: string
}

/** Answers an escalation that a dispatch waits for. */
export async function resumeCommand(requestId: string, flags: ResumeFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const { reviewer = 'manual', reason = null } = flags
    const asked = desk.log
      .read({ topic: 'hitl.escalations' })
      .find(({ payload }) => (payload as { readonly request_id?: string }).request_id === requestId)
    if (asked === undefined) throw new CommandError(`unknown escalation request '${requestId}'`)
    const answer = { accepted: true, approved: true, reviewer, reason, accepted_at: new Date().toISOString() }
    desk.append('hitl.escalations', 'hitl.response_received', { request_id: requestId, ...answer })
    await signalWaiting(desk, requestId, answer)
    if (flags.json === true) tellPretty({ request_id: requestId, reviewer, reason })
    else tellBlocks(renderFields('Resumed escalation:', { request_id: requestId, reviewer, reason }))
    return 0
  })
}

/** The run whose dispatch asked: the name of the request contains its event. */
async function signalWaiting(desk: Desk, requestId: string, answer: object): Promise<void> {
  const rows = await desk.store.list({ state: 'parked', most: 1000 })
  const row = rows.find(({ runId }) => requestId.includes(runId.slice(runId.lastIndexOf('/') + 1)))
  const token = row?.waitsFor.at(0)
  if (row !== undefined && token !== undefined)
    await desk.store.signal(row.runId, token, JSON.stringify({ ok: answer }), Date.now())
}

export interface ReloadFlags extends DeskFlags {
  readonly adminUrl?: string
  readonly timeout?: number
  readonly json?: boolean
}

interface ReloadAnswer {
  readonly summary?: {
    readonly added: readonly string[]
    readonly modified: readonly string[]
    readonly removed: readonly string[]
  }
}

/** Asks the running server. */
export async function reloadCommand(flags: ReloadFlags): Promise<number> {
  const { readCredentials } = await import('./listener.js')
  const { signCanonical } = await import('./sign.js')
  const stateDir = flags.stateDir ?? process.env['HARN_ORCHESTRATOR_STATE_DIR'] ?? '.harn/orchestrator'
  const base = flags.adminUrl ?? readSnapshot({ stateDir })?.listener_url
  if (base === undefined) throw new CommandError('no running orchestrator is known here: give --admin-url')
  const { apiKeys, hmacSecret } = readCredentials()
  const [key] = apiKeys
  if (key === undefined && hmacSecret === null)
    throw new CommandError(
      'set HARN_ORCHESTRATOR_API_KEYS or HARN_ORCHESTRATOR_HMAC_SECRET so the reload command can authenticate',
    )
  const body = JSON.stringify({ source: 'cli' })
  const url = `${base.replace(/\/$/, '')}/admin/reload`
  const authorization = key === undefined ? signCanonical(hmacSecret!, 'POST', '/admin/reload', body) : `Bearer ${key}`
  const timeout = (flags.timeout ?? 10) * 1000
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body,
    signal: AbortSignal.timeout(timeout),
  }).catch((cause: unknown) => {
    throw new CommandError(`orchestrator reload failed: ${cause instanceof Error ? cause.message : String(cause)}`)
  })
  const text = await response.text()
  if (!response.ok) throw new CommandError(`orchestrator reload failed with HTTP ${response.status}: ${text}`)
  const answer = JSON.parse(text) as ReloadAnswer
  if (flags.json === true) tellPretty(answer)
  else {
    const { added = [], modified = [], removed = [] } = answer.summary ?? {}
    tellBlocks(`reload ok via cli (+${added.length} ~${modified.length} -${removed.length})`)
  }
  return 0
}

export function readCount(text: string | undefined, name: string, absent: number): number {
  if (text === undefined) return absent
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`${name} must be a whole number above 0, got ${text}`)
  return value
}
