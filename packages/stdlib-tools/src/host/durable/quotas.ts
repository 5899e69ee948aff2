// Quotas of tenants and tools, so that none can starve the others.

import type { ToolErrorCode } from '../../library/tool-errors.js'
import { ToolError } from '../../tools/host-tools/errors.js'

/** Absent values have no limit. Stored in the store, so that all its workers use them. */
export interface TenantQuota {
  /** Runs in the memory of workers; further ones wait. */
  readonly running?: number
  /** Runs that wait, or will: parked, at work, or without a worker; further submissions are refused. */
  readonly parked?: number
  /** Of snapshots, as they are kept; submissions are refused beyond it. */
  readonly bytes?: number
  /** Further submissions are refused, and say when to come again. */
  readonly submissionsPerSecond?: number
  /** Calls of a worker; further ones wait. */
  readonly effectsPerSecond?: number
  /** Part of the workers' room, beside the others; 1 when absent. */
  readonly weight?: number
}

/** Limits on the calls of one worker; further ones wait. */
export interface ToolLimit {
  readonly atOnce?: number
  readonly perSecond?: number
}

const QUOTAS = ['running', 'parked', 'bytes', 'submissionsPerSecond', 'effectsPerSecond', 'weight'] as const

/** Raises ToolError `invalid_args`. */
export function checkQuota(quota: TenantQuota): TenantQuota {
  for (const [name, value] of Object.entries(quota)) {
    if (!QUOTAS.some((each) => each === name)) throw new ToolError('invalid_args', `a quota has no ${JSON.stringify(name)}`)
    const isAmount = typeof value === 'number' && Number.isFinite(value) && value >= 0
    if (!isAmount || (name === 'weight' && value === 0))
      throw new ToolError('invalid_args', `the quota ${name} must be an amount, and is ${JSON.stringify(value)}`)
  }
  return quota
}

/** Raised by `submit`: nothing was stored. */
export class QuotaExceeded extends ToolError<Extract<ToolErrorCode, 'quota_exceeded'>> {
  constructor(tenant: string, quota: keyof TenantQuota, limit: number, used: number, retryAfterMs?: number) {
    super('quota_exceeded', `the tenant ${JSON.stringify(tenant)} is over its quota ${quota}: ${used} of ${limit}`, {
      details: { tenant, quota, limit, used },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
}

/** How many units there are at `now`, of a bucket that holds those of one second. */
export function fillBucket(left: number, perSecond: number, elapsedMs: number): number {
  return Math.min(Math.max(1, perSecond), left + (perSecond * Math.max(0, elapsedMs)) / 1000)
}

interface Gate {
  /** When the next call may begin by the rate, milliseconds since 1970. */
  nextAt: number
  busy: number
  readonly waiting: (() => void)[]
}

export interface PacerParts {
  readonly now: () => number
  readonly timer: (atMs: number, fire: () => void) => () => void
  readonly tools: { readonly [tool: string]: ToolLimit }
}

/** Holds calls of a worker back until their tenant and their tool have room. */
export class Pacer {
  private readonly parts: PacerParts
  private readonly tenants = new Map<string, Gate>()
  private readonly tools = new Map<string, Gate>()

  constructor(parts: PacerParts) {
    this.parts = parts
  }

  /** Null: the call may begin now, and nothing counts it. Else what says that it has ended, when it may begin. */
  admit(tenant: string, { effectsPerSecond }: TenantQuota, tool: string | null): Promise<() => void> | null {
    const limit = tool !== null && Object.hasOwn(this.parts.tools, tool) ? this.parts.tools[tool]! : {}
    if (effectsPerSecond === undefined && limit.perSecond === undefined && limit.atOnce === undefined) return null
    return this.enter(tenant, effectsPerSecond, tool, limit)
  }

  private async enter(
    tenant: string,
    effectsPerSecond: number | undefined,
    tool: string | null,
    { atOnce, perSecond }: ToolLimit,
  ): Promise<() => void> {
    if (effectsPerSecond !== undefined) await this.pace(findGate(this.tenants, tenant), effectsPerSecond)
    const gate = tool === null ? null : findGate(this.tools, tool)
    if (gate !== null && perSecond !== undefined) await this.pace(gate, perSecond)
    if (gate === null || atOnce === undefined) return () => {}
    if (gate.busy >= Math.max(1, atOnce)) await new Promise<void>((resolve) => gate.waiting.push(resolve))
    else gate.busy++
    return () => {
      // The room goes to the next one in line.
      const next = gate.waiting.shift()
      if (next === undefined) gate.busy--
      else next()
    }
  }

  /** Those of one second may begin together; the others one after the other. */
  private async pace(gate: Gate, perSecond: number): Promise<void> {
    const now = this.parts.now()
    const stepMs = 1000 / Math.max(perSecond, 0.001)
    const burstMs = Math.max(0, 1000 - stepMs)
    const at = Math.max(gate.nextAt, now - burstMs)
    gate.nextAt = at + stepMs
    if (at > now) await new Promise<void>((resolve) => void this.parts.timer(at, resolve))
  }
}

function findGate(gates: Map<string, Gate>, name: string): Gate {
  let gate = gates.get(name)
  if (gate === undefined) {
    gate = { nextAt: -Infinity, busy: 0, waiting: [] }
    gates.set(name, gate)
  }
  return gate
}
