// For attacks in code: runs a script, returns its outcome as one string, and compares it with the expected one.

import { createRuntime } from '@bridle/stdlib-tools'
import type { Provider, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
import type { CodeCase } from './load-cases.js'
import type { PromiseId } from './promises.js'
import type { World } from './world.js'

/** Status, output and message of a run, as one text. */
export async function runToText(source: string, options: RuntimeOptions, start: StartOptions = {}): Promise<string> {
  const runtime = createRuntime({ enforceManifest: false, ...options })
  const result = await runtime.start(runtime.compile(source, { strict: false }), start).result
  const more = result.status === 'failed' ? result.error.message : result.status === 'limit' ? result.limit : ''
  return `${result.status}: ${result.output}${more}`
}

export function must(holds: boolean, complaint: string): void {
  if (!holds) throw new Error(complaint)
}

export function makeCases(
  promise: PromiseId,
  attacks: Readonly<Record<string, (world: World) => Promise<void>>>,
): readonly CodeCase[] {
  return Object.entries(attacks).map(([name, attack]) => ({ name, promise, attack }))
}

/** The options of a runtime with the tools of a world. */
export function makeHostOptions({ tools, capabilities }: World, providers: readonly Provider[] = []): RuntimeOptions {
  return { tools, capabilities, providers, grants: ['*'] }
}
