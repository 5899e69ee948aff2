// Flags of commands, as commander gives them to their actions.

import type { AuthorityFlags } from './authority.js'
import type { SizeFlags } from './further-limits.js'
import type { PeopleFlags } from './people/answers.js'

export interface RunFlags extends AuthorityFlags, SizeFlags, PeopleFlags {
  readonly extension?: readonly string[]
  readonly eval?: string
  readonly input?: string
  readonly json?: boolean
  readonly dryRun?: boolean
  readonly timeout?: number
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
