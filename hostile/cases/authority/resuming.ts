// Continuing a run of less authority in a host of more: by its snapshot, its journal, and a replay that continues. Forged
// files may claim anything.

import { createRuntime, MemoryJournal } from '@bridle/stdlib-tools'
import type { Grant, Run, RunResult, Runtime, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
import { readDocument, writeDocument } from '@bridle/vm'
import type { CodeCase } from '../../load-cases.js'
import type { World } from '../../world.js'

/** Waits once, then tries everything. */
const TRYING = `
sleep(1ms)
let tries = [
  { -> read_file("secret.txt") },
  { -> write_file("new.txt", "x") },
  { -> exec("echo", "x") },
  { -> http_get("http://93.184.216.34/") },
  { -> host_tool_call("shop.order", {item: "gold", amount: 1}) },
  { -> host_call("shop.order", {item: "gold"}) },
]
for attempt in tries { try { attempt() } catch (e) { print("") } }
println("tried")
`

interface Lesser {
  readonly name: string
  readonly runtime?: RuntimeOptions
  readonly start?: StartOptions
  /** What its runs may perform; everything else is forbidden. */
  readonly may: readonly string[]
}

const HOST = ['tool:shop.order', 'operation:shop.order']

const LESSER: readonly Lesser[] = [
  { name: 'nothing granted', runtime: { grants: [] }, may: HOST },
  { name: 'reading alone', runtime: { grants: ['fs.read'] }, may: ['fs.read', ...HOST] },
  { name: 'an area alone', runtime: { grants: ['fs'] }, may: ['fs.read', 'fs.write', ...HOST] },
  { name: 'narrowed at its start', runtime: { grants: ['*'] }, start: { grants: ['http'] }, may: ['http.request', ...HOST] },
  {
    name: 'grants of tools',
    runtime: { grants: ['*'], toolGrants: { 'fs.read': {} }, defaultDeny: true },
    may: ['fs.read'],
  },
  {
    name: 'grants of tools at its start',
    runtime: { grants: ['*'] },
    start: { toolGrants: { 'http.get': {} }, defaultDeny: true },
    may: ['http.request'],
  },
  {
    name: 'builtins denied',
    runtime: { grants: ['*'], builtins: { deny: ['exec', 'write_file', 'host_tool_call', 'host_call'] } },
    // The folder to which paths of a grant are relative.
    may: ['fs.read', 'http.request', 'process.info'],
  },
  { name: 'builtins allowed', runtime: { grants: ['*'], builtins: { allow: ['sleep', 'read_file'] } }, may: ['fs.read'] },
]

const WIDE: RuntimeOptions = { grants: ['*'], enforceManifest: false }

function makeHost(world: World, options: RuntimeOptions): Runtime {
  const { tools, capabilities, providers } = world
  return createRuntime({ ...options, tools, capabilities, providers, enforceManifest: false })
}

function mustKeepTo(world: World, may: readonly string[]): void {
  const beyond = world.performed.filter((what) => !may.includes(what))
  if (beyond.length > 0) throw new Error(`performed ${beyond.join(', ')}`)
}

async function awaitTried(run: Run): Promise<RunResult> {
  const result = await run.result
  if (!result.output.endsWith('tried\n')) throw new Error(`did not try: ${result.status} ${JSON.stringify(result)}`)
  return result
}

/** Starts in the lesser host, is stored where it first waits, and cancelled there. */
async function snapshotInLesserHost(world: World, { runtime: less = {}, start = {} }: Lesser): Promise<Uint8Array> {
  const host = makeHost(world, less)
  const run = host.start(host.compile(TRYING), start)
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  world.performed.length = 0
  return bytes
}

type Route = (world: World, lesser: Lesser) => Promise<void>

const ROUTES: Readonly<Record<string, Route>> = {
  'its snapshot': async (world, lesser) => {
    await awaitTried(makeHost(world, WIDE).resume(await snapshotInLesserHost(world, lesser)))
  },
  'its snapshot, with the grants of a start': async (world, lesser) => {
    await awaitTried(
      makeHost(world, WIDE).resume(await snapshotInLesserHost(world, lesser), { grants: ['*'], toolGrants: { '*': {} } }),
    )
  },
  'its snapshot and a module of the host': async (world, lesser) => {
    const host = makeHost(world, WIDE)
    await awaitTried(host.resume(await snapshotInLesserHost(world, lesser), { module: host.compile(TRYING) }))
  },
  'a snapshot of its snapshot': async (world, lesser) => {
    const again = makeHost(world, WIDE).resume(await snapshotInLesserHost(world, lesser), { holdFrom: 1 })
    const bytes = await again.snapshot()
    again.cancel()
    await again.result
    await awaitTried(makeHost(world, WIDE).resume(bytes))
  },
  'a replay that goes on': async (world, lesser) => {
    const host = makeHost(world, lesser.runtime ?? {})
    const journal = new MemoryJournal()
    await awaitTried(host.start(host.compile(TRYING), { ...lesser.start, journal }))
    world.performed.length = 0
    const wide = makeHost(world, WIDE)
    const result = wide.replay(wide.compile(TRYING), journal.entries, { until: 0 })
    if (result.kind === 'stopped' && result.snapshot !== null) await awaitTried(wide.resume(result.snapshot()))
    else if (result.kind !== 'ended') throw new Error(`the replay is ${result.kind}`)
  },
  'its journal': async (world, lesser) => {
    const host = makeHost(world, lesser.runtime ?? {})
    const journal = new MemoryJournal()
    await awaitTried(host.start(host.compile(TRYING), { ...lesser.start, journal }))
    world.performed.length = 0
    const found = makeHost(world, WIDE).continueRecording(journal.entries.slice(0, 3), { journal: new MemoryJournal() })
    if (found.kind !== 'resumed') throw new Error(`the run was ${found.kind}`)
    await awaitTried(found.run)
  },
}

const narrowing = LESSER.flatMap((lesser) =>
  Object.entries(ROUTES).map(([route, go]): CodeCase => ({
    name: `${lesser.name}, by ${route}`,
    promise: 'resume-narrows',
    attack: async (world) => {
      await go(world, lesser)
      mustKeepTo(world, lesser.may)
    },
  })),
)

// ---- forged

const AUTHORITY = 11

const FORGED: readonly (readonly [name: string, authority: unknown])[] = [
  ['everything', [[['*']], [], [], null, false, null]],
  ['no list of powers', [[], [], [], null, false, null]],
  ['powers that are none', [[['everything', '**', '']], [], [], null, false, null]],
  ['a grant for every tool', [[['*']], [{ grants: { '*': {} } }], [], null, false, null]],
  [
    'names of objects',
    [[['*']], [{ grants: { ['__proto__']: {}, constructor: {} } }], [{ allow: ['constructor'] }], null, false, null],
  ],
  ['pins of nothing', [[['*']], [], [], {}, false, null]],
  ['limits without end', [[['*']], [], [], null, false, null, [1e300, 1e300, Infinity, 1e300, 1e300, 1e300]]],
  ['limits that are none', [[['*']], [], [], null, false, null, { fuel: -1 }]],
  ['nothing', null],
  ['a number', 1],
  ['lists too deep', [[[[['*']]]], [], [], null, false, null]],
]

const forging = FORGED.map(([name, authority]): CodeCase => ({
  name: `a snapshot that claims ${name}`,
  promise: 'resume-narrows',
  attack: async (world) => {
    const bytes = await snapshotInLesserHost(world, { name: '', runtime: { grants: ['*'] }, may: [] })
    const document = readDocument(bytes, 3) as unknown[]
    const forged = writeDocument(document.with(AUTHORITY, authority), 3)
    const grants: readonly Grant[] = ['fs.read']
    try {
      const run = makeHost(world, { grants, toolGrants: { fs: {} }, defaultDeny: true }).resume(forged)
      await run.result
    } catch (cause) {
      if ((cause as Error).name !== 'SnapshotError') throw cause
    }
    mustKeepTo(world, ['fs.read'])
  },
}))

const unsaid: CodeCase = {
  name: 'a snapshot of a version that wrote no authority down is not resumed by a host that says none',
  promise: 'resume-narrows',
  attack: async (world) => {
    const bytes = await snapshotInLesserHost(world, { name: '', may: [] })
    const old = writeDocument((readDocument(bytes, 3) as unknown[]).slice(0, AUTHORITY), 2)
    const host = makeHost(world, WIDE)
    let refusal = ''
    try {
      host.resume(old).cancel()
    } catch (cause) {
      refusal = (cause as Error).message
    }
    if (!refusal.includes('did not write down what the run may do')) throw new Error('it was resumed')
    await awaitTried(host.resume(old, { grants: ['fs.read'] }))
    mustKeepTo(world, ['fs.read', ...HOST])
  },
}

const confinement: CodeCase = {
  name: 'a confined run does not go on in a host that confines less',
  promise: 'resume-narrows',
  attack: async (world) => {
    const confined = { facts: { folder: 'a' }, isWithin: (facts: unknown) => JSON.stringify(facts) === '{"folder":"a"}' }
    const bytes = await snapshotInLesserHost(world, { name: '', runtime: { grants: ['*'], confinement: confined }, may: [] })
    for (const options of [WIDE, { ...WIDE, confinement: { facts: { folder: 'b' }, isWithin: () => false } }]) {
      let isRefused = false
      try {
        makeHost(world, options).resume(bytes).cancel()
      } catch {
        isRefused = true
      }
      if (!isRefused) throw new Error('it was resumed')
    }
    await awaitTried(makeHost(world, { ...WIDE, confinement: confined }).resume(bytes))
  },
}

export const cases: readonly CodeCase[] = [...narrowing, ...forging, unsaid, confinement]
