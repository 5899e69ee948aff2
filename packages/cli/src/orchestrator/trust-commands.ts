// `bridle trust` and `bridle trigger`: the trust graph and the events of a log, found by HARN_STATE_DIR.

import { CommandError, EXIT_FAILURE } from '../errors.js'
import { tell } from '../printable.js'
import { withDesk } from './commands.js'
import type { Handle, LocalFlags } from './commands.js'
import { Desk, makeRecord } from './desk.js'
import type { DeskFlags } from './desk.js'
import { makeTimeUuid } from './ids.js'
import { OUTBOX, listStranded } from './pumps.js'
import { joinFields, tellPretty } from './render.js'

interface TrustRecord {
  readonly timestamp: string
  readonly agent: string
  readonly action: string
  readonly outcome: string
  readonly autonomy_tier: string
  readonly trace_id: string
  readonly approver: string | null
}

export interface TrustQueryFlags extends DeskFlags {
  readonly agent?: string
  readonly action?: string
  readonly since?: string
  readonly until?: string
  readonly tier?: string
  readonly outcome?: string
  readonly limit?: number
  readonly groupedByTrace?: boolean
  readonly json?: boolean
  readonly summary?: boolean
}

/** Without a manifest: only the log is read. */
async function withLog<T>(flags: DeskFlags, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await Desk.openLog(flags)
  try {
    return await work(desk)
  } finally {
    await desk.close()
  }
}

/** `act-auto` on the command line is `act_auto` in records. */
function readTier(text: string): string {
  return text.replaceAll('-', '_')
}

export async function trustQueryCommand(flags: TrustQueryFlags): Promise<number> {
  const { agent, action, since, until, outcome, limit } = flags
  const filters = {
    agent: agent ?? null,
    action: action ?? null,
    since: since ?? null,
    until: until ?? null,
    tier: flags.tier === undefined ? null : readTier(flags.tier),
    outcome: outcome ?? null,
    limit: limit ?? null,
    grouped_by_trace: flags.groupedByTrace === true,
  }
  return withLog(flags, async (desk) => {
    if (flags.summary === true) {
      const records = (await desk.ask({
        action: 'trust_query',
        filters: { ...filters, grouped_by_trace: false },
      })) as readonly TrustRecord[]
      const agents = [...new Set(records.map((record) => record.agent))].sort()
      const scores = await Promise.all(agents.map(async (name) => desk.ask({ action: 'trust_score', agent: name })))
      if (flags.json === true) tellPretty(scores)
      else for (const score of scores) tell(`${joinFields(score as { readonly [name: string]: unknown })}\n`)
      return 0
    }
    const found = (await desk.ask({ action: 'trust_query', filters })) as readonly TrustRecord[]
    if (flags.json === true || flags.groupedByTrace === true) tellPretty(found)
    else if (found.length === 0) tell('no trust records\n')
    else
      for (const { timestamp, agent: who, action: what, outcome: how, autonomy_tier: tier, trace_id: trace } of found)
        tell(`${timestamp} ${joinFields({ agent: who, action: what, outcome: how, tier, trace_id: trace })}\n`)
    return 0
  })
}

export async function trustVerifyCommand(flags: LocalFlags): Promise<number> {
  return withLog(flags, async (desk) => {
    const report = (await desk.ask({ action: 'trust_verify' })) as {
      readonly verified: boolean
      readonly total: number
      readonly root_hash: string | null
      readonly errors: readonly string[]
    }
    if (flags.json === true) tellPretty(report)
    else {
      const { verified, total, root_hash: hash, errors } = report
      tell(`${joinFields({ verified, total, root_hash: hash })}\n`)
      for (const error of errors) tell(`- ${error}\n`)
    }
    return report.verified ? 0 : EXIT_FAILURE
  })
}

