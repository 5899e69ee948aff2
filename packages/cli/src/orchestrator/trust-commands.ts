// `bridle trust`: the trust graph of a log, found by HARN_STATE_DIR.

import { EXIT_FAILURE } from '../errors.js'
import { tell } from '../printable.js'
import type { LocalFlags } from './commands.js'
import { Desk } from './desk.js'
import type { DeskFlags } from './desk.js'
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

/** Without a manifest: only the log is asked. */
export async function withLog<T>(flags: DeskFlags, work: (desk: Desk) => Promise<T>): Promise<T> {
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
