// The seeds of mutation: the conformance scripts, read once. They are the best available collection of programs, because each
// shows one behaviour. Long ones are skipped: a mutation in them rarely meets the relevant part.

import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const LONGEST = 4000

/** The repository's conformance folder. */
export const CONFORMANCE = fileURLToPath(new URL('../conformance', import.meta.url))

export interface Script {
  /** Path below the conformance folder. */
  readonly name: string
  readonly text: string
}

let scripts: readonly Script[] | null = null

/** Every script of the suite in name order, helpers included. */
export function allScripts(): readonly Script[] {
  scripts ??= readdirSync(CONFORMANCE, { recursive: true, withFileTypes: true })
    // One of the suite's folders has a name like a script.
    .filter((entry) => entry.isFile() && entry.name.endsWith('.harn'))
    .map((entry) => relative(CONFORMANCE, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort((x, y) => (x < y ? -1 : 1))
    .map((name) => ({ name, text: readFileSync(join(CONFORMANCE, name), 'utf8') }))
  return scripts
}

let short: readonly Script[] | null = null

/** Those short enough to mutate. */
export function corpus(): readonly Script[] {
  return (short ??= allScripts().filter((script) => script.text.length <= LONGEST))
}
