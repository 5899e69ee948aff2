// Runs one input under the watchdog, through `Runtime` with every power over a world in memory, and reports violations.

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
  /** Definite violations; the caller judges blocked threads and growth. */
  readonly complaint: string | null
}

/** The limits of the inputs: whatever exceeds them must be stopped. */
export const LIMITS = { fuel: 200_000_000, heap: 64 << 20 }

/** An input that waits or works for longer is cancelled, which must work. */
const LONG_ENOUGH_MS = 400

/** Messages of JavaScript's own errors; a script that sees one reached unhandled code. */
const OF_JAVASCRIPT =
  /\b(?:TypeError|RangeError|ReferenceError|SyntaxError)\b(?!:? (?:expected|unexpected))|is not a function|(?<!of type \w{1,20} )is not iterable|Cannot read propert|Maximum call stack|Invalid (?:string|array) length|Cannot mix BigInt|\[object Object\]|undefined is not/

export function hostileRuntime(): Runtime {
  return createRuntime({
    grants: ['*'],
    enforceManifest: false,
    // A finding of the checker does not count as a defence: hosts may turn the checker off.
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

/** The message of a caught error as a script would see it; other results are not messages. */
function readText(value: unknown): string {
  return typeof value === 'string' && value.startsWith('caught ') ? value.slice(0, 4000) : ''
}

function around(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 80), at + 160))
}
