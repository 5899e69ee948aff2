// The authority of a run that continues: the intersection of the flags and the stored authority. `--widen` ignores the stored
// one, and what that adds is reported.

import type { RunAuthority, Runtime } from '@bridle/stdlib-tools'
import { makeAuthority, withLock } from './authority.js'
import type { Authority, AuthorityFlags } from './authority.js'
import { listWidenings } from './confinement.js'
import { UsageError } from './errors.js'
import { complain } from './printable.js'

export interface ResumingFlags extends AuthorityFlags {
  readonly widen?: boolean
}

export interface Resuming {
  /** The stored authority; null if an older version stored none. */
  readonly before: RunAuthority | null
  /** Key of the script. */
  readonly script: string
  /** Whether anything is performed, so that authority matters. */
  readonly isAsked?: boolean
}

/** Throws UsageError and CommandError. */
export async function makeResumingAuthority(
  flags: ResumingFlags,
  { before, script, isAsked = true }: Resuming,
): Promise<{ readonly authority: Authority; readonly isWidening: boolean }> {
  if (before === null && isAsked && !hasFlags(flags))
    throw new UsageError('it was written by a version that did not write down what the run may do', {
      code: 'authority',
      hint: 'say it now, by --sandbox, --root, --grant, --allow or --deny; --widen gives it all that you may do',
    })
  const isWidening = flags.widen === true || before === null
  const authority = makeAuthority(flags, process.env, isWidening ? null : before)
  return { authority: await withLock(authority, flags, script), isWidening }
}

function hasFlags({ allow, deny, grant, root, sandbox, widen }: ResumingFlags): boolean {
  return [allow, deny, grant, root, sandbox, widen].some((flag) => flag !== undefined)
}

/** Reports on standard error what `--widen` adds to the run's authority. */
export function tellWidened(runtime: Runtime, before: RunAuthority, authority: Authority): void {
  const lines = [...runtime.widenings(before), ...listWidenings(before, authority)]
  complain(
    lines.length === 0
      ? 'bridle: --widen gives the run nothing that it did not have\n'
      : `bridle: widened:\n${lines.map((line) => `  ${line}\n`).join('')}`,
  )
}
