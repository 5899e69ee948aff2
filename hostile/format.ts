// The header of a case: the comment lines `// key: value` at the top of the script. A line that begins with `//   ` (three blanks or
// more) continues the value above it.
//
//   promise:   id of promises.ts; needed
//   attack:    description, if the script is not self-explanatory
//   runtime:   run through `Runtime` with these options, JSON: see RuntimeCase; if given more than once, run with each
//   command:   run through the command with these arguments; {file} is the script. Repeatable
//   allowance: JSON, contents of the world beside the canaries: {"files": {"a/b": "text", "link": {"to": "../outside"}}, "env": {…}}
//   expect:    done | failed | limit [NAME] | exit N | cancelled | refused (does not compile) | ended (anything of these); needed
//   says:      text that the output or the message contains. Repeatable
//   lacks:     text that neither contains. Repeatable
//   prints:    the whole output, as JSON text
//   performs:  all executed effects and tools, sorted, separated by commas; nothing when absent
//   shows:     canaries: this run may read files outside (an unconfined run)

import { isPromise } from './promises.js'
import type { PromiseId } from './promises.js'

export interface RuntimeCase {
  /** Powers, as in RuntimeOptions. */
  readonly grants?: readonly string[]
  readonly toolGrants?: Readonly<Record<string, unknown>>
  readonly defaultDeny?: boolean | 'effects'
  readonly enforceManifest?: boolean
  readonly builtins?: unknown
  readonly limits?: Readonly<Record<string, number>>
  /** As in CompileSettings. */
  readonly allowEffects?: readonly string[]
  readonly imports?: unknown
  readonly strict?: boolean
  /** As in StartOptions; `deadlineMs` is a signal that aborts after that time. */
  readonly start?: { readonly deadlineMs?: number } & Readonly<Record<string, unknown>>
  /** `canary` (default): providers that only record; `node`: those of Node, confined to the root; `private`: additionally without private addresses. */
  readonly world?: 'canary' | 'node' | 'private'
  /** Modules by import path. */
  readonly modules?: Readonly<Record<string, string>>
}

export type Verdict = 'done' | 'failed' | 'limit' | 'exit' | 'cancelled' | 'refused' | 'ended'

export interface ScriptCase {
  readonly name: string
  readonly promise: PromiseId
  readonly source: string
  readonly runtimes: readonly RuntimeCase[]
  readonly commands: readonly (readonly string[])[]
  readonly allowance: Allowance
  readonly verdict: Verdict
  /** Name of the limit or exit code, if `expect:` has one. */
  readonly detail: string | null
  readonly says: readonly string[]
  readonly lacks: readonly string[]
  readonly prints: string | null
  readonly performs: readonly string[]
  readonly showsCanaries: boolean
}

export interface Allowance {
  readonly files?: Readonly<Record<string, string | { readonly to: string }>>
  readonly env?: Readonly<Record<string, string>>
}

const KEYS = new Set([
  'promise',
  'attack',
  'runtime',
  'command',
  'allowance',
  'expect',
  'says',
  'lacks',
  'prints',
  'performs',
  'shows',
])
const VERDICTS: ReadonlySet<string> = new Set(['done', 'failed', 'limit', 'exit', 'cancelled', 'refused', 'ended'])

/** Throws an Error that names the case for an incomplete header. */
export function parseCase(name: string, source: string): ScriptCase {
  const complain = (what: string): never => {
    throw new Error(`hostile case ${name}: ${what}`)
  }
  const values = readHeader(source, complain)
  const single = (key: string): string | null => {
    const all = values.get(key) ?? []
    return all.length > 1 ? complain(`"${key}" is given twice`) : (all[0] ?? null)
  }
  const json = <T>(text: string): T => {
    try {
      return JSON.parse(text) as T
    } catch (cause) {
      return complain(`not JSON: ${text}: ${String(cause)}`)
    }
  }
  const promise = single('promise') ?? complain('no promise')
  const [verdict = '', detail = null] = (single('expect') ?? complain('no "expect"')).split(' ')
  if (!VERDICTS.has(verdict)) complain(`"expect" is ${verdict}; write one of ${[...VERDICTS].join(', ')}`)
  const commands = (values.get('command') ?? []).map((words) => words.split(/\s+/))
  const runtimes = (values.get('runtime') ?? []).map((text) => json<RuntimeCase>(text))
  return {
    name,
    promise: isPromise(promise) ? promise : complain(`"${promise}" is no promise; see promises.ts`),
    source,
    runtimes: runtimes.length === 0 && commands.length === 0 ? [{}] : runtimes,
    commands,
    allowance: json<Allowance>(single('allowance') ?? '{}'),
    verdict: verdict as Verdict,
    detail,
    says: values.get('says') ?? [],
    lacks: values.get('lacks') ?? [],
    prints: single('prints') === null ? null : json<string>(single('prints')!),
    performs: (single('performs') ?? '').split(/\s*,\s*/).filter((each) => each !== ''),
    showsCanaries: single('shows') === 'canaries',
  }
}

function readHeader(source: string, complain: (what: string) => never): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  let last: string[] | null = null
  for (const line of source.split('\n')) {
    const text = line.startsWith('//') ? line.slice(2) : null
    if (text === null) break
    if (text.startsWith('   ') && last !== null) {
      last.push(`${last.pop()!} ${text.trim()}`)
      continue
    }
    const [, key = complain(`"${line}" is not of the form "// key: value"`), value = ''] = /^ ([a-z]+): (.*)$/.exec(text) ?? []
    if (!KEYS.has(key)) complain(`unknown key "${key}"`)
    last = values.get(key) ?? []
    values.set(key, last)
    last.push(value.trim())
  }
  return values
}
