// Calls of a script, for the model that wrote it: per tool the number of calls, failures, and the cost.

import type { Plain } from '@bridle/vm'
import type { RunEvent } from '../host/events.js'

export interface CallSummary {
  readonly tool: string
  readonly calls: number
  readonly failed?: number
  /** Milliseconds that the calls took together. */
  readonly ms?: number
  /** What the calls cost, where the tool says what a call does. */
  readonly usd?: number
}

export class CallCounter {
  private readonly found = new Map<string, { calls: number; failed: number; ms: number; usd: number }>()
  private readonly open = new Map<number, { readonly tool: string; readonly since: number }>()
  private readonly costOf: (tool: string) => number

  constructor(costOf: (tool: string) => number, before: Plain = null) {
    this.costOf = costOf
    for (const { tool, calls, failed = 0, ms = 0, usd = 0 } of (before ?? []) as unknown as readonly CallSummary[])
      this.found.set(tool, { calls, failed, ms, usd })
  }

  count(event: RunEvent): void {
    if (event.type === 'effect') {
      const tool = nameCall(event.kind, event.args)
      if (tool === null) return
      this.open.set(event.id, { tool, since: Date.now() })
      const counted = this.found.get(tool) ?? { calls: 0, failed: 0, ms: 0, usd: 0 }
      counted.calls++
      counted.usd += this.costOf(tool)
      this.found.set(tool, counted)
    } else if (event.type === 'outcome') {
      const call = this.open.get(event.id)
      this.open.delete(event.id)
      if (call === undefined) return
      const counted = this.found.get(call.tool)!
      counted.ms += Date.now() - call.since
      if (!event.ok) counted.failed++
    }
  }

  list(): readonly CallSummary[] {
    return [...this.found].map(([tool, { calls, failed, ms, usd }]) => ({
      tool,
      calls,
      ...(ms === 0 ? {} : { ms }),
      ...(failed === 0 ? {} : { failed }),
      ...(usd === 0 ? {} : { usd: Number(usd.toFixed(6)) }),
    }))
  }

  toPlain(): Plain {
    return this.list() as unknown as Plain
  }
}

/** Calls that a model would recognise; null for what a run does on its own account. */
function nameCall(kind: string, args: { readonly [key: string]: Plain }): string | null {
  const readName = (key: string): string | null => (typeof args[key] === 'string' ? args[key] : null)
  switch (kind) {
    case 'tool.call':
      return readName('tool')
    case 'host.tool':
      return args['op'] === 'call' ? readName('name') : null
    case 'host.call': {
      const name = readName('name')
      // What a script asks about itself.
      return name?.startsWith('runtime.') === true ? null : name
    }
    case 'mcp.request': {
      const { params } = args
      const name = typeof params === 'object' && params !== null && 'name' in params ? params['name'] : null
      return typeof name === 'string' ? name : 'mcp'
    }
    default:
      return /^(?:clock|random|trace|approval|terminal|process\.info|data|compress)/.test(kind) ? null : kind
  }
}
