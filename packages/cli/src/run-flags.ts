// Flags of commands, as commander gives them to their actions.

import type { AuthorityFlags } from './authority.js'
import type { LimitFlags } from './further-limits.js'

export interface RunFlags extends AuthorityFlags, LimitFlags {
  readonly extension?: readonly string[]
  readonly eval?: string
  readonly input?: string
  readonly json?: boolean
  readonly dryRun?: boolean
  readonly fuel?: number
  readonly timeout?: number
  readonly maxHeap?: number
  readonly record?: string
  readonly llmMock?: string
  readonly snapshot?: string
}

export interface ConformanceFlags {
  readonly filter?: string
  readonly jobs?: number
  readonly mode: string
  readonly timeout: number
  readonly json?: boolean
}
