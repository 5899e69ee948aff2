// Budgets per client. Clients without authentication share one budget, so that a new session does not give a new budget.

import { matchStars } from '@bridle/compiler/grants'
import { ToolError } from '../tools/host-tools/errors.js'
import type { ClientBudgets } from './config.js'

const CONCURRENT = 8

export class ClientLedger {
  private readonly budgets: ClientBudgets
  private readonly now: () => number
  private readonly used = new Map<string, number>()
  private running = 0
  private since: number

  constructor(budgets: ClientBudgets, now: () => number) {
    this.budgets = budgets
    this.now = now
    this.since = now()
  }

  /** Throws ToolError when the client may not run another one; gives what ends it. */
  beginRun(): () => void {
    const { runs, concurrent = CONCURRENT } = this.budgets
    if (this.running >= concurrent)
      throw new ToolError('rate_limit', `${concurrent} scripts of this client run already: wait until one has ended`)
    this.take('runs', runs, 'scripts')
    this.running++
    return () => {
      this.running--
    }
  }

  /** Throws ToolError. A refused call uses nothing up. */
  takeCall(tool: string): void {
    const { calls, tools = {} } = this.budgets
    const limits = Object.entries(tools).filter(([pattern]) => matchStars(pattern, tool))
    for (const [pattern, most] of limits) this.check(`tool ${pattern}`, most, `calls of ${pattern}`)
    this.take('calls', calls, 'calls of tools')
    for (const [pattern] of limits) this.count(`tool ${pattern}`)
  }

  private take(key: string, most: number | undefined, what: string): void {
    this.check(key, most, what)
    this.count(key)
  }

  private check(key: string, most: number | undefined, what: string): void {
    const { windowMs } = this.budgets
    if (windowMs !== undefined && this.now() - this.since >= windowMs) {
      this.used.clear()
      this.since = this.now()
    }
    if (most !== undefined && (this.used.get(key) ?? 0) >= most)
      throw new ToolError('budget_exhausted', `the budget of this client is used up: ${most} ${what}${describeWindow(windowMs)}`)
  }

  private count(key: string): void {
    this.used.set(key, (this.used.get(key) ?? 0) + 1)
  }
}

const describeWindow = (windowMs: number | undefined): string => (windowMs === undefined ? '' : ` in ${windowMs} ms`)
