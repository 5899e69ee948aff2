// Runs the script of a case, through `Runtime` or through the command, and reports differences from its header.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompileError, EffectCeilingError, createRuntime, memoryModules } from '@bridle/stdlib-tools'
import type { CompileSettings, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
import { nodeProviders } from '@bridle/stdlib-tools/node'
import type { RuntimeCase, ScriptCase, Verdict } from './format.js'
import type { World } from './world.js'

/** How a case ended, whichever way it was run. */
export interface Ended {
  readonly verdict: Verdict
  readonly detail: string | null
  /** Output of the script. */
  readonly output: string
  /** Other output: messages, values. */
  readonly message: string
}

export async function runThroughRuntime(one: ScriptCase, settings: RuntimeCase, world: World): Promise<Ended> {
  const { start, world: kind, allowEffects, imports, strict, modules, ...options } = settings
  const runtime = createRuntime({
    // A finding of the checker does not count as a defence: hosts may turn the checker off.
    strictness: 'language',
    ...(options as RuntimeOptions),
    providers:
      kind === undefined || kind === 'canary'
        ? world.providers
        : nodeProviders({ root: world.root, ...(kind === 'private' ? { http: { policy: { denyPrivate: true } } } : {}) }),
    tools: world.tools,
    capabilities: world.capabilities,
    ...(modules === undefined ? {} : { resolve: memoryModules(modules) }),
  })
  const compile: CompileSettings = {
    ...(allowEffects === undefined ? {} : { allowEffects }),
    ...(imports === undefined ? {} : { imports: imports as NonNullable<CompileSettings['imports']> }),
    ...(strict === undefined ? {} : { strict }),
  }
  let module
  try {
    module = runtime.compile(one.source, compile)
  } catch (cause) {
    if (!(cause instanceof CompileError || cause instanceof EffectCeilingError)) throw cause
    return { verdict: 'refused', detail: null, output: '', message: cause.message }
  }
  const { deadlineMs, ...starting } = start ?? {}
  const signal = deadlineMs === undefined ? {} : { signal: AbortSignal.timeout(deadlineMs) }
  const result = await runtime.start(module, { ...(starting as StartOptions), ...signal }).result
  const { output } = result
  switch (result.status) {
    case 'done':
      return { verdict: 'done', detail: null, output, message: JSON.stringify(result.value, plainly) ?? '' }
    case 'failed':
      return { verdict: 'failed', detail: null, output, message: `${result.error.message}\n${safely(result.error.value)}` }
    case 'limit':
      return { verdict: 'limit', detail: result.limit, output, message: result.message }
    case 'exit':
      return { verdict: 'exit', detail: String(result.code), output, message: '' }
    case 'cancelled':
      return { verdict: 'cancelled', detail: null, output, message: result.reason }
  }
}

function safely(value: unknown): string {
  return JSON.stringify(value, plainly) ?? ''
}

function plainly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Runs the arguments of a command line; returns the output of both streams. */
export type RunCommand = (words: readonly string[], world: World) => Promise<{ code: number; stdout: string; stderr: string }>

export async function runThroughCommand(
  one: ScriptCase,
  words: readonly string[],
  world: World,
  command: RunCommand,
): Promise<Ended> {
  const file = join(world.root, 'case.harn')
  writeFileSync(file, one.source)
  const { code, stdout, stderr } = await command(
    words.map((word) => word.replaceAll('{file}', file).replaceAll('{root}', world.root)),
    world,
  )
  return { verdict: judgeExit(code, stderr), detail: String(code), output: stdout, message: stderr }
}

function judgeExit(code: number, stderr: string): Verdict {
  if (code === 0) return 'done'
  if (/^error: (?:out of|.*\bthe limit is\b)/m.test(stderr)) return 'limit'
  return 'failed'
}

/** Violated expectations; empty when the promise was kept. */
export function differences(one: ScriptCase, ended: Ended, world: World): readonly string[] {
  const said = `${ended.output}\n${ended.message}`
  const performed = world.performed.toSorted().join(', ')
  const expected = one.performs.toSorted().join(', ')
  return [
    ...(agrees(one, ended)
      ? []
      : [`expected ${[one.verdict, one.detail].filter(Boolean).join(' ')}, got ${ended.verdict} ${ended.detail ?? ''}`]),
    ...one.says.flatMap((text) => (said.includes(text) ? [] : [`does not say ${JSON.stringify(text)}`])),
    ...one.lacks.flatMap((text) => (said.includes(text) ? [`says ${JSON.stringify(text)}`] : [])),
    ...(one.prints === null || one.prints === ended.output ? [] : [`prints other than ${JSON.stringify(one.prints)}`]),
    ...(performed === expected ? [] : [`performed ${performed || 'nothing'}, may perform ${expected || 'nothing'}`]),
    ...world.complaints([ended.output, ended.message], one.showsCanaries),
  ]
}

function agrees(one: ScriptCase, ended: Ended): boolean {
  if (one.verdict === 'ended') return true
  // The command reports only by its exit code that a script did not compile, failed or reached a limit.
  if (one.verdict === 'exit') return ended.detail === one.detail
  const isSame =
    one.verdict === ended.verdict || (one.verdict === 'refused' && ended.verdict === 'failed' && ended.detail !== null)
  const isFromCommand = /^\d+$/.test(ended.detail ?? '')
  return isSame && (one.detail === null || one.detail === ended.detail || isFromCommand)
}
