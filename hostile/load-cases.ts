// Finds the cases below `cases/`: scripts with their headers, and tables of attacks in code.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseCase } from './format.js'
import type { ScriptCase } from './format.js'
import type { PromiseId } from './promises.js'
import type { World } from './world.js'

/** An attack in code. It throws when the promise is broken; the attack itself checks the records of the world. */
export interface CodeCase {
  readonly name: string
  readonly promise: PromiseId
  readonly attack: (world: World) => void | Promise<void>
}

const folder = fileURLToPath(new URL('cases/', import.meta.url))

function names(ending: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith(ending))
    .sort()
}

export function scriptCases(): readonly ScriptCase[] {
  return names('.harn').map((name) => parseCase(name.slice(0, -'.harn'.length), readFileSync(join(folder, name), 'utf8')))
}

/** `*.process.ts` need a separate process: they change its folder or environment, or start others. */
export async function codeCases(kind: 'thread' | 'process'): Promise<readonly CodeCase[]> {
  const files = names('.ts').filter((name) => name.endsWith('.process.ts') === (kind === 'process'))
  const loaded = await Promise.all(
    files.map(async (name) => {
      const { cases } = (await import(join(folder, name))) as { readonly cases: readonly CodeCase[] }
      return cases.map((one) => ({ ...one, name: `${name.replace(/(?:\.process)?\.ts$/, '')}: ${one.name}` }))
    }),
  )
  return loaded.flat()
}