export async function trustMoveCommand(
  move: 'promote' | 'demote',
  agent: string,
  flags: DeskFlags & { readonly to: string; readonly reason?: string; readonly json?: boolean },
): Promise<number> {
  return withLog(flags, async (desk) => {
    const record = (await desk.ask({
      action: 'trust_record',
      decision: {
        agent,
        action: `trust.${move}`,
        approver: process.env['USER'] ?? null,
        outcome: 'success',
        autonomy_tier: readTier(flags.to),
        metadata: flags.reason === undefined ? {} : { reason: flags.reason },
      },
    })) as string
    if (flags.json === true) tellPretty({ record_id: record, agent, tier: readTier(flags.to) })
    else tell(`${move}d ${agent} to ${flags.to} (record ${record})\n`)
    return 0
  })
}

// -------------------------------------------------------------------------------------------------------------------- triggers

export interface TriggerReplayFlags extends LocalFlags {
  readonly diff?: boolean
  readonly asOf?: string
}

interface OutboxPayload {
  readonly event_id?: string
  readonly replay_of_event_id?: string | null
  readonly result?: unknown
  readonly error?: string | null
  readonly attempt?: number
  readonly handler_kind?: string
  readonly target_uri?: string
}

/** Dispatches a recorded event again, and reports differences. */
export async function triggerReplayCommand(eventId: string, flags: TriggerReplayFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const ends = new Set(['dispatch_succeeded', 'dispatch_failed', 'dispatch_skipped'])
    /** The last end of its own dispatches, or of its replays. */
    const readEnd = (isReplay: boolean): OutboxPayload & { readonly status: string } => {
      const found = desk.log.read({ topic: OUTBOX, eventId }).findLast(({ kind, payload }) => {
        const isOfReplay = (payload as OutboxPayload).replay_of_event_id != null
        return ends.has(kind) && isOfReplay === isReplay
      })
      const payload = (found?.payload ?? {}) as OutboxPayload
      return { ...payload, status: (found?.kind ?? 'unknown').slice('dispatch_'.length) }
    }
    const before = readEnd(false)
    const handle = (await desk.ask({ action: 'replay', event_id: eventId })) as Handle
    const after = readEnd(true)
    const describe = (end: OutboxPayload & { readonly status: string }): { readonly [name: string]: unknown } => ({
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
    tellPretty({
      event_id: eventId,
      binding_id: handle.binding_id,
      binding_version: handle.binding_version,
      ...(flags.asOf === undefined ? {} : { as_of: flags.asOf }),
      replay,
      ...(flags.diff === true ? { original, drift: { changed: fields.length > 0, fields } } : {}),
    })
    noteOperation(desk, 'trigger_replay', { event_id: eventId })
    return 0
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

/** Requests the cancellation of a dispatch in any process. */
export async function triggerCancelCommand(eventId: string, flags: LocalFlags): Promise<number> {
  return withLog(flags, async (desk) => {
    const keys = new Set<string>()
    const ended = new Set<string>()
    for (const { kind, payload } of desk.log.read({ topic: OUTBOX })) {
      const { event_id: id, binding_key: key = '' } = payload as OutboxPayload & { readonly binding_key?: string }
      if (id !== eventId) continue
      keys.add(key)
      if (kind === 'dispatch_started' || kind === 'dispatch_failed') ended.delete(key)
      else ended.add(key)
    }
    for (const { envelope } of listStranded(desk))
      if (envelope.event.id === eventId) keys.add(`${envelope.trigger_id}@v${envelope.binding_version}`)
    if (keys.size === 0) throw new CommandError(`unknown event id '${eventId}'`)
    const requested = [...keys].filter((key) => !ended.has(key))
    const auditId = noteOperation(desk, 'trigger_cancel', { event_id: eventId, requested })
    desk.log.write((transaction) => {
      for (const key of requested)
        transaction.append(
          makeRecord(
            'trigger.cancel.requests',
            'dispatch_cancel_requested',
            {
              binding_key: key,
              event_id: eventId,
              requested_at: new Date().toISOString(),
              requested_by: process.env['USER'] ?? 'cli',
              audit_id: auditId,
            },
            { event_id: eventId, binding_key: key },
          ),
        )
    })
    tellPretty({ event_id: eventId, requested, already_finished: [...ended], audit_id: auditId })
    return 0
  })
}
