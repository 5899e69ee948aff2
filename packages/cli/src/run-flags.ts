// Flags of commands, as commander passes them to their actions.

import type { AuthorityFlags } from './authority.js'
import type { SizeFlags } from './further-limits.js'
import type { PeopleFlags } from './people/answers.js'

export interface RunFlags extends AuthorityFlags, SizeFlags, PeopleFlags {
  readonly extension?: readonly string[]
  readonly eval?: string
  readonly input?: string
  readonly json?: boolean
  readonly dryRun?: boolean
  /** Reports at the end where containers were copied. */
  readonly copies?: boolean
  readonly timeout?: number
  readonly record?: string
  readonly llmMock?: string
  readonly snapshot?: string
  /** The store of durable runs. */
  readonly store?: string
  readonly id?: string
  readonly tenant?: string
}

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
  /** Key of the program cache; nothing is cached without it. */
  readonly build?: string | undefined
  /** Where output goes; standard output when absent. */
  readonly print?: (text: string) => void
}

export interface ConformanceFlags {
  readonly filter?: string
  readonly jobs?: number
  readonly mode: string
  readonly timeout: number
  readonly json?: boolean
}
