// Wrong guesses. A guard that fails marks its operation, so that the next text is without the guess; after a few of them the texts
// of the function are thrown away and may be made anew.

import { forget } from './state.js'
import { noteMiss } from './types.js'
import type { Site } from './site.js'

/** Failed guards of one function after which its texts are thrown away. */
const MAX_MISSES = 4

/** Failed guards after which a function is compiled without any. */
const TOO_MANY_MISSES = 40

/** Notes that a guard of `site` failed. */
export function noteGuardMiss({ code, instr }: Site): void {
  noteMiss(instr)
  code.compiled.misses++
  if (code.compiled.misses > TOO_MANY_MISSES) code.compiled.guesses = false
  if (code.compiled.misses % MAX_MISSES !== 0) return
  forget(code)
  for (const host of code.compiled.hosts) forget(host)
  code.compiled.hosts.clear()
}

/** Notes that a guess about arguments was wrong. */
export function noteEntryMiss(site: Site): void {
  site.code.compiled.entryGuesses = false
  noteGuardMiss(site)
}
