// Snapshots and journals that were tampered with: loaded or refused, with an error of the product; never a crash, never more authority.

import { MemoryJournal, SnapshotError, createRuntime, decodeJournal, encodeEntry, isToolError } from '@bridle/stdlib-tools'
import { Random } from '../../../fuzz/random.js'
import type { CodeCase } from '../../load-cases.js'
import type { World } from '../../world.js'

const SOURCE = `
var seen = []
for i in 1 to 3 {
  let r = host_tool_call("notes.read", {id: "\${i}"})
  seen = seen.push(r.done)
  sleep(1)
}
println(seen)
return seen
`

function makeRuntime(world: World): ReturnType<typeof createRuntime> {
  return createRuntime({ tools: world.tools, limits: { fuel: 1_000_000, heap: 50_000_000 } })
}

async function makeSnapshot(world: World): Promise<Uint8Array> {
  const runtime = makeRuntime(world)
  const run = runtime.start(runtime.compile(SOURCE))
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  return bytes
}

/** Errors that describe what is wrong with the input; all others are our bugs. */
function isRefusal(cause: unknown): boolean {
  const name = cause instanceof Error ? cause.name : ''
  return (
    cause instanceof SnapshotError ||
    isToolError(cause) ||
    /^(?:Snapshot|Compile|Journal\w*|Codec|Store|Link|NotData|Grant)\w*Error$/.test(name)
  )
}

type Change = (bytes: Uint8Array, chance: Random) => Uint8Array

const CHANGES: Readonly<Record<string, Change>> = {
  'one bit': (bytes, chance) => {
    const copy = bytes.slice()
    copy[chance.below(copy.length)]! ^= 1 << chance.below(8)
    return copy
  },
  'eight bytes': (bytes, chance) => {
    const copy = bytes.slice()
    for (let at = 0; at < 8; at++) copy[chance.below(copy.length)] = chance.below(256)
    return copy
  },
  'the end missing': (bytes, chance) => bytes.slice(0, chance.below(bytes.length)),
  'a piece twice': (bytes, chance) => {
    const at = chance.below(bytes.length)
    return Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(Math.max(0, at - 40), at), ...bytes.slice(at)])
  },
  'a run of 255': (bytes, chance) => bytes.slice().fill(255, chance.below(bytes.length)),
}

const TIMES = 6

const snapshots: readonly CodeCase[] = Object.entries(CHANGES).flatMap(([what, change]) =>
  Array.from({ length: TIMES }, (_, seed) => ({
    name: `a snapshot with ${what}, ${seed}`,
    promise: 'damage-is-refused' as const,
    attack: async (world: World) => {
      const bytes = change(await makeSnapshot(world), new Random(seed, what, 0))
      try {
        const run = makeRuntime(world).resume(bytes, { signal: AbortSignal.timeout(500) })
        await run.result
      } catch (cause) {
        if (!isRefusal(cause)) throw cause
      }
      if (world.performed.some((each) => each !== 'tool:notes.read')) throw new Error(`performed ${world.performed.join(', ')}`)
    },
  })),
)

const TEXT_CHANGES: Readonly<Record<string, (text: string, chance: Random) => string>> = {
  'a letter changed': (text, chance) => {
    const at = chance.below(text.length)
    return `${text.slice(0, at)}${String.fromCodePoint(32 + chance.below(90))}${text.slice(at + 1)}`
  },
  'a line missing': (text, chance) => {
    const lines = text.split('\n')
    lines.splice(chance.below(lines.length), 1)
    return lines.join('\n')
  },
  'a line twice': (text, chance) => {
    const lines = text.split('\n')
    const at = chance.below(lines.length)
    lines.splice(at, 0, lines[at]!)
    return lines.join('\n')
  },
  'another tool': (text) => text.replaceAll('notes.read', 'shop.order'),
  'names of prototypes': (text) => text.replaceAll('"type"', '"__proto__"'),
  'huge numbers': (text) => text.replaceAll(/:\d+/g, ':9999999999999999999999'),
}

const journals: readonly CodeCase[] = Object.entries(TEXT_CHANGES).flatMap(([what, change]) =>
  Array.from({ length: what.startsWith('a ') ? 4 : 1 }, (_, seed) => ({
    name: `a journal with ${what}, ${seed}`,
    promise: 'damage-is-refused' as const,
    attack: async (world: World) => {
      const runtime = makeRuntime(world)
      const journal = new MemoryJournal()
      await runtime.start(runtime.compile(SOURCE), { journal }).result
      const before = world.performed.length
      const text = journal.entries.map((entry) => encodeEntry(entry)).join('\n')
      try {
        const entries = decodeJournal(change(text, new Random(seed, what, 1)))
        runtime.replay(runtime.moduleOfRecording(entries), entries)
      } catch (cause) {
        if (!isRefusal(cause)) throw cause
      }
      if (world.performed.length !== before) throw new Error(`the replay performed ${world.performed.slice(before).join(', ')}`)
    },
  })),
)

export const cases = [...snapshots, ...journals]
