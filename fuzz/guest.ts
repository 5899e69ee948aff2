// The part that runs inside the other engine (another-engine.ts): the host-independent part of Bridle, bundled into one script. `goOn` compiles a
// script, restores a snapshot of a run of it that was started elsewhere, and runs it to its end.

import './guest-globals.js'
import { compile, link, Runner, runToEnd } from './engine.js'
import type { Begun } from './engine.js'

/** `snapshot` as hexadecimal. */
export type Errand = Omit<Begun, 'snapshot'> & { readonly source: string; readonly snapshot: string }

function goOn(text: string): string {
  const { source, snapshot, ...begun } = JSON.parse(text) as Errand
  const { program, error } = compile(source)
  if (program === null) throw new Error(`the other engine cannot compile it: ${error}`)
  const bytes = Uint8Array.from({ length: snapshot.length / 2 }, (_, at) =>
    Number.parseInt(snapshot.slice(at * 2, at * 2 + 2), 16),
  )
  return JSON.stringify(runToEnd(new Runner(link(program), { tier: null }, { ...begun, snapshot: bytes })))
}

;(globalThis as { goOn?: (text: string) => string }).goOn = goOn
