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
  /** Tells at the end where containers were copied. */
  readonly copies?: boolean
  readonly timeout?: number
  readonly record?: string
  readonly llmMock?: string
  readonly snapshot?: string
  /** Where the run is kept, for durable runs. */
  readonly store?: string
  readonly id?: string
  readonly tenant?: string
}

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
  /** Compiled scripts are kept under its name; not at all without one. */
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
