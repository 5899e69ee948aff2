// Budgets of a run: how often, and for how much, tools of a name may be called. They are grants of the host that count, so
// aliases, ids and builtins use up the same budget; the counters are state of the machine and in its snapshots.

import type { GrantScope } from './grant-ceiling.js'
import { grantScope } from './host-grants.js'

export interface Budget {
  readonly calls?: number
  /** Of model calls, in and out. */
  readonly tokens?: number
  /** Of model calls, and of tools that say what a call costs (`cost_usd`). */
  readonly usd?: number
}

/** By alias, tool id, family (`llm`, `http`) or pattern. */
export type Budgets = { readonly [name: string]: Budget }

export function makeBudgetScope(budgets: Budgets): GrantScope {
  return grantScope(
    Object.fromEntries(
      Object.entries(budgets).map(([name, { calls, tokens, usd }]) => [
        name,
        {
          ...(calls === undefined ? {} : { maxCalls: calls }),
          ...(tokens === undefined ? {} : { maxTotalTokens: tokens }),
          ...(usd === undefined ? {} : { maxCostUsd: usd }),
        },
      ]),
    ),
  )
}

/** The budgets of one run, as its host sees them. */
export class BudgetMeter {
  private readonly budgets: Budgets
  private readonly scope: number
  private readonly counters: () => ReadonlyMap<string, number>

  /** `scope` is the place of the budgets among the scopes of the host. */
  constructor(budgets: Budgets, scope: number, counters: () => ReadonlyMap<string, number>) {
    this.budgets = budgets
    this.scope = scope
    this.counters = counters
  }

  /** The remaining budget; null for a name without one. */
  remaining(name: string): Budget | null {
    if (!Object.hasOwn(this.budgets, name)) return null
    const { calls, tokens, usd } = this.budgets[name]!
    const countLeft = (limit: number, counter: string): number =>
      Math.max(0, limit - (this.counters().get(`host:${this.scope}:${name}${counter}`) ?? 0))
    return {
      ...(calls === undefined ? {} : { calls: countLeft(calls, '') }),
      ...(tokens === undefined ? {} : { tokens: countLeft(tokens, '#tokens') }),
      ...(usd === undefined ? {} : { usd: countLeft(usd, '#usd') }),
    }
  }

  isExhausted(name: string): boolean {
    return Object.values(this.remaining(name) ?? {}).some((left) => left === 0)
  }
}
