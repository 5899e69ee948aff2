// Runs one input under the watchdog, through `Runtime` with every power over a world in memory, and says what it broke.

import {
  MemoryFs,
  MemoryStore,
  MemoryTerminal,
  VirtualClock,
  createRuntime,
  memoryProcess,
  scriptedHttp,
  seededRandom,
} from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import { compressProvider } from '@bridle/stdlib-tools/node'
import type { Input } from './generate.js'
import type { Watchdog } from './watchdog.js'

export interface Verdict {
  readonly input: Input
  readonly status: string
  readonly longestMs: number
  readonly grownBytes: number
  /** What breaks a promise by itself; holds and growth are for the caller to weigh. */
  readonly complaint: string | null
}

/** The limits of the inputs: what they take beyond is to be stopped. */
export const LIMITS = { fuel: 200_000_000, heap: 64 << 20 }

/** An input that waits or works for longer is cancelled, which must work. */
const LONG_ENOUGH_MS = 400

/** Texts of JavaScript's own errors; a script that sees one met a place that nobody thought of. */
const OF_JAVASCRIPT =
  /\b(?:TypeError|RangeError|ReferenceError|SyntaxError)\b(?!:? (?:expected|unexpected))|is not a function|(?<!of type \w{1,20} )is not iterable|Cannot read propert|Maximum call stack|Invalid (?:string|array) length|Cannot mix BigInt|\[object Object\]|undefined is not/

export function hostileRuntime(): Runtime {
  return createRuntime({
    grants: ['*'],
    enforceManifest: false,
    // What the checker finds ends no attack: hosts may turn it off.
    strictness: 'language',
    limits: LIMITS,
    clock: new VirtualClock(1_700_000_000_000),
    random: seededRandom(1),
    providers: [
      () => new MemoryFs({ '/a.txt': 'text', '/d/b.json': '{"a": 1}' }),
      () => memoryProcess({ env: { HOME: '/home/user' } }),
      () => new MemoryStore(),
      () => new MemoryTerminal(['one', 'two']),
      scriptedHttp(() => ({ status: 200, body: '{"ok": true}' })),
      compressProvider(),
    ],
  })
}

export async function judge(input: Input, runtime: Runtime, watchdog: Watchdog): Promise<Verdict> {
  const watched = await watchdog.watch(`input ${input.index} (${input.name})`, async () => {
    try {
      const run = runtime.start(runtime.compile(input.source))
      const timer = setTimeout(() => run.cancel('long enough'), LONG_ENOUGH_MS)
      const result = await run.result
      clearTimeout(timer)
      const message = result.status === 'failed' ? result.error.message : result.status === 'done' ? readText(result.value) : ''
      const found = OF_JAVASCRIPT.exec(message)
      return { status: result.status, complaint: found === null ? null : `says ${around(message, found.index)}` }
    } catch (cause) {
      const isCompile = cause instanceof Error && cause.name === 'CompileError'
      return isCompile
        ? { status: 'refused', complaint: null }
        : {
            status: 'rejected',
            complaint: `rejects with ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`,
          }
    }
  })
  return { input, ...watched.value, longestMs: watched.longestMs, grownBytes: watched.grownBytes }
}

/** The text that a script would see of a caught error; results of other kinds are no messages. */
function readText(value: unknown): string {
  return typeof value === 'string' && value.startsWith('caught ') ? value.slice(0, 4000) : ''
}

function around(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 80), at + 160))
}
