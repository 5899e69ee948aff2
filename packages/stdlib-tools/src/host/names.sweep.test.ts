// Names that every JavaScript object has (`constructor`, `__proto__`) are names like any others to every builtin: tables are asked for
// models, kinds, scopes and types by what a script says. For every builtin, the run ends with a regular result.

import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { VirtualClock } from '../library/time/host-clock.js'
import { CompileError } from './compile-errors.js'
import { createRuntime } from './runtime.js'

const KEYS = [
  ...['kind', 'type', 'name', 'mode', 'format', 'model', 'algorithm', 'level', 'strategy', 'op', 'status', 'scope', 'role'],
  ...[
    'category',
    'profile',
    'compaction',
    'model_tier',
    'tier',
    'side_effect_level',
    'executor',
    'tool_format',
    'method',
    'unit',
  ],
]

/** Without a world everything from outside is refused; what waits forever is cancelled. */
const runtime = createRuntime({ clock: new VirtualClock(0), grants: ['*'], limits: { fuel: 1e5 } })

async function runToEnd(source: string): Promise<string> {
  let module
  try {
    module = runtime.compile(source)
  } catch (cause) {
    if (cause instanceof CompileError) return 'refused'
    throw cause
  }
  const run = runtime.start(module)
  let ended = false
  const result = run.result.finally(() => (ended = true))
  result.catch(() => {})
  for (let turns = 0; turns < 20 && !ended; turns++) await turn()
  if (!ended) run.cancel()
  try {
    const { status } = await result
    return status
  } catch (cause) {
    return `${source}: ${String(cause)}`
  }
}

const names = [...runtime.registry.builtins.values()].map(({ name }) => name).filter((name) => /^\w+$/.test(name))

test.each(['__proto__', 'constructor'])(
  '%s',
  async (word) => {
    const options = `{provider: "mock", ${KEYS.map((key) => `${key}: "${word}"`).join(', ')}, "${word}": "${word}"}`
    const calls = names.flatMap((name) => [`${name}("${word}")`, `${name}(${options})`, `${name}("a", ${options})`])
    const broken: string[] = []
    for (const call of calls) {
      const end = await runToEnd(`try { ${call} } catch (e) { e }`)
      if (!['done', 'failed', 'limit', 'cancelled', 'exit', 'refused'].includes(end)) broken.push(end)
    }
    expect(broken).toEqual([])
    expect(({} as { readonly polluted?: unknown }).polluted).toBe(undefined)
    expect(calls.length).toBeGreaterThan(1000)
  },
  240_000,
)
