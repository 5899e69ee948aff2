// Wrong guesses. A guard that fails marks its operation, so that the next code does without the guess. After a few failures the
// function's code is discarded and may be compiled again.

import { forget } from './state.js'
import { noteMiss } from './types.js'
import type { Site } from './site.js'

/** Failed guards of one function after which its code is discarded. */
const MAX_MISSES = 4

/** Failed guards after which a function is compiled without any. */
const TOO_MANY_MISSES = 40

/** Records that a guard of `site` failed. */
export function noteGuardMiss({ code, instr }: Site): void {
  noteMiss(instr)
  code.compiled.misses++
  if (code.compiled.misses > TOO_MANY_MISSES) code.compiled.guesses = false
  if (code.compiled.misses % MAX_MISSES !== 0) return
  forget(code)
  for (const host of code.compiled.hosts) forget(host)
  code.compiled.hosts.clear()
}

/** Records that a guess about arguments was wrong. */
export function noteEntryMiss(site: Site): void {
  site.code.compiled.entryGuesses = false
  noteGuardMiss(site)
}
